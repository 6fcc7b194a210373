"""Heat diffusion and the inverse Laplacian, kernels of a nearest-neighbor graph over the training rows.

A graph kernel is a function of the nodes of the graph, so it is defined on the training rows only. `resolve` builds the
graph and computes the low end of its spectrum (`spectrum_`, with the largest residual in `residual_`) and the factor Z
of K = ZZᵀ. A new row and a training row are joined if either is among the nearest neighbors of the other, as for two
training rows. The new row gets the mean of its neighbors' rows of Z, weighted like edges in the Laplacian. This is the
smoothest continuation to one more node. A row equal to training rows gets the mean of their rows of Z. With ``graph=``
the edges are given, rows may be any objects, and rows outside the graph are refused.
"""

import copy
from typing import Any, Self

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ..errors import InputError
from ..graphs.given import KnownRows, as_graph, same_graph
from ..graphs.neighbors import LAPLACIANS, build, laplacian, neighbor_graph
from ..graphs.spectrum import low_spectrum
from ..homes import Objects, home_of
from ..rows import like
from ..types import Block, Rows
from .base import Kernel

AMONG = 3  # rows that have a new row among their k neighbors are searched among the 3k nearest rows of the new row

__all__ = ["LAPLACIANS", "Diffusion", "GraphKernel", "GraphLaplacian", "laplacian", "low_spectrum", "neighbor_graph"]


class GraphKernel(Kernel):
    """A function of the Laplacian of a graph over the training rows. `Diffusion` and `GraphLaplacian` define it."""

    transductive = True
    threadsafe = False

    # Set by resolve:
    graph_: sp.csr_matrix
    edge_bandwidth_: float
    spectrum_: NDArray[np.float64]
    factor_: NDArray[np.float64]
    residual_: float
    finder_: Any
    reach_: NDArray[np.float64]  # (n,) distance of the last neighbor of each row
    pull_: NDArray[np.float64]  # (n,) factor of the edges to each row

    known_: KnownRows | None = None  # the rows of a given graph

    def __init__(
        self,
        n_neighbors: int = 10,
        laplacian: str = "normalized-weights",
        rank: int | None = None,
        graph: Rows = None,
    ):
        self.n_neighbors = n_neighbors
        self.laplacian = laplacian
        self.rank = rank
        self.graph = graph

    @property
    def takes(self) -> str:  # type: ignore[override]
        return "numbers" if self.graph is None else "any"

    def resolve(self, X: Rows, weight: NDArray[np.float64] | None = None, found: Any = None) -> Self:
        """A copy that contains the graph of these rows and the factor of its kernel matrix.

        `found` contains the neighbors of all rows, if they are known from `mercer.graphs.neighbors.searched`.
        """
        if weight is not None:
            raise InputError(
                "sample_weight cannot be combined with a graph kernel, because a repeated row changes the graph. "
                "Do not pass weights, or use a kernel such as RBF()."
            )
        resolved = super().resolve(X)
        if self.rank is not None and not (isinstance(self.rank, (int, np.integer)) and self.rank >= 1):
            raise InputError(f"rank={self.rank!r} is not accepted. Use a whole number of at least 1, or None.")
        with home_of(X).computing(X):
            if self.graph is None:
                built = build(X, self.n_neighbors, found)
                resolved.graph_, resolved.edge_bandwidth_, resolved.finder_, resolved.reach_ = built
            else:
                names = [cell for cell in X if isinstance(cell, str)] if isinstance(X, Objects) else []
                ids = names if len(names) == X.shape[0] else None
                resolved.graph_, resolved.known_ = as_graph(self.graph, X.shape[0], ids), KnownRows(X)
            Lap = laplacian(resolved.graph_, self.laplacian)
            root = np.sqrt(np.asarray(resolved.graph_.sum(axis=1)).ravel())
            null = np.where(root > 0, root, 1.0) if self.laplacian == "symmetric" else None
            if self.graph is None:
                resolved.pull_ = 1.0 / root if self.laplacian == "normalized-weights" else np.ones(len(root))
            resolved.spectrum_, resolved.factor_, resolved.residual_ = self._factor(Lap, null)
        return resolved

    def factor(self) -> NDArray[np.float64]:
        """Z with K = ZZᵀ on the training rows of `resolve`."""
        self.check()
        return self.factor_

    def features(self, X: Rows) -> NDArray[np.float64]:
        """Rows of the factor. A training row has its own, and a new row the mean of those of its neighbors."""
        return self.spread(X) @ self.factor_

    def spread(self, X: Rows) -> sp.csr_matrix:
        """(m, n) weight of each training row for each row of X. A training row has weight 1 for itself."""
        self.check()
        if self.known_ is not None:
            return self.known_.spread(X)
        n = len(self.factor_)
        k = min(int(self.n_neighbors), n)
        distance, index = self.finder_.find(X, min(AMONG * k, n))
        squared = distance**2 / (2.0 * self.edge_bandwidth_**2)
        # Relative to the nearest row, so that its weight is not 0 at any distance.
        weight = np.exp(squared[:, :1] - squared) * self.pull_[index]
        joined = (np.arange(weight.shape[1]) < k) | (distance <= self.reach_[index])
        equal = distance == 0
        known = equal.any(axis=1)
        weight[known], joined[known] = 1.0, equal[known]
        weight /= (weight * joined).sum(axis=1, keepdims=True)
        ends = np.concatenate([[0], np.cumsum(joined.sum(axis=1))])
        return sp.csr_matrix((weight[joined], index[joined], ends), (len(index), n))

    def hurry(self, n: int) -> bool:
        """Switch to an approximate search for neighbors if n is very large. Return whether it is approximate."""
        return self.known_ is None and self.finder_.hurry(n)

    @property
    def recall(self) -> float:
        """Fraction of the true neighbors of other rows that are found. It is 1 if the search is exact."""
        return 1.0 if self.known_ is not None else self.finder_.recall

    def tile(self, X: Rows, Y: Rows) -> Block:
        return like(self.features(X) @ self.features(Y).T, X)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return np.sum(self.features(X) ** 2, axis=1)

    def _factor(self, Lap: Rows, null: NDArray[np.float64] | None) -> tuple[Any, Any, float]:
        """(low eigenvalues of the Laplacian, factor of the kernel matrix, residual of the eigenpairs)."""
        raise NotImplementedError(f"{type(self).__name__} must define _factor(Lap, null).")

    def __repr__(self) -> str:
        shown = copy.copy(self)
        shown.graph = None if self.graph is None else _Given()
        return super(GraphKernel, shown).__repr__()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        own, others = self.get_params(deep=False), other.get_params(deep=False)  # type: ignore[attr-defined]
        return same_graph(own.pop("graph"), others.pop("graph")) and own == others

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))

    def check(self) -> None:
        if not hasattr(self, "factor_"):
            raise InputError(
                f"{self!r} is a kernel on the nodes of a graph and has no graph yet. "
                "Call kernel.resolve(X) on the training rows first, or give the kernel to an estimator."
            )


class _Given:
    """A word that is shown in place of a given graph."""

    def __repr__(self) -> str:
        return "<given>"


class Diffusion(GraphKernel):
    """Heat kernel exp(−time · Lap) of the training rows' neighbor graph, or of a given graph.

    Parameters
    ----------
    n_neighbors : int, neighbors of each row.
    time : float, diffusion time, above 0. The kernel is smoother along the graph for longer times.
    laplacian : "normalized-weights" (diag(Se) − S), "symmetric" (I − S) or "unnormalized" (D − W).
    rank : eigenvectors kept. None keeps all up to 5,000 rows and 100 above.
    graph : None, (n, n) matrix or list of edges, default=None
        Links between the rows that replace nearest neighbors. A matrix contains symmetric weights, sparse or dense. An
        edge is (row, row) or (row, row, weight), with row numbers or, if the rows are strings, with these strings. The
        rows may then be any objects.

    Notes
    -----
    The kernel is transductive. New rows get the weighted mean of the training rows to which they are joined. With
    `graph`, rows other than those of `fit` are refused.

    The spectrum takes O(n³) operations up to 5,000 rows, unless `rank` is below a fifth of them. Otherwise a sparse
    iteration computes it.

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

    names = ("diffusion",)

    def __init__(
        self,
        n_neighbors: int = 10,
        time: float = 10.0,
        laplacian: str = "normalized-weights",
        rank: int | None = None,
        graph: Rows = None,
    ):
        super().__init__(n_neighbors, laplacian, rank, graph)
        self.time = time

    def _factor(self, Lap: Rows, null: NDArray[np.float64] | None) -> tuple[Any, Any, float]:
        if not (isinstance(self.time, (int, float, np.integer)) and 0 < self.time < np.inf):
            raise InputError(f"time={self.time!r} is not accepted. Use a number above 0.")
        values, vectors, residual = low_spectrum(Lap, self.rank, null)
        gains = np.exp(-self.time * values)
        # Gains are compared with the largest one that does not belong to the constant of a component. After a long time
        # on a tight graph, all others are tiny, and they still distinguish the rows.
        keep = gains > np.finfo(float).eps * len(values) * np.max(gains[values > 0], initial=0.0)
        return values, vectors[:, keep] * np.sqrt(gains[keep]), residual


class GraphLaplacian(GraphKernel):
    """Pseudo-inverse of the neighbor graph's Laplacian, with ‖f‖² = fᵀ Lap f on functions without a constant part.

    Parameters
    ----------
    n_neighbors : neighbors of each row in the graph.
    laplacian : "normalized-weights" (diag(Se) − S), "symmetric" (I − S) or "unnormalized" (D − W).
    graph : (n, n) matrix of weights or list of edges as in `Diffusion`, or None for the neighbor graph.
    rank : non-trivial eigenvectors kept. None keeps all up to 5,000 rows and 100 above.
    eigenvalues : "laplacian", or "squares", which replaces the i-th non-trivial eigenvalue by i² (Joachims 2003).
        "squares" counts the differences between connected components as non-trivial, all with the value 1.
        "laplacian" drops them.

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

    names = ("graph_laplacian",)

    def __init__(
        self,
        n_neighbors: int = 10,
        laplacian: str = "normalized-weights",
        rank: int | None = None,
        eigenvalues: str = "laplacian",
        graph: Rows = None,
    ):
        super().__init__(n_neighbors, laplacian, rank, graph)
        self.eigenvalues = eigenvalues

    def _factor(self, Lap: Rows, null: NDArray[np.float64] | None) -> tuple[Any, Any, float]:
        if self.eigenvalues not in ("laplacian", "squares"):
            raise InputError(f"eigenvalues={self.eigenvalues!r} is not known. Use 'laplacian' or 'squares'.")
        n_zero = connected_components(Lap, directed=False)[0]
        # The differences between components are non-trivial functions for "squares", but not for the pseudo-inverse.
        trivial = n_zero if self.eigenvalues == "laplacian" else 1
        rank = None if self.rank is None else max(self.rank + trivial, n_zero)
        values, vectors, residual = low_spectrum(Lap, rank, null)
        if self.eigenvalues == "laplacian":
            return values, vectors[:, n_zero:] / np.sqrt(values[n_zero:]), residual
        null = vectors[:, :n_zero]
        rest = null @ sla.null_space(null.sum(axis=0)[None])  # the null functions orthogonal to the constant
        vectors = np.concatenate([rest, vectors[:, n_zero:]], axis=1)[:, : self.rank]
        # The null functions have equal values, because any rotation of them is as good.
        place = np.arange(1.0, vectors.shape[1] + 1) - max(rest.shape[1] - 1, 0)
        return values, vectors / np.maximum(place, 1.0), residual
