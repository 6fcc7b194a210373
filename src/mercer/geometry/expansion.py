"""A fitted function f(x) = k(x, centers) · coef, or z(x) · coef with a feature map."""

import numpy as np

from ..errors import InputError
from ..kernels import Precomputed
from ..kernels.base import Kernel
from ..rows import by_blocks, dot, host, near, squares
from ..types import Array, Rows
from .maps import FeatureMap, mapped
from .maps.rows import GROWTH
from .operators import cross_product


class Expansion:
    """The values of k columns of coefficients on rows in NumPy, SciPy sparse, torch or Dask.

    Parameters
    ----------
    kernel : Kernel
        Resolved kernel.
    centers : array-like of shape (n_centers, n_features), or None
        Host rows. For a precomputed kernel, the numbers of the training rows. None with a map.
    coef : array of shape (n_centers, k) or (rank of the map, k)
        Coefficients.
    map : FeatureMap or None, default=None
        Fitted feature map. None uses the kernel itself.
    diagonal : float, default=NaN
        k(x, x) of a precomputed kernel, if it is the same for all rows.
    """

    def __init__(
        self, kernel: Kernel, centers: Rows, coef: Array, map: FeatureMap | None = None, diagonal: float = np.nan
    ):
        self.kernel, self.centers, self.coef, self.map, self.diagonal = kernel, centers, coef, map, diagonal

    def __call__(self, X: Rows, coef: Array | None = None) -> Array:
        """(n, k) values on checked rows, host float64. Other coefficients on the same centers may be given."""
        coef = self.coef if coef is None else coef
        centers = self.centers
        if self.map is not None:
            form = self.map.on_landmarks(coef, GROWTH)
            if form is None:
                return dot(mapped(self.map, X), coef)
            centers, coef = form
        kernel, width = self.kernel, coef.shape[1] if coef.ndim > 1 else None

        def values(block: Rows) -> Array:
            return cross_product(kernel, block, near(centers, block), coef)

        return host(by_blocks(values, X, width, np.float64))

    def with_coef(self, coef: Array) -> "Expansion":
        """Another function on the same centers."""
        return Expansion(self.kernel, self.centers, coef, self.map, self.diagonal)

    def diag(self, X: Rows) -> Array:
        """k(x, x) of checked rows. If a negative part was cut off, at least ‖z‖², which then exceeds it."""
        if isinstance(self.kernel, Precomputed):
            if np.isnan(self.diagonal):
                raise InputError(
                    "This needs k(x, x) of new rows, which a precomputed kernel matrix k(new, training) does not "
                    "contain, and it differs from row to row here. Fit on the raw rows with a kernel object. Fitted "
                    "attributes describe the training rows."
                )
            return np.full(X.shape[0], self.diagonal)
        own = np.asarray(host(by_blocks(self.kernel.diag, X, None, np.float64)), dtype=np.float64)
        if self.map is not None and self.map.negative_mass_ > 0:
            own = np.maximum(own, squares(mapped(self.map, X)))
        return own
