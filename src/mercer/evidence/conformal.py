"""Conformal p-values of outlier scores. A p-value states how often an ordinary row is at least as unusual.

If the rows behind the reference scores and a new ordinary row are exchangeable, and each reference score was computed
without its own row, then P(p ≤ a) ≤ a up to the difference that one row makes. An alarm at p ≤ 0.05 is false for at
most 5% of the ordinary rows. Nothing else is assumed of the score.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, rankdata

from ..errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reference:
    """Scores of ordinary rows by fits without them. A higher score is more unusual.

    Examples
    --------
    >>> reference = Reference.of(np.array([1.0, 2.0, 3.0]))
    >>> reference.p_values(np.array([0.0, 2.5, 9.0])).tolist()
    [1.0, 0.5, 0.25]
    """

    values: Floats  # sorted, rising
    cumulated: Floats  # weight of the values before each, and of all

    @staticmethod
    def of(scores: Floats, weight: Floats | None = None) -> "Reference":
        """The reference of these scores. A weight of 2 counts a row twice."""
        scores = np.asarray(scores, dtype=np.float64)
        if weight is None:  # values alone are sorted several times faster than an order is found
            return Reference(np.sort(scores), np.arange(len(scores) + 1.0))
        weight = np.asarray(weight, dtype=np.float64)
        order = np.argsort(scores, kind="stable")
        return Reference(scores[order], np.concatenate([[0.0], np.cumsum(weight[order])]))

    def p_values(self, scores: Floats) -> Floats:
        """(1 + weight of the reference scores that are at least as high) / (1 + weight of all)."""
        below = self.cumulated[np.searchsorted(self.values, scores, side="left")]
        total = self.cumulated[-1]
        return (1 + total - below) / (1 + total)

    def surprise(self, scores: Floats, own: bool = False) -> Floats:
        """−log of the fraction of reference scores that are higher, in nats. Ties count half.

        Above the highest reference score an exponential tail continues, with the mean excess of the highest twentieth,
        so that unusual rows stay ordered. own : whether the scores are those of the reference rows themselves.
        """
        n = len(self.values)
        if own:
            return -np.log(np.maximum(n - rankdata(scores) + 0.5, 0.5) / n)
        low, high = (np.searchsorted(self.values, scores, side=side) for side in ("left", "right"))
        middle = (low + high) / 2
        found = -np.log((n - middle + 0.5) / (n + 1))
        most = max(min(5, n), n // 20)
        excess = float(np.mean(self.values[n - most :] - self.values[n - most])) if n else 0.0
        if excess > 0 and np.isfinite(excess):
            found = found + np.maximum(scores - self.values[-1], 0) / excess
        return found


def discoveries(p: Floats, rate: float) -> NDArray[np.bool_]:
    """(n,) which rows to report so that at most a fraction `rate` of those reported is ordinary, on average.

    The step-up rule of Benjamini and Hochberg, valid for conformal p-values (Bates et al. 2023).

    >>> discoveries(np.array([0.001, 0.02, 0.8, 0.5]), 0.1).tolist()
    [True, True, False, False]
    """
    if not 0 < rate < 1:
        raise InputError(f"Invalid rate={rate!r}; expected a number between 0 and 1, such as 0.1.")
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    below = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / max(len(p), 1))
    found = np.zeros(len(p), dtype=bool)
    if len(below):
        found[order[: below[-1] + 1]] = True
    return found


@dataclass(frozen=True)
class Fraction:
    """A fraction of outliers among rows, with an interval. `known` is False if it cannot be estimated from the data."""

    estimate: float
    low: float
    high: float
    known: bool
    sentence: str


UNKNOWN = (
    "The fraction of outliers in a table cannot be known from the table alone, because every table has rows that are "
    "the most unusual. Label some randomly drawn rows as ordinary or as outliers, or fit on ordinary rows."
)


def outlier_fraction(p: Floats, coverage: float = 0.95, beyond: float = 0.5) -> Fraction:
    """The fraction of outliers among new rows, from p-values by ordinary training rows.

    Ordinary rows have uniform p-values, so a fraction 1 − `beyond` of them has p above `beyond`. Rows above it are
    counted as ordinary (Storey 2002), which makes the estimate a lower bound if some outliers look ordinary. The
    interval is that of a binomial count (Clopper–Pearson). p-values of the training rows themselves are uniform by
    construction, so they cannot be used (see `fraction_of_answers`).

    >>> p = np.concatenate([np.linspace(0.005, 0.995, 100), np.full(25, 0.001)])
    >>> round(outlier_fraction(p).estimate, 2)
    0.2
    """
    p = np.asarray(p, dtype=np.float64)
    n, count = len(p), int(np.sum(p > beyond))
    if n == 0:
        return Fraction(float("nan"), 0.0, 1.0, False, UNKNOWN)
    low, high = binomial_interval(count, n, coverage)
    estimate, most, least = (float(np.clip(1 - part / (1 - beyond), 0, 1)) for part in (count / n, low, high))
    text = f"About {estimate:.1%} of the rows are outliers ({coverage:.0%} interval {least:.1%} to {most:.1%})."
    return Fraction(estimate, least, most, True, text)


def fraction_of_answers(odd: int, asked: int, coverage: float = 0.95) -> Fraction:
    """The fraction of outliers in a table from labels of randomly drawn rows (Clopper–Pearson).

    >>> fraction_of_answers(0, 0).known
    False
    """
    if asked == 0:
        return Fraction(float("nan"), 0.0, 1.0, False, UNKNOWN)
    low, high = binomial_interval(odd, asked, coverage)
    text = (
        f"{odd} of {asked} randomly drawn rows are outliers, {odd / asked:.1%} ({coverage:.0%} interval "
        f"{low:.1%} to {high:.1%})."
    )
    return Fraction(odd / asked, low, high, True, text)


def binomial_interval(count: int, n: int, coverage: float) -> tuple[float, float]:
    """Clopper–Pearson interval of a probability from `count` of n."""
    tail = (1 - coverage) / 2
    low = 0.0 if count == 0 else float(beta.ppf(tail, count, n - count + 1))
    high = 1.0 if count == n else float(beta.ppf(1 - tail, count + 1, n - count))
    return low, high
