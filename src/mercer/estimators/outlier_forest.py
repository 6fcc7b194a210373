"""Isolation forest (Liu, Ting and Zhou 2008). Rows that few random cuts separate from all others are unusual."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backend import parallel
from ..errors import InputError
from ..kernels.forest import Nodes
from ..rows import host, namespace, take
from ..types import Rows


@dataclass
class IsolationTrees:
    """Trees of equal size, heaps in arrays of shape (trees, nodes)."""

    feature: NDArray[np.int64]  # −1 at a leaf
    threshold: NDArray[np.float64]
    length: NDArray[np.float64]  # expected length of the path to a row that ends here

    @staticmethod
    def of(
        X: Rows, trees: int, rng: np.random.Generator, most: int = 256, part: float = 0.7
    ) -> tuple["IsolationTrees", NDArray[Any]]:
        """(trees, (n,) scores of the rows of X by the trees that have not seen them). X may be on a device.

        A tree has the fraction `part` of the rows, and at most `most`.
        """
        from .outlier_growth import grow

        n = X.shape[0]
        size = max(min(most, int(part * n)), min(n, 2))
        chosen = np.stack([rng.choice(n, size, replace=False) for _ in range(trees)])
        different, where = np.unique(chosen, return_inverse=True)
        rows = np.ascontiguousarray(take(X, different)[where.reshape(trees, size)])
        nodes = 2 ** (int(np.ceil(np.log2(max(size, 2)))) + 1) - 1
        found = IsolationTrees(np.full((trees, nodes), -1), np.zeros((trees, nodes)), np.zeros((trees, nodes)))
        reached = np.empty((trees, size))
        grow(rows, rng.random((trees, nodes, 2)), found.feature, found.threshold, found.length, reached)
        total, unseen = found.lengths(X) * trees, np.full(n, float(trees))
        np.subtract.at(total, chosen, reached)
        np.subtract.at(unseen, chosen, 1.0)
        inside = unseen == 0
        return found, -np.where(inside, found.length[:, 0].mean(), total / np.maximum(unseen, 1))

    def __call__(self, X: Rows) -> np.ndarray:
        """(t,) scores of new rows, which are minus the mean length of their paths."""
        return -self.lengths(X)

    def lengths(self, X: Rows) -> np.ndarray:
        """(t,) mean length of the paths of rows, on their own device."""
        if self.feature.max() >= X.shape[1] or not self.feature.shape == self.threshold.shape == self.length.shape:
            raise InputError("The trees of this model look at columns that the rows do not have. Fit it again.")
        trees, nodes = self.feature.shape
        inner = (self.feature >= 0) & (2 * np.arange(nodes) + 2 < nodes)  # whatever a damaged file contains
        feature = np.where(inner, self.feature, -1)
        if namespace(X) is not np:
            roots = np.arange(trees) * nodes
            left = np.where(inner, roots[:, None] + 2 * np.arange(nodes) + 1, -1).ravel()
            right = np.where(left < 0, -1, left + 1)
            listed = Nodes(roots, feature.ravel(), self.threshold.ravel(), left, right)
            return listed.mean_values(self.length.reshape(-1, 1), X)[:, 0]
        from .outlier_growth import walk

        out, step = np.zeros(X.shape[0]), 4096

        def fill(start: int) -> None:
            rows = np.ascontiguousarray(host(X[start : start + step]))
            walk(rows, feature, self.threshold, self.length, out[start : start + step])

        parallel(fill, range(0, X.shape[0], step))
        return out / trees
