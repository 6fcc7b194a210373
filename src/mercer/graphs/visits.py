"""Compiled loops of the search among leaves. Imports numba: lazily."""

import numpy as np

from ..backend import compiled

FIRST = 4  # leaves that are visited in the order of their bounds, to have a limit soon
MOST = np.float32(3e38)
ZERO = np.float32(0.0)
ROUNDED = 1.0 + 2e-5  # more than a sum of 72 squares in single precision can be wrong by


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
    """The k nearest rows: `square` (infinite before) and `index` (the number of rows before) are filled.

    Parameters
    ----------
    X : (m, d) float64. Z : (m, w) their coordinates, float32. slack : (m,) what rounding adds to their distances.
    table : (leaves, w, rows of a leaf) float32. low, high : (w', leaves) bounds of the first coordinates.
    rows : (n, d) in the order in which they were given. order : (n,) their numbers, leaf after leaf.
    read : (2,) adds the parts of leaves that were read and the rows that were measured.
    """
    n, d = rows.shape
    leaves, width, size = table.shape
    k = square.shape[1]
    whole = d < width  # no coordinate is a length
    best, kept, value = np.empty(k), np.empty(n, np.intp), np.empty(n, np.float32)
    bound, total = np.empty(leaves, np.float32), np.empty(size, np.float32)
    values = table.ravel()
    for i in range(len(X)):
        for leaf in range(leaves):
            bound[leaf] = ZERO
        for c in range(len(low)):
            z = Z[i, c]
            for leaf in range(leaves):
                gap = max(max(low[c, leaf] - z, z - high[c, leaf]), ZERO)
                bound[leaf] += gap * gap
        limit, number = MOST, 0
        for p in range(k):
            best[p] = np.inf
        for turn in range(FIRST + leaves):
            leaf = turn - FIRST
            if turn < FIRST:
                leaf = 0
                for other in range(leaves):
                    leaf = other if bound[other] < bound[leaf] else leaf
            if bound[leaf] >= limit:
                continue
            bound[leaf] = MOST  # not again
            for j in range(size):
                total[j] = ZERO
            least = ZERO
            for c in range(0, width, 8):
                z0, z1, z2, z3 = Z[i, c], Z[i, c + 1], Z[i, c + 2], Z[i, c + 3]
                z4, z5, z6, z7 = Z[i, c + 4], Z[i, c + 5], Z[i, c + 6], Z[i, c + 7]
                start = (leaf * width + c) * size
                T = values[start : start + 8 * size]
                for j in range(size):
                    a, b, e, f = z0 - T[j], z1 - T[size + j], z2 - T[2 * size + j], z3 - T[3 * size + j]
                    o, p, q, r = z4 - T[4 * size + j], z5 - T[5 * size + j], z6 - T[6 * size + j], z7 - T[7 * size + j]
                    total[j] += ((a * a + b * b) + (e * e + f * f)) + ((o * o + p * p) + (q * q + r * r))
                read[0] += 1
                least = MOST
                for j in range(size):
                    least = min(least, total[j])
                if least > limit:
                    break
            if least > limit:
                continue
            for j in range(size):
                place = leaf * size + j
                if total[j] <= limit and place < n:
                    kept[number], value[number] = order[place], total[j]
                    upper = np.float64(total[j]) if whole else _measured(X[i], rows[order[place]])
                    number += 1
                    p = k - 1
                    while p > 0 and upper < best[p - 1]:
                        best[p] = best[p - 1]
                        p -= 1
                    if upper < best[p]:
                        best[p] = upper
                    last = np.sqrt(best[k - 1]) * ROUNDED
                    last += 2.0 * (slack[i] + 1e-6 * last)
                    limit = np.float32(min(last * last * ROUNDED, 3e38))
        for c in range(number):
            if value[c] <= limit:
                row, p = kept[c], k - 1
                exact = _measured(X[i], rows[row])
                read[1] += 1
                while p >= 0 and (exact < square[i, p] or (exact == square[i, p] and row < index[i, p])):
                    if p < k - 1:
                        square[i, p + 1], index[i, p + 1] = square[i, p], index[i, p]
                    square[i, p], index[i, p] = exact, row
                    p -= 1
