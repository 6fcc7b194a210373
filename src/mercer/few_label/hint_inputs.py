"""Hints as users give them, in columns of words or numbers, next to the rows or in a data frame."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..inputs.entries import is_nothing
from ..inputs.labels import Labels
from ..inputs.tables import as_pandas, is_arrow, is_frame
from ..types import ColumnLike, Facts, Rows
from .hints import Guesses

ACCEPTED = "a column of guesses, a dict or a data frame of such columns, or names of columns of X"


@dataclass(frozen=True, eq=False)
class Hints:
    """The sources of hints, the words that each uses, and its words for the training rows.

    Attributes
    ----------
    names : of the sources. words : for each source its words as text, sorted.
    codes : (n, s) numbers of the words, -1 if there is no hint.
    inside : whether the hints are columns of X. marks : texts that represent no hint.
    """

    names: tuple[str, ...]
    words: tuple[np.ndarray, ...]
    codes: np.ndarray
    inside: bool = False
    marks: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str] | None:
        """The columns of X that are hints, or None if the hints were given apart from X."""
        return list(self.names) if self.inside else None

    @classmethod
    def read(
        cls,
        X: Rows,
        hints: ColumnLike,
        missing: object = "auto",
        rows: np.ndarray | None = None,
        most_words: int = 1000,
    ) -> tuple[Rows, "Hints | None"]:
        """(X without the columns of hints, Hints or None) as `fit` gets them.

        Parameters
        ----------
        hints : see `FewLabelClassifier.fit`. missing : `missing_label` of the classifier. "auto" makes -1 no hint.
        rows : numbers of the rows of X among those that the hints are of. None for all.
        most_words : of one source. More are texts or numbers of rows, and no classes.
        """
        if hints is None:
            return X, None
        marks = ("-1",) if isinstance(missing, str) and missing == "auto" else ()
        inside = isinstance(hints, str) or (isinstance(hints, list | tuple) and _all_text(hints) and is_frame(X))
        if inside:
            names = (hints,) if isinstance(hints, str) else tuple(hints)
            X, columns = taken(X, names)
        else:
            columns = _columns(hints, rows)
            names = tuple(columns)
        n = len(X) if is_frame(X) else X.shape[0] if hasattr(X, "shape") else len(X)
        texts = _texts(columns, n, marks)
        words = tuple(np.array(sorted(set(own.tolist()) - {""}), dtype=object) for own in texts.T)
        for name, own in zip(names, words):
            if len(own) > most_words:
                raise InputError(
                    f"The hint {name!r} has {len(own)} different values, such as {own[0]!r}. Accepted: guesses of the "
                    f"class, at most {most_words} different ones. Leave this column out of the hints."
                )
            if not len(own):
                raise InputError(f"The hint {name!r} is empty in every row. Leave it out, or check the column.")
        found = cls(names, words, np.zeros((0, len(names)), dtype=int), inside, marks)
        return X, replace(found, codes=found.numbers(texts))

    def of(self, X: Rows, hints: ColumnLike) -> tuple[Rows, np.ndarray | None]:
        """(X without the columns of hints, (n, s) numbers of the hints of other rows, or None if there are none)."""
        if hints is None and self.inside and is_frame(X):
            there = [name for name in self.names if name in X.columns]
            X, columns = taken(X, there)
        elif hints is None:
            return X, None
        else:
            columns = _columns(hints, None, self.names)
        n = len(X) if is_frame(X) else X.shape[0] if hasattr(X, "shape") else len(X)
        if unknown := [name for name in columns if name not in self.names]:
            raise InputError(
                f"The model has no hints {unknown[0]!r}. Accepted: {', '.join(map(repr, self.names))}, as in fit."
            )
        gap = np.full(n, None, dtype=object)
        return X, self.numbers(_texts({name: columns.get(name, gap) for name in self.names}, n, self.marks))

    def numbers(self, texts: np.ndarray) -> np.ndarray:
        """(n, s) numbers of the words in texts (n, s), -1 for "" and for words that no training row had."""
        out = np.full(texts.shape, -1)
        for j, words in enumerate(self.words):
            place = {word: i for i, word in enumerate(words.tolist())}
            out[:, j] = [place.get(text, -1) for text in texts[:, j].tolist()]
        return out

    def classes(self, names: Iterable[object]) -> tuple[np.ndarray, ...]:
        """For each source the class number that each word names, -1 if none. Capitals and spaces may differ."""
        exact = {_text(name): code for code, name in enumerate(names)}
        folded: dict[str, int] = {}
        for text, code in exact.items():
            folded[_folded(text)] = -1 if _folded(text) in folded else code
        return tuple(
            np.array([exact.get(word, folded.get(_folded(word), -1)) for word in words.tolist()], dtype=int)
            for words in self.words
        )

    def renamed(self, names: dict[str, str]) -> "Hints":
        """The hints with other names for the classes. Words that name none of them never name a new one."""
        exact = self.classes(names)
        new = list(names.values())
        words = [
            np.array([new[code] if code >= 0 else f"other: {word}" for word, code in zip(own.tolist(), codes)], object)
            for own, codes in zip(self.words, exact)
        ]
        return replace(self, words=tuple(words))

    def guesses(self, names: Iterable[object]) -> Guesses:
        """The hints of the training rows as numbers, for classes of these names."""
        return Guesses(self.codes, self.classes(names))

    def widened(self, labels: Labels) -> Labels:
        """The labels with further classes, which sources name and no label has.

        A word is such a class if a source uses it for at least 1% of its rows and for at most one labeled row. If two
        labeled rows have the word and neither has that label, it is probably not a class, such as "unknown".
        """
        names = labels.classes.tolist()
        if labels.soft or len(names) < 2:
            return labels
        more: dict[str, object] = {}
        for words, named, codes in zip(self.words, self.classes(names), self.codes.T):
            used = np.bincount(codes[codes >= 0], minlength=len(words))
            own = codes[labels.labeled]
            checked = np.bincount(own[own >= 0], minlength=len(words))
            for i in np.flatnonzero((named < 0) & (checked < 2) & (used >= max(2, 0.01 * used.sum()))):
                value = _like(words[i], names[0])
                if value is not None:
                    more.setdefault(_folded(words[i]), value)
        if not more:
            return labels
        every = sorted([*names, *more.values()])
        place = np.array([every.index(name) for name in names])
        given = np.zeros((len(labels.labeled), len(every)))
        given[:, place] = labels.given
        classes = np.array(every, dtype=object if labels.classes.dtype == object else None)
        codes = np.where(labels.codes >= 0, place[labels.codes], -1)
        return replace(labels, classes=classes, codes=codes, given=given)

    def of_row(self, row: int) -> list[tuple[str, str]]:
        """[(source, its word)] of a training row."""
        return [(name, own[code]) for name, own, code in zip(self.names, self.words, self.codes[row]) if code >= 0]

    def compact(self) -> "Hints":
        """A copy without the hints of the training rows."""
        return replace(self, codes=self.codes[:0])


def hinted(found: Hints | None, X: Rows, hints: ColumnLike) -> tuple[Rows, np.ndarray | None]:
    """`Hints.of`, also for a model without hints."""
    if found is not None:
        return found.of(X, hints)
    if hints is not None:
        raise InputError("The model was fitted without hints. Fit with hints=, or leave them out here.")
    return X, None


def taken(X: Rows, names: Sequence[str]) -> tuple[Rows, dict[str, ColumnLike]]:
    """(a data frame without some columns, these columns by name)."""
    if not is_frame(X):
        raise InputError(f"hints={list(names)!r} names columns, and X is not a data frame. Accepted: {ACCEPTED}.")
    if absent := [name for name in names if name not in X.columns]:
        raise InputError(f"X has no column {absent[0]!r} for hints. Its columns are {list(X.columns)[:8]}.")
    X = as_pandas(X) if is_arrow(X) else X
    return X[[name for name in X.columns if name not in names]], {name: X[name] for name in names}


def _columns(hints: ColumnLike, rows: np.ndarray | None, names: Sequence[str] = ()) -> Facts:
    """Columns by name. `names` for hints that have none, `rows` of them."""
    if is_frame(hints):
        frame = as_pandas(hints) if is_arrow(hints) else hints
        found = {str(name): np.asarray(frame[name], dtype=object) for name in frame.columns}
    elif isinstance(hints, Mapping):
        found = {str(name): _array(column) for name, column in hints.items()}
    else:
        values = _array(hints)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2:
            raise InputError(f"hints has shape {values.shape}. Accepted: {ACCEPTED}.")
        own = getattr(hints, "name", None)
        number = values.shape[1]
        usual = [str(own)] if own is not None and number == 1 else ["hint"] if number == 1 else []
        usual = usual or [f"hint {j + 1}" for j in range(number)]
        found = dict(zip(names if len(names) == number else usual, values.T))
    if not found:
        raise InputError(f"hints={hints!r} has no column. Accepted: {ACCEPTED}.")
    return found if rows is None else {name: np.asarray(column, dtype=object)[rows] for name, column in found.items()}


def _array(column: ColumnLike) -> np.ndarray:
    if isinstance(column, str) or np.ndim(column) == 0:
        raise InputError(f"hints={column!r} is not a column. Accepted: {ACCEPTED}.")
    return np.asarray(column, dtype=object)


def _texts(columns: Mapping[str, ColumnLike], n: int, marks: Sequence[str]) -> np.ndarray:
    """(n, s) the hints as text, "" if there is none."""
    out = np.full((n, len(columns)), "", dtype=object)
    for j, (name, column) in enumerate(columns.items()):
        values = np.asarray(column, dtype=object)
        if values.shape != (n,):
            raise InputError(f"The hint {name!r} has shape {values.shape}. Give one guess for each of {n} rows.")
        words = [_text(value) for value in values.tolist()]
        out[:, j] = ["" if word in marks else word for word in words]
    return out


def _text(value: object) -> str:
    """A class or guess as text, with whole numbers without .0, and "" for a gap."""
    if value is None or is_nothing(value):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def _like(word: str, name: object) -> object:
    """A word as a class of the same type as `name`, or None if it cannot be one."""
    if isinstance(name, str):
        return word
    try:
        value = type(name)(word)  # type: ignore[call-arg]
    except (TypeError, ValueError):
        return None
    return value if _text(value) == word else None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _all_text(names: Sequence[object]) -> bool:
    return bool(len(names)) and all(isinstance(name, str) for name in names)
