"""The compiled inner loop of SVDD on pairs of variables of a small dense kernel matrix. Import lazily (needs numba)."""

import numpy as np

from ...compilation import FAST, compiled


@compiled(fastmath=FAST)
def pairwise_ascent(
    K: np.ndarray, gradient: np.ndarray, beta: np.ndarray, low: np.ndarray, high: np.ndarray, tol: float, max_iter: int
) -> tuple[int, float]:
    """Maximize Σ β_i K_ii − βᵀKβ over the box with Σβ fixed, two variables at a time and in place.

    `gradient` contains K_ii − 2 (Kβ)_i and is updated. The first variable is the one with the largest gradient among
    those that may grow. The second is the one whose exact line step gains most among those that may shrink
    (second-order working set selection of Fan, Chen and Lin, 2005). Returns (iterations, last violation).
    """
    m = len(beta)
    violation = 0.0
    for iteration in range(max_iter):
        first, top = -1, -np.inf
        for t in range(m):
            if beta[t] < high[t] and gradient[t] > top:
                first, top = t, gradient[t]
        if first < 0:
            return iteration, 0.0
        row, own = K[first], K[first, first]
        second, gain, bottom = -1, 0.0, np.inf
        for t in range(m):
            if beta[t] > low[t]:
                slope = top - gradient[t]
                bottom = min(bottom, gradient[t])
                if slope > 0.0:
                    curvature = max(own + K[t, t] - 2.0 * row[t], 1e-14 * (own + K[t, t]) + 1e-300)
                    if slope * slope > gain * curvature:
                        second, gain = t, slope * slope / curvature
        violation = top - bottom
        if second < 0 or violation <= tol:
            return iteration, max(violation, 0.0)
        curvature = max(own + K[second, second] - 2.0 * row[second], 1e-14 * (own + K[second, second]) + 1e-300)
        step = (top - gradient[second]) / (2.0 * curvature)
        room_up, room_down = high[first] - beta[first], beta[second] - low[second]
        step = min(step, room_up, room_down)
        # A step to a bound ends on it exactly, so that "at the bound" is a comparison without tolerance.
        beta[first] = high[first] if step == room_up else beta[first] + step
        beta[second] = low[second] if step == room_down else beta[second] - step
        other = K[second]
        for t in range(m):
            gradient[t] -= 2.0 * step * (row[t] - other[t])
    return max_iter, violation


@compiled()
def subtract_rows(out: np.ndarray, C: np.ndarray, rows: np.ndarray, factor: np.ndarray) -> None:
    """out −= Σ_t factor_t · C[rows_t], without a copy of the rows."""
    for t in range(len(rows)):
        row, scale = C[rows[t]], factor[t]
        for i in range(len(out)):
            out[i] -= scale * row[i]
