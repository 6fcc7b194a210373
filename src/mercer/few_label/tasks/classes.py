"""The task of predicting classes. Candidates are pooled by the likelihood of held-out labels, and then calibrated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
from scipy.special import log_softmax, softmax

from ...backend import parallel, single_threaded_blas
from ...errors import InputError
from ...evidence.accuracy import Estimate, estimate
from ...evidence.calibration import log_scores, normalized, sharpen, two_columns
from ...evidence.groups import copied_labels
from ...inputs.labels import Labels
from ...inputs.sampling import labels_to_fit
from ...types import Facts
from .. import sizes
from ..candidates.base import Fitted
from ..fit import Fit, scores_by_block
from ..folds import held_out_answers
from ..hints import Guesses, Likelihood
from ..predictor import Predictor
from ..scoring import Scorer, blocks, sample_matrices, votes
from ..spaces import sample_rows
from ..weights import Pool, pool, right_and_error
from .base import Task

if TYPE_CHECKING:
    from ..library import Library

Prior: TypeAlias = str | Mapping[object, float] | Sequence[float] | np.ndarray | None
"""Class frequencies as None, "labels", "estimate", or one fraction for each class."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """How pooled scores become probabilities.

    Attributes
    ----------
    power : exponent of the pooled probabilities, fitted to the held-out labels.
    offsets : (k,) terms added to their logarithms, for the class frequencies that were requested.
    prior : (k,) class frequencies among all rows.
    most : largest probability.
    seen : fraction of rows whose class has a label (Good and Turing).
    hints : likelihood of the class given the hints, or None without hints.
    """

    power: float
    offsets: np.ndarray
    prior: np.ndarray
    most: float
    seen: float
    hints: Likelihood | None = None


@dataclass(frozen=True, eq=False)
class Classes(Task):
    """Class labels.

    Attributes
    ----------
    combine : "average" or "pick", see `FewLabelClassifier`. prior : None, "labels", "estimate" or (k,) fractions.
    seed : seed of the folds. guesses : hints of the training rows, or None.
    """

    combine: str = "average"
    prior: str | np.ndarray | None = None
    seed: int = 0
    guesses: Guesses | None = None
    name: ClassVar[str] = "classes"

    def labels_to_fit(self, labels: Labels) -> Labels:
        """Return the labels with class numbers for names. Very many labels are sampled, with every class in it."""
        kept = labels_to_fit(labels.codes[labels.labeled], labels.n_classes, sizes.SIZES.label_entries, self.seed)
        labels = labels if len(kept) == len(labels.labeled) else labels.keep(kept)
        return replace(labels, classes=np.arange(labels.n_classes))

    def learn(
        self, library: "Library", fitted: Sequence[Fitted], labels: Labels, drawn: np.ndarray
    ) -> tuple[Pool, Calibration, np.ndarray]:
        some = library.core[sample_rows(len(library.core))]
        scores = Scorer(fitted, sample_matrices, some).scores(slice(None))  # of training rows, (m, k', s)
        found = pool(fitted, labels, scores, self.combine)
        pooled = np.empty((len(labels.codes), labels.n_classes if labels.n_classes > 2 else 1))
        hints = None
        if self.guesses is not None:
            hints, left_out = self.guesses.fit(labels, found.left_out)
            found = replace(found, left_out=left_out)
        for rows, own in scores_by_block(library, fitted, found.used, scores):
            P = found.mean(own)
            if self.guesses is not None and hints is not None:
                P = hints.applied(P, self.guesses.codes[rows])

            def fill(some: slice, P: np.ndarray = P, rows: np.ndarray = rows) -> None:
                pooled[rows[some]] = log_scores(P[some])

            parallel(fill, list(blocks(len(rows), sizes.SIZES.thread_rows)))
        calibration = self._calibration(library.wide, found.left_out, labels, drawn, pooled)
        return found, replace(calibration, hints=hints), pooled

    def _calibration(
        self, wide: bool, left_out: np.ndarray, labels: Labels, drawn: np.ndarray, scores: np.ndarray
    ) -> Calibration:
        """Return the power of the pooled probabilities, fitted to the held-out labels, and the class frequencies.

        The power s has the prior log s ~ N(0, spread²). Pooled candidates that disagree are more often correct than
        their probabilities on pixels, words and other wide rows, but not on tables (benchmarks/results/evidence.md).
        Wide rows therefore have a larger spread. It is largest if some labels were drawn and others were chosen,
        because chosen rows are harder.
        """
        counts, tested = labels.counted @ labels.given, labels.testable
        own = drawn[labels.labeled[tested]]
        spread = 0.6 if wide else 0.25
        spread = spread if own.all() or not own.any() else 0.7
        count = labels.counted[tested] * (own if own.any() else 1.0)
        s = sharpen(left_out, labels.given[tested], spread, count)
        among = (counts + 1) / (counts.sum() + len(counts))
        prior, offsets = among, np.zeros(len(counts))
        if isinstance(self.prior, str) and self.prior == "estimate":
            prior = estimated_prior(scores[labels.codes < 0], s, counts)
            offsets = np.log(prior / among)
        elif self.prior is not None:
            prior = among if isinstance(self.prior, str) else self.prior
            offsets = offsets_for(scores, s, prior)
        l = labels.counted.sum()
        return Calibration(s, offsets, prior, (l + 1) / (l + 2), float(np.mean(tested)))

    def predictor(self, fitted: Sequence[Fitted], pool: Pool) -> Predictor:
        return Predictor.of(fitted, pool)

    def estimate(self, fit: Fit) -> Estimate:
        labels, offsets = fit.labels, fit.calibration.offsets
        groups = copied_labels(fit.library.groups, labels.labeled)
        with fit.library.there(), single_threaded_blas():
            answers = held_out_answers(
                fit.candidates, labels, groups, self.combine, self.seed, fit.pool.nothing, self.guesses
            )
        answers = [replace(one, answers=normalized(one.answers * np.exp(offsets))) for one in answers]
        pooled = softmax(two_columns(fit.scores[labels.codes < 0]), axis=1)  # the predictions before calibration
        P, drawn = normalized(pooled * np.exp(offsets)), fit.drawn[labels.labeled]
        return estimate(answers, P, labels.given, drawn)

    def tried(self, fit: Fit) -> list[Facts]:
        labels, found, fitted = fit.labels, fit.pool, fit.fitted
        tested = labels.testable
        left_out = np.array([candidate.left_out[tested] for candidate in fitted])
        rate, error = right_and_error(left_out, labels.codes[labels.labeled[tested]])
        mean = found.losses.mean(axis=1) if found.losses.shape[1] else np.full(len(fitted), np.nan)
        rows = [
            {
                "candidate": candidate.name,
                "method": candidate.method,
                "settings": candidate.settings,
                "accuracy": float(rate[m]),
                "standard_error": float(error[m]),
                "loss": float(mean[m]),
                "weight": float(found.weights[m]),
                "seconds": float(candidate.seconds),
            }
            for m, candidate in enumerate(fitted)
        ]
        return [rows[m] for m in np.lexsort((mean, -found.weights))]

    def votes(self, fit: Fit) -> np.ndarray:
        labels, used = fit.labels, fit.pool.used
        found = np.empty((len(labels.codes), labels.n_classes))
        with fit.library.there():
            for rows, own in scores_by_block(fit.library, fit.fitted, used):
                found[rows] = votes(own, fit.weights[used])
        return found


def read_prior(prior: Prior, labels: Labels) -> str | np.ndarray | None:
    """Return None, "labels", "estimate" or the (k,) class frequencies that the user requests. Refuse anything else."""
    if prior is None or (isinstance(prior, str) and prior in ("labels", "estimate")):
        return prior
    names = labels.classes.tolist()
    if isinstance(prior, dict):
        if set(prior) != set(names):
            raise InputError(
                f"prior names the classes {list(prior)} and the labels have {names}. Give one fraction for each class."
            )
        rates = np.array([prior[name] for name in names], dtype=float)
    else:
        rates = np.asarray(prior, dtype=float) if not isinstance(prior, str) else np.zeros(0)
    if rates.shape != (len(names),) or not np.all(rates > 0) or abs(rates.sum() - 1) > 1e-6:
        raise InputError(
            f"prior={prior!r} is not accepted. Give None, 'labels', 'estimate', or one positive fraction for each of "
            f"the {len(names)} classes {names}, summing to 1."
        )
    return rates


def offsets_for(scores: np.ndarray, slope: float, prior: np.ndarray, steps: int = 100) -> np.ndarray:
    """Return (k,) offsets b such that the mean of softmax(slope · scores + b) over the rows is `prior`."""
    logits = slope * two_columns(scores)
    b = np.zeros(logits.shape[1])
    for _ in range(steps):
        mean = softmax(logits + b, axis=1).mean(axis=0)
        b += np.log(prior) - np.log(np.maximum(mean, 1e-300))
        if np.max(np.abs(mean - prior)) < 1e-6:
            break
    centered: np.ndarray = b - b.mean()
    return centered


def estimated_prior(scores: np.ndarray, slope: float, counts: np.ndarray, steps: int = 100) -> np.ndarray:
    """Return the (k,) class frequencies among the rows, by expectation maximization (Saerens et al. 2002).

    It starts from the frequencies among the labels. The labels count as rows of known class, with one more row for each
    class. Few rows therefore cannot give a class the frequency 0.
    """
    logits = slope * two_columns(scores)
    start = (counts + 1) / (counts.sum() + len(counts))
    prior: np.ndarray = start
    for _ in range(steps):
        P = np.exp(log_softmax(logits + np.log(prior / start), axis=1))
        new = (P.sum(axis=0) + counts + 1) / (len(P) + counts.sum() + len(counts))
        done = np.max(np.abs(new - prior)) < 1e-7
        prior = new
        if done:
            break
    return prior
