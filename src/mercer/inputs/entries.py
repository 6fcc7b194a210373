"""Read a column y of any type as one array, and find its distinct values and which of them are missing."""

import warnings

import numpy as np
from sklearn.exceptions import DataConversionWarning

from ..errors import InputError
from ..rows import bring
from ..types import ColumnLike


def array_of(y: ColumnLike) -> tuple[list | None, np.ndarray]:
    """(column names or None, y as a one- or two-dimensional NumPy array), for y of any type."""
    names = None
    if y is None:
        raise InputError("requires y to be passed, but the target y is None. Give one entry per row of X.")
    if isinstance(y, np.ma.MaskedArray):
        hidden, y = np.ma.getmaskarray(y), y.data.astype(object)
        y[hidden] = None
    y = bring(y)
    if hasattr(y, "to_pylist"):  # pyarrow
        y = y.column(0) if len(getattr(y, "column_names", ())) == 1 else y
        y = y.to_pandas() if hasattr(y, "column_names") else y.to_pylist()
    if hasattr(y, "to_numpy"):  # pandas, polars
        names = list(y.columns) if hasattr(y, "columns") else None
        if names is not None and len(names) == 1:
            y = y[names[0]]
        y = np.array(list(y), dtype=object) if _whole_with_gaps(y) else y.to_numpy()
    if not isinstance(y, np.ndarray):
        y = _from_sequence(y)
    if y.dtype.kind == "T":
        y = y.astype(object)
    if y.ndim == 2 and y.shape[1] == 1:
        if names is None:
            text = "A column-vector y was passed when a 1d array was expected. It is read as one label per row."
            warnings.warn(text, DataConversionWarning, stacklevel=4)
        y = y[:, 0]
    if y.ndim not in (1, 2) or y.dtype.kind not in "biufUSO":
        raise InputError(
            f"Unknown label type: y of shape {y.shape} and dtype {y.dtype}. "
            "Give one class name per row, or an (n, k) table of class probabilities."
        )
    if y.ndim == 2:
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"y has {y.shape[1]} columns that are not all numbers. Give one class name per row, "
                "or an (n, k) table of class probabilities."
            ) from None
    return names, y


def _whole_with_gaps(y: ColumnLike) -> bool:
    """Whether `to_numpy` would turn the column y into numbers with a fraction, such as 1 and <NA> into 1.0 and NaN."""
    if hasattr(y, "columns"):
        return False
    if callable(getattr(y, "null_count", None)):  # polars
        return y.null_count() > 0
    kind = getattr(y, "dtype", np.dtype(float))
    return not isinstance(kind, np.dtype) and kind.kind in "biu" and bool(y.isna().any())


def _from_sequence(y: ColumnLike) -> np.ndarray:
    """A list as an array whose entries keep their types. NumPy would turn [1, "a"] into text."""
    y = list(y) if not hasattr(y, "__array__") else np.asarray(y).tolist()
    kinds = {type(v) for v in y}
    if kinds <= {bool, int, float} or (len(kinds) == 1 and not kinds & {list, tuple, np.ndarray}):
        return np.array(y)
    if kinds & {list, tuple, np.ndarray}:
        try:
            return np.array([list(v) for v in y])
        except (TypeError, ValueError):
            raise InputError("The rows of y have different lengths. Give one class name per row.") from None
    out = np.empty(len(y), dtype=object)
    out[:] = y
    return out


def distinct(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(distinct entries, position of each row's entry among them)."""
    if y.dtype.kind != "O":
        if y.dtype.kind == "f":
            _refuse_continuous(y)
        return np.unique(y, return_inverse=True)
    seen: dict = {}
    try:
        codes = np.array([seen.setdefault(v, len(seen)) for v in y.tolist()], dtype=int)
    except TypeError:
        raise InputError("Unknown label type: an entry of y is a list or an array. Give one name per row.") from None
    values = np.empty(len(seen), dtype=object)
    values[:] = list(seen)
    numbers = np.array([v for v in seen if isinstance(v, float | np.floating)], dtype=float)
    _refuse_continuous(numbers)
    return values, codes


def _refuse_continuous(numbers: np.ndarray) -> None:
    if np.isinf(numbers).any():
        raise InputError("Input y contains infinity. Class names are finite numbers or text. NaN marks unlabeled.")
    fractional = numbers[np.isfinite(numbers) & (numbers != np.round(numbers))]
    if len(fractional):
        raise InputError(
            f"Unknown label type: continuous. y contains {float(fractional[0])!r}, which is not a class name. "
            "Use a regressor, or give classes as whole numbers or text."
        )


def is_nothing(value: object) -> bool:
    """Whether an entry is NaN, None, pd.NA or NaT, which cannot be a class name."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and value != value
