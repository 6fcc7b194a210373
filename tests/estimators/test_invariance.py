"""Derivatives against finite differences, and fits with gradient penalties against dense algebra with these."""

import numpy as np
import pytest
import scipy.linalg as sla
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits

from conftest import to_dask
from mercer import (
    RBF,
    Cosine,
    Exponential,
    FourierMap,
    ImageShifts,
    LandmarkMap,
    LeastSquaresKPCA,
    Linear,
    LogisticKPCA,
    LSSVMClassifier,
    Matern32,
    Matern52,
    Polynomial,
    RLSClassifier,
    load,
    save,
)
from mercer.errors import BackendError, InputError

STEP = 1e-5
KERNELS = [
    RBF(1.3),
    Matern32(1.1),
    Matern52(0.9),
    Linear(),
    Polynomial(3, 1.0, 0.5),
    Polynomial(1, 1.0, 0.5),
    0.3 * RBF(2.0) + Linear() * Matern52(1.5),
]


def data(n=25, p=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    given = np.full(n, -1)
    given[:6] = (X[:6, 0] > 0).astype(int)
    given[:2] = 0, 1
    return X, rng.normal(size=(n, p, 3)), given


def difference(f, X, v, step=STEP):
    return (f(X + step * v) - f(X - step * v)) / (2 * step)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_slopes_of_kernels_are_finite_differences(kernel):
    X, V, _ = data()
    Y = X[:9] + 0.1
    Y[0] = X[0]  # distance 0
    expected = difference(lambda A: kernel(A, Y), X, V[:, 0])
    np.testing.assert_allclose(kernel.slope(X, V[:, 0], Y), expected, atol=1e-8 * max(1, np.abs(expected).max()))
    there = kernel.slope(*(torch.as_tensor(A) for A in (X, V[:, 0], Y)))
    np.testing.assert_allclose(there.numpy(), expected, atol=1e-8 * max(1, np.abs(expected).max()))
    far = kernel.slope(X + 1e4, V[:, 0], Y + 1e4) if kernel.stationary else None  # the origin does not matter
    assert far is None or np.abs(far - expected).max() < 1e-6


@pytest.mark.parametrize(
    "map_",
    [LandmarkMap(RBF(2.0)), LandmarkMap(RBF(2.0), 8), LandmarkMap(RBF(2.0), 8, rank=5), FourierMap(RBF(2.0), 40)],
)
def test_slopes_of_maps_are_finite_differences(map_):
    X, V, _ = data()
    map_.fit(X)
    expected = difference(map_.transform, X, V[:, 0], 1e-4)
    np.testing.assert_allclose(map_.slopes(X, V[:, 0]), expected, atol=1e-4 * np.abs(expected).max())


def slow_fit(kernel, X, given, V, c, v, mu):
    """LS-KPCA of two classes in a basis of K, the penalty from differences of the kernel expansion, by bisection."""
    K, n, rows = kernel(X), len(X), np.flatnonzero(given >= 0)
    values, U = np.linalg.eigh(K)
    keep = values > 1e-11 * values[-1]
    Z, back = U[:, keep] * np.sqrt(values[keep]), U[:, keep] / np.sqrt(values[keep])
    C, t = np.eye(Z.shape[1]) + c * Z[rows].T @ Z[rows], 2.0 * given[rows] - 1
    for k in range(V.shape[1]):  # Σ (v·∇f(x_i))² with f = Σ a_j k(x_j, ·), a = back w
        D = difference(lambda A: kernel(A, X), X, V[:, k]) @ back
        C += mu / n * D.T @ D
    P = Z.T @ (np.eye(n) - 1 / n) @ Z
    top = 1 / sla.eigh(P, C, eigvals_only=True)[-1]
    low, high = 1e-12 * top, 1e9
    for _ in range(300):
        middle = np.sqrt(low * high)
        w = np.linalg.solve(C - (top - middle) * P, c * Z[rows].T @ t)
        low, high = (middle, high) if w @ P @ w > v * n else (low, middle)
    return lambda new: kernel(new, X) @ back @ w


@pytest.mark.parametrize("kernel", [RBF(1.5), Matern52(1.5), Polynomial(2, 1.0, 0.5)], ids=str)
@pytest.mark.parametrize("mu", [0.3, 30.0])
def test_least_squares_kpca_equals_the_slow_version(kernel, mu):
    X, V, given = data()
    new = X[:7] + 0.1
    model = LeastSquaresKPCA(2.0, 0.5, kernel=kernel, invariance=V, invariance_weight=mu).fit(X, given)
    expected = slow_fit(kernel, X, given, V, 2.0, 0.5, mu)(new)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=2e-5)
    assert np.abs(model.decision_function(new) - LeastSquaresKPCA(2.0, 0.5, kernel=kernel).fit(X, given)
                  .decision_function(new)).max() > 1e-2  # fmt: skip
    as_function = {tuple(np.round(x, 12)): v for x, v in zip(X, V)}
    model.set_params(invariance=lambda A: np.array([as_function[tuple(np.round(a, 12))] for a in A]))
    np.testing.assert_allclose(model.fit(X, given).decision_function(new), expected, atol=2e-5)
    f = model.decision_function(X)
    assert f.var() == pytest.approx(0.5, rel=1e-6) and model.certificate_ < 1e-7


def test_shifted_landmarks_give_the_expansion_with_gradients_of_the_kernel():
    """Over the whole space the optimum also contains gradients of the kernel, which rows outside the data span."""
    X, V, given = data(20, 1)
    kernel, V, rows, n, mu, gamma = RBF(0.8), V[:, 0], np.arange(6), 20, 20.0, 5.0
    D = difference(lambda A: kernel(A, X), X, V)
    M = np.array([difference(lambda A: difference(lambda B: kernel(A, B), X, V, 1e-3), x[None], v, 1e-3)[0]
                  for x, v in zip(X, V)])  # fmt: skip
    G = np.block([[kernel(X), D.T], [D, M]])  # of evaluations at the rows and derivatives at the rows
    A = G + gamma * G[:, rows] @ G[rows] + mu / n * G[:, n:] @ G[n:]
    beta = np.linalg.lstsq(A, gamma * G[:, rows] @ (2.0 * given[rows] - 1), rcond=1e-13)[0]
    new = X + 0.2
    expected = np.hstack([kernel(new, X), difference(lambda A: kernel(A, new), X, V).T]) @ beta
    beside = np.vstack([X, X + 0.02 * V, X - 0.02 * V])
    terms = {"bias": False, "kernel": kernel, "invariance": V, "invariance_weight": mu}
    whole = LSSVMClassifier(gamma, approx=LandmarkMap(kernel, beside), **terms).fit(X, given).decision_function(new)
    within = LSSVMClassifier(gamma, approx="exact", **terms).fit(X, given).decision_function(new)
    scale = np.abs(expected).max()
    assert np.abs(whole - expected).max() < 1e-3 * scale < 0.1 * scale < np.abs(within - expected).max()


@pytest.mark.parametrize(
    "model", [LeastSquaresKPCA(2.0, 0.5), LogisticKPCA(2.0, 0.5), LSSVMClassifier(3.0), RLSClassifier(0.1)], ids=str
)
def test_the_slopes_fall_with_the_weight_and_every_home_agrees(model):
    X, V, given = data()
    model.set_params(kernel=RBF(2.0), invariance=V)
    size = []
    for mu in (0.0, 1.0, 100.0):
        f = model.set_params(invariance_weight=mu).fit(X, given).decision_function
        size.append(sum(np.mean(difference(f, X, V[:, k]) ** 2) for k in (0, 1)) / np.var(f(X)))
    assert size[0] > 1.05 * size[1] > 1.15 * size[2]
    zero = model.set_params(invariance_weight=0.0).fit(X, given).decision_function(X)
    np.testing.assert_allclose(
        zero, clone(model).set_params(invariance=None).fit(X, given).decision_function(X), atol=1e-7
    )
    model.set_params(invariance_weight=1.0)
    host = model.fit(X, given).decision_function(X)
    there = model.fit(torch.as_tensor(X), given).decision_function(torch.as_tensor(X))
    np.testing.assert_allclose(there, host, atol=1e-6)
    weight = np.random.default_rng(0).integers(1, 4, len(X))  # a row of weight 0 would still give its kernel function
    again = np.repeat(np.arange(len(X)), weight)
    weighted = model.fit(X, given, sample_weight=weight).decision_function(X)
    repeated = model.set_params(invariance=V[again]).fit(X[again], given[again]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-5)


def test_select_chooses_the_weight_and_left_out_answers_are_refits():
    X, V, given = data()
    model = LeastSquaresKPCA(2.0, 0.5, kernel=RBF(2.0), invariance=V)
    candidates, left_out, labels = model.left_out_table(X, given, grid={"invariance_weight": [0.1, 10.0]})
    for candidate, scores in zip(candidates, left_out):
        hidden = given.copy()
        hidden[labels.labeled[3]] = -1
        again = LeastSquaresKPCA(2.0, 0.5, kernel=RBF(2.0), invariance=V).set_params(**candidate).fit(X, hidden)
        assert scores[3, 0] == pytest.approx(again.decision_function(X[labels.labeled[3:4]])[0], abs=1e-4)
    assert len(model.select(X, given, invariance=[None, V], invariance_weight=[1.0]).selection_["candidates"]) == 3


def test_shifts_of_images():
    digits = load_digits().data[:40] / 16
    down, right = ImageShifts(8, 8)(digits).transpose(1, 0, 2)
    image = digits[3].reshape(8, 8)
    slow = np.zeros((8, 8))
    for i in range(8):
        for j in range(8):
            slow[i, j] = ((image[i, j - 1] if j else 0) - (image[i, j + 1] if j < 7 else 0)) / 2
    np.testing.assert_allclose(right[3].reshape(8, 8), slow)
    turned = ImageShifts(8, 8)(digits.reshape(-1, 8, 8).transpose(0, 2, 1).reshape(-1, 64))[:, 1]
    np.testing.assert_allclose(down, turned.reshape(-1, 8, 8).transpose(0, 2, 1).reshape(-1, 64))
    colors = np.stack([digits, 2 * digits], axis=2).reshape(40, -1)
    np.testing.assert_allclose(ImageShifts(8, 8, 2)(colors)[:, 1].reshape(40, 64, 2)[:, :, 1], 2 * right)
    with pytest.raises(InputError, match=r"ImageShifts\(5, 8\) describes rows of 40 numbers, and these have shape"):
        ImageShifts(5, 8)(digits)


def test_a_model_with_shifts_is_saved(tmp_path):
    X, y = load_digits(n_class=2, return_X_y=True)
    X, given = X[:80] / 16, np.where(np.arange(80) < 8, y[:80], -1)
    model = LeastSquaresKPCA(kernel=RBF(2.0), invariance=ImageShifts(8, 8)).fit(X, given)
    save(model, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert repr(again.invariance) == "ImageShifts(8, 8)"


def test_refusals():
    X, V, given = data()
    with pytest.raises(InputError, match=r"for 25 rows of 3 columns, and its value has shape \(24, 2, 3\)"):
        LeastSquaresKPCA(invariance=V[1:]).fit(X, given)
    with pytest.raises(InputError, match="contains NaN or infinity"):
        LeastSquaresKPCA(invariance=V * np.nan).fit(X, given)
    with pytest.raises(InputError, match=r"has shape \(0,\)"):
        LeastSquaresKPCA(invariance="shifts").fit(X, given)
    for kernel in (Exponential(1.0), Cosine(), 2.0 * Exponential(1.0) + RBF(1.0)):
        with pytest.raises(InputError, match="has no gradient, which invariance= needs. Use RBF, Matern32"):
            LeastSquaresKPCA(kernel=kernel, invariance=V).fit(X, given)
    with pytest.raises(InputError, match="A precomputed kernel has no gradient"):
        LeastSquaresKPCA(kernel="precomputed", invariance=np.ones((25, 25))).fit(RBF(1.0)(X), given)
    with pytest.raises(BackendError, match="invariance= needs all rows in memory"):
        LeastSquaresKPCA(invariance=V, approx=10).fit(to_dask(X), given)

    class Steeper(RBF):
        def profile(self, squared, xp):
            return super().profile(squared * 4, xp)

    with pytest.raises(InputError, match="has no gradient"):  # that of RBF is another kernel's
        LeastSquaresKPCA(kernel=Steeper(1.0), invariance=V).fit(X, given)
