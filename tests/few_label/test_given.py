"""Links and similarities that users give next to the columns."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import FewLabelClassifier, FewLabelRegressor, InputError, Spectrum, load, save
from mercer.few_label.given import graph_space, kernel_space
from mercer.few_label.spaces import GraphSpace
from mercer.few_label.views import AsGiven
from mercer.graphs.neighbors import neighbor_graph


def test_the_neighbor_graph_given_is_the_space_of_the_neighbor_graph():
    X = np.random.default_rng(0).standard_normal((60, 3))
    view = AsGiven()
    built = GraphSpace("graph", view, 8, X)
    given = graph_space(sp.csr_matrix(neighbor_graph(X, 8)[0]), view, X)
    np.testing.assert_allclose(given.Z @ given.Z.T, built.Z @ built.Z.T, atol=1e-8)
    np.testing.assert_allclose(given.values, built.values, atol=1e-8)
    W = np.random.default_rng(1).standard_normal((given.Z.shape[1], 2))
    part = given.part(W)
    np.testing.assert_allclose(part.scores(X[:5]), (given.Z @ W)[:5], atol=1e-8)
    other = np.concatenate([X[:1], X[:1] + 1.0])
    np.testing.assert_allclose(part.scores(other)[1], 0.0)  # a row outside the graph has no features in it
    assert given.seen(other).shape == (2, 60) and given.seen(other)[1].nnz == 0
    np.testing.assert_allclose(given.of_seen(given.seen(other)), np.stack([given.Z[0], 0 * given.Z[0]]), atol=1e-6)


def test_rows_without_links_have_no_features():
    X = np.arange(6.0)[:, None]
    W = sp.csr_matrix(([1.0, 1.0], ([0, 1], [1, 2])), (6, 6))
    space = graph_space((W + W.T).tocsr(), AsGiven(), X)
    assert not space.Z[3:].any() and space.Z[:3].any(axis=1).all() and space.Z.shape[1] <= 3


def test_the_space_of_similarities_has_them_as_inner_products():
    names = ["banana", "bananas", "cherry", "cherries", "bandana"]
    K = Spectrum(2)(names)
    space = kernel_space(K, AsGiven(), np.arange(5.0)[:, None], 0)
    np.testing.assert_allclose(space.Z @ space.Z.T, K / np.mean(np.diag(K)), atol=1e-8)


def linked(n=120, seed=0):
    """Columns of noise, links mostly within the class, five labels per class, all classes alike in the columns."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    X = rng.normal(size=(n, 4))
    edges = [(i, int(rng.choice(np.flatnonzero((truth == truth[i]) & (np.arange(n) != i))))) for i in range(n)] * 2
    edges += [tuple(pair) for pair in rng.integers(0, n, (15, 2)).tolist() if pair[0] != pair[1]]
    more = [(i, int(rng.choice(np.flatnonzero((truth == truth[i]) & (np.arange(n) != i))))) for i in range(n)]
    y = np.full(n, None, dtype=object)
    for c in range(3):
        y[rng.choice(np.flatnonzero(truth == c), 5, replace=False)] = "abc"[c]
    return X, truth, y, edges + more


def accuracy(model, truth, y):
    free = np.array([value is None for value in y])
    return np.mean([name == "abc"[c] for name, c in zip(model.transduction_[free], truth[free])])


METHODS = ["lssvm", "diffusion", "mixed", "sgt"]


def test_links_tell_what_columns_do_not(tmp_path):
    X, truth, y, edges = linked()
    without = accuracy(FewLabelClassifier(METHODS).fit(X, y), truth, y)
    model = FewLabelClassifier(METHODS).fit(X, y, graph=edges)
    assert without < 0.6 and accuracy(model, truth, y) > 0.85
    assert any(candidate.name == "diffusion gamma=3: heat 30 on links" for candidate in model.candidates_)
    matrix = sp.csr_matrix((np.ones(len(edges)), tuple(zip(*edges))), (120, 120))
    same = FewLabelClassifier(METHODS).fit(X, y, graph=matrix + matrix.T)
    np.testing.assert_allclose(same.probabilities_, model.probabilities_, atol=1e-8)
    # A known row keeps its links in predict and in a saved model. A new row is predicted from its columns.
    free = np.flatnonzero([value is None for value in y])
    np.testing.assert_allclose(model.predict_proba(X[free]), model.probabilities_[free], atol=1e-6)
    save(model, tmp_path / "linked.mercer")
    again = load(tmp_path / "linked.mercer")
    np.testing.assert_allclose(again.predict_proba(X[free]), model.predict_proba(X[free]), atol=1e-12)
    assert np.isfinite(again.predict_proba(X[:3] + 0.1)).all()
    taught = model.taught([int(free[0])], ["a"])
    assert taught.transduction_[free[0]] == "a"
    prepared = FewLabelClassifier(METHODS).prepare(X, graph=edges)
    known = np.flatnonzero([value is not None for value in y])
    assert accuracy(prepared.taught(known, y[known]), truth, y) > 0.85


def test_similarities_tell_what_columns_do_not():
    rng = np.random.default_rng(1)
    truth = np.arange(90) % 2
    names = ["".join(rng.choice(list("abcd" if c else "cdef"), 10)) for c in truth]
    X, y = rng.normal(size=(90, 3)), np.full(90, None, dtype=object)
    y[:12] = ["yes" if c else "no" for c in truth[:12]]
    scores, ring = [], [(i, (i + 2) % 90) for i in range(90)]  # even rows are of one class, odd ones of the other
    both = FewLabelClassifier(["mixed"]).fit(X, y, kernel=Spectrum(2)(names), graph=ring)
    assert "mixed gamma=10: similarities and heat 30 on links" in [candidate.name for candidate in both.candidates_]
    for more in ({}, {"kernel": Spectrum(2)(names)}):
        model = FewLabelClassifier(["lssvm", "components"]).fit(X, y, **more)
        scores.append(np.mean((model.transduction_[12:] == "yes") == truth[12:]))
    assert scores[0] < 0.7 and scores[1] > 0.9


def test_numbers_from_links():
    n = 80
    order = np.random.default_rng(0).permutation(n)
    value = np.empty(n)
    value[order] = np.arange(n)
    X, y = np.random.default_rng(1).normal(size=(n, 3)), np.full(n, np.nan)
    y[order[::8]] = value[order[::8]]
    chain = list(zip(order[:-1].tolist(), order[1:].tolist()))
    free = np.isnan(y)
    errors = []
    for more in ({}, {"graph": chain}):
        model = FewLabelRegressor().fit(X, y, **more)
        errors.append(np.mean(np.abs(model.transduction_[free] - value[free])))
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"graph": [(0, 99)]}, "ends at 99, which is not a row"),
        ({"graph": np.ones((3, 4))}, "neither a matrix nor a list of edges"),
        ({"kernel": np.eye(3)}, r"kernel has the shape \(3, 3\), and X has 8 rows"),
        ({"kernel": np.triu(np.ones((8, 8)))}, "kernel is not symmetric"),
        ({"kernel": np.full((8, 8), np.nan)}, "contains NaN"),
        ({"kernel": "spectrum"}, "not a matrix of numbers"),
    ],
)
def test_refusals(given, sentence):
    X, y = np.arange(8.0)[:, None], ["a", "b", *[None] * 6]
    with pytest.raises(InputError, match=sentence):
        FewLabelClassifier().fit(X, y, **given)


def test_methods_that_use_no_links_are_refused():
    X, y = np.arange(8.0)[:, None], ["a", "b", *[None] * 6]
    with pytest.raises(InputError, match=r"None of these methods uses the links .* Add one of .*diffusion"):
        FewLabelClassifier(["lssvm"]).fit(X, y, graph=[(0, 1)])
