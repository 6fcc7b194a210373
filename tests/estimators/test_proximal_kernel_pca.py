"""ProximalKernelPCA with user-defined penalties against kernel PCA and its variants, with weights and refusals."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import RBF, InputError, KernelPCA, ProximalKernelPCA, RobustKernelPCA, SparseKernelPCA
from naive import same_up_to_sign

X = load_iris().data[::3]


def lengths(Y):
    return np.linalg.norm(Y, axis=1, keepdims=True)


def shorten(epsilon):
    return lambda Y: Y * np.maximum(1 - epsilon / np.maximum(lengths(Y), 1e-300), 0)


def test_without_a_penalty_it_is_kernel_pca():
    own, plain = ProximalKernelPCA(3, kernel=RBF(2.0), tol=1e-9).fit(X), KernelPCA(3, kernel=RBF(2.0)).fit(X)
    np.testing.assert_allclose(own.eigenvalues_, plain.eigenvalues_, rtol=1e-7)
    assert same_up_to_sign(own.transform(X[:9] + 0.1), plain.transform(X[:9] + 0.1), 1e-6)


def test_the_prox_of_a_ball_and_of_a_length_give_the_robust_and_the_sparse_variant():
    ball = ProximalKernelPCA(
        2, prox=lambda Y: Y * np.minimum(1, 0.4 / np.maximum(lengths(Y), 1e-300)), penalty=lambda H: np.zeros(len(H)),
        kernel=RBF(2.0),
    ).fit(X)  # fmt: skip
    robust = RobustKernelPCA(2, kappa=0.4, center="mean", kernel=RBF(2.0)).fit(X)
    assert ball.objective_ == pytest.approx(robust.objective_, rel=1e-6)
    assert ball.gap_ <= 1e-6 and np.linalg.norm(ball.dual_variables_, axis=1).max() <= 0.4 + 1e-9
    sparse = SparseKernelPCA(2, epsilon=0.55, center="mean", kernel=RBF(2.0), n_init=2).fit(X)
    few = ProximalKernelPCA(
        2, prox=shorten(0.55), penalty=lambda H: 0.55 * np.linalg.norm(H, axis=1), kernel=RBF(2.0)
    ).fit(X)
    assert few.objective_ == pytest.approx(sparse.objective_, rel=0.05)
    assert 2 < len(few.support_) < len(X)
    assert (np.diff(few.history_) <= 1e-12).all()


def test_a_weight_of_two_is_a_row_twice():
    count = np.random.default_rng(0).integers(1, 4, size=len(X))
    options = {"prox": shorten(0.2), "penalty": lambda H: 0.2 * np.linalg.norm(H, axis=1), "kernel": RBF(2.0)}
    weighed = ProximalKernelPCA(2, **options, tol=1e-9).fit(X, sample_weight=count)
    rows = np.repeat(np.arange(len(X)), count)
    repeated = ProximalKernelPCA(2, **options, tol=1e-9).fit(X[rows])
    assert weighed.objective_ == pytest.approx(repeated.objective_, rel=1e-7)
    assert same_up_to_sign(weighed.transform(X), repeated.transform(X), 1e-4)


def test_functions_that_do_not_fit_are_named():
    with pytest.raises(InputError, match="prox was given without penalty"):
        ProximalKernelPCA(prox=lambda Y: Y).fit(X)
    with pytest.raises(InputError, match="one row for each row"):
        ProximalKernelPCA(prox=lambda Y: Y[:3], penalty=lambda H: np.zeros(len(H))).fit(X)
    with pytest.raises(InputError, match="one number per row"):
        ProximalKernelPCA(prox=lambda Y: Y, penalty=lambda H: 0.0).fit(X)
    with pytest.raises(InputError, match="Every component vanished"):
        ProximalKernelPCA(prox=lambda Y: 0 * Y, penalty=lambda H: np.zeros(len(H))).fit(X)
