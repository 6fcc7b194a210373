"""Nearest rows for very many others: each is compared with the rows around the center of its cell only.

The rows are divided into cells by a few steps of k-means. For a row that is looked up, those training rows are searched
exactly that are nearest to the center of its cell. How many that must be is found on a sample of the training rows, so
that the fraction of their true neighbors found, the recall, is above `RECALL`.
"""

import numpy as np

from ..backend import parallel
from ..types import Rows
from .nearest import Products, squares, trees

RECALL = 0.98  # of the ten nearest rows, on average
CELLS = 512
STEPS = 6  # of k-means, on a sample
SAMPLE = 1000  # rows on which the recall is measured
BLOCK = 8192


class Cells:
    """Approximate search among rows.

    Parameters
    ----------
    rows : (n, d) training rows. exact : function (X, k) that finds the nearest ones exactly.

    Attributes
    ----------
    reach : rows that every row is compared with. recall : fraction of the true neighbors found, on a sample.
    """

    def __init__(self, rows: np.ndarray, exact) -> None:
        self.rows = rows
        n = len(rows)
        rng = np.random.default_rng(0)
        some = rows[np.sort(rng.choice(n, min(n, 64 * CELLS), replace=False))]
        self.centers = some[np.sort(rng.choice(len(some), CELLS, replace=False))].copy()
        for _ in range(STEPS):
            cell = self.cell_of(some)
            number = np.bincount(cell, minlength=CELLS)
            order = np.argsort(cell, kind="stable")
            full = np.flatnonzero(number)
            sums = np.add.reduceat(some[order], np.cumsum(number)[full] - number[full], axis=0)
            self.centers[full] = sums / number[full, None]
        value = squares(rows)[None] - 2.0 * self.centers @ rows.T
        self.order = np.argsort(value, axis=1).astype(np.int32)  # the rows by their distance from each center
        asked = rows[np.sort(rng.choice(n, min(n, SAMPLE), replace=False))]
        true = exact(asked, 11)[1][:, 1:]  # all but the row itself
        self.reach, self.recall = n // 32, 0.0
        while self.recall < RECALL and self.reach < n:
            self.reach = min(2 * self.reach, n)
            found = self(asked, 11)[1]
            self.recall = float(np.mean([np.isin(a, b).mean() for a, b in zip(true, found)]))
        self.order = self.order[:, : self.reach].copy()

    def cell_of(self, X: Rows) -> np.ndarray:
        """(m,) the cell whose center is nearest."""
        half = squares(self.centers).astype(X.dtype) / 2
        parts = [np.argmin(half - X[a : a + BLOCK] @ self.centers.T, axis=1) for a in range(0, len(X), BLOCK)]
        return np.concatenate(parts)

    def __call__(self, X, k):
        """(distances, indices) of the k nearest rows among those around the cell of every row of X."""
        distance, index = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.intp)
        cell = self.cell_of(X)
        order = np.argsort(cell, kind="stable")
        ends = np.searchsorted(cell[order], np.arange(CELLS + 1))

        def look(number: int) -> None:
            asked = order[ends[number] : ends[number + 1]]
            among = np.sort(self.order[number, : self.reach])
            if len(asked):
                near = self.rows[among]
                distance[asked], place = Products(near, lambda: trees(near))(X[asked], k)
                index[asked] = among[place]

        parallel(look, range(CELLS))
        return distance, index
