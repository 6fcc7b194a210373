"""Rows in Dask: all labelled rows and a sample of the others are fitted on the client, and another sample judges."""

import copy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from ..homes import home_of
from ..homes.blocks import SAMPLE, draw
from ..inputs.labels import read_labels
from ..inputs.sampling import on_sample
from ..inputs.weights import check_weight, seed_of

JUDGED = 2000  # rows on which two samples are compared


class Sampled:
    """Mixin of `FewLabelClassifier`: after a fit on rows in Dask, `sample_` has the positions of the rows fitted."""

    labels_: Any
    missing_label: Any
    random_state: Any
    predict: Any
    predictor_: Any
    sample_: np.ndarray
    _population: Any = None  # (number of rows, another sample, its labels and weights, rows to judge on)
    _weight: Any = None  # (n,) how much a label of each row counts
    _stability: Any = None  # (number of rows, share of the same answers, number of rows judged)

    def _sampled(self, X, y, drawn, weight):
        """(X, y, drawn, weight) of the rows that are fitted: all, or a sample of rows in Dask, brought in one pass."""
        home = home_of(X)
        self.__dict__.pop("sample_", None)
        self._population = self._stability = None
        if not home.lazy:
            return X, y, drawn, check_weight(weight, _num_samples(X))
        X = home.opened(X, frames=hasattr(X, "columns"))
        n, seed = X.shape[0], seed_of(self.random_state)
        weight = check_weight(weight, n)
        y = on_sample(X, y, "classes", self.missing_label, seed)
        sample = self.sample_ = home.sample_of(X)
        known = read_labels(y, self.missing_label).labelled
        other, judged = (np.union1d(draw(n, SAMPLE, seed + 1), sample[known]), draw(n, JUDGED, seed + 2))
        if len(sample) < n:
            home.fetch(X, other, judged)
            also = np.full((len(other), *np.shape(y)[1:]), np.nan if np.ndim(y) > 1 else None, dtype=object)
            also[np.searchsorted(other, sample[known])] = np.asarray(y)[known]
            self._population = n, _rows(X, other), also, None if weight is None else weight[other], _rows(X, judged)
        else:
            home.fetch(X)
        drawn = None if drawn is None else np.asarray(drawn)[sample]
        return _rows(X, sample), y, drawn, None if weight is None else weight[sample]

    @property
    def stability_(self):
        """Share of rows to which a fit to another sample gives the same class, computed when first asked for.

        None where all rows were fitted.
        """
        if self._stability is None and self._population is not None:
            n, rows, y, weight, judged = self._population
            other = clone(self).set_params(verbose=False).fit(rows, y, sample_weight=weight)
            self._stability = n, float(np.mean(other.predict(judged) == self.predict(judged))), len(judged)
            self._population = None
        return None if self._stability is None else self._stability[1]

    @property
    def sample_sentence_(self):
        """What was sampled and how much that matters, for the report; None where all rows were fitted."""
        share = self.stability_
        if share is None:
            return None
        n, _, judged = self._stability
        return (
            f"Fitted to a sample of {len(self.sample_)} of {n} rows, with all labelled rows in it. A fit to another "
            f"sample gives the same class to {share:.1%} of {judged} rows."
        )

    def answering(self):
        """A copy with no more than answers for rows need: what goes to the workers."""
        _ = self.predictor_  # while the spaces are there
        small = copy.copy(self)
        for name in ("candidates_", "outside_", "_everything", "_fitted", "_pool", "_population", "_groups"):
            small.__dict__.pop(name, None)
        return small


def _rows(X, positions):
    """Rows on the host; a data frame counts them anew."""
    rows = X[positions]
    return rows.reset_index(drop=True) if hasattr(rows, "reset_index") else rows
