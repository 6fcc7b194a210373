"""The predictions of a saved model next to the labels that a new table has."""

import numpy as np

from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..inputs.numerals import short
from ..inputs.tables import given_cells, read_target_as
from ..types import Facts, Series
from .classes import ClassAnswers
from .numbers import NumberPredictions

TRAINED = "This is too optimistic, because the model was trained with some of these rows."


def agreement(answers: ClassAnswers | NumberPredictions, column: Series, missing: list[str] | None = None) -> Facts:
    """Return facts and a sentence on how well predictions agree with the labels in a column. {} without labels."""
    if isinstance(answers, NumberPredictions):
        return _numbers(answers, column, missing)
    given, words, _ = given_cells(column, missing)
    if not given.any():
        return {}
    names = np.array([str(value) for value in answers.values], dtype=object)
    predicted = given & ~answers.left
    right, number = int(np.sum(names[answers.codes][predicted] == words[predicted])), int(predicted.sum())
    unknown = sorted(set(words[given]) - set(names))
    low, high = accuracy_interval(right, number)
    total = int(given.sum())
    left = "" if number == total else f" of {total}, {total - number} of which have no prediction,"
    sentence = f"None of the rows with a label in {answers.target!r} has a prediction."
    if number:
        sentence = (
            f"{right} of {number} labels in {answers.target!r}{left} are predicted correctly: {right / number:.0%} "
            f"(95% interval {low:.0%} to {high:.0%}). {TRAINED}"
        )
    if unknown:
        shown = ", ".join(map(repr, unknown[:5])) + (" …" if len(unknown) > 5 else "")
        sentence += f" The model does not know the class{'' if len(unknown) == 1 else 'es'} {shown}."
    accuracy = right / number if number else float("nan")
    return {"labels": number, "accuracy": accuracy, "accuracy_interval": [low, high], "sentence": sentence}


def _numbers(answers: NumberPredictions, column: Series, missing: list[str] | None) -> Facts:
    try:
        found = read_target_as(column, "number", missing, need_labels=False)
    except InputError as error:
        return {"sentence": f"The predictions cannot be compared with {answers.target!r}: {error}"}
    given = found.given
    if not given.any():
        return {}
    true, off = found.numbers[given], np.abs(answers.numbers - found.numbers)[given]
    inside = np.mean((answers.ends[given, 0] <= true) & (true <= answers.ends[given, 1]))
    spread = float(np.sum((true - true.mean()) ** 2))
    r2 = 1 - float(np.sum(off**2)) / spread if spread else float("nan")
    sentence = (
        f"{len(true)} numbers in {answers.target!r} are predicted with a mean absolute error of {short(off.mean())}. "
        f"{inside:.0%} of them are within their {100 * answers.coverage:g}% interval. {TRAINED}"
    )
    facts = {"labels": len(true), "mae": float(off.mean()), "r2": r2, "within_interval": float(inside)}
    return facts | {"sentence": sentence}
