"""Outliers by several detectors in several views of the columns, combined by a fixed rule without labels."""

from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.utils._param_validation import Interval

from ..backend import parallel
from ..errors import InputError
from ..evidence.conformal import Reference
from ..evidence.groups import mean_of_equal
from ..homes import home_of
from ..inputs.weights import seed_of
from ..kernels.base import KernelLike
from ..rows import by_row, host, like, take
from ..types import ColumnLike, Facts, Rows, Seed
from .novelty import NoveltyDetector, threshold
from .outlier_answers import Answered, answers_of
from .outlier_forest import IsolationTrees
from .outlier_parts import SCORES, VIEWS, Near, OutlierView, Ranks, Tails, squared_distances
from .parameters import COUNT, parameter

PARTS = (*(f"{view} {score}" for view in VIEWS for score in SCORES), "tails", "forest")
DEFAULT = (
    *(f"{view} {score}" for view in VIEWS for score in ("residual", "nearest")),
    *("tails", "forest"),
    *(f"{view} {score}" for view in ("standardized", "whitened") for score in ("tenth", "fifth")),  # for training rows
)
CROWDS = (" tenth", " fifth")  # ends of the names of parts that outliers near each other do not mislead


@dataclass(eq=False, repr=False)
class OutlierDetector(NoveltyDetector):
    """Detect outliers without labels or tuning, by several detectors in several views of the columns, combined.

    Each part k gives a row a score s_k(x). The part's surprise t_k(x) is −log of the fraction of training rows whose
    score, computed without the row itself, is higher. The score of a new row is the power mean over ten parts

    .. math:: t(x) = \\Bigl(\\tfrac{1}{K} \\sum_k t_k(x)^4\\Bigr)^{1/4}, \\qquad \\text{score} = -t(x)

    in nats. An ordinary row of any table has about 1, a row that every part finds in its last thousandth has 6.9. So
    scores are comparable between tables. The power 4 is between the mean (1), which needs most parts to agree, and the
    maximum (∞), which needs one.

    The ten parts are the "residual" of kernel components and the distance to the "nearest" row, each in the views
    "standardized", "normal" (normal scores of ranks), "whitened" and "copula" (normal scores, whitened), the "tails" of
    single columns, and an isolation "forest". `mercer.estimators.outlier_parts` defines them, and others. Use it
    whenever the rows are numeric columns. For kernels of your own see `SVDD`, `KPCANovelty` and `KernelDensityNovelty`.

    **Two kinds of rows.** `predict`, `decision_function`, `score_samples`, `outlier_probability` and `p_values` take
    new rows, and assume that most training rows are ordinary. For the training rows use `fit_predict`,
    `training_scores_` and `held_out_probability_`, as the table may contain outliers of its own. Each row is scored
    without itself, by the same power mean of t(x), the forest and four more parts. These are the distances within which
    a "tenth" and a "fifth" of the rows are, in the views "standardized" and "whitened". Outliers that are near each
    other do not hide each other in these parts. t(x) counts half, because they may hide each other in it. Both rules
    are fixed, see the page of results on outliers. ``predict(X)`` on the training rows treats them as new rows that
    equal known ones, and finds fewer outliers.

    **Known rows.** ``fit(X, y)`` with y = −1 for known outliers, +1 for rows known to be ordinary and anything else for
    the others corrects the scores, see `teach`.

    Parameters
    ----------
    parts : list of str or None, default=None
        Names of the parts, such as ``["normal residual", "tails"]``. None takes the default parts. A list with one name
        is that detector by itself. Parts that end in "tenth" or "fifth" are for training rows unless there are no
        others. Without these and "forest", training rows have the same rule as new rows.
    contamination : float in (0, 0.5], default=0.1
        Fraction of the training rows below the threshold.
    n_reference : int, default=2000
        Training rows, drawn at random, to which distances are measured. All rows count in ranks and thresholds.
    random_state : int or None, default=None
        Seed of this sample.

    Attributes
    ----------
    offset_ : threshold of the scores of new rows.
    training_scores_ : (n,) scores of the training rows, each without itself.
    held_out_probability_ : (n,) fraction of the training rows that are less unusual than each of them.
    parts_ : names of the parts.

    Notes
    -----
    Cost: O(n m d) for m reference rows, and O(n r²) for r ≤ 1,000 landmarks of the residual (500 for more than 5,000
    rows). NumPy. torch rows stay on their device. In Dask a sample is fitted and rows are scored block by block.
    References: Bates et al.: Testing for outliers with conformal p-values, 2023. Li et al.: ECOD, 2022. Görnitz et al.:
    Toward supervised anomaly detection, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OutlierDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OutlierDetector().fit(X).predict([[0.0, 0.5], [5.0, -5.0]])
    array([ 1, -1])
    """

    access = "sweeps"
    on_dask = "sample"

    kernel: KernelLike = field(default="rbf", init=False)  # for the base's tags, as the rows are never a kernel matrix
    approx: Any = field(default="exact", init=False)
    parts: Any = parameter(None, list, tuple, None)
    _: KW_ONLY
    contamination: float = parameter(0.1, Interval(Real, 0, 0.5, closed="right"))
    n_reference: int = parameter(2000, COUNT)
    random_state: Seed = parameter(None, "random_state")

    def fit(self, X: Rows, y: ColumnLike = None) -> "OutlierDetector":
        """Fit the parts and the threshold. In y −1 marks known outliers, +1 ordinary rows, anything else is ignored."""
        X, y, _ = self._training(X, y, None, "outliers")
        self.parts_ = self._names()
        X = _dense(X)
        n = X.shape[0]
        rng = np.random.default_rng(seed_of(self.random_state))
        chosen = rng.permutation(n)[: self.n_reference]
        places = np.full(n, -1)
        places[chosen] = np.arange(len(chosen))
        self._chosen = chosen
        # Landmarks are reference rows that span the residual. Trees: of few rows most trees have seen a row, and are
        # left out when it is scored.
        single, landmarks, trees = (np.float32, 500, 100) if n > 5000 else (np.float64, 1000, 300)
        used = [view for view in VIEWS if self._of_view(view)]
        ranks = Ranks.of(X) if {"normal", "copula"} & {*used} or "tails" in self.parts_ else None
        self._views: Facts = {view: OutlierView.of(view, X, ranks) for view in used}
        reference = like(take(X, chosen), X)
        self._near = {
            view: Near.of(host(f(reference)).astype(single), landmarks, self._of_view(view))
            for view, f in self._views.items()
        }
        self._tails: Any = Tails(ranks) if ranks is not None and "tails" in self.parts_ else None
        self._trees: Any = None
        isolated = None
        if "forest" in self.parts_:
            self._trees, isolated = IsolationTrees.of(X, trees, rng)
        raw = mean_of_equal(X, self._raw(X, self.parts_, places, isolated))  # random parts distinguish equal rows
        self._references = [Reference.of(column) for column in raw.T]
        surprise = self._surprise(raw, self.parts_, own=True)
        self._combined = Reference.of(self._outside(surprise)), Reference.of(self._within(surprise))
        self._answered: Any = None
        self._learn(X, surprise)
        codes = answers_of(y, n)
        self._known = (X, surprise, places)
        return self if not np.any(codes) else self.teach(np.flatnonzero(codes), codes[codes != 0])

    def teach(self, rows: np.ndarray, answers: ColumnLike) -> Self:
        """Correct the scores by what is known of some training rows, −1 for an outlier and +1 for an ordinary row.

        A Gaussian process on the parts' surprises and on the rows in the view "normal" carries the difference between
        the given and the predicted score to similar rows. How far it reaches and how much it counts are averaged over a
        grid, with weights by the likelihood of leaving out one known row. No correction at all is in the grid.

        Parameters
        ----------
        rows : array-like of shape (m,)
            Numbers of training rows.
        answers : array-like of shape (m,)
            −1 for an outlier, +1 for an ordinary row.
        """
        rows, answers = np.asarray(rows, dtype=int), np.asarray(answers)
        if rows.shape != answers.shape or not np.isin(answers, (-1, 1)).all():
            raise InputError(
                f"Invalid answers={answers!r}; expected −1 (outlier) or +1 (ordinary) for each of {len(rows)} rows."
            )
        if self._known is None:
            raise InputError("This model was loaded without its training rows. Fit it again with the answers as y.")
        X, surprise, _ = self._known
        view = self._views.get("normal") or OutlierView.of("normal", X)
        score = self._normal(self._within(surprise)[rows], within=True)
        self._answered = Answered.of(surprise[rows], view, view(take(X, rows)), score, answers == -1)
        self._learn(X, surprise)
        return self

    def score_samples(self, X: Rows) -> np.ndarray:
        """How normal each new row is, which is minus its surprise in nats."""
        return self._scored(X)

    @by_row
    def _scored(self, X: Rows) -> np.ndarray:
        X = _dense(self._rows(X, reset=False))
        return self._score(X)

    @by_row
    def p_values(self, X: Rows) -> np.ndarray:
        """(n,) conformal p-value of each new row. At most a fraction a of ordinary rows has p ≤ a."""
        return np.round(1 - self.outlier_probability(X), 12)  # 0.05 stays 0.05

    @by_row
    def part_scores(self, X: Rows) -> np.ndarray:
        """(n, K) surprises of the parts for new rows, in nats, in the order of `parts_`."""
        X = _dense(self._rows(X, reset=False))
        return self._surprise(self._raw(X, self.parts_), self.parts_)

    @property
    def training_part_scores_(self) -> np.ndarray:
        """(n, K) surprises of the parts for the training rows, each without itself."""
        if self._known is None:
            raise InputError("This model was loaded without its training rows. Fit it again.")
        return self._known[1]

    def changed_scores(self, X: Rows, row: int) -> np.ndarray:
        """Return how normal changed versions of one training row are, by the rule for new rows and without this row.

        No part counts more than for the most unusual training row. Beyond it, surprises are extrapolated.

        Parameters
        ----------
        X : array-like (m, d)
            Changed versions of the row.
        row : int
            Number of the row in the table of `fit`.

        Returns
        -------
        scores : array (m,)
            As those of `score_samples`.
        """
        if self._known is None:
            raise InputError("This model was loaded without its training rows. Fit it again.")
        X = _dense(self._rows(X, reset=False))
        raw = self._raw(X, self.parts_, np.full(X.shape[0], self._known[2][row]))
        return -self._final(X, np.minimum(self._surprise(raw, self.parts_), np.log(2 * len(self._known[0]))))

    def in_table(self, X: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return how unusual rows are in the table from which the training rows are a sample, by the rule for these.

        Parameters
        ----------
        X : array-like (m, d)
            Rows of the table. The training rows may be among them.

        Returns
        -------
        probability : array (m,)
            Fraction of the training rows that are less unusual.
        unusual : array of bool (m,)
            Whether the row is beyond the threshold that `fit_predict` has.
        """
        X = _dense(self._rows(X, reset=False))
        scores = self._final(X, self._surprise(self._raw(X, self.parts_), self.parts_), within=True)
        places = self._equal(X)  # rows near themselves would seem ordinary
        scores = np.where(places >= 0, self.training_scores_[self._chosen[places]], scores)
        known = self.training_scores_
        return 1 - self._own.p_values(-scores), scores < threshold(known, np.ones(len(known)), self.contamination)

    def columns(self, X: Rows) -> np.ndarray:
        """(n, d) surprise of each value by itself, in nats, from tail probabilities of the columns."""
        X = _dense(self._rows(X, reset=False))
        if self._tails is None:
            raise InputError('`columns` needs the part "tails". Add it to parts.')
        return host(self._tails.columns(X))

    def _names(self) -> list:
        names = list(DEFAULT if self.parts is None else self.parts)
        wrong = [name for name in names if name not in PARTS]
        if wrong or not names or len(set(names)) < len(names):
            raise InputError(f"Invalid parts={self.parts!r}; expected different names of {', '.join(PARTS)}.")
        return names

    def _of_view(self, view: str) -> list:
        return [name.split()[1] for name in self.parts_ if name.startswith(f"{view} ")]

    def _equal(self, X: Rows) -> np.ndarray:
        """(n,) place of each row in the reference sample, or −1. They are compared in a view that computes no sums."""
        view = next((name for name in ("standardized", "normal") if name in self._near), None)
        if view is None:
            return np.full(X.shape[0], -1)
        rows = self._near[view].rows
        known = {row.tobytes(): place for place, row in enumerate(rows)}
        return np.array([known.get(row.tobytes(), -1) for row in host(self._views[view](X)).astype(rows.dtype)])

    def _raw(
        self, X: Rows, names: list, places: np.ndarray | None = None, isolated: np.ndarray | None = None
    ) -> np.ndarray:
        """(n, K) scores of the parts with these names.

        places : place of each row in the reference sample, or −1. None for new rows. isolated : scores of the forest.
        """
        n, training = X.shape[0], places is not None
        out, places = np.empty((n, len(names))), np.full(n, -1) if places is None else places
        ranks = next((one.ranks for one in (self._tails, *self._views.values()) if one and one.ranks), None)
        wanted = {view: [score for score in SCORES if f"{view} {score}" in names] for view in self._near}
        step, several = home_of(X).tiles(X)
        step = max(step, 1024)

        def fill(start: int) -> None:
            part = slice(start, start + step)
            rows, where = X[part], places[part]
            ranked = None if ranks is None else ranks(rows)
            for view, scores in wanted.items():
                if not scores:
                    continue
                near = self._near[view]
                seen = self._views[view](rows, training, ranked)
                seen = home_of(seen).single(seen) if near.rows.dtype == np.float32 else seen
                squared = squared_distances(seen, like(near.rows[: near.reach(scores)], seen))
                for score in scores:
                    out[part, names.index(f"{view} {score}")] = near.scores(score, squared, where)
            if "tails" in names:
                out[part, names.index("tails")] = self._tails(rows, training, ranked)

        parallel(fill, range(0, n, step), None if several else 1)
        if "forest" in names:
            out[:, names.index("forest")] = self._trees(X) if isolated is None else isolated
        return out

    def _surprise(self, raw: np.ndarray, names: list, own: bool = False) -> np.ndarray:
        out = np.empty(raw.shape)

        def fill(k: int) -> None:
            out[:, k] = self._references[self.parts_.index(names[k])].surprise(raw[:, k], own)

        parallel(fill, range(raw.shape[1]))
        return out

    def _outside(self, surprise: np.ndarray) -> np.ndarray:
        """(n,) combined surprises of new rows."""
        return _mean(surprise[:, [self.parts_.index(name) for name in self._of_new_rows()]])

    def _of_new_rows(self) -> list:
        return [name for name in self.parts_ if not name.endswith(CROWDS)] or self.parts_

    def _within(self, surprise: np.ndarray) -> np.ndarray:
        """(n,) combined surprises of training rows. Those of new rows count half."""
        crowds = [k for k, name in enumerate(self.parts_) if name == "forest" or name.endswith(CROWDS)]
        every = np.column_stack([self._outside(surprise), surprise[:, crowds]])
        return _mean(every, np.array([0.5] + [1.0] * len(crowds)))

    def _normal(self, combined: np.ndarray, within: bool = False) -> np.ndarray:
        """Combined surprises as normal quantiles, 0 for a middling row and 3 for one in a thousand."""
        return -ndtri(np.exp(-np.clip(self._combined[within].surprise(combined), 1e-9, 600)))

    def _final(self, X: Rows, surprise: np.ndarray, within: bool = False) -> np.ndarray:
        combined = self._within(surprise) if within else self._outside(surprise)
        if self._answered is None:
            return -combined
        return -self._answered.corrected(X, surprise, self._normal(combined, within))

    def _learn(self, X: Rows, surprise: np.ndarray) -> None:
        """Threshold and reference for new rows, and the scores of the training rows."""
        scores = self._final(X, surprise)
        self._learn_threshold(scores, None, left_out=scores)
        self.training_scores_ = self._final(X, surprise, within=True)
        self._own = Reference.of(-self.training_scores_)

    @property
    def held_out_scores_(self) -> np.ndarray:
        """(n,) scores of the training rows, each by parts that leave it out: `training_scores_`."""
        return self.training_scores_

    @property
    def held_out_probability_(self) -> np.ndarray:
        """(n,) fraction of the training rows that are less unusual than each of them."""
        return 1 - self._own.p_values(-self.training_scores_)

    def fit_predict(self, X: Rows, y: ColumnLike = None, **fit_params) -> np.ndarray:
        """Fit, and return +1 for ordinary training rows and −1 for the fraction `contamination` of outliers."""
        self.fit(X, y, **fit_params)
        if hasattr(self, "sample_"):
            return self.predict(X)
        scores = self.training_scores_
        return np.where(scores < threshold(scores, np.ones(len(scores)), self.contamination), -1, 1)

    def _score(self, X: Rows) -> np.ndarray:
        X = _dense(X)
        if self._answered is None:  # the other parts are not needed
            names = self._of_new_rows()
            return -_mean(self._surprise(self._raw(X, names), names))
        return self._final(X, self._surprise(self._raw(X, self.parts_), self.parts_))

    def __getstate__(self) -> dict:
        state = super().__getstate__()  # the training rows are not stored, so a loaded model cannot be taught
        return {name: None if name == "_known" else value for name, value in state.items()}

    def answering(self) -> Self:
        small = super().answering()
        small.__dict__["_known"] = None
        return small


def _mean(surprise: np.ndarray, weight: np.ndarray | None = None, power: int = 4) -> np.ndarray:
    return np.average(surprise**power, axis=1, weights=weight) ** (1 / power)


def _dense(X: Rows) -> Rows:
    """Rows on the host as a dense array of floating-point numbers. Rows on a device stay there."""
    rows = X.toarray() if hasattr(X, "toarray") else X
    return home_of(rows).floating(rows)
