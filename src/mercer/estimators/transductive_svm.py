"""Semi-supervised support vector machine by quasi-Newton steps on a smooth objective (Gieseke et al. 2012)."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..inputs.labels import Labels
from ..rows import take
from ..solvers.margin.transductive import transductive
from ..solvers.ridge.state import State
from .balance import estimated_shares, fold_key, is_estimated, shares_of
from .classifier import KernelClassifier
from .grid import product_of
from .parameters import COUNT, NOT_NEGATIVE, POSITIVE, parameter
from .rls import RLSClassifier
from .solution import Solution


@dataclass(eq=False, repr=False)
class TransductiveSVMClassifier(KernelClassifier):
    """Classify with a support vector machine whose margin also avoids the unlabeled rows.

    .. math:: \\min_w \\tfrac1l \\sum_{i \\in L} \\tfrac1{20} \\log(1 + e^{20 (1 - t_i f(x_i))})
        + \\tfrac{\\lambda'}{u} \\sum_{j \\in U} e^{-3 f(x_j)^2} + \\lambda \\|w\\|^2, \\quad
        \\tfrac1u \\sum_{j \\in U} f(x_j) = 2 b - 1

    The first term is a smooth hinge loss. The second one penalizes unlabeled rows near the boundary. The last equation
    fixes the fraction b of the second class among the unlabeled rows. It is satisfied because w is applied to rows less
    their mean. λ' increases from 0 in steps. Use it if classes are separated by a gap, above all on sparse rows of text
    with ``kernel="linear"``. The rows are then never copied, and w has one weight for each column. Of more than two
    classes, each is learned against the rest. The problem is not convex, and the solution is a good local minimum near
    the supervised one.

    Parameters
    ----------
    lam : penalty λ, 1e-4 to 0.1 for kernels with k(x, x) = 1.
    lam_unlabeled : weight λ' of the unlabeled rows. 0 is an ordinary support vector machine.
    balance : "estimate", "labels", float, dict or array, default="estimate"
        Fraction of each class among the unlabeled rows. "estimate" estimates it from fits with held-out labels.
        "labels" uses the fractions of the labels. A number is the fraction of ``classes_[1]`` (two classes). For more
        classes give one fraction per sorted class, or a dict from classes to fractions. A wrong fraction costs
        accuracy. With 10 labels it is often the largest error.
    solver : "lbfgs" for the second term above, or "cccp" for the ramp loss of UniverSVM instead, minimized by the
        concave-convex procedure. "cccp" takes one to four times as long, is about as accurate and needs a larger `lam`.
    tol : largest relative norm of the gradient.
    max_iter : largest number of iterations of the last step.

    Attributes
    ----------
    balance_ : (k,) the fractions used. If they were estimated, ``result_.info["balance_error"]`` has their standard
        errors.
    objectives_ : (k',) the objective of each column.
    n_iter_ : iterations of all steps. Each takes two passes over the features.
    result_ : ``gap`` is the largest ‖gradient‖ / ‖gradient of the losses‖, 0 at a stationary point.
    intercept_, coef_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    balance="estimate" takes up to three rounds of five fits without some of the labels. The first round is by
    regularized least squares, which does not use the balance (see `S2RLSClassifier`). Of 23 problems of 500 digits or
    Gaussian points with 20 labels it has a lower error than "labels" in 16, by up to 27 points, and a higher one in 5,
    by up to 1.7 (benchmarks/results/transductive.md). Held-out scores are refits without a fifth of the labels. A fit
    costs about 100 products of Z and of Zᵀ with k' columns. It runs on NumPy, torch and a sample of rows in Dask.

    References
    ----------
    Gieseke, Airola, Pahikkala, Kramer (2012), Sparse quasi-Newton optimization for semi-supervised support vector
    machines.
    Gieseke, Airola, Pahikkala, Kramer (2014), Fast and simple gradient-based optimization for semi-supervised support
    vector machines.
    Collobert, Sinz, Weston, Bottou (2006), Large scale transductive SVMs ("cccp").

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
    balance: Any = parameter(
        "estimate", StrOptions({"labels", "estimate"}), Interval(Real, 0, 1, closed="both"), dict, "array-like"
    )
    solver: str = parameter("lbfgs", StrOptions({"lbfgs", "cccp"}))
    tol: float = parameter(1e-6, POSITIVE)
    max_iter: int = parameter(1000, COUNT)

    def solve(self, state: State, labels: Labels) -> Solution:
        wanted = self._estimate(state, labels)
        result = self._minimum(state, labels, [{}], wanted).warn()
        if wanted is not None:
            result.info["balance_error"] = wanted[1]
        W, constants = result.value
        return Solution(W, constants, result, lambda: self._folds(state, labels, [{}], wanted)[0])

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        candidates = product_of({"lam": (2.0 ** np.arange(-14, 3, 2)).tolist()} if grid is None else grid)
        return candidates, self._folds(state, labels, candidates, self._estimate(state, labels))

    def _folds(self, state: State, labels: Labels, candidates, wanted):
        """Held-out scores (m, l, k') for candidate parameters, by folds over the labels."""
        out = np.full((len(candidates), *labels.signs.shape), np.nan)
        for test, others in labels.folds(self.max_refits):
            W, constants = self._minimum(state, others, candidates, wanted).value
            scores = take(state.Z, labels.labeled[test]) @ W + constants
            out[:, test] = scores.reshape(len(test), len(candidates), -1).swapaxes(0, 1)
        return out

    def _estimate(self, state: State, labels: Labels):
        """(fractions, standard errors) of the classes among the unlabeled rows. None if the balance is given."""
        if len(labels.labeled) == len(labels.codes) or not is_estimated(self.balance):
            return None

        def fits(wanted: tuple[np.ndarray, np.ndarray] | None) -> Iterator:
            plain = RLSClassifier(self.lam)  # does not use the balance, so that a wrong one cannot confirm itself
            for test, others in labels.folds(self.max_refits, fold_key(state, labels)):
                if wanted is None:
                    found = plain.solve(state, others)
                    yield test, found.coef, found.intercept
                else:
                    yield test, *self._minimum(state, others, [{}], wanted).value

        return estimated_shares(fits, state, labels)

    def _minimum(
        self, state: State, labels: Labels, candidates: list, wanted: tuple[np.ndarray, np.ndarray] | None = None
    ):
        """`Result` for all candidates at once, with the columns of one candidate after the other."""
        shares = shares_of(self.balance, labels, state.weight) if wanted is None else wanted[0]
        offset = 2 * (shares[1:] if labels.n_classes == 2 else shares) - 1
        m, k = len(candidates), len(offset)
        lam, weights = (
            np.repeat([each.get(name, getattr(self, name)) for each in candidates], k) for name in self.path_parameters
        )
        targets, offset = np.tile(labels.signs, m), np.tile(offset, m)
        how = self.tol, self.max_iter, self.solver == "cccp"
        result = transductive(state.Z, labels.labeled, targets, offset, lam, weights, state.weight, *how)
        result.info |= {"balance": shares, "n_iter": result.n_iter}
        return result

    def _silent(self, scores: np.ndarray):
        """Whether each row scores like one without features. The constant contains the mean over the unlabeled rows."""
        return (np.abs(scores - self.intercept_) <= 1e-3 * self.margin_).all(axis=1)
