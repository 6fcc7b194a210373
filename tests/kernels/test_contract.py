"""Contracts of every kernel in the registry. A new one is tested as soon as its module exists."""

import importlib
import pkgutil

import numpy as np
import pytest
import torch
from sklearn.base import clone

import mercer.kernels
from mercer import KernelPCA, LSSVMClassifier, load, save
from mercer.kernels import REGISTRY, Precomputed

for one in pkgutil.iter_modules(mercer.kernels.__path__):
    importlib.import_module(f"{mercer.kernels.__name__}.{one.name}")
# Kernels on rows of numbers that need nothing but the rows.
NAMED = [
    kernel
    for kernel in dict.fromkeys(REGISTRY.values())
    if kernel is not Precomputed and kernel.takes == "numbers" and not kernel.transductive
]


@pytest.fixture(params=NAMED, ids=lambda kernel: kernel.__name__)
def kernel(request, X):
    return request.param().resolve(X)


@pytest.fixture
def X():
    return np.random.default_rng(0).uniform(0.1, 1.0, size=(40, 5))  # positive, as chi-squared kernels require


def test_many_kernels_are_found():
    assert len(NAMED) >= 10


def test_matrix_is_symmetric_and_its_diagonal_is_diag(kernel, X):
    K = np.asarray(kernel(X))
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(K), kernel.diag(X), atol=1e-10)
    np.testing.assert_allclose(kernel.tile(X[:7], X[5:]), K[:7, 5:], atol=1e-10)


def test_matrix_has_no_negative_eigenvalue_if_it_is_declared(kernel, X):
    lowest = np.linalg.eigvalsh(np.asarray(kernel(X)))[0]
    assert lowest > -1e-9 or not kernel.psd


def test_rows_are_not_changed(kernel, X):
    before = X.copy()
    kernel(X), kernel.diag(X), kernel.tile(X[:3], X)
    np.testing.assert_array_equal(X, before)


def test_tensors_have_the_values_of_arrays(kernel, X):
    if not kernel.threadsafe:
        pytest.skip("evaluated by Python or scikit-learn on the host")
    np.testing.assert_allclose(np.asarray(kernel(torch.as_tensor(X))), np.asarray(kernel(X)), atol=1e-9)


def test_parameters_are_copied_and_shown(kernel):
    again = clone(kernel, safe=False)
    assert repr(again) == repr(kernel)


def test_estimators_take_it_by_name_and_save_it(kernel, X, tmp_path):
    name = type(kernel).names[0]
    y = np.where(X[:, 0] > 0.55, "large", "small").astype(object)
    y[::3] = None
    model = LSSVMClassifier(kernel=name).fit(X, y)
    save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(load(tmp_path / "model.mercer").predict(X), model.predict(X))
    assert np.isfinite(KernelPCA(2, kernel=name).fit_transform(X)).all() or not kernel.psd
