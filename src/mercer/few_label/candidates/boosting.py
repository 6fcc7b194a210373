"""Boosted shallow trees that try every column of the table, to find the columns that matter.

Forests try some columns at every cut, and a kernel compares all of them. Both miss one decisive column among fifty.
Labels are held out in folds, each with its own trees, and the trees of all folds together are the candidate.
"""

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...inputs.labels import Labels
from ..views import OrdinalColumns
from .forest import ForestFitted, Trees, TreesCandidate, compact

FEW = 50  # labels up to which they are divided into folds twice. Above, two thirds of the rounds are enough.


@dataclass(frozen=True, eq=False)
class BoostingCandidate(TreesCandidate):
    """Boosted shallow trees. Every column is tried."""

    seed: int = 0
    fold_group: ClassVar[str | None] = "boosting"

    @property
    def prior_group(self) -> str:
        # Of 20 columns of numbers and categories it is plausible that only some matter.
        many = self.rows.shape[1] >= 20 and isinstance(self.view, OrdinalColumns)
        return "boosting, many columns" if many else "boosting"

    def solve(self, labels: Labels) -> ForestFitted:
        """Boost on the labeled rows without one fold, for every fold. Few labels are divided into folds twice."""
        return self._boosted(labels, 2 if len(labels.labeled) <= FEW else 1, 5)

    def solve_fold(self, labels: Labels) -> ForestFitted:
        return self._boosted(labels, 1, 3)

    def _boosted(self, labels: Labels, repeats: int, folds: int) -> ForestFitted:
        start = time.perf_counter()
        X, codes = self.rows[labels.labeled], labels.codes[labels.labeled]
        trees, left_out = boosted(X, codes, labels.n_classes, self.seed, repeats, folds, labels.counted)
        return ForestFitted(self, compact(left_out), self.seconds + time.perf_counter() - start, trees)


def boosted(
    X: np.ndarray,
    codes: np.ndarray,
    k: int,
    seed: int,
    repeats: int,
    folds: int,
    count: np.ndarray | None = None,
    depth: int = 3,
) -> tuple[Trees, np.ndarray]:
    """(trees whose mean votes are the mean scores over all folds, (l, k) scores by the trees without each label).

    count : (l,) how much each row counts. None counts each once.
    """
    from ..tree_boosting import boost

    X = np.ascontiguousarray(X, dtype=np.float32)
    count = np.ones(len(X)) if count is None else np.asarray(count, dtype=np.float64)
    rising = np.ascontiguousarray(np.argsort(X, axis=0, kind="stable").T)
    away, F, parts = np.zeros((len(X), k)), np.empty((len(X), k)), []
    folds, rounds = min(folds, len(X)), _rounds(len(X), k)
    for repeat in range(repeats):
        fold = stratified_folds(codes, folds, [seed, repeat])
        for own in range(folds):
            test = fold == own
            parts.append(boost(X, rising, codes, np.where(test, 0.0, count), rounds, depth, F))
            away[test] += F[test] / repeats
    return _joined(parts), away


def _joined(parts: list[tuple[np.ndarray, ...]]) -> Trees:
    """The trees of several ensembles as one, whose mean votes are the mean of their sums."""
    roots, feature, threshold, left, right, value = ([part[i] for part in parts] for i in range(6))
    begin = np.cumsum([0, *map(len, feature)])
    left, right = ([np.where(own < 0, -1, own + first) for own, first in zip(side, begin)] for side in (left, right))
    roots = [own + first for own, first in zip(roots, begin)]
    joined = [np.concatenate(one) for one in (roots, feature, threshold, left, right, value)]
    joined[-1] *= len(joined[0]) / len(parts)
    return Trees(*joined)


def _rounds(l: int, k: int, few: int = 30, entries: int = 100_000) -> int:
    """The number of rounds: `few` for few labels, and fewer with more labels times classes than `entries`."""
    most = few if l <= FEW else 2 * few // 3
    return int(np.clip(most * entries / (l * k), 3, most))


def stratified_folds(codes: np.ndarray, folds: int, seed: list[int]) -> np.ndarray:
    """(l,) a random fold for each label. The labels of a class are in different folds as far as possible."""
    order = np.random.default_rng(seed).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    out = np.empty(len(codes), dtype=np.int64)
    out[order] = np.arange(len(codes)) % folds
    return out
