"""NumPy arrays and SciPy sparse rows. Also whatever NumPy can read, such as lists and data frames."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from ..backend import parallel
from ..types import Array, Block, Rows
from .base import Home


class Host(Home):
    """The array backend of everything that no other one accepts."""

    name = "NumPy array"
    on_host = True

    def owns(self, A: Rows) -> bool:
        return True

    def host(self, A: Rows) -> Array:
        return A.toarray() if sp.issparse(A) else np.asarray(A)

    def bring(self, A: Rows) -> Rows:
        return A

    def floating(self, X: Rows) -> Rows:
        X = X if sp.issparse(X) else np.asarray(X)
        return X if X.dtype.kind == "f" else X.astype(np.float64)

    def by_blocks(
        self, f: Callable, X: Rows, width: int | None, dtype: DTypeLike | None, step: int | None, threads: Any
    ) -> Rows:
        n = X.shape[0]
        if step is None or n <= step:
            return f(X)
        out = np.empty((n,) if width is None else (n, width), dtype=X.dtype if dtype is None else dtype)

        def fill(start: int) -> None:
            out[start : start + step] = f(X[start : start + step])

        parallel(fill, range(0, n, step), threads)
        return out

    def kept(self, X: Rows) -> Rows:
        return X.copy()

    def double(self, block: Rows) -> Block:
        return sp.csr_array(block, dtype=np.float64) if sp.issparse(block) else super().double(block)

    def take(self, Z: Rows, idx: Array) -> Array:
        return np.asarray(Z[idx].toarray() if sp.issparse(Z) else Z[idx])

    def squares(self, Z: Rows) -> Array:
        return super().squares(Z) if sp.issparse(Z) else np.einsum("ij,ij->i", Z, Z, dtype=np.float64)

    def pairwise(self, X: Rows, Y: Rows, order: int) -> Block:
        X, Y = (A.toarray() if sp.issparse(A) else A for A in (X, Y))
        return super().pairwise(X, Y, order)


HOME = Host()
