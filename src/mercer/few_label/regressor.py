"""FewLabelRegressor: a few numbers in, all numbers out, with an interval for each and the methods weighed."""

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..inputs.labels import read_targets
from ..inputs.weights import seed_of
from .model import FewLabelModel
from .number_report import NumberReport
from .numbers import FAMILIES, left_out_errors, number_methods, planned_numbers
from .predictor import Predictor
from .run import search
from .squared_error import accuracy_of, half_width, left_out_mean, prior_of, weigh_errors
from .targets import read_numbers


class FewLabelRegressor(RegressorMixin, FewLabelModel):
    """Predict a number for all rows from those of a few, without choosing a method or a parameter.

    .. math:: f = \\sum_m w_m f_m, \\qquad w_m \\propto \\pi_m \\Big(\\sum_{i \\in L} e_{mi}^2 / l\\Big)^{-l/8}

    with e the error of candidate m on number i when that number is withheld. The candidates are ridge regressions with
    several kernels, graphs and curves, a forest and the mean, all with values fixed beforehand; π gives these five
    families equal shares.

    Parameters
    ----------
    methods : "auto" or list of names, default="auto"
        Which methods may take part: see `mercer.few_label.numbers.FAMILIES`.
    time_budget : float or None, default=240
        Seconds after which no further feature space is built (three are always built). None sets no limit. An interrupt
        (Ctrl-C) ends the search likewise.
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

    Notes
    -----
    The estimates are those of fits with one number less. Weights without number i come from fits that know neither i
    nor the number they are judged by, in closed form up to 400 numbers, so that targets that are pure noise get an R²
    of 0 or below on average.

    `predict_interval` is conformal: the same width for all rows. Scaling it by the disagreement of the candidates was
    measured and gave no narrower intervals. Cost as `FewLabelClassifier`, and half a second for the forest.

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

    on_dask = "LSSVMRegressor, which runs on Dask"
    _parameter_constraints: ClassVar[dict] = {
        "methods": "no_validation",
        "time_budget": [None, Interval(Real, 0, None, closed="neither")],
        "random_state": "no_validation",
        "verbose": ["verbose", callable],
    }

    def __init__(self, methods="auto", *, time_budget=240.0, random_state=None, verbose=False):
        self.methods = methods
        self.time_budget = time_budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y):
        """Fit on all rows; NaN or None in y marks the rows without a number.

        Parameters
        ----------
        X : (n, d) rows, dense or sparse, or a data frame of any columns (see `mercer.inputs.tables.TableEncoder`).
        y : (n,) numbers.
        """
        self._validate_params()
        methods = number_methods(self.methods)
        X = self._rows(X, reset=True)
        targets = read_numbers(y, X.shape[0])
        plan = planned_numbers(X, methods, seed_of(self.random_state))
        found = search(plan, targets, self.time_budget, self._tell)
        self.candidates_, self.skipped_, self.interrupted_ = found.candidates, found.skipped, found.interrupted
        return self._learn(targets, found.fitted)

    def teach(self, rows, numbers):
        """Give some training rows a number, or another one; equal to a fit with them, without its decompositions.

        Parameters
        ----------
        rows : row numbers of the training data.
        numbers : one number, or one for each row.
        """
        self.check_whole("teach")
        rows = self._row_numbers(rows)
        numbers = np.asarray(numbers, dtype=object)
        if numbers.ndim and len(numbers) != len(rows):
            raise InputError(
                f"{len(rows)} rows and {len(numbers)} numbers were given. Give one number, or one for each row."
            )
        values = self.targets_.values.copy()
        values[rows] = read_targets(np.broadcast_to(numbers, len(rows)), len(rows))
        return self.relabel(values)

    def unteach(self, rows):
        """Take the numbers of some training rows back; equal to a fit without them."""
        self.check_whole("unteach")
        values = self.targets_.values.copy()
        values[self._row_numbers(rows)] = np.nan
        return self.relabel(values)

    def relabel(self, y):
        """Other numbers for the same training rows; equal to a fit with them, without its decompositions."""
        self.check_whole("relabel")
        targets = read_numbers(y, len(self.targets_.values))
        return self._learn(targets, [candidate.solve(targets) for candidate in self.candidates_])

    def predict(self, X):
        """(n,) the number predicted for each row."""
        check_is_fitted(self)
        return self._unscaled(self.predictor_.scores(self._rows(X, reset=False))[:, 0])

    def predict_interval(self, X, coverage=0.9):
        """(n, 2) low and high end of an interval that holds the true number of a share `coverage` of the rows."""
        middle = self.predict(X)
        reach = self.reach(coverage)
        return np.column_stack([middle - reach, middle + reach])

    def reach(self, coverage=0.9):
        """Half the width of `predict_interval`: the conformal quantile of the left-out errors."""
        check_is_fitted(self)
        if not isinstance(coverage, float) or not 0 < coverage < 1:
            raise InputError(f"coverage={coverage!r} is not accepted: give a share between 0 and 1, such as 0.9.")
        return half_width(self.targets_.given - self.left_out_, coverage)

    def score(self, X, y, sample_weight=None):
        """R² over the rows of y that have a number."""
        y = read_targets(y, None)
        rows = np.flatnonzero(~np.isnan(y))
        weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return r2_score(y[rows], self.predict(X)[rows], sample_weight=weight)

    def _learn(self, targets, fitted):
        """Everything that follows from the candidates fitted to the targets."""
        self.targets_ = targets
        errors, sums = left_out_errors(fitted, targets)
        prior = prior_of([FAMILIES[candidate.method][0] for candidate in fitted])
        self.weights_ = weigh_errors(errors, prior)
        used = np.flatnonzero(self.weights_)
        linear = [m for m in used if fitted[m].solution.coef is not None]
        self.predictor_ = Predictor.of([fitted[m] for m in linear], self.weights_[linear])
        for m in set(used) - set(linear):
            self.predictor_.parts.append(fitted[m].solution.part(fitted[m].space.view, self.weights_[m]))
        scores = sum(self.weights_[m] * fitted[m].solution.scores(fitted[m].space.Z)[:, 0] for m in used)
        self.predicted_ = self._unscaled(scores)
        given = ~np.isnan(targets.values)
        self.transduction_ = np.where(given, targets.values, self.predicted_)
        self.left_out_ = self._unscaled(left_out_mean(targets.signs[:, 0] - errors, sums, prior))
        found = accuracy_of(targets.given - self.left_out_, targets.given)
        self.left_out_r2_, self.r2_interval_ = found.r2, found.r2_interval
        self.left_out_mae_, self.mae_interval_ = found.mae, found.mae_interval
        heaviest = np.argsort(-self.weights_, kind="stable").tolist()
        of_use = [m for m in heaviest if fitted[m].solution.influence is not None and fitted[m].method != "mean"]
        self.linear_ = of_use[0] if of_use else None
        self.report_ = NumberReport.of(self, fitted, targets.scale * errors)
        return self

    def _unscaled(self, scores):
        return self.targets_.center + self.targets_.scale * scores
