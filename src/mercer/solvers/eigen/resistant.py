"""Robust kernel components, by weighted kernel PCA whose weights reduce the influence of outliers in feature space.

Both methods start from the spatial median m in feature space, which minimizes Σ ‖φ_i − m‖ (Weiszfeld's iteration).

``spherical`` returns the principal components of the signs (φ_i − m) / ‖φ_i − m‖. Every row has the same length, so
that no row has leverage. If the distribution of φ is skew, as for polynomial kernels, they differ from those of kernel
PCA also without outliers.

``reconstruction`` minimizes Σ ρ(r_i) over subspaces and centers, with r_i the distance of φ_i from the subspace. ρ is
r²/2 for the bulk of the rows and constant for the rest. Rows far from the subspace therefore have no influence, and
rows far along it keep theirs. ρ depends on the residuals. Their logarithms have a median and a deviation (MAD), and the
weight ρ'(r)/r falls from 1 to 0 between two and three deviations above the median. Reweighted least squares never
raises the objective. It starts from three subspaces. The first has the least Σ ‖residual of a sign‖, since signs have
no leverage and the distances are not squared. The second is that of the signs, and the third that of the half of the
rows nearest to m. The one that comes nearest to three quarters of the rows is kept. At last, if there is an empty band
in the residuals beyond two deviations, the rows before it are the tail of the bulk. They get their full weight back,
unless the subspace then moves away from the others.

References
----------
Locantore et al. (1999), Robust principal component analysis for functional data.
Debruyne, Verdonck (2010), Robust kernel principal component analysis and classification.
Lerman, Maunu (2018), Fast, robust and non-convex subspace recovery.
"""

import numpy as np

from ...geometry.operators import CenteredOperator
from ...linalg import sign_rows
from ...types import Rows
from ..dual.minimize import Components
from ..result import Result
from .top import top

LOW, HIGH = 2.0, 3.0  # deviations of the logarithm of a residual between which its weight falls to 0
SMALL = 1e-6  # smallest length that is used, as a fraction of the largest


def spatial_median(K: Rows, tol: float = 1e-9) -> tuple:
    """((n,) weights of the rows in the spatial median, (n,) distances from it, iterations) for an operator K."""
    n, own = K.shape[0], K.diag()
    part, least = np.full(n, 1.0 / n), SMALL**2 * float(np.max(np.abs(own), initial=0.0))
    change, steps = np.inf, 0
    while change > tol and steps < 500:
        product = (K @ part[:, None])[:, 0]
        distance = np.sqrt(np.maximum(own - 2 * product + float(part @ product), least))
        new = 1.0 / distance
        new /= new.sum()
        change, part, steps = float(np.abs(new - part).sum()), new, steps + 1
    return part, distance, steps


class _Fit:
    """Components of the rows with these weights, with their scores and distances.

    `share` contains the weights of the rows in the center, or None for the origin.
    """

    def __init__(
        self,
        K: Rows,
        n_components: int,
        weight: np.ndarray,
        share: np.ndarray | None,
        seed: int,
        tol: float,
        start: np.ndarray | None = None,
    ) -> None:
        n, center = K.shape[0], share is not None
        operator = CenteredOperator(K, weight, center, share)
        found = top(operator, n_components, "krylov", tol, seed=seed, start=start)
        values, self.vectors = found.value
        self.values, self.residual, self.weight, self.share = values, found.gap, weight, share
        live = values > n * np.finfo(float).eps * values[0]
        self.rank = int(np.sum(live))
        A = np.sqrt(weight)[:, None] * self.vectors[:, live] / np.sqrt(values[live])
        self.coef = A if share is None else A - share[:, None] * A.sum(axis=0)
        product = K @ (self.coef if share is None else np.column_stack([self.coef, share]))
        self.scores, own = product[:, : self.rank], K.diag()
        if share is not None:
            self.scores = self.scores - share @ self.scores
            own = own - 2 * product[:, -1] + float(share @ product[:, -1])
        self.distance = np.sqrt(np.maximum(own - np.sum(self.scores**2, axis=1), SMALL**2 * np.max(np.abs(own))))


def spherical(K: Rows, n_components: int, center: bool = True, seed: int = 0, tol: float = 1e-9) -> Result:
    """`Result` with `Components` of the signs. Info has "rank", "weight" (n,) and "median_steps".

    K : operator of the kernel matrix, not centered. The gap is the largest eigen-residual.
    """
    share, length, steps = _middle(K, center)
    fit = _Fit(K, n_components, 1.0 / length**2, share, seed, tol)
    reason = f"The eigenvectors of the signs about the spatial median have a residual of {fit.residual:.1e}."
    return _result(fit, -0.5 * float(fit.values.sum()), fit.residual, steps, fit.residual <= max(tol, 1e-8), reason, [])


def reconstruction(
    K: Rows, n_components: int, center: bool = True, seed: int = 0, tol: float = 1e-6, max_iter: int = 100
) -> Result:
    """`Result` with `Components` of the rows near their subspace, and info as above.

    K : operator of the kernel matrix, not centered. The gap is the change of the weights in the last iteration,
    relative to their sum. The history is the objective since the scale was fixed for the last time. It never rises.
    """
    share, length, _ = _middle(K, center)

    def fitted(
        weight: np.ndarray, start: np.ndarray | None = None, exact: float = 1e-4, middle: np.ndarray | None = None
    ) -> _Fit:
        middle = (weight / weight.sum() if middle is None else middle) if center else None
        return _Fit(K, n_components, weight, middle, seed, exact, start)

    def settled(fit: _Fit, bounds: tuple, tol: float) -> tuple:
        """(fit, gap, steps, objectives) of the reweighting between fixed bounds."""
        history, change, step = [], np.inf, 0
        while step < max_iter and (change > tol or step < 2):
            history.append(_objective(fit.distance, *bounds))
            new = _weight(fit.distance, *bounds)
            change = float(np.abs(new - fit.weight).sum() / new.sum())
            fit, step = fitted(new, fit.vectors, 1e-9), step + 1
        return fit, change, step, history

    signs = fit = fitted(1.0 / length**2, middle=share)
    for _ in range(10):
        off = np.maximum(fit.distance / length, SMALL)
        fit = fitted(1.0 / (length**2 * off), fit.vectors, middle=share)
    ends = []
    for start in (fit, signs, fitted((length <= np.median(length)).astype(float))):
        fit = start
        for _ in range(10):  # the scale follows the residuals
            bounds = _bounds(fit.distance)
            fit = fitted(_weight(fit.distance, *bounds), fit.vectors)
        ends.append((settled(fit, bounds, 1e-3)[0], bounds))
    fit, bounds = min(ends, key=lambda end: _closeness(end[0]))
    fit, gap, steps, history = settled(fit, bounds, tol)
    tail = _empty_band(fit.distance)
    if tail is not None:
        other = settled(fit, tail, tol)
        # 1.2: factor by which the nearest rows may move away when the tail gets its weight back. Otherwise the tail
        # contains outliers.
        if _closeness(other[0]) <= 1.2 * _closeness(fit):
            bounds, (fit, gap, more, history) = tail, other
            steps += more
    converged = gap <= tol
    reason = f"The weights change by {gap:.1e}, {'below' if converged else 'above'} tol={tol:.1e}, after {steps} steps."
    if not converged:
        reason += " Raise max_iter or tol."
    return _result(fit, _objective(fit.distance, *bounds), gap, steps, converged, reason, history)


def _middle(K: Rows, center: bool) -> tuple:
    """(weights of the spatial median or None, distances from it or from the origin, iterations)."""
    if center:
        return spatial_median(K)
    own = K.diag()
    return None, np.sqrt(np.maximum(own, SMALL**2 * np.max(np.abs(own)))), 1


def _closeness(fit: _Fit) -> float:
    """Σ r² over the nearest three quarters of the rows."""
    return float(np.sum(np.sort(fit.distance**2)[: max(int(0.75 * len(fit.distance)), 1)]))


def _scale(distance: np.ndarray) -> tuple:
    """Logarithms of the residuals, their median and their deviation."""
    z = np.log(distance)
    middle = np.median(z)
    return z, middle, max(1.4826 * float(np.median(np.abs(z - middle))), 1e-3)


def _bounds(distance: np.ndarray) -> tuple:
    """Residuals between which the weight falls from 1 to 0."""
    _, middle, spread = _scale(distance)
    return np.exp(middle + LOW * spread), np.exp(middle + HIGH * spread)


def _empty_band(distance: np.ndarray) -> tuple | None:
    """The same at the beginning of the first empty band among residuals beyond LOW. None if there is none.

    A band is empty if 1.3 deviations contain no residual. The weight falls within half a deviation.
    """
    z, middle, spread = _scale(distance)
    far = np.sort(z[z > middle + LOW * spread])
    begins = far[:-1][np.diff(far) >= 1.3 * spread]
    return (np.exp(begins[0]), np.exp(begins[0] + 0.5 * spread)) if len(begins) else None


def _weight(distance: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.clip((high**2 - distance**2) / (high**2 - low**2), 0.0, 1.0)


def _objective(distance: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Σ ρ(r) with ρ'(r) / r the weight."""
    q = np.clip(distance, None, high) ** 2
    fall = np.maximum(q - low**2, 0.0)
    return float(np.sum(np.minimum(q, low**2) + fall - 0.5 * fall**2 / (high**2 - low**2))) / 2


def _result(
    fit: _Fit, objective: float, gap: float, n_iter: int, converged: bool, reason: str, history: list
) -> Result:
    turn = sign_rows(fit.scores)
    scores, coef = fit.scores * turn, fit.coef * turn
    pull = fit.weight[:, None] * scores
    found = Components(coef, scores, scores, fit.values[: fit.rank], np.zeros(fit.rank), pull)
    info = {"rank": fit.rank, "weight": fit.weight, "share": fit.share}
    return Result(found, objective, gap, max(n_iter, 1), converged, reason, history, info)
