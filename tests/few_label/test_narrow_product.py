"""The compiled product of many rows with a few columns."""

import numpy as np
import pytest

from mercer.few_label.narrow_product import product


@pytest.mark.parametrize("n", [1, 3, 4, 9, 130])
@pytest.mark.parametrize("k", [1, 2, 5, 7, 40])
@pytest.mark.parametrize("r", [1, 150, 601])
def test_it_is_the_product_in_double_precision_but_for_rounding(n, k, r):
    rng = np.random.default_rng([n, k, r])
    Z, W = (rng.normal(size=shape).astype(np.float32) for shape in ((n, r), (r, k)))
    found, exact = product(Z, W), (Z.astype(np.float64) @ W.astype(np.float64)).T
    assert found.shape == (k, n)
    bound = r * np.finfo(np.float32).eps * (np.abs(Z).astype(np.float64) @ np.abs(W)).T
    assert np.all(np.abs(found - exact) <= bound)
