"""Least-squares support vector machine for regression (Suykens et al. 2002)."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import r2_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..geometry.expansion import Expansion
from ..geometry.open import POLICIES, goes_exact
from ..homes import home_of
from ..inputs.labels import read_targets
from ..inputs.sampling import with_labels
from ..inputs.weights import check_weight
from ..linalg import precision
from ..rows import by_row, host, sampled
from ..solvers.ridge.dual import BYTES, dual_left_out, dual_ridge
from ..solvers.ridge.smoother import MOST, basis_of_labeled, left_out_path, pull_of, ridge_filter, ridge_on_labeled
from ..solvers.ridge.state import State
from ..types import ColumnLike, Rows
from .base import KernelEstimator
from .grid import LeftOutSearch
from .lssvm import GAMMAS
from .parameters import POSITIVE, parameter


@dataclass(eq=False, repr=False)
class LSSVMRegressor(RegressorMixin, LeftOutSearch, KernelEstimator):
    """Regress with a least-squares support vector machine (kernel ridge regression with an unpenalized constant).

    .. math:: \\min_{w, b} \\tfrac12 \\|w\\|^2 + \\tfrac{\\gamma}{2} \\sum_i s_i (y_i - w \\cdot \\varphi(x_i) - b)^2

    Several targets, y of shape (n, k), are fitted together with one decomposition. Rows whose target is NaN (or None)
    are not in the sum. They still help to choose landmarks and the width of the kernel.

    Parameters
    ----------
    gamma : weight of the errors.
    bias : whether to fit the constant b.
    approx : "auto", "exact", int or map, default="auto"
        "auto" is exact up to 5,000 rows with a target (3,000 rows in all if the kernel is not stationary or of low
        rank) and uses landmarks for more. A number is the number of landmarks.

    Attributes
    ----------
    coef_ : (r,) or (r, k) weights of the features. None if there are none (see Notes).
    dual_coef_ : (l,) or (l, k) weights of the kernel's columns if there are no features, else None.
    intercept_ : float or (k,), the constant b.
    left_out_ : (l,) or (l, k) the prediction for each row with a target by the fit without it (NaN for some of very
        many rows).

    Notes
    -----
    With l targets and r features a fit costs O(l r min(l, r)). An exact stationary kernel of high rank on host rows
    needs no features. Its fit takes l³/3 operations in float32, and `left_out_` is computed on first use. It runs on
    NumPy, torch and Dask.

    References
    ----------
    Suykens, Van Gestel, De Brabanter, De Moor, Vandewalle (2002), Least squares support vector machines.

    Examples
    --------
    >>> from mercer import LSSVMRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = LSSVMRegressor(gamma=1000.0, kernel="linear").fit(X, [1.0, 3.0, None, 7.0])
    >>> round(float(model.predict([[2.0]])[0]), 2)
    5.0
    """

    path_parameters = ("gamma",)

    gamma: float = parameter(1.0, POSITIVE)
    _: KW_ONLY
    bias: bool = parameter(True, "boolean")

    def fit(self, X: Rows, y: ColumnLike, sample_weight: ColumnLike = None) -> "LSSVMRegressor":
        """Fit on the rows with a target. NaN marks those without."""
        X, y, all_weight = self._training(X, y, sample_weight, "targets")
        weight, y = sampled(all_weight, X), self._numbers(X, y)
        rows = _known(y, weight)
        self.coef_: Any = None  # one of coef_ and dual_coef_ is set below
        self.dual_coef_: Any = None
        self.intercept_: Any = None
        self._left_out: Any = None
        kernel = self._kernel_for_dual(X, rows, weight)
        if kernel is not None:
            return self._fit_dual(kernel, X, rows, y, weight)
        gram = self._open(X, all_weight)
        pull = pull_of(gram.Z, rows, _columns(y[rows]), weight)
        self.result_ = ridge_on_labeled(gram.Z, rows, pull, 1.0 / self.gamma, weight, self.bias).warn()
        W, b = self.result_.value
        self.coef_, self.intercept_ = (W, b) if y.ndim > 1 else (W[:, 0], float(b[0]))
        self.expansion_ = gram.on_features(self.coef_)
        self._left_out = self.result_.info["left_out"].reshape(-1, *y.shape[1:])
        return self

    def _numbers(self, X: Rows, y: ColumnLike) -> np.ndarray:
        """(n,) or (n, k) array of the targets y as numbers."""
        y = read_targets(y, self._seen(X), several=True)
        if y.ndim > 1 and hasattr(self, "sample_"):
            raise InputError("Several targets are not supported for Dask. Fit one regressor for each column of y.")
        return y

    def _kernel_for_dual(self, X: Rows, rows: np.ndarray, weight: np.ndarray | None):
        """The resolved kernel if its exact matrix fits on the host and has high rank in a sample of rows, else None."""
        kernel, l, policy = self._kernel(), len(rows), POLICIES["targets"]
        if not kernel.stationary or kernel.transductive or l < 2 or not goes_exact(kernel, self.approx, X, policy, l):
            return None
        free = home_of(X).free_memory(X)
        if self.approx == "auto" and free is not None and BYTES * l**2 > free / 2:
            return None
        kernel = kernel.resolve(X, weight)
        some = np.random.default_rng(0).permutation(rows)[:400]  # enough to estimate the rank
        return kernel if _high_rank(kernel, X[some]) else None

    def _fit_dual(self, kernel, X, rows, y, weight):
        self.map_, self.kernel_ = None, kernel
        self.approx_reason_ = f"The exact kernel matrix of the {len(rows)} rows with a target was used."
        self._targets, self._weight = _columns(y[rows]), None if weight is None else weight[rows]
        K = host(kernel(X[rows]))
        self.result_ = dual_ridge(K, self._targets, 1.0 / self.gamma, self._weight, self.bias).warn()
        alpha, b = self.result_.value
        self.dual_coef_, self.intercept_ = (alpha, b) if y.ndim > 1 else (alpha[:, 0], float(b[0]))
        self.expansion_ = Expansion(kernel, home_of(X).kept(X[rows]), self.dual_coef_)
        return self

    @property
    def left_out_(self):
        check_is_fitted(self)
        if self._left_out is None:
            l = len(self._targets)
            some = np.arange(l) if l <= MOST else np.sort(np.random.default_rng(0).choice(l, MOST, replace=False))
            K, T, alpha = self.kernel_(self.expansion_.centers), self._targets, _columns(self.dual_coef_)
            predicted = dual_left_out(K, T, alpha, 1.0 / self.gamma, self._weight, self.bias, some)
            self._left_out = np.full(self.dual_coef_.shape, np.nan)
            self._left_out[some] = predicted.reshape(len(some), *self.dual_coef_.shape[1:])
        return self._left_out

    @by_row
    def predict(self, X: Rows) -> np.ndarray:
        """(n,) or (n, k) array of the predicted targets of each row."""
        X = self._rows(X, reset=False)
        return self.expansion_(X) + self.intercept_

    def score(self, X: Rows, y: ColumnLike, sample_weight: ColumnLike = None):
        """R² over the rows that have a target, or its mean over several targets."""
        X, y, sample_weight = with_labels(X, y, "targets", None, sample_weight)
        y = read_targets(y, None, several=True)
        rows = _known(y, None)
        weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return r2_score(y[rows], self.predict(X)[rows], sample_weight=weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def select(self, X, y, sample_weight=None, **grid):
        """Choose parameters by the held-out squared error and fit with them. The estimator itself does not change.

        ``selection_`` on the returned regressor contains the candidates and their held-out root mean squared errors
        (for several targets, in units of their standard deviations). The current parameters are kept unless another
        candidate is better by more than one standard error. The errors are those of a feature map. With approx="auto"
        and more than 3,000 rows, the map uses landmarks, even if `fit` uses the exact kernel.
        """
        candidates, left_out, y_read = self.left_out_table(X, y, sample_weight, grid or "default")
        wanted = _columns(y_read[_known(y_read, check_weight(sample_weight, len(y_read)))])
        scale = np.maximum(wanted.var(axis=0), np.finfo(float).tiny) if wanted.shape[1] > 1 else np.ones(1)
        errors = np.mean((left_out - wanted) ** 2 / scale, axis=2)
        errors = errors[:, np.isfinite(errors[0])]  # with very many rows only some have a held-out prediction
        chosen, reason = _best_error(errors)
        best = clone(self).set_params(**candidates[chosen])
        best.fit(X, y, sample_weight)
        best.selection_ = {"candidates": candidates, "chosen": chosen, "reason": reason}
        best.selection_["error"] = np.sqrt(errors.mean(axis=1))
        return best

    def _read(self, X: Rows, y: ColumnLike, sample_weight: ColumnLike) -> tuple:
        """(state, targets) of a fit. Missing targets are NaN."""
        X, y, weight = self._training(X, y, sample_weight, "targets")
        return State(self._fit_map(X, weight), sampled(weight, X)), self._numbers(X, y)

    def path(self, state: State, y: ColumnLike, grid) -> tuple:
        """(parameters, (m, l, k) held-out predictions) for a grid of γ. None means the default grid."""
        gammas = GAMMAS if grid is None else grid.get("gamma", [self.gamma])
        rows = _known(y, state.weight)
        pull = pull_of(state.Z, rows, _columns(y[rows]), state.weight)
        basis = basis_of_labeled(state.Z, rows, pull, state.weight, self.bias)
        filters = ridge_filter(basis.values, 1.0 / np.asarray(gammas, dtype=float))
        return [{"gamma": float(g)} for g in gammas], left_out_path(basis, pull, filters, removed=True)


def _known(y: ColumnLike, weight: np.ndarray | None) -> np.ndarray:
    """Rows with a target and a weight above 0."""
    there = ~np.isnan(_columns(y)[:, 0])
    rows = np.flatnonzero(there if weight is None else there & (np.asarray(weight) > 0))
    if weight is not None and not len(rows):
        raise InputError("No row with a target has a weight above 0. Give one of them a weight.")
    return rows


def _columns(y: ColumnLike) -> np.ndarray:
    """(l, k) array of targets."""
    return y[:, None] if y.ndim == 1 else y


def _high_rank(kernel, rows):
    """Whether the kernel matrix of these rows has, up to rounding, a rank of more than half of their number."""
    half = rows.shape[0] // 2
    for some in (rows[: half + half // 4], rows):  # the first part of the rows is often enough
        K = np.array(host(kernel(some)))
        factor = get_lapack_funcs("pstrf", (K,))
        if factor(K, tol=64 * precision(K.dtype) * K.diagonal().max(), lower=1, overwrite_a=1)[2] > half:
            return True
    return False


def _best_error(errors):
    """(index, sentence) of the candidate of lowest mean held-out error (m, l), or of the first if they are close."""
    best = int(np.argmin(errors.mean(axis=1)))
    gain = errors[0] - errors[best]
    spread = float(np.std(gain) / np.sqrt(max(len(gain), 1)))
    if best and gain.mean() <= spread:
        return 0, f"The parameters are kept. The best of {len(errors)} candidates is within one standard error."
    return best, f"The best of {len(errors)} candidates by the leave-one-out squared error over {errors.shape[1]} rows."
