"""Why a row is named: what speaks for its class, which candidates differ, which labelled rows are most like it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

UNLIKE = 0.05  # cosine below which two rows are not called alike


@dataclass(frozen=True)
class Why:
    """What a model goes by in one row."""

    likely: list  # [(class, probability)], the likeliest first; empty for numbers, like `votes` and `families`
    votes: list  # [(class, share of the candidates' weight that names it)], the heaviest first
    nearest: list  # [(labelled row, its class or number, cosine)], the most similar first
    families: list  # [(method, the class that it names, its weight)], the heaviest first

    def between(self, first: bool = True) -> str:
        """The likeliest class, unless it stands there already, and the second if it is likely too."""
        if not self.likely:
            return ""
        answer = f"{self.likely[0][0]} ({_percent(self.likely[0][1])})" if first else ""
        other = f"or {self.likely[1][0]} ({_percent(self.likely[1][1])})" if self.likely[1][1] >= 0.05 else ""
        return f"{answer} {other}".strip()

    def against(self) -> str:
        """What the candidates that disagree with the answer say, by their weights."""
        others = [(name, share) for name, share in self.votes if name != self.likely[0][0] and share >= 0.05]
        return ", ".join(f"{_percent(share)} of the vote for {name}" for name, share in others)

    def like(self, names: Any) -> str:
        """The labelled rows that are most like it, by `names`."""
        alike = [(names[row], label) for row, label, cosine in self.nearest if cosine >= UNLIKE]
        if not alike:
            return "hardly like any labelled row"
        return "most like " + " and ".join(f"{row} ({label})" for row, label in alike)

    def sentence(self, names: Any, first: bool = True) -> str:
        """All of this in one line, with the likeliest class first or without it; `names` are those of the rows."""
        return "; ".join(part for part in (self.between(first), self.against(), self.like(names)) if part)


def why(model: Any, rows: Any, n: int = 2) -> list[Why]:
    """What a fitted few-label model goes by in some of its training rows.

    Parameters
    ----------
    model : fitted `FewLabelClassifier` or `FewLabelRegressor`.
    rows : (m,) row numbers. n : how many labelled rows to name for each.

    Examples
    --------
    >>> from mercer import FewLabelClassifier
    >>> from mercer.advice.why import why
    >>> X = [[i / 10] for i in range(10)] + [[5 + i / 10] for i in range(10)]
    >>> model = FewLabelClassifier().fit(X, ["low"] + [None] * 18 + ["high"])
    >>> why(model, [1])[0].like(range(20))
    'most like 0 (low)'
    """
    model.check_whole("why")
    rows = model.places(np.asarray(rows, dtype=int))
    labels, numeric = model.labels_, is_regressor(model)
    names = [] if numeric else model.classes_.tolist()
    told = [f"{x:.4g}" for x in labels.given] if numeric else [names[code] for code in labels.codes[labels.labelled]]
    cosines = similar_labelled(model, rows, heaviest(model))
    opinions, weights = ([], []) if numeric else (model.opinions(rows), model.votes_of(rows))
    found = []
    for place, (row, cosine) in enumerate(zip(rows, cosines)):
        own = np.where(labels.labelled == row, -np.inf, cosine)
        best = [i for i in np.argsort(-own, kind="stable")[:n] if np.isfinite(own[i])]
        nearest = [(int(model.row_numbers(labels.labelled[i])), told[i], float(own[i])) for i in best]
        if numeric:
            found.append(Why([], [], nearest, []))
            continue
        votes = weights[place] / (weights[place].sum() or 1.0)
        likely = [(names[k], float(model.probabilities_[row, k])) for k in np.argsort(-model.probabilities_[row])]
        heavy = [(names[k], float(votes[k])) for k in np.argsort(-votes) if votes[k] > 0]
        families = [(method, names[int(P[place].argmax())], weight) for method, weight, P in opinions]
        found.append(Why(likely, heavy, nearest, families))
    return found


def heaviest(model: Any) -> int:
    """The number of the candidate with the largest weight, of those that are linear in the labels if there are any."""
    return int(np.argmax(model.weights_)) if model.linear_ is None else model.linear_


def similar_labelled(model: Any, rows: Any, candidate: int = 0) -> np.ndarray:
    """(m, l) cosines of rows with the labelled ones in a candidate's space, by default the diffusion on a graph."""
    of = model.candidates_[candidate]
    return _unit(of.features(rows)) @ _unit(of.features(model.labels_.labelled)).T


def _unit(Z):
    Z = np.asarray(Z, dtype=np.float64)
    return Z / np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-300)


def _percent(share):
    return f"{100 * share:.0f} %"
