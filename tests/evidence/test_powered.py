"""Prediction-powered fractions are narrower if the model helps, and valid if it does not."""

import numpy as np
import pytest
from scipy.stats import binomtest

from mercer.evidence.powered import clopper_pearson, powered


def test_without_help_it_is_clopper_and_pearson():
    for right, number in ((0, 10), (7, 10), (10, 10), (43, 50)):
        expected = binomtest(right, number).proportion_ci(0.95, "exact")
        found = powered(np.arange(number) < right, np.full(number, 0.3), np.full(500, 0.3))
        assert (found.rate.low, found.rate.high) == pytest.approx((expected.low, expected.high))
        assert found.effective == number and found.rate == found.plain
    assert np.isnan(clopper_pearson(float("nan"), 0).value)


def test_nothing_checked_is_nothing_known():
    found = powered(np.zeros(0, dtype=bool), np.zeros(0), np.full(5, 0.5))
    assert np.isnan(found.rate.value) and (found.rate.low, found.rate.high) == (0.0, 1.0)


@pytest.mark.parametrize("kind", ["good", "overconfident", "useless", "reversed"])
@pytest.mark.parametrize("number", [20, 60])
def test_the_interval_covers_whatever_the_model_says(kind, number):
    rng, hits, gain, n = np.random.default_rng(0), [], [], 1000
    for _ in range(300):
        p = rng.beta(3, 1, n)
        z = rng.random(n) < p
        f = {"good": p, "overconfident": (p > 0.7) * 1.0, "useless": rng.random(n), "reversed": 1 - p}[kind]
        order = rng.permutation(n)
        some, others = order[:number], order[number:]
        found = powered(z[some], f[some], f[others])
        hits.append(found.rate.low <= z.mean() <= found.rate.high)
        gain.append(found.effective / number)
    assert np.mean(hits) >= 0.94
    assert 1 <= np.mean(gain) < 1.1 if kind in ("useless", "reversed") else np.mean(gain) > 1.05
