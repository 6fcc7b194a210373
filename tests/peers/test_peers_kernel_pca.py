"""What scikit-learn's suites ask of KernelPCA and Isomap."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_blobs, make_circles, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron
from sklearn.manifold import Isomap
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from mercer import InputError, KernelPCA

X = load_iris().data[::2]
NEW = load_iris().data[1::2]


def close(ours, theirs, atol=1e-7):
    """Equal components, each up to its sign."""
    signs = np.sign(np.sum(ours * theirs, axis=0))
    np.testing.assert_allclose(ours * np.where(signs == 0, 1, signs), theirs, atol=atol)


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "cosine"])
def test_the_same_numbers_by_the_same_words(kernel, solver):
    options = {"kernel": kernel, "eigen_solver": solver, "gamma": 0.05, "random_state": 0}
    ours = KernelPCA(3, **options).fit(X)
    if (kernel, solver) == ("sigmoid", "randomized"):  # theirs refuses an indefinite kernel here
        with pytest.raises(ValueError, match="negative eigenvalues"):
            Theirs(3, **options).fit(X)
        options["eigen_solver"] = "dense"
    theirs = Theirs(3, **options).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-6)
    close(ours.transform(NEW), theirs.transform(NEW), atol=1e-5)
    close(ours.fit_transform(X), theirs.fit_transform(X), atol=1e-5)
    np.testing.assert_allclose(np.abs(ours.fit_transform(X)), np.abs(ours.transform(X)), atol=1e-6)


def test_linear_is_pca_and_signs_do_not_change():
    close(KernelPCA(4).fit_transform(X), PCA(4).fit_transform(X))
    rng = np.random.RandomState(0)
    for _ in range(5):
        assert np.array_equal(
            KernelPCA(2, kernel="rbf", random_state=rng).fit_transform(X), KernelPCA(2, kernel="rbf").fit_transform(X)
        )


def test_inverse_transform():
    blobs, _ = make_blobs(100, 4, centers=[[1, 1, 1, 1]], cluster_std=0.1, random_state=0)
    ours = KernelPCA(2, kernel="rbf", gamma=0.5, fit_inverse_transform=True, alpha=1e-3).fit(blobs)
    theirs = Theirs(2, kernel="rbf", gamma=0.5, fit_inverse_transform=True, alpha=1e-3).fit(blobs)
    back = ours.inverse_transform(ours.transform(blobs))
    np.testing.assert_allclose(back, theirs.inverse_transform(theirs.transform(blobs)), atol=1e-6)
    assert np.linalg.norm(blobs - back) / np.linalg.norm(blobs) < 0.1
    with pytest.raises((NotFittedError, ValueError, AttributeError)):
        KernelPCA(2).fit(blobs).inverse_transform(back)


def test_sparse_rows():
    rows = sp.random(60, 20, 0.3, "csr", random_state=0)
    for kernel in ("linear", "rbf", "poly"):
        dense = KernelPCA(3, kernel=kernel).fit(rows.toarray())
        close(KernelPCA(3, kernel=kernel).fit(rows).transform(rows), dense.transform(rows.toarray()))


@pytest.mark.parametrize("number", [1, 2, 4])
def test_numbers_of_components(number):
    assert KernelPCA(number).fit(X).transform(NEW).shape == (len(NEW), number)
    assert KernelPCA(number, kernel="rbf").fit(X).get_feature_names_out().tolist() == [
        f"kernelpca{i}" for i in range(number)
    ]


def test_zero_eigenvalues_are_removed_or_left():
    rows = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    assert KernelPCA().fit(rows).eigenvalues_.shape == (2,)
    assert KernelPCA(3).fit_transform(rows).shape == (4, 3)
    assert KernelPCA(3, remove_zero_eig=True).fit_transform(rows).shape == (4, 2)
    same = np.full((3, 2), 7.0)
    assert np.isfinite(KernelPCA(2).fit(same).transform(same)).all()


def test_precomputed():
    for K, new in ((rbf_kernel(X), rbf_kernel(NEW, X)), (polynomial_kernel(X), polynomial_kernel(NEW, X))):
        ours, theirs = KernelPCA(3, kernel="precomputed").fit(K), Theirs(3, kernel="precomputed").fit(K)
        close(ours.transform(new), theirs.transform(new), atol=1e-5 * np.abs(theirs.transform(new)).max())
    lopsided = np.array([[1.0, 2.0], [3.0, 40.0]])
    Theirs(1, kernel="precomputed").fit(lopsided)
    with pytest.raises(InputError, match="not symmetric"):  # named in README.md
        KernelPCA(1, kernel="precomputed").fit(lopsided)
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        KernelPCA(kernel="precomputed").fit(np.diag([4.0, 3.0, -5.0, 2.0, 1.0]))


def test_in_a_pipeline_with_a_search():
    rings, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)
    steps = Pipeline([("kernel_pca", KernelPCA(kernel="rbf", n_components=2)), ("perceptron", Perceptron(max_iter=5))])
    search = GridSearchCV(steps, {"kernel_pca__gamma": 2.0 ** np.arange(-2, 2)}, cv=3).fit(rings, y)
    assert search.best_score_ == 1.0
    assert Perceptron(max_iter=5).fit(rings, y).score(rings, y) < 0.8


def test_float32_stays_and_agrees():
    single, double = X.astype(np.float32), KernelPCA(3, kernel="rbf").fit(X)
    found = KernelPCA(3, kernel="rbf").fit(single)
    assert found.transform(single).dtype == np.float32
    np.testing.assert_allclose(np.abs(found.transform(single)), np.abs(double.transform(X)), atol=1e-4)


def test_isomap_is_kernel_pca_of_geodesic_distances():
    rows, _ = make_swiss_roll(300, random_state=0)
    isomap = Isomap(n_neighbors=10, n_components=2).fit(rows)
    K = -0.5 * isomap.dist_matrix_**2
    ours = KernelPCA(2, kernel="precomputed").fit_transform(K)
    close(ours, isomap.embedding_, atol=1e-4 * np.abs(ours).max())


def test_isomap_in_a_pipeline_keeps_what_it_keeps():
    rows = StandardScaler().fit_transform(X)
    isomap = Isomap(n_neighbors=6, n_components=2)
    own = Pipeline([("isomap", isomap), ("pca", KernelPCA(2))]).fit_transform(rows)
    close(own, PCA(2).fit_transform(Isomap(n_neighbors=6, n_components=2).fit_transform(rows)))
