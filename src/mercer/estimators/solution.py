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
    """The scores Z coef + intercept, with a certificate, held-out scores and the effect of one more label."""

    coef: np.ndarray  # (r, k') one column for two classes, positive for the second one, else one per class
    intercept: np.ndarray | float  # (k',) or 0
    result: Result  # a certificate and a sentence on the solver
    withheld: Callable[[], np.ndarray] = field(repr=False)  # computes `left_out`
    # Computes `effect`. None if scores are not linear in labels.
    influence: Callable[[], LabelEffect] | None = field(default=None, repr=False)

    @cached_property
    def left_out(self) -> np.ndarray:
        """(l, k') held-out scores of the labeled rows. NaN if there are none."""
        return self.withheld()

    @cached_property
    def effect(self) -> LabelEffect | None:
        """How one more label moves the scores of all rows, or None."""
        return None if self.influence is None else self.influence()

    def scores(self, Z: Rows) -> np.ndarray:
        """(n, k') scores of rows with these features."""
        return dot(Z, self.coef) + self.intercept
