"""Weigh candidates by the likelihood of their held-out labels, and pool their probabilities.

Ten labels cannot distinguish sixty candidates. The candidate that looks best on them is best by chance. Each
candidate's scores become probabilities by a softmax whose slope fits its own held-out predictions. The weights

    w_m ∝ π_m exp(−t Σ_i ℓ_mi),   ℓ_mi = −log p_mi(label i) with label i held out,   t = min(1, 5/k) / (1 + l/50),

are Bayes' rule with a tempered likelihood. Without evidence they are the prior π, and with many labels they select few
candidates. The exponent t reduces the evidence of many labels, whose held-out predictions are not independent. It also
reduces that of many classes k, because each class has few labels. The prediction is the mean of the candidates'
probabilities under these weights.

Forests together have a prior weight of 1/4. With more than 100 columns it is 1/20, because such rows are mostly pixels
or spectra, on which trees are less accurate. Boosted trees that try every column have 1/50, about as much as any other
candidate. With 20 columns or more and with categories they have 3/20, because it is more plausible that only some
columns matter. Both values were chosen on the development tables and on generated tables with 10 to 100 labels, in four
draws each. With 1/10 in place of 1/50, the accuracy on chess with 50 labels is 89.0% in place of 87.7%. With one
decisive column among fifty and 10 labels it is 70.6% in place of 62.8%. 3/20 is between the values 1/10 and 1/5 that
were tried. A larger weight costs accuracy on tables of fewer columns and of numbers only.

With more than 100 labels boosted trees have at least 1/10. On the 34 small tables of `benchmarks.accuracy.small` this
raises the mean PR AUC by 0.002. 9 tables gain more than 0.001, and 4 lose more than that. It was the best of about 60
variants on the same tables, so the gain is optimistic. Other variants raised that mean by less than 0.001 without the
four tables of the generator autoUniv. Among them were weights that maximize the held-out likelihood, a geometric mean,
another t, polynomial kernels, weaker penalties and learned metrics. Deeper boosted trees in smaller steps raise it by
0.013 on three autoUniv tables, and lower it as often as they raise it on the others.

One more candidate predicts the probability 1/k for every class. It represents the case that the rows do not predict the
classes, and has the prior weight 1/5. Its weight ν changes no predicted class, but moves all probabilities towards 1/k
if labels look random.

If the pool predicts the held-out labels no better than the class frequencies do, the columns do not distinguish the
classes. The candidate without columns then has all the weight. This needs at least 40 labels.

The weights without label i need no further fit, because ℓ_mi is dropped from the sum.

Candidates are compared in two rounds. In the first round every candidate predicts the held-out labels and a sample of
the rows. Those that together have less than 1% of the weight are dropped. Only the others predict all rows, now and
later.
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

KEPT = 0.99  # fraction of the weight that is kept. The other candidates cost time in every prediction.
PRIOR_SHARES = {  # prior weights of groups of candidates. "also" are the classifiers of the user.
    "forest": 0.25,
    "wide forest": 0.05,
    "boosting": 0.02,
    "boosting, many columns": 0.15,
    "also": 0.25,
    "majority": 0.0,
}


class HasLeftOut(Protocol):
    """A candidate fitted to labels, as far as its weight needs it."""

    @property
    def left_out(self) -> np.ndarray:
        """(l, k') scores of the labeled rows, each by the fit without its label."""

    @property
    def prior_group(self) -> str:
        """Name of the group of candidates with a common prior weight, see `PRIOR_SHARES`."""


@dataclass(frozen=True)
class Pool:
    """Candidates as one distribution.

    Attributes
    ----------
    weights, slopes : (m,) of the candidates. floor : smallest probability of a prediction.
    nothing : weight of the uniform prediction 1/k.
    losses : (m, l') log losses on the labels that could be held out.
    left_out : (l', k) the pool's own predictions for these labels. Label i is held out from the candidates and from the
        weights, but not from the slopes.
    why : a sentence if one candidate was picked.
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
    """Return the pool of candidates fitted to the labels.

    scores : (m, k', n) scores of any rows by the candidates, for their typical margins.
    nothing : weight of the uniform prediction, if it is known. None computes it.
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
        held_out, nothing = np.einsum("m,mlk->lk", weights, P), 0.0
    else:
        prior, t = _prior(fitted, count.sum()), min(1.0, 5.0 / labels.n_classes) / (1.0 + count.sum() / 50.0)
        with np.errstate(divide="ignore"):  # the logarithm of no prior weight
            evidence = np.log(prior) - t * (losses * count).sum(axis=1)
        weights = cut(softmax(evidence))
        with np.errstate(divide="ignore"):
            without = np.where(weights > 0, evidence, -np.inf)[:, None] + t * losses * count
        chance = -t * np.log(labels.n_classes) * count  # evidence of the uniform prediction, label by label
        nothing = float(_uniform_weight(chance.sum(), evidence)) if nothing is None else nothing
        held_out = np.einsum("ml,mlk->lk", softmax(without, axis=0), P)
        held_out += _uniform_weight(chance.sum() - chance, without)[:, None] * (1 / labels.n_classes - held_out)
        for m in np.flatnonzero(prior == 0):  # the majority
            gain = ((losses[m] - log_losses(held_out[None], given)[0]) * count).sum()
            if count.sum() >= 40 and gain <= 0.0:  # fewer labels cannot show that
                weights, held_out, uninformative = np.eye(len(fitted))[m], P[m], True
    floor += nothing * (1 / labels.n_classes - floor)
    return Pool(weights, slope, floor, losses, held_out, nothing, why, uninformative)


def _uniform_weight(chance: np.ndarray, evidence: np.ndarray, prior: float = 0.2) -> np.ndarray:
    """Return the weight of the uniform prediction, from its evidence `chance` and its prior weight.

    evidence : (m,) or (m, l) of the candidates, prior weights included.
    """
    odds = np.exp(np.minimum(logsumexp(evidence, axis=0) - chance, 700.0))
    return np.asarray(prior / (prior + (1 - prior) * odds))


def _prior(fitted: Sequence[HasLeftOut], n_labels: float) -> np.ndarray:
    """Return (m,) prior weights. Groups in `PRIOR_SHARES` have theirs, and the group of all others has the rest.

    The weight of a group is divided evenly. The majority has weight 0. It is the prediction alone, or not part of it.
    """
    groups, number = np.unique([one.prior_group for one in fitted], return_inverse=True)
    known = PRIOR_SHARES | ({"boosting": 0.1} if n_labels > 100 else {})
    weights = np.array([known.get(group, np.nan) for group in groups.tolist()])
    rest = np.isnan(weights)
    weights[rest] = 1.0 - weights[~rest].sum()
    if not weights.any():
        return np.full(len(fitted), 1.0 / len(fitted))
    prior = (weights / np.bincount(number))[number]
    return prior if rest.any() else prior / weights.sum()


def cut(weights: np.ndarray) -> np.ndarray:
    """Return the weights, cut to the heaviest candidates with 99% of the weight."""
    order = np.argsort(-weights, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(weights[order]), KEPT)) + 1]
    out = np.zeros_like(weights)
    out[kept] = weights[kept] / weights[kept].sum()
    return out


def _pick(left_out: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, str]:
    """Return all weight on one candidate, and why. It is the first, unless another is clearly better."""
    if not len(codes):
        return np.eye(1, len(left_out))[0], "the label-free default, since no label could be held out."
    choice = choose_by_margin(np.nan_to_num(left_out), codes, default=0)
    return np.eye(len(left_out))[choice.value], choice.reason


def right_and_error(left_out: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (m,) held-out accuracy of each candidate and its standard error.

    The standard error counts one more correct and one more wrong prediction.
    """
    right = hits(np.nan_to_num(left_out), codes)
    l = right.shape[1]
    rate = right.mean(axis=1) if l else np.full(len(right), np.nan)
    modest = (right.sum(axis=1) + 1) / (l + 2)
    return rate, np.sqrt(modest * (1 - modest) / max(l, 1))
