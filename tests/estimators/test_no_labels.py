"""Formulas, backends, weights and refusals of SVDD, density, kernel PCA novelty and kernel c-means."""

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

from mercer.errors import BackendError, InputError, NotConverged
from mercer.estimators.kernel_cmeans import KernelCMeans
from mercer.estimators.kernel_density_novelty import KernelDensityNovelty
from mercer.estimators.kpca_novelty import KPCANovelty
from mercer.estimators.novelty import threshold
from mercer.estimators.svdd import SVDD
from mercer.geometry.open import POLICIES
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from mercer.solvers.ball.svdd import svdd_smo

DETECTORS = [
    SVDD(0.2),
    SVDD(0.2, solver="sweeps"),
    SVDD(0.2, solver="gradient", max_iter=20_000),
    SVDD(0.2, approx=15),
    KernelDensityNovelty(),
    KernelDensityNovelty(approx=20),
    KPCANovelty(4),
    KPCANovelty(4, approx=15),
]
each = pytest.mark.parametrize("model", DETECTORS, ids=str)


def blob(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


# SVDD


@pytest.mark.parametrize("kernel", [RBF(1.5), Linear(), Polynomial(2, scale=0.5), Laplacian(2.0)], ids=str)
@pytest.mark.parametrize("solver", ["smo", "sweeps"])
def test_svdd_is_the_ball_of_the_dense_kernel(kernel, solver):
    X, new = blob(), 2 * blob(20, seed=1)
    K, K_new = kernel(X), kernel(new, X)
    dual = svdd_smo(K, np.zeros(60), np.full(60, 1 / 12), tol=1e-10)
    model = SVDD(0.2, kernel=kernel, solver=solver, tol=1e-10).fit(X)
    distance = kernel.diag(new) - 2 * K_new @ dual.value + dual.value @ K @ dual.value
    scale = kernel.diag(X).max()
    assert_allclose(-model.score_samples(new), distance, atol=1e-6 * scale)
    assert_allclose(model.radius_**2, dual.info["radius_sq"], atol=1e-6 * scale)
    assert model.gap_ <= 1e-10 and model.dual_coef_.sum() == pytest.approx(1)
    outside, vectors = np.mean(model.predict(X) < 0), len(model.support_) / 60
    assert outside <= 0.2 <= vectors


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.9])
def test_svdd_decides_as_the_one_class_svm(nu):
    X, new = blob(200), 2 * blob(50, seed=1)
    theirs = OneClassSVM(nu=nu, gamma=0.5, tol=1e-8).fit(X)
    ours = SVDD(nu, kernel=RBF(1.0), tol=1e-10).fit(X)
    far = np.abs(theirs.decision_function(new)) > 1e-4 * nu * 200
    assert_allclose(
        (ours.decision_function(new) * nu * 200 / 2)[far], theirs.decision_function(new)[far], rtol=2e-3, atol=1e-4
    )
    assert_array_equal(ours.predict(new)[far], theirs.predict(new)[far])


def test_nu_one_ranks_like_the_density():
    X, new = blob(100), 2 * blob(30, seed=1)
    ball, density = SVDD(1.0, kernel=RBF(0.7)).fit(X), KernelDensityNovelty(0.7).fit(X)
    assert_array_equal(np.argsort(ball.score_samples(new)), np.argsort(density.score_samples(new)))


def test_known_outliers_push_the_boundary_away():
    X = np.concatenate([blob(80, 2), [[1.5, 1.5], [1.6, 1.4], [1.4, 1.6]]])
    y = np.append(np.zeros(80), [-1, -1, -1])
    kernel = RBF()  # the narrow default goes around single rows
    without, with_them = SVDD(0.05, kernel=kernel).fit(X[:80]), SVDD(0.05, outlier_weight=5, kernel=kernel).fit(X, y)
    there = [[1.5, 1.5]]
    assert without.predict(there) == 1 and with_them.predict(there) == -1
    assert np.all(with_them.dual_coef_[with_them.support_ >= 80] < 0)
    assert np.mean(with_them.predict(X[:80]) < 0) < 0.2


def test_only_minus_one_in_y_means_anything():
    X = blob(40)
    plain = SVDD(0.2).fit(X).decision_function(X)
    for y in (np.ones(40), np.arange(40) + 1, ["a"] * 40, [None] * 40, np.full(40, np.nan)):
        assert_array_equal(SVDD(0.2).fit(X, y).decision_function(X), plain)
    with pytest.warns(UserWarning, match="outliers by the number −1"):
        SVDD(0.2).fit(X, ["-1"] * 40)
    with pytest.raises(InputError, match="Every row of y is −1, which marks known outliers, and SVDD needs ordinary"):
        SVDD(0.2).fit(X, np.full(40, -1))
    with pytest.raises(InputError, match="y has 3 entries and X has 40 rows"):
        SVDD(0.2).fit(X, [1, 1, 1])


def test_svdd_smo_needs_columns_and_says_so():
    with pytest.raises(InputError, match=r"solver='smo' needs columns.*Use approx='exact'.*or solver='sweeps'"):
        SVDD(solver="smo", approx=5).fit(blob())


def test_svdd_warns_when_it_stops_early():
    with pytest.warns(NotConverged, match=r"SVDD stopped after 1 rounds.*Raise max_iter"):
        SVDD(0.3, max_iter=1).fit(blob(300))


def test_far_rows_are_outside_on_an_approximate_map():
    X = blob(300, 2)
    far = np.array([[60.0, 60.0]])
    for model in (SVDD(0.1, approx=20), KPCANovelty(5, approx=20), KernelDensityNovelty(approx=20)):
        model.fit(X)
        assert model.predict(far) == -1, model
        assert model.decision_function(far) < model.decision_function(X).min() + 1e-9, model


# The threshold and the probability


@pytest.mark.parametrize(
    "model",
    [
        SVDD(0.2, contamination=0.1, kernel=RBF()),  # narrow kernels have many rows on the sphere, which are tied
        KernelDensityNovelty(),
        KernelDensityNovelty(window="uniform"),
        KPCANovelty(4),
    ],
)
def test_contamination_is_the_share_left_out(model):
    X = blob(200, 2)
    assert np.sum(clone(model).fit_predict(X) < 0) in (
        (20,) if model.get_params().get("window") != "uniform" else range(21)
    )
    assert_array_equal(clone(model).fit(X).predict(X), clone(model).fit_predict(X))


def test_threshold_lies_between_rows_and_never_splits_equal_ones():
    assert threshold(np.array([1.0, 2, 3, 4]), np.ones(4), 0.5) == 2.5
    assert threshold(np.array([1.0, 1, 1, 4]), np.ones(4), 0.5) == 1.0
    assert threshold(np.array([1.0, 9, 2, 3]), np.array([1.0, 0, 1, 2]), 0.5) == 2.5
    assert threshold(np.array([-np.inf, 1, 2, 3]), np.ones(4), 0.3) == 1.0


@pytest.mark.parametrize(
    "model",
    [SVDD(0.02), SVDD(0.5), SVDD(0.1, kernel=RBF(), approx=50), KernelDensityNovelty(0.4), KPCANovelty(6)],
    ids=str,
)
def test_outlier_probability_is_calibrated_on_new_rows(model):
    """A fraction a of new rows from the same source has a value above 1 − a, within six standard errors."""
    X, new = blob(800, 3), blob(4000, 3, seed=7)
    probability = model.fit(X).outlier_probability(new)
    for share in (0.5, 0.2, 0.05):
        alarms = np.mean(probability > 1 - share)
        slack = 6 * np.sqrt(share * (1 - share) * (1 / 800 + 1 / 4000))
        assert abs(alarms - share) < slack, (model, share, alarms)
    assert model.outlier_probability(np.full((1, 3), 30.0))[0] > 0.99


@pytest.mark.parametrize(
    "model",
    [SVDD(0.02), SVDD(0.1), SVDD(0.5), SVDD(0.1, kernel=RBF("median")), KPCANovelty(), KPCANovelty(6)],
    ids=str,
)
def test_an_alarm_at_95_percent_is_false_for_5_percent_whatever_the_kernel_or_nu(model):
    """Ten draws of 200 rows. Scores that are held out to first order only gave 0.7 to 9.5%."""
    alarms = [
        np.mean(model.fit(blob(200, 3, seed)).outlier_probability(blob(500, 3, seed=100 + seed)) > 0.95)
        for seed in range(10)
    ]
    assert 0.035 < np.mean(alarms) < 0.065, alarms


def test_probability_counts_the_held_out_rows_of_ten_fits_without_them():
    """The slow version of cross-conformal prediction, with refits without each tenth of the rows."""
    X, new = blob(10, 2), 2 * blob(7, 2, seed=3)
    model = SVDD(0.5, kernel=RBF(1.0), tol=1e-12).fit(X)
    odder = np.zeros(7)
    for i in range(10):
        without = SVDD(0.5, kernel=RBF(1.0), tol=1e-12).fit(np.delete(X, i, axis=0))
        odder += without.score_samples(X[i : i + 1])[0] <= without.score_samples(new)
    assert_allclose(model.outlier_probability(new), 1 - (1 + odder) / 11, atol=1e-12)


# Density


def test_density_is_the_sum_of_windows():
    X, new = blob(50, 2), blob(20, 2, seed=1)
    gauss = np.mean(np.exp(-0.5 * ((new[:, None] - X) ** 2).sum(-1) / 0.25), axis=1) / (2 * np.pi * 0.25)
    cube = np.mean(np.all(np.abs(new[:, None] - X) <= 0.6, axis=2), axis=1) / 1.2**2
    assert_allclose(np.exp(KernelDensityNovelty(0.5).fit(X).score_samples(new)), gauss, rtol=1e-6)
    assert_allclose(
        np.exp(KernelDensityNovelty(1.2, window="uniform").fit(X).score_samples(new)), cube, rtol=1e-6, atol=1e-300
    )
    exact_map = KernelDensityNovelty(0.5, approx=50).fit(X)
    assert_allclose(np.exp(exact_map.score_samples(new)), gauss, rtol=1e-5)


def test_density_left_out_is_exact():
    X = blob(15, 2)
    model = KernelDensityNovelty(0.5).fit(X)
    expected = sorted(
        KernelDensity(bandwidth=0.5).fit(np.delete(X, i, 0)).score_samples(X[i : i + 1])[0] for i in range(15)
    )
    assert_allclose(model._reference.values, np.sort(-np.array(expected)), rtol=1e-6)


def test_scott_rule_is_the_textbook_one():
    X = blob(500, 2) * [1.0, 3.0]
    spread = np.sqrt(np.mean(X.var(axis=0)))
    assert KernelDensityNovelty().fit(X).bandwidth_ == pytest.approx(spread * 500 ** (-1 / 6))
    assert KernelDensityNovelty("silverman").fit(X).bandwidth_ == pytest.approx(
        spread * 500 ** (-1 / 6)
    )  # equal for d = 2
    cube = KernelDensityNovelty(window="uniform").fit(X).bandwidth_
    assert cube**2 / 12 == pytest.approx((spread * 500 ** (-1 / 6)) ** 2)


def test_uniform_window_refuses_what_has_no_tree():
    with pytest.raises(BackendError, match=r"counts neighbors in a tree.*or use window='gaussian'"):
        KernelDensityNovelty(window="uniform").fit(torch.randn(20, 2))


# Kernel PCA novelty


@pytest.mark.parametrize("kernel", [RBF(1.5), Polynomial(2, scale=0.5)], ids=str)
def test_kpca_error_is_the_textbook_formula(kernel):
    X, new, q = blob(30), blob(10, seed=1), 4
    K, K_new = kernel(X), kernel(new, X)
    H = np.eye(30) - 1 / 30
    values, vectors = np.linalg.eigh(H @ K @ H)
    alpha = vectors[:, -q:] / np.sqrt(values[-q:])
    centered = (K_new - K.mean(axis=0)) @ H
    own = kernel.diag(new) - 2 * K_new.mean(axis=1) + K.mean()
    expected = own - np.sum((centered @ alpha) ** 2, axis=1)
    model = KPCANovelty(q, kernel=kernel).fit(X)
    assert_allclose(-model.score_samples(new), expected, rtol=1e-6, atol=1e-9)
    assert_allclose(model.eigenvalues_, values[::-1][:q])


def test_kpca_share_of_variance_chooses_the_number():
    X = blob(40, 5) * [10, 5, 1, 0.1, 0.1]
    shares = np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1]
    shares = np.cumsum(shares) / shares.sum()
    for wanted in (0.5, 0.9, 0.99):
        model = KPCANovelty(wanted, kernel=Linear()).fit(X)
        assert model.n_components_ == np.argmax(shares >= wanted) + 1


# Kernel c-means


@pytest.mark.parametrize("approx", ["exact", 30])
def test_cmeans_distances_are_those_to_the_means(approx):
    X, new = blob(30), blob(10, seed=1)
    kernel = RBF(1.5)
    model = KernelCMeans(3, kernel=kernel, approx=approx, random_state=0).fit(X)
    expected = np.empty((10, 3))
    for c in range(3):
        inside = X[model.labels_ == c]
        expected[:, c] = 1 - 2 * kernel(new, inside).mean(axis=1) + kernel(inside).mean()
    assert_allclose(model.transform(new) ** 2, expected, atol=1e-7)
    assert_array_equal(model.predict(new), expected.argmin(axis=1))
    assert_array_equal(model.predict(X), model.labels_)
    assert model.inertia_ == pytest.approx(-model.score(X), rel=1e-6)
    assert np.all(np.diff(model.history_) <= 0) and model.gap_ == 0


def test_cmeans_is_the_same_whether_the_kernel_matrix_is_stored_or_not(monkeypatch):
    X = np.random.default_rng(0).standard_normal((300, 3))
    weight = np.random.default_rng(1).integers(0, 3, 300).astype(float)
    stored = KernelCMeans(6, random_state=0).fit(X, sample_weight=weight)
    monkeypatch.setitem(POLICIES, "clusters", replace(POLICIES["clusters"], stored_rows=100))
    for rows in (X, sp.csr_array(X)):
        evaluated = KernelCMeans(6, random_state=0).fit(rows, sample_weight=weight)
        assert "is stored" in stored.approx_reason_ and "never stored" in evaluated.approx_reason_
        assert_array_equal(evaluated.labels_, stored.labels_)
        assert evaluated.inertia_ == pytest.approx(stored.inertia_, rel=1e-10)
        assert_array_equal(evaluated.predict(rows), stored.labels_)


@pytest.mark.parametrize("approx", ["exact", 4])
def test_cmeans_with_a_linear_kernel_is_kmeans(approx):
    X = load_iris().data
    X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    for seed in range(4):
        first = X[np.random.default_rng(seed).choice(150, 3, replace=False)]
        theirs = KMeans(3, init=first, n_init=1, tol=0).fit(X)
        ours = KernelCMeans(3, kernel=Linear(), init=first, approx=approx).fit(X)
        assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
        assert_array_equal(ours.labels_, theirs.labels_)
        assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-5)


@pytest.mark.parametrize("home", ["numpy", "torch", "on a device"])
def test_cmeans_of_many_rows_with_a_linear_kernel_takes_the_rows_as_features(monkeypatch, home):
    X = np.random.default_rng(0).normal(size=(10_500, 3)) + 3.0 * np.eye(3)[np.arange(10_500) % 3]
    X, first = X.astype(np.float32), X[:3]
    if home == "on a device":  # torch's CPU in place of a GPU
        monkeypatch.setattr("mercer.homes.torch.on_gpu", lambda X: True)
    rows = X if home == "numpy" else torch.from_numpy(X)
    theirs = KMeans(3, init=first, n_init=1, tol=0).fit(X.astype(np.float64))
    ours = KernelCMeans(3, kernel=Linear(), init=first, n_init=1).fit(rows)
    assert "rows themselves" in ours.approx_reason_
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
    assert np.mean(ours.labels_ != theirs.labels_) < 1e-3
    assert_array_equal(ours.predict(rows), ours.labels_)
    if home == "on a device":
        with_weights = KernelCMeans(3, kernel=Linear(), init=ours.labels_).fit(rows, sample_weight=np.full(10_500, 2.0))
        assert with_weights.inertia_ == pytest.approx(2 * ours.inertia_)


def test_cmeans_weights_are_repetitions():
    X = blob(30)
    weight = np.array([2] * 10 + [1] * 15 + [0] * 5)
    first = np.arange(30) % 3
    repeat = np.repeat(np.arange(30), weight)
    once = KernelCMeans(3, kernel=RBF(1.0), init=first).fit(X, sample_weight=weight)
    twice = KernelCMeans(3, kernel=RBF(1.0), init=first[repeat]).fit(X[repeat])
    assert_array_equal(once.labels_[repeat], twice.labels_)
    assert once.inertia_ == pytest.approx(twice.inertia_)
    assert_allclose(once.transform(X), twice.transform(X))


def test_weighted_cmeans_is_the_normalized_cut():
    X, _ = make_moons(60, noise=0.1, random_state=0)
    W = np.exp(-5 * ((X[:, None] - X) ** 2).sum(-1))
    degree = W.sum(axis=1)
    K = W / np.outer(degree, degree)
    model = KernelCMeans(2, kernel="precomputed", random_state=0).fit(K, sample_weight=degree)
    inside = [
        W[np.ix_(model.labels_ == c, model.labels_ == c)].sum() / degree[model.labels_ == c].sum() for c in (0, 1)
    ]
    cut = 2 - sum(inside)
    assert model.inertia_ == pytest.approx(np.sum(np.diag(W) / degree) - 2 + cut)


def test_cmeans_on_a_precomputed_kernel_predicts():
    X, new = blob(30), blob(10, seed=1)
    kernel = Polynomial(2)
    kernel = kernel.resolve(X)
    direct = KernelCMeans(3, kernel=kernel, init=np.arange(30) % 3).fit(X)
    given = KernelCMeans(3, kernel="precomputed", init=np.arange(30) % 3).fit(kernel(X))
    assert_array_equal(direct.labels_, given.labels_)
    assert_array_equal(direct.predict(new), given.predict(kernel(new, X)))
    with pytest.raises(InputError, match="differs from row to row"):
        given.transform(kernel(new, X))


def test_cmeans_tells_how_many_starts_have_ended(capsys):
    told = []
    KernelCMeans(5, random_state=0, verbose=lambda stage, share: told.append((stage, share))).fit(blob(200))
    assert told[0] == ("iteration 1", 0.0)
    shares = [share for _, share in told]
    assert shares == sorted(shares) and 0 < shares[-1] < 1
    assert capsys.readouterr().out == ""
    KernelCMeans(5, random_state=0, verbose=True).fit(blob(200))
    assert capsys.readouterr().out.count("\n") == len(told)


def test_cmeans_refuses_impossible_starts():
    X = blob(20)
    with pytest.raises(InputError, match=r"init contains labels from 0 to 5\. Use 0 to 2"):
        KernelCMeans(3, init=np.r_[np.arange(6), np.zeros(14, int)]).fit(X)
    with pytest.raises(InputError, match=r"init has shape \(2, 3\).*rows of shape \(3, 3\)"):
        KernelCMeans(3, init=X[:2]).fit(X)
    with pytest.warns(UserWarning, match="2 of the 4 clusters are empty"):
        KernelCMeans(4).fit(np.repeat(np.eye(2), 5, axis=0))


# Backends, order of rows, weights and precomputed kernels of all of them


@each
@pytest.mark.parametrize("where", ["torch", "dask", "sparse"])
def test_same_scores_wherever_the_rows_live(model, where):
    X = blob()
    new = blob(10, seed=1)
    move = {
        "torch": torch.from_numpy,
        "dask": lambda A: da.from_array(A, chunks=(20, 3)),
        "sparse": sp.csr_matrix,
    }[where]
    if where == "dask" and model.approx == "auto":  # has no exact map by default
        model = clone(model).set_params(approx=60)
    here = clone(model).fit(X)
    there = clone(model).fit(move(X))
    assert_allclose(there.score_samples(move(new)), here.score_samples(new), atol=2e-5)
    assert_allclose(there.offset_, here.offset_, atol=2e-5)
    assert_allclose(there.score_samples(new), here.score_samples(new), atol=2e-5)  # a fitted model serves host rows


@pytest.mark.parametrize("where", ["torch", "dask", "sparse"])
@pytest.mark.parametrize("approx", ["auto", 60])
def test_same_clusters_wherever_the_rows_live(where, approx):
    X, _ = make_blobs(60, 3, centers=3, random_state=0)
    move = {
        "torch": torch.from_numpy,
        "dask": lambda A: da.from_array(A, chunks=(20, 3)),
        "sparse": sp.csr_matrix,
    }[where]
    here = KernelCMeans(3, approx=approx, random_state=0).fit(X)
    there = KernelCMeans(3, approx=60 if where == "dask" else approx, random_state=0).fit(move(X))
    assert_array_equal(here.labels_, there.labels_)
    assert_allclose(here.transform(X), there.transform(move(X)), atol=1e-5)
    assert_array_equal(here.predict(X), there.predict(move(X)))


@pytest.mark.parametrize("model", [SVDD(0.2, tol=1e-10), KernelDensityNovelty(), KPCANovelty(4)], ids=str)
def test_order_of_rows_does_not_matter(model):
    X, new = blob(), blob(10, seed=1)
    order = np.random.default_rng(2).permutation(60)
    a, b = clone(model).fit(X), clone(model).fit(X[order])
    assert_allclose(a.decision_function(new), b.decision_function(new), atol=1e-7)


@pytest.mark.parametrize("model", [SVDD(0.2, tol=1e-10), KPCANovelty(4)], ids=str)
def test_precomputed_kernel_gives_the_same(model):
    X, new = blob(), blob(10, seed=1)
    for kernel in (RBF(1.3), Polynomial(2, scale=0.5)):
        direct = clone(model).set_params(kernel=kernel).fit(X)
        given = clone(model).set_params(kernel="precomputed")
        assert_array_equal(given.fit_predict(kernel(X)), direct.fit_predict(X))
        if kernel.stationary:
            assert_allclose(given.score_samples(kernel(new, X)), direct.score_samples(new), atol=1e-7)
        else:
            with pytest.raises(InputError, match=r"needs k\(x, x\) of new rows.*Fitted attributes"):
                given.predict(kernel(new, X))


def test_float32_rows_give_the_same_verdict():
    X = blob(200, 3)
    for model in (SVDD(0.1), SVDD(0.1, solver="sweeps"), KPCANovelty(5)):
        verdict = clone(model).fit_predict(X)
        single = clone(model).fit(X.astype(np.float32))
        assert np.mean(single.predict(X.astype(np.float32)) != verdict) <= 0.02
        assert np.mean(single.predict(X.astype(np.float32)) < 0) <= 0.11


def test_svdd_keeps_its_digits_when_rows_are_a_billion_bandwidths_apart():
    X = np.append(blob(200), 1e9 * blob(10, seed=1), axis=0)
    dual = svdd_smo(RBF(1.0)(X), np.zeros(210), np.full(210, 1 / 42), tol=1e-10)
    model = SVDD(0.2, kernel=RBF(1.0), tol=1e-10).fit(X)
    assert model.objective_ == pytest.approx(dual.objective, rel=1e-8) and model.gap_ <= 1e-10
    assert model.radius_**2 == pytest.approx(dual.info["radius_sq"], rel=1e-8)


@pytest.mark.filterwarnings("ignore:.*of the spectrum of this similarity is negative")
def test_an_indefinite_similarity_is_measured_by_what_is_left_of_it():
    """Without its negative part ‖z‖² exceeds k(x, x). Distances with the latter would be negative, and cut to 0."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    for seed, k in ((0, 5), (3, 5), (3, 6)):
        model = KernelCMeans(k, kernel=Sigmoid(), random_state=seed, n_init=2).fit(X)
        assert np.all(np.diff(model.history_) <= 0)
        assert_array_equal(model.predict(X), model.labels_)
        assert model.score(X) == pytest.approx(-model.inertia_)
    novelty = KPCANovelty(kernel=Sigmoid()).fit(X)
    assert np.sum(novelty.predict(X) == -1) == 20
    assert_allclose(novelty.score_samples(X), novelty.training_scores_, atol=1e-12)


@pytest.mark.parametrize("X", [[[0.0], [1.0]], [[0.0], [1.0], [3.0]]])
def test_svdd_of_two_or_three_rows_converges(X):
    model = SVDD(kernel=RBF(1.0)).fit(X)
    assert model.gap_ <= 1e-6
    K = RBF(1.0)(np.array(X))
    best = minimize(
        lambda b: b @ K @ b,
        np.full(len(X), 1 / len(X)),
        bounds=[(0, 1)] * len(X),
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1},
        tol=1e-12,
    )
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_
    assert_allclose(beta, best.x, atol=1e-5)
