"""K @ V without storing K: `Operator` says what a solver may ask, the classes below it are the kinds there are."""

from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from ..backend import home, n_threads, namespace, need, parallel
from ..kernels.base import TILE
from ..rows import dot, host, like, take, tdot
from . import fused

GPU_ROWS = 16_384


class Operator:
    """What a solver may ask of a symmetric matrix K that is known by its products.

    A new kind defines `shape`, ``@`` and, for the solvers that look at entries, `diag` and `columns`; it inherits the
    rest, which says what is true of a matrix on the host. The product lives where V lives: host float64 in, host
    float64 out, whatever the home of the data. The eigen-solver on a GPU passes tensors instead, which it gets from
    `random`, so that tall matrices stay on the device.

    Attributes
    ----------
    shape : (n, n).
    costly : every product computes K again: few wide products are better than many thin ones.
    noise : size of the rounding in the products; a solver does not try to bring a residual below it.
    on_gpu : entries are computed on a device: `combine` is better than to bring `columns` to the host.
    fast : the same matrix with faster, rougher products, from which a solver may start; None where there is none.
    """

    shape: tuple[int, int]
    costly: bool = False
    noise: float = 0.0

    def __matmul__(self, V):
        raise NotImplementedError(f"{type(self).__name__} has no products.")

    def diag(self):
        """The diagonal, on the host."""
        raise NotImplementedError(f"{type(self).__name__} has no diag().")

    def columns(self, idx):
        """K[:, idx], on the host."""
        raise NotImplementedError(f"{type(self).__name__} has no columns(idx).")

    def rows(self, idx):
        """K[idx], on the host, each row in one piece."""
        return np.ascontiguousarray(self.columns(idx).T)

    def block(self, idx):
        """K[idx][:, idx], on the host."""
        return self.columns(idx)[idx]

    def combine(self, idx, factor):
        """K[:, idx] @ factor, on the host."""
        return self.columns(idx) @ factor

    def dense(self):
        """The whole matrix, on the host; it may be the stored one."""
        return self.columns(np.arange(self.shape[0]))

    def random(self, width, seed):
        """A Gaussian block of `width` columns where the tall matrices of a solver should live."""
        return np.random.default_rng(seed).standard_normal((self.shape[0], width))

    @property
    def on_gpu(self):
        return False

    @property
    def fast(self):
        return None


class DenseOperator(Operator):
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

    def dense(self):
        return np.asarray(host(self.K), dtype=np.float64)


class StoredKernel(DenseOperator):
    """A kernel matrix in memory, symmetric to the last bit: its product with one vector reads half of it."""

    def __init__(self, K):
        super().__init__(K)
        self.symv = None if home(K) == "torch" else get_blas_funcs("symv", (K,))

    def __matmul__(self, V):
        if V.size != self.shape[0] or self.symv is None:
            return super().__matmul__(V)
        product = self.symv(1.0, self.K.T, np.asarray(V, dtype=self.K.dtype).reshape(-1), lower=1)
        return product.astype(np.float64, copy=False).reshape(V.shape)


class FactorOperator(Operator):
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


class KernelOperator(Operator):
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

    def __init__(self, kernel, X, precision="high"):
        self.kernel = kernel
        self.X = X
        self.precision = precision  # of fused products on a GPU: "fast", "high" or "exact"
        self.shape = (X.shape[0], X.shape[0])
        self.threads = n_threads()  # now: a solver may pin BLAS to one thread around its products
        self._sides: tuple[Any, ...] | None = None

    def __matmul__(self, V):
        if V.ndim == 1:
            return (self @ V[:, None])[:, 0]
        if home(V) == "torch":
            return self._on_device(V)
        if home(self.X) == "torch":
            return np.asarray(host(self._on_device(like(V, self.X))), dtype=np.float64)
        return self._symmetric_product(np.asarray(V, dtype=np.float64))

    def _on_device(self, V):
        """The product where the rows live: fused where that is possible, tile by tile otherwise."""
        if not fused.supports(self.kernel, self.X):
            return _torch_tiles(self.kernel, self.X, self.X, V.to(self.X.dtype)).to(V.dtype)
        if self._sides is None:
            self._sides = fused.sides(self.kernel, self.X, self.X, self.precision)
        left, right, unit = self._sides
        return fused.multiply(self.kernel, left, right, unit, V.float()).to(V.dtype)

    @property
    def fast(self):
        """The same operator in half precision, where there is such a product."""
        if self.precision == "fast" or home(self.X) != "torch" or not fused.supports(self.kernel, self.X):
            return None
        return KernelOperator(self.kernel, self.X, "fast")

    def random(self, width, seed):
        if not self.on_gpu:
            return super().random(width, seed)
        torch = need("torch")
        generator = torch.Generator(self.X.device).manual_seed(seed)
        return torch.randn((self.shape[0], width), generator=generator, dtype=torch.float64, device=self.X.device)

    def _symmetric_product(self, V):
        n = self.shape[0]
        V32 = V.astype(self.X.dtype, copy=False)
        starts = range(0, n, TILE)
        strips = min(self.threads, len(starts)) if self.kernel.threadsafe else 1
        outs = [np.zeros(V.shape) for _ in range(strips)]

        def strip(k):
            # Row blocks are dealt out in turn: the triangle's long and short rows are shared evenly.
            out = outs[k]
            for i in starts[k::strips]:
                rows = slice(i, i + TILE)
                for j in range(0, i + 1, TILE):
                    cols = slice(j, j + TILE)
                    block = self.kernel.tile(self.X[rows], self.X[cols])
                    out[rows] += block @ V32[cols]
                    if i != j:
                        out[cols] += block.T @ V32[rows]

        self.kernel.check()
        parallel(strip, range(strips), threads=strips)
        return sum(outs[1:], start=outs[0])

    def diag(self):
        return self.kernel.diag(self.X)

    def columns(self, idx):
        return np.asarray(host(self.kernel(self.X, self.X[idx])), dtype=np.float64)

    def rows(self, idx):
        return np.asarray(host(self.kernel(self.X[idx], self.X)), dtype=np.float64)

    @property
    def on_gpu(self):
        return home(self.X) == "torch" and self.X.device.type == "cuda"

    def block(self, idx):
        return np.asarray(host(self.kernel(self.X[idx])), dtype=np.float64)

    def combine(self, idx, factor):  # the columns themselves never leave the device
        return cross_product(self.kernel, self.X, self.X[idx], factor)


def cross_product(kernel, X, Y, V):
    """k(X, Y) @ V as a host float64 array, tile by tile, for new rows X against training rows Y."""
    V = np.asarray(V, dtype=np.float64)
    if home(X) == "torch":
        W = like(V.reshape(len(V), -1), X)
        out = fused.product(kernel, X, Y, W) if fused.supports(kernel, X) else _torch_tiles(kernel, X, Y, W)
        return np.asarray(host(out), dtype=np.float64).reshape((X.shape[0],) + V.shape[1:])
    kernel.check()
    out = np.empty((X.shape[0],) + V.shape[1:])
    W = V.astype(X.dtype, copy=False)

    def fill(start):
        rows = slice(start, start + TILE)
        parts = (slice(first, first + TILE) for first in range(0, Y.shape[0], TILE))
        out[rows] = sum(kernel.tile(X[rows], Y[cols]) @ W[cols] for cols in parts)

    parallel(fill, range(0, X.shape[0], TILE), threads=None if kernel.threadsafe else 1)
    return out


def _torch_tiles(kernel, X, Y, V):
    """k(X, Y) @ V on torch's device from square tiles."""
    kernel.check()
    out = V.new_zeros((X.shape[0], V.shape[1]))
    for start in range(0, X.shape[0], GPU_ROWS):
        rows = slice(start, start + GPU_ROWS)
        for first in range(0, Y.shape[0], GPU_ROWS):
            cols = slice(first, first + GPU_ROWS)
            out[rows] += kernel.tile(X[rows], Y[cols]) @ V[cols]
    return out


class CentredOperator(Operator):
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
        self.costly = K.costly
        self.root = np.sqrt(weight)[:, None]
        self.share = (weight / weight.sum())[:, None]
        self.mean = None
        self._device_weights = None
        self._centred = None

    def __matmul__(self, V):
        if V.ndim == 1:
            return (self @ V[:, None])[:, 0]
        if self._centred is not None:
            return self._centred @ V
        root, share = self._beside(V)
        V = root * V
        if not self.center:
            return root * (self.K @ V)
        V = V - share * V.sum(0)
        if self.mean is None:  # rides along with the first product
            product = self.K @ namespace(V).hstack([V, share])
            self.mean, product = np.asarray(host(product[:, -1]), dtype=np.float64), product[:, :-1]
        else:
            product = self.K @ V
        return root * (product - share.T @ product)

    def _beside(self, V):
        """Weights where V lives."""
        if home(V) != "torch":
            return self.root, self.share
        if self._device_weights is None:
            self._device_weights = like(self.root, V), like(self.share, V)
        return self._device_weights

    @property
    def fast(self):
        """The same centring around a half-precision product, or None."""
        rough = self.K.fast
        return None if rough is None else CentredOperator(rough, self.root[:, 0] ** 2, self.center)

    def random(self, width, seed):
        return self.K.random(width, seed)

    def means(self):
        """K w, from the first product or from one of its own."""
        if self.mean is None:
            self.mean = (self.K @ self.share)[:, 0]
        return self.mean

    def trace(self):
        """Sum of all eigenvalues: the total variance."""
        if self._centred is not None:
            return float(self._centred.diag().sum())
        weight = self.root[:, 0] ** 2
        return float(weight @ (self.K.diag() - self.means() if self.center else self.K.diag()))

    def dense(self):
        """The centred matrix; a stored float64 K is overwritten, so that there is one n × n matrix and not two."""
        if self._centred is not None:
            return self._centred.K
        first = self.means()[:, None]
        K = self.K.dense()
        if self.center:
            for again in (False, True):  # the second round takes away what rounding, the same for all rows, has left
                mean = K @ self.share if again else first
                K -= mean
                K -= mean.T
                K += float(self.share[:, 0] @ mean[:, 0])
        K *= self.root
        K *= self.root.T
        self._centred = DenseOperator(K)  # from here on the products are with this one
        return K
