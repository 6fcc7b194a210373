"""Probabilities from decision scores, fitted to a few held-out predictions and as modest as their number demands.

p(class c | scores f) = floor + (1 - k·floor) softmax(slope · f / margin)_c. One slope keeps the order of the scores, so
the most likely class is the predicted one. Two priors keep it modest:

* the floor is such that no probability exceeds (l + 1) / (l + 2), what l correct predictions out of l allow (Laplace).
* three imagined predictions at the typical margin, two correct and one wrong, are added to the l real ones.

`calibrate` finds the slope of one fit, `slopes` those of many candidates at once.
"""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from ..solvers.result import Result

LOG_SLOPES = (-8.0, 5.0)  # bounds of the logarithm of a slope
TOGETHER = 2**22  # scores that are computed at once: of a thousand classes all candidates together would take gigabytes


def two_columns(scores: np.ndarray) -> np.ndarray:
    """Scores (..., k) of k classes. One column f for two classes becomes (-f/2, f/2)."""
    return np.concatenate([-scores / 2, scores / 2], axis=-1) if scores.shape[-1] == 1 else scores


def typical_margin(scores: np.ndarray) -> float:
    """Median lead of the best class over the second, on any rows with scores. It is 1 if all are tied.

    It is at least 1e-5 of the largest lead. If most rows are similar to no label, their leads of 1e-150 do not count.
    """
    top = np.partition(two_columns(scores), -2, axis=1)[:, -2:]
    lead = top[:, 1] - top[:, 0]
    lead = lead[lead > 0]
    return float(max(np.median(lead), 1e-5 * np.max(lead))) if len(lead) else 1.0


def probabilities(scores: np.ndarray, slope: np.ndarray | float, floor: float) -> np.ndarray:
    """(..., k) rows that sum to one, from scores (..., k or 1)."""
    P = softmax(slope * two_columns(scores), axis=-1)
    P = floor + (1 - P.shape[-1] * floor) * P
    return P / P.sum(axis=-1, keepdims=True)


def calibrate(
    left_out: np.ndarray,
    given: np.ndarray,
    margin: float,
    weight: np.ndarray | None = None,
    n_labels: float | None = None,
) -> Result:
    """The slope that makes the held-out predictions most likely, with the priors of this module.

    Parameters
    ----------
    left_out : (l, k or 1) scores of each labeled row by a fit that did not know its label.
    given : (l, k) one-hot rows or class probabilities.
    margin : the typical margin of the fit, from `typical_margin`.
    n_labels : how many labels the fit has, if that is more than l.

    Returns a `Result` with value (slope, floor), to be given to `probabilities`.
    """
    l, k = given.shape
    s = np.ones(l) if weight is None else weight
    floor = 1.0 / (((n_labels or s.sum()) + 2) * (k - 1))
    typical = np.zeros((1, k))
    typical[0, 0] = margin
    scores = np.vstack([two_columns(left_out), typical])
    imagined = np.full((1, k), 1.0 / (k - 1))
    imagined[0, 0] = 2.0
    counts = np.vstack([s[:, None] * given, imagined])

    def loss(log_slope: float) -> float:  # convex in the slope, so it has one minimum
        return -np.sum(counts * log_softmax(np.exp(log_slope) / margin * scores, axis=1))

    found = minimize_scalar(loss, bounds=LOG_SLOPES, method="bounded", options={"xatol": 1e-9, "maxiter": 200})
    return Result((float(np.exp(found.x) / margin), float(floor)), objective=float(found.fun), n_iter=int(found.nfev))


def slopes(left_out: np.ndarray, given: np.ndarray, margin: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """(m,) slopes of m candidates, as `calibrate` finds them one by one.

    Parameters
    ----------
    left_out : (m, l, k') held-out scores. A row that is not finite has no effect.
    given : (l, k) one-hot rows or class probabilities.
    margin : (m,) typical lead of the best class over the second (`typical_margin`).
    weight : (l,) how much each label counts. None counts each once.
    """
    counts = np.ones(left_out.shape[1]) if weight is None else weight
    found = np.empty(len(margin))
    for some in _parts(left_out):
        found[some] = _slopes(left_out[some], given, margin[some], counts)
    return found


def _slopes(left_out: np.ndarray, given: np.ndarray, margin: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """`slopes` of candidates that are computed together."""
    S = np.moveaxis(np.nan_to_num(two_columns(left_out)) / margin[:, None, None], 2, 0)  # (k, m, l) sums along rows
    S = np.ascontiguousarray(S - S.max(axis=0))  # a shift that neither the softmax nor mean − own sees
    k, own = len(S), np.einsum("kml,lk->m", S, counts[:, None] * given)
    low, high, x = np.full(len(margin), LOG_SLOPES[0]), np.full(len(margin), LOG_SLOPES[1]), np.zeros(len(margin))
    todo = np.arange(len(margin))
    for _ in range(60):  # Newton inside brackets, all candidates at once
        slope = np.exp(x[todo])
        P = slope[:, None] * S
        np.exp(P, out=P)
        P /= P.sum(axis=0)
        P *= S
        mean = P.sum(axis=0)
        P *= S
        spread = (P.sum(axis=0) - mean**2) @ counts
        # Three imagined predictions at the typical margin, two correct and one wrong.
        right = 1.0 / (1.0 + (k - 1) * np.exp(-slope))
        value = mean @ counts - own[todo] + 3.0 * right - 2.0
        rising, at = value > 0, x[todo]
        low[todo], high[todo] = np.where(rising, low[todo], at), np.where(rising, at, high[todo])
        step = at - value / (slope * np.maximum(spread + 3.0 * right * (1.0 - right), 1e-300))
        new = np.where((step > low[todo]) & (step < high[todo]), step, (low[todo] + high[todo]) / 2)
        x[todo] = new
        going = np.abs(new - at) > 1e-8
        todo, S = todo[going], S[:, going]
        if not len(todo):
            break
    return np.exp(x) / margin


def as_probabilities(scores: np.ndarray, slope: float | np.ndarray, floor: float) -> np.ndarray:
    """(..., k) rows that sum to one, from scores (..., k'). `slope` has one entry per leading index."""
    slope = np.asarray(slope, dtype=float)
    slope = slope.reshape(slope.shape + (1,) * (scores.ndim - slope.ndim))
    slope = np.broadcast_to(slope, (len(scores), *slope.shape[1:]))
    out = np.empty((*scores.shape[:-1], max(scores.shape[-1], 2)))
    for some in _parts(scores):
        out[some] = probabilities(np.nan_to_num(scores[some]), slope[some], floor)
    return out


def log_losses(P: np.ndarray, given: np.ndarray) -> np.ndarray:
    """(m, l) −log of the probability of the given labels."""
    out = np.empty(P.shape[:2])
    for some in _parts(P):
        out[some] = -np.einsum("mlk,lk->ml", np.log(np.maximum(P[some], 1e-12)), given)
    return out


def log_scores(P: np.ndarray) -> np.ndarray:
    """Logarithms of probabilities as scores: (n, k), or (n, 1), the log-odds of the second class, for two."""
    L = np.log(np.maximum(P, 1e-300))
    return L[:, 1:] - L[:, :1] if L.shape[1] == 2 else L


def normalized(P: np.ndarray) -> np.ndarray:
    """Rows that sum to one."""
    return P / np.maximum(P.sum(axis=1, keepdims=True), 1e-300)


def capped(P: np.ndarray, most: float) -> np.ndarray:
    """P with no probability above `most`. Rows that have one are mixed with 1/k, which keeps the order."""
    k, top = P.shape[1], P.max(axis=1, keepdims=True)
    a = np.minimum(1.0, (most - 1 / k) / np.maximum(top - 1 / k, 1e-300))
    return a * P + (1 - a) / k


def sharpen(
    P: np.ndarray, given: np.ndarray, spread: float, weight: np.ndarray | None = None, chunk: int = 100_000
) -> float:
    """The power s that makes P^s (rows rescaled to sum one) most likely, with the prior log s ~ N(0, spread²).

    chunk : number of entries that are computed together.
    """
    L = np.log(np.maximum(P, 1e-12))
    weight = np.ones(len(L)) if weight is None else weight
    L = np.ascontiguousarray((L - L.max(axis=1, keepdims=True)).T)  # (k, l) sums along rows
    counts, grid = np.ascontiguousarray((weight[:, None] * given).T), np.linspace(-2.5, 1.5, 161)
    value = -0.5 * (grid / spread) ** 2
    parts = min(1 + len(grid) * L.size // chunk, len(grid))  # of many labels and classes one value at a time
    for some in np.array_split(np.arange(len(grid)), parts):
        Q = np.exp(grid[some])[:, None, None] * L
        Q -= np.log(np.exp(Q).sum(axis=1, keepdims=True))
        np.maximum(Q, np.log(1e-12), out=Q)
        value[some] += Q.reshape(len(some), -1) @ counts.ravel()
    return float(np.exp(grid[int(np.argmax(value))]))


def _parts(scores: np.ndarray) -> Iterator[slice]:
    """The candidates (or rows) in parts of at most `TOGETHER` scores, or one by one."""
    step = max(TOGETHER // max(scores[:1].size, 1), 1)
    return (slice(first, first + step) for first in range(0, len(scores), step))
