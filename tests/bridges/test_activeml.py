"""scikit-activeml runs the classifier and the suggestions of this library in its own loop."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

pytest.importorskip("skactiveml")

from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import RandomSampling, UncertaintySampling
from skactiveml.utils import MISSING_LABEL, unlabeled_indices

from mercer import FewLabelClassifier, InputError, suggest
from mercer.bridges.activeml import ActiveClassifier, Suggest

QUICK = ["lssvm", "diffusion"]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    given = np.full(150, MISSING_LABEL)
    given[[3, 60, 110, 20, 75, 140]] = y[[3, 60, 110, 20, 75, 140]]
    return X, given, y


def test_the_answers_are_those_of_the_classifier_with_all_rows(iris):
    X, given, _ = iris
    there = ActiveClassifier(FewLabelClassifier(QUICK), classes=[0, 1, 2]).fit(X, given)
    here = FewLabelClassifier(QUICK).fit(X, np.where(np.isnan(given), -1, given))
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-12)
    assert np.mean(there.predict(X) == here.predict(X)) == 1.0
    known = ~np.isnan(given)
    dropped = SklearnClassifier(FewLabelClassifier(QUICK), classes=[0, 1, 2]).fit(X, given)
    alone = FewLabelClassifier(QUICK).fit(X[known], given[known])
    np.testing.assert_allclose(dropped.predict_proba(X), alone.predict_proba(X), atol=1e-9)
    assert np.abs(dropped.predict_proba(X) - there.predict_proba(X)).max() > 0.01  # theirs drops unlabeled rows


def test_no_label_one_class_and_classes_that_come_later(iris):
    X, _, _ = iris
    blank = np.full(150, MISSING_LABEL)
    model = ActiveClassifier(classes=[0, 1, 2, 7]).fit(X, blank)
    np.testing.assert_allclose(model.predict_proba(X), 0.25)
    one = blank.copy()
    one[0] = 1
    np.testing.assert_allclose(model.fit(X, one).predict_proba(X)[0], [0.2, 0.4, 0.2, 0.2])
    two = one.copy()
    two[100] = 2
    P = ActiveClassifier(FewLabelClassifier(QUICK), classes=[0, 1, 2, 7]).fit(X, two).predict_proba(X)
    assert (P[:, [0, 3]] == 0).all() and np.allclose(P.sum(axis=1), 1)


def test_text_labels_costs_and_weights(iris):
    X, given, _ = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    words = np.array(["?" if np.isnan(g) else names[int(g)] for g in given])
    model = ActiveClassifier(FewLabelClassifier(QUICK), classes=names.tolist(), missing_label="?")
    assert set(model.fit(X, words).predict(X)) <= set(names)
    dear = np.array([[0, 1, 1], [1, 0, 1], [50, 50, 0]], dtype=float)
    careful = clone(model).set_params(cost_matrix=dear).fit(X, words)
    assert np.sum(careful.predict(X) == "virginica") > np.sum(model.predict(X) == "virginica")
    weight = np.where(given == 2, 0.0, 1.0)
    assert (model.fit(X, words, sample_weight=weight).predict_proba(X)[:, 2] == 0).all()


def test_suggestions_are_those_of_suggest(iris):
    X, given, _ = iris
    clf = ActiveClassifier(FewLabelClassifier(QUICK), classes=[0, 1, 2])
    rows, utilities = Suggest().query(X, given, clf, batch_size=4, return_utilities=True)
    model = FewLabelClassifier(QUICK).fit(X, np.where(np.isnan(given), -1, given))
    assert rows.tolist() == suggest(model, 4).rows.tolist()
    assert utilities.shape == (4, 150)
    assert np.nanargmax(utilities, axis=1).tolist() == rows.tolist()
    assert np.isnan(utilities[0, ~np.isnan(given)]).all() and np.isnan(utilities[1, rows[0]])
    some = np.arange(30, 90)
    assert np.isin(Suggest("uncertainty").query(X, given, clf, candidates=some, batch_size=5), some).all()
    blank = np.full(150, MISSING_LABEL)
    assert Suggest().query(X, blank, clf, batch_size=3).tolist() == suggest(X, 3).rows.tolist()
    with pytest.raises(InputError, match="strategy='most' is not known"):
        Suggest("most").query(X, given, clf)
    with pytest.raises(Exception, match="index array"):
        Suggest().query(X, given, clf, candidates=X[:5] + 0.1)


def test_their_loop_with_our_parts_and_theirs():
    X, truth = (part[:300] for part in load_digits(return_X_y=True))
    accuracy = {}
    for name, strategy in {
        "ours": Suggest(),
        "theirs": UncertaintySampling(random_state=0),
        "random": RandomSampling(),
    }.items():
        y = np.full(300, MISSING_LABEL)
        y[:20] = truth[:20]
        clf = ActiveClassifier(FewLabelClassifier(QUICK), classes=range(10), random_state=0)
        for _ in range(4):
            options = {} if name == "random" else {"clf": clf}
            rows = strategy.query(X=X, y=y, batch_size=5, **options)
            assert np.isin(rows, unlabeled_indices(y)).all()
            y[rows] = truth[rows]
        accuracy[name] = clf.fit(X, y).score(X, truth)
    assert accuracy["ours"] > 0.85 and accuracy["ours"] >= accuracy["random"] - 0.03
