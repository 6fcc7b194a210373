"""Kernel spectral clustering against the printed eigenproblem, with new rows, weights, choice and refusals."""

import numpy as np
import pytest
import scipy.linalg as sla
import torch
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import RBF, KernelSpectralClustering, Linear, load, save
from mercer.errors import InputError
from mercer.solvers.sign_codes import Codebook, balanced_line_fit, codebook_of, nearest_code


@parametrize_with_checks([KernelSpectralClustering(), KernelSpectralClustering(3, approx="exact")])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def slow_scores(K, K_new, m):
    """D⁻¹ M Ω α = λ α with M = I − 11ᵀD⁻¹ / 1ᵀD⁻¹1, as printed: (eigenvalues, e(x) = Σ α_i k(x_i, x) + b)."""
    n, d = len(K), K.sum(axis=1)
    total = np.sum(1 / d)
    M = np.eye(n) - np.outer(np.ones(n), 1 / d) / total
    values, vectors = sla.eig((M @ K) / d[:, None])
    order = np.argsort(-values.real)[:m]
    alpha = vectors[:, order].real
    return values.real[order], K_new @ alpha - (1 / d) @ (K @ alpha) / total


@pytest.mark.parametrize("m", [1, 3])
def test_scores_are_those_of_the_printed_eigenproblem(m):
    X, _ = make_blobs(40, centers=m + 1, random_state=1)
    new, kernel = X[:7] + 0.3, RBF(2.0)
    model = KernelSpectralClustering(m + 1, kernel=kernel).fit(X)
    values, expected = slow_scores(kernel(X), kernel(new, X), m)
    found = model.transform(new)
    np.testing.assert_allclose(model.eigenvalues_[:m], values, rtol=1e-8)
    for mine, theirs in zip(found.T, expected.T):  # up to scale and sign
        cosine = mine @ theirs / np.linalg.norm(mine) / np.linalg.norm(theirs)
        assert abs(cosine) == pytest.approx(1, abs=1e-8)
    e = model.transform(X)
    d = kernel(X).sum(axis=1)
    np.testing.assert_allclose((e / d[:, None]).sum(axis=0), 0, atol=1e-10)  # the weighted mean is 0
    np.testing.assert_allclose((e**2 / d[:, None]).sum(axis=0), values, rtol=1e-8)
    assert model.certificate_ < 1e-10


@pytest.mark.parametrize("rows,width", [(make_moons, 0.15), (make_circles, 0.12)])
def test_clusters_that_are_not_round(rows, width):
    X, y = (
        rows(400, noise=0.04, random_state=0)
        if rows is make_moons
        else rows(400, noise=0.04, factor=0.4, random_state=0)
    )
    model = KernelSpectralClustering(2, kernel=RBF(width)).fit(X[::2])
    assert adjusted_rand_score(y[::2], model.labels_) > 0.98
    assert adjusted_rand_score(y[1::2], model.predict(X[1::2])) > 0.98  # rows it has not seen
    assert model.eigenvalues_[0] > 0.95 and model.score(X[1::2]) > 0.5


def test_several_clusters_agree_with_the_graph_version():
    X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=3)
    model = KernelSpectralClustering(5, kernel=RBF(0.8)).fit(X)
    graph = SpectralClustering(5, gamma=1 / (2 * 0.8**2), random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.97 and adjusted_rand_score(graph.labels_, model.labels_) > 0.97
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()  # the largest first
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.codes_.shape == (5, 4) and len(np.unique(model.codes_, axis=0)) == 5


def test_weights_repeat_rows_and_homes_agree():
    X, _ = make_blobs(60, centers=3, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 60)
    model = KernelSpectralClustering(3, kernel=RBF(1.5))
    there = model.fit(X, sample_weight=weight).transform(X)
    again = model.fit(np.repeat(X, weight, axis=0)).transform(X)
    np.testing.assert_allclose(there, again, atol=1e-8)
    plain = model.fit(X).transform(X)
    tensor = torch.as_tensor(X)
    np.testing.assert_allclose(model.fit(tensor).transform(tensor), plain, atol=1e-8)
    fewer = KernelSpectralClustering(3, kernel=RBF(1.5), approx=30).fit(X)
    assert adjusted_rand_score(fewer.labels_, model.labels_) == 1.0
    same = KernelSpectralClustering(3, kernel="precomputed").fit(RBF(1.5)(X))
    np.testing.assert_allclose(same.transform(RBF(1.5)(X[:5], X)), plain[:5], atol=1e-8)


def test_line_fit_and_balance():
    rng = np.random.default_rng(0)
    line = rng.normal(size=(50, 1)) * [[1.0, 2.0, 3.0]] + [5.0, 0, 0]
    ball = rng.normal(size=(5000, 3))
    member = np.r_[np.zeros(50, int), np.ones(50, int)]
    assert balanced_line_fit(np.vstack([line, -line]), member, 2, 1.0) == pytest.approx(1)
    assert balanced_line_fit(ball, np.arange(5000) % 2, 2, 1.0) < 0.05
    assert balanced_line_fit(np.vstack([line, line[:10]]), np.r_[member[:50], np.ones(10, int)], 2, 0.0) == 0.2
    assert balanced_line_fit(line, np.zeros(50, int), 2, 0.5) == pytest.approx(0.25)  # an empty cluster is not a line


def test_codes():
    scores = np.array([[1, 1], [2, 1], [3, 1], [-1, 1], [-2, 1], [1, -1.0]])
    book = codebook_of(scores, np.ones(6), 2)
    assert book.codes.tolist() == [[True, True], [False, True]]
    # (1, −1) differs from the first code in one sign and from the second in two, (−1, −3) from both in one or two
    assert nearest_code(np.array([[1.0, -1.0], [-1.0, -3.0], [-5.0, 0.1]]), book).tolist() == [0, 1, 1]
    tie = Codebook(np.array([[True, True], [False, False]]), np.array([[1.0, 1.0], [-1.0, -1.0]]))
    assert nearest_code(np.array([[3.0, -1.0], [1.0, -3.0]]), tie).tolist() == [0, 1]
    weighed = codebook_of(scores, np.array([0, 0, 0, 1, 1, 3.0]), 3)
    assert weighed.codes.tolist() == [[True, False], [False, True]]


def test_select_finds_the_number_of_clusters():
    X, y = make_blobs(240, centers=4, cluster_std=0.7, random_state=3)
    grid = {"n_clusters": [2, 3, 4, 5, 6], "kernel": [RBF(0.5), RBF(1.0), RBF(2.0)]}
    model = KernelSpectralClustering().select(X, **grid)
    assert model.n_clusters == 4 and adjusted_rand_score(y, model.labels_) > 0.95
    assert (
        len(model.selection_["candidates"]) == 15 and model.selection_["score"].argmax() == model.selection_["chosen"]
    )
    halves = KernelSpectralClustering(2, kernel=RBF(0.5)).fit(X)  # rounding decides which two of four separate clusters
    assert halves.score(X) == halves.balanced_line_fit_ == 0
    search = GridSearchCV(KernelSpectralClustering(kernel=RBF(1.0)), {"n_clusters": [2, 4, 6]}, cv=2).fit(X)
    assert search.best_params_ == {"n_clusters": 4}
    with pytest.raises(InputError, match="Nothing to choose from"):
        KernelSpectralClustering().select(X)


def test_edges(tmp_path):
    X, _ = make_blobs(30, centers=2, random_state=0)
    one = KernelSpectralClustering(1).fit(X)
    assert set(one.labels_) == {0} and one.predict(X[:3]).tolist() == [0, 0, 0]
    with pytest.warns(UserWarning, match=r"2 codes of signs for 4 clusters"):
        KernelSpectralClustering(4, kernel=RBF(1.0)).fit(np.repeat([[0.0], [5.0]], 5, axis=0))
    with pytest.raises(InputError, match=r"Row \d+ has a degree .* not positive. Use a kernel without negative"):
        KernelSpectralClustering(kernel=Linear()).fit(X - X.mean(axis=0))
    model = KernelSpectralClustering(kernel=RBF(1.0)).fit(X)
    save(model, tmp_path / "m.mercer")
    np.testing.assert_array_equal(load(tmp_path / "m.mercer").predict(X), model.labels_)
