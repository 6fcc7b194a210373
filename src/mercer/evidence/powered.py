"""A fraction of all rows from a few checked ones, sharpened by predictions for all rows (prediction-powered inference).

Of m rows drawn at random it is known whether a statement z is true. A model expects it with probability f for every
row, and f without its own label for the checked ones. With n rows in all

    estimate = mean of z − λ (mean of f over the checked rows − mean of f over all rows)

which is unbiased for any model, if f treats checked and other rows alike (Angelopoulos et al. 2023). λ is the
regression of z on f, so a model without information changes nothing (λ = 0). The interval is that of Clopper and
Pearson for as many independent checks as the variance of the estimate is worth, the effective number. Two imagined
checks, one true and one false, at the mean of f, keep the gain modest if there are few checks.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from .accuracy import Rate


@dataclass(frozen=True)
class Powered:
    """A fraction with its 95% interval.

    Attributes
    ----------
    rate : the estimate with the help of the model. plain : from the checked rows alone (Clopper and Pearson).
    checks : how many rows were checked. effective : how many independent checks the estimate is worth.
    """

    rate: Rate
    plain: Rate
    checks: int
    effective: float


def clopper_pearson(value: float, number: float, error: float = 0.05) -> Rate:
    """A fraction observed in `number` independent checks, not necessarily a whole number, with its interval.

    >>> rate = clopper_pearson(0.9, 10)
    >>> round(rate.low, 3), round(rate.high, 3)
    (0.555, 0.997)
    """
    if not number > 0 or not np.isfinite(value):
        return Rate(float("nan"), 0.0, 1.0)
    true, false = value * number, (1 - value) * number
    low = 0.0 if true <= 0 else float(beta.ppf(error / 2, true, false + 1))
    high = 1.0 if false <= 0 else float(beta.ppf(1 - error / 2, true + 1, false))
    return Rate(float(value), low, high, round(number))


def powered(true: np.ndarray, expected: np.ndarray, others: np.ndarray) -> Powered:
    """The fraction of all rows for which a statement is true.

    Parameters
    ----------
    true : (m,) bool, whether it is true of the checked rows. expected : (m,) the model's probabilities, each without
        the row's own label. others : (n − m,) the model's probabilities of the rows that were not checked.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> f = rng.random(2000)
    >>> z = rng.random(2000) < f
    >>> found = powered(z[:50], f[:50], f[50:])
    >>> found.effective > 60, found.rate.high - found.rate.low < found.plain.high - found.plain.low
    (True, True)
    """
    m, z = len(true), np.asarray(true, dtype=float)
    plain = clopper_pearson(float(z.mean()) if m else float("nan"), m)
    if m < 2 or not len(others):
        return Powered(plain, plain, m, float(m))
    n, middle = m + len(others), float(expected.mean())
    Z, F = np.append(z, [0.0, 1.0]), np.append(expected, [middle, middle])
    own, both = float(np.var(F)), float(np.mean((Z - Z.mean()) * (F - F.mean())))
    slope = float(np.clip(both / own, 0.0, 1.0)) * (1 - m / n) if own > 1e-12 else 0.0
    everywhere = (expected.sum() + others.sum()) / n
    value = float(np.clip(z.mean() - slope * (middle - everywhere), 0.0, 1.0))
    spread = float(np.var(np.concatenate([expected, others])))
    variance = float(np.var(Z - slope * F)) / m + slope**2 * spread / n
    gain = max(float(np.var(Z)) / m / max(variance, 1e-12), 1.0)
    return Powered(clopper_pearson(value, m * gain), plain, m, m * gain)
