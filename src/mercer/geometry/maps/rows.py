"""Rows behind a fitted map that the verbs pass over: Z is computed block by block and never stored."""

import numpy as np
import scipy.linalg as sla

from ...homes import Computed, home_of
from ...homes.base import Array, Rows
from ...rows import by_blocks
from ..operators.recomputed import cross_product
from .base import FeatureMap
from .landmark import LandmarkMap

GROWTH = 1e4  # of rounding, that a product without features may have


def mapped(fitted: FeatureMap, X: Rows, growth: float = GROWTH) -> Rows:
    """Z of checked rows, for the verbs: never stored for rows on the host."""
    return MappedRows(fitted, X, growth) if home_of(X).on_host else by_blocks(fitted.features, X, fitted.rank_)


class MappedRows(Computed):
    """z(x) of host rows, computed block by block whenever a verb passes over it."""

    def __init__(self, fitted: FeatureMap, X: Rows, growth: float = GROWTH):
        self.map, self.X, self.growth = fitted, X, growth
        self.shape, self.dtype, self.threadsafe = (X.shape[0], fitted.rank_), X.dtype, fitted.kernel_.threadsafe

    def __getitem__(self, rows: slice) -> Array:
        return self.map.features(self.X[rows])

    def product(self, W: Array) -> Array:
        form = self.map.on_landmarks(W, self.growth)
        return super().product(W) if form is None else cross_product(self.map.kernel_, self.X, *form)

    def sum_moments(self, weight: Array | None) -> tuple[Array, Array]:
        """With z = L⁻¹k, L is applied to the moments of k instead of to every row: a third of the work is saved."""
        fitted = self.map
        if not isinstance(fitted, LandmarkMap) or not fitted.well_conditioned(self.growth):
            return super().sum_moments(weight)
        G, sums = LandmarkRows(fitted, self.X).sum_moments(weight)
        half = sla.solve_triangular(fitted.root_, G, lower=True)
        G = sla.solve_triangular(fitted.root_, half.T, lower=True)
        return (G + G.T) / 2, sla.solve_triangular(fitted.root_, sums, lower=True)


class LandmarkRows(Computed):
    """k(x, landmarks) of host rows, computed in the same way."""

    def __init__(self, fitted: LandmarkMap, X: Rows):
        self.map, self.X = fitted, X
        self.shape, self.dtype, self.threadsafe = (X.shape[0], len(fitted.root_)), X.dtype, fitted.kernel_.threadsafe

    def __getitem__(self, rows: slice) -> Array:
        return np.asarray(self.map.similarities(self.X[rows]))
