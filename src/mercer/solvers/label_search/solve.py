"""Search for the labels of the free rows that minimize F(y) = total − ‖Wᵀy‖², under a balance constraint.

With k classes, y_c ∈ {±1}ⁿ is the membership of class c and F the mean of the k one-against-rest values. F depends on
the labels only through A = Σ_c ‖s_c‖² with s_c = Σ_{i in c} W_i, namely F = total − (4A + (k − 4)‖Wᵀ1‖²)/k. Two classes
give the formula above, so that one code is enough for k ≥ 2. A move costs O(r) with the sums s_c, or O(1) if all gains
are kept up to date with M = W Wᵀ.
"""

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from ...backend import blas_threads, memory_available, n_threads
from ...errors import InputError
from ..result import Result
from .problem import (
    best_move,
    checked_problem,
    checked_start,
    count_bounds,
    given_start,
    move_gains,
    pinned_start,
    random_start,
    smallest_slack,
    spectral_bound,
)

__all__ = ["choose_form", "count_bounds", "label_search", "smallest_slack"]

SEARCHES = ("auto", "tabu", "ea", "round_robin")
CANDIDATES = 500  # rows nearest to changing class on which the low-rank form runs its tabu search


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
    n_parents=5,
    n_children=25,
    patience=None,
    start=None,
    time_budget=None,
    n_jobs=None,
    random_state=None,
    verbose=0,
    certify=True,
):
    """Find labels of the free rows that minimize F(y) = total − ‖Wᵀy‖² within the balance interval.

    Parameters
    ----------
    W : array (n, r), rows W_j with ‖Wᵀy‖² the part of F that depends on the labels.
    labels : int array (n,), class 0 … k−1 if the label is pinned (it never moves), −1 if it is searched.
    shares : array (k,) or None
        Wanted fraction of each class among the free rows. None leaves them unconstrained (`n_classes` then gives k).
    slack : float, the largest difference of a fraction, |count/u − fraction| < slack.
    total : float, the constant of F.
    search : {"auto", "tabu", "ea", "round_robin"}
        "ea" is the evolutionary algorithm with `n_parents` (μ) and `n_children` (ν), and "round_robin" the (1+1) scheme
        that visits rows in turn. "tabu" takes steepest moves and balance-preserving swaps with a short memory. "auto"
        is "tabu", because it reaches a lower F in the same time.
    form : {"auto", "dense", "low_rank"}
        The form of the tabu search. "dense" keeps M = W Wᵀ of all free rows, and "low_rank" that of the rows nearest to
        changing class after a low-rank descent. "auto" decides by :func:`choose_form`.
    n_restarts : int. Every restart has its own random numbers, so the result is the same for any `n_jobs`. In the
        low-rank form with two classes a restart is a descent, and the best of every five goes on to a tabu search.
    patience : int or None, steps without improvement that end a restart. None means u for tabu, and n (as in the paper)
        for ea.
    start : int array (n,) or None, labels from which the first tabu search begins. With None they come from the pinned
        rows, or are random.
    time_budget : float or None, seconds after which the best labels so far are returned.
    n_jobs : int or None, number of threads. None or -1 means as many as BLAS may use.
    random_state : int, SeedSequence or None.
    certify : bool, False saves the two passes over W for `bound` and `best_move`, which are NaN then.

    Returns a `Result` with the labels as ``value``, F as ``objective`` and ``gap`` = F − ``info["bound"]``, where
    "bound" is the spectral lower bound of F. ``info`` also contains ``best_move`` (the change of F by the best single
    valid move, which is ≥ 0 at a one-flip optimum), ``evaluations``, ``evaluations_per_second``, ``seconds``,
    ``objectives`` of the restarts (or of every five) and ``form``.

    The cost is O(n r) per round of the round-robin, and O(u) per tabu step after O(u² r) for M.
    """
    started = time.perf_counter()
    problem = checked_problem(W, labels, shares, slack, n_classes, total)
    u, k = len(problem.free), problem.k
    if search not in SEARCHES:
        raise InputError(f"search is {search!r}. It must be one of {', '.join(map(repr, SEARCHES))}.")
    if n_restarts < 1:
        raise InputError(f"n_restarts is {n_restarts}. It must be at least 1.")
    search = "tabu" if search == "auto" else search
    if search != "tabu" and u and np.all(problem.low == problem.high):
        raise InputError(
            f"search={search!r} changes one label at a time, and the balance admits only the counts "
            f"{problem.low.tolist()} of the {u} free rows. Use search='tabu' (it exchanges labels) or a larger "
            "balance_slack."
        )
    if form not in ("auto", "dense", "low_rank"):
        raise InputError(f"form is {form!r}. It must be one of 'auto', 'dense', 'low_rank'.")
    M, chosen, together = None, "low_rank", 1
    if search == "tabu" and u:
        chosen = choose_form(u, problem.W.shape[1], k, n_restarts) if form == "auto" else form
        if chosen == "dense":
            M = problem.W[problem.free] @ problem.W[problem.free].T
        else:
            together = _together(k)
    if start is not None:
        start = checked_start(start, problem)
    stop = np.zeros(1, dtype=np.uint8)

    def begin(rng, number):
        if number == 0 and start is not None:
            return given_start(problem, start, rng)
        return pinned_start(problem) if number == 0 and u < len(problem.labels) else random_start(problem, rng)

    def restart(number, seed):
        """Restart `number`, and in the low-rank form also the next ones, up to `together`."""
        rng = np.random.default_rng(seed)
        if stop[0] and number:  # restart 0 returns labels even if the time is up before it begins
            return None
        if u == 0:
            found, evaluated = problem.labels, 0
        elif search == "ea":
            found, evaluated = _evolve(problem, n_parents, n_children, patience or len(problem.labels), rng, stop)
        elif search == "round_robin":
            found, _, evaluated = _descend(problem, random_start(problem, rng), stop, swap_rounds=0)
        elif chosen == "dense":
            found, evaluated = _tabu(problem, begin(rng, number), problem.free, M, patience, rng, stop)
        else:
            several = range(number, min(number + together, n_restarts))
            found, value, evaluated = _best_descent(problem, (begin(rng, i) for i in several), stop)
            found, more = _polish(problem, found, value, patience, rng, stop)
            evaluated += more
        return problem.value(found), found, evaluated

    given = isinstance(random_state, np.random.SeedSequence)
    seeds = random_state if given else np.random.SeedSequence(random_state)
    n_restarts = n_restarts if u else 1
    done = _run(restart, seeds, range(0, n_restarts, together), n_jobs, time_budget, stop, started, verbose)
    objective, found, _ = done[min(done, key=lambda number: (done[number][0], number))]
    n_done = sum(min(together, n_restarts - number) for number in done)
    seconds = time.perf_counter() - started
    evaluations = sum(entry[2] for entry in done.values())
    bound = spectral_bound(problem) if certify else float("nan")
    finished = not stop[0]
    how = "Each ended in a local optimum" if finished else "The time budget ended the search, this is the best so far"
    reason = f"{n_done} of {n_restarts} restarts in {seconds:.2f} s. {how}."
    objectives = np.array([done[number][0] for number in sorted(done)])
    info = {
        "bound": bound,
        "best_move": best_move(problem, found) if certify else float("nan"),
        "counts": problem.counts(found),
        "count_bounds": np.column_stack([problem.low, problem.high]),
        "evaluations": evaluations,
        "evaluations_per_second": evaluations / max(seconds, 1e-9),
        "seconds": seconds,
        "objectives": objectives,
        "form": chosen,
        "search": search,
    }
    history = np.minimum.accumulate(objectives).tolist()
    return Result(found, objective, objective - bound, n_done, finished, reason, history, info)


def choose_form(n_free: int, r: int, k: int, n_restarts: int) -> str:
    """Return "dense" if M fits in memory and the estimated work is at most three times the other's, else "low_rank".

    The factor is three, because a dense restart always ends in a tabu search of all rows and so reaches the best F more
    often. One unit of work is a nanosecond on one core. A dense restart makes about 3u steps of u·k units. A low-rank
    one makes 15 rounds of 0.3·u·r·k units. Each of them (with two classes, every fifth) then takes about twice a dense
    restart on its candidates, with a Gram matrix of their own. A Gram matrix takes 0.07 units per multiply-add. Checked
    by ``python -m benchmarks.speed.label_search --only form``.
    """
    most_bytes = 1 << 30  # of M
    if 8 * n_free**2 > min(most_bytes, (memory_available() or most_bytes) / 4):
        return "low_rank"
    m = min(n_free, CANDIDATES)
    dense = 0.07 * n_free**2 * r + n_restarts * 3 * k * n_free**2
    low_rank = n_restarts * 0.3 * 15 * k * n_free * r
    low_rank += np.ceil(n_restarts / _together(k)) * 2 * (0.07 * m**2 * r + 3 * k * m**2)
    # 1000: up to here M is never too dear
    return "dense" if n_free <= 1000 or dense <= 3 * low_rank else "low_rank"


def _together(k: int) -> int:
    """Descents per tabu search. With two classes many descents end alike, and with more the tabu search is needed."""
    return 5 if k == 2 else 1  # a tabu search costs as much as 5 descents


def _descend(problem, labels, stop, swap_rounds=5):
    """Round-robin from these labels to a one-flip optimum, by the sums s_c, with rounds of swaps in between.

    Returns the labels (changed in place), F up to rounding, and the evaluations.
    """
    from .compiled import class_sums, round_robin, swap_pass

    S, counts = class_sums(problem.W, labels, problem.k), problem.counts(labels)
    rows = problem.W, problem.norms, problem.free, labels, S, counts
    evaluations = round_robin(*rows, problem.low, problem.high, stop)
    for _ in range(swap_rounds):
        tried, swapped = swap_pass(*rows, stop)
        evaluations += tried
        if swapped == 0 or stop[0]:
            break
        evaluations += round_robin(*rows, problem.low, problem.high, stop)
    return labels, problem.value_of(S), evaluations


def _best_descent(problem, starts, stop):
    """The best of the descents with swaps from these starts, as its labels, F up to rounding, and all evaluations."""
    best, least, evaluations = None, np.inf, 0
    for start in starts:
        labels, value, tried = _descend(problem, start, stop)
        evaluations += tried
        if best is None or value < least:
            best, least = labels, value
        if stop[0]:
            break
    return best, least, evaluations


def _polish(problem, labels, value, patience, rng, stop):
    """Tabu search on the rows nearest to changing class, then a descent of all, while that helps (low-rank form)."""
    free = problem.free
    m = min(len(free), CANDIDATES)
    evaluations = 0
    for _ in range(5):
        if stop[0]:
            break
        gains = move_gains(problem, labels)
        np.put_along_axis(gains, labels[free][:, None], -np.inf, axis=1)
        rows = free[np.sort(np.argpartition(-gains.max(axis=1), m - 1)[:m])]
        near = problem.W[rows]
        labels, tried = _tabu(problem, labels, rows, near @ near.T, patience, rng, stop)
        before = value
        labels, value, more = _descend(problem, labels, stop)
        evaluations += tried + more
        if m == len(free) or not value < before - 1e-12 * abs(before):
            break
    return labels, evaluations


def _tabu(problem, labels, rows, M, patience, rng, stop):
    """Tabu search on the labels of `rows`. M is their Gram matrix. Returns the new labels and the evaluations."""
    from .compiled import class_sums, tabu, tabu_two

    # The scores are W_j·s_c with the sums over every row, also pinned rows and rows that are not in `rows`.
    scores = np.ascontiguousarray(problem.W[rows] @ class_sums(problem.W, labels, problem.k).T)
    moving, counts = labels[rows], problem.counts(labels)
    state = rng.integers(0, 2**63, size=1, dtype=np.uint64)
    patience = patience or len(rows)
    if problem.k == 2:
        sign = 2.0 * moving - 1.0
        half = np.diag(M) - sign * (scores[:, 1] - scores[:, 0])
        args = M, half, sign, counts[1], problem.low[1], problem.high[1], patience, state, stop
        _, evaluations, _ = tabu_two(*args)
        moving = (sign > 0).astype(np.int64)
    else:
        args = M, scores, moving, counts, problem.low, problem.high, patience, state, stop
        _, evaluations, _ = tabu(*args)
    labels = labels.copy()
    labels[rows] = moving
    return labels, evaluations


def _evolve(problem, n_parents, n_children, patience, rng, stop):
    from .compiled import evolve

    population = np.stack([random_start(problem, rng) for _ in range(n_parents)])
    state = rng.integers(0, 2**63, size=1, dtype=np.uint64)
    rows, bounds = (problem.W, problem.norms, problem.free), (problem.low, problem.high)
    _, evaluations = evolve(*rows, population, *bounds, n_children, patience, state, stop)
    return population[0].copy(), evaluations


def _run(restart, seeds, numbers, n_jobs, time_budget, stop, started, verbose):
    """Run the restarts in threads (the loops release the GIL). Returns {number: (F, labels, evaluations)}."""
    n_jobs = max(1, min(n_threads() if n_jobs in (None, -1) else n_jobs, len(numbers)))
    deadline = np.inf if time_budget is None else started + time_budget
    running: dict[Future, int] = {}
    begun, done = 0, {}
    with blas_threads(1), ThreadPoolExecutor(n_jobs) as pool:
        try:
            while running or begun < len(numbers):
                while begun < len(numbers) and len(running) < 2 * n_jobs and not (begun and stop[0]):
                    running[pool.submit(restart, numbers[begun], seeds.spawn(1)[0])] = numbers[begun]
                    begun += 1
                left = max(deadline - time.perf_counter(), 0.0)
                limit = None if stop[0] or left == np.inf else left
                ready, _ = wait(running, timeout=limit, return_when=FIRST_COMPLETED)
                for future in ready:
                    number, outcome = running.pop(future), future.result()
                    if outcome is not None:
                        done[number] = outcome
                        if verbose:
                            best = min(entry[0] for entry in done.values())
                            spent = f"{time.perf_counter() - started:.1f} s"
                            reached = f"{min(len(done) * numbers.step, numbers.stop)}/{numbers.stop} restarts"
                            print(f"label search: {reached}, best F = {best:.8g}, {spent}")
                if time.perf_counter() >= deadline and (running or begun < len(numbers)):
                    stop[0] = 1
                    if not running:
                        break
        finally:
            stop[0] = stop[0] or bool(running)  # an interrupt must not leave threads running
    return done
