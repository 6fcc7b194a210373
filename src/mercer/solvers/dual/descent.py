"""One descent of the dual of kernel PCA, and many side by side that share their products with the kernel matrix.

See `mercer.solvers.dual.minimize` for the problem.
"""

import numpy as np
import scipy.linalg as sla

from ...errors import InputError

NEGATIVE = 1e-6  # fraction of the leading eigenvalue below which a negative one is rounding (float32 kernels included)
EPS = float(np.finfo(float).eps)
STALL = 50  # steps in which the value moves by less than the precision, and the residual does not halve: rounding
SIDE_BY_SIDE = 16  # descents under way at a time: each remembers 2 · MEMORY matrices of the size of H


class Root:
    """Square root of M = HᵀGH that keeps its relative accuracy when the columns of H have very different scales.

    ``sigma`` are the singular values of G^{1/2}H, descending, and H ``inverse`` the coefficients of an orthonormal
    basis of its span. ``inverse @ basis.T`` is the pseudo-inverse of M^{1/2}. Directions in which M vanishes (against
    eps · n · the largest Rayleigh quotient) are dropped: all three then have fewer columns than M.
    """

    def __init__(self, H: np.ndarray, GH: np.ndarray, eps: float = EPS) -> None:
        n, s = H.shape
        M = H.T @ GH
        M = (M + M.T) / 2
        diagonal, length = np.diag(M), np.einsum("ij,ij->j", H, H)
        quotient = np.divide(diagonal, length, out=np.zeros(s), where=length > 0)
        top = quotient.max(initial=0.0)
        if quotient.min(initial=0.0) < -NEGATIVE * max(top, -quotient.min(initial=0.0)):
            raise InputError(INDEFINITE.format(quotient.min()))
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


INDEFINITE = (
    "The kernel matrix is not positive semi-definite: a direction has the quadratic form {:.3g} < 0, and the dual of "
    "kernel PCA needs its square root. Use a positive semi-definite kernel, or KernelPCA(eigen_solver='dense'), which "
    "drops the negative part."
)


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
    """Generator that requests products with G, see `together`: (final point, history) in the end.

    The final H is an image of the prox, so that it is sparse and within bounds. Without memory: the DC iteration.
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


def _stalled(history, gaps, eps):
    if len(history) <= STALL:
        return False
    return history[-1 - STALL] - history[-1] <= eps * abs(history[-1]) and min(gaps[-STALL:]) > 0.5 * gaps[-1 - STALL]


def together(G, descents):
    """(what each generator returns, products): those under way share their product with G, `SIDE_BY_SIDE` at a time."""
    ends: list = [None] * len(descents)
    answers: dict = {}
    todo, products = list(range(len(descents)))[::-1], 0
    while todo or answers:
        while todo and len(answers) < SIDE_BY_SIDE:
            answers[todo.pop()] = None
        asked = {}
        for i, answer in answers.items():
            try:
                asked[i] = descents[i].send(answer)
            except StopIteration as end:
                ends[i] = end.value
        answers = {}
        if asked:
            product = G @ np.concatenate(list(asked.values()), axis=1)
            cuts = np.cumsum([D.shape[1] for D in asked.values()])[:-1]
            answers = {i: part.copy() for i, part in zip(asked, np.split(product, cuts, axis=1))}
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
