"""Semi-supervised support vector machine by quasi-Newton steps on a smooth objective (Gieseke et al. 2012)."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..inputs.labels import Labels
from ..rows import take
from ..solvers.margin.transductive import transductive
from ..solvers.ridge.state import State
from .balance import shares_of
from .classifier import KernelClassifier
from .grid import product_of
from .parameters import COUNT, NOT_NEGATIVE, POSITIVE, parameter
from .solution import Solution

LAMBDAS = 2.0 ** np.arange(-14, 3, 2)


@dataclass(eq=False, repr=False)
class TransductiveSVMClassifier(KernelClassifier):
    """Classify with a support vector machine whose margin keeps clear of the unlabelled rows, too.

    .. math:: \\min_w \\tfrac1l \\sum_{i \\in L} \\tfrac1{20} \\log(1 + e^{20 (1 - t_i f(x_i))})
        + \\tfrac{\\lambda'}{u} \\sum_{j \\in U} e^{-3 f(x_j)^2} + \\lambda \\|w\\|^2, \\quad
        \\tfrac1u \\sum_{j \\in U} f(x_j) = 2 b - 1

    The first term is a smooth hinge loss, the second one punishes unlabelled rows near the boundary, and the last
    equation keeps the share b of the second class among the unlabelled rows: w acts on rows less their mean, which
    meets it by itself. λ' rises from 0 in steps. Use it where classes are separated by a gap, above all on sparse rows
    of text with ``kernel="linear"``: the rows are then never copied, and w has one weight for each column. More than
    two classes: each against the rest. Not convex: a good local minimum near the supervised solution.

    Parameters
    ----------
    lam : penalty λ; 1e-4 to 0.1 for kernels with k(x, x) = 1.
    lam_unlabeled : weight λ' of the unlabelled rows; 0 is an ordinary support vector machine.
    balance : "labels", float, dict or array, default="labels"
        Share of each class among the unlabelled rows: as among the labels; of ``classes_[1]`` (a number, two classes);
        {class: share} or one share per sorted class. A wrong share costs accuracy, with 10 labels often the most.
    solver : "lbfgs", or "cccp": the ramp loss of UniverSVM in place of the bell, by the concave-convex procedure; one
        to four times as long, and about as accurate (a larger `lam` suits it).
    tol : largest relative gradient norm. max_iter : most iterations of the last step.
    kernel, approx, random_state, missing_label : see `KernelClassifier`.

    Attributes
    ----------
    balance_ : (k,) the shares used.
    objectives_ : (k',) the objective of each column.
    n_iter_ : iterations of all steps; each takes two passes over the features.
    result_ : ``gap`` is the largest ‖gradient‖ / ‖gradient of the losses‖, 0 at a stationary point.
    intercept_, coef_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    Left-out answers are refits without a fifth of the labels. Cost: about 100 products of Z and of Zᵀ with k' columns.
    NumPy, torch, Dask (a sample of the rows).
    Reference: Gieseke, Airola, Pahikkala, Kramer: Sparse quasi-Newton optimization for semi-supervised support vector
    machines, 2012; Fast and simple gradient-based optimization for semi-supervised support vector machines, 2014.
    Collobert, Sinz, Weston, Bottou: Large scale transductive SVMs, 2006 ("cccp").

    Examples
    --------
    >>> from mercer import TransductiveSVMClassifier
    >>> X = [[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]
    >>> TransductiveSVMClassifier().fit(X, ["a", None, None, None, None, "b"]).transduction_.tolist()
    ['a', 'a', 'a', 'b', 'b', 'b']
    """

    access = "sweeps"
    on_dask = "sample"
    policy = "margin"
    max_refits = 5
    path_parameters = ("lam", "lam_unlabeled")
    reported = ("balance", "objectives", "n_iter")

    lam: float = parameter(0.001, POSITIVE)
    lam_unlabeled: float = parameter(1.0, NOT_NEGATIVE)
    _: KW_ONLY
    balance: Any = parameter("labels", StrOptions({"labels"}), Interval(Real, 0, 1, closed="both"), dict, "array-like")
    solver: str = parameter("lbfgs", StrOptions({"lbfgs", "cccp"}))
    tol: float = parameter(1e-6, POSITIVE)
    max_iter: int = parameter(1000, COUNT)

    def solve(self, state: State, labels: Labels) -> Solution:
        result = self._minimum(state, labels, [{}]).warn()
        W, constants = result.value
        return Solution(W, constants, result, lambda: self.refits(state, labels))

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        candidates = product_of({"lam": LAMBDAS.tolist()} if grid is None else grid)
        out = np.full((len(candidates), *labels.signs.shape), np.nan)
        for test, others in labels.folds(self.max_refits):
            W, constants = self._minimum(state, others, candidates).value
            scores = take(state.Z, labels.labelled[test]) @ W + constants
            out[:, test] = scores.reshape(len(test), len(candidates), -1).swapaxes(0, 1)
        return candidates, out

    def _minimum(self, state, labels, candidates):
        """`Result` for all candidates at once: the columns of the first one, then those of the next."""
        shares = shares_of(self.balance, labels, state.weight)
        offset = 2 * (shares[1:] if labels.n_classes == 2 else shares) - 1
        m, k = len(candidates), len(offset)
        lam, weights = (
            np.repeat([each.get(name, getattr(self, name)) for each in candidates], k) for name in self.path_parameters
        )
        targets, offset = np.tile(labels.signs, m), np.tile(offset, m)
        how = self.tol, self.max_iter, self.solver == "cccp"
        result = transductive(state.Z, labels.labelled, targets, offset, lam, weights, state.weight, *how)
        result.info |= {"balance": shares, "n_iter": result.n_iter}
        return result

    def _silent(self, scores):
        """Which rows score as one without features: the mean over the unlabelled rows is part of the constant."""
        return (np.abs(scores - self.intercept_) <= 1e-3 * self.margin_).all(axis=1)
