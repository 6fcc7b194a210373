"""Which rows to label next."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from ..backend import steady
from ..errors import InputError
from ..evidence.calibration import two_columns
from ..homes import home_of
from ..solvers.ridge.effect import Gains
from .situation import doubt_of, situation

STRATEGIES = ("informative", "error", "variance", "uncertainty", "density", "coverage")
SHORTLIST = 60  # rows for which the expected error after labelling is computed in full
JUDGED = 1000  # rows on which it is computed, drawn at random where there are more


@dataclass(frozen=True)
class Suggestion:
    """Rows to label, best first.

    Attributes
    ----------
    rows : (n,) row numbers.
    gains : (n,) what the strategy measures, in its own unit; comparable within one suggestion.
    reasons : n sentences.
    drawn : (n,) which rows were drawn at random (`audit`): tell `teach` or `fit`, so that accuracy can be estimated.
    """

    rows: np.ndarray
    gains: np.ndarray
    reasons: list
    drawn: np.ndarray

    def __str__(self):
        return "\n".join(f"row {row}: {reason}" for row, reason in zip(self.rows, self.reasons))


def suggest(
    model, n=10, *, strategy="auto", audit=0.0, among=None, exclude=(), X=None, y=None, random_state=None
) -> Suggestion:
    """Suggest rows to label next.

    Parameters
    ----------
    model : fitted `FewLabelClassifier` or `FewLabelRegressor`; or a fitted `LSSVMClassifier` or `SemiKPCA` with the X
        and y of its fit; or, when there are no labels at all, the rows themselves. Of rows in Dask a sample is seen;
        X : of a `FewLabelClassifier`, other rows to choose from by "uncertainty", such as all rows in Dask: every block
        is asked for its most uncertain rows, and their numbers in X are returned.
    n : int, how many. A batch is diverse: every row lowers the gain of rows near it.
    strategy : "auto" or one of

        * "informative": uncertain itself, and its label takes away much variance from other uncertain rows;
        * "error": expected error over all rows after the label, from its exact effect (`LabelEffect`), for the rows
          that "variance" puts first;
        * "variance": how much variance the label takes away from the uncertain rows;
        * "uncertainty": the rows whose two likeliest classes are closest;
        * "density": these rows, weighted by how many rows are similar;
        * "coverage": rows that stand for all others; needs no label.

        "auto" is "coverage" without labels, else "informative"; "variance" for numbers, and then of all rows: how much
        variance a number takes away does not depend on the numbers, so it is known beforehand.
    audit : share of the n rows that are drawn at random among the unlabelled ones, at least one if above 0. Rows that
        were chosen are harder than others; an honest estimate of the accuracy rests on those drawn at random.
    among, exclude : numbers of rows to choose from (None: any), and of rows not to choose. Of more than 5 000 rows so
        many drawn at random are looked at, of a model with a core (see `prepare`) those of the core, and those in
        `among`.
    random_state : seed of these draws, and of the rows on which "error" is judged.

    Notes
    -----
    Cost: O(n r²) once and O(n r) a suggested row, n ≤ 5 000 and r the features of the heaviest linear candidate.

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
    if X is not None and hasattr(model, "check_whole"):
        return _most_uncertain(model, X, n, strategy, audit, among, exclude)
    wanted = int(n) if isinstance(n, (int, np.integer)) else 0  # what is no number is refused below
    with steady():
        now = situation(model, X, y, "suggest", () if among is None else among, wanted + len(exclude))
    if among is not None or len(exclude):
        rows = now.numbers(now.free)
        now = replace(now, free=now.free[(True if among is None else np.isin(rows, among)) & ~np.isin(rows, exclude)])
    n = now.number(n)
    if strategy == "auto":
        strategy = "variance" if now.numeric else "coverage" if now.P is None else "informative"
    if now.numeric and strategy not in ("variance", "coverage"):
        raise InputError(f"strategy={strategy!r} needs class probabilities; for numbers use 'variance'.")
    if now.P is None and not now.numeric and strategy != "coverage":
        raise InputError(f"strategy={strategy!r} needs a fitted model; without labels only 'coverage' is possible.")
    if not 0 <= audit <= 1:
        raise InputError(f"audit={audit!r} is not accepted: give a share between 0 and 1, such as 0.2.")
    rng = np.random.default_rng(len(now.effect.Z) - len(now.free) if random_state is None else random_state)
    drawn = rng.choice(now.free, int(np.ceil(audit * n)), replace=False)  # first, so that every row is as likely
    with steady():
        found = batch(replace(now, free=np.setdiff1d(now.free, drawn)), n - len(drawn), strategy, rng)
    why = "drawn at random, so that the accuracy can be estimated"
    rows, gains = now.numbers(np.append(found.rows, drawn)), np.append(found.gains, np.zeros(len(drawn)))
    return Suggestion(rows, gains, found.reasons + [why] * len(drawn), np.arange(n) >= len(found.rows))


def _most_uncertain(model, X, n, strategy, audit, among, exclude):
    """The rows of X whose two likeliest classes are closest, found block by block."""
    if strategy not in ("auto", "uncertainty") or audit or among is not None:
        raise InputError(
            'With X= the most uncertain of all its rows are found: strategy is "uncertainty", and audit= and among= '
            "are not used. Leave X out to choose among the rows of the fit."
        )
    known = model.sample_[model.labels_.labelled] if hasattr(model, "sample_") else np.zeros(0, dtype=int)
    left_out = np.union1d(np.asarray(exclude, dtype=int), known)
    P = model.predict_proba(X)
    rows, doubt = home_of(P).largest(doubt_of, P, n + len(left_out))
    keep = np.flatnonzero(~np.isin(rows, left_out))[:n]
    if len(keep) < n:
        raise InputError(
            f"{n} rows were asked for and X has {len(keep)} that can be chosen. Ask for at most {len(keep)}."
        )
    reasons = [f"its two likeliest classes are {1 - one:.1%} apart" for one in doubt[keep]]
    return Suggestion(rows[keep], doubt[keep], reasons, np.zeros(n, dtype=bool))


def batch(now, n, strategy, rng, seen=None):
    """n rows, the best first, each chosen as if those before it had a label already.

    seen : list, to which (rows, gains) of all that each could have been are added.
    """
    effect, free, doubt = now.effect, now.free, now.doubt
    everywhere = strategy in ("coverage", "density")
    focus = effect.focus_on(None if everywhere else doubt)
    of_rows: Any = Gains(effect, focus) if strategy not in ("uncertainty", "error") else None
    rows, gains, reasons = [], [], []
    total = (float(effect.own(np.arange(len(doubt))).sum()) or 1.0) if now.numeric else 1.0  # variance of all rows
    for _ in range(n):
        if strategy in ("coverage", "variance"):
            gain = of_rows.values[free]
        elif strategy == "uncertainty":
            gain = doubt[free].copy()
        elif strategy in ("informative", "density"):
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
        free = np.delete(free, best)
    if now.P is None and rows and not now.numeric:
        Z = effect.Z / np.maximum(np.linalg.norm(effect.Z, axis=1, keepdims=True), 1e-300)
        numbers = np.bincount(np.argmax(Z @ Z[rows].T, axis=1), minlength=len(rows))  # nearer to it than to the others
        reasons = [f"{number} rows are more like it than like the other suggested rows" for number in numbers]
    return Suggestion(np.array(rows, dtype=int), np.array(gains), reasons, np.zeros(len(rows), dtype=bool))


def _expected_gain(now, effect, free, focus, rng):
    """Expected fall of Σ (1 − largest probability) if a row were labelled; −inf for rows that are not looked at."""
    chosen = np.argsort(-effect.focused(free, focus))[:SHORTLIST]
    judged = np.arange(len(effect.Z))
    if len(judged) > JUDGED:
        judged = np.sort(rng.choice(judged, JUDGED, replace=False))
    base = two_columns(now.scores)[judged]
    risk = np.mean(1.0 - softmax(now.slope * base, axis=1).max(axis=1))
    gain = np.full(len(free), -np.inf)
    for i in chosen:
        j = free[i]
        after = 0.0
        for c in np.flatnonzero(now.P[j] > 0.02):
            moved = base + two_columns(now.move(effect, j, c, now.linear_scores[j])[judged]) / now.unit
            after += now.P[j, c] * np.mean(1.0 - softmax(now.slope * moved, axis=1).max(axis=1))
        gain[i] = risk * now.P[j][now.P[j] > 0.02].sum() - after
    return gain


def _reason(now, strategy, row, share):
    if now.numeric:
        return f"its number takes {share:.1%} of the variance from the predictions of all rows"
    if now.P is None:
        return ""  # known when all are chosen
    sure = f"{now.P[row].max():.0%} sure of its class"
    return {
        "informative": f"{sure}, and similar to many uncertain rows",
        "error": f"its label is expected to settle the most rows; {sure}",
        "variance": f"similar to many uncertain rows; {sure}",
        "uncertainty": sure,
        "density": f"{sure}, and similar to many rows",
        "coverage": "stands for many rows that no labelled row stands for",
    }[strategy]
