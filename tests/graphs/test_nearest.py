"""Nearest rows by products in single precision: always those of the exact distances, whatever the rounding."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from mercer.graphs import neighbours
from mercer.graphs.nearest import Products
from mercer.graphs.neighbours import build
from mercer.kernels.graph import neighbour_graph

rng = np.random.default_rng(0)
NORMAL = rng.normal(size=(400, 14))


def naive(rows, X, k):
    D = np.sqrt(np.sum((X[:, None].astype(float) - rows[None].astype(float)) ** 2, axis=2))
    index = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, index, axis=1), index


def search(rows, X, k):
    """(distances, indices, rows the trees were asked about)."""
    asked = []

    def trees():
        def find(some, k):
            asked.extend(some)
            return NearestNeighbors(algorithm="kd_tree").fit(rows).kneighbors(some, k)

        return find

    return *Products(rows, trees)(X, k), asked


@pytest.mark.parametrize("k", [1, 5, 11])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_the_exact_search(k, dtype):
    rows, X = NORMAL.astype(dtype), np.concatenate([NORMAL[:50], rng.normal(size=(30, 14))]).astype(dtype)
    distance, index, asked = search(rows, X, k)
    expected, near = naive(rows, X, k)
    np.testing.assert_array_equal(index, near)
    np.testing.assert_allclose(distance, expected, rtol=1e-12, atol=1e-12)
    assert distance.dtype == np.float64 and not asked and (distance[:50, 0] == 0).all()


def test_what_single_precision_cannot_order_is_asked_elsewhere():
    """Heaps 1e4 apart, of width 1e-3: in single precision all rows of a heap are equally far."""
    heaps = 1e4 * rng.normal(size=(4, 14))[np.arange(400) % 4] + 1e-3 * rng.normal(size=(400, 14))
    _, index, asked = search(heaps, heaps, 8)
    np.testing.assert_array_equal(index, naive(heaps, heaps, 8)[1])
    assert len(asked) == 400


def test_a_few_coarse_rows_do_not_spoil_the_others():
    rows = NORMAL.copy()
    rows[:8] = 1e5 + 1e-4 * rows[:8]  # far from the rest, near each other
    _, index, asked = search(rows, rows, 4)
    np.testing.assert_array_equal(index, naive(rows, rows, 4)[1])
    assert 8 <= len(asked) < 400


def test_ties_and_duplicates():
    grid = rng.integers(0, 2, size=(400, 14)).astype(float)
    distance, index, _ = search(grid, grid, 9)
    np.testing.assert_allclose(distance, naive(grid, grid, 9)[0])  # which of the equally near rows is free
    assert all(len(set(row)) == 9 for row in index)
    same = np.zeros((400, 14))
    assert (search(same, same, 5)[0] == 0).all()


def test_numbers_beyond_single_precision():
    rows = NORMAL * 1e30
    distance, index, asked = search(rows, rows, 5)
    np.testing.assert_array_equal(index, naive(rows, rows, 5)[1])
    assert len(asked) == 400 and np.isfinite(distance).all()
    far = np.full((1, 14), 1e30)  # a query only
    _, index, asked = search(NORMAL, far, 5)
    assert len(asked) == 1


def test_many_neighbours_of_few_rows():
    distance, _, asked = search(NORMAL[:40], NORMAL[:40], 39)
    np.testing.assert_allclose(distance, naive(NORMAL[:40], NORMAL[:40], 39)[0])
    assert len(asked) == 40


def test_graphs_are_the_same_by_either_search(monkeypatch):
    X = load_digits().data[:900]  # whole numbers: ties
    X = X + 1e-3 * np.random.default_rng(1).random(X.shape)
    expected = neighbour_graph(X, 10)[0]
    monkeypatch.setattr(neighbours, "PRODUCTS_ROWS", 100)
    used = []
    monkeypatch.setattr(neighbours, "Products", lambda *a: used.append(1) or Products(*a))
    found = neighbour_graph(X, 10)[0]
    assert used and abs(found - expected).max() < 1e-12
    assert neighbour_graph(sp.csr_matrix(X), 10)[0].nnz == found.nnz and len(used) == 1  # sparse rows: by scikit-learn


@pytest.mark.parametrize("d", [3, 30])  # a tree measures differences, products lose half of the digits
def test_only_rows_that_are_equal_are_at_distance_zero(d):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, d))
    near = rows[:50] + 1e-9 * rng.normal(size=(50, d))
    finder = build(rows, 5)[2]
    distance, index = finder.find(near, 5)
    np.testing.assert_array_equal(index[:, 0], np.arange(50))
    np.testing.assert_allclose(distance[:, 0], np.linalg.norm(near - rows[:50], axis=1), rtol=1e-9)
    assert (finder.find(rows, 5)[0][:, 0] == 0).all()
