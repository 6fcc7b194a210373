"""FewLabelRegressor predicts all numbers from a few, each with an interval, and weighs several methods for it."""

from collections.abc import Sequence
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from ..backend import single_threaded_blas
from ..events import OnEvent
from ..inputs.labels import read_targets
from ..kernels.base import KernelLike
from ..types import Block, ColumnLike, Facts, Rows, Seed, Verbose
from . import sizes
from ._model import FewLabelModel
from .answers import NumberAnswers
from .candidates.base import rehearse
from .catalog import methods_named
from .fit import Fit
from .given import read_given
from .library import Library
from .number_report import NumberReport
from .rows import drawn_mask, learn_rows
from .squared_error import Accuracy
from .targets import Targets, read_numbers
from .tasks.numbers import Numbers


class FewLabelRegressor(RegressorMixin, FewLabelModel):  # type: ignore[misc]  # scikit-learn has no types
    """Predict a number for all rows from those of a few, without choosing a method or a parameter.

    .. math:: f = \\sum_m w_m f_m, \\qquad w_m \\propto \\pi_m \\Bigl(\\sum_{i \\in L} e_{mi}^2 / l\\Bigr)^{-l/8}

    with e the error of candidate m on number i when that number is held out. The candidates are ridge regressions with
    several kernels, graphs and curves, a forest and the mean, all with values fixed beforehand. π gives these five
    families equal prior weight.

    Parameters
    ----------
    methods : "auto" or list of names, default="auto"
        Methods that may take part (see `mercer.few_label.catalog`).
    time_budget : float or None, default=60
        Seconds of work on one core, as estimated from the sizes. Feature spaces beyond it are not built, but three are
        always built. None sets no limit. An interrupt (Ctrl-C) ends the search, too. The default is `seconds` of
        `mercer.few_label.sizes.Sizes`, which the command and the web app use.
    include : list of str, default=()
        Columns of a data frame to use although they distinguish rows with a number from the others.
    text_model, image_model : str or callable, default="auto"
        Models whose vectors are used for columns of text and of images in a data frame, next to features of mercer's
        own. "none" uses none. See `TableEncoder`.
    random_state : seed of the forest, of landmarks and components. None is 0.
    verbose : bool or callable, default=False
        True prints progress. A function is called with (stage, fraction).

    Attributes
    ----------
    transduction_ : (n,) given numbers, and predicted ones for the other rows.
    predicted_ : (n,) predictions for all rows, also for those with a given number.
    left_out_ : (l,) predictions for the given numbers, each held out from the candidates and from their weights.
    estimate_ : R² and mean absolute error of held-out numbers, with 95% intervals. It prints as a sentence.
    left_out_r2_, r2_interval_ : fraction of the variance of the numbers that is explained, and its 95% interval.
    left_out_mae_, mae_interval_ : mean absolute error, and its 95% interval.
    report_ : the candidates with estimates, weights and times, for ``print(model.report_)``.
    weights_ : (m,) weights of the candidates in `candidates_`.
    linear_ : number of the heaviest candidate that is linear in the numbers, or None. `suggest` uses it.
    drawn_ : (n,) which rows were drawn at random. The estimates rest on the numbers of these, if there are five.

    Notes
    -----
    The estimates are those of fits with one number less. Copies of a row are held out together. Weights without number
    i come from fits that know neither i nor the number they are judged by. Up to 400 numbers this is in closed form.
    Targets that are pure noise then get an R² of 0 or below on average.

    `predict_interval` is conformal. Its width is the same for all rows near training rows. It grows with the distance
    of a row that is far from all of them. Scaling it by the disagreement of the candidates was measured and gave no
    narrower intervals. The cost is that of `FewLabelClassifier`, and half a second for the forest.

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

    _parameter_constraints: ClassVar[Facts] = {
        "methods": "no_validation",
        "time_budget": [None, Interval(Real, 0, None, closed="neither")],
        **dict.fromkeys(("include", "text_model", "image_model"), "no_validation"),
        "random_state": "no_validation",
        "verbose": ["verbose", callable],
    }

    task = "numbers"
    _report_type = NumberReport
    answers_: NumberAnswers

    def __init__(
        self,
        methods: str | Sequence[str] = "auto",
        *,
        time_budget: float | None = sizes.SIZES.seconds,
        include: ColumnLike = (),
        text_model: object = "auto",
        image_model: object = "auto",
        random_state: Seed = None,
        verbose: Verbose = False,
    ) -> None:
        self.methods = methods
        self.time_budget = time_budget
        self.include = include
        self.text_model = text_model
        self.image_model = image_model
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Rows,
        y: ColumnLike,
        drawn: ColumnLike = None,
        on_event: OnEvent | None = None,
        graph: Rows = None,
        kernel: KernelLike | Rows = None,
    ) -> Self:
        """Fit on all rows. NaN or None in y marks the rows without a number.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or data frame
            Rows, dense or sparse, or a data frame of any columns.
        y : array-like of shape (n_samples,)
            Numbers.
        drawn : (n,) bool, optional
            Which rows with a number were drawn at random among all rows. The others were chosen, by a person or by
            `suggest`. None means that all of them were drawn.
        on_event : function of an event of `mercer.events`, optional
            Called instead of what `verbose` requests.
        graph : (n, n) matrix or list of edges, default=None
            Links between the rows, as a symmetric matrix of weights, or as edges (row, row) or (row, row, weight).
        kernel : (n, n) matrix, kernel object, function of two rows or "precomputed", default=None
            Similarities of all pairs of rows in addition to their columns, or a function that compares the rows
            themselves.
        """
        self._validate_params()
        methods = methods_named("numbers", self.methods)
        note = on_event or self._on_event
        rows, self.encoder_, targets = learn_rows(self, X, lambda n: self._read(y, n), note, kernel)
        self.weight_ = self.dask_ = None
        mask, given = drawn_mask(drawn, rows.shape[0]), read_given(graph, kernel, rows.shape[0])
        with single_threaded_blas():
            self._learn(rows, methods, targets, mask, on_event=on_event, given=given)
        return self

    def prepare(
        self,
        X: Rows,
        core: ColumnLike = None,
        on_event: OnEvent | None = None,
        graph: Rows = None,
        kernel: KernelLike | Rows = None,
    ) -> Self:
        """Do everything that needs no number. The model can then be `taught`, and cannot predict yet.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or data frame
            Rows, as `fit` takes them.
        core : array-like of int or None, default=None
            Numbers of the rows that are decomposed. None is all of them up to 50,000 rows, and a sample of that size
            above. The other rows are predicted from their neighbors among these.
        on_event : callable or None, default=None
            Called with events, such as progress, instead of what `verbose` requests.
        graph : (n, n) matrix or list of edges, default=None
            Links between the rows, as `fit` takes them. They need all rows in the core.
        kernel : (n, n) matrix, kernel object, function of two rows or "precomputed", default=None
            Similarities of the rows, as `fit` takes them. They need all rows in the core.

        Examples
        --------
        >>> from mercer import FewLabelRegressor
        >>> X = [[i / 10] for i in range(30)]
        >>> model = FewLabelRegressor().prepare(X)
        >>> model = model.taught(range(0, 30, 3), [0.3 * i for i in range(0, 30, 3)])
        >>> round(float(model.transduction_[16]), 1)
        4.8
        """
        self._validate_params()
        methods = methods_named("numbers", self.methods)
        rows, self.encoder_, _ = learn_rows(self, X, lambda n: None, kernel=kernel)
        n, self.weight_, self.dask_ = rows.shape[0], None, None
        self.__dict__.pop("answers_", None)
        core = None if core is None else self._numbers(core, n)
        given = read_given(graph, kernel, n, core=core)
        with single_threaded_blas():
            self._learn(rows, methods, None, None, core=core, on_event=on_event, given=given)
            rehearse(self.library_.candidates, n, read_numbers(np.r_[0.0, np.full(n - 2, np.nan), 1.0], n))
        return self

    def predict(self, X: Rows) -> np.ndarray:
        """(n,) the number predicted for each row."""
        check_is_fitted(self)
        return self.answers_.of(self._rows(X))

    def predict_interval(self, X: Rows, coverage: float = 0.9) -> np.ndarray:
        """(n, 2) low and high end of an interval that contains the true number of a fraction `coverage` of the rows.

        The width is the same for all rows, or follows the size of the predicted number if the held-out errors do. For
        rows farther from all training rows than these are from each other it grows like the distance.
        """
        self.reach(coverage)
        return self.answers_.intervals_of(self._rows(X), coverage)

    def reach(self, coverage: float = 0.9, predicted: ColumnLike = None) -> Block:
        """Half the width of `predict_interval` among the training rows, the conformal quantile of held-out errors.

        predicted : numbers, each of which gets its half width. None gives one number, for a prediction of medium size.
        """
        check_is_fitted(self)
        return self.answers_.reach(coverage, predicted)

    def score(self, X: Rows, y: ColumnLike, sample_weight: ColumnLike = None) -> float:
        """R² over the rows of y that have a number."""
        y = read_targets(y, None)
        rows = np.flatnonzero(~np.isnan(y))
        weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return float(r2_score(y[rows], self.predict(X)[rows], sample_weight=weight))

    # Numbers in

    def _read(self, y: ColumnLike, n_rows: int) -> Targets:
        return read_numbers(y, n_rows)

    def _read_values(self, y: np.ndarray) -> Targets:
        return read_numbers(y, len(y))

    def _values(self) -> np.ndarray:
        if not hasattr(self, "answers_"):
            return np.full(self.library_.n_rows, None, dtype=object)
        values: np.ndarray = self.labels_.values
        return values.astype(object)

    def _task(self, labels: Targets, library: Library) -> tuple[Numbers, Targets]:
        return Numbers(), labels.grouped(library.groups)

    def _answers(self, fit: Fit, labels: Targets) -> NumberAnswers:
        return NumberAnswers(fit)

    # Attributes

    @property
    def transduction_(self) -> np.ndarray:
        """(n,) given numbers, and predicted ones for the other rows."""
        return self.answers_.transduction

    @property
    def predicted_(self) -> np.ndarray:
        """(n,) predictions for all training rows, also for those with a given number."""
        return self.answers_.predicted

    @property
    def left_out_(self) -> np.ndarray:
        """(l,) predictions for the given numbers, each held out of the candidates and of their weights."""
        return self.answers_.left_out

    @property
    def estimate_(self) -> Accuracy:
        """Accuracy of the predictions, estimated from held-out numbers, for ``print(model.estimate_)``."""
        found: Accuracy = self.answers_.fit.estimate
        return found

    @property
    def left_out_r2_(self) -> float:
        """Fraction of the variance of the numbers that is explained."""
        return self.estimate_.r2

    @property
    def r2_interval_(self) -> tuple[float, float]:
        """Its 95% interval."""
        return self.estimate_.r2_interval

    @property
    def left_out_mae_(self) -> float:
        """Mean absolute error."""
        return self.estimate_.mae

    @property
    def mae_interval_(self) -> tuple[float, float]:
        """Its 95% interval."""
        return self.estimate_.mae_interval
