"""The Spectral Graph Transducer (Joachims 2003) as LS-KPCA with a graph kernel (Walder et al. 2010, §6)."""

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from ..inputs.labels import Labels
from ..kernels.graph import LAPLACIANS, GraphLaplacian
from ..solvers.result import together
from ..solvers.ridge.state import State
from ..solvers.sphere.left_out import left_out
from ..solvers.sphere.pencil import Pencil
from ..solvers.sphere.secular import constrained_least_squares
from ..types import ColumnLike, Rows, Seed
from .balance import estimated_shares, fold_key, is_estimated, shares_of
from .least_squares_kpca import VarianceConstrained
from .lssvm import LSSVMClassifier
from .parameters import COUNT, POSITIVE
from .solution import Solution


class SpectralGraphTransducer(VarianceConstrained):
    """Classify by the smoothest balanced function on a neighbor graph that agrees with a few labels.

    .. math:: \\min_f f^T L f + c \\sum_{i \\in L} a_i (f_i - t_i)^2
        \\quad \\text{subject to} \\quad f^T f = n,\\ f \\perp 1

    where L is the Laplacian of the nearest-neighbor graph. Its spectrum is cut to the d smallest non-trivial
    eigenvectors, and by default i² replaces the i-th eigenvalue. Use it for data in clusters or on a manifold, if all
    rows to classify are available in `fit`. It is `LeastSquaresKPCA` with the pseudo-inverse of the Laplacian as
    kernel, without centering.

    Parameters
    ----------
    n_neighbors : neighbors of each row in the graph.
    n_eigenvectors : number d of eigenvectors.
    label_weight : "auto" or float, default="auto"
        Weight c of the labels. "auto" is 3,200 for 1,500 rows or more, and in proportion for fewer.
    eigenvalues : "laplacian", or "squares", which replaces the i-th non-trivial eigenvalue by i², default="squares"
    balanced : bool, default=True
        For classes with the fractions b₊ and b₋ = 1 − b₊, use the targets √(b₋/b₊) and −√(b₊/b₋), which are the values
        of a function with mean 0 and mean square 1 on two clusters. The costs a = l/2l₊ and l/2l₋ give both classes the
        same weight. False uses ±1 and equal costs.
    balance : "estimate", "labels", float, dict or array, default="estimate"
        The fractions b, for balanced=True. "estimate" estimates them from fits with held-out labels. "labels" uses the
        fractions of the labels, as Joachims does. A number is the fraction of ``classes_[1]`` (two classes). For more
        classes give one fraction per sorted class, or a dict from classes to fractions.
    laplacian : "normalized-weights", "unnormalized" or "symmetric", default="normalized-weights"
        diag(Se) − S with S the degree-normalized weights, D − W, or I − S (whose functions are not orthogonal to 1).
    graph : None, (n, n) matrix or list of edges, default=None
        Links between the rows that replace nearest neighbors, see `Diffusion`. Rows may then be any objects, and
        predictions are only possible for the rows of `fit`.

    Attributes
    ----------
    transduction_ : (n,) the class of every training row.
    coef_ : weights of the kept eigenvectors.
    label_weight_ : the weight c used.
    certificate_ : the larger of the relative KKT residual and constraint residual.
    balance_ : (k,) the fractions for the targets. None for balanced=False.
    result_, classes_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    The method is transductive. New rows get the mean of their neighbors' values, weighted like edges of the graph.
    If the fractions of the labels differ from those of the rows, no function has its targets on two clusters. On
    clusters of 100 and 20 rows with three labels each, 64 to 75% of the rows are then correct, and 100% with the
    estimate (`LSSVMClassifier` in the graph's spectrum, in five folds of the labels, see `S2RLSClassifier`).
    A fixed c = 3,200 fits wrong targets on few rows. With it, 4 of 100 draws of those clusters have fewer than 98%
    correct rows (66 to 97%), and none with "auto". On 37 tables of 150 to 1,500 rows "auto" is less accurate by 0.5
    points in the mean (0.6 with 40 labels), better by half a point or more in 13 of 74 cases and worse in 22
    (benchmarks/results/transducer.md).
    A fit needs an exact neighbor search and the low end of a sparse spectrum. The largest residual of the spectrum is
    `map_.kernel_.residual_`, at most 1e-5 of the Laplacian's norm. Each root step costs O(d l²).

    References
    ----------
    Joachims (2003), Transductive learning via spectral graph partitioning.

    Examples
    --------
    >>> from mercer import SpectralGraphTransducer
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = ["low", None, None, None, None, "high"]
    >>> SpectralGraphTransducer(n_neighbors=2).fit(X, y).transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    """

    access = "graph"
    on_dask = None
    policy = "moments"
    path_parameters = ("label_weight",)
    reported = (*VarianceConstrained.reported, "multiplier", "balance", "label_weight")
    _parameter_constraints = {  # noqa: RUF012
        "n_neighbors": [COUNT],
        "n_eigenvectors": [COUNT],
        "label_weight": [StrOptions({"auto"}), POSITIVE],
        "eigenvalues": [StrOptions({"squares", "laplacian"})],
        "balanced": ["boolean"],
        "balance": [StrOptions({"labels", "estimate"}), Interval(Real, 0, 1, closed="neither"), dict, "array-like"],
        "laplacian": [StrOptions(set(LAPLACIANS))],
        "label_folds": [None, Interval(Integral, 2, None, closed="left")],
    }
    # Parameters of LS-KPCA that are fixed here.
    variance, center, graph_weight, approx = 1.0, False, 1.0, "exact"
    invariance, invariance_weight = None, 1.0

    def __init__(
        self,
        n_neighbors: int = 10,
        n_eigenvectors: int = 80,
        label_weight: float | str = "auto",
        *,
        eigenvalues: str = "squares",
        balanced: bool = True,
        balance: str = "estimate",
        laplacian: str = "normalized-weights",
        graph=None,
        label_folds=None,
        missing_label: str = "auto",
        random_state: Seed = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_eigenvectors = n_eigenvectors
        self.label_weight = label_weight  # type: ignore[assignment]  # "auto" is resolved before a solve
        self.eigenvalues = eigenvalues
        self.balanced = balanced
        self.balance = balance
        self.laplacian = laplacian
        self.graph = graph
        self.label_folds = label_folds
        self.missing_label = missing_label
        self.random_state = random_state

    @property
    def kernel(self) -> GraphLaplacian:  # type: ignore[override]  # a parameter of the other estimators
        """The pseudo-inverse of the graph's Laplacian."""
        return GraphLaplacian(self.n_neighbors, self.laplacian, self.n_eigenvectors, self.eigenvalues, self.graph)

    def fit(self, X: Rows, y: ColumnLike) -> "SpectralGraphTransducer":  # type: ignore[override]  # no weights, because a repeated row changes the graph
        """Fit on all rows. y marks the unlabeled ones (NaN, None, "" or -1, see `missing_label`)."""
        return super().fit(X, y)

    def _laplacian(self, X: Rows, weight: np.ndarray | None):
        return None  # the graph is the kernel, not a second term

    def solve(self, state: State, labels: Labels) -> Solution:
        if self.label_weight == "auto":
            return self._weighted(state).solve(state, labels)
        solution = super().solve(state, labels)
        found = {"balance": self._shares(state, labels) if self.balanced else None, "label_weight": self.label_weight}
        return replace(solution, result=replace(solution.result, info=solution.result.info | found))

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        return super(SpectralGraphTransducer, self._weighted(state)).path(state, labels, grid)

    def _weighted(self, state: State) -> "SpectralGraphTransducer":
        """The same model with c as a number. "auto" is proportional to the number of rows, up to 1,500."""
        auto = 3200.0 * min(1.0, state.Z.shape[0] / 1500)
        return clone(self).set_params(label_weight=auto if self.label_weight == "auto" else self.label_weight)

    def _shares(self, state: State, labels: Labels) -> np.ndarray:
        """(k,) fractions of the classes."""
        if not is_estimated(self.balance) or (labels.codes >= 0).all():
            return shares_of(self.balance, labels)

        def fits(_: tuple[np.ndarray, np.ndarray] | None) -> Iterator:
            plain = LSSVMClassifier(100.0)  # in the spectrum of the graph, which has no constant
            for test, others in labels.folds(5, fold_key(state, labels)):
                found = plain.solve(state, others)
                yield test, found.coef, found.intercept

        return estimated_shares(fits, state, labels)[0]

    def _targets(self, state: State, labels: Labels, costs) -> tuple[np.ndarray, np.ndarray]:
        signs = labels.signs
        count = labels.counted[:, None]
        if not self.balanced:
            return signs, count * np.ones(signs.shape)
        up, down = (1 + signs) / 2, (1 - signs) / 2  # between 0 and 1 for soft labels
        targets, costs = _balanced(up, down, (count * up).sum(axis=0), (count * down).sum(axis=0), count.sum())
        if not self._by_labels:
            shares = self._shares(state, labels)
            own = np.clip(shares[1:] if labels.n_classes == 2 else shares, 1e-6, 1 - 1e-6)
            targets = _targets_of(up, down, own, 1 - own)
        return targets, count * costs

    @property
    def _by_labels(self) -> bool:
        return isinstance(self.balance, str) and self.balance == "labels"

    def _fit_targets(self, theta: np.ndarray, Z_l: np.ndarray, targets: np.ndarray, spread: float, costs: np.ndarray):
        results = [
            constrained_least_squares(
                theta, Z_l, t, self.label_weight, spread, a,
                pencil=Pencil(theta, np.sqrt(a)[:, None] * Z_l, self.label_weight),
            )
            for t, a in zip(targets.T, costs.T)
        ]  # fmt: skip
        value = np.stack([result.value for result in results], axis=1)
        return together(results, value, multiplier=np.array([result.info["zeta"][0] for result in results]))

    def _left_out_scores(
        self,
        theta: np.ndarray,
        Z_l: np.ndarray,
        targets: np.ndarray,
        weights: list,
        spreads: list,
        costs: np.ndarray,
        labels: Labels,
        pencil=None,
    ) -> np.ndarray:
        """Held-out scores with the balance of the other labels, because the balance of all would reveal the label."""
        groups = self._groups(labels) or [np.array([i]) for i in range(len(Z_l))]
        scores = np.full((len(weights) * len(spreads), *targets.shape), np.nan)
        up, down, count = (1 + labels.signs) / 2, (1 - labels.signs) / 2, labels.counted
        plus_all, minus_all = count @ up, count @ down
        for k in range(targets.shape[1]):
            alike: dict = {}  # groups by the counts of the other labels. Without folds there are two such counts
            for group in groups:
                own = count[group]
                left = plus_all[k] - own @ up[group, k], minus_all[k] - own @ down[group, k], float(own.sum())
                alike.setdefault(left, []).append(group)
            for (plus, minus, size), some in alike.items():
                if min(plus, minus) <= 1e-9 * count.sum():
                    continue
                t, a = targets[:, k], costs[:, k]
                if self.balanced:
                    left, a = _balanced(up[:, k], down[:, k], plus, minus, count.sum() - size)
                    t, a = left if self._by_labels else t, count * a
                rows = np.concatenate(some)
                scores[:, rows, k] = left_out(theta, Z_l, t, weights, spreads, some, a).reshape(-1, len(t))[:, rows]
        return scores


def _balanced(up, down, plus, minus, number):
    """(targets, costs) that give the two sides with `plus` and `minus` labels the same weight."""
    plus, minus = np.maximum(plus, 1e-12), np.maximum(minus, 1e-12)
    return _targets_of(up, down, plus, minus), number * (up / (2 * plus) + down / (2 * minus))


def _targets_of(up: np.ndarray, down: np.ndarray, plus: np.ndarray | float, minus: np.ndarray | float) -> np.ndarray:
    return up * np.sqrt(minus / plus) - down * np.sqrt(plus / minus)
