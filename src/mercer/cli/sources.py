"""What the commands share: opening the table, checking columns, writing columns back."""

import sys
import tempfile
from pathlib import Path

from ..errors import InputError
from ..files import refuse_path, replacing
from ..inputs.tables import TableEncoder, read_table
from ..inputs.tables.write import WRITTEN, fill, refuse_ending
from .screen import UsageError

MANY_ROWS = 5000  # rows beyond which the commands approximate the kernel with landmarks
LANDMARKS = 1000


def open_table(screen, path, delimiter, encoding, columns=()):
    """The table at `path`, with every column the command names in it."""
    if not _standard(path) and not Path(path).exists():
        raise UsageError(f"There is no file {path}. Check the name and the folder.")
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise UsageError(f"--delimiter {delimiter!r} is not accepted: give one character, or tab.")
    table = read_table(path, delimiter=delimiter, encoding=encoding)
    for name in columns:
        if name is not None and name not in table.frame.columns:
            raise UsageError(_no_column(name, path, table))
    for sentence in table.notes:
        screen.note(sentence)
    return table


def _no_column(name, path, table):
    import difflib

    names = [str(column) for column in table.frame.columns]
    same = [other for other in names if other.strip().casefold() == name.strip().casefold()]
    close = same or difflib.get_close_matches(name, names, n=1)
    if close:
        return f"{Path(path).name} has no column {name!r}. Did you mean {close[0]!r}?"
    shown = ", ".join(map(repr, names[:8])) + (" …" if len(names) > 8 else "")
    hint = "".join(f" {note}" for note in table.notes if repr(name) in note)
    head = (table.frame.head(20) == name).any(axis=1) if table.kind == "text" else []
    if any(head):
        hint = " The name stands further down: remove the lines above the row of column names."
    elif table.headless:
        hint = " These are numbers: does the file lack a row of column names? Add one."
    elif len(names) == 1:
        hint = " If that is not how the columns should be split, give --delimiter."
    return f"{Path(path).name} has no column {name!r}. Its columns are {shown}.{hint}"


def refuse_taken(table, names):
    """Refuse to write columns of names that the table has already."""
    taken = [name for name in names if name in table.frame.columns]
    if taken:
        raise UsageError(f"The table has a column {taken[0]!r} already, which would be written. Rename or drop it.")


def row_names(table, id):
    """What the rows are called: the cells of the column `id`, or their numbers from 1."""
    return table.frame[id].astype(str).tolist() if id else [str(i) for i in range(1, len(table) + 1)]


def kinds_of(text, category, number):
    """({kind: columns asked to be of this kind}, all these columns)."""
    kinds = {"text": text or [], "category": category or [], "number": number or []}
    return kinds, [name for names in kinds.values() for name in names]


def matrix(screen, table, ignore, kinds, data="DATA", scale="auto"):
    """(fitted TableEncoder, matrix) of all columns but those to ignore; `kinds` are asked for: {"text": names, …}.

    What there is to say of the columns is said by `mercer look` and in the report; here is one line that says so.
    """
    if len(table) < 2:
        raise InputError(f"The table has {len(table)} row. At least two rows are needed.")
    encoder = TableEncoder(**kinds, ignore=[name for name in ignore if name is not None], scale=scale)
    X = encoder.fit_transform(table.frame)
    if encoder.notes_:
        used, out = len(encoder.encoders_), len(set(encoder.ignored_) - set(ignore))
        columns = f"{used} column{'' if used == 1 else 's'} used, {out or 'none'} left out"
        screen.note(f"{columns}: `mercer look {'FILE' if _standard(data) else data}` says {'why' if out else 'how'}.")
    return encoder, X


def _standard(path):
    """Whether a path stands for standard input or output."""
    return str(path) == "-"


def shown(out):
    """What the table that was written is called."""
    return "standard output" if _standard(out) else str(out)


def default_out(data, word):
    """data_word.csv beside data.csv; standard output for standard input."""
    data = Path(data)
    if _standard(data):
        return data
    return data.with_name(f"{data.stem}_{word}{data.suffix if data.suffix.lower() in WRITTEN[1:] else '.csv'}")


def keep(path, *outputs):
    """Refuse to replace what is read by something else, even with --force."""
    if any(out is not None and Path(out).resolve() == Path(path).resolve() for out in outputs):
        raise UsageError(f"{path} is what is read, and would be replaced. Give another name.")


def claim(screen, out, *others, force):
    """Refuse outputs that are in the way, cannot be written, or are one file twice, before any work is done."""
    if any(map(_standard, others)):
        raise UsageError("Only the table can be written to standard output. Give the name of a file.")
    if _standard(out):
        screen.aside()
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


def write(screen, table, new, out, force, others=None):
    """Write the table with new columns; `others` are further files: {path, or None: function that writes to a path}."""
    files = {path: make for path, make in (others or {}).items() if path is not None}
    piped = _standard(out)
    with tempfile.TemporaryDirectory() as folder, replacing(*files, *([] if piped else [out]), force=force) as parts:
        for make, part in zip(files.values(), parts):
            make(part)
        if piped:
            part = Path(folder) / ("table.tsv" if table.delimiter == "\t" else "table.csv")
            notes = fill(part, table, new, part)
            sys.stdout.buffer.write(part.read_bytes())
            sys.stdout.buffer.flush()
        else:
            notes = fill(parts[-1], table, new, out)
    for sentence in notes:
        screen.note(sentence)
    screen.result["out"] = str(out)


def kernel_for(X, name):
    """(kernel, approx): the named kernel with the median width, landmarks for many rows."""
    from ..kernels import REGISTRY, as_kernel

    name = name.lower()
    accepted = [known for known, kernel in REGISTRY.items() if not kernel.transductive and kernel().psd]
    if name not in accepted:
        raise UsageError(f"There is no kernel {name!r}. Accepted: {', '.join(sorted(accepted))}.")
    return as_kernel(name), "auto" if X.shape[0] <= MANY_ROWS else LANDMARKS
