"""Feature spaces for the few-label choice: one expensive decomposition each, which every method and labelling shares.

A space has the features `Z` of the training rows, scaled so that a row's squared length is 1 on average (so that one
value of a penalty means the same in all of them), and `transform(X, seen)` for any rows, where `seen` is a dict in
which spaces that share a view or a base leave their common part.
"""

import numpy as np
import scipy.linalg as sla

from ..kernels.graph import Diffusion
from ..linalg import eigh_down, fix_signs, rank_of
from ..maps import LandmarkMap
from ..rows import gram, tdot

EXACT = 2500  # rows up to which kernels are exact and graphs keep their whole spectrum
LANDMARKS = 600
GRAPH_RANK = 150
PRINCIPAL = 300
FIRST_TIME = 3.0  # of the diffusion whose factor holds the eigenvectors; other times rescale its columns


class KernelSpace:
    """Features of a kernel on one view of the rows: exact for few rows, by landmarks for many."""

    def __init__(self, name, view, kernel, rows, random_state=0):
        self.name = name
        self.view = view
        landmarks = "exact" if rows.shape[0] <= EXACT else LANDMARKS
        self.map_ = LandmarkMap(kernel, landmarks, random_state=random_state)
        self.scale, self.Z = _unit(self.map_.fit_transform(rows))

    def transform(self, X, seen):
        """Features of any rows."""
        return _once(seen, self, lambda: self.scale * self.map_.transform(_view(self.view, X, seen)))


class GraphSpace:
    """Eigenvectors of a neighbour graph's Laplacian on one view; a new row takes the mean of its neighbours.

    Attributes
    ----------
    values : (r,) the Laplacian's eigenvalues, from 0 up, one for each column of Z.
    """

    def __init__(self, name, view, n_neighbors, rows, random_state=0):
        self.name = name
        self.view = view
        rank = None if rows.shape[0] <= EXACT else GRAPH_RANK
        self.kernel_ = Diffusion(n_neighbors, FIRST_TIME, rank=rank).resolve(rows)
        self.scale, self.Z = _unit(self.kernel_.factor())
        self.values = self.kernel_.spectrum_[: self.Z.shape[1]]

    def transform(self, X, seen):
        """Features of any rows."""
        return _once(seen, self, lambda: self.scale * self.kernel_.features(_view(self.view, X, seen)))


class TurnedSpace:
    """(Z − shift) · turn of a base space: its principal axes, or other gains on its columns."""

    def __init__(self, name, base, turn, shift=None):
        self.name = name
        self.base = base
        self.shift = shift
        self.turn = turn
        self.scale, self.Z = _unit(self._turned(base.Z))

    def transform(self, X, seen):
        """Features of any rows."""
        return _once(seen, self, lambda: self.scale * self._turned(self.base.transform(X, seen)))

    def _turned(self, Z):
        if self.turn.ndim == 1:
            return Z[:, : len(self.turn)] * self.turn.astype(Z.dtype)
        Z = Z[:, : len(self.turn)]
        Z = Z if self.shift is None else Z - self.shift.astype(Z.dtype)
        return Z @ self.turn.astype(Z.dtype)


class JoinedSpace:
    """Two spaces side by side: the sum of their kernels with equal shares."""

    def __init__(self, name, first, second):
        self.name = name
        self.parts = (first, second)
        self.Z = np.sqrt(0.5) * np.hstack([first.Z, second.Z])

    def transform(self, X, seen):
        """Features of any rows."""
        return np.sqrt(0.5) * np.hstack([part.transform(X, seen) for part in self.parts])


def diffused(base, time):
    """The heat kernel of a `GraphSpace` at another time; columns whose heat has died are dropped."""
    gains = np.exp(-(time - FIRST_TIME) / 2 * base.values)
    return TurnedSpace(f"heat {time:g} on {base.name}", base, gains[gains > 1e-5])


def transducer(base, n_eigenvectors=80):
    """The graph's first non-trivial eigenvectors with eigenvalues 1, 4, 9, … in place of the Laplacian's (Joachims).

    The constant function, an eigenvector for each connected component, is taken out of the span of those at 0.
    """
    n_zero = max(int(np.sum(base.values == 0.0)), 1)
    keep = min(n_zero + n_eigenvectors, len(base.values))
    turn = np.diag(np.exp(FIRST_TIME / 2 * base.values[:keep]))
    constant = np.asarray(base.Z[:, :n_zero], dtype=np.float64).sum(axis=0)[None]
    turn = turn @ sla.block_diag(sla.null_space(constant), np.eye(keep - n_zero))
    turn = turn[:, :n_eigenvectors]
    if not turn.shape[1]:
        return None
    return TurnedSpace(f"spectrum of {base.name}", base, turn / np.arange(1.0, turn.shape[1] + 1))


def principal(base):
    """The base's directions of largest mean square, at most 300 of them."""
    values, vectors = eigh_down(gram(base.Z))
    rank = max(min(rank_of(values, 1e-9), PRINCIPAL), 1)
    return TurnedSpace(base.name, base, fix_signs(vectors[:, :rank]))


def components(space, numbers):
    """For each number the first so many principal components of a space about its mean (kernel PCA), if it has them."""
    n = space.Z.shape[0]
    mean = tdot(space.Z, np.ones(n)) / n
    values, vectors = eigh_down(gram(space.Z) - n * np.outer(mean, mean))
    vectors, rank = fix_signs(vectors), rank_of(values, 1e-9)
    return [TurnedSpace(f"{m} components of {space.name}", space, vectors[:, :m], mean) for m in numbers if m <= rank]


def _unit(Z):
    """(factor, Z times it) such that the mean squared row length is 1."""
    power = float(np.mean(np.einsum("ij,ij->i", Z, Z, dtype=np.float64)))
    factor = 1.0 / np.sqrt(power) if power > 0 else 1.0
    return factor, Z * np.asarray(factor, dtype=Z.dtype)


def _view(view, X, seen):
    return _once(seen, view, lambda: view.transform(X))


def _once(seen, key, compute):
    if id(key) not in seen:
        seen[id(key)] = compute()
    return seen[id(key)]
