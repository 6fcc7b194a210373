"""FewLabelRegressor: a few numbers in, all numbers out, with an interval for each and the methods weighed."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..backend import steady
from ..documentation import Documented
from ..errors import InputError
from ..evidence.groups import same_rows
from ..inputs.labels import read_targets
from ..inputs.weights import seed_of
from .number_report import NumberReport, tried_for_numbers
from .numbers import FAMILIES, left_out_errors, number_methods, planned_numbers
from .predictor import MeanPredictor
from .reading import Reading
from .run import search
from .squared_error import FEWEST, accuracy_of, half_width, left_out_mean, prior_of, weigh_errors
from .support import Support
from .targets import read_numbers
from .teaching import Teachable, drawn_mask


class FewLabelRegressor(RegressorMixin, Teachable, Reading, Documented, BaseEstimator):
    """Predict a number for all rows from those of a few, without choosing a method or a parameter.

    .. math:: f = \\sum_m w_m f_m, \\qquad w_m \\propto \\pi_m \\Bigl(\\sum_{i \\in L} e_{mi}^2 / l\\Bigr)^{-l/8}

    with e the error of candidate m on number i when that number is withheld. The candidates are ridge regressions with
    several kernels, graphs and curves, a forest and the mean, all with values fixed beforehand; π gives these five
    families equal shares.

    Parameters
    ----------
    methods : "auto" or list of names, default="auto"
        Which methods may take part: see `mercer.few_label.numbers.FAMILIES`.
    time_budget : float or None, default=240
        Seconds of work on one core, as estimated from the sizes: feature spaces beyond it are not built (three are
        always built). None sets no limit. An interrupt (Ctrl-C) ends the search likewise.
    include : names of columns of a data frame to use although they tell rows with a number from the others.
    random_state : seed of the forest, of landmarks and components; None is 0.
    verbose : bool or callable, default=False
        True prints what `fit` is doing; a function is called with (stage, fraction).

    Attributes
    ----------
    transduction_ : (n,) given numbers, and predicted ones for the other rows.
    predicted_ : (n,) what the model says of all rows, the given ones too.
    left_out_ : (l,) answers for the given numbers, each withheld from the candidates and from their weights.
    left_out_r2_, r2_interval_ : share of the variance of the numbers that is explained, and its 95 % interval.
    left_out_mae_, mae_interval_ : mean absolute error, and its 95 % interval.
    report_ : what was tried, with estimates, weights and times; ``print(model.report_)``.
    weights_ : (m,) weights of the candidates in `candidates_`.
    linear_ : number of the heaviest candidate that is linear in the numbers, or None: `suggest` looks at it.
    drawn_ : (n,) which rows were drawn at random. The estimates rest on the numbers of these, if there are five.

    Notes
    -----
    The estimates are those of fits with one number less; copies of a row are withheld together. Weights without number
    i come from fits that know neither i nor the number they are judged by, in closed form up to 400 numbers, so that
    targets that are pure noise get an R² of 0 or below on average.

    `predict_interval` is conformal: the same width for all rows among the training rows; it grows with the distance of
    a row that is far from all of them. Scaling it by the disagreement of the candidates was measured and gave no
    narrower intervals. Cost as `FewLabelClassifier`, and half a second for the forest.

    Examples
    --------
    >>> from mercer import FewLabelRegressor
    >>> X = [[i / 10] for i in range(30)]
    >>> y = [3 * i / 10 if i % 3 == 0 else None for i in range(30)]
    >>> model = FewLabelRegressor().fit(X, y)
    >>> round(float(model.predict([[1.6]])[0]), 1)
    4.8
    >>> low, high = model.predict_interval([[1.6]]).T
    >>> bool(low < 4.8 < high)
    True
    """

    _report: Any
    _parameter_constraints: ClassVar[dict] = {
        "methods": "no_validation",
        "time_budget": [None, Interval(Real, 0, None, closed="neither")],
        "include": "no_validation",
        "random_state": "no_validation",
        "verbose": ["verbose", callable],
    }

    def __init__(self, methods="auto", *, time_budget=240.0, include=(), random_state=None, verbose=False):
        self.methods = methods
        self.time_budget = time_budget
        self.include = include
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, drawn=None):
        """Fit on all rows; NaN or None in y marks the rows without a number.

        Parameters
        ----------
        X : (n, d) rows, dense or sparse, or a data frame of any columns (see `mercer.TableEncoder`).
        y : (n,) numbers.
        drawn : (n,) bool, optional
            Which rows with a number were drawn at random among all rows; the others were chosen, by a person or by
            `suggest`. None: all of them were drawn.
        """
        self._validate_params()
        methods = number_methods(self.methods)
        X = self._rows(X, reset=True, y=y)
        self.support_, self.groups_ = Support(X), same_rows(X)
        targets = self._read(y, X.shape[0]).grouped(self.groups_)
        plan = planned_numbers(X, methods, seed_of(self.random_state))
        with steady():
            found = search(plan, targets, self.time_budget, self._tell)
        self.candidates_, self.skipped_, self.interrupted_ = found.candidates, found.skipped, found.interrupted
        self.drawn_, self.outside_, self._everything = drawn_mask(drawn, X.shape[0]), None, found.everything
        return self._learn(targets, found.fitted)

    def predict(self, X):
        """(n,) the number predicted for each row."""
        check_is_fitted(self)
        return self._unscaled(self.predictor_.scores(self._rows(X, reset=False)))

    def predict_interval(self, X, coverage=0.9):
        """(n, 2) low and high end of an interval that holds the true number of a share `coverage` of the rows.

        For rows farther from all training rows than these are from each other the width grows like the distance.
        """
        reach = self.reach(coverage)
        rows = self._rows(X, reset=False)
        middle, reach = self._unscaled(self.predictor_.scores(rows)), reach / np.sqrt(self.support_.trust(rows))
        return np.column_stack([middle - reach, middle + reach])

    def reach(self, coverage=0.9):
        """Half the width of `predict_interval` among the training rows: the conformal quantile of left-out errors."""
        check_is_fitted(self)
        if not isinstance(coverage, float) or not 0 < coverage < 1:
            raise InputError(f"coverage={coverage!r} is not accepted: give a share between 0 and 1, such as 0.9.")
        return half_width(self._judged()[0], coverage)

    def score(self, X, y, sample_weight=None):
        """R² over the rows of y that have a number."""
        y = read_targets(y, None)
        rows = np.flatnonzero(~np.isnan(y))
        weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return r2_score(y[rows], self.predict(X)[rows], sample_weight=weight)

    @property
    def report_(self):
        """What was tried, with estimates, weights and times."""
        if self._report is None:
            self._report = NumberReport.of(self, self._tried)
        return self._report

    def _read(self, y, n_rows):
        return read_numbers(y, n_rows)

    def _read_again(self, y):
        return read_numbers(y, len(y))

    def _values(self):
        return self.labels_.values.astype(object)

    def _learn_again(self, targets, *rest):
        return super()._learn_again(targets.grouped(self.groups_), *rest)

    def _learn(self, targets, fitted):
        """Everything that follows from the candidates fitted to the numbers."""
        self.labels_, self._fitted = targets, fitted
        errors, sums = left_out_errors(fitted, targets)
        prior = prior_of([FAMILIES[candidate.method][0] for candidate in fitted])
        self.weights_ = weigh_errors(errors, prior)
        self.predictor_ = MeanPredictor.of(fitted, self.weights_)
        self.predicted_ = self._unscaled(
            sum(self.weights_[m] * fitted[m].scores()[:, 0] for m in np.flatnonzero(self.weights_))
        )
        self.transduction_ = np.where(np.isnan(targets.values), self.predicted_, targets.values)
        others = len(targets.groups) - np.bincount(targets.groups)[targets.groups]
        self.left_out_ = self._unscaled(left_out_mean(targets.signs[:, 0] - errors, sums, others, prior))
        found = accuracy_of(*self._judged())
        self.left_out_r2_, self.r2_interval_ = found.r2, found.r2_interval
        self.left_out_mae_, self.mae_interval_ = found.mae, found.mae_interval
        heaviest = np.argsort(-self.weights_, kind="stable").tolist()
        of_use = [m for m in heaviest if fitted[m].influence is not None and fitted[m].method != "mean"]
        self.linear_ = of_use[0] if of_use else None
        self._tried, self._report = tried_for_numbers(fitted, targets.scale * errors, self.weights_), None
        return self

    def _judged(self):
        """(left-out errors, given numbers) that the estimates rest on: drawn at random, if there are enough of these.

        With fewer than five all numbers are looked at.
        """
        drawn = self.drawn_[self.labels_.labelled]
        drawn = drawn if drawn.sum() >= FEWEST else np.ones(len(drawn), dtype=bool)
        return (self.labels_.given - self.left_out_)[drawn], self.labels_.given[drawn]

    def _unscaled(self, scores):
        return self.labels_.center + self.labels_.scale * scores
