"""Robust kernel PCA: no row pulls harder than kappa."""

from dataclasses import KW_ONLY, dataclass

from .dual_pca import DualComponents, at_bound, number_or_share


@dataclass(eq=False, repr=False)
class RobustKernelPCA(DualComponents):
    """Find kernel principal components under a Huber loss, so that no single row decides them.

    .. math:: \\max_{W^\\top W = I}\\; \\min_c \\sum_i \\rho_\\kappa(\\|W^\\top \\varphi(x_i) - c\\|), \\qquad
              \\rho_\\kappa(r) = \\tfrac12 r^2 \\text{ up to } \\kappa, \\text{ then straight}

    solved through its dual, min ½‖H‖² − Tr (HᵀGH)^{1/2} over n × s matrices H with rows no longer than κ: row i of H is
    the pull of sample i. The variance of ordinary kernel PCA grows with the square of a score, this loss in proportion.
    Use it when a few rows are far from the rest; it bounds a row's weight but not its length in feature space, so a
    kernel with bounded values (RBF, Laplacian) resists more than a linear one.

    Parameters
    ----------
    n_components : int, default=2
    kappa : longest row of H, in units of a row's score (its distance from the centre within the components).
    influence : instead of kappa: the share of the rows whose pull is to be bounded. With neither, 0.05.
    norm : "row" bounds the length of each row of H, "element" each of its entries (which depends on the axes).
    kernel : str or kernel object, default="rbf"
    center : take the loss about the point where it is smallest; False takes it about the origin of the feature space.
    approx, solver : see `KernelPCA`, without "dual".
    tol : largest residual ‖H − prox(P(H))‖ / ‖H‖, at least 20 times the precision of the data.
    max_iter : int, default=1000
    random_state : seed of the sketch that the solver starts from.

    Attributes
    ----------
    kappa_ : the bound used or found.
    dual_coef_ : (n, s) coefficients A of the components on the centred training rows.
    dual_variables_ : (n, s) H, the pull of each row.
    support_ : rows with a pull (all of them unless a score is zero).
    bounded_ : rows whose pull is at the bound: the candidates for outliers.
    eigenvalues_ : sum of squares of each component's scores, every row weighted by its share below the bound.
    objective_, history_, gap_, n_iter_, reason_ : dual value, −f at each iteration (never rises), residual, products.
    location_ : centre of the loss relative to the mean.
    kernel_, map_, approx_reason_ : see `KernelEstimator`.

    Notes
    -----
    Cost: 10 to 100 products with the kernel matrix, n² s each (n m s with m landmarks); `influence` adds two to four
    such solves. Access "sweeps": NumPy, torch, Dask (with landmarks). The problem is not convex: the better of two
    starts is kept, and it is a stationary point, not always the best.
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
    kappa: float | None = None
    influence: float | None = None

    def _asked(self):
        return {"kappa": number_or_share("kappa", self.kappa, "influence", self.influence, 0.05)}

    def _describe(self, found, loss):
        self.kappa_ = loss.kappa
        self.dual_variables_, self.dual_coef_ = found.H, found.coef
        self.bounded_ = at_bound(found.P, loss)
