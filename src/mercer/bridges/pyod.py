"""PyOD: a novelty detector of this library in PyOD's conventions (pip: pyod).

There high scores are abnormal, 1 is an outlier and 0 is not. `decision_scores_`, `threshold_` and `labels_` are those
of the training rows, and `contamination` is the fraction of them that is called abnormal.
"""

from typing import Self

import numpy as np
from sklearn.base import clone

from ..backend import need
from ..estimators.outlier_detector import OutlierDetector
from ..types import ColumnLike, Estimator

base: Estimator = need("pyod.models.base")


class PyODDetector(base.BaseDetector):
    """A detector for PyOD's combinations, thresholds and benchmarks.

    Parameters
    ----------
    detector : estimator or None, default=None
        `OutlierDetector`, `SVDD`, `KPCANovelty` or `KernelDensityNovelty`; None: ``OutlierDetector(random_state=0)``.
        Rows on the sphere of an `SVDD` are tied: keep its nu away from `contamination`.
    contamination : fraction of the training rows that is called abnormal, or a threshold object of PyOD.

    Attributes
    ----------
    detector_ : the fitted detector.
    decision_scores_, threshold_, labels_ : as in PyOD.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KPCANovelty
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> from mercer.bridges.pyod import PyODDetector  # doctest: +SKIP
    >>> PyODDetector(KPCANovelty(2)).fit(X).predict([[0.0, 0.0], [9.0, 9.0]])  # doctest: +SKIP
    array([0, 1])
    """

    def __init__(self, detector=None, contamination: float = 0.1) -> None:
        super().__init__(contamination=contamination)
        self.detector = detector

    def fit(self, X: np.ndarray, y: ColumnLike = None) -> Self:
        """Fit on the rows X; y is ignored, as PyOD's unsupervised detectors do."""
        self._set_n_classes(y)
        self.detector_ = clone(OutlierDetector(random_state=0) if self.detector is None else self.detector).fit(X)
        self.decision_scores_ = -self.detector_.training_scores_
        self._process_decision_scores()
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """(n,) how abnormal each row is: the higher, the more."""
        return -self.detector_.score_samples(X)
