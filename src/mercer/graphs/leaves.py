"""Nearest rows by a tree, whose leaves are compared in single precision along the leading components."""

from collections.abc import Callable

import numpy as np

from ..backend import parallel
from ..linalg import eigh_down
from ..types import Rows
from .nearest import LARGE, Products, squares

LEAF = 64  # rows of a leaf
CHUNK = 8  # coordinates between two comparisons with the limit
SAMPLE = 4096  # rows from which the components are computed, and rows in a block
MOST = 0.5  # fraction of all values read, up to which leaves are faster than products


class Leaves:
    """Nearest rows by lower bounds, which skip far leaves and rows. The others are measured in double precision.

    Let p(x) be the first components of x and r(x) the length of the rest. Then ‖p(x) − p(y)‖² + (r(x) − r(y))² is at
    most ‖x − y‖², and so is each partial sum. A row is measured unless such a sum exceeds the distance of the k-th best
    row so far by more than rounding explains. So the k nearest are found, the first ones among equally near.

    Parameters
    ----------
    rows : (n, d) numbers.
    trees : function that returns another search, for rows beyond single precision.
    """

    def __init__(self, rows, trees):
        self.rows, self.trees = rows, trees
        n, d = rows.shape
        some = rows[:: n // SAMPLE + 1]
        self.center = np.median(some, axis=0).astype(np.float64)  # not moved by a few far rows
        gaps = some - some.mean(axis=0, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            self.largest = max(squares(rows[i : i + SAMPLE] - self.center).max() for i in range(0, n, SAMPLE))
            self.small = bool(self.largest < LARGE)
            # 63: leading components that are kept. The length of the rest is one more coordinate.
            self.axes = eigh_down(gaps.T @ gaps, min(63, d))[1] if self.small else np.eye(d)[:, :1]
        if self.small:
            Z = np.concatenate([self._coordinates(rows[i : i + SAMPLE])[0] for i in range(0, n, SAMPLE)])
            box = 16  # coordinates in which leaves have bounds
            self.order = _leaf_order(Z[:, :box])
            number = -(-n // LEAF)
            Z = Z[self.order[np.minimum(np.arange(number * LEAF), n - 1)]].reshape(number, LEAF, -1)
            self.low, self.high = (np.ascontiguousarray(end(axis=1)[:, :box].T) for end in (Z.min, Z.max))
            self.table = np.ascontiguousarray(Z.transpose(0, 2, 1))

    def cost(self) -> float:
        """Values that a search for ten neighbors reads, as a fraction of all values, measured on a few rows.

        A single value in double precision counts as four in single precision.
        """
        if not self.small:
            return np.inf
        n, d = self.rows.shape
        read = np.zeros(2, dtype=np.int64)
        some = self.rows[:: n // 32 + 1]
        Z, length = self._coordinates(some)
        self._look(some, Z, length, min(10, n), read)
        return (LEAF * CHUNK * read[0] + 4 * d * read[1]) / (len(some) * n * max(d, self.table.shape[1]))

    def __call__(self, X, k):
        """(distances, indices) of the k nearest rows of every row of X."""
        distance, index = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.intp)
        if not self.small:
            return self.trees()(X, k)
        far, step = np.zeros(len(X), dtype=bool), 256

        def fill(start):
            part = slice(start, start + step)
            Z, length = self._coordinates(X[part])
            far[part] = ~(length**2 + self.largest < LARGE)
            Z[far[part]] = 0.0
            distance[part], index[part] = self._look(X[part], Z, length, k, np.zeros(2, dtype=np.int64))

        parallel(fill, range(0, len(X), step))
        if far.any():
            distance[far], index[far] = self.trees()(X[far], k)
        return distance, index

    def _coordinates(self, X):
        """((m, width) coordinates in single precision, filled up with zeros, and (m,) lengths of the rows)."""
        gaps = X - self.center
        along = gaps @ self.axes
        square = squares(gaps)
        width = self.axes.shape[1] + 1
        Z = np.zeros((len(X), -(-width // CHUNK) * CHUNK), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            Z[:, : width - 1] = along
            if X.shape[1] >= width:
                Z[:, width - 1] = np.sqrt(np.maximum(square - squares(along), 0.0))
        return Z, np.sqrt(square)

    def _look(self, X: Rows, Z: Rows, length: np.ndarray, k: int, read: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from .visits import visit

        square, index = np.full((len(X), k), np.inf), np.full((len(X), k), len(self.rows), dtype=np.intp)
        exact = np.ascontiguousarray(X, dtype=np.float64)
        slack = 2.0 * (8 * float(np.finfo(np.float32).eps)) * length  # rounding of a coordinate
        visit(exact, Z, slack, self.table, self.low, self.high, self.rows, self.order, square, index, read)
        return np.sqrt(square), index


def quickest(rows: np.ndarray, trees: Callable | None):
    """The faster of two exact searches among rows, by leaves if these skip many rows, else by products."""
    n, d = rows.shape
    if d <= 1000 and n >= 10 * d:  # components are computed for so many columns, and rows per column
        leaves = Leaves(rows, trees)
        if leaves.cost() <= MOST:
            return leaves
    return Products(rows, trees)


def _leaf_order(Z: Rows) -> np.ndarray:
    """(n,) the rows leaf by leaf. They are halved repeatedly along the coordinate of largest variance."""
    order, parts = np.arange(len(Z)), [(0, len(Z))]
    for begin, end in parts:  # which grow
        if end - begin > LEAF:
            own = order[begin:end]
            left = -(-(end - begin) // LEAF) // 2 * LEAF
            values = Z[own, np.argmax(Z[own].var(axis=0))]
            order[begin:end] = own[np.argpartition(values, left - 1)]
            parts += [(begin, begin + left), (begin + left, end)]
    return order
