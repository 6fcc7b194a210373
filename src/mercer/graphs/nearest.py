"""Nearest rows in many dimensions by matrix products in single precision, with a proof for every row."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ..backend import parallel
from ..types import Rows

MOST_LINES = 64
LARGE = 1e37  # squares up to here, and their sums, are finite in single precision


class Products:
    """Nearest rows from ‖y‖² − 2 x·y in single precision, measured again in double and proved to be the nearest.

    With the values of one row laid out as g lines, the m smallest are in the m columns of smallest minimum, so that
    most values are read once and never sorted. A few neighbors more than wanted are measured. If another row were
    nearer, its value would have a larger error than rounding can cause. If the rounding is too coarse to decide, as
    among ties, a tree is searched.
    """

    def __init__(self, rows, trees):
        self.rows, self.trees = rows, trees
        n, d = rows.shape
        # Small numbers have a finer rounding, and the median of some rows is not moved by a few far ones.
        self.center = np.median(rows[:: n // 1000 + 1], axis=0).astype(np.float64)
        squared = squares(rows - self.center)
        self.largest = squared.max()
        # The product with (x, 1) is ‖y‖² − 2 x·y, and infinite in the columns that fill up the lines.
        self.table = np.zeros((d + 1, -(-n // MOST_LINES) * MOST_LINES), dtype=np.float32)
        with np.errstate(over="ignore"):
            self.table[:d, :n] = -2.0 * (rows - self.center).T
            self.table[d, :n], self.table[d, n:] = squared, np.inf

    def __call__(self, X, k):
        n = len(self.rows)
        m = k + 4  # a few more than wanted
        lines = min(MOST_LINES, 2 ** round(np.log2(n / m) / 2))  # as many values to sort first as in the end
        if m * lines > n:
            return self.trees()(X, k)
        distance, index = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.intp)
        sure = np.empty(len(X), dtype=bool)
        step = max(64, 2**19 // n)  # so many values stay in the cache

        def fill(start):
            part = slice(start, start + step)
            distance[part], index[part], sure[part] = self._nearest(X[part], k, m, lines)

        parallel(fill, range(0, len(X), step))
        if not sure.all():
            distance[~sure], index[~sure] = self.trees()(X[~sure], k)
        return distance, index

    def _nearest(self, X, k, m, lines):
        """(distances, indices, whether they are proved) of the k nearest rows."""
        n, d = self.rows.shape
        x = X - self.center
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large proves nothing
            value = np.column_stack([x, np.ones(len(x))]).astype(np.float32) @ self.table
            column = _smallest(value.reshape(len(x), lines, -1).min(axis=1), m)
            # Indices into a row of values, for all of these columns, line after line.
            among = (column[:, None] + value.shape[1] // lines * np.arange(lines)[:, None]).reshape(len(x), -1)
            near = np.take(value, among + value.shape[1] * np.arange(len(x))[:, None])
            place = _smallest(near, m)
            index = np.minimum(np.take_along_axis(among, place, axis=1), n - 1)
            squared = np.sum(np.subtract(X[:, None], self.rows[index], dtype=np.float64) ** 2, axis=2)
            order = np.argsort(squared, axis=1, kind="stable")[:, :k]  # equally near rows stay in order
            index, squared = np.take_along_axis(index, order, axis=1), np.take_along_axis(squared, order, axis=1)
            # A row nearer than the last has a length of at most ‖x‖ + distance, which bounds the rounding of its value.
            length, last = np.sqrt(squares(x)), np.sqrt(squared[:, -1])
            rounding = (d + 4) * np.finfo(np.float32).eps * (2 * length + last) ** 2
            left_out = np.take_along_axis(near, place, axis=1).max(axis=1).astype(np.float64)
            sure = (squared[:, -1] - length**2 + rounding < left_out) & (length**2 + self.largest < LARGE)
        return np.sqrt(squared), index, sure


def _smallest(values: np.ndarray, m: int) -> np.ndarray:
    """(t, m) places of the m smallest values of each row, rising."""
    limit = np.partition(values, m - 1, axis=1)[:, m - 1 : m]
    place = np.flatnonzero(values <= limit)
    if len(place) != m * len(values) or np.isnan(limit).any():  # ties, or no numbers
        return np.sort(np.argpartition(values, m - 1, axis=1)[:, :m], axis=1)
    return place.reshape(-1, m) % values.shape[1]


def trees(rows: Rows) -> Callable:
    """scikit-learn's search among rows, a function of (X, k)."""
    from sklearn.neighbors import NearestNeighbors  # slow to import, and only graphs need it

    return NearestNeighbors().fit(rows).kneighbors


def squares(X: Rows) -> np.ndarray:
    """(n,) squared lengths of the rows."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    out, step = np.empty(len(X)), 4096

    def fill(start: int) -> None:
        rows = X[start : start + step]
        np.einsum("ij,ij->i", rows, rows, dtype=np.float64, out=out[start : start + step])

    parallel(fill, range(0, len(X), step))
    return out
