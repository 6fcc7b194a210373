"""What a column holds, and how each kind becomes numbers.

`look` decides; `Number`, `Category`, `Date` and `Text` are fitted to a column and encode it, or the same column of
another table. What is of no use as a feature (constants, identifiers, dates that can be read two ways) comes back as
a note that says so (see `notes.sentences`).
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...backend import need
from .notes import cells_of

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-", "#N/A", ".")
LARGEST = 1e150
LEVELS = 30  # categories kept of a column with many; the rest share one
_ID_NAME = re.compile(r"(?i:(^|[_\s.-])(id|ids|uuid|guid|key|index|idx|row|nr|no|number)$|^unnamed)|^column 1$|I[dD]$")
_SIGNS = "€$£¥%"
_CODE = "(?:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN)"
_CURRENCY = re.compile(rf"{_CODE}\s*(?=[\d+-])|(?<=\d)\s*{_CODE}$")
_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_GROUPED = {  # decimal mark → numbers whose thousands are set apart by the other mark
    ".": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?"),
    ",": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?"),
}
_SPACED = re.compile(r"[+-]?\d{1,3}(?:[ \u00a0\u202f'\u2019]\d{3})+(?:[.,]\d*)?")
_ISO = r"\d{4}([-/.])\d{1,2}\1\d{1,2}(?:[T ]\d{1,2}:\d{2}.*)?"
_NAMED = r"(?:\d{1,2}[ .-]{1,2}[A-Za-z]{3,9}|[A-Za-z]{3,9}\.? \d{1,2})[ .,-]{1,2}(?:\d{4}|\d{2})(?: \d{1,2}:\d{2}.*)?"
_SLASHED = r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?: \d{1,2}:\d{2}.*)?"


@dataclass
class Number:
    """A number; gaps and words among numbers take the median."""

    name: str
    fill: float
    mean: float
    scale: float
    decimal: str = "."

    def encode(self, column, standardise):
        values = numbers(column, self.decimal)
        values = np.where(usable(values), values, self.fill)
        return ((values - self.mean) / self.scale if standardise else values)[:, None]

    def unread(self, column):
        """Which cells of another table say nothing to this encoder."""
        return ~usable(numbers(column, self.decimal))


@dataclass
class Category:
    """One column of 0 and 1 for each level (a single one for two levels); unseen values and gaps are all zeros."""

    name: str
    levels: list

    def encode(self, column, standardise):
        words = cells(column)
        levels = self.levels[1:] if len(self.levels) == 2 else self.levels
        return (words[:, None] == np.array(levels, dtype=object)).astype(np.float64)

    def unread(self, column):
        """Which cells of another table say nothing to this encoder."""
        words = cells(column)
        return ~np.isin(words, [*self.levels, *MISSING]) if len(self.levels) < LEVELS else np.zeros(len(words), bool)


@dataclass
class Date:
    """Days since the first date, the time of the year, the day of the week and the time of day as points on circles."""

    name: str
    order: str
    origin: float
    scale: float
    parts: list

    def encode(self, column, standardise):
        when = dates(column, self.order)
        days = when.to_numpy(dtype="datetime64[s]").astype(np.float64) / 86_400
        days[when.isna().to_numpy()] = np.nan
        blocks = [(days - self.origin) / self.scale]
        turn = {"year": (days % 365.2425) / 365.2425, "week": (days % 7) / 7, "day": days % 1}
        for part in self.parts:
            blocks += [np.sin(2 * np.pi * turn[part]), np.cos(2 * np.pi * turn[part])]
        return np.nan_to_num(np.column_stack(blocks))

    def unread(self, column):
        """Which cells of another table say nothing to this encoder."""
        return dates(column, self.order).isna().to_numpy()


@dataclass
class Text:
    """Words weighed by TF-IDF: rows of unit length, so that inner products are cosines."""

    name: str
    vocabulary: dict
    idf: np.ndarray
    directions: Any = None

    def encode(self, column, standardise):
        tfidf = _vectorizer(self.vocabulary)
        tfidf.idf_ = self.idf
        rows = tfidf.transform(cells(column)).tocsr()
        return rows if self.directions is None else np.asarray(rows @ self.directions)

    def unread(self, column):
        """Which cells of another table say nothing to this encoder."""
        return cells(column) == ""


def look(column):
    """(encoder, notes) for a pandas Series: None and the reason where the column is of no use."""
    name = column.name
    pd = need("pandas")
    if pd.api.types.is_datetime64_any_dtype(column):
        return _fit_date(column, "iso"), []
    if pd.api.types.is_bool_dtype(column):
        column = column.astype(str)
    plain = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if usable(plain).all():  # the common case, and fifty times faster than looking at every cell
        return _look_number(column, plain, np.ones(len(plain), dtype=bool), None, ".")
    if column.dtype == object and column.map(_nested).any():
        return None, [f"Column {name!r} holds lists or objects and is left out."]
    words = cells(column) if not pd.api.types.is_numeric_dtype(column) else None
    decimal = "," if words is not None and _decimal_commas(words) else "."
    values = numbers(column, decimal)
    there = ~missing(column)
    if not there.any():
        return None, [("empty", name, "")]
    finite = usable(values)
    if finite.any() and (words is None or finite.sum() >= 0.95 * there.sum()):
        return _look_number(column, values, there, words, decimal)
    if words is None:
        return None, [("infinite", name, "")]
    return _look_words(column, words, there)


def _look_number(column, values, there, words, decimal):
    name = column.name
    finite = usable(values)
    known = values[finite]
    if np.ptp(known) == 0:
        if column[finite].nunique() > 1:
            return None, [f"Column {name!r} differs only after the sixteenth digit and is left out."]
        return None, [("constant", name, "")]
    distinct = np.unique(known)
    whole = np.all(known == np.round(known))
    if whole and len(distinct) == len(values) >= 10 and (_ID_NAME.search(name) or np.all(np.diff(distinct) == 1)):
        return None, [("identifier", name, "")]
    notes: list = []
    strange = there & ~finite
    if strange.any():
        example = repr(words[np.argmax(strange)]) if words is not None else f"{values[strange][0]:g}"
        notes.append(f"Column {name!r}: {cells_of(int(strange.sum()))} such as {example} read as gaps, not numbers.")
    if (~finite).any():
        notes.append(("gaps", name, f"{cells_of(int((~finite).sum()))}, {(~finite).mean():.0%}"))
    if decimal == ",":
        notes.append(("comma", name, ""))
    scale = float(np.std(known)) or 1.0
    return Number(name, float(np.median(known)), float(np.mean(known)), scale, decimal), notes


def _look_words(column, words, there):
    name, known = column.name, words[there]
    levels, counts = np.unique(known.astype(str), return_counts=True)
    if len(levels) == 1 and there.all():
        return None, [("constant", name, "")]
    order = _date_order(known)
    if order == "unclear":
        return None, [
            f"Column {name!r} holds dates such as {known[0]} whose day and month cannot be told apart; it is left out. "
            "Write them as YYYY-MM-DD to have them used."
        ]
    if order:
        return _fit_date(column, order), [("date", name, "")]
    per_cell = np.mean([word.count(" ") + 1 for word in known])
    mostly_different = len(levels) > 0.5 * len(known) and len(known) > 3
    if mostly_different and per_cell >= 3:
        return Text(name, {}, np.zeros(0)), [f"Column {name!r} is read as text: words weighed by TF-IDF."]
    if len(levels) == len(known) > 3:
        return None, [("identifier", name, "")]
    if mostly_different and len(levels) > LEVELS:
        return None, [
            f"Column {name!r} has {len(levels)} different values in {len(known)} rows and is left out. "
            "Group its values to have it used."
        ]
    if len(levels) <= LEVELS:
        return Category(name, levels.tolist()), []
    kept = np.sort(levels[np.argsort(-counts, kind="stable")[:LEVELS]]).tolist()
    rest = 1 - np.isin(known.astype(str), kept).mean()
    return Category(name, kept), [
        f"Column {name!r} has {len(levels)} values: the {LEVELS} most frequent are used, the other {rest:.0%} are one."
    ]


def fit_text(text, column, n_components=None):
    """Learn the vocabulary of a text column; with n_components, also the directions that make it short and dense."""
    vectorizer = _vectorizer(None)
    try:
        rows = vectorizer.fit_transform(cells(column))
    except ValueError:  # nothing but stop words and single letters
        return None
    text.vocabulary = {word: int(position) for word, position in vectorizer.vocabulary_.items()}
    text.idf = vectorizer.idf_
    if n_components is not None:
        from sklearn.decomposition import TruncatedSVD

        number = max(1, min(n_components, rows.shape[1] - 1, rows.shape[0] - 1))
        svd = TruncatedSVD(number, random_state=0).fit(rows)
        spread = np.sqrt(np.mean(np.sum(svd.transform(rows) ** 2, axis=1))) or 1.0
        # Together the directions weigh as much as two standardised numbers: enough to be seen, too little to rule.
        text.directions = svd.components_.T * (np.sqrt(2.0) / spread)
    return text


def _vectorizer(vocabulary):
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, max_features=20_000, vocabulary=vocabulary, strip_accents="unicode")


def _fit_date(column, order):
    when = dates(column, order).dropna()
    days = when.to_numpy(dtype="datetime64[s]").astype(np.float64) / 86_400
    parts = []
    if np.ptp(days) > 60:
        parts.append("year")
    if len(np.unique(np.floor(days))) > 7:
        parts.append("week")
    if np.any(days % 1 != 0):
        parts.append("day")
    return Date(column.name, order, float(np.mean(days)), float(np.std(days)) or 1.0, parts)


def dates(column, order):
    """The column as pandas timestamps without a time zone, NaT where there is none."""
    pd = need("pandas")
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.dt.tz_convert("UTC").dt.tz_localize(None) if column.dt.tz is not None else column
    words = pd.Series(cells(column))
    if order == "iso":
        when = pd.to_datetime(words, format="ISO8601", errors="coerce", utc=True)
    else:
        when = pd.to_datetime(words, format="mixed", dayfirst=order == "day", errors="coerce", utc=True)
    return when.dt.tz_localize(None)


def _date_order(known):
    """ "iso", "day" (first), "month" (first), "unclear" or "" when these are no dates."""
    sample = known[:: max(1, len(known) // 2000)]
    if np.mean([re.fullmatch(_ISO, word) is not None for word in sample]) >= 0.95:
        return "iso"
    if np.mean([re.fullmatch(_NAMED, word) is not None for word in sample]) >= 0.95:  # 31 Jan 2024, March 1, 2024
        return "day" if dates(sample, "day").notna().mean() >= 0.95 else ""
    if np.mean([re.fullmatch(_SLASHED, word) is not None for word in sample]) < 0.95:
        return ""
    parts = [re.split(r"[./ -]", word) for word in known if re.fullmatch(_SLASHED, word)]
    if any("." in word for word in sample):
        return "day"  # dots are the custom of countries that put the day first
    if any(int(part[0]) > 12 for part in parts):
        return "day"
    return "month" if any(int(part[1]) > 12 for part in parts) else "unclear"


def cells(column):
    """The cells as stripped text, "" where empty."""
    values = column.to_numpy(dtype=object, na_value="") if hasattr(column, "array") else np.asarray(column, object)
    return np.array([value.strip() if isinstance(value, str) else _plain(value) for value in values], dtype=object)


def _plain(value):
    return "" if value is None or value != value else str(value)


def usable(values):
    """Which numbers can be reckoned with: not the gaps (NaN), nor infinity, nor those whose squares would be."""
    return np.abs(values) < LARGEST


def missing(column):
    """Which cells say that there is no value."""
    gaps = column.isna().to_numpy()
    return gaps if column.dtype.kind in "iufb" else gaps | np.isin(cells(column), MISSING)


def numbers(column, decimal="."):
    """The cells as float64, NaN where a cell is not a number."""
    pd = need("pandas")
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if decimal == ".":
        values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.isnan(values).any():
            return values
    text = _bare(cells(column))
    words = pd.Series(text)
    if decimal == "," or _decimal_commas(text):  # a later table may be written with commas where the first was not
        decimal, other = ",", "."
    else:
        decimal, other = ".", ","
    if words.str.contains(other, regex=False).any():
        grouped = words.map(lambda word: _GROUPED[decimal].fullmatch(word) is not None)
        words = words.where(~grouped, words.str.replace(other, "", regex=False))
    if decimal == ",":
        words = words.str.replace(",", ".", regex=False)
    return pd.to_numeric(words, errors="coerce").to_numpy(dtype=np.float64)


def _bare(words):
    """Cells without the signs of currencies and percentages, and without spaces that set thousands apart."""
    if any(word[:1] in _SIGNS or word[-1:] in _SIGNS for word in words if word):
        words = np.array([word.strip(_SIGNS).strip() for word in words], dtype=object)
    if any(_CURRENCY.search(word) for word in words):
        words = np.array([_CURRENCY.sub("", word) for word in words], dtype=object)
    if any(_SPACED.fullmatch(word) for word in words):
        joined = [re.sub(r"[^\d.,+-]", "", word) if _SPACED.fullmatch(word) else word for word in words]
        words = np.array(joined, dtype=object)
    return words


def _decimal_commas(words):
    """Whether a comma is the decimal mark here: some cell has one that cannot be a thousands separator."""
    with_comma = [word for word in _bare(words) if "," in word]
    if not with_comma:
        return False
    if not all(_COMMA.fullmatch(word) for word in with_comma):
        return False
    return any(_THOUSANDS.fullmatch(word) is None for word in with_comma)


def writes_decimal_commas(frame):
    """Whether any column of a text table uses decimal commas."""
    head = frame.head(200)
    return any(_decimal_commas(cells(head[name])) for name in head.columns)


def _nested(value):
    return isinstance(value, list | tuple | dict | set | np.ndarray | bytes)
