"""Semi-KPCA, in which labels steer the first principal components (Alaíz, Fanuel, Suykens 2018, §4)."""

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..geometry.expansion import Expansion
from ..inputs.labels import Labels
from ..solvers.ridge.effect import LabelEffect
from ..solvers.ridge.smoother import (
    Basis,
    Moments,
    basis_of_moments,
    closed_form,
    filtered_weights,
    left_out_path,
    relative,
    shift_filter,
)
from ..solvers.ridge.state import State
from ..solvers.ridge.withheld import MOST, Zeroed
from ..types import ColumnLike, Rows
from .classifier import KernelClassifier
from .parameters import POSITIVE, parameter
from .solution import Solution

REMOVED = StrOptions({"constant"}), Interval(Integral, 0, None, closed="left")


@dataclass(eq=False, repr=False)
class SemiKPCA(KernelClassifier):
    """Classify many unlabeled rows from very few labels, by kernel PCA with a linear pull from the labels.

    .. math:: \\min_w \\tfrac12 \\|w\\|^2 - \\tfrac{\\gamma}{2} \\sum_i (t_i + w \\cdot (\\varphi(x_i) - m))^2

    and t = 0 for unlabeled rows, m the mean of φ(x) over all rows. The minus sign favors large variance over all rows,
    as kernel PCA does, and the labels choose among the directions of large variance. The problem is convex for
    γ < 1/λ₁, with the largest eigenvalue λ₁ of the centered kernel matrix, and has a closed-form solution. Use it for
    very few labels on data in clusters. With many labels `LSSVMClassifier` is better.

    Parameters
    ----------
    n_removed : "constant" or int, default="constant"
        "constant" removes the constant function, by centering the features as above. A number k is the paper's form,
        with m = 0 and w orthogonal to the first k principal components. The paper removes one component, because it
        hardly depends on x. This is not so if the clusters are separated. The first component is then the indicator of
        the largest cluster, and `fit` warns.
    gamma : "middle" or float, default="middle"
        "middle" is the geometric middle of the convexity interval (0.1/λ₁ for n_removed=0), kept 1% away from the
        upper end.

    Attributes
    ----------
    gamma_ : float, the γ that was used.
    convexity_interval_ : (1/λ₁(K), 1/λ₁(HKH)) for "constant" with H = I − 11ᵀ/n, (1/λ_k, 1/λ_{k+1}) for k, (0, 1/λ₁)
        for 0. The problem is convex below the upper end.
    eigenvalues_ : (m,) eigenvalues of the kernel matrix (centered for "constant"), largest first.
    eigenvectors_ : (r, m) their directions in feature space.
    coef_, intercept_, result_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see
        `KernelClassifier`.

    Notes
    -----
    Both forms are Theorem 2 of the paper, in the centered and in the whole feature space. On the 36 rows of the paper's
    Table 2 (nine data sets, 100 draws of labels, γ in the middle) "constant" is more accurate than k = 1 in 25, less in
    6 (mostly sonar) and the same in 5, by 0.7 points in the mean.
    Out-of-sample predictions f(x) = w · (φ(x) − m) are exact. (The paper states that they are not available.)
    With r features a fit costs O(n r²) in one pass and O(r³). Every further γ, labeling or class costs O(r²). It runs
    on NumPy, torch and Dask.

    References
    ----------
    Alaíz, Fanuel, Suykens (2018), Convex formulation for kernel PCA and its use in semi-supervised learning.

    Examples
    --------
    >>> from mercer import SemiKPCA
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> SemiKPCA().fit(X, ["low", None, None, None, None, "high"]).transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    """

    closed_form = True
    path_parameters = ("n_removed", "gamma")
    reported = ("gamma", "convexity_interval", "eigenvalues", "eigenvectors")

    n_removed: int | str = parameter("constant", *REMOVED)
    gamma: str | float = parameter("middle", StrOptions({"middle"}), POSITIVE)

    def fit(self, X: Rows, y: ColumnLike, sample_weight: np.ndarray | None = None) -> Self:
        super().fit(X, y, sample_weight)
        for sentence in self._warnings():
            warnings.warn(sentence, stacklevel=2)
        return self

    def solve(self, state: State, labels: Labels) -> Solution:
        basis, interval, k = spectrum_of(state.moments, self.n_removed)
        gamma = gamma_within(self.gamma, interval, self.n_removed)
        pull = state.pull(labels)
        filter_ = shift_filter(basis.values, gamma, k)
        W, b = filtered_weights(basis, pull, filter_)
        V, left = basis.vectors[:, k:], filter_[k:]
        right = pull.B - np.outer(basis.mean, pull.sum_t)
        gap = relative(V.T @ (W / gamma - state.moments.centered(self.n_removed == "constant") @ W - right), right)

        def withheld():
            return left_out_path(basis, pull, [filter_], removed=False)[0]

        found = {"gamma": gamma, "convexity_interval": interval, "constancy": constancy(state.moments, basis)}
        found["mean"] = basis.mean
        found["one_sided"] = self.n_removed == "constant" and one_sided(withheld(), labels)
        result = closed_form(W, gap, **found, eigenvalues=basis.values, eigenvectors=basis.vectors)
        influence = (lambda: LabelEffect(state.rows - basis.mean, (V * left) @ V.T)) if state.alike else None
        return Solution(W, b, result.warn(), withheld, influence)

    def withheld(self, state: State, labels: Labels) -> Zeroed | None:
        if len(labels.labeled) > MOST:
            return None
        basis, interval, k = spectrum_of(state.moments, self.n_removed)
        pull = state.pull(labels)
        pull = replace(pull, rows=pull.rows - basis.mean)
        gamma = gamma_within(self.gamma, interval, self.n_removed)
        return Zeroed(pull, basis.vectors, shift_filter(basis.values, gamma, k))

    def _silent(self, scores):
        """Whether the score of each row is not beyond twice the bias, because a training row adds to its own score."""
        bias, slack = 2 * self.intercept_, 1e-3 * self.margin_
        return ((np.minimum(bias, 0) - slack <= scores) & (scores <= np.maximum(bias, 0) + slack)).all(axis=1)

    def _warnings(self):
        """Sentences on preconditions that are not true for these rows."""
        low, high = self.convexity_interval_
        k: Any = self.n_removed
        constant = self.result_.info["constancy"]
        if k != "constant" and k > 0 and constant < 0.85:  # 0.90 to 0.997 on the paper's nine data sets
            yield (
                f"n_removed={k} removes the first principal component, which should be nearly constant. Over these "
                f"rows it varies, and its mean explains {constant:.0%} of its squares. With separated clusters it "
                'separates the largest cluster from the others. Use n_removed="constant" or 0.'
            )
        if k != "constant" and k > 0 and low > 0.99 * high:
            yield (
                f"n_removed={k} cuts between two eigenvalues that differ by less than 1% ({1 / low:.6g} and "
                f"{1 / high:.6g}), so which component is removed is arbitrary, as with clusters of the same size. Use "
                'n_removed="constant" or another number.'
            )
        if k == "constant" and self.result_.info["one_sided"]:
            yield (
                "The scores are centered over all rows, but those of the labeled rows are not. The clusters differ so "
                "much in size that rows of the larger one have scores near zero. Check the class of rows with small "
                "scores, or use LSSVMClassifier or LeastSquaresKPCA."
            )

    def gamma_path(self, X: Rows, gammas=None) -> tuple:
        """Decision values for a whole grid of γ from the decomposition of the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training or new rows.
        gammas : list of float, optional
            Values below the upper end of the convexity interval. The default is 50 values, spaced geometrically from a
            tenth of the lower end (for n_removed=0, of the upper end) to 0.999 of the upper end.

        Returns
        -------
        gammas : (m,)
        decisions : (m, n), or (m, n, k) for more than two classes. The results of `decision_function` at each γ.
        """
        check_is_fitted(self)
        low, high = self.convexity_interval_
        if gammas is None:
            gammas = np.geomspace((low or high) / 10, 0.999 * high, 50)
        gammas = np.array([gamma_within(g, (low, high), self.n_removed) for g in gammas])
        k = _dropped(self.n_removed)
        V = self.eigenvectors_[:, k:]
        # c follows from coef_ = V filter(γ_) c with the filter of the fit. Its intercept is −mean · coef_.
        c = (V.T @ self.coef_) * (1.0 / self.gamma_ - self.eigenvalues_[k:])[:, None]
        filters = shift_filter(self.eigenvalues_, gammas, k)[:, k:]
        W = np.einsum("rp,mp,pk->rmk", V, filters, c, optimize=True)
        decisions = Expansion(self.kernel_, None, W.reshape(len(W), -1), self.map_)(self._rows(X, reset=False))
        decisions = decisions.reshape(len(decisions), len(gammas), -1) - self.result_.info["mean"] @ W.reshape(
            len(W), len(gammas), -1
        ).swapaxes(0, 1)
        decisions = np.moveaxis(decisions, 0, 1)
        return gammas, decisions[:, :, 0] if decisions.shape[2] == 1 else decisions

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        grid = {"n_removed": ["constant", 0, 1, 2, 3]} if grid is None else grid
        parameters, scores, pull, interval, n_removed = [], [], state.pull(labels), (0.0, 1.0), self.n_removed
        for n_removed in grid.get("n_removed", [self.n_removed]):
            n_removed = n_removed if n_removed == "constant" else int(n_removed)
            if _dropped(n_removed) >= len(basis_of_moments(state.moments).values):
                continue
            basis, interval, k = spectrum_of(state.moments, n_removed)
            filters = []
            for gamma in grid.get("gamma", spread_of_gamma(interval)):
                if gamma == "middle" or 0 < gamma < interval[1]:
                    parameters.append({"n_removed": n_removed, "gamma": gamma})
                    filters.append(shift_filter(basis.values, gamma_within(gamma, interval, n_removed), k))
            if filters:
                scores.append(left_out_path(basis, pull, filters, removed=False))
        if not scores:
            gamma_within(max(grid["gamma"]), interval, n_removed)  # raises an error with the interval
        return parameters, np.concatenate(scores)


def spectrum_of(moments: Moments, n_removed: int | str) -> tuple:
    """(basis, convexity interval, number of leading components to drop) of rows with these moments."""
    if n_removed != "constant":
        basis, number = basis_of_moments(moments), int(n_removed)
        return basis, convexity_interval(basis.values, number), number
    whole = float(moments.eigen(False)[0][0])
    basis = basis_of_moments(moments, bias=True)
    rounding = 4 * float(np.finfo(float).eps) * len(moments.G)  # size of a constant function after centering
    rank = int(np.sum(basis.values > rounding * whole))
    if rank == 0:
        raise InputError(
            "Every row has the same features, so no function of them varies. Check the rows and the kernel's width."
        )
    values, vectors = basis.values[:rank], basis.vectors[:, :rank]
    basis = replace(basis, values=values, vectors=vectors, bias=False)  # relative to the mean, without a constant
    return basis, (1.0 / whole, 1.0 / float(values[0])), 0


def constancy(moments: Moments, basis: Basis) -> float:
    """Fraction of the first component's squares that its mean explains, which is 1 for a constant one."""
    along = float(moments.mean @ basis.vectors[:, 0])
    return moments.total * along**2 / float(basis.values[0])


def one_sided(left_out: np.ndarray, labels: Labels) -> bool:
    """Whether the held-out scores of two classes are clearly not on different sides of zero.

    >>> from mercer.inputs.labels import read_labels
    >>> labels = read_labels([0, 0, 0, 1, 1, 1], None)
    >>> one_sided(np.array([[-1.0], [-1.1], [-0.9], [6.0], [5.5], [6.5]]), labels)
    True
    """
    if left_out.shape[1] != 1 or min(labels.counts()) < 2:
        return False
    codes = labels.codes[labels.labeled]
    low, high = (left_out[codes == c, 0][np.isfinite(left_out[codes == c, 0])] for c in (0, 1))
    if min(len(low), len(high)) < 2:
        return False
    middle, half = (high.mean() + low.mean()) / 2, (high.mean() - low.mean()) / 2
    error = np.sqrt(np.var(low, ddof=1) / len(low) + np.var(high, ddof=1) / len(high)) / 2
    return bool(half > 0 and abs(middle) > 0.4 * half and abs(middle) > 3 * error)


def _dropped(n_removed: int | str) -> int:
    return 0 if n_removed == "constant" else int(n_removed)


def convexity_interval(values: np.ndarray, n_removed: int) -> tuple[float, float]:
    """(1/λ_k, 1/λ_{k+1}) for descending eigenvalues. The lower end is 0 for k = 0.

    >>> convexity_interval(np.array([4.0, 2.0, 1.0]), 1)
    (0.25, 0.5)
    """
    if n_removed >= len(values):
        raise InputError(
            f"n_removed={n_removed} leaves nothing, as the kernel matrix has rank {len(values)}. "
            f"Use 0 to {len(values) - 1}, or give more distinct rows or a richer kernel."
        )
    return (1.0 / float(values[n_removed - 1]) if n_removed else 0.0), 1.0 / float(values[n_removed])


def gamma_within(gamma: float | str, interval: tuple[float, float], n_removed: int | str) -> float:
    """γ as a number. It is refused if the problem is not convex."""
    low, high = interval
    if isinstance(gamma, str):
        return min(np.sqrt(low * high), 0.99 * high) if low else 0.1 * high
    if not 0 < gamma < high:
        raise InputError(
            f"gamma={gamma:.6g} makes the problem unbounded. With n_removed={n_removed!r} it is convex for "
            f"0 < gamma < {high:.6g}, and the convexity interval is ({low:.6g}, {high:.6g}). "
            'Use a gamma within it, gamma="middle", or a larger n_removed.'
        )
    return float(gamma)


def spread_of_gamma(interval: tuple[float, float]) -> list:
    """The default candidates for γ: "middle", and eight more from 0.1 of the lower end to 0.999 of the upper one."""
    low, high = interval
    return ["middle", *np.geomspace((low or high) / 10, 0.999 * high, 8).tolist()]
