"""What a fitted classifier knows about its own answers, computed when it is first asked for."""

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from ..evidence.accuracy import estimate
from ..evidence.calibration import two_columns
from ..evidence.groups import copied_labels
from ..evidence.likelihood import normalised
from ..evidence.majority import Majority
from ..inputs.weights import seed_of
from .folds import held_out_answers
from .summary import Report


class Estimated:
    """Mixin of `FewLabelClassifier`."""

    candidates_: list
    labels_: Any
    classes_: np.ndarray
    scores_: np.ndarray
    offsets_: np.ndarray
    drawn_: np.ndarray
    groups_: np.ndarray
    combine: str
    random_state: Any
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
            answers = held_out_answers(self.candidates_, labels, groups, self.combine, seed_of(self.random_state))
            answers = [normalised(H * np.exp(self.offsets_)) for H in answers]
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
