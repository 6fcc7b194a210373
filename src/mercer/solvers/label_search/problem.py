"""The problem of a label search, with its constraint, starts, value, gains of single moves and spectral bound."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ...errors import InputError
from ...linalg import eigh_down
from ...rows import gram, tdot
from ...types import ColumnLike, Rows


def count_bounds(n_free: int, shares: ColumnLike, slack: float) -> np.ndarray:
    """Fewest and most free rows of each class with |count/u − fraction| < slack, as an int array (k, 2).

    Parameters
    ----------
    n_free : int, the number u of rows whose labels are searched.
    shares : array of k fractions that sum to 1.
    slack : float > 0.
    """
    shares = np.asarray(shares, dtype=np.float64)
    if np.any(shares < 0) or abs(shares.sum() - 1.0) > 1e-6:
        raise InputError(
            f"The class fractions are {np.round(shares, 6).tolist()}. They must not be negative and must sum to 1. "
            "Give one fraction per class, or balance=None for no constraint."
        )
    if not slack > 0:
        raise InputError(
            f"balance_slack is {slack}. It must be positive (0.1 allows fractions to differ by up to 10%)."
        )
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
            f"The balance cannot be satisfied. Fraction {shares[narrow[0]]:.6g} of {n_free} unlabeled rows is "
            f"{wanted:.6g} rows, and no count is within balance_slack = {slack:g} of it. The nearest feasible counts "
            f"are {down} and {up}. Use a balance_slack above {nearest:.3g}, or a balance of {down}/{n_free} or "
            f"{up}/{n_free}."
        )
    if low.sum() > n_free or high.sum() < n_free:
        side = f"at least {low.sum()}" if low.sum() > n_free else f"at most {high.sum()}"
        raise InputError(
            f"The balance cannot be satisfied. With balance_slack = {slack:g} the {len(shares)} classes may contain "
            f"{low.tolist()} to {high.tolist()} rows, {side} in all, and there are {n_free} unlabeled rows. "
            "Use a larger balance_slack."
        )
    # The number of rows in one class is also limited by the bounds of the others.
    return np.column_stack(
        [np.maximum(low, n_free - (high.sum() - high)), np.minimum(high, n_free - (low.sum() - low))]
    )


def smallest_slack(n_free: int, shares: np.ndarray) -> float:
    """A slack just large enough for some counts to be feasible, namely those nearest to the fractions."""
    exact = n_free * np.asarray(shares, dtype=np.float64)
    counts = np.floor(exact)
    missing = round(n_free - counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return float(np.max(np.abs(counts - exact))) / n_free + 1e-6 if n_free else 1.0


@dataclass
class Problem:
    """The data of one search, which no restart changes. `low` and `high` bound the free rows of each class."""

    W: np.ndarray
    norms: np.ndarray
    labels: np.ndarray  # −1 where free
    free: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shares: np.ndarray
    total: float

    @property
    def k(self) -> int:
        return len(self.low)

    def value(self, labels: np.ndarray) -> float:
        """F at full labels, in O(n r)."""
        from .compiled import class_sums

        return self.value_of(class_sums(self.W, labels, self.k))

    def value_of(self, S: np.ndarray) -> float:
        """F from the sums of the rows of each class."""
        return self.total - (4.0 * np.sum(S * S) + (self.k - 4) * np.sum(S.sum(axis=0) ** 2)) / self.k

    def counts(self, labels: np.ndarray) -> np.ndarray:
        return np.bincount(labels[self.free], minlength=self.k)


def checked_problem(
    W: Rows, labels: ColumnLike, shares: ColumnLike, slack: float, n_classes: int | None, total: float
) -> Problem:
    W = np.ascontiguousarray(W, dtype=np.float64)
    labels = np.array(labels, dtype=np.int64)
    if W.ndim != 2 or labels.shape != (len(W),):
        raise InputError(
            f"W has shape {W.shape} and labels {labels.shape}. W must be (n, r) and labels (n,), with −1 for the rows "
            "to search."
        )
    k = n_classes or (len(shares) if shares is not None else max(int(labels.max(initial=-1)) + 1, 2))
    if k < 2 or labels.max(initial=-1) >= k or labels.min(initial=0) < -1:
        raise InputError(
            f"There are {k} classes and the labels are in {labels.min()} … {labels.max()}. "
            "There must be at least 2 classes, labeled 0 … k−1, with −1 for the rows to search."
        )
    free = np.flatnonzero(labels < 0)
    if shares is None:
        bounds = np.tile([0, len(free)], (k, 1))
        shares = np.full(k, 1.0 / k)
    else:
        if len(shares) != k:
            raise InputError(f"There are {len(shares)} class fractions for {k} classes. Give one fraction per class.")
        bounds = count_bounds(len(free), shares, slack)
    shares = np.asarray(shares, dtype=np.float64)
    norms = np.einsum("ij,ij->i", W, W)
    low, high = np.ascontiguousarray(bounds.T)
    return Problem(W, norms, labels, free, low, high, shares / shares.sum(), float(total))


def checked_start(start: ColumnLike, problem: Problem) -> np.ndarray:
    start = np.array(start, dtype=np.int64)
    if start.shape != problem.labels.shape or start.min(initial=0) < 0 or start.max(initial=0) >= problem.k:
        raise InputError(
            f"start has shape {start.shape} and values {start.min(initial=0)} … {start.max(initial=0)}. It must "
            f"contain {len(problem.labels)} classes 0 … {problem.k - 1}."
        )
    return start


def spectral_bound(problem: Problem) -> float:
    """A lower bound of F over all labelings, for which the free labels may be any numbers of the given norm and mean.

    For class c let a = W_Lᵀt be the pinned part, m the mean free row and σ the sum of the free labels. With θ_i, q_i
    the eigenpairs of the centered free rows' Gram matrix, for every μ > θ_1

        ‖Wᵀy‖² ≤ max_σ μ(u − σ²/u) + Σ_i μ/(μ − θ_i) (q_i·(a + σm))²,

    which is a quadratic in σ. The best μ is found by a scalar search. Above 400 columns only the leading eigenpairs are
    computed. The others get the weight of the last one, so that the bound stays valid.
    """
    W, free, k = problem.W, problem.free, problem.k
    u = len(free)
    if u == 0:
        return problem.value(problem.labels)
    is_free = (problem.labels < 0).astype(np.float64)  # weights, since a copy of the free rows would double the memory
    mean = tdot(W, is_free) / u
    theta, Q = _leading_eigenpairs(gram(W, is_free) - u * np.outer(mean, mean))
    pinned = np.flatnonzero(problem.labels >= 0)
    bounds = []
    for c in range(1 if k == 2 else k):
        a = W[pinned].T @ np.where(problem.labels[pinned] == c, 1.0, -1.0)
        ends = 2.0 * np.array([problem.low[c], problem.high[c]]) - u
        bounds.append(problem.total - _largest_on_sphere(theta, Q, a, mean, u, ends))
    return float(np.mean(bounds))


def _leading_eigenpairs(C: np.ndarray, full: int = 400, kept: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs of C, above `full` columns only the leading ones, none of them too small.

    They do not come from Lanczos. At small penalties the leading eigenvalues are nearly equal, and it fails or misses
    copies.
    """
    diagonal = np.diagonal(C)
    off = np.linalg.norm(C - np.diag(diagonal))
    if off <= 1e-8 * diagonal.max():  # columns from an eigendecomposition, no pinned row and no mean
        order = np.argsort(-diagonal, kind="stable")
        return diagonal[order] + off, np.eye(len(C))[:, order]
    theta, Q = eigh_down(C, None if len(C) <= full else kept)
    if len(theta) < len(C) and theta[-1] > (1 - 1e-6) * theta[0]:  # all equal, so that the rest may have any weight
        theta, Q = eigh_down(C)
    return np.maximum(theta, 0.0), Q


def _largest_on_sphere(
    theta: np.ndarray, Q: np.ndarray, a: np.ndarray, mean: np.ndarray, u: int, ends: np.ndarray
) -> float:
    alpha, beta = Q.T @ a, Q.T @ mean
    rest = np.array([a @ a - alpha @ alpha, a @ mean - alpha @ beta, mean @ mean - beta @ beta])
    rest[[0, 2]] = np.maximum(rest[[0, 2]], 0.0)
    top = max(theta[0], 1e-300)

    def bound(log_excess: float) -> float:
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


def best_move(problem: Problem, labels: np.ndarray) -> float:
    """Change of F by the best single valid move from these labels. If positive, they are a strict one-flip optimum."""
    gains = move_gains(problem, labels)
    counts = problem.counts(labels)
    own = labels[problem.free]
    valid = (counts > problem.low)[own][:, None] & (counts < problem.high)[None, :]
    valid[np.arange(len(own)), own] = False
    return float(-4.0 / problem.k * gains[valid].max()) if valid.any() else float("inf")


def move_gains(problem: "Problem", labels: np.ndarray) -> np.ndarray:
    """Change of A when a free row moves to each class (0 for its own class), u × k."""
    from .compiled import class_sums

    scores = (problem.W @ class_sums(problem.W, labels, problem.k).T)[problem.free]
    own = np.take_along_axis(scores, labels[problem.free][:, None], axis=1)
    gains = 2.0 * (scores - own + problem.norms[problem.free][:, None])
    np.put_along_axis(gains, labels[problem.free][:, None], 0.0, axis=1)
    return gains


def given_start(problem: Problem, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The given free labels, with rows moved at random if the counts are not feasible."""
    labels = np.where(problem.labels < 0, labels, problem.labels)
    return _make_feasible(problem, labels, rng.permutation(len(problem.free)).astype(np.float64))


def random_start(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """Free labels drawn with the class frequencies, then moved at random until the counts are feasible."""
    labels = problem.labels.copy()
    labels[problem.free] = rng.choice(problem.k, size=len(problem.free), p=problem.shares)
    return _make_feasible(problem, labels, rng.permutation(len(problem.free)).astype(np.float64))


def pinned_start(problem: Problem) -> np.ndarray:
    """Free labels by the class with which a row agrees most, judged by the mean of its pinned rows."""
    from .compiled import class_sums

    scores = (problem.W @ class_sums(problem.W, problem.labels, problem.k).T)[problem.free]
    pinned = np.bincount(problem.labels[problem.labels >= 0], minlength=problem.k)
    scores = scores / np.maximum(pinned, 1)
    labels = problem.labels.copy()
    labels[problem.free] = np.argmax(scores, axis=1)
    top_two = np.sort(scores, axis=1)[:, -2:]
    return _make_feasible(problem, labels, top_two[:, 1] - top_two[:, 0])


def _make_feasible(problem: "Problem", labels: np.ndarray, reluctance: np.ndarray) -> np.ndarray:
    """Move the least reluctant rows out of overfull classes (and, if need be, others) into those that lack rows."""
    low, high, free = problem.low, problem.high, problem.free
    counts = problem.counts(labels)
    wanted = np.clip(counts, low, high)
    while (missing := len(free) - wanted.sum()) != 0:  # spread what clipping took or gave over the other classes
        room = (high - wanted) if missing > 0 else (wanted - low)
        c = int(np.argmax(room))
        wanted[c] += np.sign(missing) * min(room[c], abs(missing))
    order = np.argsort(reluctance, kind="stable")
    own = labels[free[order]]
    vacated = np.concatenate([order[own == c][: max(counts[c] - wanted[c], 0)] for c in range(problem.k)])
    labels[free[vacated]] = np.repeat(np.arange(problem.k), np.maximum(wanted - counts, 0))
    return labels
