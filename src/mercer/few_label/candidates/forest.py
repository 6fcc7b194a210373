"""Forests on the labeled rows, with out-of-bag votes as held-out predictions.

Every tree for numbers is grown on four fifths of them, drawn without replacement. A bootstrap would lose a third, which
is too much of twenty numbers. Repeated five-fold splits give each number the same number of trees that did not see it.
"""

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...backend import device_in_use, moved
from ...errors import InputError
from ...homes import home_of
from ...inputs.labels import Labels
from ...kernels.forest import Nodes, sklearn_nodes
from ...types import Estimator, Facts, Index, Rows
from ..sizes import room_on
from ..views import View, is_wide
from .base import Candidate, Fitted

if TYPE_CHECKING:
    from ..extension import Extension

NUMBER_TREES = 200  # of a forest for numbers


@dataclass(eq=False, repr=False)
class Trees(Nodes):
    """Trees as plain arrays, and the votes of their leaves.

    Attributes
    ----------
    value : (nodes, k) class frequencies, or (nodes, 1) numbers. The others are those of `Nodes`.
    """

    value: np.ndarray

    @classmethod
    def of_sklearn(cls, trees: list[Estimator]) -> "Trees":
        """Trees of scikit-learn, the `tree_` of its estimators."""
        return cls(*sklearn_nodes(trees), np.concatenate([tree.value[:, 0, :] for tree in trees]))

    @classmethod
    def grown(
        cls,
        X: np.ndarray,
        codes: np.ndarray,
        n_classes: int,
        kind: str,
        seed: int,
        number: int,
        count: np.ndarray | None = None,
    ) -> tuple["Trees", np.ndarray]:
        """(trees, (l, k) out-of-bag votes, NaN for rows that every tree has seen), of classes below `n_classes`.

        kind : "extra" for extremely randomized trees, or "random" for those of a random forest.
        count : (l,) how much each row counts. None counts each once.
        """
        from ..tree_growth import grow

        X, away = np.ascontiguousarray(X, dtype=np.float32), np.zeros((len(X), n_classes + 1))
        seeds = np.random.SeedSequence([seed, ("extra", "random").index(kind)]).generate_state(number, np.uint64)
        grown = grow(X, codes, n_classes, seeds, kind == "extra", away, np.ones(len(X)) if count is None else count)
        with np.errstate(invalid="ignore"):
            return cls(*grown), away[:, :-1] / away[:, -1:]

    def votes(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean values of the leaves that the rows reach."""
        there = moved(X)
        if X.shape[1] <= self.feature.max():
            raise InputError(f"The trees look at column {self.feature.max()}, and the rows have {X.shape[1]} columns.")
        home = home_of(there)
        if home.namespace(there) is not np:
            return self.mean_values(self.value, there)
        from ..tree_growth import flooded, walked

        (roots, value, column, cut, child), depth, most, only = self._ready
        rows = np.ascontiguousarray(home.host(there), dtype=np.float32)
        out = np.zeros((len(rows), self.value.shape[1]))
        if depth is None:
            flooded(rows, roots, value, column, cut, child, most, only, out)
        else:
            walked(rows, roots, value, column, cut, child, depth, only, out)
        return out / len(self.roots)

    @cached_property
    def _ready(self) -> tuple[tuple[np.ndarray, ...], np.ndarray | None, int, np.ndarray]:
        """The arguments of the compiled loops. These trust every index, so arrays from a file are checked first.

        The depth of the trees is None if they are small. Rows go down trees of more than 300 nodes one by one.
        """
        n, roots, left, right = len(self.value), self.roots, self.left, self.right
        inner = np.flatnonzero(left >= 0)
        whole = all(part.shape == (n,) for part in (self.feature, self.threshold, left, right)) and roots[0] == 0
        whole = whole and all(part.dtype.kind in "iu" for part in (roots, self.feature, left, right))
        whole = whole and roots[-1] < n and bool(np.all(np.diff(roots.astype(np.int64)) > 0)) and self.value.ndim == 2
        if whole:  # children come after their parents, in the same tree
            end = np.append(roots, n)[np.searchsorted(roots, inner, side="right")]
            whole = bool(np.all((np.minimum(left, right)[inner] > inner) & (np.maximum(left, right)[inner] < end)))
        if not whole:
            raise InputError("The trees of this model are damaged. A node points outside them. Fit the model again.")
        cut = np.full(n, np.inf, dtype=np.float32)  # contains rows at a leaf, which is its own child
        cut[inner] = self.threshold[inner]
        high = cut > self.threshold  # rounded up, because single precision must cut where double does
        cut[high] = np.where(left[high] >= 0, np.nextafter(cut[high], np.float32(-np.inf)), cut[high])
        child = np.repeat(np.arange(n, dtype=np.int32)[:, None], 2, axis=1)
        child[inner, 0], child[inner, 1] = left[inner], right[inner]
        value = np.ascontiguousarray(self.value, dtype=np.float64)
        only = np.where(value.max(axis=1) == 1.0, value.argmax(axis=1), -1).astype(np.int32)
        only = np.where(np.count_nonzero(value, axis=1) == 1, only, -1).astype(np.int32)
        most, depth = int(np.diff(np.append(roots, n)).max()), None
        if most > 300:
            depth = np.zeros(len(roots), int)
            tree, reach = np.searchsorted(roots, np.arange(n), side="right") - 1, roots
            while len(reach := reach[left[reach] >= 0]):
                depth[tree[reach]] += 1  # one level of every tree at a time
                reach = np.unique(np.concatenate([left[reach], right[reach]]))
        column = np.maximum(self.feature, 0).astype(np.int32)
        return (roots, value, column, cut, child), depth, most, only

    def __getstate__(self) -> Facts:
        return {name: value for name, value in self.__dict__.items() if name != "_ready"}


@dataclass(frozen=True, eq=False)
class TreesCandidate(Candidate):
    """Trees on a view of the rows.

    Attributes
    ----------
    view, rows : the view, and the rows in it.
    """

    view: View
    rows: np.ndarray

    @property
    def Z(self) -> np.ndarray:
        """(n, d) rows with mean 0 and variance 1 in every column, to compare rows by."""
        spread = self.rows.std(axis=0)
        scaled: np.ndarray = (self.rows - self.rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        return scaled

    def features(self, rows: Index) -> np.ndarray:
        return self.Z[rows]

    def here(self, rows: Index | None) -> Rows:
        """The rows, or some of them, on the device that computes now. It gets all of them once."""
        X = self.rows if device_in_use() is None else self._on_device
        return X if rows is None else X[rows]

    @cached_property
    def _on_device(self) -> Rows:
        device = device_in_use()
        return moved(self.rows) if room_on(None if device is None else device[0], self.rows.nbytes) else self.rows

    def extended(self, extension: "Extension", X: Rows) -> "TreesCandidate":
        return replace(self, rows=self.view.transform(X))


@dataclass(frozen=True, eq=False)
class ForestCandidate(TreesCandidate):
    """A forest on the rows as given."""

    kind: str
    seed: int = 0
    fold_group: ClassVar[str | None] = "forest"

    @property
    def prior_group(self) -> str:
        return "wide forest" if is_wide(self.rows) else "forest"

    def solve(self, labels: Labels, n_trees: int = 100) -> "ForestFitted":
        """Grow the trees on the labeled rows. Labels with probabilities count as their most likely class."""
        start = time.perf_counter()
        codes, k = labels.codes[labels.labeled], labels.n_classes
        trees, left_out = Trees.grown(
            self.rows[labels.labeled], codes, k, self.kind, self.seed, n_trees, labels.counted
        )
        known = np.isfinite(left_out).all(axis=1) & (len(np.unique(codes)) > 1)
        left_out = np.where(known[:, None], left_out, 1.0 / k)
        return ForestFitted(self, compact(left_out), self.seconds + time.perf_counter() - start, trees)

    def solve_fold(self, labels: Labels) -> "ForestFitted":
        return self.solve(labels, 20)


@dataclass(frozen=True, eq=False)
class ForestFitted(Fitted):
    """A candidate with its trees."""

    trees: Trees = field(repr=False)

    def scores(self, rows: Index | None = None) -> np.ndarray:
        return compact(self.trees.votes(self.candidate.here(rows)))

    def part(self) -> "ForestPart":
        return ForestPart(self.candidate.view, self.trees)


@dataclass(frozen=True, eq=False)
class NumberForest(ForestCandidate):
    """Extremely randomized trees on the rows that have a number."""

    def solve(self, targets: Any, n_trees: int = NUMBER_TREES, folds: int = 5) -> ForestFitted:
        """Grow the trees on the numbers. Those of one group are held out together."""
        from sklearn.tree import ExtraTreeRegressor

        start = time.perf_counter()
        rows, t = np.asarray(self.rows[targets.labeled], dtype=np.float32), targets.signs[:, 0]
        order = np.lexsort((*rows.T, t))  # the trees shall not depend on the order of the rows
        rows, t = rows[order], t[order]
        _, first, group = np.unique(targets.groups[order], return_index=True, return_inverse=True)
        group, number = np.argsort(np.argsort(first))[group], len(first)
        rng, folds = np.random.default_rng(self.seed), min(folds, number)
        trees, left_out = [], np.zeros(len(t))
        for _ in range(n_trees // folds):
            fold = (rng.permutation(number) % folds)[group]
            for place in range(folds):
                out = fold == place
                tree = ExtraTreeRegressor(random_state=int(rng.integers(2**31))).fit(rows[~out], t[~out])
                left_out[out] += tree.predict(rows[out])
                trees.append(tree.tree_)
        away = left_out[np.argsort(order), None] / (n_trees // folds)
        return ForestFitted(self, away, self.seconds + time.perf_counter() - start, Trees.of_sklearn(trees))


class ForestPart:
    """Votes of a forest on a view of the rows."""

    def __init__(self, view: View, trees: Trees) -> None:
        self.view = view
        self.trees = trees

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """(n, k') votes."""
        return compact(self.trees.votes(rows))


def compact(votes: np.ndarray) -> np.ndarray:
    """One column for two classes, positive for the second."""
    return votes[:, 1:] - votes[:, :1] if votes.shape[1] == 2 else votes


@dataclass(frozen=True, eq=False)
class MajorityCandidate(TreesCandidate):
    """Class fractions among the labels, with one added to each class. It is a tree without a cut, and uses no column.

    It has no part in the average. If the other candidates together do not predict the held-out labels better than it
    does, the columns do not distinguish the classes, and it is the prediction.
    """

    fold_group: ClassVar[str | None] = "majority"

    @property
    def prior_group(self) -> str:
        return "majority"

    def solve(self, labels: Labels) -> ForestFitted:
        """Count the labels. A held-out label is not counted in its own prediction."""
        start = time.perf_counter()
        counts, own = labels.counted @ labels.given, labels.counted[:, None] * labels.given
        first, leaf = np.zeros(1, dtype=np.int64), np.full(1, -1)
        trees = Trees(first, first, np.zeros(1, dtype=np.float32), leaf, leaf, _log_shares(counts[None]))
        left_out = compact(_log_shares(counts - own))
        return ForestFitted(self, left_out, self.seconds + time.perf_counter() - start, trees)


def _log_shares(counts: np.ndarray) -> np.ndarray:
    shares: np.ndarray = (counts + 1.0) / (counts.sum(axis=1, keepdims=True) + counts.shape[1])
    logs: np.ndarray = np.log(shares)
    return logs
