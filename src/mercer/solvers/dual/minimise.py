"""Kernel PCA by duality: minimise f*(H) − Tr (HᵀGH)^{1/2} over n × s matrices H.

G is the centred kernel matrix: any object with ``shape`` and ``@``. The loss f acts on the scores P (one row a sample)
and f* = ½‖·‖² + ε‖·‖ + indicator{‖·‖ ≤ κ}: the square loss (ε = 0, κ = ∞), Huber (κ), ε-insensitive (ε), or both.
``norm="row"`` measures each row of H by its 2-norm, ``norm="element"`` each entry by itself; f* adds up the
penalties ε and bounds each one by κ. With ``location=True`` the loss is taken about the best point, min_c f(P − 1cᵀ),
and f* gains the constraint 1ᵀH = 0: outliers then do not move the centre, and new points need no mean over all samples.

The solver rests on two facts. π(H) = Tr (HᵀGH)^{1/2} is the nuclear norm of G^{1/2}H, and its gradient
P(H) = G H (HᵀGH)^{-1/2} is the scores of the samples on the orthonormal components that H spans. The DC step
H ← prox(P(H)) is a proximal gradient step of length one, and its forward-backward envelope is −f(P(H)): the primal
value itself, smooth and finite for every H, so a quasi-Newton step is safe whenever it lowers that value.

Reference: Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization, ICML.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sla

from ...errors import InputError
from ...linalg import eigh_down, sign_rows
from ..result import Result
from .loss import Loss

NEGATIVE = 1e-6  # share of the leading eigenvalue below which a negative one is rounding (float32 kernels included)
EPS = float(np.finfo(float).eps)
MEMORY = 10  # residuals that L-BFGS remembers
TRIES = 220  # of norm="element": not behind 20 random starts of plain DCA on 300 problems, results/celanie.md
KICKS = 0.55  # share of them that start from the best one so far, turned or with a new column
ROUGH, SHORT, FINALISTS = 1e-2, 10, 8  # starts take so many steps; a quarter goes down to this residual, 8 to the end
CLOSE = 5e-3  # relative distance from the best value within which a kicked one goes to the end


@dataclass
class Components:
    """The s components a dual variable stands for, ordered and uncorrelated.

    The scores of a point x are g(x)ᵀA with g(x) its centred kernel values. ``norm="row"`` does not see a rotation of
    the columns of H: H and P are then in the basis of the components.
    """

    coef: np.ndarray  # n × r matrix A, AᵀGA = I
    scores: np.ndarray  # n × r, the scores of the samples themselves, G A less `centre`
    P: np.ndarray  # n × s, the same scores in the basis of H: H = prox(P) at a stationary point
    values: np.ndarray  # r sums of squares of the scores as the loss weighs them, PᵀH = (HᵀGH)^{1/2}; descending
    centre: np.ndarray  # r, the location of the loss, zero when it has none
    H: np.ndarray  # n × s dual variable


class Root:
    """Square root of M = HᵀGH that keeps its relative accuracy when the columns of H have very different scales.

    ``sigma`` are the singular values of G^{1/2}H, descending, and H ``inverse`` the coefficients of an orthonormal
    basis of its span; ``inverse @ basis.T`` is the pseudo-inverse of M^{1/2}. Directions in which M vanishes (against
    eps · n · the largest Rayleigh quotient) are dropped: all three then have fewer columns than M.
    """

    def __init__(self, H, GH, eps=EPS):
        n, s = H.shape
        M = H.T @ GH
        M = (M + M.T) / 2
        diagonal, length = np.diag(M), np.einsum("ij,ij->j", H, H)
        quotient = np.divide(diagonal, length, out=np.zeros(s), where=length > 0)
        top = quotient.max(initial=0.0)
        if quotient.min(initial=0.0) < -NEGATIVE * max(top, -quotient.min(initial=0.0)):
            raise InputError(_INDEFINITE.format(quotient.min()))
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


_INDEFINITE = (
    "The kernel matrix is not positive semi-definite: a direction has the quadratic form {:.3g} < 0, and the dual of "
    "kernel PCA needs its square root. Use a positive semi-definite kernel, or KernelPCA(eigen_solver='dense'), which "
    "drops the negative part."
)


def sketch(G, width, n_power=2, random_state=None, eps=EPS):
    """(H, G H) for the leading `width` components seen through a random block: H = V √λ, columns in order.

    n_power + 1 products with G, of relative precision eps. Fewer columns come back when the rank of G is smaller.
    """
    n = G.shape[0]
    width = min(width, n)
    Q = np.random.default_rng(random_state).standard_normal((n, width))
    for _ in range(n_power):
        Q = sla.qr(G @ Q, mode="economic", check_finite=False)[0]
    GQ = G @ Q
    B = Q.T @ GQ
    values, vectors = sla.eigh((B + B.T) / 2, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    if values[-1] < -NEGATIVE * np.abs(values).max():
        raise InputError(_INDEFINITE.format(values[-1]))
    seen = values > eps * n * values[0]  # the sign of a column of rounding is arbitrary
    values, vectors = values[seen], vectors[:, seen]
    return Q @ (vectors * np.sqrt(values)), GQ @ (vectors * np.sqrt(values))


def minimise(
    G,
    n_components,
    loss=None,
    method="lbfgs",
    tol=1e-6,
    max_iter=1000,
    start=None,
    random_state=None,
    eps=EPS,
    n_init=None,
):
    """Minimise f*(H) − Tr (HᵀGH)^{1/2}; the value −f(P(H)) never rises.

    ``method="dca"`` repeats H ← prox(P(H)). ``method="lbfgs"`` moves along the quasi-Newton direction that the last
    ten residuals give, shortened until −f(P) falls, and takes the DC step when that fails: the same stationary
    points for a third to a tenth of the products. One product with G an iteration, since G (H + tD) = G H + t G D.

    The problem is not convex. Losses other than the square one start twice when `start` is None, from the leading
    components and from those of a wider sketch that f values most (outliers in a clump are a leading component that f
    values little). ``norm="element"`` sees the axes, and so has many more stationary points: it also starts from random
    matrices. All starts take ten steps, the better quarter goes down to a residual of 1 %, the best eight to the end.
    Then the best one is kicked again and again: its columns are turned, or one of them is drawn anew.

    Parameters
    ----------
    G : n × n positive semi-definite, centred by the caller; anything with shape and ``@``.
    loss : Loss, the square loss by default.
    start : (H, G H) or None; with more than n_components columns it is the wider sketch.
    eps : relative precision of the products with G.
    n_init : tries; None is 2, or `TRIES` for ``norm="element"``, 55 % of them kicks. The square loss needs 1.

    Returns a `Result` with `Components` as value. gap is ‖H − prox(P(H))‖ / ‖H‖, zero exactly at the stationary points;
    history is −f(P(H)); info has "rank" (less than n_components when components died) and "duality_gap", the dual value
    less the primal one, relative.
    """
    loss = loss or Loss()
    if method not in ("lbfgs", "dca"):
        raise InputError(f"method={method!r} is unknown: use 'lbfgs' or 'dca'.")
    if start is None:
        start = sketch(G, sketch_width(n_components, loss), random_state=random_state, eps=eps)
    wide = start[0].shape[1] > n_components
    n_init = n_init or (TRIES if loss.norm == "element" else 2)
    kicks = int(KICKS * n_init) if wide and loss.norm == "element" else 0
    starts = first_guesses(G, start, n_components, loss, n_init - kicks if wide else 1)
    memory = MEMORY if method == "lbfgs" else 0
    found: list = []
    products = 0
    for H, GH, staged in starts:
        for easier in _stages(loss, H) if wide and staged else ():
            point, _, used = _descend(G, H, GH, easier, 1e-2, 20, memory, eps)
            H, GH, products = point.H, point.GH, products + used
        found.append((H, GH, None))
    rounds = [(ROUGH, SHORT, len(starts) // 4), (ROUGH, max_iter, FINALISTS)] if len(starts) > FINALISTS else []
    for rough, most, kept in [*rounds, (tol, max_iter, 1)]:
        ends = [_descend(G, H, GH, loss, max(rough, tol), most, memory, eps) for H, GH, _ in found]
        products += sum(used for _, _, used in ends)
        order = sorted(range(len(ends)), key=lambda one: ends[one][1][-1])[: max(kept, 1)]
        found = [(ends[one][0].H, ends[one][0].GH, ends[one]) for one in order]
    point, history, _ = found[0][2]
    rng = np.random.default_rng(0)
    for number in range(kicks if point.H.any() else 0):
        H = _kicked(point.H, number, rng)
        end, values, used = _descend(G, H, G @ H, loss, max(ROUGH, tol), max_iter, memory, eps)
        products += used
        if values[-1] < history[-1] + CLOSE * abs(history[-1]):
            end, values, used = _descend(G, end.H, end.GH, loss, tol, max_iter, memory, eps)
            products += used
        if values[-1] < history[-1]:
            point, history = end, values
    return _result(point, history, products, loss, n_components, tol)


def sketch_width(n_components, loss):
    """Columns of the sketch to start from: the square loss needs no more than it returns."""
    return n_components if loss.square else 2 * n_components + 10


def first_guesses(G, wide, n_components, loss, n_init):
    """[(H, G H, staged)]: the leading columns of the sketch, those that f values most, then random ones.

    Half of the random starts are combinations of the sketch's columns, the others any H, from which nothing is staged.
    """
    H, GH = wide
    worth = [loss.value(h - loss.locate(h)) for h in (H[:, [j]] for j in range(H.shape[1]))]
    best = np.sort(np.argsort(worth, kind="stable")[::-1][:n_components])
    leading = np.arange(len(best))
    chosen = [leading] if loss.square or np.array_equal(best, leading) else [leading, best]
    starts = [(H[:, columns], GH[:, columns], True) for columns in chosen[:n_init]]
    rng = np.random.default_rng(0)
    for number in range(0 if loss.square else n_init - 2):
        if number % 2:
            any_ = rng.standard_normal((H.shape[0], len(leading)))
            starts.append((any_, G @ any_, False))
        else:
            turn = np.linalg.qr(rng.standard_normal((H.shape[1], len(leading))))[0]
            starts.append((H @ turn, GH @ turn, True))
    return starts


def _kicked(H, number, rng):
    """H with its columns turned into each other, or (odd numbers) with one of them drawn anew."""
    n, s = H.shape
    if number % 2 == 0:
        return H @ np.linalg.qr(np.eye(s) + rng.uniform(0.1, 1.2) * rng.standard_normal((s, s)))[0]
    new = H.copy()
    new[:, rng.integers(s)] = rng.standard_normal(n) * np.linalg.norm(H) / np.sqrt(n * s)
    return new


def _stages(loss, scores):
    """Smaller epsilons on the way to the wanted one: a start that it would wipe out first grows into few rows."""
    if loss.epsilon == 0:
        return
    epsilon = max(float(np.median(loss.size(scores))), loss.epsilon / 4)
    while 0 < epsilon < loss.epsilon:
        yield replace(loss, epsilon=epsilon)
        epsilon *= 1.25


class _Point:
    """A dual variable with all that follows from it and its product with G."""

    def __init__(self, H, GH, loss, eps):
        self.H, self.GH = H, GH
        self.root = Root(H, GH, eps)
        P = GH @ (self.root.inverse @ self.root.basis.T)
        self.centre = loss.locate(P)
        self.value = -loss.value(P - self.centre)
        self.image = loss.prox(P - self.centre)
        self.residual = self.image - H


def _descend(G, H, GH, loss, tol, max_iter, memory, eps):
    """(final point, history, products): the final H is an image of the prox, so that it is sparse and within bounds."""
    point = _Point(H, GH, loss, eps)
    history = [point.value]
    pairs: list[tuple] = []
    n_iter, is_image = 0, False
    while point.image.any():
        settled = _gap(point) <= tol
        if is_image and (settled or n_iter >= max_iter):
            break
        new = None
        if pairs and not settled and n_iter < max_iter:
            D = _two_loop(point.residual, pairs)
            GD = G @ D
            n_iter += 1
            new = _shorten(point, D, GD, loss, eps)
            is_image = False
        if new is None:
            new = _Point(point.image, G @ point.image, loss, eps)
            n_iter += 1
            pairs, is_image = [] if not settled else pairs, True
        step, change = new.H - point.H, point.residual - new.residual
        curvature = float(np.vdot(step, change))
        if memory and curvature > 1e-10 * np.linalg.norm(step) * np.linalg.norm(change):
            pairs = [*pairs, (step, change, 1.0 / curvature)][-memory:]
        point = new
        history.append(point.value)
    return point, history, n_iter


def _gap(point):
    length = np.linalg.norm(point.H)
    return float(np.linalg.norm(point.residual) / length) if length > 0 else 0.0


def _shorten(point, D, GD, loss, eps):
    """The first of H + D, H + D/2, … that lowers −f(P); None when none does. No product is needed."""
    for t in (1.0, 0.5, 0.25, 0.1):
        new = _Point(point.H + t * D, point.GH + t * GD, loss, eps)
        if new.value <= point.value + 4 * EPS * abs(point.value):
            return new
    return None


def _two_loop(residual, pairs):
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


def _result(point, history, n_iter, loss, wanted, tol):
    """Rotate to ordered uncorrelated components and say how it went."""
    H, GH, root = point.H, point.GH, point.root
    if not point.image.any():  # everything is below ε: H = 0 is where the iteration goes
        H = GH = np.zeros_like(H)
        root = Root(H, GH)
    dual = loss.conjugate(H) - float(root.sigma.sum())
    turn, values = np.eye(root.rank), root.sigma
    scores = GH @ root.inverse - point.centre @ root.basis
    if loss.square:  # Rayleigh-Ritz: second-order accurate before convergence
        values, turn = eigh_down(scores.T @ scores)
    turn = turn * sign_rows(scores @ turn)
    scores, coef = scores @ turn, H @ (root.inverse @ turn)
    to_basis = root.basis @ turn
    H, P = (H @ to_basis, scores) if loss.norm == "row" else (H, scores @ to_basis.T)
    found = Components(coef, scores, P, values, point.centre @ to_basis, H)
    gap, rank = _gap(point) if root.rank else 0.0, root.rank
    converged = gap <= tol
    reason = f"The residual {gap:.1e} is {'below' if converged else 'above'} tol={tol:.1e} after {n_iter} products."
    if not converged:
        reason += " Raise max_iter or tol; components whose eigenvalues nearly tie need many iterations."
    if rank < wanted:
        reason += f" Only {rank} of the {wanted} components are left: G has a smaller rank, or epsilon is too large."
    info = {"rank": rank, "duality_gap": (dual - point.value) / abs(point.value) if point.value else 0.0}
    return Result(found, dual, gap, max(n_iter, 1), converged, reason, history, info)
