"""Why a row is unusual: which columns make it so, what value would be ordinary, and which ordinary rows are nearest."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs.numerals import short
from ..types import Estimator, Rows

NEIGHBORS = 10
ORDINARY = 0.8  # fraction of the training rows, the least unusual, that count as ordinary
COMPARED = 5_000  # ordinary rows, drawn at random, that a row is compared with
COMBINATION = "no single column explains it: the combination of its values is rare"


@dataclass(frozen=True)
class ColumnPart:
    """The contribution of one column to a row's score.

    Attributes
    ----------
    name : name or number of the column.
    part : its part in the score, in nats.
    value, usual : the row's value and the ordinary one, as encoded.
    like : numbers of the ordinary rows that are nearest in all other columns.
    """

    name: Any
    part: float
    value: np.ndarray
    usual: np.ndarray
    like: np.ndarray


@dataclass(frozen=True)
class Unusual:
    """One row's reasons.

    Attributes
    ----------
    row : its number. score : its surprise in nats.
    columns : `ColumnPart` of each column, the largest part first.
    nearest : numbers of the nearest ordinary rows.
    """

    row: int
    score: float
    columns: list[ColumnPart]
    nearest: list[int]

    def main(self, most: int = 2) -> list[ColumnPart]:
        """The columns with a part of at least a tenth of the score."""
        # 0.1: of the score: a column with a smaller part is not named
        return [one for one in self.columns if one.part > max(0.1 * self.score, 0)][:most]

    def sentence(self, most: int = 2) -> str:
        """The columns that matter, with what would be ordinary. Columns with an ordinary value are not named."""
        told = [
            f"{one.name} is {_shown(one.value)}; similar ordinary rows have {_shown(one.usual)}"
            for one in self.main(most)
            if _shown(one.value) != _shown(one.usual)
        ]
        return ". ".join(told) or COMBINATION


def unusual(
    model: Estimator,
    X: Rows,
    rows: np.ndarray,
    slices: dict | None = None,
    groups: int = NEIGHBORS,
    scores: np.ndarray | None = None,
) -> list[Unusual]:
    """Explain why an outlier detector finds some rows unusual.

    A column's part is the mean of two changes of the score: how much it falls if the row's value is replaced by an
    ordinary one, and how much the score of the nearest ordinary row rises if it gets the row's value. (These are the
    last and the first step of a Shapley value; each alone misses columns if several values are unusual, or if only
    their combination is.) The ordinary value is the median (of numbers) or the most frequent value (of columns that
    belong together) among the ordinary rows that are nearest in all other columns. Parts need not add up to the score.

    Parameters
    ----------
    model : OutlierDetector
        A fitted detector, or any other one with `score_samples` and `training_scores_`.
    X : array of shape (n, d)
        The training rows, or new rows if `scores` are given.
    rows : list of int
        Numbers of the rows to explain.
    slices : dict or None, default=None
        {name: slice of columns that belong together}, such as the indicators of a category. None: each by itself.
    groups : int, default=10
        Ordinary rows that a value is compared with.
    scores : array of shape (n,) or None, default=None
        How unusual each row of X is, as a new row. None: X are the training rows, and scores are minus the
        `training_scores_` of the model.

    Returns
    -------
    list of Unusual
        The reasons of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OutlierDetector
    >>> from mercer.advice.unusual import unusual
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X[7, 1] = 9.0
    >>> unusual(OutlierDetector().fit(X), X, [7])[0].columns[0].name
    1
    """
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    slices = {j: slice(j, j + 1) for j in range(X.shape[1])} if slices is None else slices
    without = getattr(model, "changed_scores", None) if scores is None else None  # each row is scored without itself
    scores = -model.training_scores_ if scores is None else scores
    ordinary = _ordinary(scores)
    spread = X.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    scaled, found = X[ordinary] / scale, []
    for row in (int(row) for row in rows):
        apart = (scaled - X[row] / scale) ** 2
        itself = np.where(ordinary == row, np.inf, 0.0)
        whole = apart.sum(axis=1)
        nearest = ordinary[_first(whole + itself, 3)]
        changed, near = np.repeat(X[row][None], len(slices), axis=0), []
        strange = np.repeat(X[nearest[0]][None], len(slices), axis=0)
        for k, part in enumerate(slices.values()):
            near.append(ordinary[_first(whole - apart[:, part].sum(axis=1) + itself, groups)])
            changed[k, part] = _usual(X[near[k]][:, part], scale[part])
            strange[k, part] = X[row, part]
        if without:
            score, *mended = without(np.vstack([X[row], changed]), row)
            before, *spoiled = without(np.vstack([X[nearest[0]], strange]), nearest[0])
        else:
            score, before = scores[[row, nearest[0]]]
            mended, spoiled = np.split(-model.score_samples(np.vstack([changed, strange])), 2)
        parts = ((score - np.array(mended)) + (np.array(spoiled) - before)) / 2
        columns = [
            ColumnPart(name, float(parts[k]), X[row, part], changed[k, part], near[k])
            for k, (name, part) in enumerate(slices.items())
        ]
        columns.sort(key=lambda one: -one.part)
        found.append(Unusual(row, float(score), columns, nearest.tolist()))
    return found


def _ordinary(scores: np.ndarray) -> np.ndarray:
    """Numbers of the least unusual rows, or of a random sample of them, ascending."""
    order = np.argsort(scores, kind="stable")[: max(int(ORDINARY * len(scores)), 2)]
    return np.sort(np.random.default_rng(0).permutation(order)[:COMPARED])


def _first(values: np.ndarray, number: int) -> np.ndarray:
    """Places of the smallest finite values, the smallest first."""
    order = np.argsort(values, kind="stable")[:number]
    return order[np.isfinite(values[order])]


def _usual(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The median of single numbers. Else the most frequent row or, if none repeats, the one nearest to the mean."""
    if values.shape[1] == 1:
        return np.median(values, axis=0)
    kinds, counts = np.unique(values, axis=0, return_counts=True)
    if counts.max() > 1:
        return kinds[np.argmax(counts)]
    return values[np.argmin(np.sum(((values - values.mean(axis=0)) / scale) ** 2, axis=1))]


def _shown(value: float | np.ndarray) -> str:
    return ", ".join(short(number, 4) for number in np.ravel(value))
