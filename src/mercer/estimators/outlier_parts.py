"""The parts of `OutlierDetector`: views of the columns, and scores of rows in a view. A higher score is more unusual.

A view is a function of columns, learned from the training rows:

- "standardized": mean 0 and variance 1.
- "normal": each value by its rank among the training values, as a quantile of the normal distribution.
- "whitened": standardized, then turned and scaled so that the columns are uncorrelated.
- "copula": "normal", then turned and scaled likewise.

Scores in a view come from distances to a reference sample of training rows. A training row that is in the sample is
scored without itself:

- "residual": k(x, x) − k_xᵀ(K + λI)⁻¹k_x, what all kernel principal components leave of x when each is shrunk by
  λ / (eigenvalue + λ). For a row of the sample K is the matrix of the other rows.
- "density": −log of a Gaussian kernel density.
- "nearest" and "neighbors": distance to the nearest row, and to the fifth nearest.
- "tenth" and "fifth": distance within which a tenth or a fifth of 500 rows are. Outliers that are near each other do
  not hide each other, as long as they are fewer.
- "samples": mean distance to the nearest of eight rows, over 64 random samples of eight (compare Sugiyama and Borgwardt
  2013). In so small a sample a row seldom has a near neighbor that is an outlier too.

"tails" needs no view: Σ over columns of −log of the two-sided tail probability (compare ECOD). "forest" is an isolation
forest, see `mercer.estimators.outlier_forest`. Rows may be tensors on a device, and blocks of them are scored there.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from ..homes import home_of
from ..rows import gram, host, like, namespace, take
from ..types import Block, Rows

Floats = NDArray[Any]
VIEWS = ("standardized", "normal", "whitened", "copula")
SCORES = ("residual", "density", "nearest", "neighbors", "tenth", "fifth", "samples")
CROWD = 500  # reference rows for "tenth" and "fifth"
RIDGE = 0.01  # λ
WIDTHS = {"residual": 2.0, "density": 4.0}  # of kernels, in median distances to the fifth neighbor
VALUES = 20_000  # values of a column that are kept for its ranks


@dataclass
class Ranks:
    """The sorted training values of each column. Of very many, evenly spaced ones with both ends."""

    values: Floats  # (q, d)

    @staticmethod
    def of(X: Rows) -> "Ranks":
        """The ranks of these training rows, on their own device."""
        n = X.shape[0]
        return Ranks(home_of(X).sorted_columns(X, np.linspace(0, n - 1, min(n, VALUES)).round().astype(int)))

    def __call__(self, X: Rows) -> tuple[Block, Block]:
        """(n, d) how many values are below each entry, and how many are not above it."""
        return home_of(X).ranks(self.values, X)


@dataclass
class OutlierView:
    """Columns as a part sees them. Fit a view by `of`, and apply it by calling it."""

    name: str
    shift: Floats = field(default_factory=lambda: np.zeros(0))
    scale: Floats = field(default_factory=lambda: np.ones(0))
    turn: Floats | None = None
    ranks: Ranks | None = None
    count: int = 1  # training rows

    @staticmethod
    def of(name: str, X: Rows, ranks: Ranks | None = None) -> "OutlierView":
        """The view of these training rows. ranks : theirs, if they are known."""
        n = X.shape[0]
        if name in ("normal", "copula"):
            ranks = Ranks.of(X) if ranks is None else ranks
            if name == "normal":
                return OutlierView(name, ranks=ranks, count=n)
            some = np.sort(np.random.default_rng(0).permutation(n)[:VALUES])
            return replace(
                OutlierView.of("whitened", OutlierView(name, ranks=ranks)(take(X, some))),
                name=name,
                ranks=ranks,
                count=n,
            )
        rough = take(X, np.arange(min(n, 1000))).mean(axis=0)  # near the mean, so that less is lost to rounding
        products, sums = gram(X - like(rough, X), sums=True)
        mean = sums / n
        covariance = products / n - np.outer(mean, mean)
        spread, mean = np.sqrt(np.maximum(np.diag(covariance), 0.0)), mean + rough
        spread[~(spread > 1e-12 * np.maximum(np.abs(mean), 1e-300))] = 1.0
        if name == "standardized":
            return OutlierView(name, mean, spread, count=n)
        values, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
        kept = values > 1e-6 * max(values[-1], 1e-300)
        return OutlierView(name, mean, spread, vectors[:, kept] / np.sqrt(values[kept]), count=n)

    def __call__(self, X: Rows, own: bool = False, ranked: tuple | None = None) -> Block:
        """(n, d') rows in this view. own : they are training rows, each seen by the view without itself.

        A row of squared length m in whitened columns has m / (1 − m/n) when mean and covariance leave it out, up to
        terms in 1/n. Ranks change by 1/n only. ranked : the ranks of X, if they are known.
        """
        if self.ranks is not None:
            low, high = self.ranks(X) if ranked is None else ranked
            n = len(self.ranks.values)
            levels = ndtri(np.clip(np.arange(2 * n + 1) / (2 * n), 0.5 / n, 1 - 0.5 / n))
            X = like(levels, X)[low + high]
            if self.turn is None:
                return X
        Z = (X - like(self.shift, X)) / like(self.scale, X)
        Z = Z if self.turn is None else Z @ like(self.turn, X)
        if own:
            squared = Z**2 if self.turn is None else (Z**2).sum(1)[:, None]
            Z = Z / namespace(Z).sqrt(namespace(Z).clip(1 - squared / self.count, 1 / self.count, None))
        return Z


@dataclass
class Near:
    """Scores by the distances to reference rows of a view."""

    rows: Floats  # (m, d) reference rows in the view
    landmarks: Floats  # (r,) those of them that span the residual
    width: float = 1.0  # median distance to the fifth neighbor
    factor: Floats | None = None  # inverse of the Cholesky factor of K + λI
    inverse: Floats | None = None  # of K + λI
    drawn: Floats | None = None  # (64, 8) reference rows of each sample

    @staticmethod
    def of(rows: Floats, n_landmarks: int, scores: list[str]) -> "Near":
        """Fit to these reference rows, in random order, of which the first `n_landmarks` span the residual."""
        near = Near(rows, np.arange(min(n_landmarks, len(rows))))
        some = rows[: min(len(rows), 1000)]
        fifth = near.neighbors(squared_distances(some, rows), np.arange(len(some)))
        near.width = float(np.median(fifth)) or float(np.mean(fifth)) or 1.0
        if "samples" in scores:
            rng = np.random.default_rng(0)
            near.drawn = np.stack([rng.permutation(len(rows))[:8] for _ in range(64)])
        if "residual" in scores:
            K = near.kernel(squared_distances(rows[near.landmarks], rows[near.landmarks]).astype(np.float64))
            np.fill_diagonal(K, 1.0)
            lower = np.linalg.cholesky(K + RIDGE * np.eye(len(K)))
            factor = solve_triangular(lower, np.eye(len(K)), lower=True)
            near.inverse = (factor.T @ factor).astype(rows.dtype)
            near.factor = np.ascontiguousarray(factor.T, dtype=rows.dtype)
        return near

    def kernel(self, squared: Block) -> Block:
        """Gaussian kernel of the residual, of squared distances."""
        return namespace(squared).exp(squared * (-0.5 / (WIDTHS["residual"] * self.width) ** 2))

    def reach(self, names: list[str]) -> int:
        """How many reference rows, the first ones, these scores need."""
        crowd = min(CROWD, len(self.rows))
        needs = {"residual": len(self.landmarks), "tenth": crowd, "fifth": crowd}
        return max((needs.get(name, len(self.rows)) for name in names), default=0)

    def scores(self, name: str, squared: Block, places: Floats) -> Floats:
        """(t,) scores of rows, on the host, from their (t, m) squared distances to the reference rows.

        places : (t,) place of each row among the reference rows, or −1.
        """
        return getattr(self, name)(squared, places)

    def nearest(self, squared: Block, places: Floats) -> Floats:
        """Distance to the nearest reference row, the row itself not counted."""
        inside = np.flatnonzero(places >= 0)
        own = squared[inside, places[inside]]
        squared[inside, places[inside]] = np.inf
        found = np.sqrt(host(namespace(squared).amin(squared, 1)).astype(np.float64))
        squared[inside, places[inside]] = own
        return np.where(np.isfinite(found), found, 0.0)

    def neighbors(self, squared: Block, places: Floats) -> Floats:
        """Distance to the fifth nearest reference row, the row itself not counted."""
        squared, inside = np.array(host(squared)), np.flatnonzero(places >= 0)
        squared[inside, places[inside]] = np.inf
        k = min(5, max(squared.shape[1] - (len(inside) > 0), 1))
        found = np.sqrt(np.partition(squared, k - 1, axis=1)[:, k - 1].astype(np.float64))
        return np.where(np.isfinite(found), found, 0.0)

    def tenth(self, squared: Block, places: Floats) -> Floats:
        """Distance within which a tenth of the first reference rows are, the row itself not counted."""
        return self._crowd(squared, places, 0.1)

    def fifth(self, squared: Block, places: Floats) -> Floats:
        """Distance within which a fifth of the first reference rows are, the row itself not counted."""
        return self._crowd(squared, places, 0.2)

    def _crowd(self, squared: Block, places: Floats, fraction: float) -> Floats:
        m = min(CROWD, squared.shape[1])
        squared, inside = squared[:, :m] + 0, np.flatnonzero((places >= 0) & (places < m))
        squared[inside, places[inside]] = np.inf
        k = min(int(np.ceil(fraction * m)), max(m - (len(inside) > 0), 1))
        found = np.sqrt(host(home_of(squared).smallest(squared, k)).astype(np.float64))
        return np.where(np.isfinite(found), found, 0.0)

    def samples(self, squared: Block, places: Floats) -> Floats:
        """Mean distance to the nearest row of each sample, the row itself not counted."""
        assert self.drawn is not None
        xp, flat = namespace(squared), self.drawn.ravel()
        some = squared[:, flat]
        inside = np.flatnonzero(places >= 0)
        row, column = np.nonzero(places[inside][:, None] == flat)
        some[inside[row], column] = np.inf
        nearest = host(xp.sqrt(xp.amin(some.reshape(len(some), *self.drawn.shape), 2))).astype(np.float64)
        there = np.isfinite(nearest)  # of two rows, a sample may have no other one
        return np.where(there, nearest, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)

    def residual(self, squared: Block, places: Floats) -> Floats:
        """The residual of each row that the landmarks do not explain."""
        assert self.factor is not None and self.inverse is not None
        r = len(self.landmarks)
        K = self.kernel(squared[:, :r])
        inside = np.flatnonzero((places >= 0) & (places < r))
        at = places[inside]
        K[inside, at] = 0.0
        along = K @ like(self.factor, K)
        found = 1.0 - host((along * along).sum(1)).astype(np.float64)
        # (K + λI)⁻¹ without row and column i is the rest of P − P_i P_iᵀ / P_ii.
        if len(inside):
            found[inside] += (host(K[inside]) * self.inverse[at]).sum(axis=1) ** 2 / self.inverse[at, at]
        return np.maximum(found, 0.0)

    def density(self, squared: Block, places: Floats) -> Floats:
        """−log of the sum of Gaussian windows, the row's own window left out."""
        xp = namespace(squared)
        exponent = squared * (-0.5 / (WIDTHS["density"] * self.width) ** 2)
        inside = np.flatnonzero(places >= 0)
        exponent[inside, places[inside]] = -np.inf
        top = xp.amax(exponent, 1)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        exponent -= top[:, None]
        mass = host(xp.exp(exponent, out=exponent).sum(1)).astype(np.float64)
        with np.errstate(divide="ignore"):
            found = -np.log(mass) - host(top)
        return np.where(np.isfinite(found), found, 0.0) + np.log(np.maximum(squared.shape[1] - (places >= 0), 1))


def squared_distances(X: Rows, Y: Rows) -> Block:
    """(t, m) squared distances by one product."""
    squared = (-2 * X) @ Y.T
    squared += (X * X).sum(1)[:, None]
    squared += (Y * Y).sum(1)
    return namespace(squared).clip(squared, 0, None, out=squared)


@dataclass
class Tails:
    """Σ over columns of −log(2 · smaller tail probability), with the row itself not counted."""

    ranks: Ranks

    @staticmethod
    def of(X: Rows) -> "Tails":
        """The tails of these training rows."""
        return Tails(Ranks.of(X))

    def columns(self, X: Rows, own: bool = False, ranked: tuple | None = None) -> Block:
        """(t, d) the part of each column, in nats. own : the rows are those of the ranks, which `ranked` may give."""
        low, high = self.ranks(X) if ranked is None else ranked
        n, more = len(self.ranks.values), 0 if own else 1
        least = namespace(high).minimum(high, n - low) + more
        count = np.maximum(np.arange(n + 2) - 0.5, 0.5)
        return like(-np.log(np.minimum(2 * count / (n + more), 1.0)), X)[least]

    def __call__(self, X: Rows, own: bool = False, ranked: tuple | None = None) -> Floats:
        """(t,) scores of rows, on the host."""
        return host(self.columns(X, own, ranked).sum(1)).astype(np.float64)
