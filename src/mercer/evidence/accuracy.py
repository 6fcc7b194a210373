"""Estimate the accuracy of predictions from held-out labels, with an interval that is valid.

Labels are held out in folds. Candidates, slopes and weights are fitted again without each fold. With h the
fraction of held-out labels that are predicted correctly, c the mean probability of the predictions to them, and C that
of the predictions for unlabeled rows, the estimate is a = h + C - c, as in prediction-powered inference (Angelopoulos
et al. 2023). h alone would judge fits with fewer labels, on the rows that happen to have one, and C alone would trust
the model. If the predictions are worth nothing, C and c are equally wrong. h is then correct on average, because labels
are put into folds by chance. The interval is Jeffreys' for a fraction of

    1 / (DESIGN / l + 1 / n)        independent predictions

with l labels and n unlabeled rows. Predictions for held-out labels depend on each other (label i helps to predict j,
and j helps to predict i), so they are worth less than l independent ones. The factor was measured over many draws.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import beta

from ..types import ColumnLike
from .calibration import normalized
from .choice import accuracy_interval

DESIGN = 2.0  # variance of the estimate, relative to that of as many independent predictions


@dataclass(frozen=True)
class Rate:
    """A fraction with its 95% interval."""

    value: float
    low: float
    high: float
    number: int = 0

    def __str__(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"


@dataclass(frozen=True)
class HeldOut:
    """Predictions for labels by fits without them.

    Attributes
    ----------
    answers : (l, k) probabilities of every label by the fit without its fold. A class that this fit did not know has 0.
    counts : (l, k) number of labels of each class in that fit.
    """

    answers: np.ndarray
    counts: np.ndarray

    def among(self, counts: np.ndarray) -> np.ndarray:
        """(l, k) the predictions, halfway to the class frequencies of all labels.

        A held-out label makes its own class rarer among the others, so its probability is too low compared with those
        of new rows. A full correction would reveal the label.
        """
        return normalized(self.answers * np.sqrt((counts + 0.5) / (self.counts + 0.5)))


@dataclass(frozen=True)
class Estimate:
    """Accuracy of the predictions for all rows, estimated from held-out labels.

    Attributes
    ----------
    accuracy : fraction of correct predictions.
    balanced : mean of the recalls.
    recall, precision : one `Rate` for each class. NaN if there is nothing to estimate it from.
    unseen : fraction of rows whose class has no label at all (Good and Turing).
    n_labels, n_drawn : labels in all, and those drawn at random, on which the estimate rests.
    held_out : (l, k) probabilities for each label by fits that did not know it, see `HeldOut.among`.
    """

    accuracy: Rate
    balanced: float
    recall: list
    precision: list
    unseen: Rate
    n_labels: int
    n_drawn: int
    held_out: np.ndarray = field(repr=False)

    def __str__(self) -> str:
        if not np.isfinite(self.accuracy.value):
            return "The accuracy cannot be estimated, because no label could be held out."
        rate, of = self.accuracy, "predictions for all rows" if self.for_all_rows else "labels, which were chosen,"
        return (
            f"About {rate.value:.0%} of the {of} are correct (95% interval {rate.low:.0%} to {rate.high:.0%}), judging "
            f"from {self.n_drawn or self.n_labels} held-out labels."
        )

    @property
    def for_all_rows(self) -> bool:
        """Whether some labels were drawn at random, so that the estimate is valid for all rows."""
        return self.n_drawn > 0

    def unseen_in_set(self, coverage: float) -> bool:
        """Whether a conformal set of this coverage must count "a class without any label" among its members."""
        return (1 + round(self.unseen.value * self.n_labels)) / (self.n_labels + 1) > 1 - coverage


def jeffreys(share: float, number: float) -> Rate:
    """A fraction observed in `number` independent predictions, with Jeffreys' 95% interval.

    >>> rate = jeffreys(0.9, 10)
    >>> round(rate.low, 2), round(rate.high, 2)
    (0.62, 0.99)
    """
    if not number > 0 or not np.isfinite(share):
        return Rate(float("nan"), 0.0, 1.0)
    a, b = share * number + 0.5, (1 - share) * number + 0.5
    low, high = (0.0 if share <= 0 else beta.ppf(0.025, a, b)), (1.0 if share >= 1 else beta.ppf(0.975, a, b))
    return Rate(float(share), float(low), float(high), round(number))


def estimate(held_out: list[HeldOut], P: np.ndarray, given: np.ndarray, drawn: np.ndarray) -> Estimate:
    """The estimate from several splits of the labels into folds.

    Parameters
    ----------
    P : (n, k) probabilities of the unlabeled rows.
    given : (l, k) the labels, one-hot or soft.
    drawn : (l,) which labels were drawn at random. If none was, all of them count.
    """
    l, k = given.shape
    codes, counted = given.argmax(axis=1), drawn if drawn.any() else np.ones(l, dtype=bool)
    H = np.array([one.answers for one in held_out])
    answers = H.argmax(axis=2)
    right = (answers == codes) & (H[:, np.arange(l), codes] > 0)
    number, all_counts = int(counted.sum()), np.bincount(codes, minlength=k)
    unseen = jeffreys(float(np.sum(all_counts == 1)) / l, l)
    withheld = np.any(all_counts > 1)  # else no label has another one of its class
    share = float(right[:, counted].mean()) if withheld else float("nan")
    effective = number / DESIGN
    if len(P):
        share = float(np.clip(share + P.max(axis=1).mean() - H[:, counted].max(axis=2).mean(), 0.0, 1.0))
        effective = 1.0 / (DESIGN / number + 1.0 / len(P))
    counts = np.bincount(codes[counted], minlength=k)
    recall = [jeffreys(_mean(right[:, counted & (codes == c)]), counts[c] / DESIGN) for c in range(k)]
    named = [(answers == c)[:, counted].sum() / len(answers) for c in range(k)]
    precision = [jeffreys(_mean(right[:, counted][(answers == c)[:, counted]]), named[c] / DESIGN) for c in range(k)]
    seen = [rate.value for rate in recall if np.isfinite(rate.value)]
    accuracy, balanced = jeffreys(share, effective), float(np.mean(seen)) if seen else float("nan")
    answers_among = np.mean([one.among(all_counts) for one in held_out], axis=0)
    return Estimate(accuracy, balanced, recall, precision, unseen, l, int(drawn.sum()), answers_among)


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else float("nan")


@dataclass(frozen=True)
class Majority:
    """The most frequent class among the labels, and its fraction of them with a 95% interval.

    Always predicting it is the least that a classifier must do better than.
    """

    name: str
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, classes: ColumnLike, counts: Any) -> "Majority":
        """From the number of labels of each class.

        >>> print(Majority.of(["no", "yes"], [12, 28]).sentence(0.61))
        Always predicting 'yes' would be correct for 70% (95% interval 55% to 82%). The model is not shown to be better.
        """
        most, total = int(np.argmax(counts)), float(np.sum(counts))
        return cls(str(classes[most]), counts[most] / total, *accuracy_interval(counts[most], total))

    def beaten_by(self, low: float) -> bool:
        """Whether an accuracy whose interval begins at `low` is shown to be better."""
        return low > self.share

    def sentence(self, low: float | None = None) -> str:
        """In words. `low` is the lower end of the interval of the model's accuracy, or None."""
        more = "" if low is None or self.beaten_by(low) else " The model is not shown to be better."
        share = f"Always predicting {self.name!r} would be correct for {self.share:.0%}"
        return f"{share} (95% interval {self.low:.0%} to {self.high:.0%}).{more}"
