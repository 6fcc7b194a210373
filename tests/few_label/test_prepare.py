"""Labels that come after everything else, for prepared models, snapshots and rows outside the core."""

import copy

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError

from mercer import FewLabelClassifier, SpectralGraphTransducer, suggest
from mercer.advice.why import why
from mercer.errors import InputError
from mercer.few_label.candidates.linear import LinearCandidate
from mercer.few_label.catalog import methods_of
from mercer.few_label.fit import Stopped
from mercer.few_label.library import Library

SLOW = {method.name for method in methods_of("classes").values() if method.slow}

FOUND = ("probabilities_", "confidence_", "left_out_scores_", "weights_", "votes_", "scores_")


@pytest.fixture(scope="module")
def digits():
    X, t = load_digits(return_X_y=True)
    return X[:260], t[:260]


@pytest.fixture(scope="module")
def prepared(digits):
    return FewLabelClassifier(random_state=0).prepare(digits[0])


def fresh(X, rows, names):
    y = np.full(len(X), None, dtype=object)
    y[rows] = names
    return FewLabelClassifier(random_state=0).fit(X, y)


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in FOUND)


def test_the_full_tier_is_a_fresh_fit_to_the_last_digit(prepared, digits):
    X, t = digits
    rows = np.arange(0, 60, 2)
    assert same(prepared.taught(rows, t[rows]), fresh(X, rows, t[rows]))


def test_a_fast_model_that_is_taught_nothing_becomes_the_full_one(prepared, digits):
    _, t = digits
    rows = np.arange(40)
    fast = prepared.taught(rows, t[rows], tier="fast")
    assert not {one.method for one in fast.candidates_} & SLOW
    assert same(fast.taught([], []), prepared.taught(rows, t[rows]))
    assert np.mean(fast.transduction_ == fast.taught([], []).transduction_) > 0.9


def test_a_snapshot_leaves_the_old_model_alone_and_undo_restores_every_digit(prepared, digits):
    _, t = digits
    rows = np.arange(30)
    old = prepared.taught(rows, t[rows])
    before = {name: copy.deepcopy(getattr(old, name)) for name in FOUND}
    new = old.taught([100, 101], t[100:102], drawn=False)
    assert not np.array_equal(new.probabilities_, old.probabilities_)
    assert all(np.array_equal(getattr(old, name), before[name], equal_nan=True) for name in FOUND)
    assert not new.drawn_[100] and new.drawn_[0]
    assert same(new.taught([100, 101], None, drawn=None), old)


def test_a_stopped_snapshot_changes_nothing(prepared, digits):
    _, t = digits
    asked = []

    def stop():
        asked.append(1)
        return len(asked) > 3

    with pytest.raises(Stopped):
        prepared.taught(np.arange(30), t[:30], stop=stop)
    assert len(asked) == 4 and not hasattr(prepared, "labels_")
    model = prepared.taught(np.arange(30), t[:30])
    with pytest.raises(Stopped):
        model.taught([40], [t[40]], stop=lambda: True)
    assert same(model, prepared.taught(np.arange(30), t[:30]))


def test_teaching_that_fails_leaves_the_model_as_it_was(prepared, digits):
    _, t = digits
    model = prepared.taught(np.arange(30), t[:30])
    drawn = model.drawn_.copy()
    with pytest.raises(InputError, match="text"):
        model.teach([40], ["a word among numbers"], drawn=False)
    assert np.array_equal(model.drawn_, drawn) and same(model, prepared.taught(np.arange(30), t[:30]))


def test_a_prepared_model_cannot_answer_and_says_so(prepared, digits):
    with pytest.raises(NotFittedError):
        prepared.predict(digits[0])
    with pytest.raises(InputError, match="tier"):
        prepared.taught([0, 1], [0, 1], tier="quick")


def test_coverage_without_labels_needs_no_second_graph(prepared):
    found = suggest(prepared, 12)
    assert len(set(found.rows.tolist())) == 12 and not found.drawn.any()


def test_among_and_exclude(prepared, digits):
    _, t = digits
    model = prepared.taught(np.arange(30), t[:30])
    assert set(suggest(model, 5, among=np.arange(50, 60)).rows) <= set(range(50, 60))
    first = suggest(model, 5).rows
    assert not set(suggest(model, 5, exclude=first).rows) & set(first)


# Rows outside the core


@pytest.fixture(scope="module")
def wide():
    X, t = load_iris(return_X_y=True)
    X, t = np.vstack([X, X[::3] + 0.003]), np.r_[t, t[::3]]
    core = np.arange(150)
    return X, t, core, FewLabelClassifier(random_state=0).prepare(X, core)


def test_labels_within_the_core_give_the_model_of_the_core(wide):
    X, t, core, model = wide
    rows = np.arange(0, 150, 9)
    own, alone = model.taught(rows, t[rows]), fresh(X[core], rows, t[rows])
    np.testing.assert_allclose(own.probabilities_[core], alone.probabilities_, atol=1e-8)
    np.testing.assert_allclose(own.left_out_probabilities_, alone.left_out_probabilities_, atol=1e-8)


def test_rows_outside_are_answered_like_new_rows(wide):
    X, t, core, model = wide
    rows = np.arange(0, 150, 9)
    own = model.taught(rows, t[rows])
    others = np.setdiff1d(np.arange(len(X)), core)
    np.testing.assert_allclose(own.probabilities_[others], own.predict_proba(X[others]), atol=1e-4)
    votes = own.votes_.sum(axis=1)
    np.testing.assert_allclose(votes, 1.0, atol=1e-9)


def test_a_label_outside_counts_as_one_of_the_same_row_inside(wide):
    _, t, core, _ = wide
    X = wide[0].copy()
    X[150:] = X[:150:3]  # exact copies of rows of the core
    model = FewLabelClassifier(random_state=0).prepare(X, core)
    inside = np.arange(0, 150, 9)
    outside = 150 + inside // 3
    a, b = model.taught(inside, t[inside]), model.taught(outside, t[outside])
    np.testing.assert_allclose(a.scores_[:150].argmax(axis=1), b.scores_[:150].argmax(axis=1))
    np.testing.assert_allclose(a.left_out_probabilities_, b.left_out_probabilities_, atol=2e-3)
    np.testing.assert_allclose(a.probabilities_[core], b.probabilities_[core], atol=2e-3)


def test_advice_names_rows_of_the_whole_table(wide):
    _, t, _, model = wide
    rows = np.r_[np.arange(0, 150, 15), 160, 190]
    own = model.taught(rows, t[rows])
    found = suggest(own, 6, audit=0.4)
    assert not set(found.rows) & set(rows)
    (one,) = why(own, [170])
    assert one.likely[0][0] == own.transduction_[170] and {row for row, _, _ in one.nearest} <= set(rows.tolist())
    assert abs(sum(weight for _, _, weight in one.families) - 1) < 1e-9


def test_a_model_for_few_labels_goes_and_comes_with_their_number():
    X, y = make_blobs(160, 4, centers=3, cluster_std=3.0, random_state=0)
    known = np.random.default_rng(0).permutation(160)[:60]
    few, many = (np.where(np.isin(np.arange(160), known[:size]), y, -1) for size in (45, 60))

    def transducers(model):
        return sum(isinstance(getattr(one, "model", None), SpectralGraphTransducer) for one in model.candidates_)

    model = FewLabelClassifier().fit(X, many)
    assert transducers(model) == 0
    assert transducers(FewLabelClassifier(methods=["sgt", "lssvm"]).fit(X, many)) > 0
    fresh = FewLabelClassifier().fit(X, few)
    assert transducers(fresh) > 0
    np.testing.assert_allclose(model.unteach(known[45:]).probabilities_, fresh.probabilities_, atol=1e-9)
    back = fresh.taught(known[45:], y[known[45:]])
    assert transducers(back) == 0
    np.testing.assert_allclose(back.probabilities_, FewLabelClassifier().fit(X, many).probabilities_, atol=1e-9)


def test_a_full_model_takes_over_the_fits_of_the_fast_one_and_looks_for_no_equal_rows(prepared, digits, monkeypatch):
    _, t = digits
    rows, solved = np.arange(12), []
    fast = prepared.taught(rows, t[rows], tier="fast")
    solve = LinearCandidate.solve
    monkeypatch.setattr(LinearCandidate, "solve", lambda one, labels: solved.append(one.method) or solve(one, labels))
    monkeypatch.setattr(Library, "groups", property(lambda model: pytest.fail("equal rows were looked for")))
    fast.taught([], [])
    assert solved and set(solved) <= SLOW
