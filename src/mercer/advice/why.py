"""Reasons for a prediction, such as its probability, the candidates that differ and the most similar labeled rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import is_regressor

from ..inputs.numerals import short
from ..types import ColumnLike, Estimator, Index, Rows

SAME = 1e-6  # labeled rows whose cosines differ by less are equally similar


@dataclass(frozen=True)
class Why:
    """Reasons for the prediction of one row."""

    likely: list  # [(class, probability)], the most likely first. Empty for numbers, as are `votes` and `families`
    votes: list  # [(class, fraction of the candidates' weight that names it)], the heaviest first
    nearest: list  # [(labeled row, its class or number, cosine)], the most similar first
    families: list  # [(method, the class that it names, its weight)], the heaviest first
    hints: list = field(default_factory=list)  # [(source, its guess)]
    ties: list = field(default_factory=list)  # [(class or number, how many)] if more rows are nearest than are named

    def between(self, first: bool = True) -> str:
        """Return the most likely class (if `first`), and the second one if it has a probability of at least 5%."""
        if not self.likely:
            return ""
        best = f"{self.likely[0][0]} ({_percent(self.likely[0][1])})" if first else ""
        other = f"{self.likely[1][0]} ({_percent(self.likely[1][1])})" if self.likely[1][1] >= 0.05 else ""
        return (f"{best} or {other}" if first else f"second guess {other}") if other else best

    def against(self) -> str:
        """Return the votes of the candidates for other classes than the two most likely ones."""
        named = {name for name, _ in self.likely[:2]}
        others = [(name, part) for name, part in self.votes if name not in named and part >= 0.05]
        return ", ".join(f"{_percent(part)} of the votes are for {name}" for name, part in others)

    def like(self, names: ColumnLike) -> str:
        """Return the most similar labeled rows, by `names`."""
        # rows with a cosine below 0.05 are not called similar
        alike = [(names[row], label) for row, label, cosine in self.nearest if cosine >= 0.05]
        if not alike:
            return "hardly like any labeled row"
        if self.ties:
            counts = ", ".join(f"{number} {label}" for label, number in self.ties)
            return f"equally like {sum(number for _, number in self.ties)} labeled rows ({counts})"
        return "similar to " + " and ".join(f"{_called(row)} (labeled {label})" for row, label in alike)

    def hinted(self) -> str:
        """Return the guesses of the sources of hints."""
        return ", ".join(f"{name} says {word}" for name, word in self.hints)

    def sentence(self, names: ColumnLike, first: bool = True) -> str:
        """Return all of this in one line. `names` are those of the rows. `first` includes the most likely class."""
        parts = self.between(first), self.hinted(), self.against(), self.like(names)
        return "; ".join(part for part in parts if part)


def why(model: Estimator, rows: Sequence[int] | np.ndarray, n: int = 2) -> list[Why]:
    """Return the reasons for the predictions of some training rows of a few-label model.

    Parameters
    ----------
    model : estimator
        A fitted `FewLabelClassifier` or `FewLabelRegressor`.
    rows : sequence of int
        Row numbers.
    n : int, default=2
        Number of labeled rows to name for each row.

    Returns
    -------
    list of Why
        The reasons for each row.

    Examples
    --------
    >>> from mercer import FewLabelClassifier
    >>> from mercer.advice.why import why
    >>> X = [[i / 10] for i in range(10)] + [[5 + i / 10] for i in range(10)]
    >>> model = FewLabelClassifier().fit(X, ["low"] + [None] * 18 + ["high"])
    >>> why(model, [1])[0].like(range(20))
    'similar to row 0 (labeled low)'
    """
    model.check_whole("why")
    rows = model.places(np.asarray(rows, dtype=int))
    labels, numeric = model.labels_, is_regressor(model)
    names = [] if numeric else model.classes_.tolist()
    given = [short(x, 6) for x in labels.given] if numeric else [names[code] for code in labels.codes[labels.labeled]]
    cosines = similar_labeled(model, rows, heaviest(model))
    opinions, weights = ([], []) if numeric else (model.answers_.opinions(rows), model.answers_.votes_of(rows))
    hints = None if numeric else model.hints_
    found = []
    for place, (row, cosine) in enumerate(zip(rows, cosines)):
        own = np.where(labels.labeled == row, -np.inf, cosine)
        best = [i for i in np.argsort(-own, kind="stable")[:n] if np.isfinite(own[i])]
        nearest = [(int(model.row_numbers(labels.labeled[i])), given[i], float(own[i])) for i in best]
        tied = np.flatnonzero(np.isfinite(own) & (own >= own.max() - SAME))
        ties = Counter(given[i] for i in tied).most_common(5) if len(tied) > n else []  # at most 5 classes or numbers
        if numeric:
            found.append(Why([], [], nearest, [], ties=ties))
            continue
        votes = weights[place] / (weights[place].sum() or 1.0)
        likely = [(names[k], float(model.probabilities_[row, k])) for k in np.argsort(-model.probabilities_[row])]
        heavy = [(names[k], float(votes[k])) for k in np.argsort(-votes) if votes[k] > 0]
        families = [(method, names[int(P[place].argmax())], weight) for method, weight, P in opinions]
        found.append(Why(likely, heavy, nearest, families, [] if hints is None else hints.of_row(row), ties))
    return found


def heaviest(model: Estimator) -> int:
    """Return the number of the heaviest candidate. Candidates linear in the labels come before the others."""
    return int(np.argmax(model.answers_.fit.weights)) if model.linear_ is None else model.linear_


def similar_labeled(model: Estimator, rows: Index, candidate: int = 0) -> np.ndarray:
    """Return the (m, l) cosines of rows with the labeled ones in a candidate's space. The default is the first one."""
    of = model.candidates_[candidate]
    return _unit(of.features(rows)) @ _unit(of.features(model.labels_.labeled)).T


def _unit(Z: Rows) -> np.ndarray:
    Z = np.asarray(Z, dtype=np.float64)
    return Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-300)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f}%"


def _called(name: object) -> str:
    """Return the name of a row. A number alone would read like a value."""
    return f"row {name}" if str(name).isdigit() else str(name)
