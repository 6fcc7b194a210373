"""Features of graph kernels and of their sums with other kernels."""

import functools
from typing import Any

import numpy as np

from ...homes import home_of
from ...kernels import Sum, as_kernel
from ...kernels.base import Kernel, KernelLike
from ...rows import concat, like
from ...types import Array, Rows
from .base import FeatureMap


class GraphMap(FeatureMap):
    """Features [√w₁ Z₁, √w₂ Z₂, …] of w₁ k₁ + w₂ k₂ + …, where at least one part is a graph kernel.

    A graph kernel has its own factor for the training rows. The features of a new row are the weighted mean of those
    of its neighbors. All other parts together use an ordinary map.

    Parameters
    ----------
    kernel : a graph kernel, or a sum of scaled kernels that contains one.
    approx : "auto", "exact", a number of landmarks or a map for the other parts.

    Attributes
    ----------
    other_ : FeatureMap or None
        The fitted map of the other parts, None without any.

    See Also
    --------
    FeatureMap : Describes rank_, energy_, error_ and reason_.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RBF, Diffusion
    >>> X = np.random.default_rng(0).standard_normal((20, 2))
    >>> Z = GraphMap(0.3 * RBF(1.0) + 0.7 * Diffusion(n_neighbors=4)).fit_transform(X)
    >>> bool(np.isclose(Z[0] @ Z[0], 0.3 + 0.7 * Diffusion(n_neighbors=4).resolve(X).diag(X)[0]))
    True
    """

    def __init__(self, kernel: KernelLike, approx: Any = "auto", random_state: int = 0):
        self.kernel = kernel
        self.approx = approx
        self.random_state = random_state

    def learn(self, X: Rows, weight: Array | None = None, least: float = 0.0) -> Rows:
        """Build the graphs, fit the map of the other parts and return the features of the training rows."""
        from ..open import choose_map  # which imports this module

        self._remember(X)
        self.kernel_ = as_kernel(self.kernel).resolve(X, weight)
        self.graphs_, others = split(self.kernel_)
        blocks = [home_of(X).spread(np.sqrt(w) * kernel.factor(), X) for w, kernel in self.graphs_]
        self.other_ = None
        if others is not None:
            self.other_, _ = choose_map(others, self.approx, X, self.random_state)
            Z = self.other_.learn(X, weight)
            blocks.append(self.other_.of_rows(X) if Z is None else Z)
        Z = concat(blocks)
        self.rank_ = Z.shape[1]
        self.reason_ = (
            "A graph kernel is defined on the training rows. New rows get the weighted mean of their neighbors there."
        )
        self._measure(X, Z)
        return Z

    def kernel_of(self, X: Rows, rows: Array) -> Array:
        """The kernel matrix of some training rows, from the factors of the graphs and the map of the other parts."""
        factors = [np.sqrt(w) * kernel.factor()[rows] for w, kernel in self.graphs_]
        K = sum(F @ F.T for F in factors)
        return K if self.other_ is None else K + self.other_.kernel_of(X, rows)

    def features(self, X: Rows) -> Rows:
        blocks = [like(np.sqrt(w) * kernel.features(X), X) for w, kernel in self.graphs_]
        if self.other_ is not None:
            blocks.append(self.other_.features(X))
        return concat(blocks)


def split(kernel: Kernel) -> tuple[list, Kernel | None]:
    """([(weight, graph kernel)], the sum of the other scaled kernels or None) of a sum of kernels."""
    parts = kernel.parts()
    others = [part if weight == 1.0 else part * weight for weight, part in parts if not part.transductive]
    return [(w, part) for w, part in parts if part.transductive], functools.reduce(Sum, others) if others else None
