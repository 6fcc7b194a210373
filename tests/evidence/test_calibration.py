"""Probabilities are proper, ordered like the scores, modest with few labels, and correct with many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.evidence.calibration import calibrate, probabilities, typical_margin


def test_ten_perfect_labels_do_not_make_certainty():
    left_out = np.where(np.arange(10) < 5, 1.0, -1.0)[:, None] * 3
    codes = (np.arange(10) < 5).astype(int)
    slope, floor = calibrate(left_out, np.eye(2)[codes], 3.0).value
    P = probabilities(np.array([[3.0], [-3.0], [1e6], [0.0]]), slope, floor)
    assert 0.75 < P[0, 1] < 11 / 12
    assert P[0, 1] == pytest.approx(P[1, 0])
    assert P[2, 1] == pytest.approx(11 / 12)  # (l + 1) / (l + 2), whatever the score
    assert P[3, 0] == 0.5


def test_useless_scores_give_useless_probabilities():
    generator = np.random.default_rng(0)
    left_out = generator.normal(size=(200, 1))
    codes = generator.integers(2, size=200)
    slope, floor = calibrate(left_out, np.eye(2)[codes], 1.0).value
    assert np.abs(probabilities(left_out, slope, floor) - 0.5).max() < 0.12


@pytest.mark.parametrize("k", [2, 3, 6])
def test_many_labels_recover_the_true_slope(k):
    generator = np.random.default_rng(k)
    scores = generator.normal(size=(4000, 1 if k == 2 else k)) * 5
    truth = probabilities(scores, 0.6, 0.0)
    codes = np.array([generator.choice(k, p=p) for p in truth])
    slope, floor = calibrate(scores, np.eye(k)[codes], typical_margin(scores)).value
    assert slope == pytest.approx(0.6, rel=0.1)
    assert floor < 1e-3
    np.testing.assert_allclose(probabilities(scores, slope, floor), truth, atol=0.03)


def test_soft_answers_and_weights_count():
    left_out = np.array([[2.0], [2.0], [-2.0]])
    hard = calibrate(left_out, np.array([[0, 1.0], [0, 1], [1, 0]]), 2.0).value
    soft = calibrate(left_out, np.array([[0.4, 0.6], [0.4, 0.6], [0.6, 0.4]]), 2.0).value
    assert soft[0] < hard[0]
    doubled = calibrate(np.repeat(left_out, 2, axis=0), np.eye(2)[[1, 1, 1, 1, 0, 0]], 2.0).value
    weighted = calibrate(left_out, np.eye(2)[[1, 1, 0]], 2.0, np.full(3, 2.0)).value
    assert weighted == pytest.approx(doubled, rel=1e-6)


def test_no_answers_leave_the_prior():
    slope, floor = calibrate(np.empty((0, 1)), np.empty((0, 2)), 1.0, n_labels=2).value
    P = probabilities(np.array([[1.0]]), slope, floor)
    assert P[0, 1] == pytest.approx(0.25 + 0.5 * 2 / 3)  # two of three imagined predictions, within the bound 3/4


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 5), st.integers(0, 10_000), st.floats(1e-6, 1e6))
def test_rows_sum_to_one_and_keep_the_order_of_the_scores(k, seed, scale):
    scores = scale * np.random.default_rng(seed).normal(size=(20, 1 if k == 2 else k))
    P = probabilities(scores, 1.0 / typical_margin(scores), 0.01)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert np.all(P >= 0.01 * 0.999)
    best = (scores[:, 0] > 0).astype(int) if k == 2 else np.argmax(scores, axis=1)
    np.testing.assert_allclose(P[np.arange(20), best], P.max(axis=1))


def test_typical_margin():
    assert typical_margin(np.array([[1.0], [-3.0], [2.0]])) == 2.0
    assert typical_margin(np.array([[1.0, 5.0, 2.0]])) == 3.0
    assert typical_margin(np.zeros((4, 3))) == 1.0
    assert typical_margin(np.array([[1e-150], [1e-160], [-1e-155], [2.0]])) == 2e-5
