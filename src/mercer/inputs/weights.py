"""Sample weights and seeds as users hand them in."""

from numbers import Integral

import numpy as np

from ..errors import InputError
from ..types import ColumnLike, Seed

NOTHING = 1e-100  # fraction of the largest weight below which a row counts as one without weight


def check_weight(weight: ColumnLike, n: int) -> np.ndarray | None:
    """Sample weights as float64 (None stays None): finite, not negative, not all zero."""
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
        raise InputError(f"The largest sample_weight is {largest:.1e}. Accepted: 1e-100 to 1e100; divide by the mean.")
    return np.where(weight < NOTHING * largest, 0.0, weight) if weight.min() < NOTHING * largest else weight


def seed_of(random_state: Seed) -> int:
    """A seed from scikit-learn's random_state. None gives 0, so that results repeat unless a generator is passed."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if not isinstance(random_state, Integral) or random_state < 0:
        raise InputError(
            f"random_state={random_state!r} is not accepted: give a whole number of at least 0, a RandomState or None."
        )
    return int(random_state)


def generator_of(random_state: Seed) -> np.random.Generator:
    """NumPy's generator for a seed, also for a RandomState, of which a seed is drawn: NumPy before 2.2 takes none."""
    legacy = isinstance(random_state, np.random.RandomState)
    return np.random.default_rng(seed_of(random_state) if legacy else random_state)
