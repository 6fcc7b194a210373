"""Write files so that a name never refers to an incomplete file. A complete temporary file is renamed."""

import contextlib
import os
import secrets
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

from .backend import uninterrupted
from .errors import InputError


@contextlib.contextmanager
def replacing(*paths: str | Path, force: bool = False) -> Iterator[list[Path]]:
    """Temporary files next to `paths`, moved to their names together, or all removed if the block fails.

    A replacement keeps the permissions of the old file. If a path is a symbolic link, its target is replaced.

    Parameters
    ----------
    paths : files to write.
    force : whether files that exist are replaced. Otherwise they are refused.
    """
    with contextlib.ExitStack() as stack:
        moves = [(stack.enter_context(_part(path, force)), path) for path in paths]
        yield [part for part, _ in moves]
        for part, path in moves:
            with open(part, "rb+") as file:
                os.fsync(file.fileno())
            _refuse(path, force)
        with uninterrupted(dropped=[signal.SIGINT]), contextlib.ExitStack() as undo:
            for part, path in moves:
                _place(part, os.path.realpath(path), path, force)
                if not force:
                    undo.callback(os.unlink, os.path.realpath(path))
            undo.pop_all()


def refuse_path(path: str | Path, force: bool = False) -> None:
    """Refuse a path that is taken or cannot be written, before any work is done."""
    with _part(path, force):  # permissions, read-only disks and full disks show only in an attempt
        pass


@contextlib.contextmanager
def _part(path, force):
    """An empty file next to the target of `path`, with its permissions. Removed at the end if it is still there."""
    _refuse(path, force)
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")
    try:
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            with contextlib.suppress(FileNotFoundError):
                part.chmod(stat.S_IMODE(target.stat().st_mode))
        except OSError as error:
            raise _unwritable(path, error.strerror) from None
        yield part
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def _place(part, target, path, force):
    """Give a complete file its name. A file of this name that another run wrote in the meantime is not replaced."""
    if not force:
        try:
            os.link(part, target)
            return
        except FileExistsError:
            raise _taken(path) from None
        except OSError:  # a disk without links
            pass
    os.replace(part, target)


def _taken(path):
    return InputError(f"{path} exists. Use --force to replace it, or give another name.")


def _refuse(path, force):
    path = Path(path)
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder. Give the name of a file.")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path} is not a regular file. Give the name of a file.")
    if os.path.exists(path) and not force:
        raise _taken(path)
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise _unwritable(path, "it is write-protected")
    folder = Path(os.path.realpath(path) if os.path.islink(path) else path).parent
    if not os.path.isdir(folder):
        raise InputError(f"There is no folder {folder}. Create it first.")


def _unwritable(path, why):
    return InputError(f"{path} cannot be written ({why}). Give a path elsewhere.")
