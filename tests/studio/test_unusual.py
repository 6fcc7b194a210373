"""Questions in the order of an outlier detector."""

import numpy as np
import pandas as pd
import pytest

from mercer import OutlierDetector
from mercer.inputs.tables import TableEncoder
from mercer.studio.task import LearnerTask
from mercer.studio.unusual import UnusualFirst

LEFT, RIGHT = range(0, 30, 2), range(1, 30, 2)  # rows that are unusual in one way and in another way


@pytest.fixture(scope="module")
def rows():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 3))
    X[LEFT, 0] = -7 - 9 * draw.random(15)
    X[RIGHT, 1] = 7 + 9 * draw.random(15)
    return X


def task(names, labels):
    """A labeling {row: class number}."""
    return LearnerTask(1, [*labels], [*labels.values()], [], [*labels], [], [], 0, [], names, 0.9, 0.25, 0, 0)


def test_the_order_is_that_of_the_detector_and_follows_the_answers(rows):
    order, names = UnusualFirst(rows), {0: "Odd", 1: "ordinary", 2: "broken"}
    first = order.rows(task(names, {}))
    assert len(first) == 200 and set(first[:15]) <= {*LEFT, *RIGHT} and min(map(first.index, RIGHT)) < 3
    labels = {row: 1 for row in LEFT[:5]} | {row: 0 for row in RIGHT[:3]} | {40: 2}  # one kind is ordinary after all
    found = order.rows(task(names, labels))
    assert not {*labels} & {*found}
    assert len({*found[:12]} & {*RIGHT}) >= 11 and not {*found[:12]} & {*LEFT} and {*first[:12]} & {*LEFT}
    taught = OutlierDetector(random_state=0).fit(rows).teach([*LEFT[:5], *RIGHT[:3]], [1] * 5 + [-1] * 3)
    expected = [row for row in np.argsort(taught.training_scores_, kind="stable").tolist() if row not in labels]
    assert found == expected[:200]
    assert order.rows(task(names, {})) == first  # as after undo


def test_a_session_asks_for_the_most_unusual_rows(rows, tmp_path, started):
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "parts.csv", index=False)
    one = started(tmp_path / "parts.csv", "--outliers")
    client = one.client
    client.ready()
    session = client.read("session")
    assert session["target"] == "odd" and [c["name"] for c in session["classes"]] == ["odd", "ordinary"]
    queue = client.until(lambda: (found := client.read("queue"))["mode"] == "unusual" and found)
    asked = [item["row"] for item in queue["items"]]
    X = TableEncoder().fit_transform(frame)
    detector = OutlierDetector(random_state=0).fit(X)
    assert asked == np.argsort(detector.training_scores_)[:30].tolist()
    rev = 0
    for row in asked[:12]:
        rev = client.label(row, int(row in LEFT), via="queue")
    client.answer(rev)
    queue = client.until(lambda: (found := client.read("queue"))["rev"] >= rev and found)
    chosen = [item["row"] for item in queue["items"] if item["via"] == "queue"]
    detector.teach(asked[:12], [1 if row in LEFT else -1 for row in asked[:12]])
    order = [row for row in np.argsort(detector.training_scores_, kind="stable").tolist() if row not in asked[:12]]
    assert chosen == [row for row in order if row in chosen] and set(chosen) <= {*order[:30]}
    assert len({*chosen[:8]} & {*RIGHT}) >= 6 and not {*chosen} & {*LEFT}
    assert 3 <= sum(item["via"] == "random" for item in queue["items"]) <= 16  # checks stay a part of the questions


def test_a_column_with_answers_keeps_its_words(rows, tmp_path, offline):
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    frame["strange"] = ["yes", "yes", "no", *[""] * 297]
    frame.to_csv(tmp_path / "parts.csv", index=False)
    _, session = offline(tmp_path / "parts.csv", "strange", id=None, outliers=True)
    assert sorted(one["name"] for one in session.ledger.classes) == ["no", "yes"]
