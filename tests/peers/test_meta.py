"""Classifiers of mercer inside scikit-learn's meta-estimators, with all labels and with gaps, as in docs/bridges.md."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.preprocessing import MultiLabelBinarizer

from mercer import InputError, LabeledKFold, LSSVMClassifier, LSSVMRegressor, SemiKPCA

X, Y = load_iris(return_X_y=True)
GAPS = np.where(np.arange(150) % 5 == 0, Y, -1)
MODELS = [LSSVMClassifier(10.0), SemiKPCA(1)]
every = pytest.mark.parametrize("model", MODELS, ids=repr)


@pytest.mark.parametrize("meta", [OneVsRestClassifier, OneVsOneClassifier, BaggingClassifier, AdaBoostClassifier])
def test_with_all_labels_they_work(meta):
    assert meta(LSSVMClassifier(10.0)).fit(X, Y).score(X, Y) > 0.9


def test_voting_stacking_and_calibration_with_all_labels():
    pair = [("ours", LSSVMClassifier(10.0)), ("theirs", LogisticRegression(max_iter=500))]
    for meta in (VotingClassifier(pair, voting="soft"), StackingClassifier(pair), CalibratedClassifierCV(pair[0][1])):
        fitted = meta.fit(X, Y)
        assert fitted.score(X, Y) > 0.9
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)


def test_several_labels_a_row():
    sets = MultiLabelBinarizer().fit_transform([["a"] if c == 0 else ["a", "b"] if c == 1 else ["b", "c"] for c in Y])
    for meta in (
        OneVsRestClassifier(LSSVMClassifier(10.0)),
        MultiOutputClassifier(LSSVMClassifier(10.0)),
        ClassifierChain(LSSVMClassifier(10.0)),
    ):
        assert np.mean(meta.fit(X, sets).predict(X) == sets) > 0.9
    numbers = MultiOutputRegressor(LSSVMRegressor()).fit(X[:, :2], X[:, 2:]).predict(X[:, :2])
    np.testing.assert_allclose(numbers, LSSVMRegressor().fit(X[:, :2], X[:, 2:]).predict(X[:, :2]), atol=1e-9)


def test_output_codes_are_minus_one_and_one():
    with pytest.raises(InputError, match="only -1 and 1"):
        OutputCodeClassifier(LSSVMClassifier(10.0)).fit(X, Y)
    assert OutputCodeClassifier(LSSVMClassifier(10.0, missing_label=None), random_state=0).fit(X, Y).score(X, Y) > 0.9


# With gaps in y


@every
def test_one_vs_rest_takes_the_mark_for_a_class(model):
    plain = OneVsRestClassifier(clone(model)).fit(X, GAPS)
    assert -1 in plain.classes_ and np.mean(plain.predict(X) == -1) > 0.3
    assert np.mean(clone(model).fit(X, GAPS).predict(X) == Y) > 0.75  # alone it has the several classes itself


def test_one_vs_one_has_pairs_with_the_mark():
    pairs = OneVsOneClassifier(LSSVMClassifier(10.0)).fit(X, GAPS)
    assert len(pairs.estimators_) == 6 and -1 in pairs.classes_


@pytest.mark.parametrize(
    "meta",
    [
        BaggingClassifier(LSSVMClassifier(10.0), n_estimators=5, random_state=0),
        StackingClassifier([("ours", LSSVMClassifier(10.0))], cv=5),
        StackingClassifier([("ours", LSSVMClassifier(10.0))], cv=LabeledKFold(3)),
        VotingClassifier([("ours", LSSVMClassifier(10.0))]),
    ],
    ids=lambda meta: type(meta).__name__,
)
def test_classes_are_numbered_and_the_mark_is_the_most_frequent(meta):
    """They give the classifier y as 0, 1, …, so 0 is no longer recognizable as the marker."""
    fitted = clone(meta).fit(X, GAPS)
    assert -1 in fitted.classes_ and np.mean(fitted.predict(X) == -1) > 0.5
    with pytest.raises(ValueError, match="NaN|missing"):
        clone(meta).fit(X, np.where(GAPS < 0, np.nan, GAPS))


def test_calibration_and_stacking_after_a_fit_on_all_rows():
    known = GAPS >= 0
    fitted = FrozenEstimator(LSSVMClassifier(10.0).fit(X, GAPS))
    for meta in (CalibratedClassifierCV(fitted), StackingClassifier([("ours", fitted)], cv="prefit")):
        assert np.mean(meta.fit(X[known], GAPS[known]).predict(X) == Y) > 0.8


def test_calibration_on_folds_of_labels():
    model = CalibratedClassifierCV(LSSVMClassifier(10.0), cv=LabeledKFold(3)).fit(X, GAPS)
    assert np.mean(model.predict(X) == Y) > 0.8
    assert -1 in model.classes_ and model.predict_proba(X)[:, 0].max() < 1e-6  # listed, and never predicted
