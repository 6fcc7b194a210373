"""Columns that distinguish labeled rows from unlabeled ones, because they are filled in with the label or after it.

Such columns are not features. Rows that a person labels are not a random sample, so a column may differ between the
two. Only a strong difference that is not by chance counts. Fractions must differ by at least a half, or numbers must be
nearly all on one side. A column by which the file is sorted, or of which the lowest or highest rows were labeled,
differs as much and is still a feature.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma
from typing import NamedTuple

import numpy as np

from ...types import Frame, Series
from ..numerals import short
from .cells import cells, gaps, numbers, usable


class LeakLimits(NamedTuple):
    """How large a difference must be, and what is compared."""

    chance: float = 0.001  # that any column of a table with random labels is named (Holm)
    fractions: float = 0.5  # least difference of two fractions
    apart: float = 0.9  # least Kolmogorov–Smirnov distance of numbers
    families: int = 3  # gaps, values and ranges are compared, and the best of three is taken
    trend: float = 0.5  # least rank correlation with the place in the file of a column that the file is sorted by
    valley: float = 0.4  # most density between labeled rows and others, relative to both, of two distributions
    levels: int = 50  # different values up to which each of them is compared


LIMITS = LeakLimits()


@dataclass
class Leak:
    """A column that distinguishes labeled rows."""

    column: str
    what: str  # "filled", "value" (one of them, `value`) or "range"
    labeled: float  # fraction of the rows that are filled or have the value, or the median for "range"
    unlabeled: float
    p: float  # probability of a difference as large by chance, over all comparisons
    value: str = ""

    @property
    def why(self) -> str:
        """The difference, in words."""
        if self.what == "range":
            return f"around {short(self.labeled)} in the labeled and {short(self.unlabeled)} in the other rows"
        what = "filled" if self.what == "filled" else f"{self.value!r}"
        return f"{what} in {self.labeled:.0%} of the labeled and {self.unlabeled:.0%} of the other rows"


def leaks(frame: Frame, given: np.ndarray, among: list | None = None) -> list[Leak]:
    """Columns of a frame that differ strongly between the rows with a label and those without.

    Gaps and single values are compared by Fisher's exact test and must differ by half of the rows. Numbers are compared
    by the Kolmogorov–Smirnov distance D, with 2 exp(−2 D² l u / (l + u)) as a bound of its p-value, and must be 0.9
    apart. Differences that come from the order of the file, or from a cut through one distribution of numbers, are not
    leaks. p-values are those of Holm's procedure over the columns. A column names its strongest difference.

    Parameters
    ----------
    frame : pandas DataFrame.
    given : (n,) bool, which rows have a label.
    among : names of the columns to look at, or None for all.

    Examples
    --------
    >>> import pandas as pd
    >>> given = np.arange(40) < 10
    >>> frame = pd.DataFrame({"size": np.arange(40) % 7, "checked": np.where(given, "yes", "")})
    >>> [(leak.column, leak.why) for leak in leaks(frame, given)]
    [('checked', 'filled in 100% of the labeled and 0% of the other rows')]
    """
    if given.all() or not given.any():
        return []
    order = list(frame.columns) if among is None else among
    if LIMITS.families * len(order) * _least_p(int(given.sum()), int((~given).sum())) >= LIMITS.chance:
        return []  # too few rows to distinguish so many columns from chance
    found = [_strongest(frame[name], given) for name in order]
    named = sorted((leak for leak in found if leak is not None), key=lambda leak: leak.p)
    kept, least = [], 0.0
    for rank, leak in enumerate(named):
        least = leak.p = max(least, min(1.0, leak.p * (len(found) - rank)))
        kept += [leak] if leak.p < LIMITS.chance else []
    return sorted(kept, key=lambda leak: order.index(leak.column))


def _least_p(l: int, u: int) -> float:
    """The smallest p-value that l labeled and u other rows can have, in either test."""
    return min(exp(lgamma(l + 1) + lgamma(u + 1) - lgamma(l + u + 1)), _ks_bound(1.0, l, u))


def _strongest(column: Series, given: np.ndarray) -> "Leak | None":
    """The difference of smallest p-value among those large enough. None if there is none."""
    name = str(column.name)
    gone = gaps(column)
    found = _differs(name, "filled", ~gone, given) if gone.any() else []
    rest = given[~gone]
    if rest.any() and not rest.all():
        there, amounts = np.flatnonzero(~gone), numbers(column)[~gone]
        plain = amounts if usable(amounts).all() else cells(column)[~gone].astype(str)
        values, first, place = np.unique(plain, return_index=True, return_inverse=True)
        # Of many values only the most frequent one, a zero or "none" that represents a gap
        levels = np.arange(len(values)) if len(values) <= LIMITS.levels else [int(np.bincount(place).argmax())]
        fractions = [np.bincount(place[one], minlength=len(values)) / one.sum() for one in (rest, ~rest)]
        far = np.abs(fractions[0] - fractions[1])[levels] >= LIMITS.fractions
        for level in np.asarray(levels)[far] if len(values) > 1 and not _in_groups(place, rest) else ():
            shown = str(column.iloc[there[first[level]]]).strip()
            found += _differs(name, "value", place == level, rest, len(levels), shown)
        known = usable(amounts)
        if len(values) > 2 and known.mean() >= 0.95 and not _chosen_by(amounts[known], rest[known]):
            found += _apart(name, amounts[known], rest[known])
    strongest = min(found, key=lambda leak: leak.p, default=None)
    if strongest is not None:
        strongest.p *= LIMITS.families
    return strongest


def _differs(name: str, what: str, mask: np.ndarray, given: np.ndarray, n_tests: int = 1, value: str = "") -> list:
    """[Leak] if the fractions of the rows in `mask` differ enough, with the p-value of Fisher's exact test."""
    labeled, others = float(mask[given].mean()), float(mask[~given].mean())
    if abs(labeled - others) < LIMITS.fractions:
        return []
    counts = tuple((int(np.sum(mask & one)), int(np.sum(~mask & one))) for one in (given, ~given))
    return [Leak(name, what, labeled, others, _fisher(counts) * n_tests, value)]


@lru_cache(10_000)
def _fisher(counts: tuple[tuple[int, int], tuple[int, int]]) -> float:
    """p-value of Fisher's exact test. Many columns of a wide table have the same counts."""
    from scipy.stats import fisher_exact

    return float(fisher_exact(counts)[1])


def _in_groups(place: np.ndarray, given: np.ndarray) -> bool:
    """Whether the file is sorted by a column, so that equal values are adjacent, also in the unlabeled rows."""
    others = len(np.unique(place[~given]))
    return others > 1 and 1 + np.count_nonzero(np.diff(place)) == place.max() + 1


def _chosen_by(values: np.ndarray, given: np.ndarray) -> bool:
    """Whether numbers differ because rows were labeled in the order of the file, or from one end of the numbers."""
    if not given.any() or given.all() or np.ptp(values[~given]) == 0:
        return False
    trend = [_rank_correlation(values), _rank_correlation(values[~given])]
    sorted_by = min(trend) >= LIMITS.trend or max(trend) <= -LIMITS.trend
    return sorted_by or _cut(values, given) or _cut(-values, given)


def _rank_correlation(values: np.ndarray) -> float:
    """Spearman's correlation of the numbers with their places."""
    from scipy.stats import rankdata

    if len(values) < 3 or np.ptp(values) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(values), np.arange(len(values)))[0, 1])


def _cut(values: np.ndarray, given: np.ndarray) -> bool:
    """Whether the labeled rows are the lowest numbers of one distribution, which has no valley at the cut."""
    low, high = np.sort(values[given]), np.sort(values[~given])
    if low[-1] > high[0]:
        return False
    k = max(3, min(len(low), len(high)) // 4)
    step = np.diff(np.unique(values)).min()
    width = lambda part: part[-1] - part[0] + step  # noqa: E731  # of 2k neighbors, the inverse of their density
    inner = [width(part[max(0, len(part) // 2 - k) :][: 2 * k]) for part in (low, high)]
    return LIMITS.valley * width(np.concatenate([low[-k:], high[:k]])) <= max(inner)


def _apart(name: str, values: np.ndarray, given: np.ndarray) -> list:
    """[Leak] if the numbers are nearly all on two sides."""
    l, u = int(given.sum()), int((~given).sum())
    if not l or not u:
        return []
    labeled, others = np.sort(values[given]), np.sort(values[~given])
    both = np.concatenate([labeled, others])
    lower = np.searchsorted(labeled, both, side="right") / l - np.searchsorted(others, both, side="right") / u
    distance = float(np.abs(lower).max())
    if distance < LIMITS.apart:
        return []
    return [Leak(name, "range", float(np.median(labeled)), float(np.median(others)), _ks_bound(distance, l, u))]


def _ks_bound(distance: float, l: int, u: int) -> float:
    return min(1.0, 2 * exp(-2 * distance**2 * l * u / (l + u)))
