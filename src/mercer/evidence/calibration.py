"""Probabilities from decision scores, fitted to a few held-out predictions and never more confident than their number
allows.

p(class c | scores f) = floor + (1 - k·floor) softmax(slope · f / margin)_c. One slope keeps the order of the scores, so
the most likely class is the predicted one. Two priors keep it modest:

* the floor is such that no probability exceeds (l + 1) / (l + 2), what l correct predictions out of l allow (Laplace);
* three imagined answers at the typical margin, two right and one wrong, are added to the l real ones.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from ..solvers.result import Result


def two_columns(scores: np.ndarray) -> np.ndarray:
    """Scores (..., k) of k classes. One column f for two classes becomes (-f/2, f/2)."""
    return np.concatenate([-scores / 2, scores / 2], axis=-1) if scores.shape[-1] == 1 else scores


def typical_margin(scores: np.ndarray) -> float:
    """Median lead of the best class over the second, on any rows with scores; 1 when all are tied.

    At least 1e-5 of the largest lead: where most rows are similar to no label, their 1e-150 is not a margin.
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
    n_labels : how many labels the fit has, where that is more than l.

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

    found = minimize_scalar(loss, bounds=(-8.0, 5.0), method="bounded", options={"xatol": 1e-9, "maxiter": 200})
    return Result((float(np.exp(found.x) / margin), float(floor)), objective=float(found.fun), n_iter=int(found.nfev))
