"""Given labels that are probably wrong, because the other labels contradict them."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..evidence.calibration import probabilities, two_columns
from ..evidence.label_errors import wrong_probability
from ..few_label.classifier import FewLabelClassifier
from ..homes import home_of
from ..types import ColumnLike, Estimator, Rows

FLAGGED = 0.5  # probability above which a label is called probably wrong


@dataclass(frozen=True)
class Suspicious:
    """Labeled rows, most suspicious first.

    Attributes
    ----------
    rows : (m,) row numbers.
    margins : (m,) lead of the given class over the best other one in the prediction of a fit that did not know the
        label. Negative if that fit contradicts the label.
    probability : (m,) how likely the label is wrong, with the fraction of wrong labels estimated from all of them (see
        `mercer.evidence.label_errors`).
    given, proposed : (m,) the label, and the class that the other labels predict.
    """

    rows: np.ndarray
    margins: np.ndarray
    probability: np.ndarray
    given: np.ndarray
    proposed: np.ndarray

    def __str__(self) -> str:
        if not len(self.rows):
            return "No label is probably wrong."
        lines = zip(self.rows, self.given.tolist(), self.proposed.tolist(), self.probability)
        return "\n".join(f"row {row}: {old} → {new}? ({p:.0%} chance that it is wrong)" for row, old, new, p in lines)


def suspicious(
    model: Estimator, n: int | None = None, *, above: float = FLAGGED, X: Rows = None, y: ColumnLike = None
) -> Suspicious:
    """Rank the labeled rows by how likely their labels are wrong, judged from the other labels.

    Parameters
    ----------
    model : estimator
        A fitted `FewLabelClassifier`, or another fitted classifier of this library with the X and y of its fit.
    n : int or None, default=None
        Number of rows to return. None returns those that are wrong with a probability above `above`. When labels are
        mostly correct these are few rows, even if the model disagrees with many.
    above : float, default=0.5
        Probability above which a label counts as probably wrong.
    X, y : array-like or None, default=None
        The arguments of the fit. A `FewLabelClassifier` does not need them.

    Returns
    -------
    Suspicious
        The rows, the most suspicious first, with the class that the other labels predict.

    Notes
    -----
    The only label of a class cannot be held out and is never returned. A `FewLabelClassifier` already has its held-out
    predictions. For other classifiers they cost one leave-one-label-out.

    Examples
    --------
    >>> from mercer import FewLabelClassifier, suspicious
    >>> X = [[i / 10] for i in range(10)] + [[5 + i / 10] for i in range(10)]
    >>> y = [0, 0, 0, 1] + [-1] * 12 + [1, 1, 1, 1]  # row 3 is wrong
    >>> suspicious(FewLabelClassifier().fit(X, y), 1).rows.tolist()
    [3]
    """
    check_is_fitted(model)
    sample = getattr(model, "sample_", None)
    if isinstance(model, FewLabelClassifier):
        labels, left_out = model.labels_, model.answers_.with_prior(model.answers_.left_out_scores)
    elif hasattr(model, "left_out_table"):
        if X is None or y is None:
            raise InputError(f"suspicious needs the rows that {type(model).__name__} was fitted on. Pass X= and y=.")
        X = home_of(X).opened(X)
        _, table, labels = model.left_out_table(X, y)
        sample = home_of(X).sample_of(X)
        left_out = table[0]
    else:
        raise InputError(
            f"{type(model).__name__} has no held-out predictions. Accepted: FewLabelClassifier, or a few-label "
            "classifier of mercer with X and y."
        )
    slope, floor = model.calibration_
    known = np.flatnonzero(labels.testable & np.isfinite(left_out).all(axis=1))
    if n is not None and (isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1):
        raise InputError(f"n={n!r} is not accepted. Give the number of rows to return, at least 1, or None.")
    scores = two_columns(left_out[known])
    codes = labels.codes[labels.labeled[known]]
    own = scores[np.arange(len(known)), codes]
    scores[np.arange(len(known)), codes] = -np.inf
    margin = own - scores.max(axis=1)
    wrong = wrong_probability(probabilities(left_out[known], slope, floor), codes)
    order = np.lexsort((margin, -wrong))
    order = order[wrong[order] > above] if n is None else order[:n]
    rows = labels.labeled[known[order]]
    rows = sample[rows] if sample is not None else rows
    given, proposed = model.classes_[codes[order]], model.classes_[scores.argmax(axis=1)[order]]
    return Suspicious(rows, margin[order], wrong[order], given, proposed)
