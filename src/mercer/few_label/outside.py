"""Rows beside those that a model decomposes: label-free features computed once, so that answers and labels are quick.

The spectrum of a neighbour graph of a million rows is that of a sample but for detail. The spaces are built on a
sample, the core. Every other row has its place in them (a mean of neighbours in a graph, similarities to landmarks for
a kernel), which no label changes. So it is looked up once, and then the scores of all rows are one product, and a label
of any row is a label like the others: variances are those of the core. Features that would take more than `HELD` bytes
are not kept: similarities are then computed again, block by block, whenever they are asked for.
"""

import contextlib
import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..backend import device_in_use, parallel, use_device
from ..errors import InputError
from ..rows import host
from ..solvers.ridge.state import State
from .plan import Candidate

LOOKED_UP = 131_072  # rows whose places are looked up at once on a device, or approximately
BLOCK = 8192  # and else, in one of several threads
HELD = 2**29  # bytes of features that are kept; the neighbours in graphs always are
NARROW = 32  # features up to which those of the other rows are kept, and not found anew from the bases


class Outside:
    """The rows of a table beside its core.

    Parameters
    ----------
    candidates : those built on the core. X : (n, d) all rows. core : (c,) numbers of the rows of the core, ascending.
    support : `Support` of the core.

    Attributes
    ----------
    rows : numbers of the other rows.
    recall : share of their true neighbours in graphs that was found, as measured on a sample of the core.
    trust : (n − c,) how far an answer for each of them rests on rows of the core.
    """

    def __init__(self, candidates: list, X: Any, core: np.ndarray, support: Any):
        n = X.shape[0]
        self.n, self.core = n, core
        self.rows = np.setdiff1d(np.arange(n), core)
        self.place = np.empty(n, dtype=int)
        self.place[core], self.place[self.rows] = np.arange(len(core)), np.arange(len(self.rows))
        self.inside = np.zeros(n, dtype=bool)
        self.inside[core] = True
        self.X = X
        self._asked: tuple[bytes, dict] = (b"", {})
        bases = {id(base): base for one in candidates if one.method != "forest" for base in one.space.bases()}
        size, held, hurried = 0, [], False
        for base in sorted(bases.values(), key=lambda base: base.seen_bytes):
            size += base.seen_bytes * len(self.rows)
            if base.spread:
                hurried |= base.kernel_.hurry(len(self.rows))
            if base.spread or size <= HELD:
                held.append(base)
        self.trust, self._seen = self._looked_up(held, support, hurried or device_in_use() is not None)
        self.recall = min((base.kernel_.recall for base in bases.values() if base.spread), default=1.0)
        self._similar = {key: Similar(base, X, self.rows) for key, base in bases.items() if key not in self._seen}
        self._narrow: dict = {}
        for space in (one.space for one in candidates if one.method != "forest" and one.space.Z.shape[1] <= NARROW):
            kept = all(id(base) in self._seen for base in space.bases())
            if kept and id(space) not in self._narrow and space.bases() != [space]:
                self._narrow[id(space)] = self._placed(space)

    def _looked_up(self, bases, support, at_once):
        """(trust, {identity of a base: what it sees of the other rows}); not block by block, if it is at once."""
        step = LOOKED_UP if at_once else BLOCK
        found: list = [None] * -(-len(self.rows) // step)

        def look(place):
            rows = self.X[self.rows[place * step : (place + 1) * step]]
            views = {id(base.view): base.view for base in bases}
            views = {key: view.transform(rows) for key, view in views.items()}
            found[place] = support.trust(rows), {id(base): base.seen(views[id(base.view)]) for base in bases}

        look(0)  # what a search needs is made once
        parallel(look, range(1, len(found)))
        seen = {}
        for base in bases:
            parts = [own.pop(id(base)) for _, own in found]
            seen[id(base)] = sp.vstack(parts, "csr") if base.spread else np.concatenate(parts)
        return np.concatenate([trust for trust, _ in found]), seen

    def features(self, space: Any, rows: Any) -> np.ndarray:
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

    def _placed(self, space):
        """(n − c, r) features of the other rows in a space, straight from the bases."""
        parts, constant = self.matrices(space, np.eye(space.Z.shape[1]))
        total = sum(seen @ W.astype(np.float32) for seen, W in parts)
        return np.asarray(total + constant, dtype=np.float32)

    def _in(self, base, others):
        """Features of some of the other rows in a base; those of the same rows are asked for by many spaces in turn."""
        if self._asked[0] != others.tobytes():
            self._asked = others.tobytes(), {}
        known = self._asked[1]
        if id(base) not in known:
            if base.spread:
                known[id(base)] = base.of_seen(self._seen[id(base)][others])
            else:  # what is kept of these has fewer digits
                known[id(base)] = np.asarray(
                    base.features(base.view.transform(self.X[self.rows[others]])), dtype=np.float32
                )
        return known[id(base)]

    def matrices(self, space: Any, W: np.ndarray) -> tuple[list, Any]:
        """How `Scorer` finds Z W of the other rows: from the narrow spaces themselves, else from the bases."""
        if id(space) in self._narrow:
            return [(self._narrow[id(space)], W)], 0.0
        parts, constant = space.pull_back(W)
        return [self._matrix(base, own) for base, own in parts], constant

    def _matrix(self, base, W):
        if id(base) in self._similar:
            return self._similar[id(base)], base.on_similar(W)
        return self._seen[id(base)], base.on_seen(W)

    def wide(self, candidates: list, X: Any) -> list:
        """The candidates for labels of any row of the table."""
        return [
            replace(one, rows=X)
            if one.method == "forest"
            else WideCandidate(one.name, one.method, one.space, one.model, one.seconds, None, one.most_labels, self)
            for one in candidates
        ]


class Similar:
    """Similarities of rows to the landmarks of a base, computed for the rows that are asked for."""

    dtype = np.dtype(np.float64)  # of weights, until the similarities say theirs

    def __init__(self, base, X, rows):
        self.base, self.X, self.rows, self.device = base, X, rows, device_in_use()

    def __getitem__(self, some):
        with contextlib.nullcontext() if self.device is None else use_device(*self.device):
            return self.base.similar(self.base.view.transform(self.X[self.rows[some]]))


@dataclass
class WideCandidate(Candidate):
    """A candidate whose space is that of the core, and whose rows are all rows."""

    outside: Any = None

    def features(self, rows):
        return self.outside.features(self.space, rows)

    @property
    def Z(self):
        raise InputError("The features of all rows are not held at once here: ask `features` for those of some rows.")

    def scores(self, rows=None):
        rows = slice(None) if rows is None else rows
        Z = self.space.Z if rows is self.outside.core else self.features(rows)
        return self.solution.scores(Z)  # type: ignore[union-attr]

    def withheld(self, labels):
        return self.model.withheld(*self._labelled(labels))

    def solve(self, labels):
        """Fitted to the features of the labelled rows; what the state knows of all rows is that of the core."""
        solution = self.model.solve(*self._labelled(labels))
        _ = solution.left_out
        return replace(self, solution=solution)

    def _labelled(self, labels):
        """(state, labels) in which the labelled rows are all rows."""
        if not isinstance(self.state, State):
            raise InputError(f"{self.method} needs all rows in its core. Prepare without core, or without this method.")
        state, rows = copy.copy(self.state), labels.labelled
        state.moments, state.Z = self.state.moments, self.features(rows)
        own = replace(labels, codes=labels.codes[rows], labelled=np.arange(len(rows)))
        return state.counting(own), own
