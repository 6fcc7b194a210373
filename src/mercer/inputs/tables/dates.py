"""Cells that are dates, months or times of day, in one format or in several."""

import re
from typing import Any

import numpy as np

from ...backend import need
from ...types import ColumnLike
from .cells import cells

_TIME = re.compile(r"(?:(\d+) days? )?(\d{1,3}):([0-5]\d)(?::([0-5]\d(?:[.,]\d+)?))?\s*([AaPp]\.?[Mm]\.?)?")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"


def _patterns() -> dict[str, re.Pattern]:
    """The formats of dates."""
    clock = r"\d{1,2}:\d{2}.*"
    year = r"(?:\d{4}|\d{2})"
    named = rf"(?:\d{{1,2}}[ .-]{{1,2}}[A-Za-z]{{3,9}}|[A-Za-z]{{3,9}}\.? \d{{1,2}})[ .,-]{{1,2}}{year}(?: {clock})?"
    month = (  # Mar-2018, March 2018, Mar-18, 2018-03, 03/2018
        rf"(?:(?P<name>{_MONTHS})[a-z]{{0,6}}\.?(?:[ /.-](?P<year>\d{{4}})|-(?P<short>\d{{2}})))"
        r"|(?P<first>(?:19|20)\d{2})[-/.](?P<second>0\d|1[0-2])|(?P<month>0?\d|1[0-2])[/.-](?P<last>(?:19|20)\d{2})"
    )
    return {
        "iso": re.compile(rf"\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}(?:[T ]{clock})?"),
        "named": re.compile(named),
        "slashed": re.compile(rf"\d{{1,2}}[./-]\d{{1,2}}[./-]{year}(?: {clock})?"),
        "month": re.compile(month, re.IGNORECASE),
    }


_FORMS = _patterns()


def date_order(known: Any) -> str:
    """How to read cells that are dates: "iso", "day" (first), "month" (first), "months", "time", "mixed day" or
    "mixed month" for several formats, "unclear", or "" if these are not dates.
    """
    sample, least = known[:: max(1, len(known) // 2000)], 0.95  # fraction of the cells that are dates
    if not any(letter.isdigit() for word in sample[:20] for letter in word):
        return ""
    if np.mean([_TIME.fullmatch(word) is not None for word in sample]) >= least:
        return "time"
    form = [_form(word) for word in sample]
    found = {name: form.count(name) / len(form) for name in _FORMS}
    if sum(found.values()) < least:
        return ""
    if found["iso"] >= least:
        return "iso"
    if found["named"] >= least:  # 31 Jan 2024, March 1, 2024
        return "day" if dates(sample, "day").notna().mean() >= least else ""
    if found["month"] >= least:
        return "months"
    order = _day_or_month([word for word in known if _form(word) == "slashed"]) if found["slashed"] else "day"
    if found["slashed"] >= least or order == "unclear":
        return order
    order = f"mixed {order}"
    return order if dates(sample, order).notna().mean() >= least else ""


def _form(word) -> str | None:
    """The format of a cell, or None if it is not a date."""
    return next((name for name, pattern in _FORMS.items() if pattern.fullmatch(word)), None)


def _day_or_month(words: list) -> str:
    """Which comes first in dates such as 03/04/2024."""
    if any("." in word for word in words):
        return "day"  # dots are the custom of countries that put the day first
    parts = [re.split(r"[./ -]", word) for word in words]
    if any(int(part[0]) > 12 for part in parts):
        return "day"
    return "month" if any(int(part[1]) > 12 for part in parts) else "unclear"


def dates(column: ColumnLike, order: str) -> Any:
    """The column as pandas timestamps without a time zone, NaT if a cell is not a date.

    Times of day are timestamps of the first day of 1970, and months those of their first day.
    """
    pd = need("pandas")
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.dt.tz_convert("UTC").dt.tz_localize(None) if column.dt.tz is not None else column
    words = pd.Series(cells(column))
    if order == "time":
        return pd.to_datetime(words.map(_seconds), unit="s", errors="coerce")
    if order == "months" or order.startswith("mixed"):
        order = order.removeprefix("mixed ")
        words = words.map(lambda word: _first_day(word) if (form := _form(word)) == "month" else word if form else "")
        plain = words.map(lambda word: _FORMS["iso"].fullmatch(word) is not None)
        when = pd.to_datetime(words.where(plain), format="ISO8601", errors="coerce", utc=True)
        if not plain.all():
            other = pd.to_datetime(
                words.where(~plain), format="mixed", dayfirst=order == "day", errors="coerce", utc=True
            )
            when = when.fillna(other)
    elif order == "iso":
        when = pd.to_datetime(words, format="ISO8601", errors="coerce", utc=True)
    else:
        when = pd.to_datetime(words, format="mixed", dayfirst=order == "day", errors="coerce", utc=True)
    return when.dt.tz_localize(None)


def days(column: ColumnLike, order: str) -> np.ndarray:
    """Days since 1970, NaN if there is no date."""
    when = dates(column, order)
    found = when.to_numpy(dtype="datetime64[s]").astype(np.float64) / 86_400
    found[when.isna().to_numpy()] = np.nan
    return found


def day_name(day: float, order: str) -> str:
    """A number of `days` as a date, a month or a time.

    >>> day_name(19858.4, "iso"), day_name(19858.4, "months"), day_name(0.4, "time")
    ('2024-05-15', '2024-05', '09:36')
    """
    when = np.datetime64(round(86_400 * day), "s")
    return str(when)[11:16] if order == "time" else str(when)[: 7 if order == "months" else 10]


def _seconds(word: str) -> float:
    """A time of day, or a duration, in seconds."""
    found = _TIME.fullmatch(word)
    if found is None:
        return np.nan
    hours, half = int(found[2]), (found[5] or "").lower()[:1]
    if half:
        hours = hours % 12 + 12 * (half == "p")
    rest = float((found[4] or "0").replace(",", "."))
    return 86_400 * int(found[1] or 0) + 3600 * hours + 60 * int(found[3]) + rest


def _first_day(word: str) -> str:
    """The first day of a month as YYYY-MM-DD."""
    found = _FORMS["month"].fullmatch(word)
    if found is None:
        return ""
    if found["name"]:
        month = 1 + _MONTHS.split("|").index(found["name"].lower())
    else:
        month = int(found["second"] or found["month"])
    year = int(found["year"] or found["first"] or found["last"] or 0)
    if found["short"]:
        year = int(found["short"]) + (1900 if int(found["short"]) >= 69 else 2000)
    return f"{year:04}-{month:02}-01" if 1 <= month <= 12 else ""
