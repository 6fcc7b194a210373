"""The base of the kernels on strings, bags and graphs, which count the parts of each row and sum over common parts.

A part (a substring, an element, the neighborhood of a node) has a key of 64 bits that is the same in every process.
Among a million parts, two have the same key with a probability near 1e-7. The kernel is positive semi-definite even
then.
"""

import hashlib
import math
import numbers
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InputError
from ..homes.objects import Objects
from ..rows import like
from ..types import Array, Block, Index, Rows
from .base import Kernel, rows_for

Keys = NDArray[np.uint64]


class Counts:
    """A sparse matrix of how often each part (column) occurs in each row. Columns are sorted by the keys of the parts.

    Attributes
    ----------
    keys : array of shape (n_parts,)
        Ascending keys of the columns.
    matrix : csr_array of shape (n_samples, n_parts)
        Counts.
    weight : array of shape (n_parts,) or None
        Factors of the columns in a sum over common parts. None for ones.
    squares : array of shape (n_samples,)
        Weighted sum of squares of each row.
    """

    def __init__(self, keys: Keys, matrix: Rows, weight: NDArray[np.float64] | None, squares: NDArray[np.float64]):
        self.keys, self.matrix, self.weight, self.squares = keys, matrix, weight, squares

    @classmethod
    def of(
        cls, row: Array, keys: Keys, value: Array | None, n: int, weight: NDArray[np.float64] | None = None
    ) -> "Counts":
        """From entries (row, key, value). Values of the same row and key add up. `weight` has one factor per entry."""
        found, first, column = np.unique(keys, return_index=True, return_inverse=True)
        value = np.ones(len(row)) if value is None else value
        matrix = sp.csr_array((value, (row, column.ravel())), shape=(n, max(len(found), 1)))
        return cls.of_matrix(found, matrix, None if weight is None else weight[first])

    @classmethod
    def of_matrix(cls, keys: Keys, matrix: Rows, weight: NDArray[np.float64] | None) -> "Counts":
        """From a CSR matrix. Entries at the same position add up."""
        matrix.sum_duplicates()
        squared = sp.csr_array((matrix.data**2, matrix.indices, matrix.indptr), shape=matrix.shape)
        sums = squared.sum(axis=1) if weight is None or not len(weight) else squared @ weight
        return cls(keys, matrix, weight, np.asarray(sums, dtype=np.float64).ravel())

    def __getitem__(self, rows: Index) -> "Counts":
        return Counts(self.keys, self.matrix[rows], self.weight, self.squares[rows])

    def aligned(self, other: "Counts") -> tuple[Any, Any, NDArray[np.float64] | None]:
        """The two matrices on the columns that both have, and their weights."""
        if self.keys is other.keys:
            return self.matrix, other.matrix, self.weight
        common, mine, theirs = np.intersect1d(self.keys, other.keys, assume_unique=True, return_indices=True)
        if not len(common):
            return sp.csr_array((self.matrix.shape[0], 1)), sp.csr_array((other.matrix.shape[0], 1)), None
        weight = None if self.weight is None else self.weight[mine]
        return self.matrix[:, mine], other.matrix[:, theirs], weight

    def inner(self, other: "Counts") -> NDArray[np.float64]:
        """Dense matrix of Σ weight · count · count over common parts, for every pair of rows."""
        A, B, weight = self.aligned(other)
        swapped = A.nnz < B.nnz  # the smaller matrix is weighted and transposed
        if swapped:
            A, B = B, A
        if weight is not None:
            B = B.copy()
            B.data *= weight[B.indices]
        if A.shape[1] <= 4096:  # a dense product is faster
            K = A.toarray() @ B.toarray().T
        else:
            from .overlaps import product_sums  # importing numba is slow

            K = over_common(product_sums, A, B)
        return K.T if swapped else K


def over_common(sums: Block, A: Rows, B: Rows) -> NDArray[np.float64]:
    """Dense matrix of a compiled sum over the common columns, for every pair of rows of two CSR matrices."""
    C, out = B.tocsc(), np.zeros((A.shape[0], B.shape[0]))
    places = (np.ascontiguousarray(part, dtype=np.int32) for part in (A.indptr, A.indices, C.indptr, C.indices))
    sums(*places, np.asarray(A.data, dtype=np.float64), np.asarray(C.data, dtype=np.float64), out)
    return out


class CountKernel(Kernel):
    """Base of the kernels on parts.

    A subclass defines `count` and, if the kernel is not an inner product of counts, `of_counts`.

    k(x, y) = Σₚ c(x, p) c(y, p) over the common parts p, divided by √(k(x, x) k(y, y)) if `normalize` is True. Rows
    without any part have k = 0 with every row.
    """

    takes = "objects"
    normalize: bool = True

    def coding(self) -> tuple:
        """A key for the counts of rows. Kernels with the same key use the same counts."""
        return type(self).__name__, *(
            value for name, value in self.get_params(deep=False).items() if name != "normalize"
        )

    def count(self, cells: np.ndarray) -> Counts:
        """Check some objects and count their parts."""
        raise NotImplementedError(f"{type(self).__name__} must define count(cells).")

    def counts(self, X: Rows) -> Counts:
        """The counts of the parts of rows, computed once for `Objects`."""
        return rows_for(self, X).known(self.coding(), self.count)

    def resolve(self, X: Rows, weight: NDArray[np.float64] | None = None) -> Self:
        """A copy. This counts the parts of the training rows, so that an invalid row is refused before other work."""
        column = rows_for(self, X)
        resolved = self.settled(column)
        resolved.check()
        resolved.counts(column)
        return resolved

    def settled(self, X: Objects) -> Self:
        """A copy in which rules are replaced by their values for these rows."""
        return type(self)(**self.get_params(deep=False))

    def tile(self, X: Rows, Y: Rows) -> Block:
        left, right = self.counts(X), self.counts(Y)
        return like(self.of_counts(left, right), X) if isinstance(X, Objects) else self.of_counts(left, right)

    def of_counts(self, left: Counts, right: Counts) -> NDArray[np.float64]:
        """The block of k over the rows of two `Counts`."""
        K = left.inner(right)
        if self.normalize:
            # With a single root of the product, k(x, x) is exactly 1. Rows without parts have k = 0 already.
            squared = np.multiply.outer(left.squares, right.squares)
            squared[squared == 0] = 1.0
            K /= np.sqrt(squared, out=squared)
        return K

    def diag(self, X: Rows) -> NDArray[np.float64]:
        squares = self.counts(X).squares
        return (squares > 0).astype(np.float64) if self.normalize else squares.copy()

    def sparse_features(self, X: Rows) -> Any:
        counts = self.counts(X)
        if counts.weight is not None:
            return None
        scale = _inverse_root(counts.squares) if self.normalize else np.ones(len(counts.squares))
        return sp.csr_array(sp.diags_array(scale) @ counts.matrix)


def _inverse_root(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/√s, and 0 for rows without parts."""
    return np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)


def mixed(keys: Keys) -> Keys:
    """Keys spread over all 64 bits by the finalizer of SplitMix64. Different keys stay different."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def keys_of(elements: list, where: str) -> Keys:
    """The key of each element, the same in every process. Equal elements have equal keys."""
    known: dict = {}
    out = np.empty(len(elements), dtype=np.uint64)
    for i, element in enumerate(elements):
        try:
            out[i] = known[element]
        except KeyError:
            digest = hashlib.blake2b(_text(element, where).encode("utf-8", "surrogatepass"), digest_size=8).digest()
            out[i] = known[element] = int.from_bytes(digest, "little")
        except TypeError:
            raise InputError(
                f"{where} contains a {type(element).__name__}, which cannot be an element of a set. Use text, numbers, "
                "bytes, None and tuples of these."
            ) from None
    return out


def _text(element: object, where: str) -> str:
    """A text that is the same for two elements if and only if they are equal."""
    if isinstance(element, str):
        return "s" + element
    if isinstance(element, numbers.Real):
        value = float(element)
        if not np.isfinite(value):
            raise InputError(f"{where} contains {element!r}. Use finite numbers, text, bytes, None and tuples.")
        whole = math.trunc(element)
        return f"n{whole}" if element == whole else f"n{value!r}"
    if isinstance(element, bytes):
        return "b" + element.hex()
    if element is None:
        return "0"
    if isinstance(element, tuple):
        parts = [_text(part, where) for part in element]
        return "t" + "".join(f"{len(part)}:{part}" for part in parts)
    raise InputError(
        f"{where} contains an element of type {type(element).__name__}. Use text, numbers, bytes, None and tuples of "
        "these."
    )


def whole(kernel: Kernel, name: str, least: int) -> None:
    """Refuse a parameter that is not a whole number of at least `least`."""
    value = getattr(kernel, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name}={value!r} is not accepted. Use a whole number of at least {least}.")
