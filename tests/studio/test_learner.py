"""The learner, in its own process, behind a real server."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelClassifier
from mercer.inputs.tables import TableEncoder
from mercer.studio.drawing import Draw
from mercer.studio.learner import Learner

from .conftest import iris

KINDS = ["setosa", "versicolor", "virginica"]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """(process, true classes, path) of a server that is ready, with the three classes."""
    from .conftest import Process

    path, truth = iris(tmp_path_factory.mktemp("studio"))
    process = Process(path, "--target", "kind", "--id", "name")
    process.client.ready()
    for name in KINDS:
        process.client.do("class", op="add", name=name)
    yield process, np.array([KINDS.index(name) for name in truth]), path
    process.stop()


@pytest.fixture
def client(running):
    """Its client, with no label at the beginning of each test."""
    process, _, _ = running
    rows = [one["row"] for one in process.client.read("labels")["labels"]]
    if rows:
        process.client.label(rows, None)
    return process.client


def answers(found):
    return np.frombuffer(found.content, np.uint8).reshape(-1, 3)


def give(client, truth, rows):
    return [client.label(row, int(truth[row])) for row in rows][-1]


def test_the_answer_is_that_of_the_library(client, running):
    _, truth, path = running
    rows = list(range(12))
    found = client.answer(give(client, truth, rows))
    frame = pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns=["kind"])
    X = TableEncoder(ignore=["name"]).fit_transform(frame)
    y = np.full(120, None, dtype=object)
    y[rows] = truth[rows]
    model = FewLabelClassifier(time_budget=20.0, random_state=0).fit(X, y, drawn=np.zeros(120, dtype=bool))
    assert np.array_equal(answers(found)[:, 0], model.transduction_.astype(int))
    assert np.array_equal(answers(found)[:, 2], np.round(255 * model.confidence_).astype(int))
    guess = client.read("rows?ids=50")["rows"][0]["guess"]
    assert guess[0][1] == pytest.approx(model.probabilities_[50].max(), abs=1e-6)


def test_undo_restores_the_digest_and_a_new_name_changes_nothing(client, running):
    _, truth, _ = running
    first = client.answer(give(client, truth, range(10))).headers["x-mercer-digest"]
    other = client.answer(client.label([50, 60], 2)).headers["x-mercer-digest"]
    assert other != first
    assert client.answer(client.do("undo")["rev"]).headers["x-mercer-digest"] == first
    assert client.answer(client.do("redo")["rev"]).headers["x-mercer-digest"] == other
    rev = client.do("class", op="rename", **{"class": 0}, name="Setosa")["rev"]
    assert client.answer(rev).headers["x-mercer-digest"] == other
    client.do("class", op="rename", **{"class": 0}, name="setosa")


def test_the_queue_before_two_classes_and_after(client, running):
    _, truth, _ = running
    client.until(lambda: client.read("queue")["mode"] == "coverage" and client.read("queue")["items"])
    first = client.read("queue")["items"]
    assert {item["via"] for item in first} == {"queue"} and len(first) == 30  # there is no prediction to check yet
    rev = give(client, truth, range(10))
    client.until(lambda: client.read("queue")["rev"] >= rev)
    queue = client.read("queue")
    assert queue["mode"] == "suggest" and not {item["row"] for item in queue["items"]} & set(range(10))
    reasons = [item["reason"] for item in queue["items"] if item["via"] == "queue"]
    assert len(set(reasons)) == len(reasons)  # each row has its own
    random = next(item["row"] for item in queue["items"] if item["via"] == "random")
    late = set(Draw(120, 0).order[60:])
    chosen = next(item["row"] for item in queue["items"] if item["via"] == "queue" and item["row"] in late)
    rev = client.label(random, int(truth[random]), via="random")
    rev = client.label(chosen, int(truth[chosen]), via="random")  # was not offered as such
    client.until(lambda: client.read("accuracy")["rev"] >= rev)
    assert client.read("accuracy")["random"]["checks"] == 1


def test_accuracy_review_and_reasons(client, running):
    _, truth, path = running
    journal = path.with_name(path.name + ".mercer") / "journal.jsonl"
    checks = {row for line in journal.read_text().splitlines() for row in json.loads(line).get("checks", [])}
    rows = list(range(20))
    wrong = next(row for row in rows if truth[row] == 0)
    give(client, truth, rows)
    rev = client.label(wrong, 2)
    client.answer(rev)
    client.until(lambda: client.read("accuracy")["rev"] >= rev and client.read("accuracy")["change"])
    found = client.read("accuracy")
    assert (found["random"] or {"checks": 0})["checks"] == len(checks)  # those of earlier tests: no label here is one
    assert found["left_out"]["note"].startswith("not an estimate")
    assert found["majority"]["value"] <= 1 and sum(one["given"] for one in found["classes"]) == 20
    assert sum(one["predicted"] for one in found["classes"]) == 100
    items = client.read("suspicious")["items"]
    assert items[0]["row"] == wrong and (items[0]["given"], items[0]["proposed"]) == (2, 0)
    client.label(wrong, 2, via="review")  # kept
    assert wrong not in [item["row"] for item in client.read("suspicious")["items"]]
    why = client.read("why/70")
    assert abs(sum(one["weight"] for one in why["families"]) - 1) < 1e-6
    assert {one["row"] for one in why["near"]} <= set(rows) and why["probabilities"][0][0] == truth[70]
    ahead = client.until(lambda: client.read("why/70")["if"])
    assert ahead[0]["class"] == why["probabilities"][0][0] and all(one["changes"] >= 0 for one in ahead)


def test_fast_labels_are_kept_in_order_and_only_the_newest_is_learned(client, running):
    process, truth, _ = running
    revs = []
    with process.client.http.stream("GET", "/api/events") as stream:
        for row in range(50):
            revs.append(client.label(row, int(truth[row])))
        told, tiers = [], []
        name = None
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
                if name == "label":
                    told.append(data["rev"])
                elif name == "answer":
                    tiers.append((data["rev"], data["tier"]))
                    if data == {"rev": revs[-1], "tier": "full", "digest": data["digest"]}:
                        break
    assert told == revs == sorted(revs)
    assert (revs[-1], "fast") in tiers and tiers.index((revs[-1], "fast")) < tiers.index((revs[-1], "full"))
    assert len([one for one in tiers if one[1] == "full"]) < 25
    assert [rev for rev, _ in tiers] == sorted(rev for rev, _ in tiers)


def test_a_cancelled_answer_is_left_and_the_next_label_is_learned(client, running):
    _, truth, _ = running
    give(client, truth, range(9))
    client.do("cancel")
    client.until(lambda: client.read("session")["stage"]["name"] == "idle")
    rev = client.label(20, int(truth[20]))
    assert int(client.answer(rev).headers["x-mercer-rev"]) == rev


def test_the_map_never_moves(client, running):
    _process, truth, path = running
    before = client.get("map").content
    assert len(before) == 4 * 120 and len(np.unique(np.frombuffer(before, "<u2"))) > 50
    client.answer(give(client, truth, range(8)))
    assert client.get("map").content == before
    cache = path.parent / "flowers.csv.mercer" / "cache" / "map.npy"
    assert cache.exists()


def test_a_session_that_goes_on_has_the_same_answer_and_map(tmp_path, started):
    path, _ = iris(tmp_path, labels=range(8))
    one = started(path, "--target", "kind")
    rev = one.client.read("session")["rev"]
    before, placed = one.client.answer(rev).headers["x-mercer-digest"], one.client.get("map").content
    assert one.stop()[0] == 0
    two = started(path.with_name("flowers.csv.mercer"), "--goal", "0.8")
    assert two.client.read("session")["goal"] == 0.8
    assert two.client.answer(rev).headers["x-mercer-digest"] == before and two.client.get("map").content == placed


def learner_of(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    return next((int(one) for one in found if "spawn_main" in Path(f"/proc/{one}/cmdline").read_text()), None)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().split()[2] != "Z"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_a_learner_that_is_killed_is_started_again_and_the_page_names_the_event(tmp_path, started):
    path, truth = iris(tmp_path, labels=range(8))
    one = started(path, "--target", "kind", "--id", "name")
    client, names = one.client, {one["name"]: one["id"] for one in one.client.read("session")["classes"]}
    client.answer(client.read("session")["rev"])
    rev = client.label(20, names[truth[20]])
    client.answer(rev)
    for time_ in (1, 2):
        os.kill(client.until(lambda: learner_of(one.process.pid)), signal.SIGKILL)
        problem = client.until(lambda: client.read("session")["problem"])
        assert problem["code"] == "learner_fault" and f"event {rev} (flower 21: {truth[20]})" in problem["text"]
        assert ("twice" in problem["text"]) == (time_ == 2)
        if time_ == 1:  # the same labels are learned from once more, and the sentence goes
            client.until(lambda: client.read("session")["problem"] is None)
    rev = client.label(21, names[truth[21]])  # others always are
    assert int(client.answer(rev).headers["x-mercer-rev"]) == rev
    client.until(lambda: client.read("session")["problem"] is None)
    assert len(client.read("labels")["labels"]) == 10


def test_a_fault_is_said_and_the_next_labels_are_learned(offline, monkeypatch):
    client, session = offline()
    client.do("class", op="add", name="a")
    rev = client.label(3, 0)
    told = []
    learner = Learner(SimpleNamespace(send=told.append), None, "kind", {}, 0, None)
    monkeypatch.setattr(learner, "_answer", lambda task: np.zeros(2).reshape(3))
    learner.answer(session.task())
    assert [kind for kind, *_ in told] == ["fault", "stage"] and "cannot reshape" in told[0][2]
    learner.reply_why = lambda row: [][row]
    learner.serve(("why", 1, 5))
    assert told[-1][:3] == ("reply", 1, None) and "fault in mercer" in told[-1][3]
    session.heard(*told[0])
    problem = client.read("session")["problem"]
    assert problem["code"] == "learner_fault" and f"Event {rev} (flower 4: a)" in problem["text"]
    client.label(4, 0)
    session.heard("answer", None, rev)
    assert client.read("session")["problem"] is None


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_the_learner_ends_with_its_parent(tmp_path, started):
    path, _ = iris(tmp_path)
    two = started(path, "--target", "kind")
    learner = learner_of(two.process.pid)
    two.kill()  # while it prepares
    end = time.monotonic() + 60
    while alive(learner) and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive(learner)


def test_hints_are_learned_from_as_by_the_library_and_hidden_from_the_annotator(tmp_path, started):
    path, truth = iris(tmp_path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    draw = np.random.default_rng(0)
    frame["llm"] = np.where(draw.random(120) < 0.9, truth, draw.permutation(truth))
    frame.to_csv(path, index=False)
    one = started(path, "--target", "kind", "--id", "name", "--hint", "llm")
    assert "llm" not in one.client.read("session")["columns"]
    for name in reversed(KINDS):  # class numbers are not in the order of the names
        one.client.do("class", op="add", name=name)
    rows, rev = list(range(12)), 0
    for row in rows:
        rev = one.client.label(row, 2 - KINDS.index(truth[row]))
    found = answers(one.client.answer(rev))
    X = TableEncoder(ignore=["name", "kind", "llm"]).fit_transform(frame)
    y = np.full(120, None, dtype=object)
    y[rows] = truth[rows]
    model = FewLabelClassifier(time_budget=20.0, random_state=0)
    model.fit(X, y, drawn=np.zeros(120, dtype=bool), hints={"llm": frame["llm"].to_numpy(dtype=object)})
    plain = FewLabelClassifier(time_budget=20.0, random_state=0).fit(X, y, drawn=np.zeros(120, dtype=bool))
    names = np.array(KINDS[::-1])[found[:, 0]]
    assert np.array_equal(names, model.transduction_) and not np.allclose(model.confidence_, plain.confidence_)
    assert np.abs(found[:, 2] - 255 * model.confidence_).max() <= 1
