"""Which predictions and labels to check again, with named reasons."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import need
from ..errors import InputError
from ..few_label.classifier import FewLabelClassifier
from ..rows import host, squares
from ..types import Estimator, Frame
from .suspicious import suspicious
from .why import similar_labeled

CONTRADICTED = 0.2  # a given label is doubtful if it is wrong with more than this probability
REASONS = {
    "low margin": "the two likeliest classes are nearly equally likely",
    "candidates disagree": "the candidates that were averaged name different classes",
    "label contradicted": "the other labels speak against the given label",
    "far from labels": "hardly similar to any labeled row, even through other rows",
    "novel": "far from what the leading components of all rows can describe",
}


@dataclass(frozen=True)
class Doubts:
    """Doubtful rows, the most doubtful first.

    Attributes
    ----------
    rows : (m,) row numbers.
    reasons : m lists of names from `REASONS`.
    labels, confidence : (m,) the predictions for these rows and their probability.
    """

    rows: np.ndarray
    reasons: list
    labels: np.ndarray
    confidence: np.ndarray

    def to_frame(self) -> Frame:
        """Return the rows as a pandas DataFrame."""
        columns = {"row": self.rows, "label": self.labels, "confidence": self.confidence}
        return need("pandas").DataFrame(columns | {"reasons": [", ".join(names) for names in self.reasons]})

    def __str__(self) -> str:
        lines = zip(self.rows, self.labels.tolist(), self.confidence, self.reasons)
        return "\n".join(f"row {row}: {label} ({p:.0%}): {', '.join(names)}" for row, label, p, names in lines)


def doubt(
    model: Estimator, *, margin: float = 0.2, agreement: float = 0.7, similarity: float = 0.05, novelty: float = 10.0
) -> Doubts:
    """Find the rows whose prediction should be checked, with named reasons.

    Parameters
    ----------
    model : estimator
        A fitted `FewLabelClassifier`.
    margin : float, default=0.2
        A row has a "low margin" if the most likely class leads by less, in probability.
    agreement : float, default=0.7
        Fraction of the candidates' weight that must name the same class, else "candidates disagree".
    similarity : float, default=0.05
        A row is "far from labels" if the cosine between its diffusion features and those of the nearest labeled row is
        smaller.
    novelty : float, default=10.0
        A row is "novel" when its reconstruction error is above the third quartile by so many interquartile ranges. Rows
        at the rim of a cloud reach about 7.

    Returns
    -------
    Doubts
        Rows with a given label appear with "label contradicted" only.

    Examples
    --------
    >>> from mercer import FewLabelClassifier, doubt
    >>> X = [[i / 10] for i in range(10)] + [[5 + i / 10] for i in range(10)]
    >>> y = [0, 0, 0, 1] + [-1] * 12 + [1, 1, 1, 1]  # row 3 is wrong
    >>> found = doubt(FewLabelClassifier().fit(X, y))
    >>> found.reasons[found.rows.tolist().index(3)]
    ['label contradicted']
    """
    if not isinstance(model, FewLabelClassifier):
        raise InputError(f"doubt needs a fitted FewLabelClassifier, not {type(model).__name__}.")
    model.check_whole("doubt")
    given = model.labels_.codes >= 0
    P, votes = np.sort(model.probabilities_, axis=1), model.answers_.fit.votes
    flags = {
        "low margin": (P[:, -1] - P[:, -2] < margin) & ~given,
        "candidates disagree": (votes.max(axis=1) < agreement * votes.sum(axis=1)) & ~given,
        "label contradicted": np.isin(np.arange(len(given)), model.places(suspicious(model, above=CONTRADICTED).rows)),
        "far from labels": (_nearest(model) < similarity) & ~given,
        "novel": _novel(model, novelty) & ~given,
    }
    table = np.column_stack([flags[name] for name in REASONS])
    rows = np.flatnonzero(table.any(axis=1))
    rows = rows[np.lexsort((P[rows, -1] - P[rows, -2], -table[rows].sum(axis=1)))]
    reasons = [[name for name, flag in zip(REASONS, table[row]) if flag] for row in rows]
    return Doubts(model.row_numbers(rows), reasons, model.transduction_[rows], model.confidence_[rows])


def _nearest(model: Estimator) -> np.ndarray:
    """Return the (n,) largest cosines with a labeled row."""
    starts = range(0, len(model.labels_.codes), 4096)
    return np.concatenate([similar_labeled(model, slice(i, i + 4096)).max(axis=1) for i in starts])


def _novel(model: Estimator, ranges: Any) -> np.ndarray:
    """Return (n,) whether the reconstruction error of a row from a kernel's leading components is unusually large.

    The leading components have nine tenths of the variance that the space keeps. The space is that of the first
    candidate based on kernel PCA.
    """
    for candidate in model.candidates_:
        if candidate.method in ("ls_kpca", "semi_kpca"):
            axes = candidate.space
            base, Z = squares(axes.base.Z), np.asarray(host(axes.Z), dtype=np.float64)
            power = np.mean(Z**2, axis=0) / axes.scale**2
            kept = int(np.searchsorted(np.cumsum(power), 0.9 * power.sum())) + 1
            described = np.sum(Z[:, :kept] ** 2, axis=1) / axes.scale**2
            error = np.maximum(base - described, 0.0)
            low, high = np.quantile(error, [0.25, 0.75])
            found = np.zeros(len(model.labels_.codes), dtype=bool)
            found[model.library_.core] = error > high + ranges * max(high - low, 1e-9 * float(base.mean()))
            return found
    return np.zeros(len(model.labels_.codes), dtype=bool)
