"""Vectors that stand for rows: files beside a table, and what a model of the user's makes of text or images."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from .cells import GAPS, are_gaps, cells, usable
from .formats.base import Table
from .images import opened
from .kinds import Kind
from .models import image_model, text_model

VECTORS = (".npy",)
AT_ONCE = 64  # images


def attach_vectors(table: Table, path: str | Path, name: str) -> None:
    """Add the rows of an NPY file as a column of lists, which is learnt from and not written."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"There is no file {path}. Check the name and the folder, or give a column to --embed.")
    try:
        rows = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path.name} is not a readable NPY file ({error}). Write it with numpy.save.") from None
    if rows.ndim != 2 or rows.dtype.kind not in "iufb" or not usable(rows).all():
        raise InputError(f"{path.name} is no matrix of finite numbers. Give one row of numbers for each row.")
    if len(rows) != len(table):
        raise InputError(f"{path.name} has {len(rows)} rows and the table {len(table)}. Give one for each, in order.")
    if name in table.frame.columns:
        raise InputError(f"The table has a column {name!r} already, as {path.name} is called. Rename the column.")
    table.attach(name, list(rows.astype(np.float64)))


@dataclass
class Embedded(Kind):
    """What a model makes of the cells, as directions; rows of zeros where there is no text, or no image.

    `model` is a function of a list of texts (or of a batch of images), or a name: see `models.py`.
    """

    model: Any
    source: str = "text"  # or "image"
    width: int = 0

    def block(self, column):
        words, images = cells(column), self.source == "image"
        call = image_model(self.model) if images else text_model(self.model)
        found, there = [], np.zeros(len(words), dtype=bool)
        for begin in range(0, len(words), AT_ONCE if images else len(words)):
            part = words[begin : begin + AT_ONCE] if images else words
            things = [opened(column, word) if images else None if word in GAPS else word for word in part]
            known = [thing for thing in things if thing is not None]
            there[begin : begin + len(part)] = [thing is not None for thing in things]
            if known:
                found.append(as_rows(call(known), len(known), self.model))
        self.width = self.width or (found[0].shape[1] if found else 0)
        rows = np.zeros((len(words), self.width))
        if found:
            answers = np.concatenate(found)
            rows[there] = answers / np.maximum(np.linalg.norm(answers, axis=1, keepdims=True), 1e-12)
        return rows

    def unread(self, frame):
        column = frame[self.name]
        if self.source == "text":
            return are_gaps(cells(column))
        return np.array([opened(column, cell) is None for cell in cells(column)])


def as_rows(found: Any, n: int, model: Any) -> np.ndarray:
    """The answer of a model as (n, d) numbers."""
    rows = np.asarray(found.detach().cpu() if hasattr(found, "detach") else found, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != n or not usable(rows).all():
        raise InputError(
            f"The model {model!r} made an array of shape {rows.shape} of {n} cells. It must give one row of finite "
            "numbers for each."
        )
    return rows
