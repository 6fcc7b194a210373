"""Losses of a margin m = t f(x) that reweighted least squares can lower: value, slope, curvature and a bound of it."""

import numpy as np
from scipy.special import expit

BEND = 0.5  # half the width of the parabola that joins the two straight parts of the hinge


class Logistic:
    """log(1 + e^−m)."""

    name = "logistic"

    def value(self, margin):
        return np.logaddexp(0.0, -margin)

    def pull(self, margin):
        """−L'(m), from 0 to 1."""
        return expit(-margin)

    def curvature(self, margin):
        p = expit(margin)
        return p * (1.0 - p)

    def bound(self, margin):
        """The curvature of a parabola that touches L at m and lies above it everywhere."""
        return np.full(np.shape(margin), 0.25)


class SmoothHinge:
    """max(0, 1 − m) with a parabola for 1 − h < m < 1 + h in place of the corner, h = `BEND`.

    L(m) = (H(1 − m) + 1 − m) / 2 with Huber's H(u) = |u|, or (u²/h + h)/2 for |u| < h; H is a concave function of u²,
    so the parabola in u² that touches it lies above it.
    """

    name = "hinge"

    def value(self, margin):
        u = 1.0 - np.asarray(margin)
        size = np.abs(u)
        return (np.where(size < BEND, (u**2 / BEND + BEND) / 2, size) + u) / 2

    def pull(self, margin):
        return np.clip((1.0 - margin + BEND) / (2 * BEND), 0.0, 1.0)

    def curvature(self, margin):
        return np.where(np.abs(1.0 - margin) < BEND, 1.0 / (2 * BEND), 0.0)

    def bound(self, margin):
        return 1.0 / (2 * np.maximum(np.abs(1.0 - margin), BEND))


LOSSES = {loss.name: loss for loss in (Logistic(), SmoothHinge())}
