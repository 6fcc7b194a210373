"""Boosted shallow trees that try every column of the table: the candidate that looks for the columns that matter.

Forests try some columns at every cut, and a kernel compares all of them: both miss the one that decides among fifty.
Labels are held out in folds, each with its own trees, and the trees of all folds together are the candidate.
"""

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...inputs.labels import Labels
from ..views import OrdinalColumns
from .forest import ForestFitted, Trees, TreesCandidate, compact

FOLDS, ROUNDS, DEPTH = 5, 30, 3
FEW = 50  # labels up to which they are divided into folds twice; above, two thirds of the rounds are enough
MOST_WORK = 100_000  # labels times classes above which there are fewer rounds
MANY_COLUMNS = 20  # of numbers and categories, from which it is plausible that only some of them matter
MOST_COLUMNS = 200  # above which rows are pixels, spectra or words, and no single column is decisive


@dataclass(frozen=True, eq=False)
class BoostingCandidate(TreesCandidate):
    """Boosted shallow trees. Every column is tried."""

    seed: int = 0
    fold_group: ClassVar[str | None] = "boosting"

    @property
    def prior_group(self) -> str:
        many = self.rows.shape[1] >= MANY_COLUMNS and isinstance(self.view, OrdinalColumns)
        return "boosting, many columns" if many else "boosting"

    def solve(self, labels: Labels) -> ForestFitted:
        """Boost on the labeled rows without one fold, for every fold. With few labels for two divisions into folds."""
        return self._boosted(labels, 2 if len(labels.labeled) <= FEW else 1, FOLDS)

    def solve_fold(self, labels: Labels) -> ForestFitted:
        return self._boosted(labels, 1, 3)

    def _boosted(self, labels: Labels, repeats: int, folds: int) -> ForestFitted:
        start = time.perf_counter()
        X, codes = self.rows[labels.labeled], labels.codes[labels.labeled]
        trees, left_out = boosted(X, codes, labels.n_classes, self.seed, repeats, folds, labels.counted)
        return ForestFitted(self, compact(left_out), self.seconds + time.perf_counter() - start, trees)


def boosted(
    X: np.ndarray, codes: np.ndarray, k: int, seed: int, repeats: int, folds: int, count: np.ndarray | None = None
) -> tuple[Trees, np.ndarray]:
    """(trees whose mean votes are the mean scores over all folds, (l, k) scores by the trees without each label).

    count : (l,) how much each row counts; None: once.
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
            parts.append(boost(X, rising, codes, np.where(test, 0.0, count), rounds, DEPTH, F))
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


def _rounds(l: int, k: int) -> int:
    """Fewer if there are many labels and classes."""
    most = ROUNDS if l <= FEW else 2 * ROUNDS // 3
    return int(np.clip(most * MOST_WORK / (l * k), 3, most))


def stratified_folds(codes: np.ndarray, folds: int, seed: list[int]) -> np.ndarray:
    """(l,) a fold for each label, at random, the labels of a class in different folds as far as possible."""
    order = np.random.default_rng(seed).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    out = np.empty(len(codes), dtype=np.int64)
    out[order] = np.arange(len(codes)) % folds
    return out
