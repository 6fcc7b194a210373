"""What every estimator shares: reading rows wherever they live, choosing the map, tags, weights."""

from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from ..backend import home, moved
from ..errors import BackendError, InputError
from ..geometry.mapped import MappedRows
from ..geometry.open import choose
from ..geometry.operators import FactorOperator
from ..inputs.check import check_rows
from ..kernels import Precomputed, as_kernel


class KernelEstimator(BaseEstimator):
    """Base of all estimators: `kernel=` and `approx=` in, rows z(x) out.

    A subclass sets `access`, its constructor with `kernel` and `approx`, and its own `fit`, in which
    ``X = self._rows(X, reset=True)`` reads the rows and ``Z = self._fit_map(X)`` gives the tall matrix; for new rows
    ``Z = self._features(X)`` does both.

    Attributes
    ----------
    access : how the method uses Z, and so where it runs. "moments": one or two passes, then a small problem on the host
        (NumPy, torch, Dask); Z of NumPy rows through landmarks is never stored. "sweeps": a loop of products (the same
        homes). "rows": one row at a time on the host (not Dask).
    kernel_ : the kernel with every rule resolved to a number.
    map_ : the fitted feature map; `map_.energy_` and `map_.error_` say how good an approximation is.
    approx_reason_ : why this map was chosen.
    """

    access = "moments"
    _auto_size: ClassVar[dict] = {}  # exact_rows and landmarks of `choose`, where a method has better ones for "auto"

    def set_params(self, **params):
        """Set parameters; ``kernel__bandwidth=2.0`` sets one of a kernel that was given as an object."""
        inner = [name for name in params if name.startswith("kernel__")]
        kernel = params.get("kernel", getattr(self, "kernel", None))
        if inner and not hasattr(kernel, "set_params"):
            raise InputError(
                f"{inner[0]} cannot be set: kernel={kernel!r} is not a kernel object. Construct the estimator with "
                'one, such as kernel=RBF("median"), and set its parameters then.'
            )
        return super().set_params(**params)

    def _kernel(self):
        """The kernel object that the parameters describe."""
        return as_kernel(self.kernel)

    def _rows(self, X, reset, min_rows=1):
        """X checked by `check_rows`, refused where the method cannot run, and moved only by `use_device`."""
        if home(X) == "dask" and self.access == "rows":
            raise BackendError(
                f"{type(self).__name__} goes through the rows one at a time, which Dask cannot do. "
                "Call X.compute() first if the rows fit in memory, or use a method with access 'moments' or 'sweeps'."
            )
        return moved(check_rows(self, X, reset, min_rows=min_rows))

    def _fit_map(self, X, weight=None):
        """Choose and fit the map for these training rows; return Z."""
        seed = getattr(self, "random_state", None)
        # Z is not stored for a few passes over host rows, unless a Python function, slow as it is, were called again.
        kernel = self._kernel()
        stored = self.access != "moments" or home(X) != "numpy" or not kernel.threadsafe
        chosen, reason = choose(kernel, self.approx, X, seed_of(seed), **self._auto_size, stored=stored)
        Z = chosen.fit_transform(X, weight=weight) if stored else chosen.learn(X, weight)
        if Z is None:
            Z = MappedRows(chosen, X)
        self.map_, self.kernel_ = chosen, chosen.kernel_
        self.approx_reason_ = f"{reason} {chosen.reason_}"
        return Z

    def _squares(self, X):
        """k(x, x) of checked rows; where a negative part was cut off, at least ‖z‖², which then exceeds it."""
        own = np.asarray(self.map_.diag(X), dtype=np.float64)
        if self.map_.negative_mass_ > 0 and not isinstance(self.kernel_, Precomputed):
            own = np.maximum(own, FactorOperator(self.map_.transform(X)).diag())
        return own

    def _features(self, X):
        """Z of new rows."""
        return self._mapped(self._rows(X, reset=False))

    def _mapped(self, X):
        """Z of checked rows, for the verbs: never stored for rows on the host."""
        return MappedRows(self.map_, X) if home(X) == "numpy" else self.map_.transform(X)

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
    if not isinstance(random_state, Integral) or random_state < 0:
        raise InputError(
            f"random_state={random_state!r} is not accepted: give a whole number of at least 0, a RandomState or None."
        )
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
