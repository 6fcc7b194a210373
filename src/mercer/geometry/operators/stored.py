"""Operators of matrices in memory and of K = Z Zᵀ with a dense or sparse factor in memory."""

from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from ...backend import n_threads, parallel
from ...homes.row_clusters import RowClusters
from ...rows import dot, host, like, row_clusters, squares, take, tdot
from ...types import Array, Rows
from .base import Operator


class DenseOperator(Operator):
    """A stored symmetric matrix on the host. If `owned`, it may be overwritten."""

    def __init__(self, K: Array, owned: bool = False):
        self.K = self.stored = K
        self.owned = owned
        self.shape = K.shape
        self.threads = n_threads()

    def __matmul__(self, V: Array) -> Array:
        # Vᵀ K is 1.4 to 1.7 times faster than K V for 2 to 24 columns, because BLAS then packs the thin side. A float64
        # V would make NumPy convert the whole of a float32 K. These threads are faster than those of BLAS.
        n, thin = self.shape[0], np.ascontiguousarray(np.asarray(V, dtype=self.K.dtype).T)
        if V.ndim == 1 or self.threads == 1 or n < 1000:
            return (thin @ self.K).T.astype(np.float64, copy=False)
        out = np.empty(thin.shape, dtype=thin.dtype)
        step = -(-n // self.threads)

        def strip(start: int) -> None:
            out[:, start : start + step] = thin @ self.K[:, start : start + step]

        parallel(strip, range(0, n, step), threads=self.threads)
        return out.T.astype(np.float64, copy=False)

    def diag(self) -> Array:
        return np.array(self.K.diagonal(), dtype=np.float64)

    def columns(self, idx: Array) -> Array:
        return np.array(self.K[:, idx], dtype=np.float64)

    def dense(self) -> Array:
        return np.array(self.K, dtype=np.float64, copy=None if self.owned else True)


class StoredKernel(DenseOperator):
    """A kernel matrix on the host that is symmetric to the last bit, so a product with one vector reads half of it."""

    def __init__(self, K: Array):
        super().__init__(K, owned=True)
        self.symv = get_blas_funcs("symv", (K,))
        self.symmetric_vector = self.threads == 1

    def __matmul__(self, V: Array) -> Array:
        if V.size != self.shape[0]:
            return super().__matmul__(V)
        product = self.symv(1.0, self.K.T, np.asarray(V, dtype=self.K.dtype).reshape(-1), lower=1)
        return product.astype(np.float64, copy=False).reshape(V.shape)


class DeviceMatrix(Operator):
    """A symmetric matrix in the memory of a device."""

    def __init__(self, K: Rows):
        self.K = K
        self.shape = K.shape

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(host(self.K @ like(V, self.K)), dtype=np.float64)

    def diag(self) -> Array:
        return np.array(host(self.K.diagonal()), dtype=np.float64)

    def columns(self, idx: Array) -> Array:
        return np.array(host(self.K[:, idx]), dtype=np.float64)

    def dense(self) -> Array:
        return np.asarray(host(self.K), dtype=np.float64)


class FactorOperator(Operator):
    """K = Z Zᵀ, with products on the device of Z."""

    def __init__(self, Z: Rows):
        self.Z = Z
        self.shape = (Z.shape[0], Z.shape[0])

    def __matmul__(self, V: Array) -> Array:
        return dot(self.Z, tdot(self.Z, V))

    def diag(self) -> Array:
        return squares(self.Z)

    def columns(self, idx: Array) -> Array:
        return dot(self.Z, take(self.Z, idx).T)

    def partition(self, linear: Array, weight: Array) -> RowClusters | None:
        return row_clusters(self.Z, linear, weight)


class SparseFactor(Operator):
    """K = Φ Φᵀ for sparse features Φ on the host. The operations of a product are proportional to the entries of Φ."""

    def __init__(self, features: Any):
        self.features = features
        self.shape = (features.shape[0], features.shape[0])

    def __matmul__(self, V: Array) -> Array:
        return self.features @ (self.features.T @ V)

    def diag(self) -> Array:
        return np.asarray(self.features.multiply(self.features).sum(axis=1), dtype=np.float64).ravel()

    def columns(self, idx: Array) -> Array:
        return (self.features @ self.features[idx].T).toarray()
