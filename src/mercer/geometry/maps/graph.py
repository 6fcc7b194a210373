"""Features of graph kernels and of their sums with others: the factor of each part, side by side."""

import functools

import numpy as np

from ...backend import home, need
from ...inputs.check import check_rows
from ...kernels import Sum, as_kernel
from ...rows import like
from .base import FeatureMap


class GraphMap(FeatureMap):
    """Features [√w₁ Z₁, √w₂ Z₂, …] of w₁ k₁ + w₂ k₂ + …, where at least one part is a graph kernel.

    A graph kernel brings its own factor of the training rows; new rows take the weighted mean of their neighbours' rows
    of it. All other parts together go through an ordinary map.

    Parameters
    ----------
    kernel : a graph kernel, or a sum of scaled kernels with a graph kernel among them.
    approx : how the other parts are mapped: "auto", "exact", a number of landmarks or a map.

    Attributes
    ----------
    other_ : the fitted map of the other parts, None without any.
    See `FeatureMap` for rank_, energy_, error_, reason_.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RBF, Diffusion
    >>> X = np.random.default_rng(0).standard_normal((20, 2))
    >>> Z = GraphMap(0.3 * RBF(1.0) + 0.7 * Diffusion(n_neighbors=4)).fit_transform(X)
    >>> bool(np.isclose(Z[0] @ Z[0], 0.3 + 0.7 * Diffusion(n_neighbors=4).resolve(X).diag(X)[0]))
    True
    """

    def __init__(self, kernel, approx="auto", random_state=0):
        self.kernel = kernel
        self.approx = approx
        self.random_state = random_state

    def fit_transform(self, X, y=None, weight=None):
        """Build the graphs, fit the map of the other parts and return the features of the training rows."""
        from ..open import choose  # choose knows every map, this one too

        X = check_rows(self, X, reset=True, read=False)
        self.kernel_ = as_kernel(self.kernel).resolve(X, weight)
        graphs, others = split(self.kernel_)
        self.graphs_ = graphs
        blocks = [_at_home(np.sqrt(w) * kernel.factor(), X) for w, kernel in graphs]
        self.other_ = None
        if others is not None:
            self.other_, _ = choose(others, self.approx, X, self.random_state)
            blocks.append(self.other_.fit_transform(X, weight=weight))
        Z = _side_by_side(blocks)
        self.rank_ = Z.shape[1]
        self.reason_ = (
            "A graph kernel is known on the training rows; new rows take the weighted mean of their neighbours there."
        )
        self._measure(X, Z)
        return Z

    def _kernel_of(self, X, rows):
        """The kernel on some training rows, of which a graph knows its own part."""
        factors = [np.sqrt(w) * kernel.factor()[rows] for w, kernel in self.graphs_]
        K = sum(F @ F.T for F in factors)
        return K if self.other_ is None else K + self.other_._kernel_of(X, rows)

    def _transform(self, X):
        blocks = [like(np.sqrt(w) * kernel.features(X), X) for w, kernel in self.graphs_]
        if self.other_ is not None:
            blocks.append(self.other_.transform(X))
        return _side_by_side(blocks)


def split(kernel):
    """([(weight, graph kernel)], the sum of the other scaled kernels or None) of a sum of kernels."""
    parts = kernel.parts()
    others = [part if weight == 1.0 else part * weight for weight, part in parts if not part.transductive]
    return [(w, part) for w, part in parts if part.transductive], functools.reduce(Sum, others) if others else None


def _at_home(Z, X):
    """A factor of all training rows, moved to where X lives; in X's row blocks for Dask."""
    if home(X) == "dask":
        return need("dask.array").from_array(Z.astype(X.dtype), chunks=(X.chunks[0], -1))
    return like(Z, X)


def _side_by_side(blocks):
    if len(blocks) == 1:
        return blocks[0]
    kind = home(blocks[0])
    if kind == "dask":
        array = need("dask.array")
        return array.concatenate(blocks, axis=1).rechunk({1: -1})
    return need("torch").cat(blocks, dim=1) if kind == "torch" else np.concatenate(blocks, axis=1)
