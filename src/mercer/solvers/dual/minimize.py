"""Kernel PCA by duality, min f*(H) − Tr (HᵀGH)^{1/2} over n × s matrices H.

G is the centered kernel matrix, any object with ``shape`` and ``@``. The loss f acts on the scores P (one row per
sample), and f* = ½‖·‖² + ε‖·‖ + indicator{‖·‖ ≤ κ}. This is the square loss (ε = 0, κ = ∞), the Huber loss (κ), the
ε-insensitive loss (ε), or both. ``norm="row"`` measures each row of H by its 2-norm, ``norm="element"`` each entry by
itself. f* adds up the penalties ε and bounds each size by κ. With ``location=True`` the loss is taken about the best
point, min_c f(P − 1cᵀ), and f* gains the constraint 1ᵀH = 0. Outliers then do not move the center, and new points need
no mean over all samples.

The solver is based on two facts. π(H) = Tr (HᵀGH)^{1/2} is the nuclear norm of G^{1/2}H, and its gradient
P(H) = G H (HᵀGH)^{-1/2} contains the scores of the samples on the orthonormal components that H spans. The DC step
H ← prox(P(H)) is a proximal gradient step of length one. Its forward-backward envelope is the primal value −f(P(H)),
which is smooth and finite for every H, so that a quasi-Newton step is safe whenever it lowers that value.

References
----------
Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization, ICML.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sla

from ...errors import InputError
from ...linalg import eigh_down, sign_rows
from ..result import Result
from .descent import EPS, Root, check_definite, descent, together
from .loss import Loss

TRIES = 220  # for norm="element" or an epsilon. Not behind 20 random starts of plain DCA, see results/celanie.md


@dataclass
class Components:
    """The s components a dual variable represents, ordered and uncorrelated.

    The scores of a point x are g(x)ᵀA with g(x) its centered kernel values. With ``norm="row"`` the problem does not
    change when the columns of H are rotated, and H and P are in the basis of the components.
    """

    coef: np.ndarray  # n × r matrix A, AᵀGA = I
    scores: np.ndarray  # n × r, the scores of the samples themselves, G A less `center`
    P: np.ndarray  # n × s, the same scores in the basis of H, with H = prox(P) at a stationary point
    values: np.ndarray  # r sums of squares of the scores as the loss weighs them, PᵀH = (HᵀGH)^{1/2}, descending
    center: np.ndarray  # r, the location of the loss, zero when it has none
    H: np.ndarray  # n × s dual variable


def sketch(G, width, n_power=2, random_state=None, eps=EPS):
    """(H, G H) with H = V √λ for the leading `width` components, in order, computed from a random block.

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
    check_definite(values[-1], values[0])
    seen = values > eps * n * values[0]  # the sign of a column of rounding is arbitrary
    values, vectors = values[seen], vectors[:, seen]
    return Q @ (vectors * np.sqrt(values)), GQ @ (vectors * np.sqrt(values))


def minimize(
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
    """Minimize f*(H) − Tr (HᵀGH)^{1/2}. The value −f(P(H)) never rises.

    ``method="dca"`` repeats H ← prox(P(H)). ``method="lbfgs"`` moves along the quasi-Newton direction from the last
    ten residuals, shortened until −f(P) falls. If that fails, it takes the DC step. It finds the same stationary points
    with a third to a tenth of the products. An iteration takes one product with G, since G (H + tD) = G H + t G D.

    The problem is not convex. Losses other than the square one start twice when `start` is None, from the leading
    components and from those components of a wider sketch for which f is largest. (Outliers in a clump are a leading
    component for which f is small.) ``norm="element"`` depends on the axes, and rows that vanish stay at zero. Both
    ``norm="element"`` and an epsilon therefore have many more stationary points, and they also start from random
    matrices. All starts take ten steps. The better quarter goes down to a residual of 1%, the best eight to `tol`. Then
    the best one is kicked again and again. A kick turns its columns (not for "row"), or draws one of them again. The
    search ends if the eight agree on the value and the first eleven kicks find no lower one. Otherwise the kicks go on
    until half of `n_init` in a row gained nothing. Descents run at the same time, with one product with G for all.

    Parameters
    ----------
    G : n × n positive semi-definite, centered by the caller. Anything with shape and ``@``.
    loss : Loss, the square loss by default.
    start : (H, G H) or None. With more than n_components columns it is the wider sketch.
    eps : relative precision of the products with G.
    n_init : number of tries. None means 2, or `TRIES` for ``norm="element"`` or an epsilon, of which 55% are kicks. The
        square loss needs 1.

    Returns a `Result` with `Components` as value. gap is ‖H − prox(P(H))‖ / ‖H‖, zero exactly at the stationary points.
    history is −f(P(H)). Info has "rank" (less than n_components if components vanished) and "duality_gap", the relative
    difference between the dual value and the primal one.
    """
    loss = loss or Loss()
    if method not in ("lbfgs", "dca"):
        raise InputError(f"Unknown method={method!r}. Use 'lbfgs' or 'dca'.")
    if start is None:
        start = sketch(G, sketch_width(n_components, loss), random_state=random_state, eps=eps)
    wide = start[0].shape[1] > n_components
    many = loss.norm == "element" or loss.epsilon > 0
    n_init = n_init or (TRIES if many else 2)
    # 0.55: fraction of them that start from the best one so far, turned or with a new column
    kicks = int(0.55 * n_init) if wide and many else 0
    starts = first_guesses(G, start, n_components, loss, n_init - kicks if wide else 1)
    memory = 10 if method == "lbfgs" else 0  # residuals that L-BFGS remembers
    search = _Search(G, loss, tol, max_iter, memory, eps)
    ends = search.from_starts(starts, wide)
    if kicks and ends[0][0].H.any():
        ends = search.from_kicks(ends, kicks)
    point, history = ends[0]
    return _result(point, history, search.products, loss, n_components, tol)


class _Search:
    """Descents of one problem, and the products with G that they took. Each ends with (point, history)."""

    rough = 1e-2  # residual to which the better starts and the kicks go
    finalists = 8  # starts that go to the end
    same = 1e-6  # relative difference of values that count as equal

    def __init__(self, G: np.ndarray, loss: Loss, tol: float, max_iter: int, memory: int, eps: float) -> None:
        self.G, self.loss, self.tol, self.max_iter, self.how, self.products = G, loss, tol, max_iter, (memory, eps), 0

    def run(self, descents: list) -> list:
        """Their ends, the lowest value first."""
        ends, used = together(self.G, descents)
        self.products += used
        return sorted(ends, key=lambda end: end[1][-1])

    def descent(self, H, GH=None, rough=0.0, most=None, stages=()):
        """Generator of a descent from H, through easier losses first."""
        if GH is None:
            GH = yield H
        for easier in stages:
            point, _ = yield from descent(H, GH, easier, 1e-2, 20, *self.how)
            H, GH = point.H, point.GH
        return (yield from descent(H, GH, self.loss, max(rough, self.tol), most or self.max_iter, *self.how))

    def to_the_end(self, ends: list) -> list:
        return self.run([self.descent(point.H, point.GH) for point, _ in ends])

    def from_starts(self, starts, staged):
        """The ends of the finalists."""
        many = len(starts) > self.finalists
        first = {"rough": self.rough, "most": 10} if many else {}
        ends = self.run(
            [
                self.descent(H, GH, **first, stages=_stages(self.loss, H) if staged and own else ())
                for H, GH, own in starts
            ]
        )
        if not many:
            return ends
        ends = self.run([self.descent(p.H, p.GH, self.rough) for p, _ in ends[: max(len(ends) // 4, 1)]])
        return self.to_the_end(ends[: self.finalists])

    def from_kicks(self, ends: list, kicks: int) -> list:
        """The ends after so many kicks in a row that gained nothing, or after one round if the problem is easy.

        It is easy if all finalists, and none of the kicks of the first round, found the same value. There are at most
        four times as many kicks.
        """
        value, rng, number, last = ends[0][1][-1], np.random.default_rng(0), 0, kicks
        easy = len(ends) == self.finalists and ends[-1][1][-1] <= value + self.same * abs(value)
        while number < last:
            tried = range(number, min(number + 11, last))  # a round of 11 kicks of the same matrix
            kicked = [_kicked(ends[0][0].H, i, rng, self.loss.norm) for i in tried]
            new = self.run([self.descent(H, rough=self.rough) for H in kicked])
            # 5e-3: relative distance from the best value within which a kicked one goes to the end
            new = self.to_the_end([end for end in new if end[1][-1] < value + 5e-3 * abs(value)])
            number += len(tried)
            if new and new[0][1][-1] < value:
                if new[0][1][-1] < value - self.same * abs(value):
                    easy, last = False, min(number + kicks, 4 * kicks)
                ends, value = new, new[0][1][-1]
            if easy:
                break
        return ends


def sketch_width(n_components, loss):
    """Columns of the sketch to start from. The square loss needs no more than it returns."""
    return n_components if loss.square else 2 * n_components + 10


def first_guesses(G, wide, n_components, loss, n_init):
    """[(H, G H, staged)] for the leading columns of the sketch, those for which f is largest, then random ones.

    Half of the random starts are combinations of the sketch's columns. The others are any H, without easier losses
    first.
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
            starts.append((any_, None, False))
        else:
            turn = np.linalg.qr(rng.standard_normal((H.shape[1], len(leading))))[0]
            starts.append((H @ turn, GH @ turn, True))
    return starts


def _kicked(H, number, rng, norm):
    """H with its columns turned into each other (no change for norm="row"), or with one of them drawn again."""
    n, s = H.shape
    if number % 2 == 0 and norm == "element":
        return H @ np.linalg.qr(np.eye(s) + rng.uniform(0.1, 1.2) * rng.standard_normal((s, s)))[0]
    new = H.copy()
    new[:, rng.integers(s)] = rng.standard_normal(n) * np.linalg.norm(H) / np.sqrt(n * s)
    return new


def _stages(loss: Loss, scores: np.ndarray) -> Iterator:
    """Smaller epsilons on the way to the wanted one, which would set the whole start to zero if it came first."""
    if loss.epsilon == 0:
        return
    epsilon = max(float(np.median(loss.size(scores))), loss.epsilon / 4)
    while 0 < epsilon < loss.epsilon:
        yield replace(loss, epsilon=epsilon)
        epsilon *= 1.25


def _result(point, history: list, n_iter: int, loss: Loss, wanted: int, tol: float) -> Result:
    """The `Result` with ordered uncorrelated components."""
    H, GH, root = point.H, point.GH, point.root
    if not point.image.any():  # everything is below ε, so that the iteration goes to H = 0
        H = GH = np.zeros_like(H)
        root = Root(H, GH)
    dual = loss.conjugate(H) - float(root.sigma.sum())
    turn, values = np.eye(root.rank), root.sigma
    scores = GH @ root.inverse - point.center @ root.basis
    if loss.square:  # Rayleigh-Ritz is second-order accurate before convergence
        values, turn = eigh_down(scores.T @ scores)
    turn = turn * sign_rows(scores @ turn)
    scores, coef = scores @ turn, H @ (root.inverse @ turn)
    to_basis = root.basis @ turn
    H, P = (H @ to_basis, scores) if loss.norm == "row" else (H, scores @ to_basis.T)
    found = Components(coef, scores, P, values, point.center @ to_basis, H)
    gap, rank = point.gap if root.rank else 0.0, root.rank
    converged = gap <= tol
    reason = f"The residual {gap:.1e} is {'below' if converged else 'above'} tol={tol:.1e} after {n_iter} products."
    if not converged:
        reason += " Raise max_iter or tol. Components with nearly equal eigenvalues need many iterations."
    if rank < wanted:
        reason += f" Only {rank} of the {wanted} components are left. G has a smaller rank, or epsilon is too large."
    info = {"rank": rank, "duality_gap": (dual - point.value) / abs(point.value) if point.value else 0.0}
    return Result(found, dual, gap, max(n_iter, 1), converged, reason, history, info)
