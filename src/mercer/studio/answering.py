"""From a taught model to what the page shows: answers, accuracy, the queue, doubtful labels, reasons."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..advice.checks import Checks, next_rows, share_of_checks
from ..advice.doubt import CONTRADICTED
from ..advice.stop import expected_change
from ..advice.suspicious import suspicious
from ..advice.why import why
from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..few_label.plan import METHODS

NONE = 255  # class of a row without an answer
QUEUE = 10
SURE = 255.0


@dataclass(frozen=True)
class Task:
    """A labelling to learn from.

    Attributes
    ----------
    rev : of the journal. rows, ids, drawn : labelled rows, class numbers, which were drawn at random.
    labelled : rows not to ask for: these, and those that nobody could tell.
    cannot : how many of the latter were drawn at random.
    names : {class number: name}. goal, share : what is to be certified, share of random rows in the queue.
    n_random, n_asked : rows of the queue that were answered, the random ones and all.
    """

    rev: int
    rows: list
    ids: list
    drawn: list
    labelled: list
    cannot: int
    names: dict
    goal: float
    share: float
    n_random: int
    n_asked: int

    @property
    def same(self) -> tuple:
        """What the model depends on: two tasks that agree in it have the same answer."""
        return tuple(self.rows), tuple(self.ids), tuple(self.drawn)

    @property
    def ready(self) -> bool:
        """Whether there are two classes to tell apart."""
        return len(set(self.ids)) > 1


@dataclass(frozen=True)
class Answer:
    """The answers for all n rows.

    Attributes
    ----------
    triples : (n, 3) bytes: class, second class, confidence. digest : of labels and probabilities, to the last bit.
    top, shares : (n, 3) the likeliest classes and their probabilities.
    """

    rev: int
    tier: str
    digest: str
    triples: bytes
    top: np.ndarray
    shares: np.ndarray


def answer_of(model: Any, rev: int, tier: str) -> Answer:
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
    return Answer(rev, tier, mark.hexdigest(), triples.tobytes(), ids[best], shares)


def accuracy_of(model: Any, task: Task, full: bool) -> dict:
    """How many answers are right, and whether that is certified."""
    checks = Checks.of(model, task.cannot)
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


def no_accuracy(task: Task) -> dict:
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


def _left_out(model):
    tested = model.labels_.testable
    number = int(tested.sum())
    if not number:
        return None
    codes = model.labels_.codes[model.labels_.labelled[tested]]
    right = int(np.sum(model.left_out_probabilities_.argmax(axis=1) == codes))
    low, high = accuracy_interval(right, number)
    chosen = not model.drawn_[model.labels_.labelled].all()
    note = "not an estimate: rows were chosen" if chosen else "all labels were drawn at random"
    return {"value": right / number, "low": low, "high": high, "note": note}


def _change(model):
    n = min(20, int(np.sum(model.labels_.codes[model.looked_at()] < 0)))
    try:
        value = expected_change(model, n) if n else 0.0
    except InputError:  # no candidate is linear in the labels
        return None
    return {
        "value": value,
        "text": f"{n} more labels are expected to change {100 * value:.1f} % of the answers.",
    }


def queue_of(model: Any, task: Task, order: np.ndarray, coverage: list, names: Any) -> dict:
    """The rows to ask for next; `names` are what rows are called."""
    share = task.share
    if model is not None:
        share = share_of_checks(Checks.of(model, task.cannot), share, task.goal)
    found = next_rows(model, QUEUE, order, set(task.labelled), share, task.n_random, task.n_asked, coverage=coverage)
    chosen = [row for row, random, _ in found if not random]
    reasons = {}
    if model is not None and chosen:
        reasons = {row: named(one, task.names).sentence(names) for row, one in zip(chosen, why(model, chosen))}
    items = [
        {"row": row, "via": "random", "reason": "Drawn at random: it shows how often the answers are right."}
        if random
        else {"row": row, "via": "queue", "reason": reasons.get(row, reason)}
        for row, random, reason in found
    ]
    return {"rev": task.rev, "mode": "coverage" if model is None else "suggest", "items": items}


def suspicious_of(model: Any, task: Task, names: Any) -> dict:
    """Given labels that may be wrong, as far as the others tell, the likeliest first."""
    found = suspicious(model, above=CONTRADICTED)
    items = [
        {"row": int(row), "name": names[int(row)], "given": int(a), "proposed": int(b), "probability": float(p)}
        for row, a, b, p in zip(found.rows, found.given, found.proposed, found.probability)
    ]
    tested = int(model.labels_.testable.sum())
    text = f"{len(items)} of {tested} labels that could be withheld may be wrong, the likeliest first."
    return {"rev": task.rev, "items": items, "text": text}


def no_why(row: int) -> dict:
    """Instead of the reasons, while there is no answer."""
    text = "There is no answer yet: label rows of two classes first."
    empty: dict = {"probabilities": [], "near": [], "families": [], "drives": []}
    return {"row": row, "rev": 0, "doubt": None, "reason": text, "if": None} | empty


def why_of(model: Any, task: Task, row: int, names: Any, telling: Any) -> dict:
    """What the model goes by in one row."""
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
            {"name": METHODS[method][0], "class": int(c), "weight": weight} for method, c, weight in one.families
        ],
        "doubt": 1.0 - lead,
        "reason": named(one, task.names).sentence(names),
        "drives": [[name, cell] for name, cell in telling.cells(row, 4).items()],
        "if": None,
    }


def named(one: Any, names: dict) -> Any:
    """A `Why` of class numbers with their names instead."""
    return replace(
        one,
        likely=[(names[int(c)], p) for c, p in one.likely],
        votes=[(names[int(c)], share) for c, share in one.votes],
        nearest=[(row, names[int(c)], cosine) for row, c, cosine in one.nearest],
    )
