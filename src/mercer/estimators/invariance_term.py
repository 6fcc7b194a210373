"""The penalty mean (v·∇f(x))² on changes of a function along given directions (Walder et al. 2010, §6)."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..homes import home_of
from ..rows import gram, host, like
from ..solvers.ridge.state import State
from ..types import Rows
from .base import KernelEstimator
from .parameters import NOT_NEGATIVE, parameter


@dataclass(eq=False, repr=False)
class InvarianceTerm(KernelEstimator):
    """Mixin for classifiers with the parameters `invariance` and `invariance_weight`.

    Such a method solves the problem for ``self.tilted(state)``, whose norm contains this term and the graph term.
    """

    _: KW_ONLY
    invariance: Any = None
    invariance_weight: float = parameter(1.0, NOT_NEGATIVE)

    def tilted(self, state: State) -> State:
        """The state whose norm contains the terms that the parameters describe."""
        return state.tilted(self.graph_weight, self.invariance_weight)  # type: ignore[attr-defined]

    def _terms(self, X: Rows, weight: np.ndarray | None) -> dict:
        return {} if self.invariance is None else {"slopes": self._slope_moment(X, weight)}

    def _slope_moment(self, X: Rows, weight: np.ndarray | None) -> np.ndarray:
        """(r, r) matrix S with wᵀSw = mean over the rows of Σ (v·∇f)² for f = z·w."""
        home_of(X).refuse_lazy(
            "invariance= needs all rows in memory, which rows in Dask are not. Give a sample of the rows in NumPy, or "
            "use invariance=None."
        )
        if sp.issparse(X):
            raise InputError("invariance= needs dense rows. Pass X.toarray(), or use invariance=None.")
        given = None if callable(self.invariance) else self._tangents(self.invariance, X)
        S = np.zeros((self.map_.rank_, self.map_.rank_))
        step = 1024  # rows whose derivatives are in memory at a time
        for start in range(0, X.shape[0], step):
            some = slice(start, start + step)
            rows, own = X[some], None if weight is None else weight[some]
            tangents = self._tangents(self.invariance(host(rows)), rows) if given is None else given[some]
            for k in range(tangents.shape[1]):
                S += gram(self.map_.slopes(rows, like(tangents[:, k], rows)), own)
        return S / (X.shape[0] if weight is None else weight.sum())

    def _tangents(self, given: np.ndarray, X: Rows) -> np.ndarray:
        """Directions as (rows, number of directions, columns), refused if they do not fit these rows."""
        try:
            V = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            V = np.empty(0)
        V = V[:, None] if V.ndim == 2 else V
        n, d = X.shape
        if V.ndim != 3 or V.shape[0] != n or V.shape[2] != d or not np.isfinite(V).all():
            what = (
                "contains NaN or infinity" if V.ndim == 3 and not np.isfinite(V).all() else f"has shape {np.shape(V)}"
            )
            raise InputError(
                f"invariance= defines directions for {n} rows of {d} columns, and its value {what}. Use finite "
                f"numbers of shape ({n}, {d}) or ({n}, number of directions, {d}), or a function of the rows that "
                "returns them, such as ImageShifts(8, 8)."
            )
        return V
