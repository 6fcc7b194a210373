"""Forests among the candidates: trees on the labelled rows, with out-of-bag answers as left-out answers."""

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..inputs.labels import Labels
from ..kernels.forest import Nodes

TREES = 100
KINDS = {"extra": "ExtraTreesClassifier", "random": "RandomForestClassifier"}


class Trees(Nodes):
    """The trees of a fitted forest as plain arrays: the same votes as scikit-learn's, without its objects.

    Attributes
    ----------
    value : (nodes, k) class shares, or (nodes, 1) numbers; the others are those of `Nodes`.
    """

    def __init__(self, trees: list):
        super().__init__(trees)
        self.value = np.concatenate([tree.value[:, 0, :] for tree in trees])

    @classmethod
    def of_classes(cls, forest: Any, classes: np.ndarray, n_classes: int) -> "Trees":
        """The trees of a fitted classifier that knows some of the classes."""
        made = cls([estimator.tree_ for estimator in forest.estimators_])
        value, made.value = made.value, np.zeros((len(made.value), n_classes))
        made.value[:, classes] = value / value.sum(axis=1, keepdims=True)
        return made

    def votes(self, X: np.ndarray) -> np.ndarray:
        """(n, k) mean values of the leaves that the rows reach."""
        out = np.zeros((len(X), self.value.shape[1]))
        for leaf in self.leaves(X).T:
            out += self.value[leaf]
        return out / len(self.roots)


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
        fitted = replace(self, trees=Trees.of_classes(grown, present, k), left_out=_compact(left_out))
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
