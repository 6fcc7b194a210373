"""The graph term Σ w_ij (f_i − f_j)² as a second regulariser of any method of moments."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from ..errors import InputError
from ..geometry.maps import MappedRows
from ..kernels.graph import laplacian, neighbour_graph
from ..solvers.ridge.graph_term import graph_moment
from ..solvers.ridge.smoother import pull_of
from .base import KernelEstimator


class GraphTerm(KernelEstimator):
    """Mixin for estimators with the parameters `graph` and `graph_weight`.

    After `_fit_map` the property ``_graph_penalty`` is graph_weight · Σ w_ij (z_i − z_j)(z_i − z_j)ᵀ, or None without a
    graph. Methods that know nothing of it fit on `_tilted` rows, where ‖u‖² = ‖w‖² + the graph term, and bring their
    weights back with `_untilted`.
    """

    graph_constraints: ClassVar[dict] = {
        "graph": "no_validation",  # read in _weights, with a sentence of advice
        "graph_weight": [Interval(Real, 0, None, closed="left")],
    }
    graph: Any
    graph_weight: float
    _graph_moment: Any = None

    def _fit_map(self, X, weight=None):
        Z = super()._fit_map(X, weight)
        self._graph_moment = None
        if self.graph is not None:
            if weight is not None:
                raise InputError(
                    "sample_weight cannot be combined with graph=: a repeated row would change its neighbours' graph. "
                    "Leave one of the two out."
                )
            Z = np.asarray(Z) if isinstance(Z, MappedRows) else Z  # many passes follow
            self._graph_moment = graph_moment(Z, laplacian(self._weights(X), "unnormalized"))
        return Z

    @property
    def _graph_penalty(self):
        return None if self._graph_moment is None else self.graph_weight * self._graph_moment

    def _tilted(self, rows):
        """rows L⁻ᵀ with L Lᵀ = I + penalty."""
        return rows if self._graph_moment is None else sla.solve_triangular(self._root(), rows.T, lower=True).T

    def _untilted(self, W):
        """L⁻ᵀ W: weights on the tilted rows as weights on the features."""
        return W if self._graph_moment is None else sla.solve_triangular(self._root(), W, lower=True, trans="T")

    def _pull(self, Z, labels, weight):
        """What the labelled rows bring, tilted; with a graph all labelled rows come to the host."""
        if self._graph_moment is None:
            return pull_of(Z, labels.labelled, labels.signs, weight)
        pull = pull_of(Z, labels.labelled, labels.signs, weight, most=len(labels.labelled))
        return replace(pull, rows=self._tilted(pull.rows), B=self._tilted(pull.B.T).T)

    def _tilted_moments(self, moments):
        if self._graph_moment is None:
            return moments
        G = self._tilted(self._tilted(moments.G).T)
        return replace(moments, G=(G + G.T) / 2, mean=self._tilted(moments.mean[None])[0])

    def _root(self):
        return sla.cholesky(np.eye(len(self._graph_moment)) + self._graph_penalty, lower=True)

    def _weights(self, X):
        n = X.shape[0]
        if isinstance(self.graph, (int, np.integer)) and not isinstance(self.graph, bool):
            return neighbour_graph(X, int(self.graph))[0]
        shape = getattr(self.graph, "shape", None)
        if shape != (n, n):
            given = repr(self.graph) if shape is None else f"<{type(self.graph).__name__} of shape {shape}>"
            raise InputError(
                f"graph={given} is not accepted: give a number of neighbours, or the {n} × {n} matrix of edge weights "
                "of the training rows."
            )
        W = sp.csr_matrix(self.graph, dtype=np.float64)
        if abs(W - W.T).max() > 1e-10 * abs(W).max() or W.min() < 0:
            raise InputError("The edge weights in graph= must be symmetric and not negative. Pass (W + W.T) / 2.")
        return W
