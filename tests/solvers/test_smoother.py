"""Closed forms against the textbook systems, and held-out predictions against refitting without the label."""

import numpy as np
import pytest

from mercer.solvers.ridge.smoother import (
    basis_of_labeled,
    basis_of_moments,
    filtered_weights,
    left_out_path,
    moments_of,
    pull_of,
    ridge_filter,
    ridge_on_labeled,
    ridge_on_moments,
    ridge_removed,
    shift_filter,
)

GAMMAS = np.array([0.02, 0.5, 30.0])


def problem(l=12, n=30, r=40, k=3, seed=0, weighted=False):
    generator = np.random.default_rng(seed)
    Z = generator.normal(size=(n, r)) / np.sqrt(r) + 0.3
    T = generator.choice([-1.0, 1.0], size=(l, k))
    weight = generator.uniform(0.2, 3.0, size=n) if weighted else np.ones(n)
    return Z, T, weight


def lssvm_system(K, T, gamma, weight, bias):
    """The solution (α, b) of the LS-SVM system [0 1ᵀ; 1 K + I/(γ s)] as printed in methods.md."""
    n = len(K)
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = K + np.diag(1 / (gamma * weight))
    if bias:
        M[n, :n] = M[:n, n] = 1.0
    else:
        M[n, n] = 1.0
    solution = np.linalg.solve(M, np.vstack([T, np.zeros((1, T.shape[1]))]))
    return solution[:n], solution[n]


def naive_removed(Z_l, T, gamma, weight, bias, at):
    alpha, b = lssvm_system(Z_l @ Z_l.T, T, gamma, weight, bias)
    return at @ Z_l.T @ alpha + b


def naive_zeroed(Z, T, gamma, weight, bias, at):
    target = np.zeros((len(Z), T.shape[1]))
    target[: len(T)] = T
    alpha, b = lssvm_system(Z @ Z.T, target, gamma, weight, bias)
    return at @ Z.T @ alpha + b


def naive_semi_kpca(Z, T, gamma, weight, n_removed, at):
    """(I/γ - K') α = y on rows scaled by √s, as Algorithm 1 prints it."""
    root = np.sqrt(weight)[:, None]
    K = (root * Z) @ (root * Z).T
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    top = vectors[:, :n_removed]
    deflated = K - top * values[:n_removed] @ top.T
    target = np.zeros((len(Z), T.shape[1]))
    target[: len(T)] = T
    alpha = np.linalg.solve(np.eye(len(K)) / gamma - deflated, root * target)
    return at @ (root * Z).T @ (alpha - top @ (top.T @ alpha))


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("r", [40, 6])
@pytest.mark.parametrize("most", [None, 7])
def test_removed_is_the_lssvm_system_and_its_left_out_answers_are_refits(bias, weighted, r, most):
    Z, T, weight = problem(r=r, weighted=weighted)
    l = len(T)
    Z_l, s, rows = Z[:l], weight[:l], np.arange(l)
    pull = pull_of(Z, rows, T, weight, most)
    tested = np.arange(l) if most is None else pull.tested
    basis = basis_of_labeled(Z, rows, pull, weight, bias)
    path = left_out_path(basis, pull, ridge_filter(basis.values, 1 / GAMMAS), removed=True)
    assert path.shape == (3, l, 3) and np.isnan(path).any() == (most is not None)
    for m, gamma in enumerate(GAMMAS):
        result = ridge_on_labeled(Z, rows, pull, 1 / gamma, weight, bias)
        W, b = result.value
        np.testing.assert_allclose(Z @ W + b, naive_removed(Z_l, T, gamma, s, bias, Z), atol=1e-9)
        assert result.gap < 1e-12 and result.converged
        W2, b2 = filtered_weights(basis, pull, ridge_filter(basis.values, 1 / gamma))
        np.testing.assert_allclose(Z @ W2 + b2, Z @ W + b, atol=1e-10)
        refit = np.full_like(T, np.nan)
        for i in tested:
            keep = np.arange(l) != i
            refit[i] = naive_removed(Z_l[keep], T[keep], gamma, s[keep], bias, Z_l[i])
        np.testing.assert_allclose(result.info["left_out"], refit, atol=1e-9)
        np.testing.assert_allclose(path[m], refit, atol=1e-9)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("r", [40, 6])
@pytest.mark.parametrize("most", [None, 7])
def test_zeroed_is_the_system_on_all_rows_and_its_left_out_answers_are_refits(bias, weighted, r, most):
    Z, T, weight = problem(r=r, weighted=weighted)
    l = len(T)
    pull = pull_of(Z, np.arange(l), T, weight, most)
    tested = np.arange(l) if most is None else pull.tested
    moments = moments_of(Z, weight)
    np.testing.assert_allclose(moments.G, (weight[:, None] * Z).T @ Z)
    basis = basis_of_moments(moments, bias)
    path = left_out_path(basis, pull, ridge_filter(basis.values, 1 / GAMMAS), removed=False)
    for m, gamma in enumerate(GAMMAS):
        result = ridge_on_moments(moments, pull, 1 / gamma, bias)
        W, b = result.value
        np.testing.assert_allclose(Z @ W + b, naive_zeroed(Z, T, gamma, weight, bias, Z), atol=1e-9)
        assert result.gap < 1e-12
        refit = np.full_like(T, np.nan)
        for i in tested:
            withheld = T.copy()
            withheld[i] = 0
            refit[i] = naive_zeroed(Z, withheld, gamma, weight, bias, Z[i])
        np.testing.assert_allclose(result.info["left_out"], refit, atol=1e-9)
        np.testing.assert_allclose(path[m], refit, atol=1e-9)


@pytest.mark.parametrize("n_removed", [0, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("r", [40, 6])
def test_shift_filter_is_algorithm_1(n_removed, weighted, r):
    Z, T, weight = problem(r=r, weighted=weighted)
    l = len(T)
    basis = basis_of_moments(moments_of(Z, weight))
    pull = pull_of(Z, np.arange(l), T, weight)
    gammas = np.array([0.3, 0.95]) / basis.values[n_removed]
    filters = shift_filter(basis.values, gammas, n_removed)
    path = left_out_path(basis, pull, filters, removed=False)
    for m, gamma in enumerate(gammas):
        W, b = filtered_weights(basis, pull, filters[m])
        assert np.all(b == 0)
        new = np.random.default_rng(1).normal(size=(5, r))
        np.testing.assert_allclose(new @ W, naive_semi_kpca(Z, T, gamma, weight, n_removed, new), atol=1e-9)
        refit = np.empty_like(T)
        for i in range(l):
            withheld = T.copy()
            withheld[i] = 0
            refit[i] = naive_semi_kpca(Z, withheld, gamma, weight, n_removed, Z[i])
        np.testing.assert_allclose(path[m], refit, atol=1e-9)


def test_a_filter_of_its_own_for_each_left_out_fit():
    """The penalty of RLSC is λ times the number of labels, which decreases by the row's weight."""
    Z, T, weight = problem(weighted=True)
    l, lam = len(T), 0.03
    Z_l, s = Z[:l], weight[:l]
    pull = pull_of(Z, np.arange(l), T, weight)
    basis = basis_of_labeled(Z, np.arange(l), pull, weight)
    left_out = left_out_path(basis, pull, [ridge_filter(basis.values, lam * (s.sum() - s))], removed=True)[0]
    for i in range(l):
        keep = np.arange(l) != i
        gamma = 1 / (lam * s[keep].sum())
        np.testing.assert_allclose(
            left_out[i], naive_removed(Z_l[keep], T[keep], gamma, s[keep], False, Z_l[i]), atol=1e-9
        )


def test_duplicate_and_constant_rows_have_the_exact_answer():
    Z, T, weight = problem()
    Z[:6] = Z[0]
    for bias in (False, True):
        W, b = ridge_removed(Z[:12], T, 1e-3, None, bias).value
        np.testing.assert_allclose(Z @ W + b, naive_removed(Z[:12], T, 1e3, weight[:12], bias, Z), atol=1e-8)
    constant = np.zeros((12, 4))
    W, b = ridge_removed(constant, T, 1.0, None, True).value
    np.testing.assert_allclose(b, T.mean(axis=0))
    assert np.all(W == 0)
