"""A forest for numbers, whose left-out answers come from the trees that did not see the number.

Every tree is grown on four fifths of the numbers, drawn without replacement: twenty are too few to lose a third of
them, as a bootstrap does. Repeated five-fold splits give each number the same number of trees that did not see it.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from .forest import ForestCandidate, Trees
from .targets import Targets

TREES = 200
FOLDS = 5


@dataclass
class NumberForest(ForestCandidate):
    """Extremely randomised trees on the rows that have a number."""

    def solve(self, targets: Targets, n_trees: int = TREES) -> "NumberForest":  # type: ignore[override]
        """Grown on the numbers; those of one group are withheld together."""
        from sklearn.tree import ExtraTreeRegressor

        start = time.perf_counter()
        rows, t = np.asarray(self.rows[targets.labelled], dtype=np.float32), targets.signs[:, 0]
        order = np.lexsort((*rows.T, t))  # the trees shall not depend on the order of the rows
        rows, t = rows[order], t[order]
        _, first, group = np.unique(targets.groups[order], return_index=True, return_inverse=True)
        group, number = np.argsort(np.argsort(first))[group], len(first)
        rng, folds = np.random.default_rng(self.seed), min(FOLDS, number)
        trees, left_out = [], np.zeros(len(t))
        for _ in range(n_trees // folds):
            fold = (rng.permutation(number) % folds)[group]
            for place in range(folds):
                out = fold == place
                tree = ExtraTreeRegressor(random_state=int(rng.integers(2**31))).fit(rows[~out], t[~out])
                left_out[out] += tree.predict(rows[out])
                trees.append(tree.tree_)
        away = left_out[np.argsort(order), None] / (n_trees // folds)
        fitted = replace(self, trees=Trees(trees), left_out=away)
        fitted.seconds = self.seconds + time.perf_counter() - start
        return fitted
