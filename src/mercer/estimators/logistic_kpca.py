"""LR-KPCA, a loss of the margin on the labels with a fixed variance over all rows (Walder et al. 2010, §3.4)."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ..solvers.result import together
from ..solvers.sphere.irls import constrained_margin_loss
from ..solvers.sphere.left_out import compress_for, left_out
from ..solvers.sphere.losses import LOSSES
from .least_squares_kpca import VarianceConstrained
from .parameters import COUNT, parameter


@dataclass(eq=False, repr=False)
class LogisticKPCA(VarianceConstrained):
    """Classify from few labels with a loss of the margin and a fixed variance over all rows, labeled or not.

    .. math:: \\min_f \\|f\\|^2 + c \\sum_{i \\in L} \\log(1 + e^{-t_i f(x_i)})
        \\quad \\text{subject to} \\quad \\tfrac1n \\sum_{i=1}^n (f(x_i) - \\bar f)^2 = v

    with c = `label_weight` and v = `variance`, or with another loss. `LeastSquaresKPCA` pulls the labeled values to ±1.
    These losses are nearly zero for well-classified labels, so that a large variance does not conflict with them. Every
    step is a least-squares problem solved globally, and the objective never increases. The result is a stationary point
    of a problem that is not convex.

    Parameters
    ----------
    loss : {"logistic", "hinge", "sigmoid"}, default="logistic"
        Loss of the margin m = t f. "logistic" is log(1 + e^−m). "hinge" is max(0, 1 − m), with the parabola
        (1.5 − m)² / 2 for 0.5 < m < 1.5 instead of its corner. It is exactly zero for labels with larger margins.
        "sigmoid" is 1/(1 + e^m), the bounded loss of the paper's text. A wrong label costs at most 1 and has little
        influence on the solution. This loss is not convex, so the result depends more on the start.
    max_iter : largest number of reweighting steps. More than 20 are rarely needed.

    Attributes
    ----------
    n_iter_ : number of reweighting steps, the largest over the columns.
    certificate_ : the largest relative KKT residual.
    coef_, result_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    Held-out predictions come from the last reweighted least-squares problem without the label, not from a refit. The
    cost is that of `LeastSquaresKPCA`, with its O(r l²) root search repeated at each step. It runs on NumPy, torch and
    Dask.
    The paper calls its loss a sigmoid and prints 1/(1 + e^−m), which grows with the margin. Its reweighting (20) has
    the weights of the logistic loss and a response that belongs to neither. Here "sigmoid" is the bounded loss with the
    correct sign and weights, and "logistic" is the loss that has the weights of (20).

    References
    ----------
    Walder, Henao, Mørup, Hansen (2010), Semi-supervised kernel PCA, §3.4.
    Chapelle (2007), Training a support vector machine in the primal (the smooth hinge).

    Examples
    --------
    >>> from mercer import LogisticKPCA
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> LogisticKPCA().fit(X, ["low", None, None, None, None, "high"]).transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    """

    reported = (*VarianceConstrained.reported, "n_iter")

    _: KW_ONLY
    loss: str = parameter("logistic", StrOptions(set(LOSSES)))
    max_iter: int = parameter(50, COUNT)

    def _fit_targets(
        self, theta: np.ndarray, Z_l: np.ndarray, targets: np.ndarray, spread: float, costs: np.ndarray | None
    ):
        options = {"loss": self.loss, "max_iter": self.max_iter}
        results = [
            constrained_margin_loss(theta, Z, signs, self.label_weight, spread, each, **options)
            for Z, signs, each in (_both_signs(Z_l, t, costs) for t in targets.T)
        ]
        value = np.stack([result.value for result in results], axis=1)
        return together(results, value, n_iter=max(result.n_iter for result in results))

    def _left_out_scores(self, theta, Z_l, targets, weights, spreads, costs, labels, pencil=None):
        theta, Z_l = compress_for(theta, Z_l, targets, weights, spreads)
        groups = self._groups(labels) or np.arange(len(Z_l))[:, None]
        options = {"loss": self.loss, "max_iter": self.max_iter}
        out = np.empty((len(weights) * len(spreads),) + targets.shape)
        for k, t in enumerate(targets.T):
            Z, signs, each = _both_signs(Z_l, t, costs)
            doubled = len(signs) > len(t)
            sets = [np.concatenate([g, g + len(t)]) for g in groups] if doubled else groups
            for a, weight in enumerate(weights):
                start = None  # the solution at the neighboring variance is a good start once it is scaled
                for b, spread in enumerate(spreads):
                    if start is not None:
                        start = start * np.sqrt(spread / float(theta @ start**2))
                    fit = constrained_margin_loss(theta, Z, signs, weight, spread, each, start, **options)
                    start = fit.value
                    last = fit.info["response"], [weight / 2], [spread], sets, fit.info["curvature"]
                    out[a * len(spreads) + b, :, k] = left_out(theta, Z, *last, shrink=0)[0, 0, : len(t)]
        return out


def _both_signs(Z_l, t, costs):
    """(rows, signs, costs) for the solver. A soft label in (−1, 1) counts in part as +1 and in part as −1."""
    costs = np.ones(len(t)) if costs is None else costs
    if np.all(np.abs(t) == 1):
        return Z_l, t, costs
    signs = np.concatenate([np.ones(len(t)), -np.ones(len(t))])
    return np.concatenate([Z_l, Z_l]), signs, np.concatenate([costs * (1 + t) / 2, costs * (1 - t) / 2])
