"""The kappa that bounds a wanted fraction of the samples, and the epsilon that keeps one."""

from dataclasses import replace

import numpy as np

from ..result import Result
from .loss import Loss
from .minimize import EPS, minimize, sketch, sketch_width


def _trial(G: np.ndarray, n_components: int, loss: Loss, start: tuple, eps: float, max_iter: int = 1000) -> Result:
    """`Result` of `minimize` to a residual of 1e-3, at which the number of samples beyond a threshold has settled.

    Two starts are enough, since this number depends little on the stationary point that is found.
    """
    return minimize(G, n_components, loss, tol=1e-3, max_iter=max_iter, start=start, eps=eps, n_init=2)


def row_size(P: np.ndarray, norm: str) -> np.ndarray:
    """One number per sample for the thresholds, the length or the largest entry of its row."""
    return np.abs(P).max(axis=1) if norm == "element" else np.linalg.norm(P, axis=1)


def match_fraction(G, n_components, name, fraction, loss=None, start=None, random_state=None, eps=EPS):
    """Find kappa or epsilon (`name`) so that `fraction` of the samples are at the bound, or are kept.

    Both are the fraction of rows of the scores beyond a threshold (kappa + epsilon, or epsilon). With a quantile of
    their sizes as the first guess kappa takes two or three solves. For epsilon the fraction can fall steeply, because
    the problem is not convex. Once it is bracketed, the guesses therefore interpolate its logarithm.

    Returns (Loss with the value found, the fraction it gives at a loose tolerance). Every trial has the same start, so
    that the value found leads to the same solution when it is given as a number.
    """
    loss = loss or Loss()
    width = sketch_width(n_components, replace(loss, epsilon=1.0))
    start = start or sketch(G, width, random_state=random_state, eps=eps)
    n = G.shape[0]
    wanted = min(max(round(fraction * n), 1), n - 1)
    threshold = _quantile(row_size(start[0][:, :n_components], loss.norm), wanted)
    below, above = (0.0, n), (np.inf, 0)  # (threshold, count) that keep too many and too few
    best = (np.inf, loss, 0.0)
    for _ in range(12):
        value = threshold if name == "epsilon" else max(threshold - loss.epsilon, EPS)
        trial = replace(loss, **{name: value})
        found = _trial(G, n_components, trial, start, eps, max_iter=200)
        whole = found.info["rank"] == n_components
        size = row_size(found.value.P, loss.norm) if whole else np.zeros(n)  # a component vanished, so it is too high
        count = int(np.sum(size > threshold))
        if whole:
            best = min(best, (abs(count - wanted), trial, count / n), key=lambda one: one[0])
        if best[0] <= max(1, 0.02 * wanted):
            break
        below, above = ((threshold, count), above) if count > wanted else (below, (threshold, count))
        threshold = _next_guess(below, above, wanted, _quantile(size, wanted))
    return best[1], best[2]


def _quantile(size: np.ndarray, wanted: int) -> float:
    """The threshold that has the wanted number of sizes beyond it."""
    size = np.sort(size)[::-1]
    return float(0.5 * (size[wanted - 1] + size[wanted]))


def _next_guess(below: tuple[float, int], above: tuple[float, int], wanted: int, guess: float) -> float:
    low, high = below[0], above[0]
    if low > 0 and high < np.inf:
        part = np.log((below[1] + 1) / (wanted + 1)) / np.log((below[1] + 1) / (above[1] + 1))
        return low + min(max(part, 0.1), 0.9) * (high - low)
    if high == np.inf:
        return min(max(guess, 1.02 * low), 1.3 * low)
    return min(max(guess, high / 1.3), high / 1.02)


def largest_epsilon(G, n_components, loss, start=None, random_state=None, eps=EPS):
    """An epsilon of three digits that keeps n_components components, while one a few percent larger does not."""
    start = start or sketch(G, sketch_width(n_components, loss), random_state=random_state, eps=eps)

    def keeps(epsilon):
        return _trial(G, n_components, replace(loss, epsilon=epsilon), start, eps).info["rank"] == n_components

    size = np.sort(row_size(start[0][:, :n_components], loss.norm))[::-1]
    good = float(size[min(n_components, len(size)) - 1])
    while good > 0 and not keeps(good):
        good /= 1.5
    bad = 1.5 * good
    while good > 0 and keeps(bad):
        good, bad = bad, 1.5 * bad
    while good > 0 and bad > 1.02 * good:
        middle = float(f"{0.5 * (good + bad):.3g}")
        good, bad = (middle, bad) if keeps(middle) else (good, middle)
    return good
