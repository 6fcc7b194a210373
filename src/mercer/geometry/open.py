"""Choose the form of a kernel matrix, which is a stored matrix, an operator or a feature map.

No other module makes this choice. `POLICIES` has every size at which ``approx="auto"`` changes.
"""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..backend import size
from ..errors import InputError
from ..homes import home_of
from ..kernels import Precomputed, as_kernel
from ..kernels.bandwidth import rows_for
from ..kernels.base import Kernel, KernelLike
from ..rows import host, squares, tdot
from ..types import Array, Rows
from . import fused
from .expansion import Expansion
from .maps import FeatureMap, GraphMap, LandmarkMap, RowMap, SampledRows, mapped
from .maps.landmark import square_kernel
from .maps.rows import GROWTH
from .operators import DenseOperator, DeviceMatrix, FactorOperator, KernelOperator, Operator, SparseFactor, StoredKernel
from .operators.radial import kernel_operator


@dataclass(frozen=True)
class Policy:
    """The meaning of ``approx="auto"`` for a method.

    The exact form of a method is "features" (the exact map), "products" (of the whole matrix with tall ones) or
    "columns" (a few at a time, many times).
    """

    exact_rows: int  # largest number of rows with an exact kernel
    landmarks: int = 1000  # number of landmarks above that
    form: str = "features"
    stored_rows: int = 0  # largest number of rows for which "columns" come from a stored matrix
    device_factor: int = 1  # factor of `exact_rows` on a GPU with fused products
    passes: str = "many"  # "many" stores the features of host rows, "few" computes them again in each pass
    least_pivot: float = 0.0  # landmarks with pivots below this fraction of the first one make no difference
    growth: float = GROWTH  # limit of the growth of rounding in products without features
    row_features: str = ""  # "sparse" or "dense" if such rows themselves are the features of a linear kernel


POLICIES = {
    # An exact factor and an r × r eigendecomposition of 3,000 rows take a few seconds on two cores.
    "moments": Policy(3_000, passes="few"),
    # Rounding in the sums grows by the condition number of the landmarks, and again by that of these equations.
    # Products with landmarks therefore use features, and rows in other chunks give the same predictions to 1e-12.
    "normal equations": Policy(3_000, passes="few", growth=1.0),
    "sweeps": Policy(3_000),
    "rows": Policy(3_000),
    "margin": Policy(3_000, row_features="sparse"),  # products with Z and Zᵀ only
    # Exact products beyond this take too long for a default. Eigenvalues below 1e-8 of the first are not used.
    "components": Policy(200_000, form="products", device_factor=10, passes="few", least_pivot=1e-8, growth=1e8),
    "dual components": Policy(200_000, form="products", device_factor=10),
    "ball": Policy(3_000, form="columns"),
    # Up to this size the exact kernel takes no longer than 1,000 landmarks. A stored matrix (72 MB) saves up to 2/3 of
    # the time of ten starts.
    "clusters": Policy(10_000, form="columns", stored_rows=3_000, row_features="dense"),
    "label search": Policy(1_000, 300),  # more landmarks are no better, and much slower
    # Above this size 1,000 landmarks are faster than the exact matrix of the rows with a target (300 MB).
    "targets": Policy(5_000, form="columns", stored_rows=5_000, passes="few"),
    # The feature spaces of FewLabelClassifier. Graphs keep their whole spectrum up to this size.
    "few labels": Policy(2_500, 600),
    # The commands that cluster and rank rows, and the two axes of a plot, have less time than a fit.
    "commands": Policy(5_000),
    "plane": Policy(3_000, 500),
}


@dataclass
class Gram:
    """The kernel matrix of the training rows in one of the forms above."""

    kernel: Kernel  # with every rule resolved to a number
    map: FeatureMap | None  # None, like the features Z, if the kernel itself is used
    Z: Rows | None
    operator: Operator  # the matrix for a solver
    X: Rows  # the training rows
    reason: str  # one or two sentences that explain the form of the matrix

    def diag(self) -> Array:
        """k(x, x) of the training rows. If a negative part was cut off, at least ‖z‖²."""
        if self.map is None:
            return self.operator.diag()
        own = self.map.diag(self.X)
        return np.maximum(own, squares(self.Z)) if self.map.negative_mass_ > 0 else own

    def expansion(self, coef: Array, rows: Array | None = None) -> Expansion:
        """The function k(·, x) coef with these coefficients on the training rows, or on the given ones of them.

        With a map, the coefficients are those of its features. The model keeps copies of the rows.
        """
        if self.map is not None:
            if rows is not None:
                full = np.zeros((self.X.shape[0],) + coef.shape[1:])
                full[rows] = coef
                coef = full
            return self.on_features(tdot(self.Z, coef))
        X = self.X if rows is None else self.X[rows]
        if isinstance(self.kernel, Precomputed):
            centers: Rows = np.arange(X.shape[0]) if rows is None else np.asarray(rows)
        else:
            centers = home_of(X).kept(X)
        return Expansion(self.kernel, centers, coef, diagonal=self._diagonal())

    def on_features(self, W: Array) -> Expansion:
        """The function z(·) W."""
        return Expansion(self.kernel, None, W, self.map, self._diagonal())

    def _diagonal(self) -> float:
        """k(x, x) of a precomputed kernel if it is the same for all rows, else NaN."""
        if not isinstance(self.kernel, Precomputed):
            return np.nan
        own = self.diag()
        return float(own[0]) if np.ptp(own) <= 1e-6 * np.max(np.abs(own)) else np.nan


def open_gram(
    kernel: KernelLike,
    approx: Any,
    X: Rows,
    weight: Array | None = None,
    policy: str | Policy = "moments",
    seed: int = 0,
    store: str = "auto",
) -> Gram:
    """The kernel matrix of the rows of X in the form that `approx` defines or, for "auto", the policy.

    Parameters
    ----------
    kernel : Kernel, str or callable
        Kernel object, name or function.
    approx : "auto", "exact", int or FeatureMap
        An int is a number of landmarks. In a map, its own kernel is replaced by `kernel`.
    X : array-like of shape (n_samples, n_features)
        Checked training rows.
    weight : array of shape (n_samples,), optional
        Sample weights for bandwidth rules and maps.
    policy : str or Policy, default="moments"
        Row of `POLICIES`, or its name.
    seed : int, default=0
        Seed of the landmarks.
    store : {"auto", "stored", "operator"}, default="auto"
        Whether exact products use a stored matrix. "auto" decides by the free memory.
    """
    policy = POLICIES[policy] if isinstance(policy, str) else policy
    kernel = as_kernel(kernel)
    home = home_of(X)
    if home.sample_of(X) is not None:
        looked_at = choose_map(kernel, approx, X, seed, policy)[0].looks_at(X.shape[0])
        home.fetch(X, looked_at, rows_for(X.shape[0], weight))  # the only pass that collects rows
    if not kernel.transductive:
        kernel = kernel.resolve(X, weight)
        kernel.check()
        if home.sample_of(X) is None:  # no pass over rows in Dask
            most = 100  # rows on which a slow Python function is evaluated
            few = not kernel.threadsafe and X.shape[0] > most
            _refuse_huge(kernel, X[np.linspace(0, X.shape[0] - 1, most).astype(int)] if few else X)
    if policy.form == "products" and goes_exact(kernel, approx, X, policy):
        return _products(kernel, X, weight, store)
    if policy.form == "columns" and kernel.psd and not kernel.transductive and goes_exact(kernel, approx, X, policy):
        stored = X.shape[0] <= policy.stored_rows
        how = "is stored while fitting" if stored else "is computed in parts when a solver needs them and never stored"
        operator = StoredKernel(np.asarray(host(kernel(X)), dtype=np.float64)) if stored else kernel_operator(kernel, X)
        return Gram(kernel, None, None, operator, X, f"The exact kernel matrix of the training rows {how}.")
    # Z is not stored for a few passes over host rows, unless that calls a slow Python function again.
    again = policy.passes == "few" and home_of(X).on_host and kernel.threadsafe
    chosen, reason = choose_map(kernel, approx, X, seed, policy, stored=not again)
    Z = chosen.learn(X, weight, policy.least_pivot)
    if home.sample_of(X) is not None:
        Z = SampledRows(chosen, X, policy.growth, weight)
        scope = f"Sums run over all {X.shape[0]} rows. Steps on single rows use a sample of {Z.shape[0]}."
        return Gram(chosen.kernel_, chosen, Z, FactorOperator(Z), Z.X, f"{reason} {chosen.reason_} {scope}")
    if Z is None:
        Z = mapped(chosen, X, policy.growth) if again else chosen.of_rows(X)
    return Gram(chosen.kernel_, chosen, Z, FactorOperator(Z), X, f"{reason} {chosen.reason_}")


def _refuse_huge(kernel: Kernel, X: Rows) -> None:
    """Refuse rows with kernel values whose squares overflow, because certificates and variances are sums of squares."""
    if isinstance(kernel, Precomputed) and X.shape[0] != X.shape[1]:
        return  # the map raises a better error
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(np.abs(kernel.diag(X)).max(initial=0.0))
    most = 1e145
    if largest > most:  # NaN is refused later
        raise InputError(
            f"{kernel!r} of some rows with themselves is {largest:.0e}. The largest accepted value is {most:.0e}. "
            "Scale the columns (sklearn.preprocessing.StandardScaler), or choose a smaller degree."
        )


def _are_features(X: Rows, policy: Policy) -> bool:
    """Whether a method uses these rows as the features of a linear kernel."""
    if sp.issparse(X):
        return policy.row_features == "sparse"
    return policy.row_features == "dense" and home_of(X).sample_of(X) is None and X.shape[1] <= policy.landmarks


def goes_exact(kernel: Kernel, approx: Any, X: Rows, policy: Policy, n: int | None = None) -> bool:
    """Whether a method on products or columns of n rows uses the kernel itself and not features."""
    if not isinstance(approx, str) or (home_of(X).lazy and not isinstance(kernel, Precomputed)):
        return False
    if approx != "auto" or isinstance(kernel, Precomputed):
        return approx in ("auto", "exact")
    most = policy.exact_rows * (policy.device_factor if fused.supports(kernel, X) else 1)
    return (X.shape[0] if n is None else n) <= most


def _products(kernel: Kernel, X: Rows, weight: Array | None, store: str) -> Gram:
    """The exact matrix for products. It is stored if `store` requires this or if it needs half the free memory or less.

    On a GPU with fused products and for kernels with sparse features, ``store="auto"`` does not store it.
    """
    if isinstance(kernel, Precomputed):
        operator: Operator = DenseOperator(np.array(square_kernel(X)), owned=True)
        return Gram(kernel, None, None, operator, X, "The given kernel matrix is used exactly.")
    kernel = kernel.resolve(X, weight) if kernel.transductive else kernel
    features = kernel.sparse_features(X) if store == "auto" else None
    if features is not None:
        reason = f"Products are exact and use {features.shape[1]} sparse features of the kernel."
        return Gram(kernel, None, None, SparseFactor(features), X, reason)
    need, free = X.shape[0] ** 2 * X.dtype.itemsize, home_of(X).free_memory(X)
    stored = free is None or need <= free / 2
    if store in ("stored", "operator"):
        stored = store == "stored"
        reason = f"The exact kernel matrix is {'stored' if stored else 'never stored'}, because of solver={store!r}."
    elif fused.supports(kernel, X):
        stored, reason = False, "Products are exact. Fused products on the GPU are faster than a stored matrix."
    elif stored:
        reason = f"The exact kernel matrix needs {size(need)}, which fits in memory."
    else:
        reason = (
            f"The exact kernel matrix needs {size(need)} and {size(free)} are free, so products are computed tile by "
            "tile."
        )
    if not stored:
        operator = KernelOperator(kernel, X)
    else:
        operator = (StoredKernel if home_of(X).on_host else DeviceMatrix)(kernel(X))
    return Gram(kernel, None, None, operator, X, reason)


def choose_map(
    kernel: KernelLike, approx: Any, X: Rows, seed: int = 0, policy: Policy = POLICIES["sweeps"], stored: bool = True
) -> tuple[FeatureMap, str]:
    """An unfitted map for `approx`, and the reason as a sentence.

    If the features of host rows will be `stored`, their number is limited so that they fit in a quarter of the free
    memory, but is at least 50.
    """
    n, home = X.shape[0], home_of(X)
    if as_kernel(kernel).transductive:
        home.refuse_lazy(
            f"{kernel!r} contains a graph over all rows, which must be on one machine. A {home.name} is not "
            "accepted. Give a sample of the rows in NumPy, or a kernel such as RBF."
        )
        return GraphMap(kernel, approx, seed), "The kernel contains a graph over the training rows."
    if isinstance(approx, str) and as_kernel(kernel).rows_are_features and _are_features(X, policy):
        return RowMap(kernel), f"The kernel's features are the {policy.row_features} rows themselves."
    if isinstance(approx, FeatureMap):
        return clone(approx).set_params(kernel=kernel), f"You gave the map {type(approx).__name__}."
    if isinstance(approx, str) and approx == "exact":
        return LandmarkMap(kernel), "The exact kernel was requested."
    if isinstance(approx, numbers.Integral) and not isinstance(approx, bool) and int(approx) >= 1:
        return LandmarkMap(kernel, int(approx), random_state=seed), f"You requested {approx} landmarks."
    if not (isinstance(approx, str) and approx == "auto"):
        raise InputError(
            f"approx={approx!r} is not accepted. Use 'auto', 'exact', a number of landmarks, "
            "or a map such as FourierMap()."
        )
    if isinstance(as_kernel(kernel), Precomputed):
        return LandmarkMap(kernel), "A precomputed kernel is used exactly."
    if home.lazy:
        reason = f"The rows of a {home.name} are mapped block by block, through {min(n, policy.landmarks)} landmarks."
        return LandmarkMap(kernel, policy.landmarks, random_state=seed), reason
    if n <= policy.exact_rows:
        return LandmarkMap(kernel), f"{n} rows are few enough for the exact kernel (limit {policy.exact_rows})."
    number, itemsize, room = policy.landmarks, X.dtype.itemsize, "are used, and their features are never stored"
    if stored:
        free = home.free_memory(X)
        number = number if free is None else min(number, max(50, int(0.25 * free / (n * itemsize))))
        room = f"need {size(n * number * itemsize)}"
    reason = (
        f"{n} rows are too many for the exact kernel by default (it may need {size(n * n * itemsize)}); "
        f"{number} landmarks {room}. approx='exact' or another number overrides this."
    )
    return LandmarkMap(kernel, number, random_state=seed), reason
