"""Read labels from a spreadsheet. They are corrections in an earlier output, or files of rows that were labeled.

TARGET contains the given labels. A label in TARGET_predicted counts if TARGET_source is `given` and TARGET is empty. It
is then moved to TARGET. A prediction whose source is `predicted` is never used for training.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..backend import need
from ..errors import InputError
from ..events import Note, OnEvent
from ..inputs.tables import Table, given_cells
from ..inputs.tables.cells import plain_numbers
from ..types import Series
from .options import ReadOptions
from .tables import open_table, refuse_taken
from .usage import UsageError

ROW = "row_number"  # column of `suggest --only` with the number of a row in the table, from 1
NEXT = "label_next"  # column that `suggest` writes
NUMBERS = ("predicted", "low", "high", "source")  # columns that `label` writes for numbers
PROBABILITY = "probability_"  # the columns of --probabilities are TARGET_probability_CLASS


def added(target: str, *names: str) -> list[str]:
    """Return the names of the columns that `label` writes for classes, or of others named in this way."""
    return [f"{target}_{name}" for name in names or ("predicted", "confidence", "source")]


def doubtful(target: str) -> str:
    """Return the name of the column that `check` writes."""
    return f"{target}_doubtful"


def wrong_column(hint: str) -> str:
    """Return the name of the column that `audit` writes, with the probabilities that a hint is wrong."""
    return f"{hint}_wrong"


def written(target: str, numeric: bool, coverage: float | None) -> list[str]:
    """Return the columns that `label` and `predict` write, or how their names begin."""
    if numeric:
        return added(target, *NUMBERS)
    return [*added(target), *added(target, PROBABILITY), *(added(target, "set") if coverage is not None else [])]


def written_before(table: Table, target: str) -> list[str]:
    """Return the columns that earlier runs wrote about a target."""
    columns = table.frame.columns
    old = [name for name in (NEXT, ROW, doubtful(target)) if name in columns]
    old += added(target, "how") if how_words(table, target) is not None else []
    if earlier_answers(table, target) is not None:
        more = added(target, "set", "rank", "via", "when", "rev", "note")
        old += [*answered(table, target), *(name for name in more if name in columns)]
        old += [name for name in columns if str(name).startswith(added(target, PROBABILITY)[0])]
    return old


def earlier_columns(table: Table) -> list[str]:
    """Return the columns that earlier runs wrote, whatever the target was."""
    ends = added("", "predicted", "how") + [doubtful("")]
    targets = {str(name).removesuffix(end) for name in table.frame.columns for end in ends if str(name).endswith(end)}
    known = [target for target in targets if target in table.frame.columns]
    return [name for name in table.frame.columns if any(name in written_before(table, target) for target in known)]


def set_aside(table: Table, old: list[str], writes: Iterable[str], on_event: OnEvent) -> None:
    """Drop those of the `old` columns that are written again. Note that no old column is a feature."""
    writes = list(writes)
    if old:
        table.drop([name for name in old if name in writes or name.startswith(tuple(writes))])
        on_event(Note(f"Written by an earlier run, and not used for training: {', '.join(map(repr, old))}."))
    refuse_taken(table, writes)


def answered(table: Table, target: str) -> list[str]:
    """Return the columns of predictions, of classes or of numbers, in the table. [] if they are not complete."""
    both = added(target), added(target, *NUMBERS)
    return next((columns for columns in both if set(columns) <= set(table.frame.columns)), [])


def earlier_answers(table: Table, target: str) -> dict[str, np.ndarray] | None:
    """Return the predictions of an earlier run as text ("predicted") and their sources ("source"), or None."""
    if not answered(table, target):
        return None
    predicted, source = (texts(table.frame[name]) for name in added(target, "predicted", "source"))
    known = {"given", "predicted", "accepted", "abstained", "novel", ""}
    return {"predicted": predicted, "source": source} if set(source) <= known else None


def take_corrections(
    table: Table,
    target: str,
    earlier: Mapping[str, np.ndarray] | None,
    missing: list[str] | None,
    on_event: OnEvent,
) -> None:
    """Move the labels that were corrected in an earlier output to the target column."""
    if earlier is None:
        return
    empty = ~given_cells(table.frame[target], missing)[0]
    rows = np.flatnonzero(empty & (earlier["source"] == "given") & (earlier["predicted"] != ""))
    if len(rows):
        fill_cells(table, target, rows, earlier["predicted"][rows])
        predicted, source = added(target, "predicted", "source")
        on_event(Note(f"{_labels(len(rows))} taken from {predicted!r}, because {source!r} is 'given' there."))


def how_words(table: Table, target: str) -> np.ndarray | None:
    """Return how each row came to be labeled ("random", "chosen" or ""), from TARGET_how. None without this column."""
    (name,), known = added(target, "how"), ("random", "chosen")
    if name not in table.frame.columns:
        return None
    words = np.array([word.lower() for word in texts(table.frame[name])], dtype=object)
    strange = np.flatnonzero(~np.isin(words, ["", *known]))
    if not len(strange):
        return words
    if not np.isin(words, known).any():
        return None
    raise InputError(
        f"{name!r} contains {words[strange[0]]!r} in row {strange[0] + 1}. Accepted: random (the row was drawn at "
        "random), chosen, or nothing."
    )


def how_column(table: Table, target: str, words: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return TARGET_how with its words to write. If the table has this column, change its cells and return {}."""
    (name,) = added(target, "how")
    if words is None or not (words != "").any():
        return {}
    if name not in table.frame.columns:
        return {name: words}
    rows = np.flatnonzero(np.asarray(how_words(table, target)) != words)
    fill_cells(table, name, rows, words[rows])
    return {}


def take_answers(
    table: Table,
    targets: list[str],
    path: str | Path,
    options: ReadOptions,
    how: dict[str, np.ndarray | None],
    on_event: OnEvent,
) -> None:
    """Take the labels of the rows in another file. `suggest --only` writes such files, and a user fills them in.

    how : the words of TARGET_how by target, to which those of the file are added.
    """
    id, missing = options.id, options.missing
    more = open_table(path, ReadOptions(delimiter=options.delimiter, encoding=options.encoding), (), on_event)
    found = [target for target in targets if target in more.frame.columns]
    if not found:
        raise UsageError(f"{Path(path).name} has no column {targets[0]!r} with the labels.")
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
            ours = how[target]
            ours = np.full(len(table), "", dtype=object) if ours is None else ours
            ours[rows[given]] = theirs[given]
            how[target] = ours
        instead = f", {changed} of them instead of another" if changed else ""
        on_event(Note(f"{_labels(len(given))} taken from {Path(path).name}{instead}."))


def _places(table: Table, more: Table, path: str | Path, id: str | None, targets: list[str]) -> np.ndarray:
    """Return the row of the table that each row of another file represents."""
    name = Path(path).name
    if id is not None and id in more.frame.columns:
        return _by_id(texts(table.frame[id]), texts(more.frame[id]), name, id)
    if ROW not in more.frame.columns:
        known = f"the column {id!r} nor" if id else "--id COLUMN nor a column"
        raise UsageError(f"The rows of {name} cannot be found again. There is neither {known} {ROW!r}.")
    words = texts(more.frame[ROW])
    wrong = [word for word in words if not word.isdecimal() or not 1 <= int(word) <= len(table)]
    if wrong:
        raise InputError(f"{name}: {ROW} {wrong[0]!r} is not a row of the table, which has {len(table)}.")
    rows = np.array([int(word) - 1 for word in words], dtype=int)
    _refuse_others(table, more, rows, name, targets)
    return rows


def _by_id(ours: np.ndarray, theirs: np.ndarray, name: str, id: str) -> np.ndarray:
    place: dict[str, list[int]] = {}
    for row, word in enumerate(ours):
        place.setdefault(word, []).append(row)
    for word in theirs:
        if len(place.get(word, ())) != 1:
            times = f"names {len(place[word])} rows" if word in place else "names no row"
            raise InputError(f"{name}: {id} {word!r} {times} of the table. Give an --id that names each row once.")
    return np.array([place[word][0] for word in theirs], dtype=int)


def _refuse_others(table: Table, more: Table, rows: np.ndarray, name: str, targets: list[str]) -> None:
    """Refuse row numbers that now belong to other rows, because the table was sorted or changed since."""
    own = [*targets, ROW, *(name for target in targets for name in added(target, "how"))]
    both = [c for c in more.frame.columns if c in table.frame.columns and c not in own]
    if not both:
        return
    same = np.array([[alike(a, b) for a, b in zip(texts(table.frame[c])[rows], texts(more.frame[c]))] for c in both])
    other = np.flatnonzero(same.mean(axis=0) < 0.5)
    if len(other):
        number = rows[other[0]] + 1
        raise InputError(
            f"{name}: row {number} is another row than in the table, because most of its cells differ. If the table "
            "was sorted since, name the rows by a column with --id."
        )


def fill_cells(table: Table, column: str, rows: np.ndarray, words: Sequence[object] | np.ndarray) -> None:
    """Put words into some cells of a column. They become numbers if it contains numbers."""
    pd = need("pandas")
    values = table.frame[column].copy()
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        numbers = plain_numbers(pd.Series(words, dtype=object))
        other = np.isnan(numbers).any()
        values, words = (values.astype(object), words) if other else (values.astype(np.float64), numbers)
    else:
        values, known = values.astype(object), dict(zip(texts(values), values))
        words = [known.get(word, word) for word in words]  # in a column of objects a number stays a number
    values.iloc[rows] = words
    table.change(column, rows.tolist(), values)


def texts(column: Series) -> np.ndarray:
    """Return the cells of a column as text: "" for gaps, whole numbers without decimals."""
    pd = need("pandas")
    cells = ["" if gap else str(cell).strip() for cell, gap in zip(column.tolist(), pd.isna(column))]
    return np.array([cell.removesuffix(".0") for cell in cells], dtype=object)


def alike(a: str, b: str) -> bool:
    """Return whether two cells are equal. Spreadsheets write numbers in their own way."""
    if a == b:
        return True
    try:
        return float(a.replace(",", ".")) == float(b.replace(",", "."))
    except ValueError:
        return False


def _labels(number: int) -> str:
    return "1 label is" if number == 1 else f"{number} labels are"
