"""Novelty as low density, by Gaussian or uniform Parzen windows with a threshold by rejection rate."""

from dataclasses import KW_ONLY, dataclass, field
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.special import gammaln, logsumexp
from sklearn.neighbors import KernelDensity
from sklearn.utils._param_validation import Interval, StrOptions

from ..errors import BackendError
from ..geometry.maps import mapped
from ..geometry.open import choose_map
from ..homes import home_of
from ..inputs.weights import seed_of
from ..kernels import RBF, bandwidth_of
from ..kernels.bandwidth import RULES, rows_for
from ..kernels.base import KernelLike
from ..rows import dot, host, like, sampled, tdot
from ..types import ColumnLike, Rows, Seed
from .novelty import NoveltyDetector
from .parameters import POSITIVE, parameter


@dataclass(eq=False, repr=False)
class KernelDensityNovelty(NoveltyDetector):
    """Score rows by the logarithm of a kernel density estimate. The rows with the lowest density are outliers.

    .. math:: \\hat f(x) = \\frac1n \\sum_i \\frac1{h^d} \\, w\\!\\left(\\frac{x - x_i}{h}\\right)

    with w the standard Gaussian density, or the uniform density of the unit cube (so f̂ counts the rows in a cube of
    side h). It is the simplest detector, and hard to beat in few dimensions. In many dimensions a density is hard to
    estimate. `SVDD` is better there, because it only needs a region. A Gaussian window is SVDD with ν = 1, up to the
    threshold.

    Parameters
    ----------
    bandwidth : float, or "scott", "silverman", "median", "knn", "scale", "range", default="scott"
        The width h is the Gaussian's standard deviation, or the side of the cube. Scott's rule is σ n^(−1/(d+4)) with
        σ² the mean variance of the columns. A rule gives the cube the same variance as the Gaussian (side = h √12).
    window : {"gaussian", "uniform"}, default="gaussian"
    contamination : float in (0, 0.5]. Fraction of the training rows below the threshold.
    approx : "auto", "exact", a number of landmarks or a map, default="auto"
        "auto" and "exact" use scikit-learn's trees on dense NumPy rows. A number or a map, and sparse, torch or Dask
        rows, use features. Then f̂ is one inner product, however many rows there are (Gaussian window only).
    random_state : seed of the landmarks.

    Attributes
    ----------
    bandwidth_ : the width used.
    offset_, training_scores_ : see `NoveltyDetector`. Scores are log densities. An empty cube has the score of a cube
        with a fraction of 2e-308 of the rows.

    Notes
    -----
    A tree takes O(n log n) to build, and O(log n) to O(n) per row, which grows with d. Features take O(n r) to fit and
    O(r) per row. Trees run on NumPy, and features also on torch and Dask.

    References
    ----------
    Parzen (1962), On estimation of a probability density function and mode.

    Examples
    --------
    >>> from mercer import KernelDensityNovelty
    >>> X = [[0.0], [0.1], [0.2], [0.3], [0.4], [3.0]]
    >>> KernelDensityNovelty(bandwidth=0.3, contamination=0.2).fit(X).predict([[0.15], [9.0]])
    array([ 1, -1])
    """

    kernel: KernelLike = field(default="rbf", init=False)  # for the base's tags, as the rows are never a kernel matrix
    bandwidth: Any = parameter("scott", POSITIVE, StrOptions({"scott", "silverman", *RULES}))
    _: KW_ONLY
    window: str = parameter("gaussian", StrOptions({"gaussian", "uniform"}))
    contamination: float = parameter(0.1, Interval(Real, 0, 0.5, closed="right"))
    random_state: Seed = parameter(None, "random_state")

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: np.ndarray | None = None) -> Self:
        """Estimate the density and the threshold. A weight of 2 counts a row twice, 0 removes it. y is ignored."""
        X, _, all_weight = self._training(X, None, sample_weight)
        rows, weight = self._width_rows(X, all_weight), sampled(all_weight, X)
        n, d = rows.shape
        self.bandwidth_ = self._width(rows, weight)
        mass = np.ones(n) if weight is None else weight
        total = float(X.shape[0] if all_weight is None else np.sum(all_weight))
        by_tree = home_of(X).on_host and not sp.issparse(X) and isinstance(self.approx, str)
        self.log_peak_ = -d * np.log(self.bandwidth_)  # log of one window's height
        if self.window == "gaussian":
            self.log_peak_ -= d / 2 * np.log(2 * np.pi)
        elif not by_tree:
            raise BackendError(
                "The uniform window counts neighbors in a tree, which needs dense NumPy rows and approx='auto' or "
                "'exact'. Convert the rows, or use window='gaussian'."
            )
        self.tree_: Any = self._tree(X, weight) if by_tree else None
        if by_tree:
            self.approx_reason_ = "Exact sums of windows come from a tree over the training rows."
            scores = self._score(X)
        else:
            gram = self._open(X, all_weight)
            mean = self._mean(gram, X, all_weight, total)
            self.expansion_ = gram.on_features(mean)
            scores = self._log_density(dot(gram.Z, mean))
        # The estimate without row i does not contain its own window, of weight mass_i.
        with np.errstate(divide="ignore", invalid="ignore"):
            others = total * np.exp(scores - self.log_peak_) - mass
            left_out = np.log(np.maximum(others, 0) / np.maximum(total - mass, 1e-300)) + self.log_peak_
        self._learn_threshold(scores, weight, left_out=left_out)
        return self

    def _width_rows(self, X: Rows, weight: np.ndarray | None) -> Rows:
        """The rows for the rules of the width. These are all rows, or the sample of rows in Dask."""
        home = home_of(X)
        if home.sample_of(X) is None:
            return X
        chosen, n = choose_map(RBF(1.0), self.approx, X, seed_of(self.random_state))[0], X.shape[0]
        home.fetch(X, chosen.looks_at(n), rows_for(n, weight))  # the only pass that collects rows
        return X[home.sample_of(X)]

    def _mean(self, gram, X: Rows, weight: np.ndarray | None, total: float) -> np.ndarray:
        """The mean of the features of all rows."""
        if home_of(X).sample_of(X) is None:
            return tdot(gram.Z, np.ones(X.shape[0]) if weight is None else weight) / total
        return home_of(X).reduced(feature_sums, self.map_, X, weight)[0] / total

    def _takes(self) -> str:
        return "numbers"

    def _kernel(self) -> RBF:
        return RBF(self.bandwidth_)

    def _width(self, X: Rows, weight: np.ndarray | None) -> float:
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        if self.bandwidth in RULES:
            width = bandwidth_of(X, self.bandwidth, weight)
        else:
            mass = np.ones(X.shape[0]) if weight is None else weight
            n, d = float(np.sum(mass)), X.shape[1]
            width = _spread(X, mass) * n ** (-1 / (d + 4))
            if self.bandwidth == "silverman":
                width *= (4 / (d + 2)) ** (1 / (d + 4))
        return float(width * np.sqrt(12) if self.window == "uniform" else width)

    def _tree(self, X: Rows, weight: np.ndarray | None):
        if self.window == "gaussian":
            tree = KernelDensity(bandwidth=self.bandwidth_, rtol=1e-8)
        else:
            tree = KernelDensity(bandwidth=self.bandwidth_ / 2, kernel="tophat", metric="chebyshev")
        kept = slice(None) if weight is None else weight > 0
        return tree.fit(X[kept], sample_weight=None if weight is None else weight[kept])

    def _score(self, X: Rows) -> np.ndarray:
        if self.tree_ is None:
            return self._log_density(self.expansion_(X))
        rows = np.asarray(host(X), dtype=np.float64)
        scores = self.tree_.score_samples(rows)
        if self.window == "uniform":
            # scikit-learn divides by the volume of a Euclidean ball for any metric, but this window is a cube.
            d = X.shape[1]
            ball = d / 2 * np.log(np.pi) - gammaln(d / 2 + 1) + d * np.log(self.bandwidth_ / 2)
            return np.maximum(scores + ball, np.log(np.finfo(float).tiny)) + self.log_peak_
        # Subtractions of bounds in the tree lose the digits of sums that are small compared with one window.
        far = np.flatnonzero(scores < self.log_peak_ - 15.0)  # sums below 3e-7 windows
        step = max(1, 2**22 // len(self.tree_.tree_.data))  # 2²² distances at once
        for some in np.split(far, range(step, len(far), step)):
            scores[some] = self._log_sums(rows[some])
        return scores

    def _log_sums(self, rows: np.ndarray) -> np.ndarray:
        """The logarithm of the density, window by window."""
        tree = self.tree_.tree_
        mass = np.ones(len(tree.data)) if tree.sample_weight is None else np.asarray(tree.sample_weight)
        exponents = cdist(rows, tree.data, "sqeuclidean") / (-2 * self.bandwidth_**2)
        return logsumexp(exponents, axis=1, b=mass / mass.sum()) + self.log_peak_

    def _log_density(self, mean: np.ndarray) -> np.ndarray:
        """log of a mean of similarities. An approximate mean may be below zero far from all rows."""
        return np.log(np.maximum(mean, np.finfo(float).tiny)) + self.log_peak_


def feature_sums(fitted, X: Rows, weight: np.ndarray | None) -> tuple[np.ndarray]:
    """(Σ weight · z(x),) over host rows. Dask workers call it for a block."""
    return (tdot(mapped(fitted, X), np.ones(X.shape[0]) if weight is None else weight),)


def _spread(X: Rows, mass: np.ndarray) -> float:
    """Root of the mean variance of the columns, 1 if all rows are equal."""
    share = mass / np.sum(mass)
    if sp.issparse(X):
        mean, square = X.T @ share, X.multiply(X).T @ share
        variance = float(np.mean(square - mean**2))
    else:
        mean = tdot(X, share)
        shifted = X - like(mean, X)
        variance = float(np.mean(tdot(shifted * shifted, share)))
    return np.sqrt(variance) if variance > 0 else 1.0
