"""The cells of a column as text, numbers or vectors, in any notation."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from ...backend import need
from ...types import Frame, Series

GAPS = frozenset(
    ("", "NA", "N/A", "n/a", "NaN", "nan", "NaT", "null", "NULL", "None", "<NA>", "?", "-", "--", "#N/A", ".", "\\N")
)
LARGEST = 1e150


class _Written(NamedTuple):
    """Patterns of written numbers."""

    signs: str = "€$£¥%"
    code: re.Pattern = re.compile("(?:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN)")
    currency: re.Pattern = re.compile(rf"{code.pattern}\s*(?=[\d+-])|(?<=\d)\s*{code.pattern}$")
    comma: re.Pattern = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][+-]?\d+)?")
    thousands: re.Pattern = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
    by_comma: re.Pattern = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")  # thousands, before a decimal point
    by_point: re.Pattern = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?")  # thousands, before a decimal comma
    points: re.Pattern = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")
    unit: re.Pattern = re.compile(r"[+-]?\d[\d.,]*\s?([^\W\d_°µ%]{1,5}|[°µ]?[A-Za-z]{1,4}[²³]?(?:/[A-Za-z]{1,3})?)")
    space: re.Pattern = re.compile(r"\d[ \u00a0\u202f'\u2019]\d")
    spaced: re.Pattern = re.compile(r"[+-]?\d{1,3}(?:[ \u00a0\u202f'\u2019]\d{3})+(?:[.,]\d*)?")


_WRITTEN = _Written()


class Columns:
    """A data frame that returns the same object whenever a column is requested, and stores the cells that were read."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.found, self.read = frame, dict[Any, Any](), dict[tuple, Any]()
        self.text = dict[tuple, Any]()  # of one column at a time, because text takes much memory
        self.ids: dict[int, Any] = {}

    def __getitem__(self, name: object) -> Any:
        if isinstance(name, list):
            return self.frame[name]
        if name not in self.found:
            column = self.found[name] = self.frame[name]
            self.ids[id(column)] = column
        return self.found[name]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.frame, name)

    def __len__(self) -> int:
        return len(self.frame)


_COLUMNS: ContextVar[Columns | None] = ContextVar("columns", default=None)


@contextmanager
def read_once(frame: Frame) -> Iterator[Any]:
    """The frame, of which every column is read at most once in each way within the block. Nothing is kept after it."""
    columns = Columns(frame)
    token = _COLUMNS.set(columns)
    try:
        yield columns
    finally:
        _COLUMNS.reset(token)


def _kept(function: Callable) -> Callable:
    """A function of a column whose results for the columns of `read_once` are kept, and must not be written to."""

    @wraps(function)
    def read(column: np.ndarray | Series, *how: object) -> np.ndarray:
        columns = _COLUMNS.get()
        if columns is None or id(column) not in columns.ids:
            return function(column, *how)
        key = function, id(column), how
        found = columns.read.get(key, columns.text.get(key))
        if found is None:
            found = function(column, *how).view()  # the array may be that of the column itself
            found.flags.writeable = False
            if found.dtype == object:
                columns.text = {key: found}
            else:
                columns.read[key] = found
        return found

    return read


@_kept
def cells(column):
    """The cells as stripped text, "" if empty."""
    values = np.asarray(getattr(column, "array", column), object)
    if not all(type(value) is str for value in values) and hasattr(column, "array"):
        values = column.to_numpy(dtype=object, na_value="")
    return np.array([value.strip() if isinstance(value, str) else _plain(value) for value in values], dtype=object)


def _plain(value) -> str:
    return "" if value is None or (not nested(value) and value != value) else str(value)


def usable(values):
    """Which numbers can be used in computations. Gaps (NaN), infinity and numbers whose squares overflow cannot."""
    return np.abs(values) < LARGEST


@_kept
def gaps(column: Series) -> np.ndarray:
    """Which cells are missing values."""
    # A new Series would take several times as long in a table of many columns.
    return column.array.isna() if column.dtype.kind in "iufb" else are_gaps(cells(column))


def are_gaps(words: np.ndarray) -> np.ndarray:
    """Which words mark missing values."""
    return np.fromiter((word in GAPS for word in words), dtype=bool, count=len(words))


@_kept
def plain_numbers(column: Series) -> np.ndarray:
    """The cells as float64, NaN if a cell is not a number as Python writes it."""
    if getattr(column.dtype, "storage", "") == "pyarrow":
        arrow = need("pyarrow")
        with suppress(arrow.ArrowInvalid):  # raised if some cell is not a number
            return arrow.array(column.array).cast(arrow.float64()).to_numpy(zero_copy_only=False)
    return _parsed(np.asarray(column.array) if column.dtype == object else column)


def _parsed(words: np.ndarray | Series) -> np.ndarray:
    """An array of objects or a column as float64, NaN if a cell is not a number."""
    pd = need("pandas")
    values = pd.to_numeric(words, errors="coerce")
    if isinstance(values, pd.Series):
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    if words.dtype.kind == "O" and tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        # Before 3.1 pandas finds the numbers but gets the last digit of many wrong.
        pairs = zip(np.asarray(words, dtype=object), values, np.isfinite(values))
        exact = [float(word) if known and isinstance(word, str) else value for word, value, known in pairs]
        return np.array(exact, dtype=np.float64)
    return values.astype(np.float64, copy=False)


@_kept
def numbers(column: Series, decimal: str = ".", unit: str = "") -> np.ndarray:
    """The cells as float64, NaN if a cell is not a number. `unit` is after every number."""
    pd = need("pandas")
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if decimal == "." and not unit:
        values = plain_numbers(column)
        left = np.isnan(values)
        if not left.any() or are_gaps(cells(column)[left]).all():
            return values
    text = cells(column)
    if unit:
        text = np.array([word.removesuffix(unit).rstrip() for word in text], dtype=object)
    text = _bare(text)
    words = pd.Series(text)
    if decimal == "," or decimal_commas(text):  # a later table may be written with commas and the first without
        decimal, other, groups = ",", ".", _WRITTEN.by_point
    else:
        decimal, other, groups = ".", ",", _WRITTEN.by_comma
    if words.str.contains(other, regex=False).any():
        grouped = words.map(lambda word: groups.fullmatch(word) is not None)
        words = words.where(~grouped, words.str.replace(other, "", regex=False))
    if decimal == ",":
        words = words.str.replace(",", ".", regex=False)
    return _parsed(words.to_numpy(dtype=object))


def _bare(words):
    """Cells without the signs of currencies and percentages, and without spaces that set thousands apart."""
    whole = "\n".join(words)  # one search instead of one for each cell
    if any(sign in whole for sign in _WRITTEN.signs):
        words = np.array([word.strip(_WRITTEN.signs).strip() for word in words], dtype=object)
    if _WRITTEN.code.search(whole):
        words = np.array([_WRITTEN.currency.sub("", word) for word in words], dtype=object)
    if _WRITTEN.space.search(whole):
        joined = [re.sub(r"[^\d.,+-]", "", word) if _WRITTEN.spaced.fullmatch(word) else word for word in words]
        words = np.array(joined, dtype=object)
    return words


def decimal_commas(words):
    """Whether a comma is the decimal mark here, or points set thousands apart.

    A comma is the mark if some cell has one that cannot be a thousands separator. See `_thousands_points` for points.
    """
    marked = _bare([word for word in words if "," in word or "." in word])
    with_comma = [word for word in marked if "," in word]
    if not with_comma:
        return _thousands_points(words, marked)
    if not all(_WRITTEN.comma.fullmatch(word) for word in with_comma):
        return False
    return any(_WRITTEN.thousands.fullmatch(word) is None for word in with_comma)


def thousands_points(words: np.ndarray) -> bool:
    """Whether the points of cells that could be plain numbers set thousands apart, as in 116.950."""
    first = next((word for word in words if "." in word), "")
    return _WRITTEN.points.fullmatch(first) is not None and decimal_commas(words)


def _thousands_points(words, marked):
    """Whether points set thousands apart, as in 1.250.000. Every cell with a point must agree, and one must prove it.

    A cell with two points is a proof. So are whole numbers below 1,000 without a point if others end in zeros, because
    a program that writes 116.950 with three decimals would write 800 as 800.000.
    """
    if not all(map(_WRITTEN.points.fullmatch, marked)) or not marked:
        return False
    if any(word.count(".") > 1 for word in marked):
        return True
    whole = [word for word in _bare([word for word in words if word and "." not in word]) if word.isdigit()]
    return sum(word.endswith("0") for word in marked) > 1 and any(map(int, whole)) and all(len(w) < 4 for w in whole)


def writes_decimal_commas(frame: Frame) -> bool:
    """Whether any column of a text table uses decimal commas."""
    head = frame.head(200).to_numpy(dtype=object, na_value="")
    return any(decimal_commas(cells(column)) for column in head.T)


def unit_of(words: np.ndarray) -> str:
    """The unit that is after the number in (nearly) every cell, such as "kg" in "12 kg". "" if there is none."""
    if not all(map(_WRITTEN.unit.fullmatch, words[:1])):
        return ""
    units = [match[1] for match in map(_WRITTEN.unit.fullmatch, words) if match]
    return units[0] if len(units) >= 0.95 * len(words) > 0 and len(set(units)) == 1 else ""


def vectors(column: Series) -> np.ndarray | None:
    """(n, d) numbers of a column of lists of one length. Gaps are rows of zeros. None if it has other cells."""
    rows = [_vector(value) for value in column.tolist()]
    known = [row for row in rows if row is not None]
    lengths = {len(row) for row in known}
    if len(lengths) != 1 or not all(np.isfinite(row).all() for row in known) or 0 in lengths:
        return None
    empty = np.zeros(lengths.pop())
    return np.array([empty if row is None else row for row in rows])


def _vector(value: list) -> np.ndarray:
    """A cell as numbers. None for a gap, and an empty array if it is something else."""
    if isinstance(value, str):
        value = value.strip()
        if value in GAPS:
            return None
        value = re.split(r"[\s,;]+", value[1:-1].strip()) if value[:1] == "[" and value[-1:] == "]" else []
    elif not isinstance(value, list | tuple | np.ndarray):
        return None if value is None or value != value else np.zeros(0)
    try:
        return np.asarray(value, dtype=np.float64).ravel()
    except (ValueError, TypeError):
        return np.zeros(0)


def nested(value) -> bool:
    """Whether a cell contains several values or raw bytes."""
    return isinstance(value, list | tuple | dict | set | np.ndarray | bytes)
