"""What every map and estimator asks of the rows it is given."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from ..backend import home, need
from ..errors import InputError
from ..rows import host


def check_rows(owner, X, reset, *, min_rows=1, read=True):
    """X checked: two dimensions, float32 or float64, finite, the right columns; never moved from its home.

    Parameters
    ----------
    owner : the estimator or map, which remembers the columns.
    reset : True in fit, which learns the number and names of the columns; False afterwards, which compares.
    min_rows : fewest rows accepted.
    read : False spares tensors and Dask arrays the pass over all numbers that looks for NaN: a map inside an estimator
        gets rows that have been read.
    """
    kind = home(X)
    if kind == "numpy":
        X = validate_data(
            owner,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
        )
        refuse_not_finite(X, getattr(owner, "feature_names_in_", None))
        return X
    # validate_data would turn tensors and Dask arrays into NumPy arrays.
    name = "torch tensor" if kind == "torch" else "Dask array"
    if kind == "dask" and not hasattr(X, "chunks"):
        raise InputError(
            f"X is a {type(X).__name__} of Dask. Accepted: a Dask array; for a table X.to_dask_array(lengths=True)."
        )
    if not hasattr(X, "ndim") or X.ndim != 2:
        raise InputError(
            f"X is a {name} of shape {getattr(X, 'shape', '?')}. Accepted: two dimensions, rows × columns."
        )
    if kind == "dask" and np.isnan(X.shape[0]):
        raise InputError("The Dask array does not know its number of rows. Call X.compute_chunk_sizes() first.")
    if str(X.dtype).rpartition(".")[2] not in ("float32", "float64"):
        cast = "X.float()" if kind == "torch" else "X.astype('float32')"
        raise InputError(f"X is a {name} of {X.dtype}. Accepted: float32 or float64, for example {cast}.")
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
        _refuse_foreign(X, kind, name)
    return X


def refuse_not_finite(X, names):
    """Name the columns of host rows, dense or sparse, that hold NaN or infinity."""
    values = X.data if sp.issparse(X) else X
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    bad = ~np.isfinite(X.toarray() if sp.issparse(X) else X)
    columns = np.flatnonzero(bad.any(axis=0))
    what = "NaN" if np.isnan(values).any() else "infinity"
    raise InputError(
        f"Input X contains {what} in {int(bad.any(axis=1).sum())} row(s), column(s) {_listed(columns, names)}. "
        "Accepted: finite numbers. Fill them (sklearn.impute.SimpleImputer) or drop the rows. (NaN, inf)"
    )


def _refuse_foreign(X, kind, name):
    """The same for tensors and Dask arrays."""
    finite = need("torch" if kind == "torch" else "dask.array").isfinite(X).all(0)
    columns = np.flatnonzero(~host(finite))
    if len(columns):
        raise InputError(
            f"X is a {name} that contains NaN or infinity in column(s) {_listed(columns, None)}. "
            "Accepted: finite numbers. Fill them or drop those rows first."
        )


def _listed(columns, names):
    """The first five columns by name or number, and how many more there are."""
    shown = ", ".join(repr(str(names[j])) if names is not None else str(j) for j in columns[:5])
    return shown + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")
