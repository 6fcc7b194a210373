"""What tells rows and groups of rows apart, in the cells of the table they come from."""

import itertools
from collections import Counter

import numpy as np
from scipy.stats import rankdata

from .cells import cells, numbers, usable

NEIGHBOURS = 10
CLEAR = 0.25  # strength from which a column is said to tell a group from the others
LOOKED_AT = 5_000  # rows, evenly spaced, that groups are described by
LONGEST = 60  # characters of a cell that are shown


class Telling:
    """Cells that tell the rows of a table apart.

    Parameters
    ----------
    frame : the table, a pandas DataFrame.
    encoder : `TableEncoder` fitted to it. X : (n, d) its matrix.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.inputs.tables import TableEncoder, Telling
    >>> frame = pd.DataFrame({"size": [1, 2, 3, 4, 11, 12, 13, 99], "colour": ["red"] * 4 + ["blue"] * 4})
    >>> encoder = TableEncoder()
    >>> telling = Telling(frame, encoder, encoder.fit_transform(frame))
    >>> telling.cells(7, 1)
    {'size': '99'}
    >>> telling.odd(7)
    ('size', 'size is 99; rows that are like it otherwise have 11 to 12')
    >>> telling.of_groups([0, 0, 0, 0, 1, 1, 1, 1], 2)[0]
    ['size 2.5 (others 12.5)', 'colour red 100 % (others 0 %)']
    """

    def __init__(self, frame, encoder, X):
        self.frame, self.encoder, self.X = frame, encoder, X
        self._tokens = {}
        self.slices = encoder.slices_
        used = [column for column in encoder.columns_ if column.name in self.slices]
        self.kinds = {column.name: column.kind for column in used}
        there = set(frame.columns)
        self.shown = [name for name, kind in self.kinds.items() if kind != "embedding" and name in there]
        self.readers = {one.name: one for one in encoder.encoders_}
        self._middle = X.mean(axis=0)
        self._spread = {name: float(np.var(X[:, part], axis=0).sum()) for name, part in self.slices.items()}

    @property
    def texts(self):
        """Names of the text columns."""
        return [name for name, kind in self.kinds.items() if kind == "text"]

    def cells(self, row, most=3):
        """{column: cell as text}: the beginning of texts, and the cells that are furthest from the middle."""
        away = {
            name: float(np.sum((self.X[row, part] - self._middle[part]) ** 2)) / (self._spread[name] or 1.0)
            for name, part in self.slices.items()
            if name in self.shown and name not in self.texts
        }
        names = [*self.texts, *sorted(away, key=lambda name: -away[name])][: max(most, len(self.texts[:1]))]
        return {name: self.cell(name, row) for name in names}

    def cell(self, name, row):
        """A cell as text, cut after some words; "" for a gap."""
        return beginning(cells(self.frame[name].iloc[[row]])[0])

    def sentence(self, row, most=3):
        """The telling cells of a row in one line."""
        return "; ".join(
            f"“{cell}”" if name in self.texts else f"{name} {cell or '(empty)'}"
            for name, cell in self.cells(row, most).items()
        )

    def odd(self, row):
        """(column, sentence): the column in which a row differs most from those that are like it in all others."""
        parts = {name: np.sum((self.X[:, part] - self.X[row, part]) ** 2, axis=1) for name, part in self.slices.items()}
        parts = {name: apart / (self._spread[name] or 1.0) for name, apart in parts.items()}
        whole = sum(parts.values())
        best, worst, like = "", -1.0, np.zeros(0, dtype=int)
        for name, apart in parts.items():
            rest = whole - apart
            rest[row] = np.inf
            number = min(NEIGHBOURS, max(len(rest) // 3, 1))
            near = np.flatnonzero(rest <= np.partition(rest, number - 1)[number - 1])
            near = near[np.argsort(rest[near], kind="stable")[:number]]
            if float(np.median(apart[near])) > worst:
                best, worst, like = name, float(np.median(apart[near])), near
        return best, self._compared(best, row, like)

    def _compared(self, name, row, like):
        """A sentence on a cell beside those of similar rows."""
        if name in self.texts:
            others = self._words(name)
            few = sorted((sum(word in other for other in others), word) for word in others[row])
            rare = ", ".join(f"{word!r}" for _, word in few[:3])
            return f"{name}: the words {rare} are rare here" if rare else f"{name} is empty"
        if name not in self.shown:
            return f"{name} has another direction than those of rows that are like it otherwise"
        kind = "rows that are like it otherwise have"
        values = self._numbers(name)
        if values is not None and usable(values[like]).any():
            low, high = np.quantile(values[like][usable(values[like])], [0.1, 0.9], method="nearest")
            return f"{name} is {self.cell(name, row) or 'empty'}; {kind} {_range(low, high)}"
        words, counts = np.unique(cells(self.frame[name])[like].astype(str), return_counts=True)
        often = beginning(words[counts.argmax()])
        return f"{name} is {self.cell(name, row) or 'empty'}; {kind} {often or 'nothing there'}"

    def of_groups(self, codes, n_groups, most=4):
        """What tells each group from the other rows: a list of phrases for each, the clearest first."""
        codes = np.asarray(codes)
        if len(codes) > LOOKED_AT:
            rows = np.linspace(0, len(codes) - 1, LOOKED_AT).astype(int)
            return Telling(self.frame.iloc[rows], self.encoder, self.X[rows]).of_groups(codes[rows], n_groups, most)
        found = []
        for group in range(n_groups):
            inside = codes == group
            told = [self._told(name, inside) for name in self.kinds] if inside.any() and not inside.all() else []
            told = sorted((one for one in told if one is not None), key=lambda one: -one[0])
            found.append([phrase for strength, phrase in told if strength >= CLEAR][:most])
        return found

    def _told(self, name, inside):
        """(strength from 0 to 1, phrase) of one column, or None."""
        if name not in self.shown:
            return None
        if name in self.texts:
            return self._told_words(name, inside)
        values = self._numbers(name)
        if values is not None:
            known = usable(values)
            a, b = values[known & inside], values[known & ~inside]
            if not len(a) or not len(b):
                return None
            ranks = rankdata(np.concatenate([a, b]))[: len(a)]
            strength = abs(2 * (ranks.sum() - len(a) * (len(a) + 1) / 2) / (len(a) * len(b)) - 1)
            return strength, f"{name} {np.median(a):.4g} (others {np.median(b):.4g})"
        levels, where = np.unique(cells(self.frame[name]).astype(str), return_inverse=True)
        ours = np.bincount(where[inside], minlength=len(levels)) / inside.sum()
        theirs = np.bincount(where[~inside], minlength=len(levels)) / (~inside).sum()
        best = int(np.argmax(ours - theirs))
        shares = f"{ours[best]:.0%} (others {theirs[best]:.0%})".replace("%", " %")
        return ours[best] - theirs[best], f"{name} {beginning(levels[best]) or '(empty)'} {shares}"

    def _told_words(self, name, inside):
        """The words that are more frequent inside."""
        texts = self._words(name)
        ours, theirs = (_shares([texts[i] for i in np.flatnonzero(mask)]) for mask in (inside, ~inside))
        ahead = sorted(((share - theirs.get(word, 0.0), word) for word, share in ours.items()), reverse=True)[:5]
        clear = [word for lead, word in ahead if lead > 0.05]
        return (max(ahead[0][0], CLEAR), f"{name}: {', '.join(clear)}") if clear else None

    def _words(self, name):
        """The words of every cell of a text column."""
        if name not in self._tokens:
            self._tokens[name] = [_words(cell) for cell in cells(self.frame[name])]
        return self._tokens[name]

    def _numbers(self, name):
        """The column as numbers where it is one."""
        reader = self.readers[name]
        if self.kinds[name] == "ordered":
            reader = None if reader.positions else reader.number
        elif self.kinds[name] != "number":
            reader = None
        return None if reader is None else numbers(self.frame[name], reader.decimal, reader.unit)


def beginning(cell, longest=LONGEST):
    """A cell as one line of text, cut at a word."""
    text = " ".join(str(cell).split())
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0].rstrip(",;:.") + " …"


def _range(low, high):
    low, high = f"{low:.4g}", f"{high:.4g}"
    return low if low == high else f"{low} to {high}"


def _words(cell):
    return {word for word in "".join(c if c.isalnum() else " " for c in cell.lower()).split() if len(word) > 2}


def _shares(texts):
    """{word: share of the texts that have it}."""
    return {word: count / len(texts) for word, count in Counter(itertools.chain(*texts)).items()}
