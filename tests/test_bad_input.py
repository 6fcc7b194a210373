"""Every error of inputs and estimators by its message, with the problem, the accepted values and the remedy."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mercer import (
    RBF,
    FewLabelClassifier,
    KernelOperator,
    KernelPCA,
    LandmarkMap,
    Linear,
    LSSVMClassifier,
    MaxMarginClustering,
    RLSClassifier,
    backend,
)
from mercer.errors import BackendError, InputError
from mercer.inputs.check import refuse_not_finite
from mercer.inputs.weights import check_weight


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((30, 4))


# Values


@pytest.mark.parametrize("bad, name", [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_not_finite_columns_are_named(bad, name, X):
    X[3, 1] = X[4, 1] = X[4, 2] = bad
    with pytest.raises(
        InputError, match=rf"contains {name} in 2 row\(s\), column\(s\) 1, 2.*Accepted: finite.*drop the"
    ):
        KernelPCA().fit(X)
    frame = pd.DataFrame(X, columns=["age", "height", "weight", "shoe"])
    with pytest.raises(InputError, match=rf"contains {name} .* column\(s\) 'height', 'weight'"):
        KernelPCA().fit(frame)
    with pytest.raises(InputError, match=rf"contains {name} .* column\(s\) 1, 2"):
        KernelPCA().fit(sp.csr_array(X))
    good = KernelPCA(2).fit(np.zeros((5, 4)) + np.arange(5)[:, None])
    with pytest.raises(InputError, match=rf"contains {name}"):
        good.transform(X)


def test_many_bad_columns_are_counted():
    X = np.full((3, 9), np.nan)
    with pytest.raises(InputError, match=r"column\(s\) 0, 1, 2, 3, 4 and 4 more"):
        KernelPCA().fit(X)


def test_not_finite_rows_of_tensors_and_dask_arrays(home, X):
    X[3, 1] = np.nan
    with pytest.raises(InputError, match=r"contains? NaN.*(column\(s\) 1)"):
        KernelPCA(2, approx=10).fit(home(X))


def test_values_whose_squares_overflow_in_sum_are_finite_all_the_same():
    X = np.full((1_000_000, 2), 1.7e16, dtype=np.float32)
    refuse_not_finite(X, None)
    with pytest.raises(InputError, match="infinity"):
        refuse_not_finite(np.vstack([X, [[np.inf, 0]]]), None)


# Shapes, backends and names


def test_shapes(home, X):
    with pytest.raises(ValueError, match=r"(Expected 2D array|two dimensions)"):
        KernelPCA().fit(home(X)[:, 0])
    model = KernelPCA(2, approx=10).fit(home(X))
    with pytest.raises(ValueError, match="X has 3 features, but KernelPCA is expecting 4 features"):
        model.transform(home(X[:, :3]))


def test_whole_numbers_in_tensors_and_dask_arrays():
    import dask.array
    import torch

    with pytest.raises(InputError, match=r"torch tensor of torch.int64. Accepted: float32 or float64.*X.float\(\)"):
        KernelPCA().fit(torch.ones((5, 2), dtype=torch.int64))
    with pytest.raises(InputError, match=r"not made of numbers: complex128. Accepted: float32, float64, whole numbers"):
        KernelPCA().fit(dask.array.ones((5, 2), dtype=complex))


def test_what_of_dask_is_not_a_table(X):
    import dask.array
    import dask.bag

    for wrong in (dask.bag.from_sequence([1, 2]), dask.array.ones((4, 2, 2))):
        with pytest.raises(InputError, match=r"of Dask of shape .* Accepted: an array of two dimensions"):
            KernelPCA().fit(wrong)


def test_feature_names_must_match(X):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = KernelPCA(2).fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame.rename(columns={"a": "z"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.transform(X)


def test_more_components_than_rows(X):
    with pytest.raises(InputError, match="n_components=31 components were requested for 30 rows. Use 1 to 30"):
        KernelPCA(31).fit(X)
    with pytest.raises(InputError, match="n_components=31 components were requested for 29 rows"):
        KernelPCA(31).fit(X, sample_weight=np.arange(30))


# Weights


@pytest.mark.parametrize(
    "weight, message",
    [
        (np.full(30, 1e200), "largest sample_weight is 1.0e\\+200"),
        (np.full(30, 1e-200), "largest sample_weight is 1.0e-200"),
        (np.ones(29), r"sample_weight.shape == \(29,\), expected \(30,\)"),
        (np.ones((30, 2)), "must be 1D array or scalar"),
        (np.zeros(30), "only zeros. Accepted: numbers ≥ 0"),
        (-np.ones(30), "contains a negative"),
        (np.full(30, np.nan), "NaN value"),
        (np.full(30, np.inf), "infinite"),
    ],
)
def test_weights(weight, message, X):
    with pytest.raises(InputError, match=message):
        KernelPCA().fit(X, sample_weight=weight)


def test_weights_that_are_fine(X):
    assert check_weight(None, 3) is None
    assert check_weight(2, 3).tolist() == [2, 2, 2]
    KernelPCA(2).fit(X, sample_weight=0.5)


def test_zero_weights_on_dask_are_rows_that_are_not_there(X):
    import dask.array

    weight = np.arange(30.0) % 3
    whole = KernelPCA(2, approx=10).fit(dask.array.from_array(X), sample_weight=weight)
    less = KernelPCA(2, approx=10).fit(X[weight > 0], sample_weight=weight[weight > 0])
    np.testing.assert_allclose(np.abs(whole.transform(X)), np.abs(less.transform(X)), atol=1e-8)


# Kernels


def test_precomputed_matrices(X):
    K = RBF(1.0)(X)
    with pytest.raises(InputError, match="must be square in fit, got 5 × 30"):
        KernelPCA(kernel="precomputed").fit(K[:5])
    K[0, 1] += 0.5
    with pytest.raises(InputError, match=r"is not symmetric \(entries differ by up to 0.5\)"):
        KernelPCA(kernel="precomputed").fit(K)
    with pytest.raises(InputError, match=r"There are significant negative eigenvalues .* Use .* n_components=29"):
        KernelPCA(kernel="precomputed", center=False).fit(np.diag([-5.0] + [1.0] * 29))


def test_approx_and_kernel(X):
    with pytest.raises(InputError, match="approx='some' is not accepted"):
        KernelPCA(approx="some").fit(X)
    with pytest.raises(InputError, match="kernel='gauss' is not known"):
        KernelPCA(kernel="gauss").fit(X)
    with pytest.raises(InputError, match="fit_inverse_transform=True needs the training rows"):
        KernelPCA(2, approx=10, fit_inverse_transform=True).fit(X)


def test_parameters_of_a_kernel_that_is_a_name():
    with pytest.raises(InputError, match=r"kernel__bandwidth cannot be set, because kernel='rbf' is not a kernel"):
        LSSVMClassifier().set_params(kernel__bandwidth=2.0)
    model = LSSVMClassifier().set_params(kernel=RBF(), kernel__bandwidth=2.0)
    assert model.kernel.bandwidth == 2.0


@pytest.mark.parametrize("seed", ["x", -1, 0.5, np.random.default_rng(0)])
def test_random_state(seed, X):
    with pytest.raises(InputError, match=r"random_state=.* is not accepted: give a whole number of at least 0, a Ran"):
        MaxMarginClustering(random_state=seed).fit(X)


# Memory is refused before it is allocated, with the numbers and a remedy


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(backend, "memory_available", lambda device=None: 1_000_000)


def test_a_kernel_matrix_that_does_not_fit(little_memory):
    X = np.zeros((1000, 2))
    message = r"kernel matrix of 1000 × 1000 rows needs 8.0 MB and 1.0 MB are available.*approx=.*operator.*float32"
    with pytest.raises(BackendError, match=message):
        RBF(1.0)(X)
    with pytest.raises(BackendError, match=message):
        KernelPCA(2, kernel=RBF(1.0), solver="stored").fit(X)
    with pytest.raises(BackendError, match=r"needs 4.0 MB and 1.0 MB"):
        RBF(1.0)(X.astype(np.float32))


def test_automatic_products_where_the_matrix_does_not_fit(little_memory):
    X = np.random.default_rng(0).standard_normal((1000, 2))
    model = KernelPCA(2, kernel=RBF(1.0)).fit(X)
    assert "needs 8.0 MB and 1.0 MB are free, so products are computed tile by tile" in model.approx_reason_
    assert (KernelOperator(RBF(1.0), X) @ np.ones(1000)).shape == (1000,)


def test_an_exact_factor_and_an_inverse_that_do_not_fit(little_memory):
    X = np.random.default_rng(0).standard_normal((1000, 2))
    with pytest.raises(
        BackendError, match=r"The exact factor of 1000 rows needs 8.0 MB .*approx=<number of landmarks>"
    ):
        LandmarkMap(RBF(1.0)).fit(X)
    with pytest.raises(BackendError, match=r"The inverse transform's kernel matrix of 1000 rows needs 8.0 MB"):
        KernelPCA(2, kernel=Linear(), fit_inverse_transform=True).fit(X)


def test_numbers_without_a_square_are_refused(X):
    with pytest.raises(InputError, match=r"contains a number of .*e\+15\d, whose square overflows in float64"):
        KernelPCA().fit(1e155 * X)
    with pytest.raises(InputError, match="in float32"):
        KernelPCA(kernel="rbf").fit((1e19 * X).astype(np.float32))
    with pytest.raises(InputError, match=r"of some rows with themselves is .*The largest accepted value is 1e\+145"):
        KernelPCA(kernel="linear").fit(1e80 * X)


def test_a_function_that_is_no_number_is_refused(X):
    for approx in (2, "exact"):
        with pytest.raises(InputError, match="NaN or infinite"):
            LSSVMClassifier(kernel=lambda a, b: np.nan, approx=approx).fit(X, ["a", "b", *[None] * (len(X) - 2)])


def test_methods_that_fit_to_nothing_say_so(X):
    with pytest.raises(InputError, match="None of these methods can be fitted to so few rows"):
        FewLabelClassifier(["sgt"]).fit(X[:3], ["a", "b", None])


def test_one_soft_label_has_no_answer_without_it():
    P = np.full((2, 2), np.nan)
    P[0] = 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = RLSClassifier(kernel="linear").fit(np.zeros((2, 1)), P)
    assert np.allclose(model.predict_proba(np.zeros((2, 1))), 0.5)
