"""Compiled loop that boosts shallow trees, each fitted to the residuals of those before it.

It imports numba, so import this module lazily. Each round adds a tree, whose leaves contain a number for each class.
Its cuts reduce the squared residuals of all classes. A leaf is a Newton step of the softmax loss. Every tenth round
tries all columns at the root. The trees until the next such round cut along the best columns only, because a fit to new
labels has a hundredth of a second for this. Columns that reduce nothing by themselves are seldom found by any greedy
tree.
"""

import numpy as np

from ..compilation import compiled
from ..types import Array

RATE, PENALTY = 0.3, 1.0  # learning rate, and penalty that is added to the curvature of a leaf
RENEWED, KEPT = 10, 6  # rounds after which all columns are tried again, and number of columns tried in between
EQUAL = np.float32(1e-7)  # values of a column that differ by no more are not cut apart


# Without a signature numba would compile the same loop again for every kind of integer that it is called with.
@compiled(
    "void(float32[:,::1], int64[:,::1], int64, int64[::1], int64, int64, float64[:,::1], float64[::1], float64[:,::1],"
    "float64[:,:,::1], float32[::1], float64[::1], int64[::1], float32[::1])",
    nogil=True,
    error_model="numpy",
    no_cpython_wrapper=True,
)
def _scan(
    X: Array, order: Array, column: int, at: Array, begin: int, nodes: int, g: Array, weight: Array, mass: Array,
    sums: Array, last: Array, best: Array, best_column: Array, best_cut: Array,
) -> None:  # fmt: skip
    """Look for better cuts of the nodes of a level along a column. `order` has the rows in the order of each.

    mass : (4, nodes) weight of all rows and of those on the left, squared sums of g on the left and on the right.
    sums : (3, nodes, k) sum of g over all rows, over those on the left, and sum of the curvature.
    """
    k = g.shape[1]
    for node in range(nodes):
        mass[1, node], mass[2, node], mass[3, node] = 0.0, 0.0, 0.0
        for c in range(k):
            sums[1, node, c] = 0.0
            mass[3, node] += sums[0, node, c] * sums[0, node, c]
    for s in range(order.shape[1]):
        row = order[column, s]
        node = at[row] - begin
        if node < 0:
            continue
        x = X[row, column]
        if mass[1, node] > 0.0 and x > last[node] + EQUAL:
            gain = mass[2, node] / (mass[1, node] + PENALTY) + mass[3, node] / (mass[0, node] - mass[1, node] + PENALTY)
            if gain > best[node]:
                best[node], best_column[node] = gain, column
                cut = np.float32(0.5) * last[node] + np.float32(0.5) * x
                best_cut[node] = last[node] if cut >= x else cut
        left, right = 0.0, 0.0
        for c in range(k):
            own, below = g[row, c], sums[1, node, c]
            left += own * (2.0 * below + own)
            right += own * (2.0 * (sums[0, node, c] - below) - own)
            sums[1, node, c] = below + own
        mass[2, node] += left
        mass[3, node] -= right
        mass[1, node] += weight[row]
        last[node] = x


@compiled(nogil=True, error_model="numpy")
def _boost(
    X: Array, order: Array, known: Array, codes: Array, weight: Array, base: Array, depth: int, kept: int, F: Array,
    roots: Array, feature: Array, threshold: Array, left: Array, right: Array, value: Array, work: tuple[Array, ...],
) -> int:  # fmt: skip
    """See `boost`. Writes F and the trees, and returns the number of their nodes."""
    g, h, at, mass, sums, last, best, best_column, best_cut, gains, kept_columns = work
    l, d = X.shape
    k, number = F.shape[1], 0
    for i in range(l):
        for c in range(k):
            F[i, c] = base[c]
    for turn in range(len(roots)):
        for s in range(len(known)):
            i = known[s]
            top, total = F[i, 0], 0.0
            for c in range(k):
                top = F[i, c] if F[i, c] > top else top
            for c in range(k):
                g[i, c] = np.exp(F[i, c] - top)
                total += g[i, c]
            for c in range(k):
                p = g[i, c] / total
                g[i, c], h[i, c] = weight[i] * ((codes[i] == c) - p), weight[i] * p * (1.0 - p)
        begin = roots[turn] = number
        for i in range(l):
            at[i] = begin
        number += 1
        for level in range(depth + 1):
            nodes = number - begin
            for node in range(nodes):
                mass[0, node] = 0.0
                for c in range(k):
                    sums[0, node, c], sums[2, node, c] = 0.0, 0.0
            for s in range(len(known)):
                i = known[s]
                node = at[i] - begin
                if node >= 0:
                    mass[0, node] += weight[i]
                    for c in range(k):
                        sums[0, node, c] += g[i, c]
                        sums[2, node, c] += h[i, c]
            for node in range(nodes):
                squares = 0.0
                for c in range(k):
                    step = RATE * (k - 1) / k * sums[0, node, c] / (sums[2, node, c] + PENALTY)
                    value[begin + node, c] = step + (base[c] if turn == 0 else 0.0)
                    squares += sums[0, node, c] * sums[0, node, c]
                best[node], best_column[node] = squares / (mass[0, node] + PENALTY) + 1e-9, -1
            if level == depth:
                break
            if level == 0 and turn % RENEWED == 0:
                least = best[0]
                for column in range(d):
                    best[0] = 0.0
                    _scan(X, order, column, at, begin, 1, g, weight, mass, sums, last, best, best_column, best_cut)
                    gains[column] = best[0]
                best[0], best_column[0] = least, -1
                for place in range(kept):
                    top_column = 0
                    for column in range(d):
                        if gains[column] > gains[top_column]:
                            top_column = column
                    kept_columns[place] = top_column
                    gains[top_column] = -1.0
            for place in range(kept):
                _scan(
                    X, order, kept_columns[place], at, begin, nodes, g, weight, mass, sums, last, best, best_column,
                    best_cut,
                )  # fmt: skip
            end = number
            for node in range(begin, end):
                if best_column[node - begin] >= 0:
                    feature[node], threshold[node] = best_column[node - begin], best_cut[node - begin]
                    left[node], right[node] = number, number + 1
                    number += 2
            for i in range(l):
                node = at[i]
                if node >= begin and left[node] >= 0:
                    at[i] = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
            begin = end
            if begin == number:
                break
        for node in range(roots[turn], number):
            if left[node] >= 0:
                for c in range(k):
                    value[node, c] = 0.0
        for i in range(l):
            for c in range(k):
                F[i, c] += value[at[i], c] - (base[c] if turn == 0 else 0.0)
    return number


def boost(X: Array, rising: Array, codes: Array, weight: Array, rounds: int, depth: int, F: Array) -> tuple[Array, ...]:
    """Return trees boosted on the rows of positive weight.

    Parameters
    ----------
    X : (l, d) float32. rising : (d, l) the rows in the order of each column. codes : (l,) classes.
    weight : (l,) how much each row counts. Rows of weight 0 have no part, and are predicted.
    rounds, depth : of the trees.
    F : (l, k) the scores of all rows are written here.

    Returns roots, feature, threshold, left, right (−1 at a leaf), (nodes, k) what a leaf adds.
    """
    (l, d), k, wide = X.shape, F.shape[1], 2**depth
    known = np.flatnonzero(weight > 0)
    order = rising[weight[rising] > 0].reshape(d, len(known))
    base = np.bincount(codes, weight, k) + 1.0 / k
    base = np.log(base / base.sum())
    most, kept = rounds * (2 * wide - 1), min(KEPT, d)
    trees = (
        np.zeros(rounds, dtype=np.int64),
        np.zeros(most, dtype=np.int32),
        np.zeros(most, dtype=np.float32),
        np.full(most, -1, dtype=np.int64),
        np.full(most, -1, dtype=np.int64),
        np.zeros((most, k)),
    )
    work = (
        np.zeros((l, k)),
        np.zeros((l, k)),
        np.zeros(l, dtype=np.int64),
        np.zeros((4, wide)),
        np.zeros((3, wide, k)),
        np.zeros(wide, dtype=np.float32),
        np.zeros(wide),
        np.zeros(wide, dtype=np.int64),
        np.zeros(wide, dtype=np.float32),
        np.zeros(d),
        np.zeros(kept, dtype=np.int64),
    )
    number = _boost(X, order, known, np.asarray(codes, dtype=np.int64), weight, base, depth, kept, F, *trees, work)
    return trees[0], *(part[:number].copy() for part in trees[1:])
