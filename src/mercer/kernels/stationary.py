"""Kernels of the distance between two rows, all through the squared distance from one matrix product."""

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ..backend import home, namespace
from ..errors import InputError
from .bandwidth import RULES, bandwidth_of
from .base import Kernel, products, squared_norms


class Radial(Kernel):
    """A kernel of ‖x − y‖ / bandwidth.

    ``bandwidth`` is a number or a rule resolved on the training rows: "median" (pairwise distance), "knn" (mean
    distance to the ten nearest neighbours), "scale" (scikit-learn's gamma = 1/(d·var)), "range" (diagonal of the
    bounding box).
    """

    stationary = True
    smooth = True  # False: the profile takes a square root of the squared distance, so cancellation must be mended

    def __init__(self, bandwidth="median"):
        self.bandwidth = bandwidth

    def resolve(self, X, weight=None):
        if isinstance(self.bandwidth, str):
            return type(self)(bandwidth_of(X, self.bandwidth, weight))
        return type(self)(self.bandwidth)

    def _check_resolved(self):
        if isinstance(self.bandwidth, str) and self.bandwidth in RULES:
            raise InputError(
                f"{self!r} has a bandwidth rule, not a number yet. Call kernel.resolve(X) on the training rows first."
            )
        if isinstance(self.bandwidth, str) or not self.bandwidth > 0 or not np.isfinite(self.bandwidth):
            raise InputError(
                f"bandwidth={self.bandwidth!r} is not a width. "
                f"Accepted: a number above 0, or one of {', '.join(RULES)}."
            )

    def _tile(self, X, Y):
        squared = self._squared_distances(X, Y)
        return self._profile(squared, namespace(squared))

    def _squared_distances(self, X, Y):
        """(‖x − y‖ / bandwidth)² for all pairs from one product [−2x, ‖x‖², 1] · [y, 1, ‖y‖²]."""
        scale = 1.0 / self.bandwidth
        if sp.issparse(X) or sp.issparse(Y):
            squared = products(X, Y) * (-2 * scale * scale)
            squared += squared_norms(X)[:, None] * scale * scale + squared_norms(Y) * scale * scale
            return np.clip(squared, 0, None, out=squared)
        xp = namespace(X)
        # Distances do not change when both sides are shifted; without the shift a far origin costs all digits.
        centre = Y.mean(0)
        X, Y = (X - centre) * scale, (Y - centre) * scale
        ones = xp.ones_like(X[:, :1]), xp.ones_like(Y[:, :1])
        x2, y2 = squared_norms(X), squared_norms(Y)
        stack = xp.concatenate
        squared = stack([-2 * X, x2[:, None], ones[0]], 1) @ stack([Y, ones[1], y2[:, None]], 1).T
        xp.clip(squared, 0, None, out=squared)
        if not self.smooth and squared.shape[0] and squared.shape[1]:
            self._mend(squared, X, Y, x2.max() + y2.max())
        return squared

    @staticmethod
    def _mend(squared, X, Y, largest):
        """Recompute the few entries that are small beside the norms, where the subtraction has lost their digits."""
        eps = np.finfo(np.float32).eps if squared.dtype.itemsize == 4 else np.finfo(np.float64).eps
        close = namespace(squared).argwhere(squared < 1e3 * eps * largest)
        i, j = close[:, 0], close[:, 1]
        squared[i, j] = ((X[i] - Y[j]) ** 2).sum(-1)

    def _profile(self, squared, xp):
        raise NotImplementedError(f"{type(self).__name__} must define _profile(squared, xp).")

    def diag(self, X):
        return np.ones(X.shape[0])

    def spectral_sample(self, rng, n, d):
        """n frequencies of the kernel's spectral density in d dimensions (Bochner), for random Fourier features."""
        directions = rng.standard_normal((n, d))
        freedom = self.spectral_freedom
        if freedom is not None:  # Matérn-ν has a multivariate Student t spectrum with 2ν degrees of freedom
            directions *= np.sqrt(freedom / rng.chisquare(freedom, size=(n, 1)))
        return directions / self.bandwidth

    spectral_freedom: int | None = None


class RBF(Radial):
    """Gaussian kernel exp(−‖x − y‖² / 2·bandwidth²).

    >>> float(RBF(bandwidth=1.0)([[0.0]], [[1.0]])[0, 0].round(4))
    0.6065
    """

    @classmethod
    def from_gamma(cls, gamma):
        """exp(−gamma·‖x − y‖²), scikit-learn's parameter."""
        if not gamma > 0:
            raise InputError(f"gamma={gamma!r} is not accepted: give a number above 0.")
        return cls(float(1.0 / np.sqrt(2.0 * gamma)))

    def _profile(self, squared, xp):
        squared *= -0.5
        return xp.exp(squared, out=squared)


class Exponential(Radial):
    """exp(−‖x − y‖ / bandwidth) with the Euclidean distance (Matérn 1/2; often also called "Laplacian")."""

    smooth = False
    spectral_freedom = 1

    def _profile(self, squared, xp):
        xp.sqrt(squared, out=squared)
        squared *= -1.0
        return xp.exp(squared, out=squared)


class Matern32(Radial):
    """(1 + √3 d) exp(−√3 d), d = ‖x − y‖ / bandwidth."""

    smooth = False
    spectral_freedom = 3

    def _profile(self, squared, xp):
        squared *= 3.0
        xp.sqrt(squared, out=squared)
        return (1.0 + squared) * xp.exp(-squared)


class Matern52(Radial):
    """(1 + √5 d + 5d²/3) exp(−√5 d), d = ‖x − y‖ / bandwidth."""

    smooth = False
    spectral_freedom = 5

    def _profile(self, squared, xp):
        distance = xp.sqrt(5.0 * squared)
        squared *= 5.0 / 3.0
        squared += 1.0
        squared += distance
        distance *= -1.0
        squared *= xp.exp(distance, out=distance)
        return squared


class Laplacian(Radial):
    """exp(−‖x − y‖₁ / bandwidth) with the city-block distance, as scikit-learn's "laplacian" (gamma = 1/bandwidth).

    For the exponential of the Euclidean distance use `Exponential`.
    """

    def _tile(self, X, Y):
        if home(X) == "torch":
            distance = namespace(X).cdist(X, Y, p=1.0)
        else:
            X, Y = (A.toarray() if sp.issparse(A) else A for A in (X, Y))
            distance = cdist(X, Y, "cityblock").astype(X.dtype, copy=False)
        distance *= -1.0 / self.bandwidth
        return namespace(distance).exp(distance, out=distance)

    def spectral_sample(self, rng, n, d):
        return rng.standard_cauchy((n, d)) / self.bandwidth
