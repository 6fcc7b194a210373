"""Copies of rows, exact and near, against a loop over all pairs, and labels copied with them."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.evidence.groups import copied_labels, same_rows


def by_all_pairs(X):
    """Groups from every pair of rows."""
    rows = X / np.where(X.std(axis=0) > 0, X.std(axis=0), np.inf)
    distance = np.sqrt(((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    different = np.unique(rows, axis=0)
    between = np.sqrt(((different[:, None] - different[None]) ** 2).sum(axis=2)) + np.diag([np.inf] * len(different))
    close = distance < max(0.01 * np.median(between.min(axis=1)), 1e-12)
    group = np.arange(len(X))
    for _ in range(len(X)):
        group = np.array([group[near].min() for near in close])
    return np.unique(group, return_inverse=True)[1]


@pytest.mark.parametrize("d", [1, 3, 40])
def test_copies_and_near_copies_are_those_of_all_pairs(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(120, d)) * np.logspace(0, 6, d)
    X[80:100] = X[:20]
    X[100:] = X[20:40] * (1 + 1e-7)
    found = same_rows(X)
    np.testing.assert_array_equal(found, by_all_pairs(X))
    np.testing.assert_array_equal(found[80:100], found[:20])
    np.testing.assert_array_equal(found[100:], found[20:40])
    assert len(np.unique(found[:80])) == 80


def test_sparse_rows_have_the_groups_of_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 30)) * (rng.random((200, 30)) < 0.2)
    X[150:] = X[:50]
    np.testing.assert_array_equal(same_rows(sp.csr_matrix(X)), same_rows(X))


def test_equal_rows_of_different_scale_and_constant_columns():
    X = np.column_stack([np.arange(6.0), np.full(6, 1e9)])
    np.testing.assert_array_equal(same_rows(X), np.arange(6))
    np.testing.assert_array_equal(same_rows(np.ones((4, 2))), np.zeros(4))
    np.testing.assert_array_equal(same_rows(np.array([[-0.0, 1.0], [0.0, 1.0], [1.0, 2.0]])), [0, 0, 1])


def test_labels_are_withheld_together_where_only_labeled_rows_are_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    tripled = np.vstack([X, X[:10], X[:10]])
    labeled = np.r_[:10, 100:120]
    np.testing.assert_array_equal(copied_labels(same_rows(tripled), labeled), np.tile(np.arange(10), 3))
    discrete = rng.integers(0, 2, size=(400, 3)).astype(float)  # with eight different rows, most rows are copies
    np.testing.assert_array_equal(copied_labels(same_rows(discrete), np.arange(30)), np.arange(30))
