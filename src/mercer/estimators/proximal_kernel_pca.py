"""Kernel PCA with a user-defined penalty on the dual variables, given by its proximal map."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ..errors import InputError
from ..inputs.weights import seed_of
from ..linalg import precision
from ..solvers.dual.minimize import minimize, sketch, sketch_width
from ..solvers.dual.own import OwnLoss
from ..types import ColumnLike, Rows
from .components import KernelComponents, check_components
from .parameters import COUNT, POSITIVE, parameter


@dataclass(eq=False, repr=False)
class ProximalKernelPCA(KernelComponents):
    """Find kernel principal components with a user-defined penalty, given by its proximal map.

    .. math:: \\min_{H \\in \\mathbb{R}^{n \\times s}} \\tfrac12 \\|H\\|^2 + \\sum_i \\Psi(h_i)
        - \\mathrm{Tr} (H^\\top G H)^{1/2}

    with G the centered kernel matrix. Ψ = 0 is kernel PCA, Ψ = ε‖·‖ the sparse and the indicator of ‖·‖ ≤ κ the robust
    variant. The difference-of-convex iteration H ← prox(∇π(H)) works for every Ψ whose prox can be computed. For the
    last two use `RobustKernelPCA` and `SparseKernelPCA`, which also find a center of their own.

    Parameters
    ----------
    n_components : int, default=2
    prox : callable or None, default=None
        Function of an (n, s) array that returns argmin over H of ½‖H − Y‖² + Σ Ψ(h_i), or None for Ψ = 0.
        It is called with 1 to n_components columns.
    penalty : callable or None, default=None
        Function of an (n, s) array that returns the (n,) values Ψ(h_i). None for Ψ = 0.
    center : "mean" computes scores relative to the mean of the rows, False relative to the origin.

    Attributes
    ----------
    dual_variables_ : (n, s) the matrix H.
    dual_coef_ : (n, s) coefficients of the components on the training rows.
    support_ : rows of H that are not zero.
    eigenvalues_, objective_, history_, gap_, n_iter_, reason_ : see `RobustKernelPCA`.

    Notes
    -----
    The problem is not convex. The best of `n_init` starts is kept, which is a stationary point. Models with functions
    that are not defined in a module, such as lambdas, cannot be saved. It runs on NumPy, torch and, with landmarks, on
    Dask.

    References
    ----------
    Tonin, Lambert, Patrinos, Suykens (2023), Extending kernel PCA through dualization.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ProximalKernelPCA
    >>> from sklearn.datasets import load_iris
    >>> box = ProximalKernelPCA(2, prox=lambda Y: np.clip(Y, -0.2, 0.2), penalty=lambda H: np.zeros(len(H)))
    >>> float(np.abs(box.fit(load_iris().data).dual_variables_).max())
    0.2
    """

    n_components: int = parameter(2, COUNT)
    _: KW_ONLY
    prox: Any = None
    penalty: Any = None
    center: Any = parameter("mean", StrOptions({"mean"}), "boolean")
    solver: str = parameter("auto", StrOptions({"auto", "stored", "operator"}))
    tol: float = parameter(1e-6, POSITIVE)
    max_iter: int = parameter(1000, COUNT)
    n_init: int | None = parameter(None, COUNT, None)

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Self:
        """Find the components of the rows of X. A weight of 2 has the effect of a row that occurs twice."""
        self._validate_params()
        if (self.prox is None) != (self.penalty is None):
            given, missing = ("prox", "penalty") if self.penalty is None else ("penalty", "prox")
            raise InputError(f"{given} was given without {missing}. Give both functions of Ψ, or neither for Ψ = 0.")
        X, _, weight = self._training(X, None, sample_weight, min_rows=2)
        check_components(self.n_components, X.shape[0])
        gram, K = self._open_centered(X, weight)
        eps = precision(X.dtype)
        prox, penalty = self.prox or (lambda Y: Y), self.penalty or (lambda H: np.zeros(len(H)))
        count = None if weight is None else np.where(weight > 0, weight, 1.0)  # rows of weight 0 have P = 0 and H = 0
        loss = OwnLoss(prox, penalty, count)
        start = sketch(K, sketch_width(self.n_components, loss), random_state=seed_of(self.random_state), eps=eps)
        options = {"tol": max(self.tol, 20 * eps), "max_iter": self.max_iter, "n_init": self.n_init}
        result = minimize(K, self.n_components, loss, start=start, eps=eps, **options)
        found = result.value
        if result.info["rank"] == 0:
            raise InputError("Every component vanished, because prox sends all scores to 0. Use a weaker penalty.")
        result.warn()
        self.objective_, self.history_, self.gap_ = result.objective, np.asarray(result.history), result.gap
        self.n_iter_, self.reason_, self.eigenvalues_ = result.n_iter, result.reason, found.values
        root = K.root if weight is None else np.where(K.root > 0, K.root, 1.0)
        self.dual_variables_, self.dual_coef_ = found.H / root, K.root * found.coef
        self.support_ = np.flatnonzero(np.any(found.H != 0, axis=1))
        self._close(gram, K, self.dual_coef_)
        return self

    def fit_transform(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> np.ndarray:
        """Fit and return the scores of the training rows."""
        return self.fit(X, sample_weight=sample_weight).transform(X)
