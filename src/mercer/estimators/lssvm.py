"""Least-squares support vector machine for classification (Suykens et al. 2002, Alaíz et al. 2018)."""

from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ..inputs.labels import Labels
from ..solvers.ridge.effect import LabelEffect, effect_of_ignored
from ..solvers.ridge.smoother import (
    basis_of_labeled,
    basis_of_moments,
    left_out_path,
    ridge_filter,
    ridge_on_labeled,
    ridge_on_moments,
)
from ..solvers.ridge.state import State
from ..solvers.ridge.withheld import MOST, Removed
from .classifier import KernelClassifier
from .graph_term import GraphTerm
from .invariance_term import InvarianceTerm
from .parameters import POSITIVE, parameter
from .solution import Solution

GAMMAS = np.logspace(-4, 4, 33)


@dataclass(eq=False, repr=False)
class LSSVMClassifier(GraphTerm, InvarianceTerm, KernelClassifier):
    """Classify with a least-squares support vector machine. Unlabeled rows are ignored or pulled to zero.

    .. math:: \\min_{w, b} \\tfrac12 \\|w\\|^2 + \\tfrac{\\gamma}{2} \\sum_i s_i (t_i - w \\cdot \\varphi(x_i) - b)^2,
        \\quad t_i = \\pm 1

    The sum runs over the labeled rows (``unlabeled="ignore"``, the paper's Subs-LSSVM), or over all rows with t = 0
    for rows without a label (``"zero"``, Semi-LSSVM), which is a mild way to use them. More than two classes have one
    factorization in common, with a column for each class against the rest. It is a strong baseline for 30 labels or
    more. With fewer, `SemiKPCA` uses the unlabeled rows better.

    Parameters
    ----------
    gamma : float, default=1.0
        Weight of the errors, 0.01 to 100 for kernels with k(x, x) = 1. The paper uses 100 d/n for "ignore" and 10 d/n
        for "zero", with n rows of d features and no bias.
    unlabeled : "ignore" or "zero", default="ignore"
    bias : whether to fit the constant b. The paper does not have it.
    graph : None, int or (n, n) matrix, default=None
        Adds graph_weight · Σ w_ij (f_i − f_j)² over all rows to ‖w‖², for smoothness along the data, labeled or not.
        An int is the number of neighbors in the graph, and a matrix contains the edge weights w_ij.
    invariance : None, (n, d) or (n, p, d) array, or function, default=None
        Adds invariance_weight · (1/n) Σ_i Σ_v (v·∇f(x_i))² to ‖w‖². Then f hardly changes along the directions v, which
        should be small steps x + v within a class. Give p directions for every row, or a function of the rows that
        returns them, such as `ImageShifts` for images. f is a combination of the kernel functions of the landmarks. If
        shifted rows are among these, ``approx=LandmarkMap(kernel, rows)``, it can also represent the gradients.

    Attributes
    ----------
    intercept_ : (k',) the constant b.
    coef_, result_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    With l labels and r features, "ignore" costs O(l r min(l, r)) and "zero" O(n r²) in one pass and O(r³). It runs on
    NumPy, torch and Dask.

    References
    ----------
    Alaíz, Fanuel, Suykens (2018), Convex formulation for kernel PCA and its use in semi-supervised learning.

    Examples
    --------
    >>> from mercer import LSSVMClassifier
    >>> X = [[0.0], [0.2], [1.0], [1.2]]
    >>> LSSVMClassifier().fit(X, ["low", None, "high", None]).transduction_.tolist()
    ['low', 'low', 'high', 'high']
    """

    closed_form = True
    path_parameters = ("gamma",)

    gamma: float = parameter(1.0, POSITIVE)
    _: KW_ONLY
    unlabeled: str = parameter("ignore", StrOptions({"ignore", "zero"}))
    bias: bool = parameter(True, "boolean")

    def _open(self, X, weight=None, store="auto", policy=None):
        return super()._open(X, weight, store, "normal equations" if self.unlabeled == "zero" else policy)

    def solve(self, state: State, labels: Labels) -> Solution:
        state = self.tilted(state)
        pull = state.pull(labels)
        if self.unlabeled == "ignore":
            result = ridge_on_labeled(state.Z, labels.labeled, pull, 1.0 / self.gamma, state.weight, self.bias)
        else:
            result = ridge_on_moments(state.moments, pull, 1.0 / self.gamma, self.bias)
        W, b = result.warn().value
        known = state.alike and (self.unlabeled == "ignore" or not self.bias)
        influence = partial(self._effect, state, labels) if known else None
        return Solution(state.back(W), b, result, lambda: result.info["left_out"], influence)

    def _effect(self, state: State, labels: Labels) -> LabelEffect:
        if self.unlabeled == "ignore":
            return effect_of_ignored(state.rows, labels.labeled, 1.0 / self.gamma, self.bias)
        G = state.moments.G
        return LabelEffect(state.rows, np.linalg.inv(G + np.eye(len(G)) / self.gamma))

    def withheld(self, state: State, labels: Labels) -> Removed | None:
        if self.unlabeled != "ignore" or len(labels.labeled) > MOST:
            return None
        return Removed(state.tilted(self.graph_weight).pull(labels), 1.0 / self.gamma, self.bias)

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        gammas = GAMMAS if grid is None else grid.get("gamma", [self.gamma])
        state = self.tilted(state)
        pull = state.pull(labels)
        removed = self.unlabeled == "ignore"
        if removed:
            basis = basis_of_labeled(state.Z, labels.labeled, pull, state.weight, self.bias)
        else:
            basis = basis_of_moments(state.moments, self.bias)
        filters = ridge_filter(basis.values, 1.0 / np.asarray(gammas, dtype=float))
        return [{"gamma": float(g)} for g in gammas], left_out_path(basis, pull, filters, removed)
