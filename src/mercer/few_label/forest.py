"""Forests among the candidates: trees on the labelled rows, with out-of-bag answers as left-out answers."""

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..inputs.labels import Labels

TREES = 100
KINDS = {"extra": "ExtraTreesClassifier", "random": "RandomForestClassifier"}


class Trees:
    """The trees of a fitted forest as plain arrays: the same votes as scikit-learn's, without its objects.

    Attributes
    ----------
    feature, threshold, left, right : of every node of all trees, one after the other; a leaf has left = −1.
    value : (nodes, k) class shares. roots : first node of each tree.
    """

    def __init__(self, forest: Any, classes: np.ndarray, n_classes: int):
        trees = [estimator.tree_ for estimator in forest.estimators_]
        sizes = np.array([tree.node_count for tree in trees])
        self.roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.feature = np.concatenate([tree.feature for tree in trees])
        self.threshold = np.concatenate([tree.threshold for tree in trees])
        shift = np.repeat(self.roots, sizes)
        left = np.concatenate([tree.children_left for tree in trees])
        right = np.concatenate([tree.children_right for tree in trees])
        self.left, self.right = np.where(left >= 0, left + shift, -1), np.where(right >= 0, right + shift, -1)
        value = np.concatenate([tree.value[:, 0, :] for tree in trees])
        self.value = np.zeros((len(value), n_classes))
        self.value[:, classes] = value / value.sum(axis=1, keepdims=True)

    def votes(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean class shares of the leaves that the rows reach."""
        X = np.asarray(X, dtype=np.float32)
        rows, out = np.arange(len(X)), np.zeros((len(X), self.value.shape[1]))
        for root in self.roots:
            node = np.full(len(X), root)
            going = rows[self.left[node] >= 0]
            while len(going):
                at = node[going]
                smaller = X[going, self.feature[at]] <= self.threshold[at]
                node[going] = np.where(smaller, self.left[at], self.right[at])
                going = going[self.left[node[going]] >= 0]
            out += self.value[node]
        return out / len(self.roots)


@dataclass
class ForestCandidate:
    """A forest on the rows as given; see `Candidate` for what the classifier asks of it."""

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

    @property
    def Z(self) -> np.ndarray:
        """(n, d) rows with mean 0 and variance 1 in every column, to compare rows by."""
        spread = self.rows.std(axis=0)
        return (self.rows - self.rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)

    def features(self, rows: Any) -> np.ndarray:
        """(m, d) some of them."""
        return self.Z[rows]

    def solve(self, labels: Labels, n_trees: int = TREES) -> "ForestCandidate":
        """Grown on the labelled rows; labels with probabilities count as their likeliest class."""
        import sklearn.ensemble

        start = time.perf_counter()
        codes = labels.codes[labels.labelled]
        grown = getattr(sklearn.ensemble, KINDS[self.kind])(
            n_trees, bootstrap=True, oob_score=len(np.unique(codes)) > 1, random_state=self.seed, n_jobs=1
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that some rows are in every bag
            grown.fit(self.rows[labels.labelled], codes)
        k = labels.n_classes
        present = grown.classes_.astype(int)
        left_out = np.full((len(codes), k), 1.0 / k)
        if len(present) > 1:
            found = np.asarray(grown.oob_decision_function_, dtype=float)
            known = np.isfinite(found).all(axis=1) & (found.sum(axis=1) > 0)
            left_out[np.ix_(known, present)] = found[known]
            left_out[np.ix_(known, np.setdiff1d(np.arange(k), present))] = 0.0
        fitted = replace(self, trees=Trees(grown, present, k), left_out=_compact(left_out))
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
