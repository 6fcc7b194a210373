"""File operations that differ between operating systems, such as locks and writing at a position."""

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:  # everywhere else
    msvcrt = None  # type: ignore[assignment]

LOCKED_AT = 1 << 30  # the byte that a lock on Windows covers, beyond the text of the file, so that others can read it


def open_file(path: Path) -> int:
    """Open a file to read and write its bytes. It is made, for this user alone, if there is none."""
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)


def write_at(file: int, data: bytes, place: int) -> int:
    """Write bytes at a position of an open file, and return how many were written."""
    os.lseek(file, place, os.SEEK_SET)
    return os.write(file, data)


def lock(file: int) -> bool:
    """Lock an open file until this process ends. False if another process has it."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif msvcrt is not None:
            os.lseek(file, LOCKED_AT, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk. Windows needs no such call."""
    if os.name == "nt":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
