"""Labels that come later: what a fitted model keeps so that more of them cost no decomposition."""

import copy
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..backend import steady
from ..errors import InputError
from ..evidence.groups import same_rows
from ..evidence.likelihood import as_probabilities
from ..geometry.open import POLICIES
from ..homes import home_of
from ..inputs.labels import Labels
from ..inputs.weights import seed_of
from .outside import Outside
from .plan import methods_named, planned
from .run import search, suited
from .support import Support
from .views import is_wide

SLOW = frozenset(("ls_kpca", "sgt", "forest"))  # most of the time, and seldom most of the weight
WHOLE = frozenset(("s2rls",))  # they look at every row by itself
LARGE = 50_000  # rows above which nearly equal ones are looked for in the core only
TIERS = ("fast", "full")
LOOKED_AT = 5000  # rows that advice compares with each other


class Stopped(Exception):
    """The caller of `taught` said that its answer is no longer wanted."""


class Teachable:
    """Mixin: labels after and beside a fit, for a model with `candidates_`, `drawn_` and a few methods.

    `_read(y, n_rows)` turns a user's y into labels; `_values()` gives the names or numbers so far, None where there is
    none, and `_read_again` makes labels of such; `_learn(labels, fitted)` learns from fitted candidates.
    """

    candidates_: list
    labels_: Any
    drawn_: np.ndarray
    outside_: Any
    report_: Any
    sample_: np.ndarray
    predictor_: Any
    verbose: Any
    set_params: Any
    get_params: Any
    _read: Any
    _read_again: Any
    _values: Any
    _learn: Any
    _everything: list  # the candidates of the full tier
    _fitted: list  # those of this one, fitted, in the order of candidates_

    def taught(self, rows, labels, *, drawn=True, tier="full", tell=None, stop=None):
        """A new model that knows further labels of training rows; this one stays as it is.

        Parameters
        ----------
        rows, labels, drawn : as in `teach`; None instead of a class name takes a label back.
        tier : "full", which equals a fit with the labels, or "fast": without the methods that take most of the time
            (`SLOW`). A fast model that is taught nothing, ``fast.taught([], [])``, becomes the full one for the rest of
            the work.
        tell : function of (stage, fraction), see `verbose`.
        stop : function without arguments, asked before every candidate; `Stopped` is raised when it says True.

        Notes
        -----
        What the new model shares with the old one (spaces, rows) is never written to.
        """
        self.check_prepared("taught")
        if tier not in TIERS:
            raise InputError(f"tier={tier!r} is not accepted: give 'fast' or 'full'.")
        rows = self._row_numbers(rows)
        names = [labels] * len(rows) if np.ndim(labels) == 0 else list(labels)
        if len(names) != len(rows):
            raise InputError(
                f"{len(rows)} rows and {len(names)} labels were given. Give one label, or one for each row."
            )
        y = self._values()
        for row, name in zip(rows.tolist(), names):
            y[row] = name
        new = self.twin()
        new.drawn_ = self.drawn_.copy()
        if drawn is not None:
            new.drawn_[rows] = drawn
        return new._learn_again(self._read_again(y), tier, tell, stop)

    def teach(self, rows, labels, drawn=True):
        """Add or change the labels of some training rows; equal to a fit with them, without its decompositions.

        Parameters
        ----------
        rows : row numbers of the training data.
        labels : one class name or number, or one for each row. A new class is accepted.
        drawn : whether the rows were drawn at random (one answer, or one for each row); False for rows that were
            chosen, such as those of `suggest` that its `drawn` does not mark.
        """
        self.check_whole("teach")
        self.__dict__.update(self.taught(rows, labels, drawn=drawn).__dict__)
        return self

    def unteach(self, rows):
        """Take the labels of some training rows back; equal to a fit without them."""
        self.check_whole("unteach")
        self.__dict__.update(self.taught(rows, None, drawn=None).__dict__)
        return self

    def relabel(self, y):
        """Other labels for the same training rows; equal to a fit with them, without its decompositions."""
        self.check_whole("relabel")
        labels = self._read(y, len(self.drawn_))
        self.__dict__.update(self.twin()._learn_again(labels).__dict__)
        return self

    def compact(self):
        """A copy without the feature spaces: a few MB, the same answers for any rows; `mercer.save` writes this.

        `predict`, `predict_proba`, `predict_interval`, `suspicious` and all attributes but `candidates_` work as
        before; `teach`, `unteach`, `relabel`, `suggest`, `expected_change` and `doubt` need the spaces and say so.
        """
        check_is_fitted(self)
        _ = self.report_, self.predictor_, getattr(self, "votes_", None)  # while the spaces are there
        small = copy.copy(self)
        for name in ("candidates_", "outside_", "_everything", "_fitted", "_pool", "_population"):
            small.__dict__.pop(name, None)
        return small.set_params(**{name: None for name in ("on_update",) if name in small.get_params()}, verbose=False)

    def twin(self):
        """A new model with the same attributes; unlike `copy.copy`, nothing is prepared for a file or left out."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def row_numbers(self, places):
        """Row numbers in the data of rows given by their places among the fitted ones."""
        return places if not hasattr(self, "sample_") else self.sample_[places]

    def places(self, rows):
        """Places among the fitted rows of rows given by their numbers in the data."""
        if not hasattr(self, "sample_"):
            return rows
        found = np.minimum(np.searchsorted(self.sample_, rows), len(self.sample_) - 1)
        if not np.array_equal(self.sample_[found], rows):
            raise InputError(
                "Some of these rows are not among those that were fitted, which are in `sample_`: `suggest` proposes "
                "rows of it. To use a label of another row, fit again with it in y."
            )
        return found

    def looked_at(self, also=(), number=0):
        """Numbers of the rows that advice looks at: all or the core, of very many a random sample; and labelled rows.

        also : numbers of further rows. number : how many unlabelled rows must be among them.
        """
        labelled = self.labels_.labelled if hasattr(self, "labels_") else np.zeros(0, dtype=int)
        some = np.arange(len(self.drawn_)) if self.outside_ is None else self.outside_.core
        most = max(LOOKED_AT, number + len(labelled))
        if len(self.drawn_) <= most:
            return np.union1d(some, labelled)
        some = some[np.random.default_rng(0).permutation(len(some))[:most]]
        return np.unique(np.concatenate([some, labelled, np.asarray(also, dtype=int)]))

    def check_prepared(self, what):
        """Refuse `what` (a name) on a model without feature spaces."""
        if not hasattr(self, "candidates_"):
            self.check_whole(what)

    def check_whole(self, what):
        """Refuse `what` (a name) on a compact model: it needs the feature spaces."""
        check_is_fitted(self)
        if not hasattr(self, "candidates_"):
            raise InputError(
                f"This model is compact (as saving makes it): it answers for any rows, but {what} needs the feature "
                "spaces, which it does not hold. Fit again on the training rows."
            )

    def _tell(self, stage, fraction):
        if callable(self.verbose):
            self.verbose(stage, fraction)
        elif self.verbose:
            print(f"[{type(self).__name__}] {fraction:4.0%} {stage}", flush=True)

    def __getstate__(self):
        if hasattr(self, "_groups"):
            getattr(self, "groups_")  # noqa: B009 : a function that is still to be called does not go into a file
        state: Any = super().__getstate__()
        return state | {"_fitted": []} if "_fitted" in state else state

    def _learn_again(self, labels, tier="full", tell=None, stop=None):
        """Fit the candidates of a tier to the labels; those that are fitted to them already are kept."""
        done = {}
        if self._fitted and labels.same_as(self.labels_):
            done = {id(candidate): fitted for candidate, fitted in zip(self.candidates_, self._fitted)}
        suitable = suited(self._everything, labels)
        self.candidates_ = [one for one in suitable if tier == "full" or one.method not in SLOW]
        fitted = []
        with steady():  # the problems are small: more threads would wait for each other, and fight on a busy machine
            for i, candidate in enumerate(self.candidates_):
                if stop is not None and stop():
                    raise Stopped("The labels were overtaken by newer ones.")
                if tell is not None:
                    tell(f"trying {candidate.name}", i / len(self.candidates_))
                fitted.append(done.get(id(candidate)) or candidate.solve(labels))
            return self._learn(labels, fitted)

    def _row_numbers(self, rows):
        n = len(self.drawn_)
        rows = self.places(np.atleast_1d(np.asarray(rows, dtype=None if np.size(rows) else int)))
        if rows.dtype == bool and rows.shape == (n,):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or (len(rows) and not (rows.min() >= 0 and rows.max() < n)):
            raise InputError(
                f"rows={rows.tolist()[:5]} are not row numbers. Accepted: whole numbers from 0 to {n - 1}."
            )
        return rows


class Preparable(Teachable):
    """Mixin of `FewLabelClassifier`: labels before any fit."""

    methods: Any
    time_budget: Any
    random_state: Any
    weights_: np.ndarray
    _rows: Any
    _validate_params: Any
    _weight: Any
    _keep: Any
    _rough: Any
    _groups: list  # the groups of equal rows, or the function that finds them
    _pool: Any  # how the candidates are weighed
    _predictor: list  # the predictor, once it was asked for: predictions change no attribute

    def prepare(self, X, core=None):
        """Everything that needs no label: a model that can be `taught`, and cannot answer yet.

        Parameters
        ----------
        X : (n, d) rows or a data frame, as in `fit`.
        core : numbers of the rows that are decomposed; None is all of them up to 50 000 rows, and a sample of so many
            above. The other rows are answered and labelled like these, through their places among them.

        Examples
        --------
        >>> from mercer import FewLabelClassifier
        >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
        >>> model = FewLabelClassifier().prepare(X)
        >>> model.taught([0, 4], ["low", "high"]).transduction_.tolist()
        ['low', 'low', 'low', 'low', 'high', 'high', 'high', 'high']
        """
        self._validate_params()
        methods, there = methods_named(self.methods), home_of(X).computing(X)
        X = self._rows(X, reset=True)
        n = X.shape[0]
        self.__dict__.pop("labels_", None)
        self._weight = None
        self.drawn_ = np.zeros(n, dtype=bool)
        core = core_of(n, methods, self.random_state) if core is None else self._row_numbers(core)
        two = Labels(np.arange(2), np.r_[0, np.full(n - 2, -1), 1], np.array([0, n - 1]), np.eye(2))
        with there, steady():
            self._build(X, methods, core)
            for candidate in self.candidates_:  # so that the first labels find everything computed
                candidate.solve(two)
        return self

    def _build(self, X, methods, core, labels=None):
        """The spaces of the core and the candidates in them; the list of these fitted to the labels, if there are."""
        n, core = X.shape[0], np.unique(core)
        whole = len(core) == n
        own = X if whole else X[core]
        self._wide = is_wide(X)
        self.support_, self._groups = Support(own), [partial(same_rows, X, None if n <= LARGE else core)]
        plan, self.outside_ = planned(own, methods, seed_of(self.random_state)), None
        better = self._rough(labels) if whole and labels is not None else None
        found = search(plan, labels if whole else None, self.time_budget, self._tell, better)
        self._keep(found)
        fitted, self._fitted = found.fitted, []
        if not whole:
            self._tell("finding the places of the other rows", 1.0)
            self.outside_ = Outside(found.everything, X, core, self.support_)
            self._everything = self.outside_.wide(found.everything, X)
            self.candidates_ = suited(self._everything, labels)
            fitted = self.candidates_ if labels is None else [one.solve(labels) for one in self.candidates_]
        return fitted

    @property
    def groups_(self):
        """(n,) numbers of the groups of equal rows, found when first asked for, once for all labellings."""
        if callable(self._groups[0]):
            self._groups[0] = self._groups[0]()
        return self._groups[0]

    def opinions(self, rows):
        """[(method, weight, (m, k) probabilities)] of every method that has weight, for some rows, the heaviest first.

        The probabilities are the mean of those of its candidates.
        """
        self.check_whole("opinions")
        found: dict = {}
        pool = self._pool
        for candidate, weight, slope in zip(self.fitted_candidates(), pool.weights, pool.slopes):
            if weight > 0:
                P = weight * as_probabilities(candidate.scores(np.asarray(rows)), slope, pool.floor)
                total, sum_ = found.get(candidate.method, (0.0, 0.0))
                found[candidate.method] = total + weight, sum_ + P
        return sorted(((name, float(w), P / w) for name, (w, P) in found.items()), key=lambda one: -one[1])

    def fitted_candidates(self):
        """Those of `candidates_`, fitted to the labels."""
        if not self._fitted:  # they do not go into a pickle
            self._fitted = [candidate.solve(self.labels_) for candidate in self.candidates_]
        return self._fitted


def core_of(n, methods, random_state):
    """Numbers of the rows that are decomposed: all, or a sample of many, which no label has a part in."""
    most = POLICIES["few labels"].core_rows
    if most is None or n <= most or not WHOLE.isdisjoint(methods):
        return np.arange(n)
    return np.sort(np.random.default_rng(seed_of(random_state)).choice(n, most, replace=False))


def drawn_mask(drawn, n):
    """(n,) bool: which rows were drawn at random; all of them by default."""
    if drawn is None:
        return np.ones(n, dtype=bool)
    drawn = np.asarray(drawn)
    if drawn.shape != (n,) or drawn.dtype != bool:
        raise InputError(f"drawn has shape {drawn.shape} and type {drawn.dtype}. Accepted: {n} times True or False.")
    return drawn.copy()
