"""How a kernel matrix is held: the only place that decides between a stored matrix, products and a feature map.

`POLICIES` has every size at which ``approx="auto"`` changes.
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

HUGE = 1e145  # k(x, x) whose square is still a number
LOOKED_AT = 100  # rows of which a Python function is asked whether its values are huge


@dataclass(frozen=True)
class Policy:
    """The meaning of ``approx="auto"`` for a method.

    An exact method works on "features" (the exact map), "products" (of the whole matrix with tall ones) or "columns"
    (a few at a time, many times).
    """

    exact_rows: int  # most rows whose kernel is taken exactly
    landmarks: int = 1000  # of the feature map above that
    holds: str = "features"
    stored_rows: int = 0  # most rows for which "columns" come from a stored matrix
    device_factor: int = 1  # how many times `exact_rows` a GPU with fused products takes
    passes: str = "many"  # features of host rows are stored; "few": computed again in each pass
    least_pivot: float = 0.0  # fraction of the first pivot below which landmarks add nothing that a method sees
    growth: float = GROWTH  # of rounding that products without features may have
    row_features: str = ""  # "sparse" or "dense" rows that are the features of a linear kernel as they are


POLICIES = {
    # An exact factor and an r × r eigendecomposition of 3,000 rows take a few seconds on two cores.
    "moments": Policy(3_000, passes="few"),
    # Rounding in the sums grows by the condition of the landmarks, and again by that of these equations: no landmarks
    # without features, so that rows in other chunks give the same predictions to 1e-12.
    "normal equations": Policy(3_000, passes="few", growth=1.0),
    "sweeps": Policy(3_000),
    "rows": Policy(3_000),
    "margin": Policy(3_000, row_features="sparse"),  # products with Z and Zᵀ only
    # Exact products beyond this take too long to be a default. Eigenvalues below 1e-8 of the first are not looked at.
    "components": Policy(200_000, holds="products", device_factor=10, passes="few", least_pivot=1e-8, growth=1e8),
    "dual components": Policy(200_000, holds="products", device_factor=10),
    "ball": Policy(3_000, holds="columns"),
    # Exact takes no longer than 1,000 landmarks up to here; a stored matrix (72 MB) saves up to 2/3 of ten starts.
    "clusters": Policy(10_000, holds="columns", stored_rows=3_000, row_features="dense"),
    "label search": Policy(1_000, 300),  # more landmarks: no better, and much slower
    # From here on 1,000 landmarks are faster than the exact matrix of the rows with a target (300 MB).
    "targets": Policy(5_000, holds="columns", stored_rows=5_000, passes="few"),
    # The spaces of FewLabelClassifier; graphs keep their whole spectrum up to here.
    "few labels": Policy(2_500, 600),
    # The commands that group and rank rows, and the two axes of a plot, have less time than a fit.
    "commands": Policy(5_000),
    "plane": Policy(3_000, 500),
}


@dataclass
class Gram:
    """The kernel matrix of the training rows, held in one of the ways above."""

    kernel: Kernel  # with every rule resolved to a number
    map: FeatureMap | None  # None, like the features Z, where the kernel itself is used
    Z: Rows | None
    operator: Operator  # the matrix for a solver
    X: Rows  # the training rows
    reason: str  # one or two sentences that show how the matrix is held, and why

    def diag(self) -> Array:
        """k(x, x) of the training rows. If a negative part was cut off, at least ‖z‖²."""
        if self.map is None:
            return self.operator.diag()
        own = self.map.diag(self.X)
        return np.maximum(own, squares(self.Z)) if self.map.negative_mass_ > 0 else own

    def expansion(self, coef: Array, rows: Array | None = None) -> Expansion:
        """The function with these coefficients on the training rows (on `rows` of them): k(·, x) coef.

        Through a map the coefficients are moved to its features. The model keeps copies of the rows.
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
    """The kernel matrix of the rows of X, held as `approx` asks or, for "auto", as the policy says.

    Parameters
    ----------
    kernel : kernel object, name or function.
    approx : "auto", "exact", a number of landmarks, or a map (its own kernel is replaced by `kernel`).
    X : checked training rows.
    weight : (n,) sample weights, for bandwidth rules and maps.
    policy : a row of `POLICIES`, or its name.
    seed : of the landmarks.
    store : "stored" or "operator" force how exact products are made; "auto" decides by memory.
    """
    policy = POLICIES[policy] if isinstance(policy, str) else policy
    kernel = as_kernel(kernel)
    home = home_of(X)
    if home.sample_of(X) is not None:
        looked_at = choose_map(kernel, approx, X, seed, policy)[0].looks_at(X.shape[0])
        home.fetch(X, looked_at, rows_for(X.shape[0], weight))  # all that follows finds its rows in this one pass
    if not kernel.transductive:
        kernel = kernel.resolve(X, weight)  # once, for all that follows
        kernel.check()
        if home.sample_of(X) is None:  # no pass over rows in Dask; a slow Python function looks at some rows
            few = not kernel.threadsafe and X.shape[0] > LOOKED_AT
            _refuse_huge(kernel, X[np.linspace(0, X.shape[0] - 1, LOOKED_AT).astype(int)] if few else X)
    if policy.holds == "products" and goes_exact(kernel, approx, X, policy):
        return _products(kernel, X, weight, store)
    if policy.holds == "columns" and kernel.psd and not kernel.transductive and goes_exact(kernel, approx, X, policy):
        stored = X.shape[0] <= policy.stored_rows
        how = "is stored while fitting" if stored else "is evaluated where a solver asks and never stored"
        operator = StoredKernel(np.asarray(host(kernel(X)), dtype=np.float64)) if stored else kernel_operator(kernel, X)
        return Gram(kernel, None, None, operator, X, f"Exact: the kernel matrix of the training rows {how}.")
    # Z is not stored for a few passes over host rows, unless a slow Python function would be called again.
    again = policy.passes == "few" and home_of(X).on_host and kernel.threadsafe
    chosen, reason = choose_map(kernel, approx, X, seed, policy, stored=not again)
    Z = chosen.learn(X, weight, policy.least_pivot)
    if home.sample_of(X) is not None:
        Z = SampledRows(chosen, X, policy.growth, weight)
        said = f"Sums run over all {X.shape[0]} rows; single rows were looked at in a sample of {Z.shape[0]}."
        return Gram(chosen.kernel_, chosen, Z, FactorOperator(Z), Z.X, f"{reason} {chosen.reason_} {said}")
    if Z is None:
        Z = mapped(chosen, X, policy.growth) if again else chosen.of_rows(X)
    return Gram(chosen.kernel_, chosen, Z, FactorOperator(Z), X, f"{reason} {chosen.reason_}")


def _refuse_huge(kernel: Kernel, X: Rows) -> None:
    """Refuse rows whose kernel has no square: certificates and variances are made of squares."""
    if isinstance(kernel, Precomputed) and X.shape[0] != X.shape[1]:
        return  # which the map refuses in its own words
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(np.abs(kernel.diag(X)).max(initial=0.0))
    if largest > HUGE:  # NaN is refused where it is met
        raise InputError(
            f"{kernel!r} of some rows with themselves is {largest:.0e}. Accepted: up to {HUGE:.0e}. Scale the columns "
            "(sklearn.preprocessing.StandardScaler), or choose a smaller degree."
        )


def _rows_serve(X: Rows, policy: Policy) -> bool:
    """Whether a method takes these rows as the features of a linear kernel."""
    if sp.issparse(X):
        return policy.row_features == "sparse"
    return policy.row_features == "dense" and home_of(X).sample_of(X) is None and X.shape[1] <= policy.landmarks


def goes_exact(kernel: Kernel, approx: Any, X: Rows, policy: Policy, n: int | None = None) -> bool:
    """Whether the kernel itself is used, and not features, by a method that holds products or columns of n rows."""
    if not isinstance(approx, str) or (home_of(X).lazy and not isinstance(kernel, Precomputed)):
        return False
    if approx != "auto" or isinstance(kernel, Precomputed):
        return approx in ("auto", "exact")
    most = policy.exact_rows * (policy.device_factor if fused.supports(kernel, X) else 1)
    return (X.shape[0] if n is None else n) <= most


def _products(kernel: Kernel, X: Rows, weight: Array | None, store: str) -> Gram:
    """The exact matrix for products: stored if `store` states this, or if it takes at most half of the free memory."""
    if isinstance(kernel, Precomputed):
        operator: Operator = DenseOperator(np.array(square_kernel(X)), owned=True)
        return Gram(kernel, None, None, operator, X, "Exact: the kernel matrix was given.")
    kernel = kernel.resolve(X, weight) if kernel.transductive else kernel
    features = kernel.sparse_features(X) if store == "auto" else None
    if features is not None:
        reason = f"Exact: products go through {features.shape[1]} sparse features of the kernel."
        return Gram(kernel, None, None, SparseFactor(features), X, reason)
    need, free = X.shape[0] ** 2 * X.dtype.itemsize, home_of(X).free_memory(X)
    stored = free is None or need <= free / 2
    if store in ("stored", "operator"):
        stored, reason = store == "stored", f"Exact: solver={store!r} was asked for."
    elif fused.supports(kernel, X):
        stored, reason = False, "Exact: fused products on the GPU are faster than a stored matrix."
    elif stored:
        reason = f"Exact: the kernel matrix needs {size(need)}, which fits in memory."
    else:
        reason = (
            f"Exact: the kernel matrix needs {size(need)} and {size(free)} are free, so products are computed tile by "
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

    stored : whether the features of host rows will be. There are then no more of them than a quarter of the memory has
        room for.
    """
    n, home = X.shape[0], home_of(X)
    if as_kernel(kernel).transductive:
        home.refuse_lazy(
            f"{kernel!r} has a graph over all rows in it, which needs them on one machine: a {home.name} is not "
            "accepted. Give a sample of the rows in NumPy, or a kernel such as RBF."
        )
        return GraphMap(kernel, approx, seed), "The kernel has a graph over the training rows in it."
    if isinstance(approx, str) and as_kernel(kernel).rows_are_features and _rows_serve(X, policy):
        return RowMap(kernel), f"The kernel's features are the {policy.row_features} rows themselves."
    if isinstance(approx, FeatureMap):
        return clone(approx).set_params(kernel=kernel), f"You gave the map {type(approx).__name__}."
    if isinstance(approx, str) and approx == "exact":
        return LandmarkMap(kernel), "The exact kernel was requested."
    if isinstance(approx, numbers.Integral) and not isinstance(approx, bool) and int(approx) >= 1:
        return LandmarkMap(kernel, int(approx), random_state=seed), f"You asked for {approx} landmarks."
    if not (isinstance(approx, str) and approx == "auto"):
        raise InputError(
            f"approx={approx!r} is not accepted: give 'auto', 'exact', a number of landmarks, "
            "or a map such as FourierMap()."
        )
    if isinstance(as_kernel(kernel), Precomputed):
        return LandmarkMap(kernel), "A precomputed kernel is used exactly."
    if home.lazy:
        reason = f"The rows of a {home.name} are mapped block by block, through {min(n, policy.landmarks)} landmarks."
        return LandmarkMap(kernel, policy.landmarks, random_state=seed), reason
    if n <= policy.exact_rows:
        return LandmarkMap(kernel), f"{n} rows are few enough for the exact kernel (limit {policy.exact_rows})."
    number, itemsize, room = policy.landmarks, X.dtype.itemsize, "are taken, and their features are never stored"
    if stored:
        free = home.free_memory(X)
        number = number if free is None else min(number, max(50, int(0.25 * free / (n * itemsize))))
        room = f"need {size(n * number * itemsize)}"
    reason = (
        f"{n} rows are too many for the exact kernel by default (it may need {size(n * n * itemsize)}); "
        f"{number} landmarks {room}. approx='exact' or another number overrides this."
    )
    return LandmarkMap(kernel, number, random_state=seed), reason
