"""Losses of a margin m = t f(x) for reweighted least squares, with value, slope, curvature and a bound of it."""

import numpy as np
from scipy.special import expit


class Logistic:
    """log(1 + e^−m)."""

    name = "logistic"

    def value(self, margin: np.ndarray | float) -> np.ndarray | float:
        return np.logaddexp(0.0, -margin)

    def pull(self, margin: np.ndarray | float) -> np.ndarray | float:
        """−L'(m), from 0 to 1."""
        return expit(-margin)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        p = expit(margin)
        return p * (1.0 - p)

    def bound(self, margin: np.ndarray | float) -> np.ndarray:
        """The curvature of a parabola that touches L at m and is above it everywhere."""
        return np.full(np.shape(margin), 0.25)


class SmoothHinge:
    """max(0, 1 − m) with a parabola for 1 − h < m < 1 + h in place of the corner.

    L(m) = (H(1 − m) + 1 − m) / 2 with Huber's H(u) = |u|, or (u²/h + h)/2 for |u| < h. H is a concave function of u²,
    so the parabola in u² that touches it is above it.
    """

    name = "hinge"
    h = 0.5

    def value(self, margin: np.ndarray | float) -> np.ndarray | float:
        u = 1.0 - np.asarray(margin)
        size = np.abs(u)
        return (np.where(size < self.h, (u**2 / self.h + self.h) / 2, size) + u) / 2

    def pull(self, margin: np.ndarray | float) -> np.ndarray | float:
        return np.clip((1.0 - margin + self.h) / (2 * self.h), 0.0, 1.0)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        return np.where(np.abs(1.0 - margin) < self.h, 1.0 / (2 * self.h), 0.0)

    def bound(self, margin: np.ndarray | float) -> np.ndarray | float:
        return 1.0 / (2 * np.maximum(np.abs(1.0 - margin), self.h))


class SigmoidLoss:
    """1 / (1 + e^m), between 0 and 1, so that a label that is wrong by far costs at most 1 and has no influence.

    With p = 1/(1 + e^−m), L = 1 − p, −L' = p (1 − p) and L'' = p (1 − p)(2p − 1). L'' is negative for m < 0, where
    Newton's model would have a maximum, and is replaced by 0 there. |L''| is at most 1/(6√3), which bounds the loss
    from above. (Walder et al. print L = 1/(1 + e^−m), which grows with the margin, and in (20) the weights p (1 − p) of
    the logistic loss.)
    """

    name = "sigmoid"

    def value(self, margin: np.ndarray) -> np.ndarray:
        return expit(-np.asarray(margin))

    def pull(self, margin: np.ndarray) -> np.ndarray:
        p = expit(margin)
        return p * (1.0 - p)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        p = expit(margin)
        return np.maximum(p * (1.0 - p) * (2 * p - 1.0), 0.0)

    def bound(self, margin: np.ndarray) -> np.ndarray:
        return np.full(np.shape(margin), 1 / (6 * np.sqrt(3)))


LOSSES = {loss.name: loss for loss in (Logistic(), SmoothHinge(), SigmoidLoss())}
