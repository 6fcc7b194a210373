"""Dask arrays and data frames, with one task per block of rows. Results on the client do not grow with the blocks."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..backend import need, one_thread
from ..errors import InputError
from ..types import Array, Block, ColumnLike, Estimator, Rows
from .base import Home
from .blocks import SAMPLE, Blocks, answered, draw, once
from .host import HOME as HOST


class Dask(Home):
    """Row blocks that are on workers, or in files that they read.

    A fit opens them as `Blocks`. It reads a sample of the rows on the client, and all rows through sums. Predictions
    for rows in Dask are Dask arrays.
    """

    name = "Dask array"
    lazy = True

    def owns(self, A: Rows) -> bool:
        return isinstance(A, Blocks) or type(A).__module__.partition(".")[0] in ("dask", "dask_expr")

    # Moves

    def host(self, A: Rows) -> Array:
        if isinstance(A, Blocks):
            return A[np.arange(A.shape[0])]
        with one_thread():
            return A.compute()

    def spread(self, Z: Array, X: Rows) -> None:
        return None  # the features are computed again, block by block

    def only(self, X: Rows, keep: Array) -> Rows:
        return X.only(keep)

    # Checks

    def opened(self, X: Rows, frames: bool = False) -> Blocks:
        if isinstance(X, Blocks):
            return X
        if getattr(X, "ndim", 0) != 2 or not (hasattr(X, "chunks") or hasattr(X, "columns")):
            raise InputError(
                f"X is a {type(X).__name__} of Dask of shape {getattr(X, 'shape', '?')}. Accepted: an array of two "
                "dimensions, or a data frame."
            )
        return Blocks.of(X, frames)

    def example(self, X: Rows) -> Rows:
        """One row of zeros in the shape of X."""
        if not hasattr(X, "columns"):
            return np.zeros((1, X.shape[1]), dtype=X.dtype)
        return need("pandas").DataFrame(np.zeros((1, X.shape[1])), columns=X.columns)

    def whole(self, X: Rows) -> Rows:
        raise InputError(
            "A kernel matrix cannot be formed from a Dask array at once. "
            "Give the array to an estimator or a map, which go through its row blocks."
        )

    def parts(self, function: Callable, y: ColumnLike, *arguments: object) -> list:
        """[function(part, *arguments)] of every part of a column, on the client."""
        dask = need("dask")
        return list(dask.compute(*(dask.delayed(function)(part, *arguments) for part in np.ravel(y.to_delayed()))))

    # A sample that represents all rows

    def sample(self, X: Rows, seed: int, *also: Array) -> Array:
        X.sample = np.unique(np.concatenate([draw(X.shape[0], SAMPLE, seed), *also]))
        return X.sample

    def sampled(self, a: Block, X: Rows) -> Block:
        return None if a is None else a[X.sample]

    def sample_of(self, X: Rows) -> Array | None:
        return getattr(X, "sample", None)  # new rows have no sample, and all of them count

    def fetch(self, X: Rows, *sets: Array) -> None:
        X.fetch(X.sample, *sets)

    # Passes

    def reduced(self, function: Callable, shared: object, X: Rows, weight: Array | None) -> tuple:
        return self.opened(X).total(function, shared, weight)

    def moments(self, Z: Rows, weight: Array | None) -> tuple[Array, Array]:
        return self.reduced(_moments, None, Z, weight)  # type: ignore[return-value]

    def tdot(self, Z: Rows, A: Array) -> Array:
        return self.reduced(_tdot, None, Z, A)[0]

    def dot(self, Z: Rows, W: Array) -> Array:
        return np.concatenate(self.opened(Z).each(_dot, W))

    def take(self, Z: Rows, idx: Array) -> Array:
        return HOST.take(self.opened(Z)[idx], slice(None))  # type: ignore[arg-type]

    def squares(self, Z: Rows) -> Array:
        return np.concatenate(self.opened(Z).each(_squares, None))

    # Predictions

    def answers(self, method: Callable, model: Estimator, X: Rows, arguments: tuple, options: dict) -> Rows:
        X = X.source if isinstance(X, Blocks) else X
        if getattr(X, "ndim", 0) != 2:
            self.opened(X)  # raises an error
        like = np.asarray(method(model, self.example(X), *arguments, **options))
        sent = model.answering() if hasattr(model, "answering") else model
        shared = {"model": once(sent), "call": (method.__name__, arguments, options), "like": like[:0]}
        if hasattr(X, "columns"):
            delayed, array = need("dask").delayed, need("dask.array")
            parts = [delayed(answered)(part, **shared) for part in X.to_delayed()]
            shape = np.nan, *like.shape[1:]
            return array.concatenate([array.from_delayed(part, shape, meta=like[:0]) for part in parts])
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        where = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], like.shape[1:])}
        return X.map_blocks(answered, **shared, **where, dtype=like.dtype, meta=np.empty((0,) * like.ndim, like.dtype))

    def largest(self, function: Callable, A: Rows, k: int) -> tuple[Array, Array]:
        dask = need("dask")
        tasks = [dask.delayed(_largest)(part, function, k) for part in np.ravel(A.to_delayed())]
        lengths, rows, values = zip(*dask.compute(*tasks))
        starts = np.cumsum([0, *lengths[:-1]])
        numbers, found = np.concatenate([own + start for own, start in zip(rows, starts)]), np.concatenate(values)
        best = np.argsort(-found, kind="stable")[:k]
        return numbers[best], found[best]

    def by_blocks(
        self, f: Callable, X: Rows, width: int | None, dtype: DTypeLike | None, step: int | None, threads: Any
    ) -> Rows:
        X = X.source if isinstance(X, Blocks) else X
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        dtype = X.dtype if dtype is None else np.dtype(dtype)
        if width is None:
            return X.map_blocks(f, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype))
        return X.map_blocks(f, chunks=(X.chunks[0], (width,)), dtype=dtype, meta=np.empty((0, 0), dtype))

    def concat(self, parts: Sequence[Rows]) -> Rows:
        return need("dask.array").concatenate(list(parts), axis=1).rechunk({1: -1})


def _largest(block: Block, function: Callable, k: int) -> tuple[int, Array, Array]:
    return len(block), *HOST.largest(function, block, k)


def _moments(_: None, block: Block, weight: Array | None) -> tuple[Array, Array]:
    return HOST.moments(block, weight)


def _tdot(_: None, block: Block, A: Array) -> tuple[Array]:
    return (HOST.tdot(block, A),)


def _dot(W: Array, block: Block, _: None) -> Array:
    return HOST.dot(block, W)


def _squares(_: None, block: Block, __: None) -> Array:
    return HOST.squares(block)


HOME = Dask()
