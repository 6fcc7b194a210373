"""What the pool answers to labels that nothing of it has seen: folds of labels, all fitted again without them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs.labels import Labels
from .weights import pool

SPLITS, FOLDS = 2, 5
TREES = 20  # of a forest that is grown for one fold


def held_out_answers(candidates: list, labels: Labels, groups: np.ndarray, combine: str, seed: int) -> list:
    """[(l, k)] probabilities of every label by fits without its fold, one for each of two splits into five folds.

    Candidates without a closed form are left out, unless there are no others: they would take most of the time. The
    folds keep the shares of the classes, and labels of one group (copies of a row) together. A class that a fit has no
    label of has probability 0.
    """
    quick = [candidate for candidate in candidates if candidate.closed_form] or candidates
    forests = [candidate for candidate in quick if candidate.method == "forest"]
    quick = [candidate for candidate in quick if candidate not in forests[1:]]  # one stands for all
    l, k = labels.given.shape
    codes = labels.codes[labels.labelled]
    known_fits = [candidate.withheld(labels) for candidate in quick]
    out = []
    for split in range(SPLITS):
        rng = np.random.default_rng([seed, split])
        names, first, of = np.unique(groups, return_index=True, return_inverse=True)
        order = rng.permutation(len(names))
        order = order[np.argsort(codes[first[order]], kind="stable")]
        fold_of = np.empty(len(names), dtype=int)
        fold_of[order] = np.arange(len(names)) % FOLDS
        answers = np.full((l, k), 1.0 / k)
        for fold in range(min(FOLDS, len(names))):
            test = np.flatnonzero(fold_of[of] == fold)
            known = labels.keep(np.setdiff1d(np.arange(l), test))
            present = known.counts() > 0
            if present.sum() < 2:
                answers[test] = present if present.any() else 1.0 / k
                continue
            fitted = [_without(candidate, fits, labels, known, test) for candidate, fits in zip(quick, known_fits)]
            scores = np.array([one.scores.T for one in fitted])
            found = pool(fitted, known, scores, combine)
            answers[test] = np.where(present, found.mean(scores[found.used, :, : len(test)]), 0.0)
        out.append(answers / answers.sum(axis=1, keepdims=True))
    return out


@dataclass
class Fitted:
    """A candidate fitted without a fold: `scores` of the withheld rows and then of the others."""

    method: str
    rows: Any  # those of a forest
    scores: np.ndarray
    left_out: np.ndarray


def _without(candidate, fits, labels, known, test):
    """The candidate fitted to the labels `known`, those but `test`."""
    if fits is not None:
        answers, at_known, left_out = fits.without(test)
        return Fitted(candidate.method, None, np.vstack([answers, at_known]), left_out)
    forest = candidate.method == "forest"
    one = candidate.solve(known, TREES) if forest else candidate.solve(known)
    scores = one.scores(np.concatenate([labels.labelled[test], known.labelled]))
    return Fitted(candidate.method, candidate.rows if forest else None, scores, one.left_out)
