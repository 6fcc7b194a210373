"""The encoders of the kinds of columns.

A kind is fitted to one column and then encodes it, or the same column of another table. `block` returns the columns of
the matrix before the scale, with a total variance near 1, so that `TableEncoder` can give every kind the same weight.
"""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from ...types import Block, Frame, Rows, Series
from ..numerals import short
from .cells import GAPS, are_gaps, cells, numbers, usable, vectors
from .dates import days


class Codes(NamedTuple):
    """Which values of a category have a code of their own."""

    levels: int = 50  # most codes of a category
    few: int = 10  # levels up to which a rare value keeps its code
    often: int = 3  # rows that a value of more levels needs, as nothing can be learned from one or two rows
    rare: float = 0.2  # least probability that two rows differ for the scale, so that rare values are not outliers


CODES = Codes()
# In small letters
SPELLINGS = {
    "yes": {"true", "yes", "y", "t", "on", "ja", "j", "wahr", "oui", "vrai", "si", "sí", "sim", "是", "真", "да"},
    "no": {"false", "no", "n", "f", "off", "nein", "falsch", "non", "faux", "não", "nao", "否", "假", "нет"},
}


@dataclass
class Kind:
    """A fitted column. `scale` is set by the table it belongs to."""

    name: str
    scale: float = field(default=1.0, kw_only=True)
    floor: ClassVar[float] = 1e-12  # least variance that the scale goes by

    @property
    def weight(self) -> float:
        """The weight of the column compared with the others."""
        return 1.0

    def encode(self, frame: Frame) -> np.ndarray:
        """(n, k) columns of the matrix."""
        return self.block(frame[self.name]) * self.scale

    def block(self, column: Series):
        """(n, k) columns before the scale."""
        raise NotImplementedError

    def unread(self, frame: Frame) -> np.ndarray:
        """Which cells of another table cannot be read as this kind."""
        return are_gaps(cells(frame[self.name]))

    def outside(self, frame: Frame):
        """Which cells of another table are outside the range seen. None if there is no range."""
        return np.zeros(len(frame), dtype=bool)


@dataclass
class Number(Kind):
    """(x − center) / spread, after a logarithm for skewed amounts. Gaps take the median and a second column marks them.

    A gap is as far from a typical value as two values are from each other. `flag`² is the variance of the values.
    """

    fill: float
    center: float = 0.0
    spread: float = 1.0
    flag: float = 0.0
    decimal: str = "."
    unit: str = ""
    low: float = 0.0
    step: float = 0.0  # no logarithm if 0
    seen: tuple = ()  # the smallest and the largest value, and the distance between the 1% and the 99% quantile

    def block(self, column: Series) -> np.ndarray:
        values = numbers(column, self.decimal, self.unit)
        gone = ~usable(values)
        values = (self.curved(np.where(gone, self.fill, values)) - self.center) / self.spread
        return np.column_stack([values, self.flag * gone]) if self.flag else values[:, None]

    def curved(self, values):
        """The values, or the logarithm of 1 + their distance from the smallest in units of the typical one."""
        if not self.step:
            return values
        above = (values - self.low) / self.step
        return np.sign(above) * np.log1p(np.abs(above))

    def unread(self, frame: Rows) -> np.ndarray:
        return ~usable(numbers(frame[self.name], self.decimal, self.unit))

    def outside(self, frame: Frame) -> np.ndarray:
        """Which numbers are beyond the smallest or largest one seen by more than a tenth of the usual range."""
        values = numbers(frame[self.name], self.decimal, self.unit)
        least, most, reach = self.seen
        with np.errstate(invalid="ignore"):
            return (values < least - reach / 10) | (values > most + reach / 10)

    @property
    def range(self):
        """The smallest and the largest value seen, in words."""
        return f"{short(self.seen[0], 6)} to {short(self.seen[1], 6)}"

    @classmethod
    def fit(cls, column, decimal=".", unit=""):
        """Learn from the cells that are numbers."""
        values = numbers(column, decimal, unit)
        there = usable(values)
        known = np.sort(values[there])
        n_distinct = 1 + np.count_nonzero(np.diff(known))
        made = cls(str(column.name), _middle(known), decimal=decimal, unit=unit)
        # NumPy's quantile and median take ten times as long for a short column
        least, most = np.interp([0.01 * (len(known) - 1), 0.99 * (len(known) - 1)], np.arange(len(known)), known)
        made.seen = (float(known[0]), float(known[-1]), float(most - least))
        if n_distinct > CODES.few and skewness(known) > 1:
            low = float(known[0])
            made.low, made.step = low, _middle(known[known > low] - low)
            if abs(skewness(made.curved(known))) >= skewness(known):
                made.step = 0.0
        curved = made.curved(known)
        made.center, made.spread = float(made.curved(made.fill)), float(np.sqrt(total(curved))) or 1.0
        if n_distinct == 2:  # a yes or no in numbers is scaled as a category of two levels
            made.spread = max(made.spread, float(np.sqrt(CODES.rare / 2) * np.ptp(curved)))
        made.flag = 0.0 if there.all() else 1.0
        return made

    def unscaled(self, column: Series) -> "Number":
        """An encoder that leaves the numbers unchanged."""
        values = numbers(column, self.decimal, self.unit)
        there = usable(values)
        flag = 0.0 if there.all() else float(np.std(values[there])) or 1.0
        return type(self)(self.name, self.fill, flag=flag, decimal=self.decimal, unit=self.unit, seen=self.seen)


@dataclass
class Category(Kind):
    """One column for each level, 1 in the rows that have it. Unseen and rare values are all zeros, gaps a level."""

    levels: list
    reading: str = "whole"  # or "first word", or "boolean": many spellings of yes and no
    pooled: float = 0.0  # fraction of the rows whose value is rare
    floor: ClassVar[float] = CODES.rare

    def block(self, column: Series) -> np.ndarray:
        return (self.words(column)[:, None] == np.array(self.levels, dtype=object)).astype(np.float64)

    def words(self, column: Series) -> np.ndarray:
        """The value of every cell, "" for gaps."""
        return read_words(cells(column), self.reading)

    def unread(self, frame: Frame) -> np.ndarray:
        words = self.words(frame[self.name])
        return ~np.isin(words, [*self.levels, ""]) if not self.pooled else np.zeros(len(words), bool)

    @classmethod
    def fit(cls, column: Series, reading: str = "whole") -> "Category":
        """Keep the most frequent values. There may be none."""
        levels, counts = np.unique(read_words(cells(column), reading).astype(str), return_counts=True)
        order = np.argsort(-counts, kind="stable")[: CODES.levels]
        kept = order[counts[order] >= CODES.often] if len(levels) > CODES.few else order
        pooled = float(1 - counts[kept].sum() / counts.sum()) if len(kept) < len(levels) else 0.0
        return cls(str(column.name), levels[np.sort(kept)].tolist(), reading, pooled)


@dataclass
class Ordered(Kind):
    """The position on the scale and the value itself, with half of the weight each."""

    number: Number
    category: Category
    positions: dict = field(default_factory=dict)  # of words, and empty for whole numbers

    def block(self, column: Series) -> np.ndarray:
        place, word = self.halves(column)
        return np.hstack([self.number.block(place), self.category.block(word) * self.category.scale]) * np.sqrt(0.5)

    def halves(self, column: Series) -> tuple[Series, Series]:
        """The column as positions, and as values of a category."""
        series = type(column)
        if not self.positions:
            values = numbers(column, self.number.decimal, self.number.unit)
            words = [f"{value:.15g}" if known else "" for value, known in zip(values, usable(values))]
            return column, series(words, name=column.name, dtype=object)
        places = [self.positions.get(word.casefold(), np.nan) for word in cells(column)]
        return series(places, name=column.name, dtype=np.float64), column

    def unread(self, frame: Frame) -> np.ndarray:
        return self.number.unread({self.name: self.halves(frame[self.name])[0]})

    def outside(self, frame: Frame):
        return super().outside(frame) if self.positions else self.number.outside(frame)

    @property
    def range(self):
        """The range of the numbers, in words."""
        return self.number.range

    @classmethod
    def fit(cls, column: Series, positions: dict | None = None, decimal: str = ".", unit: str = "") -> "Ordered":
        """Learn both halves. `positions` shows where words are on the scale."""
        name = str(column.name)
        made = cls(name, Number(name, 0.0, decimal=decimal, unit=unit), Category(name, []), positions or {})
        place, word = made.halves(column)
        made.number, made.category = Number.fit(place, decimal, unit), Category.fit(word)
        made.category.scale = 1 / np.sqrt(max(total(made.category.block(word)), CODES.rare))
        return made


@dataclass
class Date(Kind):
    """Days, and the time of the year, the day of the week and the time of day as points on circles. Gaps are marked."""

    order: str
    origin: float
    spread: float
    parts: list
    flag: bool = False

    def block(self, column: Series) -> np.ndarray:
        when = days(column, self.order)
        blocks = [(when - self.origin) / self.spread]
        turn = {"year": (when % 365.2425) / 365.2425, "week": (when % 7) / 7, "day": when % 1}
        for part in self.parts:
            blocks += [np.sin(2 * np.pi * turn[part]), np.cos(2 * np.pi * turn[part])]
        if self.flag:
            blocks.append(np.isnan(when))
        return np.nan_to_num(np.column_stack(blocks))

    def unread(self, frame: Frame) -> np.ndarray:
        return np.isnan(days(frame[self.name], self.order))

    @classmethod
    def fit(cls, column: Series, order: str) -> "Date | None":
        """Learn the range of the dates, which decides the circles that distinguish rows. None if there is no date."""
        when = days(column, order)
        known = when[~np.isnan(when)]
        if not len(known):
            return None
        parts = ["year"] if np.ptp(known) > 60 else []
        parts += ["week"] if len(np.unique(np.floor(known))) > 7 else []
        parts += ["day"] if np.any(known % 1 != 0) else []
        spread = float(np.std(known)) or 1.0
        return cls(str(column.name), order, float(np.mean(known)), spread, parts, len(known) < len(when))


@dataclass
class Vectors(Kind):
    """Columns or lists of numbers that are one embedding. Each row is a direction of length 1."""

    columns: list  # their names. A single one contains lists
    width: int

    def encode(self, frame: Frame) -> np.ndarray:
        return self.block(frame) * self.scale

    def block(self, frame: Frame) -> np.ndarray:
        rows = self.rows(frame)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(length > 0, length, 1.0)

    def rows(self, frame: Frame) -> np.ndarray:
        """(n, width) numbers, with rows of zeros for cells that cannot be read."""
        if len(self.columns) == 1:
            rows = vectors(frame[self.columns[0]])
            return rows if rows is not None and rows.shape[1] == self.width else np.zeros((len(frame), self.width))
        rows = np.column_stack([numbers(frame[name]) for name in self.columns])
        return np.where(usable(rows).all(axis=1, keepdims=True), rows, 0.0)

    def unread(self, frame):
        return ~self.rows(frame).any(axis=1)


def total(block: Block) -> float:
    """Half the expected squared difference between two rows, which is the sum of the variances of the columns."""
    centered = block - np.add.reduce(block) / len(block)  # NumPy's variance takes three times as long for a few rows
    return float(np.add.reduce(np.square(centered), axis=None)) / len(block)


def _middle(ordered: np.ndarray) -> float:
    """The median of sorted values."""
    return float(0.5 * (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]))


def skewness(values):
    """Third standardized moment."""
    centered = values - values.mean()
    spread = np.sqrt(np.mean(centered**2))
    return float(np.mean((centered / spread) ** 3)) if spread > 0 else 0.0


def read_words(words, reading):
    """Cells as values of a category. Gaps are "", and whole numbers have no decimals."""
    words = np.array(["" if word in GAPS else word.removesuffix(".0") for word in words], dtype=object)
    if reading == "first word":
        return np.array([word.split()[0].strip(",;:").casefold() if word else "" for word in words], dtype=object)
    if reading == "boolean":
        return np.array([truth(word) for word in words], dtype=object)
    return words


def truth(word: str) -> str:
    """ "yes", "no" or, for anything else, the word itself."""
    small = word.casefold()
    if small == "1" or small in SPELLINGS["yes"]:
        return "yes"
    return "no" if small == "0" or small in SPELLINGS["no"] else word
