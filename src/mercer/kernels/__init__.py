"""Kernels, such as `RBF(2.0)` or `0.3 * RBF("median") + Linear()`, also from a name or a Python function."""

from .bandwidth import bandwidth_of
from .base import REGISTRY, Formula, Kernel, Term
from .chi2 import AdditiveChiSquared, ChiSquared
from .compose import Product, Scaled, Sum
from .forest import Forest
from .given import Callable, Precomputed, as_kernel
from .graph import Diffusion, GraphLaplacian
from .inner import Cosine, Linear, Polynomial, Sigmoid
from .labeled_graphs import WeisfeilerLehman
from .radial import RBF, Exponential, Laplacian, Matern32, Matern52, Radial
from .sets import Jaccard, MinMax
from .strings import Mismatch, Spectrum
