"""Compiled loops of the search among leaves. Import lazily (needs numba)."""

import numpy as np

from ..compilation import compiled
from .leaves import LEAF

ZERO, ONE = np.float32(0.0), np.float32(1.0)
FAST = {"contract", "reassoc", "nsz", "nnan"}


@compiled(nogil=True, fastmath=FAST)
def _measured(x, y):
    """Squared distance in double precision."""
    square = 0.0
    for c in range(len(x)):
        gap = x[c] - y[c]
        square += gap * gap
    return square


@compiled(nogil=True, error_model="numpy", fastmath=FAST)
def visit(X, Z, slack, table, low, high, rows, order, square, index, read):
    """Find the k nearest rows. `square` (infinite before) and `index` (the number of rows before) are filled.

    Loops over leaves and over the rows of a leaf have no branch and one width of numbers, so that they become vector
    instructions. Rows within the limit are counted as float32, and all rows are copied before some of them are dropped.

    Parameters
    ----------
    X : (m, d) float64.
    Z : (m, w) their coordinates, float32.
    slack : (m,) the rounding in their distances.
    table : (leaves, w, rows of a leaf) float32.
    low, high : (w', leaves) bounds of the first coordinates.
    rows : (n, d) in the given order.
    order : (n,) their numbers, leaf after leaf.
    read : (2,) counts of the parts of leaves that were read and the rows that were measured, which are increased.
    """
    n, d = rows.shape
    leaves, width = table.shape[:2]
    k = square.shape[1]
    whole = d < width  # no coordinate is a length
    first = 4  # leaves that are visited in the order of their bounds, to have a limit soon
    rounded = 1.0 + 2e-5  # more than the relative error of a sum of 72 squares in single precision
    best, kept, value, exact = np.empty(k), np.empty(n + 1, np.intp), np.empty(n + 1, np.float32), np.empty(n)
    bound, near, total = np.empty(leaves, np.float32), np.empty(leaves, np.intp), np.empty(LEAF, np.float32)
    values = table.ravel()
    for i in range(len(X)):
        for leaf in range(leaves):
            bound[leaf] = ZERO
        for c in range(len(low)):
            z = Z[i, c]
            for leaf in range(leaves):
                gap = max(max(low[c, leaf] - z, z - high[c, leaf]), ZERO)
                bound[leaf] += gap * gap
        for p in range(k):
            best[p] = np.inf
        limit, number, turn, last = np.float32(3e38), 0, 0, leaves
        for leaf in range(leaves):
            near[leaf] = leaf
        while turn < last:
            if turn < first:
                place = turn
                for other in range(turn + 1, last):
                    place = other if bound[other] < bound[place] else place
                near[turn], near[place] = near[place], near[turn]
                bound[turn], bound[place] = bound[place], bound[turn]
            turn += 1
            if bound[turn - 1] > limit:
                continue
            leaf = near[turn - 1]
            for j in range(LEAF):
                total[j] = ZERO
            within = ZERO
            for c in range(0, width, 8):
                z0, z1, z2, z3 = Z[i, c], Z[i, c + 1], Z[i, c + 2], Z[i, c + 3]
                z4, z5, z6, z7 = Z[i, c + 4], Z[i, c + 5], Z[i, c + 6], Z[i, c + 7]
                start = (leaf * width + c) * LEAF
                T = values[start : start + 8 * LEAF]
                within = ZERO
                for j in range(LEAF):
                    a, b, e, f = z0 - T[j], z1 - T[LEAF + j], z2 - T[2 * LEAF + j], z3 - T[3 * LEAF + j]
                    o, p, q, r = z4 - T[4 * LEAF + j], z5 - T[5 * LEAF + j], z6 - T[6 * LEAF + j], z7 - T[7 * LEAF + j]
                    more = ((a * a + b * b) + (e * e + f * f)) + ((o * o + p * p) + (q * q + r * r))
                    more += total[j]
                    total[j] = more
                    within += ONE if more <= limit else ZERO
                read[0] += 1
                if within == ZERO:
                    break
            if within > ZERO:
                start = number
                for j in range(min(LEAF, n - leaf * LEAF)):
                    kept[number], value[number] = order[leaf * LEAF + j], total[j]
                    number += total[j] <= limit
                for c in range(start, number):
                    upper = np.float64(value[c]) if whole else _measured(X[i], rows[kept[c]])
                    if upper < best[k - 1]:
                        p = k - 1
                        while p > 0 and upper < best[p - 1]:
                            best[p] = best[p - 1]
                            p -= 1
                        best[p] = upper
                farthest = np.sqrt(best[k - 1]) * rounded
                farthest += 2.0 * (slack[i] + 1e-6 * farthest)
                limit = np.float32(min(farthest * farthest * rounded, 3e38))
            if turn == 1:  # all but the first one, as far as they are near enough
                last = 1
                for place in range(1, leaves):
                    near[last], bound[last] = near[place], bound[place]
                    last += bound[place] <= limit
        few = 0
        for c in range(number):
            kept[few] = kept[c]
            few += value[c] <= limit
        for c in range(few):
            exact[c] = _measured(X[i], rows[kept[c]])
        read[1] += few
        for c in range(few):
            row, p = kept[c], k - 1
            while p >= 0 and (exact[c] < square[i, p] or (exact[c] == square[i, p] and row < index[i, p])):
                if p < k - 1:
                    square[i, p + 1], index[i, p + 1] = square[i, p], index[i, p]
                square[i, p], index[i, p] = exact[c], row
                p -= 1
