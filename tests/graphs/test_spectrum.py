"""The low end of graph spectra against dense LAPACK, with repeated values, components and certificates."""

import itertools

import numpy as np
import pytest
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_moons

from mercer import SpectralGraphTransducer, use_device
from mercer.errors import InputError
from mercer.graphs import spectrum
from mercer.kernels.graph import laplacian, low_spectrum, neighbor_graph


@pytest.fixture
def iterate(monkeypatch):
    """Small graphs go through the iteration too, and it must not ask LAPACK or ARPACK for help."""
    monkeypatch.setattr(spectrum, "SMALL", 0)
    monkeypatch.setattr(spectrum, "DENSE", 0)
    monkeypatch.setattr(spectrum, "CROWDED", 0)
    monkeypatch.setattr(spectrum, "_lanczos", lambda *a: pytest.fail("the iteration gave up"))


def cycle(n, weight=1.0):
    """Every eigenvalue but the smallest (and, for even n, the largest) is double."""
    i = np.arange(n)
    W = sp.csr_matrix((np.full(n, weight), (i, (i + 1) % n)), shape=(n, n))
    return (W + W.T).tocsr()


def random_graph(n, seed=0, dims=2, neighbors=4):
    return neighbor_graph(np.random.default_rng(seed).normal(size=(n, dims)), neighbors)[0]


def joined(*graphs):
    return sp.block_diag(graphs, format="csr")


def check(Lap, rank, null=None, tol=spectrum.TOL):
    """The values are those of LAPACK, and so is the projector on every group of equal ones."""
    values, V, residual = low_spectrum(Lap, rank, null)
    dense = Lap.toarray()
    exact, U = sla.eigh(dense)
    norm = np.abs(dense).sum(axis=1).max()
    assert values.shape == (rank,) and V.shape == (len(dense), rank)
    np.testing.assert_allclose(V.T @ V, np.eye(rank), atol=1e-10)
    np.testing.assert_allclose(values, exact[:rank], atol=1e-8 * norm)
    assert (np.diff(values) >= -1e-12).all()
    true = np.linalg.norm(dense @ V - V * values, axis=0).max() / norm
    assert residual == pytest.approx(true, abs=1e-13) and residual <= tol
    edges = [0, *(np.flatnonzero(np.diff(exact[: rank + 1]) > 1e-6 * norm) + 1)]
    for start, stop in itertools.pairwise(edges):
        ours, theirs = V[:, start:stop], U[:, start:stop]
        gap = min(exact[stop] - exact[stop - 1], exact[start] - exact[start - 1] if start else np.inf)
        sine = np.linalg.norm(ours @ ours.T - theirs @ theirs.T)
        assert sine <= 2 * np.sqrt(stop - start) * tol * norm / gap + 1e-9  # the theorem of Davis and Kahan
    return values, V


@pytest.mark.parametrize("kind", ["normalized-weights", "symmetric", "unnormalized"])
@pytest.mark.parametrize(
    "W",
    [
        random_graph(60),
        cycle(60),
        joined(random_graph(20, 1), random_graph(25, 2), random_graph(15, 3)),
        joined(cycle(15), cycle(15), cycle(15), cycle(15)),
        joined(cycle(20, 1e-3), cycle(20), cycle(20, 1e-9)),
    ],
    ids=["one component", "double values", "components", "eightfold values", "scales"],
)
def test_pairs_equal_the_dense_ones(iterate, W, kind):
    check(laplacian(W, kind), 8, np.sqrt(W.sum(axis=1)).A1 if kind == "symmetric" else None)


def test_more_equal_values_than_a_block_is_wide(iterate):
    """A Krylov space from w columns reaches w copies of an eigenvalue, and here there are 30 of each."""
    W = random_graph(20)
    Lap = laplacian(joined(*[W] * 30))
    own = sla.eigh(laplacian(W).toarray(), eigvals_only=True)
    values, _ = check(Lap, 80)
    np.testing.assert_allclose(values, np.repeat(own[:3], 30)[:80].clip(0), atol=1e-9)


def test_groups_of_equal_values(iterate):
    """Points of a grid with many copies, so that most values come in groups of up to thirty."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        W = neighbor_graph(np.round(2 * rng.standard_normal((743, 2))), 12)[0]
        check(laplacian(W), 93)


def test_more_equal_values_than_wanted(iterate):
    W = random_graph(10)
    values, _, residual = low_spectrum(laplacian(joined(*[W] * 100)), 150)
    own = sla.eigh(laplacian(W).toarray(), eigvals_only=True)
    np.testing.assert_allclose(values, np.repeat([0.0, own[1]], [100, 50]), atol=1e-9)
    assert residual <= spectrum.TOL


def test_a_graph_with_only_two_eigenvalues(iterate):
    clique = sp.csr_matrix(np.ones((50, 50)) - np.eye(50))
    values, _ = check(laplacian(joined(*[clique] * 12)), 40)
    assert (values[:12] == 0).all() and np.ptp(values[12:]) < 1e-9


def test_nearly_cut_graphs_keep_their_small_values(iterate):
    """One edge of weight 1e-6 between halves. The value is 1e-8, far below the residual that is accepted."""
    W = joined(random_graph(300, 1, 5, 8), random_graph(300, 2, 5, 8)).tolil()
    W[0, 599] = W[599, 0] = 1e-6
    values, V = check(laplacian(W.tocsr(), "unnormalized"), 20)
    exact = sla.eigh(laplacian(W.tocsr(), "unnormalized").toarray(), eigvals_only=True)
    assert exact[1] < 1e-7 and values[1] == pytest.approx(exact[1], rel=1e-3)
    assert np.ptp(np.sign(V[:300, 1])) == 0 and np.sign(V[0, 1]) == -np.sign(V[-1, 1])


def test_more_components_than_vectors():
    W = joined(*[cycle(3 + i % 4) for i in range(200)])
    values, V, residual = low_spectrum(laplacian(W), 50)
    assert (values == 0).all() and residual < 1e-14
    np.testing.assert_allclose(V.T @ V, np.eye(50), atol=1e-12)
    assert set(np.count_nonzero(V, axis=0)) == {6}  # the largest components first


def test_few_vectors_beside_many_components(iterate):
    """The constants of 300 components are a third of all rows, yet only 10 vectors have to be sought."""
    W = joined(random_graph(300, 0, 3, 6), *[cycle(2 + i % 2) for i in range(299)])
    values, _ = check(laplacian(W, "unnormalized"), 310)
    assert np.count_nonzero(values == 0) == 300


def test_a_restart_goes_on_where_it_was(iterate, monkeypatch):
    shrink, calls = spectrum._Space.shrink, []
    monkeypatch.setattr(spectrum._Space, "shrink", lambda space: (calls.append(1), shrink(space)))
    monkeypatch.setattr(spectrum, "GROWTH", 1.2)  # a weak filter
    check(laplacian(cycle(1500)), 61)
    assert calls


def test_others_take_over(monkeypatch):
    Lap = laplacian(random_graph(600))
    expected = low_spectrum(Lap, 20)
    monkeypatch.setattr(spectrum, "ROUNDS", 1)
    for rows in (5000, 500):  # LAPACK, ARPACK
        monkeypatch.setattr(spectrum, "DENSE", rows)
        values, _, residual = low_spectrum(Lap, 20)
        assert residual < 1e-8 < expected[2]
        np.testing.assert_allclose(values, expected[0], atol=1e-9)
    assert low_spectrum(Lap, 130)[2] < 1e-8  # and if a fifth of the spectrum or more is wanted


def test_a_tighter_residual_can_be_had():
    Lap = laplacian(random_graph(1500, 0, 3, 8))
    assert low_spectrum(Lap, 40, tol=1e-6)[2] <= 1e-6


def test_a_function_that_is_not_null_is_refused():
    W = random_graph(60)
    with pytest.raises(InputError, match=r"does not send `null` to 0. Accepted: the square roots of the degrees"):
        low_spectrum(laplacian(W, "symmetric"), 5)


@pytest.mark.parametrize("data", ["digits", "moons"])
def test_answers_are_those_of_the_exact_spectrum(data, monkeypatch):
    if data == "digits":
        X, y = load_digits(return_X_y=True)
        X, y = X[:1000], y[:1000]
    else:
        X, y = make_moons(1000, noise=0.1, random_state=0)
    given = np.where(np.arange(len(y)) < 60, y, -1)
    model = SpectralGraphTransducer().fit(X, given)
    assert 0 < model.map_.kernel_.residual_ <= spectrum.TOL
    monkeypatch.setattr(spectrum, "SMALL", 2000)
    exact = SpectralGraphTransducer().fit(X, given)
    assert exact.map_.kernel_.residual_ < 1e-12
    np.testing.assert_array_equal(model.transduction_, exact.transduction_)
    np.testing.assert_allclose(model.labeled_decisions_, exact.labeled_decisions_, atol=1e-4)
    assert model.left_out_accuracy_ == exact.left_out_accuracy_


def test_the_iteration_runs_on_a_device_too(iterate):
    Lap = laplacian(joined(random_graph(700), random_graph(500, seed=1)))
    expected, vectors, _ = low_spectrum(Lap, 20)
    with use_device("cpu"):
        values, there, residual = low_spectrum(Lap, 20)
    assert residual <= spectrum.TOL and (values[:2] == 0).all()
    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_allclose(there @ (there.T @ vectors), vectors, atol=1e-3)  # the same space
