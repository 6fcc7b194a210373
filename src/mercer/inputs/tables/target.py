"""Read the column of labels, with the rows that have a label and the names of the classes."""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ...backend import need
from ...errors import InputError
from ..numerals import short
from .cells import decimal_commas, numbers, unit_of, usable
from .notes import cells_of

MOST_COMPARED = 200  # class names whose spelling is compared


@dataclass
class Target:
    """The labels of n rows."""

    labels: np.ndarray  # (n,) class names as text, None if unlabeled
    given: np.ndarray  # (n,) which rows have one
    values: dict  # class name as text → the value in the table
    notes: list = field(default_factory=list)  # sentences on how the column was read
    mark: str = ""  # between the labels of cells that contain several, such as ";". Empty if each contains one
    shares: np.ndarray | None = None  # (n, k) class probabilities, 0 if unlabeled. None if no cell contains some
    numeric = False

    @property
    def classes(self):
        return sorted(self.values)

    def of(self, rows: np.ndarray) -> np.ndarray:
        """The labels of some rows for a classifier, as names of classes or a data frame of probabilities."""
        if self.shares is None:
            return self.labels[rows]
        return need("pandas").DataFrame(self.shares[rows], columns=self.classes)


@dataclass
class NumberTarget:
    """Numbers to predict.

    Attributes
    ----------
    numbers : (n,) float, NaN if there is none.
    given : (n,) bool, which rows have a number.
    notes : sentences on how the column was read.
    """

    numbers: np.ndarray
    given: np.ndarray
    notes: list = field(default_factory=list)
    mark = ""
    numeric = True

    def of(self, rows: np.ndarray) -> np.ndarray:
        """The numbers of some rows for a regressor."""
        return self.numbers[rows]


def read_target_as(column, kind=None, missing=None, need_labels=True, several=False):
    """Return the `Target` or `NumberTarget` of a column, with a note on the choice if the labels are numbers.

    Labels that are all numbers are to be predicted as numbers if some have fractions, or if there are more than 10
    different ones, more than one for every ten labels. Numbers with leading zeros are names of classes, and so are up
    to 50 different whole numbers, some of them repeated, that are nearly all of those from 0 or 1 on. So are whole
    numbers in a column that is called class, label or the like, if there are at least two labels for each. `kind`
    ("number" or "class") decides otherwise.
    """
    given, words, notes = given_cells(column, missing)
    name, found = column.name, _numbers(words[given])
    if kind == "number" and np.isnan(found).any():
        raise InputError(
            f"{name!r} contains {words[given][np.isnan(found)][0]!r}, which is not a number, and --as number was given."
            " Name the mark of unlabeled cells with --missing, or leave --as out."
        )
    if kind == "class" or np.isnan(found).any() or len(found) < (1 if need_labels else 2):
        return _classes(column, given, words, notes, missing, need_labels, several, measured=kind == "class")
    different = len(set(found))
    what = f"{name!r} contains {different} different number{'' if different == 1 else 's'}"
    if kind != "number" and not _measured(words[given], found, name):
        target = _classes(column, given, words, notes, missing, need_labels, several)
        target.notes.append(f"{what}, read as names of classes (--as number predicts them as numbers).")
        return target
    if _guessing(missing) and (found == -1).any() and (found >= -1).all():
        raise InputError(
            f'{name!r} contains -1 and no other number below 0, so it may be a number or mean "unlabeled". Give '
            "--missing=-1 if it means unlabeled, or --missing= (nothing) if it is a number."
        )
    if need_labels and (different < 2 or len(found) < 5):  # fewer do not show the error of a prediction
        raise InputError(
            f"{what} in {cells_of(len(found))}, too few to predict others. Give at least 5 numbers, not all the same, "
            "or --as class if they are names of classes."
        )
    values = np.full(len(given), np.nan)
    values[given] = found
    least, most = short(found.min(), 6), short(found.max(), 6)
    how = f"from {least} to {most}, read as numbers to predict (--as class reads them as names of classes)"
    return NumberTarget(values, given, [*notes, f"{what} {how}."])


def read_target(column, missing=None, need_labels=True, several=False, measured=False):
    """Turn a column into labels.

    Parameters
    ----------
    column : pandas Series.
    missing : list of text marks that mean "unlabeled", in addition to empty cells and, with a note, NA, N/A, n/a,
        NaN, null, ? and -, in capitals or not. A dash is a class if there is a class + too. -1 is refused if it is not
        in the list, for it may be a class. With "" in the list only the marks in it count.
    need_labels : refuse a column without labels of two classes.
    several : accept cells of several labels.
    measured : take numbers that look like measurements for names of classes.
    """
    given, text, notes = given_cells(column, missing)
    return _classes(column, given, text, notes, missing, need_labels, several, measured)


def _classes(column, given, text, notes, missing, need_labels, several, measured=False):
    """The labels of a column whose cells were read, see `given_cells` and `read_target`."""
    name = column.name
    if _guessing(missing) and (text[given] == "-1").any():
        raise InputError(
            f'{name!r} contains -1, which may be a class or mean "unlabeled". '
            "Give --missing=-1 if it means unlabeled, or --missing= (nothing) if it is a class."
        )
    found = _read_shares(name, text[given])
    if found is not None:
        classes, table = found
        return _with_shares(name, text, given, classes, table, notes)
    values: dict = {}
    for word, value in zip(text[given], column.to_numpy()[given]):
        values.setdefault(word, value)
    notes += _alike(values) + _misspelled(text[given])
    labels = text.copy()
    labels[~given] = None
    mark = several_labels(values)
    if need_labels or (len(values) > 1 and not mark):
        _refuse(name, text[given], given, values, measured)
    if mark and need_labels and not several:
        both = next(word for word in values if mark in word)
        raise InputError(
            f"Cells of {name!r} contain several labels, such as {both!r}. Only `mercer label` fills in such cells. "
            f"Make a column of yes and no for each label, or write another mark than {mark!r} if {both!r} is one class."
        )
    return Target(labels, given, values, notes, mark)


def _with_shares(name, text, given, classes, table, notes):
    """The labels of a column of probabilities. The label of a row is its most likely class."""
    soft = (table.max(axis=1) < 1) & (table.max(axis=1) > 0)
    shown = text[given][soft][0] if soft.any() else text[given][0]
    notes = [*notes, f"{cells_of(int(soft.sum()))} of {name!r} read as probabilities of classes, such as {shown!r}."]
    labels, shares = np.full(len(text), None, dtype=object), np.zeros((len(text), len(classes)))
    labels[given], shares[given] = np.array(classes, dtype=object)[table.argmax(axis=1)], table
    return Target(labels, given, {one: one for one in classes}, notes, shares=shares)


def given_cells(column, missing=None):
    """(which cells are labels, the cells as text, sentences on marks that were read as unlabeled)."""
    name = column.name
    empty = column.isna().to_numpy().copy()
    text = np.array(["" if gap else _text(value) for gap, value in zip(empty, column.tolist())], dtype=object)
    notes = []
    empty |= np.isin(text, ["", *(mark.strip() for mark in missing or [])])
    there = set(text[~empty])
    unavailable = ("na", "n/a", "n.a.", "nan", "<na>", "null", "#n/a", "?", "-", "--")  # in small letters
    labels = {"-": {"+"}, "--": {"+", "++"}}  # next to which the mark is a label too
    marks = [mark for mark in there if mark.casefold() in unavailable and not there & labels.get(mark, set())]
    usual = np.isin(text, marks) & ~empty & _guessing(missing)
    if usual.any():
        seen = ", ".join(sorted(set(text[usual])))
        which = f"contains {seen}, which is" if usual.sum() == 1 else f"contain {seen}, which are"
        notes.append(
            f"{cells_of(int(usual.sum()))} of {name!r} {which} read as unlabeled "
            f"(--missing '' makes {'it a class' if len(set(text[usual])) == 1 else 'them classes'})."
        )
    return ~(empty | usual), text, notes


def hint_columns(frame, names, missing=None):
    """A dict from names to (n,) guesses of the class as text, None if there is none, for the columns in the frame.

    Cells are read in the same way as labels, see `read_target`.
    """
    found = {}
    for name in names:
        if name in frame.columns:
            given, text, _ = given_cells(frame[name], missing)
            found[name] = np.where(given, text, None)
    return found


def _guessing(missing):
    """Whether other marks than those in the list may mean "unlabeled"."""
    return "" not in [mark.strip() for mark in missing or []]


def _numbers(words: np.ndarray) -> np.ndarray:
    """Cells as numbers, with whatever unit, currency and decimal mark. NaN if one is not a number."""
    column = need("pandas").Series(words, dtype=object)
    values = numbers(column, "," if decimal_commas(words) else ".", unit_of(words)) if len(words) else np.zeros(0)
    return np.where(usable(values), values, np.nan)


def _measured(words, values, name):
    """Whether numbers are measurements rather than names of classes, also by the name of their column."""
    different = len(set(values))
    if any(len(word) > 1 and word[0] == "0" and word[1].isdigit() for word in words):
        return False
    if (values != np.round(values)).any():
        return True
    of_classes = (
        r"(?i)(^|[_\s.-])"
        r"(class|classes|class_?(id|no|nr|code|label)|label|category|cat|species|kind|group|cluster|type|klasse)$"
    )
    if re.search(of_classes, str(name)) and 2 * different <= len(values):
        return False
    counted = min(values) in (0, 1) and different <= min(50, len(values) - 1) and max(values) <= 1.25 * different
    return different > max(10, len(values) / 10) and not counted


def _alike(values: dict) -> list:
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


def _misspelled(words: np.ndarray) -> list:
    """Sentences on labels that occur once and differ from a more frequent one in a single small letter."""
    names, counts = np.unique(words.astype(str), return_counts=True)
    frequent = names[counts > 1].tolist() if len(names) <= MOST_COMPARED else []
    pairs = [(one, other) for one in names[counts == 1].tolist() for other in frequent if _one_letter(one, other)]
    return [
        f"The label {one!r} occurs once and differs from {other!r} in one letter. Correct it if it is misspelled."
        for one, other in pairs
    ]


def _one_letter(one: str, other: str) -> bool:
    """Whether a letter inside a word is missing, added, swapped or another one. Such words have five letters or more,
    for "typical" and "atypical", or "group a" and "group b", are two classes.
    """
    same = next((i for i, (x, y) in enumerate(zip(one, other)) if x != y), min(len(one), len(other)))
    a, b = one[same:], other[same:]
    begun, changed = re.findall(r"\w*$", one[:same])[0], a[:1] + b[:1]
    word = begun + re.findall(r"^\w*", max(a, b, key=len))[0]
    edited = a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])
    return bool(begun) and len(word) >= 5 and edited and changed.isalpha() and changed.islower()


def _refuse(name: str, words: np.ndarray, given: np.ndarray, values: dict, measured: bool) -> None:
    if len(words) == 0:
        raise InputError(
            f"No row has a label in {name!r}, because all {len(given)} cells are empty. "
            "Label at least one row of each class. `mercer suggest` lists the rows to begin with."
        )
    if len(values) < 2:
        what = f"The only label in {name!r} is" if len(words) == 1 else f"All {len(words)} labels in {name!r} are"
        raise InputError(
            f"{what} {next(iter(values))!r}. Label rows of a second class too. "
            "To find unusual rows with one class only, use `mercer novelty`."
        )
    found = _numbers(words)
    if not measured and not np.isnan(found).any() and _measured(words, found, name):
        raise InputError(
            f"{name!r} contains {len(values)} different numbers such as {next(iter(values))}, which are a measurement, "
            "not classes. "
            "`mercer label` and `mercer suggest` predict numbers. --as class reads them as names of classes."
        )
    if len(values) == len(words) > 20 and not measured and not several_labels(values):
        raise InputError(
            f"All {len(words)} labels in {name!r} are different, such as {next(iter(values))!r}. They are names of "
            "rows, not classes. Give a column in which several rows have the same value."
        )


def several_labels(words: dict) -> str:
    """The mark between the labels of a cell, if some cells have several, of which one is in another cell too."""
    for mark in (";", "|"):
        sets = [{part.strip() for part in word.split(mark)} for word in words]
        often = Counter(part for parts in sets for part in parts)
        if any(often[part] > 1 for parts in sets if len(parts) > 1 for part in parts):
            return mark
    return ""


def _text(value: float | str) -> str:
    """A cell as text. Whole floats lose their .0, so that a column with gaps reads like one without."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _read_shares(name: str, words: np.ndarray):
    """(class names, (l, k) probabilities) of l cells. None if no cell has probabilities.

    A cell such as `cat:0.7; dog:0.3` or `cat: 70 %` has probabilities. Others may be the name of a class alone. If they
    sum to less than 1, the rest is divided equally among the other classes.
    """
    cells = [_shares_in(word) for word in words]
    if not any(cells):
        return None
    cells = [cell or {word: 1.0} for cell, word in zip(cells, words)]
    classes = sorted({one for cell in cells for one in cell})
    if len(classes) < 2:
        raise InputError(f"All probabilities in {name!r} are of {classes[0]!r}. Name a second class in some cell.")
    place = {one: code for code, one in enumerate(classes)}
    table = np.zeros((len(cells), len(classes)))
    for row, (cell, word) in enumerate(zip(cells, words)):
        rest = 1.0 - sum(cell.values())
        if rest < -1e-6 or (len(cell) == len(classes) and rest > 1e-6):
            raise InputError(
                f"The probabilities {word!r} in {name!r} sum to {1 - rest:g}. Write probabilities that sum to 1, "
                "such as `cat:0.7; dog:0.3`. If they sum to less, the rest is divided among the classes that the cell "
                "does not name."
            )
        table[row] = max(rest, 0.0) / max(len(classes) - len(cell), 1)
        table[row, [place[one] for one in cell]] = list(cell.values())
    return classes, table / table.sum(axis=1, keepdims=True)


def _shares_in(word: str) -> dict:
    """{class: probability} of a cell. Empty if it does not contain probabilities."""
    parts = [part.strip() for part in re.split(r"[;|]", word) if part.strip()]
    pattern = re.compile(r"(?P<name>.*\S)\s*:\s*(?P<fraction>0?\.\d+|[01]\.\d*|\d{1,3}(\.\d+)?\s*%)")
    found = {one["name"]: _fraction(one["fraction"]) for one in map(pattern.fullmatch, parts) if one}
    return found if len(found) == len(parts) else {}


def _fraction(text: str):
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
