"""The way back from kernel PCA's projections to the input space: a learnt ridge map, and Mika's fixed point."""

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from ..backend import require_memory
from ..errors import InputError
from ..rows import host


def ridge_map(kernel, scores, rows, penalty):
    """Coefficients C of kernel ridge regression from projections to rows: x ≈ k(f(x), scores) C.

    Parameters
    ----------
    kernel : of two projections; the one of the model.
    scores, rows : (n, s) projections and (n, d) training rows.
    penalty : (n,) added to the diagonal; smaller for a row that counts more.
    """
    n = len(scores)
    require_memory(8 * n * n, f"The inverse transform's kernel matrix of {n} rows", "Use fewer rows, or float32 data.")
    R = np.asarray(kernel(scores), dtype=np.float64)
    R[np.diag_indices(n)] += penalty
    try:
        return sla.cho_solve(sla.cho_factor(R, overwrite_a=True, check_finite=False), dense_rows(rows))
    except sla.LinAlgError as error:
        raise InputError(
            f"The inverse transform's system is singular with a penalty of {np.min(penalty):g}. Raise alpha."
        ) from error


def fixed_point(kernel, rows, weights, start, fallback, max_iter, tol):
    """z ← Σ_i g_i k(z, x_i) x_i / Σ_i g_i k(z, x_i) for an RBF kernel, until z moves less than tol bandwidths.

    Parameters
    ----------
    rows : (n, d) training rows x_i.
    weights : (m, n) coefficients g of the features whose pre-images are wanted, one row each.
    start : (m, d) first z. fallback : (d,) where a z goes that is so far from all rows that every k vanishes.
    """
    Z, active = np.array(start), np.arange(len(start))
    for _ in range(max_iter):
        pull = weights[active] * kernel(Z[active], rows)
        mass = pull.sum(axis=1, keepdims=True)
        lost = np.abs(mass[:, 0]) < 1e-12 * np.abs(weights[active]).sum(axis=1)
        new = np.where(lost[:, None], fallback, pull @ rows / np.where(lost[:, None], 1.0, mass))
        moved = np.linalg.norm(new - Z[active], axis=1)
        Z[active] = new
        active = active[(moved > tol * kernel.bandwidth) & ~lost]
        if len(active) == 0:
            break
    return Z


def dense_rows(X):
    """Rows on the host, dense, float64."""
    return np.asarray(X.toarray() if sp.issparse(X) else host(X), dtype=np.float64)
