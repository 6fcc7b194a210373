"""Where each row is drawn: two kernel principal components of a kernel that sees clusters and keeps some shape."""

import numpy as np
import scipy.sparse as sp

from ..estimators.kernel_pca import KernelPCA
from ..kernels import RBF, Cosine, Diffusion

HEAT_TIME = 100.0
HEAT_RANK = 40
SHAPE = 0.3  # share of the plain kernel beside the heat kernel: without it a cluster is one dot, with more they overlap
SENTENCE = "The axes are two kernel principal components, of a heat kernel on the neighbour graph and a plain kernel."


class RowMap:
    """Positions in the plane, from the rows alone: no label moves them.

    Parameters
    ----------
    random_state : seed of the landmarks.

    Attributes
    ----------
    positions_ : (n, 2) of the rows it was fitted on.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.report.picture import RowMap
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0.0], [9.0]], 30, axis=0)
    >>> found = RowMap().fit(X)
    >>> bool(np.allclose(found.transform(X), found.positions_))
    True
    """

    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X):
        """Learn the axes from the rows X."""
        self.middle_, self.spread_ = None, None
        if not sp.issparse(X):
            spread = X.std(axis=0)
            if spread.max() > 20 * max(float(np.median(spread)), 1e-300):  # else the picture would be that one column
                self.middle_, self.spread_ = X.mean(axis=0), np.where(spread > 0, spread, 1.0)
        X = self._scaled(X)
        n = X.shape[0]
        self.heat_ = Diffusion(min(10, max(n // 3, 1)), HEAT_TIME, rank=min(HEAT_RANK, n)).resolve(X)
        number = min(HEAT_RANK, n - 1)
        approx = "exact" if n <= 3000 else 500
        plain = KernelPCA(
            number, kernel=Cosine() if sp.issparse(X) else RBF(), approx=approx, random_state=self.random_state
        )
        shape = np.asarray(plain.fit_transform(X), dtype=np.float64)
        power = float(np.mean(np.sum(shape**2, axis=1)))
        self.plain_, self.gain_ = plain, np.sqrt(SHAPE / power) if power > 0 else 1.0
        both = self._side_by_side(self.heat_.factor(), shape)
        self.mean_ = both.mean(axis=0)
        axes = np.linalg.svd(both - self.mean_, full_matrices=False)[2][:2]
        self.axes_ = axes * np.sign(axes.sum(axis=1, keepdims=True) + 1e-300)
        self.positions_ = self._placed(both)
        return self

    def transform(self, X):
        """(n, 2) positions of any rows; those of the fit stay where they are."""
        X = self._scaled(X)
        return self._placed(self._side_by_side(self.heat_.features(X), np.asarray(self.plain_.transform(X))))

    def _scaled(self, X):
        return X if self.middle_ is None else (X - self.middle_) / self.spread_

    def _side_by_side(self, heat, shape):
        return np.hstack([heat / np.maximum(np.linalg.norm(heat, axis=1, keepdims=True), 1e-300), self.gain_ * shape])

    def _placed(self, both):
        xy = (both - self.mean_) @ self.axes_.T
        return xy if xy.shape[1] == 2 else np.column_stack([xy[:, 0], np.zeros(len(xy))])


def positions(X, seed=0):
    """(n, 2) positions of the rows of X."""
    return RowMap(seed).fit(X).positions_


def on_grid(xy, grid):
    """(n, 2) whole numbers from 0 to `grid`; far-out points are at the border: they would squeeze all others."""
    xy = np.asarray(xy, dtype=float)
    low, high = xy.min(axis=0), xy.max(axis=0)
    inner_low, inner_high = np.quantile(xy, [0.005, 0.995], axis=0)
    middle = inner_high - inner_low
    low, high = np.maximum(low, inner_low - 0.25 * middle), np.minimum(high, inner_high + 0.25 * middle)
    return np.round(np.clip((xy - low) / np.where(high > low, high - low, 1.0), 0, 1) * grid).astype(int)
