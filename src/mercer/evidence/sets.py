"""Conformal sets of classes from held-out predictions, which contain the true class as often as promised."""

import numpy as np

from ..errors import InputError


def conformal_sets(
    P: np.ndarray, left_out: np.ndarray, codes: np.ndarray, coverage: float, by_class: bool = False
) -> np.ndarray:
    """(n, k) which classes are in the set of each row.

    A class is in the set if its probability is at least that of enough held-out labels for their own class, namely if
    (1 + number of labels with p ≤ P) / (l + 1) > 1 − coverage. A label that could not be held out, the only one of its
    class, counts as lowest.

    Parameters
    ----------
    P : (n, k) probabilities of the rows.
    left_out : (l, k) probabilities of the labels by fits without them, NaN if there is none.
    codes : (l,) their classes.
    by_class : compare with the labels of the same class only. The coverage is then valid for every class.
    """
    if not 0 < coverage < 1:
        raise InputError(f"coverage={coverage!r} is not accepted. Give a number between 0 and 1, such as 0.9.")
    own = np.nan_to_num(left_out[np.arange(len(codes)), codes], nan=-1.0)
    inside = np.zeros(P.shape, dtype=bool)
    for c in range(P.shape[1]):
        mine = np.sort(own[codes == c] if by_class else own)
        below = np.searchsorted(mine, P[:, c] * (1 + 1e-12), side="right")
        inside[:, c] = (1 + below) / (len(mine) + 1) > 1 - coverage + 1e-12
    return inside
