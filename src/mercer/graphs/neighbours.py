"""Nearest-neighbour graphs: the search, the edges, the Laplacians."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..linalg import precision
from ..rows import host_rows
from .nearest import Products, squares

PRODUCTS_ROWS, PRODUCTS_COLUMNS = 3000, 12  # from here on products in single precision are faster than trees
LAPLACIANS = ("normalized-weights", "symmetric", "unnormalized")


class Neighbours:
    """Nearest training rows, by scikit-learn's trees or, for many rows in many dimensions, by products.

    Only the rows are kept when the object is saved: the search structure is built when it is first needed.
    """

    def __init__(self, X):
        self.rows = X if sp.issparse(X) else np.ascontiguousarray(X)
        self._search: Any = None
        self._size: float | None = None

    def __getstate__(self):
        return {"rows": self.rows, "_search": None, "_size": None}

    def find(self, X, k):
        """(distances, indices) of the k nearest training rows of every row of X, nearest first; equal rows are at 0."""
        if self._search is None:
            n, d = self.rows.shape
            few = sp.issparse(self.rows) or n < PRODUCTS_ROWS or d < PRODUCTS_COLUMNS
            self._search = self._trees() if few else Products(self.rows, self._trees)
        distance, index = self._search(X, k)
        return self._with_zeros(X, distance, index), index

    def _with_zeros(self, X, distance, index):
        """Distances with 0 where two rows differ by rounding only.

        In many dimensions the search expands ‖x − y‖² into products, which leaves √ε in place of 0; and a row along
        components is not the same to the last bit in a product with many rows and with few.
        """
        if self._size is None:
            self._size = float(np.median(np.sqrt(squares(self.rows))))
        size = np.sqrt(squares(X)) + self._size
        rounding = 32 * precision(self.rows.dtype)
        row, place = np.nonzero((distance > 0) & (distance <= max(1e-6, rounding) * size[:, None]))
        for start in range(0, len(row), 4096):
            i, j = row[start : start + 4096], place[start : start + 4096]
            same = np.sqrt(squares(X[i] - self.rows[index[i, j]])) <= rounding * size[i]
            distance[i[same], j[same]] = 0.0
        return distance

    def _trees(self):
        from sklearn.neighbors import NearestNeighbors  # slow to import, and only graphs need it

        return NearestNeighbors().fit(self.rows).kneighbors


def neighbour_graph(X, n_neighbors=10):
    """Symmetric k-nearest-neighbour graph with Gaussian edge weights, as a sparse matrix with a zero diagonal.

    Two rows are joined when either is among the other's `n_neighbors` nearest; the weight is exp(−d²/2b²) with b² the
    mean squared length of the edges.

    Returns (W, bandwidth): the CSR weights and b.
    """
    graph, bandwidth, _ = build(host_rows(X), n_neighbors)
    return graph, bandwidth


def build(rows, n_neighbors):
    n = rows.shape[0]
    if not (isinstance(n_neighbors, (int, np.integer)) and n_neighbors >= 1):
        raise InputError(f"n_neighbors={n_neighbors!r} is not accepted: give a whole number of at least 1.")
    if n < 2:
        raise InputError("A neighbour graph needs at least two rows. Give more rows, or use a kernel such as RBF().")
    k = min(int(n_neighbors), n - 1)
    finder = Neighbours(rows)
    distance, index = finder.find(rows, k + 1)
    # The row itself is found first, or, among duplicates, somewhere or not at all: drop it, else the farthest.
    own = index == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    distance, index = distance[~own].reshape(n, k), index[~own].reshape(n, k)
    start = np.repeat(np.arange(n), k)
    # 1 + d² is stored, so that the zero distance of a duplicate stays an edge.
    edges = sp.csr_matrix((1.0 + distance.ravel() ** 2, (start, index.ravel())), shape=(n, n))
    edges = edges.maximum(edges.T).tocsr()
    squared = edges.data - 1.0
    bandwidth = float(np.sqrt(squared.mean())) or 1.0
    # exp never reaches 0 here: an edge of weight 0 would cut the graph silently.
    edges.data = np.maximum(np.exp(-squared / (2.0 * bandwidth**2)), np.finfo(float).tiny ** 0.25)
    return edges, bandwidth, finder


def laplacian(W, kind="normalized-weights"):
    """Graph Laplacian of the weights W.

    With S = D^{-1/2} W D^{-1/2}: "normalized-weights" is diag(Se) − S, the Laplacian of the degree-normalised weights,
    whose null vector is constant; "symmetric" is the usual I − S; "unnormalized" is D − W, for which
    fᵀ Lap f = ½ Σ w_ij (f_i − f_j)².
    """
    if kind not in LAPLACIANS:
        raise InputError(f"laplacian={kind!r} is not known. Accepted: {', '.join(map(repr, LAPLACIANS))}.")
    degree = np.asarray(W.sum(axis=1)).ravel()
    if kind == "unnormalized":
        return (sp.diags(degree) - W).tocsr()
    root = sp.diags(1.0 / np.sqrt(degree))
    S = root @ W @ root
    if kind == "symmetric":
        return (sp.eye(W.shape[0]) - S).tocsr()
    return (sp.diags(np.asarray(S.sum(axis=1)).ravel()) - S).tocsr()
