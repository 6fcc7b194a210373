"""Numbers to predict, in the form in which the candidates take labels."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import InputError
from ..evidence.groups import copied_labels
from ..inputs.labels import read_targets
from ..types import ColumnLike


@dataclass(frozen=True)
class Targets:
    """The numbers of n rows, NaN if a row has none.

    Attributes
    ----------
    values : (n,) the numbers. labeled : (l,) rows that have one.
    groups : (l,) numbers of one group (copies of a row) are held out together.
    center, scale : mean and standard deviation of the l numbers. A scale of 0 counts as 1.
    """

    values: np.ndarray
    groups: np.ndarray
    n_classes = 1  # columns of `signs`
    weight = None  # every number counts once

    @cached_property
    def labeled(self) -> np.ndarray:
        return np.flatnonzero(~np.isnan(self.values))

    @property
    def given(self) -> np.ndarray:
        """(l,) the numbers that are known."""
        given: np.ndarray = self.values[self.labeled]
        return given

    @cached_property
    def center(self) -> float:
        return float(self.given.mean())

    @cached_property
    def scale(self) -> float:
        spread = float(self.given.std())
        return spread if spread > 1e-12 * abs(self.center) else 1.0

    @cached_property
    def signs(self) -> np.ndarray:
        """(l, 1) the numbers with mean 0 and variance 1, to which the candidates are fitted."""
        return ((self.given - self.center) / self.scale)[:, None]

    def same_as(self, other: "Targets") -> bool:
        """Whether these are the same numbers of the same rows."""
        return np.array_equal(self.values, other.values, equal_nan=True)

    def among(self, rows: np.ndarray) -> "Targets":
        """The numbers of some rows, given by their row numbers, ascending. Every row with a number is among them."""
        return replace(self, values=self.values[rows])

    def grouped(self, same: np.ndarray) -> "Targets":
        """Return the numbers with copies of a row in one group. `same` (n,) are the groups of equal rows."""
        groups = copied_labels(same, self.labeled)
        enough = len(np.unique(groups)) > 2  # if two groups are held out at once, a third must be left
        return replace(self, groups=groups if enough else np.arange(len(groups)))


def read_numbers(y: ColumnLike, n_rows: int | None) -> Targets:
    """y as `Targets`, with numbers for at least two rows."""
    values = read_targets(y, n_rows)
    l = int(np.sum(~np.isnan(values)))
    if l < 2:
        raise InputError("y has a number for 1 row only. Give numbers for at least two rows, NaN where unlabeled.")
    return Targets(values, np.arange(l))
