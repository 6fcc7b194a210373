"""Compiled loops of the label search. Import lazily (needs numba).

All loops maximize A = Σ_c ‖s_c‖² with s_c = Σ_{i in class c} W_i (k × r). Moving row j from class a to b changes A by
2 W_j·(s_b − s_a) + 2‖W_j‖², and exchanging i (in a) with j (in b) by the sum of both changes less 4 W_i·W_j.
`low` and `high` bound the number of free rows in each class. A loop leaves its labels feasible whenever it stops.
`stop[0]` becomes 1 when the time is up.
"""

import numpy as np

from ...compilation import FAST, compiled

_ROUNDING = 1e-13  # of A. Smaller improvements are rounding, and moves that follow them could cycle


@compiled(nogil=True)
def _below(state: np.ndarray, m: int) -> int:
    """A random integer in 0 … m−1, by splitmix64. Each thread has a state of its own."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int(np.int64(z >> np.uint64(11)) % m)


@compiled(nogil=True)
def class_sums(W: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """S (k × r), the sums of the rows of W in each class, without the rows labeled −1."""
    S = np.zeros((k, W.shape[1]))
    for j in range(W.shape[0]):
        c = labels[j]
        if c >= 0:
            for t in range(W.shape[1]):
                S[c, t] += W[j, t]
    return S


@compiled(nogil=True, fastmath=FAST)
def _flip_gain(W: np.ndarray, S: np.ndarray, norms: np.ndarray, j: int, a: int, b: int) -> float:
    total = 0.0
    for t in range(W.shape[1]):
        total += W[j, t] * (S[b, t] - S[a, t])
    return 2.0 * (total + norms[j])


@compiled(nogil=True, fastmath=FAST)
def _swap_gain(W: np.ndarray, S: np.ndarray, i: int, j: int, a: int, b: int) -> float:
    """Change of A when i (in a) and j (in b) exchange their classes."""
    total = 0.0
    for t in range(W.shape[1]):
        step = W[i, t] - W[j, t]
        total += step * (S[b, t] - S[a, t] + step)
    return 2.0 * total


@compiled(nogil=True)
def _move(W: np.ndarray, S: np.ndarray, counts: np.ndarray, labels: np.ndarray, j: int, b: int) -> None:
    a = labels[j]
    for t in range(W.shape[1]):
        S[a, t] -= W[j, t]
        S[b, t] += W[j, t]
    counts[a] -= 1
    counts[b] += 1
    labels[j] = b


@compiled(nogil=True)
def round_robin(
    W: np.ndarray,
    norms: np.ndarray,
    free: np.ndarray,
    labels: np.ndarray,
    S: np.ndarray,
    counts: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    stop: np.ndarray,
) -> int:
    """Visit the free rows in turn and take every improving valid move, until a full round changes nothing.

    With two classes this is the (1+1) scheme of Algorithm 2 with the round-robin choice of the coordinate. Changes
    labels, S and counts in place. Returns the number of moves evaluated.
    """
    k = len(low)
    tiny = _ROUNDING * np.sum(S * S)
    evaluations, unchanged, position = 0, 0, 0
    while unchanged < len(free) and stop[0] == 0:
        j = free[position]
        a = labels[j]
        best, target = tiny, -1
        if counts[a] > low[a]:
            for b in range(k):
                if b != a and counts[b] < high[b]:
                    evaluations += 1
                    gain = _flip_gain(W, S, norms, j, a, b)
                    if gain > best:
                        best, target = gain, b
        if target >= 0:
            _move(W, S, counts, labels, j, target)
            unchanged = 0
        else:
            unchanged += 1
        position = (position + 1) % len(free)
    return evaluations


@compiled(nogil=True)
def swap_pass(
    W: np.ndarray,
    norms: np.ndarray,
    free: np.ndarray,
    labels: np.ndarray,
    S: np.ndarray,
    counts: np.ndarray,
    stop: np.ndarray,
) -> tuple[int, int]:
    """Exchange rows between every two classes, best candidates of each side first. Returns (evaluated, swapped)."""
    k = S.shape[0]
    tiny = _ROUNDING * np.sum(S * S)
    evaluations, swapped = 0, 0
    for a in range(k):
        for b in range(a + 1, k):
            rows_a = free[labels[free] == a]
            rows_b = free[labels[free] == b]
            if stop[0] != 0 or len(rows_a) == 0 or len(rows_b) == 0:
                continue
            gains_a = np.empty(len(rows_a))
            gains_b = np.empty(len(rows_b))
            for i in range(len(rows_a)):
                gains_a[i] = _flip_gain(W, S, norms, rows_a[i], a, b)
            for j in range(len(rows_b)):
                gains_b[j] = _flip_gain(W, S, norms, rows_b[j], b, a)
            order_a = np.argsort(-gains_a)
            order_b = np.argsort(-gains_b)
            evaluations += len(rows_a) + len(rows_b)
            for p in range(min(len(rows_a), len(rows_b))):
                i, j = rows_a[order_a[p]], rows_b[order_b[p]]
                if gains_a[order_a[p]] + gains_b[order_b[p]] <= tiny or stop[0] != 0:
                    break
                evaluations += 1
                if _swap_gain(W, S, i, j, a, b) > tiny:  # exact, with the sums as they are now
                    _move(W, S, counts, labels, i, b)
                    _move(W, S, counts, labels, j, a)
                    swapped += 1
    return evaluations, swapped


@compiled(nogil=True)
def evolve(W, norms, free, population, low, high, n_children, patience, state, stop):
    """The (μ+ν) evolutionary algorithm with ν one-flip children per generation, of which the best μ of all survive.

    `population` is μ × n and feasible. It is changed in place, with the best individual first. The loop stops after
    `patience` generations without a change. A child is kept as (parent, row, class) until it survives. Returns
    (generations, evaluations).
    """
    mu, k, u = population.shape[0], len(low), len(free)
    S = np.empty((mu, k, W.shape[1]))
    counts = np.zeros((mu, k), np.int64)
    value = np.empty(mu + n_children)
    for p in range(mu):
        S[p] = class_sums(W, population[p], k)
        value[p] = np.sum(S[p] * S[p])
        for j in free:
            counts[p, population[p, j]] += 1
    parents = np.arange(mu + n_children)
    rows = np.empty(mu + n_children, np.int64)
    targets = np.empty(mu + n_children, np.int64)
    generations, unchanged = 0, 0
    while unchanged < patience and stop[0] == 0:
        for child in range(mu, mu + n_children):
            p = _below(state, mu)
            while True:  # the caller made sure that valid moves exist from every feasible labeling
                j = free[_below(state, u)]
                a = population[p, j]
                b = (a + 1 + _below(state, k - 1)) % k
                if counts[p, a] > low[a] and counts[p, b] < high[b]:
                    break
            parents[child], rows[child], targets[child] = p, j, b
            value[child] = value[p] + _flip_gain(W, S[p], norms, j, a, b)
        generations += 1
        order = np.argsort(-value, kind="mergesort")[:mu]  # stable, so that an older individual wins a tie
        if np.max(order) < mu:
            unchanged += 1
            continue
        unchanged = 0
        old_population, old_S, old_counts, old_value = population.copy(), S.copy(), counts.copy(), value.copy()
        for slot in range(mu):
            chosen = order[slot]
            population[slot] = old_population[parents[chosen]]
            S[slot] = old_S[parents[chosen]]
            counts[slot] = old_counts[parents[chosen]]
            value[slot] = old_value[chosen]
            if chosen >= mu:
                _move(W, S[slot], counts[slot], population[slot], rows[chosen], targets[chosen])
    return generations, generations * n_children


@compiled(nogil=True, fastmath=FAST | {"nnan"})  # without NaN a maximum vectorizes
def _best_gains(half, sign, free_at, step, needed):
    """Largest half gain of the rows at −1 and of those at +1 that have rested or would make a new best."""
    up, down = -np.inf, -np.inf
    for j in range(len(half)):  # no index in this loop, so that it vectorizes
        gain = half[j] if (free_at[j] <= step) | (half[j] > needed) else -np.inf
        up = max(up, gain if sign[j] < 0 else -np.inf)
        down = max(down, gain if sign[j] > 0 else -np.inf)
    return up, down


@compiled(nogil=True)
def _find(half, sign, free_at, step, needed, side, gain):
    """First row of this side with this gain."""
    if gain > -np.inf:
        for j in range(len(half)):
            if half[j] == gain and sign[j] == side and (free_at[j] <= step or gain > needed):
                return j
    return -1


@compiled(nogil=True, fastmath=FAST | {"nnan"})
def tabu_two(M, half, sign, count, low, high, patience, state, stop):
    """:func:`tabu` for two classes, about three times faster, because one number per row is enough.

    sign (m) is ±1 and half (m) = M_jj − sign_j W_j·(s_+ − s_−), half the gain of flipping row j. `count` free rows are
    +1, and `low` to `high` of them may be. Changes sign to the best found. Returns (gain over the start, evaluations,
    steps).
    """
    m = len(half)
    rest = min(10, m // 4) + m // 100
    jitter = min(10, m // 4) + 1
    free_at = np.zeros(m)  # first step at which the row may move again (float like `half`, for one vector width)
    best_sign = sign.copy()
    tiny = 0.0
    for j in range(m):
        tiny += _ROUNDING * abs(half[j])
    current, best = 0.0, 0.0
    step, since_best = 0, 0
    while since_best < patience and stop[0] == 0:
        step += 1
        since_best += 1
        needed = best + tiny - current
        up, down = _best_gains(half, sign, free_at, step, needed)
        up_open, down_open = count < high, count > low
        # The better of the moves that the balance allows, and the better of those it forbids.
        gain = max(up if up_open else -np.inf, down if down_open else -np.inf)
        shut_gain = max(-np.inf if up_open else up, -np.inf if down_open else down)
        side = -1.0 if up_open and up == gain else 1.0
        first, second = _find(half, sign, free_at, step, needed, side, gain), -1
        side = -1.0 if not up_open and up == shut_gain else 1.0
        shut = _find(half, sign, free_at, step, needed, side, shut_gain)
        if shut >= 0:  # exchange the blocked row with its best partner
            limit = -np.inf
            for j in range(m):
                both = half[shut] + half[j] - 2.0 * M[shut, j]
                ok = (sign[j] != sign[shut]) & ((free_at[j] <= step) | (both > needed))
                limit = max(limit, both if ok else -np.inf)
            if limit > gain:
                for j in range(m):
                    both = half[shut] + half[j] - 2.0 * M[shut, j]
                    if both >= limit and sign[j] != sign[shut] and (free_at[j] <= step or both > needed):
                        first, second, gain = shut, j, limit
                        break
        for row in (first, second):
            if row >= 0:
                change = 2.0 * sign[row]
                for j in range(m):
                    half[j] += change * sign[j] * M[row, j]
                half[row] = 2.0 * M[row, row] - half[row]  # flipping back undoes the gain
                count -= np.int64(sign[row])
                sign[row] = -sign[row]
                free_at[row] = step + rest + _below(state, jitter)
        if first >= 0:
            current += gain
        if current > best + tiny:
            best = current
            since_best = 0
            best_sign[:] = sign
    sign[:] = best_sign
    return 2.0 * best, step * m, step


@compiled(nogil=True, fastmath=FAST)
def tabu(
    M: np.ndarray,
    scores: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    patience: int,
    state: np.ndarray,
    stop: np.ndarray,
) -> tuple[float, int, int]:
    """Steepest moves and swaps with a short memory, on gains that are all kept up to date.

    M = W Wᵀ over the rows in play (m × m). Scores (m × k) = W_j·s_c, with the rows not in play inside s_c. Every step
    takes the best move that is not forbidden, even if it worsens. A moved row rests for about m/100 + 10 steps, unless
    moving it makes a new best. If the balance blocks the best move, that row is exchanged with its best partner
    instead. Stops after `patience` steps without a new best. Changes labels to the best found. Returns (gain over the
    start, evaluations, steps).
    """
    m, k = scores.shape
    rest = min(10, m // 4) + m // 100
    jitter = min(10, m // 4) + 1
    free_at = np.zeros(m, np.int64)  # first step at which the row may move again
    best_labels = labels.copy()
    scale = 0.0
    for j in range(m):
        scale += abs(scores[j, labels[j]])
    tiny = _ROUNDING * scale
    current, best = 0.0, 0.0
    step, since_best = 0, 0
    while since_best < patience and stop[0] == 0:
        step += 1
        since_best += 1
        # The best move that the balance allows, and the best of those it forbids.
        open_gain, open_row, open_to = -np.inf, -1, -1
        shut_gain, shut_row, shut_to = -np.inf, -1, -1
        needed = best + tiny - current
        for j in range(m):
            a = labels[j]
            may_leave = counts[a] > low[a]
            base = M[j, j] - scores[j, a]
            resting = free_at[j] > step
            for b in range(k):
                if b == a:
                    continue
                gain = 2.0 * (base + scores[j, b])
                if resting and gain <= needed:
                    continue
                if may_leave and counts[b] < high[b]:
                    if gain > open_gain:
                        open_gain, open_row, open_to = gain, j, b
                elif gain > shut_gain:
                    shut_gain, shut_row, shut_to = gain, j, b
        partner = -1
        if shut_row >= 0:
            i, a, b = shut_row, labels[shut_row], shut_to
            swap_gain = open_gain
            for j in range(m):
                if labels[j] == b:
                    gain = shut_gain + 2.0 * (M[j, j] - scores[j, b] + scores[j, a]) - 4.0 * M[i, j]
                    if gain > swap_gain and (free_at[j] <= step or gain > needed):
                        swap_gain, partner = gain, j
        if partner >= 0:
            i, a, b = shut_row, labels[shut_row], shut_to
            for j in range(m):
                change = M[i, j] - M[partner, j]
                scores[j, a] -= change
                scores[j, b] += change
            labels[i], labels[partner] = b, a
            free_at[i] = step + rest + _below(state, jitter)
            free_at[partner] = step + rest + _below(state, jitter)
            current += swap_gain
        elif open_row >= 0:
            a = labels[open_row]
            for j in range(m):
                scores[j, a] -= M[open_row, j]
                scores[j, open_to] += M[open_row, j]
            labels[open_row] = open_to
            counts[a] -= 1
            counts[open_to] += 1
            free_at[open_row] = step + rest + _below(state, jitter)
            current += open_gain
        if current > best + tiny:
            best = current
            since_best = 0
            best_labels[:] = labels
    labels[:] = best_labels
    return best, step * m * (k - 1), step
