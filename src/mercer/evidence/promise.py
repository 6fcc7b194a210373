"""A promise about the wrong predictions among some rows, from random checks, which is kept however often one looks.

Of N rows, E have a wrong prediction. m rows were drawn at random and checked, and s of these were wrong. For every E

    R(E) = Σ_e π(e) P(s of m | e) / P(s of m | E)

is a likelihood ratio of sequences drawn without replacement. It is a martingale of mean 1 if E is the truth, so it ever
exceeds 1/δ with probability at most δ (Ville), whenever and why ever one looks and stops. The weights π are fixed
beforehand. No wrong prediction has 0.3, and the rest is spread over rates up to the promised one. With few wrong
predictions R(E) increases with E, so R(E) ≥ 1/δ excludes E and all above it. The promise "at most a fraction `rate` of
the unchecked rows is wrong" is made if that excludes every E for which it would be broken. For many rows it takes 68
checks without a wrong prediction to promise 5% with 95% certainty. A test that may look only once takes 59.

If δ is divided among several sets of rows, each has a weight, and needs R ≥ 1/(δ · weight). Sets that coincide add
their weights, as the weighted mean of their ratios is a martingale, too.
"""

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from .anytime import MOST_CHECKS


def kept(wrong: int, checks: int, rows: int, rate: float, error: float = 0.05) -> bool:
    """Whether it can be promised that at most a fraction `rate` of the unchecked rows is wrong.

    Parameters
    ----------
    wrong, checks : checks that came out wrong, and all checks, drawn at random among the rows.
    rows : how many rows there are, the checked ones included.
    rate : largest fraction of wrong predictions. error : probability that the promise is ever broken.

    Examples
    --------
    >>> kept(0, 67, 10**6, 0.05), kept(0, 68, 10**6, 0.05)
    (False, True)
    >>> kept(0, 98, 100, 0.05)
    True
    """
    if checks >= rows:
        return True
    first = wrong + int(np.floor(rate * (rows - checks) + 1e-9)) + 1  # fewest wrong predictions that break it
    if first > rows - checks + wrong:
        return True
    if not checks or wrong * rows >= first * checks:
        return False
    return bool(_log_ratio(wrong, checks, rows, rate, first) >= -np.log(error))


def missing(wrong: int, checks: int, rows: int, rate: float, error: float, expected: float) -> int | None:
    """The number of further checks that allow the promise, if a fraction `expected` of them is wrong.

    None if more than half of the rows would have to be checked, or more than 5,000 rows.
    """
    if kept(wrong, checks, rows, rate, error):
        return 0
    if expected >= rate or rows - checks < 2:
        return None
    few, many, most = 1, 1, min((rows - checks) // 2, MOST_CHECKS)

    def enough(more: int) -> bool:
        return kept(wrong + int(np.floor(expected * more)), checks + more, rows, rate, error)

    while not enough(many):
        if many >= most:
            return None
        few, many = many, min(2 * many, most)
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle + 1, many)
    return few


@lru_cache(maxsize=4096)
def _log_ratio(wrong: int, checks: int, rows: int, rate: float, first: int) -> float:
    """log R(first)."""
    none, number = 0.3, 40  # prior weight of no wrong prediction at all, and rates over which the rest is spread
    rates = np.concatenate([[0.0], rate * ((np.arange(number) + 0.5) / number) ** 2])
    weights = np.concatenate([[none], np.full(number, (1 - none) / number)])
    if rows > 100_000:  # draws with and without replacement are then the same
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(wrong, wrong * np.log(rates), 0.0) + (checks - wrong) * np.log1p(-rates)
        null = first / rows
        own = wrong * np.log(null) + (checks - wrong) * np.log1p(-null)
    else:
        numbers, place = np.unique(np.round(rates * rows).astype(int), return_inverse=True)
        weights, each = np.bincount(place, weights=weights), _sequence(wrong, checks, rows, numbers)
        own = float(_sequence(wrong, checks, rows, np.array([first]))[0])
    return float(np.logaddexp.reduce(each + np.log(weights)) - own)


def _sequence(wrong: int, checks: int, rows: int, E: np.ndarray) -> np.ndarray:
    """Log-probability of one order of `wrong` wrong ones among the checks, if E of the rows are wrong."""
    possible = (wrong <= E) & (checks - wrong <= rows - E)
    E = np.where(possible, E, wrong)
    right = np.maximum(rows - E, checks - wrong)
    found = gammaln(E + 1) - gammaln(E - wrong + 1) + gammaln(right + 1) - gammaln(right - checks + wrong + 1)
    return np.where(possible, found - gammaln(rows + 1) + gammaln(rows - checks + 1), -np.inf)
