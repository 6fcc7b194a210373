"""Losses on the scores of kernel PCA (square, Huber, ε-insensitive, or both) with their conjugates."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from ...errors import InputError

NORMS = ("row", "element")


@dataclass(frozen=True)
class Loss:
    """The loss f on the scores and its conjugate. Kappa = inf and epsilon = 0 give the square loss."""

    kappa: float = np.inf
    epsilon: float = 0.0
    norm: str = "row"
    location: bool = False

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise InputError(f"Unknown norm={self.norm!r}. Use 'row' (2-norm of a row) or 'element' (each entry).")
        if not self.kappa > 0:
            raise InputError(f"kappa={self.kappa!r} must be positive. It bounds the size of a row of H.")
        if not 0 <= self.epsilon < np.inf:
            raise InputError(f"epsilon={self.epsilon!r} must be zero or positive. Rows with a smaller score vanish.")

    @property
    def square(self) -> bool:
        return self.kappa == np.inf and self.epsilon == 0

    def size(self, Y: np.ndarray) -> np.ndarray:
        """The sizes that the norm measures: |entries|, or row lengths as one column."""
        return np.abs(Y) if self.norm == "element" else np.sqrt(np.einsum("ij,ij->i", Y, Y))[:, None]

    def value(self, P: np.ndarray) -> float:
        """f(P) = Σ of a parabola that starts at ε and becomes straight at ε + κ."""
        if self.square:
            return 0.5 * float(np.vdot(P, P))
        excess = np.maximum(self.size(P) - self.epsilon, 0.0)
        inside = np.minimum(excess, self.kappa)
        return float(np.sum(inside * (excess - 0.5 * inside)))

    def conjugate(self, H: np.ndarray) -> float:
        """f*(H) = ½‖H‖² + ε‖H‖. Infinite if a size exceeds κ by more than rounding."""
        size = self.size(H)
        if size.max(initial=0.0) > self.kappa * (1 + 1e-12):
            return np.inf
        return 0.5 * float(np.vdot(H, H)) + self.epsilon * float(size.sum())

    def prox(self, Y: np.ndarray) -> np.ndarray:
        """∇f(Y), the H that attains f(Y). Each size is shortened by ε, then to at most κ.

        Both terms see a row only through its size r, so this is the minimum of ½(r − ‖y‖)² + εr over 0 ≤ r ≤ κ.
        """
        if self.square:
            return Y
        size = self.size(Y)
        wanted = np.minimum(np.maximum(size - self.epsilon, 0.0), self.kappa)
        return Y * np.divide(wanted, size, out=np.zeros_like(size), where=size > 0)

    def locate(self, P: np.ndarray) -> np.ndarray:
        """The c that minimizes f(P − 1cᵀ), by Newton's method. Zero when the loss has no location of its own."""
        if not self.location:
            return np.zeros(P.shape[1])
        c = P.mean(axis=0)
        if self.square:
            return c
        value = self.value(P - c)
        for _ in range(60):
            shifted = P - c
            H = self.prox(shifted)
            slope = H.sum(axis=0)
            if np.abs(slope).max() <= 1e-13 * np.abs(H).sum():
                break
            step = self._newton(shifted, H, slope)
            for t in (1.0, 0.5, 0.25, 0.1, 0.0):  # the gradient comes last, as f has curvature at most n
                trial = c + (t * step if t else slope / len(P))
                new = self.value(P - trial)
                if new < value:
                    break
            if new >= value:  # by rounding, so that the slope is the better criterion
                trial = c + step
                if np.abs(self.prox(P - trial).sum(axis=0)).max() >= np.abs(slope).max():
                    break
            c, value = trial, min(new, value)
        return c

    def _newton(self, P: np.ndarray, H: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """(∇² f)⁻¹ slope. Each row contributes 1 along itself while it is neither 0 nor at the bound."""
        size = self.size(P)
        bent = (size > self.epsilon) & (size < self.epsilon + self.kappa)
        if self.norm == "element":
            return slope / np.maximum(bent.sum(axis=0), 1e-3 * len(P))
        weight = np.divide(self.size(H), size, out=np.zeros_like(size), where=size > 0)
        direction = np.divide(P, size, out=np.zeros_like(P), where=size > 0)
        curvature = weight.sum() * np.eye(P.shape[1]) + direction.T @ ((bent - weight) * direction)
        curvature[np.diag_indices_from(curvature)] += 1e-9 * len(P)
        return sla.solve(curvature, slope, assume_a="sym", check_finite=False)
