"""MV-KPCA as a classifier: a few components that keep the labelled classes together, then least squares on them."""

from dataclasses import dataclass, replace

import numpy as np

from ..inputs.labels import Labels
from ..solvers.eigen.within_variance import within_group_rows, within_variance_components
from ..solvers.ridge.smoother import ridge_removed
from ..solvers.ridge.state import State
from .classifier import KernelClassifier
from .solution import Solution


@dataclass(eq=False, repr=False)
class WithinVarianceClassifier(KernelClassifier):
    """The paper's MV-KPCA-10 with a least-squares machine in place of the SVM; see `MinimumVarianceKPCA`.

    Parameters
    ----------
    n_components, within_weight : as in `MinimumVarianceKPCA`.
    penalty : of the least squares on components scaled to variance 1.
    """

    max_refits = 5

    n_components: int = 10
    within_weight: float = 1.0
    penalty: float = 0.1

    def solve(self, state: State, labels: Labels) -> Solution:
        moments, codes = state.moments, labels.codes[labels.labelled]
        P = moments.centred(True)
        Z_l = state.take(labels.labelled)
        within = within_group_rows(Z_l, [np.flatnonzero(codes == code) for code in range(labels.n_classes)])
        V = within_variance_components(P, within, self.within_weight, self.n_components).value
        V = V / np.sqrt(max(float(V[:, 0] @ P @ V[:, 0]) / moments.total, np.finfo(float).tiny))
        weight = None if state.weight is None else state.weight[labels.labelled]
        result = ridge_removed((Z_l - moments.mean) @ V, labels.signs, self.penalty, weight, bias=True)
        W, b = result.value
        # The components depend on the labels too, so left-out answers need refits.
        result = replace(result, info={})
        return Solution(V @ W, b - moments.mean @ (V @ W), result, lambda: self.refits(state, labels))
