"""Text tables: CSV, TSV, what stands on standard input and what is on the clipboard."""

import csv
import io
import re
from typing import ClassVar

from ....backend import need
from ....errors import InputError
from .base import Format, Table, reason, unique
from .guard import is_protected, protected, undone
from .sniff import DELIMITERS, decode, delimiter_of

WIDE, SHORT = 1000, 300  # columns and lines, see `_is_wide`
_AS_TEXT = {"header": None, "dtype": str, "na_filter": False, "skip_blank_lines": True}
_SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)  # the first line of some files made for spreadsheets


class Csv(Format):
    """Every cell is kept as the text that stands there; encoding and delimiter are found and used again."""

    title = "CSV"
    endings: ClassVar[tuple[str, ...]] = (".csv", ".txt")
    options: ClassVar[tuple[str, ...]] = ("delimiter", "encoding")
    is_text = True
    usual = ","

    def read(self, source, options):
        text, encoding = decode(source.raw, source.name, options.encoding)
        return self.parse(text, source.name, options.delimiter, encoding)

    def parse(self, text, name, delimiter=None, encoding="utf-8"):
        """The table that a text holds."""
        pd = need("pandas")
        text = text.removeprefix("\ufeff")
        separator = _SEPARATOR.match(text)
        if separator:  # an empty line in its place, so that lines keep their numbers
            delimiter, text = delimiter or separator[1], "\n" + text[separator.end() :]
        delimiter = delimiter or delimiter_of(text, self.usual)
        cells = _regular(text, delimiter)
        plain = cells is not None
        try:
            if not plain:
                wide = _is_wide(text, delimiter)
                cells = pd.read_csv(io.StringIO(text), sep=delimiter, **_AS_TEXT | ({"dtype": object} if wide else {}))
                cells = cells.copy() if wide else cells  # into one array
        except pd.errors.EmptyDataError:
            raise InputError(f"{name} is empty. Give a table with a header row and at least two rows.") from None
        except pd.errors.ParserError as error:
            raise InputError(
                f"{name} is not a regular table: {reason(error)}. Mend that line; remove lines above the column names."
            ) from None
        protect = is_protected(text, delimiter, cells)
        if protect:
            cells = cells.apply(undone)
        header = cells.iloc[0].tolist()
        frame = cells.iloc[1:].reset_index(drop=True)
        table = Table(frame, header, self, delimiter, encoding, protect=protect)
        frame.columns = unique([cell.strip() for cell in header], table.notes)
        short = [] if plain else _short_lines(text, delimiter, len(header))
        if short:
            what = f"Line {short[0]} has" if len(short) == 1 else f"{len(short)} lines, such as line {short[0]}, have"
            table.notes.append(f"{what} fewer cells than there are columns; what is missing is read as empty.")
        if protect:
            table.notes.append(
                "Cells such as '=1 are protected from spreadsheets: read without the apostrophe, written with it."
            )
        if table.headless:
            table.notes.append("Every column name is a number: does the file have a header row?")
        return table

    def write(self, path, table, new):
        delimiter, decimal = self.marks(table)
        frame, names = table.joined(new), table.written_names(new)
        if table.protect:
            columns = {name: _protected_column(frame[name]) for name in frame.columns}  # one by one is quadratic
            frame = need("pandas").DataFrame(columns, index=frame.index)
            names = list(protected(names))
        frame.columns = names
        # Left to itself pandas would write a wide table row by row, which costs a conversion for every single cell.
        rows = max(1, 10_000_000 // max(1, frame.shape[1]))
        how = {"sep": delimiter, "decimal": decimal, "index": False, "lineterminator": "\n", "chunksize": rows}
        text = frame.to_csv(None, **how)
        # A carriage return ends the line unless it is quoted; other delimiters mislead readers unless they are quoted.
        if "\r" in text or (delimiter in DELIMITERS and delimiter_of(text, self.usual) != delimiter):
            text = frame.to_csv(None, quoting=csv.QUOTE_ALL, **how)
        path.write_bytes(text.encode(self.encoding(table), errors="xmlcharrefreplace"))

    def marks(self, table):
        """(delimiter, decimal mark) to write with: the table's own, but tabs only if the ending says so."""
        delimiter = "," if table.delimiter == "\t" else table.delimiter
        return delimiter, table.decimal if delimiter != "," else "."

    def encoding(self, table):
        """The encoding to write with: the table's own."""
        return table.encoding if table.format.is_text else "utf-8"

    def code(self, path, table):
        delimiter, decimal = self.marks(table)
        options = {"sep": (delimiter, ","), "decimal": (decimal, "."), "encoding": (self.encoding(table), "utf-8")}
        more = "".join(f", {name}={value!r}" for name, (value, usual) in options.items() if value != usual)
        return f"pd.read_csv({str(path)!r}{more})"


def _protected_column(column):
    if column.dtype.kind in "iufbM":
        return column
    return protected(column.to_numpy(dtype=object, na_value=""))


class Tsv(Csv):
    """The same with tabs."""

    title = "TSV"
    endings = (".tsv", ".tab")
    usual = "\t"

    def marks(self, table):
        return "\t", table.decimal


class Clipboard(Csv):
    """What was copied, from a spreadsheet as a rule: columns set apart by tabs."""

    title = "the clipboard"
    endings = ()
    scheme = "clipboard:"
    usual = "\t"
    options = ("delimiter",)
    written = ".csv"

    def read(self, source, options):
        try:
            text = need("pandas.io.clipboard").clipboard_get()
        except Exception as error:  # pandas has a type of its own for a machine without a clipboard
            raise InputError(f"There is no clipboard to read: {reason(error)}. Save the cells as a CSV file.") from None
        return self.parse(text, "The clipboard", options.delimiter)


def _regular(text, delimiter):
    """The cells where none is quoted and all lines have equally many, several times sooner than pandas; else None."""
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


def _is_wide(text, delimiter):
    """Whether there are many columns of few cells, for which one array of cells is smaller than an array a column."""
    return text.partition("\n")[0].count(delimiter) >= WIDE and text.count("\n") < SHORT


def _short_lines(text, delimiter, width):
    """Numbers of the lines with too few cells; not looked for where cells are quoted and may hold line breaks."""
    if '"' in text:
        return []
    lines = enumerate(re.split("\r\n|\r|\n", text), start=1)
    return [number for number, line in lines if line.strip() and line.count(delimiter) < width - 1]
