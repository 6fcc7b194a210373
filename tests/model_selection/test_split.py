"""Splitters and scorers, for which unlabeled rows always train and are never scored."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_moons
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.semi_supervised import LabelSpreading

from mercer import LSSVMClassifier
from mercer.errors import InputError
from mercer.model_selection.split import LabeledKFold, LabeledScorer, LeaveOneLabelOut, RepeatedLabeledKFold


def few_labels(seed=0, n=60, k=3, labeled=20):
    generator = np.random.default_rng(seed)
    codes = generator.integers(k, size=n)
    X = generator.normal(size=(n, 2)) + 4 * codes[:, None]
    y = np.full(n, -1)
    rows = generator.choice(n, labeled, replace=False)
    y[rows] = codes[rows]
    return X, y


@pytest.mark.parametrize(
    "splitter",
    [
        LabeledKFold(4),
        LabeledKFold(4, shuffle=True, random_state=1),
        LabeledKFold(20),
        RepeatedLabeledKFold(3, 2, random_state=0),
        LeaveOneLabelOut(),
    ],
)
def test_unlabeled_rows_train_always_and_are_tested_never(splitter):
    X, y = few_labels()
    folds = list(splitter.split(X, y))
    assert len(folds) == splitter.get_n_splits(X, y)
    tested = np.concatenate([test for _, test in folds])
    repeats = getattr(splitter, "n_repeats", 1)
    np.testing.assert_array_equal(np.sort(tested), np.repeat(np.flatnonzero(y >= 0), repeats))
    for train, test in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
        assert (y[test] >= 0).all()
        assert set(y[train]) == {-1, 0, 1, 2}  # every class and every unlabeled row is still there


def test_folds_are_stratified():
    _, y = few_labels(labeled=40)
    counts = np.array([np.bincount(y[test], minlength=3) for _, test in LabeledKFold(5).split(y, y)])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_shuffling_is_reproducible_and_repeats_differ():
    X, y = few_labels()
    first = [test.tolist() for _, test in RepeatedLabeledKFold(3, 2, random_state=5).split(X, y)]
    assert first == [test.tolist() for _, test in RepeatedLabeledKFold(3, 2, random_state=5).split(X, y)]
    assert first[:3] != first[3:]


def test_the_only_label_of_a_class_always_trains():
    y = ["a", "b", "b", None, "b"]
    tested = [test.tolist() for _, test in LeaveOneLabelOut().split(y, y)]
    assert tested == [[1], [2], [4]]
    with pytest.raises(InputError, match="Every class has one label only"):
        list(LeaveOneLabelOut().split(y[:2], y[:2]))
    with pytest.raises(InputError, match=r"n_splits=4 does not fit 3 labeled rows.*LeaveOneLabelOut"):
        list(LabeledKFold(4).split(y, y))
    with pytest.raises(InputError, match="n_splits=1 does not fit"):
        list(LabeledKFold(1).split(y, y))


def test_inside_scikit_learn_tools():
    X, y = few_labels(labeled=30)
    model = LabelSpreading(kernel="rbf", gamma=1.0)
    with_ours = cross_val_score(model, X, y, cv=LabeledKFold(5))
    with_theirs = cross_val_score(model, X, y, cv=5)
    assert with_ours.mean() > 0.9 > 0.6 > with_theirs.mean()  # half of the rows they test have no label
    search = GridSearchCV(
        model, {"gamma": [0.1, 1.0]}, cv=LeaveOneLabelOut(), scoring=LabeledScorer("balanced_accuracy")
    )
    assert search.fit(X, y).best_score_ > 0.9
    everywhere = cross_val_score(model, X, y, cv=5, scoring=LabeledScorer())
    assert everywhere.mean() > 0.9


def test_scorer_reads_any_mark_and_knows_the_fitted_classes():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    always_b = DummyClassifier(strategy="constant", constant="b").fit(X, ["a", "b", "a", "b"])
    assert LabeledScorer()(always_b, X, pd.Series(["a", "b", None, ""])) == 0.5
    assert LabeledScorer(missing_label="?")(always_b, X, ["a", "b", "b", "?"]) == pytest.approx(2 / 3)
    minus = DummyClassifier(strategy="constant", constant=-1).fit(X, [-1, 1, -1, 1])
    assert LabeledScorer()(minus, X, [-1, -1, 1, np.nan]) == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="There is no row to score"):
        LabeledScorer()(always_b, X, [None] * 4)


def test_meta_estimators_that_number_y_take_the_mark_for_a_class():
    """docs/pitfalls.md warns of it. When scikit-learn changes this, the page must change, too."""
    X, truth = make_moons(60, noise=0.1, random_state=0)
    y = np.full(60, -1)
    y[:20] = truth[:20] + 1
    for outer in (BaggingClassifier, OneVsRestClassifier, CalibratedClassifierCV):
        assert outer(LSSVMClassifier()).fit(X, y).classes_.tolist() == [-1, 1, 2]
    assert StackingClassifier([("a", LSSVMClassifier())], cv=LabeledKFold()).fit(X, y).classes_.tolist() == [-1, 1, 2]
