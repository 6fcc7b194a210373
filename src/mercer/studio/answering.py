"""Turn a taught model into what the page shows: predictions, accuracy, the queue, doubtful labels and reasons."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..advice.checks import Checks, next_rows, share_of_checks
from ..advice.doubt import CONTRADICTED
from ..advice.stop import expected_change
from ..advice.suspicious import suspicious
from ..advice.why import Why, why
from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..few_label.catalog import methods_of
from ..few_label.classifier import FewLabelClassifier
from ..inputs.tables import DistinctiveCells
from .ledger import CANNOT
from .task import QUEUE, LearnerTask

NONE = 255  # class of a row without a prediction
SURE = 255.0
OTHER = 0.05  # probability from which a second class is named


@dataclass(frozen=True)
class Answer:
    """The predictions for all n rows.

    Attributes
    ----------
    triples : (n, 3) bytes, which are class, second class and confidence.
    digest : of labels and probabilities, to the last bit.
    top, shares : (n, 3) most likely classes, and their probabilities.
    held_out : {row: (class, probability)} of the random checks, from a model without the label of the row.
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

    @property
    def content(self) -> bytes:
        """The predictions as the page reads them."""
        return self.triples

    def likely(self, row: int) -> list:
        """[[class, probability]] of a row, the most likely first."""
        return [[int(c), float(p)] for c, p in zip(self.top[row], self.shares[row])]


def no_answers(n: int, numeric: bool) -> bytes:
    """The content of the predictions for n rows before there is a model."""
    if numeric:
        return np.full(2 * n, np.nan).tobytes()
    return np.tile(np.array([NONE, NONE, 0], dtype=np.uint8), n).tobytes()


def answer_of(model: FewLabelClassifier, rev: int, tier: str) -> Answer:
    """The predictions of a taught model whose classes are class numbers."""
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


def _held_out(model: FewLabelClassifier, ids) -> dict:
    labels = model.labels_
    tested = labels.labeled[labels.testable]
    drawn = np.flatnonzero(model.drawn_[tested])
    P = model.left_out_probabilities_[drawn]
    return {int(row): (int(ids[p.argmax()]), float(p.max())) for row, p in zip(tested[drawn], P)}


def checks_of(model: FewLabelClassifier, task: LearnerTask, names: dict | None = None) -> Checks:
    """Compare the first label of each random check with what the table would contain for its row without the check.

    That is the class that was given in bulk, or else the prediction of a model without the label of this row.
    `names` are those of the classes, for a model that was taught with names instead of class numbers.
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


def accuracy_of(model: FewLabelClassifier, task: LearnerTask, full: bool) -> dict:
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
    counts = {} if task.numeric else {c: task.ids.count(c) for c in sorted(set(task.ids))}
    return {
        "rev": task.rev,
        "random": None,
        "left_out": None,
        "majority": None,
        "change": None,
        "stop": {"reached": False, "more": checks.more(task.goal), "text": task.missing},
        "classes": [{"class": c, "given": number, "predicted": 0} for c, number in counts.items()],
    }


def _left_out(model: FewLabelClassifier):
    tested = model.labels_.testable
    number = int(tested.sum())
    if not number:
        return None
    codes = model.labels_.codes[model.labels_.labeled[tested]]
    right = int(np.sum(model.left_out_probabilities_.argmax(axis=1) == codes))
    low, high = accuracy_interval(right, number)
    chosen = not model.drawn_[model.labels_.labeled].all()
    note = "not an estimate, because rows were chosen" if chosen else "all labels were drawn at random"
    return {"value": right / number, "low": low, "high": high, "note": note}


def _change(model: FewLabelClassifier):
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
    model: FewLabelClassifier | None,
    task: LearnerTask,
    coverage: list,
    names: Sequence[str],
    unusual: list | None = None,
) -> dict:
    """The rows to ask for next. `names` are what rows are called.

    They are those whose labels help most, or `unusual` rows in their order, both mixed with random checks.
    """
    share = 0.0  # without two classes there is no prediction to check
    if model is not None:
        share = task.share
        if unusual is None:  # for mostly ordinary rows nearly all questions would be checks
            share = share_of_checks(checks_of(model, task), task.share, task.goal)
    chooser, order = (model, coverage) if unusual is None else (None, unusual)
    found = questions(chooser, task, order, share)
    chosen = [row for row, random, _ in found if not random]
    reasons = {} if unusual is None else dict.fromkeys(chosen, "One of the most unusual rows.")
    if chooser is not None and chosen:
        reasons = {row: named(one, task.names).sentence(names) for row, one in zip(chosen, why(model, chosen))}
    mode = "unusual" if unusual is not None else "coverage" if model is None else "suggest"
    return {"rev": task.rev, "mode": mode, "items": items_of(found, reasons)}


def questions(model: FewLabelClassifier | None, task: LearnerTask, order: list, share: float) -> list:
    """[(row, whether drawn at random, reason)]. Skipped rows come last. Without a model the rows are in this order."""
    found: list = []
    for kept_out in ({*task.labeled, *task.skipped}, set(task.labeled)):
        found = found or next_rows(model, QUEUE, task.draw, kept_out, share, task.n_random, task.n_asked, order)
    return found


def items_of(found: list, reasons: dict) -> list:
    """The questions as the page reads them."""
    return [
        {"row": row, "via": "random", "reason": "Drawn at random, to measure the accuracy."}
        if random
        else {"row": row, "via": "queue", "reason": reasons.get(row, reason)}
        for row, random, reason in found
    ]


def suspicious_of(model: FewLabelClassifier, task: LearnerTask, names: Sequence[str]) -> dict:
    """Labels that may be wrong, judged from the other labels. The most likely ones are first."""
    found = suspicious(model, above=CONTRADICTED)
    items = [
        {"row": int(row), "name": names[int(row)], "given": int(a), "proposed": int(b), "probability": float(p)}
        for row, a, b, p in zip(found.rows, found.given, found.proposed, found.probability)
    ]
    tested = int(model.labels_.testable.sum())
    text = f"{len(items)} of {tested} labels may be wrong, the most likely first." if items else "No label looks wrong."
    return {"rev": task.rev, "items": items, "text": text}


def no_why(row: int, text: str) -> dict:
    """A sentence on why there are no reasons, in the form of `why_of`."""
    empty: dict = {"probabilities": [], "near": [], "families": [], "cells": []}
    return {"row": row, "rev": 0, "doubt": None, "reason": text, "line": text, "if": None} | empty


def why_of(
    model: FewLabelClassifier, task: LearnerTask, row: int, names: Sequence[str], distinctive: DistinctiveCells
) -> dict:
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


def line_of(one: Why) -> str:
    """A sentence on the likely classes and on the classes that other methods predict."""
    (first, _), (second, p) = one.likely[:2]
    between = f"{first}, or else {second}" if p >= OTHER else first
    against = [(name, share) for name, share in one.votes if name != first and share >= OTHER]
    if not against:
        return f"{between}. All methods agree on {first}." if p >= OTHER else f"{first}. All methods agree."
    said = " and ".join(f"{100 * share:.0f}% for {name}" for name, share in against[:2])
    return f"{between}. The methods disagree: {said}."


def named(one: Why, names: dict) -> Why:
    """A `Why` with class names instead of class numbers."""
    return replace(
        one,
        likely=[(names[int(c)], p) for c, p in one.likely],
        votes=[(names[int(c)], share) for c, share in one.votes],
        nearest=[(row, names[int(c)], cosine) for row, c, cosine in one.nearest],
    )
