"""Kernel c-means, which is Lloyd's algorithm for points known only through their inner products.

    min over partitions   Σ_k Σ_{i in k} w_i ‖φ(x_i) − m_k‖²,     m_k = Σ_{i in k} w_i φ(x_i) / mass_k.

Distances are d_i − 2 S_ik / mass_k + ‖m_k‖² with S = K (w ∘ memberships), and ‖m_k‖² = Σ_{i in k} w_i S_ik / mass_k².
An iteration therefore needs K only through S. If rows of K can be evaluated, S is updated by those that moved. A run
needs each of them two or three times, so that K need not be stored. For a factored K one product serves all starts.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from ..errors import InputError
from ..homes.row_clusters import RowClusters
from ..rows import host, like, namespace
from ..types import Array, Block, Rows
from .result import Result

# from rows drawn for each start to (n, rows of the start) squared distances, one block per start
Distances: TypeAlias = Callable[[list[Array]], Iterable[Block]]

BLOCK = 2**18  # entries of K evaluated at a time (2 MB, which stay in the cache while they are added up)


def lloyd(
    K: Rows,
    linear: np.ndarray,
    n_clusters: int,
    *,
    weight: np.ndarray | None = None,
    init: str | np.ndarray = "k-means++",
    n_init: int = 10,
    tol: float = 0.0,
    max_iter: int = 300,
    random_state: int = 0,
    tell: Callable | None = None,
    key: np.ndarray | None = None,
) -> Result:
    """Cluster the rows of a stored kernel matrix or of an `Operator`, whose rows are evaluated if products are costly.

    Parameters
    ----------
    K : n × n, as above.
    linear : d_i = k(x_i, x_i). For an approximate map it may exceed ‖z_i‖². It then adds a constant to the objective.
    n_clusters : number of clusters.
    weight : non-negative weight per row. Ones by default.
    init : "k-means++" (in feature space), "random" (rows as first centers), or an array of first labels.
    n_init : starts. The best is returned. One when `init` is an array.
    tol : a start also ends when its objective falls by at most tol times itself.
    key : one number per row that depends on nothing but the row, or None. First centers are drawn from the rows in the
        order of their keys. They then do not depend on the order of the rows, and a row of weight 2 is drawn as two
        rows are.
    tell : called before every iteration with its number and the fraction of the starts that have ended.

    Returns a `Result`. Its value is the labels, and its objective the weighted sum of squares. The gap is the fraction
    of rows that one more iteration would move (0 at a fixed point). The history is the objective per iteration, which
    never increases. Info contains `mass` and `center_sq` (Σ w and ‖m_k‖² per cluster), `objectives` of all starts,
    `reseeded` (how often an empty cluster was given a row), `n_empty` (clusters left empty because there are fewer
    distinct rows than clusters) and `centers` (None if the points have no features).
    """
    n = K.shape[0]
    K = K if isinstance(K, np.ndarray) or K.stored is None else K.stored
    linear = np.asarray(linear, dtype=np.float64)
    largest = float(np.max(np.abs(linear)))
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    available = np.count_nonzero(weight)
    if n_clusters > available:
        raise InputError(
            f"n_clusters = {n_clusters} is more than the {available} rows of positive weight. "
            f"Ask for at most {available} clusters."
        )
    rows = None if isinstance(K, np.ndarray) else K.partition(linear, weight)
    if isinstance(init, str):
        distances, weights = (_from_columns(K, linear), weight) if rows is None else (rows.distances, rows.weight)
        rng = np.random.default_rng(random_state)
        first = _seed(distances, weights, n_clusters, n_init, init == "k-means++", rng, key)
    else:
        first = [np.asarray(init, dtype=np.int64)]
    if isinstance(K, np.ndarray):
        K = np.ascontiguousarray(K, dtype=np.float64)
    sums = _sums(K, weight) if rows is None else _NoSums(K, weight)
    starts = [
        _Start(labels, n_clusters) if rows is None else _FactorStart(labels, n_clusters, rows) for labels in first
    ]
    running = starts
    interrupted = False
    try:
        for iteration in range(max_iter + 1):
            if tell is not None:
                tell(iteration, 1 - len(running) / len(starts))
            sums.refresh(running)
            for start in running:
                start.step(linear, weight, tol, last=iteration == max_iter, slack=sums.digits * largest)
            running = [start for start in running if not start.done]
            if not running:
                break
    except KeyboardInterrupt:  # Ctrl-C returns the best so far, once there is one
        interrupted = True
        starts = [start for start in starts if start.history]
        if not starts:
            raise
    lowest = min(start.history[-1] for start in starts)
    slack = 1e-12 * float(weight @ np.abs(linear))  # of several starts that differ by rounding the first is taken
    best = next(start for start in starts if start.history[-1] <= lowest + slack)
    labels, mass, center_sq = best.partition()
    converged = not interrupted and (best.gap == 0 or best.small_gain)
    state = f"after {len(best.history) - 1} iterations while {best.gap:.1%} of the rows still wanted to move"
    if interrupted:
        reason = f"Kernel c-means was interrupted {state}. These are the best clusters so far."
    elif not converged:
        advice = "Raise max_iter, or set tol (for example 1e-4) to accept a small decrease as the end."
        reason = f"Kernel c-means stopped {state}. {advice}"
    else:
        reason = "No row is nearer to another center." if best.gap == 0 else "The objective stopped falling."
    info = {"mass": mass, "center_sq": center_sq, "reseeded": best.reseeded, "n_empty": int(np.sum(mass == 0))}
    info["objectives"] = [start.history[-1] for start in starts]
    info["centers"] = best.centers()
    steps = max(len(best.history) - 1, 1)
    return Result(labels, best.history[-1], best.gap, steps, converged, reason, best.history, info)


class _Start:
    """One start, with its labels, the sums S (k × n) that belong to them, and the history of its objective."""

    def __init__(self, labels: np.ndarray, n_clusters: int) -> None:
        self.labels, self.n_clusters = labels, n_clusters
        self.moved = self.old = np.empty(0, dtype=np.int64)
        self.sums = np.empty((n_clusters, 0))
        self.history: list[float] = []
        self.reseeded, self.gap, self.done, self.small_gain = 0, 1.0, False, False
        self.corrected = False  # whether the sums contain the rounding of earlier ones

    def partition(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(labels, mass, ‖m‖²) of the partition that was evaluated last."""
        return self.evaluated

    def centers(self) -> np.ndarray | None:
        """(clusters, features) the centers if the points have features, else None."""
        return None

    def step(self, linear: np.ndarray, weight: np.ndarray, tol: float, last: bool, slack: float) -> None:
        """Evaluate the partition. Unless it is final, move every row to its nearest center.

        A row moves for a gain above `slack`.
        """
        from .lloyd_loops import nearest

        labels, k = self.labels, self.n_clusters
        mass = np.bincount(labels, weight, k)
        own = weight * self.sums[labels, np.arange(len(labels))]
        center_sq = np.bincount(labels, own, k) / np.where(mass > 0, mass, 1.0) ** 2
        new, own_shift, least = nearest(self.sums, mass, center_sq, labels, slack)
        self.evaluated = labels, mass, center_sq
        if self.history and len(self.moved) == 0:  # the same partition, whose sums were computed again
            self.history.pop()
        self.history.append(float(np.sum(weight * np.maximum(linear + own_shift, 0))))
        reseeded = _fill_empty(new, weight, weight * np.maximum(linear + least, 0), k, slack)
        moved = np.flatnonzero(new != labels)
        if self.ends(len(moved), tol, last):
            return
        self.moved, self.old = moved, labels[moved]
        self.labels, self.reseeded = new, self.reseeded + reseeded

    def ends(self, moved: int, tol: float, last: bool) -> bool:
        """Whether the start is done, given how many rows want to move."""
        self.gap = moved / len(self.labels)
        self.small_gain = len(self.history) > 1 and self.history[-2] - self.history[-1] <= tol * self.history[-2]
        self.done = last or (self.gap == 0 and not self.corrected) or self.small_gain
        return self.done


class _FactorStart(_Start):
    """One start on rows with features on a GPU. Labels and distances stay there."""

    def __init__(self, labels: np.ndarray, n_clusters: int, rows: RowClusters) -> None:
        super().__init__(labels, n_clusters)
        self.rows, self.place = rows, rows.place(labels)
        self.totals, self.mass = rows.sums(self.place, n_clusters)

    def partition(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        place, _, mass, center_sq = self.placed
        return host(place), mass, center_sq

    def centers(self) -> np.ndarray:
        _, totals, mass, _ = self.placed
        return host(totals) / np.where(mass > 0, mass, 1.0)[:, None]

    def step(self, linear: np.ndarray, weight: np.ndarray, tol: float, last: bool, slack: float) -> None:
        step, center_sq = self.rows.move(self.place, self.totals, self.mass, slack)
        self.placed = self.place, self.totals, self.mass, center_sq
        self.history.append(step.objective)
        reseeded, moved = 0, step.moved
        if np.any(step.rows == 0):
            new, cost = host(step.labels), weight * np.maximum(host(step.least), 0)
            reseeded = _fill_empty(new, weight, cost, self.n_clusters, slack)
            moved = int(np.sum(new != host(self.place)))
            labels = self.rows.place(new)
            totals, mass = self.rows.sums(labels, self.n_clusters)
            step = step._replace(labels=labels, sums=totals, mass=mass)
        if not self.ends(moved, tol, last):
            self.place, self.totals, self.mass = step.labels, step.sums, step.mass
            self.reseeded += reseeded


def _fill_empty(labels: np.ndarray, weight: np.ndarray, cost: np.ndarray, n_clusters: int, slack: float) -> int:
    """Give every empty cluster the costliest row that does not empty another one, in place. Returns how many."""
    count = np.bincount(labels[weight > 0], minlength=n_clusters)
    empty = np.flatnonzero(count == 0)
    if len(empty) == 0:
        return 0
    order = iter(np.argsort(-cost, kind="stable"))
    filled = 0
    for cluster in empty:
        row = next((i for i in order if count[labels[i]] > 1 and cost[i] > slack * weight[i]), None)
        if row is None:  # every row left is at its center, since there are fewer distinct rows than clusters
            break
        count[labels[row]] -= 1
        labels[row], filled = cluster, filled + 1
    return filled


class _ProductSums:
    """S by one product for all starts together."""

    digits = 64 * float(np.finfo(np.float64).eps)  # of S, relative to the largest entry

    def __init__(self, K: Rows, weight: np.ndarray) -> None:
        self.K, self.weight = K, weight

    def refresh(self, starts: list) -> None:
        n, k = len(self.weight), starts[0].n_clusters
        members = np.zeros((n, len(starts) * k))
        for s, start in enumerate(starts):
            members[np.arange(n), s * k + start.labels] = self.weight
        product = np.ascontiguousarray((self.K @ members).T)
        for s, start in enumerate(starts):
            start.sums = product[s * k : (s + 1) * k]


class _NoSums(_ProductSums):
    """No sums S, because every start adds up the features of its rows."""

    def refresh(self, starts: list) -> None:
        pass


class _MovedSums(_ProductSums):
    """S corrected by the rows that moved, O(n) each. Rows that are not stored are evaluated once for all starts."""

    def refresh(self, starts: list) -> None:
        if not starts[0].history:  # a product makes use of the symmetry
            return super().refresh(starts)
        n = len(self.weight)
        if isinstance(self.K, np.ndarray):
            return self._move(starts, self.K, np.arange(n))
        moved = np.unique(np.concatenate([start.moved for start in starts]))
        step = max(1, BLOCK // n)
        for begin in range(0, len(moved), step):
            some = moved[begin : begin + step]
            at = np.full(n, -1)
            at[some] = np.arange(len(some))
            self._move(starts, self.K.rows(some), at)

    def _move(self, starts: list, rows: np.ndarray, at: np.ndarray) -> None:
        from .lloyd_loops import move_rows

        for start in starts:
            here = np.flatnonzero(at[start.moved] >= 0)
            who = start.moved[here]
            move_rows(start.sums, rows, at[who], self.weight[who], start.old[here], start.labels[who])


class _DeviceSums(_ProductSums):
    """S corrected on a device by the columns of the rows that moved. These columns never leave the device.

    Products there have the precision of float32. All of S is computed again when many rows move, and before a start may
    end, so that corrections do not add up their rounding.
    """

    digits = 16 * float(np.finfo(np.float32).eps)

    def refresh(self, starts: list) -> None:
        moved = np.unique(np.concatenate([start.moved for start in starts]))
        n, k = len(self.weight), starts[0].n_clusters
        again = not starts[0].history or 2 * len(moved) > n or any(len(start.moved) == 0 for start in starts)
        for start in starts:
            start.corrected = not again
        if again:
            return super().refresh(starts)
        factor = np.zeros((len(moved), len(starts) * k))
        for s, start in enumerate(starts):
            at, own = np.searchsorted(moved, start.moved), self.weight[start.moved]
            factor[at, s * k + start.old] -= own
            factor[at, s * k + start.labels[start.moved]] += own
        change = self.K.combine(moved, factor).T
        for s, start in enumerate(starts):
            start.sums += change[s * k : (s + 1) * k]


def _sums(K: Rows, weight: np.ndarray) -> _ProductSums:
    """The object that updates S, by corrections if K is stored or its products are costly, else by products."""
    if isinstance(K, np.ndarray):
        return _MovedSums(K, weight)
    return (_DeviceSums if K.on_gpu else _MovedSums if K.costly else _ProductSums)(K, weight)


def _seed(
    distances: Distances,
    weight: Block,
    n_clusters: int,
    n_init: int,
    plus_plus: bool,
    rng: np.random.Generator,
    key: np.ndarray | None = None,
) -> list:
    """First labels of every start. A row's label is the nearest of n_clusters drawn rows.

    The rows are drawn far apart (greedy k-means++) or at random. Distances, weights and labels are all on the host or
    all on the device.
    """
    n, xp = len(weight), namespace(weight)
    trials = 2 + int(np.log(n_clusters)) if plus_plus else 1
    by_weight = weight / weight.sum()
    order = np.arange(n) if key is None else np.argsort(key, kind="stable")
    ordered = order if isinstance(weight, np.ndarray) else xp.asarray(order, device=weight.device)
    nearest_sq = [xp.full_like(weight, float("inf")) for _ in range(n_init)]
    labels = [xp.zeros_like(weight, dtype=xp.int64) for _ in range(n_init)]
    chances = host(by_weight)
    random_rows = None if plus_plus else [rng.choice(n, n_clusters, replace=False, p=chances) for _ in range(n_init)]
    for cluster in range(n_clusters):
        drawn = []
        for s in range(n_init):
            if random_rows is not None:
                drawn.append(random_rows[s][cluster : cluster + 1])
                continue
            mass = by_weight if cluster == 0 else weight * nearest_sq[s]
            total = mass.sum()
            chance = xp.cumsum((mass / total if total > 0 else by_weight)[ordered], 0)
            chance[-1] = 1.0
            numbers = like(rng.uniform(size=1 if cluster == 0 else trials), chance)
            found = host(xp.searchsorted(chance, numbers, side="right"))
            drawn.append(order[np.minimum(found, n - 1)])
        for s, block in enumerate(distances(drawn)):
            closest = xp.minimum(block, nearest_sq[s][:, None])
            best = int(xp.argmin(weight @ closest))
            labels[s][block[:, best] < nearest_sq[s]] = cluster
            nearest_sq[s][:] = closest[:, best]
    return labels


def _from_columns(K: Rows, linear: np.ndarray) -> Distances:
    """Squared distances from columns of K. One pass over K serves all starts."""

    def distances(drawn: list[Array]) -> list[np.ndarray]:
        pick = np.concatenate(drawn)
        columns = K[pick].T if isinstance(K, np.ndarray) else K.columns(pick)
        found = np.maximum(linear[:, None] - 2 * columns + columns[pick, np.arange(len(pick))], 0)
        return np.split(found, np.cumsum([len(rows) for rows in drawn[:-1]]), axis=1)

    return distances
