"""Read a table and its labels as one `Dataset` for each column of labels."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..events import Event, Note, OnEvent, ignore
from ..few_label.summary import CHOSEN
from ..inputs.links import end_name, link_matrix, read_ends
from ..inputs.tables import DistinctiveCells, Selected, Table, TableEncoder, hint_columns, read_target_as, selected
from ..inputs.tables.formats.label_studio import TASKS
from ..types import Facts, Rows
from .corrections import (
    earlier_answers,
    how_words,
    set_aside,
    take_answers,
    take_corrections,
    written_before,
    wrong_column,
)
from .keyed import take_labels
from .options import ReadOptions
from .tables import Data, command, encode, open_table, refuse_similar, row_names, typed
from .usage import UsageError

Writes = Iterable[str] | Callable[[str, bool], list[str]]


@dataclass(frozen=True)
class Dataset:
    """A table with its labels and the matrix of its features, ready for a classifier or a regressor.

    Attributes
    ----------
    data : the file. table : the table as it was read. target : the column of labels. labels : its labels.
    encoder, X : the fitted encoder and the matrix of the features. names : what each row is called.
    distinctive : the cells that distinguish rows and groups of rows. notes : sentences on how the table was read.
    earlier : predictions of an earlier run, see `earlier_answers`. how : (n,) words of TARGET_how, see `how_words`.
    hints : (n,) guesses as text by column, each None if there is none. None without hints.
    marks : what marks an unlabeled cell, in addition to the usual markers.
    selected : how the labeled rows differ from a random sample, if they do and there is no TARGET_how.
    links : (n, n) sparse weights of links between the rows, or None.
    draws : a command that draws rows to label at random.
    """

    data: Path
    table: Table
    target: str
    labels: Any  # Target or NumberTarget, or None without a target
    encoder: TableEncoder
    X: Rows
    names: list[str]
    distinctive: DistinctiveCells
    notes: list[str] = field(default_factory=list)
    earlier: dict[str, np.ndarray] | None = None
    how: np.ndarray | None = None
    hints: dict[str, np.ndarray] | None = None
    marks: list[str] | None = None
    selected: Selected | None = None
    links: Rows = None
    draws: str = ""

    @property
    def drawn(self) -> np.ndarray:
        """(n,) rows that count as drawn at random.

        These are the rows that TARGET_how does not call chosen. Without this column they are all rows, and none if the
        labeled rows differ from the others.
        """
        if self.how is not None:
            return np.asarray(self.how != "chosen")
        return np.full(len(self.names), self.selected is None)

    @property
    def why_not_drawn(self) -> str:
        """Why the labels do not give an estimate for all rows, if no label counts as drawn at random."""
        if self.selected is None:
            return CHOSEN
        return f"the labeled rows are not a random sample of the table ({self.selected.sentence})"


@dataclass(frozen=True)
class LabeledTable:
    """A table and its labels, before any feature is computed.

    Attributes
    ----------
    labels : the labels, by target.
    earlier : the predictions of an earlier run or None, by target.
    how : how each row came to be labeled, or None, by target.
    old : columns that earlier runs wrote. They are not features.
    notes : sentences on how the table was read.
    """

    table: Table
    labels: Facts
    earlier: dict[str, dict[str, np.ndarray] | None]
    how: dict[str, np.ndarray | None]
    old: list[str]
    notes: list[str]


def read_labeled(
    data: Data,
    targets: list[str] | None,
    options: ReadOptions,
    *,
    table: Table | None = None,
    writes: Writes = (),
    need_labels: bool = True,
    several: bool = False,
    new_target: bool = False,
    on_event: OnEvent = ignore,
) -> LabeledTable:
    """Return a table with the labels of each target. Corrections in the output of an earlier run are labels.

    Parameters
    ----------
    data : path or address of the table. options : how it is read.
    targets : columns of labels. None for the only control of an export of Label Studio.
    table : the table, if it is open already.
    writes : names of the columns that will be added, or a function of (target, whether it contains numbers).
    need_labels : whether a target without labels is refused. several : whether cells may contain several labels.
    new_target : whether a target may be absent from the table. It is then a column without labels.
    """
    _check_names(targets or [], options)
    notes: list[str] = []
    note = keeping(notes, on_event)
    if table is None:
        names = [*([] if new_target or options.labels else targets or []), options.id]
        names += [*(options.ignore or []), *(options.include or []), *(options.hint or [])]
        table = open_table(data, options, names, note)
    targets = targets or [TASKS.target(table)]
    if options.labels is not None:
        take_labels(table, targets, options, note)
    for target in targets:
        if target not in table.frame.columns:
            refuse_similar(target, table, data)
            table.attach(target, [None] * len(table))
    earlier = {target: earlier_answers(table, target) for target in targets}
    own = list(dict.fromkeys(name for target in targets for name in written_before(table, target)))
    own += [name for name in map(wrong_column, options.hint or []) if name in table.frame.columns]
    for target in targets:
        take_corrections(table, target, earlier[target], options.missing, note)
    how = {target: how_words(table, target) for target in targets}
    for path in options.more or []:
        take_answers(table, targets, path, options, how, note)
    kinds = _kinds(options.kind, targets)
    labels = {
        target: read_target_as(table.frame[target], kinds.get(target), options.missing, need_labels, several)
        for target in targets
    }
    if callable(writes):
        writes = [name for target in targets for name in writes(target, labels[target].numeric)]
    set_aside(table, own, writes, note)
    for one in labels.values():
        for sentence in one.notes:
            note(Note(sentence))
    old = [name for name in own if name in table.frame.columns and name not in options.asked]
    return LabeledTable(table, labels, earlier, how, old, notes)


def read(
    data: Data, targets: list[str] | None, options: ReadOptions, *, on_event: OnEvent = ignore, **more: Any
) -> list[Dataset]:
    """Return one `Dataset` per target. `more` are the other parameters of `read_labeled`.

    No target is a feature of another one, nor is what earlier runs wrote.
    """
    found = read_labeled(data, targets, options, on_event=on_event, **more)
    table, path, names = found.table, path_of(data), row_names(found.table, options.id)
    links = read_links_of(table, options, list(found.labels), keeping(found.notes, on_event)) if options.links else None
    datasets, encoded = [], {}  # targets with labels in the same rows use the same encoder
    for target, labels in found.labels.items():
        key = labels.given.tobytes()
        if key not in encoded:
            unused = [*found.labels, options.id, *(options.ignore or []), *(options.hint or []), *found.old]
            encoder, X = encode(table, unused, options, data, labeled=labels.given, target=target, on_event=on_event)
            encoded[key] = encoder, X, DistinctiveCells(table.frame, encoder, X)
        encoder, X, distinctive = encoded[key]
        notes = [*found.notes, *encoder.notes_]
        how = found.how[target]
        own = (labels, encoder, X, names, distinctive, notes, found.earlier[target], how)
        hints = hint_columns(table.frame, options.hint, options.missing) if options.hint else None
        if hints and (labels.numeric or labels.mark):
            what = "numbers to predict" if labels.numeric else "cells of several labels"
            raise UsageError(f"--hint is for classes, and {target!r} contains {what}. Omit --hint.")
        unlike = selected(table.frame, labels.given, sorted(encoder.used_)) if how is None else None
        draws = f"{command('suggest', data, target, options)} --audit 1"
        datasets.append(Dataset(path, table, target, *own, hints, options.missing, unlike, links, draws))
    return datasets


def read_links_of(table: Table, options: ReadOptions, targets: list[str], on_event: OnEvent) -> Rows:
    """Return the links between the rows. Its id column names them, or else the column with most ends of links."""
    first, second, *weight = read_ends(options.links)
    ends = {end_name(value) for value in (*first, *second)}
    column = options.id
    if column is None:
        others = [name for name in table.frame.columns if name not in targets]
        found = {name: len(ends & set(map(end_name, table.frame[name]))) for name in others}
        column = max(found, key=lambda name: found[name], default=None)
        if column is None or not found[column]:
            raise UsageError(
                f"No column of the table has a value at which a link of {options.links} ends, such as "
                f"{next(iter(sorted(ends)), '')!r}. Name the rows by the identifiers of the links with --id COLUMN."
            )
    links, outside = link_matrix(table.frame[column].tolist(), first, second, *weight)
    alone = int(np.sum(np.diff(links.indptr) == 0))
    sentence = f"{len(first) - outside} links between rows, which {column!r} names. {alone} rows have no link."
    on_event(Note(sentence + (f" {outside} links end outside the table and are omitted." if outside else "")))
    return links


def path_of(data: Data) -> Path:
    """Return the path of a table, or the words "standard input"."""
    return Path("standard input" if typed(data) == "-" else typed(data))


def keeping(notes: list[str], on_event: OnEvent) -> OnEvent:
    """Return a function that passes events on and appends the text of notes to a list."""

    def keep(event: Event) -> None:
        if isinstance(event, Note):
            notes.append(event.text)
        on_event(event)

    return keep


def _check_names(targets: list[str], options: ReadOptions) -> None:
    for name in options.hint or []:
        if name in [*targets, options.id, *(options.include or []), *options.asked]:
            raise UsageError(f"--hint {name} is also a target, a row name or a feature. Give each column one role.")
    if len(set(options.hint or [])) < len(options.hint or []):
        raise UsageError("--hint names a column twice. Give each column of guesses once.")
    if options.id in targets:
        raise UsageError(f"--id and --target are both {options.id!r}. Name the rows by another column.")
    if len(set(targets)) < len(targets):
        raise UsageError(f"--target {targets[-1]} is given twice. Give each column of labels once.")


def _kinds(kind: list[str] | None, targets: list[str]) -> dict[str, str]:
    """Return "number" or "class" by target, from --as KIND for all targets or --as COLUMN=KIND for one."""
    found: dict[str, str] = {}
    for word in kind or []:
        column, _, value = word.rpartition("=")
        if value not in ("number", "class") or (column and column not in targets):
            raise UsageError(f"--as {word} is not accepted. Give number or class, or COLUMN=number for one --target.")
        found |= dict.fromkeys([column] if column else targets, value)
    return found


def refuse_unfit(dataset: Dataset, coverage: float | None = None, save: bool = False) -> None:
    """Refuse a target without missing labels, and cells of several labels with options that need one label each."""
    target, several = dataset.target, dataset.labels.mark
    if dataset.labels.given.all():
        raise InputError(
            f"Every row has a label in {target!r}, so there is nothing to fill in. Empty the cells to "
            "predict, or name their placeholder with --missing. `mercer check` looks for wrong labels."
        )
    if coverage is not None and several:
        raise UsageError(f"--coverage lists one class or another, but cells of {target!r} contain several.")
    if save and several:
        raise UsageError(f"--save keeps one model per target, and {target!r} needs one for each label of its cells.")
