"""The base of every format, with the table, its source, and the base class of formats."""

import bz2
import functools
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ....backend import need, require_memory
from ....errors import InputError
from ....types import Facts, Frame, Module

CHUNK = 1 << 24  # bytes
PACKED: Facts = {".gz": gzip, ".bz2": bz2, ".xz": lzma, ".zst": None}  # ending of a compressed file → its module


@dataclass
class Options:
    """The user's options for reading a file. Options that are None are found from the file."""

    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    table: str | None = None
    header: int | None = None  # number of the row of column names, from 1, as in an editor or a spreadsheet

    def given(self) -> list[str]:
        """Names of the options that have a value."""
        return [name for name, value in vars(self).items() if value is not None]


@dataclass
class Source:
    """The file, folder or address that a table is read from."""

    where: str  # as the user wrote it
    path: Path | None = None  # the file or folder, or None for standard input, addresses and the clipboard
    part: str = ""  # the name of a table within the file, which comes after "::"

    @property
    def name(self) -> str:
        return "standard input" if self.where == "-" else self.path.name if self.path else self.where

    @property
    def file(self) -> Path:
        """The file or folder, for a format that reads nothing else."""
        if self.path is None:
            raise InputError(f"{self.where} is not a file. Give the name of a file or folder.")
        return self.path

    @functools.cached_property
    def raw(self) -> bytes:
        """The content, decompressed if the name has the ending of a compressed file."""
        if self.path is None:
            raw = sys.stdin.buffer.read()
        else:
            try:
                raw = unpacked(self.path)
            except FileNotFoundError:
                raise InputError(f"There is no file {self.path}. Check the name and the folder.") from None
            except IsADirectoryError:
                raise InputError(f"{self.path} is a folder. Give a file.") from None
            except PermissionError as error:
                raise InputError(f"{self.path} cannot be read: {error.strerror}. Check its permissions.") from None
            except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
                raise InputError(f"{self.name} cannot be read: {reason(error)}. Write the file again.") from None
        if not raw.strip():
            raise InputError(f"{self.name} is empty. Give a table with a header row and at least two rows.")
        return raw


def unpacked(path: Path) -> bytes:
    """The bytes of a file, decompressed if its name ends in .gz, .bz2, .xz or .zst."""
    ending = path.suffix.lower()
    if ending not in PACKED:
        return path.read_bytes()
    parts, total = [], 0
    for part in _frames(path) if ending == ".zst" else _parts(path, PACKED[ending]):
        parts.append(part)
        total += len(part)
        require_memory(total, f"Unpacking {path.name}", "Unpack it on a machine with more memory.")  # to join them
    return b"".join(parts)


def _parts(path: Path, module: Module) -> Iterator:
    with module.open(path) as file:
        while part := file.read(CHUNK):
            yield part


def _frames(path: Path) -> Iterator:
    """The frames of a file of Zstandard, in parts."""
    zstandard, raw = need("zstandard"), path.read_bytes()
    while raw:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            for begin in range(0, len(raw), CHUNK // 1000):
                yield frame.decompress(raw[begin : begin + CHUNK // 1000])
                if frame.eof:
                    break
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from None
        if not frame.eof:
            raise EOFError("the file ends too early")
        raw = frame.unused_data + raw[begin + CHUNK // 1000 :]


def refuse_huge(raw: bytes, name: str) -> None:
    """Refuse a zip file whose members are larger than the memory."""
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        total = sum(member.file_size for member in file.infolist())
    require_memory(total, f"Unpacking {name}", "Unpack it on a machine with more memory.")


def packed(raw: bytes, ending: str) -> bytes:
    """Bytes compressed according to the ending of a name."""
    if ending == ".zst":
        return need("zstandard").ZstdCompressor().compress(raw)
    if ending == ".gz":
        return gzip.compress(raw, mtime=0)
    module: Any = PACKED.get(ending)
    return module.compress(raw) if module else raw


@dataclass
class Table:
    """A table and how its file was written.

    `frame` is a pandas DataFrame with unique column names. From a text file every cell is the text in the file.
    `frame.attrs["folder"]` is the folder of the file, to which paths in its cells are relative.
    """

    frame: Frame
    names: list  # the column names as written, duplicates included
    format: "Format"  # the format of the file
    delimiter: str = ","
    encoding: str = "utf-8"
    origin: Any = None  # data with which the format writes the file back unchanged
    newline: str = "\n"  # how lines end in a text file
    protect: bool = False  # whether formulas are written with an apostrophe, see `guard.py`
    dropped: set = field(default_factory=set)  # names of removed columns
    beside: set = field(default_factory=set)  # names of columns that belong to no file and are not written
    changed: dict = field(default_factory=dict)  # column → rows with other cells than the file
    notes: list = field(default_factory=list)  # sentences about how the file was read

    def __len__(self) -> int:
        return len(self.frame)

    def drop(self, columns: Sequence[str]) -> None:
        """Remove columns."""
        keep = [name not in columns for name in self.frame.columns]
        self.names = [name for name, kept in zip(self.names, keep) if kept]
        self.dropped |= set(self.frame.columns) & set(columns)
        self.frame = self.frame.loc[:, keep]

    def attach(self, name: str, values: Sequence) -> None:
        """Add a column for training that is not written."""
        self.frame = self.frame.copy(deep=False)
        self.frame[name] = values
        self.names = [*self.names, name]
        self.beside.add(name)

    def change(self, name: str, rows: Sequence[int], values: Sequence) -> None:
        """Replace the column of this name by one that differs in these rows."""
        self.frame = self.frame.assign(**{name: values})
        self.changed[name] = sorted({*self.changed.get(name, ()), *map(int, rows)})

    def like(self, frame: Frame) -> "Table":
        """A table of another frame that is written like this one."""
        names = [str(name) for name in frame.columns]
        how: Facts = {"newline": self.newline, "protect": self.protect}
        return Table(frame, names, self.format, self.delimiter, self.encoding, **how)

    def joined(self, new: Mapping[str, Sequence]) -> Any:
        """The columns to write, under unique names."""
        frame = self.frame.drop(columns=list(self.beside))
        for name, values in new.items():
            frame[name] = values
        return frame

    def written_names(self, new: Mapping[str, Sequence]) -> list[str]:
        """The names of these columns as in the file."""
        own = [name for name, unique in zip(self.names, self.frame.columns) if unique not in self.beside]
        return [*own, *new]

    @property
    def headless(self) -> bool:
        """Whether the first line looks like a row rather than names."""
        return self.format.is_text and all(_is_number(name) for name in self.names)

    @property
    def decimal(self) -> str:
        """The decimal mark for writing numbers, which is a comma if the file uses it."""
        from ..cells import writes_decimal_commas

        return "," if self.format.is_text and self.delimiter != "," and writes_decimal_commas(self.frame) else "."


class Format:
    """A format of tables. A new one is a subclass of this and an entry in `formats.FORMATS`."""

    title: ClassVar[str]  # its name in messages
    endings: ClassVar[tuple[str, ...]] = ()  # of the names of its files, lower case
    scheme: ClassVar[str] = ""  # beginning of the addresses that this format reads, such as "duckdb:"
    options: ClassVar[tuple[str, ...]] = ()  # names of the `Options` that this format uses
    is_text: ClassVar[bool] = False  # whether cells are the text that is in the file
    written: ClassVar[str] = ""  # default ending of the written file. "" means that of the file that was read

    def read(self, source: Source, options: Options) -> Table:
        """The table at `source`."""
        raise NotImplementedError

    def write(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        """Write `table` with the columns `new` to `path`. Its own columns are unchanged."""
        raise NotImplementedError

    def code(self, path: Path, table: Table) -> str:
        """Python code that reads the written file, with pandas as pd."""
        return f"read_table({str(path)!r}).frame"


def from_frame(frame: Frame, format: Format, origin: object = None, **more: Any) -> Table:
    """A table from a data frame, its column names made unique text."""
    table = Table(frame, [str(name) for name in frame.columns], format, origin=origin, **more)
    frame.columns = unique([name.strip() for name in table.names], table.notes)
    return table


def from_rows(names: Sequence, rows: Sequence[Sequence], format: Format, origin: object = None) -> Table:
    """A table from rows of Python values. Columns of one type have this type."""
    frame = need("pandas").DataFrame(rows, columns=range(len(names)), dtype=object).infer_objects()
    frame.columns = ["" if name is None else str(name) for name in names]
    return from_frame(frame, format, origin)


def unique(header: Sequence[str], notes: list) -> list[str]:
    """Column names made unique. Blanks are numbered, and repeats get .2, .3, …"""
    out: list[str] = []
    seen: set[str] = set()
    last: dict[str, int] = {}
    repeated = []
    for position, name in enumerate(header, start=1):
        base = name or f"column {position}"
        free, count = base, last.get(base, 1)
        while free in seen:
            count += 1
            free = f"{base}.{count}"
        last[base] = count
        if count > 1:
            repeated.append(base)
        seen.add(free)
        out.append(free)
    if repeated:
        names = ", ".join(repr(name) for name in dict.fromkeys(repeated))
        what = f"The column name {names} occurs" if len(set(repeated)) == 1 else f"The column names {names} occur"
        notes.append(f"{what} more than once. The later ones are called name.2, name.3 here.")
    return out


def python(value: object) -> Any:
    """A cell as a Python value. It is None for every kind of missing value."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if value is None or value is need("pandas").NaT or (isinstance(value, float) and value != value):
        return None
    return value.tolist() if hasattr(value, "tolist") else None if value is need("pandas").NA else value


def one_of(names: Sequence[str], wanted: str | None, what: str, where: str, option: str, notes: list) -> str:
    """The sheet or table that is requested, or the first with a note."""
    if wanted and wanted not in names:
        shown = ", ".join(map(repr, names[:8])) + (" …" if len(names) > 8 else "")
        raise InputError(f"{where} has no {what} {wanted!r}. It has {shown}.")
    if not names:
        raise InputError(f"{where} has no {what}. Give a file with one.")
    if not wanted and len(names) > 1:
        others = ", ".join(map(repr, names[1:5]))
        notes.append(f"{where} has {len(names)} {what}s. {names[0]!r} is read, not {others} ({option} names another).")
    return wanted or names[0]


def reason(error: Exception) -> str:
    """The last line of an error, without its full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].removeprefix("Error tokenizing data. C error: ").rstrip(".")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
