"""Symmetric matrices as their products with tall matrices."""

from .base import Operator
from .centered import CenteredOperator
from .radial import kernel_operator
from .recomputed import KernelOperator, cross_product
from .stored import DenseOperator, DeviceMatrix, FactorOperator, SparseFactor, StoredKernel
