"""MV-KPCA as a classifier, with few components that keep the labeled classes together and least squares on them."""

from dataclasses import dataclass, replace

import numpy as np

from ..inputs.labels import Labels
from ..solvers.eigen.within_variance import within_group_rows, within_variance_components
from ..solvers.ridge.smoother import ridge_removed
from ..solvers.ridge.state import State
from .classifier import KernelClassifier
from .parameters import COUNT, NOT_NEGATIVE, POSITIVE, parameter
from .solution import Solution


@dataclass(eq=False, repr=False)
class WithinVarianceClassifier(KernelClassifier):
    """Classify from few labels on components with large variance over all rows and small variance within the classes.

    .. math:: \\max_f \\frac{\\sum_i (f(x_i) - \\bar f)^2}
        {\\|f\\|^2 + c \\sum_k \\sum_{i \\in L_k} (f(x_i) - \\bar f_k)^2}

    defines `n_components` functions f, with c = `within_weight` and L_k the labeled rows of class k. Scores come from
    least squares on the values of f at the labeled rows. This is the paper's MV-KPCA-10 with least squares instead of
    the SVM, for new rows, with probabilities and held-out scores. `MinimumVarianceKPCA` has the components themselves,
    also for groups without class names. Use it when the classes follow a few directions of large variance.

    Parameters
    ----------
    n_components : int, default=10
    within_weight : c, the weight of the variance within the classes. 0 gives the kernel principal components.
    penalty : penalty of the least squares, on components scaled to a variance of at most 1.

    Attributes
    ----------
    eigenvalues_ : (n_components,) the ratio above, largest first.
    coef_, intercept_, result_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see
        `KernelClassifier`.

    Notes
    -----
    The components depend on the labels, so held-out scores are refits without a fifth of the labels. A fit costs
    O(n r²) in one pass and O(r³). `select` fits five times per candidate. It runs on NumPy, torch and Dask.

    References
    ----------
    Walder, Henao, Mørup, Hansen (2010), Semi-supervised kernel PCA, §3.1 and §7.

    Examples
    --------
    >>> from mercer import WithinVarianceClassifier
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> model = WithinVarianceClassifier().fit(X, ["low", None, None, None, None, "high"])
    >>> model.predict([[0.05], [1.3]]).tolist()
    ['low', 'high']
    """

    max_refits = 5
    path_parameters = ("within_weight",)
    reported = ("eigenvalues",)

    n_components: int = parameter(10, COUNT)
    within_weight: float = parameter(1.0, NOT_NEGATIVE)
    penalty: float = parameter(0.1, POSITIVE)

    def solve(self, state: State, labels: Labels) -> Solution:
        moments, codes = state.moments, labels.codes[labels.labeled]
        P = moments.centered(True)
        Z_l = state.take(labels.labeled)
        weight = None if state.weight is None else state.weight[labels.labeled]
        groups = [np.flatnonzero(codes == code) for code in range(labels.n_classes)]
        found = within_variance_components(
            P, within_group_rows(Z_l, groups, weight), self.within_weight, self.n_components
        )
        V = found.value
        V = V / np.sqrt(max(float(V[:, 0] @ P @ V[:, 0]) / moments.total, np.finfo(float).tiny))
        result = ridge_removed((Z_l - moments.mean) @ V, labels.signs, self.penalty, weight, bias=True)
        W, b = result.value
        result = replace(result, gap=max(result.gap, found.gap), info={"eigenvalues": found.info["eigenvalues"]})
        return Solution(V @ W, b - moments.mean @ (V @ W), result.warn(), lambda: self.refits(state, labels))

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        if grid is None:
            grid = {"within_weight": np.geomspace(1e-2, 1e3, 6).tolist()}
        return super().path(state, labels, grid)
