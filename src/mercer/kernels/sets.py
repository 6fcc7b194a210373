"""Kernels on sets and bags, which measure the fraction of common elements of two rows."""

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..types import Rows
from .counts import CountKernel, Counts, keys_of, over_common


class MinMax(CountKernel):
    """Weighted overlap of bags, k(x, y) = Σₑ min(xₑ, yₑ) / Σₑ max(xₑ, yₑ), between 0 and 1.

    For baskets, tags with counts, word counts and histograms. Also called Ruzicka or weighted Jaccard similarity.

    A row is a list or set of elements, each of which counts as often as it occurs, or a dict of the weights of elements
    (a `collections.Counter`, for example). Weights are at least 0. Elements are text, numbers, bytes, None or tuples of
    these. Two empty bags have k = 1.

    Notes
    -----
    The kernel is positive semi-definite because it is the probability of a collision of hashes.

    References
    ----------
    Ioffe (2010), Improved consistent sampling, weighted minhash and L1 sketching.

    Examples
    --------
    >>> MinMax()([{"milk": 2, "bread": 1}], [{"milk": 1, "bread": 1}])
    array([[0.66666667]])
    """

    names = ("minmax",)

    def __init__(self) -> None:
        pass

    def count(self, cells: np.ndarray) -> Counts:
        rows: list[int] = []
        elements: list[Any] = []
        values: list[float] = []
        for i, bag in enumerate(cells.tolist()):
            found = _entries(bag, i)
            rows.extend([i] * len(found))
            elements.extend(element for element, _ in found)
            values.extend(value for _, value in found)
        return self.counted(np.array(rows, dtype=np.int64), elements, np.array(values, dtype=np.float64), len(cells))

    def counted(self, rows: NDArray[np.int64], elements: list, values: NDArray[np.float64], n: int) -> Counts:
        """`Counts` whose `squares` are the total weight of each row."""
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if len(bad):
            raise InputError(
                f"Row {rows[bad[0]]} has the weight {values[bad[0]]} for {elements[bad[0]]!r}. Use finite "
                "weights that are not negative."
            )
        counts = Counts.of(rows, keys_of(elements, "A row of X"), values, n)
        return Counts(counts.keys, counts.matrix, None, np.asarray(counts.matrix.sum(axis=1), dtype=np.float64).ravel())

    def of_counts(self, left: Counts, right: Counts) -> NDArray[np.float64]:
        both = self.overlap(left, right)
        either = left.squares[:, None] + right.squares
        either -= both
        out = np.ones_like(both)
        return np.divide(both, either, out=out, where=either > 0)

    def overlap(self, left: Counts, right: Counts) -> NDArray[np.float64]:
        """Σ min over the common elements, for every pair of rows."""
        from .overlaps import smaller_sums  # importing numba is slow

        A, B, _ = left.aligned(right)
        return over_common(smaller_sums, A, B)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return np.ones(len(self.counts(X).squares))

    def sparse_features(self, X: Rows) -> None:
        return None


class Jaccard(MinMax):
    """Fraction of common elements of sets, ``k(x, y) = |x ∩ y| / |x ∪ y|``, between 0 and 1.

    For tags, ingredients, fingerprints, and words of a text (``set(text.split())``).

    A row is a set, a list or a tuple of elements, or a dict of the weights of elements. A repeated element counts once,
    and an element of a dict counts if its weight is above 0. Elements are text, numbers, bytes, None or tuples of
    these. Two empty sets have k = 1.

    Notes
    -----
    A block of k is one sparse product.

    References
    ----------
    Bouchard, Jousselme, Doré (2013), A proof for the positive definiteness of the Jaccard index matrix.

    Examples
    --------
    >>> Jaccard()([{"a", "b"}, {"b", "c"}])
    array([[1.        , 0.33333333],
           [0.33333333, 1.        ]])
    """

    names = ("jaccard",)

    def counted(self, rows: NDArray[np.int64], elements: list, values: NDArray[np.float64], n: int) -> Counts:
        counts = super().counted(rows, elements, values, n)
        matrix = counts.matrix
        matrix.data = (matrix.data > 0).astype(np.float64)
        matrix.eliminate_zeros()
        return Counts(counts.keys, matrix, None, np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel())

    def overlap(self, left: Counts, right: Counts) -> NDArray[np.float64]:
        return left.inner(right)


def _entries(bag: Any, i: int) -> list[tuple[Any, float]]:
    """[(element, weight)] of a row."""
    if isinstance(bag, Mapping):
        for value in bag.values():
            if not isinstance(value, numbers.Real):
                raise InputError(
                    f"Row {i} is a dict with the weight {value!r}. Weights must be numbers. For a set give set(row) or "
                    "list(row)."
                )
        return [(element, float(value)) for element, value in bag.items()]
    if isinstance(bag, str | bytes) or not isinstance(bag, Iterable):
        missing = bag is None or bag != bag
        remedy = (
            "Drop the row, or give an empty set."
            if missing
            else (
                "For words use set(text.split()). For substrings use the kernel Spectrum()."
                if isinstance(bag, str | bytes)
                else "Put its elements into a list."
            )
        )
        raise InputError(
            f"Row {i} is {'missing' if missing else 'of type ' + type(bag).__name__} ({bag!r}), and the kernel takes "
            f"sets or bags. Give a set, a list, a tuple or a dict per row. {remedy}"
        )
    return [(element, 1.0) for element in bag]
