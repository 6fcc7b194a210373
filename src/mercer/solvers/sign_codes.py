"""Clusters from the signs of spectral scores, and how well lines fit them (Alzate and Suykens 2010)."""

from typing import NamedTuple

import numpy as np

from ..linalg import eigh_down


class Codebook(NamedTuple):
    """One code of signs for each cluster, the most frequent first, and the mean direction of its scores."""

    codes: np.ndarray  # (k', m) bool
    directions: np.ndarray  # (k', m)


def codebook_of(scores: np.ndarray, weight: np.ndarray, number: int) -> Codebook:
    """The `number` codes of largest weight among the signs of the scores (n, m), or fewer if there are not as many."""
    codes, member = np.unique(scores > 0, axis=0, return_inverse=True)
    member = member.ravel()
    mass = np.bincount(member, weight, len(codes))
    kept = np.argsort(-mass, kind="stable")[:number]
    kept = kept[mass[kept] > 0]
    units = unit_rows(scores) * weight[:, None]
    return Codebook(codes[kept], np.array([units[member == code].sum(axis=0) for code in kept]))


def nearest_code(scores: np.ndarray, book: Codebook) -> np.ndarray:
    """(n,) clusters whose code differs in the fewest signs. Of several, the one in the direction of the scores."""
    apart = np.sum((scores > 0)[:, None] != book.codes, axis=2)
    cosine = unit_rows(scores) @ unit_rows(book.directions).T  # differs by less than 2
    return np.argmin(apart - 0.25 * cosine, axis=1)


def balanced_line_fit(points: np.ndarray, member: np.ndarray, number: int, line_weight: float) -> float:
    """line_weight · line fit + (1 − line_weight) · balance, in [0, 1] and larger for better clusters.

    Line fit is the fraction of a cluster's variance along its first principal direction. It is averaged over the
    clusters and scaled so that round clusters give 0 and lines 1. Balance is the size of the smallest cluster divided
    by that of the largest.

    points : (n, m) scores, m ≥ 2. With one score the caller adds a second variable.
    """
    m, sizes = points.shape[1], np.bincount(member, minlength=number)
    fits = []
    for cluster in range(number):
        own = points[member == cluster]
        own = own - own.mean(axis=0) if len(own) else own
        values = np.clip(eigh_down(own.T @ own)[0], 0.0, None)
        share = values[0] / values.sum() if values.sum() > 0 else 1.0 / m  # one point is not a line
        fits.append((share - 1.0 / m) * m / (m - 1))
    return float(line_weight * np.mean(fits) + (1.0 - line_weight) * sizes.min() / sizes.max())


def unit_rows(A: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1. Rows of zeros are unchanged."""
    size = np.linalg.norm(A, axis=1, keepdims=True)
    return A / np.where(size > 0, size, 1.0)
