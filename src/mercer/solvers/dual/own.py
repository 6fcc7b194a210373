"""A custom penalty Ψ in the dual of kernel PCA, f*(H) = ½‖H‖² + Ψ(H), given through its prox."""

from collections.abc import Callable

import numpy as np

from ...errors import InputError
from ...types import Rows


class OwnLoss:
    """A loss for `minimize`, from prox(Y) = argmin_H ½‖H − Y‖² + Ψ(H) and the values Ψ of the rows.

    f(P) = max_H ⟨H, P⟩ − ½‖H‖² − Ψ(H) is attained at H = prox(P), which is also its gradient. Nothing else is needed. Ψ
    is a sum over rows. With weights w the rows are scaled by √w, and row i counts w_i times.

    Parameters
    ----------
    prox : function of an (n, s) array for any s that returns one of the same shape, row by row.
    penalty : function of an (n, s) array that returns the (n,) values of Ψ at its rows.
    weight : (n,) or None.
    """

    norm, epsilon, square, location = "own", 0.0, False, False

    def __init__(self, prox: Callable, penalty: Callable, weight: np.ndarray | None = None) -> None:
        self.own_prox, self.penalty = prox, penalty
        self.root = 1.0 if weight is None else np.sqrt(np.asarray(weight, dtype=np.float64))[:, None]

    def prox(self, Y: Rows) -> np.ndarray:
        """√w · prox of the rows themselves."""
        found = np.asarray(self.own_prox(Y / self.root), dtype=np.float64)
        if found.shape != Y.shape or not np.isfinite(found).all():
            strange = "" if np.isfinite(found).all() else " with NaN or inf"
            raise InputError(
                f"prox returned an array of shape {found.shape}{strange} for one of shape {Y.shape}. It must return "
                "finite numbers in an array of the same shape."
            )
        return self.root * found

    def value(self, P: np.ndarray) -> float:
        """f(P)."""
        H = self.prox(P)
        return float(np.vdot(H, P)) - self.conjugate(H)

    def conjugate(self, H: np.ndarray) -> float:
        """½‖H‖² + Ψ(H)."""
        values = np.asarray(self.penalty(H / self.root), dtype=np.float64)
        if values.shape != (len(H),):
            raise InputError(
                f"penalty returned an array of shape {values.shape} for {len(H)} rows. It must return one number per "
                "row."
            )
        count = np.ravel(self.root) ** 2 if np.ndim(self.root) else 1.0
        return 0.5 * float(np.vdot(H, H)) + float(np.sum(count * values))

    def size(self, Y: np.ndarray) -> np.ndarray:
        """Lengths of the rows, as one column."""
        return np.linalg.norm(Y, axis=1)[:, None]

    def locate(self, P: np.ndarray) -> np.ndarray:
        """Zeros, since this loss has no location."""
        return np.zeros(P.shape[1])
