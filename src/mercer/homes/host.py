"""NumPy arrays and SciPy sparse rows; also whatever NumPy can read, such as lists and data frames."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .base import Array, Home, Rows


class Host(Home):
    """The home of everything that no other home owns."""

    name = "NumPy array"
    on_host = True

    def owns(self, A: Any) -> bool:
        return True

    def host(self, A: Rows) -> Array:
        return np.asarray(A)

    def kept(self, X: Rows) -> Any:
        return X.copy()

    def take(self, Z: Rows, idx: Array) -> Array:
        return np.asarray(Z[idx].toarray() if sp.issparse(Z) else Z[idx])

    def pairwise(self, X: Any, Y: Any, order: int) -> Any:
        X, Y = (A.toarray() if sp.issparse(A) else A for A in (X, Y))
        return super().pairwise(X, Y, order)


HOME = Host()
