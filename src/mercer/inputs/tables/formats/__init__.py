"""Every format of tables that mercer reads and writes, one class each."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ....errors import InputError
from ....files import replacing
from .arrays import Npy, Npz
from .arrow import Datasets, Feather, Parquet
from .base import PACKED, Format, Options, Source, Table, packed
from .delimited import Clipboard, Csv, Tsv
from .excel import Excel
from .images import Images, images_in
from .label_studio import TASKS
from .parts import Parts, tables_in
from .records import Json, JsonLines
from .sql import DuckDb, Sql, Sqlite

CSV, TSV, FOLDER, ADDRESS, IMAGES, PARTS = Csv(), Tsv(), Datasets(), Sql(), Images(), Parts()
FORMATS: list[Format] = [CSV, TSV, Excel(), Parquet(), Feather(), Json(), JsonLines(), Npz(), Npy()]
FORMATS += [Sqlite(), DuckDb()]
FORMATS += [FOLDER, IMAGES, PARTS, ADDRESS, Clipboard(), TASKS]
REFUSED = {
    ".xls": "In Excel choose File, Save as, Excel workbook (.xlsx)",
    ".ods": "In the spreadsheet choose File, Save as, CSV",
    ".pkl": "Write the table with pandas' to_csv or to_parquet",
    ".pickle": "Write the table with pandas' to_csv or to_parquet",
}


class Location(NamedTuple):
    """The format that reads a table, and its source."""

    format: Format
    source: Source


def read_table(path: str | Path | Location, **options: Any) -> Table:
    """Read a table. The ending of the name decides the format, and the content decides the rest.

    Parameters
    ----------
    path : str, Path or Location
        A file or folder, also of images. "-" is a table on standard input (text, JSON, Parquet or Excel), "clipboard:"
        the copied cells, and "file.db::table" a table of a database. An address such as "postgresql://host/base::table"
        and the result of `located` are also accepted.
    **options : delimiter, encoding, sheet, table, header
        `encoding` is for text, `sheet` for a workbook, and `table` for a database or a folder of splits. `header` is
        the number of the row of column names in text or a workbook, counted from 1. By default all are found from the
        file.
    """
    format, source = located(path)
    if source.where == "-":
        format = by_content(source.raw)
    given = Options(**options)
    for name in given.given():
        if name not in format.options and name in ("sheet", "table", "header"):
            fit = ", ".join(other.title for other in FORMATS if name in other.options)
            raise InputError(f"--{name} is for {fit}, and {source.name} is {format.title}. Leave it out.")
    table = format.read(source, given)
    if len(table) == 0:
        raise InputError(f"{source.name} has a header and no rows. Give at least two rows.")
    table.frame.attrs.setdefault("folder", str(source.path.parent) if source.path else ".")
    return table


def located(path: str | Path | Location) -> Location:
    """The `Location` of a path. A `Location` is returned unchanged."""
    if isinstance(path, Location):
        return path
    where = str(path)
    if where == "-":
        return Location(CSV, Source(where))
    address, part = where, ""
    if "::" in where and not Path(where).exists():
        address, _, part = where.rpartition("::")
    scheme = re.match(r"[A-Za-z][\w+.-]+:", address)
    if scheme and not Path(address).exists():
        rest = address[scheme.end() :]
        for format in FORMATS:
            if format.scheme == scheme[0].lower():
                file = rest[2:].removeprefix("/") if rest.startswith("//") else rest
                return Location(format, Source(where, Path(file) if file else None, part))
        if rest.startswith("//"):
            return Location(ADDRESS, Source(address, None, part))
    source = Source(where, Path(address), part)
    if Path(address).is_dir():
        folder = PARTS if tables_in(address) else IMAGES if not part and images_in(address, most=1) else FOLDER
        return Location(folder, source)
    ending = _ending(address)[0]
    if ending in REFUSED:
        titles = ", ".join(format.title for format in FORMATS if format.endings)
        raise InputError(
            f"{source.name}: files ending in {ending} are not read. {REFUSED[ending]}. Accepted: {titles}."
        )
    return Location(_by_ending(ending) or CSV, source)


def by_content(raw: bytes) -> Format:
    """The format of bytes without a name, as on standard input."""
    if raw.startswith(b"PAR1"):
        return _by_ending(".parquet")
    if raw.startswith(b"PK\x03\x04"):
        return _by_ending(".xlsx")
    text = raw.removeprefix(b"\xef\xbb\xbf").lstrip()
    lines = text.splitlines()[:1] if text.startswith(b"{") else []
    for ending, part in ((".jsonl", b"".join(lines)), (".json", text if text[:1] in (b"{", b"[") else b"")):
        try:
            if isinstance(json.loads(part), dict | list):
                return _by_ending(ending)
        except (ValueError, RecursionError):
            continue
    return CSV


def write_table(
    table: Table, new: Mapping[str, Sequence], path: str | Path, force: bool = False, protect: bool = False
) -> None:
    """Write `table` with the columns `new` added, in the format of the ending of `path`.

    Parameters
    ----------
    table : a `Table` that was read. Its cells are written unchanged.
    new : column name → values.
    path : file to write.
    force : whether a file that exists is replaced.
    protect : whether text that a spreadsheet would run as a formula gets an apostrophe, in CSV and TSV.
    """
    refuse_ending(path)
    table.protect |= protect
    with replacing(path, force=force) as (part,):
        fill(part, table, new, path)


def refuse_ending(path: str | Path) -> None:
    """Raise an error if the ending of a name belongs to a format that cannot be written."""
    ending = _ending(path)[0]
    if ending and _by_ending(ending, written=True) is None:
        endings = ", ".join(format.endings[0] for format in FORMATS if _writes(format))
        raise InputError(f"{Path(path).name}: files of this ending cannot be written. Use {endings}, or .csv.gz.")


def written_format(path: str | Path, table: Table) -> Format:
    """The format in which `path` is written."""
    if str(path) == "-":
        return table.format if isinstance(table.format, Json) else TSV if table.delimiter == "\t" else CSV
    return _by_ending(_ending(path)[0], written=True) or CSV


def fill(part: Path, table: Table, new: Mapping[str, Sequence], path: str | Path) -> None:
    """Write to the file `part`, in the format and the compression of `path`."""
    written_format(path, table).write(part, table, new)
    package = _ending(path)[1]
    if package:
        part.write_bytes(packed(part.read_bytes(), package))


def default_out(path: str | Path | Location, word: str) -> Path:
    """data_word.csv next to data.csv, in the format of the data if that can be written."""
    format, source = located(path)
    if source.where == "-":
        return Path("-")
    if source.path is None:
        return Path(f"{source.part or 'table'}_{word}{format.written}")
    ending, package = _ending(source.path)
    stem = source.path.name.removesuffix(source.path.suffix if package else "")
    stem = stem[: len(stem) - len(ending)] if ending else stem
    known = _by_ending(ending, written=True) is not None
    return source.path.with_name(f"{stem}_{word}{format.written or (ending + package if known else '.csv')}")


def _ending(path: Path | str) -> tuple[str, str]:
    """(ending of a name in small letters, that of its compression)."""
    path = Path(path)
    package = path.suffix.lower() if path.suffix.lower() in PACKED else ""
    return (Path(path.stem).suffix.lower() if package else path.suffix.lower()), package


def _by_ending(ending: str, written: bool = False):
    found = [format for format in FORMATS if ending in format.endings and (_writes(format) or not written)]
    return found[0] if found else None


def _writes(format) -> bool:
    return bool(format.endings) and not format.written
