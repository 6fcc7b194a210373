"""Labels that come later: what a fitted model keeps so that more of them cost no decomposition."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..inputs.labels import read_labels
from .priors import wanted_shares


class Teachable:
    """Mixin: `teach`, `unteach` and `relabel` for a model with `candidates_`, `labels_`, `drawn_` and `_learn`."""

    candidates_: list
    labels_: Any
    classes_: np.ndarray
    drawn_: np.ndarray
    verbose: Any
    prior: Any
    missing_label: Any
    _learn: Any

    def teach(self, rows, labels, drawn=True):
        """Add or change the labels of some training rows; equal to a fit with them, without its decompositions.

        Parameters
        ----------
        rows : row numbers of the training data.
        labels : one class name, or one for each row. A new class is accepted.
        drawn : whether the rows were drawn at random (one answer, or one for each row); False for rows that were
            chosen, such as those of `suggest` that its `drawn` does not mark.
        """
        self.check_whole("teach")
        rows = self._row_numbers(rows)
        names = [labels] * len(rows) if np.ndim(labels) == 0 else list(labels)
        if len(names) != len(rows):
            raise InputError(
                f"{len(rows)} rows and {len(names)} labels were given. Give one label, or one for each row."
            )
        given = np.empty(len(rows), dtype=object)
        given[:] = names
        self.drawn_ = self.drawn_.copy()
        self.drawn_[rows] = drawn
        return self._relabel(rows, given)

    def unteach(self, rows):
        """Take the labels of some training rows back; equal to a fit without them."""
        self.check_whole("unteach")
        rows = self._row_numbers(rows)
        return self._relabel(rows, np.full(len(rows), None, dtype=object))

    def relabel(self, y):
        """Other labels for the same training rows; equal to a fit with them, without its decompositions."""
        self.check_whole("relabel")
        return self._learn_again(read_labels(y, self.missing_label, n_rows=len(self.labels_.codes)))

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
            print(f"[FewLabelClassifier] {fraction:4.0%} {stage}", flush=True)

    def _relabel(self, rows, given):
        labels = self.labels_
        if labels.soft:
            raise InputError("The model was fitted with class probabilities; teach and unteach need one name per row.")
        y = np.full(len(labels.codes), None, dtype=object)
        y[labels.labelled] = [self.classes_.tolist()[code] for code in labels.codes[labels.labelled]]
        y[rows] = given
        return self._learn_again(read_labels(y, missing_label=[]))

    def _learn_again(self, labels):
        shares = wanted_shares(self.prior, labels)
        return self._learn(labels, shares, [candidate.solve(labels) for candidate in self.candidates_])

    def _row_numbers(self, rows):
        n = len(self.labels_.codes)
        rows = np.atleast_1d(np.asarray(rows))
        if rows.dtype == bool and rows.shape == (n,):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or (len(rows) and not (rows.min() >= 0 and rows.max() < n)):
            raise InputError(
                f"rows={rows.tolist()[:5]} are not row numbers. Accepted: whole numbers from 0 to {n - 1}."
            )
        return rows


def drawn_mask(drawn, n):
    """(n,) bool: which rows were drawn at random; all of them by default."""
    if drawn is None:
        return np.ones(n, dtype=bool)
    drawn = np.asarray(drawn)
    if drawn.shape != (n,) or drawn.dtype != bool:
        raise InputError(f"drawn has shape {drawn.shape} and type {drawn.dtype}. Accepted: {n} times True or False.")
    return drawn.copy()
