"""Held-out predictions of one method over a parameter grid, with one map per kernel and one decomposition per map."""

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
    """A method with changed parameters and the state and labels for one call of `path` over `grid`."""

    changed: dict
    method: Any
    state: Any
    labels: Any
    grid: dict | None


class LeftOutSearch:
    """Mixin with `left_out_table` for a grid of parameters.

    One call of ``path(state, labels, grid)`` of the method computes the held-out predictions for all values of the
    parameters in ``path_parameters``. It returns a list of parameter dicts and an array of predictions.
    ``_read(X, y, sample_weight)`` returns state and labels. Every value of a parameter of the map (the kernel, its
    width, the approximation) needs another map and state. Every value of any other parameter needs another call.
    """

    path_parameters: ClassVar[tuple] = ()

    def left_out_table(self, X, y, sample_weight=None, grid=None):
        """Held-out predictions for every candidate.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`.
        grid : dict of lists of candidates by parameter name. "default" is the method's own grid. None means no grid.

        Returns
        -------
        candidates : list of parameter dicts. The first is empty, for the current parameters of this estimator.
        left_out : (m, l, k') held-out predictions for the labeled rows, for each candidate.
        labels : the `Labels` in y.
        """
        routes = self.routes(X, y, sample_weight, grid)
        candidates, left_out = table_of(routes)
        return parameters_of(candidates), left_out, routes[0].labels

    def routes(self, X, y, sample_weight=None, grid=None):
        """One `Route` for each call of `path` that a grid needs. The first has the current parameters."""
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
                    f"{type(self).__name__} has no parameter {name!r} to choose. Use {', '.join(sorted(known))}."
                )
            if isinstance(values, str) or not hasattr(values, "__len__") or len(values) == 0:
                raise InputError(f"{name}={values!r} is not a list of candidates. Give at least one, as a list.")
            for value in values:
                clone(self).set_params(**{name: value})._validate_params()


def parameters_of(candidates: list) -> list:
    """The parameter dicts of the candidates of `table_of`. The first is empty."""
    return [{}, *({**route.changed, **parameters} for route, parameters in candidates[1:])]


def table_of(routes: list, labels: Labels | None = None) -> tuple[list, np.ndarray]:
    """([(route, parameters)], (m, l, k') held-out predictions) of all routes, for all of their labels or the given."""
    candidates, predictions = [], []
    for route in routes:
        parameters, left_out = route.method.path(route.state, route.labels if labels is None else labels, route.grid)
        candidates += [(route, p) for p in parameters]
        predictions.append(left_out)
    return candidates, np.concatenate(predictions)


def nested_hits(routes: list, choose: Callable, folds: int = 5) -> tuple[int, int]:
    """(correct predictions, predictions) for labels that neither the choice of parameters nor the fit has seen.

    Choice and fit are repeated in five folds. The folds are random and not stratified, because class frequencies would
    reveal the labels. Random labels are therefore predicted correctly in half of the cases. `choose` is a function of
    held-out predictions (m, l, k') and codes (l,) that returns the number of a candidate.
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
    """(l,) whether the held-out prediction (m, l, k) of each labeled row exists and its class has another label."""
    return labels.testable & np.isfinite(left_out).all(axis=(0, 2))


def product_of(lists: dict) -> list:
    """Every combination of the values in a dict of lists, as dicts."""
    return [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
