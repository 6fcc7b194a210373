"""Small dense linear algebra on the host: ordered eigenpairs, safe factors, deterministic signs."""

import numpy as np
import scipy.linalg as sla

from .backend import n_threads
from .errors import InputError

SLAB = 512  # rows of a factor that each thread updates at once


def precision(dtype):
    """Relative size below which a number of this dtype is rounding: float32 data give a float32 rank."""
    single = "float32" in str(dtype)  # NumPy's and torch's dtypes alike
    return float(np.finfo(np.float32 if single else np.float64).eps)


def sign_rows(V):
    """±1 per column such that the entry of largest magnitude becomes positive (first one on ties)."""
    if V.shape[0] == 0:
        return np.ones(V.shape[1])
    peak = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return np.where(peak < 0, -1.0, 1.0)


def fix_signs(V):
    """Columns of V with deterministic signs."""
    return V * sign_rows(V)


def eigh_down(A):
    """Eigenvalues from largest to smallest and their vectors, for a symmetric host matrix."""
    values, vectors = sla.eigh(A, check_finite=False, driver="evd")
    return values[::-1].copy(), np.ascontiguousarray(vectors[:, ::-1])


def rank_of(values, eps, n=None):
    """How many of the descending eigenvalues stand above rounding noise, eps · n · largest."""
    if len(values) == 0 or values[0] <= 0:
        return 0
    return int(np.sum(values > eps * (n or len(values)) * values[0]))


def negative_mass(values):
    """Share of the spectrum's absolute mass that is negative: 0 for a kernel, up to 1."""
    total = float(np.sum(np.abs(values)))
    return float(-np.sum(values[values < 0]) / total) if total > 0 else 0.0


def safe_cholesky(A):
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
        "Check the kernel: a precomputed or callable one must be symmetric and positive semi-definite."
    )


def pivoted_cholesky(block, diag, max_rank, dtype=np.float64, rng=None):
    """Pivots and factor F (n × r) of K ≈ F Fᵀ, stopped at the rounding level of the dtype or at max_rank.

    Columns of K are asked for in blocks, so K is never stored and everything runs at matrix-product speed: each round
    proposes a block of pivots, a small pivoted factorisation keeps those that the others do not explain, and products
    with slabs of rows that stay in the cache update the rest. Chosen rows move to the front, so a full-rank factor
    costs n³/3 like plain Cholesky.

    Parameters
    ----------
    block : function (rows, cols) -> K[rows][:, cols], a new array, for two index arrays.
    diag : the diagonal of K.
    max_rank : most pivots to take.
    rng : None proposes the largest residuals (greedy); a generator draws them in proportion to the residual (randomly
        pivoted Cholesky, Chen et al. 2024; accepting by rejection as Epperly et al. 2025 keeps its distribution).

    Returns
    -------
    pivots (r,), F (n × r, lower triangular in the order of the pivots), residual (n,) = diag(K − F Fᵀ).
    """
    n = len(diag)
    residual = np.maximum(np.asarray(diag, dtype=np.float64), 0.0).copy()
    floor = 64 * precision(dtype) * max(residual.max(initial=0.0), np.finfo(np.float64).tiny)
    # Dividing by a random pivot far below the largest residual amplifies rounding: finish greedily.
    random_floor = np.sqrt(precision(dtype)) * residual.max(initial=0.0)
    order = np.arange(n)
    factor = np.zeros((min(max_rank, n), n), dtype=dtype)  # pages are touched, and so taken, only as the rank grows
    (trsm,) = sla.get_blas_funcs(("trsm",), dtype=dtype)
    slab = SLAB * n_threads()
    rank = 0
    while rank < len(factor) and residual[rank:].max(initial=0.0) > floor:
        tail = residual[rank:]
        if rng is not None and tail.max() < 10 * random_floor:
            rng = None
        least = floor if rng is None else random_floor
        # Narrow blocks first, where few pivots may be enough; wide ones later, where matrix products pay.
        width = min(int(np.clip(rank, 32, 256)), len(factor) - rank, int(np.sum(tail > least)))
        if rng is None:
            chosen = np.argpartition(-tail, width - 1)[:width]
        else:
            live = np.where(tail > least, tail, 0.0)
            # In the order of the draws, repeats too: sorting would favour low indices, see _accept.
            chosen = rng.choice(len(tail), size=width, p=live / live.sum())
        chosen = rank + chosen
        known = factor[:rank, chosen].astype(np.float64)
        core = np.asarray(block(order[chosen], order[chosen]), dtype=np.float64) - known.T @ known
        keep, root = _accept(core, residual[chosen], least, rng)
        chosen, width = chosen[keep], len(keep)
        _bring_forward(chosen, rank, order, residual, factor)
        front = slice(rank, rank + width)
        factor[front, front] = root.T
        lower, seen = np.asfortranarray(root, dtype=dtype), factor[:rank, front].T
        for start in range(rank + width, n, slab):
            back = slice(start, min(start + slab, n))
            rows = np.asarray(block(order[front], order[back]), dtype=dtype, order="C")
            rows -= seen @ factor[:rank, back]
            # rows ← root⁻¹ rows, in place: in BLAS's order this is the transpose times root⁻ᵀ from the right.
            rows = trsm(1.0, lower, rows.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
            factor[front, back] = rows
            residual[back] -= np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
        np.maximum(residual, 0.0, out=residual)
        residual[front] = 0.0
        rank += width
    F = np.empty((n, rank), dtype=dtype)
    F[order] = factor[:rank].T
    left = np.empty(n)
    left[order] = residual
    return order[:rank].copy(), F, left


def _accept(core, residual, floor, rng):
    """Which proposed pivots to keep, in order, and the lower factor of their core."""
    kept: list[int] = []
    left = np.diag(core).copy()  # of each proposal: what those kept before it do not explain
    rows = np.empty_like(core)  # of the factor's transpose: one for each kept pivot
    lots = None if rng is None else rng.random(len(core))
    for turn in range(len(core)):
        if lots is None:
            # Greedy: the best one left, as long as it is still as good as half of what it looked like.
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
    if not kept:  # rounding: take the largest rather than turn in circles
        i = int(np.argmax(np.diag(core)))
        return np.array([i]), np.full((1, 1), np.sqrt(max(core[i, i], floor)))
    return np.array(kept), np.tril(rows[: len(kept), kept].T)


def _bring_forward(chosen, rank, order, residual, factor):
    """Swap the chosen rows to positions rank, rank + 1, … in everything that is kept in pivot order."""
    target = np.arange(rank, rank + len(chosen))
    stay = np.setdiff1d(target, chosen)  # rows in the target zone that must make room
    holes = np.setdiff1d(chosen, target)
    source = np.concatenate([chosen, stay])
    place = np.concatenate([target, holes])
    order[place], residual[place] = order[source], residual[source]
    factor[:rank, place] = factor[:rank, source]
