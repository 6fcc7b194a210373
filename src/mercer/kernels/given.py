"""Kernels that users give as a name, an object, a Python function or a matrix."""

import collections.abc
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InputError
from ..homes import Objects
from ..rows import bring, host, like
from ..types import Block, Rows
from .base import REGISTRY, Kernel, rows_for


def as_kernel(kernel: Any) -> Kernel:
    """A kernel object from an object, a registered name, or a Python function."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel in REGISTRY:
            return REGISTRY[kernel]()
        raise InputError(
            f"kernel={kernel!r} is not known. Use {', '.join(sorted(REGISTRY))}, a kernel object such as "
            "RBF(bandwidth=2.0), or a Python function of two rows."
        )
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise InputError(f"kernel={kernel.__name__} is a class. Give an object of it, such as {kernel.__name__}().")
    if callable(kernel):
        return Callable(kernel)
    raise InputError(f"kernel={kernel!r} is not a kernel. Use a name, a kernel object or a Python function.")


class Callable(Kernel):
    """A Python function of two rows, f(x, y) -> float, or of two matrices, f(X, Y) -> matrix.

    Rows may be strings or any other objects. A function of two matrices then gets two arrays of objects. The function
    is first called with two matrices. It counts as a function of matrices if the result has the correct shape, and a
    few of its values are those that it returns for two rows. The function should be symmetric and positive
    semi-definite. The attribute `negative_mass_` of maps measures the deviation.
    """

    psd = False
    threadsafe = False
    takes = "any"

    def __init__(self, function: collections.abc.Callable[..., Any]):
        self.function = function

    def __repr__(self) -> str:  # without the function's address, so that it reads the same in every process
        return f"Callable({getattr(self.function, '__qualname__', self.function)})"

    def tile(self, X: Rows, Y: Rows) -> Block:
        A, B = (_plain(rows) for rows in (X, Y))
        K = self._matrix(A, B)
        if K is None or not self._confirmed(K, A, B):
            K = self._pairs(A, B)
        return like(K, X)

    def _matrix(self, X: np.ndarray, Y: np.ndarray) -> NDArray[np.float64] | None:
        try:
            K = np.array(self.function(X, Y), dtype=np.float64)
        except Exception:  # a function of two rows may raise any error on matrices
            return None
        return K if K.shape == (X.shape[0], Y.shape[0]) else None

    def _confirmed(self, K: NDArray[np.float64], X: np.ndarray, Y: np.ndarray) -> bool:
        """Compare some values, because a function of rows, such as np.dot, may accept matrices by accident."""
        spots = np.append(np.linspace(0, K.size - 1, 5).astype(int), np.argmax(np.abs(K)))
        try:
            single = [float(self.function(X[i], Y[j])) for i, j in zip(*np.unravel_index(spots, K.shape))]
        except Exception:  # a function of matrices only
            return True
        return np.allclose(K.ravel()[spots], single, atol=1e-8 * np.abs(K).max())

    def _pairs(self, X: np.ndarray, Y: np.ndarray) -> NDArray[np.float64]:
        try:  # float() accepts any kind of scalar
            K = np.array([[float(self.function(x, y)) for y in Y] for x in X])
        except Exception as error:
            raise InputError(
                f"The kernel function {self.function!r} gives neither a number for two rows nor a matrix for two "
                f"matrices. For two rows the error is {type(error).__name__}: {error}"
            ) from error
        return K.reshape(X.shape[0], Y.shape[0])

    def diag(self, X: Rows) -> NDArray[np.float64]:
        X = rows_for(self, X)
        return np.array([self.tile(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])], dtype=np.float64)


def _plain(rows: Rows) -> np.ndarray:
    """Rows as arguments of a Python function, in a dense matrix or an array of objects."""
    if isinstance(rows, Objects):
        return rows.cells
    return rows.toarray() if sp.issparse(rows) else host(rows)


class Precomputed(Kernel):
    """A given kernel matrix instead of rows. It is n × n in `fit`, and k(new, training) in other methods.

    `fit` refuses a matrix if k(x, y) and k(y, x) differ by more than 1e-5 of the largest entry. If the difference is
    noise, pass ``(K + K.T) / 2``.
    """

    names = ("precomputed",)
    psd = False  # unknown before its spectrum is computed

    def tile(self, X: Rows, Y: Rows) -> Block:
        raise InputError("A precomputed kernel has no formula. Fit an estimator with kernel='precomputed'.")

    def slope(self, X: Rows, V: Rows, Y: Rows) -> Block:
        raise InputError(
            "A precomputed kernel has no gradient, which invariance= needs. Give rows and a kernel object."
        )

    def __call__(self, X: Rows, Y: Rows | None = None) -> Block:
        return X if Y is None else self.tile(X, Y)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        if X.shape[0] != X.shape[1]:
            raise InputError(
                f"k(x, x) of new rows is not in a {X.shape[0]} × {X.shape[1]} matrix of k(new, training). "
                "Fit on the raw data with a kernel object instead."
            )
        return np.asarray(bring(X).diagonal(), dtype=np.float64)
