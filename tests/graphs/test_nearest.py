"""Nearest rows by leaves and by products in single precision are always those of the exact distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from mercer.graphs import leaves, neighbors
from mercer.graphs.leaves import Leaves, quickest
from mercer.graphs.nearest import Products
from mercer.graphs.neighbors import build
from mercer.kernels.graph import neighbor_graph

rng = np.random.default_rng(0)
NORMAL = rng.normal(size=(400, 14))


def naive(rows, X, k):
    D = np.sqrt(np.sum((X[:, None].astype(float) - rows[None].astype(float)) ** 2, axis=2))
    index = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, index, axis=1), index


def search(rows, X, k, kind=Products):
    """(distances, indices, rows that used the trees)."""
    asked = []

    def trees():
        def find(some, k):
            asked.extend(some)
            return NearestNeighbors(algorithm="kd_tree").fit(rows).kneighbors(some, k)

        return find

    return *kind(rows, trees)(X, k), asked


@pytest.mark.parametrize("kind", [Products, Leaves])
@pytest.mark.parametrize("k", [1, 5, 11])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_the_exact_search(kind, k, dtype):
    rows, X = NORMAL.astype(dtype), np.concatenate([NORMAL[:50], rng.normal(size=(30, 14))]).astype(dtype)
    distance, index, asked = search(rows, X, k, kind)
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
    backwards = Leaves(same, None)
    backwards.order = backwards.order[::-1]  # the first rows are in the leaf that is read last
    np.testing.assert_array_equal(backwards(same[:9], 5)[1], [range(5)] * 9)


@pytest.mark.parametrize("kind", [Products, Leaves])
def test_numbers_beyond_single_precision(kind):
    rows = NORMAL * 1e30
    distance, index, asked = search(rows, rows, 5, kind)
    np.testing.assert_array_equal(index, naive(rows, rows, 5)[1])
    assert len(asked) == 400 and np.isfinite(distance).all()
    far = np.full((1, 14), 1e30)  # a query only
    _, index, asked = search(NORMAL, far, 5, kind)
    assert len(asked) == 1


def test_many_neighbors_of_few_rows():
    distance, _, asked = search(NORMAL[:40], NORMAL[:40], 39)
    np.testing.assert_allclose(distance, naive(NORMAL[:40], NORMAL[:40], 39)[0])
    assert len(asked) == 40


@pytest.mark.parametrize("d", [3, 15, 16, 63, 64, 100])  # around the coordinates of a leaf
@pytest.mark.parametrize("decay", [0.0, 2.0])
def test_leaves_find_the_nearest_in_any_number_of_columns(d, decay):
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(700, d)) @ np.linalg.qr(rng.normal(size=(d, d)))[0] * (1.0 + np.arange(d)) ** -decay
    X = np.concatenate([rows[:40], rows[40:80] + 1e-3 * rng.normal(size=(40, d)), 3.0 * rng.normal(size=(40, d))])
    distance, index, asked = search(rows, X, 9, Leaves)
    expected, near = naive(rows, X, 9)
    np.testing.assert_array_equal(index, near)
    np.testing.assert_allclose(distance, expected, rtol=1e-12, atol=1e-15)
    assert not asked


@pytest.mark.parametrize("wide", [0, 80])  # columns of which the length alone is a coordinate
def test_leaves_need_no_other_search_for_what_single_precision_cannot_order(wide):
    heaps = 1e4 * rng.normal(size=(4, 14))[np.arange(400) % 4] + 1e-3 * rng.normal(size=(400, 14))
    far = NORMAL.copy()
    far[:8] = 1e5 + 1e-4 * far[:8]
    grid = rng.integers(0, 2, size=(400, 14)).astype(float)
    for rows in (heaps, far, grid, np.zeros((400, 14)), NORMAL[:40]):
        rows = np.hstack([rows, 1e-5 * rng.integers(0, 2, size=(len(rows), wide))])
        k = min(9, len(rows) - 1)
        distance, index, asked = search(rows, rows, k, Leaves)
        expected, near = naive(rows, rows, k)
        np.testing.assert_allclose(distance, expected, rtol=1e-9, atol=1e-13)
        if not wide:
            np.testing.assert_array_equal(index, near)  # the first of equally near rows
        assert not asked and all(len(set(row)) == k for row in index)


def test_the_faster_search_is_taken():
    rng = np.random.default_rng(0)
    flat, thin = rng.normal(size=(4000, 30)), rng.normal(size=(4000, 3)) @ rng.normal(size=(3, 30))
    assert isinstance(quickest(flat, None), Products) and isinstance(quickest(thin, None), Leaves)
    assert Leaves(thin, None).cost() < 0.1 < leaves.MOST < Leaves(flat, None).cost() < 1.5
    assert isinstance(quickest(thin[:200], None), Products)  # fewer than ten rows a column


def test_graphs_are_the_same_by_either_search(monkeypatch):
    X = load_digits().data[:900]  # whole numbers have ties
    X = X + 1e-3 * np.random.default_rng(1).random(X.shape)
    expected = neighbor_graph(X, 10)[0]
    monkeypatch.setattr(neighbors, "MANY_ROWS", 100)
    assert abs(neighbor_graph(X, 10)[0] - expected).max() < 1e-12
    monkeypatch.setattr(neighbors, "FEW_PAIRS", 0)
    used = []
    for kind in (Products, Leaves):
        monkeypatch.setattr(neighbors, "quickest", lambda *a, kind=kind: used.append(1) or kind(*a))
        found = neighbor_graph(X, 10)[0]
        assert abs(found - expected).max() < 1e-12
    assert neighbor_graph(sp.csr_matrix(X), 10)[0].nnz == found.nnz and len(used) == 2  # sparse rows use scikit-learn


def test_few_pairs_of_rows_need_no_compiled_search_and_many_get_it():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 30))
    few, many = rows[:100], np.tile(rows, (4, 1))
    search = neighbors.Neighbors(rows)
    found = search.find(few, 5)
    assert isinstance(search._search, Products)
    np.testing.assert_array_equal(search.find(many, 5)[1][:100], found[1])
    assert isinstance(search._search, Leaves)
    np.testing.assert_array_equal(search.find(few, 5)[1], found[1])
    assert isinstance(search._search, Leaves)


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
