"""The rows as their own features, for the linear kernel."""

from ...kernels import as_kernel
from ...kernels.base import KernelLike
from ...types import Array, Rows
from .base import FeatureMap


class RowMap(FeatureMap):
    """Features z(x) = x, which are sparse if the rows are. For methods that only need products.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> RowMap().fit_transform(sp.eye_array(3, 5, format="csr")).shape
    (3, 5)
    """

    def __init__(self, kernel: KernelLike = "linear"):
        self.kernel = kernel

    def learn(self, X: Rows, weight: Array | None = None, least: float = 0.0) -> Rows:
        self._remember(X)
        self.kernel_ = as_kernel(self.kernel).resolve(X, weight)
        self.rank_ = X.shape[1]
        self._quality = 1.0, 0.0
        self.reason_ = f"The {self.rank_} columns of the rows are exact features."
        return X

    def features(self, X: Rows) -> Rows:
        return X
