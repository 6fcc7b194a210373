"""What scikit-learn's suite asks of OneClassSVM."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from sklearn.svm import OneClassSVM

from mercer import RBF, SVDD, InputError, KernelDensityNovelty, KPCANovelty, Linear

DETECTORS = [SVDD(0.1, kernel=RBF(0.5)), KPCANovelty(5), KernelDensityNovelty()]
every = pytest.mark.parametrize("model", DETECTORS, ids=repr)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_the_same_function_as_one_class_svm(nu, gamma):
    X = load_iris().data
    train, new = train_test_split(X, random_state=0)
    theirs = OneClassSVM(nu=nu, gamma=gamma, tol=1e-9).fit(train)
    ours = SVDD(nu, kernel=RBF.from_gamma(gamma), tol=1e-10).fit(train)
    factor = 2.0 / (nu * len(train))  # named in README.md
    shape = factor * theirs.score_samples(new)
    np.testing.assert_allclose(ours.score_samples(new) - shape, (ours.score_samples(new) - shape)[0], atol=1e-6)
    np.testing.assert_allclose(ours.dual_coef_.sum(), 1.0)
    np.testing.assert_allclose(ours.decision_function(new), factor * theirs.decision_function(new), atol=1e-4)


def test_the_toy_rows_of_their_suite():
    X = [[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]]
    found = SVDD(0.5).fit(X).predict([[-1, -1], [2, 2], [3, 2], [50, 50]])
    assert found.dtype.kind == "i" and found[-1] == -1


@every
def test_decision_and_answers_agree(model):
    rng = np.random.RandomState(2)
    X = 0.3 * rng.randn(120, 2)
    train = np.r_[X + 2, X - 2]
    normal = np.r_[0.3 * rng.randn(20, 2) + 2, 0.3 * rng.randn(20, 2) - 2]
    odd = rng.uniform(low=-4, high=4, size=(20, 2))
    odd = odd[np.abs(np.abs(odd) - 2).max(axis=1) > 1.2]
    fitted = model.fit(train)
    assert np.mean(fitted.predict(normal) == 1) > 0.8
    assert np.mean(fitted.predict(odd) == -1) > 0.7
    np.testing.assert_array_equal(fitted.decision_function(normal) >= 0, fitted.predict(normal) == 1)
    np.testing.assert_allclose(fitted.score_samples(normal), fitted.decision_function(normal) + fitted.offset_)
    assert np.array_equal(fitted.fit_predict(train), fitted.predict(train))
    assert 0.0 < np.mean(fitted.predict(train) == -1) <= 0.12


@every
def test_y_of_any_kind_is_ignored_but_for_known_outliers(model):
    X = load_iris().data
    plain = model.fit(X).score_samples(X)
    np.testing.assert_array_equal(model.fit(X, np.arange(150) % 3).score_samples(X), plain)
    np.testing.assert_array_equal(model.fit(X, np.array(["a"] * 150)).score_samples(X), plain)


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.1, "a"])
def test_a_bad_nu(nu):
    with pytest.raises((ValueError, TypeError), match="nu"):
        SVDD(nu).fit(load_iris().data)


def test_a_linear_kernel_is_a_ball_and_not_a_plane():
    X = load_iris().data
    found = SVDD(0.1, kernel=Linear(), tol=1e-10).fit(X)
    center = found.dual_coef_ @ X[found.support_]
    np.testing.assert_allclose(found.score_samples(X), -np.sum((X - center) ** 2, axis=1), atol=1e-7)


def test_weights_move_the_ball():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    light = SVDD(0.5, kernel=Linear()).fit(X, sample_weight=[1, 1, 1, 1e-3])
    heavy = SVDD(0.5, kernel=Linear()).fit(X, sample_weight=[1, 1, 1, 10.0])
    assert heavy.score_samples([[10.0]])[0] > light.score_samples([[10.0]])[0]
    with pytest.raises(InputError, match="sample_weight"):
        SVDD().fit(X, sample_weight=[-1, 1, 1, 1])
