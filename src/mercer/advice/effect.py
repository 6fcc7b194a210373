"""The exact effect of one more label on a fit that is linear in its labels, without refitting.

* The row was ignored until now (LS-SVM on the labelled rows): with C = penalty · Z̃ (Z̃_lᵀZ̃_l + penalty · J)⁻¹ Z̃ᵀ,
  where Z̃ has a column of ones and J leaves it unpenalised if there is a bias,

      f⁺ = f + C_·j (y − f_j) / (C_jj + penalty),      C⁺ = C − C_·j C_j· / (C_jj + penalty).

* The row was in the sum with target 0 (LS-SVM on all rows, Semi-KPCA): f⁺ = f + S_·j y, and S does not change.

Everything is kept as Z̃ M Z̃ᵀ with M r × r, so that n rows cost O(n r), never n².
"""

import numpy as np
import scipy.linalg as sla

from ..errors import InputError
from ..estimators.lssvm import LSSVMClassifier
from ..estimators.semi_kpca import SemiKPCA
from ..rows import gram, take

EPS = 1e-10


class LabelEffect:
    """How the scores of all rows move when one row gets a label.

    Parameters
    ----------
    model : fitted `LSSVMClassifier` (both kinds; unlabeled="zero" without a bias) or `SemiKPCA`.
    Z : (n, r) its features of all rows.
    labelled : the labelled rows.
    """

    def __init__(self, model, Z, labelled):
        Z = np.asarray(Z, dtype=np.float64)
        self.penalty: float | None = None
        if isinstance(model, SemiKPCA):
            k = model.n_removed
            V = model.eigenvectors_[:, k:]
            self.Z, self.M = Z, (V / (1.0 / model.gamma_ - model.eigenvalues_[k:])) @ V.T
        elif isinstance(model, LSSVMClassifier) and model.unlabeled == "zero" and not model.bias:
            self.Z, self.M = Z, np.linalg.inv(gram(Z) + np.eye(Z.shape[1]) / model.gamma)
        elif isinstance(model, LSSVMClassifier) and model.unlabeled == "ignore":
            self.penalty = 1.0 / model.gamma
            self.Z, self.M = _covariance(Z, take(Z, labelled), self.penalty, model.bias)
        else:
            raise InputError(
                f"The effect of one more label on {model!r} is not known without refitting. Accepted: "
                'FewLabelClassifier, SemiKPCA, LSSVMClassifier (with bias=False if unlabeled="zero").'
            )

    def step(self, j):
        """(n, len(j)) change of the scores per unit of surprise (target − score, or the target itself) at rows j."""
        columns = self.Z @ (self.M @ self.Z[j].T)
        if self.penalty is None:
            return columns
        return columns / (self.own(j) + self.penalty)

    def surprise(self, target, score):
        """What `step` is to be multiplied with: target − score for a row that was ignored, else the target."""
        return target if self.penalty is None else target - score

    def own(self, j):
        """(len(j),) the diagonal entries C_jj, or S_jj."""
        return np.einsum("ij,ij->i", self.Z[j] @ self.M, self.Z[j])

    def focus_on(self, weight):
        """(r, r) second moments of the rows under the weights; one pass for a whole batch."""
        return gram(self.Z, weight)

    def focused(self, rows, focus):
        """(len(rows),) Σ_i focus_i C_ij² / (C_jj + penalty): how much variance a label at j takes from the rows i.

        focus : (r, r) Σ_i focus_i z_i z_iᵀ from `focus_on`, so that all rows j cost one product with an r × r matrix.
        """
        middle = self.M @ focus @ self.M
        gain = np.einsum("ij,ij->i", self.Z[rows] @ middle, self.Z[rows])
        return gain if self.penalty is None else gain / (self.own(rows) + self.penalty)

    def add(self, j):
        """Count row j as labelled: its surroundings have less to gain. Needs no label."""
        direction = self.M @ self.Z[j]
        own = float(self.Z[j] @ direction)
        # A zeroed row stays in the sum as it is: there the update only keeps a batch diverse.
        noise = self.penalty if self.penalty is not None else own
        self.M = self.M - np.outer(direction, direction) / max(own + noise, EPS)


def _covariance(Z, Z_l, penalty, bias):
    if bias:
        Z, Z_l = (np.column_stack([part, np.ones(len(part))]) for part in (Z, Z_l))
    r = Z.shape[1]
    ridge = np.full(r, penalty)
    if bias:
        ridge[-1] = EPS
    inverse = sla.cho_solve(sla.cho_factor(Z_l.T @ Z_l + np.diag(ridge)), np.eye(r))
    return Z, penalty * (inverse + inverse.T) / 2
