"""How well scores rank the rows of a class."""

import numpy as np


def average_precision(scores: np.ndarray, inside: np.ndarray) -> float:
    """Mean, over the rows of a class, of the precision among the rows ranked at least as high. NaN without such a row.

    Parameters
    ----------
    scores : (n,) higher for rows that are more likely of the class. Rows with equal scores have one rank.
    inside : (n,) bool, rows of the class.

    Examples
    --------
    >>> average_precision(np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, False, True, False]))
    0.8333333333333333
    """
    inside = np.asarray(inside, dtype=bool)
    if not inside.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    last = np.searchsorted(-scores[order], -scores, side="right")  # rows ranked at least as high as each row
    hits = np.cumsum(inside[order])
    return float(np.mean(hits[last[inside] - 1] / last[inside]))
