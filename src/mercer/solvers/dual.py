"""Kernel PCA by duality: minimise f*(H) − Tr (HᵀGH)^{1/2} over n × s matrices H.

G is the centred kernel matrix: any object with ``shape`` and ``@``. The loss f acts on the scores P (one row a sample) and
f* = ½‖·‖² + ε‖·‖ + indicator{‖·‖ ≤ κ}: the square loss (ε = 0, κ = ∞), Huber (κ), ε-insensitive (ε), or both.
``norm="row"`` takes the 2-norm of each row, ``norm="element"`` the absolute value of each entry.

π(H) = Tr (HᵀGH)^{1/2} is the nuclear norm of G^{1/2}H; its (sub)gradient is the scores P = G H (HᵀGH)^{-1/2} of the
samples on the orthonormal components that H spans. Products with G are linear, so G H is carried along with H and one
product an iteration is all that any of the solvers here pays.

Reference: Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization, ICML.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.optimize import brentq

from .. import rows
from ..errors import InputError
from ..linalg import fix_signs
from .result import Result

REJ=[]
NORMS = ("row", "element")
NEGATIVE = 1e-6  # share of the leading eigenvalue below which a negative one is rounding (float32 kernels included)


class FactorProduct:
    """G = C Z Zᵀ C (C removes column means when centre is true), through the verbs: Z may live in torch or Dask."""

    def __init__(self, Z, centre=True):
        self.Z, self.centre = Z, centre
        self.shape = (Z.shape[0], Z.shape[0])

    def __matmul__(self, V):
        out = rows.dot(self.Z, rows.tdot(self.Z, V - V.mean(axis=0) if self.centre else V))
        return out - out.mean(axis=0) if self.centre else out


@dataclass
class Components:
    """The s components a dual variable stands for, ordered and uncorrelated.

    Attributes
    ----------
    coef : n × r matrix A; the scores of a point x are g(x)ᵀA with g(x) its centred kernel values. AᵀGA = I.
    scores : n × r, the scores G A of the samples themselves.
    values : r weighted sums of squares of the scores, descending; the eigenvalues of G for the square loss.
    H : n × s dual variable, in the basis of the components when the norm allows that rotation.
    """

    coef: np.ndarray
    scores: np.ndarray
    values: np.ndarray
    H: np.ndarray


class Root:
    """Square root of M = HᵀGH that keeps its relative accuracy when the columns of H have very different scales.

    ``sigma`` are the singular values of G^{1/2}H, descending, and H ``inverse`` are the coefficients of an
    orthonormal basis of its span; ``inverse @ basis.T`` is the pseudo-inverse of M^{1/2}. Directions in which M vanishes
    (against eps · n · the largest Rayleigh quotient) are dropped: all three then have fewer columns than M.
    """

    def __init__(self, H, GH, eps=None):
        n, s = H.shape
        eps = np.finfo(float).eps if eps is None else eps
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


def check_norm(norm):
    """Refuse a norm that is not one of the two."""
    if norm not in NORMS:
        raise InputError(f"norm={norm!r} is unknown: use 'row' (2-norm of each row) or 'element' (each entry alone).")


def conjugate(H, kappa=np.inf, epsilon=0.0, norm="row"):
    """f*(H) = ½‖H‖² + ε‖H‖, infinite where the norm of a row (or entry) exceeds κ by more than rounding."""
    size = _size(H, norm)
    if size.max(initial=0.0) > kappa * (1 + 1e-12):
        return np.inf
    return 0.5 * float(np.einsum("ij,ij->", H, H)) + epsilon * float(size.sum())


def prox(Y, kappa=np.inf, epsilon=0.0, norm="row"):
    """∇f(Y), the H that attains f(Y): shorten each row (or entry) by ε, then to at most κ.

    Both terms depend on the size r of a row alone, so the prox is the minimum of ½(r − ‖y‖)² + εr on [0, κ].
    """
    if epsilon == 0 and kappa == np.inf:
        return Y
    size = _size(Y, norm)
    wanted = np.minimum(np.maximum(size - epsilon, 0.0), kappa)
    return Y * np.divide(wanted, size, out=np.zeros_like(size), where=size > 0)


def _size(Y, norm):
    return np.abs(Y) if norm == "element" else np.sqrt(np.einsum("ij,ij->i", Y, Y))[:, None]


def loss(P, kappa=np.inf, epsilon=0.0, norm="row"):
    """f on each column of P taken alone: how much a single component is worth."""
    excess = np.maximum(np.abs(P) - epsilon, 0.0)
    inside = np.minimum(excess, kappa)
    return np.sum(inside * (excess - 0.5 * inside), axis=0)


def objective(H, GH, kappa=np.inf, epsilon=0.0, norm="row", eps=None):
    """f*(H) − Tr (HᵀGH)^{1/2}."""
    return conjugate(H, kappa, epsilon, norm) - float(Root(H, GH, eps).sigma.sum())


def gradient(H, GH, eps=None):
    """Gradient of the dual objective of the square loss, H − G H (HᵀGH)^{-1/2}."""
    root = Root(H, GH, eps)
    return H - GH @ (root.inverse @ root.basis.T)


def sketch(G, width, n_power=2, random_state=None):
    """(H, G H) for the leading `width` components seen through a random block: H = V √λ, columns in order.

    n_power + 1 products with G. Fewer columns come back when the rank of G is smaller.
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
    values, vectors = values[values > 0], vectors[:, values > 0]
    return Q @ (vectors * np.sqrt(values)), GQ @ (vectors * np.sqrt(values))


def lbfgs(G, n_components, tol=1e-6, max_iter=500, oversample=10, memory=10, start=None, random_state=None, eps=None):
    """Minimise ½‖H‖² − Tr (HᵀGH)^{1/2} (the square loss) by L-BFGS with an exact line search.

    One product with G an iteration: along H + tD the objective is a function of s × s matrices, so the line search is
    free. `oversample` extra columns are carried and cut at the end; they widen the spectral gap that sets the speed.

    Returns
    -------
    Result with `Components` as value; gap is the largest ‖G v − λ v‖ / λ₁ over the unit eigenvectors v found, and
    history the dual objective of all the columns carried.
    """
    H, GH = sketch(G, n_components + oversample, random_state=random_state) if start is None else start
    root = Root(H, GH, eps)
    grad = H - GH @ (root.inverse @ root.basis.T)
    history = [0.5 * float(np.vdot(H, H)) - float(root.sigma.sum())]
    pairs: list[tuple] = []
    n_iter = 0
    while n_iter < max_iter and _leading_residual(H, grad, root, n_components) > tol:
        D = -_two_loop(grad, pairs)
        GD = G @ D
        n_iter += 1
        t = _exact_step(H, GH, D, GD)
        H_new, GH_new = H + t * D, GH + t * GD
        root_new = Root(H_new, GH_new, eps)
        value = 0.5 * float(np.vdot(H_new, H_new)) - float(root_new.sigma.sum())
        if value > history[-1]:
            if not pairs:
                break  # steepest descent cannot lower it either: rounding
            pairs = []
            continue
        grad_new = H_new - GH_new @ (root_new.inverse @ root_new.basis.T)
        pairs = [*pairs[-memory + 1 :], _pair(t * D, grad_new - grad)]
        H, GH, root, grad = H_new, GH_new, root_new, grad_new
        history.append(value)
    # one more product: orthonormal scores, their Rayleigh quotient and the residual of every pair
    Q = sla.qr(GH @ root.inverse, mode="economic", check_finite=False)[0]
    GQ = G @ Q
    B = Q.T @ GQ
    values, vectors = sla.eigh((B + B.T) / 2, check_finite=False)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    V, GV = Q @ vectors, GQ @ vectors
    gap = float(np.linalg.norm(GV - V * values, axis=0).max(initial=0.0) / values[0]) if len(values) else 0.0
    V = fix_signs(V)
    found = Components(V / np.sqrt(values), V * np.sqrt(values), values, V * np.sqrt(values))
    return _result(found, -0.5 * float(values.sum()), gap, n_iter, gap <= tol, history, n_components, tol, max_iter)


def _leading_residual(H, grad, root, s):
    """Largest ‖(H − P) b‖ / ‖H b‖ over the s leading directions b, each weighed by λ_b/λ₁ as an eigen-residual is."""
    b = root.basis[:, :s]
    length = np.linalg.norm(H @ b, axis=0)
    return float(np.max(np.linalg.norm(grad @ b, axis=0) / length * (root.sigma[:s] / root.sigma[0]), initial=0.0))


def _pair(step, change):
    return step, change, 1.0 / float(np.vdot(step, change))


def _two_loop(grad, pairs, seed='id'):
    """Inverse-Hessian product of L-BFGS. The Hessian tends to the identity off the span, so the seed is the identity."""
    q, weights = grad.copy(), []
    for step, change, rho in reversed(pairs):
        a = rho * float(np.vdot(step, q))
        q -= a * change
        weights.append(a)
    if pairs and seed!='id': q*=1/(pairs[-1][2]*np.vdot(pairs[-1][1],pairs[-1][1]))
    for (step, change, rho), a in zip(pairs, reversed(weights)):
        q += (a - rho * float(np.vdot(change, q))) * step
    return q


def _exact_step(H, GH, D, GD):
    """Minimiser t > 0 of the square-loss objective along H + tD, from s × s matrices alone."""
    cross = H.T @ GD
    M = (H.T @ GH, cross + cross.T, D.T @ GD)
    a, b = float(np.vdot(H, D)), float(np.vdot(D, D))

    def slope(t):
        values, U = sla.eigh(M[0] + t * (M[1] + t * M[2]), check_finite=False)
        moved = np.einsum("ij,ij->j", U, (M[1] + 2 * t * M[2]) @ U)
        values = np.maximum(values, np.finfo(float).eps * len(values) * values[-1])
        return a + t * b - 0.5 * float(np.sum(moved / np.sqrt(values)))

    high = 1.0
    while slope(high) < 0 and high < 1e6:
        high *= 2
    return float(brentq(slope, 0.0, high, rtol=1e-3)) if slope(0.0) < 0 < slope(high) else 1.0


def dca(
    G,
    n_components,
    kappa=np.inf,
    epsilon=0.0,
    norm="row",
    tol=1e-6,
    max_iter=500,
    memory=5,
    start=None,
    random_state=None,
    eps=None,
):
    """Minimise f*(H) − Tr (HᵀGH)^{1/2} by the difference-of-convex algorithm H ← prox(∇π(H)), any loss, any norm.

    The objective never rises. The plain step is orthogonal iteration in disguise, so it is extrapolated (Anderson, on
    the scores before the prox: every iterate is feasible and sparse) and an extrapolation that does not lower the
    objective is thrown away. memory=0 gives the plain algorithm.

    Returns
    -------
    Result with `Components` as value; gap is the fixed-point residual ‖H − prox(∇π(H))‖ / ‖H‖, zero exactly at the
    stationary points; history is the objective. info["rank"] < n_components says that components died.
    """
    check_norm(norm)
    f = {"kappa": kappa, "epsilon": epsilon, "norm": norm}
    if start is None:
        start = sketch(G, n_components, random_state=random_state)[0]
    Y = start
    fallback, extrapolated = Y, False
    tried: list[tuple] = []
    history: list[float] = []
    n_iter, gap = 0, np.inf
    while True:
        H_new = prox(Y, **f)
        GH_new = G @ H_new
        n_iter += 1
        root_new = Root(H_new, GH_new, eps)
        value = conjugate(H_new, **f) - float(root_new.sigma.sum())
        if extrapolated and not value <= history[-1]:
            REJ.append(n_iter); Y, extrapolated, tried = fallback, False, []
            if n_iter < max_iter:
                continue
            break
        H, GH, root = H_new, GH_new, root_new
        history.append(value)
        P = GH @ (root.inverse @ root.basis.T)
        gap = _relative(np.linalg.norm(H - prox(P, **f)), np.linalg.norm(H))
        if gap <= tol or n_iter >= max_iter or root.rank == 0:
            break
        tried = [*tried, (P, P - Y)][-memory - 1 :]
        Y, fallback, extrapolated = _anderson(tried), P, len(tried) > 1
    T = root.inverse
    if kappa == np.inf and epsilon == 0:  # Rayleigh-Ritz: second-order accurate before convergence
        scores = GH @ T
        values, R = sla.eigh(scores.T @ scores, check_finite=False)
        T, values = T @ R[:, ::-1], values[::-1]
    else:
        values = root.sigma  # PᵀH = (HᵀGH)^{1/2}: sums of squares weighed by what the loss leaves of each sample
    scores = GH @ T
    peak = np.where(scores[np.argmax(np.abs(scores), axis=0), np.arange(T.shape[1])] < 0, -1.0, 1.0)
    rotated = H if norm == "element" else H @ root.basis
    found = Components(H @ T * peak, scores * peak, values, rotated)
    return _result(found, history[-1], gap, n_iter, gap <= tol, history, n_components, tol, max_iter)


def _anderson(tried):
    """Combination of the images P whose residuals P − Y cancel best; the last image alone when there is one."""
    P, R = tried[-1]
    if len(tried) == 1:
        return P
    dR = np.stack([(b[1] - a[1]).ravel() for a, b in zip(tried, tried[1:])])
    gram = dR @ dR.T
    gram[np.diag_indices_from(gram)] *= 1 + 1e-10
    try:
        weights = sla.solve(gram, dR @ R.ravel(), assume_a="pos", check_finite=False)
    except sla.LinAlgError:
        return P
    for w, a, b in zip(weights, tried, tried[1:]):
        P = P - w * (b[0] - a[0])
    return P


def _relative(part, whole):
    return float(part / whole) if whole > 0 else 0.0


def _result(found, value, gap, n_iter, converged, history, wanted, tol, max_iter):
    rank = len(found.values)
    if converged:
        reason = f"The residual {gap:.1e} fell below tol={tol:.1e}."
    else:
        reason = (
            f"The dual solver stopped after {n_iter} products with residual {gap:.1e} above tol={tol:.1e}: "
            f"raise max_iter={max_iter} or tol."
        )
    if rank < wanted:
        reason += f" Only {rank} of the {wanted} components are there: the others vanished."
    return Result(found, value, gap, max(n_iter, 1), converged, reason, history, {"rank": rank})
