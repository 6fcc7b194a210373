"""Least squares on a quadratic sphere, min ‖w‖² + c Σ aᵢ(zᵢ·w − tᵢ)² subject to wᵀPw = s².

The problem is not convex, but its global minimum is known. It is w(ζ) = (C − ζP)⁻¹ b with C = I + c ZᵀAZ and
b = c ZᵀAt, at the only ζ with wᵀPw = s² below the smallest generalized eigenvalue δ of (C, P). P is diagonalized once
(P = QΘQᵀ, Z ← ZQ). Then C − ζP is diagonal plus rank l, and every (c, s, labeling) costs O(r l²) per root step.

Beyond 1/θ₁ the diagonal 1 − ζΘ has zero and negative entries. The few directions in which it is small are therefore
kept explicit, and only the rest is eliminated. Each factor is then a Cholesky factor, which fails if ζ ≥ δ.
"""

import numpy as np
import scipy.linalg as sla

from ...errors import InputError
from ...linalg import fix_signs, precision, smallest
from ...types import Rows
from ..result import Result
from .pencil import Pencil

EPS = np.finfo(float).eps
KEEP = 1e-3  # directions with 1 − ζθ below this are kept explicit, and the others grow at most 1000-fold


def variance_basis(values: np.ndarray, vectors: np.ndarray, dtype=np.float64) -> tuple[np.ndarray, np.ndarray]:
    """(theta, Q) with QᵀPQ = diag(theta) from the eigenpairs of P. Theta descends, and the signs of Q are fixed.

    dtype : of the rows. Its precision decides which variances are rounding, and these become 0.
    """
    theta = np.clip(values, 0.0, None)
    if len(theta):
        theta[theta < max(EPS * len(theta) * theta[0], smallest(dtype) / precision(dtype))] = 0.0
    return theta, fix_signs(vectors)


class Shifted:
    """The matrix C − ζΘ = (I − ζΘ) + c ZᵀZ at one ζ, factored. `definite` shows whether ζ < δ."""

    def __init__(self, theta: np.ndarray, Z: Rows, weight: float, zeta: float) -> None:
        d = 1.0 - zeta * theta
        m = int(np.sum(d < KEEP)) if zeta > 0 else 0  # theta descends, so these are the first ones
        self.head, self.d = Z[:, :m], d[m:]
        self.tail = Z[:, m:]
        half = self.tail / np.sqrt(self.d)
        M = half @ half.T
        M.flat[:: len(M) + 1] += 1.0 / weight
        try:
            self.factor = sla.cho_factor(M, lower=True, check_finite=False)
        except sla.LinAlgError:
            raise InputError(
                f"Next to kernel values of up to {float(np.max(M)):.0e} nothing is left of the labels' weight. "
                "Scale the columns (sklearn.preprocessing.StandardScaler), or lower label_weight."
            ) from None
        self.definite = True
        if m:
            schur = self.head.T @ self._inner(self.head)
            schur.flat[:: m + 1] += d[:m]
            try:
                self.schur = sla.cho_factor(schur, lower=True, check_finite=False)
            except sla.LinAlgError:
                self.definite = False

    def _inner(self, a: np.ndarray) -> np.ndarray:
        return sla.cho_solve(self.factor, a, check_finite=False) if len(a) else a  # SciPy 1.13 solves no empty system

    def labels(self, t):
        """(C − ζΘ)⁻¹ c Zᵀt, without ever forming the product c Zᵀt (no cancellation for a large c)."""
        m = self.head.shape[1]
        top = sla.cho_solve(self.schur, self.head.T @ self._inner(t), check_finite=False) if m else np.zeros(0)
        v = self._inner(t - self.head @ top)
        return np.concatenate([top, (v @ self.tail) / self.d])

    def solve(self, h: np.ndarray) -> np.ndarray:
        """(C − ζΘ)⁻¹ h."""
        m = self.head.shape[1]
        p = self.tail @ (h[m:] / self.d)
        top = np.zeros(0)
        if m:
            top = sla.cho_solve(self.schur, h[:m] - self.head.T @ self._inner(p), check_finite=False)
        u = self._inner(self.head @ top + p)
        return np.concatenate([top, (h[m:] - u @ self.tail) / self.d])


def largest_shift(theta: np.ndarray, Z: Rows, weight: float) -> float:
    """δ, the smallest generalized eigenvalue of (I + weight ZᵀZ, Θ), from above and to 1%."""
    lo, hi = 1.0 / theta[0], _rayleigh(theta, Z, weight)
    while hi > 1.01 * lo:
        middle = np.sqrt(lo * hi)
        lo, hi = (middle, hi) if Shifted(theta, Z, weight, middle).definite else (lo, middle)
    return hi


def _rayleigh(theta: np.ndarray, Z: Rows, weight: float) -> float:
    """An upper bound of δ, the smallest Rayleigh quotient of a unit vector."""
    with np.errstate(divide="ignore"):
        return float(np.min((1.0 + weight * np.sum(Z**2, axis=0)) / theta))


def constrained_least_squares(
    theta: np.ndarray,
    Z: Rows,
    t: np.ndarray,
    weight: float,
    spread: float,
    costs: np.ndarray | None = None,
    tol: float = 1e-11,
    max_iter: int = 200,
    pencil: Pencil | None = None,
) -> Result:
    """Minimize ‖w‖² + weight Σ costsᵢ (Zᵢ·w − tᵢ)² subject to Σ θₖ wₖ² = spread, globally.

    Parameters
    ----------
    theta : (r,) descending, non-negative, from `variance_basis`.
    Z : (l, r) labeled rows in the basis of theta. l may be 0, which gives kernel PCA.
    t : (l,) or (l, k) targets. The columns are separate problems.
    weight, spread : c and s², both positive.
    costs : (l,) non-negative factors of the single losses. None means ones.
    pencil : `Pencil` of the rows times the roots of their costs, if it is known already.

    Returns a `Result` with value w, (r,) or (r, k). The gap is the larger of the relative KKT and constraint residuals,
    over all columns. Info contains `zeta`, `kkt`, `constraint` and `hard` (whether a multiple of δ's eigenvector had to
    be added) with one entry per column, and the `pencil` if one was used.

    The cost is O(r l²) per root step with about eight steps per column. With several columns of few directions it is
    O(r³) once.
    """
    theta, Z, t = np.asarray(theta, float), np.asarray(Z, float), np.asarray(t, float)
    if not len(theta) or theta[0] <= 0:
        raise InputError(
            "The function values cannot vary, because every training row has the same features. No function reaches "
            "the wanted variance. Check the data and the kernel's width."
        )
    if not (weight > 0 and spread > 0):
        raise InputError(f"weight and spread must be positive. They are weight={weight!r} and spread={spread!r}.")
    if costs is not None:
        root = np.sqrt(np.asarray(costs, float))
        Z, t = Z * root[:, None], (t.T * root).T
    columns = t[:, None] if t.ndim == 1 else t
    if pencil is None and columns.shape[1] >= 3 and len(theta) <= 400:  # one decomposition for all columns is faster
        pencil = Pencil(theta, Z, weight)
    found = None if pencil is None else pencil.fits(columns, spread, 0.1 * tol)
    rest = np.zeros(columns.shape[1])
    if len(Z) > len(theta):  # with more labels than features, ‖Zw − t‖² = ‖Rw − Qᵀt‖² + what no w can fit
        Q, Z = sla.qr(Z, mode="economic", check_finite=False)
        fitted = Q.T @ columns
        rest = weight * np.maximum(np.sum(columns**2, axis=0) - np.sum(fitted**2, axis=0), 0.0)
        columns = fitted
    parts = [
        _settled(theta, Z, column, weight, spread, found, k) or _one(theta, Z, column, weight, spread, tol, max_iter)
        for k, column in enumerate(columns.T)
    ]
    names = ("zeta", "kkt", "constraint", "hard", "objective")
    info: dict = {name: np.array([p[1][name] for p in parts]) for name in names}
    gap = float(max(info["kkt"].max(), info["constraint"].max()))
    info["objective"] = info["objective"] + rest
    converged = gap <= max(tol, 1e-7)
    reason = "The secular equation is solved."
    if not converged:
        reason = f"The secular equation has a residual of {gap:.1e}. Bring label_weight and variance nearer to 1."
    if pencil is not None:
        info["pencil"] = pencil
    value = parts[0][0] if t.ndim == 1 else np.stack([p[0] for p in parts], axis=1)
    steps = max(p[1]["n_iter"] for p in parts)
    return Result(value, float(info["objective"].sum()), gap, steps, converged, reason, info=info)


def _settled(
    theta: np.ndarray,
    Z: Rows,
    t: np.ndarray,
    weight: float,
    spread: float,
    found: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
    k: int,
) -> tuple | None:
    """(w, facts) of column k from a pencil. None if rounding, or the hard case, leaves it with a residual."""
    if found is None or not found[2][k]:
        return None
    w, zeta = found[0][:, k], float(found[1][k])
    facts = _residuals(theta, Z, t, weight, spread, zeta, w) | {"zeta": zeta, "hard": False, "n_iter": 1}
    # 1e-9: residual above which a column is solved by itself after all
    return (w, facts) if max(facts["kkt"], facts["constraint"]) <= 1e-9 else None


def _one(theta: np.ndarray, Z: Rows, t: np.ndarray, weight: float, spread: float, tol: float, max_iter: int) -> tuple:
    """(w, facts) for one column of targets, by Newton's method inside a bracket on 1/√φ(ζ), which is concave."""
    lo, hi = -np.inf, _rayleigh(theta, Z, weight)  # φ < spread at lo, and φ > spread or hi ≥ δ at hi
    zeta, below = 0.0, None
    w, hard, n_iter = np.zeros(len(theta)), False, 0
    while n_iter < max_iter:
        n_iter += 1
        system = Shifted(theta, Z, weight, zeta)
        step = np.nan
        if system.definite:
            w = system.labels(t)
            phi = float(theta @ w**2)
            if abs(phi - spread) <= tol * spread:
                break
            if phi < spread:
                lo, below = zeta, (system, w)
            else:
                hi = zeta
            moved = theta * w
            slope = 2.0 * float(moved @ system.solve(moved))
            if slope > 0:
                step = zeta + 2.0 * phi / slope * (1.0 - np.sqrt(phi / spread))
        else:
            hi = zeta
        if below is not None and hi - lo <= 8 * EPS * max(abs(hi), abs(lo)):
            w, hard = _along_eigenvector(theta, *below, spread), True
            zeta = lo
            break
        zeta = step if lo < step < hi else (lo + hi) / 2 if np.isfinite(lo) else hi - max(abs(hi), 1 / theta[0])
    return w, _residuals(theta, Z, t, weight, spread, zeta, w) | {"zeta": zeta, "hard": hard, "n_iter": n_iter}


def _along_eigenvector(theta: np.ndarray, system: "Shifted", w: np.ndarray, spread: float) -> np.ndarray:
    """w plus the multiple of δ's eigenvector that satisfies the constraint, for b almost orthogonal to that vector."""
    x = np.sqrt(theta) + np.linspace(1.0, 0.5, len(theta)) * np.sqrt(theta[0])
    for _ in range(4):  # inverse iteration, which converges at once because the system is singular up to rounding
        x = system.solve(theta * x)
        x /= np.linalg.norm(x)
    x = fix_signs(x[:, None])[:, 0]
    square, cross, short = theta @ x**2, theta @ (x * w), spread - theta @ w**2
    root = np.sqrt(cross**2 + square * short)
    # The two ends are minima of equal height if b is exactly orthogonal. Otherwise the nearer one continues w.
    return w + (root - cross if cross >= 0 else -root - cross) / square * x


def _residuals(
    theta: np.ndarray, Z: Rows, t: np.ndarray, weight: float, spread: float, zeta: float, w: np.ndarray
) -> dict:
    miss = Z @ w - t
    fit = weight * (miss @ Z)
    parts = (w, zeta * theta * w, weight * (Z @ w) @ Z, weight * t @ Z)
    scale = max(float(np.linalg.norm(part)) for part in parts)
    return {
        "kkt": float(np.linalg.norm(w - zeta * theta * w + fit)) / scale if scale > 0 else 0.0,
        "constraint": abs(float(theta @ w**2) - spread) / spread,
        "objective": float(w @ w + weight * miss @ miss),
    }
