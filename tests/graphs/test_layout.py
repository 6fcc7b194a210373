"""Positions in the plane are repeatable, and neighbors stay neighbors."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

from mercer.graphs.layout import neighbor_layout, ranks
from mercer.report.picture import PlaneEmbedding


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:900], y[:900]


def test_neighbors_are_kept_and_more_of_them_than_by_the_components(digits):
    X, _ = digits
    found = PlaneEmbedding().fit(X)
    kept, before = (trustworthiness(X, xy, n_neighbors=10) for xy in (found.positions_, found.start_))
    assert kept > 0.97 and kept > before + 0.03


def test_the_same_rows_have_the_same_places_and_new_rows_lie_among_their_neighbors(digits):
    X, y = digits
    found, again = PlaneEmbedding().fit(X[:600]), PlaneEmbedding().fit(X[:600])
    assert np.array_equal(found.positions_, again.positions_)
    assert np.allclose(found.transform(X[:600]), found.positions_)
    placed = found.transform(X[600:])
    apart = np.linalg.norm(placed[:, None] - found.positions_, axis=2)
    assert np.mean(y[:600][apart.argmin(axis=1)] == y[600:]) > 0.8


def test_rows_fill_the_plane(digits):
    X, _ = digits
    heavy = X * np.exp(np.random.default_rng(0).normal(size=(len(X), 1)) * 2)  # some rows are far from all others
    xy = PlaneEmbedding().fit(heavy).positions_
    cells = np.floor((xy - xy.min(axis=0)) / np.ptp(xy, axis=0) * 19.99).astype(int) @ [1, 20]
    assert np.sum(np.bincount(cells) > 0) > 100  # of 400


def test_two_parts_of_a_graph_come_apart_and_few_nodes_have_places():
    block = np.ones((20, 20)) - np.eye(20)
    graph = sp.block_diag([block, block]).tocsr()
    y = neighbor_layout(graph, np.random.default_rng(0).normal(size=(40, 2)))
    one, other = y[:20], y[20:]
    assert np.linalg.norm(one.mean(axis=0) - other.mean(axis=0)) > 2 * max(one.std(), other.std())
    for n in (2, 3):
        assert np.isfinite(PlaneEmbedding().fit(np.arange(2.0 * n).reshape(n, 2)).positions_).all()


def test_ranks():
    assert np.allclose(ranks(np.array([[0.0, 5], [100, 5], [1, 5]])), [[-2 / 3, 0], [2 / 3, 0], [0, 0]])
