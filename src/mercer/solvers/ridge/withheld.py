"""Predictions of fits linear in their targets when whole folds of labels are held out, without repeated fits.

A fit needs a few matrices of the l labeled rows, and a fold removes rows and columns from them. `without` returns, for
the fit without the rows `test`, its predictions for these rows, its fitted values at the others, and its held-out
predictions for the others.
"""

import numpy as np
import scipy.linalg as sla

from ...linalg import safe_cholesky
from .smoother import Pull

MOST = 600  # labels up to which l × l matrices are cheaper than fits


class Removed:
    """Ridge regression on the labeled rows, with C = (K + penalty S⁻¹)⁻¹ (about its mean for a bias) and α = C t.

    A row leaves the fit when its row and column leave C⁻¹. Its prediction is then t_i − α_i / C_ii.
    """

    def __init__(self, pull: Pull, penalty: float, bias: bool) -> None:
        rows, self.T = np.asarray(pull.rows, dtype=np.float64), pull.T
        self.shift = penalty / pull.s
        A = rows @ rows.T
        A.flat[:: len(A) + 1] += self.shift
        C = sla.cho_solve((safe_cholesky(A)[0], True), np.eye(len(A)), check_finite=False)
        if bias:
            ones = C.sum(axis=1)
            C -= np.outer(ones, ones) / ones.sum()
        self.C, self.alpha = (C + C.T) / 2, C @ self.T

    def without(self, test: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(predictions for the rows `test`, fitted values at the others, held-out predictions for the others)."""
        keep = np.delete(np.arange(len(self.T)), test)
        between = self.C[np.ix_(test, keep)]
        found = np.linalg.solve(self.C[np.ix_(test, test)], np.hstack([self.alpha[test], between]))
        k = self.T.shape[1]
        alpha = self.alpha[keep] - between.T @ found[:, :k]
        own = self.C[keep, keep] - np.einsum("tk,tk->k", between, found[:, k:])
        fitted = self.T[keep] - self.shift[keep, None] * alpha
        own = np.maximum(own, np.finfo(float).eps / self.shift[keep])  # 0 if a row determines its own prediction
        return self.T[test] - found[:, :k], fitted, self.T[keep] - alpha / own[:, None]


class Zeroed:
    """Fits f = H s t in which a held-out row stays with target 0, such as Semi-KPCA."""

    def __init__(self, pull: Pull, vectors: np.ndarray, filter_: np.ndarray) -> None:
        Q, self.T = pull.rows @ vectors, pull.T
        self.H = (Q * filter_) @ Q.T * pull.s

    def without(self, test: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(predictions for the rows `test`, fitted values at the others, held-out predictions for the others)."""
        keep = np.delete(np.arange(len(self.T)), test)
        f = self.H[:, keep] @ self.T[keep]
        return f[test], f[keep], f[keep] - self.H[keep, keep, None] * self.T[keep]
