"""Text tables, which are CSV, TSV, standard input and the clipboard."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from ....backend import need
from ....errors import InputError
from ....types import Frame, Series
from ..cells import nested
from .base import Format, Options, Source, Table, python, reason, unique
from .guard import is_protected, protected, undone
from .sniff import DELIMITERS, decode, delimiter_of, encoding_note, title_lines


class Csv(Format):
    """Text tables. Every cell is kept as its text. Encoding and delimiter are found and used again for writing."""

    title = "CSV"
    endings: ClassVar[tuple[str, ...]] = (".csv", ".txt")
    options: ClassVar[tuple[str, ...]] = ("delimiter", "encoding", "header")
    is_text = True
    usual = ","

    def read(self, source: Source, options: Options) -> Table:
        text, encoding = decode(source.raw, source.name, options.encoding)
        table = self.parse(text, source.name, options.delimiter, encoding, options.header)
        doubt = "" if options.encoding else encoding_note(source.raw, source.name, encoding)
        table.notes += [doubt] if doubt else []
        return table

    def parse(self, text, name, delimiter=None, encoding="utf-8", header=None):
        """The table in a text. `origin` contains the lines above the column names, if there are any."""
        pd = need("pandas")
        text = text.removeprefix("\ufeff")
        newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
        if newline == "\r\n" and '"' not in text and text.count("\r") == text.count("\n") == text.count("\r\n"):
            text = text.replace("\r\n", "\n")
        # The first line of some files for spreadsheets. An empty line replaces it, so that lines keep their number.
        separator = re.match(r'"?sep=(.)"?\r?\n', text, re.IGNORECASE)
        if separator:
            delimiter, text = delimiter or separator[1], "\n" + text[separator.end() :]
        titles, text, delimiter, notes = _without_titles(text, delimiter, header, name)
        delimiter = delimiter or delimiter_of(text, self.usual)
        regular = _regular(text, delimiter)
        plain = regular is not None
        try:
            cells = regular
            if cells is None:
                wide = _is_wide(text, delimiter)
                how: dict = {"header": None, "na_filter": False, "skip_blank_lines": True}
                cells = pd.read_csv(io.StringIO(text), sep=delimiter, dtype=object if wide else str, **how)
                cells = cells.copy() if wide else cells  # into one array
        except pd.errors.EmptyDataError:
            raise InputError(f"{name} is empty. Give a table with a header row and at least two rows.") from None
        except pd.errors.ParserError as error:
            raise InputError(
                f"{name} is not a regular table: {reason(error)}. Fix that line. If there are lines above the column "
                "names, give the number of the line of names with --header N."
            ) from None
        protect = is_protected(text, delimiter, cells)
        if protect:
            cells = cells.apply(undone)
        names = cells.iloc[0].tolist()
        frame = cells.iloc[1:].reset_index(drop=True)
        how = {"newline": newline, "protect": protect, "notes": notes, "origin": titles or None}
        table = Table(frame, names, self, delimiter, encoding, **how)
        frame.columns = unique([cell.strip() for cell in names], table.notes)
        short = [] if plain else _short_lines(text, delimiter, len(names))
        if short:
            what = f"Line {short[0]} has" if len(short) == 1 else f"{len(short)} lines, such as line {short[0]}, have"
            table.notes.append(f"{what} fewer cells than there are columns. The missing cells are read as empty.")
        if protect:
            table.notes.append(
                "Cells such as '=1 are protected from spreadsheets. They are read without the apostrophe and written "
                "with it."
            )
        if table.headless:
            table.notes.append("Every column name is a number. Does the file have a header row?")
        return table

    def write(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        delimiter, decimal = self.marks(table)
        frame, names = table.joined(new), table.written_names(new)
        if table.protect:
            columns = {name: _protected_column(frame[name]) for name in frame.columns}  # one by one is quadratic
            frame = need("pandas").DataFrame(columns, index=frame.index)
            names = list(protected(names))
        frame = _whole_lists(frame)
        frame.columns = names
        # By default pandas writes a wide table row by row, with a conversion for every single cell.
        rows = max(1, 10_000_000 // max(1, frame.shape[1]))
        how = {"sep": delimiter, "decimal": decimal, "index": False, "lineterminator": "\n", "chunksize": rows}
        text = frame.to_csv(None, **how)
        # A carriage return must be quoted, or it ends the line. Other delimiters must be quoted not to mislead readers.
        if "\r" in text or (delimiter in DELIMITERS and delimiter_of(text, self.usual) != delimiter):
            how["quoting"] = csv.QUOTE_ALL
            text = frame.to_csv(None, **how)
        if table.newline != "\n":
            text = frame.to_csv(None, **how | {"lineterminator": table.newline})
        if isinstance(table.format, Csv) and table.origin:
            text = table.origin + text
        path.write_bytes(text.encode(self.encoding(table), errors="xmlcharrefreplace"))

    def marks(self, table: Table) -> tuple[str, str]:
        """(delimiter, decimal mark) for writing. They are the table's own, but tabs are only for the endings of TSV."""
        delimiter = "," if table.delimiter == "\t" else table.delimiter
        return delimiter, table.decimal if delimiter != "," else "."

    def encoding(self, table: Table) -> str:
        """The encoding for writing, which is the table's own if it was text."""
        return table.encoding if table.format.is_text else "utf-8"

    def code(self, path: Path, table: Table) -> str:
        delimiter, decimal = self.marks(table)
        options: dict = {
            "sep": (delimiter, ","),
            "decimal": (decimal, "."),
            "encoding": (self.encoding(table), "utf-8"),
        }
        if isinstance(table.format, Csv) and table.origin:
            options["skiprows"] = len(table.origin.splitlines()), 0
        more = "".join(f", {name}={value!r}" for name, (value, usual) in options.items() if value != usual)
        return f"pd.read_csv({str(path)!r}{more})"


def _without_titles(text, delimiter, header, name):
    """(lines above the column names, the text with empty lines in their place, delimiter, notes)."""
    if header is None:
        above, delimiter = title_lines(text, delimiter)
    else:
        above = header - 1
    if not above:
        return "", text, delimiter, []
    lines = re.split("(\r\n|\r|\n)", text)
    if header is not None and not 0 < header <= len(lines) // 2:
        raise InputError(f"--header {header}: {name} has {len(lines) // 2 + 1} lines. Give the line of column names.")
    titles, text = "".join(lines[: 2 * above]), "\n" * above + "".join(lines[2 * above :])
    what = "line above it is" if above == 1 else f"{above} lines above it are"
    note = f"The column names are in line {above + 1}. The {what} not read (--header N names another line)."
    return titles, text, delimiter, [] if header else [note]


def _whole_lists(frame: Frame) -> Frame:
    """The frame with lists as JSON, because the text of a long array lacks the numbers in the middle."""
    columns = {}
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if column.dtype == object and any(map(nested, column)):
            columns[frame.columns[place]] = [_as_json(value) if nested(value) else value for value in column]
    return frame.assign(**columns) if columns else frame


def _as_json(value: np.ndarray | bytes) -> str:
    return str(value) if isinstance(value, bytes) else json.dumps(python(value), ensure_ascii=False, default=str)


def _protected_column(column: Series) -> np.ndarray | Series:
    if column.dtype.kind in "iufbM":
        return column
    return protected(column.to_numpy(dtype=object, na_value=""))


class Tsv(Csv):
    """Text tables with tabs."""

    title = "TSV"
    endings = (".tsv", ".tab")
    usual = "\t"

    def marks(self, table: Table) -> tuple[str, str]:
        return "\t", table.decimal


class Clipboard(Csv):
    """Cells on the clipboard. They are usually copied from a spreadsheet, with tabs between columns."""

    title = "the clipboard"
    endings = ()
    scheme = "clipboard:"
    usual = "\t"
    options = ("delimiter", "header")
    written = ".csv"

    def read(self, source: Source, options: Options) -> Table:
        try:
            text = need("pandas.io.clipboard").clipboard_get()
        except Exception as error:  # pandas has a type of its own for a machine without a clipboard
            raise InputError(f"There is no clipboard to read: {reason(error)}. Save the cells as a CSV file.") from None
        return self.parse(text, "The clipboard", options.delimiter, header=options.header)


def _regular(text: str, delimiter: str) -> Frame | None:
    """The cells if none is quoted and all lines have the same number, several times faster than pandas. Else None."""
    pd = need("pandas")
    first, dtype = text.partition("\n")[0], pd.Series([""], dtype=str).dtype
    if '"' in text or "\r" in text or delimiter not in first or getattr(dtype, "storage", "") != "pyarrow":
        return None
    width = first.count(delimiter) + 1
    if _is_wide(text, delimiter):
        rows = [line.split(delimiter) for line in text.split("\n") if line]
        return None if any(len(row) != width for row in rows) else pd.DataFrame(rows, dtype=object)
    arrow, reader = need("pyarrow"), need("pyarrow.csv")
    types = {f"f{i}": arrow.large_string() for i in range(width)}
    try:
        found = reader.read_csv(
            io.BytesIO(text.encode()),
            reader.ReadOptions(autogenerate_column_names=True),
            reader.ParseOptions(delimiter=delimiter, quote_char=False),
            reader.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except (arrow.ArrowInvalid, UnicodeEncodeError):  # a line has more or fewer cells
        return None
    frame = found.combine_chunks().to_pandas(types_mapper=lambda _: dtype)
    return frame.set_axis(range(frame.shape[1]), axis=1)


def _is_wide(text: str, delimiter: str) -> bool:
    """Whether there are many columns of few cells. One array for all cells is then smaller than one per column."""
    return text.partition("\n")[0].count(delimiter) >= 1000 and text.count("\n") < 300


def _short_lines(text: str, delimiter: str, width: int) -> list:
    """Numbers of the lines with too few cells. Empty if cells are quoted, since these may contain line breaks."""
    if '"' in text:
        return []
    lines = enumerate(re.split("\r\n|\r|\n", text), start=1)
    return [number for number, line in lines if line.strip() and line.count(delimiter) < width - 1]
