"""A forest of extremely randomised trees whose left-out answers come from the trees that did not see the label.

Every tree is grown on four fifths of the labels, drawn without replacement: twenty labels are too few to lose a third
of them, as a bootstrap does. Repeated five-fold splits give each label the same number of trees that did not see it.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.tree import ExtraTreeRegressor

from .spaces import Space
from .targets import Targets
from .views import AsGiven

TREES = 200
FOLDS = 5


class ForestPart:
    """The mean answer of trees as a part of the predictor: all nodes of all trees in one table.

    Attributes
    ----------
    view : of the rows. roots : (T,) first node of each tree.
    feature, threshold, left, right, value : of the nodes; feature is -1 in a leaf. share : what the mean counts for.
    """

    def __init__(self, view, trees, share=1.0):
        sizes = np.cumsum([0, *(tree.node_count for tree in trees)])
        self.view, self.share = view, share
        self.roots = sizes[:-1]
        joined = {name: [getattr(tree, name) for tree in trees] for name in ("children_left", "children_right")}
        self.left, self.right = (
            np.concatenate([np.where(child < 0, -1, child + start) for child, start in zip(children, self.roots)])
            for children in joined.values()
        )
        self.feature = np.where(self.left < 0, -1, np.concatenate([tree.feature for tree in trees]))
        self.threshold = np.concatenate([tree.threshold for tree in trees])
        self.value = np.concatenate([tree.value[:, 0, 0] for tree in trees])

    def scores(self, rows):
        """(n, 1) share times the mean over the trees."""
        rows = _dense(rows)
        total = np.zeros(len(rows))
        for root in self.roots:
            node = np.full(len(rows), root)
            inner = np.flatnonzero(self.feature[node] >= 0)
            while len(inner):
                at = node[inner]
                left = rows[inner, self.feature[at]] <= self.threshold[at]
                node[inner] = np.where(left, self.left[at], self.right[at])
                inner = inner[self.feature[node[inner]] >= 0]
            total += self.value[node]
        return (self.share / len(self.roots) * total)[:, None]


class RowSpace(Space):
    """The rows themselves, where a forest is a candidate beside the others."""

    def __init__(self, rows):
        self.name, self.view, self.Z = "all columns", AsGiven(), rows


@dataclass(frozen=True)
class GrownForest:
    """What `Solution` is for the other candidates; there are no coefficients. left_out : (l, 1)."""

    trees: list = field(repr=False)
    left_out: np.ndarray = field(repr=False)
    coef = None
    influence = None

    def part(self, view: Any, share: float = 1.0) -> ForestPart:
        """The forest as a part of the predictor."""
        return ForestPart(view, self.trees, share)

    def scores(self, rows: Any) -> np.ndarray:
        """(n, 1) the mean over the trees."""
        return self.part(None).scores(rows)


class ExtraTrees:
    """The model of a `Candidate`: grows the forest."""

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def prepare(self, rows: Any) -> Any:
        """Nothing to learn without targets."""
        return rows

    def solve(self, rows: Any, targets: Targets) -> GrownForest:
        """The forest grown on the targets."""
        rows, t, l = _dense(rows[targets.labelled]), targets.signs[:, 0], len(targets.labelled)
        order = np.lexsort((*rows.T, t))  # the trees shall not depend on the order of the rows
        rows, t = rows[order], t[order]
        rng, folds = np.random.default_rng(self.random_state), min(FOLDS, l)
        trees, left_out = [], np.zeros(l)
        for _ in range(TREES // folds):
            fold = rng.permutation(l) % folds
            for number in range(folds):
                out = fold == number
                tree = ExtraTreeRegressor(random_state=int(rng.integers(2**31))).fit(rows[~out], t[~out])
                left_out[out] += tree.predict(rows[out])
                trees.append(tree.tree_)
        return GrownForest(trees, left_out[np.argsort(order), None] / (TREES // folds))


def _dense(rows):
    """float32 rows, as the trees compare them."""
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float32)
