"""Ridge regression in the dual, with a float32 factor, conjugate gradients in float64 and exact held-out scores."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from mercer import RBF, LSSVMRegressor
from mercer.estimators import lssvm_regressor as estimator
from mercer.geometry.open import POLICIES
from mercer.solvers.ridge import dual as module
from mercer.solvers.ridge.dual import dual_left_out, dual_ridge


def problem(n, seed=0, width=2.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, RBF(width)(X), np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]), rng.uniform(0.5, 2.0, n)


def naive(K, T, penalty, weight, bias):
    """The bordered system, solved directly."""
    n = len(K)
    A = K + penalty * np.diag(1 / weight)
    if not bias:
        return np.linalg.solve(A, T), np.zeros(T.shape[1])
    M = np.block([[A, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    found = np.linalg.solve(M, np.vstack([T, np.zeros((1, T.shape[1]))]))
    return found[:n], found[n]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("direct", [0, 1000])
def test_equal_to_the_plain_solve(bias, direct, monkeypatch):
    monkeypatch.setattr(module, "DIRECT", direct)
    _, K, T, weight = problem(60)
    kept = K.copy()
    result = dual_ridge(K, T, 0.1, weight, bias)
    alpha, b = naive(K, T, 0.1, weight, bias)
    assert result.converged and result.gap < 1e-9
    np.testing.assert_allclose(result.value[0], alpha, rtol=1e-6, atol=1e-8 * np.abs(alpha).max())
    np.testing.assert_allclose(result.value[1], b, rtol=1e-7, atol=1e-12)
    np.testing.assert_array_equal(K, kept)


def test_float32_alone_would_not_do_and_the_steps_mend_it(monkeypatch):
    monkeypatch.setattr(module, "DIRECT", 0)
    _, K, T, _ = problem(300, width=6.0)
    result = dual_ridge(K, T, 1e-4)
    assert result.n_iter > 1 and result.gap < 1e-8
    rough = np.linalg.solve(K.astype(np.float32) + np.float32(1e-4) * np.eye(300, dtype=np.float32), T)
    residual = np.linalg.norm((K + 1e-4 * np.eye(300)) @ rough - T) / np.linalg.norm(T)
    assert residual > 100 * result.gap


def test_without_a_factor_in_float32_there_is_one_in_float64(monkeypatch):
    monkeypatch.setattr(module, "DIRECT", 0)
    monkeypatch.setattr(module, "_single", lambda K, shift: None)
    _, K, T, weight = problem(40)
    np.testing.assert_allclose(dual_ridge(K, T, 0.1, weight).value[0], naive(K, T, 0.1, weight, False)[0], rtol=1e-8)


@pytest.mark.parametrize("bias", [False, True])
def test_left_out_answers_equal_refits(bias):
    _, K, T, weight = problem(30)
    alpha, _ = dual_ridge(K, T, 0.1, weight, bias).value
    rows = np.array([0, 7, 29])
    found = dual_left_out(K.copy(), T, alpha, 0.1, weight, bias, rows)
    for place, i in enumerate(rows):
        rest = np.delete(np.arange(30), i)
        a, b = naive(K[np.ix_(rest, rest)], T[rest], 0.1, weight[rest], bias)
        np.testing.assert_allclose(found[place], K[i, rest] @ a + b, rtol=1e-8)


def test_regressor_equals_kernel_ridge_and_keeps_its_promises(home):
    X, _, T, _ = problem(200)
    y = T[:, 0]
    model = LSSVMRegressor(10.0, bias=False, kernel=RBF(2.0)).fit(X, y)
    assert model.coef_ is None and model.dual_coef_.shape == (200,)
    peer = KernelRidge(alpha=0.1, kernel="rbf", gamma=1 / 8).fit(X, y)
    np.testing.assert_allclose(model.predict(home(X[:9] + 0.1)), peer.predict(X[:9] + 0.1), rtol=1e-6, atol=1e-9)
    some = y.copy()
    some[::3] = np.nan
    model = LSSVMRegressor(10.0, kernel=RBF(2.0)).fit(X, some)
    assert model.left_out_.shape == (np.isfinite(some).sum(),)
    held = some.copy()
    held[1] = np.nan
    assert model.left_out_[0] == pytest.approx(LSSVMRegressor(10.0, kernel=RBF(2.0)).fit(X, held).predict(X[1:2])[0])


def test_a_kernel_of_low_rank_keeps_its_factor():
    X, _, T, _ = problem(200)
    assert LSSVMRegressor(kernel="linear").fit(X, T[:, 0]).dual_coef_ is None
    smooth = LSSVMRegressor(kernel=RBF(50.0)).fit(X[:, :1], T[:, 0])  # a wide kernel in one dimension has few features
    assert smooth.dual_coef_ is None and len(smooth.coef_) < 50


def test_auto_takes_the_exact_kernel_while_the_targets_are_few(monkeypatch):
    X, _, T, _ = problem(400)
    y = T[:, 0].copy()
    y[150:] = np.nan
    monkeypatch.setitem(POLICIES, "targets", replace(POLICIES["targets"], exact_rows=150))
    model = LSSVMRegressor(kernel=RBF(1.0)).fit(X, y)
    assert model.dual_coef_.shape == (150,) and "the 150 rows with a target" in model.approx_reason_
    y[150] = 0.0
    assert LSSVMRegressor(kernel=RBF(1.0)).fit(X, y).dual_coef_ is None  # one more needs a map, here the exact one
    assert LSSVMRegressor(kernel=RBF(1.0), approx="exact").fit(X, y).dual_coef_.shape == (151,)
    assert LSSVMRegressor(kernel=RBF(1.0), approx=50).fit(X, y).coef_.shape == (50,)
    y[150] = np.nan
    monkeypatch.setattr("mercer.backend.memory_available", lambda device=None: 2 * module.BYTES * 150**2 - 1)
    assert LSSVMRegressor(kernel=RBF(1.0)).fit(X[:160], y[:160]).dual_coef_ is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("distinct, high", [(90, False), (110, True), (200, True)])
def test_the_rank_is_seen_on_some_rows(distinct, high, dtype):
    X = np.random.default_rng(0).standard_normal((200, 20)).astype(dtype)
    X[distinct:] = X[: 200 - distinct] if distinct >= 100 else X[0]
    rows = X[np.random.default_rng(1).permutation(200)]
    assert estimator._high_rank(RBF(2.0), rows) == high
