"""Rows in Dask, as blocks of known lengths, with sums over them and the rows that were fetched to the client."""

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from ..backend import need, one_thread
from ..errors import InputError
from ..types import Array, Block, ColumnLike, Estimator, Index, Rows
from .base import refuse_columns

SAMPLE = 10_000  # rows that represent all of them if a fit reads single rows


class Blocks:
    """A tall matrix in blocks on workers. Only ``X[positions]`` fetches rows to this process, and keeps them.

    The three methods `task`, `once` and `compute` use Dask, and a subclass may use another engine.

    Parameters
    ----------
    parts : blocks in the engine, as NumPy or SciPy rows, or as data frames.
    lengths : number of rows of each block.
    width : number of columns.
    dtype : floating-point type in which rows are computed. None leaves data frames unchanged.
    names : names of the columns, or None.
    source : the rows for which predictions are computed, or None.

    Attributes
    ----------
    sample : positions of the rows that represent all rows in a fit, ascending. They depend on n and the seed only.
    """

    ndim = 2

    def __init__(
        self,
        parts: list,
        lengths: Any,
        width: int,
        dtype: DTypeLike | None,
        names: ColumnLike = None,
        source: Any = None,
    ):
        self.parts, self.names, self.source = parts, names, source
        self.frames, self.dtype = dtype is None, np.dtype(object if dtype is None else dtype)
        self.lengths = np.asarray(lengths, dtype=int)
        self.ends = np.cumsum(self.lengths)
        self.shape = int(self.lengths.sum()), width
        self.sample = draw(self.shape[0], SAMPLE, 0)
        self._at = np.zeros(0, dtype=int)
        self._rows: Rows = None

    @classmethod
    def of(cls, source: Any, frames: bool = False) -> "Blocks":
        """The blocks of a Dask array of two dimensions or of a Dask data frame.

        If Dask does not know their lengths, one pass over the first column counts them.
        """
        names = [str(name) for name in source.columns] if hasattr(source, "columns") else None
        dtype = None if frames else _dtype(source)
        whole = source if names is not None or source.numblocks[1] == 1 else source.rechunk({1: -1})
        parts = np.ravel(whole.to_delayed()).tolist()
        return cls(parts, _lengths(source), int(source.shape[1]), dtype, names, source)

    def task(self, function: Callable, *arguments: object) -> Block:
        """A task that represents function(*arguments). The arguments may be parts and other tasks."""
        return need("dask").delayed(function, pure=False)(*arguments)

    def once(self, value: object) -> Block:
        """A task that represents a value and sends it to each worker once."""
        return once(value)

    def compute(self, tasks: Sequence) -> list:
        """The results of tasks, in this process."""
        return list(need("dask").compute(*tasks))

    def __getitem__(self, rows: Index) -> Block:
        rows = np.arange(self.shape[0])[rows] if isinstance(rows, slice) else np.asarray(rows)
        self.fetch(rows)
        places = np.searchsorted(self._at, rows)
        return self._rows.iloc[places] if self.frames else self._rows[places]

    def fetch(self, *sets: Array) -> None:
        """Fetch all rows of these sets of positions that were not fetched before, in one pass."""
        wanted = np.setdiff1d(np.concatenate(sets), self._at)
        if not len(wanted) and self._rows is not None:
            return
        pieces = np.split(wanted, np.searchsorted(wanted, self.ends[:-1]))
        found = self.bring([piece - start for piece, start in zip(pieces, self.ends - self.lengths)])
        rows = joined(found if self._rows is None else [self._rows, *found])
        self._at = np.concatenate([self._at, wanted])
        order = np.argsort(self._at, kind="stable")
        self._at, self._rows = self._at[order], rows.iloc[order] if self.frames else rows[order]

    def bring(self, which: list) -> list:
        """Some rows of every block, by their positions in it. All blocks are checked for NaN and infinity."""
        more = None if self.frames else self.dtype, self.names
        blocks = zip(self.parts, which, self.lengths.tolist())
        return self.compute([self.task(pick, part, rows, length, *more) for part, rows, length in blocks])

    def total(self, function: Callable, shared: object, weight: Array | None = None) -> tuple:
        """Σ function(shared, block, weight of its rows) over the blocks. `function` returns a tuple of arrays.

        shared : object that is sent to each worker once, and not with every task.
        """
        parts, at_once = self._on_each(function, shared, weight), 8  # the workers add them, and the client gets one
        while len(parts) > 1:
            parts = [self.task(add, *parts[i : i + at_once]) for i in range(0, len(parts), at_once)]
        return self.compute(parts)[0]

    def each(self, function: Callable, shared: object, columns: Array | None = None) -> list:
        """[function(shared, block, rows of `columns`)] of every block, on the client."""
        return self.compute(self._on_each(function, shared, columns))

    def _on_each(self, function: Callable, shared: object, columns: Array | None) -> list:
        """A task for every block that has rows."""
        shared = self.once(shared)
        return [
            self.task(summed, part, function, shared, None if columns is None else columns[end - k : end], self.dtype)
            for part, k, end in zip(self.parts, self.lengths, self.ends)
            if k
        ]

    def only(self, keep: Array) -> "Blocks":
        """Some of the rows, still in Dask."""
        source = self.source if self.names is None else self.source.to_dask_array(lengths=self.lengths.tolist())
        return Blocks.of(source[keep])


def draw(n: int, size: int, seed: int) -> Array:
    """`size` of n positions, drawn at random, ascending. All of them if there are no more.

    >>> draw(3, 5, 0).tolist(), len(draw(100, 5, 0))
    ([0, 1, 2], 5)
    """
    if n <= size:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))


def once(value: object) -> Block:
    """A value as one key of a graph, so that each worker gets it once."""
    return need("dask").delayed(value, name=f"mercer-{uuid.uuid4().hex}", traverse=False)


# The workers run the following functions of a block and small objects, without state.


def as_rows(block: Block, dtype: DTypeLike | None) -> Block:
    """A block as NumPy or CSR rows in floating point."""
    if hasattr(block, "to_numpy"):
        return np.ascontiguousarray(block.to_numpy(dtype=dtype, na_value=np.nan))
    return block.tocsr().astype(dtype, copy=False) if sp.issparse(block) else np.asarray(block, dtype=dtype)


def pick(block: Block, which: Array, length: int, dtype: DTypeLike | None, names: ColumnLike) -> Block:
    """Some rows of a block. Raises an error if it has another length, or contains NaN or infinity."""
    if block.shape[0] != length:
        raise InputError(
            f"A block of X has {block.shape[0]} rows, and the given number was {length}. Count them again."
        )
    if dtype is None:
        return block.iloc[which]
    rows = as_rows(block, dtype)
    values = rows.data if sp.issparse(rows) else rows
    with np.errstate(invalid="ignore", over="ignore"):
        finite = np.isfinite(values.sum()) or np.isfinite(values).all()
    if not finite:
        bad = ~np.isfinite(rows.toarray() if sp.issparse(rows) else rows)
        refuse_columns(np.flatnonzero(bad.any(axis=0)), "Dask array" if names is None else "Dask data frame", names)
    return rows[which]


def summed(block: Block, function: Callable, shared: object, weight: Array | None, dtype: DTypeLike | None) -> Block:
    """function(shared, rows of the block, their weights) with BLAS on one thread, since other tasks use other cores."""
    with one_thread():
        return function(shared, as_rows(block, dtype), weight)


def add(*parts: tuple) -> tuple:
    """The sum of tuples of arrays, entry by entry and in their order."""
    return tuple(sum(entries[1:], start=entries[0]) for entries in zip(*parts))


def answered(block: Block, model: Estimator, call: tuple[str, tuple, dict], like: Array, step: int = 2**15) -> Array:
    """Result of a method of a model for the rows of a block, so many rows at a time as fit a worker's memory.

    like : the result for no rows.
    step : rows at a time.
    """
    n, (name, arguments, options) = block.shape[0], call
    if n == 0:
        return like
    rows = block.iloc if hasattr(block, "iloc") else block
    with one_thread():
        method = getattr(model, name)
        parts = [np.asarray(method(rows[i : i + step], *arguments, **options)) for i in range(0, n, step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def joined(parts: list) -> Block:
    """Rows from several blocks below each other."""
    if hasattr(parts[0], "iloc"):
        return need("pandas").concat(parts)
    return sp.vstack(parts, format="csr") if any(map(sp.issparse, parts)) else np.concatenate(parts)


def _lengths(source: Any) -> Array:
    """Rows of every block. Parts are taken as delayed objects, since computing a data frame may join several."""
    framed = hasattr(source, "columns")
    if not framed and not np.isnan(source.shape[0]):
        return np.asarray(source.chunks[0], dtype=int)
    first = source[list(source.columns[:1])] if framed else source if source.numblocks[1] == 1 else source[:, :1]
    counts = [need("dask").delayed(_count)(part) for part in np.ravel(first.to_delayed()).tolist()]
    return np.asarray(need("dask").compute(*counts), dtype=int)


def _count(block: Block) -> int:
    return int(block.shape[0])


def _dtype(source: Any) -> np.dtype:
    """The floating-point type in which rows are computed. It is that of the source, or float64 for whole numbers."""
    if not hasattr(source, "columns"):
        kinds = {str(source.dtype): source.dtype}
    else:
        kinds = dict(zip(map(str, source.columns), source.dtypes))
    for name, kind in kinds.items():
        if getattr(kind, "kind", "O") not in "fiub":
            what = f"the column {name!r} of the data frame contains {kind}" if hasattr(source, "columns") else kind
            raise InputError(
                f"X is not made of numbers: {what}. Accepted: float32, float64, whole numbers. FewLabelClassifier "
                "accepts tables of any columns."
            )
    return np.dtype(np.float32 if {str(kind).lower() for kind in kinds.values()} == {"float32"} else np.float64)
