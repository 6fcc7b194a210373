"""The routes, over HTTP, without a learner."""

import random
import sys

import numpy as np
import pandas as pd
import pytest

from mercer.studio.journal import Journal
from mercer.studio.ledger import Ledger
from mercer.studio.recovery import check_journal

from .conftest import iris


def test_a_new_session(offline):
    client, session = offline()
    found = client.read("session")
    assert (found["file"], found["target"], found["n"], found["id"]) == ("flowers.csv", "kind", 120, "name")
    assert found["goal"] == 0.9 and found["random_share"] == 0.25 and found["abstain"] is None and not found["demo"]
    assert found["columns"] == ["sepal length", "sepal width", "petal length", "petal width"]
    assert found["classes"] == [] and found["map"] is False and found["problem"] is None
    assert len(found["session"]) == 36 and found["rev"] == session.journal.rev


def test_labels_in_the_file_are_the_first_labels(offline, tmp_path):
    path, truth = iris(tmp_path, labels=range(6))
    before = path.read_bytes()
    client, _ = offline(path)
    classes = {one["id"]: one["name"] for one in client.read("session")["classes"]}
    labels = client.read("labels?since=0")
    assert {one["row"]: classes[one["class"]] for one in labels["labels"]} == dict(enumerate(truth[:6]))
    assert {one["via"] for one in labels["labels"]} == {"import"} and not labels["undo"]
    assert path.read_bytes() == before


def test_a_label_is_told_since_and_can_be_undone(offline):
    client, session = offline()
    one = client.do("class", op="add", name="setosa")
    client.do("class", op="add", name="<img src=x onerror=alert(1)>")
    rev = client.label([3, 4], 0)
    assert rev > one["rev"] and client.read(f"labels?since={rev}")["labels"] == []
    since = client.read(f"labels?since={rev - 1}")
    assert since["labels"] == [{"row": row, "class": 0, "via": "click", "rev": rev} for row in (3, 4)] and since["undo"]
    assert client.label(4, None) == rev + 1
    assert client.read(f"labels?since={rev}")["removed"] == [4]
    client.do("undo")
    assert session.ledger.value(4) == 0
    client.do("undo")
    assert session.ledger.labels == {} and client.read("labels")["redo"]
    client.do("redo")
    assert session.ledger.value(3) == 0
    assert client.post("redo").status_code == 200 and client.post("redo").status_code == 409


def test_the_same_request_counts_once(offline):
    client, session = offline()
    client.do("class", op="add", name="a")
    first = client.do("label", id="one", rows=[1], **{"class": 0})
    client.label(1, None)
    assert client.do("label", id="one", rows=[1], **{"class": 0}) == first
    assert session.ledger.value(1) is None


def test_a_session_goes_on_where_it_was(offline, tmp_path):
    client, session = offline()
    client.do("class", op="add", name="a")
    client.label([1, 2], 0)
    client.do("settings", goal=0.8, random_share=0.5)
    rev, name = session.journal.rev, session.folder.settings["session"]
    session.close()
    again, _ = offline(tmp_path / "flowers.csv")
    found = again.read("session")
    assert (found["rev"], found["goal"], found["random_share"], found["session"]) == (rev, 0.8, 0.5, name)
    assert {one["row"] for one in again.read("labels")["labels"]} == {1, 2}


def test_the_folder_of_a_session_stands_for_it(offline, tmp_path):
    client, session = offline()
    client.do("class", op="add", name="a")
    session.close()
    again, _ = offline(tmp_path / "flowers.csv.mercer", target=None)
    assert again.read("session")["file"] == "flowers.csv"


def test_rows_names_cells_and_texts_are_as_in_the_file(offline, tmp_path):
    frame = pd.DataFrame({"x": ["=cmd|' /C calc'!A0", "<img src=x onerror=alert(1)>"] * 4, "kind": [None] * 8})
    frame["note"] = ["long words " * 10] * 8
    frame.to_csv(tmp_path / "odd.csv", index=False)
    client, _ = offline(tmp_path / "odd.csv", id=None)
    rows = client.read("rows?ids=0,1")["rows"]
    assert (
        rows[0]["cells"] == [["x", "=cmd|' /C calc'!A0"]] and rows[1]["cells"][0][1] == "<img src=x onerror=alert(1)>"
    )
    assert rows[0]["name"] == "row 1" and rows[0]["text"].startswith("long words") and rows[0]["guess"] is None
    assert client.get("rows?ids=8").status_code == 404 and client.get("rows?ids=-1").status_code == 400
    assert client.get(f"rows?ids={','.join(['1'] * 201)}").status_code == 400


def test_find_looks_at_all_cells_without_regard_to_case(offline):
    client, _ = offline()
    assert client.read("find?q=FLOWER 12")["rows"] == [11, 119]
    assert client.read("find?q=flower") == {"rows": list(range(120)), "more": False}
    assert client.read("find?q=")["rows"] == []


def test_answers_before_any_label(offline):
    client, _ = offline()
    found = client.get("answers")
    bytes_ = np.frombuffer(found.content, np.uint8).reshape(120, 3)
    assert (bytes_[:, 0] == 255).all() and found.headers["x-mercer-tier"] == "none"
    assert client.get("map").status_code == 404
    assert client.read("queue")["mode"] == "coverage" and client.read("accuracy")["stop"]["reached"] is False


def test_classes(offline):
    client, session = offline()
    for name in ("a", "b", "c"):
        client.do("class", op="add", name=name)
    assert client.post("class", op="add", name=" a ").status_code == 409
    assert client.post("class", op="add", name=" ").status_code == 400
    assert client.post("class", op="paint", name="x").status_code == 400
    client.label([1, 2], 0)
    client.do("class", op="rename", **{"class": 0}, name="A")
    found = client.do("class", op="merge", **{"class": 0}, into=1)["classes"]
    assert found[0]["merged"] == 1 and session.ledger.value(1) == 1
    assert client.post("label", rows=[3], **{"class": 0}).status_code == 409
    client.do("class", op="hide", **{"class": 2})
    assert session.ledger.classes[2]["hidden"]
    texts = [event["text"] for event in client.read("history?limit=4")["events"]]
    assert texts[:3] == ["Hid the class c", "Merged the class A into b", "Renamed the class a to A"]


def test_history_is_paged_from_the_newest(offline):
    client, session = offline()
    client.do("class", op="add", name="a")
    for row in range(5):
        client.label(row, 0)
    rev = session.journal.rev
    first = client.read("history?limit=2")["events"]
    assert [event["rev"] for event in first] == [rev, rev - 1]
    assert first[0]["text"] == "flower 5: a" and first[0]["count"] == 1 and not first[0]["undone"]
    assert client.read(f"history?before={rev - 1}&limit=1")["events"][0]["rev"] == rev - 2


def test_a_full_disk_is_said_and_the_next_label_is_taken(offline, monkeypatch):
    import errno

    from mercer.studio.platform import write_at

    client, session = offline()
    client.do("class", op="add", name="a")
    real = write_at

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys.modules["mercer.studio.journal"], "write_at", full)
    refused = client.post("label", rows=[1], **{"class": 0})
    assert refused.status_code == 507 and "No space left" in refused.json()["error"]
    assert client.read("session")["problem"]["code"] == "disk_full" and session.ledger.value(1) is None
    monkeypatch.setattr(sys.modules["mercer.studio.journal"], "write_at", real)
    client.label(1, 0)
    assert client.read("session")["problem"] is None


def test_a_damaged_journal_is_shown_and_not_written_to(offline, tmp_path):
    client, session = offline()
    client.do("class", op="add", name="a")
    client.label(1, 0)
    client.label(2, 0)
    path = session.journal.path
    session.close()
    raw = path.read_bytes()
    lines = raw.splitlines(keepends=True)
    lines[-1] = lines[-1].replace(b'"rows":[2]', b'"rows":[3]')
    path.write_bytes(b"".join(lines))
    again, _ = offline(tmp_path / "flowers.csv")
    assert again.read("session")["problem"]["code"] == "journal_damaged"
    assert [one["row"] for one in again.read("labels")["labels"]] == [1]
    assert again.post("label", rows=[4], **{"class": 0}).status_code == 409
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("by_name", [True, False])
def test_labels_are_found_again_in_a_table_that_was_sorted_and_cut(offline, tmp_path, by_name):
    path, _truth = iris(tmp_path)
    id = {"id": "name" if by_name else None}
    client, session = offline(path, **id)
    for name in ("a", "b"):
        client.do("class", op="add", name=name)
    client.label([10, 20, 30], 0)
    client.label([40], 1)
    names = session.rows.frame["name"].tolist()
    session.close()
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame = frame.drop(index=[20, 50]).iloc[::-1]
    if by_name:
        frame["petal width"] = "1.0"  # other cells may change where rows have names
    frame.to_csv(path, index=False)
    again, session = offline(path, **id)
    rows = {one["row"]: one["class"] for one in again.read("labels")["labels"]}
    place = {name: row for row, name in enumerate(frame["name"])}
    assert rows == {place[names[10]]: 0, place[names[30]]: 0, place[names[40]]: 1}
    assert len(session.ledger.lost) == 1 and session.ledger.lost[0]["value"] == 0


def test_a_target_that_the_table_lacks_is_a_new_one(offline, tmp_path):
    from mercer.jobs.usage import UsageError

    path, _ = iris(tmp_path)
    client, _ = offline(path, target="mood")
    assert client.read("session")["target"] == "mood" and "kind" in client.read("session")["columns"]
    with pytest.raises(UsageError, match="Did you mean 'kind'"):
        offline(iris(tmp_path, name="other.csv")[0], target="kinds")


def test_parquet_and_npz(offline, tmp_path):
    path, _ = iris(tmp_path)
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "flowers.parquet")
    client, _ = offline(tmp_path / "flowers.parquet")
    assert client.read("session")["n"] == 120 and client.read("rows?ids=0")["rows"][0]["name"] == "flower 1"
    np.savez(tmp_path / "embedded.npz", X=np.random.default_rng(0).normal(size=(30, 40)))
    client, _ = offline(tmp_path / "embedded.npz", id=None)
    assert client.read("session")["n"] == 30


def queue_of(session, rows, via="queue", rev=None):
    """Let the session offer these rows, as if the learner had chosen them."""
    items = [{"row": row, "via": via, "reason": ""} for row in rows]
    session.queue = {"rev": rev or session.journal.rev, "mode": "coverage", "items": items}


def test_rows_that_were_skipped_are_not_asked_for_also_after_a_restart(offline, tmp_path):
    client, session = offline()
    queue_of(session, range(6))
    client.do("skip", rows=[1], via="queue")
    client.do("skip", rows=[3], via="queue")
    assert [item["row"] for item in client.read("queue")["items"]] == [0, 2, 4, 5]
    assert session.task().skipped == [1, 3]
    session.close()
    _, again = offline(tmp_path / "flowers.csv")
    assert again.task().skipped == [1, 3]
    client, _ = offline_client(again)
    client.do("undo")
    assert again.task().skipped == [1]


def offline_client(session):
    from starlette.testclient import TestClient

    from mercer.studio.app import application
    from mercer.studio.security import Guard

    from .conftest import Client, signed_in

    guard = Guard(application(session), 8000)
    http = TestClient(guard, base_url="http://127.0.0.1:8000", follow_redirects=False)
    return Client(signed_in(http, guard.token)), guard


def test_a_skipped_check_counts_until_it_is_answered(offline):
    client, session = offline()
    client.do("class", op="add", name="a")
    first, second = session.draw.order[:2]
    queue_of(session, [first, second], "random")
    client.do("skip", rows=[first], via="random")
    client.label(second, 0, via="random")
    task = session.task()
    assert task.waiting == 1 and task.checks == [(second, 0, None)] and first in task.labeled
    assert first in client.read("queue")["checks"]
    client.label(first, 0, via="random")
    assert session.task().waiting == 0 and len(session.task().checks) == 2


def test_checks_answered_while_the_server_was_away_stay_checks(offline, tmp_path):
    client, session = offline()
    client.do("class", op="add", name="a")
    rows = session.draw.order[:30]
    queue_of(session, rows, "random")
    client.label(rows[0], 0, via="random")
    session.close()
    client, session = offline(tmp_path / "flowers.csv")  # knows nothing of what was offered
    for row in rows[1:]:
        client.label(row, 0, via="random")
    assert {one["via"] for one in client.read("labels")["labels"]} == {"random"}
    assert sorted(session.ledger.checks) == sorted(rows)


def test_nothing_is_said_of_the_prediction_of_a_check(offline):
    from mercer.studio.answering import Answer

    client, session = offline()
    client.do("class", op="add", name="a")
    check, other = session.draw.order[0], session.draw.order[-1]
    queue_of(session, [check], "random")
    session.answer = Answer(1, "full", "", b"", np.zeros((120, 1), int), np.ones((120, 1)))
    session.teacher = object()
    rows = client.read(f"rows?ids={check},{other}")["rows"]
    assert rows[0]["guess"] is None and rows[1]["guess"] == [[0, 1.0]]
    why = client.read(f"why/{check}")
    assert "random check" in why["reason"] and not why["probabilities"] and not why["near"]
    session.teacher = None
    client.label(check, 0, via="list", unseen=True)  # the label that it got without a look is not shown either
    (event, *_) = client.read("history")["events"]
    assert event["rows"] == [check] and event["to"] is None and event["text"].endswith("hidden until you label it")
    client.label(check, 0, via="random")
    assert client.read("history")["events"][1]["to"] == 0
    assert client.read(f"rows?ids={check}")["rows"][0]["guess"] == [[0, 1.0]]


@pytest.mark.parametrize("how", ["deleted", "replaced", "written to"])
def test_a_journal_that_is_not_there_any_more_is_said(offline, how):
    client, session = offline()
    client.do("class", op="add", name="a")
    client.label(1, 0)
    path = session.journal.path
    whole, aside = path.read_bytes(), path.with_name("aside")
    if how == "written to":
        path.write_bytes(whole[:-40])
    else:
        path.rename(aside)
        if how == "replaced":
            path.write_bytes(whole)
    refused = client.post("label", rows=[2], **{"class": 0})
    assert refused.status_code == 507 and "deleted or replaced" in refused.json()["error"]
    found = client.read("session")["problem"]
    assert found["code"] == "journal_gone" and "journal-kept-1.jsonl" in found["text"]
    assert path.with_name("journal-kept-1.jsonl").read_bytes() == whole and session.ledger.value(2) is None
    if how != "written to":
        aside.replace(path)  # brought back
    else:
        path.write_bytes(whole)
    client.label(2, 0)
    assert client.read("session")["problem"] is None and path.read_bytes().startswith(whole)
    assert not path.with_name("journal-kept-2.jsonl").exists()


def test_the_watch_notices_a_deleted_journal_without_a_label(offline):
    client, session = offline()
    session.journal.path.unlink()
    check_journal(session)
    assert client.read("session")["problem"]["code"] == "journal_gone"


def test_what_a_closing_page_sends_is_done_in_order_and_once(offline):
    client, session = offline()
    client.do("class", op="add", name="a")
    items = [{"path": "/api/label", "body": {"id": f"x{row}", "rows": [row], "class": 0}} for row in range(3)]
    items.append({"path": "/api/undo", "body": {"id": "x3"}})
    client.do("several", items=items)
    assert set(session.ledger.labels) == {0, 1}
    client.do("several", items=items)
    assert set(session.ledger.labels) == {0, 1}
    assert client.post("several", items=[{"path": "/api/quit", "body": {}}]).status_code == 400
    assert client.post("several", items=1).status_code == 400


def test_more_classes_than_there_can_be_are_refused_before_the_first_event(offline, tmp_path):
    from mercer.errors import InputError

    path = tmp_path / "many.csv"
    pd.DataFrame({"x": range(600), "kind": [f"class {i % 300}" for i in range(600)]}).to_csv(path, index=False)
    for _ in range(2):
        with pytest.raises(InputError, match="300 classes, and the studio can show at most 254"):
            offline(path, id=None)
        assert not (tmp_path / "many.csv.mercer").exists()


def test_what_the_table_holds_is_one_event(offline, tmp_path):
    client, session = offline(iris(tmp_path, labels=range(6))[0])
    assert [event["op"] for event in session.journal.events] == ["begin"] and len(session.ledger.labels) == 6
    assert client.read("history")["events"][0]["text"] == "The table was read with 6 labels"


def test_labels_alone_can_always_be_exported(offline, tmp_path):
    client, session = offline()
    client.do("class", op="add", name='a, "b"')
    client.label([3, 5], 0)
    client.label(4, "cannot")
    path = tmp_path / client.do("export", what="labels")["path"]  # no learner, one class only
    frame = pd.read_csv(path)
    assert frame["name"].tolist() == ["flower 4", "flower 5", "flower 6"]
    assert frame["label"].tolist() == ['a, "b"', "cannot tell", 'a, "b"'] and frame["row"].tolist() == [4, 5, 6]
    assert frame["via"].tolist() == ["click"] * 3 and frame["rev"].tolist() == [3, 4, 3]
    assert "Only the labels can be exported now" in client.post("export", what="table").json()["error"]
    session.has_problem("file_changed", "flowers.csv was changed.")
    client.do("export", what="labels")


def test_another_persons_label_is_not_overwritten_silently(offline):
    client, session = offline()
    for name in ("a", "b"):
        client.do("class", op="add", name=name, who="A")
    at = session.journal.rev
    client.label(1, 0, who="A", base_rev=at)
    for _ in range(2):  # also when the answer was lost on its way and the request comes again
        refused = client.post("label", id="same", rows=[1], who="B", base_rev=at, **{"class": 1})
        assert refused.status_code == 409 and "Somebody else labeled flower 2 as 'a'" in refused.json()["error"]
    assert session.ledger.value(1) == 0
    assert "b was not taken" in client.read("history?limit=1")["events"][0]["text"]
    assert client.post("undo", who="B").status_code == 409 and session.ledger.value(1) == 0
    client.label(1, 1, who="B", base_rev=session.journal.rev)
    assert session.ledger.value(1) == 1


def test_a_request_under_the_id_of_another_one_does_nothing(offline):
    client, session = offline()
    first = client.post("class", id="one", op="add", name="a").json()["rev"]
    for path in ("label", "accept", "skip", "note", "undo", "redo", "settings"):
        again = client.post(path, id="one", rows=[0], above=0.9)
        assert again.status_code == 200 and again.json()["rev"] == first == session.journal.rev


def test_whatever_is_requested_gets_an_answer_and_the_journal_can_be_read_again(offline, tmp_path):
    path, _ = iris(tmp_path, labels=range(0, 120, 7))
    client, session = offline(path)
    again = Ledger(settings=dict(session.ledger.settings))
    rng, some = random.Random(0), [None, True, -1, 1.5, 10**30, "", "x" * 3000, [], [-1], [1, 1, 200], {}, "cannot"]
    good = {
        "rows": lambda: [rng.randrange(120) for _ in range(rng.randrange(1, 9))],
        "class": lambda: rng.choice([0, 1, 2, "cannot", None]),
        "via": lambda: rng.choice(["queue", "random", "lasso", "list", "click", "review"]),
        "op": lambda: rng.choice(["add", "rename", "merge", "hide", "show", "describe"]),
        "name": lambda: rng.choice(["a", "b", "\u202e"]),
        "row": lambda: rng.randrange(120),
        "note": lambda: rng.choice(["", "n"]),
        "into": lambda: rng.randrange(3),
        "unseen": lambda: True,
        "rev": lambda: rng.randrange(1, 200),
    }
    paths = ["label", "accept", "skip", "note", "several", "undo", "redo", "class", "settings"]
    found = set()
    for _ in range(600):
        names = rng.sample([*good, "around", "who", "goal", "promise", "items", "key", "base_rev"], rng.randrange(9))
        names += ["rows", "class", "via"] if rng.random() < 0.5 else []
        body = {name: good[name]() if name in good and rng.random() < 0.8 else rng.choice(some) for name in names}
        found.add(client.post(rng.choice(paths), **body).status_code)  # a fault of the server is raised here
    assert found == {200, 400, 409} and session.journal.rev > 100
    for event in Journal.read(session.folder.path / "journal.jsonl"):
        again.take(event)
    assert again == session.ledger


def test_quit_and_unknown_paths(offline):
    client, _ = offline()
    assert client.do("quit")["rev"] == client.read("session")["rev"]
    assert client.get("nothing").status_code == 404 and client.http.get("/static/nothing.js").status_code == 404
    assert client.http.get("/static/theme.css").headers["content-type"].startswith("text/css")


def test_sure_guesses_are_accepted_in_one_event_that_nothing_is_learned_from(offline):
    from mercer.studio.answering import Answer

    client, session = offline()
    for name in "ab":
        client.do("class", op="add", name=name)
    hidden, checked, unsure, labeled, *rest = session.draw.order
    queue_of(session, [hidden, checked], "random")
    client.label(checked, 1, via="random")
    client.label(labeled, 1)
    body = {"rows": None, "class": None, "above": 0.95}
    assert client.post("accept", **body).status_code == 409  # there is no prediction yet
    guesses = np.zeros((120, 3), dtype=np.uint8)
    guesses[:, 2], guesses[unsure, 2] = 250, 200
    guesses[rest[:40], 0] = 1
    held_out = {checked: (0, 0.99)}
    session.answer = Answer(1, "full", "", guesses.tobytes(), np.zeros((120, 1), int), np.ones((120, 1)), held_out)
    assert client.post("accept", **body | {"above": 0.2}).status_code == 400
    assert client.do("accept", **body | {"class": 1})["accepted"] == 40
    assert client.do("accept", **body)["accepted"] == len(rest) - 40
    ledger = session.ledger
    assert {ledger.value(row) for row in rest[:40]} == {1} and {ledger.value(row) for row in rest[40:]} == {0}
    assert hidden not in ledger.labels and unsure not in ledger.labels and ledger.value(checked) == 1
    assert (checked, 1, 0) in ledger.outcomes()  # the check was correct about b, and a would have been accepted
    assert ledger.bulk_label(hidden) == 0 and ledger.unseen(rest[0])
    task = session.task()
    assert sorted(task.rows) == sorted([checked, labeled]) and len(task.accepted) == len(rest)
    assert "accepted as predicted" in client.read("history?limit=1")["events"][0]["text"]
    client.do("undo")
    assert all(row not in ledger.labels for row in rest[40:]) and ledger.bulk_label(checked) is None
    client.do("redo")
    assert len(session.task().accepted) == len(rest) and len(session.task().rows) == 2


def test_guidelines_and_keys_of_classes(offline):
    client, session = offline()
    for name in "ab":
        client.do("class", op="add", name=name)
    client.do("class", op="describe", **{"class": 0}, note="only if red", key="7")
    assert session.ledger.classes[0] | {"note": "only if red", "key": "7"} == session.ledger.classes[0]
    for wrong in ({"key": "7"}, {"key": "s"}, {"note": "x" * 3000}, {"note": 4}):
        assert client.post("class", op="describe", **{"class": 1}, **wrong).status_code in (400, 409)
    client.do("undo")
    assert "note" not in session.ledger.classes[0]


def test_an_export_can_be_downloaded(offline):
    client, session = offline()
    client.do("class", op="add", name="a")
    client.label(3, 0)
    name = client.do("export", what="labels")["file"]
    found = client.get(f"download/{name}")
    assert found.status_code == 200 and found.content == (session.folder.path / "exports" / name).read_bytes()
    assert "attachment" in found.headers["content-disposition"]
    (session.folder.path / "exports" / "link.csv").symlink_to("/etc/passwd")
    for other in ("link.csv", "none.csv", "..%2fjournal.jsonl"):
        assert client.get(f"download/{other}").status_code == 404
