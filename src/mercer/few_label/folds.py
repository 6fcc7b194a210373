"""What the pool answers to labels that nothing of it has seen: folds of labels, all fitted again without them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evidence.accuracy import HeldOut
from ..evidence.likelihood import normalised
from ..inputs.labels import Labels
from .weights import pool

SPLITS, FOLDS = 2, 10
TREES = 20  # of a forest that is grown for one fold


def held_out_answers(
    candidates: list, labels: Labels, groups: np.ndarray, combine: str, seed: int, nothing: float
) -> list[HeldOut]:
    """The answers to every label by fits without its fold, for two random splits into ten folds.

    Which fold a label is in does not depend on its class: folds that keep the shares of the classes would tell the fits
    how often the withheld classes occur. Labels of one group (copies of a row) are withheld together. With at most as
    many groups as folds one split is enough. Candidates without a closed form are left out, unless there are no others:
    they would take most of the time. `nothing` is the share of answers at random in the pool, and in all of these:
    their probabilities are compared with the pool's.
    """
    quick = [candidate for candidate in candidates if candidate.closed_form] or candidates
    forests = [candidate for candidate in quick if candidate.method == "forest"]
    quick = [candidate for candidate in quick if candidate not in forests[1:]]  # one stands for all
    l, k = labels.given.shape
    known_fits = [candidate.withheld(labels) for candidate in quick]
    names, of = np.unique(groups, return_inverse=True)
    out = []
    for split in range(SPLITS if len(names) > FOLDS else 1):
        fold_of = np.empty(len(names), dtype=int)
        fold_of[np.random.default_rng([seed, split]).permutation(len(names))] = np.arange(len(names)) % FOLDS
        answers, counts = np.full((l, k), 1.0 / k), np.zeros((l, k))
        for fold in range(min(FOLDS, len(names))):
            test = np.flatnonzero(fold_of[of] == fold)
            known = labels.keep(np.setdiff1d(np.arange(l), test))
            counts[test] = known.counts()
            present = known.counts() > 0
            if present.sum() < 2:
                answers[test] = present if present.any() else 1.0 / k
                continue
            fitted = [_without(candidate, fits, labels, known, test) for candidate, fits in zip(quick, known_fits)]
            scores = np.array([one.scores.T for one in fitted])
            found = pool(fitted, known, scores, combine, nothing)
            answers[test] = np.where(present, found.mean(scores[found.used, :, : len(test)]), 0.0)
        out.append(HeldOut(normalised(answers), counts))
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
