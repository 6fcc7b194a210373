"""PyTorch tensors, on the CPU or on a GPU."""

import contextlib
import sys
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from .. import backend
from ..backend import need, on_gpu, use_device
from ..types import Array, Block, Estimator, Rows
from .base import Home, refuse_shape
from .nearest import Nearest
from .row_clusters import RowClusters

if TYPE_CHECKING:
    from torch import Tensor


class Torch(Home):
    """Tensors, with products on their device and sums on the host."""

    name = "torch tensor"

    def owns(self, A: Rows) -> bool:
        return type(A).__module__.partition(".")[0] == "torch"

    def host(self, A: Rows) -> Array:
        return A.detach().cpu().numpy()

    def like(self, a: Block, Z: Rows) -> Block:
        if self.owns(a):
            return a.to(Z.device, Z.dtype)
        a = np.ascontiguousarray(a)
        a = a.copy() if min(a.strides, default=0) < 0 else a  # a reversed axis of length 1 counts as contiguous
        return need("torch").as_tensor(a, dtype=Z.dtype, device=Z.device)

    def near(self, a: Block, X: Rows) -> Block:
        return self.like(a.toarray() if hasattr(a, "toarray") else a, X)

    def computing(self, X: Rows) -> contextlib.AbstractContextManager:
        return use_device(X.device, str(X.dtype).rpartition(".")[2])

    def refuse(self, X: Rows) -> None:
        refuse_shape(X, self.name, "X.float()")

    def bad_columns(self, X: Rows) -> Array:
        return np.flatnonzero(~self.host(need("torch").isfinite(X).all(0)))

    def magnitude(self, X: Rows) -> float:
        return float(need("torch").linalg.vector_norm(X, float("inf"))) if X.numel() else 0.0

    def free_memory(self, X: Rows) -> int | None:
        return backend.memory_available(X.device)

    def take(self, Z: Rows, idx: Array) -> Array:
        return self.host(Z[need("torch").as_tensor(idx, device=Z.device)])

    def double(self, block: Rows) -> "Tensor":
        return block.double()

    def single(self, block: Rows) -> "Tensor":
        return block.float()

    def write(self, out: Array, rows: slice, values: object) -> None:
        need("torch").from_numpy(out[rows]).copy_(values)  # no host copy in between

    def answers(self, method: Callable, model: Estimator, X: Rows, arguments: tuple, options: dict) -> Block:
        with self.computing(X):
            return method(model, X, *arguments, **options)

    def empty(self, shape: tuple[int, ...], X: Rows) -> "Tensor":
        return X.new_empty(shape)

    def concat(self, parts: Sequence[Rows]) -> Rows:
        return need("torch").cat(list(parts), dim=1)

    def random(self, X: Rows, shape: tuple[int, int], seed: int) -> Block:
        if not on_gpu(X):
            return super().random(X, shape, seed)
        torch = need("torch")
        generator = torch.Generator(X.device).manual_seed(seed)
        return torch.randn(shape, generator=generator, dtype=torch.float64, device=X.device)

    def namespace(self, A: Rows) -> ModuleType:
        return sys.modules["torch"]

    def tiles(self, X: Rows) -> tuple[int, bool]:
        return (8192, False) if on_gpu(X) else super().tiles(X)

    def pairwise(self, X: Rows, Y: Rows, order: int) -> "Tensor":
        cdist = need("torch").cdist
        return cdist(X, Y, p=1.0) if order == 1 else cdist(X, Y, compute_mode="donot_use_mm_for_euclid_dist") ** 2

    def smallest(self, A: Block, k: int) -> "Tensor":
        return A.kthvalue(k, 1).values

    def symmetric(self, K: Rows) -> "Tensor":
        return (K + K.T) / 2

    def sorted_columns(self, X: Rows, places: Array) -> Array:
        torch = need("torch")
        where = torch.as_tensor(places, device=X.device)
        return np.stack([self.host(torch.sort(column).values[where].double()) for column in X.T], axis=1)

    def ranks(self, values: Array, X: Rows) -> tuple[Block, Block]:
        search, columns, rows = need("torch").searchsorted, self.like(values.T, X), X.T.contiguous()
        return search(columns, rows).T, search(columns, rows, right=True).T

    def orthonormal(self, block: Block) -> "Tensor":
        return need("torch").linalg.qr(block).Q.contiguous()

    def sparse(self, A: Rows, X: Rows) -> "Tensor":
        torch = need("torch")
        parts = [torch.as_tensor(part, device=X.device) for part in (A.indptr, A.indices)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that such matrices are new
            return torch.sparse_csr_tensor(*parts, self.like(A.data, X), size=A.shape, check_invariants=False)

    def search(self, rows: Rows) -> Callable | None:
        return Nearest(rows, self.free_memory(rows)) if on_gpu(rows) else None

    def partition(self, Z: "Tensor", linear: Array, weight: Array) -> RowClusters | None:
        return RowClusters(Z, linear, weight) if on_gpu(Z) else None

    def solve_lower(self, L: Rows, B: Rows) -> "Tensor":
        return need("torch").linalg.solve_triangular(L, B, upper=False)


HOME = Torch()
