"""SVDD against a general-purpose solver and libsvm, by its own certificate, on every backend of Z."""

import importlib

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import OneClassSVM

from mercer.errors import InputError
from mercer.geometry.operators import Operator
from mercer.solvers.ball.access import CachedColumns
from mercer.solvers.ball.polish import polish
from mercer.solvers.ball.svdd import certify, project, svdd_gradient, svdd_smo, svdd_sweeps

TOL = 1e-9


def features(n=30, seed=0, spread=False):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 6))
    return Z * rng.uniform(0.3, 3, size=(n, 1)) if spread else Z / np.linalg.norm(Z, axis=1, keepdims=True)


def naive(K, linear, low, high):
    """Hand the dual to a general-purpose solver."""
    mid = (low + high) / 2
    mid = mid + (1 - mid.sum()) / len(mid)
    answer = minimize(
        lambda b: b @ K @ b - linear @ b,
        np.clip(mid, low, high),
        jac=lambda b: 2 * K @ b - linear,
        bounds=list(zip(low, high)),
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1, "jac": lambda b: np.ones_like(b)},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return answer.x, -answer.fun


def primal(Z, linear, beta, low, high, rho):
    """The primal objective, from explicit points and an explicit center."""
    center = Z.T @ beta
    outside = linear - 2 * Z @ center - rho  # = distance² − R²
    return center @ center + rho + np.sum(np.maximum(high * outside, low * outside))


class Columns(Operator):
    """An exact kernel seen through its columns only."""

    def __init__(self, K):
        self.K, self.shape = K, K.shape

    def diag(self):
        return np.diag(self.K).copy()

    def columns(self, idx):
        return self.K[:, idx]


SOLVERS = {
    "smo on a matrix": lambda Z, d, lo, hi, **kw: svdd_smo(Z @ Z.T, lo, hi, linear=d, **kw),
    "smo on columns": lambda Z, d, lo, hi, **kw: svdd_smo(Columns(Z @ Z.T), lo, hi, linear=d, **kw),
    "smo, tiny cache": lambda Z, d, lo, hi, **kw: svdd_smo(Columns(Z @ Z.T), lo, hi, linear=d, cache_bytes=1, **kw),
    "sweeps": svdd_sweeps,
    "gradient": lambda Z, d, lo, hi, **kw: svdd_gradient(Z, d, lo, hi, **{"max_iter": 20_000, **kw}),
}


def boxes(n, case):
    rng = np.random.default_rng(3)
    low, high = np.zeros(n), np.full(n, 1 / (0.3 * n))
    if case == "labeled outliers":
        low[:4], high[:4] = -high[0], 0
    elif case == "weights":
        high = high * rng.uniform(0.5, 2, n)
    elif case == "hard ball":
        high[:] = 1
    elif case == "all outside":
        high[:] = 1 / n
    return low, high


CASES = ["plain", "labeled outliers", "weights", "hard ball", "all outside"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("spread", [False, True], ids=["constant diagonal", "any diagonal"])
def test_matches_a_general_solver_and_its_certificate_is_true(solver, case, spread):
    Z = features(spread=spread)
    linear = np.sum(Z**2, axis=1)
    low, high = boxes(len(Z), case)
    found = SOLVERS[solver](Z, linear, low, high, tol=TOL)
    assert found.converged and found.gap <= TOL, found.reason
    beta = found.value
    assert np.all(beta >= low) and np.all(beta <= high) and abs(beta.sum() - 1) < 1e-9
    _, best = naive(Z @ Z.T, linear, low, high)
    assert found.objective == pytest.approx(best, rel=1e-7)
    dual = linear @ beta - beta @ Z @ Z.T @ beta
    assert found.objective == pytest.approx(dual, rel=1e-10)
    # no other rho does better, and the primal value confirms the reported gap
    every_rho = [primal(Z, linear, beta, low, high, r) for r in found.info["gradient"]]
    value = primal(Z, linear, beta, low, high, found.info["rho"])
    assert value <= min(every_rho) + 1e-12
    assert (value - dual) / abs(dual) == pytest.approx(found.gap, abs=1e-12)
    distance = np.sum((Z - Z.T @ beta) ** 2, axis=1)
    surface = (beta > low + 1e-4 * (high - low)) & (beta < high - 1e-4 * (high - low))
    if surface.any():
        np.testing.assert_allclose(distance[surface], found.info["radius_sq"], rtol=1e-3)
    assert np.all(distance[(beta == high) & (high > 0)] >= found.info["radius_sq"] * (1 - 1e-3))
    assert np.all(distance[(beta == low) & (high > 0)] <= found.info["radius_sq"] * (1 + 1e-3))


@pytest.mark.parametrize("nu", [0.02, 0.1, 0.5, 0.9])
def test_equals_libsvm_and_keeps_the_bounds_of_nu(nu):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 3))
    K = np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(-1))
    found = svdd_smo(Columns(K), np.zeros(700), np.full(700, 1 / (nu * 700)), tol=1e-10)
    theirs = np.zeros(700)
    model = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-9).fit(K)
    theirs[model.support_] = model.dual_coef_.ravel() / (nu * 700)
    assert found.objective == pytest.approx(1 - theirs @ K @ theirs, rel=1e-8)
    outside = found.info["gradient"] > found.info["radius_sq"] - found.info["center_sq"] + 1e-12
    assert outside.sum() <= nu * 700 + 1e-9 and np.sum(found.value > 0) >= nu * 700 - 1e-9
    assert np.all(found.value[outside] == 1 / (nu * 700))  # in-bound rows are on the sphere, not outside
    # R² − ‖φ − c‖² is the one-class SVM's decision up to the factor 2/(νn). libsvm stores float32 rows
    ours = found.info["rho"] - found.info["gradient"]
    np.testing.assert_allclose(
        ours * nu * 700 / 2, model.decision_function(K), atol=1e-6 * nu * 700
    )  # libsvm stores float32 rows


def test_bounds_of_nu_hold_before_convergence():
    Z = features(200)
    linear = np.ones(200)
    start = np.zeros(200)
    start[:20] = 1 / 20
    found = svdd_sweeps(Z, linear, np.zeros(200), np.full(200, 1 / 20), max_iter=1, start=start)
    assert not found.converged and "Raise max_iter" in found.reason
    assert np.sum(found.info["gradient"] > found.info["rho"]) <= 20


def test_without_in_bound_points_the_radius_lies_between_inside_and_outside():
    # nu·n is an integer and two far points take the whole budget, so no support vector is in-bound
    Z = np.array([[0.0], [0.1], [-0.1], [5.0], [-5.0]])
    found = svdd_smo(Z @ Z.T, np.zeros(5), np.full(5, 0.5), tol=TOL)
    np.testing.assert_allclose(found.value, [0, 0, 0, 0.5, 0.5])
    assert 0.01 < found.info["radius_sq"] < 25


def test_duplicates_equal_weights():
    Z = features(20, spread=True)
    again = np.concatenate([Z, Z[:5]])
    twice = svdd_smo(again @ again.T, np.zeros(25), np.full(25, 0.2), tol=TOL)
    high = np.full(20, 0.2)
    high[:5] *= 2
    once = svdd_smo(Z @ Z.T, np.zeros(20), high, tol=TOL)
    assert twice.objective == pytest.approx(once.objective, rel=1e-8)
    assert twice.info["radius_sq"] == pytest.approx(once.info["radius_sq"], rel=1e-11)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "gradient"])
@pytest.mark.parametrize("case", CASES)
def test_in_bound_variables_are_solved_for_exactly_whatever_tol(solver, case):
    Z = features(60, seed=3, spread=True)
    linear, (low, high) = np.sum(Z**2, axis=1), boxes(len(Z), case)
    found = SOLVERS[solver](Z, linear, low, high, tol=1e-3)
    assert found.gap <= 1e-13 and found.info["violation"] <= 1e-11 * linear.max()
    best = SOLVERS[solver](Z, linear, low, high, tol=1e-12)
    np.testing.assert_allclose(Z.T @ found.value, Z.T @ best.value, atol=1e-12)


def test_polishing_never_leaves_the_box_nor_lowers_the_objective():
    rng = np.random.default_rng(5)
    for _ in range(50):
        Z = rng.normal(size=(12, 5))
        K, linear = Z @ Z.T, rng.uniform(0.5, 3, 12)
        low, high = rng.uniform(-0.2, 0, 12), rng.uniform(0.1, 0.5, 12)
        beta = project(rng.normal(size=12), low, high)
        before, slope = linear @ beta - beta @ K @ beta, linear - 2 * K @ beta
        polish(K, slope, beta, low, high)
        assert (beta >= low).all() and (beta <= high).all() and abs(beta.sum() - 1) < 1e-12
        np.testing.assert_allclose(slope, linear - 2 * K @ beta, atol=1e-12)
        assert linear @ beta - beta @ K @ beta >= before - 1e-12


def test_larger_diagonal_than_the_features_is_the_ball_with_its_center_in_the_span():
    Z = features(40)
    linear = 1 + np.random.default_rng(5).uniform(0, 1, 40)  # k(x,x) − ‖z‖² left out by the map
    low, high = np.zeros(40), np.full(40, 0.1)
    a, b = svdd_sweeps(Z, linear, low, high, tol=TOL), svdd_gradient(Z, linear, low, high, tol=TOL, max_iter=20_000)
    _, best = naive(Z @ Z.T, linear, low, high)
    assert a.objective == pytest.approx(best, rel=1e-8) and b.objective == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("home", ["torch", "dask.array"])
@pytest.mark.parametrize("solve", [svdd_sweeps, svdd_gradient])
def test_same_ball_wherever_the_features_live(home, solve):
    Z = features(300, spread=True)
    linear = np.sum(Z**2, axis=1)
    low, high = np.zeros(300), np.full(300, 1 / 30)
    module = importlib.import_module(home)
    elsewhere = module.from_numpy(Z) if home == "torch" else module.from_array(Z, chunks=(70, 6))
    here, there = (solve(A, linear, low, high, tol=1e-8) for A in (Z, elsewhere))
    assert there.converged
    np.testing.assert_allclose(here.info["radius_sq"], there.info["radius_sq"], rtol=1e-5)


def test_small_cache_computes_more_columns_and_finds_the_same():
    Z = features(600)
    K = np.exp(6 * (Z @ Z.T - 1))
    low, high = np.zeros(600), np.full(600, 1 / 60)
    big = svdd_smo(Columns(K), low, high, tol=1e-8)
    small = svdd_smo(Columns(K), low, high, tol=1e-8, cache_bytes=100 * 8 * 600)
    assert small.info["columns"] > 10 * big.info["columns"]
    # All rows move, with a column each. Those of the first guess are not kept.
    assert big.info["columns"] < 1.1 * 600 and small.objective == pytest.approx(big.objective, rel=1e-7)


@pytest.mark.parametrize("nu", [0.01, 0.1])
def test_only_rows_that_move_cost_a_column(nu):
    X = np.random.default_rng(1).normal(size=(2000, 8))
    K = np.exp(-0.05 * np.maximum(np.sum(X**2, 1)[:, None] + np.sum(X**2, 1) - 2 * X @ X.T, 0))
    found = svdd_smo(Columns(K), np.zeros(2000), np.full(2000, 1 / (nu * 2000)), tol=1e-8)
    assert found.converged and found.n_iter <= 10
    assert found.info["columns"] <= 2 * np.sum(found.value > 0) + 16


def test_projection_is_the_nearest_feasible_point():
    rng = np.random.default_rng(2)
    for _ in range(20):
        v, low, high = rng.normal(size=8), -rng.uniform(0, 0.2, 8), rng.uniform(0.2, 0.6, 8)
        ours = project(v, low, high)
        assert abs(ours.sum() - 1) < 1e-12
        best = minimize(
            lambda b, v=v: np.sum((b - v) ** 2),
            np.full(8, 1 / 8),
            bounds=list(zip(low, high)),
            constraints={"type": "eq", "fun": lambda b: b.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(ours, best.x, atol=1e-6)


@pytest.mark.parametrize("n_wide", [1, 5, 400])
def test_the_offset_is_best_whatever_the_bounds(n_wide):
    """If most of the slack is in a few rows deep inside, the offset is far from the outermost rows."""
    rng = np.random.default_rng(4)
    gradient = np.sort(rng.normal(size=400).round(2))  # with ties
    low, high = np.zeros(400), np.full(400, 1e-4 / 400)
    low[200:210], high[200:210] = -1e-3, 0
    high[:n_wide] += 1.5 / n_wide
    beta = project(np.zeros(400), low, high)
    rho = certify(gradient, beta, np.ones(400), low, high)["rho"]
    value = [r + np.sum(np.maximum(high * (gradient - r), low * (gradient - r))) for r in np.append(gradient, rho)]
    assert value[-1] <= min(value) + 1e-12


def test_certificate_of_a_wrong_answer_is_large():
    Z = features()
    linear, low, high = np.ones(30), np.zeros(30), np.full(30, 0.2)
    wrong = np.zeros(30)
    wrong[:5] = 0.2
    assert certify(linear - 2 * Z @ (Z.T @ wrong), wrong, linear, low, high)["gap"] > 0.01


def test_impossible_boxes_are_refused():
    with pytest.raises(InputError, match=r"sums of β from 0 to 0\.5, and the sum must be 1"):
        svdd_smo(np.eye(5), np.zeros(5), np.full(5, 0.1))
    with pytest.raises(InputError, match=r"Row 2 has the lower bound 1 above its upper bound 0\.5"):
        svdd_smo(np.eye(5), np.array([0, 0, 1, 0, 0]), np.full(5, 0.5))


def test_columns_that_are_used_once_are_not_kept():
    Z = features(200)
    K = Z @ Z.T
    access = CachedColumns(Columns(K), 10**7)
    idx, factor = np.arange(0, 200, 2), np.linspace(-1, 1, 100)
    out = np.ones(200)
    access.subtract(out, idx, factor, keep=np.arange(100) < 30)
    np.testing.assert_allclose(out, 1 - K[:, idx] @ factor, atol=1e-12)
    assert access.store.shape == (30, 200) and access.n_columns == 100
    access.subtract(out, idx[:40], factor[:40])  # ten more
    assert access.store.shape == (40, 200) and access.n_columns == 110
    np.testing.assert_allclose(out, 1 - K[:, idx] @ factor - K[:, idx[:40]] @ factor[:40], atol=1e-12)
    for some in (idx[:50], idx[20:90], np.arange(1, 200, 2)):  # most stored, few, none
        np.testing.assert_array_equal(access.block(some), K[np.ix_(some, some)])
