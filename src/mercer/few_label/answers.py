"""Scores of many rows by all candidates, and the pool's answers: products with label-free features, block by block.

Scores are laid out (candidates, columns, rows), so that every step of a softmax runs along the rows. Candidates that
share a feature matrix share one product with it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..rows import host, like

BLOCK = 2048  # rows answered at once: scores of all candidates stay in the cache
AT_ONCE = 2**26  # entries of a product with a sparse matrix
LEAST, MOST = 2, 40  # columns for which `thin.product` is faster than BLAS


class Scorer:
    """Scores of fitted candidates for rows whose features are at hand.

    Parameters
    ----------
    fitted : candidates. split : function of a candidate's space and weights W of its features that gives
        ([(matrix (n, r'), its weights (r', k'))], a constant), with Z W their sum.
    forest_rows : numbers of the rows in the forests' table, or None for all of it.
    """

    def __init__(self, fitted: list, split: Callable, forest_rows: Any = None):
        self.m, self.forest_rows = len(fitted), forest_rows
        self.forests = {i: one for i, one in enumerate(fitted) if one.method == "forest"}
        self.constant: dict = {}
        found: dict = {}
        for i, one in enumerate(fitted):
            if i in self.forests:
                continue
            coef = one.solution.coef
            pairs, shift = split(one.space, coef if np.isfinite(coef).all() else np.nan_to_num(coef))
            self.constant[i] = np.broadcast_to(one.solution.intercept + shift, one.solution.coef.shape[1:])
            for Z, W in pairs:
                found.setdefault(id(Z), (Z, []))[1].append((i, W))
        self.parts: list = []
        for Z, own in found.values():
            places, W = [i for i, _ in own], like(np.hstack([W for _, W in own]), Z)
            # A sparse matrix is slow to cut into blocks: its product is made at once, if there is room for it.
            at_once = sp.issparse(Z) and Z.shape[0] * W.shape[1] <= AT_ONCE
            self.parts.append((Z @ W, places, None) if at_once else (Z, places, W))

    def scores(self, rows: Any) -> np.ndarray:
        """(m, k', b) scores of some rows, by their places in the matrices: a slice or an array."""
        out: Any = None
        filled: set = set()
        for Z, places, W in self.parts:
            own = Z[rows]
            found = own.T if W is None else _product(own, W)
            found = found.reshape(len(places), -1, found.shape[1])
            if out is None:
                out = np.zeros((self.m, *found.shape[1:]), dtype=found.dtype)
            for i, one in zip(places, found):  # a candidate on two matrices has their sum
                if i in filled:
                    out[i] += one
                else:
                    out[i] = one + self.constant[i][:, None].astype(one.dtype)
                    filled.add(i)
        for i, one in self.forests.items():
            votes = one.scores(rows if self.forest_rows is None else self.forest_rows[rows]).T
            if out is None:
                out = np.zeros((self.m, *votes.shape))
            out[i] = votes
        return out


def _product(Z: Any, W: Any) -> np.ndarray:
    """(k, b) the product of Z (b, r) with W (r, k), transposed, on the host."""
    if sp.issparse(Z):
        return (Z @ W).T
    W = like(W, Z)
    if isinstance(Z, np.ndarray) and Z.dtype == np.float32 and Z.flags.c_contiguous and LEAST <= W.shape[1] <= MOST:
        from .thin import product

        return product(Z, W)
    return host(W.T @ Z.T)


def own_matrices(space: Any, W: np.ndarray) -> tuple[list, float]:
    """How `Scorer` finds Z W of the training rows."""
    return [(part.Z, own) for part, own in space.split(W)], 0.0


def sample_matrices(space: Any, W: np.ndarray) -> tuple[list, float]:
    """The same of the sample of them."""
    return [(part.sample, own) for part, own in space.split(W)], 0.0


def blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    """n rows in blocks."""
    return (slice(begin, min(begin + size, n)) for begin in range(0, n, size))


def pooled(scores: np.ndarray, weights: np.ndarray, slopes: np.ndarray, floor: float) -> np.ndarray:
    """(b, k) Σ_m w_m (floor + (1 − k floor) softmax(slope_m · scores_m)) from scores (m, k', b)."""
    S = _classes(scores) * slopes[:, None, None].astype(scores.dtype)
    S -= S.max(axis=1, keepdims=True)
    np.exp(S, out=S)
    S *= (weights[:, None] / S.sum(axis=1))[:, None].astype(S.dtype)
    P = S.sum(axis=0).T.astype(np.float64)
    return floor * weights.sum() + (1 - P.shape[1] * floor) * P


def votes(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(b, k) weight of the candidates whose best class each is, from scores (m, k', b)."""
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
    """(m, k, b) scores of the classes; one column f for two classes becomes (−f/2, f/2)."""
    return np.concatenate([-scores / 2, scores / 2], axis=1) if scores.shape[1] == 1 else scores
