"""Turn scores into classes, probabilities, confidence, abstention and prediction sets, or into numbers.

Every interface (Python, the command, the web app, ONNX, Label Studio, plots) uses these two classes, so that a row has
one confidence.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..backend import parallel, single_threaded_blas
from ..errors import InputError
from ..evidence.accuracy import Estimate
from ..evidence.calibration import as_probabilities, capped, log_scores, normalized, probabilities
from ..evidence.sets import conformal_sets
from ..rows import by_blocks
from ..types import Block, Estimator, Index, Rows
from . import sizes
from .fit import Fit
from .scoring import blocks, votes
from .targets import Targets
from .tasks.classes import Calibration
from .tasks.numbers import held_out_errors
from .widths import Widths


def confidence(model: Estimator, P: np.ndarray) -> np.ndarray:
    """(n,) probability that the predictions of any classifier are correct, for rows of probabilities P (n, k)."""
    own: Callable[[np.ndarray], np.ndarray] | None = getattr(model, "confidence_of", None)
    return P.max(axis=1) if own is None else own(P)


@dataclass(frozen=True, eq=False)
class Answers:
    """Predicted classes of the training rows and of any others.

    Attributes
    ----------
    fit : Fit of `Classes`. names : (k,) class names.
    given : (n,) class number of each given label, -1 if there is none.
    known : (n, k) the probabilities of the training rows in a copy without candidates, or None.
    """

    fit: Fit
    names: np.ndarray
    given: np.ndarray
    known: np.ndarray | None = field(default=None, repr=False)

    @property
    def calibration(self) -> Calibration:
        """How pooled scores become probabilities."""
        found: Calibration = self.fit.calibration
        return found

    @property
    def estimate(self) -> Estimate:
        """Accuracy of the predictions, estimated from held-out labels."""
        found: Estimate = self.fit.estimate
        return found

    # Training rows

    @cached_property
    def probabilities(self) -> np.ndarray:
        """(n, k) class probabilities of the training rows."""
        if self.known is not None:
            return self.known
        scores, extension = self.fit.scores, self.fit.library.extension
        P = np.empty((len(scores), len(self.names)))
        size = 1 + 2**16 // len(self.names)  # rows whose half a megabyte stays in the cache

        def fill(many: slice) -> None:
            for rows in blocks(many.stop, size, many.start):
                P[rows] = self.of_scores(np.asfortranarray(scores[rows]))  # sums of classes run along rows

        parallel(fill, list(blocks(len(P), sizes.SIZES.thread_rows)))
        if extension is not None:
            doubted = extension.trust < 1.0
            others, trust = extension.rows[doubted], extension.trust[doubted, None]
            guesses = self.fit.task.guesses
            P[others] = self.mixed(P[others], trust, None if guesses is None else guesses.codes[others])
        return P

    @cached_property
    def codes(self) -> np.ndarray:
        """(n,) number of the most likely class of each training row, also of those with a given label."""
        return self.code_of(self.probabilities)

    @cached_property
    def confidence(self) -> np.ndarray:
        """(n,) probability that the prediction of each training row is correct. Given labels have 1."""
        return np.where(self.given >= 0, 1.0, self.confidence_of(self.probabilities))

    def given_names(self) -> np.ndarray:
        """(n,) class name of each given label, None for rows without one."""
        if self.fit.labels.soft:
            raise InputError("The model was fitted with class probabilities, and teaching needs one name per row.")
        y, rows = np.full(len(self.given), None, dtype=object), self.given >= 0
        y[rows] = [self.names.tolist()[c] for c in self.given[rows]]
        return y

    def transduction(self, abstain: float | None = None) -> np.ndarray:
        """(n,) given labels, and predicted ones for the other training rows."""
        return self.named(np.where(self.given >= 0, self.given, self.codes), self.confidence, abstain)

    def votes_of(self, rows: Index) -> np.ndarray:
        """(m, k) weight of the candidates for which each class is the best, for some training rows."""
        if self.fit.kept is not None or "votes" in self.fit.__dict__:
            return self.fit.votes[rows]
        used, fitted = self.fit.pool.used, self.fit.fitted
        with self.fit.library.there():
            return votes(np.array([fitted[m].scores(rows).T for m in used]), self.fit.weights[used])

    def opinions(self, rows: Index) -> list[tuple[str, float, np.ndarray]]:
        """[(method, weight, (m, k) probabilities)] of every method that has weight, for some training rows.

        The heaviest comes first. The probabilities are the mean of those of its candidates.
        """
        found: dict[str, tuple[float, np.ndarray]] = {}
        pool = self.fit.pool
        with self.fit.library.there():
            for candidate, weight, slope in zip(self.fit.fitted, pool.weights, pool.slopes):
                if weight > 0:
                    P = weight * as_probabilities(candidate.scores(np.asarray(rows)), slope, pool.floor)
                    total, sum_ = found.get(candidate.method, (0.0, np.zeros(1)))
                    found[candidate.method] = total + weight, sum_ + P
        return sorted(((name, float(w), P / w) for name, (w, P) in found.items()), key=lambda one: -one[1])

    @cached_property
    def left_out_scores(self) -> np.ndarray:
        """(l, k') scores of the labeled rows by fits without their labels, NaN for the only label of a class."""
        labels = self.fit.labels
        out = np.full((len(labels.labeled), self.fit.scores.shape[1]), np.nan)
        out[labels.testable] = log_scores(self.fit.pool.left_out)
        return out

    @property
    def left_out_probabilities(self) -> np.ndarray:
        """(l', k) probabilities of the labeled rows that could be tested, each from a fit without its label."""
        return self.of_scores(self.left_out_scores[self.fit.labels.testable])

    @property
    def held_out_probabilities(self) -> np.ndarray:
        """(l, k) probabilities of the labeled rows by fits without their fold of labels, calibrated as the others."""
        found = self.calibration
        return capped(normalized(self.estimate.held_out**found.power), found.most)

    # Any rows

    def scores_of(self, rows: Index, hints: np.ndarray | None = None) -> np.ndarray:
        """(n, k') pooled scores of checked rows, which are logarithms of probabilities that are not calibrated.

        hints : (n, s) numbers of the words of the sources of hints for these rows, or None.
        """
        return log_scores(self._hinted(self.fit.predictor.probabilities(rows), hints))

    def probabilities_of(self, rows: Rows, hints: np.ndarray | None = None) -> np.ndarray:
        """(n, k) class probabilities of checked rows. Far from all training rows they fall to the class frequencies."""
        with single_threaded_blas():
            P = np.empty((rows.shape[0], len(self.names)))

            def fill(some: slice) -> None:
                own, guesses = rows[some], None if hints is None else hints[some]
                trust = self.fit.library.support.trust(own)[:, None]
                P[some] = self.mixed(self.of_scores(self.scores_of(own, guesses)), trust, guesses)

            parallel(fill, list(blocks(len(P), sizes.SIZES.thread_rows)))
            return P

    def _hinted(self, P: np.ndarray, hints: np.ndarray | None) -> np.ndarray:
        found = self.calibration.hints
        return P if found is None else found.applied(P, hints)

    def with_prior(self, scores: np.ndarray) -> np.ndarray:
        """Scores (n, k') with the class frequencies that were requested put in."""
        b, power = self.calibration.offsets, self.calibration.power
        shifted: np.ndarray = scores + (b[1:] - b[:1] if scores.shape[1] == 1 else b) / power
        return shifted

    def of_scores(self, scores: np.ndarray) -> np.ndarray:
        """(n, k) calibrated probabilities of pooled scores (n, k')."""
        found = self.calibration
        return capped(probabilities(self.with_prior(scores), found.power, 0.0), found.most)

    def mixed(self, P: Rows, trust: Rows, hints: np.ndarray | None = None) -> Rows:
        """Probabilities (n, k) of rows whose support is `trust` (n, 1), mixed with the class frequencies given the
        hints.
        """
        prior = self.calibration.prior
        if hints is not None:
            prior = capped(self._hinted(np.tile(prior, (len(hints), 1)), hints), self.calibration.most)
        return trust * P + (1.0 - trust) * prior

    def code_of(self, P: np.ndarray) -> np.ndarray:
        """(n,) number of the most likely class."""
        codes: np.ndarray = by_blocks(lambda P: np.argmax(P, axis=1), P, None, np.intp, sizes.SIZES.thread_rows)
        return codes

    def confidence_of(self, P: np.ndarray) -> np.ndarray:
        """(n,) probability that the most likely class is the true one.

        It is the probability among the classes that have a label, times the fraction of rows whose class has one.
        """
        highest: np.ndarray = by_blocks(lambda P: P.max(axis=1), P, None, np.float64, sizes.SIZES.thread_rows)
        return self.calibration.seen * highest

    def named(self, codes: np.ndarray, confidence: np.ndarray, abstain: float | None = None) -> np.ndarray:
        """(n,) class names, with the mark of an unlabeled row if the confidence is below `abstain`."""
        names, doubtful = self.names[codes], self.abstained(confidence, abstain)
        return np.where(doubtful, self.mark, names) if doubtful.any() else names

    @property
    def mark(self) -> str | float:
        """The marker of a row without a label: -1, "" among texts, NaN if -1 is a class."""
        if self.names.dtype.kind in "US" or all(isinstance(name, str) for name in self.names):
            return ""
        return np.nan if -1 in self.names else -1

    @staticmethod
    def abstained(confidence: Block, abstain: float | None) -> Block:
        """(n,) bool, whether the confidence is too low for a label."""
        return confidence < (abstain or 0.0)

    def compact(self, predictor_only: bool = False) -> "Answers":
        """A copy without candidates. With `predictor_only` without anything of the training rows either."""
        fit = self.fit.compact(predictor_only)
        if predictor_only:
            return replace(self, fit=fit, given=np.zeros(0, dtype=int), known=None)
        return replace(self, fit=fit, known=self.probabilities)

    def sets(self, P: np.ndarray, coverage: float = 0.9, by_class: bool = False) -> np.ndarray:
        """(n, k) bool, conformal prediction sets of rows with probabilities P."""
        labels = self.fit.labels
        return conformal_sets(P, self.estimate.held_out, labels.codes[labels.labeled], coverage, by_class)


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Predicted numbers of the training rows and of any others.

    Attributes
    ----------
    fit : Fit of `Numbers`.
    """

    fit: Fit

    @cached_property
    def predicted(self) -> np.ndarray:
        """(n,) predictions for all training rows, also for those with a given number."""
        return self.unscaled(self.fit.scores)

    @cached_property
    def left_out(self) -> np.ndarray:
        """(l,) predictions for the given numbers, each held out of the candidates and of their weights."""
        return self.unscaled(self.fit.pool.left_out)

    @property
    def transduction(self) -> np.ndarray:
        """(n,) given numbers, and predicted ones for the other training rows."""
        given = self.fit.labels.values
        return np.where(np.isnan(given), self.predicted, given)

    @property
    def trust(self) -> np.ndarray:
        """(n,) how far the prediction for each training row rests on rows of the core, from 0 to 1."""
        out, extension = np.ones(self.fit.library.n_rows), self.fit.library.extension
        if extension is not None:
            out[extension.rows] = extension.trust
        return out

    def of(self, rows: Rows) -> np.ndarray:
        """(n,) predictions for checked rows."""
        return self.unscaled(self.fit.predictor.scores(rows))

    def intervals_of(self, rows: Rows, coverage: float = 0.9) -> np.ndarray:
        """(n, 2) prediction intervals for checked rows. Far from all training rows they are wider."""
        middle = self.of(rows)
        reach = self.reach(coverage, middle) / np.sqrt(self.fit.library.support.trust(rows))
        return np.column_stack([middle - reach, middle + reach])

    @cached_property
    def widths(self) -> Widths:
        """How the widths of the intervals follow the predictions."""
        return Widths.of(*held_out_errors(self.fit))

    def reach(self, coverage: float = 0.9, predicted: Block = None) -> Block:
        """Half the width of the intervals among the training rows, which is the conformal quantile of held-out errors.

        It is that of a prediction of medium size, or one for each of `predicted`.
        """
        if not isinstance(coverage, float) or not 0 < coverage < 1:
            raise InputError(f"coverage={coverage!r} is not accepted. Give a fraction between 0 and 1, such as 0.9.")
        half = self.widths.half(coverage)
        return half if predicted is None else half * self.widths.factor(np.asarray(predicted))

    def compact(self, predictor_only: bool = False) -> "NumberAnswers":
        """A copy without candidates. With `predictor_only` without anything of the training rows either."""
        return replace(self, fit=self.fit.compact(predictor_only))

    def unscaled(self, scores: np.ndarray) -> np.ndarray:
        """Scores in the units of the targets."""
        targets: Targets = self.fit.labels
        return targets.center + targets.scale * scores
