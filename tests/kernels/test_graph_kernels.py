"""Neighbor graphs and their kernels against dense formulas, for many rows, and for rows outside the graph."""

import pickle

import numpy as np
import pytest
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.datasets import make_moons
from sklearn.metrics import pairwise_distances

from mercer import LSSVMClassifier, SemiKPCA, SpectralGraphTransducer
from mercer.errors import BackendError, InputError
from mercer.geometry.open import choose_map
from mercer.graphs import neighbors as graphs
from mercer.graphs import spectrum
from mercer.kernels import RBF
from mercer.kernels.graph import AMONG, LAPLACIANS, Diffusion, GraphLaplacian, laplacian, low_spectrum, neighbor_graph
from mercer.rows import gram, host


def naive_graph(X, k):
    D = pairwise_distances(X)
    near = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)[:, :k]
    joined = np.zeros(D.shape, bool)
    joined[np.arange(len(X))[:, None], near] = True
    joined |= joined.T
    b2 = np.mean(D[joined] ** 2)
    return np.where(joined, np.exp(-(D**2) / (2 * b2)), 0.0)


def naive_laplacian(W, kind):
    d = W.sum(1)
    S = W / np.sqrt(np.outer(d, d))
    if kind == "unnormalized":
        return np.diag(d) - W
    return np.eye(len(W)) - S if kind == "symmetric" else np.diag(S.sum(1)) - S


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(35, 3))


@pytest.mark.parametrize("kind", graphs.LAPLACIANS)
def test_kernels_equal_the_dense_formulas(X, kind):
    W = naive_graph(X, 5)
    np.testing.assert_allclose(neighbor_graph(X, 5)[0].toarray(), W, atol=1e-12)
    Lap = naive_laplacian(W, kind)
    np.testing.assert_allclose(laplacian(sp.csr_matrix(W), kind).toarray(), Lap, atol=1e-12)
    kernel = Diffusion(5, time=3.0, laplacian=kind).resolve(X)
    np.testing.assert_allclose(kernel(X), sla.expm(-3.0 * Lap), atol=1e-10)
    np.testing.assert_allclose(kernel.factor() @ kernel.factor().T, sla.expm(-3.0 * Lap), atol=1e-10)
    np.testing.assert_allclose(kernel.diag(X), np.diag(sla.expm(-3.0 * Lap)), atol=1e-10)
    inverse = GraphLaplacian(5, laplacian=kind).resolve(X)
    np.testing.assert_allclose(inverse(X), np.linalg.pinv(Lap, rcond=1e-10), atol=1e-8)


def test_unnormalized_laplacian_is_the_sum_over_edges(X):
    W, _ = neighbor_graph(X, 4)
    f = np.random.default_rng(1).normal(size=len(X))
    dense = W.toarray()
    edges = np.sum(dense * (f[:, None] - f[None]) ** 2)
    assert 2 * f @ laplacian(W, "unnormalized") @ f == pytest.approx(edges)


def test_mix_with_another_kernel(X):
    mix = (0.3 * RBF(1.0) + 0.7 * Diffusion(5, time=2.0)).resolve(X)
    assert mix.transductive
    expected = 0.3 * RBF(1.0)(X) + 0.7 * sla.expm(-2.0 * naive_laplacian(naive_graph(X, 5), "normalized-weights"))
    np.testing.assert_allclose(mix(X), expected, atol=1e-10)


@pytest.mark.parametrize("kind", LAPLACIANS)
def test_a_new_row_is_joined_and_weighed_as_one_more_node(X, kind):
    kernel = Diffusion(5, time=2.0, laplacian=kind).resolve(X)
    np.testing.assert_allclose(kernel.features(X), kernel.factor())  # a training row is itself
    new = np.array([[0.2, 0.1, -0.3], [1.5, -0.5, 0.9], [1e6, 1e6, 1e6]])
    D, own = pairwise_distances(new, X), np.sort(pairwise_distances(X), axis=1)[:, 5]
    degree = naive_graph(X, 5).sum(axis=1)
    several = 0
    for d, found in zip(D[:2], kernel.features(new)):
        joined = (d <= np.sort(d)[4]) | ((d <= own) & (d <= np.sort(d)[5 * AMONG - 1]))
        several += joined.sum() > 5
        weight = np.exp(-(d**2) / (2 * kernel.edge_bandwidth_**2)) * joined
        if kind == "normalized-weights":  # w / √degree, the edges of diag(Se) − S
            weight = weight / np.sqrt(degree)
        np.testing.assert_allclose(found, weight @ kernel.factor() / weight.sum())
    assert several  # rows of which the new one is a neighbor, and not the other way round
    assert np.isfinite(kernel.features(new)).all()  # however far away


def test_a_saved_kernel_answers_the_same(X):
    kernel = (0.3 * RBF(1.0) + 0.7 * Diffusion(5, time=2.0)).resolve(X)
    again = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(again(X[:4] + 0.1, X), kernel(X[:4] + 0.1, X))


def test_a_long_time_leaves_more_than_the_constant(X):
    Z = Diffusion(10, time=300.0).resolve(X).factor()
    assert Z.shape[1] > 1 and np.linalg.norm(Z[:, 1]) < 1e-9 * np.linalg.norm(Z[:, 0])


def test_duplicates_components_and_few_rows():
    X = np.repeat(np.array([[0.0, 0], [1, 0], [50, 50]]), 4, axis=0)
    W, _ = neighbor_graph(X, 3)
    assert (W.diagonal() == 0).all() and (np.diff(W.indptr) >= 3).all()
    values = low_spectrum(laplacian(W))[0]
    assert np.sum(values < 1e-12) == 3  # the three heaps are three components
    K = Diffusion(3, time=5.0).resolve(X)(X)
    assert np.isfinite(K).all() and abs(K[0, 8]) < 1e-12
    same = Diffusion(3).resolve(np.zeros((4, 2)))
    assert np.isfinite(same(np.zeros((4, 2)))).all()
    assert GraphLaplacian(10).resolve(X[[0, 4, 8]])(X[[0, 4, 8]]).shape == (3, 3)


def test_the_sparse_spectrum_is_the_dense_one_and_nothing_dense_is_made_above_the_limit(monkeypatch):
    X, _ = make_moons(700, noise=0.05, random_state=0)
    dense = Diffusion(8, time=200.0, rank=20)
    Lap = laplacian(neighbor_graph(X, 8)[0])
    values, vectors = sla.eigh(Lap.toarray())
    expected = (vectors[:, :20] * np.exp(-200.0 * values[:20])) @ vectors[:, :20].T
    np.testing.assert_allclose(dense.resolve(X)(X), expected, atol=1e-7)

    monkeypatch.setattr(spectrum, "DENSE", 500)
    toarray = sp.csr_matrix.toarray

    def thin(A, *a, **k):
        assert A.shape[1] < 100, "a dense matrix was formed"
        return toarray(A, *a, **k)

    monkeypatch.setattr(sp.csr_matrix, "toarray", thin)
    kernel = Diffusion(8, time=200.0).resolve(X)
    assert kernel.factor().shape[0] == 700 and len(kernel.spectrum_) == spectrum.RANK
    np.testing.assert_allclose(kernel.spectrum_[:50], np.clip(values[:50], 0, None), atol=1e-8)


def test_refusals(X):
    with pytest.raises(InputError, match=r"n_neighbors=0 is not accepted\. Give a whole number of at least 1"):
        Diffusion(0).resolve(X)
    with pytest.raises(InputError, match=r"time=-1 is not accepted. Use a number above 0"):
        Diffusion(time=-1).resolve(X)
    with pytest.raises(InputError, match=r"rank=0 is not accepted"):
        Diffusion(rank=0).resolve(X)
    with pytest.raises(InputError, match=r"laplacian='random walk' is not known"):
        Diffusion(laplacian="random walk").resolve(X)
    with pytest.raises(InputError, match=r"has no graph yet. Call kernel.resolve\(X\)"):
        Diffusion()(X)
    with pytest.raises(InputError, match=r"needs at least two rows"):
        Diffusion().resolve(X[:1])


@pytest.mark.parametrize("where", ["numpy", "torch"])
def test_map_of_a_mixed_kernel_reproduces_it_everywhere(X, where):
    kernel = 0.3 * RBF(1.0) + 0.5 * Diffusion(5, time=2.0) + 0.2 * GraphLaplacian(4)
    K = kernel.resolve(X)(X)
    rows = X
    if where == "torch":
        rows = __import__("torch").as_tensor(X)
    chosen, reason = choose_map(kernel, "exact", rows)
    Z = chosen.fit_transform(rows)
    assert type(Z) is type(rows) and "graph" in reason
    np.testing.assert_allclose(gram(Z), host(Z).T @ host(Z), atol=1e-12)
    np.testing.assert_allclose(host(Z) @ host(Z).T, K, atol=1e-8)
    np.testing.assert_allclose(host(chosen.transform(rows)), host(Z), atol=1e-8)
    assert chosen.error_ < 1e-8


def test_a_graph_over_rows_in_dask_is_refused_in_a_sentence(X):
    rows = __import__("dask.array").array.from_array(X, chunks=(12, 3))
    y = np.where(np.arange(35) < 10, np.arange(35) % 2, -1)
    for kernel in (Diffusion(5), RBF(1.0) + Diffusion(5)):
        with pytest.raises(BackendError, match=r"contains a graph over all rows.*A Dask array is not accepted"):
            SemiKPCA(kernel=kernel).fit(rows, y)
    with pytest.raises(BackendError, match="graph=5 joins all rows"):
        LSSVMClassifier(graph=5).fit(rows, y)


def test_map_uses_landmarks_for_the_other_parts(X):
    chosen, _ = choose_map(RBF(1.0) + Diffusion(5), 10, X)
    assert chosen.fit_transform(X).shape == (35, 45) and chosen.other_.rank_ == 10


def test_squares_replace_the_eigenvalues_and_keep_the_components_apart():
    X = np.concatenate(
        [np.random.default_rng(0).normal(size=(10, 2)), 100 + np.random.default_rng(1).normal(size=(6, 2))]
    )
    kernel = GraphLaplacian(3, rank=5, eigenvalues="squares").resolve(X)
    Z = kernel.factor()
    assert Z.shape == (16, 5)
    np.testing.assert_allclose(Z.sum(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=0), 1 / np.arange(1, 6), atol=1e-9)
    assert np.ptp(Z[:10, 0]) < 1e-9 and np.ptp(Z[10:, 0]) < 1e-9 and Z[0, 0] * Z[12, 0] < 0  # which heap it is in


def test_components_of_a_graph_share_the_first_place():
    """The basis of the null functions is arbitrary: with different weights a rotation of it would change the
    prediction.
    """
    rng = np.random.default_rng(1)
    X = np.concatenate([100 * i + rng.normal(size=(12, 2)) for i in range(4)])
    Z = GraphLaplacian(3, rank=6, eigenvalues="squares").resolve(X).factor()
    np.testing.assert_allclose(np.linalg.norm(Z, axis=0), [1, 1, 1, 1 / 2, 1 / 3, 1 / 4], atol=1e-9)
    y = np.repeat(["a", "b", "a", "b"], 12)
    given = np.where(np.arange(48) % 12 == 0, y, "")
    assert (SpectralGraphTransducer(3).fit(X, given).transduction_ == y).all()


def test_product_with_a_graph_kernel_is_refused(X):
    with pytest.raises(InputError, match=r"multiplies a graph kernel with another kernel.*Use a sum"):
        choose_map(RBF(1.0) * Diffusion(5), "exact", X)[0].fit_transform(X)
    with pytest.raises(InputError, match=r"eigenvalues='cubes' is not known"):
        GraphLaplacian(eigenvalues="cubes").resolve(X)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_training_row_is_itself_in_many_dimensions_too(sparse):
    """There the neighbor search expands the squares, so that the distance of a row to itself is rounding, not 0."""
    X = np.random.default_rng(0).normal(3.0, 1.0, (80, 40))
    rows = sp.csr_matrix(X) if sparse else X
    kernel = Diffusion(5, 10.0).resolve(rows)
    np.testing.assert_allclose(kernel.features(rows), kernel.factor(), atol=1e-12)
    np.testing.assert_allclose(kernel.features(rows[3:4] * (1 + 1e-15))[0], kernel.factor()[3], atol=1e-12)
    near = X[3:4] + 1e-6  # a near row gets the mean of its neighbors
    assert np.abs(kernel.features(sp.csr_matrix(near) if sparse else near) - kernel.factor()[3]).max() > 1e-3


def test_a_row_equal_to_several_training_rows_is_their_mean():
    X = np.array([[0.0], [1.0], [1.0], [2.0], [3.0]])
    kernel = Diffusion(2, 1.0).resolve(X)
    np.testing.assert_allclose(kernel.features(X[1:2])[0], kernel.factor()[1:3].mean(axis=0), atol=1e-12)
