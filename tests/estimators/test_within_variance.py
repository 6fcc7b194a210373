"""WithinVarianceClassifier for new rows against the dense generalized eigenproblem, with weights and choice."""

import numpy as np
import pytest
import scipy.linalg as sla
from sklearn.datasets import make_moons

from mercer import RBF, MinimumVarianceKPCA, WithinVarianceClassifier


def moons(n=40, per_class=4, seed=0):
    X, y = make_moons(n, noise=0.1, random_state=seed)
    given = np.full(n, -1)
    for c in (0, 1):
        given[np.flatnonzero(y == c)[:per_class]] = c
    return X, y, given


def test_scores_are_least_squares_on_the_components_of_the_dense_problem():
    X, _, given = moons()
    new = np.random.default_rng(0).normal(size=(5, 2))
    model = WithinVarianceClassifier(3, 2.0, 0.3, kernel=RBF(0.5)).fit(X, given)
    K, K_new = RBF(0.5)(X), RBF(0.5)(new, X)
    H = np.eye(40) - 1 / 40
    C = K.copy()
    for c in (0, 1):
        K_c = K[given == c]
        C += 2.0 * (K_c - K_c.mean(axis=0)).T @ (K_c - K_c.mean(axis=0))
    _, A = sla.eigh(K @ H @ K, C + 1e-12 * np.eye(40))
    A = A[:, ::-1][:, :3]  # the three largest
    F, F_new = K @ A, K_new @ A
    F, F_new = (f - (K @ A).mean(axis=0) for f in (F, F_new))
    scale = np.sqrt(np.mean(F[:, 0] ** 2))
    F, F_new = F / scale, F_new / scale
    rows = given >= 0
    t, G = np.where(given[rows] == 1, 1.0, -1.0), F[rows]
    w = np.linalg.solve((G - G.mean(axis=0)).T @ (G - G.mean(axis=0)) + 0.3 * np.eye(3), (G - G.mean(axis=0)).T @ t)
    expected = (F_new - G.mean(axis=0)) @ w + t.mean()
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-5)
    components = MinimumVarianceKPCA(3, 2.0, kernel=RBF(0.5)).fit(X, given)
    np.testing.assert_allclose(model.eigenvalues_, components.eigenvalues_, rtol=1e-8)


def test_a_weight_of_two_is_a_row_twice():
    X, _, given = moons(30)
    weight = np.random.default_rng(0).integers(1, 4, size=30)
    weighed = WithinVarianceClassifier(4, kernel=RBF(0.5)).fit(X, given, sample_weight=weight)
    rows = np.repeat(np.arange(30), weight)
    repeated = WithinVarianceClassifier(4, kernel=RBF(0.5)).fit(X[rows], given[rows])
    np.testing.assert_allclose(weighed.decision_function(X), repeated.decision_function(X), atol=1e-6)


def test_new_rows_probabilities_and_the_choice_of_the_weight():
    X, y, given = moons(200, 10)
    model = WithinVarianceClassifier(kernel=RBF(0.3)).select(X[:150], given[:150])
    assert len(model.selection_["candidates"]) == 7
    P = model.predict_proba(X[150:])
    assert P.shape == (50, 2) and np.allclose(P.sum(axis=1), 1)
    assert model.score(X[150:], y[150:]) > 0.8
    with pytest.raises(ValueError, match="within_weight"):
        WithinVarianceClassifier(within_weight=-1.0).fit(X, given)
