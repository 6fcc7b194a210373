"""The semi-supervised support vector machine as a smooth problem without constraints (Gieseke et al. 2012, 2014).

For every column t of targets

    (1/l) Σ_L log(1 + exp(γ (1 − t_i f_i))) / γ  +  (λ'/u) Σ_U exp(−3 f_j²)  +  λ ‖w‖²,    γ = 20,

with f = w · (z − mean of z over the unlabeled rows) + b. The mean of f over the unlabeled rows is then b for every w,
so that the constraint on the class frequencies is satisfied by construction. The hinge is smoothed, and the hat loss of
the unlabeled rows is a bell. λ' rises in steps from 0, and each step starts from the minimum of the one before. The
first problem is convex, and the others lead to a local minimum near its solution.

With ramp=True the unlabeled rows have the ramp loss R(f) + R(−f), R(f) = h(1 − f) − max(0, s − f), with h the smooth
hinge above and s = −0.3. It is minimized by the concave-convex procedure (Collobert et al. 2006). Each round replaces
the concave part by its tangent and solves a convex problem, until the tangents no longer change.
"""

from functools import partial

import numpy as np
from scipy.special import expit

from ...rows import take, tdot
from ..result import Result
from .columns import CenteredRows, descend

GAMMA, BELL = 20.0, 3.0  # as in the paper
CUT = -0.3  # s of the ramp


def transductive(Z, labeled, targets, offset, lam, lam_unlabeled, weight=None, tol=1e-6, max_iter=1000, ramp=False):
    """Minimize the objective above for k columns of targets.

    Parameters
    ----------
    Z : (n, r) features, on any device.
    labeled : (l,) numbers of the labeled rows.
    targets : (l, k) in [−1, 1]. Between −1 and 1 both losses count in part.
    lam, lam_unlabeled : λ and λ', numbers, or (k,) one per column. A grid of them costs little more than one.
    offset : (k,) b, the mean of f over the unlabeled rows (over all rows if none is unlabeled).
    weight : (n,) sample weights or None.
    tol, max_iter : largest relative gradient norm, and most iterations, in the last of the steps.
    ramp : whether the unlabeled rows have the ramp loss in place of the bell.

    Returns
    -------
    `Result` with value (W (r, k), constants (k,)). The gap is the largest ‖gradient‖ / ‖gradient of the losses‖, and
    info["objectives"] contains the objective of each column.
    """
    n = Z.shape[0]
    s = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    free = s.copy()
    free[labeled] = 0.0
    if free.sum() > 0:
        free /= free.sum()
        center = tdot(Z, free)
    else:
        center = tdot(Z, s / s.sum())
    own = s[labeled] / s[labeled].sum()
    offset = np.asarray(offset, dtype=np.float64)
    Z_l = take(Z, labeled)

    def of_labels(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        up, down = own[:, None] * (1 + targets) / 2, own[:, None] * (1 - targets) / 2
        value = np.logaddexp(0.0, GAMMA * (1 - F)) * up + np.logaddexp(0.0, GAMMA * (1 + F)) * down
        return value.sum(axis=0) / GAMMA, down * expit(GAMMA * (1 + F)) - up * expit(GAMMA * (1 - F))

    def of_all(strength: np.ndarray, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(over="ignore"):  # far from the boundary it is 0
            bell = free[:, None] * strength * np.exp(-BELL * F * F)
        value, of_label = of_labels(F[labeled])
        slope = -2 * BELL * F * bell
        slope[labeled] += of_label
        return value + bell.sum(axis=0), slope

    def of_tangents(slope, F) -> tuple:
        mass, up, down = free[:, None] * weights, GAMMA * (1 - F), GAMMA * (1 + F)
        both = (np.logaddexp(0.0, up) + np.logaddexp(0.0, down)) / GAMMA + slope * F - CUT * np.abs(slope)
        value, of_label = of_labels(F[labeled])
        A = mass * (expit(down) - expit(up) + slope)
        A[labeled] += of_label
        return value + (mass * both).sum(axis=0), A

    lam, weights = (np.broadcast_to(np.asarray(a, dtype=float), targets.shape[1]) for a in (lam, lam_unlabeled))
    alone = free.sum() == 0 or not weights.any()
    steps = () if alone or ramp else (1e-6, 1e-4, 1e-2, 0.1, 0.5, 1.0)  # of λ', after 0
    loose = 1e-2  # residual at which the next step begins
    few = tol if alone else loose
    W = np.zeros((targets.shape[1], Z.shape[1]))
    W, values, gaps, n_iter = descend(CenteredRows(Z_l, center, offset), of_labels, lam, W, few, max_iter)
    rows = CenteredRows(Z, center, offset)
    for step in steps:
        few = tol if step == 1 else loose
        W, values, gaps, used = descend(rows, partial(of_all, step * weights), lam, W, few, max_iter)
        n_iter += used
    slope, settled, rounds = np.zeros((n, 1)), alone or not ramp, 30
    for _ in range(0 if settled else rounds):
        F = rows.turn(W) + offset
        new = (F < CUT).astype(float) - (F > -CUT)  # of −max(0, s − f) and −max(0, s + f) together
        same, slope = np.array_equal(new, slope), new
        settled = same and few == tol
        if settled:
            break
        few = tol if same else few
        W, values, gaps, used = descend(rows, partial(of_tangents, slope), lam, W, few, max_iter)
        n_iter += used
    gap = float(gaps.max())
    converged = gap <= tol and settled
    reason = (
        f"The relative gradient {gap:.1e} is {'below' if gap <= tol else 'above'} tol={tol:.1e} after {n_iter} steps."
    )
    if not settled:
        reason += f" Rows still change sides after {rounds} rounds."
    if not converged:
        reason += " Raise max_iter or tol, or raise lam, since small penalties need many iterations."
    value = np.ascontiguousarray(W.T), offset - W @ center
    info = {"objectives": values}
    return Result(value, float(values.sum()), gap, max(n_iter, 1), converged, reason, info=info)
