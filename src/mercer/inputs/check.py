"""Checks of the rows that maps and estimators are given."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike
from sklearn.utils.validation import validate_data

from ..errors import InputError
from ..homes import home_of
from ..homes.base import listed, refuse_columns
from ..homes.objects import Objects, are_objects, as_objects
from ..types import ColumnLike, Estimator, Rows
from .frames import from_arrow, is_arrow


def check_rows(owner: Estimator, X: Rows, reset: bool, *, min_rows: int = 1, takes: str = "numbers") -> Rows:
    """Return X after checks of its dimensions, its numbers (finite float32 or float64) and its columns (as in fit).

    X stays on its device. A fit calls this once. Maps and spaces are built from checked rows and do not look for NaN.

    Rows that are strings, sets or other objects become `Objects` if the kernel takes them.

    Parameters
    ----------
    owner : the estimator or map, which remembers the columns.
    reset : True in fit, which learns the number and names of the columns. False afterwards, when they are compared.
    min_rows : fewest rows accepted.
    takes : the rows that the kernel takes, "numbers", "objects" or "any" of the two.
    """
    home = home_of(X)
    if home.on_host:
        if takes == "objects" or are_objects(X):
            return _check_objects(owner, X, reset, min_rows, takes)
        X = from_arrow(X) if is_arrow(X) else X
        accepted: dict = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False}
        X = validate_data(owner, X, reset=reset, ensure_min_samples=min_rows, **accepted)
        refuse_not_finite(X, getattr(owner, "feature_names_in_", None))
        return X
    home.refuse(X)  # validate_data would turn tensors and Dask arrays into NumPy arrays
    if hasattr(X, "columns"):
        validate_data(owner, home.example(X), reset=reset, skip_check_array=True)
    X = home.opened(X)
    if X.shape[0] < min_rows:
        raise InputError(f"X has {X.shape[0]} row(s). At least {min_rows} are needed.")
    if reset:
        owner.n_features_in_ = X.shape[1]
    elif X.shape[1] != owner.n_features_in_:
        raise InputError(
            f"X has {X.shape[1]} features, but {type(owner).__name__} is expecting {owner.n_features_in_} features "
            "as input."
        )
    refuse_values(X)  # rows in Dask are checked in the pass that brings the sample
    return X


def _check_objects(owner: Estimator, X: Rows, reset: bool, min_rows: int, takes: str) -> Objects:
    """A column of objects for a kernel that takes them."""
    kernel = getattr(owner, "kernel", None)
    column = as_objects(X)
    if takes == "numbers":
        row = next(iter(column or []), X)
        raise InputError(
            f"X is a sequence of objects (its first row is of type {type(row).__name__}: {_short(row)}), and "
            + ("this model" if kernel is None else f"kernel={kernel!r}")
            + " takes rows of numbers. Give a matrix of numbers, or a kernel for objects, such as Spectrum(3) for "
            "strings, Jaccard() for sets, WeisfeilerLehman() for graphs, or a function of two rows."
        )
    if column is None:
        what = f"has the shape {tuple(X.shape)}" if hasattr(X, "shape") else f"is of type {type(X).__name__}"
        raise InputError(
            f"X {what}, and kernel={kernel!r} takes objects such as strings, sets or graphs. Accepted: a list or an "
            "array of one dimension, one object per row. For rows of numbers use a kernel such as RBF()."
        )
    if len(column) < min_rows:
        raise InputError(f"Found array with {len(column)} sample(s). At least {min_rows} are needed. Give more rows.")
    if reset:
        owner.n_features_in_ = 1
        owner.__dict__.pop("feature_names_in_", None)
    elif owner.n_features_in_ != 1:
        raise InputError(
            f"X is a sequence of objects, and {type(owner).__name__} was fitted on rows of {owner.n_features_in_} "
            "numbers. Accepted: rows as in fit."
        )
    return column


def _short(row: object) -> str:
    shown = repr(row)
    return shown if len(shown) <= 40 else shown[:37] + "..."


def refuse_values(X: Rows) -> None:
    """Refuse tensors with NaN, infinity or numbers whose square overflows. `check_rows` does it for host rows."""
    home = home_of(X)
    refuse_columns(home.bad_columns(X), home.name)
    if largest := home.magnitude(X):
        _refuse_large(largest, str(X.dtype).rpartition(".")[2])


def refuse_not_finite(X: Rows, names: ColumnLike) -> None:
    """Refuse dense or sparse host rows with NaN, infinity or numbers whose square overflows. Names the columns."""
    values = X.data if sp.issparse(X) else X
    flat = values.ravel(order="K")
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(np.vdot(flat, flat)):
            return
    if np.isfinite(values).all():
        return _refuse_large(float(np.abs(values).max()), values.dtype)
    bad = ~np.isfinite(X.toarray() if sp.issparse(X) else X)
    columns = np.flatnonzero(bad.any(axis=0))
    what = "NaN" if np.isnan(values).any() else "infinity"
    raise InputError(
        f"Input X contains {what} in {int(bad.any(axis=1).sum())} row(s), column(s) {listed(columns, names)}. "
        "Accepted: finite numbers. Fill them (sklearn.impute.SimpleImputer) or drop the rows. (NaN, inf)"
    )


def _refuse_large(largest: float, dtype: DTypeLike | None) -> None:
    """Refuse rows whose squares overflow."""
    most = 1e-3 * float(np.sqrt(np.finfo(dtype).max))
    if largest > most:
        raise InputError(
            f"Input X contains a number of {largest:.1e}, whose square overflows in {dtype}. Accepted: up to "
            f"{most:.0e}. Scale the columns (sklearn.preprocessing.StandardScaler)."
        )
