"""The learner, in its own process, behind a real server."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelClassifier
from mercer.inputs.tables import TableEncoder

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
    assert [item["via"] for item in first].count("random") == 3 and len(first) == 10
    rev = give(client, truth, range(10))
    client.until(lambda: client.read("queue")["rev"] >= rev)
    queue = client.read("queue")
    assert queue["mode"] == "suggest" and not {item["row"] for item in queue["items"]} & set(range(10))
    reasons = [item["reason"] for item in queue["items"] if item["via"] == "queue"]
    assert len(set(reasons)) == len(reasons)  # each row has its own
    random = next(item["row"] for item in queue["items"] if item["via"] == "random")
    chosen = next(item["row"] for item in queue["items"] if item["via"] == "queue")
    rev = client.label(random, int(truth[random]), via="random")
    rev = client.label(chosen, int(truth[chosen]), via="random")  # was not offered as such
    client.until(lambda: client.read("accuracy")["rev"] >= rev)
    assert client.read("accuracy")["random"]["checks"] == 1


def test_accuracy_review_and_reasons(client, running):
    _, truth, _ = running
    rows = list(range(20))
    wrong = next(row for row in rows if truth[row] == 0)
    give(client, truth, rows)
    rev = client.label(wrong, 2)
    client.answer(rev)
    client.until(lambda: client.read("accuracy")["rev"] >= rev and client.read("accuracy")["change"])
    found = client.read("accuracy")
    assert found["random"] is None and found["left_out"]["note"].startswith("not an estimate")
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


def test_fast_labels_are_kept_in_order_and_only_the_newest_is_learnt(client, running):
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


def test_a_cancelled_answer_is_left_and_the_next_label_is_learnt(client, running):
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
    return next(int(one) for one in found if "spawn_main" in Path(f"/proc/{one}/cmdline").read_text())


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().split()[2] != "Z"


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_the_learner_ends_with_its_parent_and_the_server_says_when_it_is_gone(tmp_path, started):
    path, _ = iris(tmp_path)
    one = started(path, "--target", "kind")
    one.client.ready()
    learner = learner_of(one.process.pid)
    os.kill(learner, signal.SIGKILL)
    problem = one.client.until(lambda: one.client.read("session")["problem"])
    assert problem["code"] == "learner_gone"
    one.client.do("class", op="add", name="a")
    one.client.label(1, 0)  # labels are kept all the same
    one.kill()
    two = started(path, "--target", "kind")
    learner = learner_of(two.process.pid)
    two.kill()  # while it prepares
    end = time.monotonic() + 60
    while alive(learner) and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive(learner)
