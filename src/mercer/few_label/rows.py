"""Read arrays, sparse matrices and data frames in the same way at `fit` and later, and measure the trust in rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..events import OnEvent, ignore, reporting_to
from ..graphs.neighbors import Neighbors
from ..homes import home_of
from ..inputs.check import check_rows
from ..inputs.labels import Labels
from ..inputs.tables import TableEncoder, as_pandas, frame_of_gaps, is_arrow, is_frame
from ..inputs.weights import seed_of
from ..rows import bring
from ..types import ColumnLike, Estimator, Rows
from . import sizes
from .kernel_rows import KernelRows, rows_kernel
from .targets import Targets
from .views import Standardized


def learn_rows(
    owner: Estimator,
    X: Rows,
    read: Callable[[int], Labels | Targets | None],
    on_event: OnEvent = ignore,
    kernel: Any = None,
) -> tuple[Rows, TableEncoder | KernelRows | None, Any]:
    """Return (rows as a matrix, the encoder of rows that are not a matrix of numbers already, labels).

    Parameters
    ----------
    owner : the estimator, which remembers the columns. Its parameters `include`, `text_model` and `image_model` are
        those of `TableEncoder`.
    read : function of the number of rows that gives the labels, or None if there are none yet. It is called once.
    on_event : function that gets the progress of a model of texts or images.
    kernel : if it is not a matrix, the rows are compared by it (see `KernelRows`).
    """
    if kernel is not None and rows_kernel(kernel):
        by_kernel = KernelRows(kernel, seed_of(owner.random_state))
        rows = by_kernel.fit_transform(X)
        owner.n_features_in_ = by_kernel.components_.n_features_in_
        return rows, by_kernel, read(len(rows))
    X = _on_host(owner, X)
    named, X = is_frame(X), frame_of_gaps(X)
    if is_frame(X):
        models = {"text_model": owner.text_model, "image_model": owner.image_model}
        encoder, labels = TableEncoder(include=owner.include, **models), read(len(X))
        mask = None if labels is None else np.isin(np.arange(len(X)), labels.labeled)
        with reporting_to(on_event):
            rows = encoder.fit_transform(X, labeled=mask)
        if not encoder.plain_:
            owner.n_features_in_ = len(encoder.names_)
            if named:
                owner.feature_names_in_ = np.array(encoder.names_, dtype=object)
            return rows, encoder, labels
        rows = np.ascontiguousarray(check_rows(owner, X, True, min_rows=2))  # another order would change the last digit
        _refuse_huge(rows)
        return rows, None, labels
    rows = check_rows(owner, X, True, min_rows=2)
    _refuse_huge(rows)
    return rows, None, read(rows.shape[0])


def read_rows(owner: Estimator, X: Rows, encoder: TableEncoder | KernelRows | None) -> Rows:
    """Return other rows as a matrix with the columns of the fit."""
    if isinstance(encoder, KernelRows):
        return encoder.transform(X)
    X = _on_host(owner, X)
    if encoder is not None:
        return encoder.transform(X)
    rows = check_rows(owner, X, False)
    return np.ascontiguousarray(rows) if is_frame(X) else rows


def _on_host(owner: Estimator, X: Rows) -> Rows:
    home_of(X).refuse_lazy(
        f"{type(owner).__name__} compares rows with each other on the host, which Dask cannot do. Call X.compute() "
        "first if the rows fit in memory, or use LSSVMRegressor, which runs on Dask."
    )
    return as_pandas(X) if is_arrow(X) else bring(X)


def _refuse_huge(rows: Rows) -> None:
    values = rows.data if sp.issparse(rows) else rows
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    most = {"float32": 1e18, "float64": 1e36}[str(rows.dtype)]  # no square may overflow, in a forest's single precision
    if largest > most:
        raise InputError(
            f"X contains {rows.dtype} numbers up to {largest:.1e}, too large to square and add up. Accepted: up to "
            f"{most:g}. Divide the columns by their scale first, for example with sklearn.preprocessing.StandardScaler."
        )


def checked_numbers(rows: np.ndarray, n: int) -> np.ndarray:
    """Return row numbers among n rows, from numbers or a mask."""
    own = np.flatnonzero(rows) if rows.dtype == bool and rows.shape == (n,) else rows
    if own.ndim != 1 or own.dtype.kind not in "iu" or (len(own) and not (own.min() >= 0 and own.max() < n)):
        raise InputError(f"rows={own.tolist()[:5]} are not row numbers. Accepted: whole numbers from 0 to {n - 1}.")
    return own


def with_values(y: np.ndarray, rows: np.ndarray, values: ColumnLike) -> np.ndarray:
    """Return the (n,) labels with new `values` for some rows, one for all of these or one for each."""
    given = [values] * len(rows) if np.ndim(values) == 0 else list(values)
    if len(given) != len(rows):
        raise InputError(f"{len(rows)} rows and {len(given)} labels were given. Give one label, or one per row.")
    y = y.copy()
    for row, value in zip(rows.tolist(), given):
        y[row] = value
    return y


def drawn_mask(drawn: ColumnLike, n: int) -> np.ndarray:
    """Return (n,) bool, which rows were drawn at random. These are all rows by default."""
    if drawn is None:
        return np.ones(n, dtype=bool)
    mask = np.asarray(drawn)
    if mask.shape != (n,) or mask.dtype != bool:
        raise InputError(f"drawn has shape {mask.shape} and type {mask.dtype}. Accepted: {n} times True or False.")
    return mask.copy()


class Support:
    """How far a row is from all training rows, and how much a prediction for it is worth.

    With d(x) the distance from a row to the nearest training row, in standardized columns, and r twice the 99% quantile
    of the distances between nearest different training rows, the trust in a prediction for the row is

    .. math:: t(x) = \\min(1, r / d(x))^2

    and its probabilities become t(x) p(x) + (1 − t(x)) · class frequencies. Training rows have trust 1. Above 2,000
    rows a random sample is kept, with all rows that are farther than r from it. Sparse rows have trust 1, because they
    are compared by direction, and no direction is far from all others. On sixteen tables at most 0.4% of ordinary new
    rows have a trust below 1/2.

    Attributes
    ----------
    view, finder : standardized columns and the search among the rows kept. Finder is None if every row has trust 1.
    reach : r.
    """

    def __init__(self, X: Rows, random_state: int = 0) -> None:
        self.view, self.finder, self.reach = Standardized(), None, np.inf
        if sp.issparse(X):
            return
        rows = self.view.fit(X)
        chosen = np.random.default_rng(random_state).permutation(len(rows))[: sizes.SIZES.support_rows]
        some = np.unique(rows[chosen], axis=0)
        if len(some) < 3:
            return
        self.reach = 2.0 * float(np.quantile(Neighbors(some).find(some, 2)[0][:, 1], 0.99))
        if len(rows) > len(chosen):
            some = np.vstack([some, rows[Neighbors(some).find(rows, 1)[0][:, 0] > self.reach]])
        self.finder = Neighbors(some)

    def trust(self, X: Rows) -> np.ndarray:
        """Return the (n,) trust in a prediction for each row, from 0 to 1."""
        if self.finder is None:
            return np.ones(X.shape[0])
        distance = self.finder.find(self.view.transform(X), 1)[0][:, 0]
        trust: np.ndarray = (self.reach / np.maximum(distance, self.reach)) ** 2
        return trust
