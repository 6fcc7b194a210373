"""Scores and probabilities for advice on labeling, and how one more label would change the scores."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_regressor

from ..errors import InputError
from ..evidence.calibration import probabilities
from ..few_label.spaces import GraphSpace, diffused
from ..few_label.views import AsGiven, LeadingComponents, UnitNorm, View
from ..homes import home_of
from ..inputs.labels import read_labels
from ..inputs.sampling import on_sample
from ..inputs.tables import TableEncoder, is_frame
from ..inputs.weights import seed_of
from ..rows import host
from ..solvers.ridge.effect import LabelEffect, effect_of_ignored
from ..types import ColumnLike, Estimator, Rows


def doubt_of(P: np.ndarray) -> np.ndarray:
    """Return the (n,) doubts, which are 1 minus the lead of the most likely class over the second."""
    top = np.partition(P, -2, axis=1)[:, -2:]
    return 1.0 - (top[:, 1] - top[:, 0])


@dataclass(frozen=True)
class LinearSurrogate:
    """A model that is linear in its labels, with the scores and probabilities of the fitted model.

    `linear_scores`, `scores` and `P` are None if there are no labels.
    """

    effect: LabelEffect  # of one more label on the linear model
    free: np.ndarray  # rows without a label
    linear_scores: Rows = None  # (n, k') of the linear model
    scores: Rows = None  # (n, k') of the model
    P: Rows = None  # (n, k) probabilities of the model
    slope: float = 1.0  # factor of the scores in the probabilities
    unit: float = 1.0  # changes of the linear scores, divided by it, are changes of the model's scores
    numeric: bool = False  # whether the labels are numbers, so that there are no probabilities
    rows: Rows = None  # (n,) numbers of the rows in the table, or None if these are all rows

    def numbers(self, places: ColumnLike) -> np.ndarray:
        """Return the numbers in the table of the rows at `places`."""
        places = np.asarray(places, dtype=int)
        return places if self.rows is None else self.rows[places]

    @property
    def doubt(self) -> np.ndarray:
        """(n,) 1 minus the lead of the most likely class over the second. All are 1 without labels or for numbers."""
        if self.P is None:
            return np.ones(len(self.effect.Z))
        return doubt_of(self.P)

    def target(self, drawn: int) -> np.ndarray:
        """Return the (k',) target of the linear model for a row of class `drawn`."""
        k = self.P.shape[1]
        return np.array([1.0 if drawn == 1 else -1.0]) if k == 2 else 2.0 * (np.arange(k) == drawn) - 1.0

    def move(self, effect: LabelEffect, j: int, drawn: int, score: np.ndarray) -> np.ndarray:
        """Return the (n, k') changes of the linear scores if row j, which has `score`, gets the class `drawn`."""
        return effect.step(np.array([j])) * effect.surprise(self.target(drawn), score)

    def number(self, n: int) -> int:
        """Return n. Raise an error if fewer rows can be suggested."""
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise InputError(f"n={n!r} is not accepted. Give the number of rows to suggest, at least 1.")
        if n > len(self.free):
            raise InputError(
                f"{n} rows were requested and {len(self.free)} are unlabeled. Ask for at most {len(self.free)}."
            )
        return int(n)


def surrogate_of(
    model: Estimator, X: Rows, y: ColumnLike, what: str, also: ColumnLike = (), number: int = 0
) -> LinearSurrogate:
    """Return the surrogate of a fitted model, or of rows without any label.

    Parameters
    ----------
    model : estimator or array-like of shape (n, d)
        A fitted model, or rows.
    X, y : array-like or None
        The arguments of the fit, needed if the model does not keep its rows.
    what : str
        Name of the calling function, for messages.
    also, number : rows that must be among those of the surrogate, and how many of these must be without a label.
    """
    if hasattr(model, "check_whole"):
        if hasattr(model, "library_") and not hasattr(model, "answers_"):
            return _of_prepared(model, model.advice_rows(also, number))
        model.check_whole(what)
        return _of_average(model, model.advice_rows(also, number))
    if hasattr(model, "solution_for"):
        if X is None or y is None:
            raise InputError(f"{what} needs the rows that {type(model).__name__} was fitted on. Pass X= and y=.")
        return _of_method(model, X, y)
    return _of_rows(model)


def _of_average(model: Estimator, rows: np.ndarray) -> LinearSurrogate:
    """Return the surrogate of a few-label model, which is its heaviest linear candidate on the features that matter."""
    if model.linear_ is None:
        raise InputError(
            "No candidate of this model is linear in the labels, so the effect of a label is not known. "
            'Fit with methods="auto", or with "diffusion" or "lssvm" among the methods.'
        )
    candidate = model.candidates_[model.linear_]
    labels = model.labels_.among(rows)
    Z = _short(candidate.features(rows))
    solution = candidate.model.solve(candidate.model.prepare(Z), labels)
    free = np.setdiff1d(np.arange(len(rows)), labels.labeled)
    if is_regressor(model):
        return LinearSurrogate(solution.effect, free, numeric=True, rows=rows)
    own = solution.scores(Z)
    unit = 1.0 / model.answers_.fit.linear_slope  # the model's scores are logarithms of probabilities
    scores, P = model.answers_.with_prior(model.answers_.fit.scores[rows]), model.probabilities_[rows]
    return LinearSurrogate(
        solution.effect, free, own, scores, P, model.calibration_[0], unit, rows=model.row_numbers(rows)
    )


def _of_prepared(model: Estimator, rows: np.ndarray) -> LinearSurrogate:
    """Return the surrogate of a `FewLabelClassifier` before any label, from its first candidate."""
    Z = _short(model.candidates_[0].features(rows))
    return LinearSurrogate(
        effect_of_ignored(Z, np.zeros(0, dtype=int), 1.0 / 3.0), np.arange(len(rows)), rows=model.row_numbers(rows)
    )


def _of_method(model: Estimator, X: Rows, y: ColumnLike) -> LinearSurrogate:
    X = home_of(X).opened(X)
    effect = model.solution_for(X, y).effect
    if effect is None:
        raise InputError(
            f"The effect of one more label on {model!r} is not known without refitting. Accepted: "
            'FewLabelClassifier, SemiKPCA, LSSVMClassifier (with bias=False if unlabeled="zero").'
        )
    y, sample = on_sample(X, y, "classes", model.missing_label, seed_of(model.random_state)), home_of(X).sample_of(X)
    free = np.flatnonzero(read_labels(y, model.missing_label).codes < 0)
    scores = model.decision_function(X if sample is None else X[sample]).reshape(len(effect.Z), -1)
    P = probabilities(scores, *model.calibration_)
    return LinearSurrogate(effect, free, scores, scores, P, model.calibration_[0], rows=sample)


def _of_rows(rows: Rows) -> LinearSurrogate:
    """Return the surrogate of rows without labels.

    It is the diffusion on the graph of ten neighbors, the first candidate of `FewLabelClassifier`.
    """
    name, home = type(rows).__name__, home_of(rows)
    rows = home.opened(rows, frames=hasattr(rows, "columns"))
    sample = home.sample_of(rows)
    rows = rows if sample is None else rows[sample]
    if is_frame(rows):
        rows = TableEncoder().fit_transform(rows)
    if not sp.issparse(rows):
        rows = None if hasattr(rows, "get_params") else np.asarray(rows, dtype=np.float64)  # an estimator is not rows
    if rows is None or rows.ndim != 2 or rows.shape[0] < 2:
        raise InputError(
            f"{name} is neither a fitted model nor rows. Accepted: a few-label model, an LSSVMClassifier or "
            "SemiKPCA with X and y, or a table of at least two rows."
        )
    n, d = rows.shape
    view: View = UnitNorm() if sp.issparse(rows) else LeadingComponents(30) if min(n, d) > 50 else AsGiven()
    base = GraphSpace("", view, min(10, max(n // 3, 1)), view.fit(rows))
    Z = _short(host(diffused(base, 30.0).Z))
    return LinearSurrogate(effect_of_ignored(Z, np.zeros(0, dtype=int), 1.0 / 3.0), np.arange(n), rows=sample)


def _short(Z: np.ndarray, most: int = 200) -> np.ndarray:
    """Return the `most` features of largest mean square. The others matter little, and the cost grows like r²."""
    if Z.shape[1] <= most:
        return np.asarray(Z, dtype=np.float64)
    power = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
    return np.asarray(Z[:, np.sort(np.argsort(-power, kind="stable")[:most])], dtype=np.float64)
