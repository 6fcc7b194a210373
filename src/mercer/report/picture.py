"""A map of the rows. Neighbors in the table are neighbors on the map, which starts from kernel components."""

import numpy as np
import scipy.sparse as sp

from ..estimators.kernel_pca import KernelPCA
from ..geometry.open import POLICIES
from ..graphs.layout import neighbor_layout
from ..kernels import RBF, Cosine, Diffusion
from ..types import Rows

SENTENCE = (
    "Similar rows are close together. The axes have no unit, and distances between groups have little meaning "
    "(a neighbor embedding of the nearest-neighbor graph, started from two kernel principal components)."
)


class PlaneEmbedding:
    """Positions in the plane. They do not depend on labels.

    The start is two principal components of a heat kernel on the neighbor graph and a plain kernel. From there
    neighbors attract each other and other rows push away (see `mercer.graphs.layout`). The same rows have the same
    positions every time. Other rows are placed at the weighted mean of their nearest rows.

    Parameters
    ----------
    random_state : seed of the landmarks.

    Attributes
    ----------
    positions_ : (n, 2) of the rows it was fitted on. start_ : (n, 2) the two components.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.report.picture import PlaneEmbedding
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0.0], [9.0]], 30, axis=0)
    >>> found = PlaneEmbedding().fit(X)
    >>> bool(np.allclose(found.transform(X), found.positions_))
    True
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    positions_: np.ndarray

    def fit(self, X: Rows) -> "PlaneEmbedding":
        """Learn the axes from the rows X."""
        self.middle_, self.spread_ = None, None
        if not sp.issparse(X):
            spread = X.std(axis=0)
            if spread.max() > 20 * max(float(np.median(spread)), 1e-300):  # else the map would show one column only
                self.middle_, self.spread_ = X.mean(axis=0), np.where(spread > 0, spread, 1.0)
        X = self._scaled(X)
        n, rank = X.shape[0], 40
        self.heat_ = Diffusion(min(10, max(n // 3, 1)), 100.0, rank=min(rank, n)).resolve(X)
        number = min(rank, n - 1)
        policy = POLICIES["plane"]
        approx = "exact" if n <= policy.exact_rows else policy.landmarks
        plain = KernelPCA(
            number, kernel=Cosine() if sp.issparse(X) else RBF(), approx=approx, random_state=self.random_state
        )
        shape = np.asarray(plain.fit_transform(X), dtype=np.float64)
        power = float(np.mean(np.sum(shape**2, axis=1)))
        # 0.3 is the weight of the plain kernel. Without it a cluster is one dot, and with more clusters overlap.
        self.gain_ = np.sqrt(0.3 / power) if power > 0 else 1.0
        both = self._side_by_side(self.heat_.factor(), shape)
        self.mean_ = both.mean(axis=0)
        axes = np.linalg.svd(both - self.mean_, full_matrices=False)[2][:2]
        self.axes_ = axes * np.sign(axes.sum(axis=1, keepdims=True) + 1e-300)
        self.start_ = self._placed(both)
        self.positions_ = neighbor_layout(self.heat_.graph_, self.start_, self.random_state)
        return self

    def fit_transform(self, X: Rows) -> np.ndarray:
        """Return the positions of the rows X, learned from them."""
        return self.fit(X).positions_

    def transform(self, X: Rows) -> np.ndarray:
        """Return the (n, 2) positions of any rows. Rows of the fit keep theirs. Equal rows have their mean position."""
        return np.asarray(self.heat_.spread(self._scaled(X)) @ self.positions_)

    def _scaled(self, X: Rows) -> Rows:
        return X if self.middle_ is None else (X - self.middle_) / self.spread_

    def _side_by_side(self, heat: np.ndarray, shape: np.ndarray) -> np.ndarray:
        return np.hstack([heat / np.maximum(np.linalg.norm(heat, axis=1, keepdims=True), 1e-300), self.gain_ * shape])

    def _placed(self, both: np.ndarray) -> np.ndarray:
        xy = (both - self.mean_) @ self.axes_.T
        return xy if xy.shape[1] == 2 else np.column_stack([xy[:, 0], np.zeros(len(xy))])


def positions(X: Rows, seed: int = 0) -> np.ndarray:
    """Return the (n, 2) positions of the rows of X."""
    return PlaneEmbedding(seed).fit(X).positions_


def on_grid(xy: np.ndarray, grid: int) -> np.ndarray:
    """Return (n, 2) positions as whole numbers from 0 to `grid`.

    Distant points are moved to the border, so that they do not shrink the space for all others.
    """
    xy = np.asarray(xy, dtype=float)
    low, high = xy.min(axis=0), xy.max(axis=0)
    inner_low, inner_high = np.quantile(xy, [0.005, 0.995], axis=0)
    middle = inner_high - inner_low
    low, high = np.maximum(low, inner_low - 0.25 * middle), np.minimum(high, inner_high + 0.25 * middle)
    found: np.ndarray = np.round(np.clip((xy - low) / np.where(high > low, high - low, 1.0), 0, 1) * grid)
    return found.astype(int)
