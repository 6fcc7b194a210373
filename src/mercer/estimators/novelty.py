"""The base of the novelty detectors, with scores, a threshold, ±1 predictions and a calibrated probability.

Here and in scikit-learn's outlier detectors **−1 means outlier and +1 means normal**. This is not the −1 of the
few-label classifiers, for which it marks a row without a label.
"""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin, clone

from ..evidence.conformal import Reference
from ..kernels import Kernel, as_kernel
from ..rows import by_blocks, by_row, host, take
from ..types import Block, ColumnLike, Rows
from .base import KernelEstimator


class NoveltyDetector(OutlierMixin, KernelEstimator):
    """Base of the detectors. A subclass's `fit` ends with `_learn_threshold`, and `_score(X)` scores checked rows.

    Attributes
    ----------
    offset_ : score below which a row is an outlier. `decision_function` is the score less this.
    training_scores_ : (n,) scores of the training rows.
    held_out_probability_ : (n,) `outlier_probability` of the training rows, each by a fit without it. Use it to rank
        the rows of a table that contains its own outliers. With narrow kernels a row explains itself, and
        `training_scores_` then miss outliers.

    A kernel given by its name has the bandwidth rule `rule` in place of "median".
    """

    rule: ClassVar[str] = "neighbor"

    @by_row
    def score_samples(self, X: Rows) -> np.ndarray:
        """How normal each row is. A higher score is more normal."""
        return host(by_blocks(self._score, self._rows(X, reset=False), None, np.float64))

    @by_row
    def decision_function(self, X: Rows) -> np.ndarray:
        """Score less the threshold, which is negative for outliers."""
        return self.score_samples(X) - self.offset_

    @by_row
    def predict(self, X: Rows) -> np.ndarray:
        """+1 for normal rows and −1 for outliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: Rows, y: ColumnLike = None, **fit_params) -> np.ndarray:
        """Fit, and predict for every training row whether it is normal (+1) or an outlier (−1)."""
        self.fit(X, y, **fit_params)
        if hasattr(self, "sample_"):
            return self.predict(X)
        return np.where(self.training_scores_ < self.offset_, -1, 1)

    @by_row
    def outlier_probability(self, X: Rows) -> np.ndarray:
        """How unusual each row is among rows like the training rows, between 0 and 1.

        The fraction of training rows that are less unusual than x, each scored by a fit without it (ten folds, or a
        closed form for `KernelDensityNovelty`). So about 5% of new rows like the training rows get more than 0.95. An
        alarm at 0.95 has a false alarm rate of 5%. (It is one minus a conformal p-value, and at most n/(n + 1) for n
        training rows.) It is not the chance that x is an outlier. That would need to know how frequent outliers are,
        and what they are like. The first call after `fit` computes the folds, ten fits on nine tenths of the rows.
        """
        if self._reference is not None:
            return 1 - self._reference.p_values(-self.score_samples(X))
        X, total = self._rows(X, reset=False), 1.0
        odder: Block = 1.0
        for model, reference, _ in self._cross():
            weight = reference.cumulated[-1]
            found = -host(by_blocks(model.score_of_rows(X), X, None, np.float64))
            odder, total = odder + reference.p_values(found) * (1 + weight) - 1, total + weight
        return 1 - odder / total

    @property
    def held_out_scores_(self) -> np.ndarray:
        """(n,) scores of the training rows, each by a fit without it."""
        if self._reference is not None:
            return self._left_out
        found = np.empty(len(self.training_scores_))
        for _, _, (inside, scores) in self._cross():
            found[inside] = scores
        return found

    @property
    def held_out_probability_(self) -> np.ndarray:
        """(n,) `outlier_probability` of the training rows, each by a fit without it."""
        if self._reference is not None:
            return 1 - self._reference.p_values(-self._left_out)
        found = np.empty(len(self.training_scores_))
        for _, reference, (inside, scores) in self._cross():
            found[inside] = 1 - reference.p_values(-scores)
        return found

    def _kernel(self) -> Kernel:
        kernel: Any = as_kernel(self.kernel)
        if isinstance(self.kernel, str) and getattr(kernel, "bandwidth", None) == "median":
            kernel.bandwidth = self.rule
        return kernel

    def _learn_threshold(
        self,
        scores: np.ndarray,
        weight: np.ndarray | None,
        offset: float | None = None,
        slack: float = 0.0,
        left_out: np.ndarray | None = None,
        rows: tuple | None = None,
    ) -> None:
        """Keep the training scores. Without an offset, place it so that the fraction `contamination` is below.

        left_out : scores that each row would have had without itself, or None if there are to be folds. rows : (X, y,
        weight) of the fit for these folds. Rows of weight 0 are in neither. `slack`: see `threshold`.
        """
        self._reference = None if left_out is None else Reference.of(-left_out, weight)
        weight = np.ones(len(scores)) if weight is None else weight
        self.training_scores_ = scores
        self._left_out: Block = left_out
        self._fitted_rows: Any = rows
        self._mass = weight
        self._folds: Any = None
        self.offset_ = threshold(scores, weight, self.contamination, slack) if offset is None else float(offset)

    def _cross(self) -> list[tuple]:
        """[(model without a fold, reference of the fold's scores, (its rows, their scores))], computed once.

        New rows are scored by the same ten models (cross-conformal prediction, Vovk 2015). A score of the fit on all
        rows has another scale, because with narrow kernels the center moves with every row.
        """
        if self._folds is None:
            X, y, weight = self._fitted_rows
            self._folds, self._fitted_rows = self._by_folds(X, y, weight), None
        return self._folds

    def _by_folds(self, X: Rows, y: ColumnLike, weight: np.ndarray | None) -> list[tuple]:
        n = X.shape[0]
        folds, fold = [], np.random.default_rng(0).permutation(n) % min(10, n)
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        for one in range(fold.max() + 1):
            inside, outside = np.flatnonzero(fold == one), np.flatnonzero(fold != one)
            masses = None if weight is None else weight[outside]
            model = self
            if len(outside) and (masses is None or np.any(masses)):
                model = clone(self)
                if "kernel" in self.get_params() and not pairwise:
                    model.kernel = self.kernel_  # the width is that of all rows
                rows, given = take(X, outside), None if y is None else np.asarray(y)[outside]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the fit of all rows has warned already
                    model.fit(rows[:, outside] if pairwise else rows, given, masses)
                model.columns = outside if pairwise else None
                model = model.without_rows().answering()
            scores = host(by_blocks(model.score_of_rows(X), take(X, inside), None, np.float64))
            folds.append((model, Reference.of(-scores, self._mass[inside]), (inside, scores)))
        return folds

    def without_rows(self) -> Self:
        """The model without its training rows. It scores rows, and has no folds of its own."""
        self._fitted_rows = None
        return self

    def score_of_rows(self, X: Rows) -> Callable:
        """The function that scores checked rows. Of a kernel matrix a fold's model takes the columns of its rows."""
        columns = getattr(self, "columns", None)
        return self._score if columns is None else lambda K: self._score(K[:, columns])

    def __getstate__(self) -> dict:
        if getattr(self, "_fitted_rows", None) is not None:
            self._cross()  # the folds are computed now, as the training rows are not stored
        return super().__getstate__()

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other


def threshold(scores: np.ndarray, weight: np.ndarray, share: float, slack: float = 0.0) -> float:
    """A value with at most `share` of the weight strictly below it, half-way between two scores.

    slack : how far from these scores those that `predict` computes may be. Rows within it of each other are equal.

    >>> threshold(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4), 0.5)
    2.5
    """
    scores, weight = scores[weight > 0], weight[weight > 0]
    order = np.argsort(scores, kind="stable")
    values, cumulated = scores[order], np.cumsum(weight[order])
    finite = values[np.isfinite(values)]
    # Equal rows have equal scores up to rounding, and are left out together or not at all.
    least = max(2 * slack, 1e-14 * np.max(np.abs(finite), initial=0))
    apart = values[1:] - values[:-1] > least if len(finite) else np.zeros(0, bool)
    ends = np.append(np.flatnonzero(apart), len(values) - 1)
    below = np.flatnonzero(cumulated[ends] <= share * cumulated[-1] * (1 + 1e-12))
    if len(below) == 0:
        return float(values[0] - slack)
    low, high = values[ends[below[-1]]], values[ends[below[-1]] + 1]  # share ≤ 1/2, so some row stays above
    return float((low + high) / 2) if np.isfinite(low) else float(high)
