"""Nearest-neighbor graphs, with the search, the edges and the Laplacians."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..backend import moved, single_threaded_blas
from ..errors import InputError
from ..homes import home_of
from ..linalg import precision
from ..rows import host_rows
from ..types import Rows
from .cells import Cells
from .leaves import quickest
from .nearest import Products, squares, trees

MANY_ROWS, MANY_COLUMNS = 1000, 4  # from here on searches in single precision are faster than scikit-learn's trees
FEW_PAIRS = 1.5e7  # pairs of rows up to which leaves save less time than compiling their search takes
MANY_PAIRS, WIDE = 5e9, 12  # pairs of rows, and columns, above which an approximate search pays
LAPLACIANS = ("normalized-weights", "symmetric", "unnormalized")


class Neighbors:
    """Nearest training rows, by scikit-learn's trees or, for many rows of several columns, by leaves or products.

    Rows on another device, or moved there by `use_device`, are looked up there. Only the rows are saved. The search
    structure is built when it is first needed.
    """

    def __init__(self, X: Rows) -> None:
        self.rows = X if sp.issparse(X) else np.ascontiguousarray(X)
        self.approximate = False
        self._search: Any = None
        self._elsewhere: tuple = (None, None)  # another device and dtype, and the search there
        self._quick = False  # whether the search suits few pairs of rows only
        self._size: float | None = None

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_search": None, "_elsewhere": (None, None), "_quick": False, "_size": None}

    def find(self, X: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(distances, indices) of the k nearest training rows of every row of X, nearest first. Equal rows are at 0."""
        here = moved(X)
        search = self._there(here)
        X = host_rows(X)
        if search is None and (self._search is None or (self._quick and X.shape[0] * self.rows.shape[0] > FEW_PAIRS)):
            self._search = self._exact(X.shape[0])
            self._search = Cells(self.rows, self._search) if self.approximate else self._search
        with single_threaded_blas():  # scikit-learn pins BLAS too, and an interrupt in its midst would leave it so
            distance, index = self._search(X, k) if search is None else search(here, k)
        return self._with_zeros(X, distance, index), index

    def hurry(self, n: int) -> bool:
        """Look up n rows and all later ones approximately if they are very many (see `Cells`). Returns whether so."""
        many = self.rows.shape[0] * n > MANY_PAIRS and self.rows.shape[1] >= WIDE
        if many and not self._few() and self._there(moved(self.rows[:1])) is None:
            self.approximate, self._search = True, None
        return self.approximate

    @property
    def recall(self) -> float:
        """Fraction of the true neighbors that the search finds, as measured on a sample. It is 1 for an exact one."""
        return getattr(self._search, "recall", 1.0)

    def _exact(self, n: int):
        """The search that suits n rows and later ones."""
        if self._few():
            return self._trees()
        self._quick = self.rows.shape[0] * n <= FEW_PAIRS and not self.approximate
        return Products(self.rows, self._trees) if self._quick else quickest(self.rows, self._trees)

    def _few(self) -> bool:
        n, d = self.rows.shape
        return sp.issparse(self.rows) or n < MANY_ROWS or d < MANY_COLUMNS

    def _there(self, X: Rows):
        """The search on the device of X, kept for the next rows from there. None on the host."""
        place = getattr(X, "device", None), X.dtype
        if self._elsewhere[0] != place:
            home, sparse = home_of(X), sp.issparse(X) or sp.issparse(self.rows)
            self._elsewhere = place, None if sparse else home.search(home.like(self.rows, X))
        return self._elsewhere[1]

    def _with_zeros(self, X: Rows, distance: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Distances with 0 if two rows differ by rounding only, and there alone.

        In many dimensions the search expands ‖x − y‖² into products, which leaves √ε in place of 0, and 0 in place of
        √ε. Also, the components of a row differ in the last bits between a product with many rows and one with few.
        """
        if self._size is None:
            self._size = float(np.median(np.sqrt(squares(self.rows))))
        size = np.sqrt(squares(X)) + self._size
        rounding = 32 * precision(self.rows.dtype)
        row, place = np.nonzero(distance <= max(1e-6, rounding) * size[:, None])
        for start in range(0, len(row), 4096):
            i, j = row[start : start + 4096], place[start : start + 4096]
            exact = np.sqrt(squares(X[i] - self.rows[index[i, j]]))
            distance[i, j] = np.where(exact <= rounding * size[i], 0.0, exact)
        return distance

    def _trees(self) -> Callable:
        return trees(self.rows)


def neighbor_graph(X: Rows, n_neighbors: int = 10) -> tuple[Rows, float]:
    """Symmetric k-nearest-neighbor graph with Gaussian edge weights, as a sparse matrix with a zero diagonal.

    Two rows are joined when either is among the other's `n_neighbors` nearest. The weight is exp(−d²/2b²) with b² the
    mean squared length of the edges.

    Returns (W, bandwidth), the CSR weights and b.
    """
    graph, bandwidth, *_ = build(X, n_neighbors)
    return graph, bandwidth


FoundNeighbors: TypeAlias = tuple[Neighbors, np.ndarray, np.ndarray]
"""The search among the rows, distances and indices of the neighbors."""


def searched(X: Rows, n_neighbors: int) -> FoundNeighbors:
    """(search among the rows, distances and indices of so many neighbors of each and of itself), for `build`."""
    finder = Neighbors(host_rows(X))
    return finder, *finder.find(X, min(int(n_neighbors), X.shape[0] - 1) + 1)


def build(X, n_neighbors, found=None):
    """(W, bandwidth) of `neighbor_graph`, the search among the rows, (n,) distances of their last neighbors.

    found : result of `searched` for at least so many neighbors, if it is known already. The search is repeated if
        several rows are equally far at the cut, because the choice among them depends on the number of neighbors.
    """
    n = X.shape[0]
    if not (isinstance(n_neighbors, (int, np.integer)) and n_neighbors >= 1):
        raise InputError(f"n_neighbors={n_neighbors!r} is not accepted. Give a whole number of at least 1.")
    if n < 2:
        raise InputError("A neighbor graph needs at least two rows. Give more rows, or use a kernel such as RBF().")
    k = min(int(n_neighbors), n - 1)
    finder, distance, index = searched(X, k) if found is None else found
    if distance.shape[1] > k + 1 and np.any(distance[:, k] == distance[:, k + 1]):
        distance, index = finder.find(X, k + 1)
    distance, index = distance[:, : k + 1], index[:, : k + 1]
    # The row itself is found first, or, among duplicates, anywhere or not at all. It is dropped, else the farthest.
    own = index == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    distance, index = distance[~own].reshape(n, k), index[~own].reshape(n, k)
    start = np.repeat(np.arange(n), k)
    # 1 + d² is stored, so that the zero distance of a duplicate stays an edge.
    edges = sp.csr_matrix((1.0 + distance.ravel() ** 2, (start, index.ravel())), shape=(n, n))
    edges = edges.maximum(edges.T).tocsr()
    squared = edges.data - 1.0
    bandwidth = float(np.sqrt(squared.mean())) or 1.0
    # exp must not become 0 here, because an edge of weight 0 would cut the graph silently.
    edges.data = np.maximum(np.exp(-squared / (2.0 * bandwidth**2)), np.finfo(float).tiny ** 0.25)
    return edges, bandwidth, finder, distance[:, -1].copy()


def laplacian(W: Rows, kind: str = "normalized-weights") -> Rows:
    """Graph Laplacian of the weights W.

    Let S = D^{-1/2} W D^{-1/2}. "normalized-weights" is diag(Se) − S, the Laplacian of the degree-normalized weights,
    whose null vector is constant. "symmetric" is the usual I − S. "unnormalized" is D − W, for which
    fᵀ Lap f = ½ Σ w_ij (f_i − f_j)².
    """
    if kind not in LAPLACIANS:
        raise InputError(f"laplacian={kind!r} is not known. Accepted: {', '.join(map(repr, LAPLACIANS))}.")
    degree = np.asarray(W.sum(axis=1)).ravel()
    if kind == "unnormalized":
        return (sp.diags(degree) - W).tocsr()
    # A row without edges, which a given graph may have, is a component of its own.
    root = sp.diags(np.divide(1.0, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0))
    S = root @ W @ root
    if kind == "symmetric":
        return (sp.diags((degree > 0).astype(np.float64)) - S).tocsr()
    return (sp.diags(np.asarray(S.sum(axis=1)).ravel()) - S).tocsr()
