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
from ..evidence.calibration import two_columns
from ..evidence.likelihood import as_probabilities
from ..inputs.labels import Labels
from ..solvers.ridge.state import State
from .plan import Candidate
from .predictor import columns_by_base

BLOCK = 8192  # rows answered at once


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

    def _in(self, base, others):
        """Features of some of the other rows in a base; those of the same rows are asked for by many spaces in turn."""
        if self._asked[0] != others.tobytes():
            self._asked = others.tobytes(), {}
        known = self._asked[1]
        if id(base) not in known:
            seen = self._seen[id(base)][others]
            known[id(base)] = seen @ base.Z if sp.issparse(seen) else seen
        return known[id(base)]

    def pooled(self, fitted: list, found: Any) -> tuple[np.ndarray, np.ndarray]:
        """((n − c, k) pooled probabilities of the rows, (n − c, k) votes) of fitted candidates weighed as `found`."""
        used = np.flatnonzero(found.weights)
        linear = [m for m in used if fitted[m].method != "forest"]
        forests = [m for m in used if fitted[m].method == "forest"]
        constant, columns = columns_by_base([fitted[m] for m in linear])
        parts = [
            (self._seen[id(base)], base.Z @ W if sp.issparse(self._seen[id(base)]) else W.astype(np.float32))
            for base, W in columns
        ]
        weights, k = found.weights[linear], found.left_out.shape[1]
        P, votes = np.zeros((len(self.rows), k)), np.zeros((len(self.rows), k))
        for begin in range(0, len(self.rows) if linear else 0, BLOCK):
            block = slice(begin, begin + BLOCK)
            scores = constant + sum(seen[block] @ W for seen, W in parts)
            scores = np.moveaxis(scores.reshape(len(scores), len(linear), -1), 1, 0)
            P[block] = np.einsum("m,mnk->nk", weights, as_probabilities(scores, found.slopes[linear], found.floor))
            best = np.argmax(scores, axis=2) if k > 2 else (scores[:, :, 0] > 0).astype(int)
            for own, weight in zip(best, weights):
                votes[np.arange(begin, begin + len(own)), own] += weight
        for m in forests:
            own = fitted[m].scores(self.rows)
            votes[np.arange(len(own)), two_columns(own).argmax(axis=1)] += found.weights[m]
            P += found.weights[m] * as_probabilities(own, found.slopes[m], found.floor)
        return P, votes

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

    def solve(self, labels):
        """Fitted to the features of the labelled rows; what the state knows of all rows is that of the core."""
        if not isinstance(self.state, State):
            raise InputError(f"{self.method} needs all rows in its core. Prepare without core, or without this method.")
        state = copy.copy(self.state)
        state.moments = self.state.moments
        state.Z = self.features(labels.labelled)
        own = Labels(
            labels.classes, labels.codes[labels.labelled], np.arange(len(labels.labelled)), labels.given, labels.soft
        )
        solution = self.model.solve(state, own)
        _ = solution.left_out
        return replace(self, solution=solution)
