"""Read a table from CSV, TSV, Parquet or NPZ, keeping every cell as it was written."""

import io
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...backend import need
from ...errors import InputError
from .sniff import decode, delimiter_of

_EXCEL = "In Excel choose File, Save as, CSV UTF-8"
_PANDAS = "Write the table with pandas' to_csv or to_parquet"
_SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)  # the first line of some files made for spreadsheets
REFUSED = {".xls": _EXCEL, ".xlsx": _EXCEL, ".ods": "In the spreadsheet choose File, Save as, CSV"}
REFUSED |= {".npy": "Write the arrays with numpy.savez", ".json": _PANDAS, ".pkl": _PANDAS, ".feather": _PANDAS}


@dataclass
class Table:
    """A table and how its file was written.

    Attributes
    ----------
    frame : pandas DataFrame with unique column names. From a text file every cell is the text that stood there.
    names : the column names as written, duplicates included.
    kind : "text", "parquet" or "npz".
    delimiter, encoding : of a text file.
    arrays : the arrays of an NPZ file, so that they can be written back.
    notes : sentences on what was found and done.
    """

    frame: Any
    names: list
    kind: str = "text"
    delimiter: str = ","
    encoding: str = "utf-8"
    arrays: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)

    def __len__(self):
        return len(self.frame)

    def drop(self, columns):
        """Take columns out."""
        keep = [name not in columns for name in self.frame.columns]
        self.names = [name for name, kept in zip(self.names, keep) if kept]
        self.frame = self.frame.loc[:, keep]
        self.arrays = {name: array for name, array in self.arrays.items() if name not in columns}

    @property
    def headless(self):
        """Whether the first line looks like a row rather than names."""
        return self.kind == "text" and all(_is_number(name) for name in self.names)

    @property
    def decimal(self):
        """The decimal mark to write numbers with: a comma where the file uses it."""
        from .cells import writes_decimal_commas

        return "," if self.kind == "text" and self.delimiter != "," and writes_decimal_commas(self.frame) else "."


def read_table(path, *, delimiter=None, encoding=None):
    """Read a table; the ending of the name says which format, the content says which encoding and delimiter.

    Parameters
    ----------
    path : CSV, TSV, Parquet or NPZ file; "-" is a text table on standard input.
    delimiter, encoding : what to use instead of what is found.

    Returns
    -------
    Table
    """
    piped, path = str(path) == "-", Path("standard input" if str(path) == "-" else path)
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give a CSV, TSV, Parquet or NPZ file.")
    try:
        raw = sys.stdin.buffer.read() if piped else path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Check the name and the folder.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Check its permissions.") from None
    if not raw.strip():
        raise InputError(f"{path.name} is empty. Give a table with a header row and at least two rows.")
    ending = path.suffix.lower()
    if ending in (".parquet", ".pq"):
        table = _read_parquet(raw, path.name)
    elif ending == ".npz":
        table = _read_npz(raw, path.name)
    elif ending in REFUSED:
        remedy = REFUSED[ending]
        raise InputError(f"{path.name}: files ending in {ending} are not read. {remedy}; CSV, TSV, Parquet, NPZ are.")
    else:
        table = _read_text(raw, path.name, delimiter, encoding)
    if len(table) == 0:
        raise InputError(f"{path.name} has a header and no rows. Give at least two rows.")
    return table


def _read_text(raw, name, delimiter, encoding):
    pd = need("pandas")
    text, encoding = decode(raw, name, encoding)
    text = text.removeprefix("\ufeff")
    said = _SEPARATOR.match(text)
    if said:  # an empty line in its place, so that lines keep their numbers
        delimiter, text = delimiter or said[1], "\n" + text[said.end() :]
    delimiter = delimiter or delimiter_of(text, name)
    try:
        cells = pd.read_csv(
            io.StringIO(text), sep=delimiter, header=None, dtype=str, na_filter=False, skip_blank_lines=True
        )
    except pd.errors.EmptyDataError:
        raise InputError(f"{name} is empty. Give a table with a header row and at least two rows.") from None
    except pd.errors.ParserError as error:
        raise InputError(
            f"{name} is not a regular table: {_reason(error)}. Mend that line; remove lines above the column names."
        ) from None
    header = [str(cell).strip() for cell in cells.iloc[0]]
    frame = cells.iloc[1:].reset_index(drop=True)
    table = Table(frame, header, "text", delimiter, encoding)
    frame.columns = _unique(header, table.notes)
    short = _short_lines(text, delimiter, len(header))
    if short:
        what = f"Line {short[0]} has" if len(short) == 1 else f"{len(short)} lines, such as line {short[0]}, have"
        table.notes.append(f"{what} fewer cells than there are columns; what is missing is read as empty.")
    if table.headless:
        table.notes.append("Every column name is a number: does the file have a header row?")
    return table


def _short_lines(text, delimiter, width):
    """Numbers of the lines with too few cells; not looked for where cells are quoted and may hold line breaks."""
    if '"' in text:
        return []
    lines = enumerate(text.splitlines(), start=1)
    return [number for number, line in lines if line.strip() and line.count(delimiter) < width - 1]


def _read_parquet(raw, name):
    pd = need("pandas")
    need("pyarrow")
    try:
        frame = pd.read_parquet(io.BytesIO(raw))
    except Exception as error:  # pyarrow has many types of error for a damaged file
        raise InputError(f"{name} is not a readable Parquet file ({_reason(error)}). Write it again.") from None
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    table = Table(frame, [str(column) for column in frame.columns], "parquet")
    frame.columns = _unique(table.names, table.notes)
    return table


def _read_npz(raw, name):
    pd = need("pandas")
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except ValueError as error:
        if "Object arrays" in str(error):
            raise InputError(
                f"{name} holds Python objects, which are not read because they can run code. "
                "Save text as fixed-width strings: labels.astype('U')."
            ) from None
        raise InputError(f"{name} is not a readable NPZ file ({_reason(error)}). Write it again.") from None
    except Exception as error:
        raise InputError(f"{name} is not a readable NPZ file ({_reason(error)}). Write it again.") from None
    tall = [a.shape[0] for a in arrays.values() if a.ndim == 2] or [a.shape[0] for a in arrays.values() if a.ndim == 1]
    if not tall:
        raise InputError(f"{name} holds no one- or two-dimensional array. Give X (rows × columns) and a label array.")
    n = tall[0]
    columns, notes = {}, []
    for key, array in arrays.items():
        if array.shape[:1] != (n,) or array.ndim > 2 or array.dtype.kind in "cV":
            what = f"{key!r}, of shape {array.shape} and type {array.dtype}"
            notes.append(f"The array {what}, is no column of real numbers or text of {n} rows: not looked at.")
            continue
        if array.dtype.kind == "S":
            array = np.char.decode(array, "latin-1")
        if array.ndim == 1:
            columns[key] = array
        else:
            columns.update({f"{key}[{j}]": array[:, j] for j in range(array.shape[1])})
    if not columns:
        raise InputError(f"{name}: {' '.join(notes)} Give X (rows × columns) of numbers and a label array.")
    return Table(pd.DataFrame(columns), list(columns), "npz", arrays=arrays, notes=notes)


def _unique(header, notes):
    """Column names made unique: blanks are numbered, repeats get .2, .3, …"""
    out, seen, repeated = [], set(), []
    for position, name in enumerate(header, start=1):
        base = name or f"column {position}"
        unique, count = base, 1
        while unique in seen:
            count += 1
            unique = f"{base}.{count}"
        if count > 1:
            repeated.append(base)
        seen.add(unique)
        out.append(unique)
    if repeated:
        names = ", ".join(repr(name) for name in dict.fromkeys(repeated))
        what = f"The column name {names} occurs" if len(set(repeated)) == 1 else f"The column names {names} occur"
        notes.append(f"{what} more than once; the later ones are called name.2, name.3 here.")
    return out


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _reason(error):
    return str(error).strip().splitlines()[-1].removeprefix("Error tokenizing data. C error: ").rstrip(".")
