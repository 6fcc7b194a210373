"""Rows that are not vectors but strings, sets, graphs or any other Python objects, one per row."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..types import Array, Block, Index, Rows
from .host import Host


class Objects:
    """A column of n objects with the shape (n, 1) and the dtype of the kernel values.

    Indexing with a slice, an index array or a mask gives `Objects` again. Iteration gives the objects.

    Parameters
    ----------
    cells : (n,) array of objects.
    """

    ndim = 2
    dtype = np.dtype(np.float64)
    _known: dict | None = None  # values that kernels have computed for each row, by a name that they choose

    def __init__(self, cells: Array, known: dict | None = None):
        self.cells = cells
        self._known = known

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.cells), 1

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.cells.tolist())

    def __getitem__(self, rows: Index) -> "Objects":
        known = {name: value[rows] for name, value in self._known.items()} if self._known else None
        return Objects(self.cells[rows], known)

    def known(self, name: object, make: Callable[[Array], Any]) -> Block:
        """make(cells), computed once and kept. A subset of the rows keeps its part of the result."""
        if self._known is None or name not in self._known:
            self._known = (self._known or {}) | {name: make(self.cells)}
        return self._known[name]

    def is_known(self, name: object) -> bool:
        """Whether `known` has computed this already."""
        return self._known is not None and name in self._known

    def astype(self, dtype: DTypeLike, copy: bool = True) -> "Objects":
        """The same column, because objects have no numeric type."""
        return self

    def copy(self) -> "Objects":
        """The same objects in another column."""
        return Objects(self.cells.copy(), self._known)

    def __getstate__(self) -> dict:
        return {"cells": self.cells}


class ObjectsHome(Host):
    """Objects are on the host. They are never turned into numbers except by a kernel."""

    name = "sequence of objects"

    def owns(self, A: Rows) -> bool:
        return isinstance(A, Objects)

    def host(self, A: Rows) -> Block:
        return A

    def take(self, Z: Rows, idx: Array) -> Block:
        return Z[idx]

    def floating(self, X: Rows) -> Rows:
        return X

    def tiles(self, X: Rows) -> tuple[int, bool]:
        return 2048, True  # larger tiles than of vectors, because preparing a row takes longer than one kernel value


def as_objects(X: Rows) -> Objects | None:
    """A sequence, a one-dimensional array or one column of a table as `Objects`. None for anything else."""
    if isinstance(X, Objects):
        return X
    if hasattr(X, "iloc"):  # a series or a data frame
        X = X.to_numpy(dtype=object)
    if isinstance(X, np.ndarray):
        column = X[:, 0] if X.ndim == 2 and X.shape[1] == 1 else X
        return Objects(column.astype(object)) if column.ndim == 1 else None
    if not isinstance(X, Sequence) or isinstance(X, str | bytes):
        return None
    cells = np.empty(len(X), dtype=object)
    for i, row in enumerate(X):
        cells[i] = row
    return Objects(cells)


def are_objects(X: Rows) -> bool:
    """Whether rows, given in any form, are something other than rows of numbers. The first row decides."""
    if isinstance(X, Objects):
        return True
    if getattr(getattr(X, "dtype", None), "kind", "O") not in "OSUT":
        return False
    shape = getattr(X, "shape", None)
    if shape is not None and not (len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)):
        return False
    column = as_objects(X[:1]) if hasattr(X, "__getitem__") and not isinstance(X, dict) else None
    return column is not None and len(column) > 0 and not _is_number_row(column.cells[0])


def _is_number_row(row: object) -> bool:
    """Whether one row is a number or a sequence of numbers."""
    if isinstance(row, str | bytes | dict | set | frozenset):
        return False
    try:
        return np.asarray(row, dtype=np.float64).ndim <= 1
    except (TypeError, ValueError):
        return row is None


HOME = ObjectsHome()
