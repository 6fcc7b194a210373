"""Positions in the plane for the nodes of a graph, in which neighbors attract each other and all others push away.

The objective is that of UMAP with the kernel 1 / (1 + d²) and equal edges. Edges pull by −2 / (1 + d²), and rows drawn
at random push by 2 / ((ε + d²)(1 + d²)). One thread visits the nodes in order with its own random generator. The same
graph and start therefore have the same positions on every machine with the same arithmetic.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..compilation import FAST, compiled
from ..types import Rows


@compiled(nogil=True, error_model="numpy", fastmath=FAST)
def _move(y, ends, others, epochs, seed):
    n = len(y)
    gravity = 0.04  # pull to the middle, without which unconnected parts would drift away and leave the plane empty
    state = np.uint64(seed * 2 + 88172645463325252)
    for epoch in range(epochs):
        step = 1.0 - epoch / epochs
        for i in range(n):
            a, b = y[i, 0] * (1.0 - gravity * step), y[i, 1] * (1.0 - gravity * step)
            for place in range(ends[i], ends[i + 1]):
                j = others[place]
                dx, dy = a - y[j, 0], b - y[j, 1]
                pull = -2.0 / (1.0 + dx * dx + dy * dy) * step
                a += min(max(pull * dx, -4.0), 4.0)
                b += min(max(pull * dy, -4.0), 4.0)
                # 4: rows drawn at random for each edge and epoch
                for _ in range(4):
                    state ^= state << np.uint64(13)
                    state ^= state >> np.uint64(7)
                    state ^= state << np.uint64(17)
                    k = np.int64(state % np.uint64(n))
                    if k == i:
                        continue
                    dx, dy = a - y[k, 0], b - y[k, 1]
                    squared = dx * dx + dy * dy
                    push = 2.0 / ((0.001 + squared) * (1.0 + squared)) * step
                    a += min(max(push * dx, -4.0), 4.0)
                    b += min(max(push * dy, -4.0), 4.0)
            y[i, 0], y[i, 1] = a, b


def ranks(xy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace each coordinate by its rank, from -1 to 1. Equal values have equal ranks."""
    found = np.column_stack([rankdata(column, method="average") for column in np.asarray(xy).T])
    return 2.0 * (found - 0.5) / len(found) - 1.0


def neighbor_layout(graph: Rows, start: NDArray[np.float64], seed: int = 0) -> NDArray[np.float64]:
    """Return (n, 2) positions of the nodes of a graph.

    Parameters
    ----------
    graph : (n, n) sparse matrix
        Symmetric. Only the positions of its entries count.
    start : (n, 2) array
        First positions of the nodes. They are replaced by their ranks along each axis, so that no part is crowded.
    seed : int, default=0
        Seed for the rows that push each other.
    """
    graph = graph.tocsr()
    y = np.ascontiguousarray(10.0 * ranks(start))
    if graph.nnz:
        # 3.0e7: edges visited in total, which take about two seconds
        epochs = int(np.clip(3.0e7 / graph.nnz, 80, 400))
        _move(y, graph.indptr.astype(np.int64), graph.indices.astype(np.int64), epochs, seed)
    return y - y.mean(axis=0)
