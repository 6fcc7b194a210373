"""Six verbs on a tall matrix Z, whether it lives in NumPy, in torch (CPU or GPU), in Dask, or is computed as asked.

Only n × r objects live off the host. What the verbs return lives on the host:

====================== =========================== ================
verb                   gives                       type
====================== =========================== ================
``gram(Z, weight)``    Zᵀ diag(weight) Z, r × r    float64 (and Zᵀ weight from the same pass, with ``sums=True``)
``tdot(Z, A)``         Zᵀ A, r × k                 float64
``dot(Z, W, weight)``  diag(weight) Z W, n × k     float64
``take(Z, idx)``       some rows                   float64
``host(a)``            the array itself            dtype kept
``like(a, Z)``         a, moved to where Z lives   Z's dtype
====================== =========================== ================

Sums over rows are accumulated in float64 block by block, so a float32 Z loses no digits in its Gram matrix.
"""

import numpy as np

from .backend import blas_for, blas_threads, home, n_threads, need, parallel

COMPUTED = 2**18  # entries per block of a matrix that is computed as asked: 2 MB, or r × r if that is more
BLOCK = 8192  # rows per block of a float64 accumulation: the copy of a float32 block stays near the cache


class Computed:
    """A tall host matrix whose rows are computed when a verb asks for them: it is never there as a whole.

    A kind sets `shape` and `dtype` and defines ``Z[rows]``; it may replace `product` and `_pass`. ``np.asarray(Z)``
    stores it.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    threadsafe = True  # whether rows may be computed in several threads at once
    _known: tuple | None = None  # the latest weight, and its Gram matrix and sums

    def __getitem__(self, rows):
        raise NotImplementedError(f"{type(self).__name__} has no rows.")

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:], dtype=dtype)

    def product(self, W):
        """Z W for a host W."""
        return _dot(self, W, None)

    def moments(self, weight):
        """(Zᵀ diag(weight) Z, Zᵀ weight); the latest are kept, since a pass computes every row again."""
        if self._known is None or self._known[0] is not weight:
            self._known = weight, *self._pass(weight)
        return self._known[1:]

    def _pass(self, weight):
        """The moments, from strips of blocks that are shared out among threads."""
        blocks = _blocks(self)
        threads = min(n_threads(), len(blocks)) if self.threadsafe else 1
        parts: list = [None] * threads

        def strip(k):
            parts[k] = _moments(self, weight, blocks=blocks[k::threads])

        parallel(strip, range(threads), threads)
        return tuple(sum(part) for part in zip(*parts))


def _blocks(Z):
    n, r = Z.shape
    step = max(r, COMPUTED // r) if isinstance(Z, Computed) else BLOCK
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def host(a):
    """The array on the host as NumPy, whatever its home."""
    kind = home(a)
    if kind == "torch":
        return a.detach().cpu().numpy()
    if kind == "dask":
        return _compute(a)
    return np.asarray(a)


def like(a, Z):
    """A host array moved to where Z lives, in Z's dtype (for Dask the array stays on the host)."""
    if home(Z) == "torch":
        return need("torch").as_tensor(np.ascontiguousarray(a), dtype=Z.dtype, device=Z.device)
    return np.asarray(a, dtype=Z.dtype)


def gram(Z, weight=None, sums=False):
    """Zᵀ diag(weight) Z as a host float64 matrix; weight = None means ones. With sums=True also Zᵀ weight."""
    if isinstance(Z, Computed):
        G, total = Z.moments(weight)
    elif home(Z) == "dask":
        G, total = (np.sum(parts, axis=0) for parts in zip(*_each_block(Z, weight, _moments)))
    else:
        G, total = _moments(Z, weight, sums)
    return (G, total) if sums else G


def tdot(Z, A):
    """Zᵀ A for a host vector or matrix A with one row per row of Z."""
    if home(Z) == "dask":
        return np.sum(_each_block(Z, np.asarray(A, dtype=np.float64), _tdot), axis=0)
    return _tdot(Z, np.asarray(A, dtype=np.float64))


def dot(Z, W, weight=None):
    """diag(weight) Z W as a host float64 array for a host vector or matrix W; weight = None means ones."""
    W = np.asarray(W, dtype=np.float64)
    if home(Z) == "dask":
        parts = _each_block(Z, weight, lambda block, weight: _dot(block, W, weight))
        return np.concatenate(parts, axis=0)
    if isinstance(Z, Computed):
        out = Z.product(W)
        return out if weight is None else (weight * out.T).T
    return _dot(Z, W, weight)


def take(Z, idx):
    """The rows idx (integers or a boolean mask) of Z on the host, float64."""
    idx = np.asarray(idx)
    if idx.dtype == bool:
        idx = np.flatnonzero(idx)
    if home(Z) == "torch":
        idx = need("torch").as_tensor(idx, device=Z.device)
    return host(Z[idx]).astype(np.float64)


def _float64(block):
    return block.double() if home(block) == "torch" else np.asarray(block, dtype=np.float64)


def _moments(Z, weight, sums=True, blocks=None):
    G = total = 0.0
    with blas_for(Z.shape[1], min(Z.shape[0], BLOCK), Z.shape[1]):
        for rows in _blocks(Z) if blocks is None else blocks:
            block = _float64(Z[rows])
            part = block if weight is None else block * like(weight[rows], block)[:, None]
            G = G + part.T @ block
            if sums:
                total = total + part.sum(0)
    return host(G), host(total)


def _tdot(Z, A):
    total = 0.0
    with blas_for(Z.shape[1], min(Z.shape[0], BLOCK), A.shape[1] if A.ndim > 1 else 1):
        for rows in _blocks(Z):
            block = _float64(Z[rows])
            total = total + block.T @ like(A[rows], block)
    return host(total)


def _dot(Z, W, weight):
    out = np.empty((Z.shape[0],) + W.shape[1:])
    with blas_for(min(Z.shape[0], BLOCK), Z.shape[1], W.shape[1] if W.ndim > 1 else 1):
        for rows in _blocks(Z):
            block = _float64(Z[rows])
            if weight is not None:
                block = block * like(weight[rows], block)[:, None]
            product = block @ like(W, block)
            if home(product) == "torch":
                need("torch").from_numpy(out[rows]).copy_(product)  # straight into its place: no copy in between
            else:
                out[rows] = product
    return out


# Dask: one task per row block; what comes back is small.


def _each_block(Z, A, function):
    """[function(block, rows of A)] over the row blocks of a Dask array, computed in one go."""
    delayed = need("dask").delayed
    if Z.numblocks[1] != 1:
        Z = Z.rechunk({1: -1})
    ends = np.cumsum(Z.chunks[0])
    parts = [
        delayed(_pinned)(function, block, None if A is None else A[end - length : end])
        for block, length, end in zip(Z.to_delayed().ravel(), Z.chunks[0], ends)
    ]
    with blas_threads(1):  # the threaded scheduler already uses every core
        return need("dask").compute(*parts)


def _pinned(function, block, A):
    """Run on a worker; in another process BLAS is pinned to one thread for good, since Dask runs a task a core."""
    import multiprocessing

    if multiprocessing.parent_process() is not None:
        blas_threads(1)
    return function(block, A)


def _compute(a):
    with blas_threads(1):
        return a.compute()
