"""Random Fourier features of stationary kernels."""

import numpy as np

from ...errors import InputError
from ...inputs.weights import generator_of
from ...kernels import as_kernel
from ...kernels.base import KernelLike
from ...rows import empty, like, namespace
from ...types import Array, Rows
from .base import FeatureMap


class FourierMap(FeatureMap):
    """Features √(1/D) [cos(Ωx), sin(Ωx)] with frequencies Ω drawn from the kernel's spectral density.

    The features do not depend on the data, so they need no landmarks and rows can be streamed. For the same
    size the error is usually larger than that of `LandmarkMap`.

    Parameters
    ----------
    kernel : a kernel with a `spectrum`, which is RBF, Exponential, Matern32, Matern52 or Laplacian.
    n_features : number of features, rounded up to an even number.
    orthogonal : draw frequencies in orthogonal blocks for a smaller variance. Isotropic kernels only.
    random_state : seed.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> FourierMap("rbf", n_features=200).fit_transform(X).shape
    (100, 200)
    """

    def __init__(
        self, kernel: KernelLike = "rbf", n_features: int = 500, orthogonal: bool = False, random_state: int = 0
    ):
        self.kernel = kernel
        self.n_features = n_features
        self.orthogonal = orthogonal
        self.random_state = random_state

    def learn(self, X: Rows, weight: Array | None = None, least: float = 0.0) -> None:
        """Draw the frequencies for the columns of X."""
        self._remember(X)
        kernel = as_kernel(self.kernel).resolve(X, weight)
        if kernel.spectrum is None:
            raise InputError(
                f"{kernel!r} has no random Fourier features. Use RBF, Exponential, Matern32, Matern52 or Laplacian. "
                "For any other kernel use LandmarkMap."
            )
        if self.orthogonal and kernel.spectrum != "isotropic":
            raise InputError(
                f"Orthogonal frequencies need a kernel of the Euclidean distance, and {type(kernel).__name__} uses "
                "another one. Use orthogonal=False, or Exponential."
            )
        if not self.n_features >= 2:
            raise InputError(f"n_features={self.n_features!r} is not accepted. Use a number of at least 2.")
        kernel.check()
        self.kernel_ = kernel
        half, d = -(-int(self.n_features) // 2), X.shape[1]
        rng = generator_of(self.random_state)
        frequencies = kernel.spectral_sample(rng, half, d)
        if self.orthogonal:
            frequencies = _orthogonal(rng, half, d) * np.linalg.norm(frequencies, axis=1, keepdims=True)
        self.frequencies_ = np.ascontiguousarray(frequencies.T)
        self.rank_ = 2 * half
        self.reason_ = f"{self.rank_} random Fourier features approximate {kernel!r}."
        self._measure(X, None)

    def features(self, X: Rows) -> Rows:
        half = self.rank_ // 2
        phase = X @ like(self.frequencies_, X)
        Z = empty((X.shape[0], 2 * half), phase)
        xp = namespace(phase)
        xp.cos(phase, out=Z[:, :half])
        xp.sin(phase, out=Z[:, half:])
        Z /= half**0.5
        return Z

    def slopes(self, X: Rows, V: Rows) -> Rows:
        frequencies, half = like(self.frequencies_, X), self.rank_ // 2
        phase, speed = X @ frequencies, (V @ frequencies) / half**0.5
        xp = namespace(phase)
        return xp.concatenate([-xp.sin(phase) * speed, xp.cos(phase) * speed], 1)


def _orthogonal(rng: np.random.Generator, n: int, d: int) -> Array:
    """n unit rows in blocks of d mutually orthogonal ones, each uniform on the sphere."""
    blocks = []
    for _ in range(-(-n // d)):
        Q, R = np.linalg.qr(rng.standard_normal((d, d)))
        blocks.append(Q * np.sign(np.diag(R)))
    return np.concatenate(blocks)[:n]
