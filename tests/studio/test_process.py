"""What happens to the process: kills, a second server, changed files, full disks."""

import json
import os
import resource
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pandas as pd
import pytest

from mercer.cli.console import Console
from mercer.jobs.usage import UsageError
from mercer.studio.start import serve

from .conftest import SOURCE, iris


def started_with_classes(started, path):
    one = started(path, "--target", "kind", "--id", "name")
    if not one.client.read("session")["classes"]:
        for name in ("a", "b", "c"):
            one.client.do("class", op="add", name=name)
    return one


def test_no_acknowledged_label_is_lost_when_the_process_is_killed(tmp_path, started):
    path, _ = iris(tmp_path)
    rng, known = np.random.default_rng(0), {}
    one = started_with_classes(started, path)
    for moment in (0.15, 0.4):
        threading.Timer(moment, one.kill).start()
        sent = None
        with pytest.raises(httpx.TransportError):
            while True:
                row, value = int(rng.integers(120)), int(rng.integers(3))
                sent = row, value
                one.client.label(row, value)
                known[row] = value
        one = started_with_classes(started, path)
        found = {label["row"]: label["class"] for label in one.client.read("labels")["labels"]}
        assert known and (found == known or found == known | {sent[0]: sent[1]})  # the last one was under way
        known = found


def test_a_second_server_is_refused_a_stop_says_goodbye_and_the_port_stays(tmp_path, started):
    path, _ = iris(tmp_path)
    one = started(path, "--target", "kind")
    with pytest.raises(RuntimeError) as error:
        started(path, "--target", "kind")
    assert f"{one.base}/?token=" in str(error.value) and one.token not in str(error.value)  # that one was used
    lines = []

    def listen():
        with one.client.http.stream("GET", "/api/events") as stream:
            lines.extend(stream.iter_lines())

    thread = threading.Thread(target=listen)
    thread.start()
    time.sleep(1.0)
    code, out, _ = one.stop()
    thread.join(10)
    assert code == 0 and "0 labels" in out and "event: hello" in lines and "event: bye" in lines
    two = started(path, "--target", "kind")  # the folder is free again
    assert two.base == one.base and two.token != one.token
    two.client.do("quit")
    assert two.process.wait(30) == 0


def test_events_that_were_missed_come_again(tmp_path, started):
    path, _ = iris(tmp_path)
    one = started_with_classes(started, path)
    revs = [one.client.label(row, 0) for row in range(4)]
    with one.client.http.stream("GET", f"/api/events?since={revs[1]}") as stream:
        told = []
        for line in stream.iter_lines():
            if line.startswith("data: ") and '"op":"label"' in line:
                told.append(json.loads(line[6:])["rev"])
            if len(told) == 2:
                break
    assert told == revs[2:]


def test_a_table_that_is_changed_stops_learning_and_loses_nothing(tmp_path, started):
    path, _ = iris(tmp_path)
    one = started_with_classes(started, path)
    one.client.label([3, 4, 5], 0)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.drop(index=[4]).to_csv(path, index=False)
    problem = one.client.until(lambda: one.client.read("session")["problem"])
    assert problem["code"] == "file_changed" and problem["unmatched"] == ["flower 5"] and problem["matched"] == 2
    assert one.client.read("session")["stage"]["name"] == "stopped"
    assert one.client.post("label", rows=[7], **{"class": 0}).status_code == 409
    one.stop()
    again = started_with_classes(started, path)
    assert [one["row"] for one in again.client.read("labels")["labels"]] == [3, 4]


def test_a_table_that_is_removed_and_put_back_is_learned_from_again(tmp_path, started):
    path, truth = iris(tmp_path, labels=range(8))
    one = started(path, "--target", "kind")
    rev = one.client.read("session")["rev"]
    before = one.client.answer(rev).headers["x-mercer-digest"]
    path.rename(tmp_path / "aside.csv")
    problem = one.client.until(lambda: one.client.read("session")["problem"])
    assert problem["code"] == "file_changed" and "No label is lost" in problem["text"]
    (tmp_path / "aside.csv").rename(path)
    one.client.until(lambda: one.client.read("session")["problem"] is None)
    names = {one["name"]: one["id"] for one in one.client.read("session")["classes"]}
    rev = one.client.label(20, names[truth[20]])
    assert one.client.answer(rev).headers["x-mercer-digest"] != before


def test_a_disk_without_room_refuses_the_label(tmp_path, started):
    path, _ = iris(tmp_path)
    one = started_with_classes(started, path)
    one.client.label(1, 0)
    size = (tmp_path / "flowers.csv.mercer" / "journal.jsonl").stat().st_size
    one.stop()

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 200, size + 200))

    again = started(path, "--target", "kind", preexec_fn=limited)
    refused = again.client.post("label", rows=list(range(50)), **{"class": 0})
    assert refused.status_code == 507 and again.client.read("session")["problem"]["code"] == "disk_full"
    assert [one["row"] for one in again.client.read("labels")["labels"]] == [1]
    again.kill()
    third = started(path, "--target", "kind")
    third.client.label(2, 0)
    assert len(third.client.read("labels")["labels"]) == 2


@pytest.mark.parametrize(
    "options, words",
    [
        ({"data": "none.csv", "target": "kind"}, "There is no file"),
        ({"data": "flowers.csv"}, "--target COLUMN"),
        ({"data": "flowers.csv", "target": "kind", "goal": 90.0}, "Invalid --goal 90; expected a fraction"),
        ({}, "--demo"),
    ],
)
def test_what_is_wrong_with_the_command_is_said(tmp_path, options, words):
    iris(tmp_path)
    if "data" in options:
        options = options | {"data": tmp_path / options["data"]}
    with pytest.raises(UsageError, match=words):
        serve(Console(quiet=True), None, **options)


def test_the_learner_is_started_before_anything_heavy_is_loaded():
    heavy = "import sys, mercer.cli.serving; print(sorted({'numpy', 'pandas', 'scipy', 'sklearn'} & set(sys.modules)))"
    environment = os.environ | {"PYTHONPATH": SOURCE}
    found = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, env=environment)
    assert found.stdout.strip() == "[]", found.stderr


def test_the_demo(tmp_path, started):
    one = started(tmp_path / "demo", "--demo")
    session = one.client.read("session")
    assert session["demo"] and session["n"] == 1797 and [c["name"] for c in session["classes"]] == list("0123456789")
    image = one.client.get("image/5")
    assert image.headers["content-type"] == "image/png" and image.content.startswith(b"\x89PNG")
    one.kill()
