"""What the novelty detectors share: scores, a threshold, ±1 answers and a calibrated probability.

Here and in scikit-learn's outlier detectors **−1 means outlier and +1 means normal**. This is not the −1 of the
few-label classifiers, where it marks a row without a label.
"""

import numpy as np
from sklearn.base import OutlierMixin

from ..rows import by_blocks, by_row, host
from .base import KernelEstimator


class NoveltyDetector(OutlierMixin, KernelEstimator):
    """Base of the detectors: a subclass's `fit` ends with `_learn_threshold`, and `_score(X)` scores checked rows.

    Attributes
    ----------
    offset_ : score below which a row is an outlier; `decision_function` is the score less this.
    training_scores_ : (n,) scores of the training rows.
    """

    @by_row
    def score_samples(self, X):
        """How normal each row is: the higher, the more."""
        return host(by_blocks(self._score, self._rows(X, reset=False), None, np.float64))

    @by_row
    def decision_function(self, X):
        """Score less the threshold: negative for outliers."""
        return self.score_samples(X) - self.offset_

    @by_row
    def predict(self, X):
        """+1 for normal rows and −1 for outliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X, y=None, **fit_params):
        """Fit, and say of every training row whether it is normal (+1) or an outlier (−1)."""
        self.fit(X, y, **fit_params)
        if hasattr(self, "sample_"):
            return self.predict(X)
        return np.where(self.training_scores_ < self.offset_, -1, 1)

    @by_row
    def outlier_probability(self, X):
        """How unusual each row is among rows like the training rows, between 0 and 1.

        The share of training rows that are less odd than x, each judged as if it had been left out of the fit. So about
        5 % of new rows like the training rows get more than 0.95, whatever the kernel or nu: an alarm at 0.95 has a
        false alarm rate of 5 %. (It is one minus a conformal p-value, and at most n/(n + 1) for n training rows.) It is
        not the chance that x is an outlier: that would need to know how frequent outliers are, and what they are like.
        """
        reference, cumulated = self._reference
        odder = cumulated[np.searchsorted(reference, self.score_samples(X), side="right")]
        return 1 - (1 + odder) / (1 + cumulated[-1])

    def _learn_threshold(self, scores, left_out, weight, offset=None, slack=0.0):
        """Keep the training scores; without an offset, place it so that the share `contamination` is below.

        left_out are the scores each row would have had without itself; rows with weight 0 are in neither. `slack`: see
        `threshold`.
        """
        weight = np.ones(len(scores)) if weight is None else weight
        self.training_scores_ = scores
        order = np.argsort(left_out, kind="stable")
        self._reference = left_out[order], np.concatenate([[0.0], np.cumsum(weight[order])])
        self.offset_ = threshold(scores, weight, self.contamination, slack) if offset is None else float(offset)


def threshold(scores, weight, share, slack=0.0):
    """A value with at most `share` of the weight strictly below it, half-way between two scores.

    slack : how far from these scores those that `predict` computes may be; rows within it of each other are equal.

    >>> threshold(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), 0.5)
    2.5
    """
    scores, weight = scores[weight > 0], weight[weight > 0]
    order = np.argsort(scores, kind="stable")
    values, cumulated = scores[order], np.cumsum(weight[order])
    finite = values[np.isfinite(values)]
    # Equal rows have equal scores up to rounding: they are left out together or not at all.
    least = max(2 * slack, 1e-14 * np.max(np.abs(finite), initial=0))
    apart = values[1:] - values[:-1] > least if len(finite) else np.zeros(0, bool)
    ends = np.append(np.flatnonzero(apart), len(values) - 1)
    below = np.flatnonzero(cumulated[ends] <= share * cumulated[-1] * (1 + 1e-12))
    if len(below) == 0:
        return float(values[0] - slack)
    low, high = values[ends[below[-1]]], values[ends[below[-1]] + 1]  # share ≤ 1/2: some row stays above
    return float((low + high) / 2) if np.isfinite(low) else float(high)
