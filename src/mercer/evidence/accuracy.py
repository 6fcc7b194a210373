"""How many answers are right: an estimate from withheld labels, with an interval that holds.

Labels are withheld in folds, and everything is fitted again without them: candidates, slopes, weights. With h the share
of withheld labels that are answered right and c the mean probability of the answers for unlabelled rows (sharpened on
the withheld labels, times the share of rows whose class was seen at all), the estimate is a = (h + c) / 2: h alone is
unbiased and noisy, c alone is steady and trusts the model. The interval is Jeffreys' for a share of

    1 / (DESIGN / l + 1 / n)        independent answers

with l labels and n unlabelled rows. Answers to withheld labels come in pairs (label i helps to answer j and j to answer
i), so they tell less than l independent answers; the factor was measured over many draws.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import softmax
from scipy.stats import beta

from .likelihood import sharpen

DESIGN = 2.0  # variance of the estimate beside that of as many independent answers


@dataclass(frozen=True)
class Rate:
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float
    number: int = 0

    def __str__(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"


@dataclass(frozen=True)
class Estimate:
    """What withheld labels say about the answers for all rows.

    Attributes
    ----------
    accuracy : share of right answers.
    balanced : mean of the recalls.
    recall, precision : one `Rate` for each class; NaN where there is nothing to tell it from.
    unseen : share of rows whose class has no label at all (Good and Turing).
    n_labels, n_drawn : labels in all, and those drawn at random, on which the estimate rests.
    held_out : (l, k) probabilities for each label by fits that did not know it.
    """

    accuracy: Rate
    balanced: float
    recall: list
    precision: list
    unseen: Rate
    n_labels: int
    n_drawn: int
    held_out: np.ndarray = field(repr=False)

    @property
    def for_all_rows(self) -> bool:
        """Whether some labels were drawn at random, so that the numbers speak for all rows."""
        return self.n_drawn > 0

    def unseen_in_set(self, coverage: float) -> bool:
        """Whether a conformal set of this coverage must count "a class without any label" among its members."""
        return (1 + round(self.unseen.value * self.n_labels)) / (self.n_labels + 1) > 1 - coverage


def jeffreys(share: float, number: float) -> Rate:
    """A share seen in so many independent answers, with Jeffreys' 95 % interval.

    >>> rate = jeffreys(0.9, 10)
    >>> round(rate.low, 2), round(rate.high, 2)
    (0.62, 0.99)
    """
    if not number > 0 or not np.isfinite(share):
        return Rate(float("nan"), 0.0, 1.0)
    a, b = share * number + 0.5, (1 - share) * number + 0.5
    low, high = (0.0 if share <= 0 else beta.ppf(0.025, a, b)), (1.0 if share >= 1 else beta.ppf(0.975, a, b))
    return Rate(float(share), float(low), float(high), round(number))


def estimate(held_out: list, P: np.ndarray, given: np.ndarray, drawn: np.ndarray) -> Estimate:
    """The estimate from several splits of the labels into folds.

    Parameters
    ----------
    held_out : list of (l, k) probabilities of every label by fits without it, one for each split; a class that those
        fits did not know has 0.
    P : (n, k) probabilities of the unlabelled rows.
    given : (l, k) the labels, one-hot or soft.
    drawn : (l,) which labels were drawn at random; all of them count where none was.
    """
    l, k = given.shape
    codes, counted = given.argmax(axis=1), drawn if drawn.any() else np.ones(l, dtype=bool)
    answers = np.array([H.argmax(axis=1) for H in held_out])
    right = (answers == codes) & np.array([H[np.arange(l), codes] > 0 for H in held_out])
    number = int(counted.sum())
    counts = np.bincount(codes[counted], minlength=k)
    unseen = jeffreys(float(np.sum(np.bincount(codes, minlength=k) == 1)) / l, l)
    withheld = np.any(np.bincount(codes, minlength=k) > 1)  # else no label has another one of its class
    share = float(right[:, counted].mean()) if withheld else float("nan")
    effective = number / DESIGN
    if len(P):
        known = [counted & (H[np.arange(l), codes] > 0) for H in held_out]  # whose class those fits had a label of
        s = float(np.mean([sharpen(H[some], given[some], 0.7) for H, some in zip(held_out, known)]))
        believed = softmax(s * np.log(np.maximum(P, 1e-12)), axis=1).max(axis=1).mean() * (1 - unseen.value)
        share = (share + float(believed)) / 2
        effective = 1.0 / (DESIGN / number + 1.0 / len(P))
    recall = [jeffreys(_mean(right[:, counted & (codes == c)]), counts[c] / DESIGN) for c in range(k)]
    named = [(answers == c)[:, counted].sum() / len(answers) for c in range(k)]
    precision = [jeffreys(_mean(right[:, counted][(answers == c)[:, counted]]), named[c] / DESIGN) for c in range(k)]
    seen = [rate.value for rate in recall if np.isfinite(rate.value)]
    accuracy, balanced = jeffreys(share, effective), float(np.mean(seen)) if seen else float("nan")
    return Estimate(accuracy, balanced, recall, precision, unseen, l, int(drawn.sum()), np.mean(held_out, axis=0))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else float("nan")
