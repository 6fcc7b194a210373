"""Write results so that nothing is ever half-written, overwritten by accident, or run by a spreadsheet."""

import contextlib
import io
import os
import signal
import threading
from pathlib import Path

import numpy as np

from ...backend import need
from ...errors import InputError

WRITTEN = ("", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".npz")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs a cell that begins with one of these


@contextlib.contextmanager
def replacing(*paths, force=False):
    """Temporary paths beside `paths` (None for None); together moved to their names, or removed if the block fails."""
    parts = [None if path is None else _part_of(path) for path in paths]
    wanted = [(part, Path(path)) for part, path in zip(parts, paths) if part is not None]
    try:
        for _, path in wanted:
            refuse_path(path, force)
        yield parts
        for part, path in wanted:
            with open(part, "rb") as file:
                os.fsync(file.fileno())
            refuse_path(path, force)
        with _undisturbed():
            for part, path in wanted:
                os.replace(part, path)
    finally:
        for part, _ in wanted:
            with contextlib.suppress(OSError):
                part.unlink()


@contextlib.contextmanager
def _undisturbed():
    """Ctrl-C is not heard within: files that belong together appear together."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def refuse_path(path, force=False):
    """Refuse a path that is taken or cannot be written, before any work is done."""
    path = Path(path)
    if path.is_dir():
        raise FileExistsError(f"{path} is a folder. Give the name of a file.")
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is not a regular file. Give the name of a file.")
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists. Use --force to replace it, or give another name.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}. Create it first.")
    part = _part_of(path)
    if part.exists():
        return
    try:  # only trying tells: permissions, read-only disks and full ones
        try:
            part.touch()
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise PermissionError(f"{path} cannot be written ({error.strerror}). Give a path elsewhere.") from None


def _part_of(path):
    path = Path(path)
    return path.with_name(f".{path.name}.{os.getpid()}.part")


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
    refuse_ending(path)
    with replacing(path, force=force) as (part,):
        return fill(part, table, new, path)


def refuse_ending(path):
    """Refuse a name whose ending stands for a format that is not written."""
    if Path(path).suffix.lower() not in WRITTEN:
        raise InputError(f"{Path(path).name}: this ending is not written. Use .csv, .tsv, .parquet or .npz.")


def fill(part, table, new, path):
    """Write to the file `part` what is to be called `path`; return notes."""
    ending = Path(path).suffix.lower()
    if ending in (".parquet", ".pq"):
        need("pyarrow")
        _joined(table, new).to_parquet(part, index=False)
        return []
    return _write_npz(table, new, part) if ending == ".npz" else _write_text(table, new, part, path)


def _joined(table, new):
    frame = table.frame.copy()
    for name, values in new.items():
        frame[name] = values
    return frame


def written_with(table, path):
    """(delimiter, decimal mark) of the text file `path`: the table's own, but tabs only if the ending says so."""
    tabs = Path(path).suffix.lower() in (".tsv", ".tab")
    delimiter = "\t" if tabs else "," if table.delimiter == "\t" else table.delimiter
    return delimiter, table.decimal if delimiter != "," else "."


def encoding_of(table):
    """The encoding that text files are written with: the table's own."""
    return table.encoding if table.kind == "text" else "utf-8"


def _write_text(table, new, part, path):
    delimiter, decimal = written_with(table, path)
    frame = _joined(table, new)
    names = table.names + list(new)
    changed = 0
    for position, name in enumerate(frame.columns):
        column = frame[name]
        if column.dtype.kind not in "iufbM" and not _all_numbers(column):
            plain = column.to_numpy(dtype=object, na_value="")
            safe = harmless(plain)
            changed += sum(new is not old for new, old in zip(safe, plain))
            frame.isetitem(position, safe)
    frame.columns = list(harmless(names))
    text = io.StringIO()
    frame.to_csv(text, sep=delimiter, decimal=decimal, index=False, lineterminator="\n")
    part.write_bytes(text.getvalue().encode(encoding_of(table), errors="xmlcharrefreplace"))
    if not changed:
        return []
    what = (
        "1 cell that a spreadsheet would run as a formula was"
        if changed == 1
        else (f"{changed} cells that a spreadsheet would run as formulas were")
    )
    return [f"{what} written with a leading apostrophe."]


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
    gaps = need("pandas").isna(values)
    return np.array(["" if gap else str(value) for gap, value in zip(gaps, values.tolist())])
