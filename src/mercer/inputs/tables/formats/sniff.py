"""Find the encoding, the delimiter and the row of column names of a text file from its bytes."""

import codecs
import csv
import io
import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....errors import InputError

DELIMITERS = (",", ";", "\t", "|")
_RUNS = re.compile(rb"[\x80-\xff]+")
HEAD = 100  # number of first rows in which the row of column names is looked for
_NOT_TEXT = (
    (b"PK\x03\x04", "a zip file or an Excel workbook", "Give it the ending .xlsx, or unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "In Excel choose File, Save as, CSV UTF-8"),
    (b"\x1f\x8b", "a gzip file", "Give it the ending .csv.gz"),
    (b"%PDF", "a PDF document", "Export the table as CSV"),
    (b"PAR1", "a Parquet file", "Give it the ending .parquet"),
)


def decode(raw: bytes, name: str, encoding=None) -> tuple[str, str]:
    """(text, encoding) of the bytes of a text table.

    A byte-order mark decides. Without one the encoding is UTF-8 if it fits, GB18030, EUC-JP or EUC-KR if nearly all
    bytes beyond ASCII are pairs of common letters there, and else Windows-1252, the Latin-1 of spreadsheets.
    """
    for start, what, remedy in _NOT_TEXT:
        if raw.startswith(start):
            raise InputError(f"{name} is {what}, not a text table. {remedy}.")
    marks = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
    found = encoding or next((code for mark, code in marks if raw.startswith(mark)), None)
    sample, control = raw[:100_000], bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a\x1b"))
    strange = len(sample) - len(sample.translate(None, control))
    if found is None and (b"\0" in sample or (strange > 0.01 * len(sample) and not _is_utf8(sample))):
        raise InputError(
            f"{name} is not a text table, because it contains bytes that do not occur in text. Give it the ending of "
            "its format (.parquet, .npz, .xlsx, …), or save it as CSV."
        )
    for code in [found] if found else ["utf-8", *_east_asian(sample), "cp1252", "latin-1"]:
        try:
            if codecs.lookup(code).name in ("idna", "punycode", "undefined"):  # encodings of Python, but not of files
                raise LookupError
            return raw.decode(code), code
        except UnicodeDecodeError as error:
            wrong = f"byte {error.start}"
        except LookupError:
            raise InputError(f"The encoding {code!r} is not known. Try utf-8, latin-1 or utf-16.") from None
    raise InputError(f"{name} is not valid {found} at {wrong}. Save the file as UTF-8, or give another --encoding.")


def encoding_note(raw: bytes, name: str, encoding: str) -> str:
    """A note on an encoding that was found and may be wrong. "" if there is no doubt."""
    languages = {"gb18030": "Chinese", "euc_jp": "Japanese", "euc_kr": "Korean"}
    if encoding in languages:
        what = f"an encoding of {languages[encoding]}"
        return f"{name} is not UTF-8 and is read as {encoding.upper()}, {what} (--encoding names another)."
    runs = _RUNS.findall(raw[:100_000]) if encoding in ("cp1252", "latin-1") else []
    if sum(len(run) for run in runs if len(run) > 1) <= 0.5 * sum(map(len, runs)):
        return ""
    others = "gb18030, big5, shift_jis or windows-1251"
    return f"{name} is read as Windows-1252. If its letters look wrong, name its encoding with --encoding {others}."


def _east_asian(sample: bytes) -> list:
    """[encoding] in which nearly all bytes beyond ASCII are pairs of common letters, if there is one.

    Letters with accents are usually alone between those of ASCII. Words of other alphabets have an odd number of
    letters as often as an even one.
    """
    runs = _RUNS.findall(sample)
    if len(sample) == 100_000 and runs:
        runs = runs[:-1]  # which may be cut off
    pairs = [run[i : i + 2] for run in runs if len(run) % 2 == 0 and min(run) >= 0xA1 for i in range(0, len(run), 2)]
    if len(pairs) < 4 or 2 * len(pairs) < 0.9 * sum(map(len, runs)):
        return []
    first = np.array([pair[0] for pair in pairs])
    letters = first[first >= 0xB0]
    if np.mean((first == 0xA4) | (first == 0xA5)) > 0.2:
        return ["euc_jp"]
    if np.mean((first <= 0xA3) | ((first >= 0xB0) & (first <= 0xD7))) < 0.7:
        return []
    return ["euc_kr" if len(letters) >= 20 and np.mean(letters <= 0xC8) > 0.98 else "gb18030"]


def header_row(rows: Sequence[Sequence[Any]]) -> int:
    """The position of the row of column names among the first rows. It is 0 unless rows such as titles are above it.

    There are at most 30 rows above it. They have at most half as many filled cells as the fullest row, and fewer than
    most rows below. The names are different, and none is a number.

    Examples
    --------
    >>> header_row([["Sales 2024", "", ""], ["", "", ""], ["town", "month", "sum"], ["Bonn", "May", "3"]])
    2
    """
    names = [[str(cell).strip() for cell in row if cell is not None and str(cell).strip()] for row in rows[:HEAD]]
    filled = [len(row) for row in names]
    if not filled or max(filled) < 3 or filled[0] > max(filled) / 2:
        return 0
    place = next(i for i, number in enumerate(filled) if number >= 0.75 * max(filled))
    below = [number for number in filled[place + 1 :] if number]
    if place > 30 or not below or np.median(below) <= max(filled[:place]) or max(filled[:place]) > max(filled) / 2:
        return 0
    found = names[place]
    return 0 if len(set(found)) < len(found) or any(map(_is_number, found)) else place


def title_lines(text: str, delimiter: str | None = None) -> tuple[int, str | None]:
    """(number of lines above the column names of a text table, its delimiter)."""
    lines = text[:500_000].splitlines()[:HEAD]
    usual = delimiter or delimiter_of(text)
    regular = any(usual in line for line in [line for line in lines if line.strip()][:1])
    best, widest = (0, delimiter), 2
    for mark in (usual,) if delimiter or regular else DELIMITERS:
        try:
            rows = [next(csv.reader([line], delimiter=mark), []) for line in lines]
        except csv.Error:
            continue
        place = header_row(rows)
        widths = [len(row) for row in rows[place:] if any(map(str.strip, row))]
        if place and len(rows[place]) > widest and np.mean(np.array(widths) == len(rows[place])) >= 0.9:
            best, widest = (place, mark), len(rows[place])
    return best


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _is_utf8(sample: bytes) -> bool:
    """Whether bytes are UTF-8, of which the last character may be cut off. Bytes of other files hardly ever are."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def delimiter_of(text, usual=","):
    """The delimiter with which the first rows have the most columns, and the same number in (nearly) every row."""
    best, best_score = usual, 0.0
    for delimiter in DELIMITERS:
        rows = csv.reader(io.StringIO(text[:500_000], newline=""), delimiter=delimiter)
        try:
            filled = (row for row in rows if len(row) > 1 or "".join(row).strip())
            widths = [len(row) for row in itertools.islice(filled, 200)]
        except csv.Error:
            continue
        if not widths or widths[0] < 2:
            continue
        same = sum(width == widths[0] for width in widths) / len(widths)
        # A decimal comma splits lines evenly too, but never in the header, which here sets the number of columns.
        score = same * (1 + widths[0] / (1 + widths[0]))
        if score > best_score + 1e-12:
            best, best_score = delimiter, score
    return best
