"""Detectors of this library inside PyOD, with its conventions, combinations and thresholds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

pytest.importorskip("pyod")

from pyod.models.lscp import LSCP
from pyod.models.ocsvm import OCSVM
from pyod.utils.data import evaluate_print, generate_data
from pyod.utils.utility import standardizer

from mercer import SVDD, KernelDensityNovelty, KPCANovelty
from mercer.bridges.pyod import PyODDetector


@pytest.fixture(scope="module")
def data():
    return generate_data(n_train=200, n_test=100, n_features=3, contamination=0.1, random_state=0)


@pytest.mark.parametrize("detector", [None, SVDD(0.2), KPCANovelty(4), KernelDensityNovelty()], ids=repr)
def test_conventions(detector, data):
    X, new, y, wanted = data
    model = PyODDetector(detector, contamination=0.1).fit(X)
    own = model.detector_
    np.testing.assert_allclose(model.decision_scores_, -own.training_scores_)
    np.testing.assert_allclose(model.decision_function(new), -own.score_samples(new))
    assert model.labels_.sum() == 20 and set(model.labels_) == {0, 1}
    np.testing.assert_array_equal(model.labels_, model.decision_scores_ > model.threshold_)
    np.testing.assert_array_equal(model.predict(new), model.decision_function(new) > model.threshold_)
    P = model.predict_proba(new)
    assert P.shape == (100, 2) and np.allclose(P.sum(axis=1), 1)
    confidence = model.predict_confidence(new)
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert roc_auc_score(wanted, model.decision_function(new)) > 0.9
    same = clone(model)
    assert repr(same.detector) == repr(model.detector) and same.contamination == 0.1
    evaluate_print("mercer", y, model.decision_scores_)


def test_the_one_class_svm_of_pyod_has_the_same_order():
    X, new, _, _ = generate_data(n_train=150, n_test=80, n_features=2, contamination=0.1, random_state=1)
    X, new = standardizer(X, new)
    bandwidth = 1.0
    from mercer import RBF

    ours = PyODDetector(SVDD(0.2, kernel=RBF(bandwidth), tol=1e-10)).fit(X)
    theirs = OCSVM(kernel="rbf", gamma=0.5, nu=0.2, tol=1e-8).fit(X)
    # PyOD standardizes nothing here. Both are the same function up to a factor and a constant.
    a, b = ours.decision_function(new), theirs.decision_function(new)
    slope, shift = np.polyfit(b, a, 1)
    assert slope > 0
    np.testing.assert_allclose(slope * b + shift, a, atol=1e-4 * np.ptp(a))


def test_a_combination(data):
    X, new, _, wanted = data
    several = [PyODDetector(SVDD(0.2)), PyODDetector(KPCANovelty(4)), OCSVM()]
    model = LSCP(several, random_state=0).fit(X)
    assert roc_auc_score(wanted, model.decision_function(new)) > 0.9
