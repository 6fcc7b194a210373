"""Robust kernel PCA. No row pulls harder than kappa, or rows far away in feature space do not pull at all."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ..errors import InputError
from ..inputs.weights import seed_of
from ..solvers.eigen.resistant import reconstruction, spherical
from ..types import Rows
from .dual_pca import DualComponents, at_bound, number_or_share
from .parameters import parameter

RESISTANT = {"spherical": spherical, "reconstruction": reconstruction}


@dataclass(eq=False, repr=False)
class RobustKernelPCA(DualComponents):
    """Find kernel principal components under a Huber loss, so that no single row decides them.

    .. math:: \\max_{W^\\top W = I}\\; \\min_c \\sum_i \\rho_\\kappa(\\|W^\\top \\varphi(x_i) - c\\|), \\qquad
              \\rho_\\kappa(r) = \\tfrac12 r^2 \\text{ up to } \\kappa, \\text{ then straight}

    solved through its dual, min ½‖H‖² − Tr (HᵀGH)^{1/2} over n × s matrices H with rows no longer than κ: row i of H is
    the pull of sample i. The variance of ordinary kernel PCA grows with the square of a score, this loss in proportion.
    Use it when a few rows are far from the rest. It bounds a row's weight but not its length in feature space, its
    leverage. So 10% of gross outliers turn the components of a linear or polynomial kernel all the same. The other
    losses bound both, see `mercer.solvers.eigen.resistant`.

    Parameters
    ----------
    n_components : int, default=2
    loss : {"huber", "spherical", "reconstruction"}, default="huber"
        "huber" as above. "spherical": components of the directions from the spatial median to the rows, all of length
        one. "reconstruction": the subspace near most of the rows. Rows far from it have no pull, however far they are.
    kappa : longest row of H, in units of a row's score (its distance from the center within the components).
    influence : instead of kappa, the fraction of the rows whose pull is to be bounded. With neither, 0.05.
    norm : "row" bounds the length of each row of H, "element" each of its entries (which depends on the axes).
        kappa, influence and norm are those of "huber".
    kernel : str or kernel object, default="rbf"
    center : True takes the loss about its minimum point, "mean" about the mean of the rows (as the report
        of Tonin et al.'s method is written), False about the origin of the feature space.
    approx, solver : see `KernelPCA`, without "dual".
    tol : largest residual ‖H − prox(P(H))‖ / ‖H‖, at least 20 times the precision of the data.
    max_iter : int, default=1000
    n_init : tries of the solver, of which the best counts. None is 2, and 220 for norm="element" and for
        `SparseKernelPCA`. These have many more stationary points (fewer tries if the first ones agree, more while
        they gain). They share their products.
    random_state : seed of the sketch that the solver starts from.

    Attributes
    ----------
    kappa_ : the bound used or found. NaN for other losses than "huber".
    weight_ : (n,) weight of each row in the components, which is its pull divided by its score.
    dual_coef_ : (n, s) coefficients A of the components on the centered training rows.
    dual_variables_ : (n, s) H, the pull of each row.
    support_ : rows with a pull (all of them unless a score is zero).
    bounded_ : rows whose pull is at the bound, which are candidates for outliers. (For "spherical" all rows, for
        "reconstruction" rows of a weight below 1.)
    eigenvalues_ : sum of squares of each component's scores, every row weighted by its fraction below the bound.
    objective_, history_, gap_, n_iter_, reason_ : dual value, −f at each iteration (never rises), residual, products.
        ("reconstruction": Σ ρ, its values, the change of the weights, iterations.)
    location_ : center of the loss relative to the mean.

    Notes
    -----
    Cost: 10 to 100 products with the kernel matrix, n² s each (n m s with m landmarks), 200 to 1,000 of up to 16 s
    columns for norm="element". `influence` adds two to four solves of two tries. Access "sweeps": NumPy, torch, Dask
    (with landmarks). The problem is not convex. The best of `n_init` starts is kept, and it is a stationary point, not
    always the best.
    Reference: Tonin, Lambert, Patrinos and Suykens (2023), Extending kernel PCA through dualization.

    Examples
    --------
    >>> from mercer import RobustKernelPCA
    >>> from sklearn.datasets import load_iris
    >>> model = RobustKernelPCA(n_components=2, influence=0.1).fit(load_iris().data)
    >>> len(model.bounded_)
    15
    """

    _: KW_ONLY
    loss: str = parameter("huber", StrOptions({"huber", *RESISTANT}))
    kappa: float | None = None
    influence: float | None = None

    def _asked(self) -> dict:
        if self.loss == "huber":
            return {"kappa": number_or_share("kappa", self.kappa, "influence", self.influence, 0.05)}
        if self.kappa is not None or self.influence is not None:
            raise InputError(f"kappa and influence bound Huber's loss, and loss={self.loss!r} has no such bound.")
        return {}

    def _find(self, K: Rows, asked: dict, eps: float) -> tuple:
        if self.loss == "huber":
            return super()._find(K, asked, eps)
        options = {"tol": max(self.tol, 20 * eps)}
        if self.loss == "reconstruction":
            options["max_iter"] = self.max_iter
        result = RESISTANT[self.loss](K.K, self.n_components, bool(self.center), seed_of(self.random_state), **options)
        if result.info["rank"] < self.n_components:
            self._refuse_rank(result.info["rank"])
        found, share = result.value, result.info["share"]
        center = found.center if share is None else share @ (K @ found.coef)
        return replace(result, value=replace(found, center=center)), None

    def _describe(self, found, loss: Any) -> None:
        self.dual_variables_, self.dual_coef_ = found.H, found.coef
        self.kappa_ = np.nan if loss is None else loss.kappa
        size = np.linalg.norm(found.P, axis=1)
        self.weight_ = np.divide(np.linalg.norm(found.H, axis=1), size, out=np.ones_like(size), where=size > 0)
        all_rows = self.loss == "spherical"
        self.bounded_ = at_bound(found.P, loss) if loss else np.flatnonzero(all_rows | (self.weight_ < 1 - 1e-9))
