"""LS-KPCA, least squares on the labels with a fixed variance over all rows (Walder et al. 2010, §3.3)."""

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from ..evidence.margin import choose_by_margin
from ..inputs.labels import Labels
from ..solvers.ridge.state import State
from ..solvers.sphere.left_out import left_out
from ..solvers.sphere.secular import constrained_least_squares, variance_basis
from .classifier import KernelClassifier
from .graph_term import GraphTerm
from .invariance_term import InvarianceTerm
from .parameters import POSITIVE, parameter
from .solution import Solution


@dataclass(eq=False, repr=False)
class VarianceConstrained(GraphTerm, InvarianceTerm, KernelClassifier):
    """Base of methods with a fixed variance, with the basis that diagonalizes it and the grid of held-out labels."""

    light_left_out: ClassVar[bool] = True
    path_parameters: ClassVar[tuple] = ("label_weight", "variance")
    reported: ClassVar[tuple] = ("certificate", "rank", "n_rows", "n_labels", "labeled_decisions", "labeled_targets")

    label_weight: float = parameter(1.0, POSITIVE)
    variance: float = parameter(1.0, POSITIVE)
    _: KW_ONLY
    center: bool = parameter(True, "boolean")
    label_folds: int | None = parameter(None, None, Interval(Integral, 2, None, closed="left"))

    def solve(self, state: State, labels: Labels) -> Solution:
        theta, Q, Z_l, costs, total = self._basis(state, labels)
        targets, costs = self._targets(state, labels, costs)
        result = self._fit_targets(theta, Z_l, targets, self.variance * total, costs).warn()
        info = {
            "certificate": result.gap,
            "rank": int(np.sum(theta > 0)),
            "n_rows": state.Z.shape[0],
            "n_labels": len(labels.labeled),
            "labeled_decisions": Z_l @ result.value,
            "labeled_targets": labels.signs,
        }
        coef = self.tilted(state).back(Q @ result.value)
        pencil = result.info.pop("pencil", None)
        result = replace(result, info=result.info | info)
        fit = theta, Z_l, targets, [self.label_weight], [self.variance * total], costs, labels
        own = clone(self)  # so that later changes of parameters do not affect the held-out predictions
        return Solution(coef, 0.0, result, lambda: own._left_out_scores(*fit, pencil)[0])

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        theta, _, Z_l, costs, total = self._basis(state, labels)
        if grid is None:
            grid = {"label_weight": np.geomspace(1e-3, 1e3, 7), "variance": np.geomspace(1e-2, 10.0, 7)}
        weights = [float(c) for c in grid.get("label_weight", [self.label_weight])]
        variances = [float(v) for v in grid.get("variance", [self.variance])]
        targets, costs = self._targets(state, labels, costs)
        scores = self._left_out_scores(theta, Z_l, targets, weights, [v * total for v in variances], costs, labels)
        pairs = [{"label_weight": c, "variance": v} for c in weights for v in variances]
        return [{name: pair[name] for name in self.path_parameters} for pair in pairs], scores

    def _basis(self, state: State, labels: Labels) -> tuple:
        """(theta, Q, labeled rows in that basis, their costs, total weight)."""
        state = self.tilted(state)
        values, vectors = state.moments.eigen(self.center)
        theta, Q = variance_basis(values, vectors, state.Z.dtype)
        costs = None if state.weight is None else state.weight[labels.labeled]
        return theta, Q, state.take(labels.labeled) @ Q, costs, state.moments.total

    def _choose(self, left_out: np.ndarray, codes: np.ndarray):
        return choose_by_margin(left_out, codes, default=0)

    def _targets(self, state: State, labels: Labels, costs: np.ndarray | None) -> tuple:
        """(targets (l, k'), costs (l,) or None) of the labeled rows."""
        return labels.signs, costs

    def _groups(self, labels: Labels):
        """Labels that are held out together in `label_folds` stratified folds, or None if each is held out alone."""
        if self.label_folds is None or self.label_folds >= len(labels.labeled):
            return None
        order = np.argsort(labels.codes[labels.labeled], kind="stable")
        return [np.sort(order[fold :: self.label_folds]) for fold in range(self.label_folds)]

    def _fit_targets(self, theta: np.ndarray, Z_l, targets: np.ndarray, spread, costs):
        """`Result` with value (r, k') in the basis of theta."""
        raise NotImplementedError(f"{type(self).__name__} must define this hook.")

    def _left_out_scores(
        self, theta: np.ndarray, Z_l, targets: np.ndarray, weights, spreads, costs, labels: Labels, pencil=None
    ):
        """(len(weights) · len(spreads), l, k') held-out scores. `pencil` is that of the fit, if there is one."""
        raise NotImplementedError(f"{type(self).__name__} must define this hook.")


class LeastSquaresKPCA(VarianceConstrained):
    """Classify from few labels by least squares with a fixed variance over all rows, labeled or not.

    .. math:: \\min_f \\|f\\|^2 + c \\sum_{i \\in L} (f(x_i) - t_i)^2
        \\quad \\text{subject to} \\quad \\tfrac1n \\sum_{i=1}^n (f(x_i) - \\bar f)^2 = v

    with targets t = ±1, c = `label_weight` and v = `variance`. The constraint makes the function vary along the
    directions in which the data vary, as kernel PCA does. The labels choose among these directions. The problem is not
    convex, but the solver finds its global minimum. Use it for two to a hundred labels on data whose classes are spread
    along the leading components. As c tends to 0 it becomes kernel PCA.

    Parameters
    ----------
    label_weight : c, the weight of the squared loss on the labels.
    variance : v, the variance of f over the training rows (the paper's s² divided by n).
    center : use the variance about the mean. False uses the mean of f².
    label_folds : None or int, default=None
        Number of folds of held-out labels for `select` and the calibration (10 in the paper). None means one label at
        a time.

    Attributes
    ----------
    multiplier_ : (k',) ζ, the multiplier of the variance constraint.
    certificate_ : the larger of the relative KKT residual and constraint residual. The minimum is global.
    rank_ : number of directions in which the training rows vary.
    coef_, result_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    A fit costs O(n r²) in one pass and O(r³) once. Every further c, v or labeling costs O(r l²) per root step. `select`
    computes all held-out predictions of the whole grid from the same decomposition. It runs on NumPy, torch and Dask.

    References
    ----------
    Walder, Henao, Mørup, Hansen (2010), Semi-supervised kernel PCA, §3.3.
    Gander, Golub, von Matt (1989), A constrained eigenvalue problem.

    Examples
    --------
    >>> from mercer import LeastSquaresKPCA
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> LeastSquaresKPCA().fit(X, ["low", None, None, None, None, "high"]).transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    """

    reported = (*VarianceConstrained.reported, "multiplier")

    def _fit_targets(
        self, theta: np.ndarray, Z_l: np.ndarray, targets: np.ndarray, spread: float, costs: np.ndarray | None
    ):
        result = constrained_least_squares(theta, Z_l, targets, self.label_weight, spread, costs)
        return replace(result, info=result.info | {"multiplier": result.info["zeta"]})

    def _left_out_scores(
        self,
        theta: np.ndarray,
        Z_l: np.ndarray,
        targets: np.ndarray,
        weights: list,
        spreads: list,
        costs: np.ndarray | None,
        labels: Labels,
        pencil=None,
    ) -> np.ndarray:
        scores = left_out(theta, Z_l, targets, weights, spreads, self._groups(labels), costs, pencil=pencil)
        return scores.reshape((-1,) + scores.shape[2:])
