"""Kernels of a nearest-neighbour graph over the training rows: heat diffusion and the inverse Laplacian.

A graph kernel is a function of the graph's nodes, so it is known on the training rows only. It is resolved there: the
graph is built, the low end of its spectrum is computed, and K = ZZᵀ comes as its factor Z. A new row is given the mean
of its neighbours' rows of Z, weighted as the graph weighs edges; a row equal to a training row is that row.
"""

import copy
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from ..backend import need
from ..errors import BackendError, InputError
from ..linalg import fix_signs
from ..rows import host, like
from .base import Kernel

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

    def __getstate__(self):
        return {"rows": self.rows, "_search": None}

    def find(self, X, k):
        """(distances, indices) of the k nearest training rows of every row of X, nearest first."""
        if self._search is None:
            self._search = self._faiss() or self._trees()
        return self._search(X, k)

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


def neighbour_graph(X, n_neighbors=10):
    """Symmetric k-nearest-neighbour graph with Gaussian edge weights, as a sparse matrix with a zero diagonal.

    Two rows are joined when either is among the other's `n_neighbors` nearest; the weight is exp(−d²/2b²) with b² the
    mean squared length of the edges.

    Returns
    -------
    (W, bandwidth) : the CSR weights and b.
    """
    rows = host_rows(X)
    graph, bandwidth, _ = _build(rows, n_neighbors)
    return graph, bandwidth


def _build(rows, n_neighbors):
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


class GraphKernel(Kernel):
    """A function of the Laplacian of the training rows' neighbour graph; see `Diffusion` and `GraphLaplacian`."""

    transductive = True
    threadsafe = False

    def __init__(self, n_neighbors=10, laplacian="normalized-weights", rank=None):
        self.n_neighbors = n_neighbors
        self.laplacian = laplacian
        self.rank = rank

    def resolve(self, X, weight=None):
        """A copy that holds the graph of these rows and the factor of its kernel matrix."""
        if weight is not None:
            raise InputError(
                "sample_weight cannot be combined with a graph kernel: a repeated row would change the graph. "
                "Leave the weights out, or use a kernel such as RBF()."
            )
        resolved = copy.copy(self)
        self._check_parameters()
        rows = host_rows(X)
        resolved.graph_, resolved.edge_bandwidth_, resolved._finder = _build(rows, self.n_neighbors)
        resolved.spectrum_, resolved.factor_ = self._factor(laplacian(resolved.graph_, self.laplacian))
        return resolved

    def factor(self):
        """Z with K = ZZᵀ on the rows this kernel was resolved on."""
        self._check_resolved()
        return self.factor_

    def features(self, X):
        """Rows of the factor for any rows: a training row's own, else the weighted mean of its neighbours'."""
        self._check_resolved()
        rows = host_rows(X)
        k = min(int(self.n_neighbors), len(self.factor_))
        distance, index = self._finder.find(rows, k)
        squared = distance**2 / (2.0 * self.edge_bandwidth_**2)
        weight = np.exp(squared[:, :1] - squared)  # relative to the nearest, which keeps weight 1 however far it is
        weight[distance[:, 0] == 0] = np.eye(1, k)
        weight /= weight.sum(axis=1, keepdims=True)
        spread = sp.csr_matrix(
            (weight.ravel(), index.ravel(), np.arange(0, index.size + 1, k)), (len(index), len(self.factor_))
        )
        return spread @ self.factor_

    def _tile(self, X, Y):
        return like(self.features(X) @ self.features(Y).T, X)

    def diag(self, X):
        return np.sum(self.features(X) ** 2, axis=1)

    def _factor(self, Lap):
        """(low eigenvalues of the Laplacian, factor of the kernel matrix)."""
        raise NotImplementedError(f"{type(self).__name__} must define _factor(Lap).")

    def _check_parameters(self):
        if self.rank is not None and not (isinstance(self.rank, (int, np.integer)) and self.rank >= 1):
            raise InputError(f"rank={self.rank!r} is not accepted: give a whole number of at least 1, or None.")

    def _check_resolved(self):
        if not hasattr(self, "factor_"):
            raise InputError(
                f"{self!r} is a kernel on the nodes of a graph and has no graph yet. "
                "Call kernel.resolve(X) on the training rows first, or give the kernel to an estimator."
            )


class Diffusion(GraphKernel):
    """Heat kernel exp(−time · Lap) of the training rows' neighbour graph.

    Parameters
    ----------
    n_neighbors : int, neighbours of each row.
    time : float above 0; the longer, the smoother along the graph.
    laplacian : "normalized-weights" (diag(Se) − S), "symmetric" (I − S) or "unnormalized" (D − W).
    rank : eigenvectors kept; None keeps all up to 5 000 rows and 100 above.

    Transductive: new rows take the weighted mean of their neighbours.

    Cost: O(n³) up to 5 000 rows, sparse Lanczos above.

    References
    ----------
    Walder et al. (2010), Semi-supervised kernel PCA, §7.2.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> K = Diffusion(n_neighbors=1, time=2.0).resolve(X)(X)
    >>> bool(K[0, 1] > 0.4 and abs(K[0, 2]) < 1e-9)  # two components: no heat crosses
    True
    """

    def __init__(self, n_neighbors=10, time=10.0, laplacian="normalized-weights", rank=None):
        super().__init__(n_neighbors, laplacian, rank)
        self.time = time

    def _factor(self, Lap):
        values, vectors = low_spectrum(Lap, self.rank)
        gains = np.exp(-self.time * values)
        keep = gains > np.finfo(float).eps * len(values) * gains[0]
        return values, vectors[:, keep] * np.sqrt(gains[keep])

    def _check_parameters(self):
        super()._check_parameters()
        if not (isinstance(self.time, (int, float, np.integer)) and 0 < self.time < np.inf):
            raise InputError(f"time={self.time!r} is not accepted: give a number above 0.")


class GraphLaplacian(GraphKernel):
    """Pseudo-inverse of the neighbour graph's Laplacian: ‖f‖² = fᵀ Lap f on functions without a constant part.

    Parameters
    ----------
    n_neighbors, laplacian : as in `Diffusion`.
    rank : non-trivial eigenvectors kept; None keeps all up to 5 000 rows and 100 above.
    eigenvalues : "laplacian", or "squares", which replaces the i-th non-trivial eigenvalue by i² (Joachims 2003). With
        "squares" the differences between connected components count as non-trivial; the pseudo-inverse drops them.

    References
    ----------
    Joachims (2003), Transductive learning via spectral graph partitioning.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0)[:, None]
    >>> kernel = GraphLaplacian(n_neighbors=2).resolve(X)
    >>> bool(np.allclose(kernel.factor().sum(axis=0), 0))  # orthogonal to the constant function
    True
    """

    def __init__(self, n_neighbors=10, laplacian="normalized-weights", rank=None, eigenvalues="laplacian"):
        super().__init__(n_neighbors, laplacian, rank)
        self.eigenvalues = eigenvalues

    def _factor(self, Lap):
        n_zero = connected_components(Lap, directed=False)[0]
        values, vectors = low_spectrum(Lap, None if self.rank is None else self.rank + n_zero)
        if self.eigenvalues == "laplacian":
            return values, vectors[:, n_zero:] / np.sqrt(values[n_zero:])
        null = vectors[:, :n_zero]
        rest = null @ sla.null_space(null.sum(axis=0)[None])  # the null functions orthogonal to the constant
        vectors = np.concatenate([rest, vectors[:, n_zero:]], axis=1)[:, : self.rank]
        return values, vectors / np.arange(1.0, vectors.shape[1] + 1)

    def _check_parameters(self):
        super()._check_parameters()
        if self.eigenvalues not in ("laplacian", "squares"):
            raise InputError(f"eigenvalues={self.eigenvalues!r} is not known. Accepted: 'laplacian', 'squares'.")


def host_rows(X):
    """Rows as the neighbour search takes them: on the host, dense or CSR, floating point."""
    if sp.issparse(X):
        return X.tocsr()
    rows = host(X)
    return rows if rows.dtype.kind == "f" else np.asarray(rows, dtype=np.float64)
