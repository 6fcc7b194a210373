"""Compiled loops of the isolation forest. Trees are heaps, in which node k has the children 2k + 1 and 2k + 2."""

import numpy as np

from ..compilation import compiled


@compiled(nogil=True)
def grow(
    rows: np.ndarray,
    luck: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    length: np.ndarray,
    reached: np.ndarray,
) -> None:
    """Grow one tree for each block of rows.

    rows : (trees, m, d). luck : (trees, nodes, 2) random numbers that choose the column and the place of each cut.
    feature, threshold, length : (trees, nodes) arrays to fill. −1 is the feature of a leaf, and `length` the expected
    length of the path to a row that ends there. reached : (trees, m) array to fill, the length for each row.
    """
    trees, m, d = rows.shape
    nodes = feature.shape[1]
    low, high, place = np.empty(d), np.empty(d), np.empty(m, dtype=np.int64)
    for t in range(trees):
        place[:] = 0
        for node in range(nodes):
            count = 0
            low[:] = np.inf
            high[:] = -np.inf
            for i in range(m):
                if place[i] == node:
                    count += 1
                    for j in range(d):
                        low[j] = min(low[j], rows[t, i, j])
                        high[j] = max(high[j], rows[t, i, j])
            level = 0
            while 2 ** (level + 1) <= node + 1:
                level += 1
            feature[t, node] = -1
            length[t, node] = level + expected(count)
            vary = np.sum(high > low)
            if 2 * node + 2 < nodes and count > 1 and vary > 0:
                pick, column = int(luck[t, node, 0] * vary), 0
                while not (high[column] > low[column] and pick == 0):
                    pick -= high[column] > low[column]
                    column += 1
                feature[t, node] = column
                threshold[t, node] = low[column] + luck[t, node, 1] * (high[column] - low[column])
            for i in range(m):
                if place[i] == node:
                    reached[t, i] = length[t, node]
                    if feature[t, node] >= 0:
                        above = rows[t, i, feature[t, node]] > threshold[t, node]
                        place[i] = 2 * node + (2 if above else 1)


@compiled(nogil=True)
def expected(count: float) -> float:
    """Mean length of the path in a random tree of so many rows (Liu, Ting and Zhou 2008, equation 1)."""
    if count < 2:
        return 0.0
    if count == 2:
        return 1.0
    return 2.0 * (np.log(count - 1.0) + 0.5772156649015329) - 2.0 * (count - 1.0) / count


@compiled(nogil=True)
def walk(X: np.ndarray, feature: np.ndarray, threshold: np.ndarray, length: np.ndarray, out: np.ndarray) -> None:
    """Add to out[i] the length at the leaf that row i reaches in each tree."""
    for t in range(feature.shape[0]):
        for i in range(X.shape[0]):
            node = 0
            while feature[t, node] >= 0:
                node = 2 * node + (2 if X[i, feature[t, node]] > threshold[t, node] else 1)
            out[i] += length[t, node]
