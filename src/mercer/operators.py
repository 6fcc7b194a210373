"""K @ V without storing K: three small classes with `shape`, `@`, `diag()` and `columns(idx)`.

V and the product are host float64 arrays, whatever the home of the data.
"""

import numpy as np

from .backend import home, n_threads, namespace, parallel
from .kernels.base import TILE
from .rows import dot, gram, host, like, take, tdot

GPU_ROWS = 16_384


class DenseOperator:
    """A stored symmetric matrix."""

    def __init__(self, K):
        self.K = K
        self.shape = K.shape
        self.threads = n_threads()

    def __matmul__(self, V):
        if home(self.K) == "torch":
            return np.asarray(host(self.K @ like(V, self.K)), dtype=np.float64)
        # Vᵀ K and not K V: BLAS then packs the thin side, 1.4 to 1.7 times faster for 2 to 24 columns. In K's dtype: a
        # float64 V would make NumPy convert the whole of a float32 matrix. In our threads: BLAS's own are slower here.
        n, thin = self.shape[0], np.ascontiguousarray(np.asarray(V, dtype=self.K.dtype).T)
        if V.ndim == 1 or self.threads == 1 or n < 1000:
            return (thin @ self.K).T.astype(np.float64, copy=False)
        out = np.empty(thin.shape, dtype=thin.dtype)
        step = -(-n // self.threads)

        def strip(start):
            out[:, start : start + step] = thin @ self.K[:, start : start + step]

        parallel(strip, range(0, n, step), threads=self.threads)
        return out.T.astype(np.float64, copy=False)

    def diag(self):
        return np.array(host(self.K.diagonal()), dtype=np.float64)

    def columns(self, idx):
        return np.array(host(self.K[:, idx]), dtype=np.float64)


class FactorOperator:
    """K = Z Zᵀ through the verbs, so Z may live in NumPy, torch or Dask."""

    def __init__(self, Z):
        self.Z = Z
        self.shape = (Z.shape[0], Z.shape[0])

    def __matmul__(self, V):
        return dot(self.Z, tdot(self.Z, V))

    def diag(self):
        ones = np.ones(self.Z.shape[1])
        return dot(self.Z * self.Z, ones)

    def columns(self, idx):
        return dot(self.Z, take(self.Z, idx).T)

    def gram(self):
        """ZᵀZ, whose spectrum is K's."""
        return gram(self.Z)


class KernelOperator:
    """The kernel matrix of the rows of X, recomputed tile by tile at every product.

    Memory: the product, one buffer of its size per thread, and a tile; never n × n. On the CPU the symmetry halves the
    kernel evaluations.

    Examples
    --------
    >>> from mercer import RBF
    >>> X = np.random.default_rng(0).standard_normal((1000, 3))
    >>> K = KernelOperator(RBF(1.0), X)
    >>> bool(np.allclose(K @ np.ones(1000), RBF(1.0)(X).sum(axis=1)))
    True
    """

    costly = True  # every product evaluates the kernel again

    def __init__(self, kernel, X):
        self.kernel = kernel
        self.X = X
        self.shape = (X.shape[0], X.shape[0])

    def __matmul__(self, V):
        V = np.asarray(V, dtype=np.float64)
        if V.ndim == 1:
            return (self @ V[:, None])[:, 0]
        if home(self.X) == "torch":
            return cross_product(self.kernel, self.X, self.X, V)
        return self._symmetric_product(V)

    def _symmetric_product(self, V):
        n = self.shape[0]
        V32 = V.astype(self.X.dtype, copy=False)
        starts = range(0, n, TILE)
        strips = min(n_threads(), len(starts)) if self.kernel.threadsafe else 1
        outs = [np.zeros(V.shape) for _ in range(strips)]

        def strip(k):
            # Row blocks are dealt out in turn: the triangle's long and short rows are shared evenly.
            out = outs[k]
            for i in starts[k::strips]:
                rows = slice(i, i + TILE)
                for j in range(0, i + 1, TILE):
                    cols = slice(j, j + TILE)
                    block = self.kernel._tile(self.X[rows], self.X[cols])
                    out[rows] += block @ V32[cols]
                    if i != j:
                        out[cols] += block.T @ V32[rows]

        self.kernel._check_resolved()
        parallel(strip, range(strips), threads=strips)
        return sum(outs[1:], start=outs[0])

    def diag(self):
        return self.kernel.diag(self.X)

    def columns(self, idx):
        return np.asarray(host(self.kernel(self.X, self.X[idx])), dtype=np.float64)


def cross_product(kernel, X, Y, V):
    """k(X, Y) @ V as a host float64 array, row block by row block, for new rows X against training rows Y."""
    V = np.asarray(V, dtype=np.float64)
    n, m = X.shape[0], Y.shape[0]
    on_torch = home(X) == "torch"
    step = GPU_ROWS if on_torch else max(TILE, 2**22 // max(m, 1))
    out = np.empty((n,) + V.shape[1:])
    W = like(V, X) if on_torch else V.astype(X.dtype, copy=False)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        if on_torch:
            total = namespace(X).zeros((min(step, n - start),) + V.shape[1:], dtype=X.dtype, device=X.device)
            for first in range(0, m, step):
                cols = slice(first, first + step)
                total += kernel._tile(X[rows], Y[cols]) @ W[cols]
            out[rows] = host(total)
        else:
            out[rows] = kernel(X[rows], Y) @ W
    return out


class CentredOperator:
    """D^½ (I − 1wᵀ) K (I − w1ᵀ) D^½ for sample weights D, w = D / ΣD: the Gram matrix of the centred rows.

    A weight of 2 has the effect of a row that occurs twice. ``center=False`` leaves the origin where it is.

    Attributes
    ----------
    mean : K w, the mean similarity of every row to the training rows (None until the first product).
    """

    def __init__(self, K, weight=None, center=True):
        n = K.shape[0]
        weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        self.K, self.shape, self.center = K, K.shape, center
        self.costly = getattr(K, "costly", False)
        self.root = np.sqrt(weight)[:, None]
        self.share = (weight / weight.sum())[:, None]
        self.mean = None

    def __matmul__(self, V):
        if V.ndim == 1:
            return (self @ V[:, None])[:, 0]
        V = self.root * V
        if not self.center:
            return self.root * (self.K @ V)
        V = V - self.share * V.sum(axis=0)
        if self.mean is None:  # rides along with the first product
            product = self.K @ np.hstack([V, self.share])
            self.mean, product = product[:, -1], product[:, :-1]
        else:
            product = self.K @ V
        return self.root * (product - self.share.T @ product)

    def means(self):
        """K w, from the first product or from one of its own."""
        if self.mean is None:
            self.mean = (self.K @ self.share)[:, 0]
        return self.mean

    def trace(self):
        """Sum of all eigenvalues: the total variance."""
        weight = self.root[:, 0] ** 2
        total = float(weight @ self.K.diag())
        return total - float(weight.sum() * (self.share[:, 0] @ self.means())) if self.center else total

    def dense(self):
        """The centred matrix; a stored float64 K is overwritten, so that there is one n × n matrix and not two."""
        K = self.K.K if isinstance(self.K, DenseOperator) else self.K.columns(np.arange(self.shape[0]))
        mean = self.means()[:, None]
        K = np.asarray(host(K), dtype=np.float64)
        if self.center:
            K -= mean
            K -= mean.T
            K += float(self.share[:, 0] @ mean[:, 0])
        K *= self.root
        K *= self.root.T
        return K
