"""The state that advice on labeling reads: scores, probabilities, and how one more label would move the scores."""

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

FEATURES = 200  # of the heaviest linear candidate that advice looks at


def doubt_of(P: np.ndarray) -> np.ndarray:
    """(n,) 1 less the lead of the most likely class over the second."""
    top = np.partition(P, -2, axis=1)[:, -2:]
    return 1.0 - (top[:, 1] - top[:, 0])


@dataclass(frozen=True)
class LinearSurrogate:
    """A model that is linear in its labels, next to the model whose answers count. Scores and P need labels."""

    effect: LabelEffect  # of one more label on the linear model
    free: np.ndarray  # rows without a label
    linear_scores: Rows = None  # (n, k') of the linear model
    scores: Rows = None  # (n, k') of the model
    P: Rows = None  # (n, k) its probabilities, of this slope
    slope: float = 1.0
    unit: float = 1.0  # of the linear scores: divided by it they add to the model's
    numeric: bool = False  # whether the labels are numbers; there are no probabilities then
    rows: Rows = None  # (n,) numbers of the rows in the table; None: they are all of it

    def numbers(self, places: ColumnLike) -> np.ndarray:
        """The numbers in the table of rows looked at."""
        places = np.asarray(places, dtype=int)
        return places if self.rows is None else self.rows[places]

    @property
    def doubt(self) -> np.ndarray:
        """(n,) 1 less the lead of the most likely class over the second; 1 everywhere without labels or for numbers."""
        if self.P is None:
            return np.ones(len(self.effect.Z))
        return doubt_of(self.P)

    def target(self, drawn: int) -> np.ndarray:
        """(k',) what the linear model is fitted to at a row of class `drawn`."""
        k = self.P.shape[1]
        return np.array([1.0 if drawn == 1 else -1.0]) if k == 2 else 2.0 * (np.arange(k) == drawn) - 1.0

    def move(self, effect: LabelEffect, j: int, drawn: int, score: np.ndarray) -> np.ndarray:
        """(n, k') change of the linear model's scores of all rows if row j, which has `score`, is of class drawn."""
        return effect.step(np.array([j])) * effect.surprise(self.target(drawn), score)

    def number(self, n: int) -> int:
        """n, if so many rows can be suggested."""
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise InputError(f"n={n!r} is not accepted: give how many rows to suggest, at least 1.")
        if n > len(self.free):
            raise InputError(
                f"{n} rows were requested and {len(self.free)} are unlabeled. Ask for at most {len(self.free)}."
            )
        return int(n)


def surrogate_of(
    model: Estimator, X: Rows, y: ColumnLike, what: str, also: ColumnLike = (), number: int = 0
) -> LinearSurrogate:
    """The surrogate of a fitted model, with X and y where it does not keep its rows, or of rows without any label.

    also, number : rows that must be among those looked at, and how many of these must be without a label.
    """
    if hasattr(model, "check_whole"):
        if hasattr(model, "library_") and not hasattr(model, "answers_"):
            return _of_prepared(model, model.advice_rows(also, number))
        model.check_whole(what)
        return _of_average(model, model.advice_rows(also, number))
    if hasattr(model, "solution_for"):
        if X is None or y is None:
            raise InputError(f"{what} needs the rows that {type(model).__name__} was fitted on: pass X= and y=.")
        return _of_method(model, X, y)
    return _of_rows(model)


def _of_average(model: Estimator, rows: np.ndarray) -> LinearSurrogate:
    """A few-label model: the effect is that of its heaviest linear candidate, on the features that matter."""
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
    """A `FewLabelClassifier` before any label: its first candidate, the label-free default."""
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
    """No label: the diffusion on the graph of ten neighbors, the label-free default of `FewLabelClassifier`."""
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


def _short(Z: np.ndarray) -> np.ndarray:
    """The features of largest mean square: advice needs the large shapes only, and its cost grows like r²."""
    if Z.shape[1] <= FEATURES:
        return np.asarray(Z, dtype=np.float64)
    power = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
    return np.asarray(Z[:, np.sort(np.argsort(-power, kind="stable")[:FEATURES])], dtype=np.float64)
