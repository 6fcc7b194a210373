"""The base of robust and sparse kernel PCA, with the dual solver and projections relative to the loss's own center."""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions

from ..errors import InputError
from ..inputs.weights import seed_of
from ..linalg import precision
from ..solvers.dual.loss import NORMS, Loss
from ..solvers.dual.minimize import minimize, sketch, sketch_width
from ..solvers.dual.starts import match_fraction, row_size
from ..types import ColumnLike, Rows
from .components import KernelComponents, check_components
from .parameters import COUNT, POSITIVE, parameter


@dataclass(eq=False, repr=False)
class DualComponents(KernelComponents):
    """Components that minimize f*(H) − Tr (HᵀGH)^{1/2} for the loss that `_thresholds` of a subclass defines.

    With ``center=True`` the loss is relative to the point at which it is smallest, min_c f(P − 1cᵀ), and not to the
    mean. Scores are relative to that point, and the coefficients of each component sum to zero.
    """

    n_components: int = parameter(2, COUNT)
    _: KW_ONLY
    norm: str = parameter("row", StrOptions(set(NORMS)))
    center: Any = parameter(True, "boolean", StrOptions({"mean"}))
    solver: str = parameter("auto", StrOptions({"auto", "stored", "operator"}))
    tol: float = parameter(1e-6, POSITIVE)
    max_iter: int = parameter(1000, COUNT)
    n_init: int | None = parameter(None, COUNT, None)

    def fit(self, X: Rows, y: ColumnLike = None) -> Self:
        """Find the components of the rows of X. y is ignored."""
        self._fit(X)
        return self

    def fit_transform(self, X: Rows, y: ColumnLike = None) -> Rows:
        """Fit and return the scores of the training rows."""
        scores = self._fit(X)
        return self.transform(X) if hasattr(self, "sample_") else scores

    def _fit(self, X):
        self._validate_params()
        thresholds = self._thresholds()
        X, _, _ = self._training(X, min_rows=2)
        check_components(self.n_components, X.shape[0])
        gram, K = self._open_centered(X)
        eps = precision(X.dtype)
        if abs(K.trace()) <= 10 * eps * float(np.sum(np.abs(K.K.diag()))):
            self._refuse_rank(0)
        result, loss = self._find(K, thresholds, eps)
        found = result.value
        if result.info["rank"] < self.n_components:
            warnings.warn(result.reason, UserWarning, stacklevel=3)
        result.warn()
        self.objective_, self.history_, self.gap_ = result.objective, np.asarray(result.history), result.gap
        self.n_iter_, self.reason_ = result.n_iter, result.reason
        self.eigenvalues_ = found.values
        self.location_ = found.center
        self.support_ = np.flatnonzero(np.any(found.H != 0, axis=1))
        self._describe(found, loss)
        self._close(gram, K, found.coef)
        return found.scores.astype(np.float32) if str(X.dtype).endswith("float32") else found.scores

    def _find(self, K, thresholds, eps):
        """(`Result` with `Components`, loss) for the centered operator K, whose products have the precision eps."""
        width = sketch_width(self.n_components, Loss(epsilon=1.0))
        start = sketch(K, width, random_state=seed_of(self.random_state), eps=eps)
        H, GH = start
        quotient = np.einsum("ij,ij->j", H, GH) / np.maximum(np.einsum("ij,ij->j", H, H), np.finfo(float).tiny)
        rank = int(np.sum(quotient > eps * K.shape[0] * quotient.max(initial=0.0)))
        if rank < self.n_components:
            self._refuse_rank(rank)
        given = {name: one.value for name, one in thresholds.items() if not one.share}
        loss = Loss(norm=self.norm, location=self.center is True, **given)
        for name, one in thresholds.items():
            if one.share:
                # Keep at least as many rows as the components need.
                share = max(one.share, (self.n_components + 1) / K.shape[0]) if one.name == "keep" else one.share
                loss, _ = match_fraction(K, self.n_components, name, share, loss, start=start, eps=eps)
        options = {"tol": max(self.tol, 20 * eps), "max_iter": self.max_iter, "start": start, "eps": eps}
        options["n_init"] = self.n_init
        result = minimize(K, self.n_components, loss, **options)
        by_share = "epsilon" in thresholds and thresholds["epsilon"].share
        for _ in range(40 if by_share else 0):  # the search with a looser tolerance found every component
            if result.info["rank"] == self.n_components:
                break
            loss = replace(loss, epsilon=0.9 * loss.epsilon)
            result = minimize(K, self.n_components, loss, **options)
        if result.info["rank"] == 0:
            self._refuse(K, loss, start, eps)
        return result, loss

    def _refuse_rank(self, rank):
        """Refuse more components than the kernel matrix has directions."""
        if rank == 0:
            raise InputError(
                "Every row has the same features, so there is no direction to find. Check the rows and the kernel."
            )
        raise InputError(
            f"n_components={self.n_components}, but the {'centered ' if self.center else ''}kernel matrix has rank "
            f"{rank}. Use at most {rank}. A kernel such as RBF has more directions than a linear one."
        )

    def _refuse(self, K, loss, start, eps):
        raise InputError("Every component vanished, because the kernel matrix is zero. Check the kernel and the rows.")


def at_bound(P: np.ndarray, loss: Loss) -> np.ndarray:
    """The numbers of the rows whose influence is bounded."""
    return np.flatnonzero(row_size(P, loss.norm) >= loss.kappa + loss.epsilon)


@dataclass
class Threshold:
    """A threshold that the user gave as a number, or as a fraction of the rows by the parameter `name`."""

    value: float | None
    name: str = ""
    share: float | None = None


def number(name: str, value: float, other: str | None = None) -> float:
    """A threshold as a float. kappa must be above 0, and epsilon at least 0."""
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if not fits or not (float(value) > 0 if name == "kappa" else 0 <= float(value) < np.inf):
        accepted = "a number above 0" if name == "kappa" else "a number of at least 0"
        share = f", or a fraction of the rows as {other}=" if other else ""
        raise InputError(f"{name}={value!r} is not accepted. Use {accepted}{share}.")
    return float(value)


def number_or_share(name: str, value: float | None, other: str, share, default: float) -> "Threshold":
    """The given number, or the given or default fraction of the rows. A number and a fraction at once are refused."""
    if value is not None and share is not None:
        raise InputError(f"{name}={value!r} and {other}={share!r} have the same meaning. Give one of them.")
    if value is not None:
        return Threshold(number(name, value, other))
    share = default if share is None else share
    if not (isinstance(share, Real) and 0 < float(share) < 1):
        raise InputError(f"{other}={share!r} is not accepted. Use a fraction of the rows between 0 and 1.")
    return Threshold(None, other, float(share))
