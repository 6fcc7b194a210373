"""Which rows to label next, and when to stop."""

import copy
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..estimators.lssvm import LSSVMClassifier
from ..evidence.calibration import probabilities, two_columns
from ..few_label.classifier import FewLabelClassifier
from ..few_label.plan import Candidate
from ..few_label.spaces import GraphSpace, diffused
from ..few_label.views import AsGiven, Components, UnitNorm
from ..inputs.labels import read_labels
from ..inputs.tables.encoder import TableEncoder, is_table
from .effect import LabelEffect

STRATEGIES = ("informative", "error", "variance", "uncertainty", "density", "coverage")
SHORTLIST = 60  # rows for which the expected error after labelling is computed in full
FEATURES = 200  # of the heaviest linear candidate that a suggestion looks at
JUDGED = 1000  # rows on which it is computed, drawn at random where there are more


@dataclass(frozen=True)
class Suggestion:
    """Rows to label, best first.

    Attributes
    ----------
    rows : (n,) row numbers.
    gains : (n,) what the strategy measures, in its own unit; comparable within one suggestion.
    reasons : n sentences.
    """

    rows: np.ndarray
    gains: np.ndarray
    reasons: list

    def __str__(self):
        return "\n".join(f"row {row}: {reason}" for row, reason in zip(self.rows, self.reasons))


def suggest(model, n=10, *, strategy="auto", X=None, y=None, random_state=None):
    """Suggest rows to label next.

    Parameters
    ----------
    model : fitted `FewLabelClassifier`; or a fitted `LSSVMClassifier` or `SemiKPCA` with the X and y of its fit; or,
        when there are no labels at all, the rows themselves.
    n : int, how many. A batch is diverse: every row takes away what its surroundings have to gain.
    strategy : "auto" or one of

        * "informative": uncertain itself, and its label takes away much variance from other uncertain rows;
        * "error": expected error over all rows after the label, from its exact effect (`LabelEffect`), for the rows
          that "variance" puts first;
        * "variance": how much variance the label takes away from the uncertain rows;
        * "uncertainty": the rows whose two likeliest classes are closest;
        * "density": these rows, weighted by how many rows are similar;
        * "coverage": rows that stand for all others; needs no label.

        "auto" is "coverage" without labels, else "informative".
    random_state : seed of the rows on which "error" is judged.

    Returns
    -------
    Suggestion

    Notes
    -----
    Cost: one product with an r × r matrix a suggested row, O(n r²), r the features of the heaviest linear candidate.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import suggest
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1]])
    >>> sorted((suggest(X, 3).rows // 3).tolist())  # one row of each group
    [0, 1, 2]
    """
    if strategy != "auto" and strategy not in STRATEGIES:
        raise InputError(f"strategy={strategy!r} is not known. Accepted: 'auto', {', '.join(map(repr, STRATEGIES))}.")
    state = _state(model, X, y, "suggest")
    n = _number(n, len(state.free))
    if strategy == "auto":
        strategy = "coverage" if state.P is None else "informative"
    if state.P is None and strategy != "coverage":
        raise InputError(f"strategy={strategy!r} needs a fitted model; without labels only 'coverage' is possible.")
    return _batch(state, n, strategy, np.random.default_rng(0 if random_state is None else random_state))


def expected_change(model, n=20, *, X=None, y=None):
    """The share of predictions that n more labels are expected to change: a rule for when to stop labelling.

    The n rows that `suggest` names are labelled in turn with classes drawn from the model's own probabilities, and the
    exact effect of each label on the scores is followed; the mean over five such draws. "Twenty more labels would
    change fewer than 1 % of the predictions" is ``expected_change(model, 20) < 0.01``. It is the model's own view: a
    whole group that the model is sure of and wrong about does not show in it.

    Parameters
    ----------
    model, X, y : as in `suggest`; there must be labels.
    n : int, how many more labels.

    Returns
    -------
    float in [0, 1], over the rows without a label.

    Examples
    --------
    >>> from mercer import FewLabelClassifier, expected_change
    >>> X = [[i / 10] for i in range(20)] + [[5 + i / 10] for i in range(20)]
    >>> model = FewLabelClassifier().fit(X, [0] * 10 + [-1] * 20 + [1] * 10)
    >>> expected_change(model, 3) < 0.01  # labelling may stop
    True
    """
    state = _state(model, X, y, "expected_change")
    if state.P is None:
        raise InputError("A stop rule needs a fitted model. Label a few rows and fit first.")
    batch = _batch(state, _number(n, len(state.free)), "informative", np.random.default_rng(0))
    before = two_columns(state.scores)
    rng = np.random.default_rng(0)
    changed = []
    for _ in range(5):  # five ways the new labels may come out
        effect = state.effect()
        scores = state.linear_scores.copy()
        for j in batch.rows:
            drawn = rng.choice(before.shape[1], p=state.P[j] / state.P[j].sum())
            scores += state.move(effect, j, drawn, scores[j])
            if effect.penalty is not None:
                effect.add(j)
        after = before + two_columns(scores - state.linear_scores) / state.unit
        changed.append(np.mean(after.argmax(axis=1)[state.free] != before.argmax(axis=1)[state.free]))
    return float(np.mean(changed))


class _State:
    """What the strategies look at: features, scores, probabilities, free rows; `unit` is the scores' own scale."""

    def __init__(self, model, Z, labelled, linear_scores, scores, P, slope, unit):
        self.model, self.Z, self.labelled = model, np.asarray(Z, dtype=np.float64), labelled
        self.linear_scores, self.scores, self.P, self.slope, self.unit = linear_scores, scores, P, slope, unit
        self.free = np.setdiff1d(np.arange(len(self.Z)), labelled)

    def doubt(self):
        """(n,) 1 less the lead of the likeliest class over the second; 1 everywhere without labels."""
        if self.P is None:
            return np.ones(len(self.Z))
        top = np.partition(self.P, -2, axis=1)[:, -2:]
        return 1.0 - (top[:, 1] - top[:, 0])

    def effect(self):
        return LabelEffect(self.model, self.Z, self.labelled)

    def move(self, effect, j, drawn, score):
        """(n, k') change of the linear model's scores of all rows if row j, which has `score`, is of class drawn."""
        k = self.P.shape[1]
        target = np.array([1.0 if drawn == 1 else -1.0]) if k == 2 else 2.0 * (np.arange(k) == drawn) - 1.0
        return effect.step(np.array([j])) * effect.surprise(target, score)


def _state(model, X, y, what):
    if isinstance(model, FewLabelClassifier):
        model._check_whole(what)
        best = _heaviest_linear(model)
        labels = model.labels_
        Z = _short(best.space.Z)
        fitted = copy.copy(best.model)
        fitted._solve(Z, labels, None)
        own = fitted._decide(Z)
        unit = float(np.sqrt(np.mean(own**2))) or 1.0
        scores = model._with_prior(model.scores_)
        return _State(fitted, Z, labels.labelled, own, scores, model.probabilities_, model.calibration_[0], unit)
    if hasattr(model, "_decide"):
        check_is_fitted(model)
        if X is None or y is None:
            raise InputError(f"{what} needs the rows that {type(model).__name__} was fitted on: pass X= and y=.")
        labels = read_labels(y, model.missing_label)
        Z = np.asarray(model._features(X))
        scores = model._decide(Z)
        P = probabilities(scores, *model.calibration_)
        return _State(model, Z, labels.labelled, scores, scores, P, model.calibration_[0], 1.0)
    if is_table(model):
        model = TableEncoder().fit_transform(model)
    rows = model if sp.issparse(model) else None
    if rows is None and not hasattr(model, "get_params"):  # another kind of estimator is not rows
        rows = np.asarray(model, dtype=np.float64)
    if rows is None or rows.ndim != 2 or rows.shape[0] < 2:
        raise InputError(
            f"{type(model).__name__} is neither a fitted model nor rows. Accepted: a FewLabelClassifier, an "
            "LSSVMClassifier or SemiKPCA with X and y, or a table of at least two rows."
        )
    Z = _short(_first_space(rows).Z)
    nothing = LSSVMClassifier(3.0, bias=False)
    return _State(nothing, Z, np.zeros(0, dtype=int), None, None, None, 1.0, 1.0)


def _heaviest_linear(model) -> Candidate:
    """The candidate of largest weight whose fit is linear in the labels (bias apart, LS-SVMs and Semi-KPCA)."""
    from ..estimators.semi_kpca import SemiKPCA

    for m in np.argsort(-model.weights_, kind="stable"):
        if isinstance(model.candidates_[m].model, (LSSVMClassifier, SemiKPCA)):
            return model.candidates_[m]
    raise InputError(
        "No candidate of this model is linear in the labels, so the effect of a label is not known. "
        'Fit with methods="auto", or with "diffusion" or "lssvm" among the methods.'
    )


def _short(Z):
    """The features of largest mean square: a suggestion needs the large shapes only, and its cost grows like r²."""
    if Z.shape[1] <= FEATURES:
        return np.asarray(Z, dtype=np.float64)
    power = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
    return np.asarray(Z[:, np.sort(np.argsort(-power, kind="stable")[:FEATURES])], dtype=np.float64)


def _first_space(rows):
    """The diffusion on the graph of ten neighbours: the label-free default of `FewLabelClassifier`."""
    n, d = rows.shape
    view = UnitNorm() if sp.issparse(rows) else Components(30) if min(n, d) > 50 else AsGiven()
    base = GraphSpace("", view, min(10, max(n // 3, 1)), view.fit(rows))
    return diffused(base, 30.0)


def _batch(state, n, strategy, rng):
    effect = state.effect()
    free = state.free.copy()
    doubt = state.doubt()
    everywhere = strategy in ("coverage", "density")
    focus = effect.focus_on(np.ones(len(doubt)) if everywhere else doubt)
    rows, gains, reasons = [], [], []
    for _ in range(n):
        if strategy in ("coverage", "variance"):
            gain = effect.focused(free, focus)
        elif strategy == "uncertainty":
            gain = doubt[free].copy()
        elif strategy in ("informative", "density"):
            gain = doubt[free] * effect.focused(free, focus)
        else:
            gain = _expected_gain(state, effect, free, focus, rng)
        best = int(np.argmax(gain))
        row = int(free[best])
        rows.append(row)
        gains.append(float(gain[best]))
        reasons.append(_reason(state, strategy, row))
        effect.add(row)
        free = np.delete(free, best)
    return Suggestion(np.array(rows), np.array(gains), reasons)


def _expected_gain(state, effect, free, focus, rng):
    """Expected fall of Σ (1 − largest probability) if a row were labelled; −inf for rows that are not looked at."""
    first = effect.focused(free, focus)
    chosen = np.argsort(-first)[:SHORTLIST]
    judged = np.arange(len(state.Z))
    if len(judged) > JUDGED:
        judged = np.sort(rng.choice(judged, JUDGED, replace=False))
    base = two_columns(state.scores)[judged]
    risk = np.mean(1.0 - softmax(state.slope * base, axis=1).max(axis=1))
    gain = np.full(len(free), -np.inf)
    for i in chosen:
        j = free[i]
        after = 0.0
        for c in np.flatnonzero(state.P[j] > 0.02):
            moved = base + two_columns(state.move(effect, j, c, state.linear_scores[j])[judged]) / state.unit
            after += state.P[j, c] * np.mean(1.0 - softmax(state.slope * moved, axis=1).max(axis=1))
        gain[i] = risk * state.P[j][state.P[j] > 0.02].sum() - after
    return gain


def _reason(state, strategy, row):
    if state.P is None:
        return "stands for many rows that no other suggested row stands for"
    sure = f"{state.P[row].max():.0%} sure of its class"
    return {
        "informative": f"{sure}, and similar to many uncertain rows",
        "error": f"its label is expected to settle the most rows; {sure}",
        "variance": f"similar to many uncertain rows; {sure}",
        "uncertainty": sure,
        "density": f"{sure}, and similar to many rows",
        "coverage": "stands for many rows that no labelled row stands for",
    }[strategy]


def _number(n, free):
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise InputError(f"n={n!r} is not accepted: give how many rows to suggest, at least 1.")
    if n > free:
        raise InputError(f"{n} rows were asked for and {free} are unlabelled. Ask for at most {free}.")
    return int(n)
