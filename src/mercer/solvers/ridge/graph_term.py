"""The graph term Σ w_ij (f_i − f_j)² of functions f = Zw, as an r × r matrix: it stays a method of moments."""

import numpy as np

from ...rows import dot, tdot

COLUMNS = 64  # features handled at a time: the host holds n × 64 numbers, wherever Z lives


def graph_moment(Z, Lap):
    """2 Zᵀ Lap Z, so that wᵀ(·)w = Σ_ij w_ij (f_i − f_j)² for Lap = D − W, by the verbs only."""
    r = Z.shape[1]
    out = np.empty((r, r))
    for start in range(0, r, COLUMNS):
        stop = min(start + COLUMNS, r)
        pick = np.zeros((r, stop - start))
        pick[np.arange(start, stop), np.arange(stop - start)] = 1.0
        out[:, start:stop] = tdot(Z, Lap @ dot(Z, pick))
    return out + out.T
