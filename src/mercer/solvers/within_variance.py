"""Directions of large variance that keep groups of rows together: max wᵀPw / wᵀ(I + c Σ_g Z_gᵀ H_g Z_g) w."""

import numpy as np
import scipy.linalg as sla

from ..linalg import fix_signs
from .result import Result


def within_group_rows(Z, groups):
    """The rows of every group less the group's mean, stacked: RᵀR = Σ_g Z_gᵀ H_g Z_g.

    Z : (l, r) rows; groups : list of index arrays into them (an index may be in several groups).
    """
    parts = [Z[group] - Z[group].mean(axis=0) for group in groups if len(group) > 1]
    return np.concatenate(parts) if parts else np.zeros((0, Z.shape[1]))


def within_variance_components(P, within, weight, n_components):
    """The first generalised eigenvectors of P w = μ (I + weight WᵀW) w, largest μ first.

    Parameters
    ----------
    P : (r, r) scatter of all rows.
    within : (m, r) rows W of :func:`within_group_rows`.
    weight : c ≥ 0; 0 is kernel PCA.

    Returns
    -------
    Result : value (r, n_components), normalised to wᵀ(I + c WᵀW)w = 1 with deterministic signs; gap the largest
        relative residual ‖Pw − μCw‖ / (μ₁‖Cw‖); info holds `eigenvalues`.

    Cost: O(r³).
    """
    r = len(P)
    k = min(n_components, r)
    C = np.eye(r) + weight * within.T @ within
    values, V = sla.eigh(P, C, subset_by_index=[r - k, r - 1], check_finite=False)
    values, V = values[::-1], fix_signs(V[:, ::-1])
    right = C @ V
    residual = np.linalg.norm(P @ V - right * values, axis=0)
    scale = max(float(values[0]), np.finfo(float).tiny) * np.linalg.norm(right, axis=0)
    gap = float(np.max(residual / scale))
    return Result(
        V,
        objective=float(values.sum()),
        gap=gap,
        converged=gap < 1e-8,
        reason="The generalised eigenproblem is solved.",
        info={"eigenvalues": np.clip(values, 0.0, None)},
    )
