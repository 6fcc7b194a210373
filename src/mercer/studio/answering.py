"""From a taught model to what the page shows: answers, accuracy, the queue, doubtful labels, reasons."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..advice.checks import Checks, next_rows, share_of_checks
from ..advice.doubt import CONTRADICTED
from ..advice.stop import expected_change
from ..advice.suspicious import suspicious
from ..advice.why import why
from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..few_label.catalog import methods_of
from ..inputs.tables import DistinctiveCells
from ..types import ColumnLike, Estimator
from .drawing import Draw
from .ledger import CANNOT, Ledger

NONE = 255  # class of a row without an answer
QUEUE = 30  # rows: at ten labels a second they last until the next queue is made
SURE = 255.0
OTHER = 0.05  # probability from which a second class is named


@dataclass(frozen=True)
class LearnerTask:
    """A labeling to learn from.

    Attributes
    ----------
    rev : of the journal. rows, ids, drawn : labeled rows, class numbers, which were drawn at random.
    labeled : rows not to choose: these, those that no one could tell, checks that wait for an answer.
    skipped : rows that were skipped, which are chosen when no other is left.
    checks : [(row, first answer, class that it was given without a look or None)] of all random checks answered.
    waiting : how many checks wait for an answer. draw : the next rows to ask for as checks.
    names : {class number: name}. goal, share : what is to be certified, fraction of random rows in the queue.
    n_random, n_asked : rows of the queue that were answered, the random ones and all.
    accepted : {row: class} of predictions that were accepted without a look, which are not learned from.
    passed, unknown : rows of checks that wait for a label, and rows that no one can classify.
    as_predicted : checks whose row was accepted as predicted, among many that no one looked at.
    """

    rev: int
    rows: list
    ids: list
    drawn: list
    labeled: list
    skipped: list
    checks: list
    waiting: int
    draw: list
    names: dict
    goal: float
    share: float
    n_random: int
    n_asked: int
    accepted: dict = field(default_factory=dict)
    passed: list = field(default_factory=list)
    unknown: list = field(default_factory=list)
    as_predicted: list = field(default_factory=list)

    @property
    def same(self) -> tuple:
        """The values that the model depends on: two tasks that agree in them have the same predictions."""
        return tuple(self.rows), tuple(self.ids), tuple(self.drawn)

    @property
    def ready(self) -> bool:
        """Whether there are two classes to tell apart."""
        return len(set(self.ids)) > 1


def task_of(ledger: Ledger, draw: Draw, rev: int) -> LearnerTask:
    """The labeling of a ledger at a revision, with the checks that speak for it."""
    rows, ids, drawn = ledger.labeling()
    waiting = draw.waiting(ledger)
    asked = [given.via for given in ledger.labels.values() if given.via in ("queue", "random")]
    return LearnerTask(
        rev,
        rows,
        ids,
        drawn,
        sorted({*ledger.labels, *waiting}),
        sorted(row for row, (_, check) in ledger.skipped.items() if not check),
        ledger.outcomes(),
        len(waiting),
        draw.next(ledger, QUEUE, rev),
        {one["id"]: one["name"] for one in ledger.classes},
        ledger.settings["goal"],
        ledger.settings["random_share"],
        asked.count("random"),
        len(asked),
        {row: given.value for row, given in ledger.labels.items() if ledger.accepted(row)},
        waiting,
        [row for row, given in ledger.labels.items() if given.value == CANNOT],
        [row for row in ledger.checks if ledger.as_predicted(row)],
    )


@dataclass(frozen=True)
class Answer:
    """The answers for all n rows.

    Attributes
    ----------
    triples : (n, 3) bytes: class, second class, confidence. digest : of labels and probabilities, to the last bit.
    top, shares : (n, 3) the most likely classes and their probabilities.
    held_out : {row: (class, probability)} without its own label, of each random check.
    """

    rev: int
    tier: str
    digest: str
    triples: bytes
    top: np.ndarray
    shares: np.ndarray
    held_out: dict = field(default_factory=dict)

    def guess(self, row: int) -> tuple[int | None, float]:
        """(class, confidence) of a row."""
        value, _, sure = self.triples[3 * row : 3 * row + 3]
        return (None if value == NONE else value), sure / SURE


def answer_of(model: Estimator, rev: int, tier: str) -> Answer:
    """The answers of a taught model whose classes are class numbers."""
    P, ids = model.probabilities_, np.asarray(model.classes_, dtype=np.uint8)
    k = min(3, P.shape[1])
    best = np.argsort(-P, axis=1, kind="stable")[:, :k]
    shares = np.take_along_axis(P, best, axis=1).astype(np.float32)
    codes, given = model.labels_.codes, model.labels_.codes >= 0
    first = ids[np.where(given, codes, best[:, 0])]
    second = np.where(ids[best[:, 0]] == first, ids[best[:, 1]], ids[best[:, 0]])
    confidence = np.round(SURE * model.confidence_).astype(np.uint8)
    triples = np.column_stack([first, second, confidence]).astype(np.uint8)
    mark = hashlib.sha256(np.ascontiguousarray(P).tobytes() + codes.tobytes() + ids.tobytes() + tier.encode())
    return Answer(rev, tier, mark.hexdigest(), triples.tobytes(), ids[best], shares, _held_out(model, ids))


def _held_out(model: Estimator, ids) -> dict:
    labels = model.labels_
    tested = labels.labeled[labels.testable]
    drawn = np.flatnonzero(model.drawn_[tested])
    P = model.left_out_probabilities_[drawn]
    return {int(row): (int(ids[p.argmax()]), float(p.max())) for row, p in zip(tested[drawn], P)}


def checks_of(model: Estimator, task: LearnerTask, names: dict | None = None) -> Checks:
    """The random checks: the first answer of a person next to what the table would hold for that row otherwise.

    That is the class given with many others that no one looked at, or else the prediction without this row's label.
    `names` are those of the classes, of a model that was taught with names instead of class numbers.
    """
    labels, classes = model.labels_, model.classes_.tolist()
    codes = {int(one) if names is None else str(one): code for code, one in enumerate(classes)}
    tested = labels.labeled[labels.testable]
    held_out = dict(zip(tested.tolist(), model.left_out_probabilities_.argmax(axis=1).tolist()))
    labeled, right = set(labels.labeled.tolist()), 0
    for row, first, bulk in task.checks:
        if first == CANNOT:
            continue
        if bulk is not None:
            right += bulk == first
        else:
            found = held_out.get(row) if row in labeled else int(model.predicted_[row])
            right += found is not None and found == codes.get(first if names is None else str(names[first]))
    cannot = sum(first == CANNOT for _, first, _ in task.checks)
    return Checks(right, len(task.checks) + task.waiting, cannot, task.waiting)


def accuracy_of(model: Estimator, task: LearnerTask, full: bool) -> dict:
    """How many predictions are correct, and whether that is certified."""
    checks = checks_of(model, task)
    rate = checks.rate
    ids = [int(name) for name in model.classes_]
    predicted = np.bincount(model.predicted_[model.labels_.codes < 0], minlength=len(ids))
    given = model.labels_.counts().astype(int)
    all_of = given + predicted
    return {
        "rev": task.rev,
        "random": {
            "checks": checks.number,
            "right": checks.right,
            "cannot": checks.cannot,
            "waiting": checks.waiting,
            "value": None if np.isnan(rate.value) else rate.value,
            "low": rate.low,
            "high": rate.high,
        }
        if checks.number
        else None,
        "left_out": _left_out(model),
        "majority": {"class": ids[int(all_of.argmax())], "value": float(all_of.max() / all_of.sum())},
        "change": _change(model) if full else None,
        "stop": {
            "reached": checks.reached(task.goal),
            "more": checks.more(task.goal),
            "text": checks.sentence(task.goal),
        },
        "classes": [{"class": c, "given": int(a), "predicted": int(b)} for c, a, b in zip(ids, given, predicted)],
    }


def no_accuracy(task: LearnerTask) -> dict:
    """The same before there are two classes."""
    checks = Checks(0, 0)
    counts = {c: task.ids.count(c) for c in sorted(set(task.ids))}
    return {
        "rev": task.rev,
        "random": None,
        "left_out": None,
        "majority": None,
        "change": None,
        "stop": {"reached": False, "more": checks.more(task.goal), "text": "Label rows of two classes to begin."},
        "classes": [{"class": c, "given": number, "predicted": 0} for c, number in counts.items()],
    }


def _left_out(model: Estimator):
    tested = model.labels_.testable
    number = int(tested.sum())
    if not number:
        return None
    codes = model.labels_.codes[model.labels_.labeled[tested]]
    right = int(np.sum(model.left_out_probabilities_.argmax(axis=1) == codes))
    low, high = accuracy_interval(right, number)
    chosen = not model.drawn_[model.labels_.labeled].all()
    note = "not an estimate: rows were chosen" if chosen else "all labels were drawn at random"
    return {"value": right / number, "low": low, "high": high, "note": note}


def _change(model: Estimator):
    n = min(20, int(np.sum(model.labels_.codes[model.advice_rows()] < 0)))
    try:
        value = expected_change(model, n) if n else 0.0
    except InputError:  # no candidate is linear in the labels
        return None
    return {
        "value": value,
        "text": f"{n} more labels are expected to change {100 * value:.1f}% of the predictions.",
    }


def queue_of(
    model: Estimator, task: LearnerTask, coverage: list, names: ColumnLike, unusual: list | None = None
) -> dict:
    """The rows to ask for next. `names` are what rows are called.

    They are those whose labels help most, or `unusual` rows in their order, both mixed with random checks.
    """
    share = 0.0  # before two classes there is no prediction to check
    if model is not None:
        share = task.share
        if unusual is None:  # among mostly ordinary rows checks alone would be asked for almost at once
            share = share_of_checks(checks_of(model, task), task.share, task.goal)
    found: list = []
    chooser, order = (model, coverage) if unusual is None else (None, unusual)
    for kept_out in ({*task.labeled, *task.skipped}, set(task.labeled)):
        found = found or next_rows(chooser, QUEUE, task.draw, kept_out, share, task.n_random, task.n_asked, order)
    chosen = [row for row, random, _ in found if not random]
    reasons = {} if unusual is None else dict.fromkeys(chosen, "One of the most unusual rows.")
    if chooser is not None and chosen:
        reasons = {row: named(one, task.names).sentence(names) for row, one in zip(chosen, why(model, chosen))}
    items = [
        {"row": row, "via": "random", "reason": "Drawn at random, to measure the accuracy."}
        if random
        else {"row": row, "via": "queue", "reason": reasons.get(row, reason)}
        for row, random, reason in found
    ]
    mode = "unusual" if unusual is not None else "coverage" if model is None else "suggest"
    return {"rev": task.rev, "mode": mode, "items": items}


def suspicious_of(model: Estimator, task: LearnerTask, names: ColumnLike) -> dict:
    """Given labels that may be wrong, as far as the others tell, the most likely first."""
    found = suspicious(model, above=CONTRADICTED)
    items = [
        {"row": int(row), "name": names[int(row)], "given": int(a), "proposed": int(b), "probability": float(p)}
        for row, a, b, p in zip(found.rows, found.given, found.proposed, found.probability)
    ]
    tested = int(model.labels_.testable.sum())
    text = f"{len(items)} of {tested} labels may be wrong, the most likely first." if items else "No label looks wrong."
    return {"rev": task.rev, "items": items, "text": text}


def no_why(row: int) -> dict:
    """Instead of the reasons, while there is no answer."""
    text = "There is no answer yet: label rows of two classes first."
    empty: dict = {"probabilities": [], "near": [], "families": [], "cells": []}
    return {"row": row, "rev": 0, "doubt": None, "reason": text, "line": text, "if": None} | empty


def why_of(model: Estimator, task: LearnerTask, row: int, names: ColumnLike, distinctive: DistinctiveCells) -> dict:
    """The reasons for the prediction of one row."""
    (one,) = why(model, [row], n=4)
    lead = one.likely[0][1] - one.likely[1][1]
    return {
        "row": row,
        "rev": task.rev,
        "probabilities": [[int(c), p] for c, p in one.likely[:3]],
        "near": [
            {"row": other, "name": names[other], "class": int(c), "similarity": cosine}
            for other, c, cosine in one.nearest
        ],
        "families": [
            {"name": methods_of("classes")[method].title, "class": int(c), "weight": weight}
            for method, c, weight in one.families
        ],
        "doubt": 1.0 - lead,
        "reason": named(one, task.names).sentence(names),
        "line": line_of(named(one, task.names)),
        "cells": [[name, cell] for name, cell in distinctive.unusual(row).items()],
        "if": None,
    }


def line_of(one: Any) -> str:
    """The likely classes in one sentence, and what the methods that disagree name."""
    (first, _), (second, p) = one.likely[:2]
    between = f"{first}, or else {second}" if p >= OTHER else first
    against = [(name, share) for name, share in one.votes if name != first and share >= OTHER]
    if not against:
        return f"{between}. All methods agree on {first}." if p >= OTHER else f"{first}. All methods agree."
    said = " and ".join(f"{100 * share:.0f}% for {name}" for name, share in against[:2])
    return f"{between}. The methods disagree: {said}."


def named(one: Any, names: dict) -> Any:
    """A `Why` of class numbers with their names instead."""
    return replace(
        one,
        likely=[(names[int(c)], p) for c, p in one.likely],
        votes=[(names[int(c)], share) for c, share in one.votes],
        nearest=[(row, names[int(c)], cosine) for row, c, cosine in one.nearest],
    )
