"""The interval that is valid at every moment."""

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta

from mercer.evidence.anytime import anytime, checks_to


def exceeds(right, number, p):
    """log M(p), straight from the definition."""
    wrong = number - right
    return betaln(right + 0.5, wrong + 0.5) - np.log(np.pi) - right * np.log(p) - wrong * np.log1p(-p)


@pytest.mark.parametrize("p", [0.5, 0.9, 0.97])
def test_it_covers_at_all_moments_of_a_run_together(p):
    runs, length = 4000, 400
    hits = np.random.default_rng(0).random((runs, length)) < p
    right, number = hits.cumsum(axis=1), np.arange(1, length + 1)
    ever = (exceeds(right, number, p) >= np.log(20)).any(axis=1).mean()
    assert ever <= 0.05  # in theory over infinite runs. Those above 400 checks are missing here
    low = beta.ppf(0.025, right, number - right + 1)  # Clopper and Pearson, who count on one look
    high = np.where(right == number, 1.0, beta.ppf(0.975, right + 1, number - right))
    looked = ((np.nan_to_num(low) > p) | (high < p)).any(axis=1).mean()
    assert looked > 2 * max(ever, 0.03)


def test_the_ends_are_where_the_martingale_reaches_twenty():
    for right, number in [(1, 3), (30, 40), (57, 60), (199, 200)]:
        found = anytime(right, number)
        assert found.low < right / number < found.high
        np.testing.assert_allclose([exceeds(right, number, p) for p in (found.low, found.high)], np.log(20), atol=1e-6)


def test_nothing_wrong_and_nothing_right():
    assert anytime(60, 60).low == pytest.approx(0.911, abs=5e-4) and anytime(60, 60).high == 1.0
    assert anytime(0, 9).low == 0.0 and 0 < anytime(0, 9).high < 1
    assert np.isnan(anytime(0, 0).value) and (anytime(0, 0).low, anytime(0, 0).high) == (0.0, 1.0)


def test_what_nobody_can_tell_is_wrong_below_and_right_above():
    found = anytime(30, 40, cannot=5)
    assert found.value == 30 / 35
    assert found.low == anytime(30, 40).low and found.high == anytime(35, 40).high


def test_the_checks_that_are_missing():
    number = checks_to(0.9, 0, 0)
    assert anytime(number, number).low >= 0.9 > anytime(number - 1, number - 1).low
    assert checks_to(0.9, number, number) == 0
    assert checks_to(0.9, 30, 40) is None
