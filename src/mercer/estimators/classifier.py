"""The base of every few-label classifier. From labels it computes scores, classes and calibrated probabilities.

A method on features Z consists of two or three functions, which the scikit-learn class calls.

``prepare(Z, weight, Lap)``
    Return a `State` with everything that needs no label and no parameter. Most methods inherit it.
``solve(state, labels)``
    Return the `Solution` for these labels with the parameters of self, which does not change. ``labels.signs`` are the
    targets of the labeled rows, in one ±1 column for two classes, else in one column per class. Held-out predictions
    without a closed form are ``lambda: self.refits(state, labels)``.
``path(state, labels, grid)``
    Return a list of parameter dicts and the held-out scores (m, l, k') for a grid over ``path_parameters``, or for the
    method's own grid if it is None. The default solves once per point of the grid.
"""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..evidence.accuracy import DESIGN, jeffreys
from ..evidence.calibration import calibrate, probabilities, typical_margin
from ..evidence.choice import choose, hits
from ..geometry.expansion import Expansion
from ..geometry.maps import mapped
from ..inputs.labels import Labels, labeled_accuracy, read_labels, weighed
from ..inputs.sampling import on_sample, with_labels
from ..inputs.weights import seed_of
from ..linalg import eigh_down, precision
from ..rows import by_row, dot, gram, sampled, take
from ..solvers.ridge.state import State
from ..types import Block, ColumnLike, Rows
from .base import KernelEstimator
from .grid import LeftOutSearch, answered, nested_hits, parameters_of, product_of, table_of
from .solution import Solution

NO_SIMILARITY = 1e-8  # largest similarity, as a fraction of k(x, x), that counts as none. RBF has it at six bandwidths
MANY = 4096  # for more rows, products with every labeled row are avoided


@dataclass(eq=False, repr=False)
class KernelClassifier(ClassifierMixin, LeftOutSearch, KernelEstimator):
    """Base of the few-label classifiers. The docstring of the module describes what a method must define.

    Parameters
    ----------
    kernel : kernel object, name or function, default="rbf"
        "rbf" is `RBF` with the median distance between rows as its bandwidth. With "precomputed", X is a kernel matrix.
    approx : "auto", "exact", int or map, default="auto"
        "auto" is exact up to 3,000 rows and uses landmarks for more. A number is the number of landmarks.
    missing_label : "auto", None, value or list of values, default="auto"
        Values in y that mean "not labeled", see `mercer.inputs.labels.read_labels`.
    random_state : int, RandomState or None, default=None
        Seed for the choice of landmarks. None means 0.

    Attributes
    ----------
    coef_ : (r, k') weights of the features, one column for two classes, else one per class.
    intercept_ : (k',) the constant of the scores, or 0.
    result_ : `Result` of the solver, with a certificate (`gap`), whether it is small (`converged`) and a sentence
        (`reason`).
    classes_ : (k,) class names, sorted.
    transduction_ : (n,) the class of every training row. This is the given label if there is one, else the predicted
        class. (`predict` on the training rows shows for which of them the model disagrees with the given label.)
        For rows in Dask neither this nor the next attribute exists. Use `predict` and `unsupported` instead.
    unsupported_ : (n,) training rows without similarity to any labeled row. They get the prior.
    prior_ : (k,) fraction of each class among the labels, with one more label in each class.
    left_out_accuracy_ : accuracy of held-out predictions for the labeled rows. May be computed on first use.
    calibration_ : (slope, floor) of the probabilities as a function of scores. May be computed on first use.
    """

    closed_form = False  # whether `solve` needs no iteration after `prepare`
    light_left_out: ClassVar[bool] = False  # whether held-out predictions need little of the state and are lazy
    max_refits = 10  # largest number of refits for the probabilities if there is no closed form
    reported: ClassVar[tuple] = ()  # entries of `Solution.result.info` that `fit` keeps as attributes, name + "_"

    _: KW_ONLY
    missing_label: object = "auto"

    def fit(self, X, y, sample_weight=None):
        """Fit on all rows. y marks the unlabeled ones (NaN, None, "" or -1, see `missing_label`).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, or a kernel matrix if kernel="precomputed".
        y : array-like of shape (n_samples,) or (n_samples, n_classes)
            Class names and markers of unlabeled rows, or class probabilities.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts a row twice, and a weight of 0 removes it.
        """
        state, labels = self._read(X, y, sample_weight)
        solution = self.solve(state, labels)
        self.classes_ = labels.classes
        self.coef_, self.intercept_, self.result_ = solution.coef, solution.intercept, solution.result
        for name in self.reported:
            setattr(self, f"{name}_", solution.result.info[name])
        self._learn_support(state.Z, labels, state.weight)
        scores = solution.scores(state.Z)
        self.margin_ = typical_margin(scores)
        s = np.ones(len(labels.labeled)) if state.weight is None else state.weight[labels.labeled]
        self._withheld = [partial(_calibrated, solution.withheld, labels, s, self.margin_)]
        if not self.light_left_out:
            self._facts()
        if hasattr(self, "sample_"):  # for rows in Dask, `predict` computes these lazily
            self.__dict__.pop("unsupported_", None)
            self.__dict__.pop("transduction_", None)
            return self
        self.unsupported_ = self._unsupported(state.Z, scores)
        codes = np.where(labels.codes >= 0, labels.codes, self._codes(scores, self.unsupported_))
        self.transduction_ = self.classes_[codes]
        return self

    @property
    def calibration_(self) -> tuple[float, float]:
        """(slope, floor) of the probabilities."""
        return self._facts()[0]

    @property
    def left_out_accuracy_(self) -> float:
        """Fraction of the labeled rows that are predicted correctly when held out."""
        return self._facts()[1]

    @by_row
    def decision_function(self, X: Rows) -> np.ndarray:
        """Scores, (n,) and positive for `classes_[1]` with two classes. Else (n, k), largest for the predicted one."""
        scores, _ = self._scored(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @by_row
    def predict(self, X: Rows) -> np.ndarray:
        """Predict the class of each row. A row that is not similar to any labeled one gets the most frequent label."""
        scores, unsupported = self._scored(X)
        return self.classes_[self._codes(scores, unsupported)]

    @by_row
    def predict_proba(self, X: Rows) -> np.ndarray:
        """Class probabilities, calibrated on held-out labels and never above (l + 1) / (l + 2) for l labels."""
        scores, unsupported = self._scored(X)
        P = probabilities(scores, *self.calibration_)
        P[unsupported] = self.prior_
        return P

    @by_row
    def predict_log_proba(self, X: Rows):
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def unsupported(self, X: Rows) -> np.ndarray:
        """Return whether each row has no similarity to any labeled row, so that its prediction is only the prior."""
        return self._scored(X)[1]

    def score(self, X: Rows, y: ColumnLike, sample_weight: np.ndarray | None = None) -> float:
        """Accuracy over the rows that have a label in y. The others are ignored."""
        check_is_fitted(self)
        X, y, sample_weight = with_labels(X, y, "classes", self.missing_label, sample_weight)
        return labeled_accuracy(y, self.predict(X), self.classes_, self.missing_label, sample_weight)

    def select(self, X, y, sample_weight=None, **grid):
        """Choose parameters by leave-one-label-out and fit with them. The estimator itself does not change.

        Parameters
        ----------
        **grid : lists of candidates by parameter name, such as ``gamma=[0.1, 1, 10]`` or ``kernel=[RBF(1), RBF(2)]``.
            Without any, a grid over the regularization. One decomposition is enough for all values of
            `path_parameters`.

        Returns
        -------
        A new fitted classifier. Its ``selection_`` contains the candidates, their held-out accuracies, the chosen
        one and a sentence. The accuracy ``corrected`` and its ``interval`` account for the choice, which is repeated in
        five folds without their labels. The current parameters are one of the candidates. They are kept unless another
        candidate is better by more than a standard error.
        """
        routes = self.routes(X, y, sample_weight, grid or "default")
        found, left_out = table_of(routes)
        labels, candidates = routes[0].labels, parameters_of(found)
        known = answered(labels, left_out)
        choice = self._choose(left_out[:, known], labels.codes[labels.labeled[known]])
        right, tested = nested_hits(routes, lambda some, codes: self._choose(some, codes).value)
        worth = jeffreys(right / tested, tested / DESIGN)
        best = clone(self).set_params(**candidates[choice.value])
        best.fit(X, y) if sample_weight is None else best.fit(X, y, sample_weight=sample_weight)
        best.selection_ = {
            "candidates": candidates,
            "accuracy": choice.info["accuracy"],
            "corrected": worth.value,
            "chosen": choice.value,
            "interval": (worth.low, worth.high),
            "reason": f"{choice.info['found']} If the choice is repeated without a fifth of the labels at a time, "
            f"{right} of {tested} held-out labels are predicted correctly (95% interval {worth.low:.0%} to "
            f"{worth.high:.0%}).",
        }
        return best

    # The method on features. See the docstring of the module.

    def prepare(self, Z: Rows, weight: np.ndarray | None = None, Lap: Rows = None, slopes: Block = None) -> State:
        """The part of a fit that needs no label, from features, weights, the Laplacian of a graph and slopes."""
        return State(Z, weight, Lap, slopes)

    def solve(self, state: State, labels: Labels) -> Solution:
        """The solution for these labels. It does not change the estimator."""
        raise NotImplementedError(f"{type(self).__name__} does not define solve(state, labels).")

    def withheld(self, state: State, labels: Labels) -> Any:
        """An object for fits without some of these labels (see `mercer.solvers.ridge.withheld`), or None."""
        return None

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        """(parameters, (m, l, k') held-out scores) for every point of a grid over `path_parameters`."""
        own = {name: [getattr(self, name)] for name in self.path_parameters}
        parameters = product_of(own if grid is None else grid)
        scores = [clone(self).set_params(**changed).solve(state, labels).left_out for changed in parameters]
        return parameters, np.array(scores)

    def refits(self, state: State, labels: Labels) -> np.ndarray:
        """(l, k') held-out scores by solving again without some of the labels, at most `max_refits` times."""
        out = np.full(labels.signs.shape, np.nan)
        for test, others in labels.folds(self.max_refits):
            out[test] = self.solve(state, others).scores(take(state.Z, labels.labeled[test]))
        return out

    def solution_for(self, X: Rows, y: ColumnLike) -> Solution:
        """The solution for the training rows X and their labels y on the fitted map. It has `effect` and `left_out`."""
        X = self._rows(X, reset=False)
        y = on_sample(X, y, "classes", self.missing_label, seed_of(self.random_state))
        Z = mapped(self.map_, X)
        state = self.prepare(Z, None, self._laplacian(X, None), **self._terms(X, None))
        return self.solve(state, read_labels(y, self.missing_label, n_rows=Z.shape[0]))

    # What a method may replace.

    def _choose(self, left_out: np.ndarray, codes: np.ndarray):
        """The best candidate by held-out scores (m, l, k'). The first one is the label-free default."""
        return choose(hits(left_out, codes), default=0)

    def _laplacian(self, X: Rows, weight: np.ndarray | None):
        """The Laplacian of the graph that the parameters describe, or None."""
        return None

    def _terms(self, X: Rows, weight: np.ndarray | None) -> dict:
        """Further arguments of `prepare`, by name, from the parameters and the rows. The map is fitted already."""
        return {}

    # Common to all methods.

    def _facts(self):
        """(calibration, held-out accuracy). They are in a list, so that computing them sets no attribute."""
        if callable(self._withheld[0]):
            self._withheld[0] = self._withheld[0]()
        return self._withheld[0]

    def __getstate__(self) -> dict:
        if hasattr(self, "_withheld"):
            self._facts()
        return super().__getstate__()

    def _read(self, X, y, sample_weight):
        """(state, labels) of a fit. The map is fitted on all rows of X. Labels of weight 0 are dropped."""
        X, y, weight = self._training(X, y, sample_weight)
        own = sampled(weight, X)
        labels = read_labels(y, self.missing_label, n_rows=self._seen(X))
        if weight is not None:
            labels = weighed(labels, own)
        Z = self._fit_map(X, weight)
        return self.prepare(Z, own, self._laplacian(X, weight), **self._terms(X, own)), labels

    def _scored(self, X: Rows) -> tuple[np.ndarray, np.ndarray]:
        """(scores, unsupported) of any rows. Features are computed only for rows whose score is close to the bias."""
        X = self._rows(X, reset=False)
        scores = Expansion(self.kernel_, None, self.coef_, self.map_)(X) + self.intercept_
        unsupported = np.zeros(len(scores), dtype=bool)
        silent = np.flatnonzero(self._silent(scores))
        if len(silent):
            unsupported[silent] = self._unsupported(mapped(self.map_, X[silent]), scores[silent])
        return scores, unsupported

    def _codes(self, scores: np.ndarray, unsupported: np.ndarray) -> np.ndarray:
        codes = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else np.argmax(scores, axis=1)
        codes[unsupported] = int(np.argmax(self.prior_))
        return codes

    def _learn_support(self, Z: Rows, labels: Labels, weight: np.ndarray | None) -> None:
        counts = labels.counts(weight)
        self.prior_ = (counts + 1) / (counts.sum() + labels.n_classes)
        rows = labels.labeled
        some = take(Z, rows[:MANY])
        self.similarity_scale_ = float(np.max(np.sum(some**2, axis=1)))
        self.labeled_features_ = some
        if len(rows) > Z.shape[1]:  # only ‖Z_l z‖ is needed later, for which a root of Z_lᵀZ_l with r rows is enough
            G = some.T @ some if len(rows) <= MANY else gram(Z, (labels.codes >= 0).astype(float))
            values, vectors = eigh_down(G)
            self.labeled_features_ = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T

    def _silent(self, scores):
        """Whether the score of each row is not beyond the bias, which is the score of a row without features."""
        bias, slack = self.intercept_, 1e-3 * self.margin_
        return ((np.minimum(bias, 0) - slack <= scores) & (scores <= np.maximum(bias, 0) + slack)).all(axis=1)

    def _unsupported(self, Z, scores):
        """Whether each row has no similarity to a labeled row and no score that reached it through unlabeled rows."""
        suspects = np.flatnonzero(self._silent(scores))
        bound = max(NO_SIMILARITY, 8 * precision(Z.dtype)) * self.similarity_scale_
        if len(suspects) > MANY:  # products with two random combinations of the labeled rows clear most similar rows
            mix = np.random.default_rng(0).normal(size=(len(self.labeled_features_), 2))
            probe = np.abs(dot(Z, self.labeled_features_.T @ mix)[suspects]).min(axis=1)
            suspects = suspects[probe <= 10 * np.linalg.norm(mix) * bound]
        flags = np.zeros(Z.shape[0], dtype=bool)
        if len(suspects):
            similarity = np.linalg.norm(take(Z, suspects) @ self.labeled_features_.T, axis=1)
            flags[suspects] = similarity <= bound
        return flags


def _calibrated(withheld, labels, weight, margin):
    """((slope, floor), accuracy) from held-out predictions."""
    left_out = withheld()
    known = answered(labels, left_out[None])
    found = calibrate(left_out[known], labels.given[known], margin, weight[known], n_labels=weight.sum())
    right = hits(left_out[None, known], labels.codes[labels.labeled][known])[0]
    return found.value, float(right.mean()) if len(right) else float("nan")
