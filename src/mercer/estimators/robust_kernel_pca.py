"""Robust kernel PCA. The influence of each row is at most kappa, or rows far away in feature space have none."""

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


@dataclass(eq=False, repr=False)
class RobustKernelPCA(DualComponents):
    """Find kernel principal components under a Huber loss, so that no single row decides them.

    .. math:: \\max_{W^\\top W = I}\\; \\min_c \\sum_i \\rho_\\kappa(\\|W^\\top \\varphi(x_i) - c\\|), \\qquad
              \\rho_\\kappa(r) = \\tfrac12 r^2 \\text{ up to } \\kappa, \\text{ then straight}

    solved through its dual, min ½‖H‖² − Tr (HᵀGH)^{1/2} over n × s matrices H with rows no longer than κ. Row i of H is
    the influence of sample i. In ordinary kernel PCA the influence of a row grows with its score without a bound. Use
    the Huber loss when a few rows are far from the rest. It bounds the weight of a row but not its length in feature
    space, its leverage. Therefore 10% of gross outliers still rotate the components of a linear or polynomial kernel.
    The other losses bound both, see `mercer.solvers.eigen.resistant`.

    Parameters
    ----------
    n_components : int, default=2
    loss : {"huber", "spherical", "reconstruction"}, default="huber"
        "huber" is the loss above. "spherical" finds the components of the directions from the spatial median to the
        rows, all of length one. "reconstruction" finds the subspace near most of the rows, and rows far from it have no
        influence.
    kappa : largest length of a row of H, in units of a row's score (its distance from the center within the
        components).
    influence : instead of kappa, the fraction of the rows whose influence is bounded. With neither, 0.05.
    norm : "row" bounds the length of each row of H, "element" each of its entries (which depends on the axes).
        kappa, influence and norm are parameters of "huber".
    kernel : str or kernel object, default="rbf"
    center : True uses the loss relative to the point at which it is smallest, "mean" relative to the mean of the rows
        (as in the paper), False relative to the origin of the feature space.
    approx, solver : see `KernelPCA`, without "dual".
    tol : largest residual ‖H − prox(P(H))‖ / ‖H‖, at least 20 times the precision of the data.
    max_iter : int, default=1000
    n_init : number of starts of the solver, of which the best is kept. None is 2, and 220 for norm="element" and for
        `SparseKernelPCA`, which have many more stationary points. There are fewer starts if the first ones agree, and
        more while they improve the result. All starts use the same products.
    random_state : seed of the sketch at which the solver starts.

    Attributes
    ----------
    kappa_ : the bound used or found. NaN for other losses than "huber".
    weight_ : (n,) weight of each row in the components, which is its influence divided by its score.
    dual_coef_ : (n, s) coefficients A of the components on the centered training rows.
    dual_variables_ : (n, s) H, the influence of each row.
    support_ : rows with an influence (all of them unless a score is zero).
    bounded_ : rows whose influence is at the bound, which are candidates for outliers. (For "spherical" all rows, for
        "reconstruction" rows of a weight below 1.)
    eigenvalues_ : sum of squares of each component's scores, every row weighted by its fraction below the bound.
    objective_, history_, gap_, n_iter_, reason_ : dual value, −f at each iteration (it never increases), residual,
        number of products and a sentence. For "reconstruction" they are Σ ρ, its values, the change of the weights, the
        number of iterations and a sentence.
    location_ : center of the loss relative to the mean.

    Notes
    -----
    A fit takes 10 to 100 products with the kernel matrix, each O(n² s), or O(n m s) with m landmarks. For
    norm="element" these are 200 to 1,000 products with up to 16 s columns. `influence` adds two to four solves of two
    starts. It runs on NumPy, torch and, with landmarks, on Dask. The problem is not convex. The best of `n_init` starts
    is kept. It is a stationary point and not always the best one.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization.

    Examples
    --------
    >>> from mercer import RobustKernelPCA
    >>> from sklearn.datasets import load_iris
    >>> model = RobustKernelPCA(n_components=2, influence=0.1).fit(load_iris().data)
    >>> len(model.bounded_)
    15
    """

    _: KW_ONLY
    loss: str = parameter("huber", StrOptions({"huber", "spherical", "reconstruction"}))
    kappa: float | None = None
    influence: float | None = None

    def _thresholds(self) -> dict:
        if self.loss == "huber":
            return {"kappa": number_or_share("kappa", self.kappa, "influence", self.influence, 0.05)}
        if self.kappa is not None or self.influence is not None:
            raise InputError(f"kappa and influence bound Huber's loss, and loss={self.loss!r} has no such bound.")
        return {}

    def _find(self, K: Rows, thresholds: dict, eps: float) -> tuple:
        if self.loss == "huber":
            return super()._find(K, thresholds, eps)
        given = K.K, self.n_components, bool(self.center), seed_of(self.random_state), max(self.tol, 20 * eps)
        result = spherical(*given) if self.loss == "spherical" else reconstruction(*given, self.max_iter)
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
