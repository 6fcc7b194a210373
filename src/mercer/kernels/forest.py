"""A kernel of random trees. Two rows are similar if random cuts of the columns rarely separate them."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InputError
from ..inputs.weights import generator_of
from ..rows import host, host_rows, like, namespace, take
from ..types import Array, Block, Rows
from .base import Kernel, inner_products

VALUES = 2**24  # numbers at the leaves that a device sums at once


@dataclass(eq=False, repr=False)
class Nodes:
    """The nodes of several binary trees as plain arrays, one tree after the other.

    Attributes
    ----------
    feature, threshold : arrays of shape (n_nodes,)
        The cut of each node. A row goes to `left` if its value in float32 is not above the threshold.
    left, right : arrays of shape (n_nodes,)
        The next nodes, −1 at a leaf.
    roots : array of shape (n_trees,)
        First node of each tree.
    """

    roots: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: Array
    left: NDArray[np.int64]
    right: NDArray[np.int64]

    def leaves(self, X: Rows) -> NDArray[np.int64]:
        """(n, trees) array of the leaf that each row of X, dense or sparse, reaches in each tree."""
        out, step = np.empty((X.shape[0], len(self.roots)), dtype=np.int64), 4096
        for begin in range(0, X.shape[0], step):
            part = X[begin : begin + step]
            rows = np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float32)
            for tree, root in enumerate(self.roots):
                out[begin : begin + step, tree] = self._down(rows, root)
        return out

    @property
    def height(self) -> int:
        """Largest number of cuts between the root of a tree and a leaf."""
        height, reach = 0, self.roots
        while len(reach := reach[self.left[reach] >= 0]) and height < len(self.left):  # a damaged tree may have a cycle
            height, reach = height + 1, np.unique(np.concatenate([self.left[reach], self.right[reach]]))
        return height

    def mean_values(self, value: NDArray[np.float64], X: Rows) -> NDArray[np.float64]:
        """(n, k) mean over the trees of the values (nodes, k) at the leaves that rows on a device reach."""
        xp, leaf, own = namespace(X), self.left < 0, np.arange(len(self.left))
        # The largest float32 number that is not above the threshold divides float32 rows in the same way.
        single = self.threshold.astype(np.float32)
        single = np.where(single > self.threshold, np.nextafter(single, np.float32(-np.inf)), single)
        down = np.stack([np.where(leaf, own, self.right), np.where(leaf, own, self.left)])
        parts = np.where(leaf, 0, self.feature), single, down, self.roots, value
        feature, threshold, down, roots, value = (xp.asarray(part, device=X.device) for part in parts)
        out, height, step = [], self.height, max(1, VALUES // (len(self.roots) * value.shape[1]))
        for begin in range(0, X.shape[0], step):
            rows = xp.asarray(X[begin : begin + step], dtype=xp.float32)
            node = xp.broadcast_to(roots, (len(rows), len(roots)))
            for _ in range(height):  # rows at a leaf stay there, so no result is copied from the device in between
                node = down[1 * (xp.gather(rows, 1, feature[node]) <= threshold[node]), node]
            out.append(value[node].sum(1))
        return host(xp.concatenate(out) / len(self.roots)) if out else np.zeros((0, value.shape[1]))

    def _down(self, X: NDArray[np.float32], root: int) -> NDArray[np.int64]:
        node = np.full(len(X), root)
        going = np.flatnonzero(self.left[node] >= 0)
        while len(going):
            at = node[going]
            smaller = X[going, self.feature[at]] <= self.threshold[at]
            below = np.where(smaller, self.left[at], self.right[at])
            if (below <= at).any():  # children come after their parent, except in a damaged file, which may have cycles
                raise InputError("The trees of this model do not end at leaves, so it is damaged. Fit it again.")
            node[going] = below
            going = going[self.left[below] >= 0]
        return node


def sklearn_nodes(trees: list) -> tuple[Array, Array, Array, Array, Array]:
    """The arrays of `Nodes` from trees of scikit-learn, the `tree_` of its estimators."""
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    feature, threshold, left, right = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "threshold", "children_left", "children_right")
    )
    left, right = (np.where(side >= 0, side + np.repeat(roots, sizes), -1) for side in (left, right))
    return roots, feature, threshold, left, right


class Forest(Kernel):
    """The fraction of T random trees in which two rows reach the same leaf, k(x, y) = Σₜ [leafₜ(x) = leafₜ(y)] / T.

    No label is used. Every tree is grown on a random sample of the training rows, until the rows are separated. A cut
    is drawn uniformly between the smallest and largest value of a random column. Leaves are smaller in dense regions,
    so the kernel adapts to the density. The scales of the columns do not matter, and there is no width to choose. The
    kernel is good for tables whose columns have different units, and bad if many columns are noise.

    Parameters
    ----------
    n_estimators : number of trees T. Kernel values are multiples of 1/T.
    max_samples : number of rows per tree. More rows make smaller leaves and a narrower kernel.
    random_state : seed of the trees.

    Attributes
    ----------
    trees_ : Nodes
        Trees, set by `resolve`. A kernel that has trees keeps them.

    Notes
    -----
    Growing the trees takes O(T s log s) for s = max_samples, about 0.1 s, for any number of rows. To find the leaves of
    a row takes O(T log s). A kernel value takes as many operations as there are trees with both rows in one leaf. K is
    exactly ΦΦᵀ, where Φ is a sparse matrix with T entries per row, and products with K take O(n T).

    References
    ----------
    Geurts, Ernst, Wehenkel (2006), Extremely randomized trees.
    Ting, Zhu, Zhou (2018), Isolation kernel and its effect on SVM.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 7.0], [0.1, 7.1], [5.0, 9.0], [5.1, 9.3]])
    >>> K = Forest().resolve(X)(X)
    >>> bool(K[0, 0] == 1 and K[0, 1] > K[0, 2])
    True
    """

    names = ("forest",)
    stationary = True

    trees_: Nodes  # set by resolve

    def __init__(self, n_estimators: int = 200, max_samples: int = 16, random_state: int = 0):
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.random_state = random_state

    def resolve(self, X: Rows, weight: NDArray[np.float64] | None = None) -> Self:
        """A copy with trees. The rows of a tree are drawn with probabilities in proportion to their weights."""
        from sklearn.tree import ExtraTreeRegressor

        resolved = super().resolve(X, weight)
        if hasattr(self, "trees_"):
            resolved.trees_ = self.trees_
            return resolved
        for name, least in (("n_estimators", 1), ("max_samples", 2)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise InputError(f"{name}={value!r} is not accepted. Use a whole number of at least {least}.")
        rng, n = generator_of(self.random_state), X.shape[0]
        probabilities = None if weight is None else np.asarray(weight) / np.sum(weight)
        trees = []
        for _ in range(self.n_estimators):
            rows = np.sort(rng.choice(n, min(self.max_samples, n), p=probabilities))
            grower = ExtraTreeRegressor(max_features=1, random_state=int(rng.integers(2**31)))
            trees.append(grower.fit(take(X, rows), rng.random(len(rows))).tree_)  # with random targets
        resolved.trees_ = Nodes(*sklearn_nodes(trees))
        return resolved

    def sparse_features(self, X: Rows) -> sp.csr_array:
        """Φ with k = ΦΦᵀ, which has 1/√T at the leaf of the row in each tree."""
        ones = self._ones(X)
        ones.data /= np.sqrt(self.n_estimators)
        return ones

    def tile(self, X: Rows, Y: Rows) -> Block:
        return like(inner_products(self._ones(X), self._ones(Y)) / self.n_estimators, X)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return np.ones(X.shape[0])

    def check(self) -> None:
        if not hasattr(self, "trees_"):
            raise InputError(
                f"{self!r} has no trees yet. Call kernel.resolve(X) on the training rows first, or give the kernel to "
                "an estimator."
            )

    def _ones(self, X: Rows) -> sp.csr_array:
        self.check()
        leaves = self.trees_.leaves(host_rows(X))
        n, T = leaves.shape
        places = np.arange(0, n * T + 1, T)
        return sp.csr_array((np.ones(n * T), leaves.ravel(), places), shape=(n, len(self.trees_.left)))
