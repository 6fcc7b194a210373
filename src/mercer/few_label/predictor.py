"""The average of all candidates as a function of any row, in the smallest form.

Every candidate is affine in the features of its space, and so is their average; pulled back to the few base spaces
below, it is for each base either a mean over neighbours of n × k scores (graphs) or k(x, landmarks) times a matrix of k
columns (kernels). Nothing of size n × r is left, so this is also all that a saved model needs for new rows.
"""

import numpy as np

from ..backend import moved


class Predictor:
    """Scores of any rows: a constant, and a part for each base space.

    Parameters
    ----------
    constant : (k',) or 0, what a row without any feature scores.
    parts : list of `GraphPart` and `KernelPart`.
    """

    def __init__(self, constant, parts):
        self.constant = constant
        self.parts = parts

    @classmethod
    def of(cls, candidates, shares):
        """The sum of the fitted candidates' scores, each times its share."""
        constant: np.ndarray | float = 0.0
        weights: dict = {}
        bases: dict = {}
        for candidate, share in zip(candidates, shares):
            pulled, shift = candidate.space.pull_back(candidate.solution.coef)
            constant = constant + share * (candidate.solution.intercept + shift)
            for base, W in pulled:
                bases[id(base)] = base
                weights[id(base)] = share * W + weights.get(id(base), 0.0)
        return cls(constant, [base.part(weights[key]) for key, base in bases.items()])

    def scores(self, X):
        """(n, k') scores of the rows."""
        views = {id(part.view): part.view for part in self.parts}
        seen = {key: view.transform(X) for key, view in views.items()}
        return self.constant + sum(part.scores(seen[id(part.view)]) for part in self.parts)


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
