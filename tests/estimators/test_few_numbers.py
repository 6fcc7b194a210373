"""Dense formulas, held-out predictions, weights and a known case of the regressors with few targets."""

import numpy as np
import pytest
from scipy.optimize import brentq

from mercer import RBF, InputError, LeastSquaresKPCARegressor, LSSVMRegressor, SemiKPCARegressor


def spiral(n=60, known=12, seed=0):
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, 3, size=n))
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.02 * rng.normal(size=(n, 2))
    y = np.full(n, np.nan)
    rows = rng.choice(n, known, replace=False)
    y[rows] = angle[rows]
    return X, y, angle


def test_semi_kpca_is_the_dense_formula_and_a_line():
    X, y, _ = spiral(30, 8)
    model = SemiKPCARegressor(kernel=RBF(0.7)).fit(X, y)
    K, H = RBF(0.7)(X), np.eye(30) - 1 / 30
    rows = np.flatnonzero(~np.isnan(y))
    t = np.zeros(30)
    t[rows] = (y[rows] - y[rows].mean()) / y[rows].std()
    gamma = 1 / np.sqrt(np.linalg.eigvalsh(K)[-1] * np.linalg.eigvalsh(H @ K @ H)[-1])
    assert model.gamma_ == pytest.approx(gamma)
    S = H @ K @ H @ np.linalg.inv(np.eye(30) / gamma - H @ K @ H)
    f = S @ t
    left = (f - np.diag(S) * t)[rows] * 8 / 7  # a pull of seven numbers is that much shorter than one of eight
    slope = np.cov(left, t[rows], bias=True)[0, 1] / left.var()
    expected = y[rows].mean() + y[rows].std() * slope * (f - left.mean())
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-6)


def test_least_squares_kpca_is_the_dense_formula():
    X, y, _ = spiral(30, 8)
    model = LeastSquaresKPCARegressor(5.0, 0.8, kernel=RBF(0.7)).fit(X, y)
    K, H = RBF(0.7)(X), np.eye(30) - 1 / 30
    rows = np.flatnonzero(~np.isnan(y))
    t = (y[rows] - y[rows].mean()) / y[rows].std()
    values, V = np.linalg.eigh(K)
    Z = V * np.sqrt(np.maximum(values, 0))
    P, C, b = Z.T @ H @ Z, np.eye(30) + 5.0 * Z[rows].T @ Z[rows], 5.0 * Z[rows].T @ t
    top = 1 / np.linalg.eigvals(np.linalg.solve(C, P)).real.max()

    def off(zeta):
        w = np.linalg.solve(C - zeta * P, b)
        return w @ P @ w - 0.8 * 30

    zeta = brentq(off, -1e4, top * (1 - 1e-9))
    f = Z @ np.linalg.solve(C - zeta * P, b)
    np.testing.assert_allclose(model.predict(X), y[rows].mean() + y[rows].std() * f, atol=1e-5)
    assert model.certificate_ < 1e-8 and model.predict(X).var() == pytest.approx(0.8 * y[rows].var(), rel=1e-6)


@pytest.mark.parametrize("model", [SemiKPCARegressor(kernel=RBF(0.7)), LeastSquaresKPCARegressor(5.0, kernel=RBF(0.7))])
def test_weights_repeat_rows_and_few_numbers_are_enough(model):
    X, y, angle = spiral(40, 10)
    weight = np.random.default_rng(1).integers(1, 3, size=40)
    weighed = model.fit(X, y, sample_weight=weight).predict(X)
    rows = np.repeat(np.arange(40), weight)
    if isinstance(model, LeastSquaresKPCARegressor):  # the other's line rests on held-out rows, of which one stays
        np.testing.assert_allclose(model.fit(X[rows], y[rows]).predict(X), weighed, atol=1e-5)
    X, y, angle = spiral(200, 6, seed=3)
    free = np.isnan(y)
    assert model.fit(X, y).score(X[free], angle[free]) > 0.6
    assert np.isfinite(model.left_out_).all() and len(model.left_out_) == 6
    with pytest.raises(InputError, match="Give at least two"):
        model.fit(X, np.where(np.arange(200) == 0, 1.0, np.nan))
    assert LSSVMRegressor().fit(X, y).predict(X).shape == model.predict(X).shape
