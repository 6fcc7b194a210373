"""Constrained least squares and logistic loss against dense algebra, general solvers and explicit refits."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg as sla
from scipy.optimize import brentq, minimize

from mercer.errors import InputError
from mercer.linalg import eigh_down
from mercer.solvers.ridge.smoother import Moments
from mercer.solvers.ridge.state import TiltedState
from mercer.solvers.sphere.irls import constrained_margin_loss
from mercer.solvers.sphere.left_out import compress, left_out
from mercer.solvers.sphere.losses import LOSSES
from mercer.solvers.sphere.secular import constrained_least_squares, largest_shift, variance_basis


def problem(n=30, l=7, seed=0, width=1.0, centered=True):
    """theta, labeled rows and labels of an RBF kernel on random points, plus (Z, P) before the rotation."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * width**2))
    values, vectors = np.linalg.eigh(K)
    Z = vectors * np.sqrt(np.clip(values, 0, None))
    P = Z.T @ Z - (np.outer(Z.sum(0), Z.sum(0)) / n if centered else 0)
    t = np.where(X[:l, 0] > 0, 1.0, -1.0)
    theta, Q = variance_basis(*eigh_down(P))
    return theta, Z[:l] @ Q, t, Z[:l], P, Q


def naive(P, Z, t, c, s2):
    """The same minimum from the dense pencil of (C, P) and a scalar root finder."""
    C, b = np.eye(len(P)) + c * Z.T @ Z, c * Z.T @ t
    mu, V = sla.eigh(P, C)
    beta = V.T @ b
    mu = np.clip(mu, 0, None)

    def excess(zeta):
        return float(np.sum(mu * beta**2 / (1 - zeta * mu) ** 2) - s2)

    delta = 1 / mu[-1]
    low = delta - 1.0
    while excess(low) > 0:
        low = delta - 2 * (delta - low)
    high = delta - (delta - low) * 1e-13
    zeta = brentq(excess, low, high, xtol=1e-300, rtol=1e-15, maxiter=1000)
    return V @ (beta / (1 - zeta * mu)), zeta


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("c", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize("s2", [0.03, 3.0, 300.0])
def test_equals_the_dense_pencil(c, s2, centered):
    theta, ZL, t, Z, P, Q = problem(centered=centered)
    found = constrained_least_squares(theta, ZL, t, c, s2)
    w, zeta = naive(P, Z, t, c, s2)
    assert found.gap < 1e-9
    np.testing.assert_allclose(Q @ found.value, w, atol=1e-6 * np.linalg.norm(w))
    np.testing.assert_allclose(found.info["zeta"], zeta, rtol=1e-6)


def objective(w, Z, t, c):
    return w @ w + c * np.sum((Z @ w - t) ** 2)


@pytest.mark.parametrize("seed", range(4))
def test_no_start_of_a_general_solver_goes_lower(seed):
    theta, ZL, t, *_ = problem(n=8, l=3, seed=seed)
    for c, s2 in [(0.5, 1.0), (20.0, 30.0), (5.0, 0.05)]:
        found = constrained_least_squares(theta, ZL, t, c, s2)
        assert found.objective == pytest.approx(objective(found.value, ZL, t, c))
        constraint = {"type": "eq", "fun": lambda w, s2=s2: theta @ w**2 - s2, "jac": lambda w: 2 * theta * w}
        best = np.inf
        for start in np.random.default_rng(seed).normal(size=(15, len(theta))):
            start = start * np.sqrt(s2 / (theta @ start**2))
            other = minimize(
                objective,
                start,
                args=(ZL, t, c),
                jac=lambda w, Z, t, c: 2 * w + 2 * c * (Z @ w - t) @ Z,
                constraints=constraint,
                method="SLSQP",
                options={"maxiter": 500, "ftol": 1e-12},
            )
            if abs(constraint["fun"](other.x)) <= 1e-8 * s2:
                best = min(best, other.fun)
        assert found.objective <= best * (1 + 1e-9)
        assert best <= found.objective * (1 + 1e-5)  # the general solver does find it, so the test can fail


def test_no_labels_is_kernel_pca():
    theta, ZL, *_ = problem()
    found = constrained_least_squares(theta, ZL[:0], np.zeros(0), 1.0, 4.0)
    expected = np.zeros(len(theta))
    expected[0] = 2.0 / np.sqrt(theta[0])
    np.testing.assert_allclose(np.abs(found.value), expected, atol=1e-7)
    assert found.gap < 1e-7 and found.info["hard"][0]


def test_tiny_label_weight_tends_to_kernel_pca_with_the_labels_sign():
    theta, ZL, t, *_ = problem()
    for sign in (1, -1):
        w = constrained_least_squares(theta, ZL, sign * t, 1e-9, 4.0).value
        assert abs(w[0]) * np.sqrt(theta[0]) == pytest.approx(2.0, rel=1e-5)
        assert np.sign(w[0]) == sign * np.sign(t @ ZL[:, 0])


@pytest.mark.parametrize("case", ["cancel", "zero column", "equal theta", "zero targets"])
@pytest.mark.parametrize("s2", [0.01, 1.0, 1e4])
def test_hard_case_is_solved(case, s2):
    theta, ZL, t, *_ = problem(l=6)
    if case == "cancel":  # the same rows with opposite labels have b = 0
        ZL, t = np.concatenate([ZL[:3], ZL[:3]]), np.array([1.0, 1, -1, -1, -1, 1])
    elif case == "zero column":
        ZL = ZL.copy()
        ZL[:, 0] = 0.0
    elif case == "equal theta":
        theta = theta.copy()
        theta[:3] = theta[0]
    else:
        t = np.zeros(6)
    found = constrained_least_squares(theta, ZL, t, 3.0, s2)
    assert found.gap < 1e-7
    C = np.eye(len(theta)) + 3.0 * ZL.T @ ZL
    delta = 1 / sla.eigh(np.diag(theta), C, eigvals_only=True)[-1]
    assert found.info["zeta"][0] <= delta * (1 + 1e-9)  # together with the KKT equation this proves the global minimum
    if case in ("cancel", "zero targets"):
        assert found.objective == pytest.approx(delta * s2 + 3.0 * t @ t, rel=1e-9)


def test_random_problems_have_small_certificates():
    rng = np.random.default_rng(1)
    for _ in range(300):
        r, l = rng.integers(1, 12), rng.integers(0, 15)
        theta = np.sort(10 ** rng.uniform(-5, 2, r))[::-1]
        theta[1:] *= rng.random(r - 1) < 0.8
        theta = np.sort(theta)[::-1]
        Z, t = rng.normal(size=(l, r)), rng.choice([-1.0, 1.0], l)
        costs = rng.random(l) if rng.random() < 0.5 else None
        c, s2 = 10 ** rng.uniform(-4, 4), 10 ** rng.uniform(-4, 4)
        found = constrained_least_squares(theta, Z, t, c, s2, costs=costs)
        assert found.gap < 1e-7
        scaled = Z if costs is None else Z * np.sqrt(costs)[:, None]
        C = np.eye(r) + c * scaled.T @ scaled
        delta = 1 / sla.eigh(np.diag(theta), C, eigvals_only=True)[-1]
        assert found.info["zeta"][0] <= delta * (1 + 1e-8)
        assert largest_shift(theta, scaled, c) == pytest.approx(delta, rel=0.011)


def test_columns_are_separate_problems_and_costs_scale_the_losses():
    theta, ZL, t, *_ = problem()
    T = np.stack([t, -np.roll(t, 2), np.linspace(-1, 1, len(t))], axis=1)
    together = constrained_least_squares(theta, ZL, T, 2.0, 5.0)
    for k in range(3):
        np.testing.assert_allclose(together.value[:, k], constrained_least_squares(theta, ZL, T[:, k], 2.0, 5.0).value)
    twice = constrained_least_squares(theta, np.repeat(ZL, 2, axis=0), np.repeat(t, 2), 2.0, 5.0)
    costs = constrained_least_squares(theta, ZL, t, 2.0, 5.0, costs=np.full(len(t), 2.0))
    np.testing.assert_allclose(twice.value, costs.value, atol=1e-9)
    assert twice.objective == pytest.approx(costs.objective)


def test_penalty_is_absorbed_by_the_basis():
    _, _, t, Z, P, _ = problem()
    A = np.random.default_rng(0).normal(size=P.shape)
    G = A @ A.T / len(A)
    state = TiltedState(SimpleNamespace(Z=Z, weight=None, alike=True, moments=Moments(P, np.zeros(len(P)), 30.0)), G)
    theta, Q = variance_basis(*state.moments.eigen(center=False))
    np.testing.assert_allclose(state.back(Q).T @ P @ state.back(Q), np.diag(theta), atol=1e-9)
    w = state.back(Q @ constrained_least_squares(theta, state.take(np.arange(len(Z))) @ Q, t, 2.0, 5.0).value)
    step = 1e-6 * np.random.default_rng(1).normal(size=(200, len(w)))
    around = w + step
    around *= np.sqrt(5.0 / np.einsum("ij,jk,ik->i", around, P, around))[:, None]

    def value(v):
        return v @ v + v @ G @ v + 2.0 * np.sum((Z @ v - t) ** 2)

    assert w @ P @ w == pytest.approx(5.0)
    assert min(value(v) for v in around) >= value(w) * (1 - 1e-12)


def test_left_out_labels_equal_explicit_refits():
    theta, ZL, t, *_ = problem(n=40, l=9)
    weights, spreads = [0.01, 1.0, 100.0], [0.5, 10.0, 200.0]
    costs = np.linspace(0.5, 2.0, 9)
    T = np.stack([t, np.roll(t, 1)], axis=1)
    groups = [np.array([0, 4]), np.array([1, 2]), np.array([3, 5, 8])]
    single = left_out(theta, ZL, T, weights, spreads, costs=costs)
    grouped = left_out(theta, ZL, t, weights, spreads, groups=groups)
    assert np.isnan(grouped[:, :, [6, 7]]).all()
    for a, c in enumerate(weights):
        for b, s2 in enumerate(spreads):
            for i in range(9):
                rest = np.arange(9) != i
                w = constrained_least_squares(theta, ZL[rest], T[rest], c, s2, costs=costs[rest]).value
                np.testing.assert_allclose(single[a, b, i], ZL[i] @ w, atol=1e-5 * np.sqrt(s2))
            for group in groups:
                rest = np.setdiff1d(np.arange(9), group)
                w = constrained_least_squares(theta, ZL[rest], t[rest], c, s2).value
                np.testing.assert_allclose(grouped[a, b, group], ZL[group] @ w, atol=1e-5 * np.sqrt(s2))


def test_left_out_survives_the_hard_case():
    theta, ZL, *_ = problem(l=2)
    values = left_out(theta, np.concatenate([ZL[:1]] * 3), np.array([1.0, -1.0, 1.0]), [1.0], [3.0, 300.0])
    assert np.isfinite(values).all()


def test_compressed_pair_gives_the_same_left_out_values():
    theta, ZL, t, *_ = problem(n=300, l=12, width=0.7)
    small, small_Z = compress(theta, ZL, -100 / theta[0], 1.2 / theta[0])
    assert len(small) < 0.5 * len(theta)
    np.testing.assert_allclose(small_Z @ small_Z.T, ZL @ ZL.T, atol=1e-10)
    weights, spreads = np.geomspace(0.01, 100, 3), np.geomspace(3, 3000, 4)
    exact = left_out(theta, ZL, t, weights, spreads, shrink=0)
    np.testing.assert_allclose(left_out(theta, ZL, t, weights, spreads), exact, atol=1e-4 * np.abs(exact).max())
    groups = np.arange(12).reshape(4, 3)
    exact = left_out(theta, ZL, t, weights, spreads, groups, shrink=0)
    np.testing.assert_allclose(left_out(theta, ZL, t, weights, spreads, groups), exact, atol=1e-4 * np.abs(exact).max())


def slow_loss(name, margin):
    """The losses as their formulas are printed, one margin at a time."""
    if name == "sigmoid":
        return sum(1 / (1 + np.exp(m)) for m in margin)
    if name == "logistic":
        return sum(np.log1p(np.exp(-m)) for m in margin)
    return sum(0.0 if m > 1.5 else 1 - m if m < 0.5 else (1.5 - m) ** 2 / 2 for m in margin)


every_loss = pytest.mark.parametrize("name", sorted(LOSSES))


@every_loss
def test_losses_have_their_slopes_curvatures_and_bounds(name):
    loss, m = LOSSES[name], np.linspace(-4.03, 4.07, 300)
    np.testing.assert_allclose(loss.value(m), [slow_loss(name, [one]) for one in m], atol=1e-12)
    step = (loss.value(m + 1e-5) - loss.value(m - 1e-5)) / 2e-5
    np.testing.assert_allclose(loss.pull(m), -step, atol=1e-8)
    second = -(loss.pull(m + 1e-6) - loss.pull(m - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.curvature(m), np.maximum(second, 0), atol=1e-7)  # 0 for the concave part
    for at in np.linspace(-3, 4, 29):
        parabola = loss.value(at) - loss.pull(at) * (m - at) + loss.bound(at) / 2 * (m - at) ** 2
        assert (parabola >= loss.value(m) - 1e-12).all()


@every_loss
@pytest.mark.parametrize("c,s2", [(0.1, 1.0), (10.0, 30.0), (1000.0, 300.0)])
def test_reweighting_descends_to_a_stationary_point(c, s2, name):
    theta, ZL, t, *_ = problem(l=9)
    t = t.copy()
    t[0] = -t[0]  # one label against its neighbors
    found = constrained_margin_loss(theta, ZL, t, c, s2, loss=name)
    assert found.converged and found.gap < 1e-5 and found.info["constraint"] < 1e-8
    assert (np.diff(found.history) < 0).all()

    def loss(w):
        return w @ w + c * slow_loss(name, t * (ZL @ w))

    assert found.objective == pytest.approx(loss(found.value))
    around = found.value + 1e-4 * np.linalg.norm(found.value) * np.random.default_rng(0).normal(size=(300, len(theta)))
    around *= np.sqrt(s2 / np.sum(theta * around**2, axis=1))[:, None]
    assert min(loss(w) for w in around) > found.objective


@every_loss
def test_reweighting_goes_down_from_any_start(name):
    theta, ZL, t, *_ = problem(l=9)
    for seed in range(10):
        start = np.random.default_rng(seed).normal(size=len(theta)) * 10
        start *= np.sqrt(200.0 / (theta @ start**2))
        found = constrained_margin_loss(theta, ZL, t, 500.0, 200.0, start=start, loss=name, max_iter=100)
        assert (np.diff(found.history) < 0).all() and found.converged


@every_loss
def test_costs_of_a_loss_count_as_repetitions(name):
    theta, ZL, t, *_ = problem(l=9)
    costs = np.array([1, 2, 1, 3, 1, 1, 0, 1, 2])
    whole = np.repeat(np.arange(9), costs)
    found = constrained_margin_loss(theta, ZL, t, 10.0, 30.0, costs=costs, loss=name)
    again = constrained_margin_loss(theta, ZL[whole], t[whole], 10.0, 30.0, loss=name)
    np.testing.assert_allclose(found.value, again.value, atol=1e-6 * np.linalg.norm(again.value))


def test_reweighting_says_when_it_was_stopped():
    theta, ZL, t, *_ = problem(l=9)
    found = constrained_margin_loss(theta, ZL, t, 100.0, 30.0, max_iter=1, tol=1e-12)
    assert not found.converged and "Raise max_iter" in found.reason


def test_refusals():
    theta, ZL, t, *_ = problem()
    with pytest.raises(InputError, match="cannot vary, because every training row has the same features"):
        constrained_least_squares(np.zeros(3), ZL[:, :3], t, 1.0, 1.0)
    with pytest.raises(InputError, match=r"weight and spread must be positive\. They are weight=1\.0 and spread=0\.0"):
        constrained_least_squares(theta, ZL, t, 1.0, 0.0)
