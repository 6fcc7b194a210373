"""OutlierDetector against slow versions, with validity of p-values, feedback, reasons and scikit-learn's contract."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import OutlierDetector
from mercer.advice.unusual import unusual
from mercer.errors import InputError
from mercer.estimators.outlier_answers import answers_of, likelihood
from mercer.estimators.outlier_forest import IsolationTrees
from mercer.estimators.outlier_parts import (
    RIDGE,
    WIDTHS,
    Near,
    OutlierView,
    Tails,
    squared_distances,
)
from mercer.evidence.conformal import Reference, discoveries, fraction_of_answers, outlier_fraction

WITHOUT_ITSELF = "training rows are scored without themselves by fit_predict, and as new rows by predict"


@parametrize_with_checks(
    [OutlierDetector()],
    expected_failed_checks=lambda _: {
        "check_outliers_fit_predict": WITHOUT_ITSELF,
        "check_outliers_train": WITHOUT_ITSELF,
    },
)
def test_contract(estimator, check):
    check(estimator)


def blob(n=30, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_parts_leave_the_row_itself_out():
    """Residual, density and neighbors of a reference row are those of a fit on the other rows with the same width."""
    X = blob()
    near = Near.of(X, 30, ["residual", "samples"])
    squared, places = squared_distances(X, X), np.arange(30)
    for i in range(30):
        others = np.delete(X, i, axis=0)
        apart = np.sum((others - X[i]) ** 2, axis=1)
        K = np.exp(-squared_distances(others, others) / 2 / (WIDTHS["residual"] * near.width) ** 2)
        k = np.exp(-apart / 2 / (WIDTHS["residual"] * near.width) ** 2)
        residual = 1 - k @ np.linalg.solve(K + RIDGE * np.eye(29), k)
        density = -np.log(np.mean(np.exp(-apart / 2 / (WIDTHS["density"] * near.width) ** 2)))
        assert near.residual(squared, places)[i] == pytest.approx(residual, abs=1e-8)
        assert near.density(squared, places)[i] == pytest.approx(density, abs=1e-8)
        assert near.neighbors(squared, places)[i] == pytest.approx(np.sort(np.sqrt(apart))[4])
        assert near.nearest(squared, places)[i] == pytest.approx(np.sqrt(apart.min()))
        assert near.tenth(squared, places)[i] == pytest.approx(np.sort(np.sqrt(apart))[2])
        drawn = [sample[sample != i] for sample in near.drawn]
        nearest = [np.sqrt(np.sum((X[sample] - X[i]) ** 2, axis=1)).min() for sample in drawn]
        assert near.samples(squared, places)[i] == pytest.approx(np.mean(nearest))


def test_views_without_a_row_are_those_of_the_other_rows():
    X = np.random.default_rng(0).standard_t(3, size=(200, 2))
    for name in ("standardized", "whitened", "copula"):
        whole = OutlierView.of(name, X)(X, own=True)
        odd = np.argsort(-np.sum(whole**2, axis=1))[:3]
        for i in odd:
            without = OutlierView.of(name, np.delete(X, i, axis=0))(X[i : i + 1])
            assert np.sum(without**2) == pytest.approx(np.sum(whole[i] ** 2), rel=0.05)


def test_tails_count_the_other_rows():
    X = blob(20, 2)
    own = Tails.of(X)(X, own=True)
    for i in range(20):
        assert own[i] == pytest.approx(Tails.of(np.delete(X, i, axis=0))(X[i : i + 1])[0], abs=1e-9)


def test_forest_is_scikit_learns_up_to_chance_and_leaves_trees_out_that_saw_the_row():
    X = np.vstack([blob(300), blob(5, seed=1) + 3])
    trees, own = IsolationTrees.of(X, 300, np.random.default_rng(0))
    new = 3 * blob(200, seed=2)
    other = IsolationForest(n_estimators=300, max_samples=213, random_state=0).fit(X)
    mean = 2 * (np.log(212) + 0.5772156649) - 2 * 212 / 213  # expected length of a path in 213 rows
    differences = 2 ** (trees(new) / mean) + other.score_samples(new)
    assert np.abs(differences).max() < 0.06 and abs(differences.mean()) < 0.02
    for i in (0, 7, 302):  # the slow way, with the trees that were grown without row i
        rng = np.random.default_rng(0)
        unseen = [i not in rng.choice(305, 213, replace=False) for _ in range(300)]
        some = IsolationTrees(trees.feature[unseen], trees.threshold[unseen], trees.length[unseen])
        assert own[i] == pytest.approx(some(X[i : i + 1])[0])


def test_training_rows_have_a_rule_of_their_own():
    """The mean surprise of the parts that a crowd of outliers does not mislead. Ranks of values count half."""
    X = np.vstack([blob(100), 4 * blob(10, seed=1)])
    model = OutlierDetector(random_state=0).fit(X)
    surprise = model.training_part_scores_
    names = ["standardized tenth", "normal tenth", "whitened tenth", "forest"]
    places = [model.parts_.index(name) for name in names]
    assert_allclose(-model.training_scores_, np.average(surprise[:, places], axis=1, weights=[1, 0.5, 1, 1]))
    expected = 1 - (1 + np.array([np.sum(model.training_scores_ <= score) for score in model.training_scores_])) / 111
    assert_allclose(model.held_out_probability_, expected)
    assert_allclose(np.sort(np.exp(-surprise[:, 0])), (np.arange(110) + 0.5) / 110)
    alone = OutlierDetector(["normal residual"]).fit(X)
    assert_allclose(alone.held_out_probability_, 1 - alone._reference.p_values(-alone.training_scores_))


def test_outliers_that_are_near_each_other_do_not_hide_each_other():
    """Eight of 100 rows form a dense cluster. They have near neighbors, but no tenth of the rows is near."""
    X = np.vstack([blob(92, 4), blob(8, 4, seed=1) / 20 + 5])
    y = np.arange(100) >= 92
    assert roc_auc_score(y, -OutlierDetector(random_state=0).fit(X).training_scores_) > 0.99
    assert roc_auc_score(y, -OutlierDetector(["standardized neighbors"]).fit(X).training_scores_) < 0.2


@pytest.mark.parametrize("seed", range(4))
def test_two_far_clusters_come_before_extreme_ordinary_rows(seed):
    """Each cluster has 5% of the rows, so ranks of values alone cannot distinguish it from the tail of a column."""
    X = blob(300, seed=seed)
    X[:15, 0] -= 7
    X[15:30, 1] += 7
    model = OutlierDetector(random_state=0).fit(X)
    first = np.argsort(model.training_scores_)
    assert np.mean(first[:10] < 30) >= 0.9 and np.mean(first[:30] < 30) >= 0.75
    ranks = model.training_part_scores_[:, model.parts_.index("normal tenth")]
    assert np.mean(np.argsort(-ranks)[:30] < 30) < 0.6


def test_the_copula_view_is_the_whitened_view_of_normal_scores():
    X, new = np.exp(blob(300) @ [[1, 1, 0], [0, 1, 1], [0, 0, 1]]), np.exp(blob(20, seed=1))
    normal, copula = OutlierView.of("normal", X), OutlierView.of("copula", X)
    Z = copula(X)
    assert_allclose(np.cov(Z.T, bias=True), np.eye(3), atol=1e-9)
    assert_allclose(copula(new), OutlierView.of("whitened", normal(X))(normal(new)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_in_torch_are_scored_alike(dtype):
    torch = pytest.importorskip("torch")
    X, new = blob(400, 4).astype(dtype), 2 * blob(30, 4, seed=1).astype(dtype)
    X[:, 3] = np.round(X[:, 3])  # ties
    here, there = OutlierDetector(random_state=0).fit(X), OutlierDetector(random_state=0).fit(torch.as_tensor(X))
    tolerance = 1e-8 if dtype == "float64" else 2e-2
    assert_allclose(there.training_scores_, here.training_scores_, atol=tolerance)
    assert_allclose(there.score_samples(torch.as_tensor(new)), here.score_samples(new), rtol=tolerance, atol=tolerance)
    assert_allclose(
        there.teach([1, 2], [-1, 1]).score_samples(new), here.teach([1, 2], [-1, 1]).score_samples(new), atol=0.1
    )


def test_combined_score_is_the_power_mean_of_surprises():
    X, new = blob(100), 2 * blob(20, seed=1)
    model = OutlierDetector().fit(X)
    parts = model.part_scores(new)
    assert parts.shape == (20, len(model.parts_)) == (20, 13)
    views = ("standardized", "normal", "whitened", "copula")
    used = [f"{view} {score}" for view in views for score in ("residual", "nearest")] + ["tails", "forest"]
    some = parts[:, [model.parts_.index(name) for name in used]]
    assert_allclose(-model.score_samples(new), np.mean(some**4, axis=1) ** 0.25)
    for j, name in enumerate(model.parts_):
        if name != "forest":  # which depends on the random numbers before it
            assert_allclose(-OutlierDetector([name]).fit(X).score_samples(new), parts[:, j])


@pytest.mark.parametrize("parts", [["normal tenth"], ["copula density", "whitened samples", "tails"]])
def test_parts_of_one_kind_have_one_rule(parts):
    X, new = blob(100), 2 * blob(20, seed=1)
    model = OutlierDetector(parts, random_state=0).fit(X)
    assert_allclose(-model.score_samples(new), np.mean(model.part_scores(new) ** 4, axis=1) ** 0.25)
    assert_allclose(-model.training_scores_, np.mean(model.training_part_scores_**4, axis=1) ** 0.25)


def test_false_alarms_are_as_many_as_asked():
    """60 draws of 120 training and 200 new rows from the same heavy-tailed source, within four standard errors."""
    rng, found = np.random.default_rng(0), []
    for _ in range(60):
        draw = rng.standard_t(3, size=(320, 3))
        found.append(np.mean(OutlierDetector().fit(draw[:120]).p_values(draw[120:]) <= 0.05))
    assert abs(np.mean(found) - 0.05) < max(0.01, 4 * np.std(found) / np.sqrt(60))


def test_scores_are_comparable_between_tables():
    for scale, d in ((1.0, 2), (1e4, 12)):
        model = OutlierDetector().fit(scale * blob(400, d))
        assert 0.5 < np.median(-model.training_scores_) < 1.5
        assert_allclose(
            model.score_samples(scale * blob(9, d, 1)),
            OutlierDetector().fit(blob(400, d)).score_samples(blob(9, d, 1)),
            rtol=1e-6,
        )


def test_a_sample_of_reference_rows_keeps_the_order():
    X = np.vstack([blob(600), blob(6, seed=1) + 6])
    y = np.arange(606) >= 600
    model = OutlierDetector(n_reference=100, random_state=0).fit(X)
    assert roc_auc_score(y, -model.training_scores_) > 0.99
    assert_array_equal(model.fit_predict(X) < 0, np.argsort(np.argsort(model.training_scores_)) < 60)


def test_wrong_parts_and_answers_are_refused():
    with pytest.raises(InputError, match="Invalid parts=.*'tail'.*expected different names of standardized residual"):
        OutlierDetector(["tail"]).fit(blob())
    with pytest.raises(InputError, match="expected −1 .outlier. or \\+1"):
        OutlierDetector().fit(blob()).teach([1, 2], [0, 1])
    with pytest.raises(InputError, match="y has 3 entries and X has 30 rows"):
        answers_of([1, 2, 3], 30)


def test_answers_correct_the_scores():
    """Unusual rows of one kind are ordinary, and of the other kind outliers. Four verdicts distinguish them."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 2)), rng.normal([7, 0], 0.3, (10, 2)), rng.normal([0, 7], 0.3, (10, 2))])
    y = np.zeros(320)
    y[[300, 301]], y[[310, 311]] = -1, 1
    model = OutlierDetector().fit(X, y)
    assert np.max(model.training_scores_[300:310]) < np.min(model.training_scores_[310:])
    assert_array_equal(
        OutlierDetector().fit(X).teach([300, 301, 310, 311], [-1, -1, 1, 1]).training_scores_, model.training_scores_
    )


def test_saved_models_score_alike(tmp_path):
    X, new = blob(60), 2 * blob(9, seed=1)
    model = OutlierDetector().fit(X, np.where(np.arange(60) < 3, -1, 0))
    mercer.save(model, tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert_allclose(loaded.score_samples(new), model.score_samples(new), rtol=1e-12)
    with pytest.raises(InputError, match="loaded without its training rows"):
        loaded.teach([1], [-1])


def test_likelihood_leaves_each_answer_out():
    U = blob(8, 2)
    K, t = np.exp(-squared_distances(U, U) / 2), blob(8, 1)[:, 0]
    log = 0.0
    for i in range(8):
        rest = np.delete(np.arange(8), i)
        A = K[np.ix_(rest, rest)] + np.eye(7)
        mean = K[i, rest] @ np.linalg.solve(A, t[rest])
        variance = 2 - K[i, rest] @ np.linalg.solve(A, K[i, rest])
        log += -0.5 * (np.log(variance) + (t[i] - mean) ** 2 / variance)
    assert likelihood(K, t)[0] == pytest.approx(log)


def test_reasons_name_the_changed_column_and_an_ordinary_value():
    X = blob(200, 4)
    X[:, 1] = X[:, 0] + 0.05 * X[:, 1]
    X[5, :2] = 1.0, -1.0  # each value is common, the pair is not
    reason = unusual(OutlierDetector().fit(X), X, [5])[0]
    assert {reason.columns[0].name, reason.columns[1].name} == {0, 1}
    for one in reason.columns[:2]:
        assert abs(one.usual[0] - X[5, 1 - one.name]) < 0.3 and one.value[0] == X[5, one.name]
    assert 5 not in reason.nearest and "similar ordinary rows have" in reason.sentence()


def test_reasons_name_every_extreme_value_of_a_row():
    """With two extreme values, the row is still the most unusual one if only one of them is replaced."""
    X = blob(300, 6)
    X[9, [2, 4]] = 30.0, -40.0
    model = OutlierDetector().fit(X)
    reason = unusual(model, X, [9])[0]
    assert {one.name for one in reason.main()} == {2, 4}
    assert max(one.part for one in reason.columns[2:]) < 0.4 * reason.columns[1].part
    new = 2 * blob(50, 6, seed=1)
    again = unusual(model, new, [3], scores=-model.score_samples(new))[0]
    assert again.score == pytest.approx(-model.score_samples(new[3:4])[0])


def test_a_block_of_columns_is_replaced_by_a_value_that_occurs():
    kinds = np.eye(3)[np.random.default_rng(0).integers(0, 2, 120)]
    X = np.hstack([blob(120, 2), kinds])
    X[4, 2:] = 0.0, 0.0, 1.0  # a kind of its own
    reason = unusual(OutlierDetector().fit(X), X, [4], {"a": slice(0, 1), "b": slice(1, 2), "kind": slice(2, 5)})[0]
    assert reason.columns[0].name == "kind"
    assert reason.columns[0].usual.tolist() in ([1, 0, 0], [0, 1, 0])


def test_p_values_and_discoveries():
    rng = np.random.default_rng(0)
    reference = Reference.of(rng.normal(size=500))
    assert_allclose(reference.p_values(np.array([-9.0, 9.0])), [1.0, 1 / 501])
    p = np.concatenate([rng.uniform(size=900), np.full(100, 1e-6)])
    flagged = discoveries(p, 0.1)
    assert flagged[900:].all() and np.mean(~(np.flatnonzero(flagged) >= 900)) < 0.2
    for fraction in (0.0, 0.2):
        covered = []
        for _ in range(60):
            ordinary = round(1000 * (1 - fraction))
            found = outlier_fraction(np.append(rng.uniform(size=ordinary), np.full(1000 - ordinary, 1e-6)))
            covered.append(found.low <= fraction <= found.high)
        assert np.mean(covered) > 0.87  # 95% promised, three standard errors of slack
    assert not fraction_of_answers(0, 0).known and fraction_of_answers(2, 20).estimate == 0.1


def test_rows_of_a_table_of_which_a_sample_was_fitted_have_the_rule_of_training_rows():
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[:20] += 8 * np.sign(X[:20])
    model = OutlierDetector(contamination=0.05, random_state=0)
    flagged = model.fit_predict(X) < 0
    probability, unusual = model.in_table(X)
    assert np.mean(unusual == flagged) > 0.98 and unusual[:20].sum() >= 15  # each row counts itself
    assert np.corrcoef(probability, model.held_out_probability_)[0, 1] > 0.99
    assert (model.predict(X) < 0).sum() < unusual.sum()  # as new rows they equal known ones
