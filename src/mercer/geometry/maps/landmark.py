"""Features from similarities to landmarks, for exact, Nyström and precomputed kernels."""

import numbers
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.typing import DTypeLike

from ...backend import require_memory
from ...errors import InputError
from ...homes import Objects, home_of
from ...inputs.weights import generator_of
from ...kernels import Precomputed, as_kernel
from ...kernels.base import KernelLike, rows_for
from ...linalg import eigh_down, negative_mass, pivoted_cholesky, precision, random_pivots, rank_of, smallest
from ...rows import by_blocks, host, host_rows, like, near
from ...types import Array, Rows, Seed
from . import draw as choose_landmarks
from .base import FeatureMap

POOL = 5_000  # rows among which landmarks are chosen (ten for each landmark, if that is more)
WHOLE = 2_000  # up to so many rows (or five for each landmark) all are factored, which also gives their features
BLOCK = 512  # host rows per block of a transform, whose similarities stay in the cache


@dataclass(eq=False, repr=False)
class LandmarkMap(FeatureMap):
    """Features z(x) = k(x, landmarks) · root with Z Zᵀ = K_nL K_LL⁺ K_Ln.

    With every row as a landmark (``landmarks="exact"``) Z Zᵀ = K up to rounding. With fewer it is the Nyström
    approximation. The pseudo-inverse comes from a pivoted Cholesky factorization that stops at the precision of the
    data, so rank-deficient kernels and repeated landmarks need no special care. A matrix that is not positive
    semi-definite is factored by its eigenvectors. Its negative part, and the positive directions that are no larger
    than the largest negative one, are cut off and reported.

    Parameters
    ----------
    landmarks : "exact", int or array of rows
        "exact" uses every row. An int is the number of landmarks, and an array contains the landmark rows themselves.
    choice : {"pivoted", "uniform", "kmeans", "leverage"} or array of shape (n,)
        How a number of landmarks is found. "pivoted" is a randomly pivoted Cholesky factorization. An array contains
        probabilities (draws with replacement). If the kernel may be indefinite (precomputed, a Python function),
        "pivoted" draws uniformly. A precomputed kernel accepts "pivoted" and "uniform" only.
    rank : int or None
        Keep only the best part of this rank of the landmarks' kernel matrix. None keeps all of it.

    Attributes
    ----------
    landmarks_ : array-like
        The landmark rows. For a precomputed kernel, their indices.
    landmark_indices_ : array of int or None
        Positions of the landmarks among the training rows, if they are rows.

    See Also
    --------
    FeatureMap : Describes rank_, energy_, error_, negative_mass_ and reason_.

    Notes
    -----
    m landmarks cost n·m kernel values and n·m² operations. The features need n·r numbers of memory. To choose landmarks
    as pivots takes about 3·m³ operations and 3·m² numbers on a pool of 10·m rows (at least 5,000). An exact map takes
    at most n³/3 operations, and fewer if the numerical rank of the kernel matrix is low.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> Z = LandmarkMap("rbf", landmarks=50).fit_transform(X)
    >>> Z.shape
    (200, 50)
    """

    kernel: Any = "rbf"
    landmarks: Any = "exact"
    choice: Any = "pivoted"
    rank: int | None = None
    random_state: Seed = 0

    def learn(self, X: Rows, weight: Array | None = None, least: float = 0.0) -> Rows | None:
        """Choose the landmarks and factor their kernel matrix. Return features if the factor contains them, else None.

        least : float
            The first landmark with a pivot below this fraction of the first one is dropped, and so are all later ones.
        """
        self._remember(X)
        Z = self._learn(X, weight)
        if least > 0 and self.triangular_:
            Z = self._shorten(least, Z)
        what = f"landmarks represent {X.shape[0]} rows (Nyström)"
        if isinstance(self.landmarks, str):
            what = f"exact features reproduce the kernel of {X.shape[0]} rows to working precision"
        self.reason_ = f"{self.rank_} {what}."
        self._measure(X, Z)
        return Z

    def _learn(self, X: Rows, weight: Array | None) -> Rows | None:
        self.kernel_ = as_kernel(self.kernel).resolve(X, weight)
        self.kernel_.check()
        self.negative_mass_ = 0.0
        self.landmark_indices_: Any = None
        scale = None
        exact = isinstance(self.landmarks, str)
        if exact and self.landmarks != "exact":
            raise InputError(
                f"landmarks={self.landmarks!r} is not accepted. Use 'exact', a number, or the landmark rows."
            )
        Z, given = None, not exact and not isinstance(self.landmarks, numbers.Integral)
        pivoted = exact or (isinstance(self.choice, str) and self.choice == "pivoted")
        if isinstance(self.kernel_, Precomputed):
            Z = self._fit_matrix(square_kernel(X))
        elif self.kernel_.psd and pivoted and not given:
            Z = self._fit_pivots(X, exact)
        else:
            if given:
                self.landmarks_ = rows_for(self.kernel_, self.landmarks) if isinstance(X, Objects) else self._given(X)
            else:
                scale = self._choose(X, exact)
            self._factor(np.asarray(self.kernel_(self.landmarks_), dtype=np.float64), self.landmarks_.dtype, scale)
        return Z

    def features(self, X: Rows) -> Rows:
        """k(x, landmarks) · root, or L⁻¹ k(x, landmarks) for a triangular factor."""
        root = like(self.root_, X)
        of_block = lambda X: self._rooted(self.similarities(X), root)  # noqa: E731
        return by_blocks(of_block, X, self.rank_, None, BLOCK, self._threads())

    def _threads(self) -> int | None:
        return None if self.kernel_.threadsafe else 1

    def _rooted(self, K: Rows, root: Rows) -> Rows:
        return home_of(K).solve_lower(root, K.T).T if self.triangular_ else K @ root

    def slopes(self, X: Rows, V: Rows) -> Rows:
        return self._rooted(self.kernel_.slope(X, V, near(self.landmarks_, X)), like(self.root_, X))

    def similarities(self, X: Rows) -> Rows:
        """k(x, landmarks) of the rows of X, which is in one piece."""
        if isinstance(self.kernel_, Precomputed):
            columns = X[:, self.landmarks_]
            return columns.toarray() if sp.issparse(columns) else columns
        return self.kernel_(X, near(self.landmarks_, X))

    def on_landmarks(self, W: Array, growth: float = np.inf) -> tuple[Any, Array] | None:
        """(landmarks, c) with z(x) · W = k(x, landmarks) · c, so that no row needs a triangular solve."""
        if not self.triangular_:
            c, largest = self.root_ @ W, 1.0
        else:
            c = sla.solve_triangular(self.root_, W, lower=True, trans="T", check_finite=False)
            largest = np.sqrt(np.max(np.sum(self.root_**2, axis=1)))  # the largest √k(x, x) of the landmarks
        # Rounding grows with the size of c.
        grown = np.sum(np.abs(c), axis=0) * largest / np.maximum(np.linalg.norm(W, axis=0), np.finfo(np.float64).tiny)
        return (self.landmarks_, c) if np.max(grown, initial=0.0) <= growth else None

    def well_conditioned(self, growth: float) -> bool:
        """Whether the factor is triangular with pivots that differ by a factor of at most `growth`."""
        pivots = np.diag(self.root_) ** 2
        return self.triangular_ and bool(np.max(pivots) <= growth * np.min(pivots))

    def _shorten(self, least: float, Z: Rows | None) -> Rows | None:
        pivots = np.diag(self.root_) ** 2
        small = np.flatnonzero(pivots < least * pivots[0])
        if not len(small):
            return Z
        keep = int(small[0])
        self.landmarks_ = self.landmarks_[:keep]
        self.landmark_indices_ = None if self.landmark_indices_ is None else self.landmark_indices_[:keep]
        self._keep(self.root_[:keep, :keep], triangular=True)
        return None if Z is None else Z[:, :keep]

    # How the landmarks are found

    def _given(self, X: Rows) -> Rows:
        rows = self.landmarks
        rows = rows if sp.issparse(rows) else np.asarray(rows, dtype=str(X.dtype).rpartition(".")[2])
        if rows.ndim != 2 or rows.shape[1] != X.shape[1]:
            raise InputError(
                f"landmarks has shape {rows.shape}. Accepted: 'exact', a number, or rows with {X.shape[1]} columns."
            )
        return rows

    def looks_at(self, n: int) -> Array:
        if isinstance(self.landmarks, str):
            return np.arange(n if n <= POOL else 0)  # an exact map of more rows is refused
        pool: Any = self._positions(n)[0] if isinstance(self.landmarks, numbers.Integral) else []
        return np.union1d(super().looks_at(n), pool).astype(int)

    def _positions(self, n: int) -> tuple[Array, np.random.Generator]:
        """Positions of the rows among which landmarks are chosen, and the generator that drew them."""
        rng, most = generator_of(self.random_state), max(POOL, 10 * self._number(n))
        return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False)), rng

    def _pool(self, X: Rows, exact: bool) -> tuple[Array, Rows, np.random.Generator]:
        """Host rows among which landmarks are chosen, and their positions."""
        n = X.shape[0]
        if exact and n > POOL:
            what = f"An exact map of {n} Dask rows would need a factor with up to {n} columns."
            home_of(X).refuse_lazy(f"{what} Use approx=<number of landmarks>, for example approx=1000.")
        rows, rng = (np.arange(n), generator_of(self.random_state)) if exact else self._positions(n)
        return rows, host_rows(X if len(rows) == n else X[rows]), rng

    def _fit_pivots(self, X: Rows, exact: bool) -> Rows | None:
        """Factor the matrix with greedy pivots up to rounding if `exact`, else with a number of random pivots."""
        positions, pool, rng = self._pool(X, exact)
        n, F, threads = pool.shape[0], None, self._threads()
        of_pool = (lambda i, j: self.kernel_(pool[i], None if i is j else pool[j])), self.kernel_.diag(pool)
        if exact:
            room = "Use approx=<number of landmarks>, for example approx=1000, or float32 data (half the memory)."
            require_memory(min(n, 4000) * n * pool.dtype.itemsize, f"The exact factor of {n} rows", room)
            pivots, F, _ = pivoted_cholesky(*of_pool, n, pool.dtype, threads=threads)
        elif n == X.shape[0] <= max(WHOLE, 5 * self._number(n)):
            pivots, F, _ = pivoted_cholesky(*of_pool, self._number(n), pool.dtype, rng, threads)
        else:
            pivots, root = random_pivots(*of_pool, self._number(n), pool.dtype, rng, threads)
        if len(pivots) == 0:  # a kernel that is zero everywhere gets one feature, 0 / 1 and not 0 / 0
            pivots, F, root = np.array([0]), None, np.ones((1, 1))
        self.landmark_indices_, self.landmarks_ = positions[pivots], pool[pivots]
        if self.rank is not None:
            self._factor(np.asarray(self.kernel_(self.landmarks_), dtype=np.float64), pool.dtype)
            return None
        self._keep(root if F is None else F[pivots], triangular=True)
        return None if F is None else home_of(X).spread(F, X)

    def _choose(self, X: Rows, exact: bool) -> Array | None:
        """Choose landmarks by one of the other rules. Independent draws return the column scaling 1/√(c p)."""
        if not exact and not isinstance(self.choice, str):
            return self._draw(X)
        positions, pool, rng = self._pool(X, exact)
        if exact:
            self.landmark_indices_, self.landmarks_ = positions, pool
            return None
        number = self._number(pool.shape[0])
        if self.choice not in choose_landmarks.CHOICES:
            raise InputError(
                f"choice={self.choice!r} is not accepted. Use {', '.join(choose_landmarks.CHOICES)}, "
                "or an array of probabilities, one per row."
            )
        chosen = choose_landmarks.CHOICES[self.choice](pool, self.kernel_, number, rng)
        if chosen.ndim == 2:
            self.landmarks_ = chosen
        else:
            self.landmark_indices_, self.landmarks_ = positions[chosen], pool[chosen]
        return None

    def _draw(self, X: Rows) -> Array:
        """Independent draws from all rows with the given probabilities."""
        p = np.asarray(self.choice, dtype=np.float64)
        number, rng = self._number(X.shape[0]), generator_of(self.random_state)
        chosen = choose_landmarks.with_probabilities(X, self.kernel_, number, rng, p)
        self.landmark_indices_, self.landmarks_ = chosen, host_rows(X[chosen])
        return 1.0 / np.sqrt(number * p[chosen] / p.sum())

    def _fit_matrix(self, K: Array) -> Rows:
        """Fit to a precomputed matrix, whose columns are the landmarks."""
        n = K.shape[0]
        dtype = np.float32 if K.dtype == np.float32 else np.float64
        if isinstance(self.landmarks, str):
            if self.rank is None and _is_psd(K):
                pivots, F, _ = pivoted_cholesky(lambda i, j: K[np.ix_(i, j)], np.diagonal(K), n, dtype)
                if len(pivots):
                    self.landmarks_ = self.landmark_indices_ = pivots
                    self._keep(np.tril(F[pivots]), triangular=True)
                    return F
            self.landmarks_ = self.landmark_indices_ = np.arange(n)
        else:
            if not isinstance(self.choice, str) or self.choice not in ("pivoted", "uniform"):
                raise InputError(
                    f"choice={self.choice if isinstance(self.choice, str) else 'probabilities'!r} is not accepted for "
                    "a precomputed kernel. Use 'uniform', or 'pivoted', which means the same here. Other choices need "
                    "the rows and a kernel object."
                )
            rng = generator_of(self.random_state)
            self.landmarks_ = self.landmark_indices_ = choose_landmarks.uniform(K, None, self._number(n), rng)
        self._factor(K[np.ix_(self.landmarks_, self.landmarks_)].astype(np.float64), dtype)
        return self.of_rows(K)

    def _number(self, n: int) -> int:
        if not isinstance(self.landmarks, numbers.Integral) or self.landmarks < 1:
            raise InputError(f"landmarks={self.landmarks!r} is not accepted. Use 'exact' or a number of at least 1.")
        return min(int(self.landmarks), n)

    # The root of the landmarks' kernel matrix

    def _factor(self, core: Array, dtype: DTypeLike | None, scale: Array | None = None) -> None:
        """Keep a root with root rootᵀ = core⁺, or the Cholesky factor of core if that is positive semi-definite."""
        if scale is None and self.rank is None and (self.kernel_.psd or _is_psd(core)):
            pivots, F, _ = pivoted_cholesky(lambda i, j: core[np.ix_(i, j)], np.diagonal(core), len(core), dtype)
            if len(pivots):
                self.landmarks_ = self.landmarks_[pivots]
                if self.landmark_indices_ is not None:
                    self.landmark_indices_ = self.landmark_indices_[pivots]
                self._keep(np.tril(F[pivots]), triangular=True)
                return
        scale = np.ones(len(core)) if scale is None else scale
        values, vectors = eigh_down(core * np.outer(scale, scale))
        self.negative_mass_ = negative_mass(values)
        _warn_of_negative(self.negative_mass_, values, self.kernel_)
        # Positive directions no larger than the negative ones are as doubtful, and 1/√λ is huge for new rows in them.
        larger = int(np.sum(values > -values[-1]))
        rank = max(min(rank_of(values, precision(dtype)), larger, self.rank or len(values)), 1)
        top = np.maximum(values[:rank], smallest(dtype))
        self._keep(scale[:, None] * vectors[:, :rank] / np.sqrt(top), triangular=False)

    def _keep(self, root: Array, triangular: bool) -> None:
        self.root_ = np.asarray(root, dtype=np.float64)
        self.triangular_ = triangular
        self.rank_ = root.shape[1]


def square_kernel(K: Rows) -> Array:
    """A precomputed training matrix on the host. It must be square and symmetric."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(
            f"A precomputed kernel matrix must be square in fit, got {K.shape[0]} × {K.shape[1]}. "
            "Give k(training, training) to fit and k(new, training) to predict or transform."
        )
    K = K.toarray() if sp.issparse(K) else host(K)
    gap = float(np.max(np.abs(K - K.T), initial=0.0))
    if gap > 1e-5 * float(np.max(np.abs(K), initial=0.0)):
        raise InputError(
            f"The precomputed kernel matrix is not symmetric (entries differ by up to {gap:.3g}). "
            "Give a symmetric matrix. If the difference is noise, pass (K + K.T) / 2."
        )
    return K


def _is_psd(K: Array) -> bool:
    """Whether K has a Cholesky factor after a small multiple of the identity, of the size of rounding, is added."""
    n = len(K)
    slack = n * precision(K.dtype) * max(float(np.trace(K)) / n, np.finfo(np.float64).tiny)
    try:
        sla.cholesky(K.astype(np.float64) + 10 * slack * np.eye(n), lower=True, check_finite=False, overwrite_a=True)
        return True
    except sla.LinAlgError:
        return False


def _warn_of_negative(mass: float, values: Array, kernel: KernelLike) -> None:
    """Warn if more than 1% of the spectrum is negative. Refuse a precomputed matrix above 10%."""
    if mass <= 0.01:
        return
    finding = (
        f"{100 * mass:.1f}% of the spectrum of this similarity is negative (smallest eigenvalue {values[-1]:.3g}, "
        f"largest {values[0]:.3g}), so it is not a kernel."
    )
    if mass > 0.1 and isinstance(kernel, Precomputed):
        raise InputError(
            finding + " Give a positive semi-definite matrix, for example its positive part: "
            "w, V = np.linalg.eigh(K); K = (V * w.clip(0)) @ V.T"
        )
    cut = " Its negative part is cut off, and so are the positive directions that are no larger."
    warnings.warn(finding + cut, UserWarning, stacklevel=5)
