"""Weigh candidates by the likelihood of their left-out labels, and pool their probabilities.

Ten labels cannot tell sixty candidates apart, and whoever picks the best of them picks luck. Each candidate's scores
become probabilities by a softmax whose slope fits its own left-out answers. The weights

    w_m ∝ π_m exp(−t Σ_i ℓ_mi),   ℓ_mi = −log p_mi(label i) with label i left out,   t = min(1, 5/k) / (1 + l/50),

are Bayes' rule with a tempered likelihood: without evidence they are the prior π, and with more labels they become a
choice. t takes back some of the evidence of many labels, whose left-out answers are not independent, and of many
classes k, of which each has few labels. The answer is the mean of the candidates' probabilities under these weights.
Forests together have a prior share of 1/4, and of 1/20 among more than 100 columns, which are pixels or spectra more
often than things that trees tell apart.

Beside the candidates stands the case that no one of them tells anything, whose probabilities are 1/k. Its prior is
`NOTHING`, its evidence that of answers at random; its share ν of the answers moves no row to another class, and makes
the answers to coin tosses more modest than those that labels bear out.

The weights without label i need no further fit: drop ℓ_mi from the sum.

It is a race of two rounds. In the first every candidate answers the left-out labels and a sample of the rows; those
that together have less than 1 % of the weight stop there, and only the others answer all rows, now and in predictions.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from ..evidence.choice import hits
from ..evidence.likelihood import as_probabilities, log_losses, slopes
from ..evidence.margin import choose_by_margin
from ..inputs.labels import Labels
from .answers import margins, pooled
from .views import is_wide

KEPT = 0.99  # of the weight; the candidates beyond it cost time in every prediction and change nothing
FORESTS, WIDE_FORESTS = 0.25, 0.05  # prior share of all forests together; of those on wide rows
METHODS_BESIDE = ("forest",)
NOTHING = 0.2  # prior share of the case that rows tell nothing about classes


@dataclass(frozen=True)
class Pool:
    """Candidates as one distribution.

    Attributes
    ----------
    weights, slopes : (m,) of the candidates. floor : smallest probability of an answer.
    nothing : share of answers at random.
    losses : (m, l') log losses on the labels that could be left out, and `left_out` (l', k) the pool's own answers to
        them: with label i in no candidate's answer and in no weight (only in the slopes).
    why : a sentence where one candidate was picked.
    """

    weights: np.ndarray
    slopes: np.ndarray
    floor: float
    losses: np.ndarray
    left_out: np.ndarray
    nothing: float = 0.0
    why: str | None = None

    @property
    def used(self) -> np.ndarray:
        """Numbers of the candidates that have weight."""
        return np.flatnonzero(self.weights)

    def mean(self, scores: np.ndarray) -> np.ndarray:
        """(n, k) pooled probabilities from the scores (m', k', n) of the candidates in `used`."""
        return pooled(scores, self.weights[self.used], self.slopes[self.used], self.floor)


def pool(
    fitted: list, labels: Labels, scores: np.ndarray, combine: str = "average", nothing: float | None = None
) -> Pool:
    """The pool of candidates fitted to the labels.

    scores : (m, k', n) theirs of any rows, which tell their typical margin.
    nothing : share of answers at random, where it is known; None finds it.
    """
    tested = labels.testable
    given = labels.given[tested]
    left_out = np.array([candidate.left_out[tested] for candidate in fitted])
    count = labels.counted[tested]
    slope = slopes(left_out, given, margins(scores), None if labels.weight is None else count)
    floor = 1.0 / ((labels.counted.sum() + 2) * (labels.n_classes - 1))
    P = as_probabilities(left_out, slope, floor)
    losses = log_losses(P, given)
    why = None
    if combine == "pick":
        weights, why = _pick(left_out, labels.codes[labels.labelled[tested]])
        answers, nothing = np.einsum("m,mlk->lk", weights, P), 0.0
    else:
        prior, t = _prior(fitted), min(1.0, 5.0 / labels.n_classes) / (1.0 + count.sum() / 50.0)
        evidence = np.log(prior) - t * (losses * count).sum(axis=1)
        weights = cut(softmax(evidence))
        with np.errstate(divide="ignore"):
            without = np.where(weights > 0, evidence, -np.inf)[:, None] + t * losses * count
        chance = -t * np.log(labels.n_classes) * count  # evidence of answers at random, label by label
        nothing = float(_share(chance.sum(), evidence)) if nothing is None else nothing
        answers = np.einsum("ml,mlk->lk", softmax(without, axis=0), P)
        answers += _share(chance.sum() - chance, without)[:, None] * (1 / labels.n_classes - answers)
    return Pool(weights, slope, floor + nothing * (1 / labels.n_classes - floor), losses, answers, nothing, why)


def _share(chance: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """The share of "nothing is known" beside candidates of this evidence, (m,) or (m, l), prior shares included."""
    return NOTHING / (NOTHING + (1 - NOTHING) * np.exp(np.minimum(logsumexp(evidence, axis=0) - chance, 700.0)))


def _prior(fitted: list) -> np.ndarray:
    beside = np.array([candidate.method in METHODS_BESIDE for candidate in fitted])
    if beside.all() or not beside.any():
        return np.full(len(fitted), 1.0 / len(fitted))
    wide = is_wide(next(candidate for candidate in fitted if candidate.method in METHODS_BESIDE).rows)
    share = WIDE_FORESTS if wide else FORESTS
    return np.where(beside, share / beside.sum(), (1 - share) / (~beside).sum())


def cut(weights: np.ndarray) -> np.ndarray:
    """The weights of the candidates that hold 99 % of them."""
    order = np.argsort(-weights, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(weights[order]), KEPT)) + 1]
    out = np.zeros_like(weights)
    out[kept] = weights[kept] / weights[kept].sum()
    return out


def _pick(left_out: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, str]:
    """All weight on one candidate: the first, the label-free default, unless another is clearly better."""
    if not len(codes):
        return np.eye(1, len(left_out))[0], "the label-free default, since no label could be withheld."
    choice = choose_by_margin(np.nan_to_num(left_out), codes, default=0)
    return np.eye(len(left_out))[choice.value], choice.reason


def right_and_error(left_out: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m,) left-out accuracy of each candidate and its standard error (with one right and one wrong added)."""
    right = hits(np.nan_to_num(left_out), codes)
    l = right.shape[1]
    rate = right.mean(axis=1) if l else np.full(len(right), np.nan)
    modest = (right.sum(axis=1) + 1) / (l + 2)
    return rate, np.sqrt(modest * (1 - modest) / max(l, 1))
