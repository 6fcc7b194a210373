"""Kernel c-means (kernel k-means), which is Lloyd's algorithm in feature space, with weights and `predict`."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils._param_validation import StrOptions

from ..errors import InputError
from ..homes.objects import Objects
from ..inputs.weights import check_weight, seed_of
from ..kernels import Precomputed
from ..linalg import precision
from ..rows import by_row, dot, host, near
from ..solvers.lloyd import lloyd
from ..types import ColumnLike, Rows
from .base import KernelEstimator
from .parameters import COUNT, NOT_NEGATIVE, parameter


@dataclass(eq=False, repr=False)
class KernelCMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, KernelEstimator):
    """Cluster the rows around centers in the kernel's feature space.

    .. math:: \\min \\sum_k \\sum_{i \\in k} w_i \\|\\varphi(x_i) - m_k\\|^2, \\qquad
        m_k = \\frac{\\sum_{i \\in k} w_i \\varphi(x_i)}{\\sum_{i \\in k} w_i}

    With a linear kernel this is k-means. With others the clusters need not be convex. With weights it contains spectral
    clustering's normalized cut (see ``examples/normalized_cut.py``). New rows are assigned like training rows.

    Parameters
    ----------
    n_clusters : int, default=8
    init : {"k-means++", "random"}, array of rows (n_clusters, d) or array of labels (n,), default="k-means++"
        "k-means++" draws its rows by their distances in feature space.
    n_init : number of starts. The best is kept. An array as `init` has one start.
    max_iter : int, default=300
    tol : a start ends when no row moves, or when the relative decrease of the objective is at most tol.
    approx : "auto" is exact up to 10,000 rows on the host.
    verbose : bool or callable, default=False
        True prints the iterations. A function is called with a text and the fraction of the starts that have ended.

    Attributes
    ----------
    labels_ : (n,) cluster of every training row.
    inertia_ : the objective.
    n_iter_ : iterations of the best start.
    gap_ : fraction of rows still to move.
    history_ : objective per iteration of the best start. It never increases.
    empty_ : (n_clusters,) whether each cluster has no rows. `fit` warns if there are such clusters.

    Notes
    -----
    With an exact kernel on NumPy rows, every move of a row costs O(n d). A start has two to three times n moves. Memory
    is O(n k), plus the n × n matrix for up to 3,000 rows. Otherwise an iteration of all starts together is one pass and
    costs O(n r k). A cluster that becomes empty gets the row with the largest cost. An interrupt (Ctrl-C) keeps the
    best clusters so far, with a warning. It runs on NumPy, torch and Dask.

    References
    ----------
    Dhillon, Guan, Kulis (2007), Weighted graph cuts without eigenvectors.
    Schölkopf, Smola, Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem, §5.

    Examples
    --------
    >>> from mercer import KernelCMeans
    >>> X = [[0.0], [0.1], [4.0], [4.1]]
    >>> model = KernelCMeans(2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2]), model.predict([[3.9]])[0] == model.labels_[2]
    (True, np.True_)
    """

    access = "sweeps"
    on_dask = "sample"
    policy = "clusters"

    n_clusters: int = parameter(8, COUNT)
    _: KW_ONLY
    init: Any = parameter("k-means++", StrOptions({"k-means++", "random"}), "array-like")
    n_init: int = parameter(10, COUNT)
    max_iter: int = parameter(300, COUNT)
    tol: float = parameter(0.0, NOT_NEGATIVE)
    verbose: Any = parameter(False, "verbose", callable)

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Self:
        """Find the clusters. A weight of 2 counts a row twice. A row of weight 0 is only assigned. y is ignored."""
        X, _, weight = self._training(X, None, sample_weight)
        gram = self._open(X, weight)
        own: dict = {"n_init": self.n_init, "tol": self.tol, "max_iter": self.max_iter}
        own |= {"random_state": seed_of(self.random_state), "tell": self._tell if self.verbose else None}
        init = self._first_labels(gram)
        drawn = isinstance(init, str) and not self.__sklearn_tags__().input_tags.pairwise
        own["key"] = _key(X) if drawn else None
        result = lloyd(gram.operator, gram.diag(), self.n_clusters, weight=weight, init=init, **own).warn()
        if result.info["n_empty"]:
            warnings.warn(
                f"{result.info['n_empty']} of the {self.n_clusters} clusters are empty, because there are fewer "
                "distinct rows than clusters. Use fewer clusters.",
                stacklevel=2,
            )
        self.labels_, self.inertia_, self.gap_ = result.value, result.objective, result.gap
        self.n_iter_, self.history_ = result.n_iter, result.history
        self._n_features_out = self.n_clusters
        self.center_sq_, mass = result.info["center_sq"], result.info["mass"]
        self.empty_ = mass == 0
        centers = result.info["centers"]
        if centers is not None:
            self.expansion_ = gram.on_features(centers.T)
            return self
        fraction = np.zeros((X.shape[0], self.n_clusters))
        scale = np.where(mass > 0, mass, 1.0)
        fraction[np.arange(X.shape[0]), self.labels_] = (1.0 if weight is None else weight) / scale[self.labels_]
        self.expansion_ = gram.expansion(fraction)
        return self

    @by_row
    def predict(self, X: Rows) -> np.ndarray:
        """The nearest cluster of each row."""
        return np.argmin(self._shifts(self._rows(X, reset=False)), axis=1)

    @by_row
    def transform(self, X: Rows) -> Rows:
        """(n, n_clusters) distances to the centers in feature space. Infinite for a cluster without rows."""
        X = self._rows(X, reset=False)
        own = np.asarray(self.expansion_.diag(X))[:, None]
        squares = own + self._shifts(X)
        rounding = 64 * precision(own.dtype) * np.abs(own)
        return np.sqrt(np.where(squares > rounding, squares, 0.0))

    def score(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> float:
        """Minus the objective on X."""
        nearest = np.min(self.transform(X) ** 2, axis=1)
        weight = check_weight(sample_weight, len(nearest))
        return -float(np.sum(nearest if weight is None else weight * nearest))

    def _tell(self, iteration: int, share: float) -> None:
        stage = f"iteration {iteration + 1}"
        if callable(self.verbose):
            self.verbose(stage, share)
        else:
            print(f"[KernelCMeans] {stage}, {share:.0%} of the starts have ended", flush=True)

    def _first_labels(self, gram):
        """`init` in the form that the solver needs, which is a word or one label per row."""
        if isinstance(self.init, str):
            return self.init
        init, X = np.asarray(self.init), gram.X
        n, k = X.shape[0], self.n_clusters
        if init.shape == (n,) and init.dtype.kind in "iu":
            if init.min() < 0 or init.max() >= k:
                raise InputError(f"init contains labels from {init.min()} to {init.max()}. Use 0 to {k - 1}.")
            return init
        if init.shape != (k, X.shape[1]) or isinstance(self._kernel(), Precomputed):
            raise InputError(
                f"init has shape {init.shape} and type {init.dtype}. Use 'k-means++', 'random', integer labels of "
                f"shape ({n},), or rows of shape ({k}, {X.shape[1]}) unless the kernel is precomputed."
            )
        rows = near(init.astype(str(X.dtype).rpartition(".")[2]), X)
        if gram.map is None:
            inner, norms = self.kernel_(X, rows), np.asarray(self.kernel_.diag(rows))
        else:
            features = host(gram.map.features(rows)).astype(np.float64)
            inner, norms = dot(gram.Z, features.T), np.sum(features**2, axis=1)
        return np.argmin(norms - 2 * np.asarray(host(inner), dtype=np.float64), axis=1)

    def _shifts(self, X: Rows) -> np.ndarray:
        """‖φ(x) − m_k‖² less k(x, x), for checked rows. An empty cluster is infinitely far."""
        return np.where(self.empty_, np.inf, self.center_sq_ - 2 * self.expansion_(X))


def _key(X):
    """(n,) numbers that distinguish rows and do not depend on their order. None for rows that are objects."""
    if isinstance(X, Objects):
        return None
    direction = np.random.default_rng(0).normal(size=(X.shape[1], 1))
    return np.asarray(host(dot(X, direction)), dtype=np.float64)[:, 0]
