"""L-BFGS for several functions of one tall matrix at once, with two passes over the rows per iteration.

Each row w of W has its own objective Σ_i loss_i(f_i) + lam ‖w‖² with f = Z w less its weighted mean plus a constant.
f moves in a straight line along a search direction, so that a step of any length needs n-vectors only. The two passes
are Z D for the direction D and Zᵀ A for the gradient. One pass is enough for all problems.
"""

from collections.abc import Callable

import numpy as np

from ...rows import dot, tdot
from ...types import Rows

EPS = float(np.finfo(float).eps)


class CenteredRows:
    """f = Z W − 1 (centerᵀ W) + offset, and its adjoint. The problems are the rows of W and the columns of f."""

    def __init__(self, Z: Rows, center, offset) -> None:
        self.Z, self.center, self.offset = Z, center, offset

    def turn(self, D):
        """(n, k) change of f when W changes by D, (k, r)."""
        return dot(self.Z, D.T) - D @ self.center

    def back(self, A: np.ndarray):
        """(k, r) gradient in W for the gradient A in f."""
        return np.ascontiguousarray((tdot(self.Z, A) - np.outer(self.center, A.sum(axis=0))).T)


def descend(rows, loss, lam, W, tol, max_iter, memory=15):
    """Minimize loss(f) + lam ‖w‖² for every row w of W, with its own lam, starting from W.

    Parameters
    ----------
    rows : `CenteredRows`.
    lam : (k,).
    loss : function of (n, k) f that gives ((k,) values, (n, k) derivatives).
    tol : of ‖gradient‖ / ‖gradient of the loss‖, which is 0 at a stationary point.
    memory : changes of the gradient that are remembered.

    Returns
    -------
    (W, (k,) objectives, (k,) relative gradient norms, iterations)
    """
    F = rows.turn(W) + rows.offset
    value, A = loss(F)
    pull = rows.back(A)
    G = pull + 2 * lam[:, None] * W
    pairs: list[tuple] = []
    scale = 1 / (2 * lam)
    n_iter = 0
    while n_iter < max_iter:
        active = _relative(G, pull) > tol
        if not active.any():
            break
        D = -_two_loop(G, pairs, scale) * active[:, None]
        stray = active & (_inner(D, G) >= 0)  # because of rounding, so that the gradient is used instead
        D[stray] = -G[stray] / (2 * lam[stray, None])
        change = rows.turn(D)
        t, F, value, A = _search(loss, lam, W, F, value, A, D, change, active)
        if not t.any():
            break  # rounding
        step = t[:, None] * D
        W = W + step
        pull = rows.back(A)
        new = pull + 2 * lam[:, None] * W
        turned, G = new - G, new
        along, size = _inner(step, turned), _inner(turned, turned)
        good = along > np.maximum(EPS * np.sqrt(size * _inner(step, step)), np.finfo(float).tiny)
        scale = np.divide(along, size, out=scale.copy(), where=good)
        pairs = [*pairs, (step, turned, np.divide(1.0, along, out=np.zeros_like(along), where=good))][-memory:]
        n_iter += 1
    return W, value + lam * _inner(W, W), _relative(G, pull), n_iter


def _inner(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", a, b)


def _relative(G: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """(k,) ‖gradient‖ relative to that of the loss alone."""
    size = np.sqrt(_inner(pull, pull))
    return np.divide(np.sqrt(_inner(G, G)), size, out=np.zeros_like(size), where=size > 0)


def _two_loop(G: np.ndarray, pairs: list, scale: np.ndarray) -> np.ndarray:
    """(k, r) inverse Hessian times gradient, each row with its own curvature."""
    Q, weights = G.copy(), []
    for step, turned, rho in reversed(pairs):
        weights.append(rho * _inner(step, Q))
        Q -= weights[-1][:, None] * turned
    Q *= scale[:, None]
    for (step, turned, rho), weight in zip(pairs, reversed(weights)):
        Q += (weight - rho * _inner(turned, Q))[:, None] * step
    return Q


def _search(
    loss: Callable,
    lam: np.ndarray,
    W: np.ndarray,
    F: np.ndarray,
    value: np.ndarray,
    A: np.ndarray,
    D: np.ndarray,
    change: np.ndarray,
    active: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """((k,) steps that satisfy Wolfe's conditions, then f, losses and derivatives there). 0 if no step is better.

    A step must have 1e-4 of the decrease along the tangent, and at most 0.9 of the slope may be left.
    """
    flat, length = 2 * lam * _inner(W, D), 2 * lam * _inner(D, D)
    slope = np.einsum("ij,ij->j", A, change) + flat
    low, high = np.zeros(len(slope)), np.full(len(slope), np.inf)
    t, best = active.astype(float), np.zeros(len(slope))
    going = active.copy()
    for _ in range(30):  # step lengths
        trial, derivative = loss(F + t * change)
        rise = trial - value + t * flat + 0.5 * t**2 * length
        left = np.einsum("ij,ij->j", derivative, change) + flat + t * length
        # near the minimum the values only differ by rounding, and the slope decides
        lower = (rise <= 1e-4 * t * slope) | ((rise <= 4 * EPS * np.abs(value)) & (left <= 0.8 * np.abs(slope)))
        done = lower & (left >= 0.9 * slope)
        best = np.where(going & lower, t, best)
        going &= ~done
        if not going.any():
            break
        high = np.where(going & ~lower, t, high)
        low = np.where(going & lower, t, low)
        t = np.where(going, np.where(np.isfinite(high), 0.5 * (low + high), 4 * t), t)
    if not np.array_equal(t, best):
        trial, derivative = loss(F + best * change)
    return best, F + best * change, trial, derivative
