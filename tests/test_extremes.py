"""Calls at the ends of the floating-point range and on tensors of odd shapes return a prediction or an error."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from mercer import (
    RBF,
    SVDD,
    FewLabelClassifier,
    FourierMap,
    KernelDensityNovelty,
    KernelPCA,
    KernelSpectralClustering,
    LandmarkMap,
    LeastSquaresKPCA,
    Linear,
    LogisticKPCA,
    LSSVMRegressor,
    RobustKernelPCA,
    TransductiveSVMClassifier,
)
from mercer.errors import InputError
from mercer.few_label.candidates.forest import Trees
from mercer.inputs.weights import check_weight

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def loud():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.mark.parametrize(
    "model", [KernelPCA(1, kernel="rbf", approx=5), KernelSpectralClustering(1, kernel="rbf", approx=5)]
)
def test_one_direction_of_a_tensor(model):
    X = rng.normal(size=(12, 2))
    expected = model.fit(X).transform(X) if hasattr(model, "transform") else model.fit(X).labels_
    tensor = torch.as_tensor(X)
    found = model.fit(tensor).transform(tensor) if hasattr(model, "transform") else model.fit(tensor).labels_
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-10)


@pytest.mark.parametrize("map_", [LandmarkMap("rbf", 3), FourierMap("rbf", n_features=4)])
@pytest.mark.parametrize(("bad", "words"), [(np.inf, "NaN or infinity"), (1e200, "number of 1.0e\\+200")])
def test_tensors_are_refused_as_arrays_are(map_, bad, words):
    X = torch.ones((5, 2), dtype=torch.float64)
    fitted = map_.fit(X)
    X = X.clone()
    X[2, 1] = bad
    for call in (fitted.transform, map_.fit, map_.fit_transform):
        with pytest.raises(InputError, match=words):
            call(X)


@pytest.mark.parametrize("model", [KernelPCA(2), KernelPCA(2, eigen_solver="full"), RobustKernelPCA(1)])
def test_a_kernel_of_nan_is_refused(model):
    model.set_params(kernel=lambda A, B: np.full((len(A), len(B)), np.nan))
    with pytest.raises(InputError, match="NaN or infinite|no direction to find"):
        model.fit(rng.normal(size=(6, 2)))


def test_a_constant_kernel_of_large_values_has_no_components():
    X = np.full((3, 2), -9.2e18)
    scores = KernelPCA(1, kernel=lambda A, B: A @ B.T, eigen_solver="lanczos").fit(X).transform(X)
    assert np.abs(scores).max() <= 1e-6 * np.abs(X).max()


def test_numbers_to_predict_have_squares():
    X, y = rng.normal(size=(12, 2)), np.where(np.arange(12) % 3, 1e299, np.nan)
    with pytest.raises(InputError, match="Input y contains a number of 1.0e\\+299"):
        LSSVMRegressor().fit(X, y)
    scaled = LSSVMRegressor().fit(X, y / 1e199).predict(X)
    np.testing.assert_allclose(scaled / 1e100, LSSVMRegressor().fit(X, y / 1e299).predict(X), rtol=1e-6)


def test_weights_that_are_nothing_beside_the_largest_are_zero():
    np.testing.assert_array_equal(check_weight([1e6, 1e-301, 1.0], 3), [1e6, 0.0, 1.0])
    X, y = rng.normal(size=(8, 2)), ["a", "b", None, None, "a", "b", None, None]
    weight = np.r_[np.full(6, 1.0), 1e-301, 1e-301]
    kept = LeastSquaresKPCA().fit(X, y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(
        kept, LeastSquaresKPCA().fit(X, y, sample_weight=weight * (weight > 0.5)).predict_proba(X)
    )


@pytest.mark.parametrize("cls", [LeastSquaresKPCA, LogisticKPCA])
def test_a_variance_that_is_nothing_is_refused(cls):
    X = rng.normal(size=(12, 3))
    with pytest.raises(InputError, match="cannot vary"):
        cls(kernel=1e-300 * RBF()).fit(X, ["a", "b"] * 6)


def test_labels_that_count_nothing_beside_the_kernel_are_refused():
    X = 1e30 * rng.normal(size=(12, 20))
    with pytest.raises(InputError, match="nothing is left of the labels' weight"):
        LogisticKPCA(kernel=2.0 * RBF("median") + Linear(), variance=1e-3, approx=1000).fit(X, ["a", "b"] * 6)


def test_a_function_of_huge_values_is_refused_as_a_kernel_is():
    X = 1e140 * rng.normal(size=(12, 2))
    with pytest.raises(InputError, match="of some rows with themselves is"):
        TransductiveSVMClassifier(kernel=lambda A, B: A @ B.T).fit(X, ["a", "b", *[None] * 10])


@pytest.mark.filterwarnings("ignore::mercer.errors.NotConverged")
def test_a_transductive_machine_on_its_boundary():
    X = rng.normal(size=(12, 2)) + 3 * (np.arange(12) % 2)[:, None]
    model = TransductiveSVMClassifier(kernel=1e-300 * RBF(), lam=1e12, max_iter=20).fit(X, ["a", "b", *[None] * 10])
    assert np.isfinite(model.decision_function(X)).all()


def test_rows_too_small_for_their_type_have_the_answer_of_the_prior():
    X = (1e-22 * rng.normal(size=(12, 20))).astype(np.float32)
    X[1:] *= np.float32(1e-8)
    model = FewLabelClassifier(["rls"], time_budget=1.0).fit(X, ["a", "b"] * 6)
    assert np.isfinite(model.predict_proba(X)).all()


def test_rows_that_are_nearly_equal_and_nearly_nothing():
    X = (1e-24 * (1 + 1e-6 * rng.normal(size=(3, 3)))).astype(np.float32)
    assert np.isfinite(SVDD().fit(X).decision_function(X)).all()
    assert np.isfinite(SVDD(kernel=RBF(1e-200)).fit(1e-200 * np.eye(3)).decision_function(X)).all()


def test_variances_whose_inverse_is_beyond_the_range():
    X = np.array([[0.0], [0.0], [1e-4]])
    assert np.isfinite(KernelPCA(kernel=1e-301 * RBF(1.0), remove_zero_eig=True).fit(X).transform(X)).all()


@pytest.mark.filterwarnings("ignore::mercer.errors.NotConverged")
def test_sparse_rows_that_are_all_the_same():
    model = FewLabelClassifier(time_budget=None).fit(sp.csr_matrix((30, 20)), ["a", "b", *[None] * 28])
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0)


def test_a_kernel_that_is_no_number_has_no_leverages():
    with pytest.raises(InputError, match="NaN|finite|no numbers"):
        LandmarkMap(lambda x, y: float("nan"), 4, "leverage", random_state=0).fit(rng.normal(size=(12, 2)))


@pytest.mark.parametrize("part", ["feature", "left", "roots", "value", "right"])
def test_trees_that_point_elsewhere_are_refused_before_compiled_code_follows_them(part):
    X = rng.normal(size=(30, 3)).astype(np.float32)
    trees, _ = Trees.grown(X, np.arange(30) % 2, 2, "extra", 0, 5)
    expected = trees.votes(X)
    assert np.isfinite(expected).all()
    trees.__dict__.pop("_ready", None)
    if part == "feature":
        trees.feature = np.full(len(trees.feature), np.nan)
    elif part == "roots":
        trees.roots = trees.roots.astype(float)
    elif part == "value":
        trees.value = trees.value[:, 0]
    else:
        children = getattr(trees, part).copy()
        children[0] = len(children) - 1  # in another tree
        setattr(trees, part, children)
    with pytest.raises(InputError, match="damaged"):
        trees.votes(X)


def test_targets_without_weight_are_an_error():
    with pytest.raises(ValueError, match="No row with a target has a weight above 0"):
        LSSVMRegressor().fit([[0.0], [1.0]], [None, 1.7], sample_weight=[1e6, 1e-303])


def test_a_row_without_weight_far_from_the_others_has_a_finite_density():
    X = np.array([[0.0, 0.0], [9.0, 9.0], [0.1, 0.0], [0.0, 0.1]])
    model = KernelDensityNovelty(window="uniform", bandwidth=1.0).fit(X, sample_weight=[1.0, 0.0, 1.0, 1.0])
    assert np.isfinite(model.score_samples(X)).all() and model.score_samples(X)[1] == np.log(np.finfo(float).tiny)
