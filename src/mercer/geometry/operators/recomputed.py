"""K @ V without storing K. Every product evaluates the kernel tile by tile."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...backend import n_threads, on_gpu, parallel
from ...homes import home_of
from ...kernels import Precomputed
from ...kernels.base import TILE, Kernel
from ...rows import host, like
from ...types import Array, Block, Rows
from .. import fused
from .base import Operator

GPU_ROWS = 16_384  # rows and columns of a tile on a GPU


class KernelOperator(Operator):
    """The kernel matrix of the rows of X, recomputed tile by tile at every product.

    It needs memory for the product, one buffer of its size per thread, and a tile, but not for n × n numbers. On the
    CPU the symmetry halves the kernel evaluations.

    Parameters
    ----------
    kernel : Kernel
        Kernel whose parameters are numbers, not rules.
    X : array-like of shape (n_samples, n_features)
        Rows, on the host or on a device.
    precision : {"fast", "high", "exact"}, default="high"
        Precision of fused products on a GPU.

    Examples
    --------
    >>> from mercer import RBF
    >>> X = np.random.default_rng(0).standard_normal((1000, 3))
    >>> K = KernelOperator(RBF(1.0), X)
    >>> bool(np.allclose(K @ np.ones(1000), RBF(1.0)(X).sum(axis=1)))
    True
    """

    costly = True

    def __init__(self, kernel: Kernel, X: Rows, precision: str = "high"):
        self.kernel = kernel
        self.X = X
        self.precision = precision  # of fused products on a GPU: "fast", "high" or "exact"
        self.shape = (X.shape[0], X.shape[0])
        self.threads = n_threads()  # here, because a solver may set BLAS to one thread around its products
        self._sides: tuple[Any, ...] | None = None

    def __matmul__(self, V: Rows) -> Block:
        if V.ndim == 1:
            return (self @ V[:, None])[:, 0]
        if home_of(self.X).on_host:
            return self._symmetric_product(np.asarray(V, dtype=np.float64))
        if isinstance(V, np.ndarray):
            return np.asarray(host(self._on_device(like(V, self.X))), dtype=np.float64)
        return self._on_device(V)

    def _on_device(self, V: Rows) -> Rows:
        """The product on the device of the rows, fused if that is possible and tile by tile otherwise."""
        if not fused.supports(self.kernel, self.X):
            return device_tiles(self.kernel, self.X, self.X, V.to(self.X.dtype)).to(V.dtype)
        if self._sides is None:
            self._sides = fused.sides(self.kernel, self.X, self.X, self.precision)
        left, right, unit = self._sides
        return fused.multiply(self.kernel, left, right, unit, V.float()).to(V.dtype)

    @property
    def fast(self) -> Operator | None:
        """The same operator in half precision, or None if there is no such product."""
        if self.precision == "fast" or not fused.supports(self.kernel, self.X):
            return None
        return KernelOperator(self.kernel, self.X, "fast")

    def random(self, width: int, seed: int) -> Block:
        return home_of(self.X).random(self.X, (self.shape[0], width), seed)

    def _symmetric_product(self, V: Array) -> Array:
        n = self.shape[0]
        rounded = V.astype(self.X.dtype, copy=False)
        starts = range(0, n, TILE)
        strips = min(self.threads, len(starts)) if self.kernel.threadsafe else 1
        outs = [np.zeros(V.shape) for _ in range(strips)]

        def strip(k: int) -> None:
            # Every thread takes each `strips`-th block, so that all get long and short rows of the triangle.
            out = outs[k]
            for i in starts[k::strips]:
                rows = slice(i, i + TILE)
                for j in range(0, i + 1, TILE):
                    cols = slice(j, j + TILE)
                    block = self.kernel.tile(self.X[rows], self.X[cols])
                    out[rows] += block @ rounded[cols]
                    if i != j:
                        out[cols] += block.T @ rounded[rows]

        self.kernel.check()
        parallel(strip, range(strips), threads=strips)
        return sum(outs[1:], start=outs[0])

    def diag(self) -> Array:
        return self.kernel.diag(self.X)

    def columns(self, idx: Array) -> Array:
        return np.asarray(host(self.kernel(self.X, self.X[idx])), dtype=np.float64)

    def rows(self, idx: Array) -> Array:
        return np.asarray(host(self.kernel(self.X[idx], self.X)), dtype=np.float64)

    @property
    def on_gpu(self) -> bool:
        return on_gpu(self.X)

    def block(self, idx: Array) -> Array:
        return np.asarray(host(self.kernel(self.X[idx])), dtype=np.float64)

    def combine(self, idx: Array, factor: Array) -> Array:  # the columns themselves never leave the device
        return cross_product(self.kernel, self.X, self.X[idx], factor)


def cross_product(kernel: Kernel, X: Rows, Y: Rows, V: Array) -> Array:
    """k(X, Y) @ V as a host float64 array, tile by tile, for rows X and Y of the same array library and device.

    For a precomputed kernel, X contains k(x, training) and Y the numbers of the columns to use.
    """
    V = np.asarray(V, dtype=np.float64)
    if isinstance(kernel, Precomputed):
        X = X[:, Y]
        return np.asarray((X if sp.issparse(X) else host(X)) @ V, dtype=np.float64)
    kernel.check()
    if not home_of(X).on_host:
        W = like(V.reshape(len(V), -1), X)
        product = fused.product(kernel, X, Y, W) if fused.supports(kernel, X) else device_tiles(kernel, X, Y, W)
        return np.asarray(host(product), dtype=np.float64).reshape((X.shape[0],) + V.shape[1:])
    out = np.empty((X.shape[0],) + V.shape[1:])
    W = V.astype(X.dtype, copy=False)

    def fill(start: int) -> None:
        rows = slice(start, start + TILE)
        parts = (slice(first, first + TILE) for first in range(0, Y.shape[0], TILE))
        out[rows] = sum(kernel.tile(X[rows], Y[cols]) @ W[cols] for cols in parts)

    parallel(fill, range(0, X.shape[0], TILE), threads=None if kernel.threadsafe else 1)
    return out


def device_tiles(kernel: Kernel, X: Rows, Y: Rows, V: Rows) -> Rows:
    """k(X, Y) @ V on a device from square tiles."""
    kernel.check()
    out = V.new_zeros((X.shape[0], V.shape[1]))
    for start in range(0, X.shape[0], GPU_ROWS):
        rows = slice(start, start + GPU_ROWS)
        for first in range(0, Y.shape[0], GPU_ROWS):
            cols = slice(first, first + GPU_ROWS)
            out[rows] += kernel.tile(X[rows], Y[cols]) @ V[cols]
    return out
