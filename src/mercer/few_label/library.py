"""The half of a few-label model without labels, with candidates in their spaces and places of rows outside the core."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..backend import device_in_use, single_threaded_blas, use_device
from ..errors import InputError
from ..events import OnEvent, Progress, ignore
from ..evidence.groups import same_rows
from ..homes.blocks import draw
from ..inputs.labels import Labels
from ..types import ColumnLike, Facts, Rows
from . import sizes
from .candidates.base import Candidate, Fitted
from .catalog import Method
from .cost import affordable
from .extension import Extension
from .fit import Fit, Stopped, pooled_fit
from .plan import Step
from .rows import Support
from .targets import Targets
from .views import is_wide

if TYPE_CHECKING:
    from .tasks.base import Task


class BuildListener(Protocol):
    """Something that gets new candidates while a library is being built, such as `IncrementalFit`."""

    @property
    def begun(self) -> bool:
        """Whether there is something to keep when the user interrupts."""

    def on_candidates(self, library: "Library", new: Sequence[Candidate], begin: float, end: float) -> None:
        """New candidates. The library has them too. The work done is from `begin` to `end`, from 0 to 1."""


@dataclass(frozen=True, eq=False)
class Library:
    """Candidates in their spaces, the core and how other rows join it, groups of equal rows. It has no label in it.

    Attributes
    ----------
    n_rows : int, rows of the table. core : row numbers of the core, ascending.
    candidates : tuple of Candidate
        All of them. A fit leaves out those that do not suit the number of labels.
    support : Support, the region of the core's rows.
    wide : bool, whether the rows are pixels, spectra or words more often than a table.
    extension : Extension or None
        How the rows outside the core join the spaces. None if all rows are in the core.
    skipped : names of the spaces that were not built. interrupted : bool, whether the user ended the search.
    slow : tuple of the names of methods that fast fits leave out.
    device : the device with the features, for `use_device`. None is the host.
    rows : (n, d) the rows, until the groups of equal ones are known.
    known_groups : the groups if they were found earlier, or None.
    """

    n_rows: int
    core: np.ndarray
    support: Support
    wide: bool
    candidates: tuple[Candidate, ...] = ()
    extension: Extension | None = None
    skipped: tuple[str, ...] = ()
    interrupted: bool = False
    slow: tuple[str, ...] = ()
    device: tuple[str, str] | None = None
    rows: Rows = field(default=None, repr=False)
    known_groups: np.ndarray | None = field(default=None, repr=False)

    @classmethod
    def of(cls, X: Rows, core: np.ndarray | None = None, slow: tuple[str, ...] = ()) -> "Library":
        """A library of the rows X without candidates. `core` are the row numbers of its core, None for all."""
        core = np.arange(X.shape[0]) if core is None else np.unique(core)
        own = X if len(core) == X.shape[0] else X[core]
        return cls(X.shape[0], core, Support(own), is_wide(X), slow=slow, device=device_in_use(), rows=X)

    def build(
        self,
        steps: Callable[[Rows], list[Step]],
        *,
        seconds: float | None = None,
        n_labels: int = 0,
        n_classes: int = 2,
        listener: BuildListener | None = None,
        on_event: OnEvent = ignore,
    ) -> "Library":
        """Return the library with the spaces of a plan that fit the budget.

        Parameters
        ----------
        steps : function of the core's rows that makes the plan, see `mercer.few_label.plan.planned`.
        seconds : of work on one core, estimated (see `mercer.few_label.cost`) and not measured. None means no limit.
        n_labels, n_classes : how many labels are expected, as fitting them is part of the work.
        listener : gets new candidates, if all rows are in the core. Without one a KeyboardInterrupt ends the search
            as soon as there is a candidate.
        """
        X, whole = self.rows, len(self.core) == self.n_rows
        plan = steps(X if whole else X[self.core])
        listener = listener if whole else None
        costs = np.array([step.seconds(*((n_labels, n_classes) if whole else (0, 2))) for step in plan])
        taken = affordable(costs.tolist(), seconds or np.inf)
        begin = np.cumsum(np.where(taken, costs, 0.0)) - costs
        total = max(costs[taken].sum(), 1e-9)
        library = self
        for step, fits, before, cost in zip(plan, taken, begin, costs):
            if library.interrupted or not fits:
                library = replace(library, skipped=(*library.skipped, step.name))
                continue
            try:
                on_event(Progress(f"building {step.name}", before / total))
                more = replace(library, candidates=(*library.candidates, *step.build()))
                if listener is not None:
                    new = more.candidates[len(library.candidates) :]
                    listener.on_candidates(more, new, before / total, (before + cost) / total)
                library = more
            except KeyboardInterrupt:
                if not (library.candidates if listener is None else listener.begun):
                    raise
                library = replace(library, interrupted=True, skipped=(*library.skipped, step.name))
        if not library.candidates and (listener is None or not listener.begun):
            raise InputError(
                "None of these methods can be fitted to so few rows. Name other methods, or give more rows."
            )
        on_event(Progress("weighing the candidates", 1.0))
        if not whole:
            on_event(Progress("finding the places of the other rows", 1.0))
            library = library._extended(X)
        return replace(library, known_groups=self.groups) if "groups" in self.__dict__ else library

    def _extended(self, X: Rows) -> "Library":
        """With the places of the rows of X that are outside the core."""
        extension = Extension(self.candidates, X, self.core, self.support)
        return replace(
            self, candidates=tuple(one.extended(extension, X) for one in self.candidates), extension=extension
        )

    @property
    def recall(self) -> float:
        """Fraction of the true neighbors of rows outside the core that are found."""
        return 1.0 if self.extension is None else self.extension.recall

    @cached_property
    def groups(self) -> np.ndarray:
        """(n,) numbers of the groups of equal rows, found on first use, once for all labelings."""
        if self.known_groups is not None:
            return self.known_groups
        return same_rows(self.rows, None if self.n_rows <= sizes.SIZES.core_rows else self.core)

    def advice_rows(self, labeled: np.ndarray, also: ColumnLike = (), number: int = 0) -> np.ndarray:
        """Numbers of the rows that advice considers (see `FewLabelClassifier.advice_rows`)."""
        some, most = self.core, max(sizes.SIZES.advice_rows, number + len(labeled))
        if self.n_rows <= most:
            return np.union1d(some, labeled)
        some = some[np.random.default_rng(0).permutation(len(some))[:most]]
        return np.unique(np.concatenate([some, labeled, np.asarray(also, dtype=int)]))

    def suited(self, n_labels: int, tier: str = "full") -> tuple[Candidate, ...]:
        """The candidates that are tried with so many labels."""
        fit = (one for one in self.candidates if n_labels <= one.most_labels)
        return tuple(one for one in fit if tier == "full" or one.method not in self.slow)

    def fit(
        self,
        labels: Labels | Targets,
        task: "Task",
        drawn: np.ndarray,
        *,
        tier: str = "full",
        known: Fit | None = None,
        on_event: OnEvent = ignore,
        stop: Callable[[], bool] | None = None,
    ) -> Fit:
        """Fit all or the fast candidates to labels.

        Parameters
        ----------
        labels, task : see `mercer.few_label.tasks`. drawn : (n,) rows that were drawn at random.
        tier : "full", or "fast" without the methods that take most of the time.
        known : a fit whose candidates are kept if its labels are the same.
        stop : function without arguments, called before every candidate. `Stopped` is raised if it returns True.
        """
        done: dict[int, Fitted] = {}
        if known is not None and known.at_hand and labels.same_as(known.labels):
            done = {id(candidate): fitted for candidate, fitted in zip(known.candidates, known.fitted)}
        candidates, fitted = self.suited(len(labels.labeled), tier), []
        with self.there(), single_threaded_blas():  # the problems are small, and more threads would wait for each other
            for i, candidate in enumerate(candidates):
                if stop is not None and stop():
                    raise Stopped("The labels were overtaken by newer ones.")
                on_event(Progress(f"trying {candidate.name}", i / len(candidates), candidate.method))
                fitted.append(done.get(id(candidate)) or candidate.solve(labels))
            return pooled_fit(self, task, labels, drawn, candidates, fitted)

    def there(self) -> AbstractContextManager[None]:
        """Context in which rows are computed on the device with the features."""
        return nullcontext() if self.device is None else use_device(*self.device)

    def compact(self) -> "Library":
        """A copy without spaces, with what predictions for new rows need."""
        small = replace(self, core=np.zeros(0, dtype=int), candidates=(), extension=None)
        return replace(small, device=None, rows=None, known_groups=None)

    def __getstate__(self) -> Facts:
        state = dict(self.__dict__)
        if state["rows"] is not None and state["candidates"]:
            state["known_groups"], state["rows"] = self.groups, None
        state.pop("groups", None)
        return state


def core_of(X: Rows, methods: Sequence[Method], seed: int) -> np.ndarray | None:
    """Row numbers of the core of a table, drawn without regard to labels. None, for all rows, if a method needs all."""
    n, most = X.shape[0], sizes.SIZES.core_rows
    if any(method.whole for method in methods):
        return None
    return np.arange(n) if n <= most else draw(n, most, seed)
