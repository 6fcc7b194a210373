"""Checks of sample weights and seeds."""

from numbers import Integral

import numpy as np

from ..errors import InputError
from ..types import ColumnLike, Seed


def check_weight(weight: ColumnLike, n: int) -> np.ndarray | None:
    """Return sample weights as float64, after a check that they are finite, not negative and not all zero.

    None stays None.
    """
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim != 1:
        raise InputError("Sample weights must be 1D array or scalar.")
    if weight.shape != (n,):
        raise InputError(f"sample_weight.shape == {weight.shape}, expected {(n,)}!")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0) or not np.any(weight > 0):
        raise InputError(
            "sample_weight contains a negative, infinite or NaN value, or only zeros. Accepted: numbers ≥ 0."
        )
    largest = float(weight.max())
    if not 1e-100 <= largest <= 1e100:
        raise InputError(f"The largest sample_weight is {largest:.1e}. Accepted: 1e-100 to 1e100. Divide by the mean.")
    least = 1e-100 * largest  # smaller weights count as 0
    return np.where(weight < least, 0.0, weight) if weight.min() < least else weight


def seed_of(random_state: Seed) -> int:
    """A seed from scikit-learn's random_state. None gives 0, so that results repeat unless a generator is passed."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if not isinstance(random_state, Integral) or random_state < 0:
        raise InputError(
            f"random_state={random_state!r} is not accepted. Give a whole number of at least 0, a RandomState or None."
        )
    return int(random_state)


def generator_of(random_state: Seed) -> np.random.Generator:
    """NumPy's generator for a seed. A seed is drawn from a RandomState, which NumPy before 2.2 does not accept."""
    legacy = isinstance(random_state, np.random.RandomState)
    return np.random.default_rng(seed_of(random_state) if legacy else random_state)
