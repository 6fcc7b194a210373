"""Splitters and scorers for cross-validation with scikit-learn if some rows have no label.

`cross_val_score` and `GridSearchCV` with their own splitters put unlabeled rows into the test folds and count them as
errors. The splitters here put every unlabeled row into every training fold, so that the method can use it. The test
folds contain only labeled rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metadata_routing import MetadataRequest

from ..errors import InputError
from ..inputs.labels import read_labels, unlabeled
from ..types import ColumnLike


def _testable(y, missing_label):
    """Return (labeled rows that can be held out, their class codes, number of rows).

    The only label of its class cannot be held out, because the class would be unknown in the training fold.
    """
    labels = read_labels(y, missing_label)
    if not labels.testable.any():
        raise InputError(
            f"Every class has one label only ({labels.n_classes} labels), so no row can be held out for testing. "
            "Label a second row of some class."
        )
    rows = labels.labeled[labels.testable]
    return rows, labels.codes[rows], len(labels.codes)


@dataclass
class LabeledKFold:
    """Stratified k-fold over the labeled rows. Every unlabeled row is in every training set.

    Fold sizes differ by at most one, and so do the counts of a class in two folds. The only label of a class
    is always in the training set.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether to shuffle the labels of each class before they are divided.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    missing_label : "auto", None, value or list of values, default="auto"
        Values in y that mean "not labeled".

    Examples
    --------
    >>> y = ["a", "b", None, "a", "b", None]
    >>> [test.tolist() for train, test in LabeledKFold(2).split(y, y)]
    [[0, 1], [3, 4]]
    """

    n_splits: int = 5
    shuffle: bool = False
    random_state: Any = None
    missing_label: Any = "auto"

    def split(self, X, y=None, groups=None):
        """Yield (training rows, test rows) as positions."""
        rows, codes, n = _testable(y, self.missing_label)
        if not 2 <= self.n_splits <= len(rows):
            raise InputError(
                f"n_splits={self.n_splits} does not fit {len(rows)} labeled rows that can be held out. Use 2 to "
                f"{len(rows)} folds, or LeaveOneLabelOut()."
            )
        order = np.arange(len(rows))
        if self.shuffle:
            check_random_state(self.random_state).shuffle(order)
        order = order[np.argsort(codes[order], kind="stable")]
        for fold in range(self.n_splits):  # rows sorted by class go to the folds in turn
            test = np.sort(rows[order[fold :: self.n_splits]])
            yield np.delete(np.arange(n), test), test

    def get_n_splits(self, X: np.ndarray | None = None, y: ColumnLike = None, groups=None) -> int:
        """Number of folds."""
        return self.n_splits


@dataclass
class RepeatedLabeledKFold:
    """`LabeledKFold`, shuffled again in each of several repeats.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    n_repeats : int, default=10
        Number of repeats.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    missing_label : "auto", None, value or list of values, default="auto"
        Values in y that mean "not labeled".

    Examples
    --------
    >>> RepeatedLabeledKFold(n_splits=3, n_repeats=4, random_state=0).get_n_splits()
    12
    """

    n_splits: int = 5
    n_repeats: int = 10
    random_state: Any = None
    missing_label: Any = "auto"

    def split(self, X: np.ndarray, y: ColumnLike = None, groups=None) -> Iterator:
        """Yield (training rows, test rows) as positions."""
        generator = check_random_state(self.random_state)
        for _ in range(self.n_repeats):
            yield from LabeledKFold(self.n_splits, True, generator, self.missing_label).split(X, y)

    def get_n_splits(self, X: np.ndarray | None = None, y: ColumnLike = None, groups=None) -> int:
        """Number of folds over all repeats."""
        return self.n_splits * self.n_repeats


@dataclass
class LeaveOneLabelOut:
    """Each labeled row is the test fold once. The unlabeled rows are always in the training set.

    Parameters
    ----------
    missing_label : "auto", None, value or list of values, default="auto"
        Values in y that mean "not labeled".

    Examples
    --------
    >>> y = ["a", "b", None, "a", "b"]
    >>> [test.tolist() for train, test in LeaveOneLabelOut().split(y, y)]
    [[0], [1], [3], [4]]
    """

    missing_label: Any = "auto"

    def split(self, X, y=None, groups=None):
        """Yield (training rows, test row) as positions."""
        rows, _, n = _testable(y, self.missing_label)
        for row in rows:
            yield np.delete(np.arange(n), row), np.array([row])

    def get_n_splits(self, X=None, y=None, groups=None):
        """Number of labeled rows whose class has another label."""
        return len(_testable(y, self.missing_label)[0])


@dataclass
class LabeledScorer:
    """A scorer that uses the labeled rows only, such as `LabeledScorer("balanced_accuracy")`.

    Parameters
    ----------
    scoring : str, callable or None, default="accuracy"
        Any scorer of scikit-learn. None is the estimator's own `score`.
    missing_label : "auto", None, value or list of values, default="auto"
        Values in y that mean "not labeled". A class that the estimator has learned is never such a value.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = [[0.0], [1.0], [0.1]]
    >>> model = KNeighborsClassifier(1).fit(X[:2], ["a", "b"])
    >>> LabeledScorer("accuracy")(model, X, ["a", "b", None])
    1.0
    """

    scoring: Any = "accuracy"
    missing_label: Any = "auto"

    def set_score_request(self, **requests: Any) -> Self:
        """Request parameters of the score from scikit-learn's metadata routing, such as ``sample_weight=True``."""
        self._requests = requests
        return self

    def get_metadata_routing(self):
        """The requests of `set_score_request`. Until then weights are neither requested nor refused."""
        routing = MetadataRequest(owner=type(self).__name__)
        for name, alias in getattr(self, "_requests", {"sample_weight": None}).items():
            routing.score.add_request(param=name, alias=alias)
        return routing

    def __call__(self, estimator, X, y, sample_weight=None, **params):
        scorer = check_scoring(estimator, scoring=self.scoring)
        gone = unlabeled(y, self.missing_label, getattr(estimator, "classes_", ()))
        rows = np.flatnonzero(~gone)
        if len(rows) == 0:
            raise InputError(
                "There is no row to score, because all of y marks unlabeled rows. Score on labeled rows. "
                "The splitters of mercer.model_selection put only those into test folds."
            )
        params |= {} if sample_weight is None else {"sample_weight": sample_weight}
        of_rows = {name: value for name, value in params.items() if np.shape(value)[:1] == gone.shape}  # as weights are
        params |= {name: _safe_indexing(value, rows) for name, value in of_rows.items()}
        y = _safe_indexing(y, rows)
        if np.asarray(y).dtype.kind == "O":  # None and NaN are gone, so the entries have one type again
            y = np.array(list(y))
        return scorer(estimator, _safe_indexing(X, rows), y, **params)
