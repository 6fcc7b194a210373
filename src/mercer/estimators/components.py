"""The base of kernel PCA and its robust and sparse relatives. It centers rows and projects new ones."""

import numbers
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags

from ..errors import InputError, NotInductiveError
from ..geometry.operators import CenteredOperator
from ..kernels import Precomputed
from ..rows import by_row
from ..types import Rows
from .base import KernelEstimator


class KernelComponents(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Projections f(x) = k(x, ·) A − shift on directions A of the centered feature space.

    A subclass calls ``gram, K = self._open_centered(X, weight)``, finds coefficients A (one row per training row, with
    columns of sum 0 if centered) for the `CenteredOperator` K, and calls ``self._close(gram, K, A)``.

    Attributes
    ----------
    expansion_ : the projections before the shift, and in its last column the mean similarity to the training rows.
    shift_ : (s,) the projections of the mean.
    grand_mean_ : squared length of the mean in feature space.
    location_ : (s,) the origin of the projections relative to the mean, or 0.
    """

    access = "sweeps"
    on_dask = "sample"
    policy = "dual components"
    location_: Any = 0.0

    def _open_centered(self, X: Rows, weight: np.ndarray | None = None) -> tuple:
        """The kernel matrix of the training rows, and the centered matrix."""
        gram = self._open(X, weight, self.solver)
        return gram, CenteredOperator(gram.operator, weight, bool(self.center))

    def _close(self, gram, K: CenteredOperator, coefficients: np.ndarray) -> None:
        """Keep everything that projections of new rows need."""
        share, mean = np.zeros_like(K.share), np.zeros(K.shape[0])
        if K.center:  # the sums of the columns are rounding errors, which 1/√λ has made large
            coefficients = coefficients - K.share * coefficients.sum(axis=0)
            share, mean = K.share, K.means()
        self.expansion_ = gram.expansion(np.hstack([coefficients, share]))
        self.shift_, self.grand_mean_ = mean @ coefficients, float(share[:, 0] @ mean)

    @property
    def coefficients_(self) -> np.ndarray:
        """(n or r, s) coefficients of the components on the kept rows, or on the features of the map."""
        return self.expansion_.coef[:, :-1]

    @property
    def X_fit_(self):
        """The rows from which projections are computed. None with a map."""
        return self.expansion_.centers

    @by_row
    def transform(self, X: Rows) -> Rows:
        """Projections of the rows of X on the components, centered as in `fit`."""
        X = self._rows(X, reset=False)
        scores = self.expansion_(X, self.coefficients_) - self.shift_ - self.location_
        return scores.astype(np.float32) if str(X.dtype).endswith("float32") else scores

    @by_row
    def reconstruction_error(self, X: Rows):
        """Squared distance in feature space between each centered row and its projection, which is a novelty score.

        k̃(x, x) − ‖f(x)‖², with k̃ centered by the training means. It is never negative.
        """
        X = self._rows(X, reset=False)
        if isinstance(self.kernel_, Precomputed):
            if X.shape[0] != X.shape[1]:
                raise NotInductiveError(
                    "The reconstruction error of new rows needs k(x, x), which a matrix of k(new, training) does not "
                    "contain. Give the square training matrix, or fit a model on raw data with a kernel object."
                )
            own = self.kernel_.diag(X)
        else:
            own = self.expansion_.diag(X)
        values = self.expansion_(X)
        own = own - 2 * values[:, -1] + self.grand_mean_
        return np.maximum(own - np.sum((values[:, :-1] - self.shift_) ** 2, axis=1), 0.0)

    @property
    def _n_features_out(self) -> int:
        return self.coefficients_.shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_components(n_components: int, n: int) -> None:
    """Refuse more components than rows."""
    if not isinstance(n_components, numbers.Integral) or not 1 <= int(n_components) <= n:
        raise InputError(f"n_components={n_components} components were requested for {n} rows. Use 1 to {n}.")
