"""Encode every column of a data frame as numbers, and the tables that come later in the same way."""

import difflib
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...backend import need
from ...documentation import Documented
from ...errors import InputError
from ...types import ColumnLike, Frame, Rows
from ..frames import as_pandas, is_arrow, is_frame
from .cells import cells, numbers, read_once
from .kinds import Number, Ordered, total
from .leaks import leaks
from .look import KINDS, Column, Found, embeddings, look, stems
from .notes import cells_of, sentences
from .renamed import renamed
from .vectors import modeled, relocated


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, Documented, BaseEstimator):
    """Encode a table of mixed columns as a numeric matrix suitable for distance-based methods.

    Every column has equal weight. The expected squared difference between two rows is 2 in each, for all kinds.
    Numbers in one unit, such as the pixels of an image, are left as they are, so that a method may choose the scaling.

    Parameters
    ----------
    text, category, number, image : list of str
        Names of columns to read as this kind, with any contents. Images are paths of PNG, JPEG or WebP files,
        relative to `frame.attrs["folder"]` or the current folder.
    embed : list of str
        Names of columns of lists that are one embedding, or "x" for the columns x0, x1, … together.
    ignore : list of str
        Names of columns that are not features, such as the target or an identifier.
    include : list of str
        Names of columns to use although they distinguish labeled rows from the others.
    scale : "auto" or bool
        True gives columns equal weight even if their numbers are in one unit. False leaves every table of numbers
        unchanged. "auto" leaves those in one unit unchanged.
    text_model : str or callable, default="auto"
        Sentence model whose vectors are used next to TF-IDF for columns of text. "auto" is the model that
        the extra `text` or `text-small` installs, if there is one. It is not used if more than a quarter of the tokens
        mean nothing to it (another script). "none" uses TF-IDF alone. Other values are "all-MiniLM-L6-v2",
        "wordllama", the folder of a sentence-transformers or model2vec model, an ONNX file, or a function from a list
        of texts to vectors. An encoder with a function cannot be saved. Nothing is downloaded.
    image_model : str or torch module, default="auto"
        Network whose vectors are used next to gradients and colors for columns of images. "auto" is EfficientNet-Lite0
        if the extra `images` is installed. "none" uses no network. Other values are an ONNX or TorchScript file, the
        name of a timm model that is on this machine, or a module that maps (n, 3, side, side) pixels to vectors. `side`
        is its attribute, or 224.

    Attributes
    ----------
    columns_ : list of Column
        One for each column, or block of columns, with its `kind`, `use`, `why`, `missing` and `say` (its weight).
    names_ : list of str
        Names of the columns of the table.
    ignored_ : dict
        The reason for each column that is left out, by name.
    encoders_ : list
        The encoders of the columns that are used.
    slices_ : dict
        The slice of the matrix of each column that is used, by name.
    notes_ : list of str
        Sentences on what was left out or filled in.
    leaks_ : list of str
        Those on columns that distinguish labeled rows.
    models_ : list of str
        Sentences on the columns that a model of texts or images reads, or cannot read.
    plain_ : bool
        Whether the table is a matrix of numbers already, and used unchanged.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import TableEncoder
    >>> frame = pd.DataFrame({"size": ["1,5", "2,5", "0,5"], "color": ["red", "blue", "red"]})
    >>> encoder = TableEncoder()
    >>> encoder.fit_transform(frame).round(2).tolist()
    [[0.0, 0.0, 1.5], [1.22, 1.5, 0.0], [-1.22, 0.0, 1.5]]
    >>> [(column.name, column.kind, round(column.say, 2)) for column in encoder.columns_]
    [('size', 'number', 0.5), ('color', 'category', 0.5)]
    """

    text: Any = ()
    category: Any = ()
    number: Any = ()
    ignore: Any = ()
    include: Any = ()
    scale: Any = "auto"
    image: Any = ()
    embed: Any = ()
    text_model: Any = "auto"
    image_model: Any = "auto"

    def fit(self, frame: Frame, y: ColumnLike = None, labeled: np.ndarray | None = None) -> Self:
        """Choose how to encode every column.

        Parameters
        ----------
        frame : DataFrame
            A pandas, Polars or PyArrow table.
        y : None
            Ignored.
        labeled : array of shape (n,) or None
            Which rows have a label, so that columns that reveal the label are found.
        """
        self._learn(frame, labeled)
        return self

    def fit_transform(self, frame: Frame, y: ColumnLike = None, labeled: np.ndarray | None = None) -> Rows:
        """Fit to a table and return its encoded rows, (n, d) float64.

        Parameters
        ----------
        frame : DataFrame
            A pandas, Polars or PyArrow table.
        y : None
            Ignored.
        labeled : array of shape (n,) or None
            Which rows have a label, so that columns that reveal the label are found.
        """
        return self._learn(frame, labeled)

    def transform(self, frame: Frame) -> Rows:
        """Encode another table with the same columns, in any order, as (n, d) float64.

        A column that the table does not have counts as missing in every row, with a warning. The table is refused if it
        has less than half of the columns that are used.

        Parameters
        ----------
        frame : DataFrame
            A pandas, Polars or PyArrow table.
        """
        check_is_fitted(self)
        missing, frame = self.missing(frame), self._named(frame)
        if missing:
            warnings.warn(missing[0], UserWarning, stacklevel=2)
        return np.hstack([encoder.encode(frame) for encoder in self.encoders_])

    def absent(self, frame: Frame) -> list[str]:
        """Columns that are used and that another table does not have. Empty for an array, which is read by position."""
        columns = frame.column_names if is_arrow(frame) else frame.columns if is_frame(frame) else self.names_
        gone = self.used_ - set(map(str, columns))
        return [name for name in self.names_ if name in gone]

    def renamed(self, frame: Frame) -> dict[str, str]:
        """A dict from absent columns to columns of this table, unknown to the encoder, that are probably meant."""
        absent = self.absent(frame)
        if not absent:
            return {}
        known = set(self.names_)
        return renamed(absent, [name for name in as_pandas(frame).columns if name not in known])

    def missing(self, frame: Frame) -> list[str]:
        """Sentences on the columns that are used and that another table does not have, with those it may mean."""
        absent, meant = self.absent(frame), self.renamed(frame)
        return sentences(("absent", name, f"did you mean {meant[name]!r}?" if name in meant else "") for name in absent)

    def unread(self, frame: Frame) -> list[str]:
        """Sentences on the cells of another table that the encoders cannot read, without those of absent columns."""
        absent, frame = self.absent(frame), self._named(frame)
        notes = []
        for encoder in self.encoders_:
            name, mask = encoder.name, encoder.unread(frame)
            if mask.any() and name not in absent:
                shown = cells(frame[name])[mask.argmax()] if name in frame.columns else ""
                notes.append(("unread", name, cells_of(int(mask.sum())) + (f" such as {shown!r}" if shown else "")))
        return sentences(notes)

    def outside(self, frame: Frame) -> list[str]:
        """Sentences on columns of numbers of which at least half are outside the range they were trained with."""
        frame = self._named(frame)
        found = [(encoder, encoder.outside(frame)) for encoder in self.encoders_]
        return sentences(
            ("outside", encoder.name, f"{mask.mean():.0%} of the rows are not within {encoder.range}")
            for encoder, mask in found
            if len(mask) and mask.mean() >= 0.5
        )

    def relocate(self, text_model=None, image_model=None):
        """Set other paths of the models of texts and images, which must be the same models as in fit."""
        check_is_fitted(self)
        for encoder in self.encoders_:
            relocated(encoder, {"text": text_model, "image": image_model})
        return self

    @property
    def used_(self) -> set:
        """Names of the columns of the table that are used."""
        return {name for encoder in self.encoders_ for name in getattr(encoder, "columns", [encoder.name])}

    @property
    def ignored_(self) -> dict:
        """The reason for each column that is left out, by name."""
        return {column.name: column.why for column in self.columns_ if column.use == "left out"}

    @property
    def sentence_(self) -> str:
        """A sentence on the contents of the matrix."""
        used = [column.kind for column in self.columns_ if column.use != "left out"]
        plural = {"category": "categories", "text": "text columns", "ordered": "ordered columns"}
        counts = [(kind, used.count(kind)) for kind in KINDS if kind in used]
        return ", ".join(f"{n} {kind if n == 1 else plural.get(kind, kind + 's')}" for kind, n in counts)

    def _learn(self, frame: Frame, labeled: np.ndarray | None = None) -> np.ndarray:
        with read_once(as_pandas(frame)) as columns:
            return self._learn_columns(columns, labeled)

    def _learn_columns(self, frame: Frame, labeled: np.ndarray | None) -> np.ndarray:
        self.names_ = list(frame.columns)
        found = self._look(frame)
        if labeled is not None:
            self._leave_out_leaks(frame, found, labeled)
        used = [one for one in found if one.encoder is not None]
        raw = self._raw(frame, used)
        for one in used if raw else ():
            old: Any = _as_number(one.encoder)
            one.encoder = old.unscaled(frame[old.name])
            one.column.kind, one.column.use = "number", "as it is"
        blocks, weights, seen = [], [], dict[int, str]()
        for one in used:
            block = one.encoder.encode(frame)
            amount = total(block)
            mark = hash((np.round((block - block.mean(axis=0)) / np.sqrt(amount or 1.0), 9) + 0.0).tobytes())
            if mark in seen:
                why = f"the same as {seen[mark]!r}"
                one.column.kind, one.column.use, one.column.why, one.encoder = "duplicate", "left out", why, None
                one.notes = [("duplicate", one.column.name, why)]
                continue
            seen[mark] = one.column.name
            if not raw:
                one.encoder.scale = one.encoder.weight / np.sqrt(max(amount, one.encoder.floor))
                block = block * one.encoder.scale
            blocks.append(block)
            weights.append(total(block))
            one.column.say = weights[-1]
        self.encoders_ = [one.encoder for one in found if one.encoder is not None]
        self.columns_ = [one.column for one in found]
        ends = np.cumsum([0, *(block.shape[1] for block in blocks)]).tolist()
        self.slices_ = {one.name: slice(*ends[i : i + 2]) for i, one in enumerate(self.encoders_)}
        self.notes_ = sentences(note for one in found for note in one.notes)
        kinds = ("text model", "image model", "strange", "many texts", "many images")
        self.models_ = sentences(note for one in found for note in one.notes if note[0] in kinds)
        self.leaks_ = sentences(note for one in found for note in one.notes if note[0] == "leak")
        if not self.encoders_:
            why = f" {self.notes_[0]}" if self.notes_ else ""
            raise InputError(
                f"No column is left to learn from.{why} Give at least one column of numbers, categories or text "
                "in addition to the labels."
            )
        whole = sum(weights) or 1.0
        for one in used:
            one.column.say /= whole
        numeric = all(dtype.kind in "iuf" for dtype in frame.dtypes)
        self.plain_ = raw and numeric and len(self.encoders_) == len(self.names_)
        return np.hstack(blocks)

    def _look(self, frame: Frame) -> list[Found]:
        """The decision on every column, in the order of the table. An embedding is in the place of its first column."""
        wanted: dict = {}
        numbered = stems(frame.columns)
        for kind in ("text", "category", "number", "image", "embed", "ignore", "include"):
            for name in map(str, getattr(self, kind) or ()):
                if kind == "embed" and name in numbered and name not in frame.columns:
                    continue
                if name not in frame.columns:
                    close = difflib.get_close_matches(name, self.names_, n=1)
                    hint = f"Did you mean {close[0]!r}?" if close else f"Columns here: {_listed(self.names_)}."
                    raise InputError(f"{kind}: the table has no column {name!r}. {hint}")
                if kind != "include" and wanted.setdefault(name, kind) != kind:
                    raise InputError(f"Column {name!r} is given as {wanted[name]} and as {kind}. Give it one kind.")
        free = [name for name in frame.columns if name not in wanted]
        blocks = {one.encoder.columns[0]: one for one in embeddings(frame, self.embed or (), free)}
        inside = {name for one in blocks.values() for name in one.encoder.columns}
        found, models = [], {"text": self.text_model, "image": self.image_model}
        for name in frame.columns:
            if name in blocks:
                found.append(blocks[name])
            elif wanted.get(name) == "ignore":
                found.append(Found(Column(name, "ignored", "left out", "as requested")))
            elif name not in inside:
                found.append(modeled(look(frame[name], wanted.get(name)), frame[name], models))
        return found

    def _leave_out_leaks(self, frame: Frame, found: list, labeled: np.ndarray) -> None:
        single = {one.column.name: one for one in found if one.encoder is not None and one.column.name in frame.columns}
        for leak in leaks(frame, labeled, [name for name in single if name not in map(str, self.include or ())]):
            one = single[leak.column]
            one.column.kind, one.column.use, one.column.why, one.encoder = "leak", "left out", leak.why, None
            one.notes = [("leak", leak.column, leak.why)]

    def _raw(self, frame: Frame, used: list) -> bool:
        """Whether the columns are used unchanged. These are numbers only, in one unit unless `scale` is False."""
        as_numbers = [_as_number(one.encoder) for one in used]
        if None in as_numbers or self.scale is True or not used:
            return False
        # In a wide table, whole numbers of one range are measurements of one kind rather than codes.
        codes = len(used) < 16 and any(isinstance(one.encoder, Ordered) for one in used)
        return self.scale is False or (not codes and _one_unit(frame, as_numbers))

    def _named(self, frame: Frame) -> Frame:
        """The table with the column names of the fit. An array is read by position."""
        if not is_frame(frame) and np.ndim(frame) == 2 and np.shape(frame)[1] == len(self.names_):
            frame = need("pandas").DataFrame(np.asarray(frame), columns=self.names_)
        if not is_frame(frame):
            raise InputError(
                f"A table with the columns {_listed(self.names_)} is needed, not {type(frame).__name__}. Pass a data "
                "frame, or read a file with mercer.inputs.tables.read_table(path).frame."
            )
        frame = as_pandas(frame)
        absent = self.absent(frame)
        if 2 * len(absent) > len(self.used_):
            most = "" if len(self.used_) == 1 else f" (it has {len(self.used_) - len(absent)} of {len(self.used_)})"
            meant = self.renamed(frame)
            pairs = ", ".join(f"{new!r} for {old!r}" for old, new in list(meant.items())[:5])
            hint = f"Did you mean {pairs}? Rename them. " if meant else ""
            raise InputError(
                f"The table has no column {_listed(absent, 5)}, which the model was trained with{most}. {hint}"
                f"Columns here: {_listed(list(frame.columns))}."
            )
        return frame.assign(**dict.fromkeys(absent)) if absent else frame


def _as_number(encoder) -> Number | None:
    """The encoder of a column of numbers, also of whole numbers with few values. None for other columns."""
    if isinstance(encoder, Ordered):
        return None if encoder.positions else encoder.number
    return encoder if isinstance(encoder, Number) else None


def _one_unit(frame: Frame, encoders: list) -> bool:
    """Whether numbers without gaps have nearly the same range, or most columns fill half of the range of them all."""
    if any(encoder.flag for encoder in encoders):
        return False
    columns = [numbers(frame[encoder.name], encoder.decimal, encoder.unit) for encoder in encoders]
    low, high = min(column.min() for column in columns), max(column.max() for column in columns)
    ranges = [np.ptp(column) for column in columns]
    return bool(max(ranges) <= 3 * min(ranges) or np.median(ranges) >= 0.5 * (high - low))


def _listed(names: list, most: int = 8) -> str:
    return ", ".join(map(repr, names[:most])) + (" …" if len(names) > most else "")
