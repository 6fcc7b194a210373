"""Checks of the rows that maps and estimators are given."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from ..errors import InputError
from ..homes import home_of
from ..homes.base import listed, refuse_columns
from .arrow import from_arrow, is_arrow


def check_rows(owner: Any, X: Any, reset: bool, *, min_rows: int = 1, read: bool = True) -> Any:
    """X checked: two dimensions, float32 or float64, finite, the right columns; never moved from its home.

    Parameters
    ----------
    owner : the estimator or map, which remembers the columns.
    reset : True in fit, which learns the number and names of the columns; False afterwards, which compares.
    min_rows : fewest rows accepted.
    read : False omits the pass over tensors that looks for NaN, for rows that were checked before. (Rows in Dask are
        looked at in the pass that brings the sample.)
    """
    home = home_of(X)
    if home.on_host:
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
        raise InputError(f"X has {X.shape[0]} row(s); at least {min_rows} are needed.")
    if reset:
        owner.n_features_in_ = X.shape[1]
    elif X.shape[1] != owner.n_features_in_:
        raise InputError(
            f"X has {X.shape[1]} features, but {type(owner).__name__} is expecting {owner.n_features_in_} features "
            "as input."
        )
    if read:
        refuse_values(X)
    return X


def refuse_values(X: Any) -> None:
    """Refuse tensors with NaN, infinity or numbers that have no square; `check_rows` does it for host rows."""
    home = home_of(X)
    refuse_columns(home.bad_columns(X), home.name)
    if largest := home.magnitude(X):
        _refuse_large(largest, str(X.dtype).rpartition(".")[2])


def refuse_not_finite(X: Any, names: Any) -> None:
    """Name the columns of host rows, dense or sparse, that hold NaN or infinity; refuse what has no square."""
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


def _refuse_large(largest: float, dtype: Any) -> None:
    """Refuse rows whose squares are no numbers."""
    most = 1e-3 * float(np.sqrt(np.finfo(dtype).max))
    if largest > most:
        raise InputError(
            f"Input X holds a number of {largest:.1e}, and its square is none in {dtype}. Accepted: up to {most:.0e}. "
            "Scale the columns (sklearn.preprocessing.StandardScaler)."
        )
