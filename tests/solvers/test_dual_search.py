"""The search behind norm="element": descents that fraction products, easy problems that end early, rounding."""

import numpy as np
import pytest

from mercer import RBF
from mercer.solvers.dual import descent
from mercer.solvers.dual.loss import Loss
from mercer.solvers.dual.minimize import minimize, sketch


def gram(n=30, d=3, width=1.5, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(1.5, 0.5, d)
    K = np.exp(-np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) / width)
    C = np.eye(n) - 1 / n
    return C @ K @ C


class Counted:
    """A matrix that counts its products, and may round them."""

    def __init__(self, G, noise=0.0):
        self.G, self.shape, self.calls, self.columns, self.noise = G, G.shape, 0, 0, noise

    def __matmul__(self, X):
        self.calls, self.columns = self.calls + 1, self.columns + X.shape[1]
        out = self.G @ X
        scatter = np.random.default_rng(self.calls).standard_normal(out.shape)
        return out + self.noise * np.abs(out).max() * scatter


def test_descents_side_by_side_end_where_each_ends_alone():
    G, loss, rng = gram(n=40), Loss(kappa=0.2, norm="element"), np.random.default_rng(0)
    starts = [rng.standard_normal((40, 2)) for _ in range(2 * descent.SIDE_BY_SIDE + 3)]

    def each(H):
        return descent.descent(H, G @ H, loss, 1e-9, 500, 10, descent.EPS)

    counted = Counted(G)
    shared, products = descent.together(counted, [each(H) for H in starts])
    assert products == counted.calls < counted.columns / 10
    for H, (point, history) in zip(starts, shared):
        [(alone, values)], _ = descent.together(G, [each(H)])
        assert history[-1] == pytest.approx(values[-1], rel=1e-9)
        assert np.allclose(point.H, alone.H, atol=1e-5)


def test_an_easy_problem_ends_early_and_a_hard_one_goes_on():
    """Two components with a clear optimum, and four of few rows, for which the starts end at different values."""
    tries = {}
    for name, problem in {"easy": (gram(n=60, d=2), 2, 0.2), "hard": (gram(n=40, d=5, seed=1), 4, 0.1)}.items():
        G, s, kappa = problem
        counted = Counted(G)
        result = minimize(counted, s, Loss(kappa=kappa, norm="element"), random_state=0)
        assert result.converged and result.n_iter <= counted.calls
        tries[name] = counted.calls
    assert tries["easy"] < 400 < tries["hard"]


def test_rounding_ends_a_descent_that_cannot_reach_its_tolerance():
    G, loss = gram(n=40), Loss(kappa=0.2, norm="element")
    rough = Counted(G, noise=1e-6)
    result = minimize(rough, 2, loss, tol=1e-9, random_state=0, n_init=1, max_iter=5000, eps=1e-6)
    assert not result.converged and result.gap < 1e-3
    assert rough.calls < 500
    assert result.objective == pytest.approx(minimize(G, 2, loss, random_state=0, n_init=1).objective, rel=1e-4)


def test_a_row_penalty_is_searched_from_many_starts():
    """Two starts end at 0.0639 where 0.0867 exists."""
    rng = np.random.default_rng(23)
    n = int(rng.integers(40, 160))
    X = rng.standard_t(3, size=(n, 4))
    scale = float(rng.uniform(0.4, 1.6)) * RBF("median").resolve(X).bandwidth
    H = np.eye(n) - 1 / n
    G = H @ RBF(scale)(X) @ H
    s = int(rng.integers(1, 5))
    size = np.linalg.norm(sketch(G, 2 * s + 10, random_state=0)[0][:, :s], axis=1)
    loss = Loss(epsilon=float(np.quantile(size, rng.choice([0.3, 0.5, 0.7, 0.85, 0.93]))), location=True)
    two, many = (-minimize(G, s, loss, random_state=0, n_init=k).history[-1] for k in (2, None))
    other = np.random.default_rng(1)
    plain = 0.0
    for _ in range(6):
        first = other.standard_normal((n, s))
        plain = max(plain, -minimize(G, s, loss, method="dca", start=(first, G @ first), max_iter=3000).history[-1])
    assert many >= max(plain, two) * (1 - 1e-6)
    assert many > 1.1 * two
