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
        seen = _seen(X, self.parts + self.forests)
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


class MeanPredictor:
    """Weighted mean of the candidates' scores of any rows: what numbers are predicted by.

    Parameters
    ----------
    constant : (1,) what a row without any feature scores, times the weight of the linear candidates.
    parts : list of `GraphPart` and `KernelPart`, in which the weights are contained.
    forests : list of (weight, `ForestPart`).
    """

    def __init__(self, constant, parts, forests):
        self.constant, self.parts, self.forests = constant, parts, forests

    @classmethod
    def of(cls, fitted, weights):
        """The mean of these fitted candidates; those without weight are left out."""
        used = [(candidate, float(weight)) for candidate, weight in zip(fitted, weights) if weight]
        linear = [pair for pair in used if pair[0].method != "forest"]
        shares = np.array([[weight] for _, weight in linear])
        constant, columns = columns_by_base([one for one, _ in linear], shares)
        forests = [(weight, one.part()) for one, weight in used if one.method == "forest"]
        return cls(constant, [base.part(W) for base, W in columns], forests)

    def scores(self, X):
        """(n,) scores of the rows."""
        seen = _seen(X, self.parts + [part for _, part in self.forests])
        total = np.broadcast_to(self.constant.sum(), X.shape[:1])  # no constant: there are forests only
        for weight, part in [*((1.0, part) for part in self.parts), *self.forests]:
            total = total + weight * part.scores(seen[id(part.view)])[:, 0]
        return total


def columns_by_base(linear: list, mix: np.ndarray | None = None) -> tuple[np.ndarray, list]:
    """((p k',) constants, [(base, (r, p k') weights of its features)]) of m fitted linear candidates.

    mix : (m, p) shares of the candidates in p mixtures, which stand side by side; None: the candidates themselves.
    """
    mix = np.eye(len(linear)) if mix is None else mix
    constants: dict = {}
    bases: dict = {}
    columns: dict = {}
    for candidate, shares in zip(linear, mix):
        pulled, shift = candidate.space.pull_back(candidate.solution.coef)
        k = candidate.solution.coef.shape[1]
        constant = np.broadcast_to(candidate.solution.intercept + shift, (k,))
        for place in np.flatnonzero(shares):
            constants[place] = constants.get(place, 0.0) + shares[place] * constant
            for base, W in pulled:
                bases[id(base)] = base
                wide = columns.setdefault(id(base), np.zeros((len(W), len(shares), k)))
                wide[:, place] += shares[place] * W
    constant = np.concatenate([constants[place] for place in sorted(constants)]) if constants else np.zeros(0)
    return constant, [(base, columns[key].reshape(len(columns[key]), -1)) for key, base in bases.items()]


def _seen(X, parts):
    """{identity of a view: the rows so seen} for the views of the parts."""
    views = {id(part.view): part.view for part in parts}
    return {key: view.transform(X) for key, view in views.items()}


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
