"""What every estimator shares: reading rows wherever they live, choosing the map, tags, weights."""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..backend import home, moved, need
from ..errors import BackendError, InputError
from ..kernels import Precomputed, as_kernel
from ..maps import choose
from ..rows import host


class KernelEstimator(BaseEstimator):
    """Base of all estimators: `kernel=` and `approx=` in, rows z(x) out.

    A subclass sets `access`, its constructor with `kernel` and `approx`, and its own `fit`, in which
    ``X = self._rows(X, reset=True)`` reads the rows and ``Z = self._fit_map(X)`` gives the tall matrix; for new rows
    ``Z = self._features(X)`` does both.

    Attributes
    ----------
    access : how the method uses Z, and so where it runs. "moments": one pass, then a small problem on the host (NumPy,
        torch, Dask). "sweeps": a loop of products (the same). "rows": one row at a time on the host (not Dask).
    kernel_ : the kernel with every rule resolved to a number.
    map_ : the fitted feature map; `map_.energy_` and `map_.error_` say how good an approximation is.
    approx_reason_ : why this map was chosen.
    """

    access = "moments"
    _auto_size: ClassVar[dict] = {}  # exact_rows and landmarks of `choose`, where a method has better ones for "auto"

    def _kernel(self):
        """The kernel object that the parameters describe."""
        return as_kernel(self.kernel)

    def _rows(self, X, reset, min_rows=1):
        """X checked: two dimensions, float32 or float64, finite, the right columns; moved only by `use_device`."""
        kind = home(X)
        if kind == "numpy":
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=min_rows,
            )
            _refuse_not_finite(X, getattr(self, "feature_names_in_", None))
            return moved(X)
        if kind == "dask" and self.access == "rows":
            raise BackendError(
                f"{type(self).__name__} goes through the rows one at a time, which Dask cannot do. "
                "Call X.compute() first if the rows fit in memory, or use a method with access 'moments' or 'sweeps'."
            )
        return self._foreign_rows(X, kind, reset, min_rows)

    def _foreign_rows(self, X, kind, reset, min_rows):
        """The same checks for torch tensors and Dask arrays, which validate_data would turn into NumPy arrays."""
        name = "torch tensor" if kind == "torch" else "Dask array"
        if kind == "dask" and not hasattr(X, "chunks"):
            raise InputError(
                f"X is a {type(X).__name__} of Dask. Accepted: a Dask array; for a table X.to_dask_array(lengths=True)."
            )
        if not hasattr(X, "ndim") or X.ndim != 2:
            raise InputError(
                f"X is a {name} of shape {getattr(X, 'shape', '?')}. Accepted: two dimensions, rows × columns."
            )
        if kind == "dask" and np.isnan(X.shape[0]):
            raise InputError("The Dask array does not know its number of rows. Call X.compute_chunk_sizes() first.")
        if str(X.dtype).rpartition(".")[2] not in ("float32", "float64"):
            cast = "X.float()" if kind == "torch" else "X.astype('float32')"
            raise InputError(f"X is a {name} of {X.dtype}. Accepted: float32 or float64, for example {cast}.")
        if X.shape[0] < min_rows:
            raise InputError(f"X has {X.shape[0]} row(s); at least {min_rows} are needed.")
        if reset:
            self.n_features_in_ = X.shape[1]
        elif X.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input."
            )
        finite = need("torch" if kind == "torch" else "dask.array").isfinite(X).all(0)
        columns = np.flatnonzero(~host(finite))
        if len(columns):
            raise InputError(
                f"X is a {name} that contains NaN or infinity in column(s) {_listed(columns, None)}. "
                "Accepted: finite numbers. Fill them or drop those rows first."
            )
        return X

    def _fit_map(self, X, weight=None):
        """Choose and fit the map for these training rows; return Z."""
        seed = getattr(self, "random_state", None)
        chosen, reason = choose(self._kernel(), self.approx, X, random_state=seed_of(seed), **self._auto_size)
        Z = chosen.fit_transform(X, weight=weight)
        self.map_, self.kernel_ = chosen, chosen.kernel_
        self.approx_reason_ = f"{reason} {chosen.reason_}"
        return Z

    def _features(self, X):
        """Z of new rows."""
        return self.map_.transform(self._rows(X, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        return tags


def seed_of(random_state):
    """A seed from scikit-learn's random_state; None gives 0, so that results repeat unless a generator is passed."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


def check_weight(weight, n):
    """Sample weights as float64 (None stays None): finite, not negative, not all zero."""
    if weight is None:
        return None
    weight = np.asarray(weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim != 1:
        raise InputError("Sample weights must be 1D array or scalar.")
    if weight.shape != (n,):
        raise InputError(f"sample_weight.shape == {weight.shape}, expected {(n,)}!")
    if not np.all(np.isfinite(weight)) or np.any(weight < 0) or not np.any(weight > 0):
        raise InputError("sample_weight holds a negative, infinite or NaN value, or only zeros. Accepted: numbers ≥ 0.")
    return weight


def _refuse_not_finite(X, names):
    values = X.data if sp.issparse(X) else X
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    bad = ~np.isfinite(X.toarray() if sp.issparse(X) else X)
    columns = np.flatnonzero(bad.any(axis=0))
    what = "NaN" if np.isnan(values).any() else "infinity"
    raise InputError(
        f"Input X contains {what} in {int(bad.any(axis=1).sum())} row(s), column(s) {_listed(columns, names)}. "
        "Accepted: finite numbers. Fill them (sklearn.impute.SimpleImputer) or drop the rows. (NaN, inf)"
    )


def _listed(columns, names):
    """The first five columns by name or number, and how many more there are."""
    shown = ", ".join(repr(str(names[j])) if names is not None else str(j) for j in columns[:5])
    return shown + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")
