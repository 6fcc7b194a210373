"""The Spectral Graph Transducer (Joachims 2003) as LS-KPCA with a graph kernel (Walder et al. 2010, §6)."""

from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..kernels.graph import LAPLACIANS, GraphLaplacian
from ..solvers.result import together
from ..solvers.sphere.left_out import left_out
from ..solvers.sphere.pencil import Pencil
from ..solvers.sphere.secular import constrained_least_squares
from .least_squares_kpca import VarianceConstrained
from .parameters import COUNT, POSITIVE


class SpectralGraphTransducer(VarianceConstrained):
    """Classify by the smoothest balanced function on a neighbour graph that agrees with a few labels.

    .. math:: \\min_f f^T L f + c \\sum_{i \\in L} a_i (f_i - t_i)^2
        \\quad \\text{subject to} \\quad f^T f = n,\\ f \\perp 1

    where L is the Laplacian of the nearest-neighbour graph, its spectrum cut to the d smallest non-trivial eigenvectors
    and, by default, the i-th eigenvalue replaced by i². For data in clusters or on a manifold, with all rows that are
    to be classified at hand. It is `LeastSquaresKPCA` with the pseudo-inverse of the Laplacian as kernel, not centred.

    Parameters
    ----------
    n_neighbors : neighbours of each row in the graph.
    n_eigenvectors : d.
    label_weight : c; large values trust the labels.
    eigenvalues : "laplacian", or "squares", which replaces the i-th non-trivial eigenvalue by i²; default="squares"
    balanced : bool, default=True
        Targets √(l₋/l₊) and −√(l₊/l₋) and costs a = l/2l₊, l/2l₋, so that both classes weigh the same; False takes ±1
        and ones.
    laplacian : "normalized-weights", "unnormalized" or "symmetric", default="normalized-weights"
        diag(Se) − S with S the degree-normalised weights, D − W, or I − S (whose functions are not orthogonal to 1).
    label_folds, missing_label : see `LeastSquaresKPCA`.

    Attributes
    ----------
    transduction_ : (n,) the class of every training row.
    coef_ : weights of the kept eigenvectors.
    certificate_ : the larger of the relative KKT residual and constraint residual.
    result_, classes_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    Transductive. New rows take the mean of their neighbours' values, weighted as the graph weighs edges.
    Cost: an exact neighbour search, and the low end of a sparse spectrum, whose largest residual is
    `map_.kernel_.residual_`: at most 1e-5 of the Laplacian's norm. O(d l²) a root step.
    Reference: Joachims: Transductive learning via spectral graph partitioning, 2003.

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
    reported = (*VarianceConstrained.reported, "multiplier")
    _parameter_constraints = {  # noqa: RUF012
        "n_neighbors": [COUNT],
        "n_eigenvectors": [COUNT],
        "label_weight": [POSITIVE],
        "eigenvalues": [StrOptions({"squares", "laplacian"})],
        "balanced": ["boolean"],
        "laplacian": [StrOptions(set(LAPLACIANS))],
        "label_folds": [None, Interval(Integral, 2, None, closed="left")],
    }
    # Parameters of LS-KPCA that are fixed here.
    variance, center, graph, graph_weight, approx = 1.0, False, None, 1.0, "exact"
    invariance, invariance_weight = None, 1.0

    def __init__(
        self,
        n_neighbors=10,
        n_eigenvectors=80,
        label_weight=3200.0,
        *,
        eigenvalues="squares",
        balanced=True,
        laplacian="normalized-weights",
        label_folds=None,
        missing_label="auto",
        random_state=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_eigenvectors = n_eigenvectors
        self.label_weight = label_weight
        self.eigenvalues = eigenvalues
        self.balanced = balanced
        self.laplacian = laplacian
        self.label_folds = label_folds
        self.missing_label = missing_label
        self.random_state = random_state

    @property
    def kernel(self):
        """The pseudo-inverse of the graph's Laplacian."""
        return GraphLaplacian(self.n_neighbors, self.laplacian, self.n_eigenvectors, self.eigenvalues)

    def fit(self, X, y):  # type: ignore[override]  # no weights: a repeated row would change the graph
        """Fit on all rows; y marks the unlabelled ones (NaN, None, "" or -1; see `missing_label`)."""
        return super().fit(X, y)

    def _targets(self, labels, costs):
        signs = labels.signs
        count = labels.counted[:, None]
        if not self.balanced:
            return signs, count * np.ones(signs.shape)
        up, down = (1 + signs) / 2, (1 - signs) / 2  # soft labels lie between
        targets, costs = _balanced(up, down, (count * up).sum(axis=0), (count * down).sum(axis=0), count.sum())
        return targets, count * costs

    def _fit_targets(self, theta, Z_l, targets, spread, costs):
        results = [
            constrained_least_squares(
                theta, Z_l, t, self.label_weight, spread, a,
                pencil=Pencil(theta, np.sqrt(a)[:, None] * Z_l, self.label_weight),
            )
            for t, a in zip(targets.T, costs.T)
        ]  # fmt: skip
        value = np.stack([result.value for result in results], axis=1)
        return together(results, value, multiplier=np.array([result.info["zeta"][0] for result in results]))

    def _left_out_scores(self, theta, Z_l, targets, weights, spreads, costs, labels, pencil=None):
        """Left-out answers with the balance of the labels that are left: the full one would reveal the label."""
        groups = self._groups(labels) or [np.array([i]) for i in range(len(Z_l))]
        scores = np.full((len(weights) * len(spreads), *targets.shape), np.nan)
        up, down, count = (1 + labels.signs) / 2, (1 - labels.signs) / 2, labels.counted
        plus_all, minus_all = count @ up, count @ down
        for k in range(targets.shape[1]):
            alike: dict = {}  # groups that leave the same counts behind go together: two kinds, without folds
            for group in groups:
                own = count[group]
                left = plus_all[k] - own @ up[group, k], minus_all[k] - own @ down[group, k], float(own.sum())
                alike.setdefault(left, []).append(group)
            for (plus, minus, size), some in alike.items():
                if min(plus, minus) <= 1e-9 * count.sum():
                    continue
                t, a = targets[:, k], costs[:, k]
                if self.balanced:
                    t, a = _balanced(up[:, k], down[:, k], plus, minus, count.sum() - size)
                    a = count * a
                rows = np.concatenate(some)
                scores[:, rows, k] = left_out(theta, Z_l, t, weights, spreads, some, a).reshape(-1, len(t))[:, rows]
        return scores


def _balanced(up, down, plus, minus, number):
    """(targets, costs) under which the two sides weigh the same, for `plus` and `minus` labels on them."""
    plus, minus = np.maximum(plus, 1e-12), np.maximum(minus, 1e-12)
    targets = up * np.sqrt(minus / plus) - down * np.sqrt(plus / minus)
    return targets, number * (up / (2 * plus) + down / (2 * minus))
