"""Several annotators on one table: names, second answers without a look at the first, agreement."""

import csv
import json
from urllib.parse import quote

import pytest

from .conftest import Client, iris


def person(client, name):
    """The same server, as another annotator sees it."""

    class Named(Client):
        def get(self, path, **more):
            return self.http.get(f"/api/{path}", headers={"X-Mercer-Annotator": quote(name)}, **more)

        def post(self, path, id=None, **body):
            headers = {"X-Mercer-Annotator": quote(name)}
            return self.http.post(f"/api/{path}", json={"id": id, "tab": name, **body}, headers=headers)

    return Named(client.http)


@pytest.fixture
def two(offline):
    """(Anna, Bert, session): of Anna's rows, half are to be answered by Bert, too."""
    client, session = offline()
    anna, bert = person(client, "Anna Ä"), person(client, "Bert")
    for name in ("a", "b"):
        anna.do("class", op="add", name=name)
    anna.do("settings", double_share=0.5)
    for row in range(20):
        anna.label(row, row % 2, via="click")
    return anna, bert, session


def labels(client):
    return {one["row"]: one["class"] for one in client.read("labels")["labels"]}


def asked(client):
    return [one["row"] for one in client.read("queue")["items"] if "Another annotator" in one["reason"]]


def test_every_event_carries_the_name(two):
    anna, _bert, session = two
    assert {event.get("annotator") for event in session.journal.events[1:]} == {"Anna Ä"}
    assert anna.read("session")["annotators"] == ["Anna Ä"] and anna.read("session")["annotator"] == "Anna Ä"
    assert {one["annotator"] for one in anna.read("history")["events"][:-1]} == {"Anna Ä"}


def test_a_name_of_the_command_is_that_of_every_event(tmp_path):
    from mercer.studio.start import open_session

    session = open_session(iris(tmp_path)[0], "kind", {}, {}, annotator="Cleo")
    session.change_class({"op": "add", "name": "a"})
    assert {event["annotator"] for event in session.journal.events} == {"Cleo"}
    session.close()


def test_a_second_answer_is_given_without_a_look_at_the_first(two):
    anna, bert, session = two
    drawn = [row for row in range(20) if row not in labels(bert)]
    assert 4 < len(drawn) < 16 and len(labels(anna)) == 20 and not asked(anna)
    assert asked(bert)[0] in drawn and set(drawn) <= set(bert.read("queue")["checks"])
    row = asked(bert)[0]
    shown = bert.read(f"rows?ids={row}")["rows"][0]
    assert shown["label"] is None and shown["guess"] is None
    told = [one for one in bert.read("history?limit=100")["events"] if one["rows"] == [row]]
    assert told[0]["to"] is None and "hidden until" in told[0]["text"]
    bert.label(row, 1 - row % 2, via="random")
    assert session.ledger.value(row) == row % 2  # the label stays
    assert labels(bert)[row] == row % 2  # and is seen from now on
    assert row not in session.ledger.checks and row not in asked(bert)
    assert not session.ledger.seconds.get(drawn[-1])


def test_agreement_on_the_page_and_in_the_labels(two):
    anna, bert, session = two
    assert anna.read("accuracy")["agreement"] is None
    drawn = sorted(set(range(20)) - set(labels(bert)))
    for place, row in enumerate(drawn):
        bert.label(row, row % 2 if place else "cannot", via="random")
    found = anna.read("accuracy")["agreement"]
    assert (found["rows"], found["same"]) == (len(drawn), len(drawn) - 1)
    assert found["interval"][0] < found["agreement"] < found["interval"][1]
    assert found["kappa_interval"][0] < found["kappa"] < 1
    assert found["pairs"][0]["annotators"] == ["Anna Ä", "Bert"] and "kappa" in found["text"]
    first = {"a": "a", "b": "b"}["ab"[drawn[0] % 2]]
    assert found["different"] == [{"row": drawn[0], "annotators": ["Anna Ä", "Bert"], "labels": [first, "cannot tell"]}]
    path = session.folder.path.parent / anna.do("export", what="labels")["path"]
    with open(path, encoding="utf-8") as file:
        rows = {int(one["row"]) - 1: one for one in csv.DictReader(file)}
    assert rows[drawn[0]]["annotator"] == "Anna Ä" and rows[drawn[0]]["second_label"] == "cannot tell"
    assert rows[drawn[1]]["second_annotator"] == "Bert"
    assert {one["second_label"] for row, one in rows.items() if row not in drawn} == {""}


def test_a_skipped_question_comes_back_and_is_counted(two):
    _anna, bert, _session = two
    row = asked(bert)[0]
    bert.do("skip", rows=[row], via="random")
    assert asked(bert)[0] != row and row not in labels(bert)
    other = asked(bert)[0]
    bert.label(other, 0)
    assert bert.read("accuracy")["agreement"]["waiting"] == 1
    assert bert.post("undo").status_code == 409  # nothing of Bert's can be undone: a first look cannot be taken back


def test_many_rows_at_once_leave_out_those_for_a_second_answer(two):
    _anna, bert, session = two
    drawn = sorted(set(range(20)) - set(labels(bert)))
    bert.label([*drawn, 50, 51], 1, via="list")
    assert session.ledger.value(50) == 1 and not session.ledger.seconds
    assert all(session.ledger.value(row) == row % 2 for row in drawn)
    assert bert.post("label", rows=drawn, via="list", **{"class": 1}).status_code == 409


def test_second_answers_outlive_a_restart_and_a_changed_table(two, offline, tmp_path):
    _anna, bert, session = two
    row = asked(bert)[0]
    bert.label(row, 0)
    before = session.ledger.seconds
    session.close()
    lines = (tmp_path / "flowers.csv").read_text().splitlines()
    (tmp_path / "flowers.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    client, again = offline(tmp_path / "flowers.csv")
    assert again.ledger.seconds == {119 - row: before[row]} and again.ledger.annotator(119 - row) == "Anna Ä"
    assert client.read("accuracy")["agreement"]["rows"] == 1


def test_annotators_of_a_running_server(tmp_path, started):
    path, truth = iris(tmp_path, labels=range(12))
    one = started(path, "--target", "kind", "--annotator", "Anna", "--double-share", "1", "--id", "name")
    names = {one["name"]: one["id"] for one in one.client.read("session")["classes"]}
    one.client.answer(1)
    bert = person(one.client, "Bert")
    one.client.label(40, names[truth[40]])
    rev = bert.label(40, names[truth[40]])
    bert.label(41, names[truth[41]])
    one.client.until(lambda: one.client.read("accuracy")["rev"] >= rev)
    assert one.client.read("accuracy")["agreement"]["same"] == 1
    found = json.loads(one.client.http.get(f"/api/download/{one.client.do('export', what='certificate')['file']}").text)
    assert found["agreement"]["rows"] == 1
    table = one.client.http.get(f"/api/download/{one.client.do('export', what='table')['file']}").text
    rows = list(csv.DictReader(table.splitlines()))
    assert rows[40]["kind_annotator"] == "Anna" and rows[41]["kind_annotator"] == "Bert"
