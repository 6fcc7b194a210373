"""Products without a stored matrix equal products with one."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import naive
from mercer import (
    RBF,
    Cosine,
    FourierMap,
    KernelOperator,
    LandmarkMap,
    Laplacian,
    Linear,
    Matern32,
    Polynomial,
    Sigmoid,
)
from mercer.geometry.expansion import Expansion
from mercer.geometry.maps.rows import LandmarkRows, MappedRows
from mercer.geometry.operators import (
    CenteredOperator,
    DenseOperator,
    DeviceMatrix,
    FactorOperator,
    Operator,
    cross_product,
    recomputed,
)
from mercer.kernels import as_kernel
from mercer.rows import dot, gram, take, tdot
from naive import assert_close

KERNELS = [
    RBF(0.7),
    Matern32(1.0),
    Laplacian(2.0),
    Linear(),
    Polynomial(2, 1.0, 0.5),
    Cosine(),
    Sigmoid(0.1, 0.0),
    0.3 * RBF(1.0) + Linear(),
    as_kernel(np.dot),
]


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((41, 3))


@pytest.fixture(params=[7, 512], ids=["tiles", "one tile"])
def tile(request, monkeypatch):
    monkeypatch.setattr(recomputed, "TILE", request.param)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("rows", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_kernel_operator_is_the_dense_product(kernel, rows, X, tile):
    V = np.random.default_rng(1).standard_normal((41, 5))
    dense = kernel(X)
    K = KernelOperator(kernel, rows(X))
    assert K.shape == (41, 41)
    assert_close(K @ V, dense @ V, rtol=1e-12, atol=1e-11)
    assert_close(K @ V[:, 0], dense @ V[:, 0], rtol=1e-12, atol=1e-11)
    assert_close(K.diag(), np.diag(dense), rtol=1e-12)
    assert_close(K.columns([3, 0, 40]), dense[:, [3, 0, 40]], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(threads, X, monkeypatch):
    monkeypatch.setattr(recomputed, "TILE", 4)
    monkeypatch.setattr(recomputed, "n_threads", lambda: threads)
    V = np.random.default_rng(1).standard_normal((41, 5))
    assert_close(KernelOperator(RBF(1.0), X) @ V, RBF(1.0)(X) @ V, atol=1e-12)


@pytest.mark.parametrize("dtype, atol", [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_torch_rows(X, dtype, atol, monkeypatch):
    import torch

    monkeypatch.setattr(recomputed, "GPU_ROWS", 10)
    X = X.astype(dtype)
    V = np.random.default_rng(1).standard_normal((41, 5))
    K = KernelOperator(RBF(1.0), torch.as_tensor(X))
    for product, expected in [
        (K @ V, RBF(1.0)(X) @ V),
        (K @ V[:, 0], RBF(1.0)(X) @ V[:, 0]),
        (DeviceMatrix(RBF(1.0)(torch.as_tensor(X))) @ V, RBF(1.0)(X) @ V),
        (K.columns([1, 2]), RBF(1.0)(X)[:, [1, 2]]),
    ]:
        assert isinstance(product, np.ndarray) and product.dtype == np.float64
        assert_close(product, expected, atol=atol)


def test_float32_rows_give_float64_products_of_float32_accuracy(X, tile):
    V = np.random.default_rng(1).standard_normal((41, 5))
    expected = RBF(1.0)(X) @ V
    small = X.astype(np.float32)
    for K in (KernelOperator(RBF(1.0), small), DenseOperator(RBF(1.0)(small))):
        product = K @ V
        assert product.dtype == np.float64
        assert_close(product, expected, atol=2e-5)


def test_factor_operator_in_every_home(home, X):
    Z = home(X)
    V = np.random.default_rng(1).standard_normal((41, 5))
    K = FactorOperator(Z)
    dense = X @ X.T
    assert K.shape == (41, 41)
    assert_close(K @ V, dense @ V, atol=1e-12)
    assert_close(K.diag(), np.diag(dense), atol=1e-13)
    assert_close(K.columns([5, 1]), dense[:, [5, 1]], atol=1e-13)


def test_every_operator_keeps_the_contract(X):
    """Inherited and replaced methods agree with the matrix."""
    truth, idx = RBF(1.0)(X), np.array([5, 1, 30])
    factor = np.linalg.cholesky(truth + 1e-12 * np.eye(41))
    for K in (DenseOperator(truth.copy()), KernelOperator(RBF(1.0), X), FactorOperator(factor)):
        assert isinstance(K, Operator) and not K.on_gpu and K.fast is None and K.noise == 0
        assert K.costly == isinstance(K, KernelOperator)
        assert_close(K.diag(), np.diag(truth), atol=1e-11)
        assert_close(K.block(idx), truth[np.ix_(idx, idx)], atol=1e-11)
        assert_close(K.combine(idx, np.array([1.0, -2.0, 3.0])), truth[:, idx] @ [1.0, -2.0, 3.0], atol=1e-11)
        assert_close(K.dense(), truth, atol=1e-11)
        assert K.random(3, 0).shape == (41, 3) and np.array_equal(K.random(3, 7), K.random(3, 7))
        assert CenteredOperator(K).costly == K.costly


def test_what_an_operator_lacks_is_named():
    class Products(Operator):
        shape = (3, 3)

    for ask in (Products().diag, Products().dense, lambda: Products() @ np.ones(3)):
        with pytest.raises(NotImplementedError, match=r"Products has no (diag\(\)|columns\(idx\)|products)\."):
            ask()


def test_cross_product(X, monkeypatch):
    import torch

    new = np.random.default_rng(2).standard_normal((9, 3))
    V = np.random.default_rng(1).standard_normal((41, 2))
    expected = RBF(1.0)(new, X) @ V
    assert_close(cross_product(RBF(1.0), new, X, V), expected, atol=1e-13)
    assert_close(cross_product(RBF(1.0), sp.csr_array(new), sp.csr_array(X), V), expected, atol=1e-12)
    monkeypatch.setattr(recomputed, "GPU_ROWS", 4)
    assert_close(cross_product(RBF(1.0), torch.as_tensor(new), torch.as_tensor(X), V), expected, atol=1e-13)


@pytest.fixture(params=["stored", "recomputed", "factor"])
def K(request, X):
    kernel = Polynomial(2, 1.0, 1.0)
    if request.param == "stored":
        return DenseOperator(kernel(X))
    if request.param == "recomputed":
        return KernelOperator(kernel, X)
    i, j = np.triu_indices(3)
    root = np.where(i == j, 1.0, np.sqrt(2))
    return FactorOperator(np.hstack([np.ones((41, 1)), np.sqrt(2) * X, root * X[:, i] * X[:, j]]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", [True, False])
def test_centering_and_weights(K, X, weighted, center):
    dense = Polynomial(2, 1.0, 1.0)(X)
    weight = np.random.default_rng(3).random(41) + 0.1 if weighted else None
    shown = np.ones(41) if weight is None else weight
    expected = naive.centered(dense, weight) if center else np.sqrt(np.outer(shown, shown)) * dense
    V = np.random.default_rng(1).standard_normal((41, 5))
    C = CenteredOperator(K, weight, center)
    scale = np.abs(expected).max()
    assert_close(C @ V, expected @ V, atol=1e-12 * scale)
    assert_close(C @ V, expected @ V, atol=1e-12 * scale)  # the second product has the mean already
    assert_close(C @ V[:, 0], expected @ V[:, 0], atol=1e-12 * scale)
    assert C.trace() == pytest.approx(np.trace(expected), rel=1e-12)
    assert_close(C.means(), dense @ shown / shown.sum(), atol=1e-12 * scale)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", [True, False])
def test_dense_may_be_asked_for_twice_and_between_products(K, X, weighted, center):
    """The stored matrix is overwritten to save memory, and later results must not change."""
    dense = Polynomial(2, 1.0, 1.0)(X)
    weight = np.random.default_rng(3).random(41) + 0.1 if weighted else None
    shown = np.ones(41) if weight is None else weight
    expected = naive.centered(dense, weight) if center else np.sqrt(np.outer(shown, shown)) * dense
    C = CenteredOperator(K, weight, center)
    scale = np.abs(expected).max()
    for _ in range(2):
        assert_close(C.dense(), expected, atol=1e-12 * scale)
        assert_close(C @ np.eye(41), expected, atol=1e-12 * scale)
        assert C.trace() == pytest.approx(np.trace(expected), rel=1e-12)


def test_integer_weights_are_repetitions(X):
    repeat = np.random.default_rng(3).integers(1, 4, 41)
    once = CenteredOperator(DenseOperator(RBF(1.0)(X)), repeat)
    often = CenteredOperator(DenseOperator(RBF(1.0)(np.repeat(X, repeat, axis=0))))
    values = naive.eigh(often.dense())[0]
    assert_close(naive.eigh(once.dense())[0], values[:41], atol=1e-10)
    assert np.abs(values[41:]).max() < 1e-10
    assert once.trace() == pytest.approx(often.trace())


def map_product(fitted, X, W):
    return Expansion(fitted.kernel_, None, W, fitted)(X)


@pytest.mark.parametrize("kernel", [RBF(1.0), RBF(30.0), Laplacian(2.0), Linear(), Polynomial(2, 1.0, 0.5)], ids=repr)
@pytest.mark.parametrize("given", ["exact", 25])
@pytest.mark.parametrize("place", [np.asarray, sp.csr_array, "torch"])
def test_products_without_features(kernel, given, place, monkeypatch):
    """z(X) W through coefficients on landmarks, and through the features where those would lose digits."""
    if place == "torch":
        import torch

        place = torch.as_tensor
    rng = np.random.default_rng(0)
    X, new, W = rng.standard_normal((150, 3)), rng.standard_normal((90, 3)), rng.standard_normal((150, 4))
    fitted = LandmarkMap(kernel, given).fit(X)
    W = W[: fitted.rank_]
    truth = np.asarray(fitted.transform(place(new))) @ W
    assert_close(map_product(fitted, place(new), W), truth, rtol=0, atol=1e-8 * np.abs(truth).max())
    assert_close(map_product(fitted, place(new), W[:, 0]), truth[:, 0], rtol=0, atol=1e-8 * np.abs(truth).max())
    if kernel == RBF(30.0):  # the smallest pivots are rounding, so features are safer
        monkeypatch.setattr("mercer.geometry.expansion.cross_product", lambda *_: pytest.fail("no features"))
        assert_close(map_product(fitted, new, W), fitted.transform(new) @ W, atol=1e-8)


@pytest.mark.parametrize("fitted", [LandmarkMap(RBF(1.0), 20), LandmarkMap(RBF(30.0)), FourierMap(RBF(1.0), 20)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mapped_rows_are_the_features_under_every_verb(fitted, dtype, monkeypatch):
    X = np.random.default_rng(0).standard_normal((150, 3)).astype(dtype)
    Z = fitted.fit(X).transform(X).astype(np.float64)
    r, blocks = fitted.rank_, []
    monkeypatch.setattr("mercer.homes.computed.ENTRIES", 30 * r)
    monkeypatch.setattr(fitted, "features", lambda X, inner=fitted.features: blocks.append(len(X)) or inner(X))
    rows, weight = MappedRows(fitted, X), np.random.default_rng(1).random(150)
    W = np.random.default_rng(2).standard_normal((r, 2))
    scale = 1e-8 if dtype == np.float64 else 1e-3
    assert rows.shape == Z.shape and rows.dtype == dtype
    assert_close(gram(rows, weight), (Z.T * weight) @ Z, atol=scale * np.abs(Z.T @ Z).max())
    assert_close(tdot(rows, weight), Z.T @ weight, atol=scale * np.abs(Z).sum())
    assert_close(dot(rows, W), Z @ W, atol=scale * np.abs(Z @ W).max())
    assert_close(dot(rows, W, weight), weight[:, None] * (Z @ W), atol=scale * np.abs(Z @ W).max())
    assert_close(take(rows, [149, 0, 7]), Z[[149, 0, 7]], atol=scale * np.abs(Z).max())
    assert max(blocks) <= max(30, r)
    assert_array_equal(np.asarray(rows), fitted.transform(X))


def test_landmark_rows_are_the_similarities_under_every_verb(monkeypatch):
    X = np.random.default_rng(0).standard_normal((150, 3))
    fitted = LandmarkMap(RBF(1.0), 20).fit(X)
    K, W = fitted.similarities(X), np.random.default_rng(1).standard_normal((20, 2))
    monkeypatch.setattr("mercer.homes.computed.ENTRIES", 7 * 20)
    rows = LandmarkRows(fitted, X)
    G, sums = gram(rows, sums=True)
    assert_close(G, K.T @ K)
    assert_close(sums, K.sum(axis=0))
    assert_close(dot(rows, W), K @ W, atol=1e-13)
    assert_array_equal(np.asarray(rows), K)


def test_products_of_other_maps_and_of_matrices():
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((150, 3)), rng.standard_normal((90, 3))
    fourier = FourierMap(RBF(1.0), 20).fit(X)
    W = rng.standard_normal((20, 2))
    assert_close(map_product(fourier, new, W), fourier.transform(new) @ W, atol=1e-12)
    K, cross = RBF(1.0)(X), RBF(1.0)(new, X)
    for given in ("exact", 20):
        fitted = LandmarkMap("precomputed", given).fit(K)
        W = rng.standard_normal((fitted.rank_, 2))
        truth = fitted.transform(cross) @ W
        for rows in (cross, sp.csr_array(cross)):
            assert_close(map_product(fitted, rows, W), truth, rtol=0, atol=1e-9 * np.abs(truth).max())
