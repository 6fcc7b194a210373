"""The base class of feature maps. It has the methods `transform` and `diag`, and measures the error of the map."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from ...documentation import Documented
from ...errors import InputError
from ...homes import Objects
from ...inputs.check import check_rows
from ...inputs.weights import check_weight
from ...kernels import Precomputed, as_kernel
from ...rows import by_blocks, by_row, host, take
from ...types import Array, ColumnLike, Rows

CHECKED_ROWS = 500  # sampled rows on which a map is compared with its kernel


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Documented, BaseEstimator):
    """Exact or approximate features z(x) with z(x) · z(y) ≈ k(x, y).

    `transform` is the same for training and new rows. It is scaled so that K ≈ Z Zᵀ without another factor.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with every rule resolved to a number on the training rows.
    rank_ : int
        Number of features r.
    energy_ : float
        Fraction of the kernel's trace that Z Zᵀ has. It is 1 for an exact map. Computed on first use, and estimated
        from 500 rows if there are more training rows.
    error_ : float
        ‖K − Z Zᵀ‖ / ‖K‖ (Frobenius), computed like `energy_`.
    negative_mass_ : float
        Fraction of the spectrum that was negative and has been cut off. It is 0 for a true kernel.
    reason_ : str
        A sentence that explains which kind of map this is.
    """

    kernel: Any
    kernel_: Any
    rank_: int
    negative_mass_ = 0.0
    reason_ = ""

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> "FeatureMap":
        """Learn the map from training rows. y is ignored, and weights count in bandwidth rules only."""
        self.learn(self._checked(X), self._weight(X, sample_weight))
        return self

    def fit_transform(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Rows:
        """Learn the map and return the features of the training rows."""
        checked = self._checked(X)
        Z = self.learn(checked, self._weight(X, sample_weight))
        if isinstance(checked, Objects):
            X = checked  # these objects keep what the kernel has computed for them
        return self.transform(X) if Z is None else Z

    def _checked(self, X: Rows) -> Rows:
        return check_rows(self, X, reset=True, takes=as_kernel(self.kernel).takes)

    def _remember(self, X: Rows) -> None:
        """Remember the number of columns of checked rows, which `transform` compares."""
        self.n_features_in_ = X.shape[1]

    def _weight(self, X: Rows, sample_weight: ColumnLike) -> Array | None:
        return None if sample_weight is None else check_weight(sample_weight, _num_samples(X))

    def learn(self, X: Rows, weight: Array | None = None, least: float = 0.0) -> Rows | None:
        """Fit to checked rows. Return their features if the fit computed them, and None if `transform` must.

        least : float
            `LandmarkMap` drops landmarks with pivots below this fraction of the largest one. Other maps ignore it.
        """
        raise NotImplementedError(f"{type(self).__name__} must define learn(X, weight).")

    def looks_at(self, n: int) -> Array:
        """The numbers of the training rows, among n, that `learn` needs in addition to those for a bandwidth rule."""
        return checked_rows(n)

    def diag(self, X: Rows) -> Array:
        """k(x, x) of the kernel itself. A row far from every landmark has z = 0 and diag well above ‖z‖² = 0."""
        if isinstance(self.kernel_, Precomputed):  # a block of its rows is not square
            return self.kernel_.diag(X)
        return np.asarray(host(by_blocks(self.kernel_.diag, X, None, np.float64)), dtype=np.float64)

    @by_row
    def transform(self, X: Rows) -> Rows:
        """Features z(x) of the rows of X, in the same array library and on the same device as X."""
        check_is_fitted(self)
        return self.of_rows(check_rows(self, X, reset=False, takes=self.kernel_.takes))

    def of_rows(self, X: Rows) -> Rows:
        """`transform` of checked rows, without the container that `set_output` requests."""
        return by_blocks(self.features, X, self.rank_)

    def features(self, X: Rows) -> Rows:
        """`transform` of checked rows that are in one piece."""
        raise NotImplementedError(f"{type(self).__name__} must define features(X).")

    def slopes(self, X: Rows, V: Rows) -> Rows:
        """Derivatives of z(x + εv) by ε at 0 for checked dense rows in one piece, each with its own v."""
        raise InputError(
            f"{type(self).__name__} has no derivatives, which invariance= needs. Use approx='auto', 'exact', a number "
            "of landmarks or a FourierMap, and a kernel of the rows."
        )

    def on_landmarks(self, W: Array, growth: float) -> tuple[Any, Array] | None:
        """(rows, c) with z(x) · W = k(x, rows) · c, or None if there is no such form.

        The result is also None if rounding in the product, relative to the result, would grow by more than `growth`.
        """
        return None

    @property
    def _n_features_out(self) -> int:
        return self.rank_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def kernel_of(self, X: Rows, rows: Array) -> Array:
        """The kernel matrix of some of the training rows, on the host."""
        sample = X[rows]
        if isinstance(self.kernel_, Precomputed):
            sample = sample[:, rows]
            return np.asarray(sample.toarray() if sp.issparse(sample) else host(sample), dtype=np.float64)
        return np.asarray(self.kernel_(sample if sp.issparse(sample) else host(sample)), dtype=np.float64)

    def _measure(self, X: Rows, Z: Rows | None) -> None:
        """Keep the kernel and the features of a sample of rows to compare them on first use of `error_`."""
        rows = checked_rows(X.shape[0])
        Z = np.asarray(host(self.of_rows(X[rows])), dtype=np.float64) if Z is None else take(Z, rows)
        self.__dict__.pop("_quality", None)
        self._sample = X.shape[0], self.kernel_of(X, rows), Z

    @cached_property
    def _quality(self) -> tuple[float, float]:
        """(energy, error) of the sample, which is deleted."""
        n, K, Z = self.__dict__.pop("_sample")
        largest = float(np.max(np.abs(K), initial=0.0))
        K = K / largest if largest > 0 else K  # so that its squares do not overflow
        Z = Z / np.sqrt(largest) if largest > 0 else Z
        trace = float(np.trace(K))
        size = _squared_norm(K, n)
        energy = float(np.vdot(Z, Z)) / trace if trace > 0 else 1.0
        return energy, float(np.sqrt(_squared_norm(Z @ Z.T - K, n) / size)) if size > 0 else 0.0

    @property
    def energy_(self) -> float:
        check_is_fitted(self)
        return self._quality[0]

    @property
    def error_(self) -> float:
        check_is_fitted(self)
        return self._quality[1]

    def __getstate__(self) -> dict:
        if "_sample" in self.__dict__:
            _ = self._quality  # a file gets two numbers and no rows
        return super().__getstate__()


def checked_rows(n: int) -> Array:
    """The rows, at most `CHECKED_ROWS` of n, on which a map is compared with its kernel."""
    if n <= CHECKED_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, CHECKED_ROWS, replace=False))


def _squared_norm(A: Array, n: int) -> float:
    """An unbiased estimate of ‖·‖² of an n × n matrix from A, a sample of its rows and of the same columns.

    Diagonal entries are more frequent in the sample than in the matrix, so they have a weight of their own.
    """
    total, diagonal, m = float(np.vdot(A, A)), float(np.sum(np.diagonal(A) ** 2)), len(A)
    return diagonal * n / m + (total - diagonal) * n * (n - 1) / (m * (m - 1)) if m < n else total
