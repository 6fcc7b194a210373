"""Novelty as the part of a row outside the leading kernel principal components (Hoffmann 2007)."""

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.utils._param_validation import Interval

from ..homes import home_of
from ..linalg import eigh_down, precision, rank_of
from ..rows import dot, sampled
from ..solvers.ridge.smoother import moments_of
from ..types import ColumnLike, Rows
from .novelty import NoveltyDetector
from .parameters import COUNT, parameter


@dataclass(eq=False, repr=False)
class KPCANovelty(NoveltyDetector):
    """Score rows by their distance, in feature space, to the subspace of the leading principal components.

    .. math:: e(x) = \\tilde k(x, x) - \\|V^\\top \\tilde\\varphi(x)\\|^2, \\qquad \\text{score} = -e(x)

    with centered features φ̃ and V the first components. A row is normal if the directions along which the training
    rows vary explain it. Use it when normal rows are near a curved surface. If they fill a region, `SVDD` or
    `KernelDensityNovelty` fit better. k(x, x) comes from the kernel, not from the map. A row far from every landmark
    has therefore a large error although its features are zero.

    Parameters
    ----------
    n_components : int, or float in (0, 1). Number of components, or the fraction of the variance they must reach.
    kernel : a kernel given by its name has the width "2neighbor", twice the median distance to
        the fifth nearest neighbor. Compared with "median", its AUROC is 3 points higher on 93 public tables with clean
        training rows, and 1 point lower on tables with outliers of their own.

    Attributes
    ----------
    n_components_ : number of components kept.
    eigenvalues_ : their eigenvalues (of the centered kernel matrix).
    offset_, training_scores_ : see `NoveltyDetector`.

    Notes
    -----
    A fit costs O(n r²) in one pass and O(r³). It runs on NumPy, torch and Dask.

    References
    ----------
    Hoffmann (2007), Kernel PCA for novelty detection.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KPCANovelty
    >>> x = np.linspace(-1, 1, 41)
    >>> model = KPCANovelty(n_components=4, contamination=0.05).fit(np.column_stack([x, x**2]))
    >>> model.predict([[0.3, 0.09], [0.0, 1.0]])
    array([ 1, -1])
    """

    rule = "2neighbor"

    n_components: float = parameter(0.9, COUNT, Interval(Real, 0, 1, closed="neither"))
    _: KW_ONLY
    contamination: float = parameter(0.1, Interval(Real, 0, 0.5, closed="right"))

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Self:
        """Find the components and the threshold. A weight of 2 counts a row twice, 0 removes it. y is ignored."""
        X, _, weight = self._training(X, None, sample_weight)
        gram, n, weight = self._open(X, weight), self._seen(X), sampled(weight, X)
        mass = np.ones(n) if weight is None else weight
        moments = moments_of(gram.Z, weight)
        mean, total = moments.mean, moments.total
        values, vectors = eigh_down(moments.centered(True))
        values = np.maximum(values, 0)
        self.n_components_ = self._number(values, rank_of(values, precision(np.float64), n))
        self.eigenvalues_ = values[: self.n_components_]
        W = np.column_stack([vectors[:, : self.n_components_], mean])
        self.expansion_ = gram.on_features(W)
        self.shift_, self.grand_mean_ = mean @ W[:, :-1], float(mean @ mean)
        self.rounding_ = 100 * precision(X.dtype)  # largest residual, relative to k(x, x), that may be rounding
        error, projection = self._error(dot(gram.Z, W), gram.diag())
        if not np.any(error[mass > 0]):
            warnings.warn(
                f"The {self.n_components_} components span all training rows. Their residual is rounding, all "
                "scores are 0 and no training row is an outlier. Use a smaller n_components.",
                stacklevel=2,
            )
        if home_of(X).sample_of(X) is None:
            self._learn_threshold(-error, weight, rows=(X, None, weight))
            return self
        # In Dask there are no folds, so held-out errors are estimated from the leverage in mean and components.
        leverage = mass / total + mass * np.sum(projection**2 / np.maximum(self.eigenvalues_, 1e-300), axis=1)
        self._learn_threshold(-error, weight, left_out=-error / np.clip(1 - leverage, 1e-3, 1) ** 2)
        return self

    def _number(self, values: np.ndarray, rank: int) -> int:
        if isinstance(self.n_components, Integral):
            return min(int(self.n_components), rank)
        if rank == 0:
            return 0
        return int(np.searchsorted(np.cumsum(values[:rank]), self.n_components * np.sum(values[:rank]))) + 1

    def _error(self, values: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(squared distance to the subspace, coordinates in it) of rows with these products and own = k(x, x)."""
        projection = values[:, :-1] - self.shift_
        centered = own - 2 * values[:, -1] + self.grand_mean_
        error = centered - np.sum(projection**2, axis=1)
        return np.where(error > self.rounding_ * (np.abs(own) + self.grand_mean_), error, 0.0), projection

    def _score(self, X: Rows) -> np.ndarray:
        return -self._error(self.expansion_(X), self.expansion_.diag(X))[0]
