"""Least squares on features, in closed form: fits linear in the labels, and what they answer with a label withheld.

A fit that is linear in its targets, f = S t, knows every left-out answer without refitting. Two things can happen to a
row whose label is withheld:

* it leaves the sum ("removed": LS-SVM and RLSC on the labelled rows):  t_i - (t_i - f_i) / (1 - S_ii);
* it stays with target 0 ("zeroed": LS-SVM on all rows, Semi-KPCA):  f_i - S_ii t_i.

Only the diagonal of S at the labelled rows is needed, and in an eigenbasis of ZᵀZ it is known for a whole path of
regularisations. Notation: Z_l the features of the labelled rows (l × r), T their targets (l × k), s their weights.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from ..linalg import eigh_down, rank_of, safe_cholesky
from ..rows import gram, tdot
from .result import Result

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Moments:
    """What one pass over all rows gives: G = Zᵀ diag(s) Z, mean = Zᵀ s / total, total = Σ s."""

    G: np.ndarray
    mean: np.ndarray
    total: float

    def centred(self, bias):
        """G about the mean if there is a bias to absorb it, else G."""
        return self.G - self.total * np.outer(self.mean, self.mean) if bias else self.G


@dataclass(frozen=True)
class Basis:
    """Eigenpairs of Zᵀ diag(s) Z (about `mean` when there is a bias), largest first, rounding noise cut off."""

    values: np.ndarray
    vectors: np.ndarray
    mean: np.ndarray
    total: float
    bias: bool = False


def moments_of(Z, weight=None, mean=True):
    """Moments of a tall matrix wherever it lives: one pass, and one more for the mean where that is wanted."""
    s = np.ones(Z.shape[0]) if weight is None else weight
    total = float(s.sum())
    return Moments(gram(Z, weight), tdot(Z, s) / total if mean else np.zeros(Z.shape[1]), total)


def basis_of_moments(moments, bias=False):
    """The eigenbasis of all rows: one r × r eigendecomposition, O(r³)."""
    values, vectors = eigh_down(moments.centred(bias))
    rank = rank_of(values, _EPS)
    return Basis(values[:rank], vectors[:, :rank], _mean_if(bias, moments.mean), moments.total, bias)


def basis_of_rows(Z_l, weight=None, bias=False):
    """The eigenbasis of a few rows: a thin SVD, O(l r min(l, r))."""
    s = np.ones(len(Z_l)) if weight is None else weight
    mean = _mean_if(bias, s @ Z_l / s.sum())
    _, sigma, Vt = sla.svd(np.sqrt(s)[:, None] * (Z_l - mean), full_matrices=False, check_finite=False)
    rank = rank_of(sigma, _EPS, max(Z_l.shape))
    return Basis(sigma[:rank] ** 2, Vt[:rank].T, mean, float(s.sum()), bias)


def ridge_filter(values, penalty):
    """1 / (penalty + λ), one row per penalty."""
    return 1.0 / (np.asarray(penalty, dtype=float)[..., None] + values)


def shift_filter(values, gamma, n_removed):
    """1 / (1/γ - λ) beyond the first n_removed eigenvalues and 0 on those: Semi-KPCA, convex for γ < 1/λ_{k+1}."""
    out = 1.0 / (1.0 / np.asarray(gamma, dtype=float)[..., None] - values)
    out[..., :n_removed] = 0.0
    return out


def filtered_weights(basis, Z_l, T, weight, filters):
    """(W, b) with W = V diag(filter) Vᵀ Σ_i s_i z_i t_i for one filter; b is 0 without a bias."""
    s = np.ones(len(Z_l)) if weight is None else weight
    middle = s @ T / basis.total if basis.bias else np.zeros(T.shape[1])
    C = basis.vectors.T @ _pull(Z_l, T, s, basis.mean)
    W = basis.vectors @ (filters[:, None] * C)
    return W, middle - basis.mean @ W


def left_out_path(basis, Z_l, T, weight, filters, removed):
    """(m, l, k) answers for each labelled row with its own label withheld, for m filters on one eigenbasis.

    filters is a sequence of m filters of shape (p,), or (l, p) where the fit without row i has a filter of its own.
    Cost: O(m l p k).
    """
    s = np.ones(len(Z_l)) if weight is None else weight
    middle = s @ T / basis.total if basis.bias else np.zeros(T.shape[1])
    Q = (Z_l - basis.mean) @ basis.vectors
    C = basis.vectors.T @ _pull(Z_l, T, s, basis.mean)
    constant = s / basis.total if basis.bias else 0.0
    out = []
    for filter_ in filters:
        shrunk = Q * filter_
        fitted = shrunk @ C + middle
        diagonal = s * np.sum(shrunk * Q, axis=1) + constant
        out.append(_withhold(T, fitted, diagonal, removed))
    return np.array(out)


def ridge_removed(Z_l, T, penalty, weight=None, bias=False):
    """Minimise penalty·‖w‖² + Σ_i s_i (t_i - z_i·w - b)² over the labelled rows, for every column of T.

    Returns a `Result`: value (W, b), gap the relative residual of the normal equations, info["left_out"] the (l, k)
    answers for each row by the fit without it. One Cholesky factor of min(l, r) columns: O(l r min(l, r)).
    """
    s = np.ones(len(Z_l)) if weight is None else weight
    mean = _mean_if(bias, s @ Z_l / s.sum())
    middle = s @ T / s.sum() if bias else np.zeros(T.shape[1])
    root = np.sqrt(s)[:, None]
    A, Y = root * (Z_l - mean), root * (T - middle)
    l, r = A.shape
    if l <= r:
        L, _ = safe_cholesky(A @ A.T + penalty * np.eye(l))
        W = A.T @ sla.cho_solve((L, True), Y, check_finite=False)
        half = sla.solve_triangular(L, np.eye(l), lower=True, check_finite=False)
        slack = penalty * np.sum(half**2, axis=0)  # 1 - S_ii without cancellation
    else:
        L, _ = safe_cholesky(A.T @ A + penalty * np.eye(r))
        W = sla.cho_solve((L, True), A.T @ Y, check_finite=False)
        half = sla.solve_triangular(L, A.T, lower=True, check_finite=False)
        slack = 1.0 - np.sum(half**2, axis=0)
    diagonal = 1.0 - slack + (s / s.sum() if bias else 0.0)
    left_out = _withhold(T, (Z_l - mean) @ W + middle, diagonal, removed=True)
    gap = _relative(A.T @ (A @ W - Y) + penalty * W, A.T @ Y)
    return _solved((W, middle - mean @ W), gap, left_out)


def ridge_zeroed(moments, Z_l, T, penalty, weight=None, bias=False):
    """Minimise penalty·‖w‖² + Σ_i s_i (t_i - z_i·w - b)² over all rows, with t_i = 0 where there is no label.

    `moments` are those of all rows. Returns what `ridge_removed` returns; a withheld label becomes 0. Cost: O(r³/3).
    """
    s = np.ones(len(Z_l)) if weight is None else weight
    mean = _mean_if(bias, moments.mean)
    middle = s @ T / moments.total if bias else np.zeros(T.shape[1])
    M = moments.centred(bias) + penalty * np.eye(len(moments.G))
    L, _ = safe_cholesky(M)
    B = _pull(Z_l, T, s, mean)
    W = sla.cho_solve((L, True), B, check_finite=False)
    half = sla.solve_triangular(L, (Z_l - mean).T, lower=True, check_finite=False)
    diagonal = s * np.sum(half**2, axis=0) + (s / moments.total if bias else 0.0)
    left_out = _withhold(T, (Z_l - mean) @ W + middle, diagonal, removed=False)
    return _solved((W, middle - mean @ W), _relative(M @ W - B, B), left_out)


def _pull(Z_l, T, s, mean):
    """Σ_i s_i (z_i - mean) t_i. The mean of t need not be taken off: Σ s (z - mean) = 0 over the rows it averages."""
    return (Z_l - mean).T @ (s[:, None] * T)


def _withhold(T, fitted, diagonal, removed):
    if not removed:
        return fitted - diagonal[:, None] * T
    slack = np.maximum(1.0 - diagonal, _EPS)  # a row that alone determines its answer: 1 - S_ii is rounding
    return T - (T - fitted) / slack[:, None]


def _mean_if(bias, mean):
    return mean if bias else np.zeros_like(mean)


def _relative(residual, right_side):
    scale = np.linalg.norm(right_side)
    return float(np.linalg.norm(residual) / scale) if scale > 0 else float(np.linalg.norm(residual))


def _solved(value, gap, left_out):
    if gap < 1e-6:
        return Result(value, gap=gap, reason="Solved in closed form.", info={"left_out": left_out})
    reason = (
        f"The normal equations are solved only to a relative residual of {gap:.1e}: the regularisation is too weak for "
        "the conditioning of the kernel matrix. Use a smaller gamma (a larger lam)."
    )
    return Result(value, gap=gap, converged=False, reason=reason, info={"left_out": left_out})
