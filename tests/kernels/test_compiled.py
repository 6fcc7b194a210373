"""The compiled exponential next to NumPy's."""

import numpy as np
import pytest

from mercer import RBF, Exponential, Laplacian, Matern32, Matern52
from mercer.kernels.base import COMPILED
from mercer.kernels.compiled import LOWEST, exponential


def test_it_is_numpys_to_one_unit_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [np.linspace(-720, 0, 50_001), -30 * rng.random(200_000), -(10.0 ** rng.uniform(-30, 0, 50_000)), [0.0, -0.0]]
    )
    found, expected = x.copy(), np.exp(x)
    exponential(found)
    normal = x > LOWEST
    assert np.abs(found - expected)[normal].max() > 0  # it is another computation
    assert (np.abs(found - expected) <= np.spacing(expected))[normal].all()
    assert (found[~normal] == 0).all()


def test_what_is_no_number():
    x = np.array([np.nan, -np.inf, -1e300, -5e-324])
    exponential(x)
    np.testing.assert_array_equal(x, [np.nan, 0, 0, 1])


@pytest.mark.parametrize("kernel", [RBF(2.0), Exponential(2.0), Matern32(2.0), Matern52(2.0), Laplacian(4.0)])
def test_large_blocks_and_small_ones_agree(kernel):
    X = np.random.default_rng(1).standard_normal((300, 5))
    assert 300 * 300 >= COMPILED > 50 * 300
    small = np.concatenate([kernel.tile(X[i : i + 50], X) for i in range(0, 300, 50)])
    np.testing.assert_allclose(kernel.tile(X, X), small, rtol=1e-13)
