"""cleanlab reads held-out predictions, compared with `suspicious`."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

pytest.importorskip("cleanlab")

from cleanlab.classification import CleanLearning
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores

from mercer import FewLabelClassifier, InputError, suspicious
from mercer.bridges.cleanlab import for_cleanlab, from_cleanlab


@pytest.fixture(scope="module")
def flipped():
    """(rows, labels of which 15 are wrong, numbers of the wrong ones)."""
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    wrong = np.sort(rng.choice(len(y), 15, replace=False))
    noisy = y.copy()
    noisy[wrong] = (y[wrong] + rng.integers(1, 3, 15)) % 3
    return scale(X), noisy, wrong


@pytest.fixture(scope="module")
def model(flipped):
    return FewLabelClassifier(["lssvm", "diffusion", "semi_kpca"]).fit(flipped[0], flipped[1])


def test_withheld_answers_are_what_cleanlab_asks_for(model, flipped):
    X, noisy, wrong = flipped
    P = model.left_out_probabilities_
    assert P.shape == (len(X), 3) and np.allclose(P.sum(axis=1), 1)
    theirs = find_label_issues(noisy, P, return_indices_ranked_by="self_confidence")
    ours, sure = suspicious(model, 15).rows, suspicious(model).rows
    assert np.isin(theirs, wrong).sum() >= 11 and np.isin(ours, wrong).sum() >= 14
    assert len(sure) >= 5 and np.isin(sure, wrong).all()  # more likely wrong than correct
    quality = get_label_quality_scores(noisy, P)
    first = np.argsort(quality)[:15]
    assert np.isin(first, suspicious(model, 20).rows).mean() > 0.8


def test_what_cleanlab_finds_is_read_back(model, flipped):
    _, noisy, wrong = flipped
    given = for_cleanlab(model)
    np.testing.assert_array_equal(given["labels"], noisy[given["rows"]])
    for options in ({}, {"return_indices_ranked_by": "self_confidence"}):
        found = from_cleanlab(model, find_label_issues(given["labels"], given["pred_probs"], **options))
        assert np.isin(found.rows, wrong).mean() > 0.8 and len(found.rows) >= 11
        assert (found.given == noisy[found.rows]).all() and (found.proposed != found.given).all()
        both = np.intersect1d(found.rows, suspicious(model, len(noisy)).rows)
        ours = suspicious(model, len(noisy))
        for row in both[:5]:
            here, there = np.flatnonzero(ours.rows == row)[0], np.flatnonzero(found.rows == row)[0]
            assert found.proposed[there] == ours.proposed[here]
            assert found.probability[there] == pytest.approx(ours.probability[here], abs=0.05)
    truth = load_wine().target
    model = clone(model).fit(flipped[0], noisy)
    model.teach(found.rows, found.proposed)
    assert np.mean(model.transduction_ == truth) > np.mean(noisy == truth)
    with pytest.raises(InputError, match="do not fit the"):
        from_cleanlab(model, np.array([10**6]))
    with pytest.raises(InputError, match="do not fit the"):
        from_cleanlab(model, np.ones(3, dtype=bool))


def test_cleanlab_trains_our_classifier(flipped):
    X, noisy, wrong = flipped
    learner = CleanLearning(FewLabelClassifier(["lssvm"]), cv_n_folds=3, seed=0)
    issues = learner.find_label_issues(X, noisy)
    assert issues["is_label_issue"].to_numpy()[wrong].mean() > 0.6
    known = FewLabelClassifier(["lssvm"]).fit(X, noisy)
    assert set(from_cleanlab(known, issues).rows) == set(np.flatnonzero(issues["is_label_issue"]))
    learner.fit(X, noisy, label_issues=issues)
    truth = load_wine().target
    assert np.mean(learner.predict(X) == truth) > 0.95
