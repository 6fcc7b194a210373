"""Kernel components that rows far away in feature space cannot turn: weighted kernel PCA whose weights resist them.

Both methods start from the spatial median m in feature space, which minimises Σ ‖φ_i − m‖ (Weiszfeld's iteration).

``spherical``: the principal components of the signs (φ_i − m) / ‖φ_i − m‖. Every row has the same length, so that no
row has leverage; where the distribution of φ is skew, as for polynomial kernels, they differ from those of kernel PCA
also without outliers.

``reconstruction``: minimise Σ ρ(r_i) over subspaces and centres, r_i the distance of φ_i from the subspace. ρ is r²/2
for the bulk of the rows and constant for the rest, so that rows far from the subspace have no pull at all, and rows far
along it keep theirs. ρ comes from the residuals themselves: their logarithms have a median and a deviation (MAD), and
the weight ρ'(r)/r falls from 1 to 0 between two and three deviations above. Reweighted least squares never raises the
objective. The start is the subspace with the least Σ ‖residual of a sign‖: signs have no leverage, and distances are
not squared.

References: Locantore et al. (1999), Robust principal component analysis for functional data; Debruyne, Verdonck (2010),
Robust kernel principal component analysis and classification; Lerman, Maunu (2018), Fast, robust and non-convex
subspace recovery.
"""

import numpy as np

from ...geometry.operators import CentredOperator
from ...linalg import sign_rows
from ..dual.minimise import Components
from ..result import Result
from .top import top

MEDIAN_STEPS = 500
SIGN_STEPS, SCALE_STEPS = 10, 10  # of the start, and with a scale that follows the residuals
LOW, HIGH = 2.0, 3.0  # deviations of the logarithm of a residual between which its weight falls to 0
SMALL = 1e-6  # share of a length below which it counts as this much


def spatial_median(K, tol=1e-9):
    """((n,) weights of the rows in the spatial median, (n,) distances from it, iterations) for an operator K."""
    n, own = K.shape[0], K.diag()
    share, least = np.full(n, 1.0 / n), SMALL**2 * float(np.max(np.abs(own), initial=0.0))
    change, steps = np.inf, 0
    while change > tol and steps < MEDIAN_STEPS:
        product = (K @ share[:, None])[:, 0]
        distance = np.sqrt(np.maximum(own - 2 * product + float(share @ product), least))
        new = 1.0 / distance
        new /= new.sum()
        change, share, steps = float(np.abs(new - share).sum()), new, steps + 1
    return share, distance, steps


class _Fit:
    """Components of the rows with these weights about the centre `share` (None: the origin), and what follows."""

    def __init__(self, K, n_components, weight, share, seed, tol, start=None):
        n, center = K.shape[0], share is not None
        operator = CentredOperator(K, weight, center, share)
        found = top(operator, n_components, "krylov", tol, seed=seed, start=start)
        values, self.vectors = found.value
        self.values, self.residual, self.weight, self.share = values, found.gap, weight, share
        live = values > n * np.finfo(float).eps * values[0]
        self.rank = int(np.sum(live))
        A = np.sqrt(weight)[:, None] * self.vectors[:, live] / np.sqrt(values[live])
        self.coef = A - share[:, None] * A.sum(axis=0) if center else A
        product = K @ (np.column_stack([self.coef, share]) if center else self.coef)
        self.scores, own = product[:, : self.rank], K.diag()
        if center:
            self.scores = self.scores - share @ self.scores
            own = own - 2 * product[:, -1] + float(share @ product[:, -1])
        self.distance = np.sqrt(np.maximum(own - np.sum(self.scores**2, axis=1), SMALL**2 * np.max(np.abs(own))))


def spherical(K, n_components, center=True, seed=0, tol=1e-9):
    """`Result` with `Components` of the signs; info has "rank", "weight" (n,) and "median_steps".

    K : operator of the kernel matrix, not centred. The gap is the largest eigen-residual.
    """
    share, length, steps = _middle(K, center)
    fit = _Fit(K, n_components, 1.0 / length**2, share, seed, tol)
    reason = f"Eigenvectors of the signs about the spatial median: residual {fit.residual:.1e}."
    return _result(fit, -0.5 * float(fit.values.sum()), fit.residual, steps, fit.residual <= max(tol, 1e-8), reason, [])


def reconstruction(K, n_components, center=True, seed=0, tol=1e-6, max_iter=100):
    """`Result` with `Components` of the rows near their subspace; info as above.

    K : operator of the kernel matrix, not centred. The gap is the change of the weights in the last iteration, relative
    to their sum, and history the objective from where the scale is fixed: it never rises.
    """
    share, length, _ = _middle(K, center)
    fit = _Fit(K, n_components, 1.0 / length**2, share, seed, 1e-4)
    for _ in range(SIGN_STEPS):
        off = np.maximum(fit.distance / length, SMALL)
        fit = _Fit(K, n_components, 1.0 / (length**2 * off), share, seed, 1e-4, fit.vectors)
    weight, history, gap, step = np.ones(K.shape[0]), [], np.inf, 0
    while step < SCALE_STEPS + max_iter and (gap > tol or step <= SCALE_STEPS):
        if step < SCALE_STEPS:
            low, high = _bounds(fit.distance)
        else:
            history.append(_objective(fit.distance, low, high))
        new = np.clip((high**2 - fit.distance**2) / (high**2 - low**2), 0.0, 1.0)
        gap, weight = float(np.abs(new - weight).sum() / new.sum()), new
        exact = 1e-9 if step >= SCALE_STEPS else 1e-4
        fit = _Fit(K, n_components, weight, weight / weight.sum() if center else None, seed, exact, fit.vectors)
        step += 1
    converged = gap <= tol
    reason = f"The weights change by {gap:.1e}, {'below' if converged else 'above'} tol={tol:.1e}, after {step} steps."
    if not converged:
        reason += " Raise max_iter or tol."
    return _result(fit, _objective(fit.distance, low, high), gap, step, converged, reason, history)


def _middle(K, center):
    """(weights of the spatial median or None, distances from it or from the origin, iterations)."""
    if center:
        return spatial_median(K)
    own = K.diag()
    return None, np.sqrt(np.maximum(own, SMALL**2 * np.max(np.abs(own)))), 1


def _bounds(distance):
    """Residuals between which the weight falls from 1 to 0."""
    z = np.log(distance)
    middle = np.median(z)
    spread = max(1.4826 * float(np.median(np.abs(z - middle))), 1e-3)
    return np.exp(middle + LOW * spread), np.exp(middle + HIGH * spread)


def _objective(distance, low, high):
    """Σ ρ(r) with ρ'(r) / r the weight."""
    q = np.clip(distance, None, high) ** 2
    fall = np.maximum(q - low**2, 0.0)
    return float(np.sum(np.minimum(q, low**2) + fall - 0.5 * fall**2 / (high**2 - low**2))) / 2


def _result(fit, objective, gap, n_iter, converged, reason, history):
    turn = sign_rows(fit.scores)
    scores, coef = fit.scores * turn, fit.coef * turn
    pull = fit.weight[:, None] * scores
    found = Components(coef, scores, scores, fit.values[: fit.rank], np.zeros(fit.rank), pull)
    info = {"rank": fit.rank, "weight": fit.weight, "share": fit.share}
    return Result(found, objective, gap, max(n_iter, 1), converged, reason, history, info)
