"""Maximum-margin clustering, which is the label search without labels (Gieseke et al. 2009, 2012)."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils._param_validation import StrOptions

from ..errors import InputError
from ..inputs.weights import seed_of
from ..rows import dot, gram, tdot
from ..solvers.label_search.features import coefficients, search_basis, search_rows
from ..solvers.label_search.solve import SEARCHES, label_search, smallest_slack
from ..solvers.result import Result
from ..types import Rows
from .base import KernelEstimator
from .parameters import COUNT, POSITIVE, THREADS, parameter


@dataclass(eq=False, repr=False)
class MaxMarginClustering(ClusterMixin, KernelEstimator):
    """Split rows into clusters that a least-squares classifier separates best.

    .. math:: \\min_{w,\\; y \\in \\{\\pm 1\\}^n} \\tfrac1n \\sum_i (y_i - w \\cdot \\varphi(x_i))^2
        + \\lambda \\|w\\|^2, \\quad |\\text{fraction}_c(y) - b_c| < \\varepsilon

    with the mean of the one-against-rest objectives for more than two clusters. Use it if clusters are separated by a
    gap but are not round, and if their sizes are roughly known. For round clusters `KernelCMeans` is cheaper.

    Parameters
    ----------
    n_clusters : int, default=2
    lam : float or "auto", default="auto"
        Penalty λ. A smaller penalty follows finer structure. If it is too small, any split fits. "auto" is 3e-4 of the
        variance of the features, Σ_i ‖φ(x_i) − mean‖²/n, so that it does not depend on the scale of the kernel.
    balance : "equal", array or None, default="equal"
        Wanted fraction of each cluster among the rows that may move. None means no constraint.
    balance_slack : float or "auto", default="auto"
        ε, the limit of the deviation of a fraction. "auto" is 0.4 / n_clusters.
    center : bool, default=True
        Subtract the mean from the features. Then one cluster for all rows is the worst result instead of nearly the
        best, and the result hardly depends on the balance. False is the formula of the paper.
    n_restarts : number of searches from different starts, and half as many at each smoother penalty (see Notes). The
        best is kept.

    Attributes
    ----------
    labels_ : (n,) cluster of each training row.
    lam_ : the penalty used.
    coef_, center_ : weights (r, k') and mean (r,) of the features.
    result_ : `Result` of the search, with F, its spectral lower bound, the gap and evaluations per second.

    Notes
    -----
    "auto" and "tabu" search three times, with 30 λ, 3 λ and λ, from the clusters found before and from random ones. The
    smoother problems have fewer local optima. Their clusters lead to a lower F than the same number of random starts.

    A fit costs O(n r²), and then O(r) or O(1) per tried flip. approx="auto" is exact up to 1,000 rows and uses 300
    landmarks for more. It runs on NumPy and torch (with the search on the host), but not on Dask.

    References
    ----------
    Gieseke, Pahikkala, Kramer (2009), Fast evolutionary maximum margin clustering.

    Examples
    --------
    >>> from mercer import MaxMarginClustering
    >>> X = [[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]
    >>> model = MaxMarginClustering(random_state=0).fit(X)
    >>> model.labels_.tolist(), model.predict([[1.9], [0.1]]).tolist()
    ([0, 0, 0, 1, 1, 1], [1, 0])
    """

    access = "rows"
    on_dask = None
    policy = "label search"

    n_clusters: int = parameter(2, COUNT)
    _: KW_ONLY
    lam: str | float = parameter("auto", StrOptions({"auto"}), POSITIVE)
    balance: Any = parameter("equal", StrOptions({"equal"}), "array-like", None)
    balance_slack: Any = parameter("auto", StrOptions({"auto"}), POSITIVE)
    center: bool = parameter(True, "boolean")
    search: str = parameter("auto", StrOptions(set(SEARCHES)))
    n_restarts: int = parameter(10, COUNT)
    time_budget: float | None = parameter(None, POSITIVE, None)
    n_jobs: int | None = parameter(None, COUNT, THREADS, None)
    verbose: int = parameter(0, "verbose")

    def fit(self, X, y=None, pinned=None):
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, or a kernel matrix if kernel="precomputed".
        y : ignored.
        pinned : array of int of shape (n_samples,), optional
            Cluster 0 … n_clusters−1 of rows that must not move, −1 for the others.
        """
        self._validate_params()
        X = self._rows(X, reset=True, min_rows=self.n_clusters)
        n, k = X.shape[0], self.n_clusters
        codes = self._pinned(pinned, n)
        Z = self._fit_map(X)
        self.center_ = tdot(Z, np.full(n, 1.0 / n)) if self.center else np.zeros(Z.shape[1])
        basis = search_basis(gram(Z) / n - np.outer(self.center_, self.center_))
        fraction = 3e-4  # of the features' variance, near which λ hardly matters (benchmarks/accuracy/clustering.py)
        self.lam_ = fraction * float(basis[0].sum()) or fraction if isinstance(self.lam, str) else float(self.lam)
        if k == 1:
            self.result_ = Result(
                np.zeros(n, dtype=np.int64), reason="One cluster contains every row, so there is nothing to search."
            )
            self.labels_, self.coef_ = self.result_.value, np.zeros((Z.shape[1], 1))
            return self
        shares, slack = self._shares(int(np.sum(codes < 0)))
        options = {
            "shares": shares,
            "slack": slack,
            "n_classes": k,
            "total": 1.0,
            "search": self.search,
            "n_jobs": self.n_jobs,
            "random_state": seed_of(self.random_state),
            "verbose": self.verbose,
        }
        W, T = search_rows(Z, 1.0 / n, basis, self.lam_, self.center_ if self.center else None)
        theta = basis[0][: W.shape[1]]
        # The search for each multiple of λ starts from the clusters of the one before. Other searches start at random.
        path = (30.0, 3.0, 1.0) if self.search in ("auto", "tabu") else (1.0,)
        start, seconds, evaluations = None, 0.0, 0
        for number, times in enumerate(path):
            left = None if self.time_budget is None else (self.time_budget - seconds) / (len(path) - number)
            last = times == 1
            smooth = W if last else W * np.sqrt((theta + self.lam_) / (theta + times * self.lam_))
            options["n_restarts"] = self.n_restarts if last else (self.n_restarts + 1) // 2
            self.result_ = label_search(smooth, codes, start=start, time_budget=left, certify=last, **options)
            start = self.result_.value
            seconds += self.result_.info["seconds"]
            evaluations += self.result_.info["evaluations"]
        self.result_.info |= {"seconds": seconds, "evaluations": evaluations}
        self.result_.info["evaluations_per_second"] = evaluations / max(seconds, 1e-9)
        if pinned is None and not np.ndim(self.balance):
            _number_by_appearance(self.result_, k)
        self.coef_ = coefficients(W, T, self.result_.value, k)
        self.labels_ = self.result_.value
        return self

    def decision_function(self, X: Rows) -> np.ndarray:
        """Scores, (n,) and positive for cluster 1 with two clusters. Else (n, k), largest for the predicted cluster."""
        scores = dot(self._features(X), self.coef_) - self.center_ @ self.coef_
        return scores[:, 0] if self.n_clusters == 2 else scores

    def predict(self, X: Rows) -> np.ndarray:
        """The cluster of each row, predicted by the classifier that separates the clusters."""
        scores = self.decision_function(X)
        return (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)

    def _pinned(self, pinned, n: int) -> np.ndarray:
        if pinned is None:
            return np.full(n, -1)
        codes = np.asarray(pinned)
        if codes.shape != (n,) or codes.dtype.kind not in "iu" or codes.min() < -1 or codes.max() >= self.n_clusters:
            raise InputError(
                f"pinned must contain {n} integers, a cluster 0 … {self.n_clusters - 1} or −1 for a row that may move."
            )
        return codes.astype(np.int64)

    def _shares(self, n_free):
        k = self.n_clusters
        if self.balance is None or n_free == 0:
            return None, 1.0
        slack = 0.4 / k if isinstance(self.balance_slack, str) else self.balance_slack
        if isinstance(self.balance, str):
            shares = np.full(k, 1.0 / k)
            if isinstance(self.balance_slack, str):
                slack = max(slack, smallest_slack(n_free, shares))
            return shares, slack
        shares = np.asarray(self.balance, dtype=np.float64)
        if shares.shape != (k,):
            raise InputError(f"balance has shape {shares.shape} for {k} clusters. Give one fraction per cluster.")
        return shares, slack


def _number_by_appearance(result: Result, k: int) -> None:
    """Number clusters in the order in which they first appear among the rows, with empty ones last."""
    used, first = np.unique(result.value, return_index=True)
    order = np.concatenate([used[np.argsort(first)], np.setdiff1d(np.arange(k), used)])
    result.value = np.argsort(order)[result.value]
    result.info["counts"] = result.info["counts"][order]
