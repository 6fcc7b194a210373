"""The benchmarks of hints and of promises: what they count, on a small number of draws."""

import numpy as np
import pytest

from benchmarks.accuracy import hints, promises
from mercer.advice.audit import ClassAudit
from mercer.evidence.powered import clopper_pearson


def test_a_source_errs_as_often_as_requested():
    X, y = hints.load("digits", seed=0)
    for how in ("even", "by class"):
        right = np.mean([hints.machine_labels(X, y, 0.8, how, np.random.default_rng(i)) == y for i in range(20)])
        assert right == pytest.approx(0.8, abs=0.03)


def test_the_draws_of_an_audit_are_judged_by_the_truth():
    rows = hints.audit_rows((0, 0, 2))
    assert [row["labels"] for row in rows] == [20, 50, 100] * 2
    assert all(row["powered width"] <= row["plain width"] + 1e-9 for row in rows)
    text = hints.audit_page(rows)
    assert "| 20 | digits, even or odd, 80% | 2 |" in text and "| 100 | all | 2 |" in text


def test_intervals_of_classes_are_compared_with_their_own_fraction():
    y, guess = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 1, 1, 1, 1, 1])
    sure, wide = clopper_pearson(0.0, 1000), clopper_pearson(0.5, 2)
    classes = [
        ClassAudit(0, 1, 1, correct=sure, found=wide),  # all of the guesses 0 are correct and missed
        ClassAudit("1", 5, 5, correct=clopper_pearson(0.8, 5), found=clopper_pearson(float("nan"), 0)),
    ]
    assert hints.by_class(classes, y, guess) == [False, True, True]


def test_harm_is_named_with_its_setting():
    rows = [
        {"set": "a", "draw": draw, "labels": 20, "machine": "even, 90%", "calibration": 0.0, "true matrix": 9.0}
        | {"machine alone": 10.0, "without the column": 30.0, "as a category": 20.0, "as a hint": 14.0 + draw}
        for draw in range(3)
    ]
    rows += [row | {"set": "b", "as a hint": 5.0} for row in rows]
    text = hints.hint_page(rows)
    assert "in 1 by more than a point, and a higher one in 1." in text
    assert "a, 20 labels, even, 90%: +5.0" in text
    assert "| 20 | all | 10.0 ± 0.0 | 30.0 ± 0.0 | 20.0 ± 0.0 | 10.0 ± 0.3 |" in text


def test_users_share_rows_and_every_run_is_counted():
    tasks = promises.tasks_of(40)
    assert sum(number for *_, number in tasks) == 40 and max(number for *_, number in tasks) == promises.SHARED
    coins = next(case for case in promises.PROMISES if case[0] == "coin tosses")
    (name, rate, *_), (row,) = coins, promises.users(((*coins[:2], 40, 42), 0, 1))
    assert row["set"] == name and row["at most"] == rate
    assert not row["broken"] and row["accepted"] == 0.0 and row["error"] > 0.3


def test_the_oracle_accepts_the_most_confident_rows():
    class Model:
        confidence_ = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
        transduction_ = np.array([1, 1, 1, 1, 1])

    y = np.array([1, 1, 0, 1, 0])
    assert promises._oracle(Model, y, np.arange(5), 0.25) == 0.8
    assert promises._oracle(Model, y, np.arange(5), 0.2) == 0.4
