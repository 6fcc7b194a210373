"""The rows W of the label search from features Z, and the classifier from the labels found.

With K = Z Zᵀ and row weights d² (D = diag(d)), K̄ = D K D = (DZ)(DZ)ᵀ has the eigenvectors V = DZ Q Θ^(−½), where
QΘQᵀ is the r × r matrix Zᵀ D² Z. So W = D V (Θ(Θ + λ)⁻¹)^½ = D² Z T with T = Q (Θ + λ)^(−½), and the minimizer of
Σ d²_i (y_i − z_i·w)² + λ‖w‖² is w = T Wᵀ y. No n × n matrix is formed, and the formulas are the same for landmarks and
exact kernels.
"""

import numpy as np

from ...linalg import eigh_down, precision, rank_of
from ...rows import dot
from ...types import Rows


def search_basis(C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs (θ, Q) of C = Zᵀ D² Z, descending, without those that are rounding. One serves every λ."""
    theta, Q = eigh_down(C)
    r = max(rank_of(theta, precision(np.float64)), 1)
    return np.maximum(theta[:r], 0.0), Q[:, :r]


def search_rows(
    Z: Rows,
    row_weight: np.ndarray | float,
    basis: tuple[np.ndarray, np.ndarray],
    lam: float,
    center: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """W (n × r') and T (r × r') for one λ, in one product. `center` is subtracted from the rows of Z."""
    T = _turned(basis, lam)
    return _weighted(Z, row_weight, T, center), T


def rotated_rows(Z: Rows, row_weight, basis, center=None):
    """D² Z Q (n × r), from which :func:`scaled_rows` makes W for every λ of a grid."""
    return _weighted(Z, row_weight, basis[1], center)


def scaled_rows(R, basis, lam: float) -> tuple:
    """W and T of :func:`search_rows` from the rows R of :func:`rotated_rows`."""
    T = _turned(basis, lam)
    kept = T.shape[1]
    return R[:, :kept] / np.sqrt(basis[0][:kept] + lam), T


def _turned(basis: tuple[np.ndarray, np.ndarray], lam: float) -> np.ndarray:
    """T = Q (Θ + λ)^(−½), without directions that only add rounding."""
    theta, Q = basis
    kept = max(int(np.sum(theta > 1e-14 * lam)), 1)  # θ descends, and below this it changes F by less than rounding
    return Q[:, :kept] / np.sqrt(theta[:kept] + lam)


def _weighted(Z: Rows, row_weight: np.ndarray | float, T: np.ndarray, center: np.ndarray | None) -> np.ndarray:
    """D² (Z − 1 centerᵀ) T."""
    weight = np.full(Z.shape[0], row_weight, dtype=np.float64)
    W = dot(Z, T, weight)
    if center is not None:
        W -= np.outer(weight, center @ T)
    return W


def coefficients(W: np.ndarray, T: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Weights (r₀, k') of z(x), with one column for two classes (positive for class 1), else one per class."""
    from .compiled import class_sums

    S = class_sums(W, labels, n_classes)
    signs = 2.0 * S - S.sum(axis=0)  # Wᵀ y_c with y_c = ±1 the membership of class c
    return T @ (signs[1:2] if n_classes == 2 else signs).T
