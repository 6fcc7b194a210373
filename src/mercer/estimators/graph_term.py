"""The graph term Σ w_ij (f_i − f_j)² as a second regularizer of any method of moments."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..geometry.maps import MappedRows
from ..homes import home_of
from ..kernels.graph import laplacian, neighbor_graph
from ..types import Rows
from .base import KernelEstimator
from .parameters import NOT_NEGATIVE, parameter


@dataclass(eq=False, repr=False)
class GraphTerm(KernelEstimator):
    """Mixin for estimators with the parameters `graph` and `graph_weight`.

    Such a method solves the problem for ``self.tilted(state)`` of `InvarianceTerm`, whose norm contains the graph term.
    """

    _: KW_ONLY
    graph: Any = None
    graph_weight: float = parameter(1.0, NOT_NEGATIVE)

    def _fit_map(self, X: Rows, weight: np.ndarray | None = None) -> Rows:
        Z = super()._fit_map(X, weight)
        return np.asarray(Z) if self.graph is not None and isinstance(Z, MappedRows) else Z  # many passes follow

    def _laplacian(self, X: Rows, weight: np.ndarray | None) -> Rows:
        if self.graph is None:
            return None
        home_of(X).refuse_lazy(
            f"graph={self.graph!r} joins all rows in one graph, which Dask cannot do. Give a sample of the rows in "
            "NumPy, or use graph=None."
        )
        if weight is not None:
            raise InputError(
                "sample_weight cannot be combined with graph=, because a repeated row changes the graph of neighbors. "
                "Use only one of the two."
            )
        return laplacian(self._weights(X), "unnormalized")

    def _weights(self, X: Rows) -> Rows:
        n = X.shape[0]
        if isinstance(self.graph, (int, np.integer)) and not isinstance(self.graph, bool):
            return neighbor_graph(X, int(self.graph))[0]
        shape = getattr(self.graph, "shape", None)
        if shape != (n, n):
            given = repr(self.graph) if shape is None else f"<{type(self.graph).__name__} of shape {shape}>"
            raise InputError(
                f"graph={given} is not accepted. Use a number of neighbors, or the {n} × {n} matrix of edge weights "
                "of the training rows."
            )
        W = sp.csr_matrix(self.graph, dtype=np.float64)
        if abs(W - W.T).max() > 1e-10 * abs(W).max() or W.min() < 0:
            raise InputError("The edge weights in graph= must be symmetric and not negative. Pass (W + W.T) / 2.")
        return W
