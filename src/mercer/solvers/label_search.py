"""Search over labels: F(y) = total − ‖Wᵀy‖² over the labels of the free rows, under a balance constraint.

With k classes, y_c ∈ {±1}ⁿ the membership of class c and F the mean of the k one-against-rest values, F depends on the
labels only through A = Σ_c ‖s_c‖², s_c = Σ_{i in c} W_i: F = total − (4A + (k − 4)‖Wᵀ1‖²)/k. Two classes give the formula
above. So one code serves k ≥ 2, and a move costs O(r) (sums s_c) or O(1) (all gains kept up to date through M = W Wᵀ).
"""

import os
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ..backend import blas_threads, memory_available
from ..errors import InputError
from ..linalg import eigh_down
from .result import Result

SEARCHES = ("auto", "tabu", "ea", "round_robin")
CANDIDATES = 1000  # rows nearest to changing class on which the low-rank form runs its tabu search
_DENSE_BYTES = 1 << 30  # M is never larger than this


def count_bounds(n_free, shares, slack):
    """Fewest and most free rows each class may hold, |count/u − share| < slack, as an int array (k, 2).

    Parameters
    ----------
    n_free : int, the number u of rows whose labels are searched.
    shares : array of k shares summing to 1.
    slack : float > 0.
    """
    shares = np.asarray(shares, dtype=np.float64)
    if np.any(shares < 0) or abs(shares.sum() - 1.0) > 1e-6:
        raise InputError(
            f"The class shares are {np.round(shares, 6).tolist()}; they must not be negative and must sum to 1. "
            "Give one share per class, or balance=None for no constraint."
        )
    if not slack > 0:
        raise InputError(f"balance_slack is {slack}; it must be positive (0.1 allows shares to differ by up to 10 %).")
    rounding = 1e-9 * max(n_free, 1)
    low = np.floor(n_free * (shares - slack) + rounding).astype(np.int64) + 1
    high = np.ceil(n_free * (shares + slack) - rounding).astype(np.int64) - 1
    low, high = np.clip(low, 0, n_free), np.clip(high, 0, n_free)
    narrow = np.flatnonzero(low > high)
    if len(narrow):
        wanted = n_free * shares[narrow[0]]
        down, up = int(np.floor(wanted)), int(np.ceil(wanted))
        nearest = min(wanted - down, up - wanted) / n_free
        raise InputError(
            f"The balance cannot be met: share {shares[narrow[0]]:.6g} of {n_free} unlabelled rows is {wanted:.6g} rows, and no "
            f"count lies within balance_slack = {slack:g} of it. The nearest feasible counts are {down} and {up}: use a "
            f"balance_slack above {nearest:.3g}, or a balance of {down}/{n_free} or {up}/{n_free}."
        )
    if low.sum() > n_free or high.sum() < n_free:
        side = f"at least {low.sum()}" if low.sum() > n_free else f"at most {high.sum()}"
        raise InputError(
            f"The balance cannot be met: with balance_slack = {slack:g} the {len(shares)} classes may hold {low.tolist()} to "
            f"{high.tolist()} rows, {side} in all, and there are {n_free} unlabelled rows. Use a larger balance_slack."
        )
    # What one class may hold is also limited by what the others must and may hold.
    return np.column_stack(
        [np.maximum(low, n_free - (high.sum() - high)), np.minimum(high, n_free - (low.sum() - low))]
    )


@dataclass
class _Problem:
    """One search: what every restart reads and none changes."""

    W: np.ndarray
    norms: np.ndarray
    labels: np.ndarray  # −1 where free
    free: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shares: np.ndarray
    total: float

    @property
    def k(self):
        return len(self.low)

    def value(self, labels):
        """F at full labels: O(n r)."""
        from ._label_kernels import class_sums

        S = class_sums(self.W, labels, self.k)
        return self.total - (4.0 * np.sum(S * S) + (self.k - 4) * np.sum(S.sum(axis=0) ** 2)) / self.k

    def counts(self, labels):
        return np.bincount(labels[self.free], minlength=self.k)


def label_search(
    W,
    labels,
    *,
    shares=None,
    slack=0.1,
    n_classes=None,
    total=0.0,
    search="auto",
    form="auto",
    n_restarts=50,
    mu=5,
    nu=25,
    patience=None,
    time_budget=None,
    n_jobs=None,
    random_state=None,
    verbose=0,
):
    """Find labels of the free rows that minimise F(y) = total − ‖Wᵀy‖² within the balance interval.

    Parameters
    ----------
    W : array (n, r), rows W_j with ‖Wᵀy‖² the part of F that depends on the labels.
    labels : int array (n,), class 0 … k−1 where the label is pinned (it never moves), −1 where it is searched.
    shares : array (k,) or None
        Wanted share of each class among the free rows; None leaves them unconstrained (`n_classes` then gives k).
    slack : float, how far a share may be off: |count/u − share| < slack.
    total : float, the constant of F.
    search : {"auto", "tabu", "ea", "round_robin"}
        "ea" is the (mu+nu) evolutionary algorithm, "round_robin" the (1+1) scheme that visits rows in turn, "tabu" takes
        steepest moves and balance-preserving swaps with a short memory. "auto" is "tabu": it reaches a lower F in the same time.
    form : {"auto", "dense", "low_rank"}
        For tabu: keep M = W Wᵀ of all free rows, or of the rows nearest to changing class after a low-rank descent; "auto" takes
        the cheaper by :func:`choose_form`.
    n_restarts : int; every restart has its own random numbers, so the answer is the same for any `n_jobs`.
    patience : int or None, steps without improvement that end a restart (tabu: default u; ea: default n, as in the paper).
    time_budget : float or None, seconds after which the best labels so far are returned.
    n_jobs : int or None, threads (None: one per core).
    random_state : int, SeedSequence or None.

    Returns
    -------
    Result
        ``value`` the labels, ``objective`` F, ``gap`` = F − ``info["bound"]`` with the spectral lower bound of
        :func:`spectral_bound`. ``info`` also holds ``best_move`` (the change of F by the best single valid move: ≥ 0 at a
        one-flip optimum), ``evaluations``, ``evaluations_per_second``, ``seconds``, ``objectives`` of the restarts and ``form``.

    Notes
    -----
    Cost: O(n r) per round of the round-robin, O(u) per tabu step once M is there (O(u² r)).
    """
    started = time.perf_counter()
    problem = _checked(W, labels, shares, slack, n_classes, total)
    u, k = len(problem.free), problem.k
    if search not in SEARCHES:
        raise InputError(f"search is {search!r}; it must be one of {', '.join(map(repr, SEARCHES))}.")
    if n_restarts < 1:
        raise InputError(f"n_restarts is {n_restarts}; it must be at least 1.")
    search = "tabu" if search == "auto" else search
    if search != "tabu" and u and np.all(problem.low == problem.high):
        raise InputError(
            f"search={search!r} changes one label at a time, and the balance admits only the counts {problem.low.tolist()} of "
            f"the {u} free rows. Use search='tabu' (it exchanges labels) or a larger balance_slack."
        )
    M, chosen = None, "low_rank"
    if search == "tabu" and u:
        chosen = choose_form(u, problem.W.shape[1], k, n_restarts) if form == "auto" else form
        if chosen == "dense":
            M = problem.W[problem.free] @ problem.W[problem.free].T
    stop = np.zeros(1, dtype=np.uint8)

    def restart(number, seed):
        rng = np.random.default_rng(seed)
        if stop[0]:
            return None
        if search == "ea":
            found, evaluated = _evolve(problem, mu, nu, patience or len(problem.labels), rng, stop)
        elif search == "round_robin":
            found, evaluated = _descend(problem, random_start(problem, rng), stop)
        elif chosen == "dense":
            found = pinned_start(problem) if number == 0 else random_start(problem, rng)
            found, evaluated = _tabu(problem, found, problem.free, M, patience or u, rng, stop)
        else:
            found = pinned_start(problem) if number == 0 else random_start(problem, rng)
            found, evaluated = _descend_tabu(problem, found, patience, rng, stop)
        return problem.value(found), found, evaluated

    seeds = np.random.SeedSequence(random_state) if not isinstance(random_state, np.random.SeedSequence) else random_state
    n_restarts = n_restarts if u else 1
    done = _run(restart, seeds.spawn(n_restarts), n_jobs, time_budget, stop, started, verbose)
    winner = min(done, key=lambda number: (done[number][0], number))
    objective, found, _ = done[winner]
    seconds = time.perf_counter() - started
    evaluations = sum(entry[2] for entry in done.values())
    bound = spectral_bound(problem)
    finished = not stop[0]
    reason = f"{len(done)} of {n_restarts} restarts in {seconds:.2f} s; "
    reason += (
        "each ended in a local optimum." if finished else "the time budget ended the search, this is the best so far."
    )
    return Result(
        value=found,
        objective=objective,
        gap=objective - bound,
        n_iter=len(done),
        converged=finished,
        reason=reason,
        history=list(np.minimum.accumulate([done[number][0] for number in sorted(done)])),
        info={
            "bound": bound,
            "best_move": best_move(problem, found),
            "counts": problem.counts(found),
            "count_bounds": np.column_stack([problem.low, problem.high]),
            "evaluations": evaluations,
            "evaluations_per_second": evaluations / max(seconds, 1e-9),
            "seconds": seconds,
            "objectives": np.array([done[number][0] for number in sorted(done)]),
            "form": chosen,
            "search": search,
        },
    )


def choose_form(n_free, r, k, n_restarts):
    """"dense" or "low_rank", whichever a count of the work says is cheaper (and "low_rank" where M would not fit).

    One unit is a multiply-add in a Numba loop; a matrix product does about eight in that time. A dense restart makes about
    3u steps of u·k units; a low-rank one 15 rounds of u·r·k, and the same on its candidates. Checked in
    benchmarks/label_search.py: the choice is never slower than twice the better form.
    """
    free_memory = memory_available()
    if 8 * n_free**2 > min(_DENSE_BYTES, (free_memory or _DENSE_BYTES) / 4):
        return "low_rank"
    m = min(n_free, CANDIDATES)
    dense = n_free**2 * r / 8 + n_restarts * 3 * k * n_free**2
    low_rank = n_restarts * (15 * k * n_free * r + m**2 * r / 8 + 3 * k * m**2)
    return "dense" if n_free <= CANDIDATES or dense <= low_rank else "low_rank"


def spectral_bound(problem):
    """A lower bound of F over all labelings: the free part of y is only kept on its sphere and its mean in its interval.

    For class c let a = W_Lᵀt be the pinned part, m the mean free row and σ the sum of the free labels. With θ_i, q_i the
    eigenpairs of the centred free rows' Gram matrix, for every μ > θ_1

        ‖Wᵀy‖² ≤ max_σ μ(u − σ²/u) + Σ_i μ/(μ − θ_i) (q_i·(a + σm))²,

    a quadratic in σ; the best μ is found by a scalar search. Above 400 columns only the leading eigenpairs are computed, and the rest
    takes the weight of the last one, which keeps the bound valid.
    """
    W, free, k = problem.W, problem.free, problem.k
    u = len(free)
    if u == 0:
        return problem.value(problem.labels)
    Wf = W[free]
    mean = Wf.mean(axis=0)
    theta, Q = _leading_eigenpairs(Wf.T @ Wf - u * np.outer(mean, mean))
    pinned = np.flatnonzero(problem.labels >= 0)
    bounds = []
    for c in range(1 if k == 2 else k):
        sign = np.where(problem.labels[pinned] == c, 1.0, -1.0)
        a = W[pinned].T @ sign
        ends = 2.0 * np.array([problem.low[c], problem.high[c]]) - u
        bounds.append(problem.total - _largest_on_sphere(theta, Q, a, mean, u, ends))
    return float(np.mean(bounds))


def _leading_eigenpairs(C, full=400, kept=40):
    if len(C) <= full:
        theta, Q = eigh_down(C)
    else:
        from scipy.sparse.linalg import eigsh

        theta, Q = eigsh(C, k=kept, v0=np.ones(len(C)))
        theta, Q = theta[::-1], Q[:, ::-1]
    return np.maximum(theta, 0.0), Q


def _largest_on_sphere(theta, Q, a, mean, u, ends):
    alpha, beta = Q.T @ a, Q.T @ mean
    rest = np.array([a @ a - alpha @ alpha, a @ mean - alpha @ beta, mean @ mean - beta @ beta])
    rest[[0, 2]] = np.maximum(rest[[0, 2]], 0.0)
    top = max(theta[0], 1e-300)

    def bound(log_excess):
        mu = top * (1.0 + np.exp(log_excess))
        weight = mu / (mu - theta)
        last = weight[-1]
        c0 = mu * u + weight @ alpha**2 + last * rest[0]
        c1 = 2.0 * (weight @ (alpha * beta) + last * rest[1])
        c2 = -mu / u + weight @ beta**2 + last * rest[2]
        sigmas = list(ends)
        if c2 < 0 and ends[0] < -c1 / (2 * c2) < ends[1]:
            sigmas.append(-c1 / (2 * c2))
        return max(c0 + c1 * sigma + c2 * sigma**2 for sigma in sigmas)

    found = minimize_scalar(bound, bounds=(-30.0, 25.0), method="bounded", options={"xatol": 1e-6})
    return min(found.fun, bound(-30.0))


def best_move(problem, labels):
    """Change of F by the best single valid move from these labels (positive: a strict one-flip optimum)."""
    gains = _move_gains(problem, labels)
    counts = problem.counts(labels)
    own = labels[problem.free]
    valid = (counts > problem.low)[own][:, None] & (counts < problem.high)[None, :]
    valid[np.arange(len(own)), own] = False
    return float(-4.0 / problem.k * gains[valid].max()) if valid.any() else float("inf")


def _move_gains(problem, labels):
    """Change of A when a free row moves to each class (0 for its own class), u × k."""
    from ._label_kernels import class_sums

    scores = (problem.W @ class_sums(problem.W, labels, problem.k).T)[problem.free]
    own = np.take_along_axis(scores, labels[problem.free][:, None], axis=1)
    gains = 2.0 * (scores - own + problem.norms[problem.free][:, None])
    np.put_along_axis(gains, labels[problem.free][:, None], 0.0, axis=1)
    return gains


def random_start(problem, rng):
    """Free labels drawn with the class shares, then moved at random until the counts are feasible."""
    labels = problem.labels.copy()
    labels[problem.free] = rng.choice(problem.k, size=len(problem.free), p=problem.shares)
    return _make_feasible(problem, labels, rng.permutation(len(problem.free)).astype(np.float64))


def pinned_start(problem):
    """Free labels by the class whose pinned rows they agree with most: the labelled rows' own guess."""
    from ._label_kernels import class_sums

    scores = problem.W[problem.free] @ class_sums(problem.W, problem.labels, problem.k).T
    pinned = np.bincount(problem.labels[problem.labels >= 0], minlength=problem.k)
    scores = scores / np.maximum(pinned, 1)
    labels = problem.labels.copy()
    labels[problem.free] = np.argmax(scores, axis=1)
    top_two = np.sort(scores, axis=1)[:, -2:]
    return _make_feasible(problem, labels, top_two[:, 1] - top_two[:, 0])


def _make_feasible(problem, labels, reluctance):
    """Move the least reluctant rows out of overfull classes (and, if need be, others) into those that lack rows."""
    low, high, free = problem.low, problem.high, problem.free
    counts = problem.counts(labels)
    wanted = np.clip(counts, low, high)
    while (missing := len(free) - wanted.sum()) != 0:  # spread what clipping took or gave over the classes with room
        room = (high - wanted) if missing > 0 else (wanted - low)
        c = int(np.argmax(room))
        wanted[c] += np.sign(missing) * min(room[c], abs(missing))
    order = np.argsort(reluctance, kind="stable")
    own = labels[free[order]]
    vacated = np.concatenate([order[own == c][: max(counts[c] - wanted[c], 0)] for c in range(problem.k)])
    labels[free[vacated]] = np.repeat(np.arange(problem.k), np.maximum(wanted - counts, 0))
    return labels


def _descend(problem, labels, stop):
    """Round-robin from these labels to a one-flip optimum, by the sums s_c."""
    from ._label_kernels import class_sums, round_robin

    S, counts = class_sums(problem.W, labels, problem.k), problem.counts(labels)
    args = problem.W, problem.norms, problem.free, labels, S, counts, problem.low, problem.high, stop
    return labels, round_robin(*args)


def _descend_tabu(problem, labels, patience, rng, stop, rounds=5):
    """Low-rank form: rounds of moves and swaps over all free rows, then tabu on those nearest to changing class."""
    from ._label_kernels import class_sums, round_robin, swap_pass

    W, k, free = problem.W, problem.k, problem.free
    evaluations, value = 0, problem.value(labels)
    for _ in range(rounds):
        S, counts = class_sums(W, labels, k), problem.counts(labels)
        for _ in range(rounds):
            evaluations += round_robin(W, problem.norms, free, labels, S, counts, problem.low, problem.high, stop)
            tried, swapped = swap_pass(W, problem.norms, free, labels, S, counts, stop)
            evaluations += tried
            if swapped == 0 or stop[0]:
                break
        if stop[0]:
            break
        gains = _move_gains(problem, labels)
        np.put_along_axis(gains, labels[free][:, None], -np.inf, axis=1)
        m = min(len(free), CANDIDATES)
        nearest = np.sort(np.argpartition(-gains.max(axis=1), m - 1)[:m])
        rows = free[nearest]
        M = W[rows] @ W[rows].T
        labels, tried = _tabu(problem, labels, rows, M, patience or m, rng, stop)
        evaluations += tried
        before, value = value, problem.value(labels)
        if m == len(free) or not value < before - 1e-12 * abs(before):
            break
    return labels, evaluations


def _tabu(problem, labels, rows, M, patience, rng, stop):
    """Tabu search on the labels of `rows`; M is their Gram matrix. Returns the new labels and the evaluations."""
    from ._label_kernels import class_sums, tabu

    # The scores are W_j·s_c over every row: pinned rows and rows not in play stay inside the sums.
    scores = np.ascontiguousarray(problem.W[rows] @ class_sums(problem.W, labels, problem.k).T)
    moving = labels[rows]
    state = rng.integers(0, 2**63, size=1, dtype=np.uint64)
    args = M, scores, moving, problem.counts(labels), problem.low, problem.high, patience, state, stop
    _, evaluations, _ = tabu(*args)
    labels = labels.copy()
    labels[rows] = moving
    return labels, evaluations


def _evolve(problem, mu, nu, patience, rng, stop):
    from ._label_kernels import evolve

    population = np.stack([random_start(problem, rng) for _ in range(mu)])
    state = rng.integers(0, 2**63, size=1, dtype=np.uint64)
    args = problem.W, problem.norms, problem.free, population, problem.low, problem.high, nu, patience, state, stop
    _, evaluations = evolve(*args)
    return population[0].copy(), evaluations


def _run(restart, seeds, n_jobs, time_budget, stop, started, verbose):
    """Run the restarts in threads (the loops release the GIL); returns {number: (F, labels, evaluations)}."""
    n_jobs = max(1, min(n_jobs or len(os.sched_getaffinity(0)), len(seeds)))
    deadline = None if time_budget is None else started + time_budget
    done = {}
    with blas_threads(1), ThreadPoolExecutor(n_jobs) as pool:
        waiting = {pool.submit(restart, number, seed): number for number, seed in enumerate(seeds)}
        try:
            while waiting:
                patience = None if deadline is None else max(deadline - time.perf_counter(), 0.0)
                ready, _ = wait(waiting, timeout=None if stop[0] else patience, return_when=FIRST_COMPLETED)
                if deadline is not None and time.perf_counter() >= deadline and len(ready) < len(waiting):
                    stop[0] = 1
                    for late in list(waiting):  # keep restart 0 even if it has not begun: there must be an answer
                        if late.cancel():
                            del waiting[late]
                for future in ready:
                    number = waiting.pop(future, None)
                    if number is not None and (outcome := future.result()) is not None:
                        done[number] = outcome
                        if verbose:
                            best = min(entry[0] for entry in done.values())
                            spent = time.perf_counter() - started
                            print(f"label search: {len(done)}/{len(seeds)} restarts, best F = {best:.8g}, {spent:.1f} s")
        finally:
            stop[0] = stop[0] or bool(waiting)  # an interrupt must not leave threads running
    return done


def _checked(W, labels, shares, slack, n_classes, total):
    W = np.ascontiguousarray(W, dtype=np.float64)
    labels = np.array(labels, dtype=np.int64)
    if W.ndim != 2 or labels.shape != (len(W),):
        raise InputError(
            f"W has shape {W.shape} and labels {labels.shape}; W must be (n, r) and labels (n,), −1 where searched."
        )
    k = n_classes or (len(shares) if shares is not None else max(int(labels.max(initial=-1)) + 1, 2))
    if k < 2 or labels.max(initial=-1) >= k or labels.min(initial=0) < -1:
        raise InputError(
            f"There are {k} classes and the labels lie in {labels.min()} … {labels.max()}; "
            "there must be at least 2 classes, labelled 0 … k−1, with −1 for the rows to search."
        )
    free = np.flatnonzero(labels < 0)
    if shares is None:
        bounds = np.tile([0, len(free)], (k, 1))
        shares = np.full(k, 1.0 / k)
    else:
        if len(shares) != k:
            raise InputError(f"There are {len(shares)} class shares for {k} classes; give one share per class.")
        bounds = count_bounds(len(free), shares, slack)
    shares = np.asarray(shares, dtype=np.float64)
    norms = np.einsum("ij,ij->i", W, W)
    low, high = np.ascontiguousarray(bounds.T)
    return _Problem(W, norms, labels, free, low, high, shares / shares.sum(), float(total))
