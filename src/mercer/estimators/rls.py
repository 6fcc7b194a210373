"""Regularized least-squares classification (Rifkin 2003, and Gieseke et al. 2009, §2)."""

from dataclasses import dataclass, replace

import numpy as np

from ..inputs.labels import Labels
from ..solvers.ridge.smoother import basis_of_labeled, left_out_path, ridge_filter, ridge_on_labeled
from ..solvers.ridge.state import State
from .classifier import KernelClassifier
from .graph_term import GraphTerm
from .invariance_term import InvarianceTerm
from .parameters import POSITIVE, parameter
from .solution import Solution


@dataclass(eq=False, repr=False)
class RLSClassifier(GraphTerm, InvarianceTerm, KernelClassifier):
    """Classify by regularized least squares on the labeled rows.

    .. math:: \\min_w \\tfrac1l \\sum_{i \\in L} (t_i - w \\cdot \\varphi(x_i))^2 + \\lambda \\|w\\|^2,
        \\quad t_i = \\pm 1

    The supervised relative of `S2RLSClassifier`, and `LSSVMClassifier` without bias in other units (γ = 1/(λ l)). Here
    the same λ means the same smoothness for any number of labels.

    Parameters
    ----------
    lam : penalty λ, 1e-6 to 1 for kernels with k(x, x) = 1.

    Attributes
    ----------
    coef_, result_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    With l labels and r features a fit costs O(l r min(l, r)). It runs on NumPy, torch and Dask.

    References
    ----------
    Gieseke, Pahikkala, Kramer (2009), Fast evolutionary maximum margin clustering.

    Examples
    --------
    >>> from mercer import RLSClassifier
    >>> X = [[0.0], [0.2], [1.0], [1.2]]
    >>> RLSClassifier(lam=0.1).fit(X, [0, -1, 1, -1]).predict([[0.9]])
    array([1])
    """

    closed_form = True
    path_parameters = ("lam",)

    lam: float = parameter(0.01, POSITIVE)

    def solve(self, state: State, labels: Labels) -> Solution:
        state = self.tilted(state)
        pull = state.pull(labels)
        s = np.ones(len(labels.labeled)) if state.weight is None else state.weight[labels.labeled]

        def ridge(total: float):
            return ridge_on_labeled(state.Z, labels.labeled, pull, self.lam * total, state.weight)

        def withheld() -> np.ndarray:
            # The fit without row i has one label less, so its penalty is λ (l - 1) in a second problem.
            if np.all(s == s[0]):
                return ridge(max(s.sum() - s[0], s[0])).info["left_out"]
            return self.path(state, labels, {"lam": [self.lam]})[1][0]

        result = ridge(s.sum()).warn()
        return Solution(state.back(result.value[0]), 0.0, replace(result, info={}), withheld)

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        lams = np.logspace(-7, 1, 33) if grid is None else grid.get("lam", [self.lam])
        state = self.tilted(state)
        pull = state.pull(labels)
        basis = basis_of_labeled(state.Z, labels.labeled, pull, state.weight)
        s = pull.s
        remaining = basis.total - (s[0] if np.all(s == s[0]) else s)
        filters = (ridge_filter(basis.values, lam * remaining) for lam in lams)
        return [{"lam": float(lam)} for lam in lams], left_out_path(basis, pull, filters, removed=True)
