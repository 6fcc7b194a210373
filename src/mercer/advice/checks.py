"""The next rows to label. Rows that help most are mixed with rows drawn at random, which measure the accuracy."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evidence.accuracy import Rate
from ..evidence.anytime import anytime, checks_to
from ..types import Estimator
from .suggest import suggest

ENOUGH = 5  # random checks before the fraction is raised


@dataclass(frozen=True)
class Checks:
    """Accuracy for all rows, estimated from the labels of rows drawn at random.

    Each of these labels was held out from the model that predicts its row. Rows that were chosen, by `suggest` or by a
    person, are omitted because they are harder or easier than others.

    Attributes
    ----------
    right, number : number of checks that are predicted correctly, and of all checks.
    cannot, waiting : number of checks that no one could label, and of checks without a label so far. Both count as
        wrong for the lower end of the interval and as correct for the upper one.
    """

    right: int
    number: int
    cannot: int = 0
    waiting: int = 0

    @classmethod
    def of(cls, model: Estimator, cannot: int = 0) -> "Checks":
        """Return the checks of a fitted `FewLabelClassifier`. Its `drawn_` marks the labels of rows drawn at random.

        The only label of its class cannot be predicted once it is held out, and counts as wrong.
        """
        labels = model.labels_
        drawn = model.drawn_[labels.labeled]
        right = np.zeros(len(labels.labeled), dtype=bool)
        tested = labels.testable
        codes = labels.codes[labels.labeled]
        right[tested] = model.left_out_probabilities_.argmax(axis=1) == codes[tested]
        return cls(int(np.sum(right & drawn)), int(drawn.sum()) + cannot, cannot)

    @property
    def rate(self) -> Rate:
        """The fraction of correct predictions, with an interval that is valid at every moment."""
        return anytime(self.right, self.number, self.cannot + self.waiting)

    def reached(self, goal: float) -> bool:
        """Return whether it is certified that the fraction of correct predictions is at least `goal`."""
        return self.number > 0 and self.rate.low >= goal

    def more(self, goal: float) -> int | None:
        """Return how many more checks certify `goal` if they come out like those so far. None if no number does."""
        more = checks_to(goal, self.right, self.number - self.waiting, self.cannot)
        return more if more is None or self.reached(goal) else max(more, self.waiting)

    def sentence(self, goal: float) -> str:
        """Return a sentence on whether to stop."""
        aim = f"{100 * goal:.0f}%"
        if self.reached(goal):
            return f"Certified: at least {aim} of the predictions are correct (95% confidence). You can stop."
        more = self.more(goal)
        if more is None:
            if self.number == self.cannot + self.waiting:
                return "No random check has a class. Label other rows."
            found = f"{self.right} of {self.number - self.waiting} random checks are correct"
            if self.rate.high < goal:
                return f"{found}, so the accuracy is below {aim}. Give more labels, or set a lower goal."
            return f"{found}. More labels are needed to reach {aim}."
        waiting = f", {self.waiting} of them skipped before," if self.waiting else ""
        return f"About {more} more random check{'' if more == 1 else 's'}{waiting} would certify {aim}."


def share_of_checks(checks: Checks, share: float, goal: float) -> float:
    """Return the fraction of random rows among the next ones. It is `share`, or 1 if only checks are missing.

    A certificate rests on random rows alone, and takes 53 of them for 90% even when all are predicted correctly. A
    fourth of the rows is enough to see whether the goal is near. While it is, chosen rows would only delay the
    certificate. A few checks that come out wrong end this, and the rows that help most are requested again.
    """
    near = checks.number >= ENOUGH and checks.more(goal) is not None
    return 1.0 if near and share > 0 else share


def next_rows(
    model: Estimator,
    n: int,
    draw: Any,
    labeled: set,
    share: float,
    n_random: int,
    n_asked: int,
    coverage: Any = None,
) -> list[tuple[int, bool, str]]:
    """Return [(row, whether drawn at random, reason)] of the next rows to label, in this order.

    Parameters
    ----------
    model : FewLabelClassifier or None
        A model with labels. None before there are two classes.
    n : int
        Number of rows.
    draw : sequence of int
        The next rows of a random permutation. Random rows therefore do not depend on the model.
    labeled : set of int
        Rows not to choose, such as those with a label.
    share : float
        Fraction of random rows.
    n_random, n_asked : int
        Number of random rows, and of all rows, that were requested and labeled so far.
    coverage : sequence of int
        Rows to take in this order if there is no model.
    """
    drawn = [int(row) for row in draw[:n]] if share > 0 else []
    places, so_far = [], n_random
    for i in range(n):
        places.append(bool(drawn) and so_far < share * (n_asked + i + 1))
        so_far += places[-1]
    at_random = drawn[: sum(places)]
    n_chosen = n - len(at_random)
    chosen: list = []
    if model is None:
        rows = [int(row) for row in coverage if row not in labeled and row not in at_random]
        chosen = [(row, "typical of many rows") for row in rows[:n_chosen]]
    elif n_chosen:
        own, exclude = model.advice_rows(), np.array([*at_random, *labeled], dtype=int)
        number = min(n_chosen, int(np.sum((model.labels_.codes[own] < 0) & ~np.isin(own, exclude))))
        if number > 0:
            found = suggest(model, number, exclude=exclude)
            chosen = list(zip(found.rows.tolist(), found.reasons))
    out: list = []
    for random in places:
        if random and at_random:
            out.append((at_random.pop(0), True, ""))
        elif chosen:
            row, reason = chosen.pop(0)
            out.append((row, False, reason))
    return out
