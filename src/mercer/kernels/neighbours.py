"""Nearest-neighbour graphs: edges, Laplacians and the low end of their spectra."""

from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from ..backend import need
from ..errors import BackendError, InputError
from ..linalg import fix_signs, precision
from ..rows import host

DENSE = 5000  # rows up to which the whole spectrum is computed densely
RANK = 100  # eigenvectors kept above that, unless the user says otherwise (8 000 rows: 100 in 2-4 s, 300 in 15-35 s)
LAPLACIANS = ("normalized-weights", "symmetric", "unnormalized")


class Neighbours:
    """Nearest training rows, by faiss where it is installed and the rows are many, else by scikit-learn.

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
            self._search = self._faiss() or self._trees()
        distance, index = self._search(X, k)
        return self._with_zeros(X, distance, index), index

    def _with_zeros(self, X, distance, index):
        """Distances with 0 where two rows differ by rounding only.

        In many dimensions the search expands ‖x − y‖² into products, which leaves √ε in place of 0; and a row along
        components is not the same to the last bit in a product with many rows and with few.
        """
        if self._size is None:
            self._size = float(np.median(np.sqrt(_squares(self.rows))))
        size = np.sqrt(_squares(X)) + self._size
        rounding = 32 * precision(self.rows.dtype)
        row, place = np.nonzero((distance > 0) & (distance <= max(1e-6, rounding) * size[:, None]))
        for start in range(0, len(row), 4096):
            i, j = row[start : start + 4096], place[start : start + 4096]
            same = np.sqrt(_squares(X[i] - self.rows[index[i, j]])) <= rounding * size[i]
            distance[i[same], j[same]] = 0.0
        return distance

    def _trees(self):
        from sklearn.neighbors import NearestNeighbors  # slow to import, and only graphs need it

        return NearestNeighbors().fit(self.rows).kneighbors

    def _faiss(self):
        if sp.issparse(self.rows) or len(self.rows) <= DENSE:
            return None
        try:
            index = need("faiss").IndexFlatL2(self.rows.shape[1])
        except BackendError:
            return None
        index.add(self.rows.astype(np.float32))

        def find(X, k):
            near = index.search(np.ascontiguousarray(X, dtype=np.float32), k)[1]
            distance = np.empty(near.shape)
            for start in range(0, len(X), 4096):  # faiss works in float32: the few distances that matter are done again
                part = slice(start, start + 4096)
                distance[part] = np.sqrt(np.sum((X[part, None] - self.rows[near[part]]) ** 2, axis=-1))
            order = np.argsort(distance, axis=1, kind="stable")
            return np.take_along_axis(distance, order, 1), np.take_along_axis(near, order, 1)

        return find


def _squares(X):
    """(n,) squared lengths of the rows."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def neighbour_graph(X, n_neighbors=10):
    """Symmetric k-nearest-neighbour graph with Gaussian edge weights, as a sparse matrix with a zero diagonal.

    Two rows are joined when either is among the other's `n_neighbors` nearest; the weight is exp(−d²/2b²) with b² the
    mean squared length of the edges.

    Returns
    -------
    (W, bandwidth) : the CSR weights and b.
    """
    rows = host_rows(X)
    graph, bandwidth, _ = build(rows, n_neighbors)
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
    # exp never reaches 0 here: an edge of weight 0 would cut the graph without a word.
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


def low_spectrum(Lap, rank=None):
    """The smallest eigenvalues of a graph Laplacian, rising, and their vectors.

    Dense below 5 000 rows when more than a fifth of the spectrum is wanted, by sparse Lanczos otherwise. The zero
    eigenvalues, one a connected component, are exact.
    """
    n = Lap.shape[0]
    rank = min(rank or (n if n <= DENSE else RANK), n)
    if n <= DENSE and 5 * rank > n:
        values, vectors = sla.eigh(Lap.toarray(), subset_by_index=[0, rank - 1] if rank < n else None)
    else:
        # Lanczos on (top·I − Lap): its large end converges without a factorisation of the sparse matrix, whose fill-in
        # is not under control for a neighbour graph in many dimensions.
        top = float(np.max(np.abs(Lap).sum(axis=1)))
        start = np.random.default_rng(0).standard_normal(n)
        flipped = (sp.eye(n) * top - Lap).tocsr()
        values, vectors = eigsh(flipped, k=rank, which="LA", v0=start, ncv=min(n, 2 * rank + 20), tol=1e-9)
        order = np.argsort(top - values)
        values, vectors = (top - values)[order], vectors[:, order]
    values = np.clip(values, 0.0, None)
    values[: connected_components(Lap, directed=False)[0]] = 0.0
    return values, fix_signs(vectors)


def host_rows(X):
    """Rows as the neighbour search takes them: on the host, dense or CSR, floating point."""
    if sp.issparse(X):
        return X.tocsr()
    rows = host(X)
    return rows if rows.dtype.kind == "f" else np.asarray(rows, dtype=np.float64)
