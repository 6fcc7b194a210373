"""Block Krylov for the largest eigenpairs, on the host or where the operator lives."""

import numpy as np
import scipy.linalg as sla

from ...backend import blas_threads
from ...linalg import eigh_down
from ...rows import empty, host, like, namespace, room_for

TINY = float(np.finfo(np.float64).tiny)

ROUGH = 1e-4  # residual at which a half-precision product has given what it can


def krylov(A, s, tol, max_iter=None, seed=0, start=None):
    """(values, vectors, A·vectors, steps, history) of the s largest eigenpairs of a symmetric operator.

    Each step adds A times the last block to the basis Q, orthogonalized against all of it; Rayleigh–Ritz on the whole
    basis. Thick restart when it is full, converged pairs staying in it. Both Q and A Q are kept, so the residuals at
    the end are true residuals and cost no product with A. On the way they are read off the coupling to the next block.

    A is an `Operator`. One with a `fast` twin (half-precision products on a GPU) is first solved roughly with that one.
    The full precision then starts from its space, and only it decides when to stop.
    """
    steps, history = 0, []
    rough = A.fast
    with blas_threads(1):  # the operator has threads of its own, and the two would compete for the cores
        if rough is not None and start is None and tol < 1:
            _, start, _, steps, history = _space(rough, s, max(tol, ROUGH), max_iter, seed, None)
        values, V, AV, more, tail = _space(A, s, tol, max_iter, seed, start)
    return values[:s], host(V[:, :s]), host(AV[:, :s]), steps + more, history + tail


def _space(A, s, tol, max_iter, seed, start):
    """Ritz pairs, the s wanted ones and some more that a further run can start from, where A keeps tall matrices."""
    n = A.shape[0]
    width = min(s + 4 if A.costly else s // 2 + 4, n)  # costly products: fewer and wider
    block = A.random(width if start is None else 4, seed)
    if start is not None:  # the random columns see what a start that is invariant, but not the largest, would hide
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
        estimate = np.linalg.norm(coupling, axis=0) / max(abs(values[0]), np.finfo(np.float64).tiny)
        history.append(float(estimate.max(initial=0.0)))
        done = size >= s and history[-1] <= max(tol, float(A.noise) / max(abs(float(values[0])), TINY))
        news = seen is None or len(seen) < s or np.any(np.abs(values[:s] - seen) > 1e-8 * abs(values[0]))
        if news and size < n and (block.shape[1] == 0 or (done and _crowded(values[:s], width))):
            # A start of w columns reaches w copies of an eigenvalue: look for more of them in a new direction.
            seen, done = values[:s].copy(), False
            fresh = A.random(width, seed + step)
            block = _orthonormal(namespace(fresh).hstack([block, fresh]), Q[:, :size])
        if done or block.shape[1] == 0 or (size >= s and step >= (max_iter or 500)):
            break
        if size + block.shape[1] > most:  # thick restart: the best pairs, and the direction that would have come next
            keep = min(s + width, most - block.shape[1], size)
            small = like(Y[:, :keep], Q)
            Q[:, :keep], AQ[:, :keep] = Q[:, :size] @ small, AQ[:, :size] @ small
            T[:keep, :keep] = np.diag(values[:keep])
            size = keep
    keep = min(s + 4, size)
    small = like(Y[:, :keep], Q)
    return values[:keep], Q[:, :size] @ small, AQ[:, :size] @ small, step, history


def _crowded(values: np.ndarray, width: int) -> bool:
    """Whether as many of the descending values coincide as a start of that width can reach."""
    return len(values) >= width and bool(
        np.any(values[: len(values) - width + 1] - values[width - 1 :] <= 1e-8 * abs(values[0]))
    )


def _room(block: np.ndarray, most: int) -> np.ndarray:
    """Uninitialized columns next to a block: same home, same dtype, column after column."""
    n = block.shape[0]
    remedy = "Use approx=<number of landmarks> or fewer components."
    room_for(8 * n * most, block, f"The Krylov basis of {n} × {most} numbers", remedy)
    return empty((most, n), block).T


def _orthonormal(block: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Orthonormal columns spanning what block adds to Q. Directions that add nothing but rounding are dropped."""
    scale = (block * block).sum(0) ** 0.5
    live = scale > 0
    block = block[:, live] / scale[live]
    for least in (1e-20, 1e-20, 0.25):  # the third round finds nothing to drop: columns are orthonormal to rounding
        if block.shape[1] == 0:
            break
        block = block - Q @ (Q.T @ block)
        weights, U = sla.eigh(host(block.T @ block), check_finite=False)
        keep = weights > max(least * weights.max(initial=0.0), least * 1e-4)
        block = block @ like(U[:, keep] / np.sqrt(weights[keep]), block)
    return block
