"""Tall host matrices whose rows are computed again in every pass."""

import numpy as np
from numpy.typing import DTypeLike

from ..backend import n_threads, parallel
from ..types import Array, Block, Rows
from .base import Home
from .host import HOME as HOST

ENTRIES = 2**18  # per block (2 MB), or r × r if that is more


class Computed:
    """A tall matrix that is never stored as a whole. Subclasses set `shape` and `dtype` and define ``Z[rows]``.

    They may replace `product` and `sum_moments`. ``np.asarray(Z)`` stores it.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    threadsafe = True  # whether rows may be computed in several threads at once
    _known: tuple[Array | None, Array, Array] | None = None  # the latest weight with its Gram matrix and sums

    def __getitem__(self, rows: slice) -> Array:
        raise NotImplementedError(f"{type(self).__name__} must define Z[rows].")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.asarray(HOST.host(self[:]), dtype=dtype)

    def mass(self, weight: Array | None) -> float:
        """The number of rows in the moments, or their weight."""
        return Home.mass(HOME, self, weight)

    def product(self, W: Array) -> Array:
        """Z W for a host W."""
        return Home.dot(HOME, self, W)

    def moments(self, weight: Array | None) -> tuple[Array, Array]:
        """(Zᵀ diag(weight) Z, Zᵀ weight). The latest result is kept, since a pass computes every row again."""
        if self._known is None or not _same(self._known[0], weight):
            self._known = None if weight is None else weight.copy(), *self.sum_moments(weight)
        return self._known[1:]

    def sum_moments(self, weight: Array | None) -> tuple[Array, Array]:
        """The moments, from strips of blocks that are distributed among threads."""
        blocks = HOME.blocks(self)
        threads = min(n_threads(), len(blocks)) if self.threadsafe else 1
        parts: list = [None] * threads

        def strip(k: int) -> None:
            parts[k] = HOME.sum_moments(self, weight, blocks[k::threads])

        parallel(strip, range(threads), threads)
        return tuple(sum(part) for part in zip(*parts))  # type: ignore[return-value]


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b is None or (a is not None and b is not None and np.array_equal(a, b))


class ComputedHome(Home):
    """Matrices of class `Computed`."""

    name = "computed matrix"
    on_host = True

    def owns(self, A: Rows) -> bool:
        return isinstance(A, Computed)

    def host(self, A: Rows) -> Array:
        return HOST.host(A)

    def moments(self, Z: Rows, weight: Array | None) -> tuple[Array, Array]:
        return Z.moments(weight)

    def mass(self, Z: Rows, weight: Array | None) -> float:
        return Z.mass(weight)

    def dot(self, Z: Rows, W: Array) -> Array:
        return Z.product(W)

    def double(self, block: Rows) -> Block:
        return HOST.double(block)

    def take(self, Z: Rows, idx: Array) -> Array:
        return HOST.host(Z[idx])

    def blocks(self, Z: Rows) -> list[slice]:
        n, r = Z.shape
        step = max(r, ENTRIES // r)
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]


HOME = ComputedHome()
