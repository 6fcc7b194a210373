"""Cells of a table that distinguish its rows and groups of rows."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ...types import Estimator, Frame, Rows, Series
from .cells import cells, numbers, usable
from .dates import days
from .images import opened, small

RARE = 0.05  # fraction of the texts that have a rare word at most
CLEAR = 0.25  # strength from which a column is named as the difference of a group from the others
# Of English, German, French and Spanish, of at least three letters
FUNCTION_WORDS = """
the and for with from into onto over under that this these those there here then than but not nor yet you your
his her hers its our their they them him she who whom whose which what when where why how was were are been being
have has had having does did will would can could should may might must shall just very also all any some such each
more most much many other only own same too out off about after again before between because while during until
der die das den dem des ein eine einer eines einem einen und oder aber nicht kein keine ist sind war waren wird
werden wurde wurden hat haben hatte mit von vom zum zur auf aus bei nach vor für über unter durch gegen ohne auch
noch nur schon sehr wie was wer als wenn dass ich wir ihr sie uns mir mich dir dich sich sein seine ihre mein dein
les des une est sont était aux dans par pour sur avec sans sous que qui quoi dont mais pas plus très tout tous
cette ces ses son leur leurs nous vous ils elle elles mon mes ton tes été être avoir fait comme aussi
los las del una unos unas que con por para sin sobre entre pero más muy como esta este esto estos estas son era
fue han hay les nos sus mis tus ella ellos ellas donde cuando todo todos también porque desde hasta
"""


class DistinctiveCells:
    """Find the cells that distinguish the rows of a table.

    Parameters
    ----------
    frame : the table, a pandas DataFrame.
    encoder : `TableEncoder` fitted to it.
    X : (n, d) its matrix.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.inputs.tables import TableEncoder, DistinctiveCells
    >>> frame = pd.DataFrame({"size": [1, 2, 3, 4, 11, 12, 13, 99], "color": ["red"] * 4 + ["blue"] * 4})
    >>> encoder = TableEncoder()
    >>> distinctive = DistinctiveCells(frame, encoder, encoder.fit_transform(frame))
    >>> distinctive.cells(7, 1)
    {'size': '99'}
    >>> distinctive.compared("size", 7, [4, 5, 6]), distinctive.ordinary("size", [4, 5, 6])
    ('size is 99', '11 to 13')
    >>> distinctive.of_groups([0, 0, 0, 0, 1, 1, 1, 1], 2)[0]
    ['size 2.5 (others 12.5)', 'color red 100% (others 0%)']
    """

    def __init__(self, frame: Frame, encoder: Estimator, X: Rows) -> None:
        self.frame, self.encoder, self.X = frame, encoder, X
        self._tokens: dict = {}
        self._endings: dict = {}
        self.slices = encoder.slices_
        used = [column for column in encoder.columns_ if column.name in self.slices]
        self.kinds = {column.name: column.kind for column in used}
        there = set(frame.columns)
        self.shown = [name for name, kind in self.kinds.items() if kind != "embedding" and name in there]
        self.readers = {one.name: one for one in encoder.encoders_}
        self._middle = X.mean(axis=0)
        self._spread = {name: float(np.var(X[:, part], axis=0).sum()) for name, part in self.slices.items()}

    @property
    def texts(self) -> list:
        """Names of the text columns."""
        return [name for name, kind in self.kinds.items() if kind == "text"]

    def cells(self, row: int, most: int = 3) -> dict[str, str]:
        """A dict from columns to cells, with the beginnings of texts and the cells that are furthest from the mean."""
        away = {
            name: float(np.sum((self.X[row, part] - self._middle[part]) ** 2)) / (self._spread[name] or 1.0)
            for name, part in self.slices.items()
            if name in self.shown and name not in self.texts
        }
        names = [*self.texts, *sorted(away, key=lambda name: -away[name])][: max(most, len(self.texts[:1]))]
        return {name: self.cell(name, row) for name in names}

    def unusual(self, row: int) -> dict:
        """A dict from columns to cells, with numbers in the outer 2% of their column, or words of less than 2%."""
        found = {}
        for name in self.shown:
            if name in self.texts or self.kinds[name] == "image":
                continue
            values = self._numbers(name)
            if values is None:
                all_cells = cells(self.frame[name]).astype(str)
                rare = bool(all_cells[row]) and np.mean(all_cells == all_cells[row]) < 0.02
            else:
                known = values[usable(values)]
                low, high = np.quantile(known, [0.01, 0.99]) if len(known) else (0.0, 0.0)
                rare = bool(usable(values[row : row + 1])[0] and not low <= values[row] <= high)
            if rare:
                found[name] = self.cell(name, row)
        return found

    def cell(self, name: str, row: int) -> str:
        """A cell as text, cut after some words, with four digits of a long decimal number. "" for a gap.

        The ".0" of a column of whole numbers and the midnight of a column of days are left out, if a reader added them.
        """
        column = self.frame[name]
        text = beginning(cells(column.iloc[[row]])[0]).removesuffix(self._added(column))
        return _rounded(text)

    def sentence(self, row: int, most: int = 3, paths: bool = True) -> str:
        """The distinctive cells of a row in one line, with the paths of its images or without them."""
        return "; ".join(
            f"“{cell}”" if name in self.texts else f"{name} {cell or '(empty)'}"
            for name, cell in self.cells(row, most).items()
            if paths or self.kinds[name] != "image"
        )

    def compared(self, name: str, row: int, like: np.ndarray) -> str:
        """A sentence that compares a cell with those of similar rows. "" if it is like theirs.

        Parameters
        ----------
        name : str
            Name of the column.
        row : int
            Number of the row.
        like : array of int
            Numbers of similar rows.
        """
        if name in self.texts:
            return self._compared_words(name, row, like)
        if name not in self.shown:
            return f"{name} has another direction than in similar rows"
        if self.kinds[name] == "image":
            return f"{name}: the image differs from those of similar rows"
        return "" if self._usual(name, row, like) else f"{name} is {self.cell(name, row) or 'empty'}"

    def ordinary(self, name: str, like: np.ndarray) -> str:
        """The usual cell of similar rows, as a range of numbers or the most frequent word. "" if nothing is short."""
        if name in self.texts or name not in self.shown or self.kinds[name] == "image":
            return ""
        values = self._ordered(name, like)
        if values is not None and usable(values).any():
            low, high = _middle(values)
            if self.kinds[name] != "date":
                return _range(low, high, self._comma(name))
            first, last = (self.cell(name, like[int(np.argmax(values == end))]) for end in (low, high))
            return first if first == last else f"{first} to {last}"
        texts = cells(self.frame[name].iloc[like]).astype(str)
        return self.cell(name, like[int(np.argmax(texts == _frequent(texts)))]) or "nothing there"

    def images(self, rows: Sequence[int] | np.ndarray, side: int = 96) -> list:
        """A list of (caption, data URI of a small PNG) of the first image column. Empty without one."""
        names = [name for name, kind in self.kinds.items() if kind == "image" and name in self.frame.columns]
        if not names:
            return []
        column = self.frame[names[0]]
        files = [str(cells(column.iloc[[row]])[0]) for row in rows]
        return [(file, small(opened(column, file), side)) for file in files]

    def whole_text(self, row: int, longest: int = 600) -> str:
        """The first text of a row, cut only if it is very long. "" if no column is text."""
        if not self.texts:
            return ""
        return beginning(cells(self.frame[self.texts[0]].iloc[[row]])[0], longest)

    def _usual(self, name: str, row: int, like: np.ndarray) -> bool:
        """Whether the cell is like those of similar rows, so that a sentence about it would contradict itself."""
        values = self._ordered(name, like)
        if values is not None and usable(values).any():
            own, (low, high) = self._ordered(name, [row]), _middle(values)
            return own is not None and bool(low <= own[0] <= high)
        return str(cells(self.frame[name].iloc[[row]])[0]) == _frequent(cells(self.frame[name].iloc[like]))

    def _compared_words(self, name: str, row: int, like: np.ndarray) -> str:
        """The three words of a text that the fewest texts have, if they are rare or no similar row has them."""
        texts = self._words(name)
        if not texts[row]:
            return f"{name} is {'empty' if not self.cell(name, row) else 'without words'}"
        counts = sorted((sum(word in text for text in texts), word) for word in texts[row])
        rare = [word for count, word in counts if count <= max(1, RARE * len(texts))]
        if rare:
            return f"{name}: {_are(rare[:3])} rare here"
        known = set().union(*(texts[i] for i in like))
        other = [word for _, word in counts if word not in known]
        differs = f"{_are(other[:3])} not in similar rows" if other else "the text differs from those of similar rows"
        return f"{name}: {differs}"

    def of_groups(self, codes: np.ndarray, n_groups: int, most: int = 4, n_rows: int = 5_000) -> list:
        """A list of phrases for each group on its differences from the other rows, the clearest first.

        Of more than `n_rows` rows only so many are compared, evenly spaced.
        """
        codes = np.asarray(codes)
        if len(codes) > n_rows:
            rows = np.linspace(0, len(codes) - 1, n_rows).astype(int)
            return DistinctiveCells(self.frame.iloc[rows], self.encoder, self.X[rows]).of_groups(
                codes[rows], n_groups, most, n_rows
            )
        found = []
        for group in range(n_groups):
            inside = codes == group
            differs = inside.any() and not inside.all()
            every = [self._difference(name, inside) for name in self.kinds] if differs else []
            clearest = sorted((one for one in every if one is not None), key=lambda one: -one[0])
            found.append([phrase for strength, phrase in clearest if strength >= CLEAR][:most])
        return found

    def _difference(self, name: str, inside: np.ndarray) -> tuple[float, str] | None:
        """(strength from 0 to 1, phrase) of one column, or None."""
        if name not in self.shown:
            return None
        if name in self.texts:
            return self._difference_of_words(name, inside)
        values = self._numbers(name)
        if values is not None:
            known = usable(values)
            a, b = values[known & inside], values[known & ~inside]
            if not len(a) or not len(b):
                return None
            ranks = rankdata(np.concatenate([a, b]))[: len(a)]
            strength = abs(2 * (ranks.sum() - len(a) * (len(a) + 1) / 2) / (len(a) * len(b)) - 1)
            own, others = (_short(np.median(part), self._comma(name)) for part in (a, b))
            return strength, f"{name} {own} (others {others})"
        levels, where = np.unique(cells(self.frame[name]).astype(str), return_inverse=True)
        own = np.bincount(where[inside], minlength=len(levels)) / inside.sum()
        others = np.bincount(where[~inside], minlength=len(levels)) / (~inside).sum()
        best = int(np.argmax(own - others))
        fractions = f"{own[best]:.0%} (others {others[best]:.0%})"
        return own[best] - others[best], f"{name} {beginning(levels[best]) or '(empty)'} {fractions}"

    def _difference_of_words(self, name: str, inside: np.ndarray) -> tuple[float, str] | None:
        """The words that are more frequent inside."""
        ahead = distinctive(self._words(name), inside, 5)
        if not ahead:
            return None
        clear = [word for lead, word in ahead if lead > 0.05]
        return (max(ahead[0][0], CLEAR), f"{name}: {', '.join(clear)}") if clear else None

    def _words(self, name: str) -> list:
        """The words of every cell of a text column."""
        if name not in self._tokens:
            self._tokens[name] = [words(cell) for cell in cells(self.frame[name])]
        return self._tokens[name]

    def _comma(self, name: str) -> bool:
        """Whether the numbers of a column are written with a decimal comma."""
        reader = self.readers[name]
        return getattr(getattr(reader, "number", reader), "decimal", ".") == ","

    def _numbers(self, name: str, rows: Any = slice(None)) -> np.ndarray | None:
        """The cells of some rows as numbers. None if it is not a column of numbers."""
        reader = self.readers[name]
        if self.kinds[name] == "ordered":
            reader = None if reader.positions else reader.number
        elif self.kinds[name] != "number":
            reader = None
        return None if reader is None else numbers(self.frame[name].iloc[rows], reader.decimal, reader.unit)

    def _ordered(self, name: str, rows: Any) -> np.ndarray | None:
        """The cells of some rows as numbers, dates as days. None if they have no order."""
        if self.kinds[name] == "date":
            return days(self.frame[name].iloc[rows], self.readers[name].order)
        return self._numbers(name, rows)

    def _added(self, column: Series) -> str:
        """The ending that a reader added to every cell of a column, such as ".0". "" if it added none."""
        if column.name not in self._endings:
            known, kind = column.dropna(), getattr(column.dtype, "kind", "")
            ending = {"f": ".0", "M": " 00:00:00"}.get(kind, "")
            whole = bool(ending) and (known % 1 == 0 if kind == "f" else known == known.dt.normalize()).all()
            self._endings[column.name] = ending if whole else ""
        return self._endings[column.name]


def beginning(cell: object, longest: int = 60) -> str:
    """A cell as one line of text, cut at a word."""
    text = " ".join(str(cell).split())
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0].rstrip(",;:.") + " …"


def _are(words: list[str]) -> str:
    """The subject and the verb of a sentence on some words."""
    quoted = ", ".join(f"{word!r}" for word in words)
    return f"the words {quoted} are" if len(words) > 1 else f"the word {quoted} is"


def _middle(values: np.ndarray) -> np.ndarray:
    """The 10% and the 90% quantile of the numbers among some cells."""
    return np.quantile(values[usable(values)], [0.1, 0.9], method="nearest")


def _frequent(words: np.ndarray) -> str:
    kinds, counts = np.unique(words.astype(str), return_counts=True)
    return str(kinds[counts.argmax()]) if len(kinds) else ""


def _range(low: float, high: float, comma: bool = False) -> str:
    first, last = (_short(value, comma) for value in (low, high))
    return first if first == last else f"{first} to {last}"


def _short(value: float, comma: bool = False) -> str:
    """A number in four digits, or without decimals, with the decimal mark of its column."""
    text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return text.replace(".", ",") if comma else text


def _rounded(cell: str) -> str:
    """A number of more than four decimals in four digits. Any other cell is unchanged.

    >>> _rounded("-1.6443490697222936"), _rounded("12,5"), _rounded("1.2.2024")
    ('-1.644', '12,5', '1.2.2024')
    """
    found = re.fullmatch(r"(-?\d+)([.,])(\d{5,})", cell)
    return _short(float(f"{found[1]}.{found[3]}"), found[2] == ",") if found else cell


def distinctive(texts: list, inside: np.ndarray, most: int) -> list:
    """Return a list of (difference of the frequencies, word) for words that are more frequent in texts inside.

    `texts` are sets of words. Function words such as "the" are left out, because they distinguish the form of texts and
    not their subject.
    """
    dull = set(FUNCTION_WORDS.split())
    own, others = (_fractions([texts[i] for i in np.flatnonzero(mask)]) for mask in (inside, ~inside))
    ahead = ((part - others.get(word, 0.0), word) for word, part in own.items() if word not in dull)
    return sorted(ahead, key=lambda one: (-one[0], one[1]))[:most]


def words(cell: str) -> set:
    """Return the words of a text, of at least three letters."""
    return {word for word in "".join(c if c.isalnum() else " " for c in cell.lower()).split() if len(word) > 2}


def _fractions(texts: list[set]) -> dict[str, float]:
    """The fraction of the texts that have each word, by word."""
    return {word: count / len(texts) for word, count in Counter(itertools.chain(*texts)).items()}
