"""Feature spaces for the few-label choice: one expensive decomposition each, which every method and labelling shares.

A space has the features `Z` of the training rows, scaled so that a row's squared length is 1 on average (so that one
value of a penalty means the same in all of them). Some are made of others; `pull_back(W)` says of a function Z W what
it is in the base spaces: a list of (base, weights of its Z), and a constant. A base makes of its weights a part of the
predictor.
"""

import copy
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as sla

from ..backend import device_in_use, moved
from ..geometry.expansion import Expansion
from ..geometry.open import POLICIES, open_gram
from ..homes import home_of
from ..kernels.graph import Diffusion
from ..linalg import eigh_down, fix_signs, rank_of, smallest
from ..rows import by_blocks, concat, dot, host, like, squares
from ..solvers.ridge.smoother import moments_of
from ..solvers.ridge.state import State
from .cost import GRAPH_EXACT
from .predictor import GraphPart, KernelPart

# Eigenvectors of a graph, by the number of rows up to which so many are taken (None: all of them). At 1 500 rows 250
# hold all of the heat at time 30 and 99.3 % of that at time 10, for a third of the time.
GRAPH_RANKS = {GRAPH_EXACT: None, POLICIES["few labels"].exact_rows: 250, np.inf: 150}
PRINCIPAL = 300
HALF = float(np.sqrt(0.5))
MANY = 5000  # rows: features of more are held in single precision, and typical margins are seen on a sample of them
SAMPLE = 1000  # rows of that sample
BLOCK = 512  # other rows whose features are in the cache in double precision
GROWTH = 1e3  # ratio of pivots up to which similarities in single precision are as good as features
FIRST_TIME = 3.0  # of the diffusion whose factor holds the eigenvectors; other times rescale its columns


class Space:
    """What the spaces share.

    Attributes
    ----------
    name : for the report. Z : (n, r) features of the training rows, on the device of `use_device` if there is one.
    state : what the methods need of Z without any label, made when first asked for and kept for every labelling.
    """

    name: str
    Z: Any
    spread = False  # whether other rows take means of the training rows; else they have features of their own

    @cached_property
    def state(self) -> State:
        return State(self.Z)

    @cached_property
    def sample(self) -> np.ndarray:
        """(s, r) features of the rows of `sample_rows`."""
        return host(self.Z if len(self.Z) <= MANY else self.Z[sample_rows(len(self.Z))])

    def split(self, W):
        """[(space, its weights)]: the spaces whose features give Z W; those of many candidates are read once."""
        return [(self, W)]

    def pull_back(self, W):
        """A base is its own."""
        return [(self, W)], 0.0

    def bases(self):
        """The spaces of which this one is made."""
        return [self]

    def at(self, find):
        """(m, r) features of other rows, from those in the bases: `find` is a function of a base."""
        return find(self)


class KernelSpace(Space):
    """Features of a kernel on one view of the rows: exact for few rows, by landmarks for many."""

    def __init__(self, name, view, kernel, rows, random_state=0):
        self.name = name
        self.view = view
        gram = open_gram(kernel, "auto", moved(rows), policy="few labels", seed=random_state)
        self.map_: Any = gram.map
        self.scale, self.Z = _unit(_held(gram.Z))

    def seen(self, rows):
        """What other rows in this view are told apart by, (m, r) in single precision: there may be very many.

        Similarities to the landmarks, or, where weights of these would be too large for their digits, features.
        """
        width, steps = len(self.map_.root_) if self._apart else self.Z.shape[1], None if device_in_use() else BLOCK
        some = self.similar if self._apart else self.features
        return by_blocks(lambda block: np.asarray(host(some(block)), dtype=np.float32), rows, width, np.float32, steps)

    @property
    def seen_bytes(self):
        """Of a row of `seen`."""
        return 4 * self.Z.shape[1]

    def on_seen(self, W):
        """Weights c with features W = seen c."""
        return self.on_similar(W) if self._apart else W

    @property
    def _apart(self):
        return self.map_.well_conditioned(GROWTH)

    @property
    def lower_gram(self):
        """The lower triangle of ZᵀZ; from the triangular factor of all rows in a third of the time."""
        root = self.map_.root_
        if not self.map_.triangular_ or len(root) < len(self.Z) or device_in_use():
            return moments_of(self.Z).G
        G = sla.lapack.dlauum(root.T, lower=0)[0].T
        G *= self.scale**2
        return G

    def features(self, rows):
        """(m, r) features of other rows in this view."""
        return self.scale * host(self.map_.of_rows(moved(rows)))

    def similar(self, rows):
        """(m, landmarks) similarities of other rows in this view, where they are computed."""
        return self.map_.similarities(moved(rows))

    def on_similar(self, W):
        """Weights c with features W = similarities c."""
        return self.map_.on_landmarks(self.scale * W)[1]

    def part(self, W):
        """Z W of any rows, as a part of the predictor."""
        return KernelPart(self.view, Expansion(self.map_.kernel_, *self.map_.on_landmarks(self.scale * W)))


class GraphSpace(Space):
    """Eigenvectors of a neighbour graph's Laplacian on one view; a new row takes the mean of its neighbours.

    Attributes
    ----------
    values : (r,) the Laplacian's eigenvalues, from 0 up, one for each column of Z.
    """

    spread = True

    def __init__(self, name, view, n_neighbors, rows, random_state=0):
        self.name = name
        self.view = view
        rank = next(rank for most, rank in GRAPH_RANKS.items() if rows.shape[0] <= most)
        self.kernel_ = Diffusion(n_neighbors, FIRST_TIME, rank=rank).resolve(rows)
        _, self.kernel_.factor_ = _unit(_held(self.kernel_.factor()))  # its features of other rows are in this unit
        self.Z = moved(self.kernel_.factor_)
        self.values = self.kernel_.spectrum_[: self.Z.shape[1]]

    def seen(self, rows):
        """(m, n) sparse: what other rows in this view take from the training rows; times Z, their features."""
        return self.kernel_.spread(rows).astype(np.float32)

    @property
    def seen_bytes(self):
        """Of a row of `seen`."""
        return 12 * self.kernel_.n_neighbors

    def on_seen(self, W):
        """(n, k) what the training rows have of Z W, whose means other rows take."""
        return dot(self.Z, W)

    def of_seen(self, seen):
        """Their features."""
        return seen @ self.kernel_.factor_

    def part(self, W):
        """Z W of any rows, as a part of the predictor: n scores a class and the rows to find neighbours among."""
        kernel = copy.copy(self.kernel_)
        kernel.factor_ = kernel.factor_ @ W
        del kernel.graph_, kernel.spectrum_
        return GraphPart(self.view, kernel)


class TurnedSpace(Space):
    """(Z − shift) · turn of a base space: its principal axes, or other gains on its columns."""

    def __init__(self, name, base, turn, shift=None):
        self.name = name
        self.base = base
        self.shift = shift
        self.turn = turn
        self.Z = self._turned(base.Z)
        self.scale = _unit_factor(self.Z)
        self.Z *= like(self.scale, self.Z)

    def split(self, W):
        """The base, which others share, unless this space is much narrower or about another mean."""
        if self.shift is not None or 2 * self.Z.shape[1] <= self.base.Z.shape[1]:
            return [(self, W)]
        return self.base.split(self._on_base(W))

    def pull_back(self, W):
        """scale · (Z − shift) · turn · W in terms of the base."""
        wide = self._on_base(W)
        parts, constant = self.base.pull_back(wide)
        return parts, constant if self.shift is None else constant - self.shift @ wide[: len(self.shift)]

    def _on_base(self, W):
        """Weights of the columns of the base; those beyond the columns turned are 0."""
        wide = np.zeros((self.base.Z.shape[1], W.shape[1]))
        wide[: len(self.turn)] = self.scale * (self.turn[:, None] * W if self.turn.ndim == 1 else self.turn @ W)
        return wide

    def bases(self):
        return self.base.bases()

    def at(self, find):
        Z = self._turned(self.base.at(find))
        return Z * like(self.scale, Z)

    def _turned(self, Z):
        Z = Z[:, : len(self.turn)]
        if self.turn.ndim == 1:
            return Z * like(self.turn, Z)
        Z = Z if self.shift is None else Z - like(self.shift, Z)
        return Z @ like(self.turn, Z)


class JoinedSpace(Space):
    """Two spaces side by side: the sum of their kernels with equal shares."""

    def __init__(self, name, first, second):
        self.name = name
        self.parts = (first, second)
        self.Z = concat([first.Z, second.Z])
        self.Z *= HALF  # in place: it is large

    def pull_back(self, W):
        """Each part has its share of the rows of W."""
        width = self.parts[0].Z.shape[1]
        (first, a), (second, b) = (
            part.pull_back(HALF * share) for part, share in zip(self.parts, (W[:width], W[width:]))
        )
        return first + second, a + b

    def split(self, W):
        width, W = self.parts[0].Z.shape[1], HALF * W
        return [pair for part, own in zip(self.parts, (W[:width], W[width:])) for pair in part.split(own)]

    def bases(self):
        return [base for part in self.parts for base in part.bases()]

    def at(self, find):
        return HALF * concat([part.at(find) for part in self.parts])


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
    constant = np.asarray(host(base.Z[:, :n_zero]), dtype=np.float64).sum(axis=0)[None]
    turn = turn @ sla.block_diag(sla.null_space(constant), np.eye(keep - n_zero))
    turn = turn[:, :n_eigenvectors]
    if not turn.shape[1]:
        return None
    place = np.arange(turn.shape[1]) - max(n_zero - 2, 0)  # the n_zero − 1 of them at 0 share the first place
    return TurnedSpace(f"spectrum of {base.name}", base, turn / np.maximum(place + 1.0, 1.0))


def principal(base):
    """The base's directions of largest mean square, at most 300 of them."""
    G = base.lower_gram
    values, vectors = eigh_down(G, min(PRINCIPAL, len(G)))
    rank = max(rank_of(values, 1e-9, len(G)), 1)
    return TurnedSpace(base.name, base, fix_signs(vectors[:, :rank]))


def components(space, numbers):
    """For each number the first so many principal components of a space about its mean (kernel PCA), if it has them."""
    moments = space.state.moments
    values, vectors = moments.eigen(center=True)
    vectors, rank, mean = fix_signs(vectors), rank_of(values, 1e-9), moments.mean
    return [TurnedSpace(f"{m} components of {space.name}", space, vectors[:, :m], mean) for m in numbers if m <= rank]


def sample_rows(n):
    """Numbers of the rows, of n, on which typical margins are seen, ascending."""
    return np.arange(n) if n <= MANY else np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))


def _held(Z):
    """Features of many rows in single precision: every answer reads all of them, and landmarks err by far more."""
    return home_of(Z).single(Z) if len(Z) > MANY else Z


def _unit(Z):
    """(factor, Z times it, in its place) such that the mean squared row length is 1."""
    factor = _unit_factor(Z)
    Z *= like(factor, Z)
    return factor, Z


def _unit_factor(Z):
    """What brings the mean squared row length to 1, unless Z is zero to its type."""
    power = float(np.mean(squares(Z)))
    return 1.0 / np.sqrt(power) if power > smallest(Z.dtype) else 1.0
