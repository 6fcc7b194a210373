"""Open a table, check the names of its columns, and encode them as a matrix."""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote

import numpy as np

from ..errors import InputError
from ..events import Note, OnEvent, ignore, reporting_to
from ..inputs.tables import Table, TableEncoder, read_table
from ..inputs.tables.formats import Location, located
from ..inputs.tables.vectors import attach_vectors
from ..kernels.base import Kernel
from ..types import Frame, Rows
from .options import ReadOptions
from .usage import UsageError, did_you_mean

Data = str | Path | Location  # a path or an address, as it was typed or located


def open_table(
    data: Data, options: ReadOptions, columns: Iterable[str | None] = (), on_event: OnEvent = ignore
) -> Table:
    """Return a table with every column that was requested in it, and the vectors that belong to it.

    Parameters
    ----------
    data : path or address of the table. options : how it is read.
    columns : further names that must be there. None is skipped.
    """
    place = located(data)
    if place.source.path is not None and not place.source.path.exists():
        raise UsageError(f"There is no file {place.source.path}. Check the name and the folder.")
    table = read_table(place, **options.file)
    table.protect |= options.protect
    for name in [*columns, *options.asked]:
        if name is not None and name not in table.frame.columns:
            raise UsageError(_no_column(name, table, data))
    for number, file in enumerate(options.vectors, start=1):
        attach_vectors(table, file, "embedding" if number == 1 else f"embedding {number}")
    folder = table.frame.attrs.get("folder")
    if folder is not None and not options.no_cache:
        table.frame.attrs["cache"] = folder  # of the vectors of texts and images
    for sentence in table.notes:
        on_event(Note(sentence))
    return table


def file_name(data: Data) -> str:
    """Return the last part of a path as it was typed."""
    return Path(typed(data)).name


def typed(data: Data) -> str:
    """Return a path as it was typed."""
    return data.source.where if isinstance(data, Location) else str(data)


def _similar(name: str, table: Table) -> str | None:
    """Return the column whose name is nearly `name`, or None."""
    names = [str(column) for column in table.frame.columns]
    same = [other for other in names if other.strip().casefold() == name.strip().casefold()]
    return next(iter(same or difflib.get_close_matches(name, names, n=1)), None)


def _no_column(name: str, table: Table, data: Data) -> str:
    names, close, file = [str(column) for column in table.frame.columns], _similar(name, table), file_name(data)
    if close:
        return f"{file} has no column {name!r}. Did you mean {close!r}?"
    shown = ", ".join(map(repr, names[:8])) + (" …" if len(names) > 8 else "")
    hint = "".join(f" {note}" for note in table.notes if repr(name) in note)
    head = (table.frame.head(20) == name).any(axis=1) if table.format.is_text else []
    if any(head):
        hint = " The name is further down. Give the number of the line of column names with --header."
    elif table.headless:
        hint = " These are numbers. If the file lacks a row of column names, add one."
    elif len(names) == 1:
        hint = " If that is not how the columns should be split, give --delimiter."
    return f"{file} has no column {name!r}. Its columns are {shown}.{hint}"


def refuse_similar(name: str, table: Table, data: Data) -> None:
    """Refuse the name of a new column that is nearly the name of an existing one."""
    if _similar(name, table):
        raise UsageError(_no_column(name, table, data))


def renamed_columns(frame: Frame, pairs: Sequence[str], encoder: TableEncoder) -> Frame:
    """Return a table with the names of columns that a model knows. Refuse columns that seem to be renamed.

    Parameters
    ----------
    pairs : "NEW=OLD", the name in this table and that in the table of the training. encoder : that of the model.
    """
    names = {}
    for pair in pairs:
        new, _, old = pair.partition("=")
        if new not in frame.columns or old not in encoder.names_:
            raise UsageError(
                f"--rename {pair} is not accepted. Give NEW=OLD, a column of this table and one that the model knows. "
                f"{did_you_mean(*((old, encoder.names_) if new in frame.columns else (new, list(frame.columns))))}"
            )
        names[new] = old
    frame = frame.drop(columns=[old for old in names.values() if old in frame.columns]).rename(columns=names)
    if meant := encoder.renamed(frame):
        pairs = ", ".join(f"{new!r} for {old!r}" for old, new in meant.items())
        old, new = next(iter(meant.items()))
        others = ", ".join(repr(name) for name in encoder.absent(frame) if name not in meant)
        raise InputError(
            f"The table has other columns than the table that the model was trained with. Did you mean {pairs}? "
            f"{f'Also missing: {others}. ' if others else ''}Rename them, or add --rename {quote(f'{new}={old}')} for "
            "each."
        )
    return frame


def refuse_taken(table: Table, names: Iterable[str]) -> None:
    """Refuse to write columns whose names the table already has."""
    taken = [name for name in names if name in table.frame.columns]
    if taken:
        raise UsageError(f"The table has a column {taken[0]!r} already, which would be written. Rename or drop it.")


def row_names(table: Table, id: str | None) -> list[str]:
    """Return the names of the rows, which are the cells of the column `id` or their numbers from 1."""
    return table.frame[id].astype(str).tolist() if id else [str(i) for i in range(1, len(table) + 1)]


def command(name: str, data: Data, target: str | None, options: ReadOptions) -> str:
    """Return a command that reads the same table and labels."""
    file = "FILE" if typed(data) == "-" else typed(data)
    words = ["mercer", name, file, *([] if target is None else ["-t", target])]
    words += [] if options.labels is None else ["--labels", str(options.labels)]
    return " ".join(map(quote, [*words, *([] if options.key is None else ["--key", options.key])]))


def encode(
    table: Table,
    unused: Iterable[str | None],
    options: ReadOptions,
    data: Data = "DATA",
    scale: str | bool = "auto",
    labeled: np.ndarray | None = None,
    target: str | None = None,
    on_event: OnEvent = ignore,
) -> tuple[TableEncoder, Rows]:
    """Return a fitted `TableEncoder` and the matrix of all columns except the unused ones.

    The notes on the columns are in the report and in the output of `mercer look`. One note points there. Columns that
    distinguish the labeled rows, which `mercer look` cannot know, are named.
    """
    if len(table) < 2:
        raise InputError(f"The table has {len(table)} row. At least two rows are needed.")
    dropped = [name for name in unused if name is not None]
    encoder = options.encoder(dropped, scale)
    with reporting_to(on_event):
        X = encoder.fit_transform(table.frame, labeled=labeled)
    if encoder.notes_:
        used, out = len(encoder.used_), len(set(encoder.ignored_) - set(dropped))
        columns = f"{used} column{'' if used == 1 else 's'} used, {out or 'none'} left out"
        on_event(Note(f"{columns}: `{command('look', data, target, options)}` shows {'why' if out else 'how'}."))
    for sentence in (*encoder.models_, *encoder.leaks_):
        on_event(Note(sentence))
    return encoder, X


def kernel_for(X: Rows, name: str) -> tuple[Kernel, str | int]:
    """Return a kernel by its name, and the `approx` for a table, which is a number of landmarks for many rows."""
    from ..geometry.open import POLICIES
    from ..kernels import REGISTRY, as_kernel

    policy, name = POLICIES["commands"], name.lower()
    accepted = [known for known, kernel in REGISTRY.items() if not kernel.transductive and kernel().psd]
    if name not in accepted:
        raise UsageError(f"There is no kernel {name!r}. Accepted: {', '.join(sorted(accepted))}.")
    return as_kernel(name), "auto" if X.shape[0] <= policy.exact_rows else policy.landmarks
