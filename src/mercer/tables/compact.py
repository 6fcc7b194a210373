"""A fitted `FewLabelClassifier` reduced to what predicting needs.

The candidates and their feature spaces (n × r each, a dozen of them) are there to choose and to teach. Their average is
affine in the features of a few base spaces, so for new rows it is, for each base, either a mean over neighbours of
n × k scores (graphs) or k(x, landmarks) times a small matrix (kernels). The probabilities are the same; the file is a
hundred times smaller.
"""

import copy

import numpy as np
from sklearn.base import BaseEstimator

from ..errors import InputError
from ..selection.spaces import GraphSpace, KernelSpace
from ..solvers.calibrate import probabilities

BLOCK = 4096  # rows whose similarities to the landmarks are held at once


class CompactClassifier(BaseEstimator):
    """Predicts as the model it was made `of` does; cannot be taught."""

    @classmethod
    def of(cls, model):
        """Reduce a fitted `FewLabelClassifier`."""
        used = [m for m, candidate in enumerate(model.fitted_) if candidate is not None]
        shares = {m: model.weights_[m] / model.scale_[m] for m in used}
        bases: dict = {}
        for m in used:
            bases |= {id(base): base for base in _bases(model.fitted_[m].space)}
        made = cls()
        made.classes_, made.prior_ = model.classes_, model.prior_
        made.calibration_, made.offsets_ = model.calibration_, model.offsets_
        made.left_out_accuracy_, made.accuracy_interval_ = model.left_out_accuracy_, model.accuracy_interval_
        made.reasons_ = list(model.report_.sentences)
        made.n_features_in_ = model.n_features_in_
        made.constant_ = np.zeros(model.scores_.shape[1])
        weights = {key: np.zeros((base.Z.shape[1], len(made.constant_))) for key, base in bases.items()}
        for m in used:
            candidate = model.fitted_[m]
            constant = candidate.decide(candidate.space.transform(None, _zeros(bases, 1)))
            made.constant_ += shares[m] * constant[0]
            for base in _bases(candidate.space):
                width = base.Z.shape[1]
                seen = _zeros(bases, width) | {id(base): np.eye(width)}
                weights[id(base)] += shares[m] * (candidate.decide(candidate.space.transform(None, seen)) - constant)
        made.parts_ = [_part(base, weights[key]) for key, base in bases.items()]
        return made

    def decision_function(self, X):
        """Averaged scores: (n,), positive for `classes_[1]`, with two classes; else (n, k), the largest wins."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X):
        """(n, k) class probabilities."""
        slope, floor = self.calibration_
        scores = self._scores(X)
        shift = self.offsets_[1:] - self.offsets_[:1] if scores.shape[1] == 1 else self.offsets_
        return probabilities(scores + shift / slope, slope, floor)

    def predict(self, X):
        """(n,) the likeliest class of each row."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def _scores(self, X):
        if X.shape[1] != self.n_features_in_:
            raise InputError(f"X has {X.shape[1]} features; this model was trained with {self.n_features_in_}.")
        return self.constant_ + sum(part.scores(X) for part in self.parts_)


class GraphPart:
    """Scores of the training rows, carried to new rows by their neighbours."""

    def __init__(self, view, kernel):
        self.view = view
        self.kernel = kernel

    def scores(self, X):
        """(n, k) scores."""
        return self.kernel.features(self.view.transform(X))


class KernelPart:
    """Similarities to landmarks times weights."""

    def __init__(self, view, kernel, landmarks, weights):
        self.view = view
        self.kernel = kernel
        self.landmarks = landmarks
        self.weights = weights

    def scores(self, X):
        """(n, k) scores."""
        rows = self.view.transform(X)
        blocks = [self.kernel(rows[i : i + BLOCK], self.landmarks) @ self.weights for i in range(0, len(X), BLOCK)]
        return np.concatenate(blocks)


class MapPart:
    """Features of a map times weights, where the map cannot be folded into the weights."""

    def __init__(self, view, map_, weights):
        self.view = view
        self.map_ = map_
        self.weights = weights

    def scores(self, X):
        """(n, k) scores."""
        return self.map_.transform(self.view.transform(X)) @ self.weights


def _part(base, weights):
    if isinstance(base, GraphSpace):
        kernel = copy.copy(base.kernel_)
        kernel.factor_ = base.scale * (kernel.factor_ @ weights)
        for unused in ("graph_", "spectrum_"):
            kernel.__dict__.pop(unused, None)
        return GraphPart(base.view, kernel)
    if isinstance(base, KernelSpace):
        return MapPart(base.view, base.map_, base.scale * weights) if not _folds(base) else _fold(base, weights)
    raise InputError(f"A space of type {type(base).__name__} cannot be reduced. Save the classifier itself instead.")


def _folds(base):
    return base.map_.kernel_.psd and base.map_.triangular_


def _fold(base, weights):
    """k(x, landmarks) L⁻ᵀ weights with the triangular solve done once, on the weights."""
    import scipy.linalg as sla

    folded = sla.solve_triangular(base.map_.root_, base.scale * weights, lower=True, trans="T")
    return KernelPart(base.view, base.map_.kernel_, base.map_.landmarks_, folded)


def _bases(space):
    """The spaces with features of their own below a space."""
    if hasattr(space, "base"):
        return _bases(space.base)
    if hasattr(space, "parts"):
        return [base for part in space.parts for base in _bases(part)]
    return [space]


def _zeros(bases, n):
    return {key: np.zeros((n, base.Z.shape[1])) for key, base in bases.items()}
