"""The predictions of a saved model are compared with the labels that a new table has."""

import numpy as np
import pandas as pd
import pytest

from mercer.jobs.agreement import agreement
from mercer.jobs.classes import ClassAnswers
from mercer.jobs.numbers import NumberPredictions


def answers(P, left=()):
    P = np.asarray(P, dtype=float)
    none = np.zeros(len(P), dtype=bool)
    gone = none.copy()
    gone[list(left)] = True
    return ClassAnswers("kind", ["no", "yes"], P, P.max(axis=1), none, gone, none)


def test_labels_of_a_new_table_are_compared_with_the_predictions():
    found = agreement(answers([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.6, 0.4]]), _kind(["no", "yes", "no", None]))
    assert (found["labels"], found["accuracy"]) == (3, 2 / 3)
    assert found["accuracy_interval"][0] < 2 / 3 < found["accuracy_interval"][1]
    assert found["sentence"].startswith("2 of 3 labels in 'kind' are predicted correctly: 67% (95% interval")
    assert agreement(answers([[0.9, 0.1]]), _kind([None])) == {}


def test_rows_without_an_answer_do_not_count_and_unknown_classes_are_wrong_and_named():
    found = agreement(answers([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7]], left=[1]), _kind(["no", "yes", "maybe"]))
    assert (found["labels"], found["accuracy"]) == (2, 0.5)
    assert "1 of which have no prediction" in found["sentence"]
    assert "The model does not know the class 'maybe'." in found["sentence"]
    none = agreement(answers([[0.5, 0.5]], left=[0]), _kind(["no"]))
    assert none["sentence"] == "None of the rows with a label in 'kind' has a prediction."


def test_numbers_are_compared_by_their_errors_and_intervals():
    none, ends = np.zeros(4, dtype=bool), np.array([[0.0, 2], [1, 3], [2, 4], [3, 5]])
    found = NumberPredictions("size", ends.mean(axis=1), ends, none, none, 0.9, 1.0, 3)
    told = agreement(found, pd.Series(["1.5", "2", "9", ""], name="size"))
    assert told["labels"] == 3 and told["within_interval"] == 2 / 3
    assert told["mae"] == pytest.approx((0.5 + 0 + 6) / 3)
    assert told["r2"] == pytest.approx(1 - (0.25 + 36) / np.sum((np.array([1.5, 2, 9]) - 12.5 / 3) ** 2))
    assert "cannot be compared" in agreement(found, pd.Series(["big", "2", "9", ""], name="size"))["sentence"]
    assert agreement(found, pd.Series([None] * 4, name="size")) == {}


def _kind(words):
    return pd.Series(words, name="kind", dtype=object)
