"""What the few-label models for classes and for numbers share: rows in, what is kept, what is told."""

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..errors import BackendError, InputError
from ..homes import home_of
from ..inputs.check import check_rows
from ..inputs.tables import TableEncoder, is_frame
from ..rows import bring


class FewLabelModel(BaseEstimator):
    """Base of `FewLabelClassifier` and `FewLabelRegressor`."""

    on_dask = "SemiKPCA or LSSVMClassifier, which run on Dask"
    verbose: Any
    transduction_: Any
    encoder_: Any

    def compact(self):
        """A copy without the feature spaces: a few MB, the same answers for any rows; `mercer.save` writes this.

        `predict`, `suspicious` and all attributes but `candidates_` work as before; `teach`, `unteach`, `relabel`,
        `suggest`, `expected_change` and `doubt` need the spaces and say so.
        """
        check_is_fitted(self)
        small = copy.copy(self)
        small.__dict__.pop("candidates_", None)
        return small.set_params(verbose=False)

    def check_whole(self, what):
        """Refuse `what` (a name) on a compact model: it needs the feature spaces."""
        check_is_fitted(self)
        if not hasattr(self, "candidates_"):
            raise InputError(
                f"This model is compact (as saving makes it): it answers for any rows, but {what} needs the feature "
                "spaces, which it does not hold. Fit again on the training rows."
            )

    def _tell(self, stage, fraction):
        if callable(self.verbose):
            self.verbose(stage, fraction)
        elif self.verbose:
            print(f"[{type(self).__name__}] {fraction:4.0%} {stage}", flush=True)

    def _rows(self, X, reset):
        if home_of(X).lazy:
            raise BackendError(
                f"{type(self).__name__} compares rows with each other on the host, which Dask cannot do. Call "
                f"X.compute() first if the rows fit in memory, or use {self.on_dask}."
            )
        X = bring(X)
        if reset:
            self.encoder_, encoder = None, TableEncoder()
            rows = encoder.fit_transform(X) if is_frame(X) else None
            if rows is not None and not encoder.plain_:
                self.encoder_, self.n_features_in_ = encoder, len(encoder.names_)
                self.feature_names_in_ = np.array(encoder.names_, dtype=object)
                return rows
        elif self.encoder_ is not None:
            return self.encoder_.transform(X)
        rows = check_rows(self, X, reset, min_rows=2 if reset else 1)
        return np.ascontiguousarray(rows) if is_frame(X) else rows  # a frame's own order would change the last digit

    def _row_numbers(self, rows):
        n = len(self.transduction_)
        rows = np.atleast_1d(np.asarray(rows))
        if rows.dtype == bool and rows.shape == (n,):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or (len(rows) and not (rows.min() >= 0 and rows.max() < n)):
            raise InputError(
                f"rows={rows.tolist()[:5]} are not row numbers. Accepted: whole numbers from 0 to {n - 1}."
            )
        return rows

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
