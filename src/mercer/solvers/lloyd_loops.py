"""The compiled steps of kernel c-means. Import lazily (needs numba)."""

import numpy as np

from ..compilation import compiled


@compiled()
def move_rows(
    sums: np.ndarray, rows: np.ndarray, at: np.ndarray, weight: np.ndarray, old: np.ndarray, new: np.ndarray
) -> None:
    """sums[old] −= w K_i and sums[new] += w K_i for every row i that moved. K_i is rows[at]."""
    n = rows.shape[1]
    for t in range(len(at)):
        row, scale, away, here = rows[at[t]], weight[t], sums[old[t]], sums[new[t]]
        if scale == 0.0:
            continue
        for j in range(n):
            away[j] -= scale * row[j]
            here[j] += scale * row[j]


@compiled()
def nearest(
    sums: np.ndarray, mass: np.ndarray, center_sq: np.ndarray, labels: np.ndarray, slack: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nearest center of every row: (label, own distance, nearest distance), distances less the row's own k(x, x).

    A row moves only when the other center is nearer by more than `slack`, so that rounding cannot make it wander.
    """
    k, n = sums.shape
    label, own, least = np.empty(n, np.int64), np.empty(n), np.full(n, np.inf)
    label[:] = labels
    for c in range(k):
        if mass[c] == 0.0:
            continue
        scale, row = 2.0 / mass[c], sums[c]
        for i in range(n):
            distance = center_sq[c] - scale * row[i]
            if labels[i] == c:
                own[i] = distance
            if distance < least[i]:
                least[i] = distance
                label[i] = c
    for i in range(n):
        if mass[labels[i]] == 0.0:  # only a row of weight 0 can sit in a cluster without mass
            own[i] = least[i]
        elif own[i] - least[i] <= slack:
            label[i] = labels[i]
            least[i] = own[i]
    return label, own, least
