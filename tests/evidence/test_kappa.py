"""Agreement of two annotators."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from mercer.evidence.kappa import agreement


def test_kappa_is_that_of_scikit_learn():
    draw = np.random.default_rng(0)
    first = draw.integers(3, size=60)
    second = np.where(draw.random(60) < 0.7, first, draw.integers(3, size=60))
    found = agreement(first.tolist(), second.tolist())
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second))
    assert found.value == np.mean(first == second) and found.low < found.value < found.high
    assert found.kappa_low < found.kappa < found.kappa_high


def test_equal_answers_and_one_class():
    found = agreement(["a", "b"] * 10, ["a", "b"] * 10)
    assert found.kappa == 1 and 0.5 < found.kappa_low < 1 == found.kappa_high
    assert agreement(["a"] * 5, ["a"] * 5).kappa is None
    assert agreement([], []).value is None


def test_the_intervals_cover_the_agreement_of_all_rows():
    draw = np.random.default_rng(1)
    first = draw.choice(3, size=4000, p=[0.6, 0.3, 0.1])
    second = np.where(draw.random(4000) < 0.85, first, draw.choice(3, size=4000))
    true, kappa = np.mean(first == second), cohen_kappa_score(first, second)
    inside = np.zeros(2)
    for _ in range(400):
        rows = draw.choice(4000, 40, replace=False)
        found = agreement(first[rows].tolist(), second[rows].tolist())
        inside += [found.low <= true <= found.high, found.kappa_low <= kappa <= found.kappa_high]
    assert (inside / 400 > 0.92).all()
