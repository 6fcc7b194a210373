"""A promise about the wrong predictions among some rows, from random checks, kept however often one looks.

Of N rows, E have a wrong answer; m of them were drawn at random and checked, and s came out wrong. For every E

    R(E) = Σ_e π(e) P(s of m | e) / P(s of m | E)

is a likelihood ratio of sequences drawn without replacement, so a martingale of mean 1 if E is the truth: it ever
exceeds 1/δ with probability at most δ (Ville), whenever and why ever one looks and stops. The weights π are fixed
beforehand: 0.3 for no wrong answer, the rest spread over rates up to the promised one. With few wrong predictions R(E)
increases with E, so R(E) ≥ 1/δ excludes E and all above it. The promise "at most a fraction `rate` of the rows that
no one checked is wrong" is made if that excludes every E for which it would be broken. For many rows it takes 68 checks
without a wrong answer to promise 5% with 95% certainty, where a test that may look once only takes 59.

Several sets of rows share δ: each has a weight, and needs R ≥ 1/(δ · weight). Sets that coincide add their weights, as
the weighted mean of their ratios is a martingale, too.
"""

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

NONE = 0.3  # prior weight of no wrong answer at all
SPREAD_OVER = 40  # rates up to the promised one, on which the rest is
LARGE = 100_000  # rows above which draws with and without replacement are the same
MOST = 5000  # checks beyond which no number is given


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
    first = wrong + int(np.floor(rate * (rows - checks) + 1e-9)) + 1  # fewest wrong answers that break the promise
    if first > rows - checks + wrong:
        return True
    if not checks or wrong * rows >= first * checks:
        return False
    return bool(_log_ratio(wrong, checks, rows, rate, first) >= -np.log(error))


def missing(wrong: int, checks: int, rows: int, rate: float, error: float, expected: float) -> int | None:
    """How many more checks allow the promise if a fraction `expected` of them comes out wrong.

    None if they do not suffice: more than half of the rows would have to be checked, or more than 5,000."""
    if kept(wrong, checks, rows, rate, error):
        return 0
    if expected >= rate or rows - checks < 2:
        return None
    few, many, most = 1, 1, min((rows - checks) // 2, MOST)

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
    rates = np.concatenate([[0.0], rate * ((np.arange(SPREAD_OVER) + 0.5) / SPREAD_OVER) ** 2])
    weights = np.concatenate([[NONE], np.full(SPREAD_OVER, (1 - NONE) / SPREAD_OVER)])
    if rows > LARGE:
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
