"""The candidates for numbers: ridge regression in the spaces of the few-label choice, and a forest.

Every candidate is ridge regression with a constant that is not penalised, which `LSSVMClassifier` solves for any
targets. So a left-out answer does not depend on the unit of the targets nor on where their zero is.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..estimators.lssvm import LSSVMClassifier
from ..solvers.ridge.pairs import errors_of_groups, residual_maker, squares_of_others
from .cost import number_forest_seconds
from .number_forest import TREES, NumberForest
from .plan import Candidate, Step, spaces_for
from .spaces import Space
from .targets import Targets
from .views import AsGiven

GAMMAS = (1.0, 10.0, 100.0)
PLACES = [  # (method, kind of space)
    ("lssvm", "kernel"),
    ("components", "components"),
    ("additive", "additive"),
    ("mixed", "joined"),
    ("diffusion", "heat 30"),
    ("diffusion", "heat 100"),
    ("sgt", "spectrum"),
]
CANDIDATES = [(method, kind, LSSVMClassifier(gamma), "gamma") for method, kind in PLACES for gamma in GAMMAS]
MEAN = LSSVMClassifier(1.0)
FAMILIES = {  # method → candidates that share one weight beforehand; what people call it, what it does
    "lssvm": ("kernel", "Least-squares SVM", "ridge regression with an RBF or linear kernel"),
    "components": ("kernel", "Least-squares SVM on components", "sees only the leading kernel principal components"),
    "additive": ("curves", "Sum of curves", "one bent line for each column"),
    "mixed": ("graph", "Least-squares SVM on both", "the mean of an RBF kernel and of the graph's heat kernel"),
    "diffusion": ("graph", "Least-squares SVM on a graph", "numbers spread from row to neighbouring row (heat kernel)"),
    "sgt": ("graph", "Smooth functions on the graph", "a few smooth functions on the neighbour graph"),
    "mean": ("mean", "Mean", "the mean of the numbers, in case the columns say nothing"),
    "forest": ("forest", "Extremely randomised trees", "mean of 200 trees, each grown on four fifths of the numbers"),
}


class NoSpace(Space):
    """No feature at all: only the constant is left to fit."""

    def __init__(self, n_rows: int) -> None:
        self.name, self.Z = "no column", np.zeros((n_rows, 1))

    def pull_back(self, W):
        """Nothing of any base."""
        return [], 0.0


PAIRS = 400  # numbers up to which two are withheld at once: O(l³) for each candidate


def number_methods(names: Any) -> tuple:
    """The methods that `methods=` of the regressor means: "auto" is all."""
    if isinstance(names, str) and names in ("auto", "all"):
        return tuple(FAMILIES)
    found = (names,) if isinstance(names, str) else tuple(names)
    if not found or any(name not in FAMILIES for name in found):
        raise InputError(f"methods={names!r} is not accepted: give 'auto' or a list of {', '.join(FAMILIES)}.")
    return found


def planned_numbers(X: Any, methods: tuple, random_state: int) -> list[Step]:
    """What the regressor builds, the most useful first."""
    steps = spaces_for([candidate for candidate in CANDIDATES if candidate[0] in methods], X, random_state)
    if "forest" in methods and not sp.issparse(X):
        steps.insert(0, Step("forest", partial(_forest, X, random_state), number_forest_seconds))
    if "mean" in methods:
        steps.insert(0, Step("mean", partial(_mean, X.shape[0]), lambda l, k: 0.0))
    if not steps:
        raise InputError(f"{', '.join(methods)} cannot read sparse rows. Add 'lssvm' to the methods, or use 'auto'.")
    return steps


def _forest(X, seed):
    return [NumberForest(f"forest of {TREES} trees", "forest", AsGiven(), X, "extra", seed)]


def _mean(n):
    return [Candidate("mean of the numbers", "mean", NoSpace(n), MEAN)]


def left_out_errors(fitted: list, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
    """((m, l) left-out errors, (m, l) sum of the squared errors of the other numbers with number i withheld too).

    Numbers of one group are withheld together. For the forest, and with very many numbers for all, number i is only
    left out of the sum.
    """
    t, groups = targets.signs[:, 0], targets.groups
    errors = np.array([t - candidate.left_out[:, 0] for candidate in fitted])
    errors = np.where(np.isfinite(errors), errors, np.where(np.isfinite(errors).any(axis=0), t, 0.0))
    copies = len(np.unique(groups)) < len(t)
    own = np.array([np.bincount(groups, row)[groups] for row in errors**2])
    sums = np.sum(errors**2, axis=1, keepdims=True) - own
    if 2 < len(t) <= PAIRS:
        for m, candidate in enumerate(fitted):
            if candidate.method != "forest":
                P, alpha = residual_maker(candidate.state.take(targets.labelled), t, 1.0 / candidate.model.gamma)
                errors[m] = errors_of_groups(P, alpha, groups) if copies else errors[m]
                sums[m] = squares_of_others(P, alpha, groups)
    return errors, sums
