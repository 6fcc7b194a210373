"""Fractions of the classes among unlabeled rows from held-out scores, with closed form, coverage and defaults."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mercer.evidence.shares import class_shares


def draw(rng, shares, per_class, centers, n=4000, noise=1.0):
    """Scores of held-out rows, their classes, and the mean score of rows with these class frequencies."""
    k = len(shares)
    codes = np.repeat(np.arange(k), per_class)
    scores = centers[codes] + noise * rng.normal(size=(len(codes), centers.shape[1]))
    rows = rng.choice(k, size=n, p=shares)
    return scores, codes, (centers[rows] + noise * rng.normal(size=(n, centers.shape[1]))).mean(axis=0)


def test_two_classes_is_the_position_of_the_mean_between_the_class_means():
    rng = np.random.default_rng(0)
    scores, codes, mean = draw(rng, [0.8, 0.2], 40, np.array([[-1.0], [1.0]]), noise=0.2)
    low, high = scores[codes == 0].mean(), scores[codes == 1].mean()
    shares, error = class_shares(scores, codes, mean, 2)
    assert shares[1] == pytest.approx((mean[0] - low) / (high - low), abs=0.003)  # but for half a row a class
    assert shares.sum() == pytest.approx(1.0)
    within = np.sum((scores[:, 0] - np.where(codes == 1, high, low)) ** 2) / 76
    assert error[1] == pytest.approx(np.sqrt(within * (0.8**2 + 0.2**2) / 40) / (high - low), rel=0.05)


@pytest.mark.parametrize("k", [2, 4])
def test_maximizes_the_likelihood_it_states(k):
    rng = np.random.default_rng(k)
    true = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    scores, codes, mean = draw(rng, true, 6, 1.5 * np.eye(k)[:, : 1 if k == 2 else k])
    counts = np.arange(k) + 2.0
    shares, _ = class_shares(scores, codes, mean, k, counts)
    M = np.stack([scores[codes == c].mean(axis=0) for c in range(k)])
    S = sum((scores[codes == c] - M[c]).T @ (scores[codes == c] - M[c]) for c in range(k)) / (len(scores) - k - 2)
    weight = np.linalg.inv(S) / np.sum(shares**2 / 6)

    def cost(logits):
        b = np.exp(logits) / np.exp(logits).sum()
        off = mean - M.T @ b
        return 0.5 * off @ weight @ off - (counts + 0.5) @ np.log(b)

    best = minimize(cost, np.zeros(k), tol=1e-12).x
    np.testing.assert_allclose(shares, np.exp(best) / np.exp(best).sum(), atol=1e-4)


def test_errors_are_those_of_repeated_draws_and_labels_of_equal_number_do_not_mislead():
    rng = np.random.default_rng(1)
    centers, off, told = np.array([[-1.0], [1.0]]), [], []
    for _ in range(300):
        shares, error = class_shares(*draw(rng, [0.7, 0.3], 10, centers, noise=0.7), 2)
        off.append(shares[1] - 0.3)
        told.append(error[1])
    assert abs(np.mean(off)) < 0.015
    assert np.std(off) == pytest.approx(np.mean(told), rel=0.2)


def test_without_scores_or_without_a_difference_the_counts_decide():
    rng = np.random.default_rng(2)
    scores, codes, mean = draw(rng, [0.5, 0.5], 10, np.zeros((2, 1)))  # the score has no information
    shares, error = class_shares(scores, codes, mean, 2, counts=[75, 25])
    assert shares[1] == pytest.approx(0.25, abs=0.04)
    assert error[1] == pytest.approx(np.sqrt(0.25 * 0.75 / 101), rel=0.1)
    scores[codes == 1] = np.nan  # a class without a held-out label in any fold
    for some in (scores, np.full_like(scores, np.nan)):
        shares, error = class_shares(some, codes, mean, 2, counts=[3, 1])
        np.testing.assert_allclose(shares, [0.7, 0.3])
        assert error[1] == pytest.approx(np.sqrt(0.7 * 0.3 / 5))
