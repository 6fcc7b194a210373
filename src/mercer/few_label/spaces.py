"""Feature spaces for the few-label choice. Each is one expensive decomposition, used by every method and labeling.

A space has the features `Z` of the training rows, scaled so that a row's squared length is 1 on average (so that one
value of a penalty means the same in all of them). Some are made of others. `pull_back(W)` expresses a function Z W in
the base spaces, as a list of (base, weights of its Z) and a constant. A base turns its weights into a part of the
predictor.
"""

import copy
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as sla

from ..backend import device_in_use, moved
from ..geometry.expansion import Expansion
from ..geometry.open import POLICIES, open_gram
from ..graphs.neighbors import FoundNeighbors
from ..homes import home_of
from ..kernels.base import KernelLike
from ..kernels.graph import Diffusion
from ..linalg import eigh_down, fix_signs, rank_of, smallest
from ..rows import by_blocks, concat, dot, host, like, squares
from ..solvers.ridge.smoother import moments_of
from ..solvers.ridge.state import State
from ..types import Rows
from . import sizes
from .cost import GRAPH_EXACT
from .predictor import GraphPart, KernelPart, Part
from .views import View

# Number of eigenvectors of a graph, by the largest number of rows for which so many are taken. None means all of them.
# At 1,500 rows, 250 contain all of the heat at time 30 and 99.3% of that at time 10, for a third of the time.
GRAPH_RANKS = {GRAPH_EXACT: None, POLICIES["few labels"].exact_rows: 250, np.inf: 150}
HALF = float(np.sqrt(0.5))
FIRST_TIME = 3.0  # time of the diffusion whose factor contains the eigenvectors. Other times rescale its columns.

Find: TypeAlias = Callable[["BaseSpace"], Rows]  # (m, r) features of other rows in a base
PulledBack: TypeAlias = tuple[list[tuple["BaseSpace", np.ndarray]], float | np.ndarray]


class Space:
    """Base of the feature spaces.

    Attributes
    ----------
    name : its name in the report.
    Z : (n, r) features of the training rows, on the device of `use_device` if there is one.
    state : values that the methods compute from Z without any label, on first use, and keep for every labeling.
    """

    name: str
    Z: Rows
    empty = False  # whether it has no feature that distinguishes rows
    spread = False  # whether other rows take means of the training rows. Else they have features of their own.

    @cached_property
    def state(self) -> State:
        return State(self.Z)

    @cached_property
    def sample(self) -> np.ndarray:
        """(s, r) features of the rows of `sample_rows`."""
        return host(self.Z if len(self.Z) <= sizes.SIZES.large_rows else self.Z[sample_rows(len(self.Z))])

    def split(self, W: np.ndarray) -> list[tuple["Space", np.ndarray]]:
        """Return [(space, its weights)] of spaces whose features give Z W. Many candidates may use the same space."""
        return [(self, W)]

    def pull_back(self, W: np.ndarray) -> PulledBack:
        """Return ([(base, weights of its features)], a constant) whose sum is Z W."""
        raise NotImplementedError

    def bases(self) -> list["BaseSpace"]:
        """The spaces of which this one is made."""
        raise NotImplementedError

    def at(self, find: Find) -> Rows:
        """Return (m, r) features of other rows. `find` is a function that returns their features in a base."""
        raise NotImplementedError


class BaseSpace(Space):
    """A space that is not made of others. `values` are the Laplacian's eigenvalues, which spaces of graphs have."""

    view: View
    values: np.ndarray

    def pull_back(self, W: np.ndarray) -> PulledBack:
        return [(self, W)], 0.0

    def bases(self) -> list["BaseSpace"]:
        return [self]

    def at(self, find: Find) -> Rows:
        return find(self)

    @property
    def seen_bytes(self) -> int:
        """Bytes of a row of `seen`."""
        raise NotImplementedError

    @property
    def lower_gram(self) -> np.ndarray:
        """The lower triangle of ZᵀZ."""
        return moments_of(self.Z).G

    def seen(self, rows: Rows) -> Rows:
        """Features or neighbors of other rows in this view."""
        raise NotImplementedError

    def on_seen(self, W: np.ndarray) -> Rows:
        """Weights c with features W = seen c."""
        raise NotImplementedError

    def part(self, W: np.ndarray) -> Part:
        """Z W of any rows, as a part of the predictor."""
        raise NotImplementedError


class KernelSpace(BaseSpace):
    """Features of a kernel on one view of the rows. They are exact for few rows, and use landmarks for many."""

    def __init__(self, name: str, view: View, kernel: KernelLike, rows: Rows, random_state: int = 0) -> None:
        self.name = name
        self.view = view
        gram = open_gram(kernel, "auto", moved(rows), policy="few labels", seed=random_state)
        self.map_: Any = gram.map
        self.scale, self.Z = _unit(_held(gram.Z))

    def seen(self, rows: Rows) -> Rows:
        """Return similarities of other rows to the landmarks, or (m, r) features, in single precision.

        Features are used if weights of the similarities would be too large for single precision.
        """
        width = len(self.map_.root_) if self._apart else self.Z.shape[1]
        steps = None if device_in_use() else 512  # rows whose features in double precision stay in the cache
        some = self.similar if self._apart else self.features
        return by_blocks(lambda block: np.asarray(host(some(block)), dtype=np.float32), rows, width, np.float32, steps)

    @property
    def seen_bytes(self) -> int:
        return 4 * int(self.Z.shape[1])

    def on_seen(self, W: np.ndarray) -> Rows:
        return self.on_similar(W) if self._apart else W

    @property
    def _apart(self) -> bool:
        return bool(self.map_.well_conditioned(1e3))  # largest ratio of pivots for which single precision is enough

    @property
    def lower_gram(self) -> np.ndarray:
        """The lower triangle of ZᵀZ. The triangular factor of all rows, if there is one, takes a third of the time."""
        root = self.map_.root_
        if not self.map_.triangular_ or len(root) < len(self.Z) or device_in_use():
            return super().lower_gram
        G: np.ndarray = sla.lapack.dlauum(root.T, lower=0)[0].T
        G *= self.scale**2
        return G

    def features(self, rows: Rows) -> np.ndarray:
        """(m, r) features of other rows in this view."""
        return self.scale * host(self.map_.of_rows(moved(rows)))

    def similar(self, rows: Rows) -> Rows:
        """Return (m, landmarks) similarities of other rows in this view, on the device that computes them."""
        return self.map_.similarities(moved(rows))

    def on_similar(self, W: np.ndarray) -> np.ndarray:
        """Weights c with features W = similarities c."""
        weights: np.ndarray = self.map_.on_landmarks(self.scale * W)[1]
        return weights

    def part(self, W: np.ndarray) -> KernelPart:
        return KernelPart(self.view, Expansion(self.map_.kernel_, *self.map_.on_landmarks(self.scale * W)))


class GraphSpace(BaseSpace):
    """Eigenvectors of a neighbor graph's Laplacian on one view. A new row takes the mean of its neighbors."""

    spread = True

    def __init__(
        self,
        name: str,
        view: View,
        n_neighbors: int,
        rows: Rows,
        random_state: int = 0,
        found: FoundNeighbors | None = None,
    ) -> None:
        self.name = name
        self.view = view
        rank = next(rank for most, rank in GRAPH_RANKS.items() if rows.shape[0] <= most)
        self.kernel_ = Diffusion(n_neighbors, FIRST_TIME, rank=rank).resolve(rows, found=found)
        _, self.kernel_.factor_ = _unit(_held(self.kernel_.factor()))  # its features of other rows are in this unit
        self.Z = moved(self.kernel_.factor_)
        self.values = self.kernel_.spectrum_[: self.Z.shape[1]]

    def seen(self, rows: Rows) -> Rows:
        """Return (m, n) sparse weights of the training rows for other rows in this view. Times Z they are features."""
        return self.kernel_.spread(rows).astype(np.float32)

    @property
    def seen_bytes(self) -> int:
        return 12 * self.kernel_.n_neighbors

    def on_seen(self, W: np.ndarray) -> Rows:
        """Return (n, k) values of Z W for the training rows. Other rows take means of these."""
        return dot(self.Z, W)

    def of_seen(self, seen: Rows) -> np.ndarray:
        """Return the features of other rows from their `seen`."""
        return np.asarray(seen @ self.kernel_.factor_)

    def part(self, W: np.ndarray) -> GraphPart:
        """Return Z W of any rows, as a part of the predictor. It has n scores per class, and the training rows."""
        kernel = copy.copy(self.kernel_)
        kernel.factor_ = kernel.factor_ @ W
        del kernel.graph_, kernel.spectrum_
        return GraphPart(self.view, kernel)


class NoSpace(Space):
    """A space without any feature, in which only the constant is fitted."""

    empty = True

    def __init__(self, n_rows: int) -> None:
        self.name, self.Z = "no column", np.zeros((n_rows, 1))

    def pull_back(self, W: np.ndarray) -> PulledBack:
        """Nothing of any base."""
        return [], 0.0

    def bases(self) -> list[BaseSpace]:
        return []

    def at(self, find: Find) -> Rows:
        return np.zeros((1, 1))  # the same for each row


class TransformedSpace(Space):
    """(Z − shift) · turn of a base space, such as its principal axes, or its columns with other factors."""

    def __init__(self, name: str, base: Space, turn: np.ndarray, shift: np.ndarray | None = None) -> None:
        self.name = name
        self.base = base
        self.shift = shift
        self.turn = turn
        self.Z = self._turned(base.Z)
        self.scale = _unit_factor(self.Z)
        self.Z *= like(self.scale, self.Z)

    def split(self, W: np.ndarray) -> list[tuple[Space, np.ndarray]]:
        """Return the base, which other spaces use too, unless this space is much narrower or has another mean."""
        if self.shift is not None or 2 * self.Z.shape[1] <= self.base.Z.shape[1]:
            return [(self, W)]
        return self.base.split(self._on_base(W))

    def pull_back(self, W: np.ndarray) -> PulledBack:
        """Return scale · (Z − shift) · turn · W in terms of the base."""
        wide = self._on_base(W)
        parts, constant = self.base.pull_back(wide)
        return parts, constant if self.shift is None else constant - self.shift @ wide[: len(self.shift)]

    def _on_base(self, W: np.ndarray) -> np.ndarray:
        """Return weights of the columns of the base. Those of columns that are not used are 0."""
        wide = np.zeros((self.base.Z.shape[1], W.shape[1]))
        wide[: len(self.turn)] = self.scale * (self.turn[:, None] * W if self.turn.ndim == 1 else self.turn @ W)
        return wide

    def bases(self) -> list[BaseSpace]:
        return self.base.bases()

    def at(self, find: Find) -> Rows:
        Z = self._turned(self.base.at(find))
        return Z * like(self.scale, Z)

    def _turned(self, Z: Rows) -> Rows:
        Z = Z[:, : len(self.turn)]
        if self.turn.ndim == 1:
            return Z * like(self.turn, Z)
        Z = Z if self.shift is None else Z - like(self.shift, Z)
        return Z @ like(self.turn, Z)


class JoinedSpace(Space):
    """Two spaces side by side. The kernel is the mean of their kernels."""

    def __init__(self, name: str, first: Space, second: Space) -> None:
        self.name = name
        self.parts = (first, second)
        self.Z = concat([first.Z, second.Z])
        self.Z *= HALF  # in place, because it is large

    def pull_back(self, W: np.ndarray) -> PulledBack:
        """Return those of both parts. Each part has its own rows of W."""
        width = self.parts[0].Z.shape[1]
        (first, a), (second, b) = (part.pull_back(HALF * own) for part, own in zip(self.parts, (W[:width], W[width:])))
        return first + second, a + b

    def split(self, W: np.ndarray) -> list[tuple[Space, np.ndarray]]:
        width, W = self.parts[0].Z.shape[1], HALF * W
        return [pair for part, own in zip(self.parts, (W[:width], W[width:])) for pair in part.split(own)]

    def bases(self) -> list[BaseSpace]:
        return [base for part in self.parts for base in part.bases()]

    def at(self, find: Find) -> Rows:
        return HALF * concat([part.at(find) for part in self.parts])


def diffused(base: BaseSpace, time: float) -> TransformedSpace:
    """Return the heat kernel of a `GraphSpace` at another time. Columns that are nearly 0 then are dropped."""
    gains = np.exp(-(time - FIRST_TIME) / 2 * base.values)
    return TransformedSpace(f"heat {time:g} on {base.name}", base, gains[gains > 1e-5])


def transducer(base: BaseSpace, n_eigenvectors: int = 80) -> TransformedSpace | None:
    """Return the graph's first non-trivial eigenvectors with eigenvalues 1, 4, 9, … in place of its own (Joachims).

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
    place = np.arange(turn.shape[1]) - max(n_zero - 2, 0)  # the n_zero − 1 of them at 0 all have the first place
    return TransformedSpace(f"spectrum of {base.name}", base, turn / np.maximum(place + 1.0, 1.0))


def principal(base: BaseSpace) -> TransformedSpace:
    """Return the base's directions of largest mean square, at most 300 of them."""
    G = base.lower_gram
    values, vectors = eigh_down(G, min(300, len(G)))
    rank = max(rank_of(values, 1e-9, len(G)), 1)
    return TransformedSpace(base.name, base, fix_signs(vectors[:, :rank]))


def components(space: Space, numbers: Iterable[int]) -> list[TransformedSpace]:
    """Return the first principal components of a space about its mean (kernel PCA), for each of some numbers of them.

    Numbers larger than the rank are omitted.
    """
    moments = space.state.moments
    values, vectors = moments.eigen(center=True)
    vectors, rank, mean = fix_signs(vectors), rank_of(values, 1e-9), moments.mean
    return [
        TransformedSpace(f"{m} components of {space.name}", space, vectors[:, :m], mean) for m in numbers if m <= rank
    ]


def sample_rows(n: int) -> np.ndarray:
    """Return the numbers of the rows, of n, from which typical margins are computed, ascending."""
    if n <= sizes.SIZES.large_rows:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, sizes.SIZES.margin_rows, replace=False))


def scaled_to_unit(Z: Rows) -> Rows:
    """Return Z as spaces keep it, with a mean squared row length of 1, and many rows in single precision."""
    return _unit(_held(Z))[1]


def _held(Z: Rows) -> Rows:
    """Return features of many rows in single precision, because every prediction reads all of them.

    The error of landmarks is much larger than the rounding.
    """
    return home_of(Z).single(Z) if len(Z) > sizes.SIZES.large_rows else Z


def _unit(Z: Rows) -> tuple[float, Rows]:
    """Return (factor, Z times it, in its place) such that the mean squared row length is 1."""
    factor = _unit_factor(Z)
    Z *= like(factor, Z)
    return factor, Z


def _unit_factor(Z: Rows) -> float:
    """Return the factor that makes the mean squared row length 1. It is 1 if Z is zero up to rounding."""
    power = float(np.mean(squares(Z)))
    return 1.0 / np.sqrt(power) if power > smallest(Z.dtype) else 1.0
