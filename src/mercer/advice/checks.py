"""Rows to label one after the other: those that help most, mixed with rows drawn at random, which measure."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evidence.accuracy import Rate
from ..evidence.anytime import anytime, checks_to
from ..types import Estimator
from .suggest import suggest

CHECKING = 1.0  # fraction of random rows once they alone are what is missing
ENOUGH = 5  # random checks before the fraction is raised


@dataclass(frozen=True)
class Checks:
    """Accuracy for all rows, estimated from the labels of rows drawn at random.

    Each of these labels was held out from the model that is asked about its row. Rows that were chosen, by `suggest` or
    by a person, are left out: they are harder or easier than others.

    Attributes
    ----------
    right, number : checks that are predicted correctly, and all checks.
    cannot, waiting : those of them that no one could tell, and that have no answer yet: wrong for the lower end of the
        interval, right for the upper one.
    """

    right: int
    number: int
    cannot: int = 0
    waiting: int = 0

    @classmethod
    def of(cls, model: Estimator, cannot: int = 0) -> "Checks":
        """Those of a fitted `FewLabelClassifier`, which knows by `drawn_` which labels were drawn at random.

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
        """The fraction of correct predictions with the interval that is valid at every moment."""
        return anytime(self.right, self.number, self.cannot + self.waiting)

    def reached(self, goal: float) -> bool:
        """Whether it is certified that so many answers are correct."""
        return self.number > 0 and self.rate.low >= goal

    def more(self, goal: float) -> int | None:
        """How many more checks that takes if they come out like those so far. None if they never do."""
        more = checks_to(goal, self.right, self.number - self.waiting, self.cannot)
        return more if more is None or self.reached(goal) else max(more, self.waiting)

    def sentence(self, goal: float) -> str:
        """Whether to stop, in words."""
        asked = f"{100 * goal:.0f}%"
        if self.reached(goal):
            return f"Certified: at least {asked} of the predictions are correct (95% confidence). You can stop."
        more = self.more(goal)
        if more is None:
            if self.number == self.cannot + self.waiting:
                return "No random check has a class. Label other rows."
            said = f"{self.right} of {self.number - self.waiting} random checks are correct"
            if self.rate.high < goal:
                return f"{said}, so the accuracy is below {asked}. Give more labels, or set a lower goal."
            return f"{said}. More labels are needed to reach {asked}."
        waiting = f", {self.waiting} of them skipped before," if self.waiting else ""
        return f"About {more} more random check{'' if more == 1 else 's'}{waiting} would certify {asked}."


def share_of_checks(checks: Checks, share: float, goal: float) -> float:
    """The fraction of random rows among the next ones: `share`, or more when nothing but checks is missing.

    A certificate rests on random rows alone, and takes 53 of them for 90% even when all are predicted correctly. A
    fourth of the rows is enough to see whether the goal is near. While it is, chosen rows would only delay the
    certificate. A few checks that come out wrong end this, and the rows that help most are requested again.
    """
    near = checks.number >= ENOUGH and checks.more(goal) is not None
    return max(share, CHECKING) if near and share > 0 else share


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
    """[(row, whether drawn at random, reason)]: the next rows to ask for, in this order.

    Parameters
    ----------
    model : `FewLabelClassifier`, taught; or None before there are two classes.
    draw : the next rows of a random permutation, so that which they are does not depend on what the model thinks.
    labeled : rows that are not to be chosen: those with a label.
    share : of random rows.
    n_random, n_asked : how many random rows, and how many rows in all, have been requested and answered.
    coverage : rows to take in this order where there is no model.
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
