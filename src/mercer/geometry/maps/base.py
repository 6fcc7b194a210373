"""What a feature map is: two methods on rows, `transform` and `diag`, and how far it is from the kernel."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...backend import home
from ...inputs.check import check_rows
from ...kernels import Precomputed
from ...rows import host

CHECKED_ROWS = 500  # sampled rows on which a map is compared with its kernel


class FeatureMap(TransformerMixin, BaseEstimator):
    """Rows z(x) with z(x) · z(y) ≈ k(x, y): exact or approximate, the same code.

    Training and new rows go through one `transform`, scaled so that K ≈ Z Zᵀ with no factor beside it.

    Attributes
    ----------
    kernel_ : the kernel with every rule resolved to a number on the training rows.
    rank_ : number of features r.
    energy_ : share of the kernel's trace that Z Zᵀ has; 1 for an exact map.
    error_ : ‖K − Z Zᵀ‖ / ‖K‖ (Frobenius). Beyond 500 training rows both are estimates from 500 of them.
    negative_mass_ : share of the spectrum that was negative and has been cut off; 0 for a true kernel.
    reason_ : a sentence that says what kind of map this is and why.
    """

    negative_mass_ = 0.0
    reason_ = ""

    def fit(self, X, y=None, weight=None):
        """Learn the map from training rows; y is ignored."""
        self.learn(X, weight)
        return self

    def learn(self, X, weight=None):
        """Fit; return the features of the training rows if they came with the fit, None if `transform` gives them."""
        return self.fit_transform(X, weight=weight)

    def diag(self, X):
        """k(x, x) of the kernel itself; a row far from every landmark has z = 0 and diag well above ‖z‖² = 0."""
        return self._block_diag(X) if home(X) != "dask" else host(X.map_blocks(self._block_diag, drop_axis=1))

    def _block_diag(self, X):
        return self.kernel_.diag(X)

    def transform(self, X):
        """Features z(x) of the rows of X, where X lives."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, read=False)
        if home(X) == "dask":
            X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
            return X.map_blocks(self._transform, chunks=(X.chunks[0], (self.rank_,)), dtype=X.dtype, meta=X._meta)
        return self._transform(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _measure(self, X, Z):
        """Compare Z Zᵀ with the kernel on a sample of rows and store how far apart they are (Z = None: transform)."""
        n = X.shape[0]
        rows = np.arange(n)
        if n > CHECKED_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(n, CHECKED_ROWS, replace=False))
        K = self._kernel_of(X, rows)
        Z = np.asarray(host(self.transform(X[rows]) if Z is None else Z[rows]), dtype=np.float64)
        trace = float(np.trace(K))
        size = _squared_norm(K, n)
        self.energy_ = float(np.vdot(Z, Z)) / trace if trace > 0 else 1.0
        gap = Z @ Z.T
        gap -= K  # not into K, which may be the user's matrix
        self.error_ = float(np.sqrt(_squared_norm(gap, n) / size)) if size > 0 else 0.0

    def _kernel_of(self, X, rows):
        sample = X[rows]
        if isinstance(self.kernel_, Precomputed):
            sample = sample[:, rows]
            return np.asarray(sample.toarray() if sp.issparse(sample) else host(sample), dtype=np.float64)
        return np.asarray(host(self.kernel_(host(sample) if home(X) == "dask" else sample)), dtype=np.float64)


def _squared_norm(A, n):
    """‖·‖² of the n × n matrix of which A is a sample of rows, and of the same columns: unbiased.

    The sample has the diagonal, where much of an error may be, more often than the matrix, so it is counted apart.
    """
    total, diagonal, m = float(np.vdot(A, A)), float(np.sum(np.diagonal(A) ** 2)), len(A)
    return diagonal * n / m + (total - diagonal) * n * (n - 1) / (m * (m - 1)) if m < n else total
