"""Left-out scores as likelihoods: each candidate's scores become probabilities by a softmax of its own slope.

The slope maximises the likelihood of the left-out labels with the priors of `calibration`, for all candidates at once.
"""

import numpy as np
from scipy.special import softmax

from .calibration import probabilities, two_columns

STEPS = 26  # bisections of a slope's logarithm, which lies between −8 and 5: its error is 2e-7


def slopes(left_out: np.ndarray, given: np.ndarray, margin: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """(m,) slopes of m candidates, as `calibrate` finds them one by one.

    Parameters
    ----------
    left_out : (m, l, k') left-out scores; a row that is not finite says nothing.
    given : (l, k) one-hot rows or class probabilities.
    margin : (m,) typical lead of the best class over the second (`typical_margin`).
    weight : (l,) how much each label counts; None: once.
    """
    S = np.nan_to_num(two_columns(left_out)) / margin[:, None, None]
    k = S.shape[2]
    counted = S if weight is None else weight[:, None] * S
    own = np.einsum("mlk,lk->m", counted, given)
    low, high = np.full(len(S), -8.0), np.full(len(S), 5.0)
    for _ in range(STEPS):
        middle = (low + high) / 2
        slope = np.exp(middle)
        mean = np.einsum("mlk,mlk->m", softmax(slope[:, None, None] * S, axis=2), counted)
        # Three imagined answers at the typical margin, two right and one wrong.
        right = 1.0 / (1.0 + (k - 1) * np.exp(-slope))
        rising = mean - own + 3.0 * right - 2.0 > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return np.exp((low + high) / 2) / margin


def as_probabilities(scores: np.ndarray, slope: float | np.ndarray, floor: float) -> np.ndarray:
    """(..., k) rows that sum to one, from scores (..., k'); `slope` has one entry per leading index."""
    slope = np.asarray(slope, dtype=float)
    slope = slope.reshape(slope.shape + (1,) * (scores.ndim - slope.ndim))
    return probabilities(np.nan_to_num(scores), slope, floor)


def log_losses(P: np.ndarray, given: np.ndarray) -> np.ndarray:
    """(m, l) −log of the probability of the given labels."""
    return -np.einsum("mlk,lk->ml", np.log(np.maximum(P, 1e-12)), given)


def log_scores(P: np.ndarray) -> np.ndarray:
    """Logarithms of probabilities as scores: (n, k), or (n, 1), the log-odds of the second class, for two."""
    L = np.log(np.maximum(P, 1e-300))
    return L[:, 1:] - L[:, :1] if L.shape[1] == 2 else L


def normalised(P: np.ndarray) -> np.ndarray:
    """Rows that sum to one."""
    return P / np.maximum(P.sum(axis=1, keepdims=True), 1e-300)


def capped(P: np.ndarray, most: float) -> np.ndarray:
    """P with no probability above `most`: rows that have one are mixed with equal shares, which keeps the order."""
    k, top = P.shape[1], P.max(axis=1, keepdims=True)
    a = np.minimum(1.0, (most - 1 / k) / np.maximum(top - 1 / k, 1e-300))
    return a * P + (1 - a) / k


def sharpen(P: np.ndarray, given: np.ndarray, spread: float, weight: np.ndarray | None = None) -> float:
    """The power s that makes P^s (rows rescaled to sum one) likeliest, with the prior log s ~ N(0, spread²)."""
    L = np.log(np.maximum(P, 1e-12))
    weight = np.ones(len(L)) if weight is None else weight
    grid = np.linspace(-2.5, 1.5, 161)
    value = np.empty(len(grid))
    for i, log_s in enumerate(grid):
        Q = softmax(np.exp(log_s) * L, axis=1)
        value[i] = weight @ np.sum(given * np.log(np.maximum(Q, 1e-12)), axis=1) - 0.5 * (log_s / spread) ** 2
    return float(np.exp(grid[int(np.argmax(value))]))
