"""Sparse kernel PCA, whose components are combinations of few rows."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla

from ..errors import InputError
from ..solvers.dual.starts import largest_epsilon
from ..types import Rows
from .dual_pca import DualComponents, Threshold, at_bound, number, number_or_share


@dataclass(eq=False, repr=False)
class SparseKernelPCA(DualComponents):
    """Find kernel principal components that are combinations of few rows, so that new rows are projected quickly.

    .. math:: \\max_{W^\\top W = I}\\; \\min_c \\sum_i \\tfrac12 (\\|W^\\top \\varphi(x_i) - c\\| - \\varepsilon)_+^2

    solved through its dual, min ½‖H‖² + ε Σ‖h_i‖ − Tr (HᵀGH)^{1/2} over n × s matrices H. Rows of H whose scores are
    within ε of the center vanish, and only the others are stored and evaluated. Use it when transform must be fast or
    the model small. With ``kappa`` the influence of a row is also bounded, for components that are sparse and robust.

    Parameters
    ----------
    n_components : int, default=2
    epsilon : rows with scores closer than this to the center are dropped.
    keep : instead of epsilon, the fraction of the rows to keep, at least n_components + 1 rows. With neither, 0.1.
    kappa : bound on the influence of a row in the Huber loss. None does not bound it.
    norm : "row" lets whole rows of H vanish, "element" single entries. A row vanishes when all its entries do.

    Attributes
    ----------
    epsilon_ : the threshold used or found.
    support_ : numbers of the rows that are kept.
    dual_coef_ : (kept rows, s) coefficients A on them.
    dual_variables_ : (kept rows, s) rows of H that did not vanish.
    X_fit_ : the kept rows (None with a map, whose features replace them).
    center_error_ : error of the mean in feature space, relative to the length of the mean. `reconstruction_error` uses
        the nearest point in the span of the kept rows instead of the mean. `transform` does not need it and is exact.
    eigenvalues_, objective_, history_, gap_, n_iter_, reason_, location_, bounded_ : see `RobustKernelPCA`.

    Notes
    -----
    A fit takes 50 to 200 products with the kernel matrix, each O(n² s). `keep` adds five to ten looser solves. A
    projection of a row evaluates the kernel with the kept rows instead of all n rows. It runs on NumPy, torch and, with
    landmarks, on Dask. The problem is not convex, and the fraction of kept rows can fall steeply with epsilon. The
    search finds the closest possible fraction to `keep`.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization.

    Examples
    --------
    >>> from mercer import SparseKernelPCA
    >>> from sklearn.datasets import load_iris
    >>> model = SparseKernelPCA(n_components=2, keep=0.2).fit(load_iris().data)
    >>> 28 <= len(model.support_) <= 32, model.X_fit_.shape[0] == len(model.support_)
    (True, True)
    """

    _: KW_ONLY
    epsilon: float | None = None
    keep: float | None = None
    kappa: float | None = None

    def _thresholds(self) -> dict:
        bound = {} if self.kappa is None else {"kappa": Threshold(number("kappa", self.kappa))}
        return bound | {"epsilon": number_or_share("epsilon", self.epsilon, "keep", self.keep, 0.1)}

    def _refuse(self, K: Rows, loss: Any, start: np.ndarray, eps: float):
        largest = largest_epsilon(K, self.n_components, loss, start=start, eps=eps)
        raise InputError(
            f"epsilon={loss.epsilon:.6g} is so large that every row vanishes. The largest epsilon that keeps "
            f"{self.n_components} components of these rows is about {largest:.3g}. keep=0.1 keeps a tenth of the rows."
        )

    def _describe(self, found, loss: Any) -> None:
        self.epsilon_ = loss.epsilon
        self.dual_variables_, self.dual_coef_ = found.H[self.support_], found.coef[self.support_]
        self.bounded_ = at_bound(found.P, loss)

    def _close(self, gram, K: Rows, coefficients: np.ndarray) -> None:
        """Keep the support rows only. Since Σ A = 0, projections need no mean over all rows."""
        super()._close(gram, K, coefficients)
        self.center_error_ = 0.0
        if gram.map is not None:
            return
        kept = self.support_
        total = self.shift_ + self.location_
        # For reconstruction_error, the nearest point in the span of the kept rows replaces the mean.
        core = K.K.columns(kept)[kept]
        mean, length = K.means()[kept], self.grand_mean_
        weights = sla.lstsq(core, mean, cond=1e-10, check_finite=False)[0] if self.center else np.zeros(len(kept))
        self.expansion_ = gram.expansion(np.column_stack([self.dual_coef_, weights]), rows=kept)
        self.grand_mean_ = float(weights @ core @ weights)
        missing = max(length - 2 * float(weights @ mean) + self.grand_mean_, 0.0)
        self.center_error_ = float(np.sqrt(missing / length)) if self.center and length > 0 else 0.0
        self.shift_ = (core @ weights) @ self.coefficients_
        self.location_ = total - self.shift_
