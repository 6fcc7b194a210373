"""The folder of a session, next to its table. It contains the options, the journal, a lock, and a cache."""

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path

from .. import __version__
from ..errors import InputError
from ..files import replacing
from ..types import Facts
from .journal import Journal
from .platform import lock, open_file, sync_folder, write_at

ENDING = ".mercer"


class FolderInUse(InputError):
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
    journal : `Journal`. settings : content of `session.json`.
    """

    def __init__(self, path: str | Path) -> None:
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
        self.settings: Facts = {}
        if (self.path / "session.json").exists():
            try:
                self.settings = json.loads((self.path / "session.json").read_text(encoding="utf-8"))
                if not isinstance(self.settings, dict):
                    raise ValueError
            except ValueError:
                raise InputError(
                    f"{self.path / 'session.json'} cannot be read. Delete it and give the options again. The labels "
                    "are in journal.jsonl."
                ) from None

    def write_settings(self, **settings: object) -> None:
        """Write `session.json` if its content has changed."""
        wanted = self.settings | settings
        if wanted != self.settings:
            with replacing(self.path / "session.json", force=True) as (part,):
                part.write_text(json.dumps(wanted | {"version": __version__}, indent=1), encoding="utf-8")
            self.settings = wanted

    def tell(self, url: str) -> None:
        """Write the address of this server for a second one."""
        data = json.dumps({"pid": os.getpid(), "url": url}).encode()
        os.ftruncate(self._held, 0)
        write_at(self._held, data, 0)

    def door(self, url: str) -> Path:
        """Write a page that leads to an address. Only this user can read it, unlike the arguments of a browser."""
        path = self.path / "open.html"
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(
                f'<!doctype html><meta http-equiv="refresh" content="0; url={url}"><title>mercer studio</title>\n'
            )
        return path

    def closed_door(self) -> None:
        """Delete that page."""
        with contextlib.suppress(OSError):
            (self.path / "open.html").unlink(missing_ok=True)

    def close(self) -> None:
        """Close the folder, so that other processes can open it."""
        self.closed_door()
        with contextlib.suppress(OSError):
            os.ftruncate(self._held, 0)
            self.journal.close()
            os.close(self._held)

    def discard(self) -> None:
        """Delete a closed folder without events, settings and exports."""
        kept = self.journal.events or self.journal.damage or (self.path / "session.json").exists()
        if not kept and not any((self.path / "exports").iterdir()):
            shutil.rmtree(self.path, ignore_errors=True)

    def _lock(self) -> None:
        path = self.path / "lock"
        self._held = open_file(path)
        if not lock(self._held):  # the system releases the lock when a process ends
            os.close(self._held)
            try:
                url = json.loads(path.read_text(encoding="utf-8")).get("url", "")
            except ValueError:
                url = ""
            where = f"at {url}" if url else "by another process"
            raise FolderInUse(f"{self.path} is open already {where}. Go on there, or end that server first.") from None
