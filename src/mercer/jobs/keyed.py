"""Labels in a file of their own, found by a column that names the rows in both."""

from collections import Counter
from pathlib import Path, PurePosixPath

import numpy as np

from ..events import Note, OnEvent
from ..inputs.tables import Table, given_cells
from ..inputs.tables.formats.images import FILE, Images
from ..inputs.tables.images import ENDINGS
from .corrections import fill_cells, texts
from .options import ReadOptions
from .tables import open_table
from .usage import UsageError


def take_labels(table: Table, targets: list[str], options: ReadOptions, on_event: OnEvent) -> None:
    """Take the labels of the file that `options.labels` names. A target that the table lacks becomes a column.

    Rows are found by the column `options.key`. In a folder of images they are found by the path or name of the file.
    """
    path, images = Path(str(options.labels)), isinstance(table.format, Images)
    if options.key is None and not images:
        raise UsageError("--labels FILE and --key COLUMN go together. The column names the rows in both.")
    own = FILE if images and options.key is None else str(options.key)
    more = open_table(path, ReadOptions(delimiter=options.delimiter, encoding=options.encoding), targets, on_event)
    theirs = own if own in more.frame.columns else _images_column(more) if images else None
    if theirs is None or own not in table.frame.columns:
        where = path.name if theirs is None else "the table"
        raise UsageError(f"{where} has no column {own!r}, which names the rows. Name another with --key COLUMN.")
    places = _image_places(table, own) if images else _places(table, own)
    rows = np.array([places.get(_plain(word), -1) for word in texts(more.frame[theirs])])
    for target in targets:
        given, words, _ = given_cells(more.frame[target], options.missing)
        lost = given & (rows < 0)
        if lost.any() and not (given & (rows >= 0)).any():
            example = texts(more.frame[theirs])[lost.argmax()]
            raise UsageError(
                f"No row of {path.name} is in the table, such as {example!r}. Check the column {theirs!r}."
            )
        if target not in table.frame.columns:
            table.attach(target, [None] * len(table))
        found = np.flatnonzero(given & (rows >= 0))
        fill_cells(table, target, rows[found], words[found])
        are = "is" if lost.sum() == 1 else "are"
        rest = f". {int(lost.sum())} of its names {are} not in the table" if lost.any() else ""
        on_event(Note(f"{len(found)} label{'' if len(found) == 1 else 's'} taken from {path.name}{rest}."))


def only_target(options: ReadOptions, on_event: OnEvent) -> str:
    """Return the only column in the file of labels apart from the one that names the rows."""
    path = Path(str(options.labels))
    table = open_table(path, ReadOptions(delimiter=options.delimiter, encoding=options.encoding), [], on_event)
    names = [str(name) for name in table.frame.columns]
    key = options.key or (FILE if FILE in names else _images_column(table))
    others = [name for name in names if name != key]
    if len(others) != 1 or len(names) != 2:
        raise UsageError(f"{path.name} has the columns {', '.join(names)}. Name the one of the labels with --target.")
    return others[0]


def _plain(word: str) -> str:
    return word.strip().removeprefix("./").removesuffix(".0")


def _places(table: Table, key: str) -> dict[str, int]:
    """Return the numbers of the rows, by name."""
    names = [_plain(word) for word in texts(table.frame[key])]
    name, number = Counter(names).most_common(1)[0] if names else ("", 0)
    if number > 1:
        raise UsageError(f"{key!r} does not name the rows: {name!r} is in {number} of them. Name another with --key.")
    return {name: row for row, name in enumerate(names)}


def _image_places(table: Table, key: str) -> dict[str, int]:
    """Return the rows of images, by path with or without the folder, and by file name if it is unique."""
    paths = [PurePosixPath(_plain(word)) for word in texts(table.frame[key])]
    often = Counter(path.name for path in paths)
    found = {path.name: row for row, path in enumerate(paths) if often[path.name] == 1}
    found |= {"/".join(path.parts[1:]): row for row, path in enumerate(paths) if len(path.parts) > 1}
    return found | {str(path): row for row, path in enumerate(paths)}


def _images_column(table: Table) -> str | None:
    """Return the column whose cells are names of images, if there is only one."""
    names = [
        str(name)
        for name in table.frame.columns
        if len(table) and np.mean([word.lower().endswith(ENDINGS) for word in texts(table.frame[name])]) > 0.9
    ]
    return names[0] if len(names) == 1 else None
