"""A fraction of correct predictions with an interval that is valid at every moment at once.

It is for people who look at the number several times and then stop. If s of the independent predictions are correct,
f are wrong, and each is correct with probability p, the mixture

    M(p) = B(s + 1/2, f + 1/2) / B(1/2, 1/2) / (p^s (1 − p)^f)

is a martingale in the number of predictions whose mean is 1 (Robbins 1970), so by Ville's inequality it ever exceeds
1/α with probability at most α. The interval {p : M(p) < 1/α} therefore covers p at all times together with probability
at least 1 − α, whenever and why ever one stops. It is wider than an interval for a number fixed beforehand. If 60 of 60
are correct, its lower end is 91%, and that of Clopper and Pearson is 94%.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, xlogy

from .accuracy import Rate

MOST_CHECKS = 5000  # above which no number of further checks is given


def anytime(right: int, number: int, cannot: int = 0, alpha: float = 0.05) -> Rate:
    """The fraction of correct predictions among `number`, with the interval that is valid at every moment.

    Parameters
    ----------
    right, number : correct predictions and all predictions, `cannot` included.
    cannot : predictions that could not be judged. The lower end counts them as wrong, the upper end as correct, and
        the value leaves them out.
    alpha : probability that the interval ever fails.

    Examples
    --------
    >>> round(anytime(60, 60).low, 3)
    0.911
    """
    if number == 0:
        return Rate(float("nan"), 0.0, 1.0)
    value = right / (number - cannot) if number > cannot else float("nan")
    low, high = _end(right, number, alpha, lower=True), _end(right + cannot, number, alpha, lower=False)
    return Rate(float(value), low, high, int(number))


def checks_to(goal: float, right: int, number: int, cannot: int = 0, alpha: float = 0.05) -> int | None:
    """The number of further checks that bring the lower end to `goal`, if they come out as those so far, or None.

    The expected fraction of correct predictions is `(right + 1) / (number + 1.5)`, or 1 if none was wrong so far.

    >>> checks_to(0.9, 40, 40), checks_to(0.9, 50, 60)
    (13, None)
    """
    if number and anytime(right, number, cannot, alpha).low >= goal:
        return 0
    rate = 1.0 if right == number else (right + 1) / (number + 1.5)
    if rate <= goal:
        return None
    few, many = 1, 1
    while anytime(right + round(rate * many), number + many, cannot, alpha).low < goal:
        many *= 2
        if many > MOST_CHECKS:
            return None
    while few < many:
        middle = (few + many) // 2
        if anytime(right + round(rate * middle), number + middle, cannot, alpha).low >= goal:
            many = middle
        else:
            few = middle + 1
    return few


def _end(right: int, number: int, alpha: float, lower: bool) -> float:
    """One end of {p : log M(p) < log 1/α}, which is convex in p."""
    wrong = number - right
    if (right if lower else wrong) == 0:
        return 0.0 if lower else 1.0
    mixed = betaln(right + 0.5, wrong + 0.5) - np.log(np.pi)

    def excess(p: float) -> float:
        return mixed - xlogy(right, p) - xlogy(wrong, 1 - p) + np.log(alpha)

    peak = right / number
    return float(brentq(excess, 1e-12, peak) if lower else brentq(excess, peak, 1 - 1e-12))
