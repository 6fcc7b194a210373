"""Labels that come back from a spreadsheet: corrections in an earlier output, and files of answered rows.

One rule: TARGET holds the given labels. A label in TARGET_predicted counts where TARGET_source says `given` and TARGET
is empty; it is then moved to TARGET. An answer whose source is `predicted` is never learnt from, whatever it says.
"""

from pathlib import Path

import numpy as np

from ..backend import need
from ..errors import InputError
from ..inputs.tables import given_cells
from ..inputs.tables.cells import plain_numbers
from .sources import Reading, open_table
from .usage import UsageError

HOW = ("random", "chosen")  # words in TARGET_how: how a row came to be labelled
ROW = "row_number"  # column of `suggest --only`: the place of a row in the table, from 1
NUMBERS = ("predicted", "low", "high", "source")  # columns that `label` writes for numbers
SOURCES = {"given", "predicted", "abstained", "novel", ""}


def added(target, *names):
    """The columns that `label` writes for classes, or others named in this way."""
    return [f"{target}_{name}" for name in names or ("predicted", "confidence", "source")]


def answered(table, target):
    """The columns of answers, on classes or on numbers, that the table has; none if they are not complete."""
    both = added(target), added(target, *NUMBERS)
    return next((columns for columns in both if set(columns) <= set(table.frame.columns)), [])


def earlier_answers(table, target):
    """{"predicted": answers as text, "source": theirs} that an earlier run wrote, or None."""
    if not answered(table, target):
        return None
    predicted, source = (_texts(table.frame[name]) for name in added(target, "predicted", "source"))
    return {"predicted": predicted, "source": source} if set(source) <= SOURCES else None


def take_corrections(screen, table, target, earlier, missing):
    """Move the labels that were corrected in an earlier output to the target column."""
    if earlier is None:
        return
    empty = ~given_cells(table.frame[target], missing)[0]
    rows = np.flatnonzero(empty & (earlier["source"] == "given") & (earlier["predicted"] != ""))
    if len(rows):
        fill_cells(table, target, rows, earlier["predicted"][rows])
        predicted, source = added(target, "predicted", "source")
        screen.note(f"{_labels(len(rows))} taken from {predicted!r}, where {source!r} says given.")


def how_words(table, target):
    """(n,) "random", "chosen" or "" from the column TARGET_how; None if there is none, or one of other words."""
    (name,) = added(target, "how")
    if name not in table.frame.columns:
        return None
    words = np.array([word.lower() for word in _texts(table.frame[name])], dtype=object)
    strange = np.flatnonzero(~np.isin(words, ["", *HOW]))
    if not len(strange):
        return words
    if not np.isin(words, HOW).any():
        return None
    raise InputError(
        f"{name!r} holds {words[strange[0]]!r} in row {strange[0] + 1}. Accepted: random (the row was drawn at "
        "random), chosen, or nothing."
    )


def how_column(table, target, words):
    """{TARGET_how: words} to write; nothing where the table has this column, whose cells are changed instead."""
    (name,) = added(target, "how")
    if words is None or not (words != "").any():
        return {}
    if name not in table.frame.columns:
        return {name: words}
    rows = np.flatnonzero(how_words(table, target) != words)
    fill_cells(table, name, rows, words[rows])
    return {}


def take_answers(screen, table, targets, path, id, reading, missing, how):
    """Take the labels of the rows in another file, such as `suggest --only` wrote and somebody filled in.

    how : {target: words of TARGET_how}, to which those of the file are added.
    """
    more = open_table(screen, path, Reading(delimiter=reading.delimiter, encoding=reading.encoding))
    found = [target for target in targets if target in more.frame.columns]
    if not found:
        raise UsageError(f"{Path(path).name} has no column {targets[0]!r} with the answers.")
    rows = _places(table, more, path, id, targets)
    for target in found:
        filled, words, _ = given_cells(more.frame[target], missing)
        given = np.flatnonzero(filled)
        words = words[given]
        known, old, _ = given_cells(table.frame[target], missing)
        changed = int(np.sum(known[rows[given]] & (old[rows[given]] != words)))
        fill_cells(table, target, rows[given], words)
        theirs = how_words(more, target)
        if theirs is not None:
            ours = how[target] if how[target] is not None else np.full(len(table), "", dtype=object)
            ours[rows[given]] = theirs[given]
            how[target] = ours
        instead = f", {changed} of them instead of another" if changed else ""
        screen.note(f"{_labels(len(given))} taken from {Path(path).name}{instead}.")


def _places(table, more, path, id, targets):
    """(m,) the row of the table that each row of another file stands for."""
    name = Path(path).name
    if id is not None and id in more.frame.columns:
        return _by_id(_texts(table.frame[id]), _texts(more.frame[id]), name, id)
    if ROW not in more.frame.columns:
        known = f"the column {id!r} nor" if id else "--id COLUMN nor a column"
        raise UsageError(f"The rows of {name} cannot be found again: there is neither {known} {ROW!r}.")
    words = _texts(more.frame[ROW])
    wrong = [word for word in words if not word.isdecimal() or not 1 <= int(word) <= len(table)]
    if wrong:
        raise InputError(f"{name}: {ROW} {wrong[0]!r} is no row of the table, which has {len(table)}.")
    rows = np.array([int(word) - 1 for word in words], dtype=int)
    _refuse_others(table, more, rows, name, targets)
    return rows


def _by_id(ours, theirs, name, id):
    place: dict = {}
    for row, word in enumerate(ours):
        place.setdefault(word, []).append(row)
    for word in theirs:
        if len(place.get(word, ())) != 1:
            times = f"names {len(place[word])} rows" if word in place else "names no row"
            raise InputError(f"{name}: {id} {word!r} {times} of the table. Give an --id that names each row once.")
    return np.array([place[word][0] for word in theirs], dtype=int)


def _refuse_others(table, more, rows, name, targets):
    """Refuse row numbers that stand for other rows: the table was sorted or changed since."""
    own = [*targets, ROW, *(name for target in targets for name in added(target, "how"))]
    both = [c for c in more.frame.columns if c in table.frame.columns and c not in own]
    if not both:
        return
    same = np.array([[_alike(a, b) for a, b in zip(_texts(table.frame[c])[rows], _texts(more.frame[c]))] for c in both])
    other = np.flatnonzero(same.mean(axis=0) < 0.5)
    if len(other):
        number = rows[other[0]] + 1
        raise InputError(
            f"{name}: row {number} is another row than in the table: most of its cells differ. If the table was sorted "
            "since, name the rows by a column with --id."
        )


def fill_cells(table, column, rows, words):
    """Put words into some cells of a column, as numbers where it holds numbers."""
    pd = need("pandas")
    values = table.frame[column].copy()
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        numbers = plain_numbers(pd.Series(words, dtype=object))
        other = np.isnan(numbers).any()
        values, words = (values.astype(object), words) if other else (values.astype(np.float64), numbers)
    else:
        values, known = values.astype(object), dict(zip(_texts(values), values))
        words = [known.get(word, word) for word in words]  # in a column of objects a number stays a number
    values.iloc[rows] = words
    table.change(column, rows, values)


def _texts(column):
    """Cells as text: "" for gaps, whole numbers without decimals."""
    pd = need("pandas")
    cells = ["" if gap else str(cell).strip() for cell, gap in zip(column.tolist(), pd.isna(column))]
    return np.array([cell.removesuffix(".0") for cell in cells], dtype=object)


def _alike(a, b):
    """Whether two cells say the same; spreadsheets write numbers in their own way."""
    if a == b:
        return True
    try:
        return float(a.replace(",", ".")) == float(b.replace(",", "."))
    except ValueError:
        return False


def _labels(number):
    return "1 label is" if number == 1 else f"{number} labels are"
