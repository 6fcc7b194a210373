"""Kernels from scikit-learn's parameters."""

from functools import partial
from typing import Any

from ..errors import InputError
from .base import Kernel
from .chi2 import ChiSquared
from .given import Callable, as_kernel
from .inner import Polynomial, Sigmoid
from .radial import RBF


def sklearn_kernel(kernel: Any, gamma: float | None, degree: float, coef0: float, params: dict | None) -> Kernel:
    """The kernel of scikit-learn's `kernel`, `gamma`, `degree`, `coef0` and `kernel_params`."""
    if not isinstance(kernel, str):
        if callable(kernel) and not isinstance(kernel, Kernel):
            return Callable(partial(kernel, **params) if params else kernel)
        return as_kernel(kernel)
    if gamma is not None and gamma == 0 and kernel in ("rbf", "poly", "sigmoid"):
        raise InputError(f"gamma=0 makes the kernel {kernel!r} constant. Use a number above 0, or None.")
    if kernel == "rbf":
        return RBF.from_gamma(gamma) if gamma else RBF()
    if kernel == "chi2" and gamma is not None:
        return ChiSquared(gamma)
    if kernel == "poly":
        return Polynomial(degree, coef0, gamma)
    return Sigmoid(gamma, coef0) if kernel == "sigmoid" else as_kernel(kernel)
