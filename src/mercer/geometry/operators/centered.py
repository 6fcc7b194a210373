"""The Gram matrix of centered and weighted rows."""

from typing import Any

import numpy as np

from ...rows import host, like, namespace
from ...types import Array, Block, Rows
from .base import Operator
from .stored import DenseOperator


class CenteredOperator(Operator):
    """The Gram matrix D^½ (I − 1wᵀ) K (I − w1ᵀ) D^½ of the centered rows, with sample weights D and w = D / ΣD.

    A weight of 2 has the effect of a row that occurs twice. ``center=False`` does not move the origin. `share`
    contains other weights w of the center, with sum 1.

    Attributes
    ----------
    mean : array of shape (n_samples,) or None
        K w, the mean similarity of every row to the training rows. None until the first product.
    """

    def __init__(self, K: Operator, weight: Array | None = None, center: bool = True, share: Array | None = None):
        weight = np.ones(K.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
        self.K, self.shape, self.center = K, K.shape, center
        self.costly = K.costly
        self.root = np.sqrt(weight)[:, None]
        self.share = (weight / weight.sum() if share is None else share)[:, None]
        self.mean: Array | None = None
        self._device_weights: tuple[Any, Any] | None = None
        self._centered: DenseOperator | None = None

    def __matmul__(self, V: Rows) -> Block:
        if V.ndim == 1:
            return (self @ V[:, None])[:, 0]
        if self._centered is not None:
            return self._centered @ V
        root, share = self._weights(V)
        V = root * V
        if not self.center:
            return root * (self.K @ V)
        V = V - share * V.sum(0)
        if self.mean is None:  # one more column of the first product
            product = self.K @ namespace(V).hstack([V, share])
            self.mean, product = np.asarray(host(product[:, -1]), dtype=np.float64), product[:, :-1]
        else:
            product = self.K @ V
        return root * (product - share.T @ product)

    def _weights(self, V: Rows) -> tuple[Block, Block]:
        """The roots of the weights and the weights of the center, on the device of V."""
        if isinstance(V, np.ndarray):
            return self.root, self.share
        if self._device_weights is None:
            self._device_weights = like(self.root, V), like(self.share, V)
        return self._device_weights

    @property
    def fast(self) -> Operator | None:
        """The same centering around a fast product, or None."""
        rough = self.K.fast
        return None if rough is None else CenteredOperator(rough, self.root[:, 0] ** 2, self.center, self.share[:, 0])

    def random(self, width: int, seed: int) -> Block:
        return self.K.random(width, seed)

    def means(self) -> Array:
        """K w, from the first product or from another product."""
        if self.mean is None:
            self.mean = (self.K @ self.share)[:, 0]
        return self.mean

    def trace(self) -> float:
        """Sum of all eigenvalues, which is the total variance."""
        if self._centered is not None:
            return float(self._centered.diag().sum())
        weight, total = self.root[:, 0] ** 2, self.K.diag()
        if self.center:
            total = total - 2 * self.means() + float(self.share[:, 0] @ self.means())
        return float(weight @ total)

    def dense(self) -> Array:
        """The centered matrix. A stored float64 K is overwritten, so that there is one n × n matrix and not two."""
        if self._centered is not None:
            return self._centered.K
        first = self.means()[:, None]
        K = self.K.dense()
        if self.center:
            for again in (False, True):  # the second round removes a constant that rounding has left in all rows
                mean = K @ self.share if again else first
                K -= mean
                K -= mean.T
                K += float(self.share[:, 0] @ mean[:, 0])
        K *= self.root
        K *= self.root.T
        self._centered = DenseOperator(K)  # from here on the products are with this one
        return K
