"""Classes, modest probabilities, flags and markers, which every few-label classifier derives from its scores."""

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer.errors import InputError
from mercer.estimators.classifier import KernelClassifier
from mercer.estimators.least_squares_kpca import LeastSquaresKPCA
from mercer.estimators.logistic_kpca import LogisticKPCA
from mercer.estimators.lssvm import LSSVMClassifier
from mercer.estimators.rls import RLSClassifier
from mercer.estimators.semi_kpca import SemiKPCA
from mercer.estimators.solution import Solution
from mercer.geometry.maps import FourierMap, MappedRows
from mercer.geometry.open import POLICIES, Policy
from mercer.kernels import RBF
from mercer.model_selection.leave_one_label_out import leave_one_label_out
from mercer.model_selection.split import LabeledKFold, LabeledScorer
from mercer.solvers.result import Result

MODELS = [LSSVMClassifier(), LSSVMClassifier(unlabeled="zero"), RLSClassifier(), SemiKPCA()]
each = pytest.mark.parametrize("model", MODELS, ids=str)


def blobs(k=3, n=90, per_class=4, seed=0):
    X, y = make_blobs(n, centers=k, cluster_std=0.8, random_state=seed)
    given = np.full(n, -1)
    for c in range(k):
        given[np.flatnonzero(y == c)[:per_class]] = c
    return X, given, y


@each
def test_any_names_and_marks_give_the_same_model(model):
    X, given, _ = blobs()
    numbers = model.fit(X, given)
    scores, labels = numbers.decision_function(X), numbers.transduction_
    names = np.array(["ant", "bee", "cat"])
    text = np.where(given < 0, "", names[given])
    mixed = [None if g < 0 else str(names[g]) for g in given]
    series = pd.Series(mixed, dtype="category")
    for y in (text, mixed, series, pd.Series(mixed)):
        model.fit(X, y)
        assert_allclose(model.decision_function(X), scores)
        assert_array_equal(model.transduction_, names[labels])
        assert model.classes_.tolist() == ["ant", "bee", "cat"]
    model = type(model)(missing_label="?").fit(X, np.where(given < 0, "?", names[given]))
    assert model.classes_.tolist() == ["ant", "bee", "cat"]


@each
def test_minus_one_as_a_class_needs_to_be_said(model):
    X, given, y = blobs(2, seed=3)
    signs = np.where(y == 0, -1, 1)
    with pytest.raises(InputError, match="missing_label=None"):
        model.fit(X, signs)
    said = type(model)(missing_label=None).fit(X, signs)
    assert said.classes_.tolist() == [-1, 1]
    assert said.score(X, signs) > 0.9
    nan_marks = model.fit(X, np.where(given < 0, np.nan, signs))
    assert nan_marks.classes_.tolist() == [-1, 1]
    assert nan_marks.score(X, signs) > 0.9  # no row of the test labels is taken for a mark


@each
@pytest.mark.parametrize("k", [2, 3])
def test_probabilities_are_proper_and_agree_with_the_prediction(model, k):
    X, given, _ = blobs(k)
    model.fit(X, given)
    P = model.predict_proba(X)
    assert P.shape == (90, k)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    labels = 4 * k
    assert P.max() <= (labels + 1) / (labels + 2) + 1e-12
    assert model.decision_function(X).shape == ((90,) if k == 2 else (90, 3))


def test_probabilities_are_calibrated_on_digits():
    """Over draws of 60 labels the mean confidence is near the accuracy, and the log-loss beats the prior by far."""
    X, truth = load_digits(return_X_y=True)
    X, truth = X[:800] / 16, truth[:800]
    confidence, accuracy, loss = [], [], []
    for seed in range(4):
        given = np.full(800, -1)
        rows = np.random.default_rng(seed).choice(800, 60, replace=False)
        given[rows] = truth[rows]
        free = given < 0
        P = LSSVMClassifier(10.0).fit(X, given).predict_proba(X)[free]
        confidence.append(P.max(axis=1).mean())
        accuracy.append(np.mean(P.argmax(axis=1) == truth[free]))
        loss.append(-np.log(P[np.arange(free.sum()), truth[free]]).mean())
    assert abs(np.mean(confidence) - np.mean(accuracy)) < 0.08
    assert np.mean(loss) < 0.8 < np.log(10)


@each
def test_a_far_row_gets_the_prior_and_a_flag(model):
    X, given, _ = blobs(3)
    given[np.flatnonzero(given == 1)[:2]] = -1  # uneven, so that the prior is not uniform
    given[np.flatnonzero(given == 2)[:1]] = -1
    X = np.vstack([X, [[1e3, 1e3]]])
    given = np.append(given, -1)
    model.fit(X, given)
    assert model.unsupported_.tolist() == [False] * 90 + [True]
    far = np.array([[-1e4, 0.0], X[0]])
    P = model.predict_proba(far)
    assert np.isfinite(P).all()
    assert_allclose(P[0], model.prior_)
    assert_allclose(model.prior_, np.array([5, 3, 4]) / 12)
    assert model.unsupported(far).tolist() == [True, False]
    assert model.predict(far)[0] == 0 == model.transduction_[-1]
    many = np.vstack([np.full((5000, 2), 500.0), X[:-1]])  # the same through the path for many suspects
    assert_array_equal(model.unsupported(many), np.arange(5090) < 5000)


@each
def test_transduction_keeps_given_labels_even_wrong_ones(model):
    X, given, _ = blobs(2, per_class=6)
    wrong = np.flatnonzero(given == 0)[0]
    given[wrong] = 1
    model.fit(X, given)
    rows = given >= 0
    assert_array_equal(model.transduction_[rows], given[rows])
    assert_array_equal(model.transduction_[~rows], model.predict(X)[~rows])


@each
def test_score_ignores_rows_without_label(model):
    X, given, truth = blobs()
    model.fit(X, given)
    partly = np.where(np.arange(90) % 2 == 0, truth, -1)
    expected = np.mean((model.predict(X) == truth)[::2])
    assert model.score(X, partly) == pytest.approx(expected)
    assert model.score(X, [None if p < 0 else p for p in partly]) == pytest.approx(expected)
    weight = np.arange(90.0)
    assert model.score(X, partly, weight) == pytest.approx(
        np.average((model.predict(X) == truth)[::2], weights=weight[::2])
    )
    with pytest.raises(InputError, match="There is no row to score"):
        model.score(X, np.full(90, -1))


def test_tall_data_are_classified_in_blocks(monkeypatch):
    X, given, _ = blobs()
    table = pd.DataFrame(X, columns=["a", "b"])
    model = SemiKPCA().fit(table, given)
    whole = model.predict_proba(table)
    assert_allclose(model.predict_proba(table), whole, atol=1e-12)
    assert model.decision_function(table).shape == (90, 3)


@each
def test_inside_grid_search(model):
    X, given, _ = blobs(per_class=6)
    bandwidths = [0.01, 2.0]
    search = GridSearchCV(model.set_params(kernel=RBF(1.0)), {"kernel__bandwidth": bandwidths}, cv=LabeledKFold(3))
    assert search.fit(X, given).best_estimator_.kernel.bandwidth == 2.0
    assert search.best_score_ > 0.85
    own = cross_val_score(model, X, given, cv=LabeledKFold(3), scoring=LabeledScorer("balanced_accuracy"))
    theirs = cross_val_score(model, X, given, cv=3, scoring="accuracy")
    assert own.mean() > 0.8 > 0.3 > theirs.mean()
    model.set_params(kernel="rbf")


def test_zero_weight_takes_a_class_away():
    X, given, _ = blobs(3)
    model = LSSVMClassifier().fit(X, given, sample_weight=(given != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    with pytest.raises(InputError, match="one class only once the rows with sample_weight 0"):
        LSSVMClassifier().fit(X, given, sample_weight=(given == 1).astype(float))


def test_one_label_per_class_works_without_left_out_answers():
    X, given, _ = blobs(3, per_class=1)
    model = SemiKPCA().fit(X, given)
    assert np.isnan(model.left_out_accuracy_)
    P = model.predict_proba(X)
    assert np.isfinite(P).all() and P.max() < 0.8
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


class NearestMean(KernelClassifier):
    """A method with nothing but `solve`: the base must do the rest, by refitting."""

    access = "moments"
    path_parameters = ("shrink",)

    def __init__(self, shrink=0.0, *, kernel="rbf", approx="auto", missing_label="auto", random_state=0):
        self.shrink = shrink
        self.kernel = kernel
        self.approx = approx
        self.missing_label = missing_label
        self.random_state = random_state

    def solve(self, state, labels):
        signs = labels.signs
        coef = state.take(labels.labeled).T @ (signs / np.abs(signs).sum(axis=0)) / (1 + self.shrink)
        return Solution(coef, 0.0, Result(coef), lambda: self.refits(state, labels))


@pytest.mark.parametrize("k", [2, 3])
def test_a_method_without_closed_forms_is_refitted(k):
    X, given, truth = blobs(k, per_class=3)
    model = NearestMean().fit(X, given)
    assert model.score(X, truth) > 0.9
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    fast = leave_one_label_out(model, X, given, shrink=[0.0, 1.0])
    slow = leave_one_label_out(model, X, given, refit=True, shrink=[0.0, 1.0])
    assert_allclose(fast.scores, slow.scores, atol=1e-10)  # up to ten labels every fold is one label
    assert fast.choose().value == 0
    best = model.select(X, given, shrink=[0.0, 1.0], kernel=[RBF(0.5)])
    assert len(best.selection_["candidates"]) == 3


@pytest.mark.parametrize("approx", ["exact", 40])
@pytest.mark.parametrize("k", [2, 3])
def test_answers_without_features_are_those_with_them(approx, k):
    """Many rows use coefficients on the landmarks and single rows use features. Far rows are unsupported in both."""
    X, given, _ = blobs(k, per_class=3)
    new = np.concatenate([X + 0.1, X + 1e3])
    for model in (NearestMean(approx=approx), LSSVMClassifier(approx=approx)):
        model.fit(X, given)
        features = model.map_.transform(new)
        scores = features @ model.coef_ + model.intercept_
        many = model.decision_function(new).reshape(len(new), -1)
        assert_allclose(many, scores, rtol=0, atol=1e-10 * np.abs(scores).max())
        assert_array_equal(model.unsupported(new), model._unsupported(features, scores))
        assert model.unsupported(new)[len(X) :].all() and not model.unsupported(new)[: len(X)].any()
        single = np.concatenate([model.decision_function(row[None]).reshape(1, -1) for row in new[::7]])
        assert_allclose(single, many[::7], rtol=0, atol=1e-10 * np.abs(scores).max())


@pytest.mark.parametrize(
    "model",
    [
        LSSVMClassifier(),
        LSSVMClassifier(unlabeled="zero"),
        RLSClassifier(),
        SemiKPCA(),
        LeastSquaresKPCA(),
        LogisticKPCA(),
        LeastSquaresKPCA(graph=5),
    ],
    ids=repr,
)
@pytest.mark.parametrize("approx", [20, FourierMap(n_features=20)], ids=["landmarks", "fourier"])
def test_features_that_are_not_stored_give_the_same_fit(model, approx, monkeypatch):
    """With a map, Z of NumPy rows is computed block by block, and Z of tensors is stored."""
    monkeypatch.setattr("mercer.homes.computed.ENTRIES", 50 * 20)
    X, y = make_moons(5200, noise=0.1, random_state=0)
    y[20:] = -1
    weight = None if getattr(model, "graph", None) else np.random.default_rng(0).integers(1, 3, 5200).astype(float)
    model = clone(model).set_params(kernel=RBF(0.7), approx=approx)
    stored = clone(model).fit(torch.from_numpy(X), y, sample_weight=weight)
    streamed = clone(model).fit(X, y, sample_weight=weight)
    assert isinstance(
        clone(model)._read(X, y, weight)[0].Z, np.ndarray if model.get_params().get("graph") else MappedRows
    )
    assert_allclose(streamed.decision_function(X[:99]), stored.decision_function(X[:99]), rtol=1e-6, atol=1e-8)
    assert_array_equal(streamed.transduction_, stored.transduction_)
    assert streamed.left_out_accuracy_ == stored.left_out_accuracy_
    assert_allclose(streamed.predict_proba(X[:99]), stored.predict_proba(X[:99]), atol=1e-6)


@each
def test_a_bandwidth_far_too_small_makes_nobody_sure(model):
    """Similarities of 1e-100 count as none. Such rows are flagged and get the prior, not a relative score."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = np.full(300, -1)
    y[:9] = np.arange(9) % 3
    new = X + 0.5 * rng.normal(size=X.shape)  # some fifteen bandwidths away
    fitted = clone(model).set_params(kernel=RBF(0.05)).fit(X, y)
    assert fitted.unsupported(new).mean() > 0.95
    assert_allclose(fitted.predict_proba(new)[fitted.unsupported(new)], 1 / 3)


def test_features_of_a_python_function_are_kept(monkeypatch):
    X, y, _ = blobs(n=60)
    slow = LSSVMClassifier(kernel=lambda a, b: a @ b.T + 1.0)
    monkeypatch.setitem(POLICIES, "moments", Policy(40, 50, passes="few"))
    assert isinstance(slow._read(X, y, None)[0].Z, np.ndarray)
    assert "50 landmarks need 24.0 kB." in slow.approx_reason_
