"""Rows in: arrays, sparse matrices and data frames, read alike at `fit` and later, and how far a row is from them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..homes import home_of
from ..inputs.check import check_rows
from ..inputs.tables import TableEncoder, as_pandas, is_arrow, is_frame
from ..rows import bring, by_row

LARGEST = {"float32": 1e18, "float64": 1e36}  # squares must not overflow, and a forest reads single precision


class Reading:
    """Mixin of the few-label models, which have `_read(y, n_rows)` to turn y into labels."""

    on_dask: str | None = None
    include: Any
    support_: Any
    encoder_: Any  # of a data frame that is not a matrix of numbers already, else None
    _read: Any

    @by_row
    def trust(self, X):
        """(n,) how far the answer for each row rests on training rows like it: 1 among them, 0 far away."""
        check_is_fitted(self)
        return self.support_.trust(self._rows(X, reset=False))

    def _rows(self, X, reset, y=None):
        """The rows as a matrix; in `fit` y tells which columns of a frame tell labelled rows from the others."""
        home_of(X).refuse_lazy(
            f"{type(self).__name__} compares rows with each other on the host, which Dask cannot do. Call X.compute() "
            "first if the rows fit in memory, or use LSSVMRegressor, which runs on Dask."
        )
        X = as_pandas(X) if is_arrow(X) else bring(X)
        if reset:
            self.encoder_, encoder, rows = None, TableEncoder(include=self.include), None
            if is_frame(X):
                labelled = None if y is None else np.isin(np.arange(len(X)), self._read(y, len(X)).labelled)
                rows = encoder.fit_transform(X, labelled=labelled)
            if rows is not None and not encoder.plain_:
                self.encoder_, self.n_features_in_ = encoder, len(encoder.names_)
                self.feature_names_in_ = np.array(encoder.names_, dtype=object)
                return rows
        elif self.encoder_ is not None:
            return self.encoder_.transform(X)
        rows = check_rows(self, X, reset, min_rows=2 if reset else 1)
        if reset:
            _refuse_huge(rows)
        return np.ascontiguousarray(rows) if is_frame(X) else rows  # a frame's own order would change the last digit

    def __sklearn_is_fitted__(self):
        return hasattr(self, "labels_")  # a prepared model has no answer yet

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


def _refuse_huge(rows):
    values = rows.data if sp.issparse(rows) else rows
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    most = LARGEST[str(rows.dtype)]
    if largest > most:
        raise InputError(
            f"X holds {rows.dtype} numbers up to {largest:.1e}, too large to square and add up. Accepted: up to "
            f"{most:g}. Divide the columns by their scale first, for example with sklearn.preprocessing.StandardScaler."
        )
