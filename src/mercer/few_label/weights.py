"""Weigh candidates by the likelihood of their held-out labels, and pool their probabilities.

Ten labels cannot distinguish sixty candidates, and anyone who picks the best of them picks luck. Each candidate's
scores become probabilities by a softmax whose slope fits its own held-out predictions. The weights

    w_m ∝ π_m exp(−t Σ_i ℓ_mi),   ℓ_mi = −log p_mi(label i) with label i left out,   t = min(1, 5/k) / (1 + l/50),

are Bayes' rule with a tempered likelihood: without evidence they are the prior π, and with more labels they become a
choice. t takes back some of the evidence of many labels, whose held-out predictions are not independent, and of many
classes k, of which each has few labels. The prediction is the mean of the candidates' probabilities under these
weights. Forests together have a prior weight of 1/4, and of 1/20 among more than 100 columns, which are pixels or
spectra more often than things that trees tell apart. Boosted trees that try every column have 1/50, about as much as
any other candidate, and 3/20 among 20 columns or more with categories, where it is more plausible that only some of
them matter. Both were chosen on the development tables and on made ones with 10 to 100 labels, in four draws each:
with 1/10 in place of 1/50, chess with 50 labels has 89.0% and 87.7% correct, one decisive column among fifty with 10
labels 70.6% and 62.8%. 3/20 is between the values 1/10 and 1/5 that were tried. More costs accuracy on tables of fewer
columns and of numbers only. With more than 100 labels they have at least 1/10. On the 34 small tables of
`benchmarks.accuracy.small` the mean PR AUC rises by 0.002, 9 tables gain and 4 lose more than 0.001. This was the best
of about 60 variants on the same tables, so the gain is optimistic. One at a time, the following raised that mean by
less than 0.001 if the four tables of the generator autoUniv are left out: weights that maximize the held-out
likelihood, a geometric mean, another t, polynomial kernels, weaker penalties, learned metrics, and deeper boosted trees
in smaller steps, which raise it by 0.013 on three autoUniv tables and lower it as often as they raise it on the others.

Next to the candidates stands the case that no one of them tells anything, whose probabilities are 1/k. Its prior is
`NOTHING`, its evidence that of answers at random. Its fraction ν of the predictions moves no row to another class, and
makes the predictions to coin tosses more modest than those that labels bear out.

If the pool predicts the held-out labels no better than the class frequencies do, the columns do not distinguish the
classes, and the candidate that looks at no column has all the weight. Fewer than `LEAST_LABELS` labels cannot show
that.

The weights without label i need no further fit: drop ℓ_mi from the sum.

It is a race of two rounds. In the first every candidate answers the held-out labels and a sample of the rows. Those
that together have less than 1% of the weight stop there, and only the others answer all rows, now and in predictions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import logsumexp, softmax

from ..evidence.calibration import as_probabilities, log_losses, slopes
from ..evidence.choice import hits
from ..evidence.margin import choose_by_margin
from ..inputs.labels import Labels
from .scoring import margins, pooled

KEPT = 0.99  # of the weight; the candidates beyond it cost time in every prediction and change nothing
PRIOR_SHARES = {  # of groups of candidates; "also" are the classifiers of the user
    "forest": 0.25,
    "wide forest": 0.05,
    "boosting": 0.02,
    "boosting, many columns": 0.15,
    "also": 0.25,
    "majority": 0.0,
}
MANY_LABELS, MANY_SHARES = 100, {"boosting": 0.1}  # with more labels than that, the fraction of these groups
LEAST_LABELS = 40  # for a prediction that looks at no column
NOTHING = 0.2  # prior weight of the case that rows tell nothing about classes


class HasLeftOut(Protocol):
    """A candidate fitted to labels, as far as its weight needs it."""

    @property
    def left_out(self) -> np.ndarray:
        """(l, k') scores of the labeled rows, each by the fit without its label."""

    @property
    def prior_group(self) -> str:
        """Name of the group of candidates that share a prior weight; see `PRIOR_SHARES`."""


@dataclass(frozen=True)
class Pool:
    """Candidates as one distribution.

    Attributes
    ----------
    weights, slopes : (m,) of the candidates. floor : smallest probability of a prediction.
    nothing : fraction of answers at random.
    losses : (m, l') log losses on the labels that could be left out, and `left_out` (l', k) the pool's own predictions
        to them: with label i in no candidate's answer and in no weight (only in the slopes).
    why : a sentence where one candidate was picked.
    uninformative : whether the columns do not distinguish the classes, so that the majority has all the weight.
    """

    weights: np.ndarray
    slopes: np.ndarray
    floor: float
    losses: np.ndarray
    left_out: np.ndarray
    nothing: float = 0.0
    why: str | None = None
    uninformative: bool = False

    @property
    def used(self) -> np.ndarray:
        """Numbers of the candidates that have weight."""
        return np.flatnonzero(self.weights)

    def mean(self, scores: np.ndarray) -> np.ndarray:
        """(n, k) pooled probabilities from the scores (m', k', n) of the candidates in `used`."""
        return pooled(scores, self.weights[self.used], self.slopes[self.used], self.floor)


def pool(
    fitted: Sequence[HasLeftOut],
    labels: Labels,
    scores: np.ndarray,
    combine: str = "average",
    nothing: float | None = None,
) -> Pool:
    """The pool of candidates fitted to the labels.

    scores : (m, k', n) theirs of any rows, which tell their typical margin.
    nothing : fraction of answers at random, where it is known. None finds it.
    """
    tested = labels.testable
    given = labels.given[tested]
    left_out = np.array([candidate.left_out[tested] for candidate in fitted])
    count = labels.counted[tested]
    slope = slopes(left_out, given, margins(scores), None if labels.weight is None else count)
    floor = 1.0 / ((labels.counted.sum() + 2) * (labels.n_classes - 1))
    P = as_probabilities(left_out, slope, floor)
    losses = log_losses(P, given)
    why, uninformative = None, False
    if combine == "pick":
        weights, why = _pick(left_out, labels.codes[labels.labeled[tested]])
        answers, nothing = np.einsum("m,mlk->lk", weights, P), 0.0
    else:
        prior, t = _prior(fitted, count.sum()), min(1.0, 5.0 / labels.n_classes) / (1.0 + count.sum() / 50.0)
        with np.errstate(divide="ignore"):  # the logarithm of no prior weight
            evidence = np.log(prior) - t * (losses * count).sum(axis=1)
        weights = cut(softmax(evidence))
        with np.errstate(divide="ignore"):
            without = np.where(weights > 0, evidence, -np.inf)[:, None] + t * losses * count
        chance = -t * np.log(labels.n_classes) * count  # evidence of answers at random, label by label
        nothing = float(_share(chance.sum(), evidence)) if nothing is None else nothing
        answers = np.einsum("ml,mlk->lk", softmax(without, axis=0), P)
        answers += _share(chance.sum() - chance, without)[:, None] * (1 / labels.n_classes - answers)
        for m in np.flatnonzero(prior == 0):  # the majority
            gain = ((losses[m] - log_losses(answers[None], given)[0]) * count).sum()
            if count.sum() >= LEAST_LABELS and gain <= 0.0:
                weights, answers, uninformative = np.eye(len(fitted))[m], P[m], True
    floor += nothing * (1 / labels.n_classes - floor)
    return Pool(weights, slope, floor, losses, answers, nothing, why, uninformative)


def _share(chance: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """The fraction of "nothing is known" next to candidates of this evidence, (m,) or (m, l), prior weights
    included.
    """
    odds = np.exp(np.minimum(logsumexp(evidence, axis=0) - chance, 700.0))
    return np.asarray(NOTHING / (NOTHING + (1 - NOTHING) * odds))


def _prior(fitted: Sequence[HasLeftOut], n_labels: float) -> np.ndarray:
    """(m,) prior weights: the fractions of the groups that have one, the rest for all others, even within a group.

    The majority has none: it is the prediction, or has no part in it.
    """
    groups, number = np.unique([one.prior_group for one in fitted], return_inverse=True)
    known = PRIOR_SHARES | (MANY_SHARES if n_labels > MANY_LABELS else {})
    shares = np.array([known.get(group, np.nan) for group in groups.tolist()])
    rest = np.isnan(shares)
    shares[rest] = 1.0 - shares[~rest].sum()
    if not shares.any():
        return np.full(len(fitted), 1.0 / len(fitted))
    prior = (shares / np.bincount(number))[number]
    return prior if rest.any() else prior / shares.sum()


def cut(weights: np.ndarray) -> np.ndarray:
    """The weights of the candidates that contain 99% of them."""
    order = np.argsort(-weights, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(weights[order]), KEPT)) + 1]
    out = np.zeros_like(weights)
    out[kept] = weights[kept] / weights[kept].sum()
    return out


def _pick(left_out: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, str]:
    """All weight on one candidate: the first, the label-free default, unless another is clearly better."""
    if not len(codes):
        return np.eye(1, len(left_out))[0], "the label-free default, since no label could be held out."
    choice = choose_by_margin(np.nan_to_num(left_out), codes, default=0)
    return np.eye(len(left_out))[choice.value], choice.reason


def right_and_error(left_out: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m,) held-out accuracy of each candidate and its standard error (with one right and one wrong added)."""
    right = hits(np.nan_to_num(left_out), codes)
    l = right.shape[1]
    rate = right.mean(axis=1) if l else np.full(len(right), np.nan)
    modest = (right.sum(axis=1) + 1) / (l + 2)
    return rate, np.sqrt(modest * (1 - modest) / max(l, 1))
