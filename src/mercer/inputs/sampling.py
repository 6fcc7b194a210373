"""Labels of rows in Dask. The client gets only filled cells, and a fit uses a sample that contains all labeled rows."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..homes import home_of
from ..types import ColumnLike, Rows
from .entries import array_of, distinct, is_nothing

MOST = 20_000  # labels for which a fit on rows in Dask adds rows to the sample


def on_sample(
    X: Rows, y: ColumnLike, kind: str, missing_label: object = "auto", seed: int = 0, also: ColumnLike = ()
) -> Any:
    """Return y for the rows that a fit uses. For rows on the host y is unchanged. Rows in Dask get their sample here.

    Parameters
    ----------
    X : checked rows.
    y : None, n entries on the client, a Dask column, or a dict from row numbers to entries.
    kind : "classes", "targets" (numbers) or "outliers" (-1), which decides the cells that count as filled.
    also : positions of further rows that the sample must contain.
    """
    home = home_of(X)
    if home.sample_of(X) is None:
        return y
    also = np.asarray(also, dtype=int)
    if y is None:
        home.sample(X, seed, also)
        return None
    at, values, blank = filled_cells(y, X.shape[0], kind, missing_label)
    known = at
    if len(at) > MOST:
        known = at[np.sort(np.random.default_rng(seed).choice(len(at), MOST, replace=False))]
        if kind == "classes" and values.ndim == 1:  # every class has a row
            known = np.union1d(known, at[np.unique(values.astype(str), return_index=True)[1]])
        warnings.warn(
            f"{len(at)} rows of y are filled, which is more than one machine needs. The fit uses {len(known)} of them, "
            "drawn at random. For all of them give a sample of the rows in NumPy.",
            stacklevel=4,
        )
    sample = home.sample(X, seed, known, also)
    inside = np.isin(at, sample)
    out = np.full((len(sample), *values.shape[1:]), blank, dtype=values.dtype if values.ndim > 1 else object)
    out[np.searchsorted(sample, at[inside])] = values[inside]
    return out if isinstance(y, Mapping) or home_of(y).lazy else _entries(y, sample)


def with_labels(X: Rows, y: ColumnLike, kind: str, missing_label: object, *columns: Any) -> tuple:
    """(X, y, *columns) of the rows with a label, on the host, if X is in Dask. Otherwise the same as given."""
    home = home_of(X)
    if not home.lazy:
        return X, y, *columns
    X = home.opened(X)
    at, values, _ = filled_cells(y, X.shape[0], kind, missing_label)
    return X[at], values, *(None if column is None else np.asarray(column)[at] for column in columns)


def filled_cells(
    y: ColumnLike, n: int, kind: str, missing_label: object = "auto"
) -> tuple[np.ndarray, np.ndarray, Any]:
    """(positions, entries) of the filled cells of y for n rows, and the value of an empty cell."""
    if isinstance(y, Mapping):
        return *_of_mapping(y, n), {"targets": np.nan}.get(kind)
    found = home_of(y).parts(cells_of_block, y, kind, missing_label)
    lengths = [length for length, _, _, _ in found]
    if sum(lengths) != n:
        raise InputError(f"X has {n} rows and y has {sum(lengths)}. Give one entry of y per row, labeled or not.")
    starts = np.cumsum([0, *lengths])
    at = np.concatenate([start + where for start, (_, where, _, _) in zip(starts, found)])
    blank = next((mark for _, _, _, mark in found if mark is not None), None)
    kept = [values for _, _, values, _ in found if len(values)] or [found[0][2]]
    return at, np.concatenate(kept), blank


def cells_of_block(y: ColumnLike, kind: str, missing_label: object) -> tuple[int, np.ndarray, np.ndarray, Any]:
    """(number of cells, positions of the filled ones, their entries, the mark of empty cells) of a part of a column."""
    if len(y) == 0:
        return 0, np.zeros(0, dtype=int), np.zeros(0, dtype=object), None
    _, column = array_of(y)
    mark: Any = None
    if kind == "targets":
        empty, mark = np.array([is_nothing(v) for v in column.tolist()], dtype=bool), np.nan
    elif kind == "outliers":
        empty = ~np.array([isinstance(v, int | float) and v == -1 for v in column.tolist()], dtype=bool)
    elif column.ndim == 2:
        empty, mark = (np.isnan(column) | (column == 0)).all(axis=1), np.nan
    else:
        values, codes = distinct(column)
        auto = isinstance(missing_label, str) and missing_label == "auto"
        marks = missing_label if isinstance(missing_label, list | tuple | set) else [missing_label]
        gone = [is_nothing(v) or (_blank(v) if auto else v in marks) for v in values.tolist()]
        mark = next((v for v, drop in zip(values.tolist(), gone) if drop and not is_nothing(v)), None)
        empty = np.array(gone, dtype=bool)[codes]
    at = np.flatnonzero(~empty)
    return len(column), at, column[at], mark


def _blank(value: object) -> bool:
    """Whether "auto" reads an entry as unlabeled. -1 stays in y, so that reading y can distinguish it from a class."""
    if isinstance(value, str | bytes):
        return not value.strip()
    return not isinstance(value, bool | np.bool_) and value == -1


def _of_mapping(y: Mapping, n: int) -> tuple[np.ndarray, np.ndarray]:
    at = np.array(list(y), dtype=object)
    if not all(isinstance(k, int | np.integer) and not isinstance(k, bool) and 0 <= k < n for k in at.tolist()):
        raise InputError(f"The keys of y are not row numbers. Accepted: {{row: label}} with rows from 0 to {n - 1}.")
    values = np.empty(len(at), dtype=object)
    values[:] = list(y.values())
    order = np.argsort(at.astype(int), kind="stable")
    return at.astype(int)[order], values[order]


def _entries(y: ColumnLike, rows: np.ndarray) -> Any:
    """Some entries of a column on the client, of the same type."""
    return y.iloc[rows] if hasattr(y, "iloc") else array_of(y)[1][rows]


def labels_to_fit(codes: ColumnLike, n_classes: int, entries: int, seed: int) -> np.ndarray:
    """Ascending positions of the labels that are fitted. These are all labels, or a random sample with every class.

    Parameters
    ----------
    codes : (l,) class number of each label.
    entries : largest number of labels times classes. At least two labels per class are taken.
    """
    codes = np.asarray(codes)
    most = max(entries // max(n_classes, 1), 2 * n_classes)
    if len(codes) <= most:
        return np.arange(len(codes))
    order = np.random.default_rng(seed).permutation(len(codes))
    first = np.unique(codes[order], return_index=True)[1] if n_classes > 1 else np.zeros(0, dtype=int)
    rest = np.setdiff1d(np.arange(len(order)), first)[: most - len(first)]
    return np.sort(order[np.concatenate([first, rest])])
