"""The last step of a round of SVDD: the variables inside their bounds, solved for exactly."""

import numpy as np
from scipy.linalg import pinvh

_MOST = 512  # in-bound variables: the eigenvalues of the system take less than a tenth of a second
_BOUNDS = 20  # variables that may come to a bound on the way
_REPEATS = 3  # solves with one inverse: each removes the rounding errors of the one before
_RANK = 1e-12  # eigenvalues below this share of the largest are 0: equal rows make the matrix singular


def polish(K, slope, beta, low, high):
    """Solve slope_i = ρ for all i with low_i < β_i < high_i and the same Σβ; in place, never outside the box.

    `slope` holds d − 2Kβ and is kept current. A variable that comes to a bound on the way stays there, and the others
    are solved for again.
    """
    for _ in range(_BOUNDS):
        free = np.flatnonzero((beta > low) & (beta < high))
        if not 2 <= len(free) <= _MOST:
            return
        A = 2 * K[np.ix_(free, free)]
        scale = np.max(np.abs(A))
        if not (np.isfinite(scale) and scale > 0):
            return
        system = np.block([[A, np.full((len(free), 1), scale)], [np.full(len(free), scale), np.zeros(1)]])
        inverse = pinvh(system, rtol=_RANK)[:-1, :-1]
        if all(_step(K, slope, beta, low, high, free, inverse) for _ in range(_REPEATS)):
            return


def _step(K, slope, beta, low, high, free, inverse):
    """One solve; False where a bound was in the way."""
    change = inverse @ slope[free]
    goal = np.where(change > 0, high[free], low[free])
    share = np.divide(goal - beta[free], change, out=np.full(len(free), np.inf), where=change != 0)
    tight = int(np.argmin(share))
    whole = share[tight] >= 1
    change *= min(share[tight], 1.0)
    beta[free] = np.clip(beta[free] + change, low[free], high[free])
    if not whole:
        beta[free[tight]] = goal[tight]
    slope -= 2 * K[:, free] @ change
    return whole
