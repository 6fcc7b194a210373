"""Rules that turn training rows into a kernel width."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from ..errors import InputError
from ..rows import take
from ..types import Rows

SAMPLE = 2000  # more rows are replaced by a fixed random sample of this size

Floats = NDArray[np.float64]


def _distances(X: Floats, order: int) -> Floats:
    """All pairwise distances in condensed form. For 16 columns or more, one matrix product is three times faster."""
    if order == 1:
        return pdist(X, "cityblock")
    if X.shape[1] < 16:
        return pdist(X)
    X = X - X.mean(axis=0)
    norms = np.einsum("ij,ij->i", X, X)
    squared = X @ X.T
    squared *= -2
    squared += norms
    squared += norms[:, None]
    squared = squareform(squared, checks=False)
    squared[squared < 1e-13 * norms.max()] = 0.0  # rounding error of the distance between two equal rows
    return np.sqrt(squared, out=squared)


def _median(X: Floats, weight: Floats | None, order: int) -> float:
    """Median distance over pairs of different rows. Distances of 0 between duplicates do not count."""
    distance = _distances(X, order)
    apart = distance > 0
    if not apart.any():
        return 1.0
    if weight is None:
        return float(np.median(distance[apart]))
    i, j = np.triu_indices(len(X), 1)
    mass = (weight[i] * weight[j])[apart]
    rank = np.argsort(distance[apart])
    cumulated = np.cumsum(mass[rank])
    # The mean of the two middle values of the repeated sample, as in np.median.
    low = np.searchsorted(cumulated, cumulated[-1] / 2, side="left")
    high = np.searchsorted(cumulated, cumulated[-1] / 2, side="right")
    values = distance[apart][rank]
    return float((values[low] + values[min(high, len(values) - 1)]) / 2)


def _knn(X: Floats, weight: Floats | None, order: int, neighbors: int = 10) -> float:
    """Mean distance to the ten nearest neighbors. A row of weight 3 has two neighbors at distance 0."""
    if len(X) == 1:
        return 1.0
    weight = np.ones(len(X)) if weight is None else weight
    distance = squareform(_distances(X, order))
    rank = np.argsort(distance, axis=1)
    mass = np.tile(weight, (len(X), 1))
    mass[np.diag_indices(len(X))] = np.maximum(weight - 1, 0)  # a row is not its own neighbor, its copies are
    reached = np.minimum(np.cumsum(np.take_along_axis(mass, rank, axis=1), axis=1), neighbors)
    used = np.diff(reached, axis=1, prepend=0)
    nearest = np.sum(used * np.take_along_axis(distance, rank, axis=1), axis=1) / used.sum(axis=1)
    return float(np.average(nearest, weights=weight)) or 1.0


def _scale(X: Floats, weight: Floats | None, order: int) -> float:
    """The width of scikit-learn's gamma="scale", which is 1 / (d · variance of all entries).

    The width is half the length of a vector with d entries, each the root mean square difference between two entries of
    X. It is therefore defined for any distance.
    """
    mean = np.average(X.mean(axis=1), weights=weight)
    variance = float(np.average(((X - mean) ** 2).mean(axis=1), weights=weight))
    return float(X.shape[1] ** (1 / order) * np.sqrt(variance / 2.0)) or 1.0


def _range(X: Floats, weight: Floats | None, order: int) -> float:
    """Diagonal of the bounding box (Gieseke et al. §4.2)."""
    return float(np.linalg.norm(np.ptp(X, axis=0), order)) or 1.0


def _neighbor(X: Floats, weight: Floats | None, order: int) -> float:
    """Median distance to the fifth nearest neighbor, for novelty. Copies of a row are its neighbors at distance 0.

    If more than half of the rows have five copies, the mean of these distances is taken.
    """
    if len(X) == 1:
        return 1.0
    weight = np.ones(len(X)) if weight is None else weight
    distance = squareform(_distances(X, order))
    rank = np.argsort(distance, axis=1)
    mass = np.tile(weight, (len(X), 1))
    mass[np.diag_indices(len(X))] = np.maximum(weight - 1, 0)  # a row is not its own neighbor, its copies are
    reached = np.cumsum(np.take_along_axis(mass, rank, axis=1), axis=1)
    # The distance to the fifth neighbor is the width for novelty.
    place = np.argmax(reached >= np.minimum(5, reached[:, -1:]) - 1e-9, axis=1)
    fifth = np.take_along_axis(distance, np.take_along_axis(rank, place[:, None], axis=1), axis=1)[:, 0]
    order_of = np.argsort(fifth)
    cumulated = np.cumsum(weight[order_of])
    low = np.searchsorted(cumulated, cumulated[-1] / 2, side="left")
    high = np.searchsorted(cumulated, cumulated[-1] / 2, side="right")
    middle = (fifth[order_of[low]] + fifth[order_of[min(high, len(X) - 1)]]) / 2
    return float(middle) or float(np.average(fifth, weights=weight)) or 1.0


def _two_neighbors(X: Floats, weight: Floats | None, order: int) -> float:
    """Twice the width of "neighbor"."""
    width = _neighbor(X, weight, order)
    return 2 * width


RULES = {
    "median": _median,
    "knn": _knn,
    "scale": _scale,
    "range": _range,
    "neighbor": _neighbor,
    "2neighbor": _two_neighbors,
}


def bandwidth_of(X: Rows, rule: str = "median", weight: Floats | None = None, order: int = 2) -> float:
    """Return the bandwidth that a rule gives for the rows of X.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows. If there are more than 2,000, a fixed sample of them is used.
    rule : {"median", "knn", "scale", "range", "neighbor", "2neighbor"}, default="median"
        Name of the rule. See the page on kernels.
    weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    order : {1, 2}, default=2
        Order of the distance, 2 for Euclidean and 1 for city-block.

    >>> bandwidth_of(np.array([[0.0], [1.0], [3.0]]), "median")
    2.0
    """
    if rule not in RULES:
        raise InputError(f"bandwidth={rule!r} is not a rule. Use a number above 0, or one of {', '.join(RULES)}.")
    rows = rows_for(X.shape[0], weight)
    return RULES[rule](take(X, rows), None if weight is None else np.asarray(weight, dtype=np.float64)[rows], order)


def rows_for(n: int, weight: Floats | None = None) -> NDArray[np.int64]:
    """The numbers of the rows that a rule uses. It uses all with a weight above 0, or a sample of `SAMPLE` of these."""
    keep = None if weight is None else np.flatnonzero(np.asarray(weight) > 0)
    n = n if keep is None else len(keep)
    rows = np.arange(n) if n <= SAMPLE else np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
    return rows if keep is None else keep[rows]
