"""Test whether the labeled rows can be a random draw from a table, by their positions and their columns.

An estimate of the accuracy from labeled rows is valid for all rows only if the labeled rows are like the others. Rows
at the top of a sorted file are not.
"""

from dataclasses import dataclass
from functools import partial
from math import exp

import numpy as np

from ...types import Frame
from ..numerals import short
from .cells import cells, gaps, numbers, usable
from .dates import date_order, day_name, days


@dataclass(frozen=True)
class Selected:
    """Evidence that the labeled rows are not a random draw.

    Attributes
    ----------
    kind : "order" if the rows are next to each other in the table, "column" if a column is distributed differently.
    column : name of the column. "" for the order.
    p : probability of a difference as large by chance, over all comparisons.
    sentence : the difference in words.
    """

    kind: str
    column: str
    p: float
    sentence: str


def selected(frame: Frame, given: np.ndarray, among: list | None = None) -> Selected | None:
    """The strongest evidence that the labeled rows are not a random draw. None if they can be one.

    Columns of numbers and dates are compared by the Kolmogorov–Smirnov distance, and the values and gaps of other
    columns by the hypergeometric distribution. The order is compared by the distance of the places from a uniform
    distribution, and by the number of groups of labeled rows next to each other. The p-value is corrected for all
    comparisons (Bonferroni), half of it for the order and half for the columns. A difference in a column is named
    before the order, because it is what makes the labeled rows unlike the others.

    Parameters
    ----------
    frame : pandas DataFrame, in the order of the file.
    given : (n,) bool, which rows have a label.
    among : names of the columns to compare, without the target, columns that leak it and earlier predictions. None
        compares all.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": np.arange(200), "odd": np.arange(200) % 2})
    >>> found = selected(frame, np.arange(200) < 40)
    >>> found.kind, found.column
    ('column', 'size')
    >>> print(found.sentence)
    size is around 19.5 in labeled rows and 120 in the others
    >>> selected(frame, np.random.default_rng(0).permutation(200) < 40) is None
    True
    """
    given = np.asarray(given, dtype=bool)
    l, u = int(given.sum()), int((~given).sum())
    if not l or not u:
        return None
    names = [str(name) for name in frame.columns] if among is None else list(among)
    rows = np.sort(np.concatenate([_some(np.flatnonzero(given)), _some(np.flatnonzero(~given))]))
    part, inside = (frame, given) if len(rows) == l + u else (frame.iloc[rows], given[rows])
    found = [one for name in names for one in [_column(part[name], inside)] if one is not None]
    best = min(found, key=lambda one: one.p, default=None)
    chance = 0.01  # most probability that a random draw is named
    if best is not None and (p := 2 * len(names) * best.p) < chance:
        return Selected("column", best.column, p, best.sentence)
    p = 4 * min(_distance(np.arange(l + u, dtype=float), given), _runs_p(given))
    if p < chance:
        return Selected("order", "", p, _places(given))
    return None


def _some(rows: np.ndarray, most: int = 5_000) -> np.ndarray:
    """At most so many of the rows, at random."""
    return rows if len(rows) <= most else np.random.default_rng(0).choice(rows, most, replace=False)


def _column(column, given):
    """`Selected` for the smallest p-value of one column, small or large. None if there is nothing to compare."""
    name, gone = str(column.name), gaps(column)
    found, rest = [], given[~gone]
    if gone.any() and not gone.all():
        filled = (~gone)[given].mean(), (~gone)[~given].mean()
        found.append(Selected("column", name, _fractions_p(~gone, given), _compared(f"{name} is filled", filled)))
    if rest.any() and not rest.all():
        values, shown = _amounts(column)
        known = usable(values)
        if known[~gone].mean() >= 0.95:
            both = values[known & given], values[known & ~given]
            if len(both[0]) and len(both[1]):
                middle = [shown(np.median(part)) for part in both]
                text = f"{name} is around {middle[0]} in labeled rows and {middle[1]} in the others"
                if middle[0] == middle[1]:
                    text = f"{name} is distributed differently in labeled rows and in the others"
                found.append(Selected("column", name, _distance(values[known], given[known]), text))
        else:
            found += _values(name, cells(column)[~gone].astype(str), rest)
    if not found:
        return None
    best = min(found, key=lambda one: one.p)
    return Selected(best.kind, best.column, min(1.0, best.p * len(found)), best.sentence)


def _amounts(column):
    """The cells as numbers, with dates as days, and a function that writes such a number for people."""
    values = numbers(column)
    if usable(values).any() or column.dtype.kind in "iufb":
        return values, short
    if column.dtype.kind == "M":
        return days(column, "iso"), partial(day_name, order="iso")
    known = cells(column)[~gaps(column)]
    order = date_order(known) if len(known) else ""
    if order in ("", "unclear"):
        return values, short
    return days(column, order), partial(day_name, order=order)


def _values(name: str, words: np.ndarray, given: np.ndarray) -> list:
    """[Selected] for the value whose fraction differs most."""
    levels, place = np.unique(words, return_inverse=True)
    counts = np.bincount(place)
    if len(levels) < 2:
        return []
    compared = np.argsort(-counts, kind="stable")[:50]  # the most frequent values
    inside = np.bincount(place[given], minlength=len(levels))[compared]
    p = _hypergeometric(inside, counts[compared], int(given.sum()), len(words))
    best = int(np.argmin(p))
    one = place == compared[best]
    text = _compared(f"{name} is {levels[compared[best]]!r}", (one[given].mean(), one[~given].mean()))
    return [Selected("column", name, min(1.0, len(compared) * float(p[best])), text)]


def _compared(what: str, fractions: tuple[float, float]) -> str:
    return f"{what} in {fractions[0]:.0%} of the labeled rows and {fractions[1]:.0%} of the others"


def _fractions_p(mask: np.ndarray, given: np.ndarray) -> float:
    """Two-sided p-value of the number of labeled rows in the mask."""
    inside, total = np.array([np.sum(mask & given)]), np.array([mask.sum()])
    return float(_hypergeometric(inside, total, int(given.sum()), len(mask))[0])


def _hypergeometric(inside: np.ndarray, totals: np.ndarray, l: int, n: int) -> np.ndarray:
    """Two-sided p-values (twice the smaller tail) of how many of `totals` rows are among l labeled ones of n."""
    from scipy.stats import hypergeom

    above, below = hypergeom.sf(inside - 1, n, totals, l), hypergeom.cdf(inside, n, totals, l)
    return np.minimum(1.0, 2 * np.minimum(above, below))


def _distance(values: np.ndarray, given: np.ndarray) -> float:
    """Bound of the p-value of the Kolmogorov–Smirnov distance between labeled rows and the others."""
    labeled, others = np.sort(values[given]), np.sort(values[~given])
    l, u = len(labeled), len(others)
    both = np.concatenate([labeled, others])
    lower = np.searchsorted(labeled, both, side="right") / l - np.searchsorted(others, both, side="right") / u
    return min(1.0, 2 * exp(-2 * float(np.abs(lower).max()) ** 2 * l * u / (l + u)))


def _runs_p(given: np.ndarray) -> float:
    """Probability of so few groups of adjacent labeled rows. r groups have C(l − 1, r − 1) C(u + 1, r) / C(n, l)."""
    from scipy.stats import hypergeom

    l, u = int(given.sum()), int((~given).sum())
    runs = int(given[0]) + int(np.sum(given[1:] & ~given[:-1]))
    return float(hypergeom.cdf(runs, l + u, u + 1, l))


def _places(given: np.ndarray) -> str:
    rows = np.flatnonzero(given)
    if rows[-1] - rows[0] < 2 * len(rows):
        return f"the labeled rows are next to each other in the table, rows {rows[0] + 1} to {rows[-1] + 1}"
    return "labeled rows are next to each other in the table"
