"""A folder of tables read as one table, for commands that look at all rows together."""

from pathlib import Path

from ....backend import need
from ....errors import InputError
from .arrow import Parquet
from .base import PACKED, Format, Options, Source, Table, from_frame
from .delimited import Csv, Tsv
from .images import TABLES

READERS: dict[str, Format] = {".csv": Csv(), ".tsv": Tsv(), ".parquet": Parquet(), ".pq": Parquet()}


class Parts(Format):
    """A folder of tables, read in the order of the names of its files. Every part has the columns of the first."""

    title = "a folder of tables"
    options = ("delimiter", "encoding", "header")
    written = ".csv"

    def read(self, source: Source, options: Options) -> Table:
        paths = tables_in(source.file)
        tables = [READERS[_ending(path)].read(Source(str(path), path), options) for path in paths]
        frames, first = [], tables[0]
        for path, table in zip(paths, tables):
            other = set(first.frame.columns) ^ set(table.frame.columns)
            if other:
                raise InputError(
                    f"{path.name} and the first part of {source.name} do not both have the column {min(other)!r}. "
                    "Give parts with the same columns."
                )
            frames.append(table.frame[first.frame.columns])
        frame = need("pandas").concat(frames, ignore_index=True)
        frame.attrs["folder"] = str(source.path)
        notes = [f"{source.name} is read as one table: {len(frames)} files, {len(frame)} rows."]
        return from_frame(frame, self, delimiter=first.delimiter, encoding=first.encoding, notes=notes)


def tables_in(folder: str | Path) -> list[Path]:
    """The CSV, TSV and Parquet files in a folder, without names that begin with . or _.

    Empty if the folder is a data set of Hugging Face, which is one table.
    """
    folder = Path(folder)
    if any((folder / name).exists() for name in TABLES):
        return []
    files = [path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._"]
    return sorted(path for path in files if _ending(path) in READERS)


def _ending(path: Path) -> str:
    return (Path(path.stem) if path.suffix.lower() in PACKED else path).suffix.lower()
