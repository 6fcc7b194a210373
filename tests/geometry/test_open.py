"""The choice of the form of a kernel matrix, and the evaluation of a fit on new rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from mercer import RBF, FourierMap, KernelCMeans, KernelPCA, Linear, Sigmoid
from mercer.errors import InputError
from mercer.geometry.maps import MappedRows
from mercer.geometry.open import POLICIES, Policy, open_gram
from mercer.geometry.operators import DenseOperator, FactorOperator, KernelOperator, StoredKernel
from mercer.solvers.eigen.top import top

X = np.random.default_rng(0).standard_normal((60, 3))
NEW = np.random.default_rng(1).standard_normal((70, 3))
COEF = np.random.default_rng(2).standard_normal((60, 2))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("approx", ["auto", "exact", 60])
def test_every_way_to_hold_a_matrix_gives_the_same_products_and_the_same_function(policy, approx):
    gram = open_gram(RBF(1.0), approx, X, policy=policy)
    K = RBF(1.0)(X)
    assert_allclose(gram.operator @ COEF, K @ COEF, atol=1e-7)
    assert_allclose(gram.diag(), np.ones(60))
    assert_allclose(gram.expansion(COEF)(NEW), RBF(1.0)(NEW, X) @ COEF, atol=1e-6)
    assert_allclose(gram.expansion(COEF[:5], rows=np.arange(5))(NEW), RBF(1.0)(NEW, X[:5]) @ COEF[:5], atol=1e-6)


def test_policies_say_when_auto_changes_its_mind(monkeypatch):
    for form, exact in (("products", StoredKernel), ("columns", KernelOperator), ("features", FactorOperator)):
        small = open_gram(RBF(1.0), "auto", X, policy=Policy(60, 20, form))
        large = open_gram(RBF(1.0), "auto", X, policy=Policy(59, 20, form))
        assert isinstance(small.operator, exact) and isinstance(large.operator, FactorOperator)
        assert large.map.rank_ == 20 and "20 landmarks" in large.reason
    assert isinstance(
        open_gram(RBF(1.0), "auto", X, policy=Policy(60, form="columns", stored_rows=60)).operator.K, np.ndarray
    )
    monkeypatch.setattr("mercer.backend.memory_available", lambda device=None: 8 * 60 * 60)
    tight = open_gram(RBF(1.0), "auto", X, policy="components")
    assert isinstance(tight.operator, KernelOperator) and "28.8 kB are free" in tight.reason
    assert isinstance(open_gram(RBF(1.0), "auto", X, policy="components", store="stored").operator, StoredKernel)


def test_indefinite_kernels_never_go_by_columns():
    with pytest.warns(UserWarning, match="negative"):
        gram = open_gram(Sigmoid(1.0, -1.0), "exact", X, policy="ball")
    assert gram.map is not None and gram.map.negative_mass_ > 0


def test_the_function_is_the_same_wherever_new_rows_live(home):
    for approx in ("exact", 20, FourierMap(n_features=20)):
        gram = open_gram(RBF(1.0), approx, X, policy="components")
        f = gram.expansion(COEF)
        assert_allclose(f(home(NEW)), f(NEW), atol=1e-9)
        assert_allclose(f(home(NEW), f.coef[:, 0]), f(NEW)[:, 0], atol=1e-9)
        assert_allclose(f(sp.csr_array(NEW)), f(NEW), atol=1e-9)
        assert_allclose(f.diag(home(NEW)), np.ones(70))


def test_a_precomputed_kernel_has_centers_by_number():
    K, cross = RBF(1.0)(X), RBF(1.0)(NEW, X)
    for policy in ("components", "moments"):
        f = open_gram("precomputed", "auto", K, policy=policy).expansion(COEF)
        assert_allclose(f(cross), cross @ COEF, atol=1e-7)
        assert_allclose(f.diag(cross), np.ones(70))  # constant on the training rows
    other = open_gram("precomputed", "auto", Linear()(X), policy="components").expansion(COEF)
    with pytest.raises(InputError, match=r"needs k\(x, x\) of new rows"):
        other.diag(cross)


def test_the_median_is_computed_once(monkeypatch, home):
    from mercer.kernels import radial

    asked = []
    inner = radial.bandwidth_of
    monkeypatch.setattr(radial, "bandwidth_of", lambda *args: asked.append(1) or inner(*args))
    KernelPCA(2, kernel=RBF("median"), approx=20).fit(home(X))
    KernelCMeans(2, approx=20).fit(home(X))
    assert len(asked) == 2


def test_a_model_does_not_follow_changes_of_the_users_array():
    rows = X.copy()
    model = KernelCMeans(3, random_state=0).fit(rows)
    before = model.transform(NEW)
    rows[:] = 0
    assert_array_equal(model.transform(NEW), before)


def test_kernel_pca_says_how_many_landmarks_there_are():
    smooth = np.random.default_rng(0).uniform(size=(3000, 2))
    model = KernelPCA(3, kernel=RBF(1.0), approx=97).fit(smooth)
    assert model.map_.rank_ < 97
    assert f"{model.map_.rank_} landmarks represent" in model.approx_reason_
    Z = model.map_.transform(smooth[:500])
    assert model.map_.energy_ == pytest.approx(1.0, abs=1e-4) and Z.shape[1] == model.map_.rank_


def test_the_diagonal_of_a_factor_that_is_computed_when_asked_for():
    gram = open_gram(RBF(1.0), 20, X, policy=Policy(10, passes="few"))
    Z = MappedRows(gram.map, X)
    assert_allclose(FactorOperator(Z).diag(), np.sum(gram.map.transform(X) ** 2, axis=1))


@pytest.mark.parametrize("method", ["full", "krylov", "lanczos"])
def test_eigenpairs_leave_the_callers_matrix_as_it_was(method):
    K = RBF(1.0)(X)
    for A in (K, DenseOperator(K)):
        before = K.copy()
        top(A, 3, method)
        assert_array_equal(K, before)
