"""Least squares on features in closed form, with fits linear in the labels and their held-out predictions.

A fit that is linear in its targets, f = S t, has every held-out prediction without refitting. A row whose label is held
out is either removed or kept with target 0:

* "removed" (LS-SVM and RLSC on the labeled rows) predicts  t_i - (t_i - f_i) / (1 - S_ii).
* "zeroed" (LS-SVM on all rows, Semi-KPCA) predicts  f_i - S_ii t_i.

Only the diagonal of S at the labeled rows is needed, and in an eigenbasis of ZᵀZ it is known for a whole path of
regularizations. Few labels need only their own rows. With more than `MOST` labels, the fit uses moments from one pass
over Z, and held-out predictions are computed for `MOST` of the labels.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg as sla
from scipy.linalg import lapack

from ...linalg import eigh_down, rank_of, safe_cholesky
from ...rows import gram, mass, take, tdot
from ...types import Rows
from ..result import Result

MOST = 4096  # labeled rows that are copied to the host, and held-out predictions
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Moments:
    """Sums from one pass over rows, G = Zᵀ diag(s) Z, mean = Zᵀ s / total and total = Σ s."""

    G: np.ndarray
    mean: np.ndarray
    total: float
    _pairs: dict = field(default_factory=dict, init=False, repr=False, compare=False)

    def centered(self, bias: bool) -> np.ndarray:
        """G about the mean if there is a bias to absorb it, else G."""
        return self.G - self.total * np.outer(self.mean, self.mean) if bias else self.G

    def eigen(self, center: bool) -> tuple[np.ndarray, np.ndarray]:
        """All eigenpairs of `centered`, largest first, from one r × r decomposition in O(r³), which is kept."""
        if center not in self._pairs:
            self._pairs[center] = eigh_down(self.centered(center))
        return self._pairs[center]


@dataclass(frozen=True)
class Basis:
    """Eigenpairs of Zᵀ diag(s) Z (about `mean` when there is a bias), largest first, rounding noise cut off."""

    values: np.ndarray
    vectors: np.ndarray
    mean: np.ndarray
    total: float
    bias: bool = False


@dataclass(frozen=True)
class Pull:
    """The contribution of the l labeled rows to a fit. Held-out predictions are for l' of them."""

    rows: np.ndarray  # (l', r) features
    T: np.ndarray  # (l', k) targets
    s: np.ndarray  # (l',) weights
    B: np.ndarray  # (r, k) Σ s z t over all l rows
    sum_t: np.ndarray  # (k,) Σ s t
    tested: np.ndarray | None  # (l',) which of the labeled rows those are, or None when l' = l
    n_labels: int  # l

    def spread(self, predictions: np.ndarray) -> np.ndarray:
        """Predictions (..., l', k) as (..., l, k), with NaN for the rows without one."""
        if self.tested is None:
            return predictions
        out = np.full(predictions.shape[:-2] + (self.n_labels, predictions.shape[-1]), np.nan)
        out[..., self.tested, :] = predictions
        return out


def moments_of(Z: Rows, weight: np.ndarray | None = None) -> "Moments":
    """Moments of a tall matrix on any device, in one pass."""
    total = mass(Z, weight)
    G, sums = gram(Z, weight, sums=True)
    return Moments(G, sums / total, total)


def pull_of(
    Z: Rows, labeled: np.ndarray, T: np.ndarray, weight: np.ndarray | None = None, most: int | None = None
) -> "Pull":
    """The pull of the labeled rows, from their positions, targets T (l, k), and a weight for every row of Z."""
    most = MOST if most is None else most
    l = len(labeled)
    s = np.ones(l) if weight is None else weight[labeled]
    if l <= most:
        rows = take(Z, labeled)
        return Pull(rows, T, s, rows.T @ (s[:, None] * T), s @ T, None, l)
    target = np.zeros((Z.shape[0], T.shape[1]))
    target[labeled] = s[:, None] * T
    tested = np.sort(np.random.default_rng(0).choice(l, most, replace=False))
    return Pull(take(Z, labeled[tested]), T[tested], s[tested], tdot(Z, target), s @ T, tested, l)


def basis_of_moments(moments: "Moments", bias: bool = False) -> "Basis":
    """The eigenbasis of the rows behind the moments."""
    values, vectors = moments.eigen(bias)
    rank = rank_of(values, _EPS)
    return Basis(values[:rank], vectors[:, :rank], _mean_if(bias, moments.mean), moments.total, bias)


def basis_of_rows(rows: np.ndarray, s: np.ndarray, bias: bool = False) -> "Basis":
    """The eigenbasis of a few rows with weights s, by a thin SVD in O(l r min(l, r))."""
    mean = _mean_if(bias, s @ rows / s.sum())
    _, sigma, Vt = sla.svd(np.sqrt(s)[:, None] * (rows - mean), full_matrices=False, check_finite=False)
    rank = rank_of(sigma, _EPS, max(rows.shape))
    return Basis(sigma[:rank] ** 2, Vt[:rank].T, mean, float(s.sum()), bias)


def basis_of_labeled(
    Z: Rows, labeled: np.ndarray, pull: "Pull", weight: np.ndarray | None = None, bias: bool = False
) -> "Basis":
    """The eigenbasis of the labeled rows only."""
    if pull.tested is None:
        return basis_of_rows(pull.rows, pull.s, bias)
    return basis_of_moments(moments_of(Z, _only(labeled, weight, Z.shape[0])), bias)


def ridge_filter(values: np.ndarray, penalty: np.ndarray | float) -> np.ndarray:
    """1 / (penalty + λ), one row per penalty."""
    return 1.0 / (np.asarray(penalty, dtype=float)[..., None] + values)


def shift_filter(values, gamma, n_removed):
    """1 / (1/γ - λ) beyond the first n_removed eigenvalues and 0 on those. Semi-KPCA is convex for γ < 1/λ_{k+1}."""
    gap = 1.0 / np.asarray(gamma, dtype=float)[..., None] - values
    gap[..., :n_removed] = np.inf  # before dividing: 1/γ may equal a removed eigenvalue
    return 1.0 / gap


def filtered_weights(basis: "Basis", pull: "Pull", filter_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(W, b) with W = V diag(filter) Vᵀ Σ s z t. b is 0 without a bias."""
    middle = _middle(basis.bias, pull, basis.total)
    W = basis.vectors @ (filter_[:, None] * (basis.vectors.T @ _about(pull, basis.mean)))
    return W, middle - basis.mean @ W


def left_out_path(basis: "Basis", pull: "Pull", filters, removed: bool) -> np.ndarray:
    """(m, l, k) predictions for each labeled row with its own label held out, for m filters on one eigenbasis.

    filters is a sequence of m filters of shape (p,), or (l', p) if the fit without row i has a filter of its own.
    The cost is O(m l' p k).
    """
    middle = _middle(basis.bias, pull, basis.total)
    Q = (pull.rows - basis.mean) @ basis.vectors
    C = basis.vectors.T @ _about(pull, basis.mean)
    constant = pull.s / basis.total if basis.bias else 0.0
    out = []
    for filter_ in filters:
        shrunk = Q * filter_
        diagonal = pull.s * np.sum(shrunk * Q, axis=1) + constant
        out.append(_withhold(pull.T, shrunk @ C + middle, diagonal, 1.0 - diagonal, removed))
    return pull.spread(np.array(out))


def ridge_on_labeled(Z, labeled, pull, penalty, weight=None, bias=False):
    """Minimize penalty·‖w‖² + Σ_i s_i (t_i - z_i·w - b)² over the labeled rows, for every column of T.

    Returns a `Result` with value (W, b). The gap is the relative residual of the normal equations. info["left_out"]
    contains the (l, k) predictions for each row by the fit without it. The cost is O(l r min(l, r)), or one pass over Z
    if l is large.
    """
    if pull.tested is not None or len(pull.rows) > pull.rows.shape[1]:
        if pull.tested is None:
            moments = moments_of(pull.rows, pull.s)
        else:
            moments = moments_of(Z, _only(labeled, weight, Z.shape[0]))
        return ridge_on_moments(moments, pull, penalty, bias, removed=True)
    s, total = pull.s, pull.s.sum()
    mean = _mean_if(bias, s @ pull.rows / total)
    middle = _middle(bias, pull, total)
    root = np.sqrt(s)[:, None]
    A, Y = root * (pull.rows - mean), root * (pull.T - middle)
    L, _ = safe_cholesky(A @ A.T + penalty * np.eye(len(A)))
    W = A.T @ sla.cho_solve((L, True), Y, check_finite=False)
    half = lapack.dtrtri(L, lower=1)[0]  # a third of the work of solving for the identity
    slack = penalty * np.sum(half**2, axis=0) - (s / total if bias else 0.0)  # 1 - S_ii without cancellation
    left_out = _withhold(pull.T, (pull.rows - mean) @ W + middle, 1.0 - slack, slack, removed=True)
    gap = relative(A.T @ (A @ W - Y) + penalty * W, A.T @ Y)
    return closed_form((W, middle - mean @ W), gap, left_out=left_out)


def ridge_removed(
    rows: np.ndarray, T: np.ndarray, penalty: float, weight: np.ndarray | None = None, bias: bool = False
) -> Result:
    """`ridge_on_labeled` for rows on the host that are all labeled."""
    everything = np.arange(len(rows))
    return ridge_on_labeled(rows, everything, pull_of(rows, everything, T, weight, len(rows)), penalty, weight, bias)


def ridge_on_moments(
    moments: "Moments", pull: "Pull", penalty: float, bias: bool = False, removed: bool = False
) -> Result:
    """`ridge_on_labeled` over the rows of the moments, with t_i = 0 for those without a label, in O(r³/3).

    With the moments of all rows a held-out label becomes 0 (removed=False). With those of the labeled rows only, the
    row is removed.
    """
    mean = _mean_if(bias, moments.mean)
    middle = _middle(bias, pull, moments.total)
    M = moments.centered(bias) + penalty * np.eye(len(moments.G))
    L, _ = safe_cholesky(M)
    B = _about(pull, mean)
    W = sla.cho_solve((L, True), B, check_finite=False)
    half = sla.solve_triangular(L, (pull.rows - mean).T, lower=True, check_finite=False)
    diagonal = pull.s * np.sum(half**2, axis=0) + (pull.s / moments.total if bias else 0.0)
    left_out = _withhold(pull.T, (pull.rows - mean) @ W + middle, diagonal, 1.0 - diagonal, removed)
    return closed_form((W, middle - mean @ W), relative(M @ W - B, B), left_out=pull.spread(left_out))


def _only(labeled, weight, n):
    """Weights that are 0 outside the labeled rows."""
    out = np.zeros(n)
    out[labeled] = 1.0 if weight is None else weight[labeled]
    return out


def _about(pull: "Pull", mean: np.ndarray) -> np.ndarray:
    """Σ s (z - mean) t. The mean of t need not be subtracted, since Σ s (z - mean) = 0 over the rows it averages."""
    return pull.B - np.outer(mean, pull.sum_t)


def _middle(bias: bool, pull: "Pull", total: float) -> np.ndarray:
    """The mean target, for a bias to absorb."""
    return pull.sum_t / total if bias else np.zeros_like(pull.sum_t)


def _withhold(T: np.ndarray, fitted: np.ndarray, diagonal: np.ndarray, slack: np.ndarray, removed: bool) -> np.ndarray:
    if not removed:
        return fitted - diagonal[:, None] * T
    # A row that determines its own prediction has 1 - S_ii = 0 up to rounding.
    return T - (T - fitted) / np.maximum(slack, _EPS)[:, None]


def _mean_if(bias: bool, mean: np.ndarray) -> np.ndarray:
    return mean if bias else np.zeros_like(mean)


def relative(residual: np.ndarray, right_side: np.ndarray) -> float:
    """Size of a residual in units of the right-hand side."""
    scale = np.linalg.norm(right_side)
    return float(np.linalg.norm(residual) / scale) if scale > 0 else float(np.linalg.norm(residual))


def closed_form(value, gap, **info):
    """The `Result` of a closed form with a relative residual of `gap`."""
    solved = gap < 1e-6
    reason = "Solved in closed form." if solved else (
        f"The normal equations are solved only to a relative residual of {gap:.1e}. The regularization is too weak for "
        "the conditioning of the kernel matrix. Use a smaller gamma (a larger lam)."
    )  # fmt: skip
    return Result(value, gap=gap, converged=solved, reason=reason, info=info)
