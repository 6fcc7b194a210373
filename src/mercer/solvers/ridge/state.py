"""The part of a few-label method that needs no label. It is computed once for all methods and labelings."""

import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as sla

from ...inputs.labels import Labels
from ...rows import dot, host, take, tdot
from .smoother import Moments, Pull, moments_of, pull_of


class State:
    """A tall matrix and its label-free quantities, each computed on first use.

    Parameters
    ----------
    Z : (n, r) features on any device.
    weight : (n,) sample weights or None. A copy is kept, so a later change of the array has no effect.
    Lap : (n, n) Laplacian of a graph of the rows, for methods with a graph term, or None.
    slopes : (r, r) moment of the features' derivatives, for methods with an invariance term, or None.

    Attributes
    ----------
    moments : `Moments` of the weighted rows, which also keep their eigenpairs.
    alike : whether all rows count once, apart from labels. The effect of one more label, which counts once, is then
        known.
    """

    def __init__(
        self, Z: Any, weight: np.ndarray | None = None, Lap: Any = None, slopes: np.ndarray | None = None
    ) -> None:
        self.Z, self.slopes = Z, slopes
        self.weight = None if weight is None else np.array(weight, dtype=np.float64)
        self.alike = weight is None
        self.graph = None if Lap is None else graph_moment(Z, Lap)
        self._tilted: dict[tuple, State] = {}

    @cached_property
    def moments(self) -> Moments:
        return moments_of(self.Z, self.weight)

    @property
    def rows(self) -> np.ndarray:
        """(n, r) all rows on the host."""
        return np.asarray(host(self.Z), dtype=np.float64)

    def take(self, which: np.ndarray) -> np.ndarray:
        """Some rows on the host."""
        return take(self.Z, which)

    def pull(self, labels: Labels) -> Pull:
        """The contribution of the labeled rows to a fit."""
        return pull_of(self.Z, labels.labeled, labels.signs, self.weight)

    def counting(self, labels: Labels) -> "State":
        """The same rows for labels that count as much as their weights. `moments` stay those of the rows."""
        if labels.weight is None:
            return self
        state = copy.copy(self)
        state.moments, state._tilted, state.weight = self.moments, {}, labels.row_weight
        return state

    def back(self, W: np.ndarray) -> np.ndarray:
        """Weights in the coordinates of `take`, `pull` and `moments` as weights of the columns of Z."""
        return W

    def tilted(self, graph_weight: float = 0.0, invariance_weight: float = 0.0) -> "State":
        """The state in which ‖u‖² = ‖w‖² + graph_weight · Σ w_ij (f_i − f_j)² + invariance_weight · mean of (v·∇f)².

        Both terms are part of the norm then.
        """
        if self.graph is None and self.slopes is None:
            return self
        key = (graph_weight, invariance_weight)
        if key not in self._tilted:
            penalty = np.zeros((self.Z.shape[1],) * 2)
            for weight, moment in ((graph_weight, self.graph), (invariance_weight, self.slopes)):
                penalty += 0.0 if moment is None else weight * moment
            self._tilted[key] = TiltedState(self, penalty)
        return self._tilted[key]


class TiltedState(State):
    """Rows z L⁻ᵀ with L Lᵀ = I + penalty. All labeled rows come to the host."""

    def __init__(self, state: State, penalty: np.ndarray) -> None:
        self.Z, self.weight, self.graph, self.slopes, self.plain = state.Z, state.weight, None, None, state
        self.alike = state.alike
        self.root = sla.cholesky(np.eye(len(penalty)) + penalty, lower=True)

    @cached_property
    def moments(self) -> Moments:
        plain = self.plain.moments
        G = self._tilt(self._tilt(plain.G).T)
        return replace(plain, G=(G + G.T) / 2, mean=self._tilt(plain.mean[None])[0])

    @property
    def rows(self) -> np.ndarray:
        return self._tilt(self.plain.rows)

    def take(self, which: np.ndarray) -> np.ndarray:
        return self._tilt(take(self.Z, which))

    def pull(self, labels: Labels) -> Pull:
        pull = pull_of(self.Z, labels.labeled, labels.signs, self.weight, most=len(labels.labeled))
        return replace(pull, rows=self._tilt(pull.rows), B=self._tilt(pull.B.T).T)

    def back(self, W: np.ndarray) -> np.ndarray:
        return sla.solve_triangular(self.root, W, lower=True, trans="T")

    def _tilt(self, rows: np.ndarray) -> np.ndarray:
        return sla.solve_triangular(self.root, rows.T, lower=True).T


def graph_moment(Z: Any, Lap: Any) -> np.ndarray:
    """2 Zᵀ Lap Z, so that wᵀ(·)w = Σ_ij w_ij (f_i − f_j)² with f = Zw for Lap = D − W."""
    r, step = Z.shape[1], 64  # columns at a time, so that n × 64 numbers go to the host
    columns = np.split(np.eye(r), range(step, r, step), axis=1)
    out = np.hstack([tdot(Z, Lap @ dot(Z, some)) for some in columns])
    return out + out.T
