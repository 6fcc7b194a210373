"""The solution of a few-label method for prepared rows and labels."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..rows import dot
from ..solvers.result import Result
from ..solvers.ridge.effect import LabelEffect
from ..types import Rows


@dataclass(frozen=True)
class Solution:
    """The scores Z coef + intercept, and what is known about them."""

    coef: np.ndarray  # (r, k') one column for two classes, positive for the second one, else one per class
    intercept: np.ndarray | float  # (k',) or 0
    result: Result  # a certificate and a sentence on how the prediction was found
    withheld: Callable[[], np.ndarray] = field(repr=False)  # behind `left_out`
    influence: Callable[[], LabelEffect] | None = field(
        default=None, repr=False
    )  # None if scores are not linear in labels

    @cached_property
    def left_out(self) -> np.ndarray:
        """(l, k') scores of every labeled row by the fit that does not know its label. NaN if there is none."""
        return self.withheld()

    @cached_property
    def effect(self) -> LabelEffect | None:
        """How one more label moves the scores of all rows, or None."""
        return None if self.influence is None else self.influence()

    def scores(self, Z: Rows) -> np.ndarray:
        """(n, k') scores of rows given by their features, on their own device."""
        return dot(Z, self.coef) + self.intercept
