"""Kernels of the inner product of two rows."""

import numpy as np

from ..backend import home, namespace
from ..errors import InputError
from .base import Kernel, products, squared_norms


def _host_norms(X):
    norms = squared_norms(X)
    return (norms.cpu().numpy() if home(norms) == "torch" else norms).astype(np.float64)


class Linear(Kernel):
    """x · y."""

    def _tile(self, X, Y):
        return products(X, Y)

    def diag(self, X):
        return _host_norms(X)


class _Affine(Kernel):
    """A function of scale · x·y + offset; scale = None means 1 / number of columns."""

    def resolve(self, X, weight=None):
        resolved = super().resolve(X, weight)
        if self.scale is None:
            resolved.scale = 1.0 / X.shape[1]
        return resolved

    def _check_resolved(self):
        if self.scale is None:
            raise InputError(
                f"{self!r} has scale=None (1 / number of columns), not a number yet. Call kernel.resolve(X) first."
            )
        if not self.scale > 0:
            raise InputError(f"scale={self.scale!r} is not accepted: give a number above 0, or None for 1 / columns.")

    def _affine(self, X, Y):
        S = products(X, Y)
        S *= self.scale
        S += self.offset
        return S


class Polynomial(_Affine):
    """(scale · x·y + offset)^degree.

    >>> Polynomial(degree=2, offset=1.0, scale=1.0)([[2.0]], [[3.0]])
    array([[49.]])
    """

    def __init__(self, degree=3, offset=1.0, scale=None):
        self.degree = degree
        self.offset = offset
        self.scale = scale

    psd = property(lambda self: float(self.degree).is_integer() and self.offset >= 0)

    def _check_resolved(self):
        super()._check_resolved()
        if not self.degree > 0:
            raise InputError(f"degree={self.degree!r} is not accepted: give a number above 0.")

    def _tile(self, X, Y):
        return _power(self._affine(X, Y), self.degree)

    def diag(self, X):
        return _power(self.scale * _host_norms(X) + self.offset, self.degree)


class Sigmoid(_Affine):
    """tanh(scale · x·y + offset). Not positive semi-definite in general: maps truncate it and say by how much."""

    psd = False

    def __init__(self, scale=None, offset=1.0):
        self.scale = scale
        self.offset = offset

    def _tile(self, X, Y):
        S = self._affine(X, Y)
        return namespace(S).tanh(S, out=S)

    def diag(self, X):
        return np.tanh(self.scale * _host_norms(X) + self.offset)


class Cosine(Kernel):
    """x · y / (‖x‖ ‖y‖); a zero row has similarity 0 with everything, itself included."""

    def _tile(self, X, Y):
        S = products(X, Y)
        for norms, axis in ((squared_norms(X), (slice(None), None)), (squared_norms(Y), (None, slice(None)))):
            norms = namespace(S).sqrt(norms)
            norms[norms == 0] = 1.0
            S /= norms[axis]
        return S

    def diag(self, X):
        return (_host_norms(X) > 0).astype(np.float64)


def _power(S, degree):
    """S ** degree in place; whole degrees by repeated multiplication, ten times faster than pow."""
    if not float(degree).is_integer() or degree > 16:
        if not float(degree).is_integer() and bool((S < 0).any()):
            raise InputError(
                f"degree={degree!r} is not a whole number and scale · x·y + offset is negative for some rows. "
                "Accepted: a whole degree, or rows whose inner products stay above −offset / scale."
            )
        S **= degree
        return S
    factor = S * 1.0
    for _ in range(int(degree) - 1):
        S *= factor
    return S
