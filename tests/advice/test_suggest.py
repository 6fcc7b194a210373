"""Rows to label next, suspicious labels and doubtful predictions, against refits and loops at n ≈ 30."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import make_blobs

from mercer import (
    FewLabelClassifier,
    KernelPCA,
    LeastSquaresKPCA,
    LSSVMClassifier,
    RLSClassifier,
    SemiKPCA,
    doubt,
    expected_change,
    suggest,
)
from mercer import suspicious as find_suspicious
from mercer.advice.doubt import REASONS
from mercer.advice.suggest import STRATEGIES
from mercer.errors import InputError
from mercer.evidence.calibration import two_columns

LINEAR = [
    LSSVMClassifier(5.0),
    LSSVMClassifier(5.0, bias=False),
    LSSVMClassifier(0.5, unlabeled="zero", bias=False),
    SemiKPCA(1),
    LSSVMClassifier(5.0, graph=5, graph_weight=0.1),
    LSSVMClassifier(0.5, unlabeled="zero", bias=False, graph=5, graph_weight=0.1),
]


def data(k=3, n=30, seed=0):
    X, y = make_blobs(n, 4, centers=k, cluster_std=2.5, random_state=seed)
    given = np.full(n, -1)
    for c in range(k):
        given[np.flatnonzero(y == c)[:3]] = c
    return X, y, given


def effect_of(model, X, given):
    fitted = model.fit(X, given)
    return fitted, fitted.solution_for(X, given).effect


@pytest.mark.parametrize("model", LINEAR, ids=str)
@pytest.mark.parametrize("k", [2, 3])
def test_effect_of_a_label_is_that_of_a_refit(model, k):
    X, _, given = data(k)
    fitted, effect = effect_of(model, X, given)
    f = fitted.decision_function(X).reshape(len(X), -1)
    before = two_columns(f)
    for j in np.flatnonzero(given < 0)[:4]:
        for c in range(k):
            more = given.copy()
            more[j] = c
            again = type(model)(**model.get_params()).fit(X, more)
            target = np.array([2.0 * c - 1]) if k == 2 else 2.0 * (np.arange(k) == c) - 1
            moved = before + two_columns(effect.step(np.array([j])) * effect.surprise(target, f[j]))
            np.testing.assert_allclose(moved, two_columns(again.decision_function(X).reshape(len(X), -1)), atol=1e-6)


@pytest.mark.parametrize("model", LINEAR[:2], ids=str)
def test_adding_a_row_gives_the_covariance_of_the_refit(model):
    X, _, given = data()
    _, effect = effect_of(model, X, given)
    j = int(np.flatnonzero(given < 0)[0])
    given[j] = 0
    _, expected = effect_of(model, X, given)
    np.testing.assert_allclose(effect.after(j).M, expected.M, atol=1e-7)


def test_variance_taken_away_against_a_loop():
    X, _, given = data()
    _, effect = effect_of(LSSVMClassifier(5.0, bias=False), X, given)
    weight = np.random.default_rng(0).uniform(size=len(X))
    C = effect.Z @ effect.M @ effect.Z.T
    rows = np.flatnonzero(given < 0)
    expected = [sum(weight[i] * C[i, j] ** 2 for i in range(len(X))) / (C[j, j] + 0.2) for j in rows]
    np.testing.assert_allclose(effect.focused(rows, effect.focus_on(weight)), expected, rtol=1e-9)


def test_expected_error_against_refits():
    """The first row of "error" minimizes the expected error over all rows after labeling it, computed by refitting."""
    X, _, given = data()
    model = LSSVMClassifier(5.0, bias=False).fit(X, given)
    slope = model.calibration_[0]
    P = model.predict_proba(X)
    risk = {}
    for j in np.flatnonzero(given < 0):
        risk[j] = 0.0
        for c in range(3):
            more = given.copy()
            more[j] = c
            scores = LSSVMClassifier(5.0, bias=False).fit(X, more).decision_function(X)
            risk[j] += P[j, c] * np.mean(1 - softmax(slope * scores, axis=1).max(axis=1))
    found = suggest(model, 1, strategy="error", X=X, y=given)
    assert found.rows[0] == min(risk, key=risk.get)
    now = np.mean(1 - softmax(slope * model.decision_function(X), axis=1).max(axis=1))
    np.testing.assert_allclose(found.gains[0], now - min(risk.values()), atol=1e-9)


@pytest.fixture(scope="module")
def fitted():
    X, y = make_blobs(90, 4, centers=3, cluster_std=2.0, random_state=1)
    given = np.full(90, -1)
    given[:10] = y[:10]
    return X, y, given, FewLabelClassifier(["diffusion", "lssvm", "ls_kpca"]).fit(X, given)


@pytest.mark.parametrize("strategy", ["auto", *STRATEGIES])
def test_batches_are_new_rows_with_reasons(fitted, strategy):
    _, _, given, model = fitted
    found = suggest(model, 6, strategy=strategy)
    assert len(set(found.rows.tolist())) == 6
    assert np.all(given[found.rows] < 0)
    assert len(found.reasons) == 6
    assert str(found).count("row ") >= 6
    again = suggest(model, 6, strategy=strategy)
    np.testing.assert_array_equal(found.rows, again.rows)


def test_uncertainty_asks_for_the_closest_calls(fitted):
    model = fitted[3]
    top = np.sort(model.probabilities_, axis=1)
    lead = np.where(model.labels_.codes >= 0, np.inf, top[:, -1] - top[:, -2])
    np.testing.assert_array_equal(suggest(model, 5, strategy="uncertainty").rows, np.argsort(lead, kind="stable")[:5])


def test_first_labels_cover_the_groups():
    X, y = make_blobs(120, 3, centers=6, cluster_std=0.3, random_state=0)
    assert sorted(y[suggest(X, 6).rows]) == list(range(6))


def test_suggested_labels_teach_more_than_random_ones():
    chosen, drawn = [], []
    for seed in (3, 4, 5):
        X, y = make_blobs(300, 6, centers=8, cluster_std=2.2, random_state=seed)
        start = suggest(X, 10).rows
        given = np.full(len(y), -1)
        given[start] = y[start]
        model = FewLabelClassifier(["diffusion"]).fit(X, given)
        for _ in range(2):
            rows = suggest(model, 5).rows
            model.teach(rows, y[rows])
        chosen.append(np.mean(model.transduction_ == y))
        for draw in range(5):
            given = np.full(len(y), -1)
            rows = np.random.default_rng(draw).choice(len(y), 20, replace=False)
            given[rows] = y[rows]
            drawn.append(np.mean(model.relabel(given).transduction_ == y))
    assert np.mean(chosen) > np.mean(drawn) + 0.03


@pytest.mark.parametrize("model", LINEAR, ids=str)
@pytest.mark.parametrize("k", [2, 3])
def test_expected_change_is_that_of_refits(model, k):
    X, _, given = data(k, n=40)
    fitted = model.fit(X, given)
    free = given < 0
    before = fitted.predict(X)[free]
    rows = suggest(fitted, 6, X=X, y=given).rows
    P = fitted.predict_proba(X)
    rng = np.random.default_rng(0)
    changed = []
    for _ in range(5):
        more = given.copy()
        for j in rows:
            more[j] = rng.choice(k, p=P[j])
        again = type(model)(**model.get_params()).fit(X, more)
        changed.append(np.mean(again.predict(X)[free] != before))
    assert np.mean(changed) > 0
    np.testing.assert_allclose(expected_change(fitted, 6, X=X, y=given), np.mean(changed))


def test_suggestions_see_the_class_shares_that_were_asked_for():
    X, _, given = data(2, n=60)
    plain = FewLabelClassifier(["diffusion", "lssvm"]).fit(X, given)
    told = FewLabelClassifier(["diffusion", "lssvm"], prior={0: 0.9, 1: 0.1}).fit(X, given)
    rows = suggest(told, 3, strategy="uncertainty").rows
    free = np.flatnonzero(given < 0)
    assert set(rows) == set(free[np.argsort(told.probabilities_[free].max(axis=1), kind="stable")[:3]])
    assert set(rows) != set(suggest(plain, 3, strategy="uncertainty").rows)


def test_expected_change_falls_with_labels():
    X, y = make_blobs(120, 3, centers=2, cluster_std=2.0, random_state=0)
    few, many = (np.where(np.arange(120) < l, y, -1) for l in (6, 90))
    model = FewLabelClassifier(["diffusion", "lssvm"]).fit(X, few)
    early = expected_change(model, 5)
    late = expected_change(model.relabel(many), 5)
    assert 0 <= late < early <= 1


def test_suspicious_labels_are_the_flipped_ones():
    X, y = make_blobs(200, 5, centers=2, cluster_std=2.5, random_state=0)
    given = np.where(np.arange(200) < 50, y, -1)
    wrong = np.arange(0, 50, 7)
    given[wrong] = 1 - given[wrong]
    model = FewLabelClassifier(["diffusion", "lssvm"]).fit(X, given)
    found = find_suspicious(model, 10)
    assert np.isin(wrong, found.rows).mean() > 0.85
    assert np.all(np.diff(found.probability) <= 0)
    np.testing.assert_array_equal(found.given, given[found.rows])
    np.testing.assert_array_equal(found.proposed, 1 - given[found.rows])
    probable = find_suspicious(model)
    assert np.all(probable.margins < 0) and np.all(probable.probability > 0.5)
    assert np.isin(probable.rows, wrong).mean() > 0.8
    assert set(probable.rows) < set(find_suspicious(model, above=0.1).rows)
    assert "chance that it is wrong" in str(found)


def test_suspicious_margins_are_those_of_refits():
    X, _, given = data()
    model = LSSVMClassifier(5.0).fit(X, given)
    found = find_suspicious(model, 9, X=X, y=given)
    for row, margin in zip(found.rows, found.margins):
        less = given.copy()
        less[row] = -1
        f = LSSVMClassifier(5.0).fit(X, less).decision_function(X[row][None])[0]
        own = f[given[row]]
        np.testing.assert_allclose(margin, own - np.delete(f, given[row]).max(), atol=1e-8)


def test_the_only_label_of_a_class_is_never_suspected():
    X, _, given = data()
    given[np.flatnonzero(given == 2)[1:]] = -1
    model = FewLabelClassifier(["diffusion"]).fit(X, given)
    assert not np.any(given[find_suspicious(model, 30).rows] == 2)


def test_doubt_names_each_reason():
    rng = np.random.default_rng(0)
    left, right = rng.normal(0, 0.5, (40, 3)), rng.normal(6, 0.5, (40, 3))
    between = np.full((1, 3), 3.0)
    island = rng.normal(40, 0.2, (12, 3))
    X = np.vstack([left, right, between, island])
    given = np.full(len(X), -1)
    given[:8], given[40:48] = 0, 1
    given[5] = 1
    model = FewLabelClassifier().fit(X, given)
    found = doubt(model)
    reasons = dict(zip(found.rows.tolist(), found.reasons))
    assert reasons[5] == ["label contradicted"]
    assert all("far from labels" in reasons[row] for row in range(81, 93))
    assert 20 not in reasons
    assert {name for names in found.reasons for name in names} <= set(REASONS)
    lead = np.sort(model.probabilities_, axis=1)
    share = model.votes_.max(axis=1)
    for row in np.flatnonzero(given < 0):
        assert ("low margin" in reasons.get(row, [])) == (lead[row, 1] - lead[row, 0] < 0.2)
        assert ("candidates disagree" in reasons.get(row, [])) == (share[row] < 0.7)
    assert list(found.to_frame().columns) == ["row", "label", "confidence", "reasons"]
    assert "label contradicted" in str(found)


def test_doubt_finds_a_novel_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 10)) + 0.05 * rng.normal(size=(60, 10))
    X[59] += 3 * rng.normal(size=10)
    given = np.where(np.arange(60) < 10, (X[:, 0] > 0).astype(int), -1)
    found = doubt(FewLabelClassifier().fit(X, given))
    assert [row for row, names in zip(found.rows, found.reasons) if "novel" in names] == [59]


def test_refusals(fitted):
    X, _, given, model = fitted
    with pytest.raises(InputError, match="'magic' is not known"):
        suggest(model, strategy="magic")
    with pytest.raises(InputError, match="at least 1"):
        suggest(model, 0)
    with pytest.raises(InputError, match="80 are unlabeled"):
        suggest(model, 81)
    with pytest.raises(InputError, match="needs a fitted model"):
        suggest(X, 3, strategy="error")
    with pytest.raises(InputError, match="needs a fitted model"):
        expected_change(X)
    with pytest.raises(InputError, match="Pass X= and y="):
        suggest(LSSVMClassifier().fit(X, given), 3)
    with pytest.raises(InputError, match="not known without refitting"):
        suggest(RLSClassifier().fit(X, given), 3, X=X, y=given)
    with pytest.raises(InputError, match="neither a fitted model nor rows"):
        suggest(np.ones(3), 1)
    with pytest.raises(InputError, match="KernelPCA is neither a fitted model nor rows"):
        suggest(KernelPCA(2).fit(X), 1)
    with pytest.raises(InputError, match="expected_change needs the rows that LSSVMClassifier was fitted on"):
        expected_change(LSSVMClassifier().fit(X, given))
    with pytest.raises(InputError, match="linear in the labels"):
        suggest(FewLabelClassifier(["ls_kpca"]).fit(X, given), 3)
    with pytest.raises(InputError, match="Pass X= and y="):
        find_suspicious(LeastSquaresKPCA().fit(X, given))
    with pytest.raises(InputError, match="at least 1, or None"):
        find_suspicious(model, 0)
    with pytest.raises(InputError, match="doubt needs a fitted FewLabelClassifier"):
        doubt(LSSVMClassifier().fit(X, given))


def test_no_two_equal_rows_while_others_are_left():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 3)), 4, axis=0)
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    given = np.array([None] * 120, dtype=object)
    given[[0, 5, 20, 41, 62, 83]] = y[[0, 5, 20, 41, 62, 83]]
    model = FewLabelClassifier(["lssvm", "diffusion"], random_state=0).fit(X, given)
    for found in (suggest(model, 20), suggest(X, 20), suggest(model, 20, find=model.classes_[0])):
        assert len(np.unique(X[found.rows], axis=0)) == 20
    assert len(set(suggest(model, 60).rows.tolist())) == 60  # more than there are different rows
