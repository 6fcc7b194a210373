"""Turn a taught regressor into what the page shows: numbers with intervals, accuracy, the queue and doubtful numbers.

A prediction counts as correct if it differs from the number of a person by the tolerance at most. So the random checks
have the same interval as those of classes, which is valid however often a person looks.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..advice.checks import Checks, share_of_checks
from ..advice.suggest import suggest
from ..advice.why import why
from ..few_label.regressor import FewLabelRegressor
from ..few_label.squared_error import FEWEST
from ..inputs.numerals import short
from ..inputs.tables import DistinctiveCells
from .answering import items_of, questions
from .ledger import CANNOT
from .task import QUEUE, LearnerTask

COVERAGE = 0.9  # of the intervals
FEWEST_TO_REVIEW = 10  # numbers, so that the size of an ordinary error is known
MOST, UNUSUAL = 0.8, 3.0  # a number looks wrong from so many times the error that most others stay below


@dataclass(frozen=True)
class PredictedNumbers:
    """The predictions for all n rows.

    Attributes
    ----------
    digest : of numbers and predictions, to the last bit. numbers, reach : (n,) predictions, half widths of intervals.
    """

    rev: int
    tier: str
    digest: str
    numbers: np.ndarray
    reach: np.ndarray

    @property
    def content(self) -> bytes:
        """Prediction and half width of each row, as the page reads them."""
        return np.column_stack([self.numbers, self.reach]).astype("<f8").tobytes()

    def likely(self, row: int) -> list:
        """[prediction, low end, high end] of a row."""
        middle, reach = float(self.numbers[row]), float(self.reach[row])
        return [middle, middle - reach, middle + reach]


def answer_of(model: FewLabelRegressor, rev: int, tier: str) -> PredictedNumbers:
    """The predictions of a taught regressor."""
    numbers, given = model.predicted_, model.labels_.values
    reach = model.reach(COVERAGE, numbers) / np.sqrt(model.answers_.trust)
    mark = hashlib.sha256(np.ascontiguousarray(numbers).tobytes() + given.tobytes() + tier.encode())
    return PredictedNumbers(rev, tier, mark.hexdigest(), numbers, reach)


def errors_of(model: FewLabelRegressor, task: LearnerTask) -> np.ndarray:
    """(c,) differences between the first number of each check and the prediction without this number.

    Checks without a number are left out.
    """
    held_out = dict(zip(model.labels_.labeled.tolist(), model.left_out_.tolist()))
    checks = [(row, first) for row, first, _ in task.checks if first != CANNOT]
    return np.array([first - held_out.get(row, float(model.predicted_[row])) for row, first in checks])


def checks_of(model: FewLabelRegressor, task: LearnerTask) -> Checks:
    """The random checks. A prediction within the tolerance is correct. Without a tolerance none is correct."""
    right = int(np.sum(np.abs(errors_of(model, task)) <= (task.tolerance or 0.0))) if task.tolerance else 0
    cannot = sum(first == CANNOT for _, first, _ in task.checks)
    return Checks(right, len(task.checks) + task.waiting, cannot, task.waiting)


def accuracy_of(model: FewLabelRegressor, task: LearnerTask, full: bool) -> dict:
    """How many predictions are within the tolerance, and whether that is certified."""
    checks, errors, found = checks_of(model, task), errors_of(model, task), model.estimate_
    value, (low, high) = checks.rate.value, (checks.rate.low, checks.rate.high)
    known = task.tolerance is not None
    drawn = int(np.sum(model.drawn_[model.labels_.labeled]))
    rests = (
        f"from the {drawn} numbers of random checks" if drawn >= FEWEST else "not an estimate, because rows were chosen"
    )
    return {
        "rev": task.rev,
        "random": {
            "checks": checks.number,
            "right": checks.right,
            "cannot": checks.cannot,
            "waiting": checks.waiting,
            "value": None if np.isnan(value) or not known else value,
            "low": low if known else 0.0,
            "high": high if known else 1.0,
            "error": float(np.abs(errors).mean()) if len(errors) and known else None,
        }
        if checks.number
        else None,
        "left_out": {"text": str(found), "note": rests} if np.isfinite(found.r2) else None,
        "majority": None,
        "change": None,
        "retuned": task.retuned,
        "stop": stop_of(checks, task),
        "classes": [],
    }


def stop_of(checks: Checks, task: LearnerTask) -> dict:
    """Whether the goal is reached, how many more checks it takes, and a sentence."""
    if task.tolerance is None:
        text = "Set the tolerance, which is the largest error of a prediction that you accept."
        return {"reached": False, "more": None, "text": text}
    within, goal = f"within ± {short(task.tolerance, 6)}", f"{100 * task.goal:.0f}%"
    reached, more = checks.reached(task.goal), checks.more(task.goal)
    if reached:
        text = f"Certified: at least {goal} of the predictions are {within} (95% confidence). You can stop."
    elif more is None and checks.number == checks.cannot + checks.waiting:
        text = "No random check has a number. Label other rows."
    elif more is None:
        text = f"{checks.right} of {checks.number - checks.waiting} random checks were {within}, too few for {goal}. "
        text += "Give more labels, allow a larger error, or set a lower goal."
    else:
        text = f"About {more} more random check{'' if more == 1 else 's'} would certify that {goal} are {within}."
    return {"reached": reached, "more": more, "text": text}


def queue_of(
    model: FewLabelRegressor | None, task: LearnerTask, coverage: list, names: Sequence[str], unusual: None = None
) -> dict:
    """The rows to ask for next. They are those whose numbers help most, mixed with random checks."""
    if model is None:
        return {"rev": task.rev, "mode": "coverage", "items": items_of(questions(None, task, coverage, 0.0), {})}
    share = task.share
    if task.tolerance is not None:
        share = share_of_checks(checks_of(model, task), task.share, task.goal)
    reasons: dict = {}
    if model.linear_ is not None:  # otherwise the effect of a number is not known
        known = {*model.labels_.labeled.tolist(), *task.labeled}
        for taken in ({*known, *task.skipped}, known):
            free = int(np.sum(~np.isin(model.advice_rows(), list(taken))))
            if free:
                found = suggest(model, min(QUEUE, free), exclude=np.array(sorted(taken)))
                alike = [one.like(names) for one in why(model, found.rows)]
                reasons = {
                    row: f"{reason}; {like}" for row, reason, like in zip(found.rows.tolist(), found.reasons, alike)
                }
                break
    asked = questions(None, task, [*reasons, *coverage], share)
    return {"rev": task.rev, "mode": "suggest", "items": items_of(asked, reasons)}


def suspicious_of(model: FewLabelRegressor, task: LearnerTask, names: Sequence[str]) -> dict:
    """Given numbers that are far from their held-out predictions, the farthest first.

    The measure is the held-out error in relation to the error that four of five others stay below. Both are divided by
    the width of the interval of the row, so that errors of large amounts are compared with those of large amounts.
    """
    labels, left_out = model.labels_, model.left_out_
    items: list = []
    if len(labels.labeled) >= FEWEST_TO_REVIEW:
        error = np.abs(labels.given - left_out) / model.reach(COVERAGE, left_out)
        times = error / max(float(np.quantile(error, MOST)), 1e-12)
        items = [
            {
                "row": int(labels.labeled[i]),
                "name": names[int(labels.labeled[i])],
                "given": float(labels.given[i]),
                "proposed": float(left_out[i]),
                "times": float(times[i]),
            }
            for i in np.argsort(-times, kind="stable")
            if times[i] >= UNUSUAL
        ]
    are = "is" if len(items) == 1 else "are"
    text = f"{len(items)} of {len(labels.labeled)} numbers {are} far from what the others predict, the farthest first."
    return {"rev": task.rev, "items": items, "text": text if items else "No number looks wrong."}


def why_of(
    model: FewLabelRegressor, task: LearnerTask, row: int, names: Sequence[str], distinctive: DistinctiveCells
) -> dict:
    """The reasons for the prediction of one row, which are the most similar labeled rows and its unusual cells."""
    (one,) = why(model, [row], n=4)
    given = model.labels_.values
    near = [
        {"row": other, "name": names[other], "class": float(given[other]), "similarity": cosine}
        for other, _, cosine in one.nearest
    ]
    cells = [[name, cell] for name, cell in distinctive.unusual(row).items()]
    empty: dict = {"probabilities": [], "families": [], "doubt": None, "line": None, "if": []}
    return {"row": row, "rev": task.rev, "near": near, "reason": one.like(names), "cells": cells} | empty
