"""Compiled loops that grow forests on a few labeled rows, and predict with them. Imports numba, so import it lazily.

The trees are those of scikit-learn's forests of classes (bootstrap, √d columns per cut, Gini impurity, grown until the
leaves are pure). They take a hundredth of the time, because on a hundred rows scikit-learn's objects cost more than the
cuts.
"""

import numpy as np

from ..compilation import compiled
from ..types import Array

_GAIN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
EQUAL = np.float32(1e-7)  # values of a column that differ by no more are not cut apart
SIDE = 32  # rows that go down a large tree side by side
BLOCK = 256  # rows that go down a small tree at once
SCANNED = 8  # a node with at least this fraction of all rows (inverse) gets its order from the order of all rows


@compiled(nogil=True, error_model="numpy", no_cpython_wrapper=True)
def _random(state: Array, tree: int) -> float:
    """Return a random number in [0, 1) by splitmix64. The caller keeps the states of all trees."""
    state[tree] += _GAIN
    z = state[tree]
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * 1.1102230246251565e-16


@compiled(nogil=True, error_model="numpy", no_cpython_wrapper=True)
def _sort(key: Array, place: Array, n: int) -> None:
    """Sort the first n keys, and their places with them. It is Shell's sort, because nodes are small."""
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


@compiled(nogil=True, error_model="numpy", no_cpython_wrapper=True)
def _pick_out(rising: Array, at: Array, node: int, X: Array, column: int, key: Array, place: Array) -> None:
    """Write the rows at a node in the order of a column, from all rows in that order."""
    n = 0
    for i in range(len(at)):
        row = rising[column, i]
        place[n], key[n] = row, X[row, column]  # written over by the next one unless it is at the node
        n += at[row] == node


@compiled(nogil=True, error_model="numpy", no_cpython_wrapper=True)
def _best_cut(
    key: Array, place: Array, n: int, codes: Array, weight: Array, total: Array, left: Array
) -> tuple[float, np.float32]:
    """Return (gain, threshold) of the best cut of n sorted values. The gain is Σ_c l_c² / l + Σ_c r_c² / r."""
    squares_right, mass_right = 0.0, 0.0
    for c in range(len(total)):
        left[c] = 0.0
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


@compiled(nogil=True, error_model="numpy", no_cpython_wrapper=True)
def _cut_at(
    key: Array, place: Array, n: int, codes: Array, weight: Array, total: Array, left: Array, cut: np.float32
) -> float:
    """Return the gain of one cut."""
    for c in range(len(total)):
        left[c] = 0.0
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


def grow(
    X: Array, codes: Array, k: int, seeds: Array, extra: bool, away: Array, count: Array
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Return trees on bootstraps of the rows, one for each seed.

    Parameters
    ----------
    X : (l, d) float32. codes : (l,) classes below k. seeds : uint64.
    extra : whether to try one random cut per column instead of the best one.
    away : (l, k + 1) the trees' class frequencies for the rows that they did not see are added, and their number last.
    count : (l,) how much each row counts, above 0.

    Returns roots, feature, threshold, left, right (−1 at a leaf), (nodes, k) class frequencies.
    """
    (l, d), most = X.shape, len(seeds) * (2 * len(X) - 1)
    roots, value = np.zeros(len(seeds), dtype=np.int64), np.zeros((most, k))
    feature, threshold = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.float32)
    left, right = np.full(most, -1), np.full(most, -1)
    begin, end, rows, at, columns = (np.zeros(size, dtype=np.int64) for size in (most, most, l, l, d))
    key, place, weight, beside = np.zeros(l + 1, np.float32), np.zeros(l + 1, np.int64), np.zeros(l), np.zeros(k)
    rising = np.zeros((0, l), np.int64) if extra else np.ascontiguousarray(np.argsort(X, axis=0, kind="stable").T)
    number = _grow(
        np.ascontiguousarray(X, dtype=np.float32), np.asarray(codes, dtype=np.int64), seeds.copy(), extra, away,
        np.asarray(count, dtype=np.float64), max(1, int(np.sqrt(d))), roots, feature, threshold, left, right, value,
        begin, end, rows, columns, key, place, beside, weight, rising, at,
    )  # fmt: skip
    return roots, feature[:number], threshold[:number], left[:number], right[:number], value[:number].copy()


@compiled(nogil=True, error_model="numpy")
def _grow(
    X: Array, codes: Array, state: Array, extra: bool, away: Array, count: Array, wanted: int, roots: Array,
    feature: Array, threshold: Array, left: Array, right: Array, value: Array, begin: Array, end: Array, rows: Array,
    columns: Array, key: Array, place: Array, beside: Array, weight: Array, rising: Array, at: Array,
) -> int:  # fmt: skip
    """See `grow`. Fills the arrays and returns the number of nodes. `state` has a seed for each tree."""
    l, d = X.shape
    k, number = value.shape[1], 0
    for tree in range(len(roots)):
        for i in range(l):
            weight[i], at[i] = 0.0, -1
        for _ in range(l):
            weight[int(_random(state, tree) * l)] += 1.0
        seen = 0
        for i in range(l):
            if weight[i] > 0:
                weight[i] *= count[i]
                rows[seen] = i
                at[i] = number
                seen += 1
        for c in range(d):
            columns[c] = c
        node = roots[tree] = number
        end[node] = seen
        number += 1
        while node < number:
            a, b = begin[node], end[node]
            n = b - a
            total = value[node]
            for i in range(a, b):
                total[codes[rows[i]]] += weight[rows[i]]
            best, best_column, best_cut = -1.0, -1, np.float32(0.0)
            present, mass = 0, 0.0
            for c in range(k):
                present += total[c] > 0
                mass += total[c]
            if present > 1:
                visited = 0
                while visited < d and (visited < wanted or best_column < 0):
                    other = visited + int(_random(state, tree) * (d - visited))
                    columns[visited], columns[other] = columns[other], columns[visited]
                    column = columns[visited]
                    visited += 1
                    pure = best >= mass  # both sides are, and no cut is better
                    if pure and not extra:
                        continue
                    if extra or n < l // SCANNED:
                        low, high = X[rows[a], column], X[rows[a], column]
                        for i in range(n):
                            place[i] = rows[a + i]
                            key[i] = X[rows[a + i], column]
                            low, high = min(low, key[i]), max(high, key[i])
                    else:
                        _pick_out(rising, at, node, X, column, key, place)
                        low, high = key[0], key[n - 1]
                    if high <= low + EQUAL:
                        continue
                    if extra:
                        cut = np.float32(low + np.float32(_random(state, tree)) * (high - low))
                        cut = low if cut >= high else cut
                        gain = -1.0 if pure else _cut_at(key, place, n, codes, weight, total, beside, cut)
                    else:
                        if n < l // SCANNED:
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
                if not extra:
                    for j in range(a, b):
                        at[rows[j]] = number + (j >= i)
                number += 2
            for c in range(k):
                total[c] /= mass
            node += 1
        for i in range(l):
            if weight[i] == 0:
                node = roots[tree]
                while left[node] >= 0:
                    node = left[node] if X[i, feature[node]] <= threshold[node] else right[node]
                for c in range(k):
                    away[i, c] += value[node, c]
                away[i, k] += 1.0
    return number


@compiled(nogil=True)
def walked(
    X: Array, roots: Array, value: Array, column: Array, cut: Array, child: Array, depth: Array, only: Array, out: Array
) -> None:
    """Add the values of the leaves that rows X (float32) reach in large trees to out (n, k).

    Some rows go down side by side, so that the processor waits for no single row. `depth` is that of each tree, `only`
    the class of a pure leaf, else −1. A leaf is its own child.
    """
    n, k = len(X), value.shape[1]
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


@compiled(nogil=True, error_model="numpy", no_cpython_wrapper=True)
def _divide(above: Array, x: Array, cut: np.float32, left: Array, right: Array) -> None:
    """Which rows go left and right, of those that are above."""
    for i in range(len(above)):
        goes = np.uint8(x[i] <= cut)
        left[i] = above[i] & goes
        right[i] = above[i] & (goes ^ np.uint8(1))


@compiled(nogil=True, error_model="numpy", no_cpython_wrapper=True)
def _count(total: Array, here: Array) -> None:
    for i in range(len(total)):
        total[i] += here[i]


def flooded(
    X: Array, roots: Array, value: Array, column: Array, cut: Array, child: Array, most: int, only: Array, out: Array
) -> None:
    """Do the same for trees of at most `most` nodes. A block of rows visits all nodes, so that no row is waited for."""
    table, at = np.zeros((X.shape[1], BLOCK), dtype=np.float32), np.zeros((most, BLOCK), dtype=np.uint8)
    _flood(X, roots, value, column, cut, child, only, out, table, at, np.zeros((value.shape[1], BLOCK), dtype=np.uint8))


@compiled(nogil=True, error_model="numpy")
def _flood(
    X: Array, roots: Array, value: Array, column: Array, cut: Array, child: Array, only: Array, out: Array,
    table: Array, at: Array, count: Array,
) -> None:  # fmt: skip
    """See `flooded`. The last three arrays are work space for a block of rows."""
    n, d = X.shape
    k = value.shape[1]
    for begin in range(0, n, BLOCK):
        m = BLOCK if begin + BLOCK <= n else n - begin
        for i in range(m):
            for j in range(d):
                table[j, i] = X[begin + i, j]
        seen = 0
        for tree in range(len(roots)):
            first = roots[tree]
            last = roots[tree + 1] if tree + 1 < len(roots) else len(value)
            for i in range(BLOCK):
                at[0, i] = 1
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
                        count[c, i] = 0
                seen = 0
