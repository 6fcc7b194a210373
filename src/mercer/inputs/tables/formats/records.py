"""JSON with a list of records, or with one record in every line."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from ....errors import InputError
from .base import Format, Options, Source, Table, from_rows, python, reason


class Json(Format):
    """Records. `origin` contains the records as they were read. A key that a record lacks stays absent."""

    title = "JSON"
    endings: ClassVar[tuple[str, ...]] = (".json",)
    lines = False

    def read(self, source: Source, options: Options) -> Table:
        records = records_in(source)
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records) or not any(records):
            raise InputError(
                f"{source.name} contains no records. Give a list of objects such as "
                '[{"size": 1, "kind": "a"}, …], or an object in every line.'
            )
        if are_tasks(records):
            from .label_studio import TASKS

            return TASKS.tasks(records)
        names = list(dict.fromkeys(key for record in records for key in record))
        return from_rows(names, [[record.get(name) for name in names] for record in records], self, records)

    def write(self, path: Path, table: Table, new: Mapping[str, Sequence]) -> None:
        if isinstance(table.format, Json) and table.origin is not None:
            records = table.format.records(table, new)
        else:
            frame = table.joined({})
            columns = [map(python, frame[name]) for name in frame.columns]
            records = _added([dict(zip(frame.columns, row)) for row in zip(*columns)], new)
        rows = [json.dumps(record, ensure_ascii=False, default=str) for record in records]
        text = "\n".join(rows) + "\n" if self.lines else "[\n" + ",\n".join(rows) + "\n]\n"
        path.write_text(text, encoding="utf-8", newline="\n")

    def records(self, table: Table, new: Mapping[str, Sequence]) -> list:
        """The records as they were read, with the changed cells and the new columns."""
        records = [{k: v for k, v in record.items() if k not in table.dropped} for record in table.origin]
        for name, rows in table.changed.items():
            for i in rows:
                records[i][name] = python(table.frame[name].iloc[i])
        return _added(records, new)

    def code(self, path: str | Path, table: Table) -> str:
        return f"pd.read_json({str(path)!r}{', lines=True' if self.lines else ''})"


class JsonLines(Json):
    """Records, one per line."""

    title = "JSON lines"
    endings = (".jsonl", ".ndjson")
    lines = True


def _added(records: list, new: Mapping[str, Sequence]) -> list:
    for name, values in new.items():
        for record, value in zip(records, values):
            record[name] = python(value)
    return records


def are_tasks(records: list) -> bool:
    """Whether these are tasks of Label Studio."""
    keys = {"annotations", "predictions", "completions"}
    return isinstance(records, list) and all(
        isinstance(record, dict) and isinstance(record.get("data"), dict) and not keys.isdisjoint(record)
        for record in records
    )


def records_in(source: Source) -> list:
    """The value of a JSON file. If it is not a single value, those of its lines."""
    try:
        text = source.raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{source.name} is not valid UTF-8 at byte {error.start}. Save it as UTF-8.") from None
    found = _parsed(text, source.name)
    if re.search(r"\\u[dD][89a-fA-F]", text):  # half of a letter that needs two codes
        try:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise InputError(
                f"{source.name} contains {half!a}, half a letter in UTF-16. Write the file again."
            ) from None
    return found


def _parsed(text: str, name: str) -> list:
    try:
        found = json.loads(text)
        return [found] if isinstance(found, dict) else found
    except RecursionError:
        raise InputError(f"{name} is nested too deeply for records. Give a list of flat objects.") from None
    except json.JSONDecodeError as whole:
        records = []
        for number, line in enumerate(text.split("\n"), start=1):
            try:
                records += [json.loads(line)] if line.strip() else []
            except (json.JSONDecodeError, RecursionError) as error:
                wrong = f"line {number}: {reason(error)}" if records else reason(whole)
                raise InputError(f"{name} is not valid JSON ({wrong}). Write it again.") from None
        return records
