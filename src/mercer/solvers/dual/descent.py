"""One descent of the dual of kernel PCA, and many at the same time with common products with the kernel matrix.

See `mercer.solvers.dual.minimize` for the problem.
"""

import numpy as np
import scipy.linalg as sla

from ...errors import InputError

EPS = float(np.finfo(float).eps)
SIDE_BY_SIDE = 16  # descents that run at a time, since each remembers 2 · memory matrices of the size of H


def check_definite(least: float, largest: float) -> None:
    """Raise an error if the smallest quadratic form or eigenvalue is negative compared with the largest."""
    if least < -1e-6 * max(largest, -least):  # below this fraction it is rounding, also of float32 kernels
        raise InputError(
            f"The kernel matrix is not positive semi-definite. A direction has the quadratic form {least:.3g} < 0, "
            "and the dual of kernel PCA needs the square root of the matrix. Use a positive semi-definite kernel, or "
            "KernelPCA(eigen_solver='dense'), which drops the negative part."
        )


class Root:
    """Square root of M = HᵀGH that keeps its relative accuracy when the columns of H have very different scales.

    ``sigma`` contains the singular values of G^{1/2}H, descending. H ``inverse`` contains the coefficients of an
    orthonormal basis of its span. ``inverse @ basis.T`` is the pseudo-inverse of M^{1/2}. Directions in which M
    vanishes (less than eps · n · the largest Rayleigh quotient) are dropped, and all three then have fewer columns
    than M.
    """

    def __init__(self, H: np.ndarray, GH: np.ndarray, eps: float = EPS) -> None:
        n, s = H.shape
        M = H.T @ GH
        M = (M + M.T) / 2
        diagonal, length = np.diag(M), np.einsum("ij,ij->j", H, H)
        quotient = np.divide(diagonal, length, out=np.zeros(s), where=length > 0)
        top = quotient.max(initial=0.0)
        check_definite(quotient.min(initial=0.0), top)
        alive = np.flatnonzero(quotient > eps * n * top)
        scale = np.sqrt(diagonal[alive])
        C = M[np.ix_(alive, alive)] / scale / scale[:, None]
        values, vectors = sla.eigh(C, check_finite=False) if len(alive) else (np.zeros(0), np.zeros((0, 0)))
        keep = values > eps * n
        values, vectors = values[keep], vectors[:, keep]
        U, self.sigma, Vt = np.zeros((0, 0)), values, np.zeros((0, len(alive)))
        if len(values):  # SciPy before 1.14 does not take an empty matrix
            U, self.sigma, Vt = sla.svd((np.sqrt(values) * vectors).T * scale, full_matrices=False, check_finite=False)
        self.inverse = np.zeros((s, len(values)))
        self.inverse[alive] = (vectors / np.sqrt(values) @ U) / scale[:, None]
        self.basis = np.zeros((s, len(values)))
        self.basis[alive] = Vt.T

    @property
    def rank(self):
        return len(self.sigma)


class Point:
    """A dual variable with all that follows from it and its product with G."""

    def __init__(self, H, GH, loss, eps):
        self.H, self.GH = H, GH
        self.root = Root(H, GH, eps)
        P = GH @ (self.root.inverse @ self.root.basis.T)
        self.center = loss.locate(P)
        self.value = -loss.value(P - self.center)
        self.image = loss.prox(P - self.center)
        self.residual = self.image - H

    @property
    def gap(self) -> float:
        """‖H − prox(P(H))‖ / ‖H‖."""
        length = np.linalg.norm(self.H)
        return float(np.linalg.norm(self.residual) / length) if length > 0 else 0.0


def descent(H, GH, loss, tol, max_iter, memory, eps):
    """Generator that requests products with G (see `together`) and returns (final point, history).

    The final H is an image of the prox, so that it is sparse and within bounds. With memory 0 it is the DC iteration.
    """
    point = Point(H, GH, loss, eps)
    history, gaps = [point.value], [point.gap]
    pairs: list[tuple] = []
    n_iter, is_image = 0, False
    while point.image.any():
        settled = gaps[-1] <= tol or _stalled(history, gaps, eps)
        if is_image and (settled or n_iter >= max_iter):
            break
        new = None
        if pairs and not settled and n_iter < max_iter:
            D = _two_loop(point.residual, pairs)
            GD = yield D
            new = _shorten(point, D, GD, loss, eps)
            n_iter, is_image = n_iter + 1, False
        if new is None:
            new = Point(point.image, (yield point.image), loss, eps)
            n_iter += 1
            pairs, is_image = [] if not settled else pairs, True
        step, change = new.H - point.H, point.residual - new.residual
        curvature = float(np.vdot(step, change))
        if memory and curvature > 1e-10 * np.linalg.norm(step) * np.linalg.norm(change):
            pairs = [*pairs, (step, change, 1.0 / curvature)][-memory:]
        point = new
        history.append(point.value)
        gaps.append(point.gap)
    return point, history


def _stalled(history: list, gaps: list, eps: float, steps: int = 50) -> bool:
    """Whether the value moved by less than the precision, and the residual did not halve, in so many steps."""
    if len(history) <= steps:
        return False
    return history[-1 - steps] - history[-1] <= eps * abs(history[-1]) and min(gaps[-steps:]) > 0.5 * gaps[-1 - steps]


def together(G, descents):
    """(what each generator returns, number of products). `SIDE_BY_SIDE` generators at a time use one product with G."""
    ends: list = [None] * len(descents)
    replies: dict = {}
    todo, products = list(range(len(descents)))[::-1], 0
    while todo or replies:
        while todo and len(replies) < SIDE_BY_SIDE:
            replies[todo.pop()] = None
        requests = {}
        for i, reply in replies.items():
            try:
                requests[i] = descents[i].send(reply)
            except StopIteration as end:
                ends[i] = end.value
        replies = {}
        if requests:
            product = G @ np.concatenate(list(requests.values()), axis=1)
            cuts = np.cumsum([D.shape[1] for D in requests.values()])[:-1]
            replies = {i: part.copy() for i, part in zip(requests, np.split(product, cuts, axis=1))}
            products += 1
    return ends, products


def _shorten(point, D, GD, loss, eps):
    """The first of H + D, H + D/2, … that lowers −f(P). None when none does. No product is needed."""
    for t in (1.0, 0.5, 0.25, 0.1):
        new = Point(point.H + t * D, point.GH + t * GD, loss, eps)
        if new.value <= point.value + 4 * EPS * abs(point.value):
            return new
    return None


def _two_loop(residual: np.ndarray, pairs: list) -> np.ndarray:
    """L-BFGS direction for the residual prox(P(H)) − H, which plays the negative gradient."""
    q, weights = residual.copy(), []
    for step, change, rho in reversed(pairs):
        weights.append(rho * float(np.vdot(step, q)))
        q -= weights[-1] * change
    _, change, rho = pairs[-1]
    q /= rho * float(np.vdot(change, change))
    for (step, change, rho), weight in zip(pairs, reversed(weights)):
        q += (weight - rho * float(np.vdot(change, q))) * step
    return q
