"""Features Z of a fitted map that are computed block by block and never stored, for the operations of `rows.py`."""

import numpy as np
import scipy.linalg as sla

from ...homes import Computed, home_of
from ...rows import by_blocks, sampled
from ...types import Array, Rows
from ..operators.recomputed import cross_product
from .base import FeatureMap
from .landmark import LandmarkMap

GROWTH = 1e4  # limit of the growth of rounding in a product without features


def mapped(fitted: FeatureMap, X: Rows, growth: float = GROWTH) -> Rows:
    """The features Z of checked rows. They are not stored for rows on the host, and those of a sample for Dask."""
    home = home_of(X)
    if home.on_host:
        return MappedRows(fitted, X, growth)
    if home.sample_of(X) is not None:
        return SampledRows(fitted, X, growth, None)
    return by_blocks(fitted.features, X, fitted.rank_)


class MappedRows(Computed):
    """z(x) of host rows, computed block by block in every operation."""

    def __init__(self, fitted: FeatureMap, X: Rows, growth: float = GROWTH):
        self.map, self.X, self.growth = fitted, X, growth
        self.shape, self.dtype, self.threadsafe = (X.shape[0], fitted.rank_), X.dtype, fitted.kernel_.threadsafe

    def __getitem__(self, rows: slice) -> Array:
        return self.map.features(self.X[rows])

    def product(self, W: Array) -> Array:
        form = self.map.on_landmarks(W, self.growth)
        return super().product(W) if form is None else cross_product(self.map.kernel_, self.X, *form)

    def sum_moments(self, weight: Array | None) -> tuple[Array, Array]:
        return finished((self.map, self.growth), *raw_moments((self.map, self.growth), self.X, weight))


class SampledRows(MappedRows):
    """z(x) of a sample of distributed rows, with the moments of all of them.

    Moments with the given weights are sums over all rows. Moments with any other weights are sums over the sample.
    These are correct if the weights of all other rows are 0, as for weights of labeled rows.

    Parameters
    ----------
    rows : array-like of shape (n_samples, n_features)
        All rows. The host has those with the numbers `rows.sample`.
    weight : array of shape (n_samples,) or None
        Weights of all rows.
    """

    def __init__(self, fitted: FeatureMap, rows: Rows, growth: float, weight: Array | None):
        super().__init__(fitted, rows[rows.sample], growth)
        self.rows, self.weight = rows, weight

    def mass(self, weight: Array | None) -> float:
        return home_of(self.rows).mass(self.rows, self.weight) if self._of_all(weight) else super().mass(weight)

    def sum_moments(self, weight: Array | None) -> tuple[Array, Array]:
        if not self._of_all(weight):
            return super().sum_moments(weight)
        shared = (self.map, self.growth)
        return finished(shared, *home_of(self.rows).reduced(raw_moments, shared, self.rows, self.weight))

    def _of_all(self, weight: Array | None) -> bool:
        own = sampled(self.weight, self.rows)
        return weight is None if own is None else weight is not None and np.array_equal(own, weight)


def raw_moments(shared: tuple, X: Rows, weight: Array | None) -> tuple[Array, Array]:
    """(Kᵀ diag(weight) K, Kᵀ weight) of host rows with K = k(x, landmarks), or K = z(x) if L is ill-conditioned.

    Dask workers call it for a block of rows. `shared` is (fitted map, growth).
    """
    fitted, growth = shared
    return Computed.sum_moments((LandmarkRows if _apart(fitted, growth) else MappedRows)(fitted, X), weight)


def finished(shared: tuple, G: Array, sums: Array) -> tuple[Array, Array]:
    """Turn the moments of k into those of z = L⁻¹k. Compared with L⁻¹ for every row, this saves a third of the work."""
    fitted, growth = shared
    if not _apart(fitted, growth):
        return G, sums
    half = sla.solve_triangular(fitted.root_, G, lower=True)
    G = sla.solve_triangular(fitted.root_, half.T, lower=True)
    return (G + G.T) / 2, sla.solve_triangular(fitted.root_, sums, lower=True)


def _apart(fitted: FeatureMap, growth: float) -> bool:
    return isinstance(fitted, LandmarkMap) and fitted.well_conditioned(growth)


class LandmarkRows(Computed):
    """k(x, landmarks) of host rows, computed block by block."""

    def __init__(self, fitted: LandmarkMap, X: Rows):
        self.map, self.X = fitted, X
        self.shape, self.dtype, self.threadsafe = (X.shape[0], len(fitted.root_)), X.dtype, fitted.kernel_.threadsafe

    def __getitem__(self, rows: slice) -> Array:
        return np.asarray(self.map.similarities(self.X[rows]))
