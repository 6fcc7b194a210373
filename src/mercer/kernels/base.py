"""What a kernel is: a function of two rows, its diagonal, and sums, products and scalings of kernels."""

import copy
import numbers

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.extmath import safe_sparse_dot

from ..backend import home, parallel, require_memory
from ..errors import InputError
from ..rows import host, like

TILE = 512  # a float64 tile of 512 × 512 stays in the cache: 4× faster than one pass over the whole matrix
GPU_TILE = 8192
ALONE = 8  # tiles up to which threads would take longer to start than they save
MIRROR = 64  # rows of a tile transposed at once: all of them would take as long as to compute the tile


class Kernel(BaseEstimator):
    """A positive semi-definite similarity between rows.

    A kernel is called on data, knows its diagonal and composes: ``0.3 * RBF(2.0) + Linear()``. Its parameters are
    scikit-learn parameters, so ``kernel__bandwidth`` works in a grid search. Rows may be dense NumPy rows, SciPy sparse
    rows or torch tensors; the matrix comes back dense, in the dtype of the rows and where they live.

    A new kernel is a class with a constructor, ``_tile(X, Y)`` and ``diag(X)``.
    """

    stationary = False  # k(x, x) is the same for every x
    psd = True  # False: similarities whose matrix may have negative eigenvalues
    transductive = False  # True: defined on the training rows only (graphs)
    threadsafe = True

    def __call__(self, X, Y=None):
        """Matrix of k(x, y) over the rows of X and Y; over X and itself, exactly symmetric, when Y is None."""
        self._check_resolved()
        same = Y is None or Y is X
        X = _as_rows(X)
        Y = X if same else _as_rows(Y)
        if X.shape[1] != Y.shape[1]:
            raise InputError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}. Accepted: the same columns in both.")
        if home(X) == "dask" or home(Y) == "dask":
            raise InputError(
                "A kernel matrix cannot be formed from a Dask array at once. "
                "Give the array to an estimator or a map, which go through its row blocks."
            )
        n, m = X.shape[0], Y.shape[0]
        on_gpu = home(X) == "torch" and X.device.type == "cuda"
        tile = GPU_TILE if on_gpu else TILE
        if n <= tile and m <= tile:
            K = self._tile(X, Y)
            return _symmetric(K) if same else K
        out = _empty(X, n, m)

        def fill(corner):
            rows, cols = (slice(start, start + tile) for start in corner)
            if same and rows == cols:
                out[rows, cols] = _symmetric(self._tile(X[rows], X[rows]))
                return
            block = self._tile(X[rows], Y[cols])
            out[rows, cols] = block
            if same:
                out[cols, rows] = block.T

        corners = [(i, j) for i in range(0, n, tile) for j in range(0, m, tile) if not same or j <= i]
        alone = on_gpu or not self.threadsafe or n * m <= ALONE * tile**2
        parallel(fill, corners, threads=1 if alone else None)
        return out

    def _tile(self, X, Y):
        """Dense block k(X, Y) of moderate size."""
        raise NotImplementedError(f"{type(self).__name__} must define _tile(X, Y).")

    def diag(self, X):
        """k(x, x) for every row, on the host in float64."""
        raise NotImplementedError(f"{type(self).__name__} must define diag(X).")

    def resolve(self, X, weight=None):
        """A copy in which every parameter given as a rule ("median", None) is the number the rule gives on X."""
        resolved = copy.copy(self)
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, Kernel):
                setattr(resolved, name, value.resolve(X, weight))
        return resolved

    def _check_resolved(self):
        """Refuse to evaluate while a parameter is still a rule."""

    def __add__(self, other):
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other):
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, other) if isinstance(other, numbers.Real) else NotImplemented

    __rmul__ = __mul__

    def __eq__(self, other):
        return type(self) is type(other) and self.get_params(deep=False) == other.get_params(deep=False)

    def __hash__(self):
        return hash((type(self), repr(self)))


class _Pair(Kernel):
    """Two kernels combined entry by entry."""

    def __init__(self, left, right):
        self.left = left
        self.right = right

    stationary = property(lambda self: self.left.stationary and self.right.stationary)
    psd = property(lambda self: self.left.psd and self.right.psd)
    transductive = property(lambda self: self.left.transductive or self.right.transductive)
    threadsafe = property(lambda self: self.left.threadsafe and self.right.threadsafe)

    def _check_resolved(self):
        self.left._check_resolved()
        self.right._check_resolved()


class Sum(_Pair):
    """k(x, y) = left(x, y) + right(x, y).

    >>> from mercer import RBF, Linear
    >>> (RBF(1.0) + 0.5 * Linear())([[0.0], [1.0]])[1, 1]
    np.float64(1.5)
    """

    def _tile(self, X, Y):
        K = self.left._tile(X, Y)
        K += self.right._tile(X, Y)
        return K

    def diag(self, X):
        return self.left.diag(X) + self.right.diag(X)

    def __repr__(self):
        return f"{self.left!r} + {self.right!r}"


class Product(_Pair):
    """k(x, y) = left(x, y) · right(x, y)."""

    def _tile(self, X, Y):
        K = self.left._tile(X, Y)
        K *= self.right._tile(X, Y)
        return K

    def diag(self, X):
        return self.left.diag(X) * self.right.diag(X)

    def __repr__(self):
        return " * ".join(f"({side!r})" if isinstance(side, Sum) else repr(side) for side in (self.left, self.right))


class Scaled(Kernel):
    """k(x, y) = factor · kernel(x, y), factor > 0."""

    def __init__(self, kernel, factor):
        self.kernel = kernel
        self.factor = factor

    stationary = property(lambda self: self.kernel.stationary)
    psd = property(lambda self: self.kernel.psd)
    transductive = property(lambda self: self.kernel.transductive)
    threadsafe = property(lambda self: self.kernel.threadsafe)

    def _check_resolved(self):
        if not 0 < self.factor < np.inf:
            raise InputError(
                f"A kernel was multiplied by {self.factor!r}, which would not be a kernel. Accepted: a number above 0."
            )
        self.kernel._check_resolved()

    def _tile(self, X, Y):
        K = self.kernel._tile(X, Y)
        K *= self.factor
        return K

    def diag(self, X):
        return self.factor * self.kernel.diag(X)

    def __repr__(self):
        return f"{self.factor!r} * " + (f"({self.kernel!r})" if isinstance(self.kernel, Sum) else repr(self.kernel))


class Callable(Kernel):
    """A Python function of two rows, f(x, y) -> float, or of two matrices, f(X, Y) -> matrix.

    Which of the two is found out by trying both and comparing a few values. The function must be symmetric and positive
    semi-definite; the maps measure how far it is from that (`negative_mass_`).
    """

    psd = False
    threadsafe = False

    def __init__(self, function):
        self.function = function

    def __repr__(self):  # without the function's address, so that it reads the same in every process
        return f"Callable({getattr(self.function, '__qualname__', self.function)})"

    def _tile(self, X, Y):
        A, B = _rows(X), _rows(Y)
        K = self._matrix(A, B)
        if K is None or not self._confirmed(K, A, B):
            K = self._pairs(A, B)
        return like(K, X)

    def _matrix(self, X, Y):
        try:
            K = np.array(self.function(X, Y), dtype=np.float64)
        except Exception:  # whatever a function of two rows does with matrices
            return None
        return K if K.shape == (X.shape[0], Y.shape[0]) else None

    def _confirmed(self, K, X, Y):
        """A function of rows may answer for matrices by accident (np.dot does when shapes fit): compare some values."""
        spots = np.append(np.linspace(0, K.size - 1, 5).astype(int), np.argmax(np.abs(K)))
        try:
            single = [float(self.function(X[i], Y[j])) for i, j in zip(*np.unravel_index(spots, K.shape))]
        except Exception:  # a function of matrices only
            return True
        return np.allclose(K.ravel()[spots], single, atol=1e-8 * np.abs(K).max())

    def _pairs(self, X, Y):
        try:  # float() accepts whatever scalar the function returns
            K = np.array([[float(self.function(x, y)) for y in Y] for x in X])
        except Exception as error:
            raise InputError(
                f"The kernel function {self.function!r} gives neither a number for two rows nor a matrix for two "
                f"matrices. For two rows it says: {type(error).__name__}: {error}"
            ) from error
        return K.reshape(X.shape[0], Y.shape[0])

    def diag(self, X):
        return np.array([self._tile(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])], dtype=np.float64)


class Precomputed(Kernel):
    """The rows are rows of a kernel matrix: n × n in `fit`, n_new × n_train (new against training) afterwards."""

    psd = False  # unknown until its spectrum is seen

    def _tile(self, X, Y):
        raise InputError(
            "A precomputed kernel has no formula: give the matrix to an estimator with kernel='precomputed'."
        )

    def __call__(self, X, Y=None):
        return X if Y is None else self._tile(X, Y)

    def diag(self, X):
        if X.shape[0] != X.shape[1]:
            raise InputError(
                f"k(x, x) of new rows is not in a {X.shape[0]} × {X.shape[1]} matrix of k(new, training). "
                "Fit on the raw data with a kernel object instead."
            )
        return np.asarray(X.diagonal(), dtype=np.float64)


def products(X, Y):
    """Inner products of the rows as a dense block, for dense, sparse or torch rows."""
    if sp.issparse(X) or sp.issparse(Y):
        return np.ascontiguousarray(safe_sparse_dot(X, Y.T, dense_output=True))
    return X @ Y.T


def squared_norms(X):
    """‖x‖² of every row, where X lives, in X's dtype."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel().astype(X.dtype, copy=False)
    return (X * X).sum(-1)


def as_kernel(kernel):
    """A kernel object from an object, a name, or a Python function."""
    from . import NAMES

    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel in NAMES:
            return NAMES[kernel]()
        raise InputError(
            f"kernel={kernel!r} is not known. Accepted: {', '.join(sorted(NAMES))}, a kernel object such as "
            "RBF(bandwidth=2.0), or a Python function of two rows."
        )
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InputError(f"kernel={kernel.__name__} is a class. Give an object of it, such as {kernel.__name__}().")
    if callable(kernel):
        return Callable(kernel)
    raise InputError(f"kernel={kernel!r} is not a kernel. Accepted: a name, a kernel object or a Python function.")


def _as_rows(X):
    """Lists, tables and whole numbers become float arrays; everything else is left as it is."""
    if home(X) == "numpy":
        X = X if sp.issparse(X) else np.asarray(X)
        X = X if X.dtype.kind == "f" else X.astype(np.float64)
    if X.ndim != 2:
        raise InputError(f"A kernel is called on rows, got shape {tuple(X.shape)}. Accepted: two dimensions.")
    return X


def _rows(X):
    return X.toarray() if sp.issparse(X) else host(X)


def _symmetric(K):
    """K with one triangle for both, in place: rounding must not make a symmetric matrix unsymmetric."""
    if home(K) == "torch":
        return (K + K.T) / 2
    for start in range(0, len(K), MIRROR):
        rows = slice(start, start + MIRROR)
        K[rows, rows] = (K[rows, rows] + K[rows, rows].T) / 2
        K[:start, rows] = K[rows, :start].T
    return K


def _empty(X, n, m):
    if n * m > 2 * TILE**2:  # to ask how much is free takes as long as a tile
        require_memory(
            n * m * X.dtype.itemsize,
            f"The kernel matrix of {n} × {m} rows",
            "Use approx=<number of landmarks> (a map with that many features), solver='operator' in KernelPCA "
            "(products without storing the matrix), or float32 data (half the memory).",
            X.device if home(X) == "torch" else None,
        )
    return X.new_empty((n, m)) if home(X) == "torch" else np.empty((n, m), dtype=X.dtype)
