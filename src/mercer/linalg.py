"""Small dense linear algebra on the host, with ordered eigenpairs, safe factors and deterministic signs."""

from collections.abc import Callable

import numpy as np
import scipy.linalg as sla

from .backend import blas_threads, n_threads, parallel
from .errors import InputError


def precision(dtype) -> float:
    """Relative size below which a number of this dtype is rounding, so that float32 data give a float32 rank."""
    single = "float32" in str(dtype)  # NumPy's and torch's dtypes alike
    return float(np.finfo(np.float32 if single else np.float64).eps)


def smallest(dtype) -> float:
    """Size below which numbers of this dtype lose precision."""
    return float(np.finfo(np.float32 if "float32" in str(dtype) else np.float64).tiny)


def sign_rows(V: np.ndarray) -> np.ndarray:
    """±1 per column such that the entry of largest magnitude becomes positive (first one on ties)."""
    if V.shape[0] == 0:
        return np.ones(V.shape[1])
    peak = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return np.where(peak < 0, -1.0, 1.0)


def fix_signs(V: np.ndarray) -> np.ndarray:
    """Columns of V with deterministic signs."""
    return V * sign_rows(V)


def eigh_down(A: np.ndarray, number: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The first `number` eigenvalues and vectors of a symmetric host matrix, from largest to smallest.

    Only the lower triangle is read.
    """
    n, values = len(A), np.empty(0)
    _refuse_not_finite(A)
    if number is not None and 8 * number < n:  # LAPACK finds up to an eighth of the eigenpairs one by one
        values, vectors = sla.eigh(A, subset_by_index=(n - number, n - 1), check_finite=False)
    if len(values) != number:  # all or many are wanted, or LAPACK has lost some, as it may if many are equal
        part = number is not None and number < n and hasattr(sla.lapack, "dstevd")  # which SciPy has from 1.16 on
        values, vectors = _many(A, number) if part else sla.eigh(A, check_finite=False, driver="evd" if n > 1 else "ev")
    return values[::-1][:number].copy(), np.ascontiguousarray(vectors[:, ::-1][:, :number])


def _many(A, number):
    """All eigenvalues in ascending order, and the last `number` vectors.

    Only these vectors are transformed back from the tridiagonal matrix. To find a fifth of the vectors one by one takes
    longer than divide and conquer.
    """
    reduce, size, turn = sla.get_lapack_funcs(("sytrd", "sytrd_lwork", "ormqr"), (A,))
    work = int(size(len(A), lower=1)[0])
    reduced, diagonal, off, tau, _ = reduce(np.array(A, order="F"), lower=1, lwork=work, overwrite_a=1)
    values, vectors = sla.eigh_tridiagonal(diagonal, off, check_finite=False, lapack_driver="stevd")
    vectors = vectors[:, -number:]
    vectors[1:] = turn("L", "N", reduced[1:, :-1], tau, vectors[1:], lwork=64 * number)[0]
    return values, vectors


def rank_of(values: np.ndarray, eps: float, n: int | None = None) -> int:
    """Number of the descending eigenvalues that are above rounding noise, eps · n · largest."""
    if len(values) == 0 or values[0] <= 0:
        return 0
    return int(np.sum(values > eps * (n or len(values)) * values[0]))


def negative_mass(values: np.ndarray) -> float:
    """Fraction of the spectrum's absolute mass that is negative, from 0 (for a kernel) to 1."""
    total = float(np.sum(np.abs(values)))
    return float(-np.sum(values[values < 0]) / total) if total > 0 else 0.0


def safe_cholesky(A: np.ndarray) -> tuple[np.ndarray, float]:
    """(L, jitter) with L Lᵀ = A + jitter·I, jitter the smallest of 0, 1e-14, 1e-12, … times the mean diagonal."""
    scale = max(float(np.mean(np.diag(A))), np.finfo(float).tiny)
    for jitter in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        shifted = A if jitter == 0 else A + jitter * scale * np.eye(len(A))
        try:
            return sla.cholesky(shifted, lower=True, check_finite=False), jitter * scale
        except sla.LinAlgError:
            continue
    raise InputError(
        "A matrix that should be positive definite is not, even after adding 1e-8 of its mean diagonal. "
        "Check the kernel. A precomputed or callable one must be symmetric and positive semi-definite."
    )


def pivoted_cholesky(
    block: Callable,
    diag: np.ndarray,
    max_rank: int,
    dtype=np.float64,
    rng: np.random.Generator | None = None,
    threads=None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pivots and factor F (n × r) of K ≈ F Fᵀ, stopped at the rounding level of the dtype or at max_rank.

    Columns of K are computed in blocks, so K is never stored and everything runs at the speed of matrix products. Each
    round proposes a block of pivots. A small pivoted factorization keeps those that the others do not explain.
    Products with slabs of rows that stay in the cache then update the rest. Chosen rows move to the front, so a
    full-rank factor costs n³/3 like plain Cholesky.

    Parameters
    ----------
    block : function (rows, cols) -> K[rows][:, cols], a new array, for two index arrays.
    diag : the diagonal of K.
    max_rank : maximum number of pivots.
    rng : None proposes the largest residuals (greedy). A generator draws pivots in proportion to the residual
        (randomly pivoted Cholesky, Chen et al. 2024). Accepting by rejection, as in Epperly et al. 2025, keeps its
        distribution.
    threads : number of threads that call `block`. None means as many as BLAS may use.

    Returns pivots (r,), F (n × r, lower triangular in the order of the pivots), residual (n,) = diag(K − F Fᵀ).
    """
    # Up to 3,000 rows LAPACK factors the stored matrix. At 1,500 rows it takes a tenth of the time of rounds of blocks.
    if rng is None and max_rank >= len(diag) <= 3000:
        return _whole(block, np.asarray(diag, dtype=np.float64), dtype)
    rounds = _Rounds(block, diag, max_rank, dtype, rng, threads)
    rounds.run()
    pivots, order, left = rounds.order[: rounds.rank].copy(), rounds.order, np.empty(len(diag))
    left[order] = rounds.residual
    return pivots, rounds.factor(order), left


def _whole(block, diag, dtype):
    """`pivoted_cholesky` of a matrix that is small enough to be stored."""
    rows, floor = np.arange(len(diag)), _floor(diag.max(initial=0.0), dtype)
    _refuse_not_finite(diag)
    if diag.max(initial=0.0) <= floor:
        return rows[:0], np.zeros((len(diag), 0), dtype=dtype), np.maximum(diag, 0.0)
    K = np.asarray(block(rows, rows), dtype=np.float64).T  # symmetric, and in LAPACK's order
    _refuse_not_finite(K)
    K.flat[:: len(K) + 1] = diag
    U, pivots, rank, _ = sla.lapack.dpstrf(K, lower=0, tol=floor, overwrite_a=1)
    L, F = U.T, np.empty((len(diag), rank), dtype=dtype)  # in LAPACK's order the upper factor is the lower one's rows
    for row in range(rank):
        L[row, row + 1 :] = 0.0
    F[pivots - 1] = L[:, :rank]
    return pivots[:rank] - 1, F, np.maximum(diag - np.einsum("ij,ij->i", F, F, dtype=np.float64), 0.0)


def random_pivots(
    block: Callable, diag: np.ndarray, number: int, dtype, rng: np.random.Generator, threads=None
) -> tuple[np.ndarray, np.ndarray]:
    """`number` random pivots and the lower triangular root of their block of K, without the factor.

    The more pivots there are, the fewer rows are needed from which to draw the next ones. From a quarter of the pivots
    on, rows are dropped as pivots are added, down to a quarter of the rows or to 5/2 for each pivot. This takes a third
    of the work and a quarter of the memory of `pivoted_cholesky`, and its pivots are on average as good.
    """
    rounds = _Rounds(block, diag, number, dtype, rng, threads, room=len(diag) * max(number, 4) // 4)
    rounds.run()
    return rounds.order[: rounds.rank].copy(), rounds.factor(np.arange(rounds.rank))


class _Rounds:
    """A pivoted factorization that adds one block of pivots at a time.

    Everything is kept in pivot order, that is the rows `order` of K, of which the first `rank` are the pivots, and
    their `residual`. Row i represents `weight[i]` rows when the next pivots are drawn. The factor is a list of panels
    with one per round, as (rank before it, its columns of F for the rows from there on, transposed). If `room` is
    given, rows are dropped so that the panels contain at most about that many numbers.
    """

    def __init__(self, block, diag, max_rank, dtype, rng, threads=None, room=None):
        self.block, self.dtype, self.rng, self.room = block, dtype, rng, room
        self.threads = threads or n_threads()
        self.residual = np.maximum(np.asarray(diag, dtype=np.float64), 0.0).copy()
        largest = self.residual.max(initial=0.0)
        _refuse_not_finite(largest)
        self.floor = _floor(largest, dtype)
        # Dividing by a random pivot far below the largest residual amplifies rounding, so the end is greedy.
        self.random_floor = np.sqrt(precision(dtype)) * largest
        n = len(self.residual)
        self.order, self.weight, self.panels = np.arange(n), np.ones(n), []
        self.rank, self.max_rank = 0, min(max_rank, n)
        self.narrow = 32 if room is None else max(1, min(32, self.max_rank // 4))  # no row is dropped at first

    def run(self):
        """Take pivots until there are enough. Slabs are distributed among threads, and BLAS has one in each."""
        with blas_threads(1):
            while self.advance():
                pass

    def advance(self) -> bool:
        """Take some more pivots. False when there are enough, or none above rounding."""
        if self.rank == self.max_rank or self.residual[self.rank :].max(initial=0.0) <= self.floor:
            return False
        # Narrow blocks first, when few pivots may be enough. Wide ones later, when matrix products are faster.
        width = min(int(np.clip(self.rank, self.narrow, 256)), self.max_rank - self.rank)
        if self.room is not None:
            self._thin(max(self.room // (self.rank + width), 5 * self.max_rank // 2))
        order, residual, rank = self.order, self.residual, self.rank
        chosen, least = self._propose(residual[rank:], width)
        core = np.asarray(self.block(order[chosen], order[chosen]), dtype=np.float64)
        for start, panel in self.panels:
            known = panel[:, chosen - start].astype(np.float64)
            core -= known.T @ known
        _refuse_not_finite(core)
        keep, root = _accept(core, residual[chosen], least, self.rng)
        self._bring_forward(chosen[keep])
        new = np.empty((len(keep), len(order) - rank), dtype=self.dtype)
        new[:, : len(keep)] = root.T
        self.rank += len(keep)
        self._extend(new, slice(rank, self.rank), np.asfortranarray(root, dtype=self.dtype))
        np.maximum(residual, 0.0, out=residual)
        residual[rank : self.rank] = 0.0
        self.panels.append((rank, new))
        return True

    def _extend(self, new: np.ndarray, front, root: np.ndarray) -> None:
        """Fill the rows beyond the pivots `front` in their new panel, slab by slab, and update the residual."""
        (trsm,) = sla.get_blas_funcs(("trsm",), dtype=self.dtype)
        slab = 512  # rows that a thread updates at once, so that they stay in the cache

        def fill(begin: int) -> None:
            back = slice(begin, min(begin + slab, len(self.order)))
            rows = np.asarray(self.block(self.order[front], self.order[back]), dtype=self.dtype, order="C")
            for start, panel in self.panels:
                pivots, others = (slice(part.start - start, part.stop - start) for part in (front, back))
                rows -= panel[:, pivots].T @ panel[:, others]
            # rows ← root⁻¹ rows, in place. In BLAS's order this is the transpose times root⁻ᵀ on its other side.
            rows = trsm(1.0, root, rows.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
            new[:, begin - front.start : back.stop - front.start] = rows
            self.residual[back] -= np.einsum("ij,ij->j", rows, rows, dtype=np.float64)

        parallel(fill, range(front.stop, len(self.order), slab), self.threads)

    def _propose(self, tail, width):
        """Positions of possible pivots, repeats among them if they are random, and the least residual of a pivot."""
        if self.rng is not None and tail.max() < 10 * self.random_floor:
            self.rng = None
        least = self.floor if self.rng is None else self.random_floor
        width = min(width, int(np.sum(tail > least)))
        if self.rng is None:
            return self.rank + np.argpartition(-tail, width - 1)[:width], least
        live = np.where(tail > least, tail * self.weight[self.rank :], 0.0)
        # In the order of the draws, because sorting would favor low indices (see _accept).
        return self.rank + self.rng.choice(len(tail), size=width, p=live / live.sum()), least

    def _bring_forward(self, chosen: np.ndarray) -> None:
        """Swap the chosen rows to positions rank, rank + 1, … in everything that is kept in pivot order."""
        target = np.arange(self.rank, self.rank + len(chosen))
        stay = np.setdiff1d(target, chosen)  # rows in the target zone that must move away
        holes = np.setdiff1d(chosen, target)
        source = np.concatenate([chosen, stay])
        place = np.concatenate([target, holes])
        for values in (self.order, self.residual, self.weight):
            values[place] = values[source]
        for start, panel in self.panels:
            panel[:, place - start] = panel[:, source - start]

    def _thin(self, most: int) -> None:
        """Drop rows until `most` are left. The largest residuals stay, and as many rows that represent all others."""
        if len(self.order) <= most:
            return
        tail = self.rank + np.argsort(-self.residual[self.rank :], kind="stable")
        large = (most - self.rank) // (1 if self.rng is None else 2)
        drawn = np.empty(0, dtype=int)
        if self.rng is not None:
            drawn = self.rng.choice(tail[large:], most - self.rank - large, replace=False)
            self.weight[drawn] *= (len(tail) - large) / len(drawn)
        kept = np.concatenate([np.arange(self.rank), np.sort(np.concatenate([tail[:large], drawn]))])
        self.order, self.residual, self.weight = self.order[kept], self.residual[kept], self.weight[kept]
        for i, (start, panel) in enumerate(self.panels):
            self.panels[i] = start, panel[:, kept[start:] - start]

    def factor(self, rows: np.ndarray) -> np.ndarray:
        """F with row i of the pivot order at rows[i]. The panels are freed."""
        F = np.zeros((len(rows), self.rank), dtype=self.dtype)
        while self.panels:
            start, panel = self.panels.pop()
            F[rows[start:], start : start + len(panel)] = panel[:, : len(rows) - start].T
        return F


def _floor(largest: float, dtype) -> float:
    """The remainder of the largest diagonal entry when only rounding is left."""
    return max(64 * precision(dtype) * largest, smallest(dtype))


def _refuse_not_finite(values: np.ndarray | float) -> None:
    if not np.isfinite(values).all():
        raise InputError(
            "The kernel is NaN or infinite for some rows. Bring them to a common scale, or correct the kernel."
        )


def _accept(
    core: np.ndarray, residual: np.ndarray, floor: float, rng: np.random.Generator | None
) -> tuple[np.ndarray, np.ndarray]:
    """Which proposed pivots to keep, in order, and the lower factor of their core."""
    kept: list[int] = []
    left = np.diag(core).copy()  # part of each proposal that those kept before it do not explain
    rows = np.empty_like(core)  # rows of the factor's transpose, one for each kept pivot
    lots = None if rng is None else rng.random(len(core))
    for turn in range(len(core)):
        if lots is None:
            # Greedy choice of the best one left, as long as at least half of its residual is left.
            i = int(np.argmax(left))
            if left[i] <= max(floor, 0.5 * residual[i] if kept else 0.0):
                break
        else:
            i = turn
            if left[i] <= floor or (kept and lots[i] * residual[i] > left[i]):
                continue
        row = rows[len(kept)]
        np.subtract(core[i], rows[: len(kept), i] @ rows[: len(kept)], out=row)
        row /= np.sqrt(left[i])
        left -= row * row
        left[i] = -np.inf
        kept.append(i)
    if not kept:  # all are rounding, and taking the largest avoids an infinite loop
        i = int(np.argmax(np.diag(core)))
        return np.array([i]), np.full((1, 1), np.sqrt(max(core[i, i], floor)))
    return np.array(kept), np.tril(rows[: len(kept), kept].T)
