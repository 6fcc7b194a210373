"""Tasks of a few-label model. Classes and numbers differ only here."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...types import Facts
from ..candidates.base import Fitted
from ..hints import Guesses

if TYPE_CHECKING:
    from ..fit import Fit
    from ..library import Library


class Task:
    """Classes or numbers.

    Attributes
    ----------
    name : of the task in `mercer.few_label.catalog`.
    guesses : hints of the training rows as numbers, or None.
    kept : names of cached parts of a `Fit` that a compact model keeps in addition to the common ones.
    """

    name: ClassVar[str]
    kept: ClassVar[tuple[str, ...]] = ()
    guesses: Guesses | None = None

    def learn(
        self, library: "Library", fitted: Sequence[Fitted], labels: Any, drawn: np.ndarray
    ) -> tuple[Any, Any, np.ndarray]:
        """(pool, calibration, scores of the training rows) from candidates fitted to labels."""
        raise NotImplementedError

    def predictor(self, fitted: Sequence[Fitted], pool: Any) -> Any:
        """The pool as a function of any rows."""
        raise NotImplementedError

    def estimate(self, fit: "Fit") -> Any:
        """Accuracy of the predictions, estimated from held-out labels."""
        raise NotImplementedError

    def tried(self, fit: "Fit") -> list[Facts]:
        """The candidates as records, heaviest first."""
        raise NotImplementedError

    def votes(self, fit: "Fit") -> Any:
        """Weights of the candidates that name each class. None for numbers."""
        return None
