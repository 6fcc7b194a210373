"""The six operations of rows.py give the same result on every backend."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from conftest import HOMES
from mercer import homes, rows
from mercer.backend import blas_threads
from mercer.homes import Computed, home_of
from naive import assert_close


class Lines(Computed):
    """A matrix that is computed on demand and counts how often."""

    def __init__(self, A):
        self.A, self.shape, self.dtype, self.asked = A, A.shape, A.dtype, 0

    def __getitem__(self, which):
        self.asked += 1
        return self.A[which]


@pytest.fixture(params=[*HOMES, "computed"])
def home(request):
    """Moves a host array to one of the backends, or behind a matrix that is computed on demand."""
    return {**HOMES, "computed": Lines}[request.param]


@pytest.fixture
def Z():
    return np.random.default_rng(0).standard_normal((29, 4))


@pytest.fixture(params=[8, 10_000], ids=["blocks", "one block"])
def block(request, monkeypatch):
    monkeypatch.setattr(homes.base, "BLOCK", request.param)
    monkeypatch.setattr(homes.computed, "ENTRIES", 4 * request.param)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gram(home, block, Z, dtype):
    Z = Z.astype(dtype)
    weight = np.random.default_rng(1).random(29)
    wide = Z.astype(np.float64)
    for given, expected in [(None, wide.T @ wide), (weight, wide.T @ np.diag(weight) @ wide)]:
        G = rows.gram(home(Z), given)
        assert isinstance(G, np.ndarray) and G.dtype == np.float64
        assert_close(G, expected, rtol=1e-13, atol=1e-13)  # the sums of float32 rows are float64, too
        again, sums = rows.gram(home(Z), given, sums=True)
        assert_array_equal(again, G)
        assert sums.dtype == np.float64 and isinstance(sums, np.ndarray)
        assert_close(sums, wide.T @ (np.ones(29) if given is None else given), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("shape", [(29,), (29, 3)])
def test_tdot(home, block, Z, shape):
    A = np.random.default_rng(1).standard_normal(shape)
    answer = rows.tdot(home(Z.astype(np.float32)), A)
    assert answer.dtype == np.float64 and isinstance(answer, np.ndarray)
    assert_close(answer, Z.astype(np.float32).astype(np.float64).T @ A, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_dot(home, block, Z, shape):
    W = np.random.default_rng(1).standard_normal(shape)
    answer = rows.dot(home(Z.astype(np.float32)), W)
    assert answer.dtype == np.float64 and isinstance(answer, np.ndarray)
    expected = Z.astype(np.float32).astype(np.float64) @ W
    assert_close(answer, expected, rtol=1e-12, atol=1e-13)
    weight = np.random.default_rng(2).standard_normal(29)
    assert_close(rows.dot(home(Z.astype(np.float32)), W, weight), np.diag(weight) @ expected, rtol=1e-12, atol=1e-13)


def test_take_keeps_order_and_repeats(home, Z):
    idx = [20, 3, 3, 0]
    assert_array_equal(rows.take(home(Z), idx), Z[idx])
    mask = Z[:, 0] > 0
    assert_array_equal(rows.take(home(Z), mask), Z[mask])
    assert rows.take(home(Z.astype(np.float32)), idx).dtype == np.float64


def test_moments_are_computed_once_for_a_weight(Z):
    lines, weight = Lines(Z), np.arange(29.0)
    for given in (None, weight, weight + 1):
        before = lines.asked
        G = rows.gram(lines, given)
        assert lines.asked == before + 1
        rows.gram(lines, given, sums=True)
        assert lines.asked == before + 1
        assert_close(G, (Z.T * (1 if given is None else given)) @ Z)


def test_moments_follow_a_weight_that_is_changed_in_place(Z):
    lines, weight = Lines(Z), np.ones(29)
    rows.gram(lines, weight)
    weight[0] = 5.0
    assert_close(rows.gram(lines, weight), (Z.T * weight) @ Z, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("place", HOMES)
def test_host_and_like(place, Z):
    moved = HOMES[place](Z.astype(np.float32))
    back = rows.host(moved)
    assert isinstance(back, np.ndarray) and back.dtype == np.float32
    assert_array_equal(back, Z.astype(np.float32))
    small = rows.like(np.eye(4), moved)
    assert str(small.dtype).endswith("float32")
    assert home_of(small).name == ("torch tensor" if home_of(moved).name == "torch tensor" else "NumPy array")


def test_a_tensor_with_a_gradient_comes_to_the_host(Z):
    import torch

    tensor = torch.as_tensor(Z).requires_grad_()
    assert_array_equal(rows.host(tensor), Z)
    assert_close(rows.host(rows.gram(tensor.detach())), Z.T @ Z)


def test_dask_with_several_column_chunks(Z):
    import dask.array

    split = dask.array.from_array(Z, chunks=(10, 2))
    assert_close(rows.gram(split), Z.T @ Z)
    assert_close(rows.dot(split, np.ones(4)), Z.sum(axis=1))
    assert_close(rows.tdot(split, np.ones(29)), Z.sum(axis=0))


def test_tasks_share_one_limit_of_blas_threads():
    from mercer.backend import _pools, one_thread

    def threads():
        return {pool["num_threads"] for pool in _pools().info() if pool["user_api"] == "blas"}

    with blas_threads(2):
        before = threads()
        first, second = one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads() == {1}  # the second task still runs
        second.__exit__(None, None, None)
        assert threads() == before


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, lambda A: Lines(sp.csr_matrix(A))])
def test_sparse_rows_have_the_verbs(block, Z, kind):
    Z = np.where(Z > 0.3, Z, 0.0)
    there, weight = kind(Z), np.random.default_rng(1).random(29)
    A, W = np.random.default_rng(2).standard_normal((29, 3)), np.random.default_rng(3).standard_normal((4, 2))
    assert_close(rows.dot(there, W), Z @ W, atol=1e-13)
    assert_close(rows.tdot(there, A), Z.T @ A, atol=1e-13)
    assert_close(rows.squares(there), (Z**2).sum(axis=1), atol=1e-13)
    assert_array_equal(rows.take(there, [4, 0]), Z[[4, 0]])
    for given in (None, weight):
        G, sums = rows.gram(there, given, sums=True)
        assert_close(G, Z.T @ ((np.ones(29) if given is None else given)[:, None] * Z), atol=1e-13)
        assert_close(sums, Z.T @ (np.ones(29) if given is None else given), atol=1e-13)
