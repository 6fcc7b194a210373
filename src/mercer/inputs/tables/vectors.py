"""Vectors that represent rows, from files next to a table or from a model of texts or images."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError
from ...events import reporting
from ...types import ColumnLike, Estimator, Frame
from ..models.images import image_model
from ..models.stored import hashes, with_store
from ..models.texts import text_model
from .cells import GAPS, are_gaps, cells, usable
from .formats.base import Table
from .images import may_open, opened, path_of
from .kinds import Kind, total
from .look import Found

VECTORS = (".npy",)


class ModelLimits(NamedTuple):
    """The limits of what "auto" lets a model read.

    The fraction of tokens that mean nothing to all-MiniLM-L6-v2 is below 0.1 in descriptions of packages in ten
    languages of Latin letters, and 0.8 in Russian, Japanese and Chinese ones.
    """

    slow: int = 20_000  # different texts or images for a slow model, which reads them in about 5 minutes on one core
    strange: float = 0.25  # fraction of tokens that mean nothing to the model
    counted: int = 200  # texts whose tokens are counted


LIMITS = ModelLimits()


def attach_vectors(table: Table, path: str | Path, name: str) -> None:
    """Add the rows of an NPY file as a column of lists, which is used for training and not written."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"There is no file {path}. Check the name and the folder, or give a column to --embed.")
    try:
        rows = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path.name} is not a readable NPY file ({error}). Write it with numpy.save.") from None
    if rows.ndim != 2 or rows.dtype.kind not in "iufb" or not usable(rows).all():
        raise InputError(f"{path.name} is not a matrix of finite numbers. Give one row of numbers for each row.")
    if len(rows) != len(table):
        raise InputError(f"{path.name} has {len(rows)} rows and the table {len(table)}. Give one for each, in order.")
    if name in table.frame.columns:
        raise InputError(f"The table has a column {name!r} already, as {path.name} is called. Rename the column.")
    table.attach(name, list(rows.astype(np.float64)))


@dataclass
class Embedded(Kind):
    """Vectors of the cells by a model, of length 1. Rows of zeros for cells without text or image.

    Attributes
    ----------
    model : name, folder, file or function, see `mercer.inputs.models`.
    source : "text" or "image".
    mark : fingerprint of the model in fit. "" for a function.
    width : length of a vector.
    """

    model: Estimator
    source: str = "text"
    mark: str = ""
    width: int = 0

    def block(self, column):
        model, words = self.found(), cells(column)
        readable = [_content(column, word, self.source) for word in words]
        there = np.array([content is not None for content in readable], dtype=bool)
        places = np.flatnonzero(there)
        folder = column.attrs.get("cache") if self.mark else None
        what = f"reading {len(places)} {self.source}s with {model.name}"

        def compute(some, done, total):
            inputs = [words[place] for place in places[some]]
            if self.source == "image":
                return _of_images(model, column, inputs, reporting(what, done, total))
            return as_rows(model.encode(inputs, reporting(what, done, total)), len(inputs), model.name)

        keys = hashes([content for content in readable if content is not None])
        made = with_store(keys, self.mark, None if folder is None else Path(folder), compute) if len(places) else None
        self.width = self.width or (0 if made is None else made.shape[1])
        rows = np.zeros((len(words), self.width))
        if made is not None:
            rows[places] = made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-12)
        return rows

    def unread(self, frame: Frame):
        column = frame[self.name]
        if self.source == "text":
            return are_gaps(cells(column))
        return np.array([opened(column, cell) is None for cell in cells(column)])

    def found(self):
        """The model, which must be the same as in fit."""
        what = f"The {self.source} model {self.model!r}, with which this model was trained,"
        try:
            model: Estimator = text_model(self.model) if self.source == "text" else image_model(self.model)
        except InputError as error:
            raise InputError(f"{what} cannot be used here. {error}") from None
        if model is None or self.mark not in ("", model.mark):
            now = "is not the same here" if model is not None else "is missing"
            raise InputError(
                f"{what} {now}: its fingerprint is {self.mark}, not {getattr(model, 'mark', 'none')}. Install the "
                f"version it was trained with, give its path with --{self.source}-model, or train again."
            )
        return model


@dataclass
class Both(Kind):
    """Several encodings of one column, with equal weights."""

    parts: list
    weights: list = field(default_factory=list)  # learned from the first rows that are read

    def block(self, column):
        blocks = [part.block(column) for part in self.parts]
        if not self.weights:
            self.weights = [
                float(1 / np.sqrt(max(total(block), part.floor))) for part, block in zip(self.parts, blocks)
            ]
        return np.hstack([weight * block for weight, block in zip(self.weights, blocks)])

    def unread(self, frame):
        return np.all([part.unread(frame) for part in self.parts], axis=0)


def modeled(found: Found, column: ColumnLike, wanted: dict[str, Any]) -> Found:
    """A column of text or images with the vectors of a model next to its own features, if there is a model.

    wanted : {"text": `text_model`, "image": `image_model`}
    """
    source = found.column.kind
    if found.encoder is None or source not in wanted:
        return found
    model: Estimator = text_model(wanted[source]) if source == "text" else image_model(wanted[source])
    if model is None:
        return found
    words = [word for word in cells(column) if word not in GAPS]
    if wanted[source] == "auto" and model.slow and len(words) > LIMITS.slow and len(set(words)) > LIMITS.slow:
        found.notes = [(f"many {source}s", found.column.name, f"{len(set(words)):,}"), *found.notes]
        return found
    if wanted[source] == "auto" and source == "text":
        some = words[:: max(len(words) // LIMITS.counted, 1)][: LIMITS.counted]
        strange = model.unknown(some)
        if strange > LIMITS.strange:
            remark = f"{strange:.0%} of the tokens mean nothing to {model.name}"
            found.notes = [("strange", found.column.name, remark), *found.notes]
            return found
    named = wanted[source] if wanted[source] != "auto" else model.name
    vectors = Embedded(found.column.name, str(named) if isinstance(named, Path) else named, source, model.mark)
    found.encoder = Both(found.column.name, [found.encoder, vectors])
    found.column.use = f"{found.column.use}, vectors of {model.name}"
    found.notes = [note for note in found.notes if note[0] != source]
    found.notes.append((f"{source} model", found.column.name, model.name))
    return found


def relocated(encoder: Kind, places: dict[str, Any]) -> None:
    """Set another path of the model of a column. Raises an error if it is another model."""
    for part in encoder.parts if isinstance(encoder, Both) else []:
        if isinstance(part, Embedded) and places.get(part.source) is not None:
            part.model = places[part.source]
            part.found()


def _content(column: ColumnLike, word: str, source: str) -> bytes | None:
    """The content of the text or image of a cell. None for a gap or a file that is not there."""
    if word in GAPS:
        return None
    if source == "text":
        return word.encode("utf-8", "surrogatepass")
    path = path_of(column, word)
    try:
        return path.read_bytes() if may_open(column, path) else None
    except OSError:
        return None


def _of_images(model: Estimator, column: ColumnLike, names: list, on_part: Any) -> np.ndarray:
    """(n, width) vectors of images. Zeros for a file that is not an image."""
    made: np.ndarray | None = None
    at_once = 64  # images that are open
    for begin in range(0, len(names), at_once):
        things = [opened(column, name) for name in names[begin : begin + at_once]]
        there = [i for i, thing in enumerate(things, start=begin) if thing is not None]
        if there:
            rows = as_rows(model.encode([thing for thing in things if thing is not None]), len(there), model.name)
            made = np.zeros((len(names), rows.shape[1])) if made is None else made
            made[there] = rows
        on_part(begin + len(things))
    return np.zeros((len(names), 0)) if made is None else made


def as_rows(found: Any, n: int, model: str) -> np.ndarray:
    """The output of a model as (n, d) numbers."""
    rows = np.asarray(found.detach().cpu() if hasattr(found, "detach") else found, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != n or not usable(rows).all():
        raise InputError(
            f"The model {model!r} returned an array of shape {rows.shape} for {n} cells. It must return one row of "
            "finite numbers for each."
        )
    return rows
