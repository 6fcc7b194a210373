"""What scikit-learn's suites ask of kernel ridge and k-means, and tslearn's of kernel k-means."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, make_blobs, make_circles
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import adjusted_rand_score, v_measure_score
from sklearn.metrics.pairwise import pairwise_kernels

from mercer import RBF, KernelCMeans, Laplacian, Linear, LSSVMRegressor, Polynomial

X, Y = (part[:150] for part in load_diabetes(return_X_y=True))
BOTH = np.column_stack([Y, Y[::-1] / 10])
KERNELS = [
    ({"kernel": "rbf", "gamma": 8.0}, RBF.from_gamma(8.0)),
    ({"kernel": "laplacian", "gamma": 5.0}, Laplacian(0.2)),
    ({"kernel": "linear"}, Linear()),
    ({"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0}, Polynomial(2, 1.0, 1.0)),
]


@pytest.mark.parametrize("options, kernel", KERNELS, ids=lambda one: str(one)[:20])
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_kernel_ridge_without_a_constant(options, kernel, alpha):
    weight = 1.0 + np.arange(len(X)) % 3
    for y in (Y, BOTH):
        theirs = KernelRidge(alpha=alpha, **options).fit(X, y)
        ours = LSSVMRegressor(1.0 / alpha, kernel=kernel, bias=False).fit(X, y)
        np.testing.assert_allclose(ours.predict(X + 0.01), theirs.predict(X + 0.01), rtol=1e-5, atol=1e-3)
        theirs.fit(X, y, sample_weight=weight)
        ours.fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(ours.predict(X + 0.01), theirs.predict(X + 0.01), rtol=1e-5, atol=1e-3)


def test_linear_is_ridge_with_and_without_a_constant():
    for bias in (True, False):
        theirs = Ridge(alpha=0.5, fit_intercept=bias).fit(X, BOTH)
        ours = LSSVMRegressor(2.0, kernel="linear", bias=bias).fit(X, BOTH)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6, atol=1e-6)


def test_sparse_and_precomputed_numbers():
    plain = LSSVMRegressor(kernel=RBF(0.2)).fit(X, Y).predict(X)
    np.testing.assert_allclose(
        LSSVMRegressor(kernel=RBF(0.2)).fit(sp.csr_matrix(X), Y).predict(sp.csr_matrix(X)), plain, rtol=1e-5
    )
    K = RBF(0.2)(X)
    np.testing.assert_allclose(LSSVMRegressor(kernel="precomputed").fit(K, Y).predict(K), plain, rtol=1e-4)


# k-means


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=3, cluster_std=0.6, random_state=3)


def test_linear_c_means_is_k_means(blobs):
    rows, _ = blobs
    theirs = KMeans(3, n_init=10, random_state=0).fit(rows)
    ours = KernelCMeans(3, kernel="linear", n_init=10, random_state=0).fit(rows)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    order = [
        np.argmin(np.linalg.norm(theirs.cluster_centers_ - rows[ours.labels_ == k].mean(axis=0), axis=1))
        for k in range(3)
    ]
    np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows)[:, order], atol=1e-5)
    assert ours.score(rows) == pytest.approx(theirs.score(rows), rel=1e-6)
    np.testing.assert_array_equal(ours.predict(rows), ours.labels_)


def test_starts_weights_and_the_number_of_clusters(blobs):
    rows, truth = blobs
    for init in ("k-means++", "random", rows[[0, 50, 100]], truth):
        found = KernelCMeans(3, kernel="linear", init=init, n_init=10, random_state=0).fit(rows)
        assert len(np.unique(found.labels_)) == 3
        assert v_measure_score(truth, found.labels_) > 0.9
    weight = np.where(truth == 0, 0.0, 1.0)
    two = KernelCMeans(2, kernel="linear", random_state=0).fit(rows, sample_weight=weight)
    alone = KernelCMeans(2, kernel="linear", random_state=0).fit(rows[truth > 0])
    assert adjusted_rand_score(two.labels_[truth > 0], alone.labels_) == 1.0
    assert two.inertia_ == pytest.approx(alone.inertia_, rel=1e-9)
    twice = KernelCMeans(3, kernel="linear", random_state=0).fit(rows, sample_weight=np.full(150, 2.0))
    assert twice.inertia_ == pytest.approx(
        2 * KernelCMeans(3, kernel="linear", random_state=0).fit(rows).inertia_, rel=1e-9
    )
    with pytest.raises(ValueError):
        KernelCMeans(200).fit(rows)


def test_the_same_seed_the_same_clusters_and_duplicates(blobs):
    rows, _ = blobs
    one, other = (KernelCMeans(5, random_state=42).fit(rows).labels_ for _ in range(2))
    assert np.array_equal(one, other)
    few = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    with pytest.warns(UserWarning, match="fewer distinct rows"):
        KernelCMeans(3, random_state=0).fit(few)


def test_tslearn_s_kernel_k_means():
    tslearn = pytest.importorskip("tslearn.clustering")
    rings, truth = make_circles(120, factor=0.2, noise=0.03, random_state=0)
    K = pairwise_kernels(rings, metric="rbf", gamma=2.0)
    theirs = tslearn.KernelKMeans(2, kernel="rbf", kernel_params={"gamma": 2.0}, n_init=20, random_state=0).fit(rings)
    ours = KernelCMeans(2, kernel=RBF.from_gamma(2.0), n_init=20, random_state=0).fit(rings)
    assert ours.inertia_ <= theirs.inertia_ * len(rings) * (1 + 1e-6)  # theirs is a mean, as stated in README.md
    by_matrix = KernelCMeans(2, kernel="precomputed", n_init=20, random_state=0).fit(K)
    assert by_matrix.inertia_ == pytest.approx(ours.inertia_, rel=1e-9)
    assert np.array_equal(ours.predict(rings), ours.labels_)
    assert adjusted_rand_score(truth, ours.labels_) >= adjusted_rand_score(truth, theirs.labels_) - 1e-9
