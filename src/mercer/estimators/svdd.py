"""Support vector data description (Tax and Duin 2004) and one-class SVM (Schölkopf et al. 2001)."""

import warnings
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from ..errors import InputError
from ..inputs.weights import seed_of
from ..solvers.ball.svdd import svdd_gradient, svdd_smo, svdd_sweeps
from ..types import ColumnLike, Rows
from .novelty import NoveltyDetector
from .parameters import COUNT, POSITIVE, parameter


@dataclass(eq=False, repr=False)
class SVDD(NoveltyDetector):
    """Enclose most of the rows in the smallest ball of feature space. Rows outside are novel.

    .. math:: \\min_{R, c, \\xi \\ge 0} R^2 + \\tfrac{1}{\\nu n} \\sum_i \\xi_i
        \\quad \\text{s.t.} \\quad \\|\\varphi(x_i) - c\\|^2 \\le R^2 + \\xi_i

    At most a fraction ``nu`` of the training rows is outside and at least that fraction are support vectors. For
    kernels with constant k(x, x), such as RBF, this *is* the ν-one-class SVM. The decision function is that of
    scikit-learn's `OneClassSVM` times 2/(νn). For other kernels (linear, polynomial) the two methods differ, because a
    one-class SVM is not a ball.

    .. warning:: **y = −1 marks a known outlier, as in the output of scikit-learn's outlier detectors.** Such a row has
       a cost if it is *inside* the ball, so that the boundary moves away from it (semi-supervised SVDD). Every other
       value of y is ignored, as all of scikit-learn's detectors ignore y. In the few-label classifiers of this library
       −1 means "no label". ``GridSearchCV(SVDD(), …).fit(X, y)`` learns from the known outliers of each training fold,
       which `OneClassSVM` does not. If y is meant for the scores only, use ``SVDD(outlier_weight=None)``.

    Use it when the training rows are mostly normal and you can estimate how many may be outside. For a density use
    `KernelDensityNovelty`. If the normal rows are near a subspace, use `KPCANovelty`.

    Parameters
    ----------
    nu : float in (0, 1]. Bound on the fraction of training rows outside, 0.01 to 0.5. It is the fraction of rows on
        or outside the sphere, for any width of the kernel.
    outlier_weight : weight of a known outlier (y = −1) relative to an ordinary row. None ignores y.
    contamination : float in (0, 0.5] or None, default=None
        With None the threshold is the ball's radius. With a number, this fraction of the training rows is outside.
    solver : {"auto", "smo", "sweeps", "gradient"}, default="auto"
        "smo" works on kernel columns of the exact kernel. "sweeps" (working sets) and "gradient" (accelerated projected
        gradient) work on features, on their own device. "auto" is "smo" if the kernel is exact, else "sweeps".
    tol : wanted duality gap, relative to the objective.
    max_iter : largest number of rounds of the solver.
    cache_size : megabytes of kernel columns that "smo" may keep.
    kernel : a kernel given by its name has the width "2neighbor", twice the median distance to
        the fifth nearest neighbor. On 93 public tables with clean training rows its AUROC is 4 to 5 points above that
        of "median". On tables with outliers of their own it is not better (see the page of results on outliers). With
        such a narrow kernel most rows are on the sphere and few are outside. For a smooth boundary with the fraction ν
        outside use ``RBF("median")``.

    Attributes
    ----------
    support_ : rows with a non-zero coefficient.
    dual_coef_ : their coefficients β, which sum to 1 and are negative for known outliers.
    radius_ : radius R of the ball.
    rounding_ : rows whose squared distance differs from R² by at most this number are on the sphere.
    offset_ : −R² (scores are −‖φ(x) − c‖²), or the threshold for `contamination`.
    gap_ : relative duality gap reached.
    objective_ : dual objective Σ β_i k(x_i, x_i) − βᵀKβ.
    n_iter_ : number of rounds.
    training_scores_, held_out_scores_ : scores of the training rows, from the fit and from ten folds without them.

    Notes
    -----
    "smo" computes one kernel column per row that ever moves (between the number of support vectors and a small
    multiple), with memory of at most `cache_size`. "sweeps" takes 5 to 25 rounds of O(n r). It runs on NumPy, torch
    and, with features, on Dask. Rows on the sphere count as inside. If all support vectors are at their bounds, the
    radius is half-way between the outermost row inside and the innermost row outside.

    References
    ----------
    Tax, Duin (2004), Support vector data description.
    Schölkopf et al. (2001), Estimating the support of a high-dimensional distribution.
    Görnitz et al. (2013), Toward supervised anomaly detection.

    Examples
    --------
    >>> from mercer import SVDD
    >>> X = [[0.0], [0.1], [0.2], [0.3], [5.0]]
    >>> SVDD(nu=0.3).fit(X).predict([[0.15], [9.0]])
    array([ 1, -1])
    """

    access = "sweeps"
    on_dask = "sample"
    policy = "ball"
    rule = "2neighbor"

    nu: float = parameter(0.1, Interval(Real, 0, 1, closed="right"))
    _: KW_ONLY
    outlier_weight: float | None = parameter(1.0, POSITIVE, None)
    contamination: float | None = parameter(None, Interval(Real, 0, 0.5, closed="right"), None)
    solver: str = parameter("auto", StrOptions({"auto", "smo", "sweeps", "gradient"}))
    tol: float = parameter(1e-6, POSITIVE)
    max_iter: int = parameter(2000, COUNT)
    cache_size: float = parameter(500, POSITIVE)

    def fit(self, X: Rows, y: ColumnLike = None, sample_weight: ColumnLike = None) -> Self:
        """Find the ball. **y = −1 marks a known outlier**. A weight of 2 counts a row twice, 0 removes it.

        With ``outlier_weight=None`` y is ignored.
        """
        y = None if self.outlier_weight is None else y
        X, y, weight = self._training(X, y, sample_weight, "outliers")
        low, high, ordinary = self._box(X.shape[0], y, weight)
        gram = self._open(X, weight, policy=None if self.solver in ("auto", "smo") else "sweeps")
        own = gram.diag()
        found = self._solve(gram, own, low, high).warn()
        beta, info = found.value, found.info
        self.support_ = np.flatnonzero(beta)
        self.dual_coef_ = beta[self.support_]
        self.expansion_ = gram.expansion(self.dual_coef_, rows=self.support_)
        self.center_sq_ = info["center_sq"]
        self.gap_, self.objective_, self.n_iter_ = found.gap, found.objective, found.n_iter
        radius_sq = max(info["radius_sq"], 0.0)
        self.radius_ = float(np.sqrt(radius_sq))
        # A sum of the same numbers in another order has other rounding errors, so rows this near are on the sphere.
        single = "float32" in str(X.dtype)
        self.rounding_ = (1e-5 if single else 1e-9) * radius_sq
        self.rounding_ += 100 * np.finfo("f4" if single else "f8").eps * float(np.max(own))
        distance_sq = self._rounded(info["gradient"] + info["center_sq"])
        counted = ordinary if weight is None else ordinary * weight
        offset = None if self.contamination is not None else -(radius_sq + self.rounding_)
        left_out = None
        if hasattr(self, "sample_"):  # in Dask there are no folds. Without row i the center is (c − β φ_i)/(1 − β)
            left_out = -distance_sq / np.maximum(1 - np.clip(beta, 0, 1), np.finfo(float).eps) ** 2
        rows = (X, y, weight) if left_out is None else None
        self._learn_threshold(-distance_sq, counted, offset, self.rounding_, left_out, rows)
        return self

    def _box(self, n: int, y: ColumnLike, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds of β, and which rows are ordinary (1.0) or known outliers (0.0)."""
        ordinary = np.ones(n)
        if y is not None:
            ordinary[known_outliers(y, n)] = 0.0
        weight = np.ones(n) if weight is None else weight
        total = np.sum(weight * ordinary)
        if total == 0:
            raise InputError(
                "Every row of y is −1, which marks known outliers, and SVDD needs ordinary rows. Do not pass y, or "
                "mark ordinary rows with 1 or 0."
            )
        bound = weight / (self.nu * total)
        return -(1 - ordinary) * (self.outlier_weight or 0.0) * bound, ordinary * bound, ordinary

    def _solve(self, gram, own: np.ndarray, low: np.ndarray, high: np.ndarray):
        if self.solver == "smo" and gram.map is not None:
            raise InputError(
                "solver='smo' needs columns of the exact kernel, which an approximation, a precomputed or graph kernel "
                "and Dask do not have. Use approx='exact' with a kernel object, or solver='sweeps'."
            )
        settings = {"tol": self.tol, "max_iter": self.max_iter}
        if self.solver == "gradient":
            return svdd_gradient(gram.Z, own, low, high, **settings)
        settings["random_state"] = seed_of(self.random_state)
        if gram.map is not None:
            return svdd_sweeps(gram.Z, own, low, high, **settings)
        return svdd_smo(gram.operator, low, high, linear=own, cache_bytes=int(self.cache_size * 1e6), **settings)

    @property
    def support_vectors_(self):
        """The rows that belong to `dual_coef_`. None with a map."""
        return self.expansion_.centers

    def _score(self, X):
        """−‖φ(x) − c‖² = −(k(x, x) − 2⟨φ(x), c⟩ + ‖c‖²)."""
        return -self._rounded(self.expansion_.diag(X) - 2 * self.expansion_(X) + self.center_sq_)

    def _rounded(self, distance_sq: np.ndarray) -> np.ndarray:
        """Squared distances from the center, not below 0, and R² if they are within `rounding_` of it."""
        on_sphere = np.abs(distance_sq - self.radius_**2) <= self.rounding_
        return np.where(on_sphere, self.radius_**2, np.maximum(distance_sq, 0))


def known_outliers(y: ColumnLike, n: int) -> np.ndarray:
    """Whether each entry of y is −1. Other entries of any type are ignored."""
    y = np.asarray(y)
    if y.shape[:1] != (n,):
        raise InputError(f"y has {y.shape[0] if y.ndim else 0} entries and X has {n} rows. Give one entry per row.")
    if y.ndim > 1:
        y = y.reshape(n, -1)[:, 0]
    if y.dtype.kind in "US" and np.any(y == "-1"):
        warnings.warn("y contains the text '-1', which is ignored. Mark known outliers by the number −1.", stacklevel=4)
    return np.array([isinstance(v, Real) and v == -1 for v in y.tolist()], dtype=bool)
