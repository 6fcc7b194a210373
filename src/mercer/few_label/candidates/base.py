"""A candidate of the few-label choice before it sees labels, and after."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...inputs.labels import Labels
from ...solvers.ridge.effect import LabelEffect
from ...types import Index, Rows

if TYPE_CHECKING:
    from ..extension import Extension
    from ..predictor import Part
    from ..spaces import Space
    from ..targets import Targets


@dataclass(frozen=True, eq=False)
class Candidate:
    """A method with fixed parameters on prepared rows. It contains no label, so it can be fitted to any labels.

    Attributes
    ----------
    name, method : str
        Its name in the report, and the name of its method in `mercer.few_label.catalog`.
    settings : str
        Its parameters and its space, for the report.
    seconds : float
        How long building it took.
    most_labels : float
        It is not tried with more labels.
    fold_group : str or None
        The first candidate of a group represents all of them when labels are held out in folds.
    prior_group : str
        The prior weight of a group is divided evenly among its candidates (`mercer.few_label.weights.PRIOR_SHARES`).
        The candidates of the group "" divide the rest.
    """

    name: str
    method: str
    settings: str = field(default="", kw_only=True)
    seconds: float = field(default=0.0, kw_only=True)
    most_labels: float = field(default=np.inf, kw_only=True)
    fold_group: ClassVar[str | None] = None

    @property
    def prior_group(self) -> str:
        return ""

    @property
    def closed_form(self) -> bool:
        """Whether a fit to other labels takes no iteration."""
        return True

    def spaces(self) -> list["Space"]:
        """Feature spaces that the scores are linear in. There is none if the candidate scores rows by itself."""
        return []

    def features(self, rows: Index) -> np.ndarray:
        """(m, r) features of some training rows, to compare rows by."""
        raise NotImplementedError

    def withheld(self, labels: Any) -> Any:
        """An object that knows the fits without folds of the labels, or None if there is no shortcut."""
        return None

    def solve(self, labels: Any) -> "Fitted":
        """Fit to labels, with the predictions to each label of the fit without it."""
        raise NotImplementedError

    def rehearse(self, labels: Any) -> None:
        """Compute what every fit needs, by a fit to labels that mean nothing."""
        self.solve(labels)

    def solve_fold(self, labels: Any) -> "Fitted":
        """Fit to the labels without a fold, for which a rougher fit is good enough."""
        return self.solve(labels)

    def extended(self, extension: "Extension", X: Rows) -> "Candidate":
        """The candidate for labels of any row of a table X of which it knows the core."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Fitted:
    """A candidate fitted to labels.

    Attributes
    ----------
    candidate : Candidate
    left_out : (l, k') scores of the labeled rows, each by the fit without its label.
    seconds : float, building and fitting.
    direct : whether it scores rows by itself, and not through weights of features.
    """

    candidate: Any  # the subclass of `Candidate` that belongs to it
    left_out: np.ndarray
    seconds: float
    direct: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return str(self.candidate.name)

    @property
    def method(self) -> str:
        return str(self.candidate.method)

    @property
    def settings(self) -> str:
        return str(self.candidate.settings)

    @property
    def prior_group(self) -> str:
        return str(self.candidate.prior_group)

    @property
    def influence(self) -> Callable[[], LabelEffect] | None:
        """How one more label moves the scores. None if the method is not linear in its labels."""
        return None

    def scores(self, rows: Index | None = None) -> np.ndarray:
        """(n, k') scores of the training rows, or of some of them."""
        raise NotImplementedError

    def part(self) -> "Part":
        """The scores of any rows, as a part of the predictor."""
        raise NotImplementedError

    def pairs(self, targets: "Targets") -> tuple[np.ndarray, np.ndarray] | None:
        """Matrices for `mercer.solvers.ridge.pairs`, by which two numbers are held out at once, or None."""
        return None


def rehearse(candidates: Sequence[Candidate], n: int, labels: Any = None) -> None:
    """Compute what every fit of these candidates on n rows needs, so that the first labels need not wait for it.

    labels : arbitrary labels of two rows. None means one row of each of two classes.
    """
    two = Labels(np.arange(2), np.r_[0, np.full(n - 2, -1), 1], np.array([0, n - 1]), np.eye(2))
    for candidate in candidates:
        candidate.rehearse(two if labels is None else labels)
