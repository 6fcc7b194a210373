"""Reasons for one row, and the columns on which predictions depend."""

import numpy as np
import pytest

from mercer import FewLabelClassifier
from mercer.advice.column_effects import effects
from mercer.advice.why import Why, why


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + [6, 0, 0]])
    y = np.array(["low"] * 40 + ["high"] * 40, dtype=object)
    y[np.arange(80) % 8 > 0] = None
    return FewLabelClassifier(random_state=0).fit(X, y), X


def test_what_a_row_is_most_like_is_labeled_near_and_not_itself(model):
    fitted, _ = model
    rows = [3, 45, 8]  # the last one has a label
    for row, one in zip(rows, why(fitted, rows, n=3)):
        assert len(one.nearest) == 3
        assert row not in [near for near, _, _ in one.nearest]
        assert {label for _, label, _ in one.nearest} == {"low" if row < 40 else "high"}
        assert one.likely[0][0] == fitted.classes_[fitted.probabilities_[row].argmax()]
        assert abs(sum(share for _, share in one.votes) - 1) < 1e-9


def test_the_sentence_names_whom_the_answer_disagrees_with():
    one = Why(
        [("a", 0.5), ("b", 0.4), ("c", 0.1)],
        [("b", 0.6), ("a", 0.38), ("c", 0.02)],
        [(2, "b", 0.9), (0, "a", 0.01)],
        [],
    )
    assert one.sentence(["x", "y", "z"]) == "a (50%) or b (40%); similar to z (labeled b)"
    assert one.sentence(["x", "y", "z"], first=False).startswith("second guess b (40%);")
    assert (
        Why([("a", 0.97), ("b", 0.03)], [("a", 1.0)], [(0, "a", 0.01)], []).sentence("x")
        == "a (97%); hardly like any labeled row"
    )


def test_only_the_column_that_matters_has_an_effect(model):
    fitted, X = model
    found = effects(fitted, X, {"first": slice(0, 1), "others": slice(1, 3)})
    assert found["first"] > 0.3  # half of the rows exchanged change sides
    assert found["others"] < 0.15
    assert found == effects(fitted, X, {"first": slice(0, 1), "others": slice(1, 3)})


def test_equally_similar_rows_are_counted_not_named():
    X = np.repeat([[1.0, 4.0], [5.0, 2.0]], 20, axis=0)
    y = np.full(40, None, dtype=object)
    y[:6], y[6], y[20:23] = "low", "high", "high"
    found = why(FewLabelClassifier(["lssvm"]).fit(X, y), [10, 30])
    assert found[0].like(range(40)) == "equally like 7 labeled rows (6 low, 1 high)"
    assert found[1].like(range(40)) == "equally like 3 labeled rows (3 high)"
    votes = Why([("no", 0.5), ("yes", 0.5)], [("yes", 0.71), ("no", 0.29)], [], [])
    assert "vote" not in votes.sentence([])
    third = Why([("no", 0.5), ("yes", 0.3), ("may", 0.2)], [("may", 0.6), ("no", 0.4)], [], [])
    assert "60% of the votes are for may" in third.sentence([])
