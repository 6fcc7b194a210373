"""MV-KPCA as a classifier: a few components that keep the labelled classes together, then least squares on them."""

import numpy as np

from ..estimators.classifier import KernelClassifier
from ..rows import dot, gram, take, tdot
from ..solvers.eigen.within_variance import within_group_rows, within_variance_components
from ..solvers.ridge.smoother import ridge_removed


class WithinVarianceClassifier(KernelClassifier):
    """The paper's MV-KPCA-10 with a least-squares machine in place of the SVM; see `MinimumVarianceKPCA`.

    Parameters
    ----------
    n_components, within_weight : as in `MinimumVarianceKPCA`.
    penalty : of the least squares on components scaled to variance 1.
    """

    max_refits = 5

    def __init__(
        self,
        n_components=10,
        within_weight=1.0,
        penalty=0.1,
        *,
        kernel="rbf",
        approx="auto",
        missing_label="auto",
        random_state=None,
    ):
        self.n_components = n_components
        self.within_weight = within_weight
        self.penalty = penalty
        self.kernel = kernel
        self.approx = approx
        self.missing_label = missing_label
        self.random_state = random_state

    def _solve(self, Z, labels, weight):
        n = Z.shape[0]
        mean = tdot(Z, np.ones(n)) / n
        P = gram(Z) - n * np.outer(mean, mean)
        groups = [np.flatnonzero(labels.codes[labels.labelled] == code) for code in range(labels.n_classes)]
        Z_l = take(Z, labels.labelled)
        V = within_variance_components(P, within_group_rows(Z_l, groups), self.within_weight, self.n_components).value
        V = V / np.sqrt(max(float(V[:, 0] @ P @ V[:, 0]) / n, np.finfo(float).tiny))
        W, b = ridge_removed((Z_l - mean) @ V, labels.signs, self.penalty, None, bias=True).value
        self.coef_, self.intercept_ = V @ W, b - mean @ (V @ W)

    def _left_out(self, Z, labels, weight):
        """By refitting on folds of the labels: the components themselves depend on the labels."""
        out = np.full(labels.signs.shape, np.nan)
        company = np.flatnonzero(labels.testable)
        order = company[np.argsort(labels.codes[labels.labelled[company]], kind="stable")]
        n_folds = min(len(order), self.max_refits)
        trial = WithinVarianceClassifier(self.n_components, self.within_weight, self.penalty)
        for fold in range(n_folds):
            test = order[fold::n_folds]
            trial._solve(Z, labels.keep(np.setdiff1d(np.arange(len(out)), test)), weight)
            out[test] = trial._decide(take(Z, labels.labelled[test]))
        return out

    def _decide(self, Z):
        return dot(Z, self.coef_) + self.intercept_
