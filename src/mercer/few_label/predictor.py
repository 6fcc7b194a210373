"""The pool of all candidates as a function of any row, in the smallest form.

Every linear candidate is affine in the features of its space; pulled back to the few base spaces below, all of them are
for each base either a mean over neighbours of n × (m k) scores (graphs) or k(x, landmarks) times a matrix of as many
columns (kernels). Nothing of size n × r is left, so this is also all that a saved model needs for new rows.
"""

import numpy as np

from ..backend import moved
from ..evidence.likelihood import as_probabilities


class Predictor:
    """Pooled probabilities of any rows.

    Parameters
    ----------
    constant : (m k',) what a row without any feature scores, for m linear candidates.
    parts : list of `GraphPart` and `KernelPart`: scores of all linear candidates side by side.
    forests : list of `ForestPart`, one candidate each.
    weights, slopes, floor : of the candidates, the linear ones first; see `Pool`.
    """

    def __init__(self, constant, parts, forests, weights, slopes, floor):
        self.constant, self.parts, self.forests = constant, parts, forests
        self.weights, self.slopes, self.floor = weights, slopes, floor

    @classmethod
    def of(cls, fitted, pool):
        """The pool of these fitted candidates; those without weight are left out."""
        used = np.flatnonzero(pool.weights)
        linear = [m for m in used if fitted[m].method != "forest"]
        forests = [m for m in used if fitted[m].method == "forest"]
        order = np.array(linear + forests, dtype=int)
        constant, columns = columns_by_base([fitted[m] for m in linear])
        parts = [base.part(W) for base, W in columns]
        forests = [fitted[m].part() for m in forests]
        return cls(constant, parts, forests, pool.weights[order], pool.slopes[order], pool.floor)

    def probabilities(self, X):
        """(n, k) pooled probabilities of the rows."""
        views = {id(part.view): part.view for part in self.parts + self.forests}
        seen = {key: view.transform(X) for key, view in views.items()}
        n_linear = len(self.weights) - len(self.forests)
        total = 0.0
        if n_linear:
            scores = self.constant + sum(part.scores(seen[id(part.view)]) for part in self.parts)
            scores = np.moveaxis(scores.reshape(X.shape[0], n_linear, -1), 1, 0)
            P = as_probabilities(scores, self.slopes[:n_linear], self.floor)
            total = np.einsum("m,mnk->nk", self.weights[:n_linear], P)
        for part, weight, slope in zip(self.forests, self.weights[n_linear:], self.slopes[n_linear:]):
            total = total + weight * as_probabilities(part.scores(seen[id(part.view)]), slope, self.floor)
        return total


def columns_by_base(linear: list) -> tuple[np.ndarray, list]:
    """((m k',) constants, [(base, (r, m k') weights of its features)]) of m fitted linear candidates, side by side."""
    constants: list = []
    bases: dict = {}
    columns: dict = {}
    for place, candidate in enumerate(linear):
        pulled, shift = candidate.space.pull_back(candidate.solution.coef)
        constants.append(np.broadcast_to(candidate.solution.intercept + shift, pulled[0][1].shape[1:]))
        for base, W in pulled:
            bases[id(base)] = base
            wide = columns.setdefault(id(base), np.zeros((len(W), len(linear), W.shape[1])))
            wide[:, place] += W
    constant = np.concatenate(constants) if constants else np.zeros(0)
    return constant, [(base, columns[key].reshape(len(columns[key]), -1)) for key, base in bases.items()]


class GraphPart:
    """Scores of the training rows, carried to other rows by their neighbours."""

    def __init__(self, view, kernel):
        self.view = view
        self.kernel = kernel

    def scores(self, rows):
        """(n, k') scores of rows in this view."""
        return self.kernel.features(rows)


class KernelPart:
    """Similarities to landmarks times weights."""

    def __init__(self, view, expansion):
        self.view = view
        self.expansion = expansion

    def scores(self, rows):
        """(n, k') scores of rows in this view."""
        return self.expansion(moved(rows))
