"""Kernels of histograms, next to scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn import decomposition
from sklearn.metrics import pairwise

from mercer import ChiSquared, KernelPCA, LSSVMClassifier
from mercer.errors import InputError
from mercer.kernels import as_kernel


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_chi_squared_kernels_by_name(dtype):
    rng = np.random.default_rng(0)
    X, Y = (rng.poisson(2.0, size=(n, 8)).astype(dtype) for n in (30, 7))
    X[0] = Y[0] = 0.0
    wanted = {"chi2": pairwise.chi2_kernel(X, Y), "additive_chi2": pairwise.additive_chi2_kernel(X, Y)}
    for name, K in wanted.items():
        kernel = as_kernel(name)
        for rows, others in ((X, Y), (sp.csr_array(X), sp.csr_array(Y)), tuple(map(torch.tensor, (X, Y)))):
            found = np.asarray(kernel(rows, others))
            assert found.dtype == dtype
            np.testing.assert_allclose(found, K, rtol=1e-5 if dtype is np.float32 else 1e-12)
        np.testing.assert_array_equal(np.diag(kernel(X)), kernel.diag(X))
        theirs = pairwise.pairwise_kernels(X, metric=name, filter_params=True, gamma=0.5)
        scores = decomposition.KernelPCA(3, kernel="precomputed").fit_transform(theirs)
        own = KernelPCA(3, kernel=name, gamma=0.5).fit_transform(X)
        np.testing.assert_allclose(np.abs(own), np.abs(scores), atol=1e-4)
        with pytest.raises(InputError, match="X contains negative numbers, and .*ChiSquared compares histograms"):
            kernel(X - 1)
    assert np.linalg.eigvalsh(as_kernel("chi2")(X.astype(float))).min() > -1e-12
    model = LSSVMClassifier(kernel="chi2").fit(X, np.where(np.arange(30) < 10, X[:, 0] > 2, -1))
    assert model.map_.energy_ == pytest.approx(1, abs=1e-4)
    with pytest.raises(InputError, match="gamma=0 is not accepted"):
        ChiSquared(0)(X)
