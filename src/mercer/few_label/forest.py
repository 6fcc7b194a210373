"""Forests among the candidates: trees on the labelled rows, with out-of-bag answers as left-out answers."""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..backend import moved
from ..errors import InputError
from ..homes import home_of
from ..inputs.labels import Labels
from ..kernels.forest import Nodes

TREES = 100
LARGE = 300  # nodes of a tree down which rows go one by one
KINDS = ("extra", "random")  # extremely randomised trees; the trees of a random forest


class Trees(Nodes):
    """Trees as plain arrays, and the votes of their leaves.

    Attributes
    ----------
    value : (nodes, k) class shares, or (nodes, 1) numbers; the others are those of `Nodes`.
    """

    def __init__(self, trees: list):
        super().__init__(trees)
        self.value = np.concatenate([tree.value[:, 0, :] for tree in trees])

    @classmethod
    def grown(
        cls, X: np.ndarray, codes: np.ndarray, n_classes: int, kind: str, seed: int, number: int, count: Any = None
    ) -> tuple:
        """(trees, (l, k) out-of-bag votes, NaN for rows that every tree has seen), of classes below `n_classes`.

        count : (l,) how much each row counts; None: once.
        """
        from .growing import grow

        X, away = np.ascontiguousarray(X, dtype=np.float32), np.zeros((len(X), n_classes + 1))
        seeds = np.random.SeedSequence([seed, KINDS.index(kind)]).generate_state(number, np.uint64)
        grown = grow(X, codes, n_classes, seeds, kind == "extra", away, np.ones(len(X)) if count is None else count)
        trees = object.__new__(cls)
        trees.roots, trees.feature, trees.threshold, trees.left, trees.right, trees.value = grown
        with np.errstate(invalid="ignore"):
            return trees, away[:, :-1] / away[:, -1:]

    def votes(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean values of the leaves that the rows reach."""
        there = moved(X)
        if X.shape[1] <= self.feature.max():
            raise InputError(f"The trees look at column {self.feature.max()}, and the rows have {X.shape[1]} columns.")
        return home_of(there).votes(self, there)

    def compiled(self, X: np.ndarray) -> np.ndarray:
        """The same of host rows, by a compiled loop."""
        from .growing import flooded, walked

        *ready, depth, most, only = self._ready
        out, rows = np.zeros((len(X), self.value.shape[1])), np.ascontiguousarray(X, dtype=np.float32)
        loop: Any = walked if most > LARGE else flooded
        loop(rows, *ready, depth if most > LARGE else most, only, out)
        return out / len(self.roots)

    @cached_property
    def _ready(self) -> tuple:
        """The arguments of the compiled loops, which trust every index: arrays from a file are looked at first."""
        n, roots, left, right = len(self.value), self.roots, self.left, self.right
        inner = np.flatnonzero(left >= 0)
        whole = all(part.shape == (n,) for part in (self.feature, self.threshold, left, right)) and roots[0] == 0
        whole = whole and all(part.dtype.kind in "iu" for part in (roots, self.feature, left, right))
        whole = whole and roots[-1] < n and bool(np.all(np.diff(roots.astype(np.int64)) > 0)) and self.value.ndim == 2
        if whole:  # children come after their parents, in the same tree
            end = np.append(roots, n)[np.searchsorted(roots, inner, side="right")]
            whole = bool(np.all((np.minimum(left, right)[inner] > inner) & (np.maximum(left, right)[inner] < end)))
        if not whole:
            raise InputError("The trees of this model are damaged: a node points outside them. Fit the model again.")
        cut = np.full(n, np.inf, dtype=np.float32)  # holds rows at a leaf, which is its own child
        cut[inner] = self.threshold[inner]
        high = cut > self.threshold  # rounded up: single precision must cut where double does
        cut[high] = np.where(left[high] >= 0, np.nextafter(cut[high], np.float32(-np.inf)), cut[high])
        child = np.repeat(np.arange(n, dtype=np.int32)[:, None], 2, axis=1)
        child[inner, 0], child[inner, 1] = left[inner], right[inner]
        value = np.ascontiguousarray(self.value, dtype=np.float64)
        only = np.where(value.max(axis=1) == 1.0, value.argmax(axis=1), -1).astype(np.int32)
        only = np.where(np.count_nonzero(value, axis=1) == 1, only, -1).astype(np.int32)
        most, depth = int(np.diff(np.append(roots, n)).max()), np.zeros(len(roots), int)
        if most > LARGE:
            tree, reach = np.searchsorted(roots, np.arange(n), side="right") - 1, roots
            while len(reach := reach[left[reach] >= 0]):
                depth[tree[reach]] += 1  # one level of every tree at a time
                reach = np.unique(np.concatenate([left[reach], right[reach]]))
        return roots, value, np.maximum(self.feature, 0).astype(np.int32), cut, child, depth, most, only

    def __getstate__(self) -> dict:
        return {name: value for name, value in self.__dict__.items() if name != "_ready"}


@dataclass
class ForestCandidate:
    """A forest on the rows as given; see `Candidate` for what the few-label models ask of it."""

    name: str
    method: str
    view: Any
    rows: np.ndarray
    kind: str
    seed: int = 0
    seconds: float = 0.0
    trees: Trees | None = None
    left_out: Any = None
    influence = None
    closed_form = True
    most_labels = np.inf

    @property
    def Z(self) -> np.ndarray:
        """(n, d) rows with mean 0 and variance 1 in every column, to compare rows by."""
        spread = self.rows.std(axis=0)
        return (self.rows - self.rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)

    def features(self, rows: Any) -> np.ndarray:
        """(m, d) some of them."""
        return self.Z[rows]

    def withheld(self, labels: Labels) -> None:
        """There is no shortcut: trees are grown again for every fold."""

    def solve(self, labels: Labels, n_trees: int = TREES) -> "ForestCandidate":
        """Grown on the labelled rows; labels with probabilities count as their likeliest class."""
        start = time.perf_counter()
        codes, k = labels.codes[labels.labelled], labels.n_classes
        trees, left_out = Trees.grown(
            self.rows[labels.labelled], codes, k, self.kind, self.seed, n_trees, labels.counted
        )
        known = np.isfinite(left_out).all(axis=1) & (len(np.unique(codes)) > 1)
        left_out = np.where(known[:, None], left_out, 1.0 / k)
        fitted = replace(self, trees=trees, left_out=_compact(left_out))
        fitted.seconds = self.seconds + time.perf_counter() - start
        return fitted

    def scores(self, rows: np.ndarray | None = None) -> np.ndarray:
        """(n, k') votes of the training rows, or of some of them."""
        X = self.rows if rows is None else self.rows[rows]
        return _compact(self.trees.votes(X))  # type: ignore[union-attr]

    def part(self) -> "ForestPart":
        """The forest as a part of the predictor."""
        return ForestPart(self.view, self.trees)


class ForestPart:
    """Votes of a forest on a view of the rows."""

    def __init__(self, view: Any, trees: Any):
        self.view = view
        self.trees = trees

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """(n, k') votes."""
        return _compact(self.trees.votes(rows))


def _compact(votes: np.ndarray) -> np.ndarray:
    """One column for two classes, positive for the second."""
    return votes[:, 1:] - votes[:, :1] if votes.shape[1] == 2 else votes
