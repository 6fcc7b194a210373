"""Pre-images of kernel PCA's projections in the input space, by a learned ridge map or Mika's fixed point."""

from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..backend import require_memory
from ..errors import InputError, NotInductiveError
from ..kernels import RBF
from ..rows import host
from ..types import Rows


class InputSpace:
    """Mixin with `inverse_transform` and `denoise` of `KernelPCA`."""

    def _fit_inverse(self: Any, scores: np.ndarray, ridge) -> None:
        """Learn the ridge map with the (n,) penalties `ridge`, which are smaller for rows of larger weight."""
        self.X_transformed_fit_, self._ridge = scores, ridge
        self.dual_coef_ = ridge_map(self.kernel_, scores, self.X_fit_, ridge)

    def inverse_transform(self: Any, X: Rows):
        """Rows of the input space for given projections, by kernel ridge regression on the projections."""
        check_is_fitted(self)
        if not self.fit_inverse_transform:
            raise NotFittedError("inverse_transform needs the ridge map. Set fit_inverse_transform=True before fit.")
        scores = np.asarray(host(X), dtype=np.float64)
        if scores.ndim != 2 or scores.shape[1] != self.X_transformed_fit_.shape[1]:
            raise InputError(
                f"inverse_transform needs the result of transform. X has {scores.shape[-1]} columns, and the model has "
                f"{self.X_transformed_fit_.shape[1]} components."
            )
        return np.asarray(self.kernel_(scores, self.X_transformed_fit_)) @ self.dual_coef_

    def denoise(self: Any, X: Rows, max_iter: int = 200, tol: float = 1e-8):
        """Rows near those of X whose features are in the span of the components, by Mika's fixed point (RBF only).

        The iteration z ← Σ_i g_i k(z, x_i) x_i / Σ_i g_i k(z, x_i) with the coefficients g of the projection starts at
        X. If a row is so far from the training data that every k(z, x_i) vanishes, the result is the mean of the
        training rows.
        """
        check_is_fitted(self)
        if not isinstance(self.kernel_, RBF) or self.X_fit_ is None:
            raise NotInductiveError(
                f"denoise() needs an exact model with the kernel RBF, and this model has {self.kernel_!r}. "
                "For other kernels use fit_inverse_transform=True and inverse_transform(transform(X))."
            )
        rows = dense_rows(self.X_fit_)
        share = self.expansion_.coef[:, -1]
        weights = np.asarray(self.transform(X), dtype=np.float64) @ self.coefficients_.T + share
        center = share @ rows if self.center else rows.mean(axis=0)
        start = dense_rows(self._rows(X, reset=False))
        return fixed_point(self.kernel_, rows, weights, start, center, max_iter, tol)


def ridge_map(kernel, scores, rows, penalty):
    """Coefficients C of kernel ridge regression from (n, s) projections to (n, d) rows, x ≈ k(f(x), scores) C.

    The (n,) numbers `penalty` are added to the diagonal. They are smaller for rows of larger weight.
    """
    n = len(scores)
    require_memory(8 * n * n, f"The inverse transform's kernel matrix of {n} rows", "Use fewer rows, or float32 data.")
    R = np.asarray(kernel(scores), dtype=np.float64)
    R[np.diag_indices(n)] += penalty
    try:
        return sla.cho_solve(sla.cho_factor(R, overwrite_a=True, check_finite=False), dense_rows(rows))
    except sla.LinAlgError as error:
        raise InputError(
            f"The inverse transform's system is singular with a penalty of {np.min(penalty):g}. Raise alpha."
        ) from error


def fixed_point(kernel, rows, weights, start, fallback, max_iter, tol):
    """Iterate z ← Σ_i g_i k(z, x_i) x_i / Σ_i g_i k(z, x_i) for an RBF kernel until z moves less than tol bandwidths.

    `weights` contains one row of coefficients g for each wanted pre-image, (m, n). `fallback` is the result for a z
    that is so far from all rows that every k vanishes.
    """
    Z, active = np.array(start), np.arange(len(start))
    for _ in range(max_iter):
        pull = weights[active] * kernel(Z[active], rows)
        mass = pull.sum(axis=1, keepdims=True)
        lost = np.abs(mass[:, 0]) < 1e-12 * np.abs(weights[active]).sum(axis=1)
        new = np.where(lost[:, None], fallback, pull @ rows / np.where(lost[:, None], 1.0, mass))
        moved = np.linalg.norm(new - Z[active], axis=1)
        Z[active] = new
        active = active[(moved > tol * kernel.bandwidth) & ~lost]
        if len(active) == 0:
            break
    return Z


def dense_rows(X):
    """Rows on the host, dense, float64."""
    return np.asarray(X.toarray() if sp.issparse(X) else host(X), dtype=np.float64)
