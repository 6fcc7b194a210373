"""MaxMarginClustering against the dense formula, with pinned rows, balance as a constraint and new points."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from mercer import MaxMarginClustering
from mercer.errors import InputError
from mercer.kernels import RBF
from mercer.solvers.label_search.features import search_basis, search_rows
from mercer.solvers.label_search.solve import label_search


def dense_value(K, y, lam):
    """min_c (1/n)‖y − Kc‖² + λ cᵀKc, and c."""
    n = len(y)
    c = np.linalg.solve(K / n + lam * np.eye(n), y) / n
    return np.mean((y - K @ c) ** 2) + lam * c @ K @ c, c


def centered(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.mark.parametrize("center", [True, False])
def test_objective_and_decision_are_the_dense_formulas(center):
    X, _ = make_blobs(40, centers=2, cluster_std=2.0, random_state=0)
    model = MaxMarginClustering(lam=0.01, kernel=RBF(2.0), center=center, balance_slack=0.1).fit(X)
    K = rbf_kernel(X, gamma=1 / 8)
    signs = np.where(model.labels_ == 1, 1.0, -1.0)
    value, c = dense_value(centered(K) if center else K, signs, 0.01)
    assert model.result_.objective == pytest.approx(value, abs=1e-8)
    new = X[:7] + 0.2
    K_new = rbf_kernel(new, X, gamma=1 / 8)
    if center:  # centered by the training means
        K_new = K_new - K.mean(axis=0) - K_new.mean(axis=1, keepdims=True) + K.mean()
    np.testing.assert_allclose(model.decision_function(new), K_new @ c, atol=1e-6)
    assert np.array_equal(model.predict(new), (model.decision_function(new) > 0).astype(int))
    assert abs(model.labels_.mean() - 0.5) < 0.1
    assert model.result_.gap >= 0 and model.result_.info["best_move"] >= -1e-12


def test_optimum_over_every_clustering():
    X, _ = make_blobs(12, centers=2, cluster_std=2.5, random_state=1)
    model = MaxMarginClustering(lam=0.05, kernel=RBF(2.0), balance_slack=0.2).fit(X)
    K = centered(rbf_kernel(X, gamma=1 / 8))
    every = (np.array(y) for y in itertools.product([-1.0, 1.0], repeat=12))
    best = min(dense_value(K, y, 0.05)[0] for y in every if abs(np.mean(y > 0) - 0.5) < 0.2)
    assert model.result_.objective == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", RBF("scale")])
@pytest.mark.parametrize("pair, wanted", [((3, 8), 0.989), ((1, 7), 0.997), ((2, 7), 0.997), ((8, 9), 0.963)])
def test_digit_pairs_beat_the_public_max_margin_code_with_defaults(pair, wanted, kernel):
    X, y = load_digits(return_X_y=True)
    rows = np.isin(y, pair)
    X, truth = X[rows] / 16, (y[rows] == pair[1]).astype(int)
    right = np.mean(MaxMarginClustering(kernel=kernel).fit(X).labels_ == truth)
    assert max(right, 1 - right) >= wanted


def test_default_penalty_is_a_share_of_the_variance_whatever_the_scale_of_the_kernel():
    X, _ = make_blobs(50, centers=2, cluster_std=3.0, random_state=4)
    K = rbf_kernel(X, gamma=0.1)
    variance = np.trace(centered(K)) / 50
    models = [MaxMarginClustering(kernel="precomputed").fit(scale * K) for scale in (1.0, 1e4, 1e-4)]
    for scale, model in zip((1.0, 1e4, 1e-4), models):
        assert model.lam_ == pytest.approx(3e-4 * scale * variance, rel=1e-9)
        assert np.array_equal(model.labels_, models[0].labels_)
        assert model.result_.objective == pytest.approx(models[0].result_.objective, rel=1e-6)
    raw = MaxMarginClustering(kernel="precomputed", center=False).fit(K)
    assert raw.lam_ == pytest.approx(3e-4 * np.trace(K) / 50, rel=1e-9)
    assert MaxMarginClustering(lam=0.07).fit(X).lam_ == 0.07
    same = MaxMarginClustering().fit(np.ones((6, 2)))  # no variance at all
    assert same.lam_ > 0 and same.result_.objective == pytest.approx(1.0)


def test_smoother_problems_lead_to_a_lower_objective_than_as_many_random_starts():
    digits, y = load_digits(return_X_y=True)
    lam, annealed, once = 1e-5, 0.0, 0.0
    for pair in ((1, 2), (3, 5), (7, 9)):
        X = digits[np.isin(y, pair)] / 16
        model = MaxMarginClustering(lam=lam, n_restarts=3).fit(X)
        Z = model.map_.transform(X) - model.center_
        theta, V = np.linalg.eigh(Z @ Z.T / len(X))
        theta = np.maximum(theta, 0.0)
        options = {"shares": [0.5, 0.5], "slack": 0.2, "total": 1.0, "random_state": 0, "certify": False}
        W = V * np.sqrt(theta / (theta + lam) / len(X))
        annealed += model.result_.objective
        once += label_search(W, np.full(len(X), -1), n_restarts=7, **options).objective
    assert annealed < 0.7 * once


@pytest.mark.parametrize("search", ["ea", "round_robin"])
def test_the_papers_searches_run_once_from_random_starts(search):
    X, _ = make_blobs(40, centers=2, cluster_std=4.0, random_state=0)
    model = MaxMarginClustering(search=search, n_restarts=2).fit(X)
    Z = model.map_.transform(X)
    basis = search_basis(Z.T @ Z / 40 - np.outer(model.center_, model.center_))
    W, _ = search_rows(Z, 1 / 40, basis, model.lam_, model.center_)
    options = {"shares": [0.5, 0.5], "slack": 0.2, "total": 1.0, "random_state": 0, "n_restarts": 2}
    once = label_search(W, np.full(40, -1), search=search, **options)
    assert model.result_.info["evaluations"] == once.info["evaluations"]
    assert model.result_.objective == pytest.approx(once.objective, rel=1e-9)


def test_many_rows_take_landmarks():
    X, y = make_blobs(1100, n_features=20, centers=2, cluster_std=3.0, random_state=0)
    model = MaxMarginClustering().fit(X)
    assert model.map_.rank_ == 300 and "300 landmarks" in model.approx_reason_
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert MaxMarginClustering().fit(X[:400]).map_.rank_ == 400  # exact for few rows


def test_time_budget_and_progress(capsys):
    X, _ = make_blobs(150, centers=2, cluster_std=3.0, random_state=2)
    model = MaxMarginClustering(n_restarts=10**6, time_budget=0.2, verbose=1, n_jobs=1).fit(X)
    assert "time budget" in model.result_.reason and not model.result_.converged
    assert model.result_.info["seconds"] >= 0.15  # of all three searches
    assert "best F =" in capsys.readouterr().out


def test_counts_follow_the_numbering():
    X = np.vstack([np.zeros((12, 1)), np.full((20, 1), 5.0), np.full((28, 1), 9.0)])
    X = X + np.random.default_rng(0).normal(size=X.shape) / 10
    for order in (np.arange(60), np.arange(60)[::-1]):
        model = MaxMarginClustering(3, kernel=RBF(1.0)).fit(X[order])
        assert model.result_.info["counts"].tolist() == np.bincount(model.labels_).tolist()
        assert model.labels_[0] == 0


def test_clusters_that_are_not_round_and_new_points():
    X, y = make_moons(200, noise=0.05, random_state=0)
    model = MaxMarginClustering(kernel=RBF(0.3), random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    new, truth = make_moons(100, noise=0.05, random_state=1)
    assert adjusted_rand_score(truth, model.predict(new)) > 0.9


def test_several_clusters():
    X, y = load_iris(return_X_y=True)
    model = MaxMarginClustering(3, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9  # k-means: 0.73
    assert model.decision_function(X).shape == (150, 3)
    assert np.mean(model.predict(X) == model.labels_) > 0.95
    _, first = np.unique(model.labels_, return_index=True)
    assert np.all(np.diff(first) > 0)  # numbered as they appear
    blobs, truth = make_blobs(120, centers=4, cluster_std=0.5, random_state=2)
    assert adjusted_rand_score(truth, MaxMarginClustering(4).fit_predict(blobs)) > 0.95
    assert np.array_equal(MaxMarginClustering(1).fit(X).predict(X), np.zeros(150))


def test_balance_is_a_constraint_and_not_forced_equality():
    X = np.vstack([np.zeros((30, 1)), np.full((20, 1), 5.0)]) + np.random.default_rng(0).normal(size=(50, 1)) / 10
    model = MaxMarginClustering(kernel=RBF(1.0)).fit(X)
    assert np.bincount(model.labels_).tolist() == [30, 20]
    forced = MaxMarginClustering(kernel=RBF(1.0), balance_slack=0.01).fit(X)
    assert np.bincount(forced.labels_).tolist() == [25, 25]
    shares = MaxMarginClustering(kernel=RBF(1.0), balance=[0.4, 0.6], balance_slack=0.05).fit(X)
    assert np.bincount(shares.labels_).tolist() == [20, 30]
    free = MaxMarginClustering(kernel=RBF(1.0), balance=None).fit(X)
    assert np.bincount(free.labels_).tolist() == [30, 20]


def test_pinned_rows_never_move():
    X, y = make_blobs(60, centers=2, cluster_std=0.5, random_state=0)
    pinned = np.full(60, -1)
    wrong = np.flatnonzero(y == 0)[:3]
    pinned[wrong] = 1  # against the data
    pinned[np.flatnonzero(y == 0)[3:6]] = 0
    pinned[np.flatnonzero(y == 1)[:3]] = 1
    for search in ("tabu", "ea", "round_robin"):
        model = MaxMarginClustering(lam=0.1, search=search, n_restarts=3).fit(X, pinned=pinned)
        assert np.array_equal(model.labels_[pinned >= 0], pinned[pinned >= 0])
        assert np.mean(model.labels_[pinned < 0] == y[pinned < 0]) > 0.9


def test_same_seed_same_clusters_at_any_number_of_threads():
    X, _ = make_blobs(80, centers=3, cluster_std=3.0, random_state=0)
    runs = [MaxMarginClustering(3, n_jobs=n_jobs, random_state=3).fit(X).labels_ for n_jobs in (1, 4)]
    assert np.array_equal(*runs)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lam": 0}, "'lam' parameter"),
        ({"balance": [0.5, 0.3, 0.2]}, r"balance has shape \(3,\) for 2 clusters"),
        ({"balance": [0.9, 0.3]}, "sum to 1"),
        ({"balance_slack": 0.01, "balance": [0.5, 0.5]}, r"0\.5 of 9 unlabeled rows is 4\.5.*counts are 4 and 5"),
        ({"n_clusters": 0}, "'n_clusters' parameter"),
    ],
)
def test_refusals(options, message):
    X = np.arange(9.0)[:, None]
    with pytest.raises(ValueError, match=message):
        MaxMarginClustering(**options).fit(X)


def test_refuses_pinned_of_the_wrong_kind():
    X = np.arange(6.0)[:, None]
    for pinned in ([0, 1], [0, 1, 2, -1, -1, -1], [0.5] * 6):
        with pytest.raises(InputError, match=r"pinned must contain 6 integers, a cluster 0 … 1 or −1"):
            MaxMarginClustering().fit(X, pinned=pinned)
