"""Ridge regression in the dual, (K + penalty·S⁻¹) α = t − b, for kernels whose matrix has no small factor.

A Cholesky factor in float32 takes half of the time and half of the memory of one in float64. With it as a
preconditioner conjugate gradients in float64 need two to twenty steps. The solution has the precision of float64, and
its residual is a true one.
"""

import numpy as np
import scipy.linalg as sla

from ...geometry.operators import DenseOperator
from ...linalg import safe_cholesky
from ..result import Result

DIRECT = 300  # rows up to which one factor in float64 is as fast
BYTES = 12  # per pair of rows, for K in float64 and its factor in float32


def dual_ridge(
    K: np.ndarray, T: np.ndarray, penalty: float, weight: np.ndarray | None = None, bias: bool = False
) -> Result:
    """Minimize penalty·‖w‖² + Σ_i s_i (t_i − w·φ(x_i) − b)² with w = Σ α_i φ(x_i), for every column of T.

    Parameters
    ----------
    K : (l, l) kernel matrix on the host, not changed.
    T : (l, k) targets.
    weight : (l,) positive weights s, None for ones.

    Returns a `Result` with ``value`` (α (l, k), b (k,)). The ``gap`` is the largest relative residual of the equations.
    The cost is l³/3 flops in float32, and 4 l² bytes in addition to K.
    """
    K = np.asarray(K, dtype=np.float64)  # float32 would lose the residual in sums of large terms of both signs
    shift = penalty / np.ones(len(K)) if weight is None else penalty / weight
    right = np.column_stack([T, np.ones(len(K))]) if bias else np.asarray(T, dtype=np.float64)
    solution, steps = _solved(K, shift, right)
    b = np.zeros(T.shape[1])
    if bias:
        solution, ones = solution[:, :-1], solution[:, -1:]
        b = solution.sum(axis=0) / ones.sum()
        solution = solution - ones * b
    residual = DenseOperator(K) @ solution + shift[:, None] * solution - (T - b)
    gap = float(np.max(np.linalg.norm(residual, axis=0) / np.maximum(np.linalg.norm(T, axis=0), 1e-300), initial=0.0))
    enough = gap <= 1e-6
    reason = f"Solved in {steps} steps." if enough else (
        f"The dual equations are solved only to a relative residual of {gap:.1e}. The regularization is too weak for "
        "the conditioning of the kernel matrix. Use a smaller gamma."
    )  # fmt: skip
    return Result((solution, b), gap=gap, n_iter=steps, converged=enough, reason=reason)


def dual_left_out(
    K: np.ndarray,
    T: np.ndarray,
    alpha: np.ndarray,
    penalty: float,
    weight: np.ndarray | None = None,
    bias: bool = False,
    rows: np.ndarray | None = None,
) -> np.ndarray:
    """(len(rows), k) predictions t_i − α_i / C_ii for each row by the fit without it.

    C is the inverse, about its mean if there is a b. rows=None means all rows. K is overwritten. The cost is a factor
    in float64 and l² per row.
    """
    rows = np.arange(len(K)) if rows is None else rows
    A = np.asarray(K, dtype=np.float64)
    A[np.diag_indices_from(A)] += penalty if weight is None else penalty / weight
    L, _ = safe_cholesky(A)
    columns = np.zeros((len(A), len(rows)))
    columns[rows, np.arange(len(rows))] = 1.0
    half = sla.solve_triangular(L, columns, lower=True, check_finite=False, overwrite_b=True)
    diagonal = np.einsum("ij,ij->j", half, half)
    if bias:
        ones = sla.cho_solve((L, True), np.ones(len(A)), check_finite=False)
        diagonal = diagonal - ones[rows] ** 2 / ones.sum()
    # C_ii is 0 up to rounding if no other row determines the prediction of row i.
    return T[rows] - alpha[rows] / np.maximum(diagonal, np.finfo(float).eps * diagonal.max())[:, None]


def _solved(K: np.ndarray, shift: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, int]:
    """((K + diag(shift))⁻¹ right, steps)."""
    if len(K) > DIRECT:
        found, steps = _conjugate_gradients(K, shift, right, _single(K, shift))
        if found is not None:
            return found, steps
    A = K.copy()
    A[np.diag_indices_from(A)] += shift
    L, _ = safe_cholesky(A)
    return sla.cho_solve((L, True), right, check_finite=False), 1


def _single(K, shift):
    """Factor of K + diag(shift) in float32, with a larger shift if rounding makes it indefinite. None if that fails."""
    for more in (0.0, 1e-6, 1e-4, 1e-2):
        A = K.astype(np.float32)
        A[np.diag_indices_from(A)] += (shift + more * float(np.mean(np.diagonal(K)))).astype(np.float32)
        try:  # symmetric, so its transpose, in LAPACK's order, is factored in place
            return sla.cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)[0]
        except sla.LinAlgError:
            continue
    return None


def _conjugate_gradients(K, shift, right, L, most=100):
    """(solution, steps), every column to a relative residual of 1e-10. None for the solution after `most` steps."""
    if L is None:
        return None, 0
    operator, scale = DenseOperator(K), np.linalg.norm(right, axis=0)
    tol = 1e-10 * scale

    def preconditioned(R: np.ndarray) -> np.ndarray:
        size = np.linalg.norm(R, axis=0)
        size[size == 0] = 1.0  # columns are scaled for float32, which has no small numbers, and scaled back
        return sla.cho_solve((L, True), (R / size).astype(np.float32), check_finite=False) * size

    X, R = np.zeros_like(right), right.copy()
    P = Z = preconditioned(R)
    product = np.sum(R * Z, axis=0)
    for step in range(1, most + 1):
        AP = operator @ P + shift[:, None] * P
        curvature = np.sum(P * AP, axis=0)
        length = product / np.where(curvature > 0, curvature, np.inf)
        X += length * P
        R -= length * AP
        if np.all(np.linalg.norm(R, axis=0) <= tol):
            return X, step
        Z = preconditioned(R)
        new = np.sum(R * Z, axis=0)
        P = Z + new / np.where(product > 0, product, np.inf) * P
        product = new
    return None, most
