"""FewLabelClassifier: its held-out predictions and weights against slow loops, teaching against refitting, its
predictions.
"""

import copy
import pickle
import warnings

import dask.array
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import FewLabelClassifier, GraphLaplacian, suspicious
from mercer.errors import InputError
from mercer.evidence.calibration import as_probabilities, calibrate, probabilities, typical_margin
from mercer.few_label import fit as fits
from mercer.few_label import weights
from mercer.few_label.catalog import methods_named, methods_of
from mercer.few_label.plan import planned
from mercer.few_label.sizes import Sizes
from mercer.few_label.spaces import GraphSpace, JoinedSpace, KernelSpace, TransformedSpace, transducer
from mercer.few_label.weights import pool
from mercer.geometry.open import POLICIES, Policy
from mercer.inputs.labels import read_labels

WEIGHTS = "weights count labels: a row that occurs twice has another place among its neighbors than a row of weight 2"
EXPECTED = {"check_classifiers_classes": "fits y in {-1, 1}, where -1 may mean unlabeled: refused on purpose"}
EXPECTED |= {f"check_sample_weight_equivalence_on_{kind}_data": WEIGHTS for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([FewLabelClassifier()], expected_failed_checks=lambda _: EXPECTED, xfail_strict=True)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def two_groups(n=36, labels=8, seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(0, 1, (n // 2, 5)), rng.normal(1.5, 1, (n // 2, 5))])
    y = np.repeat([0, 1], n // 2)
    given = np.full(n, -1)
    rows = np.concatenate([rng.choice(n // 2, labels // 2, False), n // 2 + rng.choice(n // 2, labels // 2, False)])
    given[rows] = y[rows]
    return X, y, given


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    given = np.full(len(y), -1)
    rows = np.random.default_rng(3).choice(len(y), 15, replace=False)
    given[rows] = y[rows]
    return X, y, given, FewLabelClassifier().fit(X, given)


def test_every_candidate_knows_its_left_out_answers():
    """Methods with a closed form predict like a fit without the label, on the same features."""
    X, _, given = two_groups()
    labels = read_labels(given)
    plan = planned(X, methods_named("classes", ("lssvm", "components", "diffusion", "mixed", "semi_kpca", "ls_kpca")))
    found = [candidate for step in plan for candidate in step.build()]
    assert len(found) > 25
    for candidate in found:
        left_out = candidate.solve(labels).solution.left_out
        for i in (0, 5):
            fewer = candidate.solve(labels.keep(np.delete(np.arange(8), i)))
            expected = fewer.solution.scores(candidate.space.Z[labels.labeled[i]][None])[0]
            np.testing.assert_allclose(left_out[i], expected, atol=2e-4, err_msg=candidate.name)


class Told:
    """A candidate of which the held-out predictions are known."""

    prior_group = ""

    def __init__(self, left_out):
        self.left_out = left_out


def by_row(scores):
    """Scores (n, k') of the candidates as the pool takes them, (m, k', n)."""
    return np.array([own.T for own in scores])


def test_weights_and_left_out_pool_against_loops():
    rng = np.random.default_rng(0)
    m, l = 6, 9
    labels = read_labels([0, 1] * 4 + [0])
    fitted = [Told(rng.normal(size=(l, 1))) for _ in range(m)]
    scores = [rng.normal(size=(30, 1)) for _ in range(m)]
    found = pool(fitted, labels, by_row(scores))
    codes = labels.codes
    P = np.empty((m, l))
    for j in range(m):
        slope, floor = calibrate(fitted[j].left_out, labels.given, typical_margin(scores[j])).value
        np.testing.assert_allclose(found.slopes[j], slope, rtol=1e-4)
        P[j] = probabilities(fitted[j].left_out, slope, floor)[:, 1]
    believed = np.where(codes == 1, P, 1 - P)
    np.testing.assert_allclose(found.losses, -np.log(believed), atol=1e-4)
    t = 1 / (1 + l / 50)
    raw = np.array([np.prod(believed[j] ** t) for j in range(m)])
    kept = found.weights > 0
    np.testing.assert_allclose(found.weights[kept], raw[kept] / raw[kept].sum(), rtol=1e-3)
    assert raw[kept].sum() >= 0.99 * raw.sum()
    for i in range(l):
        without = np.array([np.prod(np.delete(believed[j], i) ** t) if kept[j] else 0.0 for j in range(m)])
        nothing = 0.2 * 0.5 ** (t * (l - 1))  # random predictions for the other labels, next to those of the candidates
        total = nothing + 0.8 * without.sum() / m
        expected = (0.8 * without @ P[:, i] / m + nothing * 0.5) / total
        np.testing.assert_allclose(found.left_out[i, 1], expected, rtol=1e-3)
    nothing = 0.2 * 0.5 ** (t * l)
    nothing /= nothing + 0.8 * raw.sum() / m
    np.testing.assert_allclose(found.floor, nothing / 2 + (1 - nothing) * floor, rtol=1e-3)
    np.testing.assert_allclose(
        found.mean(by_row(scores)[found.used]),
        sum(w * as_probabilities(s, b, found.floor) for w, s, b in zip(found.weights, scores, found.slopes)),
    )


def test_answers_at_random_are_believed_less_than_right_ones_and_move_no_row():
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 2
    sign, scores = np.where(codes == 1, 1.0, -1.0)[:, None], rng.normal(size=(1, 1, 30))
    coin = rng.permutation(sign)
    right, random = (pool([Told(one)], read_labels(codes), scores) for one in (sign, coin))
    assert right.floor < 0.03 and random.floor > 0.09  # 1 / 42, and about a fifth of 1/2
    np.testing.assert_array_equal(random.mean(scores)[:, 1] > 0.5, scores[0, 0] > 0)


def test_without_evidence_all_candidates_weigh_the_same():
    X, _, given = two_groups()
    few = np.full(len(given), -1)
    few[0], few[-1] = 0, 1
    model = FewLabelClassifier().fit(X, few)
    trees = np.array([candidate.prior_group != "" for candidate in model.candidates_])
    used = model.weights_[~trees][model.weights_[~trees] > 0]
    np.testing.assert_allclose(used, used[0])
    assert len(used) >= np.sum(~trees) - 1
    np.testing.assert_allclose(model.weights_[trees].sum(), 0.27, atol=0.01)
    assert "No label could be held out" in str(model.report_)
    picked = FewLabelClassifier(combine="pick").fit(X, few)
    assert picked.weights_[0] == 1.0


def test_pick_keeps_the_default_unless_another_is_clearly_better():
    codes = np.arange(20) % 2
    sign = np.where(codes == 1, 1.0, -1.0)[:, None]
    coin = sign.copy()
    coin[::2] *= -1
    labels = read_labels(codes)
    found = pool([Told(coin), Told(sign)], labels, by_row([coin, sign]), "pick")
    assert found.weights.tolist() == [0.0, 1.0]
    assert "20 of 20" in found.why
    two_wrong, one_wrong = sign.copy(), sign.copy()
    two_wrong[:2] *= -1
    one_wrong[2] *= -1
    found = pool([Told(two_wrong), Told(one_wrong)], labels, by_row([two_wrong, one_wrong]), "pick")
    assert found.weights.tolist() == [1.0, 0.0]
    assert "default" in found.why


def test_probabilities_are_the_weighted_mean_of_the_candidates(iris):
    _, _, given, model = iris
    fitted = [candidate.solve(read_labels(given)) for candidate in model.candidates_]
    found = pool(fitted, model.labels_, by_row([candidate.scores() for candidate in fitted]))
    np.testing.assert_allclose(found.weights, model.weights_)
    np.testing.assert_allclose(
        np.exp(model.scores_), found.mean(by_row([fitted[m].scores() for m in found.used])), atol=1e-12
    )


def features(space, X):
    """The features of any rows, space by space, as a slow version of `Predictor`."""
    if isinstance(space, TransformedSpace):
        return space.scale * space._turned(features(space.base, X))
    if isinstance(space, JoinedSpace):
        return np.sqrt(0.5) * np.hstack([features(part, X) for part in space.parts])
    rows = space.view.transform(X)
    return space.scale * space.map_.transform(rows) if isinstance(space, KernelSpace) else space.kernel_.features(rows)


@pytest.mark.parametrize("k", [2, 3])
def test_the_predictor_is_the_average_of_the_candidates_for_new_rows(k):
    X, y = make_blobs(60, 9, centers=k, cluster_std=5.0, random_state=0)
    given = np.where(np.arange(60) < 12, y, -1)
    new = X[:5] + np.random.default_rng(0).normal(size=(5, 9))
    model = FewLabelClassifier("all").fit(X, given)
    labels = read_labels(given)
    fitted = [candidate.solve(labels) for candidate in model.candidates_]
    found = pool(fitted, labels, by_row([candidate.scores() for candidate in fitted]))
    other = [
        f.part().scores(f.candidate.view.transform(new)) if f.direct else f.solution.scores(features(f.space, new))
        for f in fitted
    ]
    np.testing.assert_allclose(
        model.answers_.fit.predictor.probabilities(new), found.mean(by_row(other)[found.used]), atol=1e-9
    )


def test_accuracy_and_confidence(iris):
    _, y, given, model = iris
    free = given < 0
    assert np.mean(model.transduction_[free] == y[free]) > 0.85
    assert np.array_equal(model.transduction_[~free], given[~free])
    assert np.all(model.confidence_[~free] == 1)
    assert np.all(model.confidence_[free] <= 16 / 17 + 1e-12)
    right = model.predicted_[free] == y[free]
    assert model.confidence_[free][right].mean() > model.confidence_[free][~right].mean()
    low, high = model.accuracy_interval_
    assert low < model.left_out_accuracy_ <= high


def test_digits_from_thirty_labels_beat_nearest_neighbor():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    given = np.full(500, -1)
    rows = np.random.default_rng(0).choice(500, 30, replace=False)
    given[rows] = y[rows]
    model = FewLabelClassifier(methods=["diffusion", "lssvm"]).fit(X, given)
    free = given < 0
    nearest = given[rows][np.argmin(((X[:, None] - X[rows][None]) ** 2).sum(-1), axis=1)]
    assert np.mean(model.predicted_[free] == y[free]) > np.mean(nearest[free] == y[free]) + 0.03


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-4)])
def test_predictions_of_training_rows_are_their_transduction(dtype, tolerance):
    """In 60 dimensions, where distances come with rounding and the principal components from a random start."""
    X, y = make_blobs(520, 60, centers=3, cluster_std=8.0, random_state=0)
    X = X.astype(dtype)
    given = np.where(np.arange(520) < 12, y, -1)
    model = FewLabelClassifier().fit(X, given)
    np.testing.assert_allclose(model.predict_proba(X), model.probabilities_, atol=tolerance)
    np.testing.assert_allclose(model.predict_proba(X[100:103]), model.probabilities_[100:103], atol=tolerance)
    assert np.array_equal(model.predict(X)[given < 0], model.transduction_[given < 0])


def test_hopeless_candidates_stop_before_they_answer_all_rows(monkeypatch):
    monkeypatch.setattr("mercer.few_label.sizes.SIZES", Sizes(large_rows=400, margin_rows=300))
    X, y = make_blobs(800, n_features=5, centers=6, cluster_std=3.0, random_state=0)
    given = np.full(len(y), -1)
    given[:60] = y[:60]
    asked = []

    class Spy(fits.Scorer):
        def __init__(self, fitted, split, rows=None):
            asked.append((split.__name__, len(fitted)))
            super().__init__(fitted, split, rows)

    monkeypatch.setattr(fits, "Scorer", Spy)
    monkeypatch.setattr("mercer.few_label.tasks.classes.Scorer", Spy)
    model = FewLabelClassifier().fit(X, given)
    race, last = asked
    assert race == ("sample_matrices", len(model.candidates_))
    assert last == ("own_matrices", np.count_nonzero(model.weights_))
    assert np.count_nonzero(model.weights_) < 0.6 * len(model.candidates_)
    monkeypatch.setattr(weights, "KEPT", 1.0)
    slow = FewLabelClassifier().fit(X, given)
    assert np.abs(slow.probabilities_ - model.probabilities_).max() < 0.03
    assert np.mean(slow.predicted_ == model.predicted_) > 0.995


def test_labels_sharpen_the_answers_to_wide_rows_more_than_those_to_tables():
    X, y = make_blobs(150, n_features=101, centers=3, cluster_std=4.0, random_state=0)
    given = np.where(np.arange(len(y)) < 12, y, -1)
    table, wide = (FewLabelClassifier(methods="lssvm").fit(rows, given).calibration_[0] for rows in (X[:, :100], X))
    assert wide > 1.2 * table > 1.2


def test_many_rows_are_answered_in_blocks(iris, monkeypatch):
    X, _, _, model = iris
    whole = model.predict_proba(X)
    monkeypatch.setattr("mercer.few_label.sizes.SIZES", Sizes(thread_rows=40))
    np.testing.assert_allclose(model.predict_proba(X), whole, atol=1e-12)


def test_of_equal_training_rows_the_prediction_is_the_mean(iris):
    X, _, _, model = iris
    _, first, count = np.unique(X, axis=0, return_index=True, return_counts=True)
    once = first[count == 1]
    np.testing.assert_allclose(model.predict_proba(X)[once], model.probabilities_[once], atol=1e-9)
    twin = np.flatnonzero((X - X[first[count == 2][0]] == 0).all(axis=1))
    new, own = (
        model.decision_function(X[twin[:1]])[0],
        model.scores_[twin],
    )  # candidates are averaged before the softmax
    assert np.all((own.min(axis=0) - 1e-9 <= new) & (new <= own.max(axis=0) + 1e-9))
    np.testing.assert_allclose(new, own.mean(axis=0), atol=1e-4)


def test_teach_unteach_and_relabel_equal_a_refit(iris):
    X, y, given, model = iris
    more = given.copy()
    rows = np.flatnonzero(given < 0)[[0, 40, 99]]
    more[rows] = y[rows]
    refit = FewLabelClassifier().fit(X, more)
    taught = copy.copy(model).teach(rows, y[rows])
    for attribute in ("scores_", "weights_", "probabilities_", "left_out_scores_", "votes_"):
        np.testing.assert_array_equal(getattr(taught, attribute), getattr(refit, attribute))
    assert np.array_equal(taught.transduction_, refit.transduction_)
    back = taught.unteach(rows)
    np.testing.assert_array_equal(back.scores_, model.scores_)
    np.testing.assert_array_equal(copy.copy(model).relabel(more).scores_, refit.scores_)


def test_teach_takes_a_new_class_and_unteach_leaves_the_model_when_it_refuses():
    X, _, given = two_groups()
    names = np.array(["no", "yes"], dtype=object)[given]
    names[given < 0] = None
    model = FewLabelClassifier(["diffusion"]).fit(X, names)
    free = np.flatnonzero(given < 0)
    model.teach(free[:2], "new")
    assert model.classes_.tolist() == ["new", "no", "yes"]
    assert np.all(model.transduction_[free[:2]] == "new")
    before = model.scores_.copy()
    with pytest.raises(InputError, match="one class only"):
        model.unteach(np.concatenate([np.flatnonzero(given == 0), free[:2]]))
    np.testing.assert_array_equal(model.scores_, before)
    with pytest.raises(InputError, match="whole numbers from 0 to 35"):
        model.teach([99], "no")
    with pytest.raises(InputError, match="whole numbers from 0 to 35"):
        model.unteach([0.5])
    with pytest.raises(InputError, match="3 rows and 1 labels were given. Give one label, or one per row"):
        model.teach([0, 1, 2], ["no"])


def test_abstain_marks_the_doubtful_rows():
    X, _, given = two_groups()
    model = FewLabelClassifier(["diffusion"]).fit(X, given)
    threshold = float(np.median(model.confidence_[given < 0]))
    careful = clone(model).set_params(abstain=threshold).fit(X, given)
    assert np.array_equal(careful.abstained_, model.confidence_ < threshold)
    assert careful.abstained_.any()
    assert np.all(careful.transduction_[careful.abstained_] == -1)
    assert np.array_equal(careful.transduction_[~careful.abstained_], model.transduction_[~careful.abstained_])
    assert np.array_equal(careful.predict(X) == -1, model.predict_proba(X).max(axis=1) < threshold)
    named = clone(careful).fit(X, np.array(["", "a", "b"])[given + 1])
    assert np.all(named.transduction_[named.abstained_] == "")
    signs = clone(careful).set_params(missing_label=0).fit(X, np.where(given < 0, 0, 2 * given - 1))
    assert signs.classes_.tolist() == [-1, 1]
    assert np.array_equal(np.isnan(signs.transduction_), signs.abstained_)


def test_prior_shares_hold_over_all_rows():
    X, y = make_blobs([150, 50], 3, random_state=0, cluster_std=4.0)
    given = np.full(200, -1)
    rows = np.concatenate([np.flatnonzero(y == c)[:6] for c in (0, 1)])
    given[rows] = y[rows]
    plain = FewLabelClassifier(["lssvm"]).fit(X, given)
    told = FewLabelClassifier(["lssvm"], prior={0: 0.75, 1: 0.25}).fit(X, given)
    uncapped = probabilities(told.answers_.with_prior(told.scores_), *told.calibration_)
    np.testing.assert_allclose(uncapped.mean(axis=0), [0.75, 0.25], atol=1e-4)
    assert np.mean(told.predicted_ == 1) < np.mean(plain.predicted_ == 1)
    assert "as given" in str(told.report_)
    tested = told.labels_.codes[told.labels_.labeled]
    answers = told.left_out_probabilities_.argmax(axis=1)
    assert np.any(answers != (told.left_out_scores_[:, 0] > 0))
    found = suspicious(told, len(tested))
    assert set(found.rows[found.margins < 0]) == set(told.labels_.labeled[answers != tested])
    half = FewLabelClassifier(["lssvm"], prior="labels").fit(X, given)
    np.testing.assert_allclose(half.prior_, [0.5, 0.5])
    guessed = FewLabelClassifier(["lssvm"], prior="estimate").fit(X, given)
    assert guessed.prior_[0] > 0.5
    assert "estimated" in str(guessed.report_)
    for wrong in ({0: 1.0}, [0.5, 0.6], [1.0], "fair"):
        with pytest.raises(InputError, match="prior"):
            FewLabelClassifier(["lssvm"], prior=wrong).fit(X, given)


def test_mixed_table_in_and_out():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 80)
    frame = pd.DataFrame(
        {
            "income": np.where(kind, 1e5, 2e4) * rng.uniform(0.5, 1.5, 80),
            "town": np.where(rng.random(80) < 0.85, np.where(kind, "Rome", "Oslo"), "Bern"),
            "name": [f"person {i}" for i in range(80)],
        }
    )
    frame.loc[3, "income"] = np.nan
    y = [("rich" if k else "poor") if i < 12 else None for i, k in enumerate(kind)]
    model = FewLabelClassifier(["diffusion", "lssvm"]).fit(frame, y)
    assert np.mean((model.transduction_ == "rich") == kind) > 0.9
    assert "name (different in every row)" in str(model.report_)
    assert model.feature_names_in_.tolist() == ["income", "town", "name"]
    new = pd.DataFrame({"town": ["Rome", "Atlantis"], "name": ["x", "y"], "income": [1.1e5, 1.5e4]})
    assert model.predict(new).tolist() == ["rich", "poor"]
    with pytest.warns(UserWarning, match="Column 'town' is not in this table and counts as missing in every row"):
        assert model.predict(new.drop(columns="town")).tolist() == ["rich", "poor"]
    with pytest.raises(InputError, match="no column 'income', 'town', which the model was trained with"):
        model.predict(new.drop(columns=["town", "income"]))


def test_sparse_rows_and_many_classes():
    rng = np.random.default_rng(0)
    k, n, d = 12, 240, 300
    y = np.arange(n) % k
    topics = rng.random((k, d)) < 0.08
    X = sp.csr_matrix(rng.poisson(0.02 + 0.6 * topics[y]))
    given = np.where(np.arange(n) < 4 * k, y, -1)
    model = FewLabelClassifier(["diffusion", "lssvm", "components"]).fit(X, given)
    free = given < 0
    assert np.mean(model.transduction_[free] == y[free]) > 0.9
    assert model.predict_proba(X[:5]).shape == (5, k)


def test_many_rows_use_landmarks_and_components(monkeypatch):
    monkeypatch.setattr("mercer.few_label.sizes.SIZES", Sizes(large_rows=500, margin_rows=400))
    monkeypatch.setitem(POLICIES, "few labels", Policy(300, 100))
    monkeypatch.setattr("mercer.few_label.spaces.GRAPH_RANKS", {300: None, np.inf: 40})
    X, y = make_blobs(900, 60, centers=4, cluster_std=6.0, random_state=0)
    given = np.full(len(y), -1)
    given[:40] = y[:40]
    model = FewLabelClassifier(["diffusion", "lssvm"]).fit(X.astype(np.float32), given)
    assert max(c.space.Z.shape[1] for c in model.candidates_) <= 140
    assert np.mean(model.transduction_ == y) > 0.95
    assert np.mean(model.predict(X[:50].astype(np.float32)) == y[:50]) > 0.9


def test_rough_answers_come_during_the_fit_and_change_nothing():
    X, _, given = two_groups()
    seen = []
    model = FewLabelClassifier(on_update=seen.append).fit(X, given)
    sizes = [len(one.candidates_) for one in seen]
    assert len(sizes) > 1 and sizes == sorted(set(sizes)) and sizes[0] < len(model.candidates_)
    assert len(seen[0].transduction_) == len(X) and len(seen[0].predict(X[:3])) == 3
    np.testing.assert_array_equal(FewLabelClassifier().fit(X, given).scores_, model.scores_)
    assert model.compact().on_update is None


def test_time_budget_leaves_out_the_last_spaces():
    X, _, given = two_groups()
    model = FewLabelClassifier(time_budget=1e-9).fit(X, given)
    assert len(model.skipped_) >= 3
    assert "time budget left out" in str(model.report_)


def test_progress_is_told_in_words_and_fractions(capsys):
    X, _, given = two_groups()
    told = []
    model = FewLabelClassifier(verbose=lambda *what: told.append(what)).fit(X, given)
    stages, fractions = zip(*told)
    assert stages[0] == "building neighbor graph (raw, 10)"
    assert f"trying {model.candidates_[0].name}" in stages
    assert fractions[0] < 0.01
    assert fractions[-1] == 1.0
    assert np.all(np.diff(fractions) >= 0)
    assert capsys.readouterr().out == ""
    FewLabelClassifier(["lssvm"], verbose=True).fit(X, given)
    assert "[FewLabelClassifier]   0% building RBF kernel" in capsys.readouterr().out
    told.clear()
    FewLabelClassifier(time_budget=1e-9, verbose=lambda *what: told.append(what)).fit(X, given)
    assert told[0][1] == 0.0 and told[-1][1] == 1.0
    assert np.all(np.diff([fraction for _, fraction in told]) >= 0)


def test_an_interrupt_keeps_the_candidates_tried_so_far():
    X, _, given = two_groups()
    whole = FewLabelClassifier().fit(X, given)

    def stop_at(place):
        def hook(stage, fraction):
            if place in stage:
                raise KeyboardInterrupt

        return hook

    name = whole.candidates_[7].name
    model = FewLabelClassifier(verbose=stop_at(name)).fit(X, given)
    assert [c.name for c in model.candidates_] == [c.name for c in whole.candidates_[:7]]
    assert model.interrupted_
    assert "The search was interrupted, which left out: RBF kernel (raw, 1), RBF kernel (standardized, 1)" in str(
        model.report_
    )
    assert len(model.transduction_) == len(X)
    more = given.copy()
    more[given < 0] = 0
    assert np.isfinite(model.relabel(more).scores_).all()  # and is taught with them
    with pytest.raises(KeyboardInterrupt):
        FewLabelClassifier(verbose=stop_at("building")).fit(X, given)
    again = copy.copy(whole).set_params(verbose=stop_at("building"))
    with pytest.raises(KeyboardInterrupt):
        again.fit(X, given)
    assert len(again.candidates_) == len(whole.candidates_)  # an earlier fit is not half undone


def test_every_method_can_be_asked_for_alone():
    X, y, given = two_groups()
    for method in methods_of("classes"):
        model = FewLabelClassifier([method]).fit(X, given)
        assert {row["method"] for row in model.report_.candidates} == {method}
        assert np.mean(model.transduction_ == y) > 0.6, method


def test_report_lists_every_candidate_with_its_error(iris):
    model = iris[3]
    frame = model.report_.to_frame()
    assert len(frame) == len(model.candidates_)
    np.testing.assert_allclose(frame["weight"].sum(), 1.0)
    assert frame["weight"].is_monotonic_decreasing
    assert (frame["standard_error"] > 0).all()
    assert "of the predictions are correct" in str(model.report_)
    assert "Class frequencies (among the labels" in str(model.report_)


def test_pickle_answers_the_same(iris):
    X, _, _, model = iris
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X[:9]), model.predict_proba(X[:9]))


def test_degenerate_rows_work():
    given = [0, 0, -1, -1, 1, 1, -1, -1]
    for X in (np.ones((8, 3)), np.repeat(np.eye(2), 4, axis=0), np.arange(8.0)[:, None]):
        model = FewLabelClassifier().fit(X, given)
        assert np.isfinite(model.probabilities_).all()
        np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0)


def test_homes_and_refusals():
    X, _, given = two_groups()
    model = FewLabelClassifier(["lssvm"])
    a = model.fit(X, given).scores_
    np.testing.assert_allclose(model.fit(torch.as_tensor(X), given).scores_, a, atol=1e-9)
    np.testing.assert_array_equal(model.fit(dask.array.from_array(X, chunks=(7, -1)), given).scores_, a)
    with pytest.raises(InputError, match="methods='magic' is not accepted"):
        FewLabelClassifier("magic").fit(X, given)
    with pytest.raises(InputError, match="There is no row to score"):
        model.fit(X, given).score(X, np.full(len(X), -1))
    bad = X.copy()
    bad[2, 1] = np.inf
    with pytest.raises(InputError, match="infinity"):
        model.fit(bad, given)
    soft = np.where((given >= 0)[:, None], np.where(given == 1, 0.9, 0.1)[:, None] * [1, 0], 0.0)
    soft[given >= 0, 1] = 1 - soft[given >= 0, 0]
    with pytest.raises(InputError, match="one name per row"):
        FewLabelClassifier(["lssvm"]).fit(X, soft).teach([0], 1)


def test_the_spectrum_of_a_graph_is_that_of_the_transducer():
    """In pieces too, whose differences share the first place: the same kernel but for the unit."""
    rng = np.random.default_rng(0)
    for heaps in (1, 4):
        X = np.concatenate([100 * i + rng.normal(size=(12, 2)) for i in range(heaps)])
        Z = transducer(GraphSpace("graph", "raw", 5, X), 10).Z
        expected = GraphLaplacian(5, rank=10, eigenvalues="squares").resolve(X).factor()
        K, truth = Z @ Z.T, expected @ expected.T
        np.testing.assert_allclose(K / np.trace(K), truth / np.trace(truth), atol=1e-9)


def test_rows_that_are_all_the_same_say_nothing_and_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FewLabelClassifier().fit(np.ones((40, 4)), np.r_[0, 1, 1, np.full(37, -1)])
    assert (model.transduction_[3:] == 1).all()


def test_use_device_reaches_the_kernels(monkeypatch):
    import mercer
    from mercer.few_label import spaces

    X, _, given = two_groups()
    moved = []
    inner = spaces.moved
    monkeypatch.setattr(spaces, "moved", lambda rows: moved.append(type(inner(rows)).__name__) or inner(rows))
    plain = FewLabelClassifier(["lssvm"]).fit(X, given)
    assert set(moved) == {"ndarray"}
    moved.clear()
    with mercer.use_device("cpu"):
        there = FewLabelClassifier(["lssvm"]).fit(X, given)
        np.testing.assert_allclose(there.predict_proba(X), plain.predict_proba(X), atol=1e-3)
    assert set(moved) == {"Tensor"}
