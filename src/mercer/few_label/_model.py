"""Base of the two few-label models as scikit-learn estimators, with labels that come later, and copies to save."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..compilation import compilation_reported
from ..documentation import Documented
from ..errors import InputError
from ..events import Event, OnEvent, Progress, ignore
from ..inputs.tables import TableEncoder
from ..inputs.weights import seed_of
from ..rows import by_row
from ..types import ColumnLike, Rows, Seed, Tags, Verbose
from .answers import Answers, NumberAnswers
from .candidates.base import Candidate
from .catalog import Method
from .dask_sample import DaskSample
from .fit import Fit, IncrementalFit, report_sample
from .given import GivenBuilder
from .kernel_rows import KernelRows
from .library import Library, core_of
from .plan import planned, slow_methods
from .rows import checked_numbers, drawn_mask, read_rows, with_values
from .summary import CandidateReport
from .tasks.base import Task


class FewLabelModel(Documented, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of `FewLabelClassifier` and `FewLabelRegressor`. It has a `Library`, and the predictions of a `Fit` on it.

    Attributes
    ----------
    library_ : Library
    answers_ : Answers or NumberAnswers of its fit. A prepared model has none before it is taught.
    encoder_ : TableEncoder of a data frame that is not a matrix of numbers already, else None.
    weight_ : (n,) how much a label of each row counts, or None. dask_ : DaskSample, or None.
    """

    task: ClassVar[str]
    _report_type: ClassVar[type[CandidateReport]]
    library_: Library
    answers_: Answers | NumberAnswers
    encoder_: TableEncoder | KernelRows | None
    weight_: np.ndarray | None
    dask_: DaskSample | None
    also: ColumnLike = ()
    verbose: Verbose
    time_budget: float | None
    random_state: Seed
    _report: object

    # Parts that differ between the tasks

    def _read(self, y: ColumnLike, n_rows: int) -> Any:
        """Labels as a user gives them."""
        raise NotImplementedError

    def _values(self) -> np.ndarray:
        """(n,) names or numbers so far, None if there is none."""
        raise NotImplementedError

    def _read_values(self, y: np.ndarray) -> Any:
        """Labels from `_values`."""
        raise NotImplementedError

    def _task(self, labels: Any, library: Library) -> tuple[Task, Any]:
        """(the task, the labels as it takes them)."""
        raise NotImplementedError

    def _answers(self, fit: Fit, labels: Any) -> Answers | NumberAnswers:
        raise NotImplementedError

    # Learning

    def _learn(
        self,
        X: Rows,
        methods: tuple[Method, ...],
        labels: Any,
        drawn: ColumnLike,
        *,
        core: np.ndarray | None = None,
        on_event: OnEvent | None = None,
        on_update: Callable[[Self], object] | None = None,
        given: Mapping[str, GivenBuilder] | None = None,
    ) -> None:
        """Build a library while its candidates are fitted to labels. Labels of None only build it."""
        seed, first, numbers = seed_of(self.random_state), None, {}
        start = Library.of(X, core_of(X, methods, seed) if core is None else core, slow_methods(self.task))
        with compilation_reported(on_event or self._on_event) as on_event:
            if labels is not None:
                task, own = self._task(labels, start)
                report_sample(len(own.labeled), len(labels.labeled), on_event)
                first = IncrementalFit(task, own, drawn, on_event, self._updating(labels, on_update))
                numbers = {"n_labels": len(own.labeled), "n_classes": own.n_classes}
            plan = partial(planned, methods=methods, random_state=seed, also=self.also, given=given)
            library = start.build(plan, seconds=self.time_budget, listener=first, on_event=on_event, **numbers)
            if first is not None:
                again = partial(library.fit, first.labels, first.task, drawn)
                self.answers_ = self._answers(first.finish(library) if library.extension is None else again(), labels)
        self.library_, self._report = library, None

    def _updating(self, labels: Any, on_update: Callable[[Self], object] | None) -> Callable[[Fit], None] | None:
        if on_update is None:
            return None

        def update(fit: Fit) -> None:
            new = copy.copy(self)
            new.library_, new.answers_, new._report = fit.library, self._answers(fit, labels), None
            on_update(new)

        return update

    def _on_event(self, event: Event) -> None:
        """Show progress as `verbose` requests."""
        if isinstance(event, Progress):
            if callable(self.verbose):
                self.verbose(event.text, event.fraction)
            elif self.verbose:
                print(f"[{type(self).__name__}] {event.fraction:4.0%} {event.text}", flush=True)

    # Labels that come later

    def taught(
        self,
        rows: ColumnLike,
        labels: ColumnLike,
        *,
        drawn: ColumnLike = True,
        tier: str = "full",
        on_event: OnEvent | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Self:
        """Return a new model that knows further labels of training rows. This one stays as it is.

        Parameters
        ----------
        rows : int or array-like of shape (m,)
            Numbers of training rows.
        labels : class name, number or None, or array-like of shape (m,) of these
            One label for all these rows, or one for each. None takes a label back.
        drawn : bool or array-like of shape (m,), default=True
            Whether the rows were drawn at random. False for rows that were chosen.
        tier : {"full", "fast"}, default="full"
            "full" equals a fit with the labels. "fast" leaves out the methods that take most of the time. A fast model
            that is taught nothing, ``fast.taught([], [])``, becomes the full one for the rest of the work.
        on_event : callable or None, default=None
            Function of a `mercer.events.Progress`, called before every candidate.
        stop : callable or None, default=None
            Function without arguments, called before every candidate. If it returns True, `Stopped` is raised.

        Notes
        -----
        Arrays that both models use (spaces, rows) are never written to.
        """
        self.check_prepared("taught")
        if tier not in ("fast", "full"):
            raise InputError(f"tier={tier!r} is not accepted. Give 'fast' or 'full'.")
        rows = self._numbers(rows, self.library_.n_rows)
        y, at_random = with_values(self._values(), rows, labels), self.drawn_.copy()
        at_random[rows] = at_random[rows] if drawn is None else drawn
        return self._refitted(self._read_values(y), at_random, tier=tier, on_event=on_event or ignore, stop=stop)

    def teach(self, rows: ColumnLike, labels: ColumnLike, drawn: ColumnLike = True) -> Self:
        """Add or change the labels of some training rows. Equal to a fit with them, without its decompositions.

        Parameters
        ----------
        rows : int or array-like of shape (m,)
            Numbers of training rows.
        labels : class name or number, or array-like of shape (m,) of these
            One label for all these rows, or one for each. A new class is accepted.
        drawn : bool or array-like of shape (m,), default=True
            Whether the rows were drawn at random. False for rows that were chosen, such as those of `suggest` that its
            `drawn` does not mark.
        """
        self.check_whole("teach")
        return self._become(self.taught(rows, labels, drawn=drawn).answers_)

    def unteach(self, rows: ColumnLike) -> Self:
        """Take the labels of some training rows back. Equal to a fit without them."""
        self.check_whole("unteach")
        return self._become(self.taught(rows, None, drawn=None).answers_)

    def relabel(self, y: ColumnLike, drawn: ColumnLike | None = None) -> Self:
        """Replace the labels of all training rows. Equal to a fit with them, without its decompositions.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of all training rows, with markers for rows without one.
        drawn : array-like of shape (n_samples,) or None, default=None
            Which labeled rows were drawn at random. None keeps what is known.
        """
        self.check_whole("relabel")
        mask = self.drawn_ if drawn is None else drawn_mask(drawn, self.library_.n_rows)
        return self._become(self._refitted(self._read(y, self.library_.n_rows), mask).answers_)

    def _become(self, answers: Answers | NumberAnswers) -> Self:
        self.answers_, self._report = answers, None
        return self

    def _refitted(self, labels: Any, drawn: np.ndarray, **options: Any) -> Self:
        """A copy with the fit of other labels on the same library."""
        task, own = self._task(labels, self.library_)
        known = self.answers_.fit if hasattr(self, "answers_") else None
        fit = self.library_.fit(own, task, drawn, known=known, **options)
        return copy.copy(self)._become(self._answers(fit, labels))

    # Rows

    @by_row
    def trust(self, X: Rows) -> np.ndarray:
        """Return (n,) how much the predictions rest on similar training rows, from 1 among them to 0 far away."""
        check_is_fitted(self)
        return self.library_.support.trust(self._rows(X))

    def _rows(self, X: Rows) -> Rows:
        return read_rows(self, X, self.encoder_)

    def row_numbers(self, places: np.ndarray) -> np.ndarray:
        """Row numbers in the data of rows given by their places among the fitted ones."""
        return places if self.dask_ is None else self.dask_.rows[places]

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Places among the fitted rows of rows given by their numbers in the data."""
        return rows if self.dask_ is None else self.dask_.places(rows)

    def advice_rows(self, also: ColumnLike = (), number: int = 0) -> np.ndarray:
        """Numbers of the rows that advice considers, which are all or the core, or a random sample, and labeled rows.

        also : numbers of further rows. number : how many unlabeled rows must be among them.
        """
        labeled = self.labels_.labeled if hasattr(self, "answers_") else np.zeros(0, dtype=int)
        return self.library_.advice_rows(labeled, also, number)

    def _numbers(self, rows: ColumnLike, n: int) -> np.ndarray:
        """Row numbers as a user gives them, of n rows."""
        return checked_numbers(self.places(np.atleast_1d(np.asarray(rows, dtype=None if np.size(rows) else int))), n)

    # Smaller copies

    def compact(self) -> Self:
        """A copy without the feature spaces. It has a few MB and the same predictions. `mercer.save` writes this copy.

        `predict`, `predict_proba`, `predict_interval`, `suspicious` and all attributes but `candidates_` work as
        before. `teach`, `unteach`, `relabel`, `suggest`, `expected_change` and `doubt` need the spaces and state this.
        """
        check_is_fitted(self)
        _ = self.report_  # while the spaces are there
        small = copy.copy(self)
        small.answers_ = self.answers_.compact()
        small.library_ = small.answers_.fit.library
        small.dask_ = None if self.dask_ is None else replace(self.dask_, other=None)
        forgotten = {"on_update": None, "also": (), "verbose": False}  # a model that is not fitted again needs none
        small.set_params(**{name: value for name, value in forgotten.items() if name in small.get_params()})
        return small

    def answering(self) -> Self:
        """A copy with no more than predictions need, which is sent to the workers of a cluster."""
        small = copy.copy(self)
        small.answers_, small._report = self.answers_.compact(predictor_only=True), None
        small.library_, small.dask_ = small.answers_.fit.library, None
        return small

    def check_prepared(self, what: str) -> None:
        """Refuse `what` (a name) on a model without feature spaces."""
        if not hasattr(self, "library_") or not self.library_.candidates:
            self.check_whole(what)

    def check_whole(self, what: str) -> None:
        """Refuse `what` (a name) on a compact model, because it needs the feature spaces."""
        check_is_fitted(self)
        if not self.library_.candidates:
            raise InputError(
                f"This model is compact, as saved models are. It predicts any rows, but {what} needs the feature "
                "spaces, which it does not contain. Fit again on the training rows."
            )

    # Attributes

    @property
    def candidates_(self) -> list[Candidate]:
        """The candidates that were tried. A compact model has none."""
        if not self.library_.candidates:
            raise AttributeError("A compact model has no candidates_.")
        return list(self.answers_.fit.candidates if hasattr(self, "answers_") else self.library_.candidates)

    @property
    def labels_(self) -> Any:
        """The labels that were fitted."""
        return self.answers_.fit.labels

    @property
    def drawn_(self) -> np.ndarray:
        """(n,) rows that were drawn at random."""
        return self.answers_.fit.drawn if hasattr(self, "answers_") else np.zeros(self.library_.n_rows, dtype=bool)

    @property
    def weights_(self) -> np.ndarray:
        """(m,) weights of the candidates."""
        return self.answers_.fit.weights

    @property
    def linear_(self) -> int | None:
        """Number of the heaviest candidate whose scores are linear in the labels, or None."""
        return self.answers_.fit.linear

    @property
    def skipped_(self) -> list[str]:
        """Names of the feature spaces that were not built."""
        return list(self.library_.skipped)

    @property
    def interrupted_(self) -> bool:
        """Whether the user ended the search."""
        return self.library_.interrupted

    @property
    def sample_(self) -> np.ndarray:
        """In Dask, the row numbers of the rows that were fitted."""
        if self.dask_ is None:
            raise AttributeError("There is no sample_, because all rows were fitted.")
        return self.dask_.rows

    @property
    def report_(self) -> Any:
        """The candidates with their estimates, weights and times."""
        check_is_fitted(self)
        if self._report is None:
            self._report = self._report_type.of(self)
        return self._report

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "answers_")  # a prepared model cannot predict yet

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags
