"""Predictions of the pool for held-out labels. Everything is fitted again without each fold of labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..evidence.accuracy import HeldOut
from ..evidence.calibration import normalized
from ..inputs.labels import Labels
from .candidates.base import Candidate
from .hints import Guesses
from .weights import pool


def held_out_answers(
    candidates: Sequence[Candidate],
    labels: Labels,
    groups: np.ndarray,
    combine: str,
    seed: int,
    nothing: float,
    guesses: Guesses | None = None,
    splits: int = 2,
    folds: int = 10,
) -> list[HeldOut]:
    """The predictions for every label by fits without its fold, for two random splits into ten folds.

    Which fold a label is in does not depend on its class. Folds that keep the class frequencies would leak to the fits
    how often the held-out classes occur. Labels of one group (copies of a row) are held out together. With at most as
    many groups as folds one split is enough. Candidates without a closed form would take most of the time. They are
    left out, unless there are no others. `nothing` is the weight of a uniform prediction in the pool, and in all of
    these, because their probabilities are compared with the pool's. The effect of hints (`guesses`) is learned without
    the fold, too.
    """
    quick = [candidate for candidate in candidates if candidate.closed_form] or candidates
    first = {one.fold_group: one for one in reversed(quick)}  # of each group one represents all
    quick = [one for one in quick if one.fold_group is None or first[one.fold_group] is one]
    l, k = labels.given.shape
    known_fits = [candidate.withheld(labels) for candidate in quick]
    names, of = np.unique(groups, return_inverse=True)
    out = []
    for split in range(splits if len(names) > folds else 1):
        fold_of = np.empty(len(names), dtype=int)
        fold_of[np.random.default_rng([seed, split]).permutation(len(names))] = np.arange(len(names)) % folds
        answers, counts = np.full((l, k), 1.0 / k), np.zeros((l, k))
        for fold in range(min(folds, len(names))):
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
            P = found.mean(scores[found.used, :, : len(test)])
            if guesses is not None:
                P = guesses.fit(known, found.left_out)[0].applied(P, guesses.codes[labels.labeled[test]])
            answers[test] = np.where(present | (labels.counts() == 0), P, 0.0)
        out.append(HeldOut(normalized(answers), counts))
    return out


class FoldFits(Protocol):
    """The fits of a candidate without folds of its labels, at once."""

    def without(self, test: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(scores of the held-out labels, scores of the others, these each without its own label)."""


@dataclass(frozen=True)
class FoldFit:
    """A candidate fitted without a fold: `scores` of the held-out rows and then of the others."""

    prior_group: str
    scores: np.ndarray
    left_out: np.ndarray


def _without(candidate: Candidate, fits: FoldFits | None, labels: Labels, known: Labels, test: np.ndarray) -> FoldFit:
    """The candidate fitted to the labels `known`, those but `test`."""
    if fits is not None:
        answers, at_known, left_out = fits.without(test)
        return FoldFit(candidate.prior_group, np.vstack([answers, at_known]), left_out)
    one = candidate.solve_fold(known)
    scores = one.scores(np.concatenate([labels.labeled[test], known.labeled]))
    return FoldFit(candidate.prior_group, scores, one.left_out)
