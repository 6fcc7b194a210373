"""Kernels that compare histograms (rows of counts or fractions) by the chi-squared distance."""

import numbers

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InputError
from ..types import Block, Rows
from .base import Kernel, exponential


class AdditiveChiSquared(Kernel):
    """−Σ_j (x_j − y_j)² / (x_j + y_j) of rows without negative entries, as scikit-learn's "additive_chi2".

    It is a kernel only after centering, so use it with `KernelPCA` and other methods that center. A column in which
    both rows are 0 adds 0.
    """

    names = ("additive_chi2",)
    psd = False
    stationary = True

    def tile(self, X: Rows, Y: Rows) -> Block:
        X, Y = (rows.toarray() if sp.issparse(rows) else rows for rows in (X, Y))
        if bool((X < 0).any()) or bool((Y < 0).any()):
            raise InputError(
                f"X contains negative numbers, and {type(self).__name__} compares histograms. Give numbers of at least "
                "0, such as counts or fractions, or use RBF or Laplacian."
            )
        K = 0.0 * (X[:, :1] @ Y[:, :1].T)
        for x, y in zip(X.T, Y.T):  # column by column, without an n × m × d array
            total = x[:, None] + y
            total += total == 0
            gap = x[:, None] - y
            gap *= gap
            gap /= total
            K -= gap
        return K

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return np.zeros(X.shape[0])


class ChiSquared(AdditiveChiSquared):
    """exp(−gamma · Σ_j (x_j − y_j)² / (x_j + y_j)) of rows without negative entries, as scikit-learn's "chi2".

    >>> ChiSquared(gamma=2.0)([[0.0, 1.0]], [[0.0, 3.0]]).round(4)
    array([[0.1353]])
    """

    names = ("chi2",)
    psd = True

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def check(self) -> None:
        if not isinstance(self.gamma, numbers.Real) or not 0 < float(self.gamma) < np.inf:
            raise InputError(f"gamma={self.gamma!r} is not accepted. Use a number above 0.")

    def tile(self, X: Rows, Y: Rows) -> Block:
        K = super().tile(X, Y)
        K *= float(self.gamma)
        return exponential(K)

    def diag(self, X: Rows) -> NDArray[np.float64]:
        return np.ones(X.shape[0])
