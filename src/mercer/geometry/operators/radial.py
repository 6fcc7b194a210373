"""Compute a few rows of a kernel matrix at a time, many times, for the solvers of SVDD and kernel c-means."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...homes import home_of
from ...kernels.base import TILE
from ...kernels.radial import ROUNDING
from ...linalg import precision
from ...types import Array, Rows
from .recomputed import KernelOperator


def kernel_operator(kernel: Any, X: Rows) -> KernelOperator:
    """The kernel matrix of the rows of X as an operator. It prepares the rows if that does not lose digits."""
    if kernel.radial and kernel.smooth and home_of(X).on_host and not sp.issparse(X):
        fast = RadialOperator(kernel, X)
        if 2 * precision(X.dtype) * np.max(fast.norms) <= ROUNDING[X.dtype.itemsize]:
            return fast
    return KernelOperator(kernel, X)


class RadialOperator(KernelOperator):
    """The kernel matrix of a radial kernel on dense host rows, whose squared norms are computed once.

    `KernelOperator` prepares the rows in every call. For 32 of 8,000 rows this takes longer than the kernel values.
    """

    kernel: Any

    def __init__(self, kernel: Any, X: Array):
        center = X[:: max(1, len(X) // 256)].mean(axis=0)
        norms = np.einsum("ij,ij->i", X, X)
        if center @ center > 10 * (np.mean(norms) - center @ center):  # a far origin would cost digits
            X = X - center
            norms = np.einsum("ij,ij->i", X, X)
        super().__init__(kernel, X)
        with np.errstate(over="ignore", invalid="ignore"):  # if norms overflow, `kernel_operator` uses the other class
            self.scale = float(np.float64(kernel.bandwidth) ** -2.0)
            self.norms = norms * self.scale

    def rows(self, idx: Array) -> Array:
        return self._values(idx, slice(None))

    def columns(self, idx: Array) -> Array:
        return self._values(idx, slice(None)).T

    def block(self, idx: Array) -> Array:
        return self._values(idx, idx)

    def combine(self, idx: Array, factor: Array) -> Array:
        out = np.zeros((self.shape[0],) + factor.shape[1:])
        for first in range(0, len(idx), TILE):
            some, weight = idx[first : first + TILE], factor[first : first + TILE]
            step = TILE**2 // len(some)  # a tile of this many rows stays in the cache
            for begin in range(0, len(out), step):
                rows = slice(begin, begin + step)
                out[rows] += self._values(some, rows).T @ weight
        return out

    def _values(self, idx: Array, rows: Array | slice) -> Array:
        squared = (self.X[idx] * (-2 * self.scale)) @ self.X[rows].T
        squared += self.norms[rows]
        squared += self.norms[idx, None]
        np.maximum(squared, 0, out=squared)
        return np.asarray(self.kernel.profile(squared, np), dtype=np.float64)
