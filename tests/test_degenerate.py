"""Degenerate data: finite correct predictions or a clear refusal, never NaN.

Scales: kernels of the distance with a bandwidth rule take data between 1e-150 and 1e150; kernels of the inner product,
whose values are squares and whose certificates square them again, between 1e-70 and 1e70 (float32: 1e-15 to 1e15 and
1e-8 to 1e8).
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from mercer import (
    RBF,
    Cosine,
    FourierMap,
    KernelCMeans,
    KernelPCA,
    LandmarkMap,
    Laplacian,
    LeastSquaresKPCA,
    Linear,
    LSSVMClassifier,
    Matern32,
    Polynomial,
)
from mercer.errors import InputError
from naive import assert_close

few = settings(max_examples=25, deadline=None, derandomize=True)
KERNELS = [RBF("median"), RBF("knn"), Laplacian("scale"), Matern32("range"), Linear(), Polynomial(2), Cosine()]
radial = st.sampled_from(KERNELS[:4])
any_kernel = st.sampled_from(KERNELS)


@st.composite
def tables(draw):
    """Few distinct rows, each several times, some columns constant, shuffled."""
    distinct, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((distinct, d))
    constant = draw(st.integers(0, d))
    X[:, :constant] = rng.standard_normal(constant)
    X = np.repeat(X, rng.integers(1, 5, distinct), axis=0)
    return rng.permutation(X) + draw(st.sampled_from([0.0, 0.0, 100.0]))


def check_components(X, kernel, atol=1e-8, **params):
    """A kernel PCA with all its components reproduces the centered kernel matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(kernel=kernel, **params).fit(X)
        scores = model.transform(X)
    wide = np.asarray(X, dtype=np.float64)
    K = model.kernel_(wide)
    expected = naive.centered(K)
    size = max(np.abs(K).max(), np.finfo(float).tiny)
    assert np.isfinite(scores).all() and np.all(model.eigenvalues_ >= 0)
    scores = np.asarray(scores, dtype=np.float64)
    assert_close(scores / np.sqrt(size) @ scores.T / np.sqrt(size), expected / size, atol=atol)
    assert 0 <= model.explained_variance_ratio_.sum() <= 1 + 1e-6
    return model


@few
@given(tables(), any_kernel)
def test_duplicates_and_constant_columns_in_kernel_pca(X, kernel):
    check_components(X, kernel, atol=1e-7)
    check_components(X, kernel, atol=1e-7, solver="operator")


@few
@given(tables(), any_kernel)
def test_duplicates_and_constant_columns_in_float32(X, kernel):
    check_components(X.astype(np.float32), kernel, atol=2e-3)


@few
@given(tables(), any_kernel, st.sampled_from(["pivoted", "uniform", "leverage"]))
def test_duplicates_and_constant_columns_in_maps(X, kernel, choice):
    for landmarks in ("exact", len(X), 2):
        fitted = LandmarkMap(kernel, landmarks, choice)
        Z = fitted.fit_transform(X)
        K = fitted.kernel_(X)
        size = np.abs(K).max() or 1.0
        assert np.isfinite(Z).all() and np.isfinite(fitted.transform(X + 1.0)).all()
        if landmarks != 2:
            assert_close(Z @ Z.T / size, K / size, atol=1e-9)
            assert fitted.rank_ <= max(1, len(np.unique(X, axis=0)))
        assert np.all(np.sum(Z**2, axis=1) <= np.diag(K) * (1 + 1e-9) + 1e-12 * size)  # never above the kernel


@few
@given(tables(), any_kernel, st.integers(1, 40))
def test_more_components_than_rows_or_than_rank(X, kernel, s):
    model = KernelPCA(s, kernel=kernel)
    if s > len(X):
        with pytest.raises(InputError, match=f"n_components={s} components were requested for {len(X)} rows"):
            model.fit(X)
        return
    scores = model.fit_transform(X)
    assert scores.shape == (len(X), s) and np.isfinite(scores).all()
    assert np.isfinite(model.transform(X + 1)).all()
    distinct = len(np.unique(X, axis=0))
    assert np.sum(model.eigenvalues_ > 0) <= distinct - 1 or isinstance(kernel, (Linear, Cosine, Polynomial))


@few
@given(st.integers(0, 100), any_kernel, st.sampled_from([np.float64, np.float32]))
def test_one_row(seed, kernel, dtype):
    X = np.random.default_rng(seed).standard_normal((1, 3)).astype(dtype)
    assert KernelPCA(kernel=kernel).fit_transform(X).shape == (1, 0)
    model = KernelPCA(1, kernel=kernel).fit(X)
    assert model.transform(X).tolist() == [[0.0]] and np.isfinite(model.transform(X + 1)).all()
    Z = LandmarkMap(kernel).fit_transform(X)
    assert_close(Z @ Z.T, LandmarkMap(kernel).fit(X).kernel_(X), rtol=1e-5)


@few
@given(tables(), radial, st.integers(-150, 150))
def test_scales_of_distances(X, kernel, exponent):
    X = X - X.mean(axis=0)
    scaled = X * 10.0**exponent
    plain, model = check_components(X, kernel, atol=1e-7), check_components(scaled, kernel, atol=1e-7)
    if np.ptp(X) > 1e-9:
        assert_close(model.eigenvalues_, plain.eigenvalues_, atol=1e-6 * len(X))
    Z = LandmarkMap(kernel).fit_transform(scaled)
    assert_close(Z @ Z.T, model.kernel_(scaled), atol=1e-9)
    assert np.isfinite(FourierMap(RBF("median"), 10).fit_transform(scaled)).all()


@few
@given(tables(), st.sampled_from([Linear(), Cosine()]), st.integers(-70, 70))
def test_scales_of_inner_products(X, kernel, exponent):
    scaled = X * 10.0**exponent
    check_components(scaled, kernel, atol=1e-7)
    fitted = LandmarkMap(kernel)
    Z = fitted.fit_transform(scaled)
    size = np.abs(kernel(scaled)).max() or 1.0
    root = np.sqrt(size)
    assert_close((Z / root) @ (Z / root).T, kernel(scaled) / size, atol=1e-9)


@few
@given(tables(), st.integers(-15, 15))
def test_scales_of_float32(X, exponent):
    X = X - X.mean(axis=0)
    scaled = (X * 10.0**exponent).astype(np.float32)
    check_components(scaled, RBF("median"), atol=2e-3)
    if abs(exponent) <= 8:
        check_components(scaled, Linear(), atol=2e-3)


@few
@given(tables(), st.sampled_from(["auto", "dense", "arpack", "krylov", "randomized", "lobpcg"]))
def test_every_solver_on_duplicates(X, solver):
    s = max(1, len(X) // 2)
    model = KernelPCA(s, kernel=RBF(1.0), eigen_solver=solver).fit(X)
    values = naive.eigh(naive.centered(RBF(1.0)(X)))[0][:s]
    assert_close(model.eigenvalues_, values, atol=1e-7 * len(X))
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("kernel", ["linear", lambda A, B: A @ B.T], ids=["linear", "function"])
@pytest.mark.parametrize(("dtype", "scale"), [("f4", 1e-21), ("f4", 1e-31), ("f8", 1e-160)])
def test_a_kernel_too_small_for_its_type_counts_as_zero(kernel, dtype, scale):
    X = (scale * np.array([[0.47], [0.9], [0.83]])).astype(dtype)
    with pytest.raises(InputError, match="cannot vary"):
        LeastSquaresKPCA(kernel=kernel).fit(X, ["a", "b", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        P = LSSVMClassifier(kernel=kernel).fit(X, ["a", "b", "b"]).predict_proba(X)
    assert_close(P, np.tile([0.4, 0.6], (3, 1)), atol=1e-6)


def test_the_error_of_a_map_is_a_number_where_the_squares_of_the_kernel_are_not():
    X = 1e150 * np.random.default_rng(0).standard_normal((3, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = LandmarkMap("linear", landmarks=1, choice="leverage").fit(X)
    plain = LandmarkMap("linear", landmarks=1, choice="leverage").fit(X / 1e150)
    assert fitted.error_ == pytest.approx(plain.error_) and 0.1 < fitted.error_ < 1
    assert fitted.energy_ == pytest.approx(plain.energy_)


def test_a_cluster_without_rows_is_infinitely_far_and_the_others_are_not():
    X = np.full((3, 2), 0.5)
    with pytest.warns(UserWarning, match="1 of the 2 clusters are empty"):
        model = KernelCMeans(2, approx=5, random_state=7).fit(X, sample_weight=[1e6, 0.4, 0.6])
    assert model.empty_.sum() == 1
    assert np.all(model.transform(X)[:, model.empty_] == np.inf) and np.all(model.transform(X)[:, ~model.empty_] == 0)
