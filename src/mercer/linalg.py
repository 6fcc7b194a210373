"""Small dense linear algebra on the host: ordered eigenpairs, safe factors, deterministic signs."""

import numpy as np
import scipy.linalg as sla

from .errors import InputError


def precision(dtype):
    """Relative size below which a number of this dtype is rounding: float32 data give a float32 rank."""
    return float(np.finfo(np.float32 if np.dtype(dtype) == np.float32 else np.float64).eps)


def sign_rows(V):
    """±1 per column such that the entry of largest magnitude becomes positive (first one on ties)."""
    if V.shape[0] == 0:
        return np.ones(V.shape[1])
    peak = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return np.where(peak < 0, -1.0, 1.0)


def fix_signs(V):
    """Columns of V with deterministic signs."""
    return V * sign_rows(V)


def eigh_down(A):
    """Eigenvalues from largest to smallest and their vectors, for a symmetric host matrix."""
    values, vectors = sla.eigh(A, check_finite=False, driver="evd")
    return values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])


def rank_of(values, eps, n=None):
    """How many of the descending eigenvalues stand above rounding noise, eps · n · largest."""
    if len(values) == 0 or values[0] <= 0:
        return 0
    return int(np.sum(values > eps * (n or len(values)) * values[0]))


def negative_mass(values):
    """Share of the spectrum's absolute mass that is negative: 0 for a kernel, up to 1."""
    total = float(np.sum(np.abs(values)))
    return float(-np.sum(values[values < 0]) / total) if total > 0 else 0.0


def safe_cholesky(A):
    """(L, jitter) with L Lᵀ = A + jitter·I, jitter the smallest of 0, 1e-14, 1e-12, … times the mean diagonal."""
    scale = max(float(np.mean(np.diag(A))), np.finfo(float).tiny)
    for jitter in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        try:
            return sla.cholesky(A + jitter * scale * np.eye(len(A)), lower=True, check_finite=False), jitter * scale
        except sla.LinAlgError:
            continue
    raise InputError(
        "A matrix that should be positive definite is not, even after adding 1e-8 of its mean diagonal. "
        "Check the kernel: a precomputed or callable one must be symmetric and positive semi-definite."
    )
