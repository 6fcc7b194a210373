"""Contracts of every estimator, of those that mercer exports and any other in the folder of methods."""

import functools
import importlib
import inspect
import pkgutil
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
import naive
from conftest import to_dask
from mercer import RBF, FourierMap, KernelPCA, LandmarkMap, estimators
from mercer.backend import moved
from mercer.estimators import base
from mercer.homes import home_of
from naive import assert_close

SOURCE = Path(mercer.__file__).parent


def exported():
    """Every estimator class that mercer exports and whose module is there, but what reads data frames only."""
    for name in mercer.__all__:
        home = mercer.exports[name].replace(".", "/")
        if (SOURCE / f"{home}.py").exists() or (SOURCE / home / "__init__.py").exists():
            value = getattr(mercer, name)
            if inspect.isclass(value) and issubclass(value, BaseEstimator) and not home.startswith("inputs"):
                yield value


def placed():
    """Every method in the folder `estimators`: the classes of its modules from which no other one derives."""
    modules = [f"{estimators.__name__}.{one.name}" for one in pkgutil.iter_modules(estimators.__path__)]
    found = [
        value
        for name in modules
        for value in vars(importlib.import_module(name)).values()
        if inspect.isclass(value) and value.__module__ == name and issubclass(value, BaseEstimator)
    ]
    return [one for one in found if not any(other is not one and issubclass(other, one) for other in found)]


CLASSES = list(dict.fromkeys([*exported(), *placed()]))
# Classes whose own test file runs scikit-learn's checks, on the unmodified default and in the forms that matter.
ELSEWHERE = {
    name
    for path in Path(__file__).parent.rglob("test_*.py")
    if path.name != Path(__file__).name and "parametrize_with_checks" in path.read_text()
    for name in re.findall(r"\b([A-Z]\w+)\(\)", path.read_text())
}
FORMS = [
    KernelPCA(),
    KernelPCA(2, kernel=RBF(), fit_inverse_transform=True),
    KernelPCA(2, kernel="rbf", solver="operator", eigen_solver="krylov"),
    KernelPCA(2, kernel="poly", approx=1000),
    LandmarkMap(),
    LandmarkMap("poly", 5, choice="uniform"),
    FourierMap(),
    FourierMap(n_features=20),
]
FORMS += [cls() for cls in CLASSES if cls.__name__ not in ELSEWHERE and cls not in (KernelPCA, LandmarkMap, FourierMap)]
CLASS_NAMES = "fits y in {-1, 1}, where -1 may mean unlabeled: refused on purpose"
EVERY_ROW = "weights count in bandwidth rules: the features are those of every row, also of weight 0"
LABEL_WEIGHTS = (
    "weights count labels: a row that occurs twice has another place among its neighbors than a row of weight 2"
)
FOLDS = "a label of weight 2 is left out as one: probabilities differ, scores do not"
LEFT_OUT = "a row of weight 2 is left out as one: the line through left-out scores differs, the scores do not"
EXPECTED_FAILURES = {
    "TransductiveSVMClassifier": {
        "check_classifiers_classes": CLASS_NAMES,
        **{f"check_sample_weight_equivalence_on_{kind}_data": FOLDS for kind in ("dense", "sparse")},
    },
    "WithinVarianceClassifier": {
        "check_classifiers_classes": CLASS_NAMES,
        **{f"check_sample_weight_equivalence_on_{kind}_data": FOLDS for kind in ("dense", "sparse")},
    },
    "SemiKPCARegressor": {f"check_sample_weight_equivalence_on_{kind}_data": LEFT_OUT for kind in ("dense", "sparse")},
    "LandmarkMap": {f"check_sample_weight_equivalence_on_{kind}_data": EVERY_ROW for kind in ("dense", "sparse")},
    "S2RLSClassifier": {"check_classifiers_classes": CLASS_NAMES},
    "FewLabelClassifier": {"check_classifiers_classes": CLASS_NAMES},
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    FORMS,
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {}),
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_estimator_is_checked_somewhere():
    here = {type(form).__name__ for form in FORMS}
    assert {cls.__name__ for cls in CLASSES} <= here | ELSEWHERE


@functools.cache
def blobs():
    X, y = make_blobs(36, centers=2, n_features=3, cluster_std=2.0, random_state=0)
    X.flags.writeable = y.flags.writeable = False
    return X, y


def labels(model, y):
    """All labels for a regressor, six of each class for a classifier, None for the rest."""
    if is_regressor(model):
        return y + 0.5
    if not (is_classifier(model) or "y" in _required(model)):
        return None
    given = np.full(len(y), -1)
    for c in (0, 1):
        given[np.flatnonzero(y == c)[:6]] = c
    return given


def _required(model):
    parameters = inspect.signature(model.fit).parameters.values()
    return [p.name for p in parameters if p.default is inspect.Parameter.empty]


def fit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def answer(model, X):
    """Results of a fitted model for rows, as columns of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("decision_function", "score_samples", "transform", "predict"):
            if hasattr(model, name):
                out = np.asarray(getattr(model, name)(X), dtype=np.float64)
                return out.reshape(len(X), -1)
    raise AssertionError(f"{model!r} says nothing about rows")


every = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


@every
def test_parameters_are_stored_and_never_changed(cls):
    X, y = blobs()
    model = cls()
    before = {name: repr(value) for name, value in model.get_params().items()}
    assert {name: repr(value) for name, value in clone(model).get_params().items()} == before
    fit(model, X, labels(model, y))
    assert {name: repr(value) for name, value in model.get_params().items()} == before
    for name, default in inspect.signature(cls).parameters.items():
        if default.default is not inspect.Parameter.empty:
            assert getattr(cls(), name) is default.default or getattr(cls(), name) == default.default


@every
def test_a_second_fit_gives_the_same_answer(cls):
    X, y = blobs()
    model = cls()
    first = answer(fit(model, X, labels(model, y)), X)
    fit(model, X[:20] + 5, labels(model, y[:20]))  # something else in between
    again = answer(fit(model, X, labels(model, y)), X)
    assert np.isfinite(first).all()
    assert_close(again, first, atol=1e-12 * max(1, np.abs(first).max()))
    assert_close(answer(fit(clone(model), X, labels(model, y)), X), first, atol=1e-12 * max(1, np.abs(first).max()))


# Methods that search from random starts find another local optimum when the rows come in another order.
STARTS_AT_RANDOM = {
    "KernelCMeans", "MaxMarginClustering", "S2RLSClassifier", "SparseKernelPCA", "FewLabelClassifier",
    "OutlierDetector",
}  # fmt: skip


@every
def test_the_order_of_rows_does_not_matter(cls):
    X, y = blobs()
    model = cls()
    if cls.__name__ in STARTS_AT_RANDOM:
        order = np.arange(len(X))  # the remaining promise is the same order and the same prediction
    else:
        order = np.random.default_rng(0).permutation(len(X))
    given = labels(model, y)
    straight = answer(fit(cls(), X, given), X)
    shuffled = answer(fit(cls(), X[order], None if given is None else given[order]), X)
    if cls is LandmarkMap:  # its features may come in another basis, so compare K
        straight, shuffled = straight @ straight.T, shuffled @ shuffled.T
    scale = max(1.0, np.abs(straight).max())
    if straight.shape == shuffled.shape:
        assert naive.same_up_to_sign(shuffled, straight, 1e-4 * scale), np.abs(shuffled - straight).max()
    else:
        pytest.fail(f"{straight.shape} and {shuffled.shape}")


@every
def test_all_landmarks_are_the_exact_kernel(cls):
    if "approx" not in inspect.signature(cls).parameters or "kernel" not in inspect.signature(cls).parameters:
        return
    X, y = blobs()
    given = labels(cls(), y)
    exact = answer(fit(cls(approx="exact"), X, given), X)
    through = answer(fit(cls(approx=len(X)), X, given), X)
    scale = max(1.0, np.abs(exact).max())
    if exact.shape[1] > 3:  # of many components the last ones are rounding
        exact, through = exact[:, :3], through[:, :3]
    assert naive.same_up_to_sign(through, exact, 1e-5 * scale), np.abs(through - exact).max()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_use_device_gives_the_answers_of_the_host(cls, monkeypatch):
    X, y = blobs()
    few = np.where(np.arange(len(y)) < 12, y, -1) if is_classifier(cls()) else y
    plain = _answer(cls(), X, few)
    rows = []
    monkeypatch.setattr(base, "moved", lambda X: rows.append(moved(X)) or rows[-1])
    with mercer.use_device("cpu"):
        there = _answer(cls(), X, few)
    assert isinstance(there, np.ndarray)
    assert_close(np.abs(there), np.abs(plain), rtol=1e-3, atol=1e-3)  # float32 there, and a component has no sign
    assert not issubclass(cls, base.KernelEstimator) or rows
    assert {home_of(X).name for X in rows} <= {"torch tensor"}
    assert home_of(moved(X)).on_host  # the context has ended


ON_DASK = [cls for cls in CLASSES if hasattr(cls, "access") and cls.on_dask]


@pytest.mark.parametrize("approx", [12, 36])
@pytest.mark.parametrize("cls", ON_DASK, ids=lambda cls: cls.__name__)
def test_dask_rows_give_the_answers_of_the_host(cls, approx):
    X, y = blobs()
    rows, given = to_dask(X), labels(cls(), y)
    assert len(rows.chunks[0]) == 3
    model = cls(approx=approx) if "approx" in inspect.signature(cls).parameters else cls()
    there = fit(clone(model), rows, given)
    wanted = answer(fit(model, X, given), X)
    assert naive.same_up_to_sign(answer(there, X), wanted, 1e-8 * max(1.0, np.abs(wanted).max()))
    for name in ("decision_function", "score_samples", "predict_proba", "predict", "transform"):
        if hasattr(there, name):
            lazy, wanted = getattr(there, name)(rows), getattr(there, name)(X)
            assert home_of(lazy).name == "Dask array" and lazy.shape == wanted.shape and lazy.dtype == wanted.dtype
            found = lazy.compute()
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * max(1.0, np.abs(wanted).max()))


PAIRWISE = [cls for cls in ON_DASK if "kernel" in inspect.signature(cls).parameters]


@pytest.mark.parametrize("cls", PAIRWISE, ids=lambda cls: cls.__name__)
def test_a_kernel_matrix_may_be_a_dask_array(cls):
    X, y = blobs()
    K, given = RBF(3.0)(X), labels(cls(), y)
    there = fit(cls(kernel="precomputed"), to_dask(K), given)
    wanted = answer(fit(cls(kernel="precomputed"), K, given), K)[:, :3]  # of many components the last ones are rounding
    for rows in (K, to_dask(K)):
        assert naive.same_up_to_sign(answer(there, rows)[:, :3], wanted, 1e-8 * max(1.0, np.abs(wanted).max()))


def test_the_dask_contract_covers_what_the_page_of_methods_says():
    page = (Path(__file__).parent.parent / "docs" / "methods.md").read_text()
    assert {cls.__name__ for cls in ON_DASK} | {"FewLabelClassifier"} == set(re.findall(r"`(\w+)`.*Dask \(", page))


def _answer(model, X, y):
    model.fit(X, y)
    for name in ("decision_function", "transform", "predict"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X), dtype=float)
    raise AssertionError(f"{type(model).__name__} answers nothing")
