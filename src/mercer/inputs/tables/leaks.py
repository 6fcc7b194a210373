"""Columns that tell labelled rows from unlabelled ones: filled in with the label, or after it, and no features.

Rows that a person labels are not a random sample, so a column may differ between the two. Only what is strong counts:
shares that differ by more than a half, or numbers nearly all on one side, and never by chance.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma
from typing import Any

import numpy as np

from .cells import cells, gaps, numbers, usable

CHANCE = 0.001  # that any column of a table with random labels is named (Holm)
SHARES = 0.5  # least difference of two shares
APART = 0.9  # least Kolmogorov–Smirnov distance of numbers
FAMILIES = 3  # gaps, values and ranges: the best of three
LEVELS = 50  # different values up to which each of them is compared


@dataclass
class Leak:
    """A column that tells labelled rows apart."""

    column: str
    what: str  # "filled", "value" (one of them, `value`) or "range"
    labelled: float  # share of the rows that are filled or have the value; for "range" the median
    unlabelled: float
    p: float  # probability of a difference as large by chance, over all that was compared
    value: str = ""

    @property
    def why(self) -> str:
        """What differs, in words."""
        if self.what == "range":
            return f"around {self.labelled:.3g} where labelled, {self.unlabelled:.3g} elsewhere"
        verb = "filled" if self.what == "filled" else f"{self.value!r}"
        return f"{verb} in {self.labelled:.0%} of the labelled and {self.unlabelled:.0%} of the other rows"


def leaks(frame: Any, given: np.ndarray, among: list | None = None) -> list[Leak]:
    """Columns of a frame that differ strongly between the rows with a label and those without.

    Gaps and single values are compared by Fisher's exact test and must differ by half of the rows. Numbers are compared
    by the Kolmogorov–Smirnov distance D, with 2 exp(−2 D² l u / (l + u)) as a bound of its p-value, and must be 0.9
    apart. p-values are those of Holm's procedure over the columns; a column names its strongest difference.

    Parameters
    ----------
    frame : pandas DataFrame.
    given : (n,) bool, which rows have a label.
    among : names of the columns to look at; all if not given.

    Examples
    --------
    >>> import pandas as pd
    >>> given = np.arange(40) < 10
    >>> frame = pd.DataFrame({"size": np.arange(40) % 7, "checked": np.where(given, "yes", "")})
    >>> [(leak.column, leak.why) for leak in leaks(frame, given)]
    [('checked', 'filled in 100% of the labelled and 0% of the other rows')]
    """
    if given.all() or not given.any():
        return []
    order = list(frame.columns) if among is None else among
    if FAMILIES * len(order) * _least_p(int(given.sum()), int((~given).sum())) >= CHANCE:
        return []  # too few rows to tell so many columns from chance
    found = [_strongest(frame[name], given) for name in order]
    named = sorted((leak for leak in found if leak is not None), key=lambda leak: leak.p)
    kept, least = [], 0.0
    for rank, leak in enumerate(named):
        least = leak.p = max(least, min(1.0, leak.p * (len(found) - rank)))
        kept += [leak] if leak.p < CHANCE else []
    return sorted(kept, key=lambda leak: order.index(leak.column))


def _least_p(l, u):
    """The smallest p-value that l labelled and u other rows can have, in either test."""
    return min(exp(lgamma(l + 1) + lgamma(u + 1) - lgamma(l + u + 1)), _ks_bound(1.0, l, u))


def _strongest(column, given):
    """The difference of smallest p-value among those large enough; None if there is none."""
    name = str(column.name)
    gone = gaps(column)
    found = _differs(name, "filled", ~gone, given) if gone.any() else []
    rest = given[~gone]
    if rest.any() and not rest.all():
        there, amounts = np.flatnonzero(~gone), numbers(column)[~gone]
        plain = amounts if usable(amounts).all() else cells(column)[~gone].astype(str)
        values, first, place = np.unique(plain, return_index=True, return_inverse=True)
        # Of many values only the most frequent: a zero or "none" that stands for a gap.
        levels = np.arange(len(values)) if len(values) <= LEVELS else [int(np.bincount(place).argmax())]
        shares = [np.bincount(place[one], minlength=len(values)) / one.sum() for one in (rest, ~rest)]
        far = np.abs(shares[0] - shares[1])[levels] >= SHARES
        for level in np.asarray(levels)[far] if len(values) > 1 else ():
            shown = str(column.iloc[there[first[level]]]).strip()
            found += _differs(name, "value", place == level, rest, len(levels), shown)
        if len(values) > 2 and usable(amounts).mean() >= 0.95:
            found += _apart(name, amounts[usable(amounts)], rest[usable(amounts)])
    strongest = min(found, key=lambda leak: leak.p, default=None)
    if strongest is not None:
        strongest.p *= FAMILIES
    return strongest


def _differs(name, what, mask, given, n_tests=1, value=""):
    """[Leak] where the shares of the rows in `mask` differ enough, with the p-value of Fisher's exact test."""
    labelled, others = float(mask[given].mean()), float(mask[~given].mean())
    if abs(labelled - others) < SHARES:
        return []
    counts = tuple((int(np.sum(mask & one)), int(np.sum(~mask & one))) for one in (given, ~given))
    return [Leak(name, what, labelled, others, _fisher(counts) * n_tests, value)]


@lru_cache(10_000)
def _fisher(counts):
    """p-value of Fisher's exact test; many columns of a wide table have the same counts."""
    from scipy.stats import fisher_exact

    return float(fisher_exact(counts)[1])


def _apart(name, values, given):
    """[Leak] if the numbers lie nearly all on two sides."""
    l, u = int(given.sum()), int((~given).sum())
    if not l or not u:
        return []
    labelled, others = np.sort(values[given]), np.sort(values[~given])
    both = np.concatenate([labelled, others])
    lower = np.searchsorted(labelled, both, side="right") / l - np.searchsorted(others, both, side="right") / u
    distance = float(np.abs(lower).max())
    if distance < APART:
        return []
    return [Leak(name, "range", float(np.median(labelled)), float(np.median(others)), _ks_bound(distance, l, u))]


def _ks_bound(distance, l, u):
    return min(1.0, 2 * exp(-2 * distance**2 * l * u / (l + u)))
