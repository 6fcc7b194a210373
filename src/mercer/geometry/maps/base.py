"""The base of feature maps: two methods on rows, `transform` and `diag`, and how far it is from the kernel."""

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
    """Rows z(x) with z(x) · z(y) ≈ k(x, y): exact or approximate, the same code.

    Training and new rows go through one `transform`, scaled so that K ≈ Z Zᵀ with no factor next to it.

    Attributes
    ----------
    kernel_ : the kernel with every rule resolved to a number on the training rows.
    rank_ : number of features r.
    energy_ : fraction of the kernel's trace that Z Zᵀ has; 1 for an exact map.
    error_ : ‖K − Z Zᵀ‖ / ‖K‖ (Frobenius). Beyond 500 training rows both are estimates from 500 of them, and they are
        computed on first use.
    negative_mass_ : fraction of the spectrum that was negative and has been cut off; 0 for a true kernel.
    reason_ : a sentence that shows what kind of map this is and why.
    """

    kernel: Any
    kernel_: Any
    rank_: int
    negative_mass_ = 0.0
    reason_ = ""

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> "FeatureMap":
        """Learn the map from training rows; y is ignored, and weights count in bandwidth rules only."""
        self.learn(self._checked(X), self._weight(X, sample_weight))
        return self

    def fit_transform(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Rows:
        """Learn the map and return the features of the training rows."""
        checked = self._checked(X)
        Z = self.learn(checked, self._weight(X, sample_weight))
        if isinstance(checked, Objects):
            X = checked  # with what the kernel has computed of them
        return self.transform(X) if Z is None else Z

    def _checked(self, X: Rows) -> Rows:
        return check_rows(self, X, reset=True, takes=as_kernel(self.kernel).takes)

    def _remember(self, X: Rows) -> None:
        """Remember the number of columns of checked rows, which `transform` compares."""
        self.n_features_in_ = X.shape[1]

    def _weight(self, X: Rows, sample_weight: ColumnLike) -> Array | None:
        return None if sample_weight is None else check_weight(sample_weight, _num_samples(X))

    def learn(self, X: Rows, weight: Array | None = None, least: float = 0.0) -> Rows | None:
        """Fit to checked rows. Return their features if they came with the fit, None if `transform` gives them.

        least : fraction of the largest direction below which a map that can tell leaves directions out.
        """
        raise NotImplementedError(f"{type(self).__name__} must define learn(X, weight).")

    def looks_at(self, n: int) -> Array:
        """Which of n training rows `learn` looks at, next to those behind a rule for the kernel's width."""
        return checked_rows(n)

    def diag(self, X: Rows) -> Array:
        """k(x, x) of the kernel itself. A row far from every landmark has z = 0 and diag well above ‖z‖² = 0."""
        if isinstance(self.kernel_, Precomputed):  # a block of its rows is not square
            return self.kernel_.diag(X)
        return np.asarray(host(by_blocks(self.kernel_.diag, X, None, np.float64)), dtype=np.float64)

    @by_row
    def transform(self, X: Rows) -> Rows:
        """Features z(x) of the rows of X, where X lives."""
        check_is_fitted(self)
        return self.of_rows(check_rows(self, X, reset=False, takes=self.kernel_.takes))

    def of_rows(self, X: Rows) -> Rows:
        """`transform` of checked rows, whatever container `set_output` requests."""
        return by_blocks(self.features, X, self.rank_)

    def features(self, X: Rows) -> Rows:
        """`transform` of checked rows that are in one piece."""
        raise NotImplementedError(f"{type(self).__name__} must define features(X).")

    def slopes(self, X: Rows, V: Rows) -> Rows:
        """Derivatives of z(x + εv) by ε at 0 for checked dense rows in one piece, each with its own v."""
        raise InputError(
            f"{type(self).__name__} has no derivatives, which invariance= needs. Accepted: an approx that is 'auto', "
            "'exact', a number of landmarks, or a FourierMap, with a kernel of the rows."
        )

    def on_landmarks(self, W: Array, growth: float) -> tuple[Any, Array] | None:
        """(rows, c) with z(x) · W = k(x, rows) · c. None if there is no such form.

        None also where rounding in the product, relative to the result, would grow by more than `growth`.
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
        """Keep the kernel and the features of a sample of rows, to be compared when asked (Z = None: transform)."""
        rows = checked_rows(X.shape[0])
        Z = np.asarray(host(self.of_rows(X[rows])), dtype=np.float64) if Z is None else take(Z, rows)
        self.__dict__.pop("_quality", None)
        self._sample = X.shape[0], self.kernel_of(X, rows), Z

    @cached_property
    def _quality(self) -> tuple[float, float]:
        """(energy, error) of the sample, which is not needed any more."""
        n, K, Z = self.__dict__.pop("_sample")
        largest = float(np.max(np.abs(K), initial=0.0))
        K = K / largest if largest > 0 else K  # its squares are numbers then
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
            _ = self._quality  # two numbers go into a file, and no rows
        return super().__getstate__()


def checked_rows(n: int) -> Array:
    """Rows of n on which a map is compared with its kernel."""
    if n <= CHECKED_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, CHECKED_ROWS, replace=False))


def _squared_norm(A: Array, n: int) -> float:
    """‖·‖² of the n × n matrix of which A is a sample of rows, and of the same columns: unbiased.

    The sample has the diagonal, where much of an error may be, more often than the matrix, so it is counted apart.
    """
    total, diagonal, m = float(np.vdot(A, A)), float(np.sum(np.diagonal(A) ** 2)), len(A)
    return diagonal * n / m + (total - diagonal) * n * (n - 1) / (m * (m - 1)) if m < n else total
