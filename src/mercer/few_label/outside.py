"""Rows beside those that a model decomposes: label-free features computed once, so that answers and labels are quick.

A neighbour graph of 100 000 rows takes minutes, and its spectrum is that of a sample but for detail. The spaces are
built on a sample, the core. Every other row has its place in them (a mean of neighbours in a graph, similarities to
landmarks for a kernel), which no label changes. So it is looked up once, and then the scores of all rows are one
product, and a label of any row is a label like the others: variances are those of the core.
"""

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..solvers.ridge.state import State
from .plan import Candidate

BLOCK = 8192  # rows placed at once
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
        others = X[self.rows]
        self.trust = support.trust(others)
        self._seen: dict = {}
        self._asked: tuple[bytes, dict] = (b"", {})
        views: dict = {}
        for base in (base for one in candidates if one.method != "forest" for base in one.space.bases()):
            if id(base) not in self._seen:
                if id(base.view) not in views:
                    views[id(base.view)] = base.view.transform(others)
                self._seen[id(base)] = base.seen(views[id(base.view)])
        self._narrow: dict = {}
        for space in (one.space for one in candidates if one.method != "forest" and one.Z.shape[1] <= NARROW):
            if id(space) not in self._narrow and space.bases() != [space]:
                self._narrow[id(space)] = np.vstack(
                    [self._placed(space, slice(i, i + BLOCK)) for i in range(0, len(self.rows), BLOCK)]
                )

    def features(self, space: Any, rows: Any) -> np.ndarray:
        """(m, r) features of any rows of the table in a space."""
        if rows is self.core:
            return space.Z
        rows = np.arange(self.n)[rows]
        out = np.empty((len(rows), space.Z.shape[1]), dtype=space.Z.dtype)
        inside = self.inside[rows]
        out[inside] = space.Z[self.place[rows[inside]]]
        if not inside.all():
            others = self.place[rows[~inside]]
            out[~inside] = space.at(lambda base: self._in(base, others))
        return out

    def _placed(self, space, block):
        """(b, r) features of a block of the other rows in a space."""
        seen = {key: found[block] for key, found in self._seen.items()}
        at = space.at(lambda base: seen[id(base)] @ base.Z if sp.issparse(seen[id(base)]) else seen[id(base)])
        return np.asarray(at, dtype=np.float32)

    def _in(self, base, others):
        """Features of some of the other rows in a base; those of the same rows are asked for by many spaces in turn."""
        if self._asked[0] != others.tobytes():
            self._asked = others.tobytes(), {}
        known = self._asked[1]
        if id(base) not in known:
            seen = self._seen[id(base)][others]
            known[id(base)] = seen @ base.Z if sp.issparse(seen) else seen
        return known[id(base)]

    def matrices(self, space: Any, W: np.ndarray) -> tuple[list, Any]:
        """How `Scorer` finds Z W of the other rows: from the narrow spaces themselves, else from the bases."""
        if id(space) in self._narrow:
            return [(self._narrow[id(space)], W)], 0.0
        parts, constant = space.pull_back(W)
        seen = [(self._seen[id(base)], base, own) for base, own in parts]
        return [
            (found, base.Z @ own.astype(base.Z.dtype) if sp.issparse(found) else own) for found, base, own in seen
        ], constant

    def wide(self, candidates: list, X: Any) -> list:
        """The candidates for labels of any row of the table."""
        return [
            replace(one, rows=X)
            if one.method == "forest"
            else WideCandidate(one.name, one.method, one.space, one.model, one.seconds, None, self)
            for one in candidates
        ]


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
        return self.solution.scores(self.features(rows))  # type: ignore[union-attr]

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
