"""What of the GPU path can be checked without a GPU: the splitting, the terms and the refusals.

The Triton kernel itself is checked against float64 by benchmarks/speed/gpu.py on a machine that has one.
"""

import numpy as np
import pytest
import torch

from mercer import (
    RBF,
    BackendError,
    Cosine,
    Exponential,
    KernelPCA,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    to_device,
    use_device,
)
from mercer.geometry import fused
from mercer.geometry.operators import CenteredOperator, KernelOperator, cross_product


def emulate(kernel, X, Y, V, precision):
    """The arithmetic of the Triton kernel in torch, with halves multiplied in float32, the terms, and V."""
    left, right, unit = fused.sides(kernel, X, Y, precision)
    S = left.high.float() @ right.high.float().T
    if precision == "high":
        S = S + left.high.float() @ right.low.float().T + left.low.float() @ right.high.float().T
    squared = (left.norms[:, None] + right.norms - 2 * S).clamp_min(0)
    total = torch.zeros_like(S)
    for term in kernel.terms():
        code, (factor, scale, offset) = term.code, fused.numbers_of(term, unit)
        if code == 0:
            total += factor * torch.exp2(scale * squared)
        elif code <= 3:
            d = (scale * squared).sqrt()
            total += factor * torch.exp(-d) * {1: 1.0, 2: 1 + d, 3: 1 + d + d**2 / 3}[code]
        elif code == 4:
            total += factor * S
        elif code == 5:
            total += factor * S / (left.norms[:, None] * right.norms).sqrt()
        else:
            total += factor * (scale * S + offset) ** (code - 8)
    return total @ V


KERNELS = [
    RBF(3.0),
    Exponential(2.0),
    Matern32(2.0),
    Matern52(2.0),
    Linear(),
    Cosine(),
    Polynomial(3, 1.0, 0.1),
    0.3 * RBF(2.0) + 2.0 * Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("precision, most", [("fast", 2e-3), ("high", 3e-6), ("exact", 3e-6)])
def test_split_arithmetic_keeps_its_precision(kernel, precision, most):
    generator = torch.Generator().manual_seed(0)
    X = torch.randn((60, 7), generator=generator) + 3
    Y = torch.randn((80, 7), generator=generator) + 3
    V = torch.randn((80, 4), generator=generator)
    exact = kernel(X.double(), Y.double()) @ V.double()
    error = float((emulate(kernel, X, Y, V, precision) - exact).norm() / exact.norm())
    assert error < most


def test_high_is_far_better_than_fast():
    X = torch.randn((100, 5), generator=torch.Generator().manual_seed(1))
    V = torch.ones((100, 1))
    exact = RBF(2.0)(X.double()) @ V.double()
    errors = [float((emulate(RBF(2.0), X, X, V, p) - exact).norm() / exact.norm()) for p in ("fast", "high")]
    assert errors[1] < errors[0] / 50


def test_equal_rows_are_at_distance_zero_in_fast_precision():
    X = 100 * torch.randn((20, 6), generator=torch.Generator().manual_seed(2))
    side = fused.sides(RBF(1.0), X, X, "fast")[0]
    squared = side.norms - (side.high.float() ** 2).sum(1)
    assert torch.all(squared == 0)


@pytest.mark.parametrize("kernel", [Laplacian(1.0), RBF(1.0) * Linear(), Polynomial(2.5, 1.0, 1.0)], ids=repr)
def test_other_kernels_are_not_fused(kernel):
    assert kernel.terms() is None


def test_cpu_tensors_take_tiles():
    X = torch.randn((30, 3), generator=torch.Generator().manual_seed(0))
    assert not fused.supports(RBF(1.0), X)
    V = np.random.default_rng(0).standard_normal((30, 2))
    np.testing.assert_allclose(KernelOperator(RBF(1.0), X) @ V, RBF(1.0)(X.double().numpy()) @ V, atol=1e-5)
    np.testing.assert_allclose(cross_product(RBF(1.0), X[:7], X, V), RBF(1.0)(X.double().numpy())[:7] @ V, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_centered_operator_answers_where_v_lives(dtype):
    X = torch.randn((40, 3), dtype=dtype, generator=torch.Generator().manual_seed(0))
    weight = np.random.default_rng(0).uniform(0.5, 2, 40)
    V = np.random.default_rng(1).standard_normal((40, 3))
    on_host = CenteredOperator(KernelOperator(RBF(1.0), X), weight) @ V
    on_torch = CenteredOperator(KernelOperator(RBF(1.0), X), weight) @ torch.as_tensor(V)
    assert isinstance(on_torch, torch.Tensor)
    np.testing.assert_allclose(on_torch.numpy(), on_host, atol=1e-5 if dtype == torch.float32 else 1e-12)


def test_krylov_runs_on_tensors(monkeypatch):
    """The path a GPU takes, tall matrices as tensors, with a rough operator first."""
    X = torch.randn((300, 4), dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    class OnDevice(KernelOperator):
        def random(self, width, seed):
            return torch.randn(
                (self.shape[0], width), dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
            )

        @property
        def fast(self):
            return Rough(self.kernel, self.X)

    class Rough(OnDevice):
        fast = None

        def __matmul__(self, V):
            product = super().__matmul__(V)
            return product.half().to(product.dtype) if isinstance(product, torch.Tensor) else product

    from mercer.solvers.eigen import top as eigen

    found = eigen.top(CenteredOperator(OnDevice(RBF(2.0), X)), 5, "krylov", tol=1e-8)
    truth = KernelPCA(5, kernel=RBF(2.0), eigen_solver="full").fit(X.numpy())
    assert found.converged and found.gap < 1e-8
    np.testing.assert_allclose(found.value[0], truth.eigenvalues_, rtol=1e-10)
    assert isinstance(found.value[1], np.ndarray)


def test_no_gpu_is_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BackendError, match="torch finds no GPU. Use device='cpu'"):
        to_device(np.ones((3, 2)), "cuda")
    with pytest.raises(BackendError, match="torch finds no GPU"), use_device("cuda"):
        pass
    for device in ("tpu", 1.5):
        with pytest.raises(BackendError, match=f"device={device!r} is not known to torch. Acc"), use_device(device):
            pass


def test_too_little_gpu_memory_is_said_before_the_copy(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("mercer.backend.memory_available", lambda device=None: 10)
    with pytest.raises(BackendError, match=r"3 × 2 rows needs 24 B and 10 B are available"):
        to_device(np.ones((3, 2)), "cuda")


def test_to_device_gives_contiguous_float32():
    X = np.asfortranarray(np.arange(12.0).reshape(4, 3))[::2]
    moved = to_device(X, "cpu")
    assert moved.dtype == torch.float32 and moved.is_contiguous()
    np.testing.assert_array_equal(moved.numpy(), X)
    assert KernelPCA(1).fit(moved).X_fit_.dtype == np.float32


def test_tensors_with_nan_one_column_and_odd_strides():
    X = torch.randn((50, 6), generator=torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="torch tensor that contains NaN or infinity"):
        KernelPCA(2).fit(torch.where(X > 2, torch.nan, X))
    one = X[:, ::6]
    assert one.shape[1] == 1 and not one.is_contiguous()
    ours = KernelPCA(1, kernel="rbf").fit(one).eigenvalues_
    np.testing.assert_allclose(ours, KernelPCA(1, kernel="rbf").fit(one.double().numpy()).eigenvalues_, rtol=1e-5)
