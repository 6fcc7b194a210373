"""KernelPCA has scikit-learn's behavior and numbers, and more features."""

import pickle
import warnings

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.decomposition
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import naive
from mercer import RBF, FourierMap, KernelPCA, LandmarkMap, Laplacian, Linear, Matern32, NotConverged, Polynomial
from mercer.errors import InputError, NotInductiveError
from mercer.geometry import operators
from mercer.solvers.eigen import top as eigen
from naive import assert_close, same_up_to_sign

SOLVERS = ["auto", "dense", "arpack", "randomized", "full", "lanczos", "krylov", "lobpcg"]
Reference = sklearn.decomposition.KernelPCA


def minimum(x, y, **extra):
    assert extra == {}
    return np.minimum(x, y).sum()


def plus(x, y, offset=0.0):
    return x @ y + offset


@pytest.fixture
def X():
    return np.random.default_rng(0).random((40, 4))


@pytest.fixture
def new():
    return np.random.default_rng(1).random((7, 4))


# scikit-learn's own cases


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "cosine", minimum])
def test_the_numbers_of_scikit_learn(solver, kernel, X, new):
    params = dict(n_components=3, kernel=kernel, gamma=0.7 if kernel == "sigmoid" else None, coef0=0.5)
    theirs = Reference(eigen_solver="dense", **params)
    ours = KernelPCA(eigen_solver=solver, random_state=0, **params)
    scores, expected = ours.fit_transform(X), theirs.fit_transform(X)
    atol = 1e-4 if solver == "randomized" else 1e-8
    assert_close(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-6 if solver == "randomized" else 1e-9)
    assert same_up_to_sign(scores, expected, atol)
    assert same_up_to_sign(ours.transform(X), expected, atol)
    assert same_up_to_sign(ours.transform(new), theirs.transform(new), atol)
    assert same_up_to_sign(ours.eigenvectors_, theirs.eigenvectors_, 100 * atol)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_the_inverse_transform_of_scikit_learn(kernel, X, new):
    params = dict(n_components=3, kernel=kernel, alpha=0.1, fit_inverse_transform=True)
    theirs, ours = Reference(**params).fit(X), KernelPCA(**params).fit(X)
    assert_close(
        ours.inverse_transform(ours.transform(new)), theirs.inverse_transform(theirs.transform(new)), atol=1e-8
    )
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape and ours.X_transformed_fit_.shape == (40, 3)
    both = KernelPCA(**params)
    scores = both.fit_transform(X)
    assert_close(both.inverse_transform(scores), ours.inverse_transform(scores), atol=1e-9)


def test_every_parameter_and_attribute_of_scikit_learn_exists(X):
    ours, theirs = KernelPCA(), Reference()
    assert set(theirs.get_params()) <= set(ours.get_params())
    for name, value in theirs.get_params().items():
        assert ours.get_params()[name] == value, name
    for params in ({}, dict(fit_inverse_transform=True, kernel="rbf")):
        ours, theirs = KernelPCA(**params).fit(X), Reference(**params).fit(X)
        for name in vars(theirs):
            if name.endswith("_") and not name.startswith("_"):
                assert hasattr(ours, name), name


def test_invalid_parameters(X):
    with pytest.raises(ValueError, match="Cannot fit_inverse_transform with a precomputed kernel"):
        KernelPCA(10, fit_inverse_transform=True, kernel="precomputed").fit(np.eye(10))
    for wrong in (
        dict(n_components=0),
        dict(n_components=1.5),
        dict(eigen_solver="magic"),
        dict(alpha=-1.0),
        dict(tol=-1.0),
        dict(max_iter=0),
        dict(solver="magic"),
        dict(center="yes"),
        dict(gamma=-1.0),
    ):
        with pytest.raises(ValueError, match=rf"The '{next(iter(wrong))}' parameter of KernelPCA"):
            KernelPCA(**wrong).fit(X)
    with pytest.raises(InputError, match="kernel='magic' is not known"):
        KernelPCA(kernel="magic").fit(X)
    with pytest.raises(InputError, match=r"gamma=0 makes the kernel 'rbf' constant"):
        KernelPCA(kernel="rbf", gamma=0).fit(X)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_the_model_does_not_follow_changes_of_the_training_array(kernel, X, home):
    X = X @ X.T if kernel == "precomputed" else X
    data = home(X.copy())
    model = KernelPCA(3, kernel=kernel).fit(data)
    before = model.transform(X)
    if hasattr(data, "fill_"):
        data.fill_(666.0)
    elif isinstance(data, np.ndarray):
        data[:] = 666.0
    assert_array_equal(model.transform(X), before)


@pytest.mark.parametrize("solver", SOLVERS)
def test_deterministic(solver, X):
    state = np.random.RandomState(0)
    first = [KernelPCA(2, eigen_solver=solver, random_state=state).fit_transform(X) for _ in range(5)]
    for scores in first[1:]:
        assert_close(scores, first[0], atol=1e-3 if solver == "randomized" else 1e-8)
    assert_array_equal(*(KernelPCA(2, eigen_solver=solver).fit_transform(X) for _ in range(2)))


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", Matern32(1.0)])
@pytest.mark.parametrize("way", [{}, {"solver": "operator"}, {"approx": 40}])
def test_sparse_is_dense(container, kernel, way, X, new):
    X, new = np.where(X > 0.5, X, 0), np.where(new > 0.5, new, 0)
    dense = KernelPCA(3, kernel=kernel, **way).fit(X)
    model = KernelPCA(3, kernel=kernel, **way).fit(container(X))
    assert same_up_to_sign(model.transform(container(new)), dense.transform(new), 1e-8)
    assert same_up_to_sign(model.fit_transform(container(X)), dense.transform(X), 1e-8)
    assert_close(model.reconstruction_error(container(new)), dense.reconstruction_error(new), atol=1e-9)
    with pytest.raises(NotFittedError):
        model.inverse_transform(new[:, :3])


def test_sparse_inverse_and_denoise(X, new):
    params = dict(n_components=3, kernel=RBF(1.0), fit_inverse_transform=True)
    dense, sparse = KernelPCA(**params).fit(X), KernelPCA(**params).fit(sp.csr_array(X))
    scores = dense.transform(new)
    assert_close(sparse.inverse_transform(scores), dense.inverse_transform(scores), atol=1e-9)
    assert_close(sparse.denoise(sp.csr_array(new)), dense.denoise(new), atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_features", [4, 10])
def test_a_linear_kernel_is_pca(solver, n_features):
    rng = np.random.RandomState(0)
    X, new = rng.random_sample((5, n_features)), rng.random_sample((2, n_features))
    pca = sklearn.decomposition.PCA(3).fit(X)
    model = KernelPCA(3, eigen_solver=solver).fit(X)
    assert same_up_to_sign(model.transform(new), pca.transform(new), 1e-8)
    assert_close(model.explained_variance_ratio_, pca.explained_variance_ratio_, atol=1e-10)
    for c in (1, 2, 4):
        assert KernelPCA(c, eigen_solver=solver).fit(X).transform(new).shape == (2, c)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_zero_variances_are_removed_when_asked(kernel):
    X = np.array([[1 - 1e-30, 1], [1, 1], [1, 1 - 1e-20]])
    assert KernelPCA(kernel=kernel).fit_transform(X).shape == (3, 0)
    assert KernelPCA(2, kernel=kernel).fit_transform(X).shape == (3, 2)
    assert KernelPCA(2, kernel=kernel, remove_zero_eig=True).fit_transform(X).shape == (3, 0)
    model = KernelPCA(kernel=kernel, fit_inverse_transform=True).fit(X)
    assert np.isfinite(model.inverse_transform(model.transform(X))).all()


def test_zero_variances_stay_when_asked():
    X = np.array([[1, 1], [0, 0]])
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        model = KernelPCA(2, remove_zero_eig=False, eigen_solver="dense")
        assert_close(model.fit(X).transform(X), model.fit_transform(X), atol=1e-12)
        assert model.eigenvalues_[1] == 0


def test_tiny_variances_are_zero():
    X = [[5, 1], [5 + 1e-8, 1e-8], [5 + 1e-8, 0]]
    model = KernelPCA(2, kernel="linear", fit_inverse_transform=True).fit(X)
    assert model.eigenvalues_.min() == 0


@pytest.mark.parametrize("solver", ["dense", "arpack", "krylov"])
def test_precomputed_is_the_kernel(solver, X, new):
    direct = KernelPCA(4, eigen_solver=solver).fit(X)
    given = KernelPCA(4, eigen_solver=solver, kernel="precomputed")
    assert same_up_to_sign(given.fit_transform(X @ X.T), direct.transform(X), 1e-9)
    assert same_up_to_sign(given.transform(new @ X.T), direct.transform(new), 1e-9)
    assert same_up_to_sign(given.transform(sp.csr_array(new @ X.T)), direct.transform(new), 1e-9)


ISOMAP = np.array(
    [
        [4.48, -1.0, 8.07, 2.33, 2.33, 2.33, -5.76, -12.78],
        [-1.0, -6.48, 4.5, -1.24, -1.24, -1.24, -0.81, 7.49],
        [8.07, 4.5, 15.48, 2.09, 2.09, 2.09, -11.1, -23.23],
        [2.33, -1.24, 2.09, 4.0, -3.65, -3.65, 1.02, -0.9],
        [2.33, -1.24, 2.09, -3.65, 4.0, -3.65, 1.02, -0.9],
        [2.33, -1.24, 2.09, -3.65, -3.65, 4.0, 1.02, -0.9],
        [-5.76, -0.81, -11.1, 1.02, 1.02, 1.02, 4.86, 9.75],
        [-12.78, 7.49, -23.23, -0.9, -0.9, -0.9, 9.75, 21.46],
    ]
)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_precomputed_matrix_that_is_not_a_kernel(solver):
    with pytest.raises(InputError, match="There are significant negative eigenvalues"):
        KernelPCA(7, kernel="precomputed", eigen_solver=solver).fit(ISOMAP)
    model = KernelPCA(2, kernel="precomputed", eigen_solver=solver).fit(ISOMAP)  # only positive ones wanted
    assert_close(model.eigenvalues_, [52.72, 7.65], atol=0.01)


def test_an_indefinite_kernel_is_cut_off_with_a_warning():
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.warns(UserWarning, match=r"negative eigenvalues.*is not a kernel"):
        model = KernelPCA(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X)
    assert np.isfinite(model.transform(X)).all() and np.all(model.eigenvalues_ > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(2, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X)


def test_grid_searches_separate_the_circles():
    X, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)
    pipe = Pipeline([("kpca", KernelPCA(2, kernel="rbf")), ("Perceptron", Perceptron(max_iter=5, tol=None))])
    search = GridSearchCV(pipe, {"kpca__gamma": 2.0 ** np.arange(-2, 2)}, cv=3).fit(X, y)
    assert search.best_score_ == 1
    pipe = Pipeline([("kpca", KernelPCA(2, kernel="precomputed")), ("Perceptron", Perceptron(max_iter=5, tol=None))])
    search = GridSearchCV(pipe, {"Perceptron__max_iter": np.arange(1, 5)}, cv=3).fit(rbf_kernel(X, gamma=2.0), y)
    assert search.best_score_ == 1


def test_nested_circles():
    X, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)
    assert Perceptron(max_iter=5, tol=None).fit(X, y).score(X, y) < 0.8
    scores = KernelPCA(2, kernel="rbf", fit_inverse_transform=True, gamma=2.0).fit_transform(X)
    assert Perceptron(max_iter=5, tol=None).fit(scores, y).score(scores, y) == 1.0


@pytest.mark.parametrize("n_components", [4, 10, 20])
def test_solvers_are_equivalent(n_components):
    X, _ = make_circles(700, factor=0.3, noise=0.05, random_state=0)
    for kernel in (Linear(), RBF(0.3)):  # the linear one has two components that are not zero
        answers = {s: KernelPCA(n_components, kernel=kernel, eigen_solver=s).fit(X[:600]) for s in SOLVERS}
        for name, model in answers.items():
            atol = 1e-6 if name == "randomized" else 1e-8
            assert_close(model.eigenvalues_, answers["dense"].eigenvalues_, atol=atol * model.eigenvalues_[0])
            if n_components < 20:  # circles have pairs of nearly equal variance, and the last pair may be cut in two
                gram = model.transform(X[600:]) @ model.transform(X[600:]).T
                expected = answers["dense"].transform(X[600:]) @ answers["dense"].transform(X[600:]).T
                assert_close(gram, expected, atol=2e-2 if name == "randomized" else 1e-6)


def test_the_inverse_transform_reconstructs():
    X, *_ = make_blobs(100, n_features=4, random_state=0)
    model = KernelPCA(20, kernel="rbf", fit_inverse_transform=True, alpha=1e-3)
    assert np.linalg.norm(X - model.inverse_transform(model.fit_transform(X))) / np.linalg.norm(X) < 1e-1


def test_the_inverse_must_be_learned(X):
    with pytest.raises(NotFittedError, match="Set fit_inverse_transform=True before fit"):
        KernelPCA().fit(X).inverse_transform(X)
    with pytest.raises(NotFittedError):
        KernelPCA(fit_inverse_transform=True).inverse_transform(X)
    model = KernelPCA(2, fit_inverse_transform=True).fit(X)
    with pytest.raises(InputError, match="3 columns.*2 components"):
        model.inverse_transform(X[:, :3])


def test_an_inverse_without_ridge_says_what_to_do(X):
    X = np.vstack([X, X])
    with pytest.raises(InputError, match=r"singular with a penalty of 0\. Raise alpha"):
        KernelPCA(2, kernel="linear", alpha=0, fit_inverse_transform=True).fit(X)


def test_float32_and_float64_have_the_same_rank():
    X, _ = make_blobs(30, centers=[[0, 0, 0], [1, 1, 1]], random_state=0, cluster_std=0.1)
    X = StandardScaler().fit_transform(X)
    X -= X.min()
    for n in (30, 600):
        rows = np.tile(X, (n // 30, 1)) + np.random.default_rng(0).normal(0, 0.1, (n, 3))
        for offset in (0.0, 30.0):
            for kind in (np.float64, np.float32):
                assert KernelPCA().fit_transform((rows + offset).astype(kind)).shape == (n, 3)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    few = KernelPCA(10, eigen_solver="krylov").fit((rows + offset).astype(kind))
                assert np.sum(few.eigenvalues_ > 0) == 3


def test_float32_keeps_small_variances():
    """Rounding is the limit, not a multiple of the number of rows."""
    X = np.random.default_rng(0).standard_normal((2000, 3)) * [1.0, 0.1, 0.01]  # variances 1 : 1e-2 : 1e-4
    model = KernelPCA(5).fit(X.astype(np.float32))
    assert np.sum(model.eigenvalues_ > 0) == 3
    assert_close(model.eigenvalues_[:3], KernelPCA(3).fit(X).eigenvalues_, rtol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", Laplacian(1.0)])
def test_float32_answers(kernel, X, new):
    wide, narrow = KernelPCA(3, kernel=kernel).fit(X), KernelPCA(3, kernel=kernel).fit(X.astype(np.float32))
    scores = narrow.transform(new.astype(np.float32))
    assert scores.dtype == np.float32
    assert same_up_to_sign(scores, wide.transform(new), 1e-4)
    assert narrow.fit_transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("kernel", [Linear(), RBF(1.0)])
@pytest.mark.parametrize("way", ["stored", "operator"])
def test_float32_converges_without_a_warning(kernel, way):
    X = np.random.default_rng(0).standard_normal((700, 5)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(8, kernel=kernel, solver=way).fit(X)
    assert model.result_.n_iter < 120
    expected = KernelPCA(8, kernel=kernel, eigen_solver="full").fit(X.astype(np.float64)).eigenvalues_
    assert_close(model.eigenvalues_, expected, atol=1e-5 * expected[0])


def test_names_and_tables():
    X, _ = load_iris(as_frame=True, return_X_y=True)
    model = KernelPCA(2).fit(X)
    assert_array_equal(model.get_feature_names_out(), ["kernelpca0", "kernelpca1"])
    assert_array_equal(model.feature_names_in_, X.columns)
    plain = model.transform(X)
    frame = KernelPCA(2).set_output(transform="pandas").fit_transform(X)
    assert isinstance(frame, pd.DataFrame) and list(frame) == ["kernelpca0", "kernelpca1"]
    assert_close(frame.to_numpy(), plain, atol=1e-12)
    table = KernelPCA(2).set_output(transform="polars").fit(pl.from_pandas(X)).transform(pl.from_pandas(X))
    assert isinstance(table, pl.DataFrame) and table.columns == ["kernelpca0", "kernelpca1"]
    assert_close(table.to_numpy(), plain, atol=1e-12)
    with sklearn.config_context(transform_output="pandas"):
        assert KernelPCA(2, eigen_solver="arpack").fit_transform(X).shape == (150, 2)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X[X.columns[::-1]])


def test_gamma_none_is_one_over_columns_both_ways(X):
    params = dict(n_components=2, fit_inverse_transform=True, kernel="rbf")
    first, second = KernelPCA(gamma=None, **params).fit(X), KernelPCA(gamma=0.25, **params).fit(X)
    assert first.gamma_ == second.gamma_ == 0.25
    assert_close(first.inverse_transform(first.transform(X)), second.inverse_transform(second.transform(X)), atol=1e-10)
    first.fit(X[:, :2])
    assert first.gamma_ == 0.5 and first.kernel_ == RBF.from_gamma(0.5)


def test_kernel_params_reach_the_function_and_the_model_can_be_saved(X, new):
    model = KernelPCA(2, kernel=plus, kernel_params={"offset": 3.0}).fit(X)
    assert model.kernel_(X[:1], X[:1])[0, 0] == pytest.approx(X[0] @ X[0] + 3)
    assert same_up_to_sign(model.transform(new), KernelPCA(2).fit(X).transform(new), 1e-9)
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(new), model.transform(new))


# What mercer adds


def test_against_the_dense_formulas(X, new):
    K, K_new = RBF(0.5)(X), RBF(0.5)(new, X)
    for center in (True, False):
        values, scores, projected = naive.kernel_pca(K, K_new, 5, center)
        model = KernelPCA(5, kernel=RBF(0.5), center=center).fit(X)
        assert_close(model.eigenvalues_, values, rtol=1e-10)
        assert same_up_to_sign(model.fit_transform(X), scores, 1e-9)
        assert same_up_to_sign(model.transform(new), projected, 1e-9)
        Kc = naive.centered(K) if center else K
        assert_close(model.explained_variance_ratio_, values / np.trace(Kc), rtol=1e-10)
    full = KernelPCA(kernel=RBF(0.5)).fit(X)
    assert full.explained_variance_ratio_.sum() == pytest.approx(1)


@pytest.mark.parametrize("way", [{}, {"solver": "operator"}, {"approx": "exact"}, {"approx": 40}])
def test_reconstruction_error(way, X, new):
    K, K_new = RBF(0.5)(X), RBF(0.5)(new, X)
    model = KernelPCA(5, kernel=RBF(0.5), **way).fit(X)
    expected = naive.reconstruction_error(K, K_new, np.ones(7), 5)
    assert_close(model.reconstruction_error(new), expected, atol=1e-9)
    assert_close(model.reconstruction_error(X), naive.reconstruction_error(K, K, np.ones(40), 5), atol=1e-9)
    whole = KernelPCA(kernel=RBF(0.5), **way).fit(X)
    assert np.abs(whole.reconstruction_error(X)).max() < 1e-9
    far = model.reconstruction_error(new + 100)
    assert np.all(far > 0.9)  # unlike anything seen
    uncentered = KernelPCA(5, kernel=RBF(0.5), center=False, **way).fit(X)
    projections = naive.kernel_pca(K, K_new, 5, False)[2]
    assert_close(uncentered.reconstruction_error(new), 1 - np.sum(projections**2, axis=1), atol=1e-9)


def test_reconstruction_error_of_a_precomputed_kernel(X, new):
    model = KernelPCA(2, kernel="precomputed").fit(RBF(0.5)(X))
    direct = KernelPCA(2, kernel=RBF(0.5)).fit(X)
    assert_close(model.reconstruction_error(RBF(0.5)(X)), direct.reconstruction_error(X), atol=1e-10)
    with pytest.raises(NotInductiveError, match=r"needs k\(x, x\)"):
        model.reconstruction_error(RBF(0.5)(new, X))


@pytest.mark.parametrize("way", [{}, {"solver": "operator"}, {"approx": 40}, {"center": False}])
@pytest.mark.parametrize("kernel", ["linear", RBF("median"), Polynomial(2)])
def test_weights_are_repetitions(way, kernel, X, new):
    weight = np.random.default_rng(2).integers(0, 4, 40)
    params = dict(n_components=3, kernel=kernel, fit_inverse_transform="approx" not in way, **way)
    weighted = KernelPCA(**params).fit(X, sample_weight=weight)
    repeated = KernelPCA(**params).fit(np.repeat(X, weight, axis=0))
    assert_close(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8)
    assert_close(weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=1e-8)
    assert same_up_to_sign(weighted.transform(new), repeated.transform(new), 1e-8)
    assert_close(weighted.reconstruction_error(new), repeated.reconstruction_error(new), atol=1e-8)
    if "approx" not in way:
        assert_close(
            weighted.inverse_transform(weighted.transform(new)),
            repeated.inverse_transform(repeated.transform(new)),
            atol=1e-7,
        )
    scores = KernelPCA(**params).fit_transform(X, sample_weight=weight)
    assert same_up_to_sign(scores, weighted.transform(X), 1e-9)


@pytest.mark.parametrize("way", [{}, {"solver": "operator"}, {"approx": 30}])
def test_truncate_is_a_refit(way, X, new):
    long = KernelPCA(10, kernel=RBF(0.5), fit_inverse_transform="approx" not in way, **way).fit(X)
    for k in (1, 4, 10):
        short, refit = long.truncate(k), KernelPCA(k, kernel=RBF(0.5), **way).fit(X)
        assert short.n_components == k and long.n_components == 10
        for name in ("eigenvalues_", "explained_variance_ratio_", "convexity_intervals_"):
            assert_close(getattr(short, name), getattr(refit, name), rtol=1e-8)
        assert short.transform(new).shape == (7, k)
        assert same_up_to_sign(short.transform(new), refit.transform(new), 1e-7)
        assert_close(short.reconstruction_error(new), refit.reconstruction_error(new), atol=1e-8)
        assert list(short.get_feature_names_out()) == [f"kernelpca{i}" for i in range(k)]
        if "approx" not in way:
            refit = KernelPCA(k, kernel=RBF(0.5), fit_inverse_transform=True).fit(X)
            assert_close(
                short.inverse_transform(short.transform(new)), refit.inverse_transform(refit.transform(new)), atol=1e-7
            )
    assert long.transform(new).shape == (7, 10)
    for wrong in (0, -1, 11, 2.0):
        with pytest.raises(InputError, match=f"n_components={wrong}"):
            long.truncate(wrong)


@pytest.mark.parametrize("n", [40, 300, 700])
@pytest.mark.parametrize("way", [{}, {"approx": 700}])
def test_a_fraction_of_the_variance(n, way):
    X = np.random.default_rng(0).standard_normal((n, 6))
    values = naive.eigh(naive.centered(RBF(1.0)(X)))[0]
    share = np.cumsum(values) / values.sum()
    for fraction in (0.05, 0.5, 0.8) if n < 700 else (0.05, 0.5):
        expected = int(np.searchsorted(share, fraction)) + 1
        model = KernelPCA(fraction, kernel=RBF(1.0), **way).fit(X)
        assert len(model.eigenvalues_) == expected
        assert_close(model.eigenvalues_, values[:expected], rtol=1e-6)
        assert model.explained_variance_ratio_.sum() >= fraction


@pytest.mark.parametrize("kernel", [RBF(1.0), Linear(), Polynomial(2, 1.0, 0.3)])
def test_operator_is_stored(kernel):
    X = np.random.default_rng(0).standard_normal((650, 4))
    stored = KernelPCA(6, kernel=kernel, solver="stored").fit(X)
    operator = KernelPCA(6, kernel=kernel, solver="operator").fit(X)
    assert_close(operator.eigenvalues_, stored.eigenvalues_, rtol=1e-9, atol=1e-9 * stored.eigenvalues_[0])
    number = int(np.sum(stored.eigenvalues_ > 0))
    assert same_up_to_sign(operator.transform(X)[:, :number], stored.transform(X)[:, :number], 1e-5)
    assert "operator" in operator.approx_reason_ and "stored" in stored.approx_reason_


def test_auto_stores_only_what_fits(monkeypatch, X):
    assert "fits in memory" in KernelPCA(2).fit(X).approx_reason_
    monkeypatch.setattr("mercer.backend.memory_available", lambda device=None: 20_000)
    model = KernelPCA(2).fit(X)
    assert "needs 12.8 kB and 20.0 kB are free, so products are computed tile by tile" in model.approx_reason_


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial(2, 1.0, 1.0)])
def test_a_map_with_all_landmarks_is_exact(kernel, X, new, home):
    exact = KernelPCA(3, kernel=kernel).fit(X)
    for approx in ("exact", 40, LandmarkMap(landmarks=40, choice="uniform")):
        model = KernelPCA(3, kernel=kernel, approx=approx).fit(home(X))
        assert_close(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
        assert same_up_to_sign(model.transform(home(new)), exact.transform(new), 1e-8)
        assert same_up_to_sign(model.fit_transform(home(X)), exact.transform(X), 1e-8)
        assert_close(model.reconstruction_error(home(new)), exact.reconstruction_error(new), atol=1e-9)


def test_homes(X, new, home):
    expected = KernelPCA(3, kernel=RBF(0.5)).fit(X)
    model = KernelPCA(3, kernel=RBF(0.5)).fit(home(X))
    for rows in (home(new), new):  # a model fitted anywhere predictions for rows anywhere
        scores = model.transform(rows)
        assert isinstance(scores, da.Array if isinstance(rows, da.Array) else np.ndarray)  # Dask in, Dask out
        assert same_up_to_sign(np.asarray(scores), expected.transform(new), 1e-8)
        assert same_up_to_sign(expected.transform(rows), expected.transform(new), 1e-10)
    for value in vars(model).values():
        assert type(value).__module__.partition(".")[0] not in ("torch", "dask")
    narrow = KernelPCA(3, kernel=RBF(0.5)).fit(home(X.astype(np.float32))).transform(home(new.astype(np.float32)))
    assert narrow.dtype == np.float32
    assert same_up_to_sign(narrow, expected.transform(new), 1e-4)


def test_approximate_maps_say_how_good_they_are():
    X = np.random.default_rng(0).standard_normal((300, 3))
    exact = KernelPCA(3, kernel=RBF(2.0)).fit(X)
    for approx in (60, FourierMap(n_features=2000)):
        model = KernelPCA(3, kernel=RBF(2.0), approx=approx).fit(X)
        assert_close(model.eigenvalues_, exact.eigenvalues_, rtol=0.1)
        assert 0 < model.map_.error_ < 0.05
        assert model.approx_reason_.startswith("You ")
    assert KernelPCA(100, approx=60).fit(X).eigenvalues_.shape == (3,)  # a linear kernel of three columns


def test_convexity_intervals(X):
    model = KernelPCA(4, kernel=RBF(0.5)).fit(X)
    ends = 1 / model.eigenvalues_
    assert_close(model.convexity_intervals_, np.column_stack([[0, *ends[:3]], ends]))
    flat = KernelPCA(3).fit(np.ones((5, 2)))
    assert np.isinf(flat.convexity_intervals_[0, 1]) and not np.isnan(flat.convexity_intervals_).any()


def test_denoise_moves_rows_to_the_circle():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    clean = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = clean + rng.normal(0, 0.1, clean.shape)
    model = KernelPCA(6, kernel=RBF(0.6)).fit(noisy)
    away = np.abs(np.linalg.norm(noisy, axis=1) - 1)
    mended = model.denoise(noisy)
    assert np.mean(np.abs(np.linalg.norm(mended, axis=1) - 1)) < 0.6 * np.mean(away)
    # At a fixed point the gradient of ‖φ(z) − Pφ(x)‖² vanishes.
    target = model.transform(noisy[:1]) @ model.coefficients_.T + model.expansion_.coef[:, -1]
    pull = target * RBF(0.6)(mended[:1], noisy)
    assert_close(pull @ noisy / pull.sum(), mended[:1], atol=1e-6)
    assert_close(model.denoise(np.full((1, 2), 1e6)), noisy.mean(axis=0)[None], atol=1e-9)  # too far to be pulled
    for wrong in (KernelPCA(2), KernelPCA(2, kernel=RBF(1.0), approx=50)):
        with pytest.raises(NotInductiveError, match=r"denoise\(\) needs an exact model with the kernel RBF"):
            wrong.fit(noisy).denoise(noisy)


def test_the_certificate_and_the_warning():
    X = np.random.default_rng(0).standard_normal((600, 5))
    model = KernelPCA(5, kernel=RBF(1.0)).fit(X)
    assert model.result_.gap <= 1e-9 and model.result_.info["residuals"].shape == (5,)
    with pytest.warns(NotConverged, match="Raise max_iter or tol"):
        rough = KernelPCA(5, kernel=RBF(0.5), max_iter=1).fit(X)
    assert rough.transform(X).shape == (600, 5) and np.isfinite(rough.transform(X)).all()


@pytest.mark.parametrize("n", [30, 700])
@pytest.mark.parametrize("solver", ["auto", "arpack", "randomized", "lobpcg"])
def test_constant_rows_give_zeros_without_a_warning(n, solver):
    X = np.full((n, 3), 12345.678)
    for kernel in ("linear", "rbf", "poly"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = KernelPCA(2, kernel=kernel, eigen_solver=solver).fit(X)
        assert_array_equal(model.eigenvalues_, 0)
        assert_array_equal(model.transform(X), 0)
        assert_array_equal(model.explained_variance_ratio_, 0)


def test_the_dual_solver(X, new):
    exact = KernelPCA(3, kernel=RBF(0.5)).fit(X)
    model = KernelPCA(3, kernel=RBF(0.5), solver="dual").fit(X)
    assert_close(model.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    assert same_up_to_sign(model.transform(new), exact.transform(new), 1e-4)


def test_new_rows_on_components_of_tiny_variance():
    """Coefficients are divided by √λ: what rounding left of their sum must not be divided with them."""
    x = np.random.default_rng(0).standard_normal((17, 1))
    model = KernelPCA(kernel=RBF(2.0)).fit(x)
    assert model.eigenvalues_[-1] < 1e-10
    assert_close(model.transform(x), model.fit_transform(x), atol=1e-6)


@pytest.mark.parametrize("approx", ["auto", 40])
def test_weights_of_a_precomputed_kernel(approx, X, new):
    weight = np.random.default_rng(2).integers(0, 3, 40)
    direct = KernelPCA(3, kernel=RBF(0.5)).fit(X, sample_weight=weight)
    given = KernelPCA(3, kernel="precomputed", approx=approx).fit(RBF(0.5)(X), sample_weight=weight)
    assert_close(given.eigenvalues_, direct.eigenvalues_, rtol=1e-9)
    assert same_up_to_sign(given.transform(RBF(0.5)(new, X)), direct.transform(new), 1e-8)
    assert_close(given.reconstruction_error(RBF(0.5)(X)), direct.reconstruction_error(X), atol=1e-8)
    assert np.isfinite(given.eigenvectors_).all()


@pytest.mark.parametrize("way", ["stored", "operator"])
def test_float32_stops_at_its_rounding(way):
    """A wide kernel is nearly constant. In float32 four components are left, and the solver does not search more."""
    X = np.random.default_rng(0).standard_normal((700, 4)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(6, kernel=RBF(1e3), solver=way).fit(X)
    assert model.result_.n_iter < 120
    assert np.sum(model.eigenvalues_ > 0) == 4


@pytest.mark.parametrize("dtype, tol", [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_products_with_a_stored_kernel(dtype, tol):
    X = np.random.default_rng(0).standard_normal((700, 3)).astype(dtype)
    K = RBF(1.0)(X)
    assert_array_equal(K, K.T)
    V = np.random.default_rng(1).standard_normal((700, 3))
    stored, truth = operators.StoredKernel(K), K.astype(np.float64) @ V
    for some, right in ((V, truth), (V[:, :1], truth[:, :1]), (V[:, 1], truth[:, 1])):
        product = stored @ some
        assert product.shape == some.shape and product.dtype == np.float64
        np.testing.assert_allclose(product, right, atol=tol * np.abs(truth).max())


@pytest.mark.parametrize("threads, number, method", [(1, 20, "lanczos"), (1, 41, "krylov"), (2, 20, "krylov")])
def test_one_thread_reads_half_of_a_stored_kernel(threads, number, method, monkeypatch):
    X = np.random.default_rng(0).standard_normal((600, 5))
    monkeypatch.setattr(eigen, "LANCZOS_ROWS", 0)  # as if 600 rows were many
    monkeypatch.setattr("mercer.geometry.operators.stored.n_threads", lambda: threads)
    model = KernelPCA(number, kernel=RBF(2.0)).fit(X)
    assert model.result_.info["method"] == method
    dense = KernelPCA(number, kernel=RBF(2.0), eigen_solver="full").fit(X)
    np.testing.assert_allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    assert same_up_to_sign(model.eigenvectors_[:, :5], dense.eigenvectors_[:, :5], 1e-6)
