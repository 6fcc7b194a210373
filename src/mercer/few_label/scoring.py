"""Scores of many rows by all candidates, and pooled probabilities, from products with features, block by block.

Scores are laid out (candidates, columns, rows), so that every step of a softmax runs along the rows. Candidates with
the same feature matrix need one product with it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..backend import parallel
from ..homes import home_of
from ..rows import empty, host, like, namespace
from ..types import Block, Index, Rows
from . import sizes

if TYPE_CHECKING:
    from .spaces import Space

Weighted: TypeAlias = tuple[Rows, np.ndarray]
"""A matrix (n, r) and weights (r, k') of its columns."""

BLOCK = 2048  # rows scored at once, so that the scores of all candidates stay in the cache
DEVICE_SCORES = 2**25  # scores of all candidates that are on a device at once


class Scorer:
    """Scores of fitted candidates for rows whose features are at hand.

    Parameters
    ----------
    fitted : candidates. split : function of a candidate's space and weights W of its features that gives
        ([(matrix (n, r'), its weights (r', k'))], a constant), with Z W their sum.
    own_rows : numbers of the rows for candidates that score rows by themselves, or None for all rows.
    """

    def __init__(
        self,
        fitted: Sequence[Any],  # linear ones have a space and a solution, the others score rows by themselves
        split: Callable[["Space", np.ndarray], tuple[list[Weighted], float | np.ndarray]],
        own_rows: np.ndarray | None = None,
    ) -> None:
        self.m, self.own_rows = len(fitted), own_rows
        self.direct = {i: one for i, one in enumerate(fitted) if one.direct}
        self.constant: dict[int, np.ndarray] = {}
        found: dict[int, tuple[Rows, list[tuple[int, np.ndarray]]]] = {}
        for i, one in enumerate(fitted):
            if i in self.direct:
                continue
            coef = one.solution.coef
            pairs, shift = split(one.space, coef if np.isfinite(coef).all() else np.nan_to_num(coef))
            self.constant[i] = np.zeros(one.solution.coef.shape[1:]) + one.solution.intercept + shift
            for Z, W in pairs:
                found.setdefault(id(Z), (Z, []))[1].append((i, W))
        self.parts: list[tuple[Rows, list[int], Rows]] = []
        for Z, own in found.values():
            places, W = [i for i, _ in own], like(np.hstack([W for _, W in own]), Z)
            # A sparse matrix is slow to cut into blocks, so its product is computed at once if it is not too large.
            at_once = sp.issparse(Z) and Z.shape[0] * W.shape[1] <= 2**26
            at_once = at_once or getattr(Z, "is_sparse_csr", False)  # on a device, which cannot cut it at all
            self.parts.append((Z @ W, places, None) if at_once else (Z, places, W))

    def scores(self, rows: Index) -> Block:
        """Return (m, k', b) scores of some rows, by a slice or an array of their places in the matrices.

        They are on the host if all matrices are, and otherwise on the device.
        """
        found = []
        for Z, places, W in self.parts:
            own = Z[rows]
            product = own.T if W is None else _product(own, W)
            found.append((places, product.reshape(len(places), -1, product.shape[1])))
        for i, one in self.direct.items():
            found.append(([i], one.scores(rows if self.own_rows is None else self.own_rows[rows]).T[None]))
        first = next((block for _, block in found if not isinstance(block, np.ndarray)), found[0][1])
        out = empty((self.m, *first.shape[1:]), first)
        filled: set[int] = set()
        for places, block in found:
            for i, one in zip(places, block):  # a candidate on two matrices has their sum
                one = one if i in filled or i in self.direct else one + like(self.constant[i][:, None], one)
                one = one if isinstance(one, type(out)) else like(one, out)
                if i in filled:
                    out[i] += one
                else:
                    out[i] = one
                    filled.add(i)
        return out


def _product(Z: Rows, W: Rows) -> Block:
    """Return (k, b) the product of Z (b, r) with W (r, k), transposed, on the device of Z."""
    if sp.issparse(Z):
        return (Z @ W).T
    W = like(W, Z)
    single = isinstance(Z, np.ndarray) and Z.dtype == np.float32 and Z.flags.c_contiguous
    if single and 2 <= W.shape[1] <= 40:  # this product is faster than BLAS then
        from .narrow_product import product

        return product(Z, W)
    return W.T @ Z.T


def own_matrices(space: "Space", W: np.ndarray) -> tuple[list[Weighted], float]:
    """How `Scorer` finds Z W of the training rows."""
    return [(part.Z, own) for part, own in space.split(W)], 0.0


def sample_matrices(space: "Space", W: np.ndarray) -> tuple[list[Weighted], float]:
    """The same of the sample of them."""
    return [(part.sample, own) for part, own in space.split(W)], 0.0


def block_rows(fitted: Sequence[object], n_columns: int, on_device: bool) -> int:
    """Return the number of rows scored at once. A device takes many, because every block is copied to the host."""
    return max(BLOCK, DEVICE_SCORES // (len(fitted) * max(n_columns, 1))) if on_device else BLOCK


def blocks(n: int, size: int = BLOCK, begin: int = 0) -> Iterator[slice]:
    """Return the rows from `begin` to n in blocks."""
    return (slice(first, min(first + size, n)) for first in range(begin, n, size))


def pooled(scores: np.ndarray, weights: np.ndarray, slopes: np.ndarray, floor: float) -> np.ndarray:
    """(b, k) Σ_m w_m (floor + (1 − k floor) softmax(slope_m · scores_m)) from scores (m, k', b)."""
    xp = namespace(scores)
    S = _classes(scores) * like(slopes[:, None, None], scores)
    S -= xp.amax(S, axis=1, keepdims=True)
    xp.exp(S, out=S)
    total = home_of(S).double(S.sum(axis=1))
    S *= like(like(weights[:, None], total) / total, S)[:, None]
    P = host(S.sum(axis=0))
    found, scale, least = np.empty(P.shape), 1 - len(P) * floor, floor * weights.sum()

    def fill(rows: slice) -> None:
        found[:, rows] = P[:, rows]
        found[:, rows] *= scale
        found[:, rows] += least

    parallel(fill, list(blocks(P.shape[1], sizes.SIZES.thread_rows)))
    return found.T


def votes(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(b, k) weight of the candidates whose best class each is, from scores (m, k', b)."""
    scores = host(scores)
    best, out = _classes(scores).argmax(axis=1), np.zeros((scores.shape[2], max(scores.shape[1], 2)))
    for own, weight in zip(best, weights):
        out[np.arange(len(own)), own] += weight
    return out


def margins(scores: np.ndarray) -> np.ndarray:
    """(m,) `typical_margin` of each candidate from scores (m, k', b)."""
    S = _classes(scores)
    first, second = S[:, 0], np.full_like(S[:, 0], -np.inf)
    for c in range(1, S.shape[1]):
        second, first = np.maximum(second, np.minimum(first, S[:, c])), np.maximum(first, S[:, c])
    lead = np.asarray(first - second, dtype=np.float64)
    most, out = lead.max(axis=1, initial=0.0), np.zeros(len(lead))
    whole = (lead > 0).all(axis=1) & (most > 0)
    out[whole] = np.median(lead[whole], axis=1)
    for i in np.flatnonzero(~whole & (most > 0)):
        out[i] = np.median(lead[i][lead[i] > 0])
    return np.where(most > 0, np.maximum(out, 1e-5 * most), 1.0)


def _classes(scores: np.ndarray) -> np.ndarray:
    """(m, k, b) scores of the classes. One column f for two classes becomes (−f/2, f/2)."""
    return namespace(scores).concatenate([-scores / 2, scores / 2], axis=1) if scores.shape[1] == 1 else scores
