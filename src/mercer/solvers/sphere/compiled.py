"""The compiled root search of the constrained least-squares fits. Import lazily (needs numba).

In the basis of a pencil (see `pencil.py`) the fit with multiplier ζ is w = E (b + c f y) with E = 1/(1 − ζμ), and
wᵀPw = Σ μ w². y is the row whose label is held out, and f its value by that fit. A fit to all labels has y = 0.
"""

import numpy as np

from ...compilation import FAST, compiled


@compiled(nogil=True, fastmath=FAST, error_model="numpy", no_cpython_wrapper=True)
def _evaluate(mu, b, y, weight, zeta, E, w):
    """(whether C − ζP is definite, f, wᵀPw, its slope in ζ). Fills E and w."""
    r = len(mu)
    own, value = 0.0, 0.0
    for j in range(r):
        E[j] = 1.0 / (1.0 - zeta * mu[j])
    for j in range(r):
        felt = E[j] * y[j]
        own += felt * y[j]
        value += felt * b[j]
    R = 1.0 - weight * own
    if not R > 0:
        return False, 0.0, 0.0, 0.0
    f, phi, g = value / R, 0.0, 0.0
    for j in range(r):
        w[j] = E[j] * (b[j] + weight * f * y[j])
        phi += mu[j] * w[j] * w[j]
        g += E[j] * y[j] * mu[j] * w[j]
    g /= R
    slope = 0.0
    for j in range(r):
        moved = mu[j] * w[j]
        slope += moved * E[j] * (moved + weight * g * y[j])
    return True, f, phi, 2.0 * slope


@compiled(nogil=True, error_model="numpy", no_cpython_wrapper=True)
def _root(mu, b, y, weight, spread, tol, E, w, zeta):
    """(f, ζ, whether wᵀPw = spread there), by Newton's method on 1/√φ inside a bracket, started at ζ = zeta."""
    lo, hi, value = -np.inf, 1.0 / mu[0], 0.0
    for _ in range(100):
        definite, f, phi, slope = _evaluate(mu, b, y, weight, zeta, E, w)
        if definite and abs(phi - spread) <= tol * spread:
            return f, zeta, True
        if definite and phi <= spread:
            lo, value = zeta, f
        else:
            hi = zeta
        if lo > -np.inf and hi - lo <= 1e-14 * max(abs(lo), abs(hi)):
            break
        step = np.nan
        if definite and slope > 0 and phi > 0:
            step = zeta + 2.0 * phi / slope * (1.0 - np.sqrt(phi / spread))
        if not lo < step < hi:
            step = (lo + hi) / 2 if lo > -np.inf else hi - max(abs(hi), 1.0 / mu[0])
        zeta = step
    return value, zeta, False


@compiled(nogil=True, error_model="numpy")
def _each(mu, B, Y, weight, spread, tol, zeta, reached, value, W, E):
    """The root for every row of B and Y, started at zeta. One loop for both uses, since compiling it takes a second."""
    for i in range(len(B)):
        value[i], zeta[i], reached[i] = _root(mu, B[i], Y[i], weight, spread, tol, E, W[i], zeta[i])


def _solved(mu, B, Y, weight, spread, tol, start):
    """(values, ζ, which were reached, W) for targets B and held-out rows Y, started at ζ = start."""
    zeta, reached, value = np.full(len(B), start), np.zeros(len(B), dtype=np.bool_), np.empty(len(B))
    W = np.empty_like(B)
    _each(mu, B, Y, float(weight), float(spread), tol, zeta, reached, value, W, np.empty(len(mu)))
    return value, zeta, reached, W


def fits(mu, B, spread, tol: float):
    """(ζ (k,), which were reached (k,), W (k, r)) for targets B (k, r) in the basis of the pencil."""
    return _solved(mu, B, np.zeros_like(B), 0.0, spread, tol, 0.0)[1:]


def without_each(mu, Y, t, total, weight, spread, rows, tol):
    """(len(rows),) value at each of the rows of Y by the fit to the targets t without that row. `total` is t @ Y."""
    # The fit to all labels is close. A start from it takes half as many steps.
    start = float(fits(mu, weight * total[None], spread, tol)[0][0])
    B = weight * (total - t[rows, None] * Y[rows])
    return _solved(mu, B, Y[rows], weight, spread, tol, start)[0]
