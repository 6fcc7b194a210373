"""Our classifiers inside scikit-learn's meta-estimators, with all labels and with gaps: what docs/bridges.md says."""

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
MODELS = [LSSVMClassifier(10.0), SemiKPCA()]
every = pytest.mark.parametrize("model", MODELS, ids=repr)


@pytest.mark.parametrize(
    "meta", [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier, BaggingClassifier, AdaBoostClassifier]
)
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


# With gaps in y


@every
def test_one_vs_rest_takes_the_mark_for_a_class(model):
    plain = OneVsRestClassifier(clone(model)).fit(X, GAPS)
    assert -1 in plain.classes_ and np.mean(plain.predict(X) == -1) > 0.5
    assert np.mean(clone(model).fit(X, GAPS).predict(X) == Y) > 0.8  # alone it has the several classes itself


def test_output_of_one_class_against_another_has_no_gaps_left():
    """One-vs-one fits on the rows of two classes: with the mark as a third, two of its pairs are with the mark."""
    pairs = OneVsOneClassifier(LSSVMClassifier(10.0)).fit(X, GAPS)
    assert len(pairs.estimators_) == 6 and -1 in pairs.classes_


def test_bagging_draws_rows_and_not_labels():
    bag = BaggingClassifier(LSSVMClassifier(10.0), n_estimators=5, random_state=0).fit(X, GAPS)
    assert -1 in bag.classes_ and np.mean(bag.predict(X) == -1) == 0  # the mark is a class that nobody answers
    few = np.full(150, -1)
    few[[0, 60, 120]] = 0, 1, 2
    with pytest.raises(InputError, match="one class only|No row of y carries a label"):
        BaggingClassifier(LSSVMClassifier(), n_estimators=20, random_state=0).fit(X, few)


def test_stacking_and_calibration_need_folds_of_labels():
    stack = StackingClassifier([("ours", LSSVMClassifier(10.0))], cv=5).fit(X, GAPS)
    assert -1 in stack.classes_ and np.mean(stack.predict(X) == -1) > 0.5  # the final step learns to say "unlabelled"
    known = GAPS >= 0
    fitted = FrozenEstimator(LSSVMClassifier(10.0).fit(X, GAPS))
    calibrated = CalibratedClassifierCV(fitted).fit(X[known], GAPS[known])
    assert np.mean(calibrated.predict(X) == Y) > 0.8
    final = StackingClassifier([("ours", fitted)], cv="prefit").fit(X[known], GAPS[known])
    assert np.mean(final.predict(X) == Y) > 0.8


def test_folds_of_labels_are_not_a_partition_for_stacking():
    with pytest.raises(ValueError, match="partition"):
        StackingClassifier([("ours", LSSVMClassifier(10.0))], cv=LabeledKFold(3)).fit(X, GAPS)
