"""The last step of a round of SVDD, which solves exactly for the variables inside their bounds."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve, pinvh


def polish(K: np.ndarray, slope: np.ndarray, beta: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Solve slope_i = ρ for all i with low_i < β_i < high_i and the same Σβ, in place and never outside the box.

    `slope` contains d − 2Kβ and is updated. A variable that reaches a bound stays there, and the others are solved for
    again.
    """
    for _ in range(20):  # variables that may reach a bound
        free = np.flatnonzero((beta > low) & (beta < high))
        # For 512 variables the eigenvalues of the system take a tenth of a second, and a factorization a hundredth.
        if not 2 <= len(free) <= 512:
            return
        A = 2 * K[np.ix_(free, free)]
        scale = np.max(np.abs(A))
        if not (np.isfinite(scale) and scale > 0):
            return
        solve = _solver(A, scale)
        # Three solves with one inverse, each of which removes the rounding errors of the one before.
        if all(_step(K, slope, beta, low, high, free, solve) for _ in range(3)):
            return


def _solver(A: np.ndarray, scale: float) -> Callable:
    """A function of b that returns the x with A x = b − ρ 1 for some ρ and Σ x = 0.

    Narrow kernels have hundreds of in-bound variables and a well-conditioned A. A Cholesky factorization is then ten
    times faster than eigenvalues. These are used for matrices that are singular up to rounding, as equal rows make
    them. Such matrices have pivots below 1e-9 of the largest entry. Eigenvalues below 1e-12 of the largest count as 0.
    """
    try:
        factor = cho_factor(A, lower=True)
    except np.linalg.LinAlgError:
        factor = None
    if factor is not None and np.min(np.diag(factor[0])) ** 2 > 1e-9 * scale:
        level = cho_solve(factor, np.ones(len(A)))

        def solve(b: np.ndarray) -> np.ndarray:
            x = cho_solve(factor, b - np.mean(b))
            return x - level * (np.sum(x) / np.sum(level))

        return solve
    system = np.block([[A, np.full((len(A), 1), scale)], [np.full(len(A), scale), np.zeros(1)]])
    inverse = pinvh(system, rtol=1e-12)[:-1, :-1]
    return lambda b: inverse @ b


def _step(
    K: np.ndarray,
    slope: np.ndarray,
    beta: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    free: np.ndarray,
    solve: Callable,
) -> bool:
    """One solve. Returns False if a bound shortened the step."""
    change = solve(slope[free])
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
