"""The pool of all candidates as a function of any row, in the smallest form.

Every linear candidate is affine in the features of its space. Pulled back to the few base spaces below, all of them are
for each base either a mean over neighbors of n × (m k) scores (graphs) or k(x, landmarks) times a matrix of as many
columns (kernels). Nothing of size n × r is left, so this is also all that a saved model needs for new rows.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from ..backend import moved
from ..evidence.calibration import as_probabilities
from ..geometry.expansion import Expansion
from ..graphs.given import KnownRows
from ..kernels.graph import Diffusion
from ..types import Index, Rows
from .views import View

if TYPE_CHECKING:
    from .candidates.base import Fitted
    from .spaces import BaseSpace
    from .weights import Pool


class Part(Protocol):
    """Scores of rows in one view."""

    view: View

    def scores(self, rows: Rows) -> np.ndarray:
        """(n, k') scores of rows in this view."""


class Predictor:
    """Pooled probabilities of any rows.

    Parameters
    ----------
    constant : (m k',) scores of a row without any feature, for m linear candidates.
    parts : list of `GraphPart` and `KernelPart` with the scores of all linear candidates side by side.
    forests : list of `ForestPart`, one candidate each.
    weights, slopes, floor : those of `Pool` for the candidates, the linear ones first.
    """

    def __init__(
        self,
        constant: np.ndarray,
        parts: Sequence[Part],
        forests: Sequence[Part],
        weights: np.ndarray,
        slopes: np.ndarray,
        floor: float,
    ) -> None:
        self.constant, self.parts, self.forests = constant, parts, forests
        self.weights, self.slopes, self.floor = weights, slopes, floor

    @classmethod
    def of(cls, fitted: Sequence["Fitted"], pool: "Pool") -> Self:
        """Return the pool of these fitted candidates. Those without weight are omitted."""
        used = np.flatnonzero(pool.weights).tolist()
        linear = [m for m in used if not fitted[m].direct]
        direct = [m for m in used if fitted[m].direct]
        order = np.array(linear + direct, dtype=int)
        constant, columns = columns_by_base([fitted[m] for m in linear])
        parts = [base.part(W) for base, W in columns]
        forests = [fitted[m].part() for m in direct]
        return cls(constant, parts, forests, pool.weights[order], pool.slopes[order], pool.floor)

    def probabilities(self, X: Rows) -> np.ndarray:
        """(n, k) pooled probabilities of the rows."""
        seen = _seen(X, [*self.parts, *self.forests])
        n_linear = len(self.weights) - len(self.forests)
        total: Rows = 0.0
        if n_linear:
            scores = self.constant + sum(part.scores(seen[id(part.view)]) for part in self.parts)
            scores = np.moveaxis(scores.reshape(X.shape[0], n_linear, -1), 1, 0)
            P = as_probabilities(scores, self.slopes[:n_linear], self.floor)
            total = np.einsum("m,mnk->nk", self.weights[:n_linear], P)
        for part, weight, slope in zip(self.forests, self.weights[n_linear:], self.slopes[n_linear:]):
            total = total + weight * as_probabilities(part.scores(seen[id(part.view)]), slope, self.floor)
        return np.asarray(total)


class MeanPredictor:
    """Weighted mean of the candidates' scores of any rows, which predicts numbers.

    Parameters
    ----------
    constant : (1,) score of a row without any feature, times the weight of the linear candidates.
    parts : list of `GraphPart` and `KernelPart`, which contain the weights.
    forests : list of (weight, `ForestPart`).
    """

    def __init__(self, constant: np.ndarray, parts: Sequence[Part], forests: Sequence[tuple[float, Part]]) -> None:
        self.constant, self.parts, self.forests = constant, parts, forests

    @classmethod
    def of(cls, fitted: Sequence["Fitted"], weights: np.ndarray) -> Self:
        """Return the mean of these fitted candidates. Those without weight are omitted."""
        used = [(candidate, float(weight)) for candidate, weight in zip(fitted, weights) if weight]
        linear = [pair for pair in used if not pair[0].direct]
        mix = np.array([[weight] for _, weight in linear])
        constant, columns = columns_by_base([one for one, _ in linear], mix)
        forests = [(weight, one.part()) for one, weight in used if one.direct]
        return cls(constant, [base.part(W) for base, W in columns], forests)

    def scores(self, X: Rows) -> np.ndarray:
        """(n,) scores of the rows."""
        seen = _seen(X, [*self.parts, *(part for _, part in self.forests)])
        total = np.broadcast_to(self.constant.sum(), X.shape[:1])  # 0 if there are only forests
        weighted: list[tuple[float, Part]] = [*((1.0, part) for part in self.parts), *self.forests]
        for weight, part in weighted:
            total = total + weight * part.scores(seen[id(part.view)])[:, 0]
        return total


def columns_by_base(
    linear: Sequence[Any], mix: np.ndarray | None = None
) -> tuple[np.ndarray, list[tuple["BaseSpace", np.ndarray]]]:
    """Return ((p k',) constants, [(base, (r, p k') weights of its features)]) of m fitted linear candidates.

    mix : (m, p) fractions of the candidates in p mixtures, which are side by side. None means each candidate alone.
    """
    mix = np.eye(len(linear)) if mix is None else mix
    constants: dict[int, np.ndarray] = {}
    bases: dict[int, BaseSpace] = {}
    columns: dict[int, np.ndarray] = {}
    for candidate, own in zip(linear, mix):
        pulled, shift = candidate.space.pull_back(candidate.solution.coef)
        k = candidate.solution.coef.shape[1]
        constant = np.broadcast_to(candidate.solution.intercept + shift, (k,))
        for place in np.flatnonzero(own).tolist():
            constants[place] = constants.get(place, 0.0) + own[place] * constant
            for base, W in pulled:
                bases[id(base)] = base
                wide = columns.setdefault(id(base), np.zeros((len(W), len(own), k)))
                wide[:, place] += own[place] * W
    constant = np.concatenate([constants[place] for place in sorted(constants)]) if constants else np.zeros(0)
    return constant, [(base, columns[key].reshape(len(columns[key]), -1)) for key, base in bases.items()]


def _seen(X: Rows, parts: Sequence[Part]) -> dict[int, Rows]:
    """Return the rows in the views of the parts, by the identity of the view."""
    views = {id(part.view): part.view for part in parts}
    return {key: view.transform(X) for key, view in views.items()}


class GraphPart:
    """Scores of the training rows, carried to other rows by their neighbors."""

    def __init__(self, view: View, kernel: Diffusion) -> None:
        self.view = view
        self.kernel = kernel

    def scores(self, rows: Rows) -> np.ndarray:
        """(n, k') scores of rows in this view."""
        return self.kernel.features(rows)


class KnownPart:
    """Scores of the training rows, for these rows alone. Other rows have the score 0.

    Parameters
    ----------
    known : recognizes the training rows. values : (n, k') the scores.
    """

    def __init__(self, view: View, known: KnownRows, values: np.ndarray) -> None:
        self.view, self.known, self.values = view, known, values

    def scores(self, rows: Index) -> np.ndarray:
        """(n, k') scores of rows in this view."""
        return np.asarray(self.known.spread(rows) @ self.values)


class KernelPart:
    """Similarities to landmarks times weights."""

    def __init__(self, view: View, expansion: Expansion) -> None:
        self.view = view
        self.expansion = expansion

    def scores(self, rows: Rows) -> np.ndarray:
        """(n, k') scores of rows in this view."""
        return self.expansion(moved(rows))
