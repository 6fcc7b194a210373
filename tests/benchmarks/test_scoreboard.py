"""The scoreboard's own logic: who is ahead, which reasons are due, what the guard flags, the same page each time."""

import pytest

from benchmarks.scoreboard import guard, judge, ladder, report, tables
from benchmarks.scoreboard.cases import CASES, Case, Contender, mixture


def row(contender, n, seconds, peak=100.0, against="", status="ok", part="ridge", case="fit"):
    ok = status == "ok"
    numbers = {"seconds": seconds, "fastest": seconds, "slowest": seconds, "peak_mb": peak, "answer": 0.5}
    return {"part": part, "case": case, "contender": contender, "against": against, "n": n, "threads": "1",
            "repeats": "3", "status": status, **{k: str(v) if ok else "" for k, v in numbers.items()}}  # fmt: skip


ROWS = [
    row("mercer exact", 1000, 0.1), row("KernelRidge", 1000, 0.1, against="mercer exact"),
    row("mercer exact", 2000, 0.4), row("KernelRidge", 2000, 0.8, 300.0, against="mercer exact"),
    row("mercer exact", 4000, 1.6), row("KernelRidge", 4000, 0, against="mercer exact", status="over 20 s"),
]  # fmt: skip


def test_a_peer_is_judged_at_the_largest_size_it_could_run():
    (line,) = judge.verdicts(ROWS)
    assert (line["n"], line["ratio"], line["fast"], line["small"]) == (2000, 2.0, True, True)
    (line,) = judge.verdicts(ROWS[:2])
    assert not line["fast"] and line["small"]
    (line,) = judge.verdicts([ROWS[1]])  # the peer could run, and mercer could not
    assert line["ratio"] == 0 and not line["fast"]
    (line,) = judge.verdicts([row("mercer exact", 1000, 0.1, 200.0), ROWS[1]])
    assert not line["small"]


def test_smaller_sizes_at_which_a_peer_is_faster_are_listed():
    assert judge.ahead_when_small(ROWS) == []
    faster = [*ROWS, row("mercer exact", 500, 0.04), row("KernelRidge", 500, 0.02, against="mercer exact")]
    assert judge.ahead_when_small(faster) == [("ridge/fit", "KernelRidge", "mercer exact", [(500, 2.0)])]
    said = "\n".join(report.why(faster, {}, []))
    assert "nowhere" in said and "KernelRidge compared with mercer exact at n = 500 (2 times)" in said


def test_slopes():
    assert judge.slope([(n, 1e-6 * n**2) for n in (1000, 2000, 4000, 8000)], 0.0) == pytest.approx(2.0)
    assert judge.slope([(1000, 0.001), (2000, 0.5)], 0.02) is None


def test_a_reason_must_be_there_and_must_be_needed():
    key = ("ridge/fit", "KernelRidge", "speed")
    slow, fast = judge.verdicts(ROWS[:2]), judge.verdicts(ROWS)
    assert judge.check_reasons(slow, {}) == ([f"no reason is written for {key}"], {})
    assert judge.check_reasons(slow, {key: "why"}) == ([], {key: "why"})
    assert judge.check_reasons(fast, {key: "why"})[0] == [f"the reason for {key} is stale: the row is fine now"]
    assert judge.check_reasons([], {key: "why"}) == ([], {})  # without a measurement there is no reason


def test_the_guard_flags_a_fall_by_more_than_thirty_percent():
    stored = {("a", "x"): 2.0, ("a", "y"): 2.0, ("b", "x"): 3.0}
    lines, bad = guard.compare({("a", "x"): 1.41, ("a", "y"): 1.3, ("c", "x"): 1.0}, stored)
    assert bad
    assert [line["verdict"] for line in lines] == ["ok", "FELL by 35%", "did not run here", "new: no stored ratio"]
    assert not guard.compare({("a", "x"): 9.0}, {("a", "x"): 2.0})[1]
    assert guard.ratios(ROWS) == {("ridge/fit", "KernelRidge"): 2.0}


def test_parts_replace_their_own_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    tables.merge("speed", ROWS, ("part", "case"))
    other = row("mercer", 500, 1.0, part="svdd", case="nu 0.1")
    tables.merge("speed", [other], ("part", "case"))
    rows = tables.merge("speed", ROWS[:1], ("part", "case"), ["svdd", "ridge"])
    assert [(r["part"], r["n"]) for r in rows] == [("svdd", "500"), ("ridge", "1000")]
    assert rows == tables.read("speed")


def test_the_page_is_the_same_for_the_same_rows(tmp_path, monkeypatch):
    for module in (tables, report):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "REASONS", {})
    tables.merge("speed", ROWS, ("part", "case"))
    assert report.write(tmp_path / "a.md", pictures=False) == []
    assert report.write(tmp_path / "b.md", pictures=False) == []
    text = (tmp_path / "a.md").read_text()
    assert text == (tmp_path / "b.md").read_text()
    assert "| KernelRidge | 2,000 | 0.8 | 0.4 | 2 | 0.33 |" in text
    tables.merge("speed", ROWS[:2], ("part", "case"))
    assert len(report.write(tmp_path / "a.md", pictures=False)) == 1
    assert "**no reason is written" in (tmp_path / "a.md").read_text()


def test_contenders_leave_the_ladder_in_time():
    assert ladder._may_go_on([row("x", 1000, 0.5), row("x", 2000, 1.0)], 2000, 8.0)
    assert not ladder._may_go_on([row("x", 1000, 0.5), row("x", 2000, 4.0)], 2000, 8.0)
    assert not ladder._may_go_on([row("x", 1000, 1.0, peak=5000.0)], 1000, 8.0)
    assert not ladder._may_go_on([row("x", 1000, 1.0, status="over 20 s")], 1000, 8.0)


def test_a_race_runs_and_a_missing_contender_is_named(capsys):
    case = CASES["ridge/fit"]
    absent = Contender("nobody", None, "mercer exact", "no_such_package")
    some = Case(case.part, case.name, case.title, case.sizes, case.quick, mixture, (*case.contenders, absent), "")
    rows = ladder.climb(some, sizes=(300,))
    assert "nobody is missing: no_such_package is not installed" in capsys.readouterr().out
    assert rows[0]["status"] == "missing: no_such_package is not installed"
    assert [r["status"] for r in rows[1:]] == ["ok"] * 3
    assert all(float(r["fastest"]) <= float(r["seconds"]) <= float(r["slowest"]) for r in rows[1:])
    assert len({round(float(r["answer"]), 4) for r in rows[1:]}) == 1  # the same R²: the same problem was solved


def test_every_peer_has_one_of_ours_to_race_against():
    for case in CASES.values():
        own = {c.name for c in case.contenders if not c.against}
        assert {c.against for c in case.contenders if c.against} <= own
        assert case.quick >= case.sizes[0]
