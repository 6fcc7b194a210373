"""The half of a few-label model that depends on labels, with fitted candidates, their pool and its calibration."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import single_threaded_blas
from ..events import Note, OnEvent, Progress, ignore
from ..inputs.labels import Labels
from ..types import Block, Facts
from .candidates.base import Candidate, Fitted
from .scoring import Scorer, block_rows, blocks, own_matrices
from .targets import Targets

if TYPE_CHECKING:
    from .library import Library
    from .tasks.base import Task


class Stopped(Exception):
    """The caller of a fit no longer wants its result."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Values of a `Fit` that need its candidates, for a copy without them. See the properties of that class."""

    predictor: object
    linear: int | None = None
    estimate: object = None
    tried: list[Facts] | None = None
    votes: Block = None


@dataclass(frozen=True, eq=False)
class Fit:
    """Candidates fitted to labels, and what follows from them. It sees neither the rows nor the names of classes.

    Another labeling, choice of candidates or fold is another `Fit` on the same `Library`. All of them use its arrays.

    Attributes
    ----------
    library, task : what it was fitted with.
    labels : Labels, with class numbers for names, or Targets.
    drawn : (n,) bool, rows that were drawn at random.
    candidates : those that were tried.
    pool : their weights (see the task). calibration : `Calibration` of classes, None for numbers.
    scores : (n, k') pooled scores of the training rows.
    solved : the candidates fitted to the labels, or None if they are fitted when needed.
    kept : in a copy without candidates, the values that need them. None otherwise.
    """

    library: "Library"
    task: "Task"
    labels: Any  # the task knows which
    drawn: np.ndarray
    candidates: tuple[Candidate, ...]
    pool: Any
    calibration: Any
    scores: np.ndarray
    solved: tuple[Fitted, ...] | None = field(default=None, repr=False)
    kept: Kept | None = field(default=None, repr=False)

    @property
    def at_hand(self) -> bool:
        """Whether the fitted candidates are in memory. They are not saved in files."""
        return self.solved is not None or "fitted" in self.__dict__

    @cached_property
    def fitted(self) -> tuple[Fitted, ...]:
        """The candidates, fitted."""
        if self.solved is not None:
            return self.solved
        with self.library.there(), single_threaded_blas():
            return tuple(candidate.solve(self.labels) for candidate in self.candidates)

    @property
    def weights(self) -> np.ndarray:
        """(m,) weights of the candidates."""
        weights: np.ndarray = self.pool.weights
        return weights

    @cached_property
    def linear(self) -> int | None:
        """Number of the heaviest candidate whose scores are linear in the labels, or None."""
        if self.kept is not None:
            return self.kept.linear
        heaviest = np.argsort(-self.weights, kind="stable").tolist()
        return next((m for m in heaviest if self.fitted[m].influence is not None), None)

    @property
    def linear_slope(self) -> float:
        """Slope by which the scores of that candidate become logarithms of probabilities."""
        return 1.0 if self.linear is None else float(self.pool.slopes[self.linear])

    @cached_property
    def predictor(self) -> Any:
        """The pool as a function of any rows."""
        return self.task.predictor(self.fitted, self.pool) if self.kept is None else self.kept.predictor

    @cached_property
    def estimate(self) -> Any:
        """Accuracy of the predictions, estimated from held-out labels."""
        return self.task.estimate(self) if self.kept is None else self.kept.estimate

    @cached_property
    def tried(self) -> list[Facts]:
        """The candidates as records, heaviest first."""
        return self.task.tried(self) if self.kept is None else self.kept.tried or []

    @cached_property
    def votes(self) -> np.ndarray:
        """(n, k) weight of the candidates for which each class is the best."""
        found: np.ndarray = self.task.votes(self) if self.kept is None else self.kept.votes
        return found

    def compact(self, predictor_only: bool = False) -> "Fit":
        """A copy without candidates, with the values that need them, or with the predictor and calibration only."""
        small = replace(self, library=self.library.compact(), candidates=(), solved=None)
        if predictor_only:
            labels = self.labels if self.calibration is None else None
            small = replace(small, labels=labels, drawn=self.drawn[:0], pool=None, scores=self.scores[:0])
            return replace(small, kept=Kept(self.predictor))
        return replace(small, kept=Kept(self.predictor, self.linear, self.estimate, self.tried, self.votes))

    def __getstate__(self) -> Facts:
        return {name: value for name, value in self.__dict__.items() if name != "fitted"} | {"solved": None}


def pooled_fit(
    library: "Library",
    task: "Task",
    labels: Labels | Targets,
    drawn: np.ndarray,
    candidates: Sequence[Candidate],
    fitted: Sequence[Fitted],
) -> Fit:
    """The fit that follows from candidates fitted to labels."""
    pool, calibration, scores = task.learn(library, fitted, labels, drawn)
    return Fit(library, task, labels, drawn, tuple(candidates), pool, calibration, scores, tuple(fitted))


@dataclass(eq=False)
class IncrementalFit:
    """A `BuildListener` of `Library.build` that fits every candidate as soon as it is built.

    Parameters
    ----------
    task, labels, drawn : see `Library.fit`.
    on_update : function of a `Fit` that predicts already, from the candidates so far, or None. It is called when the
        first step is done and each time that the work has doubled.
    """

    task: "Task"
    labels: Labels | Targets
    drawn: np.ndarray
    on_event: OnEvent = ignore
    on_update: Callable[[Fit], None] | None = None
    candidates: list[Candidate] = field(default_factory=list)
    fitted: list[Fitted] = field(default_factory=list)
    due: float = 0.0

    @property
    def begun(self) -> bool:
        return bool(self.fitted)

    def on_candidates(self, library: "Library", new: Sequence[Candidate], begin: float, end: float) -> None:
        suited = [one for one in new if len(self.labels.labeled) <= one.most_labels]
        for i, candidate in enumerate(suited):
            done = begin + (end - begin) * (i + 1) / (len(suited) + 1)
            self.on_event(Progress(f"trying {candidate.name}", done, candidate.method))
            fitted = candidate.solve(self.labels)
            self.candidates.append(candidate)
            self.fitted.append(fitted)
        if self.on_update is not None and self.fitted and end >= self.due:
            self.on_update(self.finish(library))
            self.due = 2.0 * end

    def finish(self, library: "Library") -> Fit:
        """The fit of all candidates so far."""
        return pooled_fit(library, self.task, self.labels, self.drawn, self.candidates, self.fitted)


def report_sample(n_fitted: int, n_given: int, on_event: OnEvent) -> None:
    """Report that only a sample of the given labels is fitted, if that is so."""
    if n_fitted < n_given:
        what = f"{n_fitted:,} of {n_given:,} labels are fitted, a random sample with every class in it"
        on_event(Note(f"{what}, because all would take too long."))


def scores_by_block(
    library: "Library", fitted: Sequence[Fitted], used: np.ndarray, known: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of (row numbers, (m', k', b) scores of the candidates in `used`), block by block, for all rows.

    known : (m, k', s) scores of some rows, which need not be computed again if they are those of all.
    """
    extension, own = library.extension, [fitted[m] for m in used]
    core = None if extension is None else extension.core
    numbers, columns = library.core, 1 if known is None else known.shape[1]
    size = block_rows(own, columns, library.device is not None)
    if known is not None and known.shape[2] == len(numbers):
        yield from ((numbers[block], known[used, :, block]) for block in blocks(len(numbers)))
    else:
        scorer = Scorer(own, own_matrices, core)
        yield from ((numbers[block], scorer.scores(block)) for block in blocks(len(numbers), size))
    if extension is not None:
        scorer = Scorer(own, extension.matrices, extension.rows)
        yield from ((extension.rows[block], scorer.scores(block)) for block in blocks(len(extension.rows), size))
