"""C = I + c ZᵀZ and Θ in a basis V in which both are diagonal, VᵀCV = I and VᵀΘV = diag(μ). A root step costs O(r)."""

import numpy as np
from scipy.linalg import lapack

from ...types import Rows


class Pencil:
    """The pencil of one label weight.

    Parameters
    ----------
    theta : (r,) descending.
    Z : (l, r) labeled rows, times the roots of their costs.
    weight : c.

    Attributes
    ----------
    mu : (r,) descending.
    Y : (l, r) the rows in the basis V.

    The cost is O(r³).
    """

    def __init__(self, theta: np.ndarray, Z: Rows, weight: float) -> None:
        self.weight = weight
        C = weight * (Z.T @ Z)
        C.flat[:: len(C) + 1] += 1.0
        # LAPACK is called directly, because for eighty directions SciPy's checks take as long as the work.
        inverse = lapack.dtrtri(lapack.dpotrf(C, lower=1)[0], lower=1)[0]
        half = inverse * np.sqrt(theta)
        mu, turn, _ = lapack.dsyevd(half @ half.T, lower=1)
        self.mu = np.ascontiguousarray(np.clip(mu[::-1], 0.0, None))
        self.V = inverse.T @ turn[:, ::-1]
        self.Y = Z @ self.V

    def fits(self, targets: np.ndarray, spread: float, tol: float = 1e-12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(W (r, k), multipliers (k,), which of them meet the constraint (k,)) for targets (l, k)."""
        from .compiled import fits

        zeta, reached, W = fits(self.mu, self.weight * np.ascontiguousarray(targets.T @ self.Y), spread, tol)
        return self.V @ W.T, zeta, reached

    def without_each(self, target, spread, rows, tol=1e-8):
        """(len(rows),) the value at each of the rows by the fit to `target` (l,) without it."""
        from .compiled import without_each

        target = np.ascontiguousarray(target)
        return without_each(self.mu, self.Y, target, target @ self.Y, self.weight, spread, rows, tol)
