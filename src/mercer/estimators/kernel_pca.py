"""Kernel PCA."""

import copy
import numbers
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..homes import home_of
from ..inputs.weights import seed_of
from ..kernels import Kernel, Precomputed
from ..kernels.base import KernelLike
from ..kernels.sklearn_names import sklearn_kernel
from ..linalg import eigh_down, precision, sign_rows
from ..rows import dot, sampled
from ..solvers.eigen import top as eigen
from ..solvers.result import Result
from ..solvers.ridge.smoother import moments_of
from ..types import ColumnLike, Rows
from .components import KernelComponents, check_components
from .parameters import COUNT, NOT_NEGATIVE, parameter
from .preimage import InputSpace


@dataclass(eq=False, repr=False)
class KernelPCA(InputSpace, KernelComponents):
    """Project on the directions of largest variance in a kernel's feature space.

    The components are u_m = Σ_i a_im φ̃(x_i) with A = V Λ^(−½), from the eigenpairs (Λ, V) of the centered kernel
    matrix H K H. New rows are centered with the training means. It is a drop-in replacement for scikit-learn's class,
    with the same parameters, attributes and numbers, and without an n × n matrix if that does not fit in memory.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components. A fraction in (0, 1) keeps as many as explain that fraction of the variance. None keeps
        every non-zero one.
    kernel : str, kernel object or function, default="linear"
        A name with scikit-learn's meaning (gamma=None is 1 / number of columns), any other name of mercer, a kernel
        object such as ``RBF("median")``, or a function of two rows.
    gamma, degree, coef0, kernel_params : parameters of a kernel that is given by name.
    alpha : ridge of the inverse transform.
    fit_inverse_transform : learn the ridge map back to the input space.
    eigen_solver : "auto", "full" ("dense"), "krylov", "lanczos" ("arpack"), "randomized", "lobpcg" or "dual".
    tol : largest residual ‖Kv − λv‖ / λ₁. 0 means 1e-9 (2.4e-6 for float32 rows).
    max_iter, iterated_power : largest number of iterations of the solver, and of power iterations of "randomized".
    remove_zero_eig : drop components of zero variance when n_components is given.
    random_state : seed of the solvers. Results with different seeds agree to tol.
    copy_X, n_jobs : accepted for compatibility. X is never modified, threads follow the BLAS setting.
    center : False finds the directions of largest second moment about the origin.
    approx : "auto", "exact", int or map, default="auto"
        "auto" is exact up to 200,000 rows. A number of landmarks or a map (`FourierMap()`) approximates the kernel.
    solver : "auto", "stored", "operator" or "dual", default="auto"
        "stored" stores the exact matrix K for products. "operator" computes them tile by tile and never stores K.
        "auto" stores K if it takes at most half of the free memory. "dual" solves the dual problem by L-BFGS.

    Attributes
    ----------
    eigenvalues_, eigenvectors_ : eigenpairs of the centered kernel matrix, largest first.
    explained_variance_ratio_ : fraction of the total variance of each component.
    convexity_intervals_ : row k contains (1/λ_k, 1/λ_k+1), the range of γ in which the variational problem for the next
        component is convex (Alaíz et al., theorem 1). The first begins at 0.
    result_ : the solver's result, with residuals, iterations and reason.
    X_fit_, X_transformed_fit_, dual_coef_, gamma_ : as in scikit-learn.

    Notes
    -----
    s components take O(n² (d + s·passes)) time and O(n²) memory if K is stored, else O(n s). With m landmarks they take
    O(n m²) time and O(n m) memory. An exact fit is a loop of products, and one with a map needs one pass. It runs on
    NumPy and torch, and with a map on Dask.

    References
    ----------
    Schölkopf, Smola, Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem.

    Examples
    --------
    >>> from mercer import RBF, KernelPCA
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> KernelPCA(n_components=2, kernel=RBF("median")).fit_transform(X).shape
    (150, 2)
    """

    policy = "components"
    on_dask = "moments"

    n_components: Any = parameter(None, COUNT, Interval(numbers.Real, 0, 1, closed="neither"), None)
    _: KW_ONLY
    kernel: KernelLike = parameter("linear", str, Kernel, callable)
    gamma: float | None = parameter(None, NOT_NEGATIVE, None)
    degree: float = parameter(3, NOT_NEGATIVE)
    coef0: float = parameter(1, Interval(numbers.Real, None, None, closed="neither"))
    kernel_params: dict | None = parameter(None, dict, None)
    alpha: float = parameter(1.0, NOT_NEGATIVE)
    fit_inverse_transform: bool = parameter(False, "boolean")
    eigen_solver: str = parameter("auto", StrOptions({"auto", "dense", "arpack", *eigen.METHODS}))
    tol: float = parameter(0, NOT_NEGATIVE)
    max_iter: int | None = parameter(None, COUNT, None)
    iterated_power: Any = parameter("auto", Interval(numbers.Integral, 0, None, closed="left"), StrOptions({"auto"}))
    remove_zero_eig: bool = parameter(False, "boolean")
    copy_X: bool = parameter(True, "boolean")
    n_jobs: int | None = parameter(None, None, numbers.Integral)
    center: bool = parameter(True, "boolean")
    solver: str = parameter("auto", StrOptions({"auto", "stored", "operator", "dual"}))

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Self:
        """Find the components of the rows of X. A weight of 2 has the effect of a row that occurs twice."""
        self._validate_params()
        if self.fit_inverse_transform and isinstance(self._kernel(), Precomputed):
            raise InputError(
                "Cannot fit_inverse_transform with a precomputed kernel, as there are no rows to map back to. "
                "Give the rows and a kernel object instead."
            )
        X, _, weight = self._training(X, None, sample_weight)
        present = X.shape[0] if weight is None else int(np.sum(weight > 0))
        if weight is not None and present < X.shape[0] and not isinstance(self._kernel(), Precomputed):
            # A weight of zero removes the row, except from a kernel matrix, because new rows have its column.
            keep = np.flatnonzero(weight > 0)
            X, weight = home_of(X).only(X, keep), weight[keep]
        if isinstance(self.n_components, numbers.Integral):
            check_components(int(self.n_components), present)
        self._rounding = precision(X.dtype)
        self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        gram, K = self._open_centered(X, weight)
        if gram.map is not None and not isinstance(self.kernel_, Precomputed):
            self._fit_through_map(gram, X, weight)
            return self
        values, vectors = self._exact(K, X.dtype)
        self._close(gram, K, K.root * vectors * (1.0 / np.sqrt(np.where(values > 0, values, np.inf))))
        self._describe(values, vectors)
        if self.fit_inverse_transform:
            self._fit_inverse(self.eigenvectors_ * np.sqrt(self.eigenvalues_) / K.root, self.alpha / K.root[:, 0] ** 2)
        return self

    def fit_transform(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Rows:
        """Fit and return the projections of the training rows."""
        self.fit(X, sample_weight=sample_weight)
        if sample_weight is not None or hasattr(self, "sample_"):
            return self.transform(X)
        scores = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        return scores.astype(np.float32) if str(getattr(X, "dtype", "")).endswith("float32") else scores

    def truncate(self, n_components: int):
        """The fitted model with its first components only, as if fitted with that many. Nothing is refitted."""
        check_is_fitted(self)
        if not isinstance(n_components, numbers.Integral) or not 1 <= int(n_components) <= len(self.eigenvalues_):
            raise InputError(
                f"n_components={n_components} cannot be kept of {len(self.eigenvalues_)} fitted components. "
                f"Use 1 to {len(self.eigenvalues_)}. For more, fit again."
            )
        short = copy.copy(self)
        short.n_components = n_components
        for name in ("eigenvalues_", "explained_variance_ratio_", "convexity_intervals_", "shift_"):
            setattr(short, name, getattr(self, name)[:n_components])
        short.eigenvectors_ = self.eigenvectors_[:, :n_components]
        columns = np.append(np.arange(int(n_components)), -1)  # the last one is the mean
        short.expansion_ = self.expansion_.with_coef(self.expansion_.coef[:, columns])
        if self.fit_inverse_transform:
            short._fit_inverse(self.X_transformed_fit_[:, :n_components], self._ridge)
        return short

    # Eigenpairs

    def _exact(self, K: Rows, dtype) -> tuple[np.ndarray, np.ndarray]:
        """Leading eigenpairs of the centered operator, as many as n_components requests."""
        n, eps = K.shape[0], precision(dtype)
        # Rounding in K is relative to its entries. Before centering these may be large compared with the variance.
        diag = K.K.diag()
        noise = K.noise = 20 * eps * np.sqrt(n) * float(np.max(K.root[:, 0] ** 2 * np.abs(diag)))
        spread = np.max(diag + diag[0] - 2 * K.K.columns([0])[:, 0]) if self.center else np.max(diag)
        total = K.trace()
        self.total_variance_ = max(total, 0.0)
        wanted = n if self.n_components is None else self.n_components
        if spread <= 4 * eps * np.max(diag) and self.kernel_.psd:  # all rows are equal
            self.total_variance_ = 0.0
            number = int(wanted) if isinstance(wanted, numbers.Integral) else 1
            self.result_ = Result((np.zeros(number), np.eye(n, number)), gap=0.0, reason="There is no variance.")
            values, vectors = self.result_.value
        elif isinstance(wanted, numbers.Integral):
            values, vectors = self._solve(K, int(wanted))
        else:  # for a fraction of the variance, double the number of components until they explain it
            number = min(n, 32)
            while True:
                values, vectors = self._solve(K, number)
                reached = np.cumsum(np.maximum(values, 0)) >= wanted * total * (1 - 1e-12)
                if reached.any() or number == n:
                    break
                number = min(n, 2 * number)
            keep = int(np.argmax(reached)) + 1 if reached.any() else number
            values, vectors = values[:keep], vectors[:, :keep]
        self.total_variance_ = max(self.total_variance_, float(values[values > 0].sum()))
        vectors = vectors * sign_rows(vectors / np.where(K.root > 0, K.root, 1.0))  # signs of the unweighted scores
        return self._clean(values, vectors, max(10 * eps * values[0], noise), eps)

    def _solve(self, K: Rows, number: int) -> tuple[np.ndarray, np.ndarray]:
        method = {"dense": "full", "arpack": "lanczos"}.get(self.eigen_solver, self.eigen_solver)
        own_power = method == "randomized" and self.iterated_power != "auto"
        steps = self.iterated_power if own_power else self.max_iter
        method = "dual" if self.solver == "dual" else method
        if method == "auto":
            method = eigen.choose(K.shape[0], number, K.K.symmetric_vector)
        tol = self.tol or max(1e-9, 20 * self._rounding)  # products in float32 have seven digits
        self.result_ = eigen.top(K, number, method, tol, steps, seed_of(self.random_state)).warn()
        return self.result_.value

    def _fit_through_map(self, gram, X, weight):
        """Compute the eigenpairs of K = Z Zᵀ from the r × r covariance of Z, in one pass over the rows."""
        if self.fit_inverse_transform:
            what = "fit_inverse_transform=True needs the training rows, which an approximate map does not keep"
            raise InputError(f"{what}. Use approx='exact'.")
        self.result_ = Result(None, gap=0.0, reason="Eigenpairs of a small matrix, by LAPACK.")
        moments = moments_of(gram.Z, sampled(weight, X))
        P = moments.centered(self.center)
        values, U = eigh_down((P + P.T) / 2)
        self.total_variance_ = max(float(np.trace(P)), 0.0)
        number = self._number_of(values)
        noise = 10 * precision(gram.Z.dtype) * len(P) * values[0]
        values, U = self._clean(values[:number], U[:, :number], noise, 0.0)
        mean = moments.mean if self.center else np.zeros(len(P))
        scores = dot(gram.Z, U) - mean @ U
        weight = sampled(weight, X)
        mass = np.ones(len(scores)) if weight is None else weight
        vectors = np.sqrt(mass)[:, None] * scores / np.sqrt(np.where(values > 0, values, 1.0))
        signs = sign_rows(scores) * (values > 0)
        self.expansion_ = gram.on_features(np.column_stack([U * signs, mean]))
        self.shift_, self.grand_mean_ = mean @ U * signs, float(mean @ mean)
        self._describe(values, vectors * signs)

    def _number_of(self, values):
        """The number of eigenvalues that n_components keeps."""
        if self.n_components is None:
            return len(values)
        if isinstance(self.n_components, numbers.Integral):
            return min(self.n_components, len(values))
        share = np.cumsum(np.maximum(values, 0)) / max(self.total_variance_, np.finfo(np.float64).tiny)
        return min(int(np.searchsorted(share, self.n_components * (1 - 1e-12))) + 1, len(values))

    def _clean(self, values, vectors, noise, eps):
        """Set variances below rounding, also negative ones, to zero. Drop them if the parameters require this."""
        if values[-1] < -max(noise, 1e-5 * values[0], eps ** (1 / 3) * values[0]):
            found = (
                f"There are significant negative eigenvalues ({values[-1]:.3g}, the largest is {values[0]:.3g}), "
                "so this similarity is not a kernel."
            )
            if isinstance(self.kernel_, Precomputed):
                raise InputError(
                    f"{found} Use a positive semi-definite matrix, or at most "
                    f"n_components={int(np.sum(values > noise))}, which need only its positive part."
                )
            warnings.warn(f"{found} Its negative part is cut off.", UserWarning, stacklevel=4)
        values = np.where(values > noise, values, 0.0)
        if self.n_components is None or self.remove_zero_eig:
            keep = int(np.sum(values > 0))
            values, vectors = values[:keep], vectors[:, :keep]
        return values, vectors

    def _describe(self, values: np.ndarray, vectors: np.ndarray) -> None:
        self.eigenvalues_, self.eigenvectors_ = values, vectors
        self.explained_variance_ratio_ = values / self.total_variance_ if self.total_variance_ > 0 else 0 * values
        with np.errstate(divide="ignore", over="ignore"):
            ends = 1.0 / values
        self.convexity_intervals_ = np.column_stack([np.concatenate([[0.0], ends])[: len(ends)], ends])

    def _kernel(self) -> Kernel:
        """The kernel object, in which a name has scikit-learn's meaning."""
        gamma = getattr(self, "gamma_", self.gamma)
        return sklearn_kernel(self.kernel, gamma, self.degree, self.coef0, self.kernel_params)
