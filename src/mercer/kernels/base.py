"""The base class of kernels, and the evaluation of kernel matrices in blocks."""

import collections.abc
import enum
import inspect
import numbers
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from ..backend import parallel
from ..docstrings import complete
from ..errors import InputError
from ..homes import home_of
from ..homes.base import TILE
from ..homes.objects import are_objects, as_objects
from ..rows import empty, room_for
from ..types import Block, Facts, Rows

COMPILED = 2**16  # smallest number of entries of a block whose exponential is compiled

REGISTRY: "dict[str, type[Kernel]]" = {}  # filled by the `names` of every kernel class


class Formula(enum.IntEnum):
    """The functions that a fused GPU product can evaluate, with s = scale."""

    GAUSSIAN = 0  # exp(−s‖x − y‖² / 2)
    EXPONENTIAL = 1  # exp(−d), d = √s ‖x − y‖
    MATERN32 = 2
    MATERN52 = 3
    LINEAR = 4  # x · y
    COSINE = 5
    POWER = 8  # (s x·y + offset)^degree is POWER + degree, for whole degrees up to 16


class Term(NamedTuple):
    """One summand factor · formula(x, y) of a fused product."""

    code: int
    factor: float
    scale: float = 1.0
    offset: float = 0.0


class Kernel:
    """A positive semi-definite similarity between rows.

    A kernel is called on one or two sets of rows and returns the kernel matrix. Kernels can be added, multiplied and
    scaled, as in ``0.3 * RBF(2.0) + Linear()``. A kernel has scikit-learn's `get_params` and `set_params`, so
    ``kernel__bandwidth`` works in a grid search. Rows may be dense NumPy rows, SciPy sparse rows or torch tensors. The
    matrix is dense, with the dtype and on the device of the rows.

    A new kernel is a class with a constructor that stores its parameters, ``tile(X, Y)`` and ``diag(X)``. A kernel of
    the Euclidean distance derives from `Radial` and only needs ``profile(squared, xp)``. Optional are ``names`` for
    ``kernel="name"``, ``terms`` for fused GPU products, ``spectrum`` and ``spectral_sample`` for Fourier features, and
    ``slope`` for invariances.

    Examples
    --------
    >>> class Intersection(Kernel):
    ...     names = ("intersection",)
    ...
    ...     def tile(self, X, Y):
    ...         return np.minimum(X[:, None], Y).sum(axis=-1)
    ...
    ...     def diag(self, X):
    ...         return X.sum(axis=1)
    >>> from mercer.kernels import as_kernel
    >>> as_kernel("intersection")([[1.0, 2.0]], [[2.0, 0.5]])
    array([[1.5]])
    """

    names: ClassVar[tuple[str, ...]] = ()  # names for as_kernel. Every parameter then needs a default
    stationary = False  # whether k(x, x) is the same for every x
    takes: str = "numbers"  # type of a row, "numbers", "objects" (strings, sets, graphs, ...) or "any" of the two
    psd = True  # False if the matrix may have negative eigenvalues
    transductive = False  # whether k is defined on training rows only, by factor() and features(X) and not by a formula
    threadsafe = True
    radial = False  # whether k(x, y) = profile((‖x − y‖ / bandwidth)²)
    formula: ClassVar[Formula | None] = None  # for a fused product
    rows_are_features: ClassVar[bool | None] = None  # whether k(x, y) = x · y
    spectrum: ClassVar[Literal["isotropic", "separable"] | None] = None  # kind of spectral_sample, None without it

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Register the names. A class with a new tile or profile does not inherit formula, spectrum and slope."""
        super().__init_subclass__(**kwargs)
        complete(cls)
        own = vars(cls)
        for attribute in ("formula", "spectrum", "rows_are_features"):
            if ("tile" in own or "profile" in own) and attribute not in own:
                setattr(cls, attribute, None)
        if "tile" in own and "slope" not in own:
            cls.slope = Kernel.slope  # type: ignore[method-assign]
        if isinstance(cls.names, str):
            raise InputError(f"names={cls.names!r} of {cls.__name__} is a str. Use a tuple, ({cls.names!r},).")
        for name in own.get("names", ()):
            other = REGISTRY.get(name, cls)
            if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
                raise InputError(
                    f"The kernel name {name!r} of {cls.__module__}.{cls.__qualname__} is taken by "
                    f"{other.__module__}.{other.__qualname__}. Give another one in `names`."
                )
            REGISTRY[name] = cls

    def __call__(self, X: Rows, Y: Rows | None = None) -> Block:
        """Matrix of k(x, y) over the rows of X and Y. If Y is None, the exactly symmetric matrix over the rows of X."""
        self.check()
        same = Y is None or Y is X
        X = rows_for(self, X)
        Y = X if same else rows_for(self, Y)
        if X.shape[1] != Y.shape[1]:
            raise InputError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}. Give both the same columns.")
        n, m = X.shape[0], Y.shape[0]
        side, threaded = home_of(X).tiles(X)
        if n <= side and m <= side:
            K = self.tile(X, Y)
            return home_of(X).symmetric(K) if same else K
        out = _empty(X, n, m)

        def fill(corner: tuple[int, int]) -> None:
            rows, cols = (slice(start, start + side) for start in corner)
            if same and rows == cols:
                out[rows, cols] = home_of(X).symmetric(self.tile(X[rows], X[rows]))
                return
            block = self.tile(X[rows], Y[cols])
            out[rows, cols] = block
            if same:
                out[cols, rows] = block.T

        corners = [(i, j) for i in range(0, n, side) for j in range(0, m, side) if not same or j <= i]
        # For up to 8 tiles, threads take longer to start than they save.
        serial = not (threaded and self.threadsafe) or n * m <= 8 * side**2
        parallel(fill, corners, threads=1 if serial else None)
        return out

    def tile(self, X: Rows, Y: Rows) -> Block:
        """Dense block k(X, Y) of moderate size, with the dtype and on the device of the rows. The caller may change it.

        X and Y are two-dimensional and have equal columns. `check` has been called.
        """
        raise NotImplementedError(f"{type(self).__name__} must define tile(X, Y).")

    def diag(self, X: Rows) -> NDArray[np.float64]:
        """k(x, x) for every row, on the host in float64."""
        raise NotImplementedError(f"{type(self).__name__} must define diag(X).")

    def slope(self, X: Rows, V: Rows, Y: Rows) -> Block:
        """Derivatives of k(x + εv, y) by ε at 0 for dense rows, for every x with its own v and every y."""
        raise InputError(
            f"{self!r} has no gradient, which invariance= needs. Use RBF, Matern32, Matern52, Linear, Polynomial, "
            "their sums and products, or a kernel of your own that defines slope(X, V, Y)."
        )

    def resolve(self, X: Rows, weight: NDArray[np.float64] | None = None) -> Self:
        """A copy in which every rule ("median", None) is replaced by its value for the rows of X."""
        params = self.get_params(deep=False).items()
        return type(self)(**{k: v.resolve(X, weight) if isinstance(v, Kernel) else v for k, v in params})

    def check(self) -> None:
        """Refuse parameters that are not accepted, and those that are still a rule."""

    def parts(self, weight: float = 1.0) -> "list[tuple[float, Kernel]]":
        """(weight, kernel) of every summand of weight · kernel."""
        return [(weight, self)]

    def terms(self, factor: float = 1.0) -> list[Term] | None:
        """factor · kernel as a sum of formulas for a fused GPU product, or None if it is not such a sum."""
        return None if self.formula is None else [Term(self.formula, factor)]

    def sparse_features(self, X: Rows) -> sp.csr_array | None:
        """Features Φ with k(X, X) = ΦΦᵀ and few entries per row for products with k(X, X), or None."""
        return None

    def spectral_sample(self, rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
        """n frequencies (rows) of the spectral density in d dimensions (Bochner), if k(x, x) = 1 and `spectrum` is set.

        The distribution of an "isotropic" spectrum has no preferred direction.
        """
        raise NotImplementedError(f"{type(self).__name__} must define spectral_sample(rng, n, d).")

    def __add__(self, other: object) -> "Kernel":
        from .compose import Sum  # which derives from Kernel

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> "Kernel":
        from .compose import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, other) if isinstance(other, numbers.Real) else NotImplemented  # type: ignore[arg-type]

    __rmul__ = __mul__

    # scikit-learn's parameters, without BaseEstimator, whose repr of nested estimators ignores their own repr

    def get_params(self, deep: bool = True) -> Facts:
        """Parameters by name. Deep adds those of the kernels among them as "left__bandwidth"."""
        params = {name: getattr(self, name) for name in sorted(inspect.signature(type(self)).parameters)}
        inner = {k: v.get_params() for k, v in params.items() if deep and isinstance(v, Kernel)}
        return params | {f"{k}__{name}": value for k, values in inner.items() for name, value in values.items()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names of `get_params`."""
        for key in sorted(params):  # a kernel before its own parameters
            name, _, inner = key.partition("__")
            own = self.get_params(deep=False)
            if name not in own:
                valid = f"Valid parameters are {', '.join(own)}." if own else "It has no parameters."
                raise InputError(f"Invalid parameter {name!r} for {self!r}. {valid}")
            if inner:
                own[name].set_params(**{inner: params[key]})
            else:
                setattr(self, name, params[key])
        return self

    def __repr__(self) -> str:
        default = {name: repr(p.default) for name, p in inspect.signature(type(self)).parameters.items()}
        values = {name: repr(value) for name, value in self.get_params(deep=False).items()}
        shown = ", ".join(f"{name}={value}" for name, value in values.items() if value != default[name])
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_params(deep=False) == other.get_params(deep=False)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))


def inner_products(X: Rows, Y: Rows) -> Block:
    """Inner products of the rows as a dense block, for dense, sparse or torch rows."""
    if sp.issparse(X) or sp.issparse(Y):
        return np.ascontiguousarray(safe_sparse_dot(X, Y.T, dense_output=True))
    return X @ Y.T


def exponential(block: Block) -> Block:
    """Overwrite a block of numbers, none above 0, with their exponentials.

    Large float64 blocks on the host use compiled code, because NumPy has no vector exponential for many processors.
    """
    if not isinstance(block, np.ndarray):
        return block.exp_()  # a torch tensor
    if block.dtype == np.float64 and block.size >= COMPILED and block.flags.c_contiguous:
        from . import compiled  # importing numba is slow

        compiled.exponential(block.reshape(-1))
        return block
    return np.exp(block, out=block)


def squared_norms(X: Rows) -> Block:
    """‖x‖² of every row, with the dtype and on the device of X."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype, copy=False)
    return (X * X).sum(-1)


def rows_for(kernel: Kernel, X: Rows) -> Rows:
    """Rows in the form that a kernel needs. Lists, tables and ints become float arrays, objects become `Objects`."""
    if kernel.takes == "objects" or (kernel.takes == "any" and are_objects(X)):
        column = as_objects(X)
        if column is None:
            raise InputError(
                f"{kernel!r} was called on {type(X).__name__}. Give a list or a one-dimensional array with one object "
                "per row."
            )
        return column
    home = home_of(X)
    X = home.whole(home.floating(X))
    if X.ndim != 2:
        raise InputError(f"A kernel was called on an array of shape {tuple(X.shape)}. Give rows in two dimensions.")
    return X


def _empty(X: Rows, n: int, m: int) -> Block:
    if n * m > 2 * TILE**2:  # reading the free memory takes as long as a tile
        remedy = "Use approx=<number of landmarks> (a map with that many features), solver='operator' in KernelPCA "
        remedy += "(products without storing the matrix), or float32 data (half the memory)."
        room_for(n * m * X.dtype.itemsize, X, f"The kernel matrix of {n} × {m} rows", remedy)
    return empty((n, m), X)


KernelLike: TypeAlias = Kernel | str | collections.abc.Callable[..., float]
"""A kernel object, the name of a kernel, or a Python function of two rows."""
