"""A symmetric matrix K that solvers use through its products."""

import numpy as np

from ...homes.row_clusters import RowClusters
from ...types import Array, Block, Rows


class Operator:
    """A symmetric matrix that is defined by its products.

    A new operator defines `shape`, ``@`` and, for the solvers that use entries, `diag` and `columns`. The inherited
    methods are correct for a matrix on the host.

    The product of a host float64 V is host float64, for any array library of the data. The eigen-solver on a GPU passes
    tensors instead, which it gets from `random`, so that tall matrices stay on the device.
    """

    shape: tuple[int, int]
    costly: bool = False  # every product computes K again, so few wide products are better than many thin ones
    symmetric_vector: bool = False  # a product with one vector reads half of the matrix
    noise: float = 0.0  # error of the products. A solver does not reduce a residual below it
    stored: Array | None = None  # the matrix itself if it is a host array

    def __matmul__(self, V: Rows) -> Block:
        raise NotImplementedError(f"{type(self).__name__} has no products.")

    def diag(self) -> Array:
        """The diagonal, on the host."""
        raise NotImplementedError(f"{type(self).__name__} has no diag().")

    def columns(self, idx: Array) -> Array:
        """K[:, idx], on the host."""
        raise NotImplementedError(f"{type(self).__name__} has no columns(idx).")

    def rows(self, idx: Array) -> Array:
        """K[idx], on the host, each row in one piece."""
        return np.ascontiguousarray(self.columns(idx).T)

    def block(self, idx: Array) -> Array:
        """K[idx][:, idx], on the host."""
        return self.columns(idx)[idx]

    def combine(self, idx: Array, factor: Array) -> Array:
        """K[:, idx] @ factor, on the host."""
        return self.columns(idx) @ factor

    def dense(self) -> Array:
        """The whole matrix, on the host, which the caller may overwrite."""
        return self.columns(np.arange(self.shape[0]))

    def random(self, width: int, seed: int) -> Block:
        """A Gaussian block of `width` columns, on the device on which a solver should keep its tall matrices."""
        return np.random.default_rng(seed).standard_normal((self.shape[0], width))

    def partition(self, linear: Array, weight: Array) -> RowClusters | None:
        """Return the points as rows on a GPU on which clusters can be computed, or None.

        Parameters
        ----------
        linear : array of shape (n,)
            k(x, x) of each point.
        weight : array of shape (n,)
            Weight of each point.
        """
        return None

    @property
    def on_gpu(self) -> bool:
        """Whether entries are computed on a device, so that `combine` is better than `columns` on the host."""
        return False

    @property
    def fast(self) -> "Operator | None":
        """The same matrix with faster, less precise products, from which a solver may start."""
        return None
