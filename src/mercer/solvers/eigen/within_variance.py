"""Directions of large variance that keep groups of rows together, max wᵀPw / wᵀ(I + c Σ_g Z_gᵀ H_g Z_g) w."""

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from ...linalg import eigh_down, fix_signs
from ...types import Rows
from ..result import Result


def within_group_rows(Z: Rows, groups: list, weight: np.ndarray | None = None) -> np.ndarray:
    """The rows R of every group less the group's mean, stacked. RᵀR = Σ_g Z_gᵀ H_g Z_g.

    Parameters
    ----------
    Z : (l, r) rows.
    groups : list of index arrays into them. An index may be in several groups.
    weight : (l,) how often each row counts, or None.
    """
    if weight is None:
        parts = [Z[group] - Z[group].mean(axis=0) for group in groups if len(group) > 1]
    else:
        mean = [weight[g] @ Z[g] / weight[g].sum() if len(g) > 1 else None for g in groups]
        parts = [np.sqrt(weight[g])[:, None] * (Z[g] - m) for g, m in zip(groups, mean) if m is not None]
    return np.concatenate(parts) if parts else np.zeros((0, Z.shape[1]))


def within_variance_components(P, within, weight, n_components):
    """The first generalized eigenvectors of P w = μ (I + weight WᵀW) w, largest μ first.

    Parameters
    ----------
    P : (r, r) scatter of all rows, dense or sparse.
    within : (m, r) rows W of :func:`within_group_rows`.
    weight : c ≥ 0. 0 is kernel PCA.

    Returns a `Result`. The value (r, n_components) is normalized to wᵀ(I + c WᵀW)w = 1 with deterministic signs. The
    gap is the largest relative residual ‖Pw − μCw‖ / (μ₁‖Cw‖). Info contains `eigenvalues`.

    The cost is O(r²) per Lanczos step for a few of many components, else O(r³).
    """
    r = P.shape[0]
    k = min(n_components, r)
    S, Wt = np.zeros(0), within[:0]
    if len(within):  # SciPy before 1.14 does not take an empty matrix
        _, S, Wt = sla.svd(within, full_matrices=False, check_finite=False)
    less = 1.0 / np.sqrt(1.0 + weight * S**2) - 1.0

    def damped(x: np.ndarray) -> np.ndarray:
        """C^{-1/2} x, where C differs from I only on the right singular vectors of W."""
        return x + Wt.T @ ((less * (Wt @ x).T).T)

    if r > 300 and 20 * k < r:  # Lanczos for many features, of which fewer than a twentieth are wanted
        product = LinearOperator((r, r), matvec=lambda x: damped(P @ damped(x.ravel())), dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(r)
        values, V = eigsh(product, k=k, which="LA", v0=start, ncv=min(r, 3 * k + 20))
    else:
        A = damped(damped(P.toarray() if sp.issparse(P) else P).T)
        values, V = eigh_down((A + A.T) / 2, k)
    order = np.argsort(-values)
    values, V = values[order], fix_signs(damped(V[:, order]))
    right = V + weight * within.T @ (within @ V)
    residual = np.linalg.norm(P @ V - right * values, axis=0)
    scale = max(float(values[0]), np.finfo(float).tiny) * np.linalg.norm(right, axis=0)
    gap = float(np.max(residual / scale))
    reason, info = "The generalized eigenproblem is solved.", {"eigenvalues": np.clip(values, 0.0, None)}
    return Result(V, float(values.sum()), gap, converged=gap < 1e-8, reason=reason, info=info)
