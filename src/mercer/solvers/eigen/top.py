"""The largest eigenpairs of a symmetric operator, by six methods with one interface, each with certified residuals.

``top(A, s)`` returns a `Result` whose value is (values, vectors), largest first, signs fixed, and whose
``info["residuals"]`` are ‖A v − λ v‖ / λ₁, computed from products with A and not from a recurrence. ``n_iter`` counts
the products with A that the method made on its way, one for a block of columns.

========== ============================================= ==========================================
method     what it does                                  when it wins
========== ============================================= ==========================================
full       LAPACK on the dense matrix                    s near n, or n ≤ 500
krylov     block Krylov, deflated, stops on the residual most cases
lanczos    ARPACK                                        few components, products cheap next to n·s
randomized range finder with power iterations            a quick look (fixed number of products)
lobpcg     SciPy's LOBPCG                                a good start is known
dual       L-BFGS on the dual problem (see `dual`)       two or three components of n ≥ 1000 (by a few percent)
========== ============================================= ==========================================
"""

import warnings

import numpy as np
import scipy.linalg as sla
import scipy.sparse.linalg as ssl

from ...backend import blas_threads
from ...errors import InputError
from ...geometry.operators import DenseOperator
from ...linalg import eigh_down, fix_signs
from ...types import Rows
from ..dual import minimize as dual
from ..result import Result
from .krylov import krylov

LANCZOS_ROWS = 2000  # below this products are cheap, and the method that needs the fewest columns is the fastest


def top(
    A: Rows,
    n_components: int,
    method: str = "auto",
    tol: float = 0.0,
    max_iter: int | None = None,
    seed: int = 0,
    start: np.ndarray | None = None,
) -> Result:
    """Largest n_components eigenpairs of a symmetric operator.

    Parameters
    ----------
    A : an `Operator` or a matrix. "full" needs `dense()`, the others products only.
    n_components : number of pairs s.
    method : "auto", "full", "krylov", "lanczos", "randomized", "lobpcg" or "dual".
    tol : largest accepted ‖A v − λ v‖ / λ₁. 0 means 1e-9.
    max_iter : most products with a block (krylov, randomized, lobpcg) or restarts (lanczos). None chooses.
    start : n × k guess of the space (krylov, lobpcg).
    """
    A = DenseOperator(np.asarray(A, dtype=np.float64)) if isinstance(A, np.ndarray) else A
    n = A.shape[0]
    if not 1 <= n_components <= n:
        raise InputError(f"{n_components} eigenpairs of a matrix of {n} rows were requested. Accepted: 1 to {n}.")
    if method == "auto":
        method = choose(n, n_components)
    if method not in METHODS:
        raise InputError(f"eigen_solver={method!r} is not known. Accepted: auto, {', '.join(METHODS)}.")
    if method in ("lanczos", "lobpcg", "dual") and n_components > (n - 1 if method == "lanczos" else n // 5):
        method = "full"  # none of them can give that many
    accept = tol if tol > 0 else 1e-9
    values, vectors, products, n_iter, history = METHODS[method](A, n_components, accept, max_iter, seed, start)
    residuals = _residuals(values, vectors, products)
    gap = float(residuals.max(initial=0.0))
    limit = float(A.noise) / max(float(np.abs(values).max()), float(np.finfo(np.float64).tiny))
    converged = gap <= max(accept, 1e-12 * np.sqrt(n), limit)
    reason = f"{method}: largest residual {gap:.1e} after {n_iter} product(s) with the matrix."
    if not converged:
        reason = (
            f"The eigen-solver {method!r} stopped after {n_iter} product(s) with the matrix at a residual of "
            f"{gap:.1e}, above {accept:.1e}. Raise max_iter or tol, or use eigen_solver='krylov'."
        )
    if method == "randomized":
        converged = True  # a fixed amount of work, with a residual that is reported but not guaranteed
    info = {"residuals": residuals, "method": method}
    return Result((values, fix_signs(vectors)), None, gap, max(1, n_iter), converged, reason, history, info)


def choose(n: int, n_components: int, halved: bool = False) -> str:
    """The method that "auto" takes, which is the fastest at equal error in benchmarks/results/celanie.md.

    halved : products with one vector take half of the time that their fraction of a block takes, as they do for a
        stored kernel matrix in one thread.
    """
    # 500: below this LAPACK is faster than any iteration
    if n <= 500 or n_components > n // 4:
        return "full"
    # 40: up to here Lanczos is also the fastest if a product with one vector reads half of the matrix
    return "lanczos" if n < LANCZOS_ROWS or (halved and n_components <= 40) else "krylov"


def _residuals(values: np.ndarray, vectors: np.ndarray, products: np.ndarray) -> np.ndarray:
    scale = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
    return np.linalg.norm(products - vectors * values, axis=0) / scale


def _full(A, s, tol, max_iter, seed, start):
    K = A.dense()
    values, vectors = eigh_down(K, s)
    return values, vectors, K @ vectors, 1, []


def _lanczos(A, s, tol, max_iter, seed, start):
    operator, first = _Counted(A), np.random.default_rng(seed).uniform(-1, 1, A.shape[0])
    try:
        with blas_threads(1):  # for short vectors threads would wait for each other most of the time
            values, vectors = ssl.eigsh(operator, s, which="LA", tol=min(tol, 1e-2), maxiter=max_iter, v0=first)
    except ssl.ArpackError:  # not within max_iter, or a matrix that annihilates the start. Krylov finds s pairs.
        values, vectors, products, steps, history = krylov(A, s, tol, max_iter, seed)
        return values, vectors, products, operator.n_products + steps, history
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    return values, vectors, A @ vectors, operator.n_products, []


class _Counted(ssl.LinearOperator):
    """An operator for SciPy that counts its products, because SciPy does not report their number."""

    def __init__(self, A: np.ndarray) -> None:
        super().__init__(np.dtype(np.float64), A.shape)
        self.A, self.n_products = A, 0

    def _matvec(self, v: np.ndarray) -> np.ndarray:
        return self._matmat(v.ravel())

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        self.n_products += 1
        return self.A @ V


def _randomized(
    A: np.ndarray, s: int, tol: float, max_iter: int, seed: int, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, list]:
    n = A.shape[0]
    rounds = max_iter if max_iter is not None else (7 if s < 0.1 * n else 4)
    Q = np.random.default_rng(seed).standard_normal((n, min(s + 10, n)))
    for _ in range(max(rounds, 1)):
        Q = sla.qr(A @ Q, mode="economic", check_finite=False)[0]
    product = A @ Q
    values, Y = eigh_down(Q.T @ product)
    return values[:s], Q @ Y[:, :s], product @ Y[:, :s], max(rounds, 1), []


def _lobpcg(
    A: np.ndarray, s: int, tol: float, max_iter: int | None, seed: int, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, list]:
    guess = np.random.default_rng(seed).standard_normal((A.shape[0], s))
    if start is not None:
        guess[:, : min(start.shape[1], s)] = start[:, :s]
    operator = _Counted(A)
    guess = sla.qr(A @ guess, mode="economic")[0]
    scale = float(np.linalg.norm(A @ guess[:, :1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the residual shows whether it converged
        values, vectors = ssl.lobpcg(operator, guess, largest=True, tol=tol * scale, maxiter=max_iter or 200)
    order = np.argsort(-values)
    values, vectors = values[order], vectors[:, order]
    products, steps = A @ vectors, operator.n_products
    if _residuals(values, vectors, products).max() > tol and max_iter is None:
        # It stalls on clustered or vanishing eigenvalues. Krylov continues from its vectors.
        values, vectors, products, more, _ = krylov(A, s, tol, None, seed, vectors)
        steps += more
    return values, vectors, products, steps, []


def _dual(A, s, tol, max_iter, seed, start):
    """Eigenvectors as minimizers of ½‖H‖² − Tr (HᵀAH)^{1/2}. Pairs beyond the rank of A are filled up with zeros."""
    result = dual.minimize(A, s, tol=tol / np.sqrt(s), max_iter=max_iter or 1000, random_state=seed)
    length = np.linalg.norm(result.value.coef, axis=0)
    values, vectors, products = result.value.values, result.value.coef / length, result.value.scores / length
    if len(values) < s:
        more = np.random.default_rng(seed).standard_normal((A.shape[0], s - len(values)))
        more = sla.qr(np.hstack([vectors, more]), mode="economic", check_finite=False)[0][:, len(values) :]
        values, vectors = np.append(values, np.zeros(more.shape[1])), np.hstack([vectors, more])
        products = np.hstack([products, A @ more])
    return values, vectors, products, result.n_iter, result.history


METHODS = {"full": _full, "krylov": krylov, "lanczos": _lanczos, "randomized": _randomized}
METHODS |= {"lobpcg": _lobpcg, "dual": _dual}
