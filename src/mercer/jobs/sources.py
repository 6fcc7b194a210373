"""What the commands share: opening the table, checking columns, writing columns back."""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..files import refuse_path, replacing
from ..inputs.tables import TableEncoder, read_table
from ..inputs.tables.formats import default_out as default_out
from ..inputs.tables.formats import fill, located, refuse_ending
from ..inputs.tables.vectors import VECTORS, attach_vectors
from .usage import UsageError

MANY_ROWS = 5000  # rows beyond which the commands approximate the kernel with landmarks
LANDMARKS = 1000


@dataclass
class Reading:
    """What the user says about a table: how its file is read, what its columns are, how it is written."""

    text: list[str] | None = None
    category: list[str] | None = None
    number: list[str] | None = None
    image: list[str] | None = None
    embed: list[str] | None = None  # columns, and files of vectors
    text_model: str | None = None
    image_model: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    table: str | None = None
    protect: bool = False

    @property
    def vectors(self):
        """Files of vectors that stand beside the table."""
        return [name for name in self.embed or [] if Path(name).suffix.lower() in VECTORS]

    @property
    def kinds(self):
        """{kind: columns asked to be of this kind}."""
        embed = [name for name in self.embed or [] if name not in self.vectors]
        kinds = {"text": self.text, "category": self.category, "number": self.number, "image": self.image}
        return {kind: names or [] for kind, names in kinds.items()} | {"embed": embed}

    @property
    def asked(self):
        """All columns that have a kind."""
        return [name for kind, names in self.kinds.items() if kind != "embed" for name in names]

    def encoder(self, ignore, scale="auto", include=()):
        """The encoder of a table that is read so."""
        models = {"embedding": self.text_model, "image_model": self.image_model}
        ignore = [name for name in ignore if name is not None]
        return TableEncoder(**self.kinds, **models, ignore=ignore, include=include, scale=scale)


def open_table(screen, path, reading, columns=()):
    """The table at `path`, with every column the command names in it and the vectors beside it."""
    source = located(path)[1]
    if source.path is not None and not source.path.exists():
        raise UsageError(f"There is no file {source.path}. Check the name and the folder.")
    delimiter = {"tab": "\t", "\\t": "\t"}.get(reading.delimiter, reading.delimiter)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n\0"'):
        raise UsageError(f"--delimiter {delimiter!r} is not accepted: give one character, or tab.")
    table = read_table(path, delimiter=delimiter, encoding=reading.encoding, sheet=reading.sheet, table=reading.table)
    table.protect |= reading.protect
    for name in [*columns, *reading.asked]:
        if name is not None and name not in table.frame.columns:
            raise UsageError(_no_column(name, path, table))
    for number, name in enumerate(reading.vectors, start=1):
        attach_vectors(table, name, "embedding" if number == 1 else f"embedding {number}")
    for sentence in table.notes:
        screen.note(sentence)
    return table


def _similar(name, table):
    """The column whose name is nearly `name`, or None."""
    import difflib

    names = [str(column) for column in table.frame.columns]
    same = [other for other in names if other.strip().casefold() == name.strip().casefold()]
    return next(iter(same or difflib.get_close_matches(name, names, n=1)), None)


def _no_column(name, path, table):
    names, close = [str(column) for column in table.frame.columns], _similar(name, table)
    if close:
        return f"{Path(path).name} has no column {name!r}. Did you mean {close!r}?"
    shown = ", ".join(map(repr, names[:8])) + (" …" if len(names) > 8 else "")
    hint = "".join(f" {note}" for note in table.notes if repr(name) in note)
    head = (table.frame.head(20) == name).any(axis=1) if table.format.is_text else []
    if any(head):
        hint = " The name stands further down: remove the lines above the row of column names."
    elif table.headless:
        hint = " These are numbers: does the file lack a row of column names? Add one."
    elif len(names) == 1:
        hint = " If that is not how the columns should be split, give --delimiter."
    return f"{Path(path).name} has no column {name!r}. Its columns are {shown}.{hint}"


def refuse_similar(name, path, table):
    """Refuse the name of a new column that is nearly the name of one there is."""
    if _similar(name, table):
        raise UsageError(_no_column(name, path, table))


def refuse_taken(table, names):
    """Refuse to write columns of names that the table has already."""
    taken = [name for name in names if name in table.frame.columns]
    if taken:
        raise UsageError(f"The table has a column {taken[0]!r} already, which would be written. Rename or drop it.")


def row_names(table, id):
    """What the rows are called: the cells of the column `id`, or their numbers from 1."""
    return table.frame[id].astype(str).tolist() if id else [str(i) for i in range(1, len(table) + 1)]


def matrix(screen, table, ignore, reading, data="DATA", scale="auto", include=None, labelled=None):
    """(fitted TableEncoder, matrix) of all columns but those to ignore; `labelled` rows must not be told apart.

    The notes on the columns are in the report and in the output of `mercer look`; here is one line that says so, and
    the columns that tell labelled rows apart, which `look` cannot know.
    """
    if len(table) < 2:
        raise InputError(f"The table has {len(table)} row. At least two rows are needed.")
    encoder = reading.encoder(ignore, scale, include or ())
    X = encoder.fit_transform(table.frame, labelled=labelled)
    if encoder.notes_:
        used, out = len(encoder.encoders_), len(set(encoder.ignored_) - set(ignore))
        columns = f"{used} column{'' if used == 1 else 's'} used, {out or 'none'} left out"
        screen.note(f"{columns}: `mercer look {'FILE' if _standard(data) else data}` says {'why' if out else 'how'}.")
    for sentence in encoder.leaks_:
        screen.note(sentence)
    return encoder, X


def _standard(path):
    """Whether a path stands for standard input or output."""
    return str(path) == "-"


def shown(out):
    """What the table that was written is called."""
    return "standard output" if _standard(out) else str(out)


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
            part = Path(folder) / "table"
            fill(part, table, new, out)
            sys.stdout.buffer.write(part.read_bytes())
            sys.stdout.buffer.flush()
        else:
            fill(parts[-1], table, new, out)
    screen.result["out"] = str(out)


def kernel_for(X, name):
    """(kernel, approx): the named kernel with the median width, landmarks for many rows."""
    from ..kernels import REGISTRY, as_kernel

    name = name.lower()
    accepted = [known for known, kernel in REGISTRY.items() if not kernel.transductive and kernel().psd]
    if name not in accepted:
        raise UsageError(f"There is no kernel {name!r}. Accepted: {', '.join(sorted(accepted))}.")
    return as_kernel(name), "auto" if X.shape[0] <= MANY_ROWS else LANDMARKS
