"""Numbers to predict, in the form in which the candidates take labels."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..inputs.labels import read_targets


@dataclass(frozen=True)
class Targets:
    """The numbers of n rows, NaN where a row has none.

    Attributes
    ----------
    values : (n,) the numbers. labelled : (l,) rows that have one.
    center, scale : mean and standard deviation of the l numbers; a scale of 0 counts as 1.
    """

    values: np.ndarray

    @cached_property
    def labelled(self) -> np.ndarray:
        return np.flatnonzero(~np.isnan(self.values))

    @property
    def given(self) -> np.ndarray:
        """(l,) the numbers that are known."""
        return self.values[self.labelled]

    @property
    def center(self) -> float:
        return float(self.given.mean())

    @property
    def scale(self) -> float:
        spread = float(self.given.std())
        return spread if spread > 1e-12 * abs(self.center) else 1.0

    @cached_property
    def signs(self) -> np.ndarray:
        """(l, 1) the numbers with mean 0 and variance 1: what the candidates are fitted to."""
        return ((self.given - self.center) / self.scale)[:, None]


def read_numbers(y: Any, n_rows: int | None) -> Targets:
    """y as `Targets`, with numbers for at least two rows."""
    targets = Targets(read_targets(y, n_rows))
    if len(targets.labelled) < 2:
        raise InputError("y has a number for 1 row only. Give numbers for at least two rows, NaN where unlabelled.")
    return targets
