"""Kernels in an ONNX graph, as k(x, centers) and k(x, x) for rows x of its input."""

from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...errors import InputError
from ...kernels import Callable, Cosine, Laplacian, Linear, Polynomial, Precomputed, Product, Scaled, Sigmoid, Sum
from ...kernels.base import Kernel
from ...kernels.chi2 import AdditiveChiSquared, ChiSquared
from ...kernels.radial import Radial
from ...types import Rows
from .graph import Value


def similarities(kernel: Kernel, X: Value, centers: Rows) -> Value:
    """(n, m) k(x, centers)."""
    return formula(kernel, Pairs(X, centers))


def own(kernel: Kernel, X: Value) -> Value:
    """(n, 1) k(x, x)."""
    return formula(kernel, Same(X))


class Pairs:
    """(n, m) products, angles and distances of rows of the graph and fixed centers, for kernels."""

    def __init__(self, X: Value, centers: Rows) -> None:
        self.X, self.centers = X, centers

    def products(self) -> Value:
        return self.X @ dense(self.centers).T

    def cosines(self) -> Value:
        rows = dense(self.centers)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return unit(self.X) @ (rows / np.where(norms == 0, 1.0, norms)).T

    def squared(self, bandwidth: float) -> Value:
        """‖x − y‖² / bandwidth²"""
        rows, scale = dense(self.centers), 1.0 / bandwidth
        spread = np.max(np.sum((rows - rows.mean(axis=0)) ** 2, axis=1)) * scale**2
        far = spread > 1e6  # then products lose the digits of small distances
        return ((self.X.against(rows) ** 2.0).reduce("Sum") if far else squared_distances(self.X, rows)) * scale**2

    def absolute(self) -> Value:
        """Σ |x − y|"""
        return self.X.graph.xp.abs(self.X.against(dense(self.centers))).reduce("Sum")

    def chi_squared(self) -> Value:
        """Σ (x − y)² / (x + y)"""
        rows = dense(self.centers)
        total = self.X.against(-rows)
        total = self.X.graph.xp.where(total > 0.0, total, 1.0)
        return (self.X.against(rows) ** 2.0 / total).reduce("Sum")

    def entries(self) -> Value:
        return self.X.take(np.asarray(self.centers), axis=1)

    def constant(self, kernel: Kernel) -> None:
        """None, because only k(x, x) may be the same for all rows."""


class Same:
    """(n, 1) products, angles and distances of every row and itself, for kernels."""

    def __init__(self, X: Value) -> None:
        self.norms = (X * X).reduce("Sum", keep=True)

    def products(self) -> Value:
        return self.norms

    def cosines(self) -> Value:
        return (self.norms > 0.0).cast(np.float64)

    def squared(self, bandwidth: float = 1.0) -> Value:
        return self.norms * 0.0

    absolute = chi_squared = squared

    def entries(self) -> Value:
        raise InputError("A precomputed kernel matrix does not contain k(x, x) of new rows. Fit with a kernel object.")

    def constant(self, kernel: Kernel) -> Value | None:
        return self.squared() + float(kernel.diag(np.zeros((1, 1)))[0]) if kernel.stationary else None


@singledispatch
def formula(kernel: Kernel, of: Pairs | Same) -> Value:
    """The kernel's values for `Pairs` of rows and centers, or for the `Same` rows."""
    if (found := of.constant(kernel)) is not None:
        return found
    what = "is a Python function, which" if isinstance(kernel, Callable) else "is a kernel that"
    raise InputError(f"{kernel!r} {what} cannot be exported to ONNX. Use a kernel of mercer, or one based on Radial.")


@formula.register
def _(kernel: Radial, of: Pairs | Same) -> Value:
    squared = of.squared(float(kernel.bandwidth))
    xp: Any = squared.graph.xp  # has the functions of an array module that profiles use
    return kernel.profile(squared, xp)


@formula.register
def _(kernel: Laplacian, of: Pairs | Same) -> Value:
    distance = of.absolute()
    return distance.graph.xp.exp(distance * (-1.0 / float(kernel.bandwidth)))


@formula.register
def _(kernel: Linear, of: Pairs | Same) -> Value:
    return of.products()


@formula.register
def _(kernel: Polynomial, of: Pairs | Same) -> Value:
    return (of.products() * float(kernel.scale) + float(kernel.offset)) ** float(kernel.degree)


@formula.register
def _(kernel: Sigmoid, of: Pairs | Same) -> Value:
    products = of.products()
    return products.graph.xp.tanh(products * float(kernel.scale) + float(kernel.offset))


@formula.register
def _(kernel: Cosine, of: Pairs | Same) -> Value:
    return of.cosines()


@formula.register
def _(kernel: AdditiveChiSquared, of: Pairs | Same) -> Value:
    return -of.chi_squared()


@formula.register
def _(kernel: ChiSquared, of: Pairs | Same) -> Value:
    distance = of.chi_squared()
    return distance.graph.xp.exp(distance * -float(kernel.gamma))


@formula.register
def _(kernel: Precomputed, of: Pairs | Same) -> Value:
    return of.entries()


@formula.register
def _(kernel: Sum, of: Pairs | Same) -> Value:
    return formula(kernel.left, of) + formula(kernel.right, of)


@formula.register
def _(kernel: Product, of: Pairs | Same) -> Value:
    return formula(kernel.left, of) * formula(kernel.right, of)


@formula.register
def _(kernel: Scaled, of: Pairs | Same) -> Value:
    return formula(kernel.kernel, of) * float(kernel.factor)


def dense(rows: Rows) -> np.ndarray:
    """Centers as a float64 matrix."""
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def squared_distances(X: Value, rows: np.ndarray) -> Value:
    """(n, m) ‖x − y‖²."""
    xp, center = X.graph.xp, rows.mean(axis=0)
    rows, X = rows - center, X - center
    squared = (X * X).reduce("Sum", keep=True) + np.sum(rows**2, axis=1) - 2.0 * (X @ rows.T)
    return xp.maximum(squared, 0.0)


def unit(X: Value) -> Value:
    """Rows of length 1. A row of zeros does not change."""
    xp = X.graph.xp
    norms = xp.sqrt((X * X).reduce("Sum", keep=True))
    return X / xp.where(norms > 0.0, norms, 1.0)
