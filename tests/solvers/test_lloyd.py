"""Kernel c-means against explicit points and scikit-learn's KMeans, and its stated properties."""

import importlib

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_circles

from mercer.errors import InputError
from mercer.geometry.operators import FactorOperator, KernelOperator, Operator
from mercer.homes.row_clusters import RowClusters
from mercer.kernels import Linear
from mercer.solvers.lloyd import lloyd


def naive_objective(Z, labels, weight):
    """Explicit centers, explicit distances."""
    total = 0.0
    for cluster in np.unique(labels):
        rows = labels == cluster
        if weight[rows].sum() == 0:
            continue
        center = np.average(Z[rows], axis=0, weights=weight[rows])
        total += np.sum(weight[rows] * np.sum((Z[rows] - center) ** 2, axis=1))
    return total


def naive_lloyd(Z, labels, weight, k):
    """The plain loop of Lloyd's algorithm (no empty clusters occur in the data used)."""
    while True:
        centers = np.array([np.average(Z[labels == c], axis=0, weights=weight[labels == c]) for c in range(k)])
        new = np.argmin(((Z[:, None] - centers) ** 2).sum(-1), axis=1)
        if np.array_equal(new, labels):
            return labels
        labels = new


class Products(Operator):
    """Known by its products alone, or, when they are costly, by its rows as well."""

    def __init__(self, K, costly=False):
        self.K, self.shape, self.costly = K, K.shape, costly

    def __matmul__(self, A):
        return self.K @ A

    def columns(self, idx):
        return self.K[:, idx]


class OnDevice(Products):
    """As on a GPU, columns are kept there, and corrections have the digits of float32."""

    on_gpu = True

    def combine(self, idx, factor):
        return (self.K[:, idx] @ factor).astype(np.float32).astype(np.float64)


class Placed(FactorOperator):
    """As for a factor on a GPU, the rows are put into clusters on the device. Here two rows make a block."""

    def __init__(self, points, step=8):
        super().__init__(torch.from_numpy(np.ascontiguousarray(points)))
        self.step = step

    def partition(self, linear, weight):
        found = RowClusters(self.Z, linear, weight)
        found.entries = self.step
        return found


FORMS = {
    "matrix": lambda Z: Z @ Z.T,
    "products": lambda Z: Products(Z @ Z.T),
    "rows": lambda Z: Products(Z @ Z.T, costly=True),
    "kernel": lambda Z: KernelOperator(Linear(), Z),
    "features": FactorOperator,
    "device": lambda Z: OnDevice(Z @ Z.T, costly=True),
    "placed": Placed,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Rows of a matrix that is not stored come a few at a time, as they do for large ones."""
    monkeypatch.setattr(importlib.import_module("mercer.solvers.lloyd"), "BLOCK", 200)


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_follows_the_naive_loop_from_the_same_labels(points, form, weighted):
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, 30).astype(float) if weighted else np.ones(30)
    first = np.arange(30) % 3
    found = lloyd(FORMS[form](points), np.sum(points**2, axis=1), 3, weight=weight, init=first)
    expected = naive_lloyd(points, first, weight, 3)
    np.testing.assert_array_equal(found.value, expected)
    assert found.objective == pytest.approx(naive_objective(points, expected, weight), rel=1e-12)
    assert found.converged and found.gap == 0 and np.all(np.diff(found.history) <= 0)
    centers = np.array([np.average(points[expected == c], axis=0, weights=weight[expected == c]) for c in range(3)])
    np.testing.assert_allclose(found.info["center_sq"], np.sum(centers**2, axis=1))
    assert (found.info["centers"] is None) == (form != "placed")
    if form == "placed":
        np.testing.assert_allclose(found.info["centers"], centers)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("order", [None, np.arange(30)[::-1]])
def test_starts_are_the_same_wherever_distances_are_computed(points, form, init, order):
    weight = np.random.default_rng(1).integers(0, 3, 30).astype(float)
    setting = {"weight": weight, "init": init, "n_init": 4, "random_state": 3, "max_iter": 0, "key": order}
    linear = np.sum(points**2, axis=1)
    found, expected = (lloyd(FORMS[one](points), linear, 5, **setting) for one in (form, "matrix"))
    np.testing.assert_array_equal(found.value, expected.value)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)


def test_a_device_computes_all_sums_again_before_it_ends(points):
    K = OnDevice(points @ points.T, costly=True)
    found = lloyd(K, np.sum(points**2, axis=1), 3, init=np.arange(30) % 3)
    exact = lloyd(points @ points.T, np.sum(points**2, axis=1), 3, init=np.arange(30) % 3)
    assert found.objective == exact.objective  # to the last digit, without a trace of the corrections
    assert found.n_iter == exact.n_iter


@pytest.mark.parametrize("form", FORMS)
def test_linear_kernel_equals_kmeans_from_equal_starts(form):
    X = load_iris().data  # rows are rounded to 0.1, so break the ties of rows half-way between two centers
    X = X - X.mean(0) + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    for seed in range(5):
        rows = np.random.default_rng(seed).choice(len(X), 4, replace=False)
        theirs = KMeans(4, init=X[rows], n_init=1, tol=0).fit(X)
        first = np.argmin(((X[:, None] - X[rows]) ** 2).sum(-1), axis=1)
        ours = lloyd(FORMS[form](X), np.sum(X**2, axis=1), 4, init=first)
        assert ours.objective == pytest.approx(theirs.inertia_, rel=1e-9)


def test_all_forms_draw_the_same_starts(points):
    square = np.sum(points**2, axis=1)
    found = [lloyd(FORMS[form](points), square, 4, n_init=5, random_state=3) for form in FORMS]
    for other in found[1:]:
        np.testing.assert_allclose(other.info["objectives"], found[0].info["objectives"])


def test_integer_weights_are_repetitions_and_zero_is_removal(points):
    weight = np.array([2.0] * 10 + [1.0] * 15 + [0.0] * 5)
    first = np.arange(30) % 3
    once = lloyd(points @ points.T, np.sum(points**2, axis=1), 3, weight=weight, init=first)
    repeat = np.repeat(np.arange(30), weight.astype(int))
    again = points[repeat]
    twice = lloyd(again @ again.T, np.sum(again**2, axis=1), 3, init=first[repeat])
    np.testing.assert_array_equal(once.value[repeat], twice.value)
    assert once.objective == pytest.approx(twice.objective)


def test_rings_are_separated_by_a_kernel_and_not_without():
    X, y = make_circles(200, factor=0.3, noise=0.04, random_state=0)
    steep = np.exp(-1.5 * (np.sum(X**2, axis=1)[:, None] - np.sum(X**2, axis=1)) ** 2)
    radial = lloyd(steep, np.ones(200), 2)
    plain = lloyd(X @ X.T, np.sum(X**2, axis=1), 2)
    agreement = [max(np.mean(r.value == y), np.mean(r.value != y)) for r in (radial, plain)]
    assert agreement[0] == 1 and agreement[1] < 0.7


@pytest.mark.parametrize("form", FORMS)
def test_empty_clusters_are_given_a_row_and_the_objective_falls(points, form):
    found = lloyd(FORMS[form](points), np.sum(points**2, axis=1), 5, init=np.zeros(30, dtype=int))
    assert len(np.unique(found.value)) == 5 and found.info["reseeded"] >= 4 and found.info["n_empty"] == 0
    assert np.all(np.diff(found.history) <= 0)
    assert found.objective == pytest.approx(naive_objective(points, found.value, np.ones(30)))


def test_fewer_distinct_rows_than_clusters_is_said():
    X = np.repeat(np.eye(3), 4, axis=0)
    found = lloyd(X @ X.T, np.ones(12), 5)
    assert found.objective == pytest.approx(0, abs=1e-12) and found.info["n_empty"] == 2


def test_one_iteration_is_honest_about_it():
    points = np.random.default_rng(0).normal(size=(200, 4))
    found = lloyd(points @ points.T, np.sum(points**2, axis=1), 6, init=np.arange(200) % 6, max_iter=1)
    assert not found.converged and found.gap > 0 and "still wanted to move" in found.reason
    assert found.objective == pytest.approx(naive_objective(points, found.value, np.ones(200)))


@pytest.mark.parametrize("products", [1, 3])
def test_an_interrupt_keeps_the_best_so_far_and_says_so(products):
    points = np.random.default_rng(0).normal(size=(200, 4))

    class Interrupted(Products):
        left = products

        def __matmul__(self, A):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return super().__matmul__(A)

    square = np.sum(points**2, axis=1)
    found = lloyd(Interrupted(points @ points.T), square, 6)
    whole = lloyd(Products(points @ points.T), square, 6, max_iter=products - 1) if products > 1 else None
    assert not found.converged and "was interrupted" in found.reason
    assert found.objective == pytest.approx(naive_objective(points, found.value, np.ones(200)))
    centers = np.array([points[found.value == c].mean(axis=0) for c in range(6)])
    np.testing.assert_allclose(found.info["center_sq"], np.sum(centers**2, axis=1))
    if whole is not None:
        np.testing.assert_array_equal(found.value, whole.value)
    nothing = Interrupted(points @ points.T)
    nothing.left = 0
    with pytest.raises(KeyboardInterrupt):
        lloyd(nothing, square, 6)


def test_a_larger_diagonal_adds_a_constant(points):
    square = np.sum(points**2, axis=1)
    extra = np.random.default_rng(2).uniform(size=30)
    a = lloyd(FactorOperator(points), square, 3, init=np.arange(30) % 3)
    b = lloyd(FactorOperator(points), square + extra, 3, init=np.arange(30) % 3)
    np.testing.assert_array_equal(a.value, b.value)
    assert b.objective == pytest.approx(a.objective + extra.sum())


@pytest.mark.parametrize("home", ["torch", "dask.array"])
def test_same_clusters_wherever_the_features_live(points, home):
    module = importlib.import_module(home)
    elsewhere = module.from_numpy(points) if home == "torch" else module.from_array(points, chunks=(7, 4))
    square = np.sum(points**2, axis=1)
    here, there = (lloyd(FactorOperator(Z), square, 3, n_init=3) for Z in (points, elsewhere))
    np.testing.assert_array_equal(here.value, there.value)


def test_plus_plus_beats_random_starts_on_far_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(100 * c, 1, size=(20, 2)) for c in range(8)])
    square = np.sum(X**2, axis=1)
    smart = lloyd(X @ X.T, square, 8, n_init=10).info["objectives"]
    blind = lloyd(X @ X.T, square, 8, n_init=10, init="random").info["objectives"]
    assert np.median(smart) < 0.1 * np.median(blind)


def test_too_many_clusters_are_refused():
    with pytest.raises(InputError, match=r"4 is more than the 3 rows of positive weight\. Ask for at most 3 clusters"):
        lloyd(np.eye(5), np.ones(5), 4, weight=np.array([1.0, 1, 1, 0, 0]))
