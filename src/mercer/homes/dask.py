"""Dask arrays: one task per row block; what comes back to the client is small or has one number a row."""

import multiprocessing
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import blas_threads, need
from ..errors import InputError
from .base import Array, Home, Rows, refuse_shape
from .host import HOME as HOST


class Dask(Home):
    """Row blocks that live on workers, or in files that they read."""

    name = "Dask array"
    lazy = True

    def owns(self, A: Any) -> bool:
        return type(A).__module__.partition(".")[0] == "dask"

    def host(self, A: Rows) -> Array:
        with blas_threads(1):
            return A.compute()

    def spread(self, Z: Array, X: Rows) -> Rows:
        return need("dask.array").from_array(Z.astype(X.dtype), chunks=(X.chunks[0], -1))

    def refuse(self, X: Rows) -> None:
        if not hasattr(X, "chunks"):
            raise InputError(
                f"X is a {type(X).__name__} of Dask. Accepted: a Dask array; for a table X.to_dask_array(lengths=True)."
            )
        refuse_shape(X, self.name, "X.astype('float32')")
        if np.isnan(X.shape[0]):
            raise InputError("The Dask array does not know its number of rows. Call X.compute_chunk_sizes() first.")

    def whole(self, X: Rows) -> Rows:
        raise InputError(
            "A kernel matrix cannot be formed from a Dask array at once. "
            "Give the array to an estimator or a map, which go through its row blocks."
        )

    def bad_columns(self, X: Rows) -> Array:
        return np.flatnonzero(~self.host(need("dask.array").isfinite(X).all(0)))

    def moments(self, Z: Rows, weight: Array | None) -> tuple[Array, Array]:
        parts = _each_block(Z, weight, HOST.moments)
        return tuple(np.sum(part, axis=0) for part in zip(*parts))  # type: ignore[return-value]

    def tdot(self, Z: Rows, A: Array) -> Array:
        return np.sum(_each_block(Z, A, HOST.tdot), axis=0)

    def dot(self, Z: Rows, W: Array) -> Array:
        return np.concatenate(_each_block(Z, None, lambda block, _: HOST.dot(block, W)))

    def squares(self, Z: Rows) -> Array:
        return np.concatenate(_each_block(Z, None, lambda block, _: HOST.squares(block)))

    def by_blocks(self, f: Callable, X: Rows, width: int | None, dtype: Any, step: int | None, threads: Any) -> Rows:
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        dtype = X.dtype if dtype is None else np.dtype(dtype)
        if width is None:
            return X.map_blocks(f, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype))
        return X.map_blocks(f, chunks=(X.chunks[0], (width,)), dtype=dtype, meta=np.empty((0, 0), dtype))

    def concat(self, parts: Sequence[Rows]) -> Rows:
        return need("dask.array").concatenate(list(parts), axis=1).rechunk({1: -1})


def _each_block(Z: Rows, A: Array | None, function: Callable) -> Sequence[Any]:
    """[function(block, rows of A)] over the row blocks, computed in one call."""
    delayed = need("dask").delayed
    if Z.numblocks[1] != 1:
        Z = Z.rechunk({1: -1})
    ends = np.cumsum(Z.chunks[0])
    parts = [
        delayed(_pinned)(function, block, None if A is None else A[end - length : end])
        for block, length, end in zip(Z.to_delayed().ravel(), Z.chunks[0], ends)
    ]
    with blas_threads(1):  # the threaded scheduler already uses every core
        return need("dask").compute(*parts)


def _pinned(function: Callable, block: Any, A: Array | None) -> Any:
    """Run on a worker; in another process BLAS then keeps to one thread, since Dask runs one task per core."""
    if multiprocessing.parent_process() is not None:
        blas_threads(1)
    return function(block, A)


HOME = Dask()
