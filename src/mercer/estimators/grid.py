"""Left-out answers of one method over a whole grid: one map per kernel, one decomposition per map."""

import itertools
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from ..errors import InputError

MAP_PARAMETERS = ("kernel", "approx", "graph", "random_state")


class LeftOutSearch:
    """Mixin: `left_out_table` over a grid of parameters.

    A method names in ``path_parameters`` those that one call of its ``path(state, labels, grid)`` serves, which gives a
    list of parameter dicts and an array of left-out answers. ``_read(X, y, sample_weight)`` gives state and labels.
    Parameters of the map (the kernel, its width, the approximation) cost a map and a state each; any other, one call.
    """

    path_parameters: ClassVar[tuple] = ()

    def left_out_table(self, X, y, sample_weight=None, grid=None):
        """Left-out answers for every candidate.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`.
        grid : dict of lists of candidates by parameter name; "default" is the method's own grid, None is none.

        Returns
        -------
        candidates : list of parameter dicts. The first is empty: the parameters of this estimator as they are.
        left_out : (m, l, k') for each candidate, the answers for the labelled rows when their own label is withheld.
        labels : the labels as they were read.
        """
        inner = None
        outer: dict = {}
        if isinstance(grid, dict):
            self._check_grid(grid)
            inner = {name: list(grid[name]) for name in self.path_parameters if name in grid}
            outer = {name: list(values) for name, values in grid.items() if name not in inner}
        of_map = {name: values for name, values in outer.items() if name.split("__")[0] in MAP_PARAMETERS}
        of_fit = {name: values for name, values in outer.items() if name not in of_map}
        candidates: list = []
        answers = []
        for changed in [{}, *product_of(of_map)] if of_map else [{}]:
            mapped = clone(self).set_params(**changed)
            state, labels = mapped._read(X, y, sample_weight)
            if not changed:
                own = {name: [getattr(self, name)] for name in self.path_parameters}
                candidates.append({})
                answers.append(mapped.path(state, labels, own)[1])
                if of_map or not grid:
                    continue
            for also in product_of(of_fit):
                parameters, left_out = clone(mapped).set_params(**also).path(state, labels, inner)
                candidates += [{**changed, **also, **p} for p in parameters]
                answers.append(left_out)
        return candidates, np.concatenate(answers), labels

    def _check_grid(self, grid):
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


def answered(labels, left_out):
    """(l,) labelled rows with a left-out answer (m, l, k) that could be right: their class has another label."""
    return labels.testable & np.isfinite(left_out).all(axis=(0, 2))


def product_of(lists):
    """Every combination of the values in a dict of lists, as dicts."""
    return [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
