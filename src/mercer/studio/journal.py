"""The journal, with one line of JSON per event. Each event is on disk before it is acknowledged.

An event contains ``hash``, the sha256 of the previous hash and of its own text, so that any changed byte is found. A
last line without its end was never acknowledged, because the machine stopped while it was written. It is cut off. So
are empty lines at the end, which some editors add.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import replacing
from .platform import open_file, sync_folder, write_at

VERSION = 1
START = "0" * 64


class Damaged(InputError):
    """A line of the journal was changed."""


class JournalReplaced(InputError):
    """The file was deleted, replaced or written to by another program while it was open."""


def sealed(before: str, body: dict) -> str:
    """The hash of an event after the event with hash `before`."""
    return hashlib.sha256((before + _text(body)).encode()).hexdigest()


class Journal:
    """An append-only file of events.

    Parameters
    ----------
    path : the file. It is made if there is none.

    Attributes
    ----------
    events : all of them, in order. ``rev`` counts from 1.
    damage : a sentence if a line was changed, else None. The events before it are kept, and none can be added.
    repaired : a sentence if a last line without its end was cut off, else None.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.events, self.damage, self.repaired = Path(path), [], None, None
        new = not self.path.exists()
        self._file = open_file(self.path)
        if new:
            sync_folder(self.path.parent)
        raw = self.path.read_bytes()
        whole = raw[: raw.rfind(b"\n") + 1]
        torn = bool(raw[len(whole) :].strip())
        written = whole.rstrip()
        if whole[len(written) :].startswith(b"\n") or not written:
            whole = whole[: len(written) + 1] if written else b""
        try:
            for number, line in enumerate(whole.splitlines(), start=1):
                self.events.append(self._read(line, number))
        except Damaged as error:
            self.damage = str(error)
        else:
            if len(whole) < len(raw):
                os.ftruncate(self._file, len(whole))
                os.fsync(self._file)
            if torn:
                self.repaired = (
                    f"The last line of {self.path.name} had no end, because mercer was stopped while it was written. "
                    f"It was cut off. The {len(self.events)} events before it are kept."
                )
        self._size = len(whole)

    @classmethod
    def read(cls, path: str | Path) -> list:
        """The events of a journal that another process may be writing. An unfinished last line is left out."""
        raw = Path(path).read_bytes()
        return [json.loads(line) for line in raw[: raw.rfind(b"\n") + 1].splitlines() if line.strip()]

    @property
    def rev(self) -> int:
        """The number of the last event."""
        return len(self.events)

    @property
    def hash(self) -> str:
        """The hash of the last event, which depends on all events."""
        return self.events[-1]["hash"] if self.events else START

    def append(self, body: dict) -> dict:
        """Write an event and wait until it is on disk. If the disk is full, OSError is raised."""
        if self.damage:
            raise Damaged(self.damage)
        self.check()
        event = {"v": VERSION, "rev": self.rev + 1, **body}
        event["hash"] = sealed(self.hash, event)
        data = (_text(event) + "\n").encode()
        try:
            done = 0
            while done < len(data):
                done += write_at(self._file, data[done:], self._size + done)
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(data)
        self.events.append(event)
        return event

    def check(self) -> None:
        """Raise `JournalReplaced` if the file of this name is not the open one, or has another size."""
        try:
            there, own = os.stat(self.path), os.fstat(self._file)
            same = (there.st_ino, there.st_dev, there.st_size) == (own.st_ino, own.st_dev, self._size)
        except FileNotFoundError:
            same = False
        if not same and not self.damage:
            raise JournalReplaced(
                f"{self.path.name} was deleted or replaced by another program, so nothing can be saved."
            )

    def copy(self) -> Path:
        """Write all events to another file next to this one, under a new name. OSError if that fails."""
        number = 1
        while (path := self.path.with_name(f"{self.path.stem}-kept-{number}.jsonl")).exists():
            number += 1
        with replacing(path) as (part,):
            part.write_text("".join(_text(event) + "\n" for event in self.events), encoding="utf-8")
        return path

    def close(self) -> None:
        """No event can be added after this."""
        os.close(self._file)

    def _read(self, line: bytes, number: int) -> dict:
        try:
            event: Any = json.loads(line)
            body = {name: value for name, value in event.items() if name != "hash"}
            good = event["hash"] == sealed(self.hash, body) and event["rev"] == number and _text(event).encode() == line
        except (ValueError, KeyError, AttributeError, TypeError):
            good = False
        if not good:
            raise Damaged(
                f"Line {number} of {self.path} was changed after it was written. The {number - 1} events before it are "
                "shown. Bring the file back from a copy, or cut it before this line to go on from there."
            )
        if event["v"] > VERSION:
            raise Damaged(f"{self.path} was written by a newer mercer. Update mercer to go on.")
        return event


def _text(event: dict) -> str:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
