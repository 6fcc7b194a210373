"""What kernel PCA and its robust and sparse relatives share: holding K, centring, projecting new rows."""

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..backend import home, memory_available, size
from ..errors import InputError, NotInductiveError
from ..geometry import fused
from ..geometry.mapped import map_product
from ..geometry.maps.landmark import square_kernel
from ..geometry.operators import (
    CentredOperator,
    DenseOperator,
    FactorOperator,
    KernelOperator,
    StoredKernel,
    cross_product,
)
from ..kernels import Precomputed
from ..rows import host, like, tdot
from .base import KernelEstimator

OPERATOR_ROWS = 200_000  # beyond this (ten times this on a GPU) exact products take too long to be a default


class KernelComponents(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Projections f(x) = k(x, ·) A − shift on directions A of the centred feature space.

    A subclass calls ``K = self._open(X, weight)`` for a `CentredOperator`, finds coefficients A (one row per training
    row, Σ of each column 0 when centred) and calls ``self._close(K, A)``.
    """

    access = "sweeps"

    def _open(self, X, weight=None):
        """The centred operator of the training rows: stored, recomputed, or through a map, as asked or as it fits."""
        self.map_ = None
        if isinstance(self._kernel(), Precomputed) and self.approx in ("auto", "exact"):
            X = square_kernel(X)
            self.kernel_ = Precomputed()
            self.approx_reason_ = "Exact: the kernel matrix was given."
            K: Any = DenseOperator(np.array(X))
        elif self._goes_exact(X):
            self.kernel_ = self._kernel().resolve(X, weight)
            self.kernel_.check()
            K = StoredKernel(self.kernel_(X)) if self._stored(X) else KernelOperator(self.kernel_, X)
        else:
            K = FactorOperator(self._fit_map(X, weight))
        self.X_fit_ = None if self.map_ is not None else self._kept(X)
        return CentredOperator(K, weight, getattr(self, "center", True))

    def _kept(self, X):
        """The training rows as the model keeps them: a copy, so that it does not follow changes of the user's array."""
        if isinstance(self.kernel_, Precomputed) or (home(X) == "numpy" and not getattr(self, "copy_X", True)):
            return X  # a kernel matrix is not looked at again
        return X.copy() if home(X) == "numpy" else np.array(host(X))

    def _goes_exact(self, X):
        if isinstance(self.approx, str) and self.approx == "exact":
            return home(X) != "dask"
        fast = home(X) == "torch" and fused.supports(self._kernel().resolve(X), X)
        most = OPERATOR_ROWS * (10 if fast else 1)
        return self.approx == "auto" and home(X) != "dask" and X.shape[0] <= most

    def _stored(self, X):
        """Whether to store K: when asked, or when it takes at most half of the free memory."""
        need = X.shape[0] ** 2 * X.dtype.itemsize
        free = memory_available(X.device if home(X) == "torch" else None)
        solver = getattr(self, "solver", "auto")
        if solver in ("stored", "operator"):
            self.approx_reason_ = f"Exact: solver={solver!r} was asked for."
            return solver == "stored"
        if home(X) == "torch" and fused.supports(self.kernel_, X):
            self.approx_reason_ = "Exact: fused products on the GPU are faster than a stored matrix."
            return False
        stored = free is None or need <= free / 2
        self.approx_reason_ = f"Exact: the kernel matrix needs {size(need)}" + (
            ", which fits in memory."
            if stored
            else f" and {size(free)} are free, so products are computed tile by tile."
        )
        return stored

    def _close(self, K, coefficients):
        """Keep what projecting new rows needs: the coefficients on rows (or on features of a map) and the shift."""
        if K.center:  # columns sum to 0 but for rounding, which 1/√λ has made large
            coefficients = coefficients - K.share * coefficients.sum(axis=0)
        if self.map_ is not None:
            Z = K.K.Z
            self.coefficients_ = tdot(Z, coefficients)
            self.mean_ = tdot(Z, K.share)[:, 0] if K.center else np.zeros(self.map_.rank_)
            self.shift_ = self.mean_ @ self.coefficients_
            return self
        self.coefficients_ = coefficients
        self.share_ = K.share if K.center else np.zeros_like(K.share)
        mean = K.means() if K.center else np.zeros(K.shape[0])
        self.shift_ = mean @ coefficients
        self.grand_mean_ = float(self.share_[:, 0] @ mean)
        return self

    def _project(self, X, columns):
        """k(X, training) @ columns (or z(X) @ columns through a map), on the host."""
        if self.map_ is not None:
            return map_product(self.map_, X, columns)
        if isinstance(self.kernel_, Precomputed):
            return np.asarray(host(X) @ columns if not sp.issparse(X) else X @ columns, dtype=np.float64)
        if home(X) == "dask":
            chunks = (X.chunks[0], (columns.shape[1],))
            return host(X.map_blocks(self._project, columns, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0))))
        training = like(self.X_fit_, X) if home(X) == "torch" else self.X_fit_
        return cross_product(self.kernel_, X, training, columns)

    def transform(self, X):
        """Projections of the rows of X on the components, centred with the training means."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        scores = self._project(X, self.coefficients_) - self.shift_
        return scores.astype(np.float32) if str(X.dtype).endswith("float32") else scores

    def reconstruction_error(self, X):
        """Squared distance in feature space between each centred row and its projection: a novelty score.

        k̃(x, x) − ‖f(x)‖², with k̃ centred by the training means; never negative.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        if isinstance(self.kernel_, Precomputed) and X.shape[0] != X.shape[1]:
            raise NotInductiveError(
                "The reconstruction error of new rows needs k(x, x), which a matrix of k(new, training) does not hold. "
                "Accepted: the square training matrix, or a model fitted on raw data with a kernel object."
            )
        if self.map_ is not None:
            both = self._project(X, np.column_stack([self.coefficients_, self.mean_]))
            own = self._squares(X) - 2 * both[:, -1] + float(self.mean_ @ self.mean_)
        else:
            both = self._project(X, np.hstack([self.coefficients_, self.share_]))
            own = self.kernel_.diag(X) - 2 * both[:, -1] + self.grand_mean_
        scores = both[:, :-1] - self.shift_
        return np.maximum(own - np.sum(scores**2, axis=1), 0.0)

    @property
    def _n_features_out(self):
        return self.coefficients_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_components(n_components, n, what="n_components"):
    """Refuse more components than rows."""
    if not isinstance(n_components, numbers.Integral) or not 1 <= int(n_components) <= n:
        raise InputError(f"{what}={n_components} components were asked of {n} rows. Accepted: 1 to {n}.")
