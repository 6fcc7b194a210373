"""Excel workbooks. New columns are added to the sheet. Every other byte of its content is unchanged."""

import datetime
import io
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from ....backend import need
from ....errors import BackendError, InputError
from .base import Format, Options, Source, Table, from_rows, one_of, python, reason, refuse_huge
from .sheet import escaped, with_columns
from .sniff import HEAD, header_row

_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")  # how a workbook writes control characters


@dataclass
class Sheet:
    """A sheet of a workbook, with the bytes of the workbook, the numbers of its rows, and the column of every name."""

    raw: bytes
    name: str
    header: int
    rows: list
    columns: dict


class Excel(Format):
    """Excel workbooks. Formulas are read as the values stored with them. Text is written as text and never run."""

    title = "Excel"
    endings = (".xlsx", ".xlsm")
    options = ("sheet", "header")

    def read(self, source: Source, options: Options) -> Table:
        notes: list = []
        openpyxl = need("openpyxl")
        try:
            refuse_huge(source.raw, source.name)
            book = openpyxl.load_workbook(io.BytesIO(source.raw), data_only=True)
        except BackendError:
            raise
        except Exception as error:  # zipfile, XML and openpyxl have types of their own
            raise InputError(
                f"{source.name} is not a readable Excel workbook ({reason(error)}). In Excel choose File, Save as, "
                "Excel workbook."
            ) from None
        sheets = [sheet.title for sheet in sorted(book.worksheets, key=lambda sheet: sheet.max_row < 3)]
        name = one_of(sheets, options.sheet, "sheet", source.name, "--sheet", notes)
        cells = [[_value(cell) for cell in row] for row in book[name].iter_rows(values_only=True)]
        filled = [number for number, row in enumerate(cells, start=1) if any(cell is not None for cell in row)]
        if not filled:
            raise InputError(f"The sheet {name!r} of {source.name} is empty. --sheet names another.")
        if options.header is not None and options.header not in filled:
            raise InputError(
                f"--header {options.header}: this row of the sheet {name!r} is empty. Give the number of the row with "
                f"the column names, such as {filled[0]}."
            )
        above = header_row([cells[number - 1] for number in filled[: HEAD + 1]])
        filled = filled[above if options.header is None else filled.index(options.header) :]
        if options.header is None and above:
            notes.append(
                f"The column names are in row {filled[0]} of the sheet. The rows above it are not read (--header N "
                "names another row)."
            )
        across = [j for j in range(len(cells[0])) if any(cells[number - 1][j] is not None for number in filled)]
        across = list(range(across[0], across[-1] + 1))
        header = [cells[filled[0] - 1][j] for j in across]
        table = from_rows(header, [[cells[number - 1][j] for j in across] for number in filled[1:]], self)
        columns = {unique: j + 1 for unique, j in zip(table.frame.columns, across)}
        table.origin = Sheet(source.raw, name, filled[0], filled[1:], columns)
        table.notes += notes
        without_value = rb"<f\b[^>]*?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>|</c>)"  # a formula
        with zipfile.ZipFile(io.BytesIO(source.raw)) as file:
            empty = len(re.findall(without_value, file.read(_part(source.raw, name))))
        if empty:
            table.notes.append(
                f"{empty} formulas have no stored value and are read as empty. Save the workbook in Excel first."
            )
        return table

    def write(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        if len(table) >= 1_048_576 or len(table.written_names(new)) > 16_384:
            raise InputError(
                "A sheet of Excel has at most 1,048,576 rows and 16,384 columns. Write .csv or .parquet instead."
            )
        if not isinstance(table.origin, Sheet):
            return self._created(path, table, new)
        origin = table.origin
        free = max(origin.columns.values()) + 1
        columns = {
            origin.columns[name]: {origin.rows[i]: _cell(table.frame[name].iloc[i]) for i in rows}
            for name, rows in table.changed.items()
        }
        for name, values in new.items():
            place = origin.columns.get(name) if name in table.dropped else None
            columns[place or free] = {origin.header: name} | dict(zip(origin.rows, map(_cell, values)))
            free += place is None
        part = _part(origin.raw, origin.name)
        with zipfile.ZipFile(io.BytesIO(origin.raw)) as old, zipfile.ZipFile(path, "w") as out:
            for entry in old.infolist():
                content = old.read(entry)
                if entry.filename == part:
                    content = with_columns(content.decode("utf-8"), columns).encode("utf-8")
                out.writestr(entry, content, compress_type=zipfile.ZIP_DEFLATED)

    def _created(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        openpyxl = need("openpyxl")
        frame, names = table.joined(new), table.written_names(new)
        rows = [list(map(_cell, row)) for row in [names, *zip(*(frame.iloc[:, j] for j in range(frame.shape[1])))]]
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet("data")
        for row in rows:
            cells = []
            for value in row:
                cell = openpyxl.cell.WriteOnlyCell(sheet, escaped(value) if isinstance(value, str) else value)
                if isinstance(value, str):
                    cell.data_type = "s"  # otherwise openpyxl makes a formula of text that begins with =
                cells.append(cell)
            sheet.append(cells)
        book.save(path)

    def code(self, path: Path, table: Table) -> str:
        sheet = f", sheet_name={table.origin.name!r}" if isinstance(table.origin, Sheet) else ""
        header = table.origin.header if isinstance(table.origin, Sheet) else 1
        return f"pd.read_excel({str(path)!r}{sheet}{f', header={header - 1}' if header > 1 else ''})"


def _value(cell: float | str | None) -> float | str | None:
    return _ESCAPE.sub(lambda code: chr(int(code[1], 16)), cell) if isinstance(cell, str) else cell


def _cell(value: float | str) -> float | str:
    """A cell for Excel. Numbers with more digits than it has, and values of unknown types, become text."""
    value = python(value)
    if (isinstance(value, float) and math.isinf(value)) or (isinstance(value, int) and abs(value) > 10**15):
        return str(value)
    longest = 32_767
    if isinstance(value, str) and len(escaped(value)) > longest:
        raise InputError(f"A cell has {len(value)} characters. Excel accepts up to {longest}. Write .csv instead.")
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ") if value.tzinfo or value.year < 1900 else value
    return value if value is None or isinstance(value, int | float | str | datetime.date) else str(value)


def _part(raw: bytes, name: str) -> str:
    """The file within the workbook that contains a sheet."""
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        book = ElementTree.fromstring(file.read("xl/workbook.xml"))
        links = ElementTree.fromstring(file.read("xl/_rels/workbook.xml.rels"))
    ids = {
        element.get("name"): next(value for key, value in element.attrib.items() if key.endswith("}id"))
        for element in book.iter()
        if element.tag.endswith("}sheet")
    }
    target = next(link.get("Target", "") for link in links if link.get("Id") == ids[name])
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
