"""All columns of a table as one matrix, and the same for tables that come later."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...errors import InputError
from .columns import Category, Date, Number, Text, cells, fit_text, look, numbers, usable
from .notes import cells_of, sentences

TEXT_DIRECTIONS = 50


class TableFeatures(TransformerMixin, BaseEstimator):
    """Learn how to read each column, then turn tables into matrices.

    Tables of numbers are left as they are, so that a method may choose the scaling; when categories, dates or text
    stand beside them, numbers are standardised. A table of nothing but text becomes a sparse TF-IDF matrix.

    Parameters
    ----------
    exclude : column names that are no features (the target, identifiers).
    include : column names to use although they look like identifiers.

    Attributes
    ----------
    encoders_ : one encoder per column used.
    notes_ : sentences on what was left out or filled in, and why.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": ["1,5", "2,5", "0,5"], "colour": ["red", "blue", "red"]})
    >>> TableFeatures().fit_transform(frame).round(2).tolist()
    [[0.0, 1.0], [1.22, 0.0], [-1.22, 1.0]]
    """

    def __init__(self, exclude=(), include=()):
        self.exclude = exclude
        self.include = include

    def fit(self, frame, y=None):
        """Look at every column."""
        self.encoders_, said = [], []
        for name in frame.columns:
            if name in self.exclude:
                continue
            encoder, notes = look(frame[name])
            if encoder is None and name in self.include:
                encoder, notes = _as_wanted(frame[name]), []
            said += notes
            if encoder is not None:
                self.encoders_.append(encoder)
        texts = [e for e in self.encoders_ if isinstance(e, Text)]
        short = None if len(texts) == len(self.encoders_) == 1 else TEXT_DIRECTIONS
        for text in texts:
            if fit_text(text, frame[text.name], short) is None:
                self.encoders_.remove(text)
                said.append(f"Column {text.name!r} has no words to use and is left out.")
        self.notes_ = sentences(said)
        if not self.encoders_:
            why = (" " + " ".join(self.notes_)) if self.notes_ else ""
            raise InputError(
                f"No column is left to learn from.{why} Give at least one column of numbers, categories or text "
                "besides the labels."
            )
        self.standardise_ = not all(isinstance(e, Number) for e in self.encoders_)
        return self

    def transform(self, frame):
        """(n, d) float64 matrix, sparse for a table of text alone."""
        check_is_fitted(self)
        absent = [e.name for e in self.encoders_ if e.name not in frame.columns]
        if absent:
            raise InputError(
                f"The table has no column {', '.join(map(repr, absent[:5]))}{' …' if len(absent) > 5 else ''}, which "
                f"the model was trained with. Columns here: {', '.join(map(repr, list(frame.columns)[:8]))}."
            )
        blocks = [e.encode(frame[e.name], self.standardise_) for e in self.encoders_]
        return blocks[0] if len(blocks) == 1 and sp.issparse(blocks[0]) else np.hstack(blocks)

    def unread(self, frame):
        """Sentences on the cells of another table that the encoders can make nothing of."""
        found = [(encoder.name, encoder.unread(frame[encoder.name])) for encoder in self.encoders_]
        return sentences(
            ("unread", name, f"{cells_of(int(mask.sum()))} such as {cells(frame[name])[mask.argmax()]!r}")
            for name, mask in found
            if mask.any()
        )

    @property
    def sentence_(self):
        """What the matrix is made of, in words."""
        kinds = {"number": Number, "category": Category, "date": Date, "text column": Text}
        found = {word: sum(isinstance(e, kind) for e in self.encoders_) for word, kind in kinds.items()}
        plural = {"number": "numbers", "category": "categories", "date": "dates", "text column": "text columns"}
        parts = [f"{n} {word if n == 1 else plural[word]}" for word, n in found.items() if n]
        return ", ".join(parts)


def _as_wanted(column):
    """An encoder for a column that the user wants although it looks like an identifier."""
    values = numbers(column)
    if usable(values).all() and np.ptp(values) > 0:
        return Number(column.name, float(np.median(values)), float(np.mean(values)), float(np.std(values)))
    words = cells(column)
    return Category(column.name, sorted(set(words.tolist()) - {""}))
