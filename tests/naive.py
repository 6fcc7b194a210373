"""Slow and obvious versions of what mercer computes, to compare with at n ≈ 30."""

import math

import numpy as np


def kernel(name, X, Y=None, width=1.0, degree=3, offset=1.0, scale=1.0):
    """k(x, y) by two loops over rows."""
    X = np.asarray(X, dtype=np.float64)
    Y = X if Y is None else np.asarray(Y, dtype=np.float64)
    return np.array([[_VALUE[name](x, y, width, degree, offset, scale) for y in Y] for x in X]).reshape(len(X), len(Y))


def _distance(x, y, width):
    return math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(x, y))) / width


def _dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


def _matern(d, root, quadratic):
    return (1 + root * d + quadratic * d * d) * math.exp(-root * d)


_VALUE = {
    "rbf": lambda x, y, w, p, c, s: math.exp(-(_distance(x, y, w) ** 2) / 2),
    "exponential": lambda x, y, w, p, c, s: math.exp(-_distance(x, y, w)),
    "laplacian": lambda x, y, w, p, c, s: math.exp(-math.fsum(abs(a - b) for a, b in zip(x, y)) / w),
    "matern32": lambda x, y, w, p, c, s: _matern(_distance(x, y, w), math.sqrt(3), 0.0),
    "matern52": lambda x, y, w, p, c, s: _matern(_distance(x, y, w), math.sqrt(5), 5 / 3),
    "linear": lambda x, y, w, p, c, s: _dot(x, y),
    "polynomial": lambda x, y, w, p, c, s: (s * _dot(x, y) + c) ** p,
    "sigmoid": lambda x, y, w, p, c, s: math.tanh(s * _dot(x, y) + c),
    "cosine": lambda x, y, w, p, c, s: (
        0.0 if _dot(x, x) * _dot(y, y) == 0 else _dot(x, y) / math.sqrt(_dot(x, x) * _dot(y, y))
    ),
}


def centered(K, weight=None):
    """D^½ (I − 1wᵀ) K (I − w1ᵀ) D^½ written out."""
    n = len(K)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    H = np.eye(n) - np.outer(np.ones(n), weight / weight.sum())
    return np.sqrt(np.outer(weight, weight)) * (H @ K @ H.T)


def eigh(A):
    """All eigenpairs, largest first."""
    values, vectors = np.linalg.eigh(A)
    return values[::-1], vectors[:, ::-1]


def kernel_pca(K, K_new, s, center=True):
    """Eigenvalues, projections of the training rows and of new rows, from the dense centered matrix."""
    n = len(K)
    ones = np.full((n, n), 1 / n) if center else np.zeros((n, n))
    wide = np.full((len(K_new), n), 1 / n) if center else np.zeros((len(K_new), n))
    Kc = K - ones @ K - K @ ones + ones @ K @ ones
    Kn = K_new - wide @ K - K_new @ ones + wide @ K @ ones
    values, vectors = eigh(Kc)
    values, vectors = values[:s], vectors[:, :s]
    return values, vectors * np.sqrt(values), Kn @ vectors / np.sqrt(values)


def reconstruction_error(K, K_new, diag_new, s):
    """‖φ(x) − mean − its projection‖² for new rows."""
    centered_diag = diag_new - 2 * K_new.mean(axis=1) + K.mean()
    return centered_diag - np.sum(kernel_pca(K, K_new, s)[2] ** 2, axis=1)


def nystrom(K_nl, K_ll):
    """K_nL K_LL⁺ K_Ln."""
    return K_nl @ np.linalg.pinv(K_ll, rcond=1e-13, hermitian=True) @ K_nl.T


def same_up_to_sign(A, B, atol):
    """Whether the columns agree up to their signs."""
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    signs = np.sign(np.sum(A * B, axis=0))
    return A.shape == B.shape and np.allclose(A, B * np.where(signs == 0, 1, signs), rtol=0, atol=atol)


def assert_close(actual, expected, rtol=None, atol=0.0):
    """NumPy's check, without its relative tolerance of 1e-7 next to a stated absolute one."""
    if rtol is None:
        rtol = 0.0 if atol else 1e-12
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)
