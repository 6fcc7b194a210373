"""Sums, products and scalings of kernels, such as `0.3 * RBF(2.0) + Linear()`."""

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..types import Block, Rows
from .base import Kernel, Term


class Composite(Kernel):
    """A kernel that combines the kernels among its parameters."""

    @property
    def operands(self) -> list[Kernel]:
        return [value for value in vars(self).values() if isinstance(value, Kernel)]

    stationary = property(lambda self: all(kernel.stationary for kernel in self.operands))
    psd = property(lambda self: all(kernel.psd for kernel in self.operands))
    transductive = property(lambda self: any(kernel.transductive for kernel in self.operands))
    threadsafe = property(lambda self: all(kernel.threadsafe for kernel in self.operands))

    @property
    def takes(self) -> str:  # type: ignore[override]
        kinds = {kernel.takes for kernel in self.operands} - {"any"}
        if len(kinds) > 1:
            raise InputError(
                f"{self!r} joins a kernel on numbers with a kernel on objects, and a row is one or the other. "
                "Use kernels of one kind."
            )
        return kinds.pop() if kinds else "any"

    def check(self) -> None:
        for kernel in self.operands:
            kernel.check()


class _Pair(Composite):
    """Two kernels combined entry by entry."""

    def __init__(self, left: Kernel, right: Kernel):
        self.left = left
        self.right = right


class Sum(_Pair):
    """k(x, y) = left(x, y) + right(x, y).

    >>> from mercer import RBF, Linear
    >>> (RBF(1.0) + 0.5 * Linear())([[0.0], [1.0]])[1, 1]
    np.float64(1.5)
    """

    def tile(self, X: Rows, Y: Rows) -> Block:
        K = self.left.tile(X, Y)
        K += self.right.tile(X, Y)
        return K

    def slope(self, X: Rows, V: Rows, Y: Rows) -> Block:
        return self.left.slope(X, V, Y) + self.right.slope(X, V, Y)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return self.left.diag(X) + self.right.diag(X)

    def parts(self, weight: float = 1.0) -> list[tuple[float, Kernel]]:
        return self.left.parts(weight) + self.right.parts(weight)

    def terms(self, factor: float = 1.0) -> list[Term] | None:
        left, right = self.left.terms(factor), self.right.terms(factor)
        return None if left is None or right is None else left + right

    def __repr__(self) -> str:
        return f"{self.left!r} + {_bracketed(self.right, Sum)}"


class Product(_Pair):
    """k(x, y) = left(x, y) · right(x, y)."""

    def tile(self, X: Rows, Y: Rows) -> Block:
        K = self.left.tile(X, Y)
        K *= self.right.tile(X, Y)
        return K

    def slope(self, X: Rows, V: Rows, Y: Rows) -> Block:
        return self.left.slope(X, V, Y) * self.right.tile(X, Y) + self.left.tile(X, Y) * self.right.slope(X, V, Y)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return self.left.diag(X) * self.right.diag(X)

    def parts(self, weight: float = 1.0) -> list[tuple[float, Kernel]]:
        if self.transductive:
            raise InputError(
                f"{self!r} multiplies a graph kernel with another kernel, which has no factor of moderate size. "
                "Use a sum such as 0.3 * RBF() + 0.7 * Diffusion()."
            )
        return super().parts(weight)

    def __repr__(self) -> str:
        return f"{_bracketed(self.left, Sum)} * {_bracketed(self.right, Composite)}"


class Scaled(Composite):
    """k(x, y) = factor · kernel(x, y), factor > 0."""

    def __init__(self, kernel: Kernel, factor: float):
        self.kernel = kernel
        self.factor = factor

    def check(self) -> None:
        if not 0 < self.factor < np.inf:
            raise InputError(
                f"A kernel was multiplied by {self.factor!r}, which does not give a kernel. Use a number above 0."
            )
        super().check()

    def tile(self, X: Rows, Y: Rows) -> Block:
        K = self.kernel.tile(X, Y)
        K *= self.factor
        return K

    def slope(self, X: Rows, V: Rows, Y: Rows) -> Block:
        return self.kernel.slope(X, V, Y) * self.factor

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return self.factor * self.kernel.diag(X)

    def parts(self, weight: float = 1.0) -> list[tuple[float, Kernel]]:
        return self.kernel.parts(weight * self.factor)

    def terms(self, factor: float = 1.0) -> list[Term] | None:
        return self.kernel.terms(factor * self.factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_bracketed(self.kernel, Composite)}"


def _bracketed(kernel: Kernel, looser: type[Composite]) -> str:
    """The kernel's repr, in brackets if Python would parse it differently without them."""
    return f"({kernel!r})" if isinstance(kernel, looser) else repr(kernel)
