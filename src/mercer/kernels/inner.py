"""Kernels of the inner product of two rows."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..rows import host, namespace
from ..types import Block, Rows
from .base import Formula, Kernel, Term, inner_products, squared_norms


def _host_norms(X: Rows) -> NDArray[np.float64]:
    return host(squared_norms(X)).astype(np.float64)


class Linear(Kernel):
    """x · y."""

    names = ("linear",)
    formula = Formula.LINEAR
    rows_are_features = True

    def tile(self, X: Rows, Y: Rows) -> Block:
        return inner_products(X, Y)

    def slope(self, X: Rows, V: Rows, Y: Rows) -> Block:
        return inner_products(V, Y)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return _host_norms(X)


class _Affine(Kernel):
    """A function of scale · x·y + offset. Scale = None means 1 / number of columns."""

    scale: Any
    offset: float

    def resolve(self, X: Rows, weight: NDArray[np.float64] | None = None) -> Self:
        resolved = super().resolve(X, weight)
        if self.scale is None:
            resolved.scale = 1.0 / max(X.shape[1], 1)
        return resolved

    def check(self) -> None:
        if self.scale is None:
            raise InputError(f"{self!r} has scale=None (1 / columns), not a number yet. Call kernel.resolve(X) first.")
        if not self.scale > 0:
            raise InputError(f"scale={self.scale!r} is not accepted. Use a number above 0, or None for 1 / columns.")

    def _affine(self, X: Rows, Y: Rows) -> Block:
        S = inner_products(X, Y)
        S *= self.scale
        S += self.offset
        return S


class Polynomial(_Affine):
    """(scale · x·y + offset)^degree.

    >>> Polynomial(degree=2, offset=1.0, scale=1.0)([[2.0]], [[3.0]])
    array([[49.]])
    """

    names = ("poly", "polynomial")
    formula = Formula.POWER

    def __init__(self, degree: float = 3, offset: float = 1.0, scale: float | None = None):
        self.degree = degree
        self.offset = offset
        self.scale = scale

    psd = property(lambda self: float(self.degree).is_integer() and self.offset >= 0)

    def check(self) -> None:
        super().check()
        if not self.degree > 0:
            raise InputError(f"degree={self.degree!r} is not accepted. Use a number above 0.")

    def tile(self, X: Rows, Y: Rows) -> Block:
        return _power(self._affine(X, Y), self.degree)

    def slope(self, X: Rows, V: Rows, Y: Rows) -> Block:
        along = inner_products(V, Y) * (self.degree * self.scale)
        return along if self.degree == 1 else along * _power(self._affine(X, Y), self.degree - 1)

    def terms(self, factor: float = 1.0) -> list[Term] | None:
        if self.formula is None or not float(self.degree).is_integer() or self.degree > 16:
            return None
        return [Term(self.formula + int(self.degree), factor, self.scale, self.offset)]

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return _power(self.scale * _host_norms(X) + self.offset, self.degree)


class Sigmoid(_Affine):
    """tanh(scale · x·y + offset). It is not positive semi-definite in general, and maps cut off its negative part."""

    names = ("sigmoid",)
    psd = False

    def __init__(self, scale: float | None = None, offset: float = 1.0):
        self.scale = scale
        self.offset = offset

    def tile(self, X: Rows, Y: Rows) -> Block:
        with np.errstate(over="ignore"):  # the tanh of an overflow is ±1, as it should be
            S = self._affine(X, Y)
        return namespace(S).tanh(S, out=S)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return np.tanh(self.scale * _host_norms(X) + self.offset)


class Cosine(Kernel):
    """x · y / (‖x‖ ‖y‖). A zero row has similarity 0 with every row, including itself."""

    names = ("cosine",)
    formula = Formula.COSINE

    def tile(self, X: Rows, Y: Rows) -> Block:
        S = inner_products(X, Y)
        for norms, axis in ((squared_norms(X), (slice(None), None)), (squared_norms(Y), (None, slice(None)))):
            norms = namespace(S).sqrt(norms)
            norms[norms == 0] = 1.0
            S /= norms[axis]
        return S

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return (_host_norms(X) > 0).astype(np.float64)


def _power(S: Block, degree: float) -> Block:
    """S ** degree in place. Whole degrees use repeated multiplication, which is ten times faster than pow."""
    if not float(degree).is_integer() or degree > 16:
        if not float(degree).is_integer() and bool((S < 0).any()):
            raise InputError(
                f"degree={degree!r} is not a whole number and scale · x·y + offset is negative for some rows. "
                "Use a whole degree, or rows whose inner products are all above −offset / scale."
            )
        S **= degree
        return S
    factor = S * 1.0
    for _ in range(int(degree) - 1):
        S *= factor
    return S
