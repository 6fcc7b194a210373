"""The one object every solver returns."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from ..errors import NotConverged


@dataclass
class Result:
    """The solution of a solver, and the evidence for it."""

    value: Any  # the solution, in the form the solver's docstring states
    objective: float | None = None  # its objective value, if there is one
    gap: float = float("nan")  # the certificate (a residual, a duality gap or a KKT violation, as the solver states)
    n_iter: int = 1  # iterations (at least 1 for an iterative solver)
    converged: bool = True  # whether the certificate fell below the tolerance
    reason: str = ""  # a sentence with the reason why the solver stopped and, if it failed, what to do
    history: list = field(default_factory=list)  # the objective or the certificate at each iteration
    info: dict = field(default_factory=dict)  # further results of the solver

    def warn(self) -> Self:
        """Warn with the reason if the solver did not converge. Returns self."""
        if not self.converged:
            warnings.warn(self.reason, NotConverged, stacklevel=3)
        return self


def together(results: Sequence[Result], value: Any, /, **info: Any) -> Result:
    """One Result for separate problems, with the worst certificate and the reason of one that failed, if any."""
    worst = max(results, key=lambda result: result.gap)
    failed = next((result for result in results if not result.converged), worst)
    total, n_iter = sum(result.objective or 0.0 for result in results), max(result.n_iter for result in results)
    return Result(value, total, worst.gap, n_iter, failed.converged, failed.reason, info=info)
