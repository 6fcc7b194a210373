"""Rows to label one after the other: those that help most, mixed with rows drawn at random, which measure."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evidence.accuracy import Rate
from ..evidence.anytime import anytime, checks_to
from .suggest import suggest

CHECKING = 1.0  # share of random rows once they alone are what is missing
ENOUGH = 5  # random checks before the share is raised


@dataclass(frozen=True)
class Checks:
    """What the labels of rows drawn at random say of the answers for all rows.

    Each of these labels was withheld from the model that is asked about its row. Rows that were chosen, by `suggest` or
    by a person, are left out: they are harder or easier than others.

    Attributes
    ----------
    right, number, cannot : checks that came out right, all checks, and those that nobody could tell (among all).
    """

    right: int
    number: int
    cannot: int = 0

    @classmethod
    def of(cls, model: Any, cannot: int = 0) -> "Checks":
        """Those of a fitted `FewLabelClassifier`, which knows by `drawn_` which labels were drawn at random.

        The only label of its class cannot be answered once it is withheld, and counts as wrong.
        """
        labels = model.labels_
        drawn = model.drawn_[labels.labelled]
        right = np.zeros(len(labels.labelled), dtype=bool)
        tested = labels.testable
        codes = labels.codes[labels.labelled]
        right[tested] = model.left_out_probabilities_.argmax(axis=1) == codes[tested]
        return cls(int(np.sum(right & drawn)), int(drawn.sum()) + cannot, cannot)

    @property
    def rate(self) -> Rate:
        """The share of right answers with the interval that holds at every moment."""
        return anytime(self.right, self.number, self.cannot)

    def reached(self, goal: float) -> bool:
        """Whether it is certified that so many answers are right."""
        return self.number > 0 and self.rate.low >= goal

    def more(self, goal: float) -> int | None:
        """How many more checks that takes if they come out like those so far; None if they never do."""
        return checks_to(goal, self.right, self.number, self.cannot)

    def sentence(self, goal: float) -> str:
        """Whether to stop, in words."""
        asked = f"{100 * goal:.0f} %"
        if self.reached(goal):
            return f"Certified: at least {asked} of the answers are right, with 95 % confidence. You may stop."
        more = self.more(goal)
        if more is None:
            if self.number == self.cannot:
                return "None of the random checks could be told. Give labels of other rows."
            said = f"{self.right} of {self.number} random checks are right"
            if self.rate.high < goal:
                return f"{said}, so surely not {asked} of the answers. Give more labels, or set a lower goal."
            return f"{said}: more labels are needed to reach {asked}."
        return f"About {more} more random check{'' if more == 1 else 's'} would certify {asked}."


def share_of_checks(checks: Checks, share: float, goal: float) -> float:
    """The share of random rows among the next ones: `share`, or more when nothing but checks is missing.

    A certificate rests on random rows alone, and takes 53 of them for 90 % even when all come out right. A fourth of
    the rows is enough to see whether the goal is near. While it is, chosen rows would only delay the certificate; a few
    checks that come out wrong end this, and the rows that help most are asked for again.
    """
    near = checks.number >= ENOUGH and checks.more(goal) is not None
    return max(share, CHECKING) if near and share > 0 else share


def next_rows(
    model: Any,
    n: int,
    order: np.ndarray,
    labelled: set,
    share: float,
    n_random: int,
    n_asked: int,
    coverage: Any = None,
) -> list[tuple[int, bool, str]]:
    """[(row, whether drawn at random, reason)]: the next rows to ask for, in this order.

    Parameters
    ----------
    model : `FewLabelClassifier`, taught; or None before there are two classes.
    order : a random permutation of all rows: the random rows are the next ones in it, so that which they are does not
        depend on what the model thinks.
    labelled : rows with a label.
    share : of random rows.
    n_random, n_asked : how many random rows, and how many rows in all, have been asked for and answered.
    coverage : rows to take in this order where there is no model.
    """
    drawn = [int(row) for row in order if row not in labelled][:n] if share > 0 else []
    places, so_far = [], n_random
    for i in range(n):
        places.append(bool(drawn) and so_far < share * (n_asked + i + 1))
        so_far += places[-1]
    at_random = drawn[: sum(places)]
    n_chosen = n - len(at_random)
    chosen: list = []
    if model is None:
        rows = [int(row) for row in coverage if row not in labelled and row not in at_random]
        chosen = [(row, "it stands for many other rows") for row in rows[:n_chosen]]
    elif n_chosen:
        looked_at, exclude = model.looked_at(), np.array([*at_random, *labelled], dtype=int)
        number = min(n_chosen, int(np.sum((model.labels_.codes[looked_at] < 0) & ~np.isin(looked_at, exclude))))
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
