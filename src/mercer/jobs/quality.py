"""How good the answers are, from the labels that were withheld."""

import numpy as np

from ..advice.suspicious import FLAGGED, suspicious
from ..advice.unseen import unseen_rows
from ..advice.why import why
from ..evidence.choice import accuracy_interval


def _withheld(model):
    """(true codes, probabilities) of the labels that could be withheld."""
    labels = model.labels_
    return labels.codes[labels.labelled[labels.testable]], model.left_out_probabilities_


def coverage(model):
    """[(share answered, accuracy, low, high)] over the withheld labels, most confident first.

    Of labels that were chosen and labels drawn at random the latter only: they speak for all rows.
    """
    codes, P = _withheld(model)
    if len(codes) == 0:
        return []
    drawn = model.drawn_[model.labels_.labelled[model.labels_.testable]]
    codes, P = (codes[drawn], P[drawn]) if drawn.any() else (codes, P)
    right = P.argmax(axis=1) == codes
    right = right[np.argsort(-P.max(axis=1), kind="stable")]
    total = len(right)
    hits = np.cumsum(right)
    steps = np.unique(np.linspace(1, total, min(total, 40)).round().astype(int))
    return [(float(k / total), float(hits[k - 1] / k), *accuracy_interval(int(hits[k - 1]), int(k))) for k in steps]


def per_class(model):
    """[{name, tested, right, low, high, taken}] for each class: how many withheld labels came out right, and how not.

    `taken` is [(other class, how often)] for those that came out wrong, the most frequent first.
    """
    codes, P = _withheld(model)
    answers, names = P.argmax(axis=1) if len(codes) else codes, [str(name) for name in model.classes_]
    found = []
    for k, name in enumerate(names):
        counts = np.bincount(answers[codes == k], minlength=len(names))
        tested, right = int(counts.sum()), int(counts[k])
        low, high = accuracy_interval(right, tested)
        taken = [(names[j], int(counts[j])) for j in np.argsort(-counts, kind="stable") if j != k and counts[j]]
        found.append({"name": name, "tested": tested, "right": right, "low": low, "high": high, "taken": taken})
    return found


def contradictions(model):
    """(labels that come out right when withheld, labels that could be withheld, how many of the others are wrong)."""
    tested = int(model.labels_.testable.sum())
    if not tested:
        return 0, 0, 0.0
    found = suspicious(model, tested)
    against = found.margins < 0
    return tested - int(against.sum()), tested, float(found.probability[against].sum())


def contradicted_sentence(right, tested, wrong):
    """How often the model itself is right, which says what a contradiction is worth."""
    if right == tested:
        return f"Withheld, all {tested} labels come out right."
    number = "hardly any is" if wrong < 0.5 else f"about {wrong:.0f} {'is' if round(wrong) == 1 else 'are'}"
    return (
        f"Withheld, {right} of {tested} labels come out right ({right / tested:.0%}). Of the {tested - right} that the "
        f"others contradict {number} wrong, by this reckoning; the rest are mistakes of the model."
    )


def doubtful_labels(job, fitted, above=FLAGGED):
    """[(row, given label, what the others say, reason)] for labels that are probably wrong, worst first."""
    found = suspicious(fitted.model, above=above)
    names = [job.names[i] for i in fitted.rows]
    alike = [one.like(names) for one in why(fitted.model, found.rows)]
    columns = zip(
        fitted.rows[found.rows].tolist(), found.given.tolist(), found.proposed.tolist(), found.probability, alike
    )
    return [(row, str(given), str(other), f"{p:.0%} likely wrong; {like}") for row, given, other, p, like in columns]


def unlike_labelled(job, fitted, n=5):
    """[(row, reason)] of rows that may belong to a class without a label; none where every class has several labels."""
    if not fitted.model.estimate_.unseen.value > 0:
        return []
    found = unseen_rows(fitted.model, job.X[fitted.rows], n)
    names = [job.names[i] for i in fitted.rows]
    return list(zip(fitted.rows[found].tolist(), [one.sentence(names) for one in why(fitted.model, found)]))
