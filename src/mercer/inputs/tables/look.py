"""Decide on the kind of a column, its use, and the reason, or leave it out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np

from ...backend import need
from ...errors import InputError
from ...types import ColumnLike, Frame, Series
from .cells import (
    cells,
    decimal_commas,
    gaps,
    nested,
    numbers,
    plain_numbers,
    thousands_points,
    unit_of,
    usable,
    vectors,
)
from .dates import date_order
from .images import Picture, features, named_images, why_not
from .kinds import CODES, SPELLINGS, Category, Date, Number, Ordered, Vectors, read_words
from .names import Names
from .notes import cells_of
from .scales import positions
from .text import Text, words_in

KINDS = ("number", "ordered", "category", "date", "text", "embedding", "image")


class _Patterns(NamedTuple):
    """Patterns of names of columns, and of cells."""

    identifier: re.Pattern = re.compile(
        r"(?i:(^|[_\s.-])(id|ids|uuid|guid|key|index|idx|row|rows|rowid|rownames?|record|serial|obs|nr|no|number)$"
        r"|^unnamed)|^column 1$|I[dD]$"
    )
    code: re.Pattern = re.compile(
        r"(?i)(^|[_\s.-])(zip|zip_?code|post_?code|postal_?code|plz|phone|fax|isbn|ean|sku|code)$"
    )
    numbered: re.Pattern = re.compile(r"(.*?)(\d+)\]?")
    zeros: re.Pattern = re.compile(r"0\d+")  # a cell with leading zeros


_PATTERNS = _Patterns()


@dataclass
class Column:
    """The decision on a column."""

    name: str  # as in the table, or "x0 … x767" for an embedding
    kind: str  # one of KINDS, or constant, duplicate, identifier, code, leak, empty, unclear, objects or ignored
    use: str  # how it becomes numbers, or "left out"
    why: str
    missing: float = 0.0  # fraction of the cells that are gaps
    say: float = 0.0  # weight, the fraction of the expected squared distance of two rows that comes from this column


@dataclass
class Found:
    """A column and its encoder, which is None if it is left out. `notes` are for messages, see `notes.sentences`."""

    column: Column
    encoder: Any = None
    notes: list = field(default_factory=list)


def look(column: Series, wanted: str | None = None) -> Found:
    """Decide about a pandas Series. `wanted` is the kind that the user requests, such as "number"."""
    pd = need("pandas")
    there = ~gaps(column)
    if not there.any():
        return _out(column, "empty", "no cell has a value", ("empty", column.name, ""))
    if wanted:
        return _as_wanted(column, wanted, there)
    if pd.api.types.is_datetime64_any_dtype(column):
        return _date(column, "iso", there)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _words(column, cells(column), there)
    if pd.api.types.is_bool_dtype(column):
        column = column.astype(str)
    plain = plain_numbers(column)
    words = None if pd.api.types.is_numeric_dtype(column) else cells(column)
    if not usable(plain).all():
        known = column[there].iloc[0]
        if nested(known) or (isinstance(known, str) and known[:1] == "["):
            return _vectors(column)
        if words is not None:
            if named_images(column, words[there]):
                return _images(column, words, there)
            if not any(letter.isdigit() for word in words[there][:500] for letter in word):
                return _words(column, words, there)
            unit = unit_of(words[there])
            decimal = "," if decimal_commas(words) else "."
            plain = numbers(column, decimal, unit)
            if usable(plain).sum() < 0.95 * there.sum() or not usable(plain).any():
                return _words(column, words, there)
            return _number(column, plain, there, words, decimal, unit)
        if not usable(plain).any():
            return _out(column, "unclear", "only numbers too large to use", ("infinite", column.name, ""))
    elif words is not None and thousands_points(words):
        return _number(column, numbers(column, ","), there, words, ",")
    return _number(column, plain, there, words)


def _out(column, kind, why, note=None):
    """A column that is left out."""
    found = Column(str(column.name), kind, "left out", why, _fraction(gaps(column)))
    return Found(found, None, [note] if note else [])


def _alone(column, kind):
    return _out(column, kind, "no value occurs three times", ("alone", column.name, ""))


def _in(encoder, kind, use, why, there, *notes):
    return Found(Column(encoder.name, kind, use, why, _fraction(~there)), encoder, list(notes))


def _fraction(mask: np.ndarray) -> float:
    return np.count_nonzero(mask) / len(mask)  # the mean takes ten times as long for a short column


def _as_wanted(column, wanted, there):
    name, words = column.name, cells(column)
    if wanted == "text":
        encoder = Text.fit(column)
        if encoder is not None:
            return _in(encoder, "text", "TF-IDF", "as requested", there)
    if wanted == "category":
        encoder = Category.fit(column)
        if not encoder.levels:
            return _alone(column, "code")
        if len(set(read_words(words, "whole"))) > 1:
            return _in(encoder, "category", f"{len(encoder.levels)} codes", "as requested", there)
    if wanted == "embed" and vectors(column) is not None:
        return _vectors(column)
    if wanted == "image":
        return _images(column, words, there, requested=True)
    if wanted == "number":
        unit, decimal = unit_of(words[there]), "," if decimal_commas(words) else "."
        known = numbers(column, decimal, unit)
        known = known[usable(known)]
        if len(known) and np.ptp(known) > 0:
            return _in(Number.fit(column, decimal, unit), "number", "number", "as requested", there)
    raise InputError(
        f"Column {name!r} cannot be used as {wanted}, because it contains values such as {words[there][0]!r}. "
        "Give it another kind, or leave the choice open."
    )


def _number(
    column: Series, values: np.ndarray, there: np.ndarray, words: np.ndarray | None, decimal: str = ".", unit: str = ""
) -> "Found":
    name, finite = column.name, usable(values)
    known = values[finite]
    ordered = np.sort(known)
    steps = np.diff(ordered)
    if not steps.any() and finite.all():
        if _written_apart(column, words):
            why = "differs only after the sixteenth digit"
            return _out(column, "constant", why, f"Column {name!r} {why} and is left out.")
        return _out(column, "constant", "the same value in every row", ("constant", name, ""))
    n_distinct = 1 + np.count_nonzero(steps)
    whole = bool((known == np.round(known)).all())
    with_zeros = words is not None and any(map(_PATTERNS.zeros.fullmatch, words[:2000]))
    if whole and (with_zeros or _PATTERNS.code.search(str(name))):
        return _words(column, cells(column), there, "code")
    if whole and n_distinct == len(values) >= 10:
        in_order = len(values) >= 20 and (np.all(np.diff(known) > 0) or np.all(np.diff(known) < 0))
        if _PATTERNS.identifier.search(str(name)) or np.all(steps == 1) or in_order:
            why = "follows the order of the rows" if in_order else "different whole numbers in every row"
            return _out(column, "identifier", why, ("numbered", name, ""))
    notes: list = []
    strange = there & ~finite
    if strange.any():
        example = repr(words[np.argmax(strange)]) if words is not None else f"{values[strange][0]:g}"
        notes.append(f"Column {name!r}: {cells_of(int(strange.sum()))} such as {example} read as gaps, not numbers.")
    if (~finite).any():
        notes.append(("gaps", name, f"{cells_of(int((~finite).sum()))}, {(~finite).mean():.0%}"))
    if decimal == ",":
        points = words is not None and not any("," in word for word in words)
        notes.append(("points" if points else "comma", name, ""))
    if whole and 2 < n_distinct <= min(CODES.few, len(known) // 2):
        encoder: Any = Ordered.fit(column, None, decimal, unit)
        use, why = "half number, half category", f"{n_distinct} different whole numbers"
        return _in(encoder, "ordered", use, why, finite, *notes)
    encoder = Number.fit(column, decimal, unit)
    use = "logarithm" if encoder.step else "number"
    why = "skewed amounts" if encoder.step else f"{n_distinct} different numbers"
    return _in(encoder, "number", use, why + (f" of unit {unit}" if unit else ""), finite, *notes)


def _written_apart(column: Series, words: np.ndarray | None) -> bool:
    """Whether cells that are one number as float64 are different numbers as they are written."""
    if words is None:
        return column.nunique() > 1
    try:
        return len({Decimal(word) for word in set(words)}) > 1
    except InvalidOperation:  # with a unit or a sign of a currency
        return False


def _words(column: Series, words: np.ndarray, there: np.ndarray, kind: str = "identifier") -> "Found":
    name, known = column.name, words[there]
    levels = np.unique(known.astype(str))
    n, n_levels = len(known), len(levels)
    if n_levels == 1 and there.all():
        return _out(column, "constant", "the same value in every row", ("constant", name, ""))
    small = {level.casefold() for level in levels}
    yes, no = SPELLINGS["yes"] | {"1"}, SPELLINGS["no"] | {"0"}
    if small & yes and small & no and small <= yes | no:
        return _in(Category.fit(column, "boolean"), "category", "yes or no", "spellings of yes and no", there)
    order = date_order(known)
    if order == "unclear":
        why = "day and month cannot be distinguished"
        note = f"Column {name!r} contains dates such as {known[0]} whose {why}. It is left out. "
        return _out(column, "unclear", why, note + "Write them as YYYY-MM-DD to have them used.")
    if order:
        return _date(column, order, there)
    places = positions(levels) if 2 < n_levels <= CODES.levels and kind != "code" else None
    if places:
        why = f"{n_levels} steps of a scale"
        return _in(Ordered.fit(column, places), "ordered", "half number, half category", why, there)
    per_cell = float(np.mean([words_in(word) for word in known[:: max(1, n // 2000)]]))
    mostly_different = n_levels > 0.5 * n and n > 3
    first = read_words(known, "first word") if mostly_different and 1.5 <= per_cell < 4 else None
    if first is not None and _repeats(first):
        why = f"names of {len(set(first))} first words"
        note = f"Column {name!r} contains names. Their first words are used, such as {first[0]!r}."
        return _in(Category.fit(column, "first word"), "category", "its first word", why, there, note)
    if per_cell >= 3 and (mostly_different or n_levels > CODES.levels):
        text = Text.fit(column)
        if text is not None:
            why = f"{per_cell:.0f} words in a cell"
            return _in(text, "text", f"TF-IDF on {text.directions.shape[1]} directions", why, there, ("text", name, ""))
    if n_levels == n > 3:
        return _out(column, kind, "different in every row", ("identifier", name, ""))
    encoder, why = Category.fit(column), f"{n_levels} different values"
    different = mostly_different and n_levels > CODES.levels
    if different and n_levels > 0.85 * n:  # names of rows
        return _out(column, kind, f"{why} in {n} rows", ("mostly", name, f"{why} in {n} rows"))
    if encoder.pooled:
        return _many(column, encoder, kind, why, there, different)
    return _in(encoder, "category", f"{len(encoder.levels)} codes", why, there)


def _many(column, category, kind, why, there, different):
    """A column with rare values, read by those of its values that have codes and by its words and characters."""
    name, rare = column.name, f"{category.pooled:.0%} of the rows rare"
    names = Names.fit(column, category, different)
    if names is None:
        if not category.levels:
            return _alone(column, kind)
        return _in(category, "category", f"{len(category.levels)} codes, {rare}", why, there, ("rare", name, rare))
    use = f"{len(category.levels)} codes, words and characters"
    return _in(names, "category", use, why, there, ("names", name, f"{why}, {rare}"))


def _repeats(words: np.ndarray) -> bool:
    """Whether few words make up most of a column."""
    counts = np.unique(words.astype(str), return_counts=True)[1]
    return 1 < len(counts) <= 0.25 * len(words) and counts[counts > 2].sum() >= 0.75 * len(words)


def _date(column: Series, order: str, there: np.ndarray) -> "Found":
    encoder = Date.fit(column, order)
    if encoder is None:
        why = "dates that no calendar has"
        return _out(column, "unclear", why, f"Column {column.name!r} contains {why} and is left out.")
    what = {"time": "times", "months": "months"}.get(order, "dates")
    use = ", ".join(["time" if order == "time" else "days", *(f"time of the {part}" for part in encoder.parts)])
    note = {"time": "time"}.get(order, "mixed" if order.startswith("mixed") else "date")
    notes = [] if column.dtype.kind == "M" else [(note, column.name, "")]
    return _in(encoder, "date", use, what, there, *notes)


def _vectors(column: Series) -> "Found":
    name, rows = column.name, vectors(column)
    if rows is None:
        what = "lists or objects"
        return _out(column, "objects", what, f"Column {name!r} contains {what} and is left out.")
    if np.all(rows == rows[0]):
        return _out(column, "constant", "the same value in every row", ("constant", name, ""))
    encoder = Vectors(str(name), [str(name)], rows.shape[1])
    return _in(encoder, "embedding", "direction", f"lists of {rows.shape[1]} numbers", rows.any(axis=1))


def _images(column, words, there, requested=False):
    """A column of images, if nearly all cells name one that can be read, or any cell does and `requested` is True."""
    name, found = column.name, features(column)[1]
    absent = there & ~found
    first = words[np.argmax(absent)] if absent.any() else ""
    if absent.sum() > (len(words) - 1 if requested else 0.05 * there.sum()) or not found.any():
        what = f"Column {name!r} names images, but {why_not(column, first)}"
        if requested:
            raise InputError(f"{what}. Paths are relative to the folder of the table.")
        return _out(column, "unclear", "images that are not there", f"{what}. It is left out.")
    encoder = Picture.fit(column)
    if encoder is None:
        return _out(column, "constant", "the same image in every row", ("constant", name, ""))
    notes: list = [("image", name, "")]
    if absent.any():
        what = f"{int(absent.sum())} of {len(words)} images cannot be read, first {first!r} ({why_not(column, first)})"
        notes.append(f"Column {name!r}: {what}. The other columns of these rows are used.")
    return _in(encoder, "image", "gray, gradients, colors", f"{int(found.sum())} images", found, *notes)


def embeddings(frame: Frame, requested: Any = (), among: ColumnLike = None) -> list[Found]:
    """Columns x0, x1, … that are one embedding, with 32 or more numbers of both signs and rows of nearly one length.

    `requested` contains names of such blocks without the numbers, which are taken with any contents. `among` contains
    the columns to examine.
    """
    found = []
    for stem, members in stems(frame.columns if among is None else among).items():
        places, names = list(members), list(members.values())
        if stem in requested:
            found.append(_block(names, "as requested"))
            continue
        if len(names) < 32 or places != list(range(places[0], places[0] + len(places))) or places[0] > 1:
            continue
        if not usable(numbers(frame[names[0]].head(100))).all():
            continue
        rows = np.column_stack([numbers(frame[name]) for name in names])
        if not usable(rows).all() or np.all(rows == np.round(rows)):
            continue
        signs = np.mean((rows > 0).any(axis=0) & (rows < 0).any(axis=0))
        length = np.linalg.norm(rows, axis=1)
        if signs >= 0.9 and length.std() <= 0.2 * length.mean():
            found.append(_block(names, f"{len(names)} columns of rows of one length"))
    return found


def stems(names: Iterable[str]) -> dict[str, dict[int, str]]:
    """Numbered columns, such as x0, x1, …, by their name without the number, as in {"x": {0: "x0", …}}."""
    found: dict = {}
    for name in names:
        match = _PATTERNS.numbered.fullmatch(name)
        if match:
            found.setdefault(match[1].rstrip("[_.- "), {})[int(match[2])] = name
    return found


def _block(names: list, why: str) -> "Found":
    encoder = Vectors(f"{names[0]} … {names[-1]}", names, len(names))
    column = Column(encoder.name, "embedding", "direction", why)
    return Found(column, encoder, [("embedding", encoder.name, f"{len(names)} columns")])
