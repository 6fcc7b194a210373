"""A choice by held-out labels keeps the default unless the labels show a difference."""

import numpy as np
import pytest

from mercer import RBF, LeastSquaresKPCA, LSSVMClassifier
from mercer.evidence.choice import accuracy_interval, accuracy_of_choice, choose, hits
from mercer.evidence.margin import choose_by_margin


def table(*n_right, total=10):
    return np.array([[i < n for i in range(total)] for n in n_right])


def test_the_default_is_kept_until_beaten_by_more_than_a_standard_error():
    kept = choose(table(6, 7), default=0)  # better by one label, and b - c = 1 is not more than √1
    assert kept.value == 0 and "given parameters are kept" in kept.reason and "6 of 10" in kept.reason
    beaten = choose(table(6, 8), default=0)  # b - c = 2 > √2
    assert beaten.value == 1 and "the best of 2 candidates" in beaten.reason
    opposed = np.array([[1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1]])  # b - c = 2 < √8
    assert choose(opposed, default=0).value == 0


def test_ties_go_to_the_middle_of_the_plateau():
    assert choose(table(5, 8, 8, 8, 2)).value == 2
    assert choose(table(8, 8)).value == 0


def test_hits_for_two_and_for_many_classes():
    assert hits(np.array([[[0.2], [-0.1], [0.0]]]), np.array([1, 1, 0])).tolist() == [[True, False, True]]
    scores = np.array([[[0.1, 0.5, 0.2], [3, 2, 1]]])
    assert hits(scores, np.array([1, 2])).tolist() == [[True, False]]


@pytest.mark.parametrize(("right", "total"), [(0, 10), (10, 10), (7, 10), (0, 0), (93, 100)])
def test_interval_contains_the_rate_and_stays_within_zero_and_one(right, total):
    low, high = accuracy_interval(right, total)
    assert 0 <= low <= (right / total if total else 0.5) <= high <= 1
    assert high - low > 1 / (total + 2)  # never certain


def test_interval_covers():
    """Of 400 draws of 20 labels at accuracy 0.9, about 95% of the intervals contain 0.9."""
    seen = np.random.default_rng(0).binomial(20, 0.9, size=400)
    inside = [low <= 0.9 <= high for low, high in (accuracy_interval(n, 20) for n in seen)]
    assert 0.92 < np.mean(inside) < 0.99


def test_the_accuracy_of_a_choice_among_coin_tosses_is_one_half():
    rng = np.random.default_rng(0)
    naive, corrected = [], []
    for _ in range(300):
        right = rng.random((30, 20)) < 0.5
        found = choose(right)
        naive.append(found.info["accuracy"].max())
        corrected.append(found.info["corrected"])
    assert np.mean(naive) > 0.7 and abs(np.mean(corrected) - 0.5) < 0.05
    assert "Corrected for the choice among 30" in found.reason


def test_the_choice_is_made_again_without_each_label():
    rng = np.random.default_rng(0)
    right = rng.random((7, 12)) < 0.6
    for default in (None, 0):
        others = [np.delete(np.arange(12), i) for i in range(12)]
        expected = np.mean([right[choose(right[:, known], default).value, i] for i, known in enumerate(others)])
        assert choose(right, default).info["corrected"] == pytest.approx(expected)
    scores, codes = rng.normal(size=(7, 12, 3)), rng.integers(3, size=12)
    chosen = [choose_by_margin(scores[:, known], codes[known], 0).value for known in others]
    expected = np.mean([scores[m, i].argmax() == codes[i] for i, m in enumerate(chosen)])
    assert choose_by_margin(scores, codes, 0).info["corrected"] == pytest.approx(expected)
    calls = []
    accuracy_of_choice(rng.random((2, 1000)) < 0.5, lambda known: calls.append(len(known)) or 0)
    assert len(calls) == 50 and set(calls) == {980}  # many labels do not get a choice each


@pytest.mark.parametrize("method", [LSSVMClassifier(), LeastSquaresKPCA()], ids=lambda one: type(one).__name__)
def test_selection_on_coin_tosses_is_worth_one_half(method):
    """Over many draws of random labels, the best of 16 candidates seems correct far more often."""
    seen, corrected, covered = [], [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 3)), np.full(60, -1)
        y[:20] = rng.integers(2, size=20)
        name = method.path_parameters[-1]
        kernels = [RBF(width) for width in (0.3, 0.6, 1.2, 2.4)]
        grid = {"kernel": kernels, name: [0.01, 0.1, 1.0, 10.0]}
        found = method.select(X, y, **grid).selection_
        seen.append(found["accuracy"].max())
        corrected.append(found["corrected"])
        covered.append(found["interval"][0] <= 0.5)
    assert np.mean(seen) > 0.6
    assert abs(np.mean(corrected) - 0.5) < 0.07  # twice its standard error
    assert np.mean(covered) >= 0.9
