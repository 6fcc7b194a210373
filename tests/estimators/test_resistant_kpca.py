"""RobustKernelPCA with losses that resist leverage, against dense formulas, with outliers and refusals."""

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from scipy.optimize import minimize

from mercer import RBF, InputError, KernelPCA, Linear, Polynomial, RobustKernelPCA, load, save
from mercer.geometry.operators import DenseOperator
from mercer.solvers.eigen.resistant import reconstruction, spatial_median

SCALES = np.array([2.0, 1.6, 0.4, 0.3, 0.2])
POLYNOMIAL = Polynomial(degree=2, offset=1.0, scale=1.0)
both = pytest.mark.parametrize("loss", ["spherical", "reconstruction"])


def clean(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 5)) * SCALES


def angle(kernel, model, X, reference, clean_rows):
    """Largest angle in degrees, in feature space, between two fitted subspaces."""
    cross = model.coefficients_.T @ kernel(X, clean_rows) @ reference.coefficients_
    return float(np.degrees(np.arccos(min(1.0, np.linalg.svd(cross, compute_uv=False).min()))))


def dense_spherical(X, n_components):
    """Explicit features, the median by SciPy, eigenvectors of the covariance of the signs."""
    m = minimize(lambda m: np.linalg.norm(X - m, axis=1).sum(), np.median(X, axis=0), options={"gtol": 1e-9}).x
    U = (X - m) / np.linalg.norm(X - m, axis=1)[:, None]
    values, vectors = eigh(U.T @ U)
    return m, values[::-1][:n_components], vectors[:, ::-1][:, :n_components]


def test_spherical_is_the_formula():
    X = np.r_[clean(60), [[30.0, -40.0, 20.0, 0.0, 5.0]]]
    model = RobustKernelPCA(2, loss="spherical", kernel=Linear(), tol=1e-9).fit(X)
    m, values, W = dense_spherical(X, 2)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-5)
    new = clean(10, seed=1)
    np.testing.assert_allclose(np.abs(model.transform(new)), np.abs((new - m) @ W), atol=1e-3)
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-7)
    np.testing.assert_allclose(model.weight_, 1 / np.sum((X - m) ** 2, axis=1), rtol=1e-3)
    assert len(model.bounded_) == len(X) and np.isnan(model.kappa_)


def test_the_median_in_feature_space_is_the_median():
    X = np.random.default_rng(0).exponential(size=(40, 3))
    share, distance, _ = spatial_median(DenseOperator(X @ X.T))
    m, _, _ = dense_spherical(X, 1)
    np.testing.assert_allclose(share @ X, m, atol=1e-5)
    np.testing.assert_allclose(distance, np.linalg.norm(X - m, axis=1), atol=1e-5)
    assert share.sum() == pytest.approx(1)


def test_reconstruction_is_weighted_kernel_pca_whose_weights_are_its_own():
    X = np.r_[clean(80), np.random.default_rng(1).standard_normal((8, 5)) * 15]
    result = reconstruction(DenseOperator(X @ X.T), 2, tol=1e-8)
    w, coef = result.info["weight"], result.value.coef
    mean = np.average(X, axis=0, weights=w)
    _, vectors = eigh((X - mean).T @ (w[:, None] * (X - mean)))
    W = X.T @ coef
    assert np.degrees(subspace_angles(W, vectors[:, -2:])).max() < 1e-4
    residual = np.linalg.norm((X - mean) - (X - mean) @ W @ W.T, axis=1)
    assert np.all(np.diff(w[np.argsort(residual)]) <= 1e-9) and w.min() == 0 and np.mean(w == 1) > 0.6
    assert result.converged and np.all(np.diff(result.history) <= 1e-9 * abs(result.history[0]))
    assert np.all(w[80:] == 0)


@pytest.mark.parametrize(
    "kernel, outliers",
    [
        (POLYNOMIAL, lambda rng, m: rng.standard_normal((m, 5)) * 10),
        (POLYNOMIAL, lambda rng, m: np.array([0, 0, 0, 8, 8]) + rng.standard_normal((m, 5))),
        (RBF(3.0), lambda rng, m: np.array([0, 0, 3, 3, 3]) + 0.1 * rng.standard_normal((m, 5))),
    ],
    ids=["polynomial, gross", "polynomial, one side", "RBF, clustered"],
)
def test_ten_percent_of_outliers_do_not_turn_the_components(kernel, outliers):
    X = clean(180)
    mixed = np.r_[X, outliers(np.random.default_rng(1), 20)]
    reference = KernelPCA(2, kernel=kernel).fit(X)
    off = {
        loss: angle(kernel, RobustKernelPCA(2, loss=loss, kernel=kernel).fit(mixed), mixed, reference, X)
        for loss in ("huber", "reconstruction")
    }
    plain = angle(kernel, KernelPCA(2, kernel=kernel).fit(mixed), mixed, reference, X)
    assert off["reconstruction"] <= 10 and min(plain, off["huber"]) > 35
    found = RobustKernelPCA(2, loss="reconstruction", kernel=kernel).fit(mixed)
    assert set(found.bounded_) >= set(range(180, 200))
    assert found.reconstruction_error(mixed[180:]).min() > np.median(found.reconstruction_error(X))


@pytest.mark.parametrize("seed", [3, 5, 7])
def test_clean_rows_in_the_tail_keep_their_weight(seed):
    """Draws of benchmarks/papers/celanie_robust.py that turned by 10 to 18° while one to four clean rows had none."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((180, 5)) * SCALES
    mixed = np.r_[X, 10 * rng.standard_normal((20, 5))]
    model = RobustKernelPCA(2, loss="reconstruction", kernel=POLYNOMIAL).fit(mixed)
    assert np.all(model.weight_[:180] > 0.99) and np.all(model.weight_[180:] == 0)
    assert angle(POLYNOMIAL, model, mixed, KernelPCA(2, kernel=POLYNOMIAL).fit(X), X) < 1


def test_a_second_start_leaves_outliers_that_the_first_one_follows():
    """Draw 130: from the signs alone eight of twenty outliers keep their weight, and the components turn by 89°."""
    rng = np.random.default_rng(130)
    X = rng.standard_normal((180, 5)) * SCALES
    mixed = np.r_[X, [0, 0, 0, 8, 8] + rng.standard_normal((20, 5))]
    model = RobustKernelPCA(2, loss="reconstruction", kernel=POLYNOMIAL).fit(mixed)
    assert angle(POLYNOMIAL, model, mixed, KernelPCA(2, kernel=POLYNOMIAL).fit(X), X) < 10


@both
def test_storage_homes_and_files(loss, home, tmp_path):
    X, kernel = clean(60), RBF(2.0)
    expected = RobustKernelPCA(2, loss=loss, kernel=kernel).fit(X)
    tiled = RobustKernelPCA(2, loss=loss, kernel=kernel, solver="operator").fit(X)
    np.testing.assert_allclose(tiled.transform(X), expected.transform(X), atol=1e-4)
    matrix = RobustKernelPCA(2, loss=loss, kernel="precomputed").fit(kernel(X))
    np.testing.assert_allclose(matrix.transform(kernel(X)), expected.transform(X), atol=1e-4)
    there = RobustKernelPCA(2, loss=loss, kernel=kernel, approx=60).fit(home(X))
    np.testing.assert_allclose(np.asarray(there.transform(home(X))), expected.transform(X), atol=1e-3)
    save(expected, tmp_path / "m.mercer")
    np.testing.assert_array_equal(load(tmp_path / "m.mercer").transform(X), expected.transform(X))


@both
def test_without_center_and_in_single_precision(loss):
    X = clean(50)
    plain = RobustKernelPCA(2, loss=loss, kernel=Linear(), center=False).fit(X)
    np.testing.assert_allclose(plain.transform(np.zeros((1, 5))), 0, atol=1e-9)
    single = RobustKernelPCA(2, loss=loss, kernel=RBF(2.0)).fit(X.astype(np.float32))
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        single.transform(X), RobustKernelPCA(2, loss=loss, kernel=RBF(2.0)).fit_transform(X), atol=0.02
    )


def test_refusals():
    with pytest.raises(InputError, match="bound Huber's loss"):
        RobustKernelPCA(2, loss="spherical", kappa=0.3).fit(clean(20))
    with pytest.raises(InputError, match="kernel matrix has rank 1"):
        RobustKernelPCA(2, loss="spherical", kernel=Linear()).fit(np.arange(20.0)[:, None])
    with pytest.raises(InputError, match="same features"):
        RobustKernelPCA(2, loss="reconstruction").fit(np.ones((20, 3)))
