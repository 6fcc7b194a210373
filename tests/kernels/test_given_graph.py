"""Graph kernels and the spectral graph transducer on a graph that is given."""

import numpy as np
import pytest
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.base import clone

from mercer import (
    Diffusion,
    GraphLaplacian,
    InputError,
    KernelPCA,
    LSSVMClassifier,
    NotInductiveError,
    SpectralGraphTransducer,
    Spectrum,
    load,
    save,
)
from mercer.graphs.given import as_graph
from mercer.graphs.neighbors import laplacian, neighbor_graph

NAMES = ["ant", "ape", "asp", "bat", "bee", "boa", "cat"]
EDGES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]  # two triangles, one link, a row alone
Y = ["a", None, None, None, None, "b", None]


def matrix():
    W = np.zeros((7, 7))
    for i, j in EDGES:
        W[i, j] = W[j, i] = 1.0
    return W


@pytest.mark.parametrize("kind", ["normalized-weights", "symmetric", "unnormalized"])
def test_heat_on_a_given_graph_is_its_definition(kind):
    W = matrix()
    kernel = Diffusion(time=2.0, laplacian=kind, graph=sp.csr_array(W)).resolve(np.arange(7.0)[:, None])
    factor = kernel.factor()
    np.testing.assert_allclose(
        factor @ factor.T, sla.expm(-2.0 * laplacian(sp.csr_matrix(W), kind).toarray()), atol=1e-10
    )
    np.testing.assert_array_equal(kernel.features(np.array([[4.0], [6.0]])), factor[[4, 6]])


def test_the_inverse_laplacian_of_a_given_graph():
    kernel = GraphLaplacian(laplacian="unnormalized", graph=matrix()).resolve(np.arange(7.0)[:, None])
    wanted = np.linalg.pinv(laplacian(sp.csr_matrix(matrix()), "unnormalized").toarray())
    np.testing.assert_allclose(kernel.factor() @ kernel.factor().T, wanted, atol=1e-10)


def test_every_form_of_a_graph_is_the_same():
    forms = [
        matrix(),
        sp.coo_array(matrix()),
        EDGES,
        np.array(EDGES),
        [(i, j, 1.0) for i, j in EDGES],
        [(NAMES[j], NAMES[i]) for i, j in EDGES],
        [*EDGES, (6, 6)],
    ]
    for form in forms:
        np.testing.assert_array_equal(as_graph(form, 7, NAMES).toarray(), matrix())
    assert as_graph([*EDGES, (1, 0, 2.5)], 7)[0, 1] == 3.5


def test_the_neighbor_graph_given_is_the_neighbor_graph():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = ["a", "b", *[None] * 38]
    W = neighbor_graph(X, 6)[0]
    built = SpectralGraphTransducer(6, 10).fit(X, y)
    given = SpectralGraphTransducer(6, 10, graph=W).fit(X, y)
    np.testing.assert_allclose(given.decision_function(X), built.decision_function(X), atol=1e-8)


def test_links_classify_rows_that_are_names(tmp_path):
    links = [(NAMES[i], NAMES[j]) for i, j in EDGES]
    model = SpectralGraphTransducer(n_eigenvectors=3, label_weight=10.0, graph=links).fit(NAMES[:6], Y[:6])
    assert model.transduction_.tolist() == ["a", "a", "a", "b", "b", "b"]
    assert model.predict(["asp", "bat"]).tolist() == ["a", "b"]
    save(model, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.decision_function(NAMES[:6]), model.decision_function(NAMES[:6]))
    with pytest.raises(NotInductiveError, match="1 of 2 rows, the first in row 1, are not rows of the graph"):
        model.predict(["ant", "emu"])
    heat = LSSVMClassifier(kernel=Diffusion(time=1.0, graph=links)).fit(NAMES, Y)
    assert heat.transduction_[:6].tolist() == ["a", "a", "a", "b", "b", "b"]
    assert heat.unsupported_.tolist() == [False] * 6 + [True]  # no link leads to it


def test_names_and_links_add_up():
    both = 0.5 * Spectrum(1) + 0.5 * Diffusion(time=1.0, graph=EDGES)
    model = LSSVMClassifier(kernel=both).fit(NAMES, Y)
    K = 0.5 * Spectrum(1)(NAMES) + 0.5 * sla.expm(-1.0 * laplacian(sp.csr_matrix(matrix())).toarray())
    same = LSSVMClassifier(kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(model.decision_function(NAMES), same.decision_function(K), atol=1e-7)
    assert np.isfinite(KernelPCA(2, kernel=both).fit_transform(NAMES)).all()


def test_kernels_with_a_graph_compare_print_and_clone():
    kernel = Diffusion(time=3.0, graph=sp.csr_array(matrix()))
    assert repr(kernel) == "Diffusion(graph=<given>, time=3.0)"
    assert clone(kernel) == kernel and hash(clone(kernel)) == hash(kernel)
    assert kernel != Diffusion(time=3.0) and kernel != Diffusion(time=3.0, graph=sp.csr_array(2 * matrix()))
    assert Diffusion(graph=EDGES) == Diffusion(graph=list(EDGES)) and Diffusion() == Diffusion()


@pytest.mark.parametrize(
    "graph, message",
    [
        (np.triu(matrix()), "not symmetric.*Pass W \\+ W.T"),
        (sp.csr_array((3, 3)), r"has the shape \(3, 3\), and there are 7 rows"),
        (-matrix(), "finite and not negative"),
        ([(0, 1, np.nan)], "finite and not negative"),
        ([(0, 9)], "ends at 9, which is not a row. Accepted: row numbers from 0 to 6"),
        ([(0, "emu")], "ends at 'emu', which is not a row"),
        ([(0, 1, 2, 3)], "neither a matrix nor a list of edges"),
        ("links.csv", "neither a matrix nor a list of edges"),
        ([(2, 2)], "no edges between different rows"),
        ([(0, 1, "x")], "weight in the list of edges is not a number"),
    ],
)
def test_bad_graphs_get_a_sentence(graph, message):
    with pytest.raises(InputError, match=message):
        SpectralGraphTransducer(graph=graph).fit(np.arange(7.0)[:, None], Y)
    with pytest.raises(InputError, match="several rows have this name"):
        as_graph([("a", "b")], 3, ["a", "a", "b"])
