"""Semi-KPCA: labels steer the first principal components that matter (Alaíz, Fanuel, Suykens 2018, §4)."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..geometry.expansion import Expansion
from ..inputs.labels import Labels
from ..solvers.ridge.effect import LabelEffect
from ..solvers.ridge.smoother import (
    basis_of_moments,
    closed_form,
    filtered_weights,
    left_out_path,
    relative,
    shift_filter,
)
from ..solvers.ridge.state import State
from ..solvers.ridge.withheld import MOST, Zeroed
from .classifier import KernelClassifier
from .parameters import POSITIVE, parameter
from .solution import Solution


@dataclass(eq=False, repr=False)
class SemiKPCA(KernelClassifier):
    """Classify many unlabelled rows from very few labels, by kernel PCA with a linear pull from the labels.

    .. math:: \\min_w \\tfrac12 \\|w\\|^2 - \\tfrac{\\gamma}{2} \\sum_i (t_i + w \\cdot \\varphi(x_i))^2
        \\quad \\text{with } w \\perp \\text{ the first } k \\text{ principal components}

    and t = 0 for unlabelled rows. The minus sign favours large variance over all rows, as kernel PCA does; the labels
    choose among the directions of large variance. The problem is convex, and solved in closed form, for
    γ < 1/λ_{k+1}, where λ are the eigenvalues of the kernel matrix. For a handful of labels on data in clusters; with
    many labels `LSSVMClassifier` is better.

    Parameters
    ----------
    n_removed : leading components k to leave out. The first hardly depends on x for kernels with positive entries.
    gamma : "middle" or float, default="middle"
        "middle" is the geometric middle of the convexity interval, 1/√(λ_k λ_{k+1}) (0.1/λ_1 for k = 0), kept 1 % away
        from the upper end.
    kernel, approx, random_state, missing_label : see `KernelClassifier`.

    Attributes
    ----------
    gamma_ : float, the γ that was used.
    convexity_interval_ : (1/λ_k, 1/λ_{k+1}), or (0, 1/λ_1) for k = 0. The problem is convex below the upper end.
    eigenvalues_ : (m,) eigenvalues of the kernel matrix, largest first.
    eigenvectors_ : (r, m) their directions in feature space.
    coef_, result_, classes_, transduction_, unsupported_, prior_, left_out_accuracy_ : see `KernelClassifier`.

    Notes
    -----
    New points are classified exactly, f(x) = w · φ(x), which the paper says is not possible. Cost: O(n r²) in one pass
    and O(r³) for r features; every further γ, labelling or class O(r²). NumPy, torch, Dask.
    Reference: Alaíz, Fanuel, Suykens: Convex formulation for kernel PCA and its use in semi-supervised learning, 2018.

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

    n_removed: int = parameter(1, Interval(Integral, 0, None, closed="left"))
    gamma: str | float = parameter("middle", StrOptions({"middle"}), POSITIVE)

    def solve(self, state: State, labels: Labels) -> Solution:
        basis = basis_of_moments(state.moments)
        interval = convexity_interval(basis.values, self.n_removed)
        gamma = _gamma_within(self.gamma, interval, self.n_removed)
        pull = state.pull(labels)
        filter_ = shift_filter(basis.values, gamma, self.n_removed)
        W, _ = filtered_weights(basis, pull, filter_)
        V, left = basis.vectors[:, self.n_removed :], filter_[self.n_removed :]
        gap = relative(V.T @ (W / gamma - state.moments.G @ W - pull.B), pull.B)
        found = {"gamma": gamma, "convexity_interval": interval}
        result = closed_form(W, gap, **found, eigenvalues=basis.values, eigenvectors=basis.vectors)
        influence = (lambda: LabelEffect(state.rows, (V * left) @ V.T)) if state.alike else None
        return Solution(
            W, 0.0, result.warn(), lambda: left_out_path(basis, pull, [filter_], removed=False)[0], influence
        )

    def withheld(self, state: State, labels: Labels) -> Zeroed | None:
        if len(labels.labelled) > MOST:
            return None
        basis = basis_of_moments(state.moments)
        gamma = _gamma_within(self.gamma, convexity_interval(basis.values, self.n_removed), self.n_removed)
        return Zeroed(state.pull(labels), basis.vectors, shift_filter(basis.values, gamma, self.n_removed))

    def gamma_path(self, X, gammas=None):
        """Decisions for a whole grid of γ from the one decomposition of the fit.

        Parameters
        ----------
        X : (n, d) rows, new or old.
        gammas : list of float, all below the upper end of the convexity interval; 50 values by default, spaced
            geometrically from a tenth of the lower end (for n_removed=0, of the upper end) to 0.999 of the upper one.

        Returns
        -------
        gammas : (m,)
        decisions : (m, n), or (m, n, k) for more than two classes: what `decision_function` says at each γ.
        """
        check_is_fitted(self)
        low, high = self.convexity_interval_
        if gammas is None:
            gammas = np.geomspace((low or high) / 10, 0.999 * high, 50)
        gammas = np.array([_gamma_within(g, (low, high), self.n_removed) for g in gammas])
        k = self.n_removed
        # The fit's own filter is divided out again: coef_ = V filter(γ_) c.
        c = (self.eigenvectors_[:, k:].T @ self.coef_) * (1.0 / self.gamma_ - self.eigenvalues_[k:])[:, None]
        filters = shift_filter(self.eigenvalues_, gammas, k)[:, k:]
        W = np.einsum("rp,mp,pk->rmk", self.eigenvectors_[:, k:], filters, c, optimize=True)
        decisions = Expansion(self.kernel_, None, W.reshape(len(W), -1), self.map_)(self._rows(X, reset=False))
        decisions = np.moveaxis(decisions.reshape(len(decisions), len(gammas), -1), 0, 1)
        return gammas, decisions[:, :, 0] if decisions.shape[2] == 1 else decisions

    def path(self, state: State, labels: Labels, grid: dict | None) -> tuple[list[dict], np.ndarray]:
        basis = basis_of_moments(state.moments)
        grid = {"n_removed": [0, 1, 2, 3]} if grid is None else grid
        filters, parameters = [], []
        for k in grid.get("n_removed", [self.n_removed]):
            if k >= len(basis.values):
                continue
            interval = convexity_interval(basis.values, k)
            for gamma in grid.get("gamma", spread_of_gamma(interval)):
                if gamma == "middle" or 0 < gamma < interval[1]:
                    parameters.append({"n_removed": int(k), "gamma": gamma})
                    filters.append(shift_filter(basis.values, _gamma_within(gamma, interval, k), k))
        if not filters:
            _gamma_within(max(grid["gamma"]), interval, k)  # raises, naming the interval
        return parameters, left_out_path(basis, state.pull(labels), filters, removed=False)


def convexity_interval(values, n_removed):
    """(1/λ_k, 1/λ_{k+1}) for descending eigenvalues; the lower end is 0 for k = 0.

    >>> convexity_interval(np.array([4.0, 2.0, 1.0]), 1)
    (0.25, 0.5)
    """
    if n_removed >= len(values):
        raise InputError(
            f"n_removed={n_removed} leaves nothing: the kernel matrix has rank {len(values)}. "
            f"Accepted: 0 to {len(values) - 1}; give more distinct rows or a richer kernel for more."
        )
    return (1.0 / float(values[n_removed - 1]) if n_removed else 0.0), 1.0 / float(values[n_removed])


def _gamma_within(gamma, interval, n_removed):
    low, high = interval
    if isinstance(gamma, str):
        return min(np.sqrt(low * high), 0.99 * high) if n_removed else 0.1 * high
    if not 0 < gamma < high:
        raise InputError(
            f"gamma={gamma:.6g} makes the problem unbounded: with n_removed={n_removed} it is convex for "
            f"0 < gamma < {high:.6g}, and the convexity interval is ({low:.6g}, {high:.6g}). "
            'Use a gamma within it, gamma="middle", or a larger n_removed.'
        )
    return float(gamma)


def spread_of_gamma(interval):
    """The default candidates for γ: "middle", and eight more from 0.1 of the lower end to 0.999 of the upper one."""
    low, high = interval
    return ["middle", *np.geomspace((low or high) / 10, 0.999 * high, 8).tolist()]
