"""Operations on a tall matrix Z, whether it is in NumPy, in torch (CPU or GPU), in Dask, or is computed in every pass.

Only n × r objects may be off the host. The results of the first four operations are on the host.

========================= =========================== ================
operation                 result                      type
========================= =========================== ================
``gram(Z, weight)``       Zᵀ diag(weight) Z, r × r    float64 (with ``sums=True`` also Zᵀ weight, from the same pass)
``tdot(Z, A)``            Zᵀ A, r × k                 float64
``dot(Z, W, weight)``     diag(weight) Z W, n × k     float64
``take(Z, idx)``          some rows                   float64
``squares(Z)``            squared length of each row  float64
``host(a)``               the array itself            dtype kept
``like(a, Z)``            a, moved to Z's device      Z's dtype
``near(a, X)``            host rows outside X's blocks dtype kept on the host
``by_blocks(f, X, width)`` f on row blocks of X       on X's device
``empty(shape, X)``       an array on X's device       X's dtype
``concat(parts)``         matrices side by side       on their device
========================= =========================== ================

Sums over rows are accumulated in float64 block by block, so a float32 Z loses no digits in its Gram matrix. Each of
these array backends is one module of `mercer.homes`.
"""

import functools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from .backend import require_memory
from .homes import home_of
from .homes.row_clusters import RowClusters
from .types import Array, Block, Index, Rows


def host(a: Rows) -> Array:
    """The array on the host as NumPy, from any array backend."""
    return home_of(a).host(a)


def bring(a: Block) -> Rows:
    """The object on the host. Whatever is there already is returned unchanged, of any type."""
    return home_of(a).bring(a)


def host_rows(X: Rows) -> Block:
    """Rows on the host, dense or CSR, in floating point."""
    if sp.issparse(X):
        return X.tocsr()
    return home_of(rows := host(X)).floating(rows)


def like(a: Block, Z: Rows) -> Block:
    """A host array moved to Z's device, in Z's dtype (for Dask the array stays on the host)."""
    return home_of(Z).like(a, Z)


def near(a: Block, X: Rows) -> Block:
    """Host rows, dense or sparse, as the second argument of a kernel whose first one is a block of X."""
    return home_of(X).near(a, X)


def gram(Z: Rows, weight: Array | None = None, sums: bool = False) -> Block:
    """Zᵀ diag(weight) Z as a host float64 matrix, and with sums=True also Zᵀ weight. weight=None means ones."""
    G, total = home_of(Z).moments(Z, weight)
    return (G, total) if sums else G


def mass(Z: Rows, weight: Array | None = None) -> float:
    """The number of rows that `gram` sums over, or their weight."""
    return home_of(Z).mass(Z, weight)


def tdot(Z: Rows, A: Rows) -> Array:
    """Zᵀ A for a host vector or matrix A with one row per row of Z."""
    return home_of(Z).tdot(Z, np.asarray(A, dtype=np.float64))


def dot(Z: Rows, W: Rows, weight: Array | None = None) -> Array:
    """diag(weight) Z W as a host float64 array for a host vector or matrix W. weight=None means ones."""
    out = home_of(Z).dot(Z, np.asarray(W, dtype=np.float64))
    return out if weight is None else (weight * out.T).T


def take(Z: Rows, idx: Index) -> Array:
    """The rows idx (integers or a boolean mask) of Z on the host, float64."""
    idx = np.asarray(idx)
    return home_of(Z).take(Z, np.flatnonzero(idx) if idx.dtype == bool else idx).astype(np.float64)


def squares(Z: Rows) -> Array:
    """‖z‖² of every row, on the host."""
    return home_of(Z).squares(Z)


def by_blocks(
    f: Callable,
    X: Rows,
    width: int | None,
    dtype: DTypeLike | None = None,
    step: int | None = None,
    threads: int | None = None,
) -> Rows:
    """f(X) for an f that acts on rows, block by block if X is in blocks.

    Parameters
    ----------
    width : number of columns of the result. None for one number per row.
    dtype : dtype of the result, X's by default.
    step : rows at a time on the host, all at once by default.
    threads : number of threads that process them.
    """
    return home_of(X).by_blocks(f, X, width, dtype, step, threads)


def by_row(method: Callable) -> Callable:
    """Decorator of a method that treats every row separately. For rows in Dask it returns a lazy Dask array.

    The object then goes to each worker once and receives the blocks as host rows.
    """

    @functools.wraps(method)
    def wrapped(self: Any, X: Rows, *arguments: object, **options: object) -> Block:
        return home_of(X).answers(method, self, X, arguments, options)

    return wrapped


def sampled(a: Block, X: Rows) -> Block:
    """The entries of a host array, one per row of X, for the rows that a fit reads (a sample in Dask)."""
    return home_of(X).sampled(a, X)


def empty(shape: tuple[int, ...], X: Rows) -> Block:
    """An uninitialized array on X's device, of its dtype."""
    return home_of(X).empty(shape, X)


def concat(parts: Sequence[Rows]) -> Rows:
    """Concatenate matrices of one array backend side by side."""
    return parts[0] if len(parts) == 1 else home_of(parts[0]).concat(parts)


def row_clusters(Z: Rows, linear: Array, weight: Array) -> RowClusters | None:
    """The rows of Z for c-means on Z's device. None if the host uses products with the rows instead."""
    return home_of(Z).partition(Z, linear, weight)


def room_for(n_bytes: int, X: Rows, what: str, remedy: str) -> None:
    """Raise `BackendError` for an allocation on X's device that cannot fit."""
    require_memory(n_bytes, what, remedy, home_of(X).free_memory(X))


def namespace(A: Rows) -> ModuleType:
    """The module whose `exp`, `sqrt`, `clip`, … act on A. This is torch for tensors, and numpy for the rest."""
    return home_of(A).namespace(A)
