"""Write results so that nothing is ever half-written, overwritten by accident, or run by a spreadsheet."""

import contextlib
import io
import os
from pathlib import Path

import numpy as np

from ..backend import need
from ..errors import InputError

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs a cell that begins with one of these


@contextlib.contextmanager
def replacing(path, force=False):
    """A temporary path beside `path`; moved there when the block ends well, removed when it does not."""
    path = Path(path)
    refuse_existing(path, force)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        refuse_existing(path, force)
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()


def refuse_existing(path, force=False):
    """Refuse a path that is taken or cannot be written, before any work is done."""
    path = Path(path)
    if path.is_dir():
        raise FileExistsError(f"{path} is a folder. Give the name of a file.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists. Use --force to replace it, or give another name.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}. Create it first.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"The folder {path.parent} cannot be written to. Give a path elsewhere.")


def harmless(column):
    """A column of text in which no cell is a formula: such cells get a leading apostrophe. Numbers stay numbers."""
    column = np.array(column, dtype=object)
    for i, cell in enumerate(column):
        if isinstance(cell, str) and cell.startswith(FORMULA) and not _is_number(cell):
            column[i] = "'" + cell
    return column


def _all_numbers(column):
    return need("pandas").to_numeric(column, errors="coerce").notna().all()


def _is_number(cell):
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def write_table(table, new, path, force=False):
    """Write `table` with the columns `new` added, in the format of the ending of `path`; return notes.

    Parameters
    ----------
    table : Table as it was read; its cells are written as they were.
    new : dict of column name → sequence.
    path : file to write: .csv, .tsv, .parquet or .npz.
    """
    path = Path(path)
    ending = path.suffix.lower()
    with replacing(path, force) as part:
        if ending in (".parquet", ".pq"):
            need("pyarrow")
            _joined(table, new).to_parquet(part, index=False)
            return []
        if ending == ".npz":
            return _write_npz(table, new, part)
        if ending not in ("", ".csv", ".tsv", ".tab", ".txt"):
            raise InputError(f"{path.name}: this ending is not written. Use .csv, .tsv, .parquet or .npz.")
        return _write_text(table, new, part, ending)


def _joined(table, new):
    frame = table.frame.copy()
    for name, values in new.items():
        frame[name] = values
    return frame


def _write_text(table, new, part, ending):
    delimiter = {".tsv": "\t", ".tab": "\t"}.get(ending, "," if table.delimiter == "\t" else table.delimiter)
    decimal = table.decimal if delimiter != "," else "."
    frame = _joined(table, new)
    names = table.names + list(new)
    changed = 0
    for position, name in enumerate(frame.columns):
        column = frame[name]
        if column.dtype.kind not in "iufbM" and not _all_numbers(column):
            safe = harmless(column.to_numpy(dtype=object, na_value=""))
            changed += int(np.sum(safe != column.to_numpy(dtype=object, na_value="")))
            frame.isetitem(position, safe)
    frame.columns = list(harmless(names))
    text = io.StringIO()
    frame.to_csv(text, sep=delimiter, decimal=decimal, index=False, lineterminator="\n")
    encoding = table.encoding if table.kind == "text" else "utf-8"
    part.write_bytes(text.getvalue().encode(encoding, errors="xmlcharrefreplace"))
    if not changed:
        return []
    return [f"{changed} cells that a spreadsheet would run as formulas were written with a leading apostrophe."]


def _write_npz(table, new, part):
    arrays = dict(table.arrays) or {name: _plain(table.frame[name]) for name in table.frame.columns}
    arrays.update({name: _plain(values) for name, values in new.items()})
    with open(part, "wb") as file:
        np.savez_compressed(file, **arrays)
    return []


def _plain(values):
    """An array without Python objects: text as fixed-width strings."""
    values = np.asarray(values)
    if values.dtype.kind != "O":
        return values
    return np.array(["" if v is None or v != v else str(v) for v in values.tolist()])
