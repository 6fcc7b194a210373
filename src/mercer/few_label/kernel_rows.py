"""Rows that are known by a kernel only, such as strings, sets and other objects, or similarities of all pairs."""

from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..estimators.kernel_pca import KernelPCA
from ..geometry.open import POLICIES
from ..kernels.base import Kernel, KernelLike
from ..types import Rows


class KernelRows:
    """The principal components of rows in a kernel's feature space, in the place of `TableEncoder`.

    Parameters
    ----------
    kernel : kernel object or function of two rows, or "precomputed" if the rows are rows of a similarity matrix.
    seed : of the landmarks that many rows are approximated by.
    """

    ignored_: ClassVar[dict[str, str]] = {}

    def __init__(self, kernel: KernelLike, seed: int) -> None:
        self.kernel, self.seed = kernel, seed

    def fit_transform(self, X: Rows) -> np.ndarray:
        """Learn the components of all rows. Return the rows along them."""
        n, few = len(X) if not hasattr(X, "shape") else X.shape[0], POLICIES["few labels"]
        if n < 2:
            raise InputError(f"X has {n} row(s). At least 2 are needed.")
        exact = n <= few.exact_rows or self.kernel == "precomputed"
        self.components_ = KernelPCA(
            min(300, n - 1),
            kernel=self.kernel,
            approx="auto" if exact else few.landmarks,
            remove_zero_eig=True,
            random_state=self.seed,
        )
        rows = self._checked(self.components_.fit(X).transform(X))
        self.names_ = [f"component {number + 1}" for number in range(rows.shape[1])]
        return rows

    def transform(self, X: Rows) -> np.ndarray:
        """Any rows along these components. For "precomputed" X is (m, n), similarities to the rows of the fit."""
        return np.ascontiguousarray(self.components_.transform(X))

    def _checked(self, rows: np.ndarray) -> np.ndarray:
        if rows.shape[1] == 0:
            raise InputError(f"All rows are the same to kernel={self.kernel!r}. Use another kernel, or check the rows.")
        return np.ascontiguousarray(rows)


def rows_kernel(kernel: Any) -> bool:
    """Whether the rows of X are compared by kernel=, which is then not a matrix next to the columns.

    >>> from mercer import Spectrum
    >>> rows_kernel(Spectrum(3)), rows_kernel("precomputed"), rows_kernel(np.eye(3))
    (True, True, False)
    """
    if isinstance(kernel, str) and kernel != "precomputed":
        raise InputError(
            f"Invalid kernel={kernel!r}, which is not a matrix of numbers. Accepted: an (n, n) matrix of similarities, "
            'a kernel object such as Spectrum(3), a function of two rows, or "precomputed".'
        )
    return isinstance(kernel, (str, Kernel)) or callable(kernel)
