"""Held-out predictions of the constrained least-squares fit, for a whole (c, s) grid at once.

For one label weight c the pencil (C, P) is diagonalized, Vᵀ C V = I and Vᵀ P V = diag(μ). To hold out a group S of
labels then changes C by rank |S| only, and in that basis one step of the root search costs O(|S| r) instead of O(r l²).
All (s, S) pairs of one c are searched together. The number r of directions is reduced first, since a few blocks contain
the effect of the many directions with small θ on the labeled rows.
"""

import numpy as np

from ...linalg import eigh_down
from ...types import Rows
from .pencil import Pencil
from .secular import constrained_least_squares, largest_shift

SIZES = [(64, 3), (64, 4), (128, 4), (128, 5), (256, 5), (256, 6)]  # directions kept, and blocks for the others


def compress(theta: np.ndarray, Z: Rows, low: float, high: float, tol: float = 1e-5) -> tuple[np.ndarray, np.ndarray]:
    """A smaller pair (theta, Z) with the same Z (I − ζΘ)⁻¹ Zᵀ and slope, to tol · max‖zᵢ‖², for low ≤ ζ ≤ high.

    The directions of largest θ are kept. The many others are projected onto the blocks (I − ζⱼΘ)⁻¹ Zᵀ at a few ζⱼ
    (a rational Krylov space, in which value and slope are exact at those ζⱼ). Head and blocks grow until points between
    the ζⱼ agree too. If nothing would be gained, the pair is returned unchanged.
    """
    l, r = Z.shape
    scale = float(np.max(np.sum(Z**2, axis=1), initial=0.0))
    for head, n_shifts in SIZES:
        if _no_gain(head, n_shifts, l, r):
            break
        if high * theta[head] > 0.995:  # the tail must stay clear of its poles
            continue
        shifts = np.concatenate([[high, 0.0], -np.geomspace(-low, 1.0 / theta[0], n_shifts - 2)])
        small = _project_tail(theta, Z, head, shifts)
        between = np.concatenate([[0.9 * high, 0.5 * low, low], -np.sqrt(shifts[2:-1] * shifts[3:]), shifts[-1:] / 2])
        if all(_agree((theta, Z), small, head, zeta, tol * scale) for zeta in between):
            return small
    return theta, Z


def _no_gain(head: int, n_shifts: int, l: int, r: int) -> bool:
    return head + n_shifts * l > 0.7 * r


def _project_tail(theta: np.ndarray, Z: Rows, head: int, shifts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    tail, T = theta[head:], Z[:, head:].T
    Q, R = np.linalg.qr(np.concatenate([T / (1.0 - zeta * tail)[:, None] for zeta in shifts], axis=1))
    size = np.abs(np.diag(R))
    Q = Q[:, size > 1e-12 * size.max(initial=0.0)]
    small, turn = eigh_down(Q.T @ (tail[:, None] * Q))
    theta = np.concatenate([theta[:head], np.clip(small, 0.0, tail[0])])
    return theta, np.concatenate([Z[:, :head], (T.T @ Q) @ turn], axis=1)


def _agree(
    pair: tuple[np.ndarray, np.ndarray], small: tuple[np.ndarray, np.ndarray], head: int, zeta: float, tol: float
) -> bool:
    """Whether both pairs give the same resolvent and slope at ζ. The head is the same in both."""

    def both(theta: np.ndarray, Z: Rows) -> tuple[np.ndarray, np.ndarray]:
        half = Z[:, head:] / (1.0 - zeta * theta[head:])
        return half @ Z[:, head:].T, abs(zeta) * (half * theta[head:]) @ half.T

    return all(np.abs(full - part).max() <= tol for full, part in zip(both(*pair), both(*small)))


def left_out(
    theta: np.ndarray,
    Z: Rows,
    t: np.ndarray,
    weights,
    spreads,
    groups=None,
    costs: np.ndarray | None = None,
    shrink: float = 1e-5,
    pencil: Pencil | None = None,
) -> np.ndarray:
    """Predictions for held-out labels, at every label weight c and spread s².

    Parameters
    ----------
    theta, Z, t, costs : as in :func:`mercer.solvers.sphere.secular.constrained_least_squares`.
    weights, spreads : the values of c and of s².
    groups : list of index arrays into the labels. Each is held out in turn. None holds out every label by itself.
    shrink : tolerance of :func:`compress`, which comes first. 0 skips it.
    pencil : `Pencil` of these rows, if there is one weight and its pencil is known already.

    Returns an array (len(weights), len(spreads), l) or (..., l, k) of the values at each label by the fit without its
    group (NaN for labels in no group).

    The cost is O(r³) per weight after compression, then O(|S| r) per root step for each pair of spread and group.
    """
    t = np.asarray(t, float)
    columns = t[:, None] if t.ndim == 1 else t
    if groups is None:
        groups = np.arange(len(t))[:, None]
    by_size: dict[int, list] = {}
    for group in groups:
        by_size.setdefault(len(group), []).append(np.asarray(group))
    root = np.ones(len(t)) if costs is None else np.sqrt(np.asarray(costs, float))
    # A label of weight 0 still gets a prediction, since its row is kept at a scale too small to matter.
    root = np.maximum(root, 1e-7 * root.max(initial=1.0))
    Z = Z * root[:, None]
    if shrink and pencil is None:
        theta, Z = compress_for(theta, Z, columns * root[:, None], weights, spreads, shrink)
    out = np.full((len(weights), len(spreads)) + columns.shape, np.nan)
    spreads = np.asarray(spreads, float)
    for a, weight in enumerate(weights):
        own = pencil or Pencil(theta, Z, weight)
        for k, column in enumerate(columns.T):
            for same_size in by_size.values():
                sets = np.stack(same_size)
                values = _grid(own, column * root, spreads, sets)
                out[a][:, sets.ravel(), k] = values.reshape(len(spreads), -1) / root[sets.ravel()]
    return out[..., 0] if t.ndim == 1 else out


def compress_for(
    theta: np.ndarray, Z: Rows, targets: np.ndarray, weights, spreads, tol: float = 1e-5
) -> tuple[np.ndarray, np.ndarray]:
    """:func:`compress` for all ζ that the root search visits on a grid, between its strongest shrinkage and δ."""
    if len(theta) <= 400 or _no_gain(*SIZES[0], *Z.shape):  # the pencil takes so many directions as they are
        return theta, Z
    corner = constrained_least_squares(theta, Z, targets, max(weights), min(spreads), tol=1e-3).info["zeta"]
    low = 2.0 * min(float(np.min(corner)), -1.0 / theta[0])
    return compress(theta, Z, low, 0.99 * largest_shift(theta, Z, max(weights)), tol)


def _grid(pencil: Pencil, t: np.ndarray, spreads: np.ndarray, sets: np.ndarray, tol: float = 1e-8) -> np.ndarray:
    """Held-out values (spread, group, member) for groups of one size."""
    n_groups, size = sets.shape
    if size == 1:
        return np.array([pencil.without_each(t, spread, sets[:, 0], tol) for spread in spreads])
    spread = np.repeat(spreads, n_groups)
    group = np.tile(np.arange(n_groups), len(spreads))
    values = np.empty((len(spread), size))
    step = max(2_000_000 // (size * len(pencil.mu)), 1)  # numbers in one (pairs × group × directions) block
    for start in range(0, len(spread), step):
        pairs = slice(start, start + step)
        values[pairs] = _roots(pencil.mu, pencil.Y, t, pencil.weight, spread[pairs], sets[group[pairs]], tol)
    return values.reshape(len(spreads), n_groups, size)


def _roots(
    mu: np.ndarray, Y: np.ndarray, t: np.ndarray, weight: float, spread: np.ndarray, sets: np.ndarray, tol: float
) -> np.ndarray:
    """Held-out values of many (spread, group) pairs, by Newton's method on 1/√φ inside brackets for all at once."""
    total = t @ Y
    reach = 1.0 / mu[0] if mu[0] > 0 else 1.0  # without any variance every ζ will do
    lo, hi = np.full(len(spread), -np.inf), np.full(len(spread), reach)
    zeta = np.zeros(len(spread))
    value = np.zeros(sets.shape)
    todo = np.arange(len(spread))
    for _ in range(100):
        definite, f, phi, slope = _evaluate(mu, Y, t, weight, total, zeta[todo], sets[todo])
        s2 = spread[todo]
        good = definite & (phi <= s2)
        value[todo[good]] = f[good]
        lo[todo[good]] = zeta[todo[good]]
        over = ~good
        hi[todo[over]] = zeta[todo[over]]
        near = definite & (np.abs(phi - s2) <= tol * s2)
        value[todo[near]] = f[near]
        a, b = lo[todo], hi[todo]
        stop = near | (np.isfinite(a) & (b - a <= 1e-14 * np.maximum(np.abs(a), np.abs(b))))
        with np.errstate(all="ignore"):
            step = zeta[todo] + 2.0 * phi / slope * (1.0 - np.sqrt(phi / s2))
            middle = np.where(np.isfinite(a), (a + b) / 2, b - np.maximum(np.abs(b), reach))
        zeta[todo] = np.where(definite & (step > a) & (step < b), step, middle)
        todo = todo[~stop]
        if not len(todo):
            break
    return value


def _evaluate(
    mu: np.ndarray, Y: np.ndarray, t: np.ndarray, weight: float, total: np.ndarray, zeta: np.ndarray, sets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(definite, f_S, wᵀPw, its slope) at one ζ per pair, in the pencil's basis with the group's labels removed."""
    E = 1.0 / (1.0 - zeta[:, None] * mu)
    rows = Y[sets]  # pairs × members × directions
    b = weight * (total - np.einsum("pm,pmr->pr", t[sets], rows))
    felt = rows * E[:, None, :]
    R = -weight * np.einsum("pmr,pnr->pmn", felt, rows)
    R[:, np.arange(sets.shape[1]), np.arange(sets.shape[1])] += 1.0
    values, vectors = np.linalg.eigh(R)
    definite = values[:, 0] > 0
    values = np.where(definite[:, None], values, 1.0)

    def inner(a: np.ndarray) -> np.ndarray:
        turned = np.einsum("pmk,pm->pk", vectors, a) / values
        return np.einsum("pmk,pk->pm", vectors, turned)

    def solve(h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f = inner(np.einsum("pmr,pr->pm", felt, h))
        return f, E * (h + weight * np.einsum("pm,pmr->pr", f, rows))

    f, w = solve(b)
    moved = mu * w
    slope = 2.0 * np.einsum("pr,pr->p", moved, solve(moved)[1])
    return definite, f, np.einsum("pr,pr->p", moved, w), slope
