"""Values, diagonals, composition, parameters and bandwidth rules of kernels."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

import naive
from mercer import (
    RBF,
    Callable,
    Cosine,
    Exponential,
    KernelPCA,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    Precomputed,
    Sigmoid,
    bandwidth_of,
)
from mercer.errors import BackendError, InputError
from mercer.kernels import REGISTRY, as_kernel, bandwidth, base
from naive import assert_close

RADIAL = {
    "rbf": RBF(0.7),
    "exponential": Exponential(0.7),
    "laplacian": Laplacian(0.7),
    "matern32": Matern32(0.7),
    "matern52": Matern52(0.7),
}
INNER = {
    "linear": Linear(),
    "polynomial": Polynomial(3, 1.0, 1.0),
    "sigmoid": Sigmoid(1.0, 1.0),
    "cosine": Cosine(),
}
MIXED = {
    "sum": RBF(0.7) + Linear(),
    "product": RBF(0.7) * Polynomial(2, 0.5, 0.3),
    "scaled": 0.3 * Matern32(2.0),
    "nested": 2.0 * (RBF(0.7) + 0.5 * Linear()) * Exponential(3.0) + Cosine(),
}
ALL = RADIAL | INNER | MIXED
every = pytest.mark.parametrize("kernel", ALL.values(), ids=ALL.keys())


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((30, 4))


@pytest.fixture
def Y():
    return np.random.default_rng(1).standard_normal((7, 4))


# Values


@pytest.mark.parametrize("name", [*RADIAL, *INNER])
def test_values_by_two_loops(name, X, Y):
    kernel = ALL[name]
    assert_close(kernel(X, Y), naive.kernel(name, X, Y, width=0.7), rtol=1e-12, atol=1e-13)
    assert_close(kernel(X), naive.kernel(name, X, width=0.7), rtol=1e-12, atol=1e-13)


def test_mixed_values(X, Y):
    assert_close(MIXED["sum"](X, Y), RBF(0.7)(X, Y) + X @ Y.T)
    assert_close(MIXED["product"](X, Y), RBF(0.7)(X, Y) * (0.3 * X @ Y.T + 0.5) ** 2)
    assert_close(MIXED["scaled"](X, Y), 0.3 * Matern32(2.0)(X, Y))
    nested = 2 * (RBF(0.7)(X, Y) + 0.5 * X @ Y.T) * Exponential(3.0)(X, Y) + Cosine()(X, Y)
    assert_close(MIXED["nested"](X, Y), nested)


@every
def test_symmetry_psd_and_diag(kernel, X):
    X = np.vstack([X, X[:5], np.zeros((1, 4))])  # duplicates and a zero row
    K = kernel(X)
    assert_array_equal(K, K.T)
    assert_close(kernel.diag(X), np.diag(K), rtol=1e-12)
    assert kernel.diag(X).dtype == np.float64
    if kernel.psd:
        values = np.linalg.eigvalsh(K)
        assert values[0] > -1e-12 * values[-1]
    else:
        assert isinstance(kernel, Sigmoid)


@every
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_sparse_is_dense(kernel, X, Y, container):
    X, Y = np.where(np.abs(X) > 0.8, X, 0), np.where(np.abs(Y) > 0.8, Y, 0)
    S = container(X)
    for K, expected in [
        (kernel(S), kernel(X)),
        (kernel(S, container(Y)), kernel(X, Y)),
        (kernel(S, Y), kernel(X, Y)),
        (kernel(X, container(Y)), kernel(X, Y)),
    ]:
        assert isinstance(K, np.ndarray)
        assert_close(K, expected, rtol=1e-13, atol=1e-13)
    assert_close(kernel.diag(S), kernel.diag(X), rtol=1e-13, atol=1e-13)
    assert kernel(container(X.astype(np.float32))).dtype == np.float32


@every
def test_float32_stays_float32(kernel, X, Y):
    small = X.astype(np.float32)
    K = kernel(small, Y.astype(np.float32))
    assert K.dtype == np.float32 and kernel(small).dtype == np.float32
    exact = kernel(X, Y)
    assert_close(K, exact, atol=3e-5 * max(1, np.abs(exact).max()))
    assert_close(kernel.diag(small), kernel.diag(X), rtol=1e-5)


@pytest.mark.parametrize("make", [RBF, Exponential, Laplacian, Matern32, Matern52])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_numpy_number_as_bandwidth_keeps_float32(make, X, container):
    rows = container(X.astype(np.float32))
    assert make(np.float64(0.7))(rows).dtype == np.float32
    assert (np.float64(2.0) * make(np.float64(0.7)))(rows).dtype == np.float32


@every
@pytest.mark.parametrize("dtype, atol", [(np.float64, 1e-13), (np.float32, 1e-4)])
def test_torch_is_numpy(kernel, X, Y, dtype, atol):
    import torch

    X, Y = X.astype(dtype), Y.astype(dtype)
    K = kernel(torch.as_tensor(X), torch.as_tensor(Y))
    assert isinstance(K, torch.Tensor) and K.dtype == torch.as_tensor(X).dtype
    assert_close(K.numpy(), kernel(X, Y), rtol=atol, atol=atol)
    same = kernel(torch.as_tensor(X)).numpy()
    assert_array_equal(same, same.T)
    diag = kernel.diag(torch.as_tensor(X))
    assert isinstance(diag, np.ndarray) and diag.dtype == np.float64
    assert_close(diag, kernel.diag(X), rtol=1e-5 if dtype == np.float32 else 1e-13)


@every
@pytest.mark.parametrize("threads", [1, 3])
def test_tiles_make_the_same_matrix(kernel, X, Y, threads, monkeypatch):
    whole, cross = kernel(X), kernel(X, Y)
    monkeypatch.setattr("mercer.homes.base.TILE", 8)
    run = base.parallel
    monkeypatch.setattr(base, "parallel", lambda task, tasks, threads=None: run(task, tasks, threads))
    for rows in (X, sp.csr_array(X)):
        K = kernel(rows)
        assert_array_equal(K, K.T)
        assert_close(K, whole, rtol=1e-13, atol=1e-13)
        assert_close(kernel(rows, Y), cross, rtol=1e-13, atol=1e-13)


def test_lists_integers_and_tables(X):
    expected = RBF(1.0)(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert_close(RBF(1.0)([[1, 2], [3, 4]]), expected)
    assert_close(RBF(1.0)(np.array([[1, 2], [3, 4]])), expected)
    assert_close(RBF(1.0)(pd.DataFrame({"a": [1, 3], "b": [2, 4]})), expected)
    assert_close(RBF(1.0)(sp.csr_array(np.array([[1, 2], [3, 4]]))), expected)


def test_scikit_learn_parameters(X):
    assert_close(RBF.from_gamma(0.3)(X), rbf_kernel(X, gamma=0.3), atol=1e-14)
    assert_close(Laplacian(2.0)(X), laplacian_kernel(X, gamma=0.5), atol=1e-14)
    with pytest.raises(InputError, match="gamma=0 is not accepted. Use a number above 0"):
        RBF.from_gamma(0)


# Rounding


@pytest.mark.parametrize("name", RADIAL)
def test_a_far_origin_costs_no_digits(name, X, Y):
    shift = 1e6
    far, far_new = X + shift, Y + shift
    assert_close(RADIAL[name](far, far_new), naive.kernel(name, far, far_new, width=0.7), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", RADIAL)
@pytest.mark.parametrize("to_home", ["numpy", "torch", "sparse"])
def test_close_points_keep_their_distance(name, X, to_home):
    """√ of a squared distance that lost its digits would be wrong by 1e-8."""
    X = np.vstack([X, X + 1e-9, X])
    if to_home == "numpy":
        K = RADIAL[name](X)
    elif to_home == "torch":
        import torch

        K = RADIAL[name](torch.as_tensor(X)).numpy()
    else:
        K = RADIAL[name](sp.csr_array(X))
    assert_close(K, naive.kernel(name, X, width=0.7), atol=1e-13)
    assert_close(np.diag(K), 1.0, atol=1e-14)


@pytest.mark.parametrize("name", RADIAL)
def test_two_clusters_far_apart(name, X):
    """Each cluster is far from any common center, and inside a cluster the distances still count."""
    X = np.vstack([X[:10], X[10:20] + 1e7, X[20:] - 1e8])
    assert_close(RADIAL[name](X), naive.kernel(name, X, width=0.7), rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", RADIAL)
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_scales(name, X, scale):
    kernel = type(RADIAL[name])(0.7 * scale)
    assert_close(kernel(X * scale), RADIAL[name](X), atol=1e-12)
    rule = type(RADIAL[name])("median")
    assert_close(rule.resolve(X * scale)(X * scale), rule.resolve(X)(X), atol=1e-12)


# Composition and parameters


def test_flags_of_compositions():
    assert (RBF() + Exponential()).stationary and not (RBF() + Linear()).stationary
    assert (RBF() * Linear()).psd and not (RBF() * Sigmoid()).psd
    assert not Polynomial(2.5).psd and not Polynomial(2, offset=-1.0).psd and Polynomial(2, offset=0.0).psd
    assert not (2 * Callable(np.dot)).threadsafe and (RBF() + Linear()).threadsafe


def test_repr_reads_like_the_code():
    assert repr(0.3 * RBF(2.0) + Linear()) == "0.3 * RBF(bandwidth=2.0) + Linear()"
    assert repr((RBF(2.0) + Linear()) * Cosine()) == "(RBF(bandwidth=2.0) + Linear()) * Cosine()"
    assert repr(2 * (RBF(1.0) + Linear())) == "2 * (RBF(bandwidth=1.0) + Linear())"


@every
def test_clone_params_pickle_equality(kernel, X):
    twin = clone(kernel)
    assert twin is not kernel and twin == kernel and hash(twin) == hash(kernel)
    assert repr(twin) == repr(kernel)
    assert_array_equal(twin(X), kernel(X))
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert kernel != RBF(123.0) and kernel != "rbf"


def test_nested_parameters(X):
    kernel = 0.3 * RBF(2.0) + Linear() * Polynomial()
    params = kernel.get_params()
    assert params["left__factor"] == 0.3 and params["left__kernel__bandwidth"] == 2.0
    assert params["right__right__degree"] == 3
    kernel.set_params(left__kernel__bandwidth=5.0, right__right__scale=0.1)
    assert_close(kernel(X), 0.3 * RBF(5.0)(X) + (X @ X.T) * (0.1 * X @ X.T + 1) ** 3)
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        kernel.set_params(left__kernel__width=1)


def test_resolve_leaves_the_original_alone(X):
    kernel = 0.3 * RBF("median") + Polynomial() * Matern32("scale")
    resolved = kernel.resolve(X)
    assert kernel.left.kernel.bandwidth == "median" and kernel.right.left.scale is None
    assert resolved.left.kernel.bandwidth == pytest.approx(bandwidth_of(X))
    assert resolved.right.left.scale == pytest.approx(1 / 4)
    assert resolved.resolve(X) == resolved


@pytest.mark.parametrize(
    "kernel, name",
    [
        (RBF("median"), "kernel__bandwidth"),
        (RBF(1.0) + Linear(), "kernel__left__bandwidth"),
        (0.5 * (Linear() * RBF(1.0)), "kernel__kernel__right__bandwidth"),
    ],
)
def test_grid_search_in_a_pipeline(kernel, name):
    X, y = load_iris(return_X_y=True)
    pipe = Pipeline([("kpca", KernelPCA(3, kernel=kernel)), ("svm", LinearSVC(random_state=0))])
    widths = np.array([0.05, 2.0])
    search = GridSearchCV(pipe, {f"kpca__{name}": widths}, cv=3).fit(X, y)
    used = search.best_estimator_["kpca"].kernel_.get_params()[name.removeprefix("kernel__")]
    assert used == search.best_params_[f"kpca__{name}"]
    means = search.cv_results_["mean_test_score"]
    assert means[0] != means[1]  # the parameter reaches the kernel
    assert search.best_score_ > 0.9


def test_every_name_makes_a_kernel(X):
    for name, cls in REGISTRY.items():
        assert type(as_kernel(name)) is cls
    for name in [*RADIAL, *INNER]:
        kernel = as_kernel(name).resolve(X)
        assert kernel(X).shape == (30, 30)
    kernel = RBF(2.0)
    assert as_kernel(kernel) is kernel


# Functions


def test_a_function_of_two_rows(X, Y):
    assert_close(Callable(lambda x, y: float(np.minimum(x, y).sum()))(X, Y)[3, 2], np.minimum(X[3], Y[2]).sum())
    assert_close(as_kernel(np.dot)(X, Y), X @ Y.T)


def test_a_function_of_two_matrices(X, Y):
    assert_close(as_kernel(rbf_kernel)(X, Y), rbf_kernel(X, Y))
    assert_close(as_kernel(lambda A, B: A @ B.T)(X, Y), X @ Y.T)
    assert_close(as_kernel(rbf_kernel)(X[:1], Y[:1]), rbf_kernel(X[:1], Y[:1]))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_np_dot_on_square_data(n):
    """np.dot of two square matrices is a matrix, and not that of the inner products of their rows."""
    X = np.random.default_rng(0).standard_normal((n, n))
    assert_close(as_kernel(np.dot)(X), X @ X.T, atol=1e-14)
    X[: n - 1] = 0  # the first rows alone cannot distinguish the two readings
    assert_close(as_kernel(np.dot)(X), X @ X.T, atol=1e-14)


def test_functions_on_sparse_float32_and_torch_rows(X, Y):
    import torch

    kernel = as_kernel(np.dot)
    assert_close(kernel(sp.csr_array(X), sp.csr_array(Y)), X @ Y.T)
    assert kernel(X.astype(np.float32)).dtype == np.float32
    K = kernel(torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(Y, dtype=torch.float32))
    assert K.dtype == torch.float32
    assert_close(K.numpy(), X @ Y.T, atol=1e-5)
    assert_close(kernel.diag(X), np.sum(X**2, axis=1))


def test_a_function_that_fails_says_why(X):
    with pytest.raises(InputError, match="gives neither a number for two rows nor a matrix for two matrices"):
        as_kernel(lambda x, y: "text")(X)

    def broken(x, y):
        raise TypeError("no such luck")

    with pytest.raises(InputError, match="gives neither.*no such luck"):
        as_kernel(broken)(X)


def test_precomputed(X):
    K = X @ X.T
    assert Precomputed()(K) is K
    assert_array_equal(Precomputed().diag(K), np.diag(K))
    with pytest.raises(InputError, match=r"k\(x, x\) of new rows is not in a 3 × 30 matrix"):
        Precomputed().diag(K[:3])
    with pytest.raises(InputError, match="has no formula"):
        Precomputed()(K, K[:3])


# Bandwidth rules


def test_rules_by_hand(X):
    distance = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    assert bandwidth_of(X, "median") == pytest.approx(np.median(distance[np.triu_indices(30, 1)]))
    assert bandwidth_of(X, "knn") == pytest.approx(np.sort(distance, axis=1)[:, 1:11].mean())
    assert 1 / (2 * bandwidth_of(X, "scale") ** 2) == pytest.approx(1 / (4 * X.var()))
    assert bandwidth_of(X, "range") == pytest.approx(np.linalg.norm(X.max(axis=0) - X.min(axis=0)))


def test_the_laplacian_measures_its_width_in_its_own_distance(X):
    distance = np.array([[np.abs(a - b).sum() for b in X] for a in X])
    width = {rule: Laplacian(rule).resolve(X).bandwidth for rule in ("median", "knn", "scale", "range")}
    assert width["median"] == pytest.approx(np.median(distance[np.triu_indices(30, 1)]))
    assert width["knn"] == pytest.approx(np.sort(distance, axis=1)[:, 1:11].mean())
    assert width["scale"] == pytest.approx(X.shape[1] * np.sqrt(X.var() / 2))
    assert width["range"] == pytest.approx(np.ptp(X, axis=0).sum())
    assert Exponential("median").resolve(X).bandwidth == bandwidth_of(X, "median") < width["median"]
    weight = np.random.default_rng(2).integers(0, 4, 30)
    repeated = Laplacian("median").resolve(np.repeat(X, weight, axis=0))
    assert Laplacian("median").resolve(X, weight).bandwidth == pytest.approx(repeated.bandwidth)


@pytest.mark.parametrize("rule", ["median", "knn", "scale", "range"])
def test_weights_are_repetitions(rule, X):
    weight = np.random.default_rng(2).integers(0, 4, 30)
    assert bandwidth_of(X, rule, weight) == pytest.approx(bandwidth_of(np.repeat(X, weight, axis=0), rule), rel=1e-12)
    assert bandwidth_of(X, rule, np.ones(30)) == pytest.approx(bandwidth_of(X, rule), rel=1e-14)


@pytest.mark.parametrize("rule", ["median", "knn", "scale", "range"])
def test_rules_in_every_home(rule, X, home):
    expected = bandwidth_of(X, rule)
    assert bandwidth_of(home(X), rule) == pytest.approx(expected)
    assert bandwidth_of(home(X.astype(np.float32)), rule) == pytest.approx(expected, rel=1e-5)
    assert bandwidth_of(sp.csr_array(X), rule) == pytest.approx(expected)
    assert isinstance(bandwidth_of(home(X), rule), float)


@pytest.mark.parametrize("rule", ["median", "knn", "scale", "range"])
def test_rules_on_degenerate_rows(rule):
    assert bandwidth_of(np.ones((5, 2)), rule) == 1.0
    assert bandwidth_of(np.ones((1, 2)), rule) > 0
    assert bandwidth_of(np.array([[0.0], [0.0], [0.0], [2.0]]), rule) > 0


def test_many_rows_are_sampled_with_a_fixed_seed(monkeypatch):
    X = np.random.default_rng(0).standard_normal((500, 3))
    exact = bandwidth_of(X)
    monkeypatch.setattr(bandwidth, "SAMPLE", 200)
    sampled = bandwidth_of(X)
    assert sampled == bandwidth_of(X) != exact
    assert sampled == pytest.approx(exact, rel=0.1)


# Refusals


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, None, "wide", [1.0, 2.0]])
def test_bandwidth_refusals(value, X):
    with pytest.raises(InputError, match=r"bandwidth=.*Use a number above 0, or one of median, knn"):
        RBF(value).resolve(X)(X)


@pytest.mark.parametrize("kernel", [RBF(), 2 * RBF("scale"), Linear() + RBF(), Polynomial(), Sigmoid() * Linear()])
def test_a_rule_must_be_resolved_first(kernel, X):
    with pytest.raises(InputError, match=r"Call kernel.resolve\(X\)"):
        kernel(X)


def test_other_refusals(X):
    with pytest.raises(InputError, match="kernel='gauss' is not known. Use additive_chi2, .*cosine, .*rbf.*RBF"):
        as_kernel("gauss")
    with pytest.raises(InputError, match="kernel=3 is not a kernel"):
        as_kernel(3)
    with pytest.raises(InputError, match=r"kernel=RBF is a class. Give an object of it, such as RBF\(\)."):
        as_kernel(RBF)
    for factor in (0, -2.0, np.nan, np.inf):
        with pytest.raises(InputError, match=r"multiplied by .* Use a number above 0"):
            (factor * RBF(1.0))(X)
    with pytest.raises(TypeError):
        "2" * RBF(1.0)
    with pytest.raises(TypeError):
        RBF(1.0) + 2
    with pytest.raises(InputError, match="scale=0 is not accepted"):
        Polynomial(scale=0)(X)
    with pytest.raises(InputError, match="degree=0 is not accepted"):
        Polynomial(degree=0, scale=1.0)(X)
    with pytest.raises(InputError, match="X has 4 columns and Y has 3"):
        RBF(1.0)(X, X[:, :3])
    with pytest.raises(InputError, match="two dimensions"):
        RBF(1.0)(X[0])


def test_a_broken_power_of_a_negative_number_is_refused(X):
    with pytest.raises(InputError, match=r"degree=2.5.*negative"):
        Polynomial(2.5, 0.0, 1.0)(X)
    assert np.isfinite(Polynomial(2.5, 0.0, 1.0)(np.abs(X))).all()


def test_dask_is_sent_to_an_estimator(X):
    import dask.array

    with pytest.raises(InputError, match="cannot be formed from a Dask array at once"):
        RBF(1.0)(dask.array.from_array(X))


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_made(monkeypatch):
    from mercer import backend

    monkeypatch.setattr(backend, "memory_available", lambda device=None: 10**6)
    X = np.zeros((1000, 1))
    with pytest.raises(BackendError, match=r"1000 × 1000 rows needs 8.0 MB and 1.0 MB are available.*approx=.*float32"):
        RBF(1.0)(X)
