"""Ridge regression with two rows held out at once, in closed form, to judge a choice that is made without a row.

Let M = Z Zᵀ + penalty · I over the l rows, P = M⁻¹ − M⁻¹11ᵀM⁻¹ / 1ᵀM⁻¹1 (a constant is fitted and not penalized) and
α = P t. The errors of a set I of rows by the fit without all of I are P_II⁻¹ α_I. One row has the error α_i / P_ii, and
for two rows i, j

    e_j = (P_ii α_j − P_ij α_i) / (P_ii P_jj − P_ij²).
"""

import numpy as np

from ...linalg import safe_cholesky

_EPS = float(np.finfo(float).eps)


def residual_maker(rows: np.ndarray, t: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """(P (l, l), α (l,)) for features `rows` (l, r) of all rows with a target t, in O(l² r + l³)."""
    L, _ = safe_cholesky(rows @ rows.T + penalty * np.eye(len(t)))
    inverse = np.linalg.inv(L)
    inverse = inverse.T @ inverse
    column = inverse.sum(axis=1)
    P = inverse - np.outer(column, column) / column.sum()
    return P, P @ t


def errors_of_groups(P: np.ndarray, alpha: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(l,) error t_i − f_i of each row by the fit without its group."""
    own = np.diag(P)
    out = alpha / np.maximum(own, _EPS * own.max(initial=0.0))
    names, counts = np.unique(groups, return_counts=True)
    for name in names[counts > 1]:
        I = np.flatnonzero(groups == name)
        out[I] = np.linalg.solve(P[np.ix_(I, I)], alpha[I])
    return out


def squares_of_others(P: np.ndarray, alpha: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """(l,) Σ_j e_j² over the rows j of other groups than that of row i, by the fits without both groups.

    The cost is O(l²) if every row is a group of its own, else O(l²) per group.
    """
    l, names = len(alpha), np.unique(groups)
    if len(names) == l:
        own = np.diag(P)
        # Two rows that fix the fit of each other (l = 2, or the constant and these two only) have a determinant of 0.
        determinant = np.maximum(np.outer(own, own) - P**2, _EPS * np.outer(own, own))
        pairs = (np.outer(own, alpha) - P * alpha[:, None]) / determinant
        return np.sum(pairs**2, axis=1) - np.diag(pairs) ** 2
    out = np.zeros(l)
    for name in names:
        I, J = np.flatnonzero(groups == name), np.flatnonzero(groups != name)
        gain = np.linalg.solve(P[np.ix_(I, I)], P[np.ix_(I, J)])
        without = P[np.ix_(J, J)] - P[np.ix_(J, I)] @ gain
        out[I] = np.sum(errors_of_groups(without, alpha[J] - gain.T @ alpha[I], groups[J]) ** 2)
    return out
