"""Logistic loss on a quadratic sphere, by reweighting: min ‖w‖² + c Σ log(1 + exp(−tᵢ zᵢ·w)) subject to wᵀPw = s².

Each step replaces the loss at g = Zw by a quadratic with curvature ρᵢ and solves that constrained least-squares problem
globally. ρ = p(1 − p) is Newton's; ρ = 1/4 bounds the loss from above, so that its minimum can never be worse than g.
A step tries Newton's curvature first and moves towards the bound until the true objective falls: descent is certain.
"""

import numpy as np
from scipy.special import expit

from ..result import Result
from .secular import constrained_least_squares

SAFETY = (0.0, 0.1, 0.5, 1.0)  # share of the bound 1/4 in the curvature; the last always descends


def constrained_logistic(theta, Z, t, weight, spread, costs=None, start=None, tol=1e-8, max_iter=50):
    """Find a stationary point of the logistic problem, never going up.

    Parameters
    ----------
    theta, Z : as in :func:`mercer.solvers.sphere.secular.constrained_least_squares`.
    t : (l,) labels, −1 or +1.
    weight, spread : c and s².
    costs : (l,) non-negative factors of the single losses; None means ones.
    start : (r,) first w; None starts from the least-squares solution.

    Returns a `Result`: value w; gap the relative KKT residual ‖∇ − 2ζPw‖ / (‖w‖ + ‖∇loss‖) with the best ζ; history the
    objectives; info holds `zeta`, `curvature` and `response` (the last least-squares problem, of weight c/2, for
    left-out labels) and `constraint` (the residual |wᵀPw − s²| / s²).

    Cost: one constrained least-squares solve an outer step, rarely more than 20 steps.
    """
    theta, Z, t = np.asarray(theta, float), np.asarray(Z, float), np.asarray(t, float)
    costs = np.ones(len(t)) if costs is None else np.asarray(costs, float)
    if start is None:
        start = constrained_least_squares(theta, Z, t, weight / 4, spread, costs=costs).value
    w, g = start, Z @ start
    value = _objective(w, t * g, weight * costs)
    history = [value]
    gap, zeta = _kkt(theta, Z, t, weight * costs, w, g)
    n_iter, stalled = 0, False
    while gap > tol and n_iter < max_iter and not stalled:
        n_iter += 1
        stalled = True
        for safety in SAFETY:
            curvature, response = _working(t, g, safety)
            new = constrained_least_squares(theta, Z, response, weight / 2, spread, costs=costs * curvature).value
            new_g = Z @ new
            new_value = _objective(new, t * new_g, weight * costs)
            if new_value < value:
                stalled = False
                break
        if not stalled:
            w, g, value = new, new_g, new_value
            history.append(value)
            gap, zeta = _kkt(theta, Z, t, weight * costs, w, g)
    curvature, response = _working(t, g, 0.0)
    # Without any further descent the objective is flat to rounding: a gap of its square root is what can be reached.
    converged = gap <= tol or (stalled and gap <= 1e-5)
    reason = "The reweighting reached a stationary point."
    if not converged:
        reason = f"The reweighting stopped after {n_iter} steps with a KKT residual of {gap:.1e}. "
        reason += "Raise max_iter, or bring label_weight and variance nearer to 1."
    info = {"zeta": zeta, "curvature": costs * curvature, "response": response}
    info["constraint"] = abs(float(theta @ w**2) - spread) / spread
    return Result(w, value, gap, max(n_iter, 1), converged, reason, history, info)


def _objective(w, margin, weight):
    return float(w @ w + np.sum(weight * np.logaddexp(0.0, -margin)))


def _working(t, g, safety):
    """Curvature and response of the quadratic model at g: it touches the loss there, with the loss's slope."""
    p = expit(t * g)
    curvature = np.maximum((1.0 - safety) * p * (1.0 - p) + safety / 4, 1e-12)
    return curvature, g + t * (1.0 - p) / curvature


def _kkt(theta, Z, t, weight, w, g):
    """(relative residual of w − weight/2 Zᵀ(t(1 − p)) = ζΘw, ζ): ζ is the multiplier that fits best."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # weights near the largest number
        pull = (weight / 2 * t * expit(-t * g)) @ Z
        normal = theta * w
        zeta = float(normal @ (w - pull) / (normal @ normal))
        gap = float(np.linalg.norm(w - pull - zeta * normal) / (np.linalg.norm(w) + np.linalg.norm(pull)))
    return (gap, zeta) if np.isfinite(gap) else (np.inf, 0.0)
