"""Kernels in an ONNX graph: k(x, centres) and k(x, x) for rows x that the graph is given."""

from functools import singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...errors import InputError
from ...kernels import (
    Callable,
    Cosine,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Sigmoid,
    Sum,
)
from ...kernels.base import Kernel
from ...kernels.chi2 import AdditiveChiSquared, ChiSquared
from ...kernels.radial import Radial
from .graph import Value

APART = 1e6  # squared bandwidths between centres beyond which products would lose the digits of small distances


def dense(rows: Any) -> np.ndarray:
    """Centres as a float64 matrix."""
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def squared_distances(X: Value, rows: np.ndarray) -> Value:
    """(n, m) ‖x − y‖²."""
    xp, centre = X.graph.xp, rows.mean(axis=0)
    rows, X = rows - centre, X - centre
    squared = (X * X).reduce("Sum", keep=True) + np.sum(rows**2, axis=1) - 2.0 * (X @ rows.T)
    return xp.maximum(squared, 0.0)


@singledispatch
def similarities(kernel: Kernel, X: Value, centres: Any) -> Value:
    """(n, m) k(x, centres)."""
    why = "is a Python function" if isinstance(kernel, Callable) else "is not among those that have one"
    raise InputError(f"{kernel!r} {why}: it has no form in ONNX. Use a kernel of mercer, or one derived from Radial.")


@similarities.register
def _(kernel: Radial, X: Value, centres: Any) -> Value:
    rows, scale = dense(centres), 1.0 / float(kernel.bandwidth)
    spread = np.max(np.sum((rows - rows.mean(axis=0)) ** 2, axis=1)) * scale**2
    squared = (X.against(rows) ** 2.0).reduce("Sum") if spread > APART else squared_distances(X, rows)
    return kernel.profile(squared * scale**2, X.graph.xp)


@similarities.register
def _(kernel: Laplacian, X: Value, centres: Any) -> Value:
    xp = X.graph.xp
    return xp.exp(xp.abs(X.against(dense(centres))).reduce("Sum") * (-1.0 / float(kernel.bandwidth)))


@similarities.register
def _(kernel: Linear, X: Value, centres: Any) -> Value:
    return X @ dense(centres).T


@similarities.register
def _(kernel: Polynomial, X: Value, centres: Any) -> Value:
    return ((X @ dense(centres).T) * float(kernel.scale) + float(kernel.offset)) ** float(kernel.degree)


@similarities.register
def _(kernel: Sigmoid, X: Value, centres: Any) -> Value:
    return X.graph.xp.tanh((X @ dense(centres).T) * float(kernel.scale) + float(kernel.offset))


@similarities.register
def _(kernel: Cosine, X: Value, centres: Any) -> Value:
    rows = dense(centres)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return unit(X) @ (rows / np.where(norms == 0, 1.0, norms)).T


@similarities.register
def _(kernel: AdditiveChiSquared, X: Value, centres: Any) -> Value:
    rows = dense(centres)
    total = X.against(-rows)
    total = X.graph.xp.where(total > 0.0, total, 1.0)
    return -((X.against(rows) ** 2.0 / total).reduce("Sum"))


@similarities.register
def _(kernel: ChiSquared, X: Value, centres: Any) -> Value:
    additive = similarities.dispatch(AdditiveChiSquared)(kernel, X, centres)
    return X.graph.xp.exp(additive * float(kernel.gamma))


@similarities.register
def _(kernel: Precomputed, X: Value, centres: Any) -> Value:
    return X.take(np.asarray(centres), axis=1)


@similarities.register
def _(kernel: Sum, X: Value, centres: Any) -> Value:
    return similarities(kernel.left, X, centres) + similarities(kernel.right, X, centres)


@similarities.register
def _(kernel: Product, X: Value, centres: Any) -> Value:
    return similarities(kernel.left, X, centres) * similarities(kernel.right, X, centres)


@similarities.register
def _(kernel: Scaled, X: Value, centres: Any) -> Value:
    return similarities(kernel.kernel, X, centres) * float(kernel.factor)


def unit(X: Value) -> Value:
    """Rows of length 1; a row of zeros stays."""
    xp = X.graph.xp
    norms = xp.sqrt((X * X).reduce("Sum", keep=True))
    return X / xp.where(norms > 0.0, norms, 1.0)


def own(kernel: Kernel, X: Value) -> Value:
    """(n, 1) k(x, x)."""
    if kernel.stationary:
        value = float(kernel.diag(np.zeros((1, 1)))[0])
        return (X * 0.0).reduce("Sum", keep=True) + value
    return _own(kernel, (X * X).reduce("Sum", keep=True))


@singledispatch
def _own(kernel: Kernel, norms: Value) -> Value:
    raise InputError(f"k(x, x) of {kernel!r} has no form in ONNX. Use RBF, another stationary kernel, or Linear.")


@_own.register
def _(kernel: Linear, norms: Value) -> Value:
    return norms


@_own.register
def _(kernel: Polynomial, norms: Value) -> Value:
    return (norms * float(kernel.scale) + float(kernel.offset)) ** float(kernel.degree)


@_own.register
def _(kernel: Sigmoid, norms: Value) -> Value:
    return norms.graph.xp.tanh(norms * float(kernel.scale) + float(kernel.offset))


@_own.register
def _(kernel: Cosine, norms: Value) -> Value:
    return (norms > 0.0).cast(np.float64)


@_own.register
def _(kernel: Sum, norms: Value) -> Value:
    return _part(kernel.left, norms) + _part(kernel.right, norms)


@_own.register
def _(kernel: Product, norms: Value) -> Value:
    return _part(kernel.left, norms) * _part(kernel.right, norms)


@_own.register
def _(kernel: Scaled, norms: Value) -> Value:
    return _part(kernel.kernel, norms) * float(kernel.factor)


def _part(kernel, norms):
    return norms * 0.0 + float(kernel.diag(np.zeros((1, 1)))[0]) if kernel.stationary else _own(kernel, norms)
