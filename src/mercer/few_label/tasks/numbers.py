"""The task of predicting numbers. Candidates are pooled by their held-out squared errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...rows import host
from ...solvers.ridge.pairs import errors_of_groups, squares_of_others
from ...types import Facts
from ..candidates.base import Fitted
from ..catalog import methods_of
from ..fit import Fit, scores_by_block
from ..predictor import MeanPredictor
from ..squared_error import FEWEST, Accuracy, accuracy_of, left_out_mean, prior_of, weigh_errors
from ..targets import Targets
from .base import Task

if TYPE_CHECKING:
    from ..library import Library


@dataclass(frozen=True, eq=False)
class NumberPool:
    """Weights of candidates for numbers.

    Attributes
    ----------
    weights : (m,). errors : (m, l) held-out errors in units of the targets' spread.
    left_out : (l,) scores of the pool for the given numbers, each held out of the candidates and of their weights.
    """

    weights: np.ndarray
    errors: np.ndarray
    left_out: np.ndarray


@dataclass(frozen=True, eq=False)
class Numbers(Task):
    """Numeric targets."""

    name: ClassVar[str] = "numbers"

    def learn(
        self, library: "Library", fitted: Sequence[Fitted], labels: Targets, drawn: np.ndarray
    ) -> tuple[NumberPool, None, np.ndarray]:
        errors, sums = left_out_errors(fitted, labels)
        families = methods_of("numbers")
        prior = prior_of([families[one.method].family for one in fitted])
        weights = weigh_errors(errors, prior)
        others = len(labels.groups) - np.bincount(labels.groups)[labels.groups]
        left_out = left_out_mean(labels.signs[:, 0] - errors, sums, others, prior)
        return NumberPool(weights, errors, left_out), None, self._scores(library, fitted, weights)

    def _scores(self, library: "Library", fitted: Sequence[Fitted], weights: np.ndarray) -> np.ndarray:
        """(n,) weighted mean of the candidates' scores of the training rows."""
        used = np.flatnonzero(weights)
        if library.extension is None:
            return np.asarray(sum(weights[m] * fitted[m].scores()[:, 0] for m in used.tolist()))
        out = np.empty(library.n_rows)
        for rows, own in scores_by_block(library, fitted, used):
            out[rows] = weights[used] @ host(own[:, 0])
        return out

    def predictor(self, fitted: Sequence[Fitted], pool: NumberPool) -> MeanPredictor:
        return MeanPredictor.of(fitted, pool.weights)

    def estimate(self, fit: Fit) -> Accuracy:
        return accuracy_of(*held_out_errors(fit))

    def tried(self, fit: Fit) -> list[Facts]:
        errors, weights = fit.labels.scale * fit.pool.errors, fit.weights
        rows: list[Facts] = [
            {
                "candidate": candidate.name,
                "method": candidate.method,
                "settings": candidate.settings,
                "rmse": float(np.sqrt(np.mean(errors[m] ** 2))),
                "mae": float(np.mean(np.abs(errors[m]))),
                "weight": float(weights[m]),
                "seconds": float(candidate.seconds),
            }
            for m, candidate in enumerate(fit.fitted)
        ]
        return [rows[m] for m in np.lexsort(([row["rmse"] for row in rows], -weights))]


def held_out_errors(fit: Fit) -> tuple[np.ndarray, np.ndarray]:
    """Return (held-out errors, given numbers) of the rows drawn at random, for the estimates.

    If there are fewer than five such rows, all rows with a number are used.
    """
    targets = fit.labels
    drawn = fit.drawn[targets.labeled]
    drawn = drawn if drawn.sum() >= FEWEST else np.ones(len(drawn), dtype=bool)
    left_out = targets.center + targets.scale * fit.pool.left_out
    return (targets.given - left_out)[drawn], targets.given[drawn]


def left_out_errors(fitted: Sequence[Fitted], targets: Targets) -> tuple[np.ndarray, np.ndarray]:
    """Return (m, l) held-out errors, and (m, l) sums of squared errors of the other numbers with number i held out too.

    Numbers of one group are held out together. Holding out two numbers at once takes O(l³) per candidate. With more
    than 400 numbers, and for forests, number i is therefore only omitted from the sum.
    """
    t, groups = targets.signs[:, 0], targets.groups
    errors = np.array([t - candidate.left_out[:, 0] for candidate in fitted])
    errors = np.where(np.isfinite(errors), errors, np.where(np.isfinite(errors).any(axis=0), t, 0.0))
    copies = len(np.unique(groups)) < len(t)
    own = np.array([np.bincount(groups, row)[groups] for row in errors**2])
    sums = np.sum(errors**2, axis=1, keepdims=True) - own
    if 2 < len(t) <= 400:
        for m, candidate in enumerate(fitted):
            found = candidate.pairs(targets)
            if found is not None:
                P, alpha = found
                errors[m] = errors_of_groups(P, alpha, groups) if copies else errors[m]
                sums[m] = squares_of_others(P, alpha, groups)
    return errors, sums
