"""Losses of a margin m = t f(x) that reweighted least squares can lower: value, slope, curvature and a bound of it."""

import numpy as np
from scipy.special import expit

BEND = 0.5  # half the width of the parabola that joins the two straight parts of the hinge


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
    """max(0, 1 − m) with a parabola for 1 − h < m < 1 + h in place of the corner, h = `BEND`.

    L(m) = (H(1 − m) + 1 − m) / 2 with Huber's H(u) = |u|, or (u²/h + h)/2 for |u| < h. H is a concave function of u²,
    so the parabola in u² that touches it is above it.
    """

    name = "hinge"

    def value(self, margin: np.ndarray | float) -> np.ndarray | float:
        u = 1.0 - np.asarray(margin)
        size = np.abs(u)
        return (np.where(size < BEND, (u**2 / BEND + BEND) / 2, size) + u) / 2

    def pull(self, margin: np.ndarray | float) -> np.ndarray | float:
        return np.clip((1.0 - margin + BEND) / (2 * BEND), 0.0, 1.0)

    def curvature(self, margin: np.ndarray) -> np.ndarray:
        return np.where(np.abs(1.0 - margin) < BEND, 1.0 / (2 * BEND), 0.0)

    def bound(self, margin: np.ndarray | float) -> np.ndarray | float:
        return 1.0 / (2 * np.maximum(np.abs(1.0 - margin), BEND))


class SigmoidLoss:
    """1 / (1 + e^m), between 0 and 1: a label that is wrong by far costs no more than 1 and pulls no longer.

    With p = 1/(1 + e^−m): L = 1 − p, −L' = p (1 − p), L'' = p (1 − p)(2p − 1), negative for m < 0, where Newton's model
    would be a maximum and 0 takes its place; |L''| is at most 1/(6√3), which bounds the loss from above. (Walder et al.
    print L = 1/(1 + e^−m), which grows with the margin, and in (20) the weights p (1 − p) of the logistic loss.)
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
