"""Read the column of labels: which rows have one, what the classes are called."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ...errors import InputError
from .notes import cells_of

NOT_AVAILABLE = ("NA", "N/A", "NaN", "nan", "null", "NULL", "?", "#N/A")
MANY_NUMBERS = 20  # different numbers beyond which a column of whole numbers is a measurement rather than classes


@dataclass
class Target:
    """The labels of n rows."""

    labels: np.ndarray  # (n,) class names as text, None where unlabelled
    given: np.ndarray  # (n,) which rows have one
    values: dict  # class name as text → the value as it stands in the table
    notes: list = field(default_factory=list)  # sentences on what was read how
    mark: str = ""  # between the labels of cells that hold several, such as ";"; empty where each holds one

    @property
    def classes(self):
        return sorted(self.values)


def read_target(column, missing=None, need_labels=True, several=False):
    """Turn a column into labels.

    Parameters
    ----------
    column : pandas Series.
    missing : list of text marks that mean "unlabelled", besides empty cells and, with a note, NA, N/A, NaN, null and ?;
        -1 is refused if it is not among them, for it may be a class. With "" in the list only the marks in it count.
    need_labels : refuse a column without labels of two classes.
    several : accept cells of several labels.
    """
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
    empty |= usual
    if guess and (text[~empty] == "-1").any():
        raise InputError(
            f'{name!r} holds -1, which may be a class or mean "unlabelled". '
            "Say --missing=-1 if it means unlabelled, or --missing= (nothing) if it is a class."
        )
    given = ~empty
    values: dict = {}
    for word, value in zip(text[given], column.to_numpy()[given]):
        values.setdefault(word, value)
    notes += _alike(values)
    labels = np.array(text, dtype=object)
    labels[empty] = None
    mark = several_labels(values)
    if need_labels or (len(values) > 1 and not mark):
        _refuse(name, text[given], given, values)
    if mark and need_labels and not several:
        both = next(word for word in values if mark in word)
        raise InputError(
            f"Cells of {name!r} hold several labels, such as {both!r}; only `mercer label` fills in such cells. Make a "
            f"column of yes and no for each label, or write another mark than {mark!r} if {both!r} is one class."
        )
    return Target(labels, given, values, notes, mark)


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


def _refuse(name, words, given, values):
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
    numbers = [_number(word) for word in values]
    if all(number is not None for number in numbers):
        fractional = [n for n in numbers if n != round(n)]
        if fractional or (len(values) > MANY_NUMBERS and len(values) > len(words) / 2):
            raise InputError(
                f"{name!r} holds {len(values)} different numbers such as {next(iter(values))}: a measurement, "
                "not classes. Give a column of classes, or cut the numbers into ranges with names."
            )
    if len(values) == len(words) > MANY_NUMBERS and not several_labels(values):
        raise InputError(
            f"All {len(words)} labels in {name!r} are different, such as {next(iter(values))!r}: names of rows, not "
            "classes. Give a column whose values are shared by several rows."
        )


def several_labels(words):
    """The mark between the labels of a cell, where some cells have several: a label in them is in other cells too."""
    for mark in (";", "|"):
        sets = [{part.strip() for part in word.split(mark)} for word in words]
        often = Counter(part for parts in sets for part in parts)
        if any(often[part] > 1 for parts in sets if len(parts) > 1 for part in parts):
            return mark
    return ""


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
