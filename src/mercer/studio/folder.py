"""The folder of a session, beside its table: what was asked for, the journal, the lock, and what can be deleted."""

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputError
from ..files import replacing
from .journal import Journal, sync_folder

try:
    import fcntl
except ImportError:  # Windows: the operating system keeps others from opening the file instead
    fcntl = None  # type: ignore[assignment]

ENDING = ".mercer"


class Taken(InputError):
    """Another server has this folder open."""


def fingerprint(path: Path) -> str:
    """sha256 of a file, or of the files of a folder."""
    mark = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
        with open(file, "rb") as stream:
            while block := stream.read(1 << 20):
                mark.update(block)
    return mark.hexdigest()


class Folder:
    """A session folder that this process alone has open.

    Parameters
    ----------
    path : the folder, made if there is none.

    Attributes
    ----------
    journal : `Journal`. settings : what `session.json` holds.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        new = not self.path.exists()
        try:
            self.path.mkdir(mode=0o700, exist_ok=True)
            for name in ("cache", "exports"):
                (self.path / name).mkdir(exist_ok=True)
            self._lock()
        except OSError as error:
            raise InputError(
                f"The folder {self.path} cannot be used: {error.strerror}. Make its place writable."
            ) from None
        if new:
            sync_folder(self.path.parent)
        self.journal = Journal(self.path / "journal.jsonl")
        self.settings: dict[str, Any] = {}
        if (self.path / "session.json").exists():
            try:
                self.settings = json.loads((self.path / "session.json").read_text(encoding="utf-8"))
            except ValueError:
                raise InputError(
                    f"{self.path / 'session.json'} cannot be read. Delete it and give the options again: the labels "
                    "are in journal.jsonl."
                ) from None

    def write_settings(self, **settings: Any) -> None:
        """Write `session.json`, if anything is new in it."""
        wanted = self.settings | settings
        if wanted != self.settings:
            with replacing(self.path / "session.json", force=True) as (part,):
                part.write_text(json.dumps(wanted | {"version": __version__}, indent=1), encoding="utf-8")
            self.settings = wanted

    def tell(self, url: str) -> None:
        """Leave the address of this server for a second one that is started."""
        data = json.dumps({"pid": os.getpid(), "url": url}).encode()
        os.ftruncate(self._held, 0)
        os.pwrite(self._held, data, 0)

    def close(self) -> None:
        """Let others open it."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._held, 0)
            self.journal.close()
            os.close(self._held)

    def _lock(self) -> None:
        path = self.path / "lock"
        self._held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is None:
            return
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system lets go of it when a process ends
        except OSError:
            os.close(self._held)
            try:
                url = json.loads(path.read_text()).get("url", "")
            except ValueError:
                url = ""
            where = f"at {url}" if url else "by another process"
            raise Taken(f"{self.path} is open already {where}. Go on there, or end that server first.") from None
