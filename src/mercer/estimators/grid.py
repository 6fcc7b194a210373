"""Held-out predictions of one method over a whole grid, with one map per kernel and one decomposition per map."""

import itertools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from ..errors import InputError
from ..evidence.choice import hits
from ..inputs.labels import Labels
from ..rows import take


class Route(NamedTuple):
    """A method with a map and other parameters `changed`, ready for one call of `path` over `grid`."""

    changed: dict
    method: Any
    state: Any
    labels: Any
    grid: dict | None


class LeftOutSearch:
    """Mixin: `left_out_table` over a grid of parameters.

    A method names in ``path_parameters`` those that one call of its ``path(state, labels, grid)`` serves, which gives a
    list of parameter dicts and an array of held-out predictions. ``_read(X, y, sample_weight)`` gives state and labels.
    Parameters of the map (the kernel, its width, the approximation) cost a map and a state each. Any other parameter
    costs one call.
    """

    path_parameters: ClassVar[tuple] = ()

    def left_out_table(self, X, y, sample_weight=None, grid=None):
        """Held-out predictions for every candidate.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`.
        grid : dict of lists of candidates by parameter name. "default" is the method's own grid, None is none.

        Returns
        -------
        candidates : list of parameter dicts. The first is empty, for the parameters of this estimator as they are.
        left_out : (m, l, k') for each candidate, the predictions for the labeled rows when their own label is held out.
        labels : the labels as they were read.
        """
        routes = self.routes(X, y, sample_weight, grid)
        candidates, left_out = table_of(routes)
        return parameters_of(candidates), left_out, routes[0].labels

    def routes(self, X, y, sample_weight=None, grid=None):
        """One `Route` for each call of `path` that a grid needs. The first has the parameters as they are."""
        inner = None
        outer: dict = {}
        if isinstance(grid, dict):
            self._check_grid(grid)
            inner = {name: list(grid[name]) for name in self.path_parameters if name in grid}
            outer = {name: list(values) for name, values in grid.items() if name not in inner}
        mapping = ("kernel", "approx", "graph", "invariance", "random_state")
        of_map = {name: values for name, values in outer.items() if name.split("__")[0] in mapping}
        of_fit = {name: values for name, values in outer.items() if name not in of_map}
        found = []
        for changed in [{}, *product_of(of_map)] if of_map else [{}]:
            mapped = clone(self).set_params(**changed)
            state, labels = mapped._read(X, y, sample_weight)
            if not changed:
                own = {name: [getattr(self, name)] for name in self.path_parameters}
                found.append(Route({}, mapped, state, labels, own))
                if of_map or not grid:
                    continue
            for also in product_of(of_fit):
                method = clone(mapped).set_params(**also)
                found.append(Route({**changed, **also}, method, state, labels, inner))
        return found

    def _check_grid(self, grid: dict) -> None:
        known = self.get_params()  # type: ignore[attr-defined]
        for name, values in grid.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r} to choose. Accepted: {', '.join(sorted(known))}."
                )
            if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
                raise InputError(f"{name}={values!r} is not a list of candidates. Give at least one, as a list.")
            for value in values:
                clone(self).set_params(**{name: value})._validate_params()


def parameters_of(candidates: list) -> list:
    """The parameter dicts of the candidates of `table_of`. The first is empty."""
    return [{}, *({**route.changed, **parameters} for route, parameters in candidates[1:])]


def table_of(routes: list, labels: Labels | None = None) -> tuple[list, np.ndarray]:
    """([(route, parameters)], (m, l, k') held-out predictions) of all routes, for their own labels or for some of
    them.
    """
    candidates, answers = [], []
    for route in routes:
        parameters, left_out = route.method.path(route.state, route.labels if labels is None else labels, route.grid)
        candidates += [(route, p) for p in parameters]
        answers.append(left_out)
    return candidates, np.concatenate(answers)


def nested_hits(routes: list, choose: Callable, folds: int = 5) -> tuple[int, int]:
    """(correct labels, labels) of predictions for which neither the choice nor the fit knew the label.

    All is done again in five folds. These are random and do not keep the class frequencies, which would reveal the
    labels. So labels that are coin tosses are predicted correctly in one half. choose : function of held-out
    predictions (m, l, k') and codes (l,) that returns the number of the candidate.
    """
    labels, right = routes[0].labels, 0
    order = np.random.default_rng(0).permutation(len(labels.labeled))
    for fold in range(min(folds, len(order))):
        others, rows = labels.keep(np.sort(np.delete(order, np.s_[fold::folds]))), labels.labeled[order[fold::folds]]
        present = np.flatnonzero(others.counts() > 0)
        if len(present) < 2:
            right += int(np.sum(labels.codes[rows] == present[0])) if len(present) else 0
            continue
        candidates, left_out = table_of(routes, others)
        known = answered(others, left_out)
        chosen = choose(left_out[:, known], others.codes[others.labeled[known]]) if known.any() else 0
        route, parameters = candidates[chosen]
        solution = clone(route.method).set_params(**parameters).solve(route.state, others)
        right += int(hits(solution.scores(take(route.state.Z, rows))[None], labels.codes[rows]).sum())
    return right, len(order)


def answered(labels: Labels, left_out: np.ndarray) -> np.ndarray:
    """(l,) labeled rows whose held-out prediction (m, l, k) could be correct, because their class has another label."""
    return labels.testable & np.isfinite(left_out).all(axis=(0, 2))


def product_of(lists: dict) -> list:
    """Every combination of the values in a dict of lists, as dicts."""
    return [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
