"""Any scikit-learn classifier of the user in the pool, weighed by its predictions for held-out labels.

The labels are divided into folds. The classifier is fitted without each of them and predicts it. Its weight follows
from these predictions as that of any other candidate. For all other rows it is fitted to all labels.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from ...errors import InputError
from ...inputs.labels import Labels
from ...types import Estimator, Index, Rows
from ..views import AsGiven, View
from .base import Candidate, Fitted
from .boosting import stratified_folds
from .forest import TreesCandidate, compact

METHOD = "also"


@dataclass(frozen=True, eq=False)
class OwnCandidate(TreesCandidate):
    """A scikit-learn classifier on the rows as numbers."""

    estimator: Estimator
    seed: int = 0

    @property
    def prior_group(self) -> str:
        return METHOD

    def solve(self, labels: Labels) -> "OwnFitted":
        """Fit to all labels, and without each fold of them."""
        return self._fitted(labels, 5)

    def rehearse(self, labels: Labels) -> None:
        """Do nothing, because a classifier of the user may refuse labels that mean nothing."""

    def solve_fold(self, labels: Labels) -> "OwnFitted":
        return self._fitted(labels, 3)

    def _fitted(self, labels: Labels, folds: int) -> "OwnFitted":
        start = time.perf_counter()
        X, codes, k = self.rows[labels.labeled], labels.codes[labels.labeled], labels.n_classes
        count = None if labels.weight is None else labels.counted
        fold, left_out = stratified_folds(codes, min(folds, len(codes)), [self.seed]), np.zeros((len(codes), k))
        for own in np.unique(fold):
            test = fold == own
            known = None if count is None else count[~test]
            part = OwnClassifier(self.estimator, X[~test], codes[~test], k, known)
            left_out[test] = part.log_probabilities(X[test])
        model = OwnClassifier(self.estimator, X, codes, k, count)
        return OwnFitted(self, compact(left_out), self.seconds + time.perf_counter() - start, model)


@dataclass(frozen=True, eq=False)
class OwnFitted(Fitted):
    """A candidate with its fitted classifier."""

    model: "OwnClassifier"

    def scores(self, rows: Index | None = None) -> np.ndarray:
        X = self.candidate.rows if rows is None else self.candidate.rows[rows]
        return compact(self.model.log_probabilities(X))

    def part(self) -> "OwnPart":
        return OwnPart(self.candidate.view, self.model)


class OwnPart:
    """Scores of a classifier of the user for any rows."""

    def __init__(self, view: View, model: "OwnClassifier") -> None:
        self.view, self.model = view, model

    def scores(self, rows: Rows) -> np.ndarray:
        """(n, k') scores."""
        return compact(self.model.log_probabilities(rows))


class OwnClassifier:
    """A fitted classifier of some of k class numbers.

    Attributes
    ----------
    estimator : the classifier, or None if there was one class only. classes : (k',) class numbers that it knows.
    """

    def __init__(self, estimator: Estimator, X: Rows, codes: np.ndarray, k: int, count: np.ndarray | None) -> None:
        self.estimator, self.classes, self.k = None, np.unique(codes), k
        if len(self.classes) > 1:  # scikit-learn's classifiers refuse one class
            self.estimator = clone(estimator)
            weighted = count is not None and has_fit_parameter(estimator, "sample_weight")
            _call(self.estimator, "fit", X, codes, **({"sample_weight": count} if weighted else {}))

    def log_probabilities(self, rows: Rows) -> np.ndarray:
        """(n, k) logarithms of the probabilities. None is below 1e-4, so that no classifier rules out a label alone."""
        P = np.zeros((rows.shape[0], self.k))
        P[:, self.classes] = 1.0 if self.estimator is None else self._found(rows)
        return np.log(np.maximum(P, 1e-4))

    def _found(self, rows: Rows) -> np.ndarray:
        found = np.asarray(_call(self.estimator, "predict_proba", rows), dtype=np.float64)
        if found.shape != (rows.shape[0], len(self.classes)) or not np.isfinite(found).all():
            raise InputError(
                f"{type(self.estimator).__name__} in also predicted an array of shape {found.shape}, in which "
                f"{np.count_nonzero(~np.isfinite(found))} entries are not finite. A probability is needed for each of "
                f"{rows.shape[0]} rows and {len(self.classes)} classes. Leave this classifier out of also."
            )
        return found


def _call(model: object, method: str, *values: Rows, **options: np.ndarray | None) -> object:
    try:
        return getattr(model, method)(*values, **options)
    except Exception as error:
        raise InputError(
            f"{type(model).__name__} in also failed in {method}: {error} It must accept the rows as numbers, "
            f"{'sparse ones included, ' if hasattr(values[0], 'tocsr') else ''}and as few labels as there are here. "
            "Correct it, or leave it out of also."
        ) from error


def check_own(also: object) -> None:
    """Refuse what is not a list of classifiers."""
    if isinstance(also, str) or not isinstance(also, Sequence):
        raise InputError(f"also={also!r} is not accepted. Give a list of scikit-learn classifiers.")
    for one in also:
        if isinstance(one, type) or not (hasattr(one, "fit") and hasattr(one, "predict_proba") and is_classifier(one)):
            raise InputError(
                f"also contains {one!r}, which is not a scikit-learn classifier with predict_proba. Give an object "
                "such as LogisticRegression(), or wrap yours in sklearn.calibration.CalibratedClassifierCV."
            )


def own_candidates(also: Sequence[Estimator], X: Rows, seed: int) -> list[Candidate]:
    """A candidate for each classifier of the user."""
    names = [f"also {number}: {type(one).__name__}" for number, one in enumerate(also, 1)]
    return [OwnCandidate(name, METHOD, AsGiven(), X, one, seed) for name, one in zip(names, also)]
