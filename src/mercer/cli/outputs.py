"""Files that a command writes. They are checked before any work is done, and never left incomplete."""

import sys
import tempfile
from pathlib import Path

from ..errors import InputError
from ..files import refuse_path, replacing
from ..inputs.tables.formats import fill, refuse_ending
from ..jobs.usage import UsageError


def _standard(path: Path | None) -> bool:
    """Return whether a path represents standard output."""
    return str(path) == "-"


def shown(out: Path) -> str:
    """Return what the table that was written is called."""
    return "standard output" if _standard(out) else str(out)


def keep(path, *outputs):
    """Refuse to replace what is read by something else, even with --force."""
    if any(out is not None and Path(out).resolve() == Path(path).resolve() for out in outputs):
        raise UsageError(f"{path} is what is read, and would be replaced. Give another name.")


def claim(console, out, *others, force):
    """Refuse outputs that are in the way, cannot be written, or are one file twice, before any work is done."""
    if any(map(_standard, others)):
        raise UsageError("Only the table can be written to standard output. Give the name of a file.")
    if _standard(out):
        console.aside()
        out = None
    wanted = [Path(path) for path in (out, *others) if path is not None]
    if len({path.resolve() for path in wanted}) < len(wanted):
        raise UsageError("Two outputs have the same name. Give each its own.")
    try:
        if out is not None:
            refuse_ending(out)
        for path in wanted:
            refuse_path(path, force)
    except InputError as error:
        raise UsageError(str(error)) from None


def write(console, table, new, out, force, others=None):
    """Write the table with new columns. `others` are functions that write further files, by path."""
    files = {path: make for path, make in (others or {}).items() if path is not None}
    piped = _standard(out)
    with tempfile.TemporaryDirectory() as folder, replacing(*files, *([] if piped else [out]), force=force) as parts:
        for make, part in zip(files.values(), parts):
            make(part)
        if piped:
            part = Path(folder) / "table"
            fill(part, table, new, out)
            sys.stdout.buffer.write(part.read_bytes())
            sys.stdout.buffer.flush()
        else:
            fill(parts[-1], table, new, out)
    console.result["out"] = str(out)
