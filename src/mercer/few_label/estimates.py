"""What a fitted classifier knows about its own answers, computed when it is first asked for."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from ..backend import steady
from ..evidence.accuracy import estimate
from ..evidence.calibration import two_columns
from ..evidence.groups import copied_labels
from ..evidence.likelihood import normalised
from ..evidence.majority import Majority
from ..evidence.sets import conformal_sets
from ..inputs.weights import seed_of
from .folds import held_out_answers
from .summary import Report


class Estimated:
    """Mixin of `FewLabelClassifier`."""

    candidates_: list
    labels_: Any
    classes_: np.ndarray
    scores_: np.ndarray
    probabilities_: np.ndarray
    predict_proba: Any
    offsets_: np.ndarray
    drawn_: np.ndarray
    groups_: Any
    combine: str
    random_state: Any
    _pool: Any
    _estimate: Any
    _report: Any
    _tried: Any

    @property
    def estimate_(self):
        """What withheld labels say: an `Estimate`, computed when first asked for (about a second)."""
        check_is_fitted(self, "labels_")
        if self._estimate is None:
            labels = self.labels_
            groups = copied_labels(self.groups_, labels.labelled)
            with steady():
                answers = held_out_answers(
                    self.candidates_, labels, groups, self.combine, seed_of(self.random_state), self._pool.nothing
                )
            answers = [replace(one, answers=normalised(one.answers * np.exp(self.offsets_))) for one in answers]
            pooled = softmax(two_columns(self.scores_[labels.codes < 0]), axis=1)  # as the answers: not yet sharpened
            P, drawn = normalised(pooled * np.exp(self.offsets_)), self.drawn_[labels.labelled]
            self._estimate = estimate(answers, P, labels.given, drawn)
        return self._estimate

    @property
    def report_(self):
        """What was tried, with estimates, weights and times."""
        if self._report is None:
            self._report = Report.of(self, *self._tried)
        return self._report

    @property
    def left_out_accuracy_(self):
        """Estimated share of right answers."""
        return self.estimate_.accuracy.value

    @property
    def accuracy_interval_(self):
        """Its 95 % interval."""
        return self.estimate_.accuracy.low, self.estimate_.accuracy.high

    @property
    def majority_(self):
        """The most frequent class among the labels, and how often always answering it would be right."""
        return Majority.of(self.classes_, self.labels_.counts())

    def predict_set(self, X, coverage=0.9, by_class=False):
        """(n, k) bool: the classes in the set of each row, which holds the true one with the promised probability.

        Conformal sets from the answers of `estimate_` to withheld folds of labels; see `mercer.evidence.sets`. A set
        may be empty or hold all classes.

        Parameters
        ----------
        coverage : share of rows whose set is to hold their class, among rows like the labelled ones.
        by_class : keep the promise for every class by itself; sets of rare classes grow.
        """
        return self.sets_of(self.predict_proba(X), coverage, by_class)

    def training_sets(self, coverage=0.9, by_class=False):
        """`predict_set` of the training rows."""
        check_is_fitted(self, "labels_")
        return self.sets_of(self.probabilities_, coverage, by_class)

    def sets_of(self, P, coverage=0.9, by_class=False):
        """`predict_set` of rows whose probabilities (n, k) are known."""
        return conformal_sets(P, self.estimate_.held_out, self.labels_.codes[self.labels_.labelled], coverage, by_class)
