"""Choose among candidates from a few held-out predictions, with an interval for the accuracy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..solvers.result import Result


def hits(left_out: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(m, l) whether the held-out scores (m, l, k) of m candidates are highest for the correct class.

    For two classes k is 1.
    """
    if left_out.shape[2] == 1:
        return (left_out[:, :, 0] > 0).astype(int) == codes
    return np.argmax(left_out, axis=2) == codes


def accuracy_interval(right: float, total: float, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95% interval for a rate observed as `right` out of `total`. It is valid for ten labels, too.

    >>> low, high = accuracy_interval(9, 10)
    >>> round(low, 2), round(high, 2)
    (0.6, 0.98)
    """
    if total <= 0:
        return 0.0, 1.0
    rate = right / total
    center = (rate + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z * np.sqrt(rate * (1 - rate) / total + z**2 / (4 * total**2)) / (1 + z**2 / total)
    return max(0.0, float(center - half)), min(1.0, float(center + half))


def choose(right: np.ndarray, default: int | None = None) -> Result:
    """The best of m candidates by how many of l held-out labels they predict correctly.

    Ties go to the middle one of the tied candidates in their order, away from the edge of a plateau. `default` is a
    candidate fixed without looking at labels. It is kept unless the best one beats it by more than one standard error
    of their difference on the same rows. That is √(b + c), with b and c the rows that only one of them predicts
    correctly.

    Returns a `Result`. Its value is the index, its reason a sentence for the user, its info the accuracies and the
    interval.
    """
    right = np.asarray(right, dtype=bool)
    n_right, (m, total) = right.sum(axis=1), right.shape
    chosen, best = _best(right, default)
    why = f"the best of {m} candidates"
    if chosen != best:
        why = (
            f"the given parameters are kept, because {total} labels do not distinguish the best of {m} candidates "
            f"({n_right[best]} correct) from them"
        )
    corrected = accuracy_of_choice(right, lambda known: _best(right[:, known], default)[0])
    return explained(chosen, why, right, n_right / max(total, 1), corrected, best=best)


def _best(right: np.ndarray, default: int | None) -> tuple[int, int]:
    """(the chosen candidate, the best one)."""
    n_right = right.sum(axis=1)
    tied = np.flatnonzero(n_right == n_right.max())
    best = int(tied[(len(tied) - 1) // 2])
    if default is None or best == default:
        return best, best
    gain = right[best].astype(int) - right[default]
    return int(default) if gain.sum() <= np.sqrt(np.sum(gain**2)) else best, best


def accuracy_of_choice(right: np.ndarray, pick: Callable, folds: int = 50) -> float:
    """The number of labels that are predicted correctly if each is judged by a choice that does not know it.

    The best of many candidates is partly correct by luck. On coin tosses it seems far better than one half. So the
    whole choice is made again without each fold of the labels. A fold is one label, unless there are more than `folds`.

    Parameters
    ----------
    right : (m, l) whether each candidate is correct.
    pick : function from the numbers of the known labels to the number of the candidate they choose.
    folds : how often the choice is made again, at most.
    """
    total = right.shape[1]
    if total < 2:
        return float(right.sum(axis=1).max(initial=0))
    fold = np.arange(total) % folds
    return float(sum(right[pick(np.flatnonzero(fold != f)), fold == f].sum() for f in range(min(total, folds))))


def explained(chosen: int, why: str, right: np.ndarray, objective: np.ndarray, corrected: float, **info: Any) -> Result:
    """`Result` for the chosen candidate, with its held-out accuracy, the interval, and the reason for the choice.

    right : (m, l) whether each candidate is correct. objective : (m,) what they were compared by. corrected : number of
    correct labels by `accuracy_of_choice`.
    """
    n_right, total = right.sum(axis=1), right.shape[1]
    low, high = accuracy_interval(corrected, total)
    rate = corrected / max(total, 1)
    found = f"{n_right[chosen]} of {total} held-out labels are predicted correctly: {why}."
    about = f"Corrected for the choice among {len(right)}, the accuracy is about {rate:.0%}"
    reason = f"{found} {about} (95% interval {low:.0%} to {high:.0%})."
    info = {"accuracy": n_right / max(total, 1), "corrected": rate, "interval": (low, high), **info}
    return Result(chosen, objective=float(objective[chosen]), reason=reason, info=info | {"found": found})
