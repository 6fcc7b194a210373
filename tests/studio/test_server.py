"""The routes, over HTTP, without a learner."""

import numpy as np
import pandas as pd
import pytest

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
    import os

    client, session = offline()
    client.do("class", op="add", name="a")
    real = os.pwrite

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    refused = client.post("label", rows=[1], **{"class": 0})
    assert refused.status_code == 507 and "No space left" in refused.json()["error"]
    assert client.read("session")["problem"]["code"] == "disk_full" and session.ledger.value(1) is None
    monkeypatch.setattr(os, "pwrite", real)
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


def test_rows_that_were_skipped_are_not_asked_for(offline):
    client, session = offline()
    session.queue = {
        "rev": 1,
        "mode": "coverage",
        "items": [{"row": row, "via": "queue", "reason": ""} for row in range(6)],
    }
    assert [item["row"] for item in client.read("queue?exclude=1,3")["items"]] == [0, 2, 4, 5]
    assert set(session.task().labelled) == {1, 3}  # nor in the queues that follow
    assert client.get("queue?exclude=x").status_code == 400


def test_quit_and_unknown_paths(offline):
    client, _ = offline()
    assert client.do("quit")["rev"] == client.read("session")["rev"]
    assert client.get("nothing").status_code == 404 and client.http.get("/static/nothing.js").status_code == 404
    assert client.http.get("/static/theme.css").headers["content-type"].startswith("text/css")
