"""Which rows to label next."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from ..backend import single_threaded_blas
from ..errors import InputError
from ..evidence.calibration import two_columns
from ..evidence.groups import same_rows
from ..homes import home_of
from ..solvers.ridge.effect import Gains, LabelEffect
from ..types import ColumnLike, Estimator, Rows, Seed
from .surrogate import LinearSurrogate, doubt_of, surrogate_of

STRATEGIES = ("informative", "error", "variance", "uncertainty", "density", "coverage")
DRAWN = "drawn at random, so that the accuracy can be estimated"


@dataclass(frozen=True)
class Suggestion:
    """Rows to label, best first.

    Attributes
    ----------
    rows : (n,) row numbers.
    gains : (n,) the criterion of the strategy, in its own unit. Gains are comparable within one suggestion.
    reasons : n sentences.
    drawn : (n,) which rows were drawn at random (`audit`). Pass this to `teach` or `fit`, so that they can estimate the
        accuracy.
    """

    rows: np.ndarray
    gains: np.ndarray
    reasons: list
    drawn: np.ndarray

    def __str__(self) -> str:
        return "\n".join(f"row {row}: {reason}" for row, reason in zip(self.rows, self.reasons))


def suggest(
    model: Estimator,
    n: int = 10,
    *,
    strategy: str = "auto",
    audit: float = 0.0,
    find: Any = None,
    among: ColumnLike = None,
    exclude: ColumnLike = (),
    X: Rows = None,
    y: ColumnLike = None,
    random_state: Seed = None,
) -> Suggestion:
    """Suggest rows to label next.

    Parameters
    ----------
    model : estimator or array-like of shape (n, d)
        A fitted `FewLabelClassifier` or `FewLabelRegressor`, or a fitted `LSSVMClassifier` or `SemiKPCA` with the X and
        y of its fit. If there are no labels at all, pass the rows themselves. A sample is used if the rows are in Dask.
    n : int, default=10
        Number of rows. The suggested rows are diverse, because every row lowers the gain of rows near it.
    strategy : str, default="auto"
        "auto" is "coverage" without labels, "variance" for a numeric target, and "informative" otherwise.

        * "informative" prefers uncertain rows whose label reduces much variance of other uncertain rows.
        * "error" minimizes the expected error over all rows after the label, from its exact effect (`LabelEffect`). It
          compares the rows that "variance" ranks first.
        * "variance" prefers the labels that reduce most variance of the uncertain rows. For a numeric target it
          considers the variance of all rows. That does not depend on the numbers, so it is known before labeling.
        * "uncertainty" prefers the rows whose two most likely classes are closest.
        * "density" weights these rows by how many rows are similar.
        * "coverage" prefers rows that represent all others. It needs no label.
    audit : float, default=0.0
        Fraction of the n rows that are drawn at random among the unlabeled ones, at least one if above 0. An unbiased
        estimate of the accuracy needs random rows, because the other suggested rows are harder than average.
    find : class name or None, default=None
        Suggest the rows that are most likely of this class, instead of those whose labels would help most.
    among : array-like of int or None, default=None
        Numbers of rows to choose from. None allows all rows. A random sample is used if there are more than 5,000. A
        model with a core (see `prepare`) uses the rows of the core and, in addition, those in `among`.
    exclude : array-like of int, default=()
        Numbers of rows not to choose.
    X : array-like or None, default=None
        The X of the fit, for models that do not keep it. For a `FewLabelClassifier`, other rows to choose from by
        "uncertainty", such as all rows in Dask. The numbers of the rows in X are returned.
    y : array-like or None, default=None
        The y of the fit, for models that do not keep it.
    random_state : int or None, default=None
        Seed of the random rows, and of the rows on which "error" is computed.

    Returns
    -------
    Suggestion
        The rows with their gains and reasons, the best first. Rows drawn at random come last.

    Notes
    -----
    The cost is O(n r²) once and O(n r) per suggested row. Here n ≤ 5,000 is the number of rows, and r is the number of
    features of the heaviest linear candidate.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import suggest
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0], [9.1]])
    >>> sorted((suggest(X, 3).rows // 3).tolist())  # one row of each group
    [0, 1, 2]
    """
    if strategy != "auto" and strategy not in STRATEGIES:
        raise InputError(f"strategy={strategy!r} is not known. Accepted: 'auto', {', '.join(map(repr, STRATEGIES))}.")
    if not 0 <= audit <= 1:
        raise InputError(f"audit={audit!r} is not accepted. Give a fraction between 0 and 1, such as 0.2.")
    if find is not None:
        if strategy != "auto" or X is not None or not hasattr(model, "confidence_of"):
            raise InputError("find= needs a fitted FewLabelClassifier, without strategy= and X=.")
        return _likeliest(model, n, find, audit, among, exclude, random_state)
    if X is not None and hasattr(model, "check_whole"):
        return _most_uncertain(model, X, n, strategy, audit, among, exclude)
    wanted = int(n) if isinstance(n, (int, np.integer)) else 0  # what is not a number is refused below
    with single_threaded_blas():
        now = surrogate_of(model, X, y, "suggest", () if among is None else among, wanted + len(exclude))
    if among is not None or len(exclude):
        rows = now.numbers(now.free)
        now = replace(now, free=now.free[(True if among is None else np.isin(rows, among)) & ~np.isin(rows, exclude)])
    n = now.number(n)
    if strategy == "auto":
        strategy = "variance" if now.numeric else "coverage" if now.P is None else "informative"
    if now.numeric and strategy not in ("variance", "coverage"):
        raise InputError(f"strategy={strategy!r} needs class probabilities. For numbers use 'variance'.")
    if now.P is None and not now.numeric and strategy != "coverage":
        raise InputError(f"strategy={strategy!r} needs a fitted model. Without labels only 'coverage' is possible.")
    rng = np.random.default_rng(len(now.effect.Z) - len(now.free) if random_state is None else random_state)
    drawn = rng.choice(now.free, int(np.ceil(audit * n)), replace=False)  # first, so that every row is as likely
    with single_threaded_blas():
        groups = _equal_rows(model, now.rows, len(now.effect.Z))
        left = replace(now, free=np.setdiff1d(now.free, drawn))
        found = batch(left, n - len(drawn), strategy, rng, groups=groups, taken=groups[drawn])
    rows, gains = now.numbers(np.append(found.rows, drawn)), np.append(found.gains, np.zeros(len(drawn)))
    return Suggestion(rows, gains, found.reasons + [DRAWN] * len(drawn), np.arange(n) >= len(found.rows))


def _equal_rows(model: Any, rows: np.ndarray | None, n: int) -> np.ndarray:
    """Return the (n,) numbers of the groups of equal rows. Without the rows, each row is a group."""
    library = getattr(model, "library_", None)
    if library is not None and not hasattr(model, "sample_"):
        return library.groups if rows is None else library.groups[rows]
    return same_rows(model) if isinstance(model, np.ndarray) and len(model) == n else np.arange(n)


def _likeliest(
    model: Estimator, n: int, name: object, audit: float, among: ColumnLike, exclude: ColumnLike, random_state: Seed
) -> Suggestion:
    """Return the unlabeled rows with the largest probability of a class, and rows drawn at random."""
    names, codes = model.classes_.tolist(), model.labels_.codes
    if name not in names:
        raise InputError(f"find={name!r} is not a class that has a label. Accepted: {', '.join(map(repr, names))}.")
    free = np.flatnonzero(codes < 0)
    rows = model.row_numbers(free)
    free = free[(True if among is None else np.isin(rows, among)) & ~np.isin(rows, exclude)]
    if not 0 < n <= len(free):
        raise InputError(f"n={n!r} is not accepted. Give a number from 1 to {len(free)}, the rows to choose from.")
    rng = np.random.default_rng(random_state)
    drawn = rng.choice(free, int(np.ceil(audit * n)), replace=False)
    free = np.setdiff1d(free, drawn)
    P = model.probabilities_[free, names.index(name)]
    groups, order = _equal_rows(model, None, len(codes)), np.argsort(-P, kind="stable")
    first = np.zeros(len(order), dtype=bool)
    first[np.unique(groups[free[order]], return_index=True)[1]] = True
    first &= ~np.isin(groups[free[order]], groups[drawn])
    best = np.concatenate([order[first], order[~first]])[: n - len(drawn)]
    reasons = [f"{name} with a probability of {p:.0%}" for p in P[best]] + [DRAWN] * len(drawn)
    gains = np.append(P[best], np.zeros(len(drawn)))
    return Suggestion(model.row_numbers(np.append(free[best], drawn)), gains, reasons, np.arange(n) >= len(best))


def _most_uncertain(
    model: Estimator, X: Rows, n: int, strategy: str, audit: float, among: ColumnLike, exclude: ColumnLike
) -> Suggestion:
    """Return the rows of X whose two most likely classes are closest, found block by block."""
    if strategy not in ("auto", "uncertainty") or audit or among is not None:
        raise InputError(
            'With X= the most uncertain rows of X are found. Only strategy="uncertainty" is possible, without audit= '
            "and among=. Omit X to choose among the rows of the fit."
        )
    known = model.sample_[model.labels_.labeled] if hasattr(model, "sample_") else np.zeros(0, dtype=int)
    left_out = np.union1d(np.asarray(exclude, dtype=int), known)
    P = model.predict_proba(X)
    rows, doubt = home_of(P).largest(doubt_of, P, n + len(left_out))
    keep = np.flatnonzero(~np.isin(rows, left_out))[:n]
    if len(keep) < n:
        raise InputError(
            f"{n} rows were requested and X has {len(keep)} that can be chosen. Ask for at most {len(keep)}."
        )
    reasons = [f"its two likeliest classes are {1 - one:.1%} apart" for one in doubt[keep]]
    return Suggestion(rows[keep], doubt[keep], reasons, np.zeros(n, dtype=bool))


def batch(
    now: LinearSurrogate,
    n: int,
    strategy: str,
    rng: np.random.Generator,
    seen: list | None = None,
    groups: np.ndarray | None = None,
    taken: Iterable[int] = (),
) -> Suggestion:
    """Return n rows, the best first. Each is chosen as if those before it had a label already.

    Parameters
    ----------
    seen : list or None, default=None
        A list to which (rows, gains) of all candidates of each step are added.
    groups : array of int or None, default=None
        Numbers of the groups of equal rows. One row of each group is chosen as long as there are other groups.
    taken : iterable of int, default=()
        Groups of rows that are chosen already.
    """
    effect, every, doubt, taken = now.effect, now.free, now.doubt, set(taken)
    everywhere = strategy in ("coverage", "density")
    focus = effect.focus_on(None if everywhere else doubt)
    of_rows = Gains(effect, focus) if strategy not in ("uncertainty", "error") else None
    rows, gains, reasons = [], [], []
    total = (float(effect.own(np.arange(len(doubt))).sum()) or 1.0) if now.numeric else 1.0  # variance of all rows
    for _ in range(n):
        new = every if groups is None or not taken else every[~np.isin(groups[every], list(taken))]
        free = new if len(new) else every
        if of_rows is not None and strategy in ("coverage", "variance"):
            gain = of_rows.values[free]
        elif strategy == "uncertainty":
            gain = doubt[free].copy()
        elif of_rows is not None and strategy in ("informative", "density"):
            gain = doubt[free] * of_rows.values[free]
        else:
            gain = _expected_gain(now, effect, free, focus, rng)
        best = int(np.argmax(gain))
        if seen is not None:
            seen.append((free, gain))
        row = int(free[best])
        rows.append(row)
        gains.append(float(gain[best]))
        reasons.append(_reason(now, strategy, row, gains[-1] / total))
        effect = effect.after(row)
        if of_rows is not None:
            of_rows.label(row)
        every = every[every != row]
        taken |= set() if groups is None else {int(groups[row])}
    if now.P is None and rows and not now.numeric:
        Z = effect.Z / np.maximum(np.linalg.norm(effect.Z, axis=1, keepdims=True), 1e-300)
        numbers = np.bincount(np.argmax(Z @ Z[rows].T, axis=1), minlength=len(rows))  # nearer to it than to the others
        reasons = [f"{number} rows are more like it than like the other suggested rows" for number in numbers]
    return Suggestion(np.array(rows, dtype=int), np.array(gains), reasons, np.zeros(len(rows), dtype=bool))


def _expected_gain(
    now: LinearSurrogate, effect: LabelEffect, free: np.ndarray, focus: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the expected decrease of Σ (1 − largest probability) if a row is labeled. −inf for rows not considered."""
    chosen = np.argsort(-effect.focused(free, focus))[:60]  # the expected error is computed in full for 60 rows
    judged = np.arange(len(effect.Z))
    if len(judged) > 1000:  # it is averaged over at most 1000 rows
        judged = np.sort(rng.choice(judged, 1000, replace=False))
    base = two_columns(now.scores)[judged]
    risk = np.mean(1.0 - softmax(now.slope * base, axis=1).max(axis=1))
    gain = np.full(len(free), -np.inf)
    for i in chosen:
        j = free[i]
        after = 0.0
        for c in np.flatnonzero(now.P[j] > 0.02).tolist():
            moved = base + two_columns(now.move(effect, j, c, now.linear_scores[j])[judged]) / now.unit
            after += now.P[j, c] * np.mean(1.0 - softmax(now.slope * moved, axis=1).max(axis=1))
        gain[i] = risk * now.P[j][now.P[j] > 0.02].sum() - after
    return gain


def _reason(now: LinearSurrogate, strategy: str, row: int, part: float) -> str:
    if now.numeric:
        return f"its number takes {part:.1%} of the variance from the predictions of all rows"
    if now.P is None:
        return ""  # known when all are chosen
    sure = f"{now.P[row].max():.0%} sure of its class"
    return {
        "informative": f"{sure}, and similar to many uncertain rows",
        "error": f"{sure}, and its label is expected to settle the most rows",
        "variance": f"{sure}, and similar to many uncertain rows",
        "uncertainty": sure,
        "density": f"{sure}, and similar to many rows",
        "coverage": "similar to many rows, none of them similar to a labeled row",
    }[strategy]
