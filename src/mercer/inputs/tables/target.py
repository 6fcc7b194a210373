"""Read the column of labels: which rows have one, what the classes are called."""

from dataclasses import dataclass, field

import numpy as np

from ...errors import InputError
from .notes import cells_of

NOT_AVAILABLE = ("NA", "N/A", "NaN", "nan", "null", "NULL", "?", "#N/A")
FEWEST_NUMBERS = 5  # that say anything of the error of a prediction
MANY_NAMES = 20  # labels that are all different, beyond which they are names of rows rather than classes


@dataclass
class Target:
    """Labels of the rows as text, with None where there is none.

    Attributes
    ----------
    labels : (n,) object array of class names as text, None where unlabelled.
    given : (n,) bool.
    values : class name as text → the value as it stands in the table.
    notes : sentences on what was read how.
    """

    labels: np.ndarray
    given: np.ndarray
    values: dict
    notes: list = field(default_factory=list)
    numeric = False

    @property
    def classes(self):
        return sorted(self.values)


@dataclass
class NumberTarget:
    """Numbers to predict.

    Attributes
    ----------
    numbers : (n,) float, NaN where there is none. given : (n,) bool. notes : sentences on what was read how.
    """

    numbers: np.ndarray
    given: np.ndarray
    notes: list = field(default_factory=list)
    numeric = True


def read_target_as(column, kind=None, missing=None, need_labels=True):
    """`Target` or `NumberTarget`, whichever the column holds, with a note on it where the labels are numbers.

    Labels that are all numbers are to be predicted as numbers if some have fractions, or if there are more than 10
    different ones, more than one for every ten labels. Numbers with leading zeros are names of classes, and so are up
    to 50 different whole numbers, some of them repeated, that are nearly all of those from 0 or 1 on. `kind` ("numbers"
    or "classes") decides otherwise.
    """
    words, given, notes = _words(column, missing)
    name = column.name
    found = [_number(word) for word in words[given]]
    numbers = [number for number in found if number is not None]
    if kind == "numbers" and len(numbers) < len(found):
        wrong = next(word for word, number in zip(words[given], found) if number is None)
        raise InputError(
            f"{name!r} holds {wrong!r}, which is not a number, and --as numbers was given. Name the mark of unlabelled "
            "cells with --missing, or leave --as out."
        )
    if kind == "classes" or len(numbers) < max(len(found), 1 if need_labels else 2):
        return read_target(column, missing, need_labels, measured=kind == "classes")
    different = len(set(numbers))
    what = f"{name!r} holds {different} different number{'' if different == 1 else 's'}"
    if kind != "numbers" and not _measured(words[given], numbers):
        target = read_target(column, missing, need_labels)
        target.notes.append(f"{what}, read as names of classes (--as numbers predicts them as numbers).")
        return target
    if need_labels and (different < 2 or len(numbers) < FEWEST_NUMBERS):
        raise InputError(
            f"{what} in {cells_of(len(numbers))}, too few to predict others. Give at least {FEWEST_NUMBERS} numbers, "
            "not all the same; or say --as classes if they are names of classes."
        )
    values = np.full(len(given), np.nan)
    values[given] = numbers
    how = f"from {min(numbers):.6g} to {max(numbers):.6g}, read as numbers to predict (--as classes: as names)"
    return NumberTarget(values, given, [*notes, f"{what} {how}."])


def _measured(words, numbers):
    """Whether numbers are measurements rather than names of classes."""
    different = len(set(numbers))
    if any(len(word) > 1 and word[0] == "0" and word[1].isdigit() for word in words):
        return False
    if any(number != round(number) for number in numbers):
        return True
    counted = min(numbers) in (0, 1) and different <= min(50, len(numbers) - 1) and max(numbers) <= 1.25 * different
    return different > max(10, len(numbers) / 10) and not counted


def read_target(column, missing=None, need_labels=True, measured=False):
    """Turn a column into labels.

    Parameters
    ----------
    column : pandas Series.
    missing : list of text marks that mean "unlabelled", besides empty cells and, with a note, NA, N/A, NaN, null and ?;
        -1 is refused if it is not among them, for it may be a class. With "" in the list only the marks in it count.
    need_labels : refuse a column without labels of two classes.
    measured : take numbers that look like measurements for names of classes.
    """
    text, given, notes = _words(column, missing)
    name = column.name
    if ("" not in [mark.strip() for mark in missing or []]) and (text[given] == "-1").any():
        raise InputError(
            f'{name!r} holds -1, which may be a class or mean "unlabelled". '
            "Say --missing=-1 if it means unlabelled, or --missing= (nothing) if it is a class."
        )
    values: dict = {}
    for word, value in zip(text[given], column.to_numpy()[given]):
        values.setdefault(word, value)
    notes += _alike(values)
    labels = np.array(text, dtype=object)
    labels[~given] = None
    if need_labels or len(values) > 1:
        _refuse(name, text[given], given, values, measured)
    return Target(labels, given, values, notes)


def _words(column, missing):
    """(cells as text, which of them are labels, sentences on marks that were read as unlabelled)."""
    name = column.name
    empty = column.isna().to_numpy().copy()
    text = np.array(["" if gap else _text(value) for gap, value in zip(empty, column.tolist())], dtype=object)
    notes = []
    marks = [mark.strip() for mark in missing or []]
    guess = "" not in marks
    empty |= np.isin(text, ["", *marks])
    usual = np.isin(text, NOT_AVAILABLE) & ~empty & guess
    if usual.any():
        seen = ", ".join(sorted(set(text[usual])))
        hold = "holds" if usual.sum() == 1 else "hold"
        notes.append(
            f"{cells_of(int(usual.sum()))} of {name!r} {hold} {seen}: read as unlabelled "
            "(--missing '' makes it a class)."
        )
    return text, ~(empty | usual), notes


def _alike(values):
    """Sentences on class names that are probably one name in several spellings."""
    found: dict = {}
    for word in sorted(values):
        found.setdefault(" ".join(word.split()).casefold(), []).append(word)
    return [
        f"The labels {', '.join(map(repr, same))} differ only in capitals or spaces and are different classes here. "
        "Spell them alike if they are one class."
        for same in found.values()
        if len(same) > 1
    ]


def _refuse(name, words, given, values, measured):
    if len(words) == 0:
        raise InputError(
            f"No row has a label in {name!r}: all {len(given)} cells are empty. "
            "Label at least one row of each class; `mercer suggest` says which rows to begin with."
        )
    if len(values) < 2:
        raise InputError(
            f"All {len(words)} labels in {name!r} are {next(iter(values))!r}. Label rows of a second class too; "
            "to find unusual rows with one class only, use `mercer novelty`."
        )
    numbers = [_number(word) for word in words]
    if not measured and all(number is not None for number in numbers) and _measured(words, numbers):
        raise InputError(
            f"{name!r} holds {len(values)} different numbers such as {next(iter(values))}: a measurement, not classes. "
            "`mercer label` and `mercer suggest` predict numbers; for classes, cut them into ranges with names."
        )
    if len(values) == len(words) > MANY_NAMES and not measured:
        raise InputError(
            f"All {len(words)} labels in {name!r} are different, such as {next(iter(values))!r}: names of rows, not "
            "classes. Give a column whose values are shared by several rows."
        )


def _number(word):
    try:
        number = float(word.replace(",", "."))
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _text(value):
    """A cell as text: whole floats without their .0, so that a column with gaps reads like one without."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
