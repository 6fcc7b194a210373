"""Candidates whose scores are linear in the features of a space."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import InputError
from ...estimators.classifier import KernelClassifier
from ...estimators.solution import Solution
from ...rows import host
from ...solvers.ridge.effect import LabelEffect
from ...solvers.ridge.pairs import residual_maker
from ...solvers.ridge.state import State
from ...types import Index, Rows
from ..spaces import Space
from ..targets import Targets
from .base import Candidate, Fitted

if TYPE_CHECKING:
    from ..extension import Extension


@dataclass(frozen=True, eq=False)
class LinearCandidate(Candidate):
    """A kernel method in a feature space.

    Attributes
    ----------
    space, model : the space, and the method as an estimator that knows `prepare` and `solve`.
    extension : how rows outside the core of a large table join the space. None if the space has all rows.
    """

    space: Space
    model: KernelClassifier
    extension: "Extension | None" = field(default=None, kw_only=True)

    @cached_property
    def state(self) -> Any:
        """The prepared rows. They are those of the space, or the method's own if it has its own `prepare`."""
        shared = type(self.model).prepare is KernelClassifier.prepare
        return self.space.state if shared else self.model.prepare(self.space.Z)

    @property
    def Z(self) -> np.ndarray:
        """(n, r) features of the training rows, on the host."""
        if self.extension is not None:
            raise InputError(
                "The features of all rows are not in memory at once. Use `features` for those of some rows."
            )
        return host(self.space.Z)

    @property
    def closed_form(self) -> bool:
        return self.model.closed_form

    def spaces(self) -> list[Space]:
        return [self.space]

    def features(self, rows: Index) -> np.ndarray:
        if self.extension is not None:
            return self.extension.features(self.space, rows)
        return host(self.space.Z[rows])

    def counting(self, labels: Any) -> tuple[Any, Any]:
        """(state, labels) that count labels by their weights. What the state knows of all rows does not change.

        With an extension the labeled rows are all rows, and the moments are those of the core.
        """
        if self.extension is not None:
            if not isinstance(self.state, State):
                raise InputError(
                    f"{self.method} needs all rows in its core. Prepare without core, or without this method."
                )
            state, rows = copy.copy(self.state), labels.labeled
            state.moments, state.Z = self.state.moments, self.features(rows)
            own = labels.among(rows)
            return state.counting(own), own
        if labels.weight is None:
            return self.state, labels
        if isinstance(self.state, State):
            return self.state.counting(labels), labels
        return self.model.prepare(self.space.Z, labels.row_weight), labels

    def withheld(self, labels: Any) -> Any:
        return self.model.withheld(*self.counting(labels))

    def solve(self, labels: Any) -> "LinearFitted":
        start = time.perf_counter()
        solution = self.model.solve(*self.counting(labels))
        left_out = solution.left_out  # computed on first use, so that the seconds count it
        return LinearFitted(self, left_out, self.seconds + time.perf_counter() - start, solution)

    def extended(self, extension: "Extension", X: Rows) -> "LinearCandidate":
        return replace(self, extension=extension)


@dataclass(frozen=True, eq=False)
class LinearFitted(Fitted):
    """A linear candidate with its weights."""

    solution: Solution
    direct: ClassVar[bool] = False

    @property
    def space(self) -> Space:
        space: Space = self.candidate.space
        return space

    @property
    def influence(self) -> Callable[[], LabelEffect] | None:
        return None if self.space.empty else self.solution.influence

    def scores(self, rows: Index | None = None) -> np.ndarray:
        extension, Z = self.candidate.extension, self.space.Z
        if extension is not None:
            rows = slice(None) if rows is None else rows
            return self.solution.scores(Z if rows is extension.core else self.candidate.features(rows))
        return self.solution.scores(Z if rows is None else Z[rows])

    def pairs(self, targets: Targets) -> tuple[np.ndarray, np.ndarray] | None:
        state, own = self.candidate.counting(targets)
        return residual_maker(state.take(own.labeled), own.signs[:, 0], 1.0 / self.candidate.model.gamma)
