"""NumPy's own files, NPY and NPZ. Python objects are refused, because they could run code."""

import contextlib
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ....backend import need
from ....errors import BackendError, InputError
from .base import Format, Options, Source, Table, from_frame, reason, refuse_huge


class Npz(Format):
    """Arrays with a common number of rows. `origin` contains them all, so that they are written back."""

    title = "NPZ"
    endings = (".npz",)

    def read(self, source: Source, options: Options) -> Table:
        with _readable(source, self.title):
            refuse_huge(source.raw, source.name)
        with _readable(source, self.title), np.load(io.BytesIO(source.raw), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        other = next((key for key, array in arrays.items() if not isinstance(array, np.ndarray)), None)
        if other is not None:
            raise InputError(f"{source.name} contains {other!r}, which is not an array. Write it with numpy.savez.")
        tall = [a.shape[0] for a in arrays.values() if a.ndim == 2] or [len(a) for a in arrays.values() if a.ndim == 1]
        if not tall:
            raise InputError(
                f"{source.name} contains no array of one or two dimensions. Give X (rows × columns) and a label array."
            )
        n, columns, notes = tall[0], {}, []
        for key, array in arrays.items():
            if array.shape[:1] != (n,) or array.ndim > 2 or array.dtype.kind in "cV":
                what = f"{key!r}, of shape {array.shape} and type {array.dtype}"
                notes.append(f"The array {what}, is ignored. It is not a column of real numbers or text of {n} rows.")
            elif array.ndim == 1:
                columns[key] = _text(array)
            else:
                columns.update({f"{key}[{j}]": _text(array[:, j]) for j in range(array.shape[1])})
        if not columns:
            raise InputError(f"{source.name}: {' '.join(notes)} Give X (rows × columns) of numbers and a label array.")
        return from_frame(need("pandas").DataFrame(columns), self, arrays, notes=notes)

    def write(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        if isinstance(table.format, Npz) and table.origin is not None:
            arrays = {name: array for name, array in table.origin.items() if name not in table.dropped}
            arrays |= {name: _plain(table.frame[name]) for name in table.changed if name in arrays}
        else:
            frame = table.joined({})
            arrays = {name: _plain(frame[name]) for name in frame.columns}
        arrays |= {name: _plain(values) for name, values in new.items()}
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)


class Npy(Format):
    """One array. The columns of a matrix are called x0, x1, …, and those of a structured array are its fields.

    Tables are written as structured arrays.
    """

    title = "NPY"
    endings = (".npy",)

    def read(self, source: Source, options: Options) -> Table:
        with _readable(source, self.title):
            array = np.load(io.BytesIO(source.raw), allow_pickle=False)
        if array.dtype.names:
            columns = {name: _text(array[name]) for name in array.dtype.names}
        elif array.ndim == 2 and array.dtype.kind not in "cV":
            columns = {f"x{j}": _text(array[:, j]) for j in range(array.shape[1])}
        else:
            what = f"an array of shape {array.shape} and type {array.dtype}"
            raise InputError(f"{source.name} contains {what}. Give rows × columns of real numbers or text.")
        return from_frame(need("pandas").DataFrame(columns), self)

    def write(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        frame = table.joined(new)
        columns = {name: _plain(frame[name]) for name in frame.columns}
        rows = np.empty(len(frame), dtype=[(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            rows[name] = column
        with open(path, "wb") as file:
            np.save(file, rows, allow_pickle=False)


@contextlib.contextmanager
def _readable(source: Source, title: str) -> Iterator:
    """Turn every error of a damaged file into an `InputError`."""
    try:
        yield
    except BackendError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy have types of their own
        if "Object arrays" in str(error):
            raise InputError(
                f"{source.name} contains Python objects, which are not read because they can run code. "
                "Save text as fixed-width strings with labels.astype('U')."
            ) from None
        raise InputError(f"{source.name} is not a readable {title} file ({reason(error)}). Write it again.") from None


def _text(array: np.ndarray) -> np.ndarray:
    """Bytes as text. Other arrays are returned unchanged."""
    if array.dtype.kind == "U" and array.size and array.itemsize:
        step = max(1, 2**24 // array.itemsize)  # text of fixed width may be many times as large as it is long
        for begin in range(0, len(array), step):
            codes = np.ascontiguousarray(array[begin : begin + step], array.dtype.newbyteorder("=")).view(np.uint32)
            if np.any((codes > sys.maxunicode) | ((codes >> 11) == 0xD800 >> 11)):
                raise InputError("The file contains text that is not Unicode, so it is damaged. Write it again.")
    return np.char.decode(array, "latin-1") if array.dtype.kind == "S" else array


def _plain(values: Sequence | np.ndarray) -> np.ndarray:
    """An array without Python objects, with text as fixed-width strings and "" for gaps."""
    values = np.asarray(values)
    if values.dtype.kind not in "OT":
        return values
    gaps = need("pandas").isna(values)
    return np.array(["" if gap else str(value) for gap, value in zip(gaps, values.tolist())])
