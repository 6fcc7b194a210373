"""Names of the types in several signatures.

An array may be NumPy's, SciPy's, PyTorch's or Dask's, and no type that a checker knows covers them all. The aliases
that are `Any` to a checker show a reader which of these values are meant.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame as Frame
    from pandas import Series as Series
    from sklearn.utils import Tags as Tags
else:  # a table, one of its columns, and the tags of an estimator are imported when they are needed
    Frame = Series = Tags = Any

Array: TypeAlias = np.ndarray
"""An array of NumPy, on the host."""

Rows: TypeAlias = Any
"""A matrix in any backend with one row per sample (NumPy, SciPy CSR, PyTorch, Dask, `Computed`, `Objects`)."""

Block: TypeAlias = Any
"""A smaller array of the same backend as some rows, such as a block of them, a product, or one number per row."""

Index: TypeAlias = int | slice | Sequence[int] | np.ndarray
"""Numbers of rows, a slice, or a mask."""

ColumnLike: TypeAlias = Any
"""One value per row as a user passes it, with gaps. A list, an array or a column of pandas, polars, PyArrow or Dask."""

Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None
"""The `random_state` of scikit-learn."""

Verbose: TypeAlias = bool | int | Callable[[str, float], object]
"""Whether progress is printed, or a function of a text and the fraction done."""

Facts: TypeAlias = dict[str, Any]
"""Values by name that can be written as JSON (numbers, strings, lists of them, and further facts)."""

Estimator: TypeAlias = Any
"""A fitted model with the methods of scikit-learn, of mercer or of another library."""

Module: TypeAlias = ModuleType
"""A module that is imported when it is needed, or a namespace of array functions."""
