"""Agreement of two annotators, as the fraction of equal labels and as Cohen's kappa, with intervals.

Kappa = (p - e) / (1 - e), with p the fraction of equal labels and e the fraction expected by chance, from how often
each annotator gives each class. Its interval is that of p on the scale of kappa, at the observed e. It stays sensible
when all labels are equal, for which the usual formula has a standard error of 0.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .choice import accuracy_interval


@dataclass(frozen=True)
class Agreement:
    """Agreement on rows that two annotators labeled.

    Attributes
    ----------
    number, same : rows, and those with equal labels.
    low, high : ends of the 95% interval for the fraction of equal labels.
    kappa : Cohen's kappa with its interval `kappa_low`, `kappa_high`. None if one class is all that was given.
    """

    number: int
    same: int
    low: float
    high: float
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None

    @property
    def value(self) -> float | None:
        """The fraction of equal labels."""
        return self.same / self.number if self.number else None


def agreement(first: Sequence, second: Sequence) -> Agreement:
    """The agreement of two lists of labels for the same rows.

    Examples
    --------
    >>> found = agreement(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> found.same, found.number, found.kappa
    (3, 4, 0.5)
    """
    number, same = len(first), sum(a == b for a, b in zip(first, second, strict=True))
    low, high = accuracy_interval(same, number) if number else (0.0, 1.0)
    one, two = Counter(first), Counter(second)
    chance = sum(one[name] * two[name] for name in one) / number**2 if number else 1.0
    if chance == 1:
        return Agreement(number, same, low, high, None, None, None)
    kappas = [(p - chance) / (1 - chance) for p in (same / number, low, high)]
    return Agreement(number, same, low, high, *kappas)
