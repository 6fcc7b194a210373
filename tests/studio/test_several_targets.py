"""Several targets of one table: a journal for each, one server, and learners that start when they are needed."""

import json

import numpy as np
import pytest

from mercer.jobs.usage import UsageError
from mercer.studio.targets import open_sessions, place_of, targets_to_open

from .conftest import Client, iris


def of(client, target):
    """The same server, as a page that shows a target."""

    class Shown(Client):
        def get(self, path, **more):
            return self.http.get(f"/api/{path}", headers={"X-Mercer-Target": target}, **more)

        def post(self, path, id=None, **body):
            return self.http.post(f"/api/{path}", json={"id": id, **body}, headers={"X-Mercer-Target": target})

    return Shown(client.http)


def test_two_targets_are_labeled_side_by_side(tmp_path, started):
    path, truth = iris(tmp_path)
    one = started(path, "--target", "kind", "--target", "size/ä", "--as", "size/ä=number", "--id", "name")
    kind, size = one.client, of(one.client, "size%2F%C3%A4")
    assert kind.read("session")["target"] == "kind" and not kind.read("session")["numeric"]
    assert size.read("session")["numeric"] and size.read("session")["targets"] == ["kind", "size/ä"]
    kind.ready()
    size.until(lambda: size.read("session")["stage"]["name"] == "idle")  # its learner was started by these requests
    for name in ("setosa", "versicolor"):
        kind.do("class", op="add", name=name)
    for row in range(6):
        size.label(row, float(row) ** 2)
    rows = [int(np.flatnonzero(truth == name)[0]) for name in ("setosa", "versicolor")]
    rev = [kind.label(row, c) for c, row in enumerate(rows)][-1]
    assert (
        len(kind.answer(rev).content) == 3 * 120 and len(size.answer(size.read("session")["rev"]).content) == 16 * 120
    )
    assert len(kind.read("labels")["labels"]) == 2 and len(size.read("labels")["labels"]) == 6
    code, out, _ = one.stop()
    assert code == 0 and "8 labels" in out
    assert json.loads((tmp_path / "flowers.csv.mercer" / "session.json").read_text())["target"] == "kind"
    again = started(path, "--id", "name")  # both are known
    assert of(again.client, "size%2F%C3%A4").read("session")["rev"] == size_rev(tmp_path)
    assert len(again.client.read("labels")["labels"]) == 2


def size_rev(folder):
    journal = place_of(folder / "flowers.csv.mercer", "size/ä") / "journal.jsonl"
    return len(journal.read_text().splitlines())


def test_which_targets_are_opened(tmp_path):
    path, _ = iris(tmp_path)
    folder = tmp_path / "flowers.csv.mercer"
    assert targets_to_open(folder, ["a"]) == ["a"] and targets_to_open(folder, []) == []
    for session in open_sessions(path, ["kind"], {}, {}, False, (), None, None):
        session.close()
    assert targets_to_open(folder, []) == ["kind"] == targets_to_open(folder, ["kind"])
    with pytest.raises(UsageError, match=r"labels of 'kind', not of 'color'\. Give --target kind too"):
        targets_to_open(folder, ["color"])
    for session in reversed(open_sessions(path, ["color", "kind"], {}, {}, False, (), None, None)):
        assert session.options["targets"] == ["kind", "color"] and "kind" not in session.rows.columns
        session.close()
    assert targets_to_open(folder, ["color"]) == ["kind", "color"] == targets_to_open(folder, [])


def test_unusual_rows_first_takes_one_target(tmp_path):
    with pytest.raises(UsageError, match="--outliers takes one --target"):
        open_sessions(iris(tmp_path)[0], ["a", "b"], {"outliers": True}, {}, False, (), None, None)
