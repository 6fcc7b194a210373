"""The rows W of the label search from features Z, and the classifier from the labels found.

With K = Z Zᵀ and row weights d² (D = diag(d)), K̄ = D K D = (DZ)(DZ)ᵀ has the eigenvectors V = DZ Q Θ^(−½), where
QΘQᵀ is the r × r matrix Zᵀ D² Z. So W = D V (Θ(Θ + λ)⁻¹)^½ = D² Z T with T = Q (Θ + λ)^(−½), and the minimiser of
Σ d²_i (y_i − z_i·w)² + λ‖w‖² is w = T Wᵀ y: nothing n × n is formed, and landmarks and exact kernels are the same.
"""

import numpy as np

from ..linalg import eigh_down, precision, rank_of
from ..rows import dot

_NEGLIGIBLE = 1e-14  # of λ: an eigenvalue below this changes F by less than rounding does


def search_basis(C):
    """Eigenpairs (θ, Q) of C = Zᵀ D² Z, descending, without those that are rounding; one serves every λ."""
    theta, Q = eigh_down(C)
    r = max(rank_of(theta, precision(np.float64)), 1)
    return np.maximum(theta[:r], 0.0), Q[:, :r]


def search_rows(Z, row_weight, basis, lam, centre=None):
    """W (n × r) and T (r₀ × r) for the weights d², a basis of :func:`search_basis` and λ; `centre` is taken off Z."""
    theta, Q = basis
    kept = theta > _NEGLIGIBLE * lam
    kept[0] = True
    T = Q[:, kept] / np.sqrt(theta[kept] + lam)
    W = dot(Z, T)
    if centre is not None:
        W -= centre @ T
    W *= np.reshape(row_weight, (-1, 1))
    return W, T


def coefficients(W, T, labels, n_classes):
    """Weights (r₀, k') of z(x): one column for two classes, positive for class 1; else one per class."""
    from ._label_kernels import class_sums

    S = class_sums(W, labels, n_classes)
    signs = 2.0 * S - S.sum(axis=0)  # Wᵀ y_c with y_c = ±1 the membership of class c
    return T @ (signs[1:2] if n_classes == 2 else signs).T
