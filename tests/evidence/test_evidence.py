"""Slopes, estimates, sets and label errors from held-out labels, against slow versions and over many draws."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from mercer import FewLabelClassifier, suggest, suspicious
from mercer.errors import InputError
from mercer.evidence.accuracy import HeldOut, estimate, jeffreys
from mercer.evidence.calibration import calibrate, capped, log_scores, sharpen, slopes
from mercer.evidence.label_errors import wrong_probability
from mercer.evidence.sets import conformal_sets
from mercer.few_label.candidates.forest import ForestCandidate, Trees
from mercer.few_label.folds import held_out_answers
from mercer.few_label.views import AsGiven
from mercer.inputs.labels import read_labels

QUICK = ["lssvm", "forest"]


@pytest.mark.parametrize("k", [2, 4])
def test_slopes_are_those_of_one_by_one(k):
    rng = np.random.default_rng(0)
    given = np.eye(k)[rng.integers(k, size=25)]
    left_out = rng.normal(size=(5, 25, 1 if k == 2 else k)) + (given if k > 2 else given[:, 1:] - 0.5)
    margin = rng.uniform(0.5, 2, 5)
    expected = [calibrate(left_out[j], given, margin[j]).value[0] for j in range(5)]
    np.testing.assert_allclose(slopes(left_out, given, margin), expected, rtol=1e-5)


def test_probabilities_are_sharpened_towards_what_happens():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), 4000)
    given = np.eye(3)[[rng.choice(3, p=p) for p in truth]]
    blunt = truth**0.5 / (truth**0.5).sum(axis=1, keepdims=True)
    assert sharpen(blunt, given, 10.0) == pytest.approx(2.0, rel=0.1)
    assert sharpen(blunt[:3], given[:3], 0.01) == pytest.approx(1.0, abs=0.05)  # the prior, for few labels


def test_a_cap_keeps_the_order_and_the_sum():
    P = np.array([[0.99, 0.005, 0.005], [0.5, 0.3, 0.2]])
    low = capped(P, 0.9)
    np.testing.assert_allclose(low.sum(axis=1), 1)
    assert low[0].max() == pytest.approx(0.9) and np.array_equal(low[1], P[1])
    assert log_scores(P[:, :2]).shape == (2, 1)


def test_no_answer_to_a_withheld_label_knows_it():
    """Another class for a label does not change its held-out prediction, to rounding, with all labels in folds."""
    X, y = load_iris(return_X_y=True)
    given = np.full(150, -1)
    rows = np.sort(np.random.default_rng(0).choice(150, 20, replace=False))
    given[rows] = y[rows]
    model = FewLabelClassifier(QUICK).fit(X, given)
    found = held_out_answers(model.candidates_, read_labels(given), np.arange(20), "average", 0, 0.1)
    for i in (0, 7, 19):
        other = given.copy()
        other[rows[i]] = (other[rows[i]] + 1) % 3
        again = held_out_answers(model.candidates_, read_labels(other), np.arange(20), "average", 0, 0.1)
        for before, after in zip(found, again):
            np.testing.assert_allclose(after.answers[i], before.answers[i], rtol=1e-8)
            others = np.delete(after.answers - before.answers, i, axis=0)
            assert np.sum(np.abs(others).max(axis=1) > 1e-4) >= 15  # those of the other folds do know it
    together = held_out_answers(model.candidates_, read_labels(given), np.zeros(20, dtype=int), "average", 0, 0.1)
    assert len(together) == 1
    np.testing.assert_allclose(together[0].answers, 1 / 3)  # with one group nothing is left to fit


def test_labels_of_single_classes_count_as_wrong():
    given = np.eye(3)[[0, 0, 1, 1, 2]]
    H = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.3, 0.7, 0.0], [0.2, 0.8, 0.0], [0.5, 0.5, 0.0]])
    found = estimate([HeldOut(H, given.sum(axis=0) - given)], np.zeros((0, 3)), given, np.ones(5, dtype=bool))
    assert found.accuracy.value == pytest.approx(0.8)
    assert found.recall[2].value == 0.0 and found.unseen.value == pytest.approx(0.2)
    assert found.unseen_in_set(0.9) and not found.unseen_in_set(0.5)


def test_only_labels_drawn_at_random_count():
    given = np.eye(2)[[0, 1] * 10]
    H = np.where(np.arange(20)[:, None] < 10, given, 1 - given) * 0.8 + 0.1
    drawn = np.arange(20) < 10
    P = np.full((100, 2), 0.5)
    held_out = [HeldOut(H, given.sum(axis=0) - given)]
    assert estimate(held_out, P, given, drawn).recall[0].value == 1.0
    assert estimate(held_out, P, given, ~drawn).recall[0].value == 0.0
    assert not estimate(held_out, P, given, np.zeros(20, dtype=bool)).for_all_rows


def test_the_estimate_is_the_share_of_right_answers_moved_by_the_confidence_on_other_rows():
    given = np.eye(2)[[0, 0, 0, 1, 1, 1, 0, 1, 0, 1]]
    H = np.where(np.arange(10)[:, None] < 7, given, 1 - given) * 0.6 + 0.2  # seven correct ones, all at 0.8
    held_out, drawn = [HeldOut(H, given.sum(axis=0) - given)], np.ones(10, dtype=bool)
    for confidence, expected in ((0.8, 0.7), (0.9, 0.8), (0.5, 0.4), (1.0, 0.9)):
        P = np.tile([confidence, 1 - confidence], (50, 1))
        assert estimate(held_out, P, given, drawn).accuracy.value == pytest.approx(expected)
    # Without itself a label's class has 4 of 9 labels. Half of the way to 5 of 10 its odds rise by the root of 11/9.
    odds = H[0, 0] / H[0, 1] * np.sqrt((5.5 / 4.5) / (5.5 / 5.5))
    assert estimate(held_out, P, given, drawn).held_out[0, 0] == pytest.approx(odds / (1 + odds))


def test_the_interval_holds_for_coin_tosses_and_for_real_classes():
    """The 95% interval misses in at most six of 60 draws each."""
    missed = {"coins": 0, "classes": 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = make_blobs(150, 4, centers=3, cluster_std=4.0, random_state=seed)
        for kind, truth in (("coins", rng.integers(2, size=150)), ("classes", y)):
            rows = rng.choice(150, 20, replace=False)
            known = np.full(150, -1)
            known[rows] = truth[rows]
            if len(np.unique(truth[rows])) < 2:
                continue
            model = FewLabelClassifier(["lssvm"]).fit(X, known)
            free = known < 0
            accuracy = 0.5 if kind == "coins" else np.mean(model.transduction_[free] == truth[free])
            low, high = model.accuracy_interval_
            missed[kind] += not low <= accuracy <= high
    assert missed["coins"] <= 6 and missed["classes"] <= 6, missed


def test_sets_hold_the_class_as_often_as_promised():
    rng = np.random.default_rng(0)
    covered = {False: [], True: []}
    for _ in range(200):
        codes = rng.integers(3, size=40)
        P = rng.dirichlet(np.ones(3), 40)
        P[np.arange(40), codes] += 0.5
        P /= P.sum(axis=1, keepdims=True)
        for by_class in covered:
            inside = conformal_sets(P[30:], P[:30], codes[:30], 0.8, by_class)
            covered[by_class].append(inside[np.arange(10), codes[30:]].mean())
    assert 0.78 <= np.mean(covered[False]) <= 0.86 and np.mean(covered[True]) >= 0.78
    with pytest.raises(InputError, match="coverage=1.5 is not accepted"):
        conformal_sets(P, P, codes, 1.5)


def test_right_labels_are_not_called_wrong():
    rng = np.random.default_rng(0)
    flagged, found, claimed = 0, [], []
    for _ in range(40):
        P = rng.dirichlet(np.full(3, 0.3), 60)
        truth = np.array([rng.choice(3, p=p) for p in P])
        flagged += np.sum(wrong_probability(P, truth) > 0.5)
        codes = truth.copy()
        flipped = rng.choice(60, 12, replace=False)
        codes[flipped] = (codes[flipped] + rng.integers(1, 3, 12)) % 3
        wrong = wrong_probability(P, codes)
        found.append(np.isin(np.flatnonzero(wrong > 0.5), flipped))
        claimed.append(wrong[wrong > 0.5])
    assert flagged / 2400 <= 0.05
    found, claimed = np.concatenate(found), np.concatenate(claimed)
    assert len(found) > 100 and abs(found.mean() - claimed.mean()) <= 0.1


def test_trees_vote_as_scikit_learn_s():
    X, y = load_iris(return_X_y=True)
    forest = ExtraTreesClassifier(20, random_state=0).fit(X[::3], y[::3])
    np.testing.assert_allclose(
        Trees.of_sklearn([tree.tree_ for tree in forest]).votes(X), forest.predict_proba(X), atol=1e-12
    )


def test_compiled_trees_are_trees_of_the_labeled_rows():
    X, y = load_iris(return_X_y=True)
    some = np.arange(0, 150, 3)
    for kind, theirs in (("extra", ExtraTreesClassifier), ("random", RandomForestClassifier)):
        trees, away = Trees.grown(X[some], y[some], 3, kind, 0, 200)
        forest = theirs(200, bootstrap=True, oob_score=True, random_state=0).fit(X[some], y[some])
        ours, peer = trees.votes(X), forest.predict_proba(X)
        assert np.abs(ours - peer).mean() < 0.02 and np.abs(away - forest.oob_decision_function_).mean() < 0.03
        assert abs(len(trees.value) / sum(tree.tree_.node_count for tree in forest) - 1) < 0.1
        leaf = trees.leaves(X)  # the slow walk of a kernel of trees
        np.testing.assert_allclose(ours, trees.value[leaf].mean(axis=1), atol=1e-12)
        assert np.array_equal(Trees.grown(X[some], y[some], 3, kind, 0, 200)[0].threshold, trees.threshold)


def test_large_trees_and_equal_rows_vote_as_the_slow_walk_does():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(900, 4)), 2, axis=0)
    y = rng.integers(3, size=1800)  # equal rows of different classes make leaves that are not pure
    trees, _ = Trees.grown(X, y, 3, "random", 0, 10)
    assert len(trees.value) > 10 * 300
    np.testing.assert_allclose(trees.votes(X), trees.value[trees.leaves(X)].mean(axis=1), atol=1e-12)
    small, _ = Trees.grown(X[:60], y[:60], 3, "extra", 0, 300)
    np.testing.assert_allclose(small.votes(X), small.value[small.leaves(X)].mean(axis=1), atol=1e-12)


def test_trees_of_a_damaged_file_are_refused():
    X, y = load_iris(return_X_y=True)
    trees, _ = Trees.grown(X, y, 3, "extra", 0, 5)
    trees.left[np.flatnonzero(trees.left >= 0)[0]] = 10**6
    with pytest.raises(InputError, match="damaged"):
        trees.votes(X)


def test_out_of_bag_answers_do_not_know_their_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = rng.integers(2, size=300)
    right = []
    for seed in range(5):
        labels = read_labels(np.where(np.arange(300) < 100, y, -1))
        fitted = ForestCandidate("forest", "forest", AsGiven(), X, "extra", seed).solve(labels)
        right.append(np.mean((fitted.left_out[:, 0] > 0) == y[:100]))
        assert np.mean((fitted.scores()[:100, 0] > 0) == y[:100]) > 0.9  # in the bag it does
    assert abs(np.mean(right) - 0.5) < 0.12


def test_audited_suggestions_are_marked_and_counted():
    X, y = make_blobs(200, 3, centers=2, cluster_std=5.0, random_state=0)
    given = np.where(np.arange(200) % 20 == 0, y, -1)
    model = FewLabelClassifier(QUICK).fit(X, given)
    found = suggest(model, 10, audit=0.25)
    assert found.drawn.sum() == 3 and len(set(found.rows)) == 10
    assert all("at random" in reason for reason, drawn in zip(found.reasons, found.drawn) if drawn)
    model.teach(found.rows, y[found.rows], drawn=found.drawn)
    assert model.estimate_.n_drawn == 13 and model.estimate_.n_labels == 20
    assert "estimated from 13 held-out labels of rows drawn at random" in str(model.report_)
    chosen = FewLabelClassifier(QUICK).fit(X, given, drawn=np.zeros(200, dtype=bool))
    assert "This is not an estimate for all rows" in str(chosen.report_)
    with pytest.raises(InputError, match="audit=2 is not accepted"):
        suggest(model, 3, audit=2)
    with pytest.raises(InputError, match="drawn has shape"):
        FewLabelClassifier(QUICK).fit(X, given, drawn=[True])


def test_copies_of_labeled_rows_do_not_vouch_for_each_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = rng.integers(2, size=200)  # nothing to learn
    rows = np.repeat(np.arange(20), 3)
    X = np.vstack([X, X[:20], X[:20]])
    y = np.concatenate([y, y[:20], y[:20]])
    given = np.full(240, -1)
    given[np.concatenate([np.arange(20), np.arange(200, 240)])] = y[
        np.concatenate([np.arange(20), np.arange(200, 240)])
    ]
    model = FewLabelClassifier(["lssvm"]).fit(X, given)
    assert len(rows) == len(model.labels_.labeled)
    low, _ = model.accuracy_interval_
    assert low < 0.5


def test_suspicious_claims_little_of_good_labels_and_ranks_a_flip_first():
    X, y = make_blobs(150, 4, centers=3, cluster_std=1.0, random_state=0)
    given = np.where(np.arange(150) % 5 == 0, y, -1)
    good = suspicious(FewLabelClassifier(QUICK).fit(X, given), 5)
    given[0] = (given[0] + 1) % 3
    found = suspicious(FewLabelClassifier(QUICK).fit(X, given), 5)
    assert found.rows[0] == 0 and found.probability[0] > 10 * found.probability[1]
    assert good.probability.max() < 0.05 < found.probability[0]


def test_jeffreys_ends():
    assert jeffreys(1.0, 10).high == 1.0 and jeffreys(0.0, 10).low == 0.0
    assert np.isnan(jeffreys(float("nan"), 10).value)
