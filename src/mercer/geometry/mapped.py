"""Z @ W without storing Z: `map_product` for new rows, `MappedRows` for training rows that the verbs pass over."""

import numpy as np
import scipy.linalg as sla

from ..backend import home
from ..kernels import Precomputed
from ..rows import Computed, dot, host, like
from .maps import LandmarkMap
from .operators import cross_product

FEW_ROWS = 64  # below this, preparing coefficients takes longer than it saves
MOST_GROWTH = 1e4  # of rounding, in a product without features


def landmark_product(fitted, X, coefficients):
    """k(X, landmarks) @ coefficients of a fitted `LandmarkMap` as a host float64 array."""
    if isinstance(fitted.kernel_, Precomputed):
        return np.asarray(host(fitted.similarities(X)), dtype=np.float64) @ coefficients
    rows = like(fitted.landmarks_, X) if home(X) == "torch" else fitted.landmarks_
    return cross_product(fitted.kernel_, X, rows, coefficients)


def map_product(fitted, X, W):
    """z(X) @ W as a host float64 array, for new rows X of any fitted map."""
    if home(X) == "numpy":
        return dot(MappedRows(fitted, X), W)
    c = _on_landmarks(fitted, X, W)
    return dot(fitted.transform(X), W) if c is None else landmark_product(fitted, X, c)


def _on_landmarks(fitted, X, W):
    """c with z(x) · W = k(x, landmarks) · c, so that no row needs a triangular solve: 3 to 12 times faster.

    None where there are no landmarks, and where c, whose size tells how much rounding grows, costs too many digits.
    """
    if not isinstance(fitted, LandmarkMap) or home(X) == "dask" or X.shape[0] < FEW_ROWS:
        return None
    c = fitted.on_landmarks(W)
    largest = np.sqrt(np.max(np.sum(fitted.root_**2, axis=1))) if fitted.triangular_ else 1.0  # of √k(x, x)
    growth = np.sum(np.abs(c), axis=0) * largest / np.maximum(np.linalg.norm(W, axis=0), np.finfo(np.float64).tiny)
    return c if np.max(growth) <= MOST_GROWTH else None


class LandmarkRows(Computed):
    """k(x, landmarks) of host rows, computed block by block whenever a verb passes over it."""

    def __init__(self, fitted, X):
        self.map, self.X = fitted, X
        self.shape, self.dtype, self.threadsafe = (X.shape[0], len(fitted.root_)), X.dtype, fitted.kernel_.threadsafe

    def __getitem__(self, rows):
        return self.map.similarities(self.X[rows])

    def product(self, W):
        return landmark_product(self.map, self.X, W)


class MappedRows(Computed):
    """Z of host rows through a fitted map, computed in the same way."""

    def __init__(self, fitted, X):
        self.map, self.X = fitted, X
        self.shape, self.dtype, self.threadsafe = (X.shape[0], fitted.rank_), X.dtype, fitted.kernel_.threadsafe

    def __getitem__(self, rows):
        return self.map.transform(self.X[rows])

    def product(self, W):
        c = _on_landmarks(self.map, self.X, W)
        return super().product(W) if c is None else landmark_product(self.map, self.X, c)

    def _pass(self, weight):
        """With z = L⁻¹k, L can be applied to the moments of k instead of to every row: a third of the work is saved."""
        fitted = self.map
        if not isinstance(fitted, LandmarkMap) or not fitted.triangular_:
            return super()._pass(weight)
        pivots = np.diag(fitted.root_) ** 2
        if np.max(pivots) > MOST_GROWTH * np.min(pivots):
            return super()._pass(weight)
        G, sums = LandmarkRows(fitted, self.X)._pass(weight)
        half = sla.solve_triangular(fitted.root_, G, lower=True)
        G = sla.solve_triangular(fitted.root_, half.T, lower=True)
        return (G + G.T) / 2, sla.solve_triangular(fitted.root_, sums, lower=True)
