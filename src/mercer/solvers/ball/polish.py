"""The last digits of SVDD: Newton steps on the few in-bound variables, where pairwise steps converge slowly."""

import numpy as np
import scipy.linalg as sla

STEPS = 50


def polish(access, beta, gradient, low, high, most=200):
    """Improve β and its gradient in place by an active-set method; the objective never falls.

    Each step maximises over the in-bound variables with Σ β fixed, up to the first bound that is reached; then the
    worst variable at a bound on either side enters. Nothing happens where more than `most` are in-bound.
    """
    entering = np.zeros(len(beta), dtype=bool)
    for _ in range(STEPS):
        free = np.flatnonzero(((beta > low) & (beta < high)) | entering)
        k = len(free)
        if not 2 <= k <= most:
            return
        A = np.ones((k + 1, k + 1))
        A[:k, :k], A[k, k] = 2 * access.block(free), 0.0
        step = sla.lstsq(A, np.append(gradient[free], 0.0), cond=1e-14, check_finite=False)[0][:k]
        bound = np.where(step > 0, high[free], low[free])
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step != 0, (bound - beta[free]) / step, np.inf)
        share = min(1.0, float(room.min()))
        new = np.clip(beta[free] + share * step, low[free], high[free])
        if share < 1:
            new[room <= share] = bound[room <= share]
        change = new - beta[free]
        beta[free] = new
        access.subtract(gradient, free, 2 * change)
        entering[:] = False
        if share < 1:
            continue
        rho, slack = float(gradient[free].mean()), 1e-12 * float(np.abs(gradient).max())
        grow = np.where((beta < high) & (gradient > rho + slack), gradient, -np.inf)
        shrink = np.where((beta > low) & (gradient < rho - slack), gradient, np.inf)
        grow[free], shrink[free] = -np.inf, np.inf
        entering[np.argmax(grow)] = np.isfinite(grow.max())
        entering[np.argmin(shrink)] |= np.isfinite(shrink.min())
        if not entering.any():
            return
