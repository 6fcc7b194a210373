"""Semi-KPCA and LS-KPCA for numeric targets. Both papers remark that targets need not be ±1."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import StrOptions

from ..errors import InputError
from ..geometry.expansion import Expansion
from ..inputs.labels import read_targets
from ..inputs.sampling import with_labels
from ..rows import by_row, sampled
from ..solvers.ridge.smoother import closed_form, filtered_weights, left_out_path, pull_of, relative, shift_filter
from ..solvers.ridge.state import State
from ..solvers.sphere.left_out import left_out
from ..solvers.sphere.secular import constrained_least_squares, variance_basis
from ..types import ColumnLike, Rows
from .base import KernelEstimator
from .parameters import POSITIVE, parameter
from .semi_kpca import REMOVED, gamma_within, spectrum_of


@dataclass(eq=False, repr=False)
class FewNumbers(RegressorMixin, KernelEstimator):
    """Base of regressors with few targets. A method defines ``_solve(state, rows, t)``.

    t are the standardized targets. `_solve` returns a `Result` with value (weights, constant) and the held-out scores
    of the rows.
    """

    def fit(self, X: Rows, y: ColumnLike, sample_weight: ColumnLike = None) -> Self:
        """Fit on all rows. NaN (or None) in y marks the rows without a number."""
        X, y, weight = self._training(X, y, sample_weight, "targets", min_rows=2)
        y = read_targets(y, self._seen(X))
        own = sampled(weight, X)
        rows = np.flatnonzero(~np.isnan(y) if own is None else ~np.isnan(y) & (own > 0))
        if len(rows) < 2:
            raise InputError(f"{len(rows)} row(s) of y have a number and a positive weight. Give at least two.")
        state = State(self._fit_map(X, weight), own)
        s = np.ones(len(rows)) if own is None else own[rows]
        self.center_ = float(np.average(y[rows], weights=s))
        spread = np.sqrt(np.average((y[rows] - self.center_) ** 2, weights=s))
        self.scale_ = float(spread) if spread > 0 else 1.0
        t = (y[rows] - self.center_) / self.scale_
        self.result_, scores = self._solve(state, rows, t)
        self.result_.warn()
        W, constant = self.result_.value
        slope, shift = self._line(scores, t, s)
        self.coef_ = self.scale_ * slope * W
        self.intercept_ = self.center_ + self.scale_ * (slope * constant + shift)
        self.left_out_ = self.center_ + self.scale_ * (slope * scores + shift)
        self.expansion_ = Expansion(self.kernel_, None, self.coef_[:, None], self.map_)
        return self

    @by_row
    def predict(self, X: Rows) -> np.ndarray:
        """The predicted target of each row."""
        X = self._rows(X, reset=False)
        return self.expansion_(X)[:, 0] + self.intercept_

    def score(self, X: Rows, y: ColumnLike, sample_weight: ColumnLike = None):
        """R² over the rows that have a number in y."""
        X, y, sample_weight = with_labels(X, y, "targets", None, sample_weight)
        y = read_targets(y, None)
        rows = np.flatnonzero(~np.isnan(y))
        weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return r2_score(y[rows], self.predict(X)[rows], sample_weight=weight)

    def _line(self, scores: np.ndarray, t: np.ndarray, s) -> tuple:
        """(slope, shift) from scores to targets."""
        return 1.0, 0.0

    def _solve(self, state: State, rows: np.ndarray, t: np.ndarray) -> tuple[Any, np.ndarray]:
        raise NotImplementedError(f"{type(self).__name__} must define this hook.")


@dataclass(eq=False, repr=False)
class SemiKPCARegressor(FewNumbers):
    """Regress on a numeric target with very few known values, by kernel PCA with a linear pull from these values.

    The problem of `SemiKPCA` with standardized targets t. Its scores have a scale of their own, because the pull is not
    a loss. A line from held-out scores to the known targets therefore gives the predictions. Use it when the target
    follows the directions in which the rows vary most. With many known targets `LSSVMRegressor` is better.

    Parameters
    ----------

    Attributes
    ----------
    gamma_ : float, the γ that was used.
    coef_, intercept_ : weights of the features, and the constant.
    left_out_ : (l,) the held-out prediction for each row with a target.
    result_ : `Result` of the solver.

    Notes
    -----
    The cost is that of `SemiKPCA`. It runs on NumPy, torch and Dask.

    References
    ----------
    Alaíz, Fanuel, Suykens (2018), Convex formulation for kernel PCA and its use in semi-supervised learning.

    Examples
    --------
    >>> from mercer import SemiKPCARegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = SemiKPCARegressor(kernel="linear").fit(X, [0.0, None, 2.0, None, None, 5.0])
    >>> model.predict([[1.0], [4.0]]).round(1).tolist()
    [0.8, 4.7]
    """

    n_removed: int | str = parameter("constant", *REMOVED)
    gamma: str | float = parameter("middle", StrOptions({"middle"}), POSITIVE)

    def _solve(self, state, rows, t):
        basis, interval, k = spectrum_of(state.moments, self.n_removed)
        self.gamma_ = gamma_within(self.gamma, interval, self.n_removed)
        pull = pull_of(state.Z, rows, t[:, None], state.weight, most=len(rows))
        filter_ = shift_filter(basis.values, self.gamma_, k)
        W, b = filtered_weights(basis, pull, filter_)
        right = pull.B - np.outer(basis.mean, pull.sum_t)
        V, G = basis.vectors[:, k:], state.moments.centered(self.n_removed == "constant")
        gap = relative(V.T @ (W / self.gamma_ - G @ W - right), right)
        scores = left_out_path(basis, pull, [filter_], removed=False)[0, :, 0]
        s = np.ones(len(rows)) if state.weight is None else state.weight[rows]
        scores = scores * (s.sum() / (s.sum() - s))  # because the pull is a sum over one target less
        return closed_form((W[:, 0], float(np.ravel(b)[0])), gap), scores

    def _line(self, scores, t, s):
        middle = np.average(scores, weights=s)
        spread = np.average((scores - middle) ** 2, weights=s)
        slope = max(np.average((scores - middle) * t, weights=s) / spread, 0.0) if spread > 0 else 0.0
        return slope, -slope * middle


@dataclass(eq=False, repr=False)
class LeastSquaresKPCARegressor(FewNumbers):
    """Regress on a numeric target with few known values by least squares with a fixed variance of the predictions.

    .. math:: \\min_f \\|f\\|^2 + c \\sum_{i \\in L} (f(x_i) - t_i)^2
        \\quad \\text{subject to} \\quad \\tfrac1n \\sum_{i=1}^n (f(x_i) - \\bar f)^2 = v

    The problem of `LeastSquaresKPCA` with standardized targets t. v = 1 means that the predictions for all rows have
    the variance of the known targets. With few targets, ordinary least squares shrinks predictions towards the mean.
    This method does not. Use it when the known targets are a representative sample. With many known targets
    `LSSVMRegressor` is better.

    Parameters
    ----------
    label_weight : c, the weight of the squared errors.
    variance : v, in units of the variance of the known targets.

    Attributes
    ----------
    multiplier_ : ζ, the multiplier of the constraint.
    certificate_ : the larger of its two relative residuals.
    coef_, intercept_ : weights of the features, and the constant.
    left_out_ : (l,) the prediction for each row with a target by the fit without it.

    Notes
    -----
    The cost is that of `LeastSquaresKPCA`. It runs on NumPy, torch and Dask.

    References
    ----------
    Walder, Henao, Mørup, Hansen (2010), Semi-supervised kernel PCA, §3.3.

    Examples
    --------
    >>> from mercer import LeastSquaresKPCARegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = LeastSquaresKPCARegressor(100.0).fit(X, [0.0, None, 2.0, None, None, 5.0])
    >>> bool(model.predict([[1.0]])[0] < model.predict([[4.0]])[0])
    True
    """

    label_weight: float = parameter(1.0, POSITIVE)
    variance: float = parameter(1.0, POSITIVE)

    def _solve(self, state: State, rows: np.ndarray, t: np.ndarray) -> tuple:
        moments = state.moments
        values, vectors = moments.eigen(True)
        theta, Q = variance_basis(values, vectors, state.Z.dtype)
        Z_l = state.take(rows) @ Q
        costs = None if state.weight is None else state.weight[rows]
        spread = self.variance * moments.total
        found = constrained_least_squares(theta, Z_l, t, self.label_weight, spread, costs)
        self.multiplier_, self.certificate_ = float(np.ravel(found.info["zeta"])[0]), found.gap
        scores = left_out(theta, Z_l, t[:, None], [self.label_weight], [spread], None, costs)
        found.value = (Q @ found.value, 0.0)
        return found, scores.reshape(len(t))
