"""Block Krylov for the largest eigenpairs, on the device of the operator."""

import numpy as np
import scipy.linalg as sla

from ...backend import blas_threads
from ...linalg import eigh_down
from ...rows import empty, host, like, namespace, room_for


def krylov(A, s, tol, max_iter=None, seed=0, start=None):
    """(values, vectors, A·vectors, steps, history) of the s largest eigenpairs of a symmetric operator.

    Each step orthogonalizes A times the last block against the basis Q, adds it to Q and applies Rayleigh–Ritz to the
    whole basis. A full basis gets a thick restart, which keeps the converged pairs. Both Q and A Q are kept, so that
    the residuals at the end are true residuals and cost no product with A. On the way they are estimated from the
    coupling to the next block.

    A is an `Operator`. If it has a `fast` version (half-precision products on a GPU), the problem is first solved
    roughly with that one. The full precision then starts from its space, and only it decides when to stop.
    """
    steps, history = 0, []
    rough = A.fast
    with blas_threads(1):  # the operator has threads of its own, and the two would compete for the cores
        if rough is not None and start is None and tol < 1:
            # 1e-4: residual below which half-precision products gain nothing
            _, start, _, steps, history = _space(rough, s, max(tol, 1e-4), max_iter, seed, None)
        values, V, AV, more, tail = _space(A, s, tol, max_iter, seed, start)
    return values[:s], host(V[:, :s]), host(AV[:, :s]), steps + more, history + tail


def _space(A, s, tol, max_iter, seed, start):
    """Ritz pairs, the s wanted ones and some more that a further run can start from, on the device of A."""
    n, tiny = A.shape[0], float(np.finfo(np.float64).tiny)
    width = min(s + 4 if A.costly else s // 2 + 4, n)  # fewer and wider products if they are costly
    block = A.random(width if start is None else 4, seed)
    if start is not None:  # the random columns find what a start in an invariant space of smaller eigenvalues misses
        block = namespace(block).hstack([like(start, block), block])[:, :n]
    most = min(n, max(8 * width, 6 * s, 160))  # columns of the basis before a restart
    Q, AQ = _room(block, most), _room(block, most)
    T = np.zeros((most, most))
    block = _orthonormal(block, Q[:, :0])
    size, history, step, seen = 0, [], 0, None
    while True:
        step += 1
        new = slice(size, size + block.shape[1])
        product = A @ block
        Q[:, new], AQ[:, new] = block, product
        size = new.stop
        T[:size, new] = host(Q[:, :size].T @ product)
        T[new, :size] = T[:size, new].T
        values, Y = eigh_down(T[:size, :size])
        block = _orthonormal(product, Q[:, :size]) if size < n else product[:, :0]
        coupling = host(block.T @ product) @ Y[new, :s]
        estimate = np.linalg.norm(coupling, axis=0) / max(abs(values[0]), tiny)
        history.append(float(estimate.max(initial=0.0)))
        done = size >= s and history[-1] <= max(tol, float(A.noise) / max(abs(float(values[0])), tiny))
        news = seen is None or len(seen) < s or np.any(np.abs(values[:s] - seen) > 1e-8 * abs(values[0]))
        if news and size < n and (block.shape[1] == 0 or (done and _crowded(values[:s], width))):
            # A start of w columns reaches w copies of an eigenvalue. More of them need a new direction.
            seen, done = values[:s].copy(), False
            fresh = A.random(width, seed + step)
            block = _orthonormal(namespace(fresh).hstack([block, fresh]), Q[:, :size])
        if done or block.shape[1] == 0 or (size >= s and step >= (max_iter or 500)):
            break
        if size + block.shape[1] > most:  # thick restart with the best pairs and the next direction
            keep = min(s + width, most - block.shape[1], size)
            small = like(Y[:, :keep], Q)
            Q[:, :keep], AQ[:, :keep] = Q[:, :size] @ small, AQ[:, :size] @ small
            T[:keep, :keep] = np.diag(values[:keep])
            size = keep
    keep = min(s + 4, size)
    small = like(Y[:, :keep], Q)
    return values[:keep], Q[:, :size] @ small, AQ[:, :size] @ small, step, history


def _crowded(values: np.ndarray, width: int) -> bool:
    """Whether `width` of the descending values coincide, which is as many as a start of that width can reach."""
    return len(values) >= width and bool(
        np.any(values[: len(values) - width + 1] - values[width - 1 :] <= 1e-8 * abs(values[0]))
    )


def _room(block: np.ndarray, most: int) -> np.ndarray:
    """Uninitialized columns on the device of a block, with its dtype, in column-major order."""
    n = block.shape[0]
    remedy = "Use approx=<number of landmarks> or fewer components."
    room_for(8 * n * most, block, f"The Krylov basis of {n} × {most} numbers", remedy)
    return empty((most, n), block).T


def _orthonormal(block: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span what the block adds to Q. Directions that are only rounding are dropped."""
    scale = (block * block).sum(0) ** 0.5
    live = scale > 0
    block = block[:, live] / scale[live]
    for least in (1e-20, 1e-20, 0.25):  # the third round drops nothing and makes the columns orthonormal
        if block.shape[1] == 0:
            break
        block = block - Q @ (Q.T @ block)
        weights, U = sla.eigh(host(block.T @ block), check_finite=False)
        keep = weights > max(least * weights.max(initial=0.0), least * 1e-4)
        block = block @ like(U[:, keep] / np.sqrt(weights[keep]), block)
    return block
