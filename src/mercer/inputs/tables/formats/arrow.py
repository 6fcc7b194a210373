"""Parquet and Feather files and folders of Hugging Face `datasets`, through pyarrow. Every column keeps its type."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from ....backend import need
from ....errors import InputError
from ...frames import from_arrow
from .base import Format, Options, Source, Table, from_frame, one_of, reason

if TYPE_CHECKING:
    import pyarrow as pa


class Parquet(Format):
    """Parquet files. Columns that were read are written unchanged. `origin` is the pyarrow table."""

    title = "Parquet"
    endings: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def read(self, source: Source, options: Options) -> Table:
        need("pyarrow")
        try:
            return _table(self.load(io.BytesIO(source.raw)), self)
        except Exception as error:  # pyarrow has many types of error for a damaged file
            raise InputError(
                f"{source.name} is not a readable {self.title} file ({reason(error)}). Write it again."
            ) from None

    def write(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        pa = need("pyarrow")
        if isinstance(table.origin, pa.Table):
            arrow = table.origin.drop_columns([name for name in table.origin.column_names if name in table.dropped])
            for name in table.changed:
                arrow = arrow.set_column(arrow.column_names.index(name), name, _array(table.frame[name]))
            for name, values in new.items():
                arrow = arrow.append_column(name, _array(values))
        else:
            joined = table.joined(new)
            arrow = pa.table({name: _array(joined[name]) for name in joined.columns})
        self.store(arrow, path)

    def load(self, file: IO[bytes]) -> "pa.Table":
        return need("pyarrow.parquet").ParquetFile(file).read()

    def store(self, arrow: "pa.Table", path: Path) -> None:
        need("pyarrow.parquet").write_table(arrow, path)

    def code(self, path: Path, table: Table) -> str:
        return f"pd.read_{self.title.lower()}({str(path)!r})"


class Feather(Parquet):
    """The same in Arrow's own file format."""

    title = "Feather"
    endings = (".feather", ".arrow", ".ipc")

    def load(self, file: IO[bytes]) -> "pa.Table":
        return _ipc(file)

    def store(self, arrow: "pa.Table", path: Path) -> None:
        need("pyarrow.feather").write_feather(arrow, str(path))


class Datasets(Parquet):
    """A folder that `datasets` wrote with `save_to_disk`, or one of its splits."""

    title = "a folder of Hugging Face datasets"
    endings = ()
    options = ("table",)
    written = ".parquet"

    def read(self, source: Source, options: Options) -> Table:
        folder, notes = source.file, list[str]()
        splits = _json(folder / "dataset_dict.json").get("splits", [])
        wanted = options.table or source.part
        if splits or wanted:
            folder = folder / one_of(splits, wanted, "split", folder.name, "--table", notes)
        files = [entry["filename"] for entry in _json(folder / "state.json").get("_data_files", [])]
        files = files or sorted(path.name for path in folder.glob("*.arrow"))
        if not files:
            raise InputError(
                f"{source.path} is a folder without arrow files. Give a file, or a folder that `datasets` wrote."
            )
        pa = need("pyarrow")
        try:
            parts = [_ipc(io.BytesIO((folder / name).read_bytes())) for name in files]
            table = _table(pa.concat_tables(parts), self)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{folder} is not a readable folder of datasets ({reason(error)}).") from None
        table.notes += notes
        return table


def _table(arrow: "pa.Table", format: Format) -> Table:
    arrow.validate(full=True)  # text of a damaged file may not be UTF-8
    return from_frame(from_arrow(arrow), format, arrow)


def _ipc(file: IO[bytes]) -> "pa.Table":
    """Arrow's file format, or its stream format, which `datasets` writes."""
    ipc = need("pyarrow").ipc
    try:
        return ipc.open_file(file).read_all()
    except need("pyarrow").ArrowInvalid:
        file.seek(0)
        return ipc.open_stream(file).read_all()


def _array(values: Sequence) -> "pa.Table":
    """A column for Arrow, as text if its cells have no common type."""
    pa = need("pyarrow")
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        gaps = need("pandas").isna(need("pandas").Series(list(values), dtype=object))
        return pa.array([None if gap else str(value) for gap, value in zip(gaps, values)], pa.string())


def _json(path: Path) -> dict:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
