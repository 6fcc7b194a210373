"""The exact effect of one more label on a fit that is linear in its labels, without refitting.

* If the row was ignored until now (LS-SVM on the labeled rows), let C = penalty · Z̃ (Z̃_lᵀZ̃_l + penalty · J)⁻¹ Z̃ᵀ.
  If there is a bias, Z̃ has a column of ones and J leaves it unpenalized. Then

      f⁺ = f + C_·j (y − f_j) / (C_jj + penalty),      C⁺ = C − C_·j C_j· / (C_jj + penalty).

* If the row was in the sum with target 0 (LS-SVM on all rows, Semi-KPCA), f⁺ = f + S_·j y, and S does not change.

Both are stored as Z̃ M Z̃ᵀ with M r × r, so that n rows cost O(n r), never n².
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg as sla

EPS = 1e-10


@dataclass(frozen=True)
class LabelEffect:
    """How the scores of all rows move when one row gets a label."""

    Z: np.ndarray  # (n, r) host features of all rows
    M: np.ndarray  # (r, r) such that Z M Zᵀ is C, or S
    penalty: float | None = None  # of the fit that ignores unlabeled rows, or None if they are in the sum with target 0

    def step(self, j: np.ndarray) -> np.ndarray:
        """(n, len(j)) change of the scores per unit of surprise (target − score, or the target itself) at rows j."""
        columns = self.Z @ (self.M @ self.Z[j].T)
        return columns if self.penalty is None else columns / (self.own(j) + self.penalty)

    def surprise(self, target: np.ndarray, score: np.ndarray) -> np.ndarray:
        """The factor of `step`: target − score for a row that was ignored, else the target."""
        return target if self.penalty is None else target - score

    def own(self, j: np.ndarray) -> np.ndarray:
        """(len(j),) the diagonal entries C_jj, or S_jj."""
        return np.einsum("ij,ij->i", self.Z[j] @ self.M, self.Z[j])

    @cached_property
    def quick(self) -> np.ndarray:
        """(n, r) the rows, in single precision if they are many. This is enough to find the largest gains."""
        return self.Z if len(self.Z) < 4000 else np.asarray(self.Z, dtype=np.float32)

    def focus_on(self, weight: np.ndarray | None) -> np.ndarray:
        """(r, r) second moments of the rows under the weights, in one pass for a whole batch."""
        Z = self.quick
        weighted = Z if weight is None else Z * weight[:, None].astype(Z.dtype)
        return np.asarray(Z.T @ weighted, dtype=np.float64)

    def focused(self, rows: np.ndarray, focus: np.ndarray) -> np.ndarray:
        """(len(rows),) Σ_i focus_i C_ij² / (C_jj + penalty), the variance that a label at j takes from the rows i.

        focus : (r, r) Σ_i focus_i z_i z_iᵀ from `focus_on`, so that all rows j cost one product with an r × r matrix.
        """
        return Gains(self, focus, rows).values

    def after(self, j: int) -> "LabelEffect":
        """The effect after row j is labeled, when rows near it have less to gain. Needs no label."""
        d, a = self.direction(j)
        return replace(self, M=self.M - np.outer(d, d) / a)

    def direction(self, j: int) -> tuple[np.ndarray, float]:
        """(d, a) such that a label at row j takes d dᵀ / a from M."""
        d = self.M @ self.Z[j]
        own = float(self.Z[j] @ d)
        # With penalty None the row stays in the sum, and the update only keeps a batch diverse.
        return d, max(own + (own if self.penalty is None else self.penalty), EPS)


class Gains:
    """`LabelEffect.focused` of some rows, updated while one row after the other is labeled, in O(n r) each.

    With d = M z_j and a = C_jj + noise, M becomes M − d dᵀ/a, so that C_ii falls by p_i² / a with p = Z d, and zᵀMFMz
    by 2 p_i q_i / a − p_i² dᵀFd / a² with q = Z M F d.
    """

    def __init__(self, effect: LabelEffect, focus: np.ndarray, rows: np.ndarray | None = None) -> None:
        self.effect, self.focus = effect, focus
        self.Z = effect.quick if rows is None else effect.quick[rows]
        self.own = self._diagonal(effect.M)
        self.taken = self._diagonal(effect.M @ focus @ effect.M)

    def _diagonal(self, A: np.ndarray) -> np.ndarray:
        """(n,) zᵀ A z."""
        return np.einsum("ij,ij->i", self.Z @ A.astype(self.Z.dtype), self.Z).astype(np.float64)

    @property
    def values(self) -> np.ndarray:
        """(n,) the gains now."""
        return self.taken if self.effect.penalty is None else self.taken / (self.own + self.effect.penalty)

    def label(self, j: int) -> None:
        """Row j of the effect has a label from now on."""
        d, a = self.effect.direction(j)
        felt = self.focus @ d
        p, q = (self.Z @ np.column_stack([d, self.effect.M @ felt]).astype(self.Z.dtype)).T.astype(np.float64)
        self.taken = self.taken - p / a * (2.0 * q - p * (float(d @ felt) / a))
        self.own = self.own - p**2 / a
        self.effect = self.effect.after(j)


def effect_of_ignored(Z: np.ndarray, labeled: np.ndarray, penalty: float, bias: bool = False) -> LabelEffect:
    """The effect for ridge regression on the labeled rows of Z."""
    if bias:
        Z = np.column_stack([Z, np.ones(len(Z))])
    ridge = np.full(Z.shape[1], penalty)
    if bias:
        ridge[-1] = EPS
    Z_l = Z[labeled]
    inverse = sla.cho_solve(sla.cho_factor(Z_l.T @ Z_l + np.diag(ridge)), np.eye(len(ridge)))
    return LabelEffect(Z, penalty * (inverse + inverse.T) / 2, penalty)
