"""Random Fourier features of stationary kernels."""

import numpy as np
import scipy.sparse as sp

from ...backend import home, namespace
from ...errors import InputError
from ...inputs.check import check_rows
from ...kernels import as_kernel
from ...rows import like
from .base import FeatureMap


class FourierMap(FeatureMap):
    """Features √(1/D) [cos(Ωx), sin(Ωx)] with frequencies Ω drawn from the kernel's spectral density.

    The features know nothing of the data, so they need no landmarks and stream over any number of rows; for the same
    size the error is usually larger than that of `LandmarkMap`.

    Parameters
    ----------
    kernel : a kernel with a `spectrum`: RBF, Exponential, Matern32, Matern52 or Laplacian.
    n_features : number of features, rounded up to an even number.
    orthogonal : draw frequencies in orthogonal blocks (smaller variance; isotropic kernels only).
    random_state : seed.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> FourierMap("rbf", n_features=200).fit_transform(X).shape
    (100, 200)
    """

    def __init__(self, kernel="rbf", n_features=500, orthogonal=False, random_state=0):
        self.kernel = kernel
        self.n_features = n_features
        self.orthogonal = orthogonal
        self.random_state = random_state

    def fit_transform(self, X, y=None, weight=None):
        """Draw the frequencies for the columns of X and return the features of its rows."""
        self.learn(X, weight)
        return self.transform(X)

    def learn(self, X, weight=None):
        """Draw the frequencies for the columns of X."""
        X = check_rows(self, X, reset=True, read=False)
        kernel = as_kernel(self.kernel).resolve(X, weight)
        if kernel.spectrum is None:
            raise InputError(
                f"{kernel!r} has no random Fourier features. Accepted: one stationary kernel (RBF, Exponential, "
                "Matern32, Matern52, Laplacian). For any other kernel use LandmarkMap."
            )
        if self.orthogonal and kernel.spectrum != "isotropic":
            raise InputError(
                f"Orthogonal frequencies need a kernel of the Euclidean distance; {type(kernel).__name__} uses another "
                "one. Use orthogonal=False, or Exponential."
            )
        if not self.n_features >= 2:
            raise InputError(f"n_features={self.n_features!r} is not accepted: give a number of at least 2.")
        kernel.check()
        self.kernel_ = kernel
        half, d = -(-int(self.n_features) // 2), X.shape[1]
        rng = np.random.default_rng(self.random_state)
        frequencies = kernel.spectral_sample(rng, half, d)
        if self.orthogonal:
            frequencies = _orthogonal(rng, half, d) * np.linalg.norm(frequencies, axis=1, keepdims=True)
        self.frequencies_ = np.ascontiguousarray(frequencies.T)
        self.rank_ = 2 * half
        self.reason_ = f"Fourier: {self.rank_} random features of {kernel!r}."
        self._measure(X, None)

    def _transform(self, X):
        half = self.rank_ // 2
        if home(X) == "torch":
            phase = X @ like(self.frequencies_, X)
            return namespace(X).concatenate([phase.cos(), phase.sin()], 1) / half**0.5
        frequencies = self.frequencies_.astype(X.dtype, copy=False)
        phase = X @ frequencies if not sp.issparse(X) else np.asarray(X @ frequencies)
        Z = np.empty((X.shape[0], 2 * half), dtype=phase.dtype)
        np.cos(phase, out=Z[:, :half])
        np.sin(phase, out=Z[:, half:])
        Z /= np.sqrt(half, dtype=Z.dtype)
        return Z


def _orthogonal(rng, n, d):
    """n unit rows in blocks of d mutually orthogonal ones, each uniform on the sphere."""
    blocks = []
    for _ in range(-(-n // d)):
        Q, R = np.linalg.qr(rng.standard_normal((d, d)))
        blocks.append(Q * np.sign(np.diag(R)))
    return np.concatenate(blocks)[:n]
