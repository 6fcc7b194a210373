"""How good the predictions are, from the labels that were held out."""

from typing import TYPE_CHECKING

import numpy as np

from ..advice.suspicious import FLAGGED, suspicious
from ..advice.unseen import unseen_rows
from ..advice.why import why
from ..evidence.accuracy import DESIGN, Rate, jeffreys
from ..evidence.choice import accuracy_interval
from ..few_label.answers import confidence
from ..few_label.classifier import FewLabelClassifier
from ..types import Facts
from .dataset import Dataset

if TYPE_CHECKING:
    from .classes import ClassAnswers, ClassFit


def _held_out(model: FewLabelClassifier) -> tuple[np.ndarray, np.ndarray]:
    """Return the true codes and the probabilities of the labels that could be held out."""
    labels = model.labels_
    return labels.codes[labels.labeled[labels.testable]], model.left_out_probabilities_


def random_held_out(model: FewLabelClassifier) -> tuple[np.ndarray, np.ndarray]:
    """Return the same for the labels of rows drawn at random, which represent all rows. If there are none, for all."""
    codes, P = _held_out(model)
    drawn = model.drawn_[model.labels_.labeled[model.labels_.testable]]
    return (codes[drawn], P[drawn]) if drawn.any() else (codes, P)


def coverage(model: FewLabelClassifier) -> list[tuple[float, float, float, float]]:
    """Return [(fraction predicted, accuracy, low, high)] over the held-out labels, most confident first.

    If some labels were drawn at random, only these are used, because they represent all rows.
    """
    codes, P = random_held_out(model)
    if len(codes) == 0:
        return []
    right = P.argmax(axis=1) == codes
    right = right[np.argsort(-P.max(axis=1), kind="stable")]
    total = len(right)
    hits = np.cumsum(right)
    steps = np.unique(np.linspace(1, total, min(total, 40)).round().astype(int))
    return [(float(k / total), float(hits[k - 1] / k), *accuracy_interval(int(hits[k - 1]), int(k))) for k in steps]


def answered(model: FewLabelClassifier, answers: "ClassAnswers", abstain: float) -> Rate:
    """Return the fraction of correct predictions among the unlabeled rows whose confidence reaches `abstain`.

    It is the accuracy on held-out labels of such a confidence, plus the difference between the mean confidence of the
    unlabeled rows and that of these labels. `mercer.evidence.accuracy` describes this estimate.
    """
    codes, P = random_held_out(model)
    sure = confidence(model, P)
    kept, rows = sure >= abstain, ~answers.given & ~answers.left
    if not kept.any() or not rows.any():
        return Rate(float("nan"), 0.0, 1.0)
    rate = np.mean(P[kept].argmax(axis=1) == codes[kept]) + answers.confidence[rows].mean() - sure[kept].mean()
    return jeffreys(float(np.clip(rate, 0.0, 1.0)), 1.0 / (DESIGN / kept.sum() + 1.0 / rows.sum()))


def answered_sentence(rate: Rate, number: int, abstain: float) -> str:
    """Return a sentence on how many of the predicted rows are correct."""
    rows = "the row that was" if number == 1 else f"the {number} rows that were"
    if not number:
        return ""
    if not np.isfinite(rate.value):
        why = f"no held-out label reaches a confidence of {abstain:g}"
        return f"How many of {rows} predicted are correct is not known, because {why}. For all rows:"
    return (
        f"Of {rows} predicted, about {rate.value:.0%} are correct (95% interval {rate.low:.0%} to {rate.high:.0%}), "
        f"judging from the held-out labels that reach a confidence of {abstain:g}. For all rows:"
    )


def wrong_labels_sentence(right: int, tested: int, wrong: float) -> str:
    """Return how wrong labels affect the estimate. "" if hardly any label is contradicted by the others.

    With 20% wrong labels the expected number of wrong ones is 5% to 25% of the labels. Without any, it is often as
    large on difficult tables. The sentence therefore does not claim that labels are wrong.
    """
    if right == tested or wrong < 0.05 * tested:  # too few wrong labels to mention them next to the accuracy
        return ""
    return (
        "If some labels are wrong, the accuracy is higher than estimated, because a prediction that contradicts a "
        "wrong label counts as an error. `mercer check` lists the labels to look at."
    )


def per_class(model: FewLabelClassifier) -> list[Facts]:
    """Return {name, tested, right, low, high, taken} per class, on how many held-out labels are predicted correctly.

    `taken` is [(predicted class, how often)] of the wrong predictions, the most frequent first.
    """
    codes, P = _held_out(model)
    answers, names = P.argmax(axis=1) if len(codes) else codes, [str(name) for name in model.classes_]
    found = []
    for k, name in enumerate(names):
        counts = np.bincount(answers[codes == k], minlength=len(names))
        tested, right = int(counts.sum()), int(counts[k])
        low, high = accuracy_interval(right, tested)
        taken = [(names[j], int(counts[j])) for j in np.argsort(-counts, kind="stable") if j != k and counts[j]]
        found.append({"name": name, "tested": tested, "right": right, "low": low, "high": high, "taken": taken})
    return found


def contradictions(model: FewLabelClassifier) -> tuple[int, int, float]:
    """Return (number of correct held-out predictions, of labels that could be held out, and of wrong labels).

    The number of wrong labels is the expected one among those that the held-out predictions contradict.
    """
    tested = int(model.labels_.testable.sum())
    if not tested:
        return 0, 0, 0.0
    found = suspicious(model, tested)
    against = found.margins < 0
    return tested - int(against.sum()), tested, float(found.probability[against].sum())


def contradicted_sentence(right: int, tested: int, wrong: float) -> str:
    """Return a sentence on how often the model is correct, which shows how much a contradiction means."""
    if right == tested:
        return f"Held out, all {tested} labels are predicted correctly."
    first = f"Held out, {right} of {tested} labels are predicted correctly ({right / tested:.0%})."
    if tested - right == 1:
        likely = "the label is wrong" if wrong > 0.5 else "this is a mistake of the model"
        return f"{first} The others contradict one label, and it is more likely that {likely}."
    number = "hardly any" if wrong < 0.5 else f"about {wrong:.0f}"
    return (
        f"{first} The others contradict {tested - right} labels. Of these, {number} "
        f"{'is' if wrong < 1.5 else 'are'} estimated to be wrong, and the rest are errors of the model."
    )


def doubtful_labels(dataset: Dataset, fitted: "ClassFit", above: float = FLAGGED) -> list[tuple[int, str, str, str]]:
    """Return [(row, given label, prediction from the others, reason)] of labels that are probably wrong.

    The label that is most likely wrong comes first.
    """
    found = suspicious(fitted.model, above=above)
    alike = [one.like(dataset.names) for one in why(fitted.model, found.rows)]
    columns = zip(found.rows.tolist(), found.given.tolist(), found.proposed.tolist(), found.probability, alike)
    return [
        (row, str(given), str(other), f"{p:.0%} chance that it is wrong; {like}")
        for row, given, other, p, like in columns
    ]


def unlike_labeled(dataset: Dataset, fitted: "ClassFit", n: int = 5) -> list[tuple[int, str]]:
    """Return [(row, reason)] of rows that may belong to a class without a label. [] if every class has several."""
    if not fitted.model.estimate_.unseen.value > 0:
        return []
    found = unseen_rows(fitted.model, dataset.X, n)
    return list(zip(found.tolist(), [one.sentence(dataset.names) for one in why(fitted.model, found)]))
