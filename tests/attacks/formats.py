"""Files of tables, written and read without mercer."""

import bz2
import csv
import gzip
import io
import json
import lzma
import sqlite3

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import zstandard

TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".csv.bz2", ".csv.xz", ".tsv.zst")
ENDINGS = (*TEXT, ".csv", ".csv", ".csv", ".xlsx", ".parquet", ".feather", ".json", ".jsonl", ".npz", ".npy", ".db")
_PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda raw: zstandard.ZstdCompressor().compress(raw),
}
_UNPACK = {
    "gz": gzip.decompress,
    "bz2": bz2.decompress,
    "xz": lzma.decompress,
    "zst": lambda raw: zstandard.ZstdDecompressor().decompressobj().decompress(raw),
}
_TEXT_TYPES = (str, int, float, bool)


class Unwritable(Exception):
    """The table cannot be stored in this format."""


def write(path, names, columns, ending, delimiter=",", encoding="utf-8", line="\n", quoting=csv.QUOTE_MINIMAL):
    """Write a table in the format of an ending."""
    if ending in TEXT:
        raw = text(names, columns, delimiter, encoding, line, quoting)
        path.write_bytes(_PACK[ending.split(".")[2]](raw) if ending.count(".") == 2 else raw)
        return
    try:
        _WRITERS[ending](path, names, columns)
    except (ValueError, TypeError, OverflowError, pa.ArrowException, sqlite3.Error, KeyError) as error:
        raise Unwritable(str(error)) from None


def text(names, columns, delimiter=",", encoding="utf-8", line="\n", quoting=csv.QUOTE_MINIMAL):
    """A text table as bytes; a line break that is not quoted would end the row, so then all cells are."""
    out = io.StringIO(newline="")
    if any("\r" in str(cell) or "\n" in str(cell) for column in [names, *columns] for cell in column):
        quoting = csv.QUOTE_ALL
    try:
        writer = csv.writer(out, delimiter=delimiter, lineterminator=line, quoting=quoting)
        writer.writerows([names, *zip(*columns)])
        return out.getvalue().encode(encoding)
    except (UnicodeEncodeError, csv.Error) as error:
        raise Unwritable(str(error)) from None


def _excel(path, names, columns):
    book = openpyxl.Workbook()
    for row in [names, *zip(*columns)]:
        book.active.append([_office(cell) for cell in row])
    book.save(path)


def _office(cell):
    if isinstance(cell, str):
        return openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub("", cell)[:30_000].lstrip("=")
    known = cell is None or isinstance(cell, _TEXT_TYPES) or hasattr(cell, "isoformat")
    return cell if known and cell == cell and cell not in (float("inf"), -(2**70)) else str(cell)


def _arrow(names, columns):
    arrays = []
    for cells in columns:
        try:
            arrays.append(pa.array(cells))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            arrays.append(pa.array([None if cell is None else str(cell) for cell in cells], pa.string()))
    return pa.Table.from_arrays(arrays, names=names)


def _records(names, columns):
    return [dict(zip(names, map(_jsonable, row))) for row in zip(*columns)]


def _jsonable(cell):
    return cell if cell is None or isinstance(cell, (*_TEXT_TYPES, list, dict)) else str(cell)


def _npz(path, names, columns):
    arrays = {
        f"c{j}" if "/" in name or not name else name: _array(cells)
        for j, (name, cells) in enumerate(zip(names, columns))
    }
    np.savez(path, **{name: array for name, array in arrays.items() if name not in ("file", "args", "kwds")})


def _npy(path, names, columns):
    columns = [_array(cells) for cells in columns]
    rows = np.empty(len(columns[0]) if columns else 0, dtype=[(name, a.dtype) for name, a in zip(names, columns)])
    for name, array in zip(names, columns):
        rows[name] = array
    np.save(path, rows, allow_pickle=False)


def _array(cells):
    kinds = {type(cell) for cell in cells}
    return np.array(cells) if kinds <= {int, float} or kinds <= {bool} else np.array([str(cell) for cell in cells])


def _sqlite(path, names, columns):
    file = sqlite3.connect(path)
    try:
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        file.execute(f"CREATE TABLE data ({', '.join(quoted)})")
        cells = [
            [c if c is None or isinstance(c, (*_TEXT_TYPES, bytes)) else str(c) for c in row] for row in zip(*columns)
        ]
        file.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(names))})", cells)
        file.commit()
    finally:
        file.close()


_WRITERS = {
    ".xlsx": _excel,
    ".parquet": lambda path, *table: pa.parquet.write_table(_arrow(*table), path),
    ".feather": lambda path, *table: pa.feather.write_feather(_arrow(*table), str(path)),
    ".json": lambda path, *table: path.write_text(json.dumps(_records(*table))),
    ".jsonl": lambda path, *table: path.write_text("\n".join(map(json.dumps, _records(*table)))),
    ".npz": _npz,
    ".npy": _npy,
    ".db": _sqlite,
}


def read(path, ending, delimiter=",", encoding="utf-8"):
    """(names, columns) of a file; gaps are None or "", cells else as the format has them."""
    if ending in TEXT:
        raw = path.read_bytes()
        raw = _UNPACK[ending.split(".")[2]](raw) if ending.count(".") == 2 else raw
        csv.field_size_limit(1 << 24)
        rows = list(csv.reader(io.StringIO(raw.decode(encoding), newline=""), delimiter=delimiter))
        width = len(rows[0])
        # A row of one empty cell is an empty line.
        rows = [row or [""] for row in rows] if width == 1 else [row for row in rows if row]
        assert all(len(row) == width for row in rows), f"{path.name} has rows of several lengths"
        return rows[0], [list(column) for column in zip(*rows[1:])] or [[] for _ in rows[0]]
    if ending == ".xlsx":
        rows = list(openpyxl.load_workbook(path, data_only=True).worksheets[0].iter_rows(values_only=True))
        unescaped = [[_plain(cell) for cell in row] for row in rows]
        return unescaped[0], [list(column) for column in zip(*unescaped[1:])]
    if ending in (".parquet", ".feather"):
        table = pa.parquet.read_table(path) if ending == ".parquet" else pa.feather.read_table(path)
        return table.column_names, [column.to_pylist() for column in table.columns]
    if ending in (".json", ".jsonl"):
        told = path.read_text(encoding="utf-8")
        records = json.loads(told) if ending == ".json" else [json.loads(line) for line in told.split("\n") if line]
        names = list(dict.fromkeys(name for record in records for name in record))
        return names, [[record.get(name) for record in records] for name in names]
    if ending == ".npz":
        with np.load(path) as file:
            return file.files, [file[name].tolist() for name in file.files]
    if ending == ".npy":
        array = np.load(path)
        return list(array.dtype.names), [array[name].tolist() for name in array.dtype.names]
    file = sqlite3.connect(path)
    try:
        found = file.execute("SELECT * FROM data")
        return [about[0] for about in found.description], [list(column) for column in zip(*found.fetchall())]
    finally:
        file.close()


def _plain(cell):
    return openpyxl.utils.escape.unescape(cell) if isinstance(cell, str) else cell


def same(a, b):
    """Whether two cells have the same meaning in any format."""
    if _gap(a) or _gap(b):
        return _gap(a) and _gap(b)
    if a == b or str(a) == str(b):
        return True
    if isinstance(a, dict | list) and isinstance(b, str):  # tables of text have them as JSON
        return json.dumps(a, ensure_ascii=False, default=str) == b
    try:
        x, y = float(a), float(b)
        return x == y or (x != x and y != y) or abs(x - y) <= 1e-12 * abs(x)
    except (TypeError, ValueError, OverflowError):
        return str(a).replace("T", " ").removesuffix(" 00:00:00") == str(b).replace("T", " ").removesuffix(" 00:00:00")


def _gap(cell):
    return (
        cell is None
        or (isinstance(cell, str) and cell == "")
        or cell is pd.NaT
        or (isinstance(cell, float) and cell != cell)
    )
