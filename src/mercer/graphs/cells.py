"""Approximate nearest rows for very many others, each of which is compared with the rows around its cell's center only.

The rows are divided into cells by a few steps of k-means. For a new row, the training rows that are nearest to the
center of its cell are searched exactly. Their number is chosen on a sample of the training rows, so that the fraction
of the true neighbors that are found (the recall) is at least `RECALL`.
"""

import numpy as np

from ..backend import parallel
from ..types import Rows
from .nearest import Products, squares, trees

RECALL = 0.98  # of the ten nearest rows, on average
CELLS = 512
SAMPLE = 1000  # rows on which the recall is measured


class Cells:
    """Approximate search among rows.

    Parameters
    ----------
    rows : (n, d) training rows.
    exact : function (X, k) that finds the nearest ones exactly.

    Attributes
    ----------
    reach : number of rows that every row is compared with.
    recall : fraction of the true neighbors found, on a sample.
    """

    def __init__(self, rows: np.ndarray, exact) -> None:
        self.rows = rows
        n = len(rows)
        rng = np.random.default_rng(0)
        some = rows[np.sort(rng.choice(n, min(n, 64 * CELLS), replace=False))]
        self.centers = some[np.sort(rng.choice(len(some), CELLS, replace=False))].copy()
        for _ in range(6):  # steps of k-means
            cell = self.cell_of(some)
            number = np.bincount(cell, minlength=CELLS)
            order = np.argsort(cell, kind="stable")
            full = np.flatnonzero(number)
            sums = np.add.reduceat(some[order], np.cumsum(number)[full] - number[full], axis=0)
            self.centers[full] = sums / number[full, None]
        value = squares(rows)[None] - 2.0 * self.centers @ rows.T
        self.order = np.argsort(value, axis=1).astype(np.int32)  # the rows by their distance from each center
        sample = rows[np.sort(rng.choice(n, min(n, SAMPLE), replace=False))]
        true = exact(sample, 11)[1][:, 1:]  # all but the row itself
        self.reach, self.recall = n // 32, 0.0
        while self.recall < RECALL and self.reach < n:
            self.reach = min(2 * self.reach, n)
            found = self(sample, 11)[1]
            self.recall = float(np.mean([np.isin(a, b).mean() for a, b in zip(true, found)]))
        self.order = self.order[:, : self.reach].copy()

    def cell_of(self, X: Rows) -> np.ndarray:
        """(m,) the cell whose center is nearest."""
        half, step = squares(self.centers).astype(X.dtype) / 2, 8192
        parts = [np.argmin(half - X[a : a + step] @ self.centers.T, axis=1) for a in range(0, len(X), step)]
        return np.concatenate(parts)

    def __call__(self, X, k):
        """(distances, indices) of the k nearest rows among those around the cell of every row of X."""
        distance, index = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.intp)
        cell = self.cell_of(X)
        order = np.argsort(cell, kind="stable")
        ends = np.searchsorted(cell[order], np.arange(CELLS + 1))

        def look(number: int) -> None:
            members = order[ends[number] : ends[number + 1]]
            among = np.sort(self.order[number, : self.reach])
            if len(members):
                near = self.rows[among]
                distance[members], place = Products(near, lambda: trees(near))(X[members], k)
                index[members] = among[place]

        parallel(look, range(CELLS))
        return distance, index
