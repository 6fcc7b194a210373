"""A loss of the margin on a quadratic sphere, min ‖w‖² + c Σ L(tᵢ zᵢ·w) subject to wᵀPw = s², by reweighting.

Each step replaces the loss at g = Zw by a quadratic with curvature ρᵢ and solves that constrained least-squares problem
globally. ρ = L'' is Newton's. Another ρ bounds the loss from above, so that its minimum can never be worse than g.
A step tries Newton's curvature first, with shorter steps along the sphere, and moves towards the bound until the true
objective falls. The bound itself always lowers it.
"""

from typing import Any

import numpy as np

from ...types import Rows
from ..result import Result
from .losses import LOSSES
from .secular import KEEP, constrained_least_squares


def constrained_margin_loss(
    theta, Z, t, weight, spread, costs=None, start=None, loss="logistic", tol=1e-8, max_iter=50
):
    """Find a stationary point of the problem, never going up.

    Parameters
    ----------
    theta, Z : as in :func:`mercer.solvers.sphere.secular.constrained_least_squares`.
    t : (l,) labels, −1 or +1.
    weight, spread : c and s².
    costs : (l,) non-negative factors of the single losses. None means ones.
    start : (r,) first w. None starts from the least-squares solution.
    loss : a name in `LOSSES`.

    Returns a `Result` with value w. The gap is the relative KKT residual ‖∇ − 2ζPw‖ / (‖w‖ + ‖∇loss‖) with the best ζ,
    and the history contains the objectives. Info contains `zeta`, `curvature` and `response` (the last least-squares
    problem, of weight c/2, for held-out labels) and `constraint` (the residual |wᵀPw − s²| / s²).

    The cost is one constrained least-squares solve per outer step, rarely more than 20 steps.
    """
    theta, Z, t = np.asarray(theta, float), np.asarray(Z, float), np.asarray(t, float)
    costs, loss = np.ones(len(t)) if costs is None else np.asarray(costs, float), LOSSES[loss]
    if start is None:
        start = constrained_least_squares(theta, Z, t, weight / 4, spread, costs=costs).value
    w, g = start, Z @ start
    value = _objective(loss, w, t * g, weight * costs)
    history = [value]
    gap, zeta = _kkt(loss, theta, Z, t, weight * costs, w, g)
    n_iter, stalled = 0, False
    while gap > tol and n_iter < max_iter and not stalled:
        n_iter += 1
        stalled = True
        newton, bound = loss.curvature(t * g), loss.bound(t * g)
        # Fraction of the bound in the curvature, or None for a local step. The last one always descends.
        for safety in (0.0, None, 0.1, 0.5, 1.0):
            if safety is None:
                goal = w + _local_step(theta, Z, weight / 2 * costs, t * loss.pull(t * g), newton, w, zeta)
            else:
                curvature, response = _working(loss, t, g, newton + safety * (bound - newton))
                goal = constrained_least_squares(theta, Z, response, weight / 2, spread, costs=costs * curvature).value
            for part in (1.0, 0.5, 0.25, 0.1, 0.03):  # of the way to the minimum of the model, along the sphere
                new = _towards(theta, w, goal, part, spread)
                new_g = Z @ new
                new_value = _objective(loss, new, t * new_g, weight * costs)
                if new_value < value:
                    break
            if new_value < value:
                stalled = False
                break
        if not stalled:
            w, g, value = new, new_g, new_value
            history.append(value)
            gap, zeta = _kkt(loss, theta, Z, t, weight * costs, w, g)
    curvature, response = _working(loss, t, g, loss.curvature(t * g))
    # Without any further descent the objective is flat to rounding, and the gap cannot be less than its square root.
    converged = gap <= tol or (stalled and gap <= 1e-5)
    reason = "The reweighting reached a stationary point."
    if not converged:
        reason = f"The reweighting stopped after {n_iter} steps with a KKT residual of {gap:.1e}. "
        reason += "Raise max_iter, or bring label_weight and variance nearer to 1."
    info = {"zeta": zeta, "curvature": costs * curvature, "response": response}
    info["constraint"] = abs(float(theta @ w**2) - spread) / spread
    return Result(w, value, gap, max(n_iter, 1), converged, reason, history, info)


def _objective(loss: Any, w: np.ndarray, margin: np.ndarray, weight: np.ndarray) -> float:
    return float(w @ w + np.sum(weight * loss.value(margin)))


def _working(loss: Any, t: np.ndarray, g: np.ndarray, curvature: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Curvature and response of the quadratic model with the value and the slope of the loss at g."""
    curvature = np.maximum(curvature, 1e-12)
    return curvature, g + t * loss.pull(t * g) / curvature


def _local_step(
    theta: np.ndarray, Z: Rows, weight: np.ndarray, pull: np.ndarray, curvature: np.ndarray, w: np.ndarray, zeta: float
) -> np.ndarray:
    """Newton's step on the stationarity conditions in (w, ζ), towards a local minimum away from that of the model.

    (H − ζΘ) dw − dζ Θw = −residual and (Θw)·dw = 0, with H = I + Zᵀ diag(weight · curvature) Z. Directions with a small
    diagonal 1 − ζθ stay explicit, and the others are eliminated. What is left is a system of the labels and those few
    directions, which may be indefinite.
    """
    d, normal = 1.0 - zeta * theta, theta * w
    few = d < KEEP
    head, tail = Z[:, few], Z[:, ~few] / d[~few]
    inner = tail @ Z[:, ~few].T + np.diag(1.0 / np.maximum(weight * curvature, 1e-12))
    A = np.block([[np.diag(d[few]), head.T], [head, -inner]])
    sides = np.stack([(weight * pull) @ Z - w + zeta * normal, normal], axis=1)
    found = np.linalg.lstsq(A, np.concatenate([sides[few], -tail @ sides[~few]]), rcond=None)[0]
    step = np.empty(sides.shape)
    step[few] = found[: few.sum()]
    step[~few] = (sides[~few] - Z[:, ~few].T @ found[few.sum() :]) / d[~few][:, None]
    along, across = normal @ step
    return step[:, 0] - (along / across) * step[:, 1] if across else step[:, 0]


def _towards(theta: np.ndarray, w: np.ndarray, goal: np.ndarray, part: float, spread: float) -> np.ndarray:
    """The point of the sphere in the direction of (1 − part) w + part goal."""
    new = w + part * (goal - w)
    return new * np.sqrt(spread / float(theta @ new**2))


def _kkt(
    loss: Any, theta: np.ndarray, Z: Rows, t: np.ndarray, weight: np.ndarray, w: np.ndarray, g: np.ndarray
) -> tuple[float, float]:
    """(relative residual of w + weight/2 ZᵀtL' = ζΘw, ζ) for the multiplier ζ that fits best."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # weights near the largest number
        pull = (weight / 2 * t * loss.pull(t * g)) @ Z
        normal = theta * w
        zeta = float(normal @ (w - pull) / (normal @ normal))
        gap = float(np.linalg.norm(w - pull - zeta * normal) / (np.linalg.norm(w) + np.linalg.norm(pull)))
    return (gap, zeta) if np.isfinite(gap) else (np.inf, 0.0)
