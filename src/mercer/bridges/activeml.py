"""A few-label classifier and `suggest` in the interfaces of scikit-activeml (``pip install scikit-activeml``).

Its own wrapper of scikit-learn's classifiers drops the rows without a label. `ActiveClassifier` also learns from them.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from ..advice.suggest import STRATEGIES, batch
from ..advice.surrogate import surrogate_of
from ..backend import need
from ..errors import InputError
from ..few_label.classifier import FewLabelClassifier
from ..inputs.weights import seed_of
from ..types import ColumnLike, Estimator, Seed

base: Estimator = need("skactiveml.base")
utils: Any = need("skactiveml.utils")


class ActiveClassifier(base.SkactivemlClassifier):
    """A classifier of this library with scikit-activeml's conventions, in which NaN marks rows without a label.

    Parameters
    ----------
    estimator : few-label classifier, default=FewLabelClassifier()
    classes : list of class names or None, default=None
        All class names, also those without a label yet. While fewer than two classes have labels, the probabilities are
        the fractions of the labels, with one more label in each class.
    missing_label, cost_matrix, random_state : as in scikit-activeml.

    Attributes
    ----------
    estimator_ : the fitted classifier, or None while there are labels of fewer than two classes.
    classes_, cost_matrix_ : as in scikit-activeml.
    """

    def __init__(
        self,
        estimator: FewLabelClassifier | None = None,
        classes=None,
        missing_label: float | str = np.nan,
        cost_matrix=None,
        random_state: int | None = None,
    ) -> None:
        super().__init__(classes, missing_label, cost_matrix, random_state)
        self.estimator = estimator

    def fit(self, X: np.ndarray, y: ColumnLike, sample_weight: np.ndarray | None = None) -> Self:
        """Fit on all rows, labeled or not."""
        X, codes, sample_weight = self._validate_data(X, y, sample_weight)
        codes = np.asarray(codes)
        known = np.unique(codes[codes >= 0])
        self.shares_ = np.bincount(codes[codes >= 0], minlength=len(self.classes_)) + 1.0
        self.shares_ /= self.shares_.sum()
        self.estimator_: Any = None
        if len(known) > 1:
            model = clone(FewLabelClassifier() if self.estimator is None else self.estimator)
            # Labels are numbers from 0 here and missing ones are None, so that no class name means "not labeled".
            given = np.array([code if code >= 0 else None for code in codes.tolist()], dtype=object)
            model.set_params(missing_label="auto", random_state=seed_of(self.random_state))
            weight = {} if sample_weight is None else {"sample_weight": np.nan_to_num(sample_weight.astype(float))}
            self.estimator_ = model.fit(X, given, **weight)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """(n, k) probabilities of all `classes_`. They are 0 for a class without labels if two others have labels."""
        X = check_array(X, accept_sparse="csr")
        P = np.zeros((X.shape[0], len(self.classes_)))
        if self.estimator_ is None:
            P[:] = self.shares_
        else:
            P[:, self.estimator_.classes_.astype(int)] = self.estimator_.predict_proba(X)
        return P


class Suggest(base.SingleAnnotatorPoolQueryStrategy):
    """`mercer.suggest` as a query strategy of scikit-activeml.

    Parameters
    ----------
    strategy : "auto" or a strategy of `mercer.suggest`.
    missing_label, random_state : as in scikit-activeml.
    """

    def __init__(self, strategy: str = "auto", missing_label: float = np.nan, random_state: Seed = None) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.strategy = strategy

    def query(
        self,
        X: np.ndarray,
        y: ColumnLike,
        clf: "ActiveClassifier | None" = None,
        fit_clf: bool = True,
        candidates: np.ndarray | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Row numbers to label next and, if `return_utilities`, the utility of every candidate at each step.

        Parameters
        ----------
        X, y : as in `fit` of `ActiveClassifier`.
        clf : ActiveClassifier or None, default=None
            None uses a default one.
        fit_clf : bool, default=True
            Whether to fit a copy of `clf`. False if it is fitted on X and y already.
        candidates : array of int or None, default=None
            Row numbers to choose from. None means all rows without a label. Rows that are not in X are refused.
        batch_size : int, default=1
            Number of rows to choose.
        return_utilities : bool, default=False
            Whether to return the utilities, too.
        """
        if self.strategy != "auto" and self.strategy not in STRATEGIES:
            raise InputError(f"strategy={self.strategy!r} is not known. Use 'auto', {', '.join(STRATEGIES)}.")
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        _, mapping = self._transform_candidates(candidates, X, y, enforce_mapping=True)
        clf = ActiveClassifier(missing_label=self.missing_label) if clf is None else clf
        known = np.flatnonzero(utils.is_labeled(y, self.missing_label_))
        if fit_clf and len(known):
            clf = clone(clf).fit(X, y)
        model = getattr(clf, "estimator_", None) if len(known) else None
        now = surrogate_of(X if model is None else model, None, None, "suggest")
        now = replace(now, free=np.asarray(mapping))
        strategy = ("coverage" if now.P is None else "informative") if self.strategy == "auto" else self.strategy
        strategy = "coverage" if now.P is None else strategy  # other strategies need a model
        seen: list = []
        rng = np.random.default_rng(seed_of(self.random_state))
        rows = batch(now, batch_size, strategy, rng, seen).rows
        if not return_utilities:
            return rows
        utilities = np.full((batch_size, len(X)), np.nan)
        for place, (free, gains) in enumerate(seen):
            utilities[place, free] = gains
        return rows, utilities
