"""Leave-one-label-out predictions, which predict each labeled row while its label is held out.

For fits that are linear in the labels they are exact, and one decomposition per kernel gives them for every
regularization (`mercer.solvers.ridge.smoother`). Any other estimator is fitted again for each label.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InputError
from ..estimators.grid import answered, product_of
from ..evidence.choice import accuracy_interval, choose, hits
from ..inputs.labels import Labels, read_labels
from ..types import ColumnLike, Estimator


@dataclass(frozen=True)
class LeftOut:
    """Held-out predictions of m candidates for l labeled rows.

    Attributes
    ----------
    candidates : list of m parameter dicts. The first, {}, is the estimator as it was given.
    scores : (m, l, k') decision scores, k' = 1 for two classes.
    labels : the labels as they were read. The rows are `labels.labeled`.
    """

    candidates: list
    scores: np.ndarray
    labels: Labels

    @property
    def right(self) -> np.ndarray:
        """(m, l') whether each held-out prediction is correct, for the rows whose class has another label."""
        tested = answered(self.labels, self.scores)
        return hits(self.scores[:, tested], self.labels.codes[self.labels.labeled[tested]])

    @property
    def accuracy(self):
        """(m,) fraction of those rows that are correct."""
        return self.right.mean(axis=1)

    @property
    def interval(self):
        """(m, 2) 95% interval of each accuracy. With ten labels it is about fifty percentage points wide."""
        right = self.right
        return np.array([accuracy_interval(n, right.shape[1]) for n in right.sum(axis=1)])

    def choose(self):
        """Return the index of the candidate to use (`value`), the first unless another is better, and a `reason`."""
        return choose(self.right, default=0)


def leave_one_label_out(
    estimator: Estimator,
    X: np.ndarray,
    y: ColumnLike,
    sample_weight: ColumnLike = None,
    *,
    refit: bool = False,
    **grid: Any,
) -> LeftOut:
    """Return held-out predictions over a grid of parameters.

    Parameters
    ----------
    estimator : estimator
        A classifier of this library. With ``refit=True`` any classifier that reads -1 as "unlabeled".
    X, y : array-like
        Rows and labels, as in the estimator's `fit`.
    sample_weight : array-like or None, default=None
        Weights, as in the estimator's `fit`.
    refit : bool, default=False
        Fit once for every candidate and label instead of using the method's own held-out scores. Slow. The scores are
        the same for methods with a closed form (`LSSVMClassifier`, `RLSClassifier`, `SemiKPCA`, `LeastSquaresKPCA`
        without label_folds). They differ for other methods, whose own scores are approximate. Those of
        `S2RLSClassifier`, `TransductiveSVMClassifier`, `WithinVarianceClassifier`, and of `LeastSquaresKPCA` and
        `LogisticKPCA` with label_folds, are from at most five or ten folds of labels. `LogisticKPCA` keeps the last
        reweighted problem, and balance="estimate" keeps one estimate of the class frequencies.
    **grid : lists
        Candidates by parameter name, such as ``gamma=np.logspace(-3, 3, 50)`` or
        ``kernel=[RBF(w) for w in (0.5, 1, 2)]``. Without any, the predictions of the estimator as it is.

    Returns
    -------
    LeftOut
        The candidates and their held-out predictions.

    Notes
    -----
    Methods that are linear in the labels need one decomposition per kernel, and then O(m l r) for m regularizations, l
    labels and r features. With refitting there are m l fits per kernel.

    Examples
    --------
    >>> from mercer import SemiKPCA
    >>> from mercer.model_selection import leave_one_label_out
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> found = leave_one_label_out(SemiKPCA(), X, [0, 0, -1, -1, 1, 1], n_removed=[1], gamma=[0.3])
    >>> found.candidates, found.accuracy.tolist()
    ([{}, {'n_removed': 1, 'gamma': 0.3}], [1.0, 1.0])
    """
    if refit or not hasattr(estimator, "left_out_table"):
        candidates = [{}, *product_of({name: list(values) for name, values in grid.items()})] if grid else [{}]
        labels = read_labels(y, getattr(estimator, "missing_label", "auto"))
        models = [clone(estimator).set_params(**c) for c in candidates]
        scores = np.array([_refit(model, X, labels, sample_weight) for model in models])
    else:
        candidates, scores, labels = estimator.left_out_table(X, y, sample_weight, grid)
    if not labels.testable.any():
        raise InputError(
            f"Every class has one label only ({labels.n_classes} labels), so no label can be held out. "
            "Label a second row of some class."
        )
    return LeftOut(candidates, scores, labels)


def _refit(model: Estimator, X: np.ndarray, labels: Labels, sample_weight: ColumnLike) -> np.ndarray:
    """Return (l, k') scores by one fit per held-out label. y is passed as class codes with -1, or as probabilities."""
    if "missing_label" in model.get_params():
        model.set_params(missing_label="auto")
    out = np.full(labels.signs.shape, np.nan)
    for i in np.flatnonzero(labels.testable):
        y = labels.target if labels.soft else labels.codes.copy()
        row = labels.labeled[i]
        y[row] = 0 if labels.soft else -1
        model = clone(model)
        model.fit(X, y) if sample_weight is None else model.fit(X, y, sample_weight=sample_weight)
        score = model.decision_function if hasattr(model, "decision_function") else model.predict_proba
        found = np.atleast_1d(score(X[row : row + 1])[0])
        out[i] = found[1:] - found[:1] if len(found) == 2 else found
    return out
