"""Support vector data description, the smallest ball around most of the points.

With d_i = k(x_i, x_i) and c = Σ β_i φ(x_i), the primal in (c, ρ), ρ = R² − ‖c‖², and its dual in β are

    min  ‖c‖² + ρ + Σ_i max(high_i (g_i − ρ), low_i (g_i − ρ)),      g_i = d_i − 2 ⟨φ(x_i), c⟩,
    max  Σ_i d_i β_i − βᵀKβ   subject to   Σ β_i = 1,   low_i ≤ β_i ≤ high_i.

The box covers every variant. An ordinary row has [0, 1/(νn)] and is penalized if it is outside. A known outlier has
[−u, 0] and is penalized if it is *inside* (Tax and Duin's signs, included in β). A weight scales its row's box. The
primal is convex for all signs, since ‖φ − c‖² − R² = d − 2⟨φ, c⟩ − ρ is linear in (c, ρ), and R² = ρ + ‖c‖² follows.
All of this remains true for a d_i larger than K_ii = ‖z_i‖² (an approximate map), with the center in the span of the
map.

Three solvers have the same certificate (`certify`). `svdd_smo` works on kernel columns, and `svdd_sweeps` and
`svdd_gradient` on features Z.
"""

import numpy as np

from ... import rows
from ...errors import InputError
from ...linalg import precision
from ..result import Result
from .access import CachedColumns, Dense, DeviceProducts, Features
from .polish import polish


def svdd_smo(K, low, high, *, linear=None, tol=1e-6, max_iter=500, start=None, cache_bytes=500_000_000, random_state=0):
    """Solve the dual by sequential minimal optimization on blocks of kernel columns.

    Each round puts the in-bound variables and the outermost and innermost of the others in a working set. It runs
    second-order pairwise steps on its small dense kernel matrix (compiled), and corrects the gradient of all n rows
    once. The in-bound variables are then solved for exactly, so that equivalent problems (a weight of 2 and a row that
    occurs twice) have the same ball.

    Variables that are correctly at a bound stay outside (shrinking). Since every certificate covers all rows, none
    needs a special pass to come back. Only rows that moved cost a kernel column. Columns are computed many at a time
    (one matrix product, several times faster than row by row). Those of the first guess are added up and not kept,
    since most of its rows never move. Of the others the least recently used leave the cache first.

    Parameters
    ----------
    K : symmetric matrix, or an `Operator` of which `diag`, `columns`, `block` and `combine` are used.
    low, high : the box with one entry per row, such that Σ low ≤ 1 ≤ Σ high.
    linear : d_i. K's diagonal unless given.
    tol : wanted duality gap, relative to the dual objective.
    start : a first β (it is projected on the box). By default a small random subset is solved and extended.

    Returns a `Result` with value β, objective Σdβ − βᵀKβ and the relative gap. Info has `rho`, `center_sq` = βᵀKβ,
    `radius_sq`, `gradient` = g, `violation` (of the KKT conditions), `inner_iterations` and `columns` (how many were
    computed).
    """
    dense = isinstance(K, np.ndarray)
    access = Dense(K) if dense else DeviceProducts(K) if K.on_gpu else CachedColumns(K, cache_bytes)
    if linear is None:
        linear = np.diag(K) if dense else K.diag()
    # 256 bound variables at most enter the working set, since each that moves costs a kernel column.
    found = _decompose(access, linear, low, high, tol, max_iter, start, (16, 512), 256, random_state)
    found.info["columns"] = access.n_columns
    return found


def svdd_sweeps(Z, linear, low, high, *, tol=1e-6, max_iter=500, start=None, random_state=0):
    """Solve the dual for K = ZZᵀ with a few passes over Z, on Z's device.

    The rounds are those of `svdd_smo`. The working set's rows are moved to the host, and the gradient of all rows takes
    one pass. A round costs O(n r). A relative gap of 1e-6 takes 5 to 25 rounds, compared with hundreds of passes of the
    accelerated gradient. Parameters and result are those of `svdd_smo`, with `linear` d_i = k(x_i, x_i).
    """
    return _decompose(Features(Z), linear, low, high, tol, max_iter, start, (1024, 1024), 2048, random_state)


def svdd_gradient(Z, linear, low, high, *, tol=1e-6, max_iter=2000, start=None):
    """Solve the dual for K = ZZᵀ by accelerated projected gradient, restarted whenever it turns uphill.

    An iteration takes two passes over Z and reads no single rows. This is slower than `svdd_sweeps`, and simple enough
    to check it. Parameters and result are those of `svdd_smo`.
    """
    linear, low, high = _check(linear, low, high)
    lipschitz = 2 * max(float(np.linalg.eigvalsh(rows.gram(Z))[-1]), np.finfo(float).tiny)
    beta = project(np.zeros(len(low)) if start is None else start, low, high)
    ahead, momentum, history = beta, 1.0, []
    for iteration in range(1, max_iter + 1):
        slope = linear - 2 * rows.dot(Z, rows.tdot(Z, ahead))
        new = project(ahead + slope / lipschitz, low, high)
        if (ahead - new) @ (new - beta) > 0:  # drop a momentum that points uphill (O'Donoghue and Candès, 2015)
            momentum = 1.0
        pace = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, beta, momentum = new + (momentum - 1) / pace * (new - beta), new, pace
        if iteration % 10 == 0 or iteration == max_iter:
            proof = certify(linear - 2 * rows.dot(Z, rows.tdot(Z, beta)), beta, linear, low, high)
            history.append(proof["gap"])
            if proof["gap"] <= tol:
                break
    return _result(beta, proof, tol, iteration, history, {})


def certify(gradient: np.ndarray, beta: np.ndarray, linear: np.ndarray, low: np.ndarray, high: np.ndarray) -> dict:
    """The duality gap of β and the offsets that belong to it.

    For fixed c the best ρ is a weighted quantile of g. The upper bounds of the rows outside the ball sum to at most 1.
    With high = 1/(νn), therefore, at most νn rows are outside, converged or not. If a whole interval is optimal (no
    in-bound support vector) its middle is taken. The gap is a sum of non-negative terms, one per row, without
    cancellation.
    """
    rho = _offset(gradient, low, high)
    # Rows on the sphere count as inside. Rounding scatters their g about ρ, so the outermost of them gives the radius.
    margin = 1e-6 * (high - low)
    surface = np.max(gradient[(beta > low + margin) & (beta < high - margin)], initial=rho)
    excess = gradient - rho
    gap = float(np.sum(np.maximum(high * excess, low * excess) - beta * excess))
    objective = float(beta @ (linear + gradient)) / 2
    center_sq = float(beta @ (linear - gradient)) / 2
    grow, shrink = gradient[beta < high], gradient[beta > low]
    violation = float(np.max(grow) - np.min(shrink)) if len(grow) and len(shrink) else 0.0
    scale = max(abs(objective), np.finfo(float).eps * float(np.max(np.abs(linear), initial=0)), np.finfo(float).tiny)
    return {
        "gap": max(gap, 0.0) / scale,
        "objective": objective,
        "rho": float(rho),
        "center_sq": center_sq,
        "radius_sq": float(surface) + center_sq,
        "violation": max(violation, 0.0),
        "gradient": gradient,
    }


def _offset(gradient: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """The best ρ for fixed c, from the outermost rows only. Sorting all n would take as long as the rest of a round."""
    width, n = high - low, len(gradient)
    need = 1 - np.sum(low) - 1e-10
    count = int(need / (np.mean(width) or 1.0)) + 16  # enough if the widths are equal
    while True:
        order = np.argpartition(gradient, n - count)[n - count :] if count < n else np.arange(n)
        order = order[np.argsort(-gradient[order])]
        pull = np.cumsum(width[order])
        cut = min(int(np.searchsorted(pull, need)), len(order) - 1)
        later = order[cut + 1 :][width[order[cut + 1 :]] > 0]
        if len(later) or count >= n:
            break
        count *= 4
    rho = gradient[order[cut]]
    if len(later) and abs(pull[cut] - need) <= 2e-10:
        rho = (rho + gradient[later[0]]) / 2
    return float(rho)


def project(v: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The nearest point to v with Σ = 1 inside the box, clip(v − τ, low, high) with τ by safeguarded Newton."""
    left, right = float(np.min(v - high)), float(np.max(v - low))  # the sum falls from Σ high to Σ low between them
    shift = min(max((np.sum(v) - 1) / len(v), left), right)
    for _ in range(100):
        inside = np.clip(v - shift, low, high)
        excess = np.sum(inside) - 1
        if abs(excess) <= 1e-14 * len(v):
            break
        left, right = (shift, right) if excess > 0 else (left, shift)
        free = np.count_nonzero((inside > low) & (inside < high))
        step = shift + excess / free if free else np.inf
        shift = step if left < step < right else (left + right) / 2
    return inside


def _decompose(access, linear, low, high, tol, max_iter, start, n_start, n_new, random_state):
    from .smo import pairwise_ascent

    linear, low, high = _check(linear, low, high)
    if start is None:
        beta = _first_guess(access, linear, low, high, n_start, n_new, random_state, pairwise_ascent)
    else:
        beta = project(np.asarray(start, dtype=np.float64), low, high)
    gradient = linear.copy()
    support = np.flatnonzero(beta)
    n_new = min(_net(len(support), n_new), access.limit // 2)
    inside = (beta[support] > low[support]) & (beta[support] < high[support])
    # Of many rows at a bound most never move, so their columns are not kept.
    access.subtract(gradient, support, 2 * beta[support], keep=inside | (len(support) <= n_new))
    patience = 5  # rounds in which the violation must halve once the gap is small enough
    history, inner, left, least = [], 0, patience, np.inf
    # Violation of the KKT conditions, relative to the largest d_i, that rounding may leave
    rounding = max(1e-12, 16 * precision(access.dtype)) * float(np.max(np.abs(linear), initial=0))
    for iteration in range(1, max_iter + 1):
        proof = certify(gradient, beta, linear, low, high)
        history.append(proof["gap"])
        if proof["violation"] <= least / 2:
            left, least = patience, proof["violation"]
        left -= proof["gap"] <= tol
        if proof["violation"] <= rounding or left < 0 or iteration == max_iter:
            break
        work = _working_set(gradient, beta, low, high, proof["rho"], n_new, access.limit // 2)
        K, slope, block, box = access.block(work), gradient[work], beta[work], (low[work], high[work])
        steps, _ = pairwise_ascent(K, slope, block, *box, 0.01 * proof["violation"], 1_000_000)
        inner += steps
        polish(K, slope, block, *box)
        change = block - beta[work]
        moved = change != 0
        if not np.any(moved):  # the steps left are below rounding
            break
        beta[work] = block
        access.subtract(gradient, work[moved], 2 * change[moved])
    return _result(beta, proof, tol, iteration, history, {"inner_iterations": inner})


def _net(n_support: int, most: int) -> int:
    """How many bound variables enter a working set, at least 128. With few support vectors more would cost too much."""
    return max(128, min(most, n_support // 2))


def _working_set(
    gradient: np.ndarray, beta: np.ndarray, low: np.ndarray, high: np.ndarray, rho: float, n_new: int, n_free: int
) -> np.ndarray:
    """In-bound variables, the outermost of those that may grow and the innermost of those that may shrink.

    The worst pair is always included. Rows without a violation will have one when the center moves towards the others.
    """
    can_grow, can_shrink = beta < high, beta > low
    free, up, down = (np.flatnonzero(which) for which in (can_grow & can_shrink, can_grow, can_shrink))
    work = np.zeros(len(beta), dtype=bool)
    work[_largest(free, np.abs(gradient[free] - rho), n_free)] = True
    each = max(n_new // 2, 1)
    work[_largest(up, gradient[up], each)] = True
    work[_largest(down, -gradient[down], each)] = True
    return np.flatnonzero(work)


def _largest(idx: np.ndarray, score: np.ndarray, count: int) -> np.ndarray:
    return idx if len(idx) <= count else idx[np.argpartition(-score, count)[:count]]


def _first_guess(
    access,
    linear: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    n_start: tuple[int, int],
    n_new: int,
    random_state: int,
    ascent,
) -> np.ndarray:
    """Solve a small random subset. Give the farthest rows from its center their upper bound until Σβ = 1. Solve those.

    Kernel columns are computed for the small subset only. For the far rows a block of the kernel matrix is enough.
    """
    beta = np.clip(0.0, low, high)
    need = 1 - np.sum(beta)
    if need <= 0:
        return project(beta, low, high)
    ordinary = np.flatnonzero(high > 0)
    least, most = n_start
    n_pick = max(least, min(most, int(len(ordinary) / np.sum(high)) // 2))  # half as many as can be outside
    pick = np.sort(np.random.default_rng(random_state).permutation(ordinary)[: min(n_pick, access.limit)])
    share = high[pick] / np.sum(high[pick])
    ceiling = share * max(np.sum(high), 1.0)
    small = access.block(pick)
    slope = linear[pick] - 2 * small @ share
    ascent(small, slope, share, np.zeros(len(pick)), ceiling, 1e-3 * np.max(np.diag(small)), 10_000)
    far = linear.copy()
    access.subtract(far, pick[share > 0], 2 * share[share > 0], keep=False)
    order = ordinary[np.argsort(-far[ordinary], kind="stable")]
    room = (high - beta)[order]
    beta[order] += np.clip(need - (np.cumsum(room) - room), 0, room)
    full = order[np.cumsum(room) <= need]
    beta[full] = high[full]
    n_work = len(full) + _net(len(full), n_new)
    cheap = n_work <= min(access.limit // 2, len(beta) // 4)
    if cheap and not np.any(low > 0):  # then the whole support is among the farthest rows
        work = np.sort(order[:n_work])
        small, some = access.block(work), beta[work]
        slope = linear[work] - 2 * small @ some
        ascent(small, slope, some, low[work], high[work], 0.01 * np.ptp(slope), 1_000_000)
        beta[work] = some
    return beta


def _check(linear, low, high):
    linear, low, high = (np.array(a, dtype=np.float64) for a in (linear, low, high))
    if np.any(low > high):
        i = int(np.argmax(low > high))
        raise InputError(f"Row {i} has the lower bound {low[i]:g} above its upper bound {high[i]:g}. Give low ≤ high.")
    if np.sum(high) < 1 - 1e-9 or np.sum(low) > 1 + 1e-9:
        raise InputError(
            f"The bounds allow sums of β from {np.sum(low):g} to {np.sum(high):g}, and the sum must be 1. "
            "Raise the upper bounds. For n rows and a fraction nu they are 1/(nu·n), with nu at most 1."
        )
    return linear, low, high


def _result(beta: np.ndarray, proof: dict, tol: float, n_iter: int, history: list, info: dict) -> Result:
    converged = proof["gap"] <= tol
    if converged:
        reason = f"The relative duality gap {proof['gap']:.1e} is at most tol = {tol:g}."
    else:
        reason = (
            f"SVDD stopped after {n_iter} rounds at a relative duality gap of {proof['gap']:.1e}, above tol = {tol:g}. "
            "Raise max_iter, or tol. Below about 1e-10 rounding stops the progress."
        )
    gap, objective = proof["gap"], proof["objective"]
    info.update({name: proof[name] for name in ("rho", "center_sq", "radius_sq", "violation", "gradient")})
    return Result(beta, objective, gap, n_iter, converged, reason, history, info)
