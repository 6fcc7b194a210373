"""A novelty detector of this library with PyOD's conventions (``pip install pyod``).

In PyOD, outliers have high scores and the prediction 1, and other rows have the prediction 0. `decision_scores_`,
`threshold_` and `labels_` belong to the training rows, and `contamination` is their fraction of outliers.
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
        `OutlierDetector`, `SVDD`, `KPCANovelty` or `KernelDensityNovelty`. None uses
        ``OutlierDetector(random_state=0)``. Rows on the sphere of an `SVDD` have equal scores, so its nu should not be
        near `contamination`.
    contamination : float or threshold object of PyOD, default=0.1
        Fraction of the training rows that are predicted to be outliers.

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
        """Fit on the rows X. y is ignored, as in PyOD's unsupervised detectors."""
        self._set_n_classes(y)
        self.detector_ = clone(OutlierDetector(random_state=0) if self.detector is None else self.detector).fit(X)
        self.decision_scores_ = -self.detector_.training_scores_
        self._process_decision_scores()
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """(n,) outlier scores, which are high for abnormal rows."""
        return -self.detector_.score_samples(X)
