"""Rows outside those that a model decomposes, with label-free features that are computed once.

The spectrum of a neighbor graph of a million rows is that of a sample but for detail. The spaces are built on a
sample, the core. Every other row has its place in them (a mean of neighbors in a graph, similarities to landmarks for
a kernel), which no label changes. So it is looked up once, and then the scores of all rows are one product. Any row may
have a label, but variances are those of the core. Features that would take more than `Sizes.held_bytes` are not kept.
Similarities are then computed again, block by block, whenever they are needed.
"""

import contextlib
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ..backend import device_in_use, moved, parallel, use_device
from ..homes import home_of
from ..rows import empty, host, like
from ..types import Index, Rows
from . import sizes
from .candidates.base import Candidate
from .rows import Support
from .scoring import Weighted
from .sizes import room_on
from .spaces import BaseSpace, GraphSpace, KernelSpace, Space

LOOKED_UP = 131_072  # rows that are looked up at once on a device, or approximately


class Extension:
    """The rows of a table next to its core.

    Parameters
    ----------
    candidates : those built on the core. X : (n, d) all rows. core : (c,) numbers of the rows of the core, ascending.
    support : `Support` of the core.

    Attributes
    ----------
    rows : numbers of the other rows.
    recall : fraction of their true neighbors in graphs that was found, as measured on a sample of the core.
    trust : (n − c,) how far a prediction for each of them rests on rows of the core.
    """

    def __init__(self, candidates: Sequence[Candidate], X: Rows, core: np.ndarray, support: Support) -> None:
        n = X.shape[0]
        self.n, self.core = n, core
        self.rows = np.setdiff1d(np.arange(n), core)
        self.place = np.empty(n, dtype=int)
        self.place[core], self.place[self.rows] = np.arange(len(core)), np.arange(len(self.rows))
        self.inside = np.zeros(n, dtype=bool)
        self.inside[core] = True
        self.X = X
        self._asked: tuple[bytes, dict[int, np.ndarray]] = (b"", {})
        spaces = [space for one in candidates for space in one.spaces()]
        bases = {id(base): base for space in spaces for base in space.bases()}
        size, held, hurried = 0, [], False
        for base in sorted(bases.values(), key=lambda base: base.seen_bytes):
            size += base.seen_bytes * len(self.rows)
            if isinstance(base, GraphSpace):
                hurried |= base.kernel_.hurry(len(self.rows))
            if base.spread or size <= sizes.SIZES.held_bytes:
                held.append(base)
        self.trust, self._seen = self._looked_up(held, support, hurried or device_in_use() is not None)
        self.recall = min((base.kernel_.recall for base in bases.values() if isinstance(base, GraphSpace)), default=1.0)
        others = {key: base for key, base in bases.items() if key not in self._seen}
        self._similar = {key: Similar(one, X, self.rows) for key, one in others.items() if isinstance(one, KernelSpace)}
        self._narrow: dict[int, np.ndarray] = {}
        self._there: dict[int, Rows] = {}
        # Features of the other rows are kept if there are at most 32. Else they are found again from the bases.
        for space in (space for space in spaces if space.Z.shape[1] <= 32 and not space.empty):
            kept = all(id(base) in self._seen for base in space.bases())
            if kept and id(space) not in self._narrow and space.bases() != [space]:
                self._narrow[id(space)] = self._placed(space)

    def _looked_up(
        self, bases: Sequence[BaseSpace], support: Support, at_once: bool
    ) -> tuple[np.ndarray, dict[int, Rows]]:
        """Return (trust, features or neighbors of the other rows in each base, by the identity of the base).

        at_once : whether many rows are looked up at once. Else each of several threads looks up a block of 8,192.
        """
        step = LOOKED_UP if at_once else 8192
        found: list[tuple[np.ndarray, dict[int, Rows]]] = [(self.rows, {})] * -(-len(self.rows) // step)

        def look(place: int) -> None:
            rows = self.X[self.rows[place * step : (place + 1) * step]]
            views = {id(base.view): base.view for base in bases}
            in_views = {key: view.transform(rows) for key, view in views.items()}
            found[place] = support.trust(rows), {id(base): base.seen(in_views[id(base.view)]) for base in bases}

        look(0)  # what a search needs is made once
        parallel(look, range(1, len(found)))
        seen = {}
        for base in bases:
            parts = [own.pop(id(base)) for _, own in found]
            seen[id(base)] = sp.vstack(parts, "csr") if base.spread else np.concatenate(parts)
        return np.concatenate([trust for trust, _ in found]), seen

    def features(self, space: Space, rows: Index) -> np.ndarray:
        """(m, r) features of any rows of the table in a space."""
        if rows is self.core:
            return host(space.Z)
        rows = np.arange(self.n)[rows]
        inside = self.inside[rows]
        own = host(space.Z[self.place[rows[inside]]])
        out = np.empty((len(rows), own.shape[1]), dtype=own.dtype)
        out[inside] = own
        if not inside.all():
            others = self.place[rows[~inside]]
            out[~inside] = space.at(lambda base: self._in(base, others))
        return out

    def _placed(self, space: Space) -> np.ndarray:
        """(n − c, r) features of the other rows in a space, straight from the bases."""
        parts, constant = self.matrices(space, np.eye(space.Z.shape[1]))
        total = sum(host(seen @ like(W, seen)) for seen, W in parts)
        return np.asarray(total + constant, dtype=np.float32)

    def _in(self, base: BaseSpace, others: np.ndarray) -> np.ndarray:
        """Features of some of the other rows in a base. Many spaces need those of the same rows in turn."""
        if self._asked[0] != others.tobytes():
            self._asked = others.tobytes(), {}
        known = self._asked[1]
        if id(base) not in known:
            if isinstance(base, GraphSpace):
                known[id(base)] = base.of_seen(self._seen[id(base)][others])
            elif isinstance(base, KernelSpace):  # what is kept of these has fewer digits
                known[id(base)] = np.asarray(
                    base.features(base.view.transform(self.X[self.rows[others]])), dtype=np.float32
                )
        return known[id(base)]

    def matrices(self, space: Space, W: np.ndarray) -> tuple[list[Weighted], float | np.ndarray]:
        """How `Scorer` finds Z W of the other rows. It uses the narrow spaces themselves, else the bases."""
        if id(space) in self._narrow:
            return [(self._here(self._narrow[id(space)]), W)], 0.0
        parts, constant = space.pull_back(W)
        return [self._matrix(base, own) for base, own in parts], constant

    def _matrix(self, base: BaseSpace, W: np.ndarray) -> Weighted:
        similar = self._similar.get(id(base))
        if similar is not None:
            return self._similarities(similar), similar.base.on_similar(W)
        return self._here(self._seen[id(base)]), base.on_seen(W)

    def _similarities(self, similar: "Similar") -> Rows:
        """Similarities of the other rows. A device keeps them once they are known, if its memory allows it."""
        device = device_in_use()
        if device is None:
            return similar
        if id(similar) not in self._there:
            kept = room_on(device[0], similar.base.seen_bytes * len(self.rows))
            self._there[id(similar)] = similar.whole(LOOKED_UP) if kept else similar
        return self._there[id(similar)]

    def _here(self, held: Rows) -> Rows:
        """A matrix of the other rows on the device that computes now. It gets it once, if its memory allows it."""
        device = device_in_use()
        if device is None:
            return held
        if id(held) not in self._there:
            sparse = sp.issparse(held)
            size = held.data.nbytes + held.indices.nbytes if sparse else held.nbytes
            kept = room_on(device[0], size)
            near = moved(np.zeros((1, 1), dtype=held.dtype))
            there = home_of(near).sparse(held, near) if sparse else moved(held)
            self._there[id(held)] = there if kept else held
        return self._there[id(held)]


class Similar:
    """Similarities of rows to the landmarks of a base, computed for the rows that are requested."""

    dtype = np.dtype(np.float64)  # of weights, until that of the similarities is known

    def __init__(self, base: KernelSpace, X: Rows, rows: np.ndarray) -> None:
        self.base, self.X, self.rows, self.device = base, X, rows, device_in_use()

    def __getitem__(self, some: Index) -> Rows:
        with contextlib.nullcontext() if self.device is None else use_device(*self.device):
            return self.base.similar(self.base.view.transform(self.X[self.rows[some]]))

    def whole(self, step: int) -> Rows:
        """The similarities of all rows, on the device that computes them."""
        first = self[:step]
        out = empty((len(self.rows), first.shape[1]), first)
        out[:step] = first
        for begin in range(step, len(self.rows), step):
            out[begin : begin + step] = self[begin : begin + step]
        return out
