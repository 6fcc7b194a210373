"""Tables of databases. SQLite is part of Python. DuckDB and SQL addresses need packages that the user installs."""

import contextlib
import datetime
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import pathname2url

from ....backend import need
from ....errors import InputError
from ...packages import installed
from .base import Format, Options, Source, Table, from_frame, from_rows, one_of, python, reason


@dataclass
class SqlRows:
    """The rows of an SQLite table, with the file, the table, and the row numbers of SQLite."""

    path: Path
    table: str
    numbers: list


class Sqlite(Format):
    """`file.db::table` or `sqlite:///file.db::table`. The file is not changed. The result is a copy of all of it."""

    title = "SQLite"
    endings = (".db", ".sqlite", ".sqlite3")
    scheme = "sqlite:"
    options = ("table",)

    def read(self, source: Source, options: Options) -> Table:
        if not source.file.exists():
            raise InputError(f"There is no file {source.path}. Check the name and the folder.")
        notes: list = []
        with _opened(source.file) as file:
            known = file.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid")
            names = [name for (name,) in known if not name.startswith("sqlite_")]
            wanted = one_of(names, options.table or source.part, "table", source.name, "--table", notes)
            try:
                found = file.execute(f"SELECT rowid, * FROM {_quoted(wanted)}")
            except sqlite3.OperationalError:  # a view, or a table without row numbers
                found = file.execute(f"SELECT NULL, * FROM {_quoted(wanted)}")
            columns, rows = [about[0] for about in found.description[1:]], found.fetchall()
        numbers = [row[0] for row in rows]
        origin = SqlRows(source.file, wanted, numbers) if None not in numbers else None
        table = from_rows(columns, [row[1:] for row in rows], self, origin)
        table.notes += notes
        return table

    def write(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        try:
            with contextlib.closing(sqlite3.connect(path)) as out:
                if isinstance(table.origin, SqlRows):
                    self._copied(out, table, new)
                else:
                    self._created(out, table, new)
                out.commit()
        except sqlite3.Error as error:
            raise InputError(f"The table cannot be written as SQLite: {reason(error)}. Write .csv instead.") from None

    def _copied(self, out: sqlite3.Connection, table: Table, new: Mapping[str, Sequence]) -> None:
        with _opened(table.origin.path) as file:
            file.backup(out)
        out.execute("PRAGMA journal_mode = DELETE")
        name = _quoted(table.origin.table)
        there = {about[1].casefold() for about in out.execute(f"PRAGMA table_info({name})")}
        for column, rows in table.changed.items():
            cells = [(_cell(table.frame[column].iloc[i]), table.origin.numbers[i]) for i in rows]
            out.executemany(f"UPDATE {name} SET {_quoted(column)} = ? WHERE rowid = ?", cells)
        for column, values in new.items():
            cells = list(map(_cell, values))
            if column.casefold() not in there:
                out.execute(f"ALTER TABLE {name} ADD COLUMN {_quoted(column)} {_type(cells)}")
            rows = zip(cells, table.origin.numbers)
            out.executemany(f"UPDATE {name} SET {_quoted(column)} = ? WHERE rowid = ?", rows)

    def _created(self, out: sqlite3.Connection, table: Table, new: Mapping[str, Sequence]) -> None:
        frame = table.joined(new)
        columns = {name: list(map(_cell, frame[name])) for name in frame.columns}
        shape = ", ".join(f"{_quoted(name)} {_type(cells)}" for name, cells in columns.items())
        out.execute(f"CREATE TABLE data ({shape})")
        out.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(columns))})", zip(*columns.values()))


class DuckDb(Format):
    """`file.duckdb::table`, read only, with the package duckdb."""

    title = "DuckDB"
    endings = (".duckdb",)
    scheme = "duckdb:"
    options = ("table",)
    written = ".parquet"

    def read(self, source: Source, options: Options) -> Table:
        duckdb = installed("duckdb", f"{source.name}: reading DuckDB")
        notes: list = []
        try:
            with contextlib.closing(duckdb.connect(str(source.path), read_only=True)) as file:
                names = [
                    name for (name,) in file.execute("SELECT table_name FROM information_schema.tables").fetchall()
                ]
                wanted = one_of(names, options.table or source.part, "table", source.name, "--table", notes)
                frame = file.execute(f"SELECT * FROM {_quoted(wanted)}").df()
        except duckdb.Error as error:
            raise InputError(f"{source.name} cannot be read: {reason(error)}. Check the file.") from None
        return from_frame(frame, self, notes=notes)


class Sql(Format):
    """Addresses such as `postgresql://user@host/database::table`, with SQLAlchemy and the driver."""

    title = "an SQL address"
    options = ("table",)
    written = ".csv"

    def read(self, source: Source, options: Options) -> Table:
        sqlalchemy = installed("sqlalchemy", f"{source.name}: reading an SQL address")
        notes: list = []
        try:
            engine = sqlalchemy.create_engine(source.where)
            with engine.connect() as link:
                if engine.dialect.name == "postgresql":
                    link = link.execution_options(postgresql_readonly=True)
                names = sqlalchemy.inspect(engine).get_table_names()
                wanted = one_of(names, options.table or source.part, "table", source.name, "--table", notes)
                quoted = engine.dialect.identifier_preparer.quote(wanted)
                frame = need("pandas").read_sql_query(sqlalchemy.text(f"SELECT * FROM {quoted}"), link)
        except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
            raise InputError(f"{source.name} cannot be read: {reason(error)}. Check the address.") from None
        return from_frame(frame, self, notes=notes)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator:
    """A connection that cannot write."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{pathname2url(str(path))}?mode=ro", uri=True)) as file:
            yield file
    except sqlite3.Error as error:
        raise InputError(f"{path.name} is not a readable SQLite file ({reason(error)}). Check it.") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _cell(value):
    """A cell as SQLite stores it."""
    value = python(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    return value if value is None or isinstance(value, int | float | str | bytes) else str(value)


def _type(cells: list) -> str:
    """The declared type, which changes no cell."""
    types = {int: "INTEGER", bool: "INTEGER", float: "REAL", str: "TEXT"}
    known = {types.get(type(cell), "") for cell in cells if cell is not None}
    return known.pop() if len(known) == 1 else ""
