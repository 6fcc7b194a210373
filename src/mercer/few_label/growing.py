"""Compiled loops of the forests: trees grown on a few labelled rows, and rows sent down them. Imports numba: lazily.

The trees are those of scikit-learn's forests of classes (bootstrap, √d columns a cut, Gini impurity, grown until the
leaves are pure), at a hundredth of the time: on a hundred rows its objects cost more than its cuts.
"""

import numpy as np
from numba import njit

_GAIN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
EQUAL = np.float32(1e-7)  # values of a column that differ by no more are not cut apart
SIDE = 32  # rows that go down a large tree side by side
BLOCK = 256  # rows that go down a small tree at once
MANY = 300  # nodes of a large tree


@njit(cache=True, nogil=True)
def _random(state):
    """A random number in [0, 1) (splitmix64; the state is the caller's)."""
    state[0] += _GAIN
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 1.1102230246251565e-16


@njit(cache=True, nogil=True)
def _sort(key, place, n):
    """Sort the first n keys, and their places with them (Shell's sort: nodes are small)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            k, p, j = key[i], place[i], i
            while j >= gap and key[j - gap] > k:
                key[j], place[j] = key[j - gap], place[j - gap]
                j -= gap
            key[j], place[j] = k, p
        gap //= 3


@njit(cache=True, nogil=True)
def _best_cut(key, place, n, codes, weight, total, left):
    """(gain, threshold) of the best cut of n sorted values; gain is Σ_c l_c² / l + Σ_c r_c² / r."""
    left[:] = 0.0
    squares_right, mass_right = 0.0, 0.0
    for c in range(len(total)):
        squares_right += total[c] * total[c]
        mass_right += total[c]
    squares_left, mass_left = 0.0, 0.0
    best, cut = -1.0, np.float32(0.0)
    for i in range(n - 1):
        row = place[i]
        w, c = weight[row], codes[row]
        squares_left += w * (2.0 * left[c] + w)
        squares_right -= w * (2.0 * (total[c] - left[c]) - w)
        left[c] += w
        mass_left += w
        mass_right -= w
        if key[i + 1] > key[i] + EQUAL:
            gain = squares_left / mass_left + squares_right / mass_right
            if gain > best:
                best = gain
                cut = np.float32(0.5) * key[i] + np.float32(0.5) * key[i + 1]
                if cut >= key[i + 1]:
                    cut = key[i]
    return best, cut


@njit(cache=True, nogil=True)
def _cut_at(key, place, n, codes, weight, total, left, cut):
    """Gain of one cut."""
    left[:] = 0.0
    for i in range(n):
        if key[i] <= cut:
            left[codes[place[i]]] += weight[place[i]]
    squares_left, squares_right, mass_left, mass_right = 0.0, 0.0, 0.0, 0.0
    for c in range(len(total)):
        right = total[c] - left[c]
        squares_left += left[c] * left[c]
        squares_right += right * right
        mass_left += left[c]
        mass_right += right
    return squares_left / mass_left + squares_right / mass_right


@njit(cache=True, nogil=True)
def grow(X, codes, k, seed, extra, away, count):
    """One tree on a bootstrap of the rows.

    Parameters
    ----------
    X : (l, d) float32. codes : (l,) classes below k. seed : uint64.
    extra : one random cut a column instead of the best one.
    away : (l, k + 1) the tree's class shares for the rows that it did not see are added, and their number last.
    count : (l,) how much each row counts, above 0.

    Returns feature, threshold, left, right (−1 at a leaf), (nodes, k) class shares.
    """
    l, d = X.shape
    state = np.array([seed], dtype=np.uint64)
    weight = np.zeros(l)
    for _ in range(l):
        weight[int(_random(state) * l)] += 1.0
    weight *= count
    rows = np.flatnonzero(weight > 0)
    most = 2 * len(rows) - 1
    feature, threshold = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.float32)
    left, right = np.full(most, -1, dtype=np.int32), np.full(most, -1, dtype=np.int32)
    value = np.zeros((most, k))
    begin, end = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    end[0] = len(rows)
    columns, wanted = np.arange(d), max(1, int(np.sqrt(d)))
    key, place, beside = np.empty(len(rows), np.float32), np.empty(len(rows), np.int64), np.empty(k)
    number = 1
    for node in range(most):
        if node == number:
            break
        a, b = begin[node], end[node]
        n = b - a
        total = value[node]
        for i in range(a, b):
            total[codes[rows[i]]] += weight[rows[i]]
        best, best_column, best_cut = -1.0, -1, np.float32(0.0)
        if np.sum(total > 0) > 1:
            visited = 0
            while visited < d and (visited < wanted or best_column < 0):
                other = visited + int(_random(state) * (d - visited))
                columns[visited], columns[other] = columns[other], columns[visited]
                column = columns[visited]
                visited += 1
                low, high = X[rows[a], column], X[rows[a], column]
                for i in range(n):
                    place[i] = rows[a + i]
                    key[i] = X[rows[a + i], column]
                    low, high = min(low, key[i]), max(high, key[i])
                if high <= low + EQUAL:
                    continue
                if extra:
                    cut = np.float32(low + np.float32(_random(state)) * (high - low))
                    cut = low if cut >= high else cut
                    gain = _cut_at(key, place, n, codes, weight, total, beside, cut)
                else:
                    _sort(key, place, n)
                    gain, cut = _best_cut(key, place, n, codes, weight, total, beside)
                if gain > best:
                    best, best_column, best_cut = gain, column, cut
        if best_column >= 0:
            i, j = a, b - 1
            while i <= j:
                if X[rows[i], best_column] <= best_cut:
                    i += 1
                else:
                    rows[i], rows[j] = rows[j], rows[i]
                    j -= 1
            feature[node], threshold[node] = best_column, best_cut
            left[node], right[node] = number, number + 1
            begin[number], end[number], begin[number + 1], end[number + 1] = a, i, i, b
            number += 2
        total /= total.sum()
    for i in range(l):
        if weight[i] == 0:
            node = 0
            while left[node] >= 0:
                node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
            away[i, :k] += value[node]
            away[i, k] += 1.0
    return feature[:number], threshold[:number], left[:number], right[:number], value[:number]


@njit(cache=True, nogil=True)
def packed(feature, threshold, left, right, roots, value):
    """What `votes` needs: thresholds that hold rows at a leaf, (nodes, 2) children, depths of the trees, classes of
    the leaves (−1 where a leaf is not pure)."""
    n, k = value.shape
    cut, child = np.empty(n, dtype=np.float32), np.empty((n, 2), dtype=np.int32)
    column, only = np.maximum(feature, 0).astype(np.int32), np.full(n, -1, dtype=np.int32)
    level, depth = np.zeros(n, dtype=np.int32), np.zeros(len(roots), dtype=np.int32)
    tree = -1
    for i in range(n):  # children come after their parents
        if tree + 1 < len(roots) and roots[tree + 1] == i:
            tree += 1
        depth[tree] = max(depth[tree], level[i])
        cut[i] = threshold[i]
        if cut[i] > threshold[i]:  # rounded up: single precision must cut where double does
            cut[i] = np.nextafter(cut[i], np.float32(-np.inf))
        if left[i] < 0:
            child[i, 0], child[i, 1], cut[i] = i, i, np.inf
            for c in range(k):
                if value[i, c] == 1.0:
                    only[i] = c
        else:
            child[i, 0], child[i, 1] = left[i], right[i]
            level[left[i]], level[right[i]] = level[i] + 1, level[i] + 1
    return column, cut, child, depth, only


@njit(cache=True, nogil=True)
def votes(X, roots, value, column, cut, child, depth, only):
    """(n, k) mean values of the leaves that rows X (float32) reach; the last arguments are those of `packed`."""
    if len(value) > MANY * len(roots):
        return _walked(X, roots, value, column, cut, child, depth, only)
    return _flooded(X, roots, value, column, cut, child, only)


@njit(cache=True, nogil=True)
def _walked(X, roots, value, column, cut, child, depth, only):
    """Rows go down large trees, some side by side, so that the processor waits for no single row."""
    n, k = len(X), value.shape[1]
    out = np.zeros((n, k))
    node = np.empty(SIDE, dtype=np.int32)
    for begin in range(0, n, SIDE):
        m = min(SIDE, n - begin)
        for tree in range(len(roots)):
            for i in range(m):
                node[i] = roots[tree]
            for _ in range(depth[tree]):
                for i in range(m):
                    at = node[i]
                    node[i] = child[at, 1 if X[begin + i, column[at]] > cut[at] else 0]
            for i in range(m):
                c = only[node[i]]
                if c >= 0:
                    out[begin + i, c] += 1.0
                else:
                    for c in range(k):
                        out[begin + i, c] += value[node[i], c]
    return out / len(roots)


@njit(cache=True, nogil=True)
def _divide(above, x, cut, left, right):
    """Which rows go left and right, of those that are above."""
    for i in range(len(above)):
        goes = np.uint8(x[i] <= cut)
        left[i] = above[i] & goes
        right[i] = above[i] & (goes ^ np.uint8(1))


@njit(cache=True, nogil=True)
def _count(total, here):
    for i in range(len(total)):
        total[i] += here[i]


@njit(cache=True, nogil=True)
def _flooded(X, roots, value, column, cut, child, only):
    """All nodes of small trees are visited with a block of rows at once: whole vectors, and no row is waited for."""
    n, d = X.shape
    k, most = value.shape[1], 1
    for tree in range(len(roots)):
        most = max(most, (roots[tree + 1] if tree + 1 < len(roots) else len(value)) - roots[tree])
    out = np.zeros((n, k))
    table, at = np.zeros((d, BLOCK), dtype=np.float32), np.zeros((most, BLOCK), dtype=np.uint8)
    count = np.zeros((k, BLOCK), dtype=np.uint8)
    for begin in range(0, n, BLOCK):
        m = min(BLOCK, n - begin)
        for i in range(m):
            for j in range(d):
                table[j, i] = X[begin + i, j]
        seen = 0
        for tree in range(len(roots)):
            first = roots[tree]
            last = roots[tree + 1] if tree + 1 < len(roots) else len(value)
            at[0] = 1
            for node in range(first, last):
                here = at[node - first]
                if child[node, 0] != node:
                    _divide(
                        here, table[column[node]], cut[node], at[child[node, 0] - first], at[child[node, 1] - first]
                    )
                elif only[node] >= 0:
                    _count(count[only[node]], here)
                else:
                    for i in range(m):
                        if here[i]:
                            for c in range(k):
                                out[begin + i, c] += value[node, c]
            seen += 1
            if seen == 255 or tree == len(roots) - 1:  # before a byte is full
                for c in range(k):
                    for i in range(m):
                        out[begin + i, c] += count[c, i]
                    count[c] = 0
                seen = 0
    return out / len(roots)
