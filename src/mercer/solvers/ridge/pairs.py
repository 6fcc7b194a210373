"""Ridge regression with two rows withheld at once, in closed form: what a choice made without a row is judged by.

With M = Z Zᵀ + penalty · I over the l rows and P = M⁻¹ − M⁻¹11ᵀM⁻¹ / 1ᵀM⁻¹1 (a constant is fitted and not penalised),
α = P t, the errors of a set I of rows by the fit without all of I are P_II⁻¹ α_I. One row: α_i / P_ii. Two rows i, j:

    e_j = (P_ii α_j − P_ij α_i) / (P_ii P_jj − P_ij²).
"""

import numpy as np

from ...linalg import safe_cholesky

_EPS = float(np.finfo(float).eps)


def errors_of_pairs(rows: np.ndarray, t: np.ndarray, penalty: float) -> np.ndarray:
    """(l, l) error t_j − f_j of row j by the fit without rows i and j, at [i, j]; i = j is the fit without j.

    rows : (l, r) features of all rows with a target t (l,). Cost: O(l² r + l³).
    """
    l = len(t)
    L, _ = safe_cholesky(rows @ rows.T + penalty * np.eye(l))
    inverse = np.linalg.inv(L)
    inverse = inverse.T @ inverse
    column = inverse.sum(axis=1)
    P = inverse - np.outer(column, column) / column.sum()
    alpha, own = P @ t, np.diag(P).copy()
    determinant = np.outer(own, own) - P**2
    # Two rows that fix the fit of each other (l = 2, or the constant and these two only) have a determinant of 0.
    determinant = np.maximum(determinant, _EPS * np.outer(own, own))
    pairs = (np.outer(own, alpha) - P * alpha[:, None]) / determinant
    pairs[np.arange(l), np.arange(l)] = alpha / np.maximum(own, _EPS * own.max())
    return pairs
