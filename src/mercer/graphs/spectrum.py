"""The low end of the spectrum of a graph Laplacian by a filtered block Krylov space, with a certificate.

A product of the sparse matrix with a block of columns is cheap compared with keeping a long Krylov basis orthogonal.
Each step of the basis therefore takes many products. They apply a Chebyshev polynomial that is small on the unwanted
part of the spectrum, whose position is estimated by a few short Lanczos runs. All this is in single precision, on rows
reordered so that neighbors are near each other in memory. One Rayleigh-Ritz step in double precision gives the final
pairs. The error of a vector in single precision is outside the space found. It therefore enters the values and the
mixing of close vectors with its square only.
"""

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import eigsh

from ..backend import blas_threads, moved
from ..errors import InputError
from ..homes import home_of
from ..linalg import eigh_down, fix_signs
from ..rows import host, like
from ..types import Rows

DENSE = 5000  # rows up to which the whole spectrum is computed densely
SMALL = 500  # rows up to which LAPACK is faster than an iteration
CROWDED = 2500  # rows up to which LAPACK is faster than an iteration that has to find many equal values
RANK = 100  # eigenvectors kept above DENSE rows by default
TOL = 1e-5  # accepted ‖Lap v − λ v‖ / ‖Lap‖∞
ROUNDS = 100  # filtered blocks after which LAPACK or ARPACK takes over
GROWTH = 9.0  # e⁹ times as much of the lowest vectors as of the unwanted. Single precision still resolves the others.


def low_spectrum(Lap, rank=None, null=None, tol=TOL):
    """The smallest eigenvalues of a graph Laplacian, rising, and their vectors.

    Dense up to 500 rows, and up to 5,000 when more than a fifth of the spectrum is wanted. The zero eigenvalues, one
    per connected component, are exact.

    Parameters
    ----------
    Lap : (n, n) sparse Laplacian.
    rank : number of pairs. None means all up to 5,000 rows, and 100 above.
    null : (n,) function without zeros that Lap maps to 0. None means the constant.
    tol : accepted residual.

    Returns (values, vectors, residual). The residual is the largest ‖Lap v − λ v‖ / ‖Lap‖∞, which an iteration brings
    below `tol`.
    """
    n = Lap.shape[0]
    rank = min(rank or (n if n <= DENSE else RANK), n)
    n_zero, component = connected_components(Lap, directed=False)
    norm = float(np.max(np.abs(Lap).sum(axis=1)))
    null = np.ones(n) if null is None else null
    if np.max(np.abs(Lap @ null)) > 1e-8 * norm * np.max(np.abs(null)):
        raise InputError(
            "The Laplacian does not send `null` to 0. Accepted: the square roots of the degrees for the symmetric "
            "Laplacian, None for those whose rows sum to 0."
        )
    known = _null_functions(null, component, n_zero)
    many = 5 * (rank - n_zero) > n - n_zero
    found = None
    if n > SMALL and rank <= n_zero:
        found = np.zeros(rank), known[:, :rank].toarray()
    elif n > SMALL and not many:
        with blas_threads(1):  # thin products gain nothing from more
            found = _filtered_krylov(Lap, rank, known, 0.5 * tol * norm)  # residual in single precision
    if found is None and n <= DENSE:
        values, vectors = eigh_down(-Lap.toarray(), rank)
        found = -values, vectors
    values, vectors = found or _lanczos(Lap, rank, norm)
    values = np.clip(values, 0.0, None)
    values[:n_zero] = 0.0
    V = moved(vectors)
    gap = home_of(V).sparse(Lap.tocsr(), V) @ V - V * like(values, V)
    return values, fix_signs(vectors), float(_lengths(gap).max()) / norm


def _null_functions(null: np.ndarray, component: np.ndarray, number: int) -> Rows:
    """(n, number) sparse orthonormal columns, each the null function on one component, the largest component first."""
    n = len(component)
    place = np.empty(number, dtype=np.intp)
    place[np.argsort(-np.bincount(component, minlength=number), kind="stable")] = np.arange(number)
    length = np.sqrt(np.bincount(component, null**2, minlength=number))
    return sp.csr_matrix((null / length[component], place[component], np.arange(n + 1)), (n, number))


def _lanczos(Lap: Rows, rank: int, norm: float) -> tuple[np.ndarray, np.ndarray]:
    """ARPACK on norm·I − Lap. Its large end converges without a factorization, whose fill-in has no bound."""
    n = Lap.shape[0]
    start = np.random.default_rng(0).standard_normal(n)
    flipped = (sp.eye(n) * norm - Lap).tocsr()
    values, vectors = eigsh(flipped, k=rank, which="LA", v0=start, ncv=min(n, 2 * rank + 20), tol=1e-9)
    order = np.argsort(-values)
    return norm - values[order], vectors[:, order]


def _filtered_krylov(Lap: Rows, rank: int, known: Rows, limit: float) -> tuple[np.ndarray, np.ndarray] | None:
    """(values, vectors) of the `rank` smallest pairs with residuals up to `limit`. None if it does not get there.

    The columns of `known` are the first of them, which are null vectors. The others are orthogonal to those.
    """
    n, wanted = Lap.shape[0], rank - known.shape[1]
    order = reverse_cuthill_mckee(Lap, symmetric_mode=True)
    Lap, known = Lap[order][:, order], known[order]
    width = max(16, wanted // 5)
    while True:
        space = _Space(Lap, wanted, known, limit, width)
        if not space.converge():
            return None
        if width >= wanted or not space.crowded():
            break
        if n <= CROWDED:
            return None
        width = min(4 * width, wanted)  # a block reaches no more copies of a value than it is wide
    values, vectors = space.settled(wanted + 4, Lap, known)
    back = np.empty_like(order)
    back[order] = np.arange(n)
    vectors = np.concatenate([known.toarray(), vectors[:, :wanted]], axis=1)[back]
    return np.concatenate([np.zeros(known.shape[1]), values[:wanted]]), vectors


class _Space:
    """An orthonormal basis Q in single precision that grows by filtered blocks, with A Q and QᵀAQ."""

    def __init__(self, Lap: Rows, wanted: int, known: Rows, limit: float, width: int) -> None:
        self.n, self.wanted, self.limit, self.width = Lap.shape[0], wanted, limit, width
        self.rng = np.random.default_rng(0)
        self.block = self._random(width)  # the iteration runs on its device, which `use_device` sets
        self.home = home_of(self.block)
        self.Lap = Lap.astype(np.float32)
        self.A, self.known, self.known_T = (self._beside(matrix) for matrix in (self.Lap, known, known.T))
        nodes, fraction, self.top = self._survey()
        self._aim(nodes[0], float(np.interp(1.6 * wanted / (self.n - known.shape[1]), fraction, nodes)))
        most = min(3 * wanted + 2 * self.width, self.n - known.shape[1])
        self.Q, self.AQ = (self.home.empty((most, self.n), self.block).T for _ in range(2))
        self.T = np.zeros((most, most))
        self.size = 0

    def converge(self) -> bool:
        """Whether the residuals of the wanted pairs came below the limit."""
        for _ in range(ROUNDS):
            self.grow()
            if self.size >= 1.4 * self.wanted and self.residual() <= self.limit:
                return True
            if self.size + self.width > self.Q.shape[1]:
                self.shrink()
        return False

    def grow(self) -> None:
        """Filter the block twice and add what is new in it to the basis.

        Products with the sparse matrix are cheap, and the second filter saves a fifth of the basis and of the time.
        """
        block = self.home.orthonormal(self._clear(self._filter(self.block)))
        block = self._orthonormal(self._filter(block))
        new = slice(self.size, self.size + block.shape[1])
        product = self.A @ block
        self.Q[:, new], self.AQ[:, new] = block, product
        self.size = new.stop
        self.T[: self.size, new] = host(self.Q[:, : self.size].T @ product)
        self.T[new, : self.size] = self.T[: self.size, new].T
        self.block = block

    def residual(self) -> float:
        """Largest residual of the wanted pairs of the basis. Of the last of them only, if that is above the limit."""
        last = self._residual(*self._pairs((max(self.wanted - 4, 0), self.wanted - 1)))
        if last > self.limit:
            return last
        self.values, self.Y = self._pairs()
        return self._residual(self.values[: self.wanted], self.Y[:, : self.wanted])

    def crowded(self) -> bool:
        """Whether `width` of the wanted values are too close for the residual to distinguish them."""
        last = self.values[self.width - 1 : self.wanted]
        return bool(np.any(last - self.values[: len(last)] <= 4 * self.limit))

    def settled(self, number: int, Lap: Rows, known: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Rayleigh-Ritz in double precision on the span of the lowest `number` approximate vectors."""
        V = self.home.double(self.Q[:, : self.size] @ like(self.Y[:, :number], self.Q))
        A, known, known_T = (self.home.sparse(matrix.tocsr(), V) for matrix in (Lap, known, known.T))
        V -= known @ (known_T @ V)
        values, Y = sla.eigh(host(V.T @ (A @ V)), host(V.T @ V), check_finite=False)
        return values, host(V @ like(Y, V))

    def shrink(self) -> None:
        """Restart from the best vectors. The block to filter next is the wanted ones that are farthest from done."""
        keep = min(self.wanted + max(self.width, self.wanted // 2), self.size)
        self.values, self.Y = self._pairs()
        Y = like(self.Y[:, :keep], self.Q)
        self.Q[:, :keep], self.AQ[:, :keep] = self.Q[:, : self.size] @ Y, self.AQ[:, : self.size] @ Y
        self.T[:] = 0.0
        self.T[np.arange(keep), np.arange(keep)] = self.values[:keep]
        self.size = keep
        self._aim(self.values[0], self.values[keep - 1])
        last = self.Q[:, max(self.wanted - self.width, 0) : self.wanted]
        self.block = self.home.empty(last.shape, last)
        self.block[:] = last

    def _pairs(self, part: tuple[int, int] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(values, coefficients in the basis) of all pairs, or of those from the first to the last of `part`."""
        T = self.T[: self.size, : self.size].astype(np.float32)  # as precise as the basis
        values, Y = sla.eigh(T, subset_by_index=part, check_finite=False, driver=None if part else "evd")
        return values.astype(np.float64), Y

    def _residual(self, values: np.ndarray, Y: np.ndarray) -> float:
        Y = like(Y, self.Q)
        gap = self.AQ[:, : self.size] @ Y - (self.Q[:, : self.size] @ Y) * like(values, self.Q)
        return float(_lengths(gap).max())

    def _survey(self, runs: int = 8, steps: int = 24) -> tuple[np.ndarray, np.ndarray, float]:
        """(nodes, fraction of the spectrum below each, upper bound of the spectrum), from several Lanczos runs.

        A run of Lanczos from a random vector is a quadrature of the density of eigenvalues. Its largest value plus the
        residual of that value bounds the spectrum.
        """
        V, before = self._clear(self._random(runs)), 0.0
        V /= _lengths(V)
        diagonal, beside = np.zeros((steps, runs), np.float32), np.zeros((steps, runs), np.float32)
        for step in range(steps):
            W = self.A @ V
            W -= before
            own = (W * V).sum(0)
            W -= V * own
            length = _lengths(self._clear(W))
            diagonal[step], beside[step] = host(own), host(length)
            before = V * length
            V = W / length.clip(np.finfo(np.float32).tiny)
        nodes, weights, top = [], [], 0.0
        for d, e in zip(diagonal.T.astype(float), beside.T.astype(float)):
            theta, Y = sla.eigh_tridiagonal(d, e[:-1])
            nodes.append(theta)
            weights.append(Y[0] ** 2 / runs)
            top = max(top, 1.01 * (theta[-1] + e[-1] * abs(Y[-1, -1])))
        order = np.argsort(np.concatenate(nodes))
        weight = np.concatenate(weights)[order]
        return np.concatenate(nodes)[order], np.cumsum(weight) - weight / 2, top

    def _aim(self, low: float, cut: float) -> None:
        """Prepare the filter that is at most 1 on [cut, top] and grows below, by about e^GROWTH at `low`."""
        # Values may be equal, or nearly all the same.
        cut = np.clip(cut, low + 0.003 * (self.top - low), 0.9 * self.top)
        middle, half = (self.top + cut) / 2, (self.top - cut) / 2
        growth, growth_at_0 = (np.arccosh(max((middle - x) / half, 1.0)) for x in (low, 0.0))
        self.degree = int(np.clip(GROWTH / max(growth, 0.05), 2, None))
        self.often = max(int(GROWTH / growth_at_0), 1)
        M = (sp.eye(self.n, dtype=np.float32) * np.float32(middle) - self.Lap) * np.float32(2 / half)
        self.M = self._beside(M)

    def _filter(self, block: Rows) -> Rows:
        """The Chebyshev polynomial of the matrix times a block, by its recurrence T⁺ = M T − T⁻."""
        before, now = block, self.M @ block
        now *= 0.5
        for step in range(1, self.degree):
            after = self.M @ now
            after -= before
            before, now = now, after
            if step % self.often == 0:  # rounding brings the known vectors back, and they grow the fastest
                self._clear(before)
                self._clear(now)
        return now

    def _clear(self, V: np.ndarray) -> np.ndarray:
        """Remove the known null vectors from V, in place."""
        V -= self.known @ (self.known_T @ V)
        return V

    def _orthonormal(self, block: Rows) -> Rows:
        Q = self.Q[:, : self.size]
        for _ in range(2):
            self._clear(block)
            block = self.home.orthonormal(block - Q @ (Q.T @ block))
        return block

    def _random(self, width: int) -> Rows:
        return moved(self.rng.standard_normal((self.n, width), dtype=np.float32))

    def _beside(self, matrix: Rows) -> Rows:
        return self.home.sparse(matrix.tocsr(), self.block)


def _lengths(V: np.ndarray) -> np.ndarray:
    return (V * V).sum(0) ** 0.5
