"""Kernels: `RBF(2.0)`, `0.3 * RBF("median") + Linear()`, a name, or a Python function."""

from .bandwidth import bandwidth_of
from .base import Callable, Kernel, Precomputed, Product, Scaled, Sum, as_kernel
from .graph import Diffusion, GraphLaplacian
from .inner import Cosine, Linear, Polynomial, Sigmoid
from .radial import RBF, Exponential, Laplacian, Matern32, Matern52

NAMES = {
    "rbf": RBF,
    "exponential": Exponential,
    "laplacian": Laplacian,
    "matern32": Matern32,
    "matern52": Matern52,
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "cosine": Cosine,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
    "diffusion": Diffusion,
    "graph_laplacian": GraphLaplacian,
}

__all__ = [
    "NAMES",
    "RBF",
    "Callable",
    "Cosine",
    "Diffusion",
    "Exponential",
    "GraphLaplacian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "as_kernel",
    "bandwidth_of",
]
