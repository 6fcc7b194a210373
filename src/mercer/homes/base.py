"""The methods that each array backend for tall matrices must have."""

import contextlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .. import backend
from ..backend import blas_for
from ..errors import BackendError, InputError
from ..types import Array, Block, ColumnLike, Estimator, Rows
from .row_clusters import RowClusters

BLOCK = 8192  # rows per block of a float64 accumulation, so that the copy of a float32 block stays near the cache
TILE = 512  # a float64 tile of 512 × 512 stays in the cache, which is 4× faster than one pass over the whole matrix


class Home:
    """An array backend, which moves rows, passes over all rows, and works on blocks of them.

    The defaults are those of arrays that this process can index and multiply. A subclass replaces what differs. The
    results of a pass are on the host in float64.
    """

    name: str  # in error messages
    lazy = False  # rows come block by block from elsewhere, never as a matrix in one piece
    on_host = False  # rows are NumPy or SciPy rows, dense or sparse

    def owns(self, A: Rows) -> bool:
        """Whether A belongs to this backend."""
        raise NotImplementedError(f"{type(self).__name__} must define owns(A).")

    # Moves

    def host(self, A: Rows) -> Array:
        """A as a NumPy array, dtype kept."""
        raise NotImplementedError(f"{type(self).__name__} must define host(A).")

    def bring(self, A: Rows) -> Rows:
        """A on the host. Whatever is there already is returned unchanged, of any type."""
        return self.host(A)

    def like(self, a: Array, Z: Rows) -> Block:
        """A host array moved to the device of Z, in Z's dtype."""
        return np.asarray(a, dtype=Z.dtype)

    def near(self, a: Block, X: Rows) -> Block:
        """Host rows, dense or sparse, as the other argument of a kernel on blocks of X."""
        return a

    def kept(self, X: Rows) -> Rows:
        """A copy of the rows on the host for a fitted model. Sparse rows stay sparse."""
        return np.array(self.host(X))

    def spread(self, Z: Array, X: Rows) -> Rows:
        """A host matrix with one row for each row of X, moved to X's device and divided into blocks like X."""
        return self.like(Z, X)

    def only(self, X: Rows, keep: Array) -> Rows:
        """Some of the rows, on X's device."""
        return X[keep]

    def computing(self, X: Rows) -> contextlib.AbstractContextManager:
        """Context in which host rows are `moved` to X's device."""
        return contextlib.nullcontext()

    # Checks

    def opened(self, X: Rows, frames: bool = False) -> Rows:
        """Rows in the form that a fit uses. `frames` leaves the cells of a data frame unchanged."""
        return X

    def refuse_lazy(self, sentence: str) -> None:
        """Raise `BackendError` if rows come block by block, for a request that needs all of them at once."""
        if self.lazy:
            raise BackendError(sentence)

    def parts(self, function: Callable, y: ColumnLike, *arguments: object) -> list:
        """[function(part, *arguments)] of every part of a column, on the host."""
        return [function(y, *arguments)]

    def example(self, X: Rows) -> Rows:
        """Host rows with the columns of X."""
        return X

    def refuse(self, X: Rows) -> None:
        """Raise `InputError` unless X has two known dimensions and floating-point numbers."""

    def bad_columns(self, X: Rows) -> Array:
        """Columns that contain NaN or infinity. Empty if another pass checks for them."""
        return np.zeros(0, dtype=int)

    def magnitude(self, X: Rows) -> float:
        """The largest absolute value, or 0 if another pass checks for it."""
        return 0.0

    def free_memory(self, X: Rows) -> int | None:
        """Bytes that can still be allocated on X's device. None if unknown."""
        return backend.memory_available()

    def floating(self, X: Rows) -> Rows:
        """Rows as an array of floating-point numbers, as a kernel takes them."""
        return X

    def whole(self, X: Rows) -> Rows:
        """X, or an `InputError` if it cannot be processed in one piece."""
        return X

    # A sample that represents all rows. If this process can index the rows, the sample is all of them

    def sample(self, X: Rows, seed: int, *also: Array) -> Rows:
        """Draw the rows that a fit reads one by one, including `also`. Returns their positions. None means all rows."""
        return None

    def sampled(self, a: Block, X: Rows) -> Block:
        """The entries of a host array, one for each row, that belong to the sample of X."""
        return a

    def sample_of(self, X: Rows) -> Block:
        """Positions of the sample. None if it is all rows."""
        return None

    def fetch(self, X: Rows, *sets: Array) -> None:
        """Fetch the sample and these rows in one pass, so that ``X[rows]`` needs no further pass."""

    # Passes over all rows, block by block, with float64 sums on the host

    def mass(self, Z: Rows, weight: Array | None) -> float:
        """The number of rows that the moments are sums over, or their weight."""
        return float(Z.shape[0] if weight is None else np.sum(weight))

    def reduced(self, function: Callable, shared: object, X: Rows, weight: Array | None) -> tuple:
        """function(shared, rows, weight), a tuple of arrays, for a function that is a sum over the rows."""
        return function(shared, X, weight)

    def moments(self, Z: Rows, weight: Array | None) -> tuple[Array, Array]:
        """(Zᵀ diag(weight) Z, Zᵀ weight)."""
        return self.sum_moments(Z, weight, self.blocks(Z))

    def sum_moments(self, Z: Rows, weight: Array | None, blocks: Sequence[slice]) -> tuple[Array, Array]:
        """The moments of some blocks of rows."""
        G: Rows = 0.0
        total: Any = 0.0
        with blas_for(Z.shape[1], min(Z.shape[0], BLOCK), Z.shape[1]):
            for rows in blocks:
                block = self.double(Z[rows])
                part = block if weight is None else block * self.like(weight[rows], block)[:, None]
                G = G + part.T @ block
                total = total + part.sum(0)
        return self.host(G), self.host(total)

    def tdot(self, Z: Rows, A: Array) -> Array:
        """Zᵀ A."""
        total: Any = 0.0
        with blas_for(Z.shape[1], min(Z.shape[0], BLOCK), A.shape[1] if A.ndim > 1 else 1):
            for rows in self.blocks(Z):
                block = self.double(Z[rows])
                total = total + block.T @ self.like(A[rows], block)
        return self.host(total)

    def dot(self, Z: Rows, W: Array) -> Array:
        """Z W."""
        out = np.empty((Z.shape[0],) + W.shape[1:])
        with blas_for(min(Z.shape[0], BLOCK), Z.shape[1], W.shape[1] if W.ndim > 1 else 1):
            for rows in self.blocks(Z):
                block = self.double(Z[rows])
                self.write(out, rows, block @ self.like(W, block))
        return out

    def take(self, Z: Rows, idx: Array) -> Array:
        """Z[idx]."""
        return self.host(Z[idx])

    def squares(self, Z: Rows) -> Array:
        """Squared length of every row."""
        out = np.empty(Z.shape[0])
        for rows in self.blocks(Z):
            block = self.double(Z[rows])
            self.write(out, rows, (block * block).sum(1))
        return out

    def blocks(self, Z: Rows) -> list[slice]:
        """Slices of rows that a pass takes one after the other."""
        n = Z.shape[0]
        return [slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]

    def double(self, block: Rows) -> Block:
        """A block in float64, on its device."""
        return np.asarray(block, dtype=np.float64)

    def single(self, block: Rows) -> Block:
        """A matrix in float32, on its device."""
        return np.asarray(block, dtype=np.float32)

    def write(self, out: Array, rows: slice, values: object) -> None:
        """Write computed values into their rows of a host array."""
        out[rows] = values

    # Arrays on X's device

    def answers(self, method: Callable, model: Estimator, X: Rows, arguments: tuple, options: dict) -> Block:
        """method(model, X, *arguments, **options) for a method that treats every row separately."""
        return method(model, X, *arguments, **options)

    def largest(self, function: Callable, A: Rows, k: int) -> tuple[Array, Array]:
        """(numbers, values) of the k rows with the largest function(rows), largest first, and first of equals."""
        values = np.asarray(function(self.host(A)))
        rows = np.argsort(-values, kind="stable")[:k]
        return rows, values[rows]

    def by_blocks(
        self, f: Callable, X: Rows, width: int | None, dtype: DTypeLike | None, step: int | None, threads: Any
    ) -> Rows:
        """f(X) on X's device for an f that acts on rows. It has `width` columns, or one number per row if None."""
        return f(X)

    def empty(self, shape: tuple[int, ...], X: Rows) -> Block:
        """An uninitialized array on X's device, of its dtype."""
        return np.empty(shape, dtype=X.dtype)

    def concat(self, parts: Sequence[Rows]) -> Rows:
        """Concatenate matrices side by side."""
        return np.concatenate(parts, axis=1)

    def random(self, X: Rows, shape: tuple[int, int], seed: int) -> Block:
        """Standard normal numbers in float64, on the device of an eigen-solver's tall matrices for products with X."""
        return np.random.default_rng(seed).standard_normal(shape)

    # Dense arithmetic on blocks

    def tiles(self, X: Rows) -> tuple[int, bool]:
        """(side of the tiles of a kernel matrix, whether several threads fill them)."""
        return TILE, True

    def namespace(self, A: Rows) -> ModuleType:
        """The module whose `exp`, `sqrt`, `clip`, `hstack`, … act on blocks of A."""
        return np

    def pairwise(self, X: Rows, Y: Rows, order: int) -> Block:
        """City-block (1) or squared Euclidean (2) distances from differences, without cancellation."""
        from scipy.spatial.distance import cdist

        return cdist(X, Y, "cityblock" if order == 1 else "sqeuclidean").astype(X.dtype, copy=False)

    def smallest(self, A: Block, k: int) -> Block:
        """(n,) the k-th smallest entry of each row, 1 being the smallest."""
        return np.partition(A, k - 1, axis=1)[:, k - 1]

    def symmetric(self, K: Rows) -> Block:
        """Copy one triangle of K to the other, in place. Rounding must not make a symmetric matrix unsymmetric."""
        step = 64  # rows transposed at once, since transposing a whole tile would take as long as computing it
        for start in range(0, len(K), step):
            rows = slice(start, start + step)
            K[rows, rows] = (K[rows, rows] + K[rows, rows].T) / 2
            K[:start, rows] = K[rows, :start].T
        return K

    def sorted_columns(self, X: Rows, places: Array) -> Array:
        """(q, d) values of each column at these places of its order, on the host."""
        out = np.empty((len(places), X.shape[1]), order="F")  # a search needs each column in one piece

        def fill(j: int) -> None:
            out[:, j] = np.sort(X[:, j])[places]

        backend.parallel(fill, range(X.shape[1]))
        return out

    def ranks(self, values: Array, X: Rows) -> tuple[Block, Block]:
        """Two (n, d) counts of the sorted (q, d) values of a column, those below each entry and those not above it."""
        low = np.empty(X.shape, dtype=np.intp)
        for j, column in enumerate(values.T):
            low[:, j] = np.searchsorted(column, X[:, j], side="left")
        high = low.copy()
        for j, column in enumerate(values.T):
            tied = np.flatnonzero(column[np.minimum(low[:, j], len(column) - 1)] == X[:, j])
            high[tied, j] = np.searchsorted(column, X[tied, j], side="right")
        return low, high

    def orthonormal(self, block: Block) -> Block:
        """Orthonormal columns that span those of a tall block."""
        import scipy.linalg as sla

        return np.ascontiguousarray(sla.qr(block, mode="economic", check_finite=False)[0])

    def sparse(self, A: Rows, X: Rows) -> Block:
        """A SciPy CSR matrix that multiplies tall matrices on X's device, in X's dtype."""
        return A.astype(X.dtype, copy=False)

    def search(self, rows: Rows) -> Callable | None:
        """A function of (X, k) that returns (distances, row numbers) of the k nearest of these rows, on the host.

        None if no search is better than those of the host.
        """
        return None

    def partition(self, Z: Rows, linear: Array, weight: Array) -> RowClusters | None:
        """The rows of Z for c-means on Z's device. None if the host uses products with the rows instead."""
        return None

    def solve_lower(self, L: Rows, B: Rows) -> Block:
        """L⁻¹ B for a lower triangular L. B may be overwritten."""
        import scipy.linalg as sla

        return sla.solve_triangular(L, B, lower=True, check_finite=False, overwrite_b=True)


def refuse_shape(X: Rows, name: str, cast: str) -> None:
    """Check shape and dtype, as scikit-learn's validation does for NumPy rows."""
    if not hasattr(X, "ndim") or X.ndim != 2:
        raise InputError(
            f"X is a {name} of shape {getattr(X, 'shape', '?')}. Accepted: two dimensions, rows × columns."
        )
    if str(X.dtype).rpartition(".")[2] not in ("float32", "float64"):
        raise InputError(f"X is a {name} of {X.dtype}. Accepted: float32 or float64, for example {cast}.")


def refuse_columns(columns: Array, what: str, names: ColumnLike = None) -> None:
    """Refuse rows that contain NaN or infinity in these columns."""
    if len(columns):
        raise InputError(
            f"X is a {what} that contains NaN or infinity in column(s) {listed(columns, names)}. "
            "Accepted: finite numbers. Fill them or drop those rows first."
        )


def listed(columns: Array, names: ColumnLike) -> str:
    """The first five columns by name or number, and the number of further ones."""
    shown = ", ".join(repr(str(names[j])) if names is not None else str(j) for j in columns[:5])
    return shown + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")
