"""Write tables with new columns, in the format of the file's ending, with no cell that a spreadsheet would run."""

import io
from pathlib import Path

import numpy as np

from ...backend import need
from ...errors import InputError
from ...files import replacing

WRITTEN = ("", ".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".npz")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs a cell that begins with one of these


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
