"""Kernels of the Euclidean distance, from one matrix product, or of the city-block distance between two rows."""

import numbers
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InputError
from ..homes import home_of
from ..linalg import precision
from ..rows import namespace
from ..types import Block, Module, Rows
from .bandwidth import RULES, bandwidth_of
from .base import Formula, Kernel, Term, exponential, inner_products, squared_norms

# Largest accepted rounding error of a squared distance, in bandwidths, by size of the numbers (float32, float64).
ROUNDING = {4: 1e-4, 8: 1e-9}


class Stationary(Kernel):
    """A kernel of the distance between two rows divided by the bandwidth, with k(x, x) = 1.

    `bandwidth` is a number or a rule for the training rows. The rules are "median" (of pairwise distances), "knn" (mean
    distance to the ten nearest neighbors), "scale" (scikit-learn's gamma = 1/(d·var)), "range" (diagonal of the
    bounding box), "neighbor" (median distance to the fifth nearest neighbor, the default of the novelty detectors) and
    "2neighbor" (twice that). All of them use the distance of the kernel.
    """

    stationary = True
    order = 2  # of the distance: 2 Euclidean, 1 city-block

    def __init__(self, bandwidth: float | str = "median"):
        self.bandwidth: Any = bandwidth

    def resolve(self, X: Rows, weight: NDArray[np.float64] | None = None) -> Self:
        resolved = super().resolve(X, weight)
        if isinstance(self.bandwidth, str):
            resolved.bandwidth = bandwidth_of(X, self.bandwidth, weight, self.order)
        return resolved

    def check(self) -> None:
        if isinstance(self.bandwidth, str) and self.bandwidth in RULES:
            raise InputError(
                f"{self!r} has a bandwidth rule, not a number yet. Call kernel.resolve(X) on the training rows first."
            )
        if not isinstance(self.bandwidth, numbers.Real) or not 0 < float(self.bandwidth) < np.inf:
            accepted = f"a number above 0, or one of {', '.join(RULES)}"
            raise InputError(f"bandwidth={self.bandwidth!r} is not a width. Use {accepted}.")

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return np.ones(X.shape[0])


class Radial(Stationary):
    """A kernel of (‖x − y‖ / bandwidth)². A subclass defines its `profile`."""

    radial = True
    smooth = True  # False if the profile takes a square root, which enlarges the rounding errors of small distances
    spectral_freedom: ClassVar[int | None] = None  # of a Student t spectrum. None for a Gaussian spectrum

    def tile(self, X: Rows, Y: Rows) -> Block:
        squared = self._squared_distances(X, Y)
        return self.profile(squared, namespace(squared))

    def _squared_distances(self, X: Rows, Y: Rows) -> Block:
        """(‖x − y‖ / bandwidth)² from one product [−2x, ‖x‖², 1] · [y, 1, ‖y‖²] if it is precise enough."""
        scale = 1.0 / float(self.bandwidth)  # a NumPy float64 would turn float32 rows into float64
        sparse = sp.issparse(X) or sp.issparse(Y)
        if (
            not sparse
        ):  # a shift of both sides does not change distances, and with a far origin all digits would be lost
            center = Y.mean(0)
            X, Y = X - center, Y - center
        X, Y = X * scale, Y * scale
        with np.errstate(over="ignore"):
            x2, y2 = squared_norms(X), squared_norms(Y)
            largest = float(x2.max() + y2.max())
        eps = precision(x2.dtype)
        if not eps * largest <= ROUNDING[x2.dtype.itemsize]:
            return home_of(X).pairwise(X, Y, order=2)  # rows spread over many bandwidths
        if sparse:
            squared = inner_products(X, Y)
            squared *= -2
            squared += x2[:, None]
            squared += y2
        else:
            stack, ones = namespace(X).concatenate, namespace(X).ones_like
            squared = stack([-2 * X, x2[:, None], ones(X[:, :1])], 1) @ stack([Y, ones(Y[:, :1]), y2[:, None]], 1).T
        namespace(squared).clip(squared, 0, None, out=squared)
        if not self.smooth:
            _recompute_small(squared, X, Y, 1e3 * eps * largest)
        return squared

    def profile(self, squared: Block, xp: Module) -> Block:
        """Kernel values of squared distances in bandwidths, which it may overwrite. `xp` is numpy or torch."""
        raise NotImplementedError(f"{type(self).__name__} must define profile(squared, xp).")

    def slope(self, X: Rows, V: Rows, Y: Rows) -> Block:
        center, scale = Y.mean(0), 1.0 / float(self.bandwidth)
        squared = self._squared_distances(X, Y)
        apart = ((X - center) * V).sum(-1)[:, None] - V @ (Y - center).T  # v · (x − y)
        return self.profile_slope(squared, namespace(squared)) * apart * (2 * scale**2)

    def profile_slope(self, squared: Block, xp: Module) -> Block:
        """The derivative of `profile` by the squared distance. Only for kernels that have a gradient everywhere."""
        return Kernel.slope(self, squared, squared, squared)  # raises an error

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "profile" in vars(cls) and "profile_slope" not in vars(cls):
            cls.profile_slope = Radial.profile_slope  # type: ignore[method-assign]

    def terms(self, factor: float = 1.0) -> list[Term] | None:
        return None if self.formula is None else [Term(self.formula, factor, 1.0 / self.bandwidth**2)]

    def spectral_sample(self, rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
        directions = rng.standard_normal((n, d))
        freedom = self.spectral_freedom
        if freedom is not None:  # 2ν for a Matérn-ν kernel
            directions *= np.sqrt(freedom / rng.chisquare(freedom, size=(n, 1)))
        return directions / self.bandwidth


def _recompute_small(squared: Block, X: Rows, Y: Rows, small: float) -> None:
    """Recompute the few entries that are small compared with the norms, because subtraction has lost their digits."""
    close = namespace(squared).argwhere(squared < small)
    step = max(1, 2**22 // max(X.shape[1], 1))  # number of pairs at once, because repeated rows make many pairs
    for start in range(0, len(close), step):
        i, j = close[start : start + step, 0], close[start : start + step, 1]
        if sp.issparse(X) or sp.issparse(Y):
            squared[i, j] = squared_norms(sp.csr_array(X[i]) - sp.csr_array(Y[j]))
        else:
            squared[i, j] = ((X[i] - Y[j]) ** 2).sum(-1)


class RBF(Radial):
    """Gaussian kernel exp(−‖x − y‖² / 2·bandwidth²).

    >>> float(RBF(bandwidth=1.0)([[0.0]], [[1.0]])[0, 0].round(4))
    0.6065
    """

    names = ("rbf",)
    formula = Formula.GAUSSIAN
    spectrum = "isotropic"

    @classmethod
    def from_gamma(cls, gamma: float) -> Self:
        """exp(−gamma·‖x − y‖²), with scikit-learn's parameter.

        Parameters
        ----------
        gamma : float
            A number above 0. The bandwidth is 1 / √(2 · gamma).
        """
        if not gamma > 0:
            raise InputError(f"gamma={gamma!r} is not accepted. Use a number above 0.")
        return cls(float(1.0 / np.sqrt(2.0 * gamma)))

    def profile(self, squared: Block, xp: Module) -> Block:
        squared *= -0.5
        return exponential(squared)

    def profile_slope(self, squared: Block, xp: Module) -> Block:
        return -0.5 * xp.exp(-0.5 * squared)


class Exponential(Radial):
    """exp(−‖x − y‖ / bandwidth) with the Euclidean distance (Matérn 1/2, often also called "Laplacian")."""

    names = ("exponential",)
    formula = Formula.EXPONENTIAL
    spectrum = "isotropic"
    smooth = False
    spectral_freedom = 1

    def profile(self, squared: Block, xp: Module) -> Block:
        xp.sqrt(squared, out=squared)
        squared *= -1.0
        return exponential(squared)


class Matern32(Radial):
    """(1 + √3 d) exp(−√3 d), d = ‖x − y‖ / bandwidth."""

    names = ("matern32",)
    formula = Formula.MATERN32
    spectrum = "isotropic"
    smooth = False
    spectral_freedom = 3

    def profile(self, squared: Block, xp: Module) -> Block:
        squared *= 3.0
        xp.sqrt(squared, out=squared)
        return (1.0 + squared) * exponential(-squared)

    def profile_slope(self, squared: Block, xp: Module) -> Block:
        return -1.5 * xp.exp(-xp.sqrt(3.0 * squared))


class Matern52(Radial):
    """(1 + √5 d + 5d²/3) exp(−√5 d), d = ‖x − y‖ / bandwidth."""

    names = ("matern52",)
    formula = Formula.MATERN52
    spectrum = "isotropic"
    smooth = False
    spectral_freedom = 5

    def profile(self, squared: Block, xp: Module) -> Block:
        distance = xp.sqrt(5.0 * squared)
        squared *= 5.0 / 3.0
        squared += 1.0
        squared += distance
        distance *= -1.0
        squared *= exponential(distance)
        return squared

    def profile_slope(self, squared: Block, xp: Module) -> Block:
        distance = xp.sqrt(5.0 * squared)
        return -5.0 / 6.0 * (1.0 + distance) * xp.exp(-distance)


class Laplacian(Stationary):
    """exp(−‖x − y‖₁ / bandwidth) with the city-block distance, as scikit-learn's "laplacian" (gamma = 1/bandwidth).

    For the exponential of the Euclidean distance use `Exponential`.
    """

    names = ("laplacian",)
    order = 1
    spectrum = "separable"

    def tile(self, X: Rows, Y: Rows) -> Block:
        distance = home_of(X).pairwise(X, Y, order=1)
        distance *= -1.0 / self.bandwidth
        return exponential(distance)

    def spectral_sample(self, rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
        return rng.standard_cauchy((n, d)) / self.bandwidth
