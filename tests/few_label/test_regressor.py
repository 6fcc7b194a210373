"""FewLabelRegressor against naive refits, known results, pure noise and many draws."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import FewLabelRegressor, InputError, expected_change, suggest
from mercer.few_label.candidates.forest import NUMBER_TREES as TREES
from mercer.few_label.candidates.forest import NumberForest
from mercer.few_label.squared_error import accuracy_of, half_width
from mercer.few_label.targets import Targets
from mercer.few_label.tasks.numbers import left_out_errors
from mercer.few_label.views import AsGiven
from mercer.solvers.ridge.pairs import errors_of_groups, residual_maker, squares_of_others

QUICK = ["lssvm", "additive"]


@parametrize_with_checks([FewLabelRegressor()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def curves(n=150, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 10 * (X[:, 0] + np.sin(2 * X[:, 1])) + 10 * noise * rng.normal(size=n) + 50


def some(y, number, seed=0):
    out = np.full(len(y), np.nan)
    rows = np.random.default_rng(seed).permutation(len(y))[:number]
    out[rows] = y[rows]
    return out


def ridge(Z, t, penalty):
    """(weights, constant) of ridge regression with a constant that is not penalized."""
    mean = Z.mean(axis=0)
    w = np.linalg.solve((Z - mean).T @ (Z - mean) + penalty * np.eye(Z.shape[1]), (Z - mean).T @ (t - t.mean()))
    return w, t.mean() - mean @ w


@pytest.mark.parametrize("groups", [np.arange(9), np.array([0, 1, 2, 0, 3, 4, 4, 0, 5])], ids=["rows", "copies"])
def test_errors_without_two_groups_are_those_of_refits(groups):
    rng = np.random.default_rng(0)
    Z, t = rng.normal(size=(9, 4)), rng.normal(size=9)
    P, alpha = residual_maker(Z, t, 0.3)

    def error(row, without):
        keep = np.flatnonzero(~np.isin(groups, groups[list(without)]))
        w, b = ridge(Z[keep], t[keep], 0.3)
        return t[row] - Z[row] @ w - b

    np.testing.assert_allclose(errors_of_groups(P, alpha, groups), [error(i, [i]) for i in range(9)], atol=1e-10)
    sums = [sum(error(j, [i, j]) ** 2 for j in range(9) if groups[j] != groups[i]) for i in range(9)]
    np.testing.assert_allclose(squares_of_others(P, alpha, groups), sums, rtol=1e-8)


def test_left_out_errors_of_every_candidate_are_those_of_refits():
    X, y = curves(60)
    model = FewLabelRegressor(["lssvm", "components", "additive", "mixed", "diffusion", "sgt"]).fit(X, some(y, 12))
    targets = model.labels_
    fitted = [candidate.solve(targets) for candidate in model.candidates_]
    errors, sums = left_out_errors(fitted, targets)
    t, rows = targets.signs[:, 0], targets.labeled
    assert len(fitted) > 60
    for m, candidate in enumerate(fitted):
        Z, penalty = np.asarray(candidate.space.Z, dtype=float)[rows], 1.0 / candidate.candidate.model.gamma
        for i in (0, 7):
            keep = np.delete(np.arange(12), i)
            w, b = ridge(Z[keep], t[keep], penalty)
            assert errors[m, i] == pytest.approx(t[i] - Z[i] @ w - b, abs=1e-6)
            others = [ridge(Z[np.delete(keep, j)], t[np.delete(keep, j)], penalty) for j in range(11)]
            total = sum((t[keep[j]] - Z[keep[j]] @ w - b) ** 2 for j, (w, b) in enumerate(others))
            assert sums[m, i] == pytest.approx(total, rel=1e-5)


def test_left_out_answers_are_those_of_whole_fits_without_the_number():
    X, y = curves(80)
    model = FewLabelRegressor(["lssvm", "diffusion", "additive"]).fit(X, some(y, 15))
    rows, left_out = model.labels_.labeled, model.left_out_
    for i in (0, 4, 9, 14):
        without = model.labels_.values.copy()
        without[rows[i]] = np.nan
        again = FewLabelRegressor(["lssvm", "diffusion", "additive"]).fit(X, without)
        # The weights of a fit are cut to 99.5% of their sum, those behind left_out_ are not.
        assert left_out[i] == pytest.approx(again.predicted_[rows[i]], abs=0.02 * y.std())


def one_tree(trees, place, X):
    """(n,) predictions of one tree, row by row."""
    out = []
    for row in X.astype(np.float32):
        node = trees.roots[place]
        while trees.left[node] >= 0:
            goes_left = row[trees.feature[node]] <= trees.threshold[node]
            node = trees.left[node] if goes_left else trees.right[node]
        out.append(trees.value[node, 0])
    return np.array(out)


def test_the_forest_is_the_mean_of_its_trees_and_withholds():
    X, y = curves(50)
    targets = Targets(some(y, 20), np.arange(20))
    grown = NumberForest("forest", "forest", AsGiven(), X, "extra").solve(targets)
    assert len(grown.trees.roots) == TREES
    own = np.array([one_tree(grown.trees, place, X) for place in range(TREES)])
    np.testing.assert_allclose(grown.scores()[:, 0], own.mean(axis=0), atol=1e-12)
    np.testing.assert_array_equal(grown.part().scores(X), grown.scores())
    # A tree predicts a number exactly if it has seen it, which one fold in five has not.
    own = own[:, targets.labeled]
    seen = np.isclose(own, targets.signs[:, 0])
    assert (seen.mean(axis=0) >= 1 - 1 / 5 - 1e-9).all()
    away = np.array([own[~seen[:, i], i].mean() for i in range(20)])
    np.testing.assert_allclose(grown.left_out[:, 0], away, atol=1e-9)


def test_a_plane_is_found_and_its_unit_does_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X @ [3.0, -2.0, 0.5] + 7
    given = some(y, 40)
    model = FewLabelRegressor(random_state=0).fit(X, given)
    assert model.left_out_r2_ > 0.99
    assert np.abs(model.predict(X) - y).max() < 0.1 * y.std()
    np.testing.assert_allclose(model.predict(X), model.predicted_, atol=1e-9)
    np.testing.assert_array_equal(model.transduction_[model.labels_.labeled], y[model.labels_.labeled])
    moved = FewLabelRegressor(random_state=0).fit(X, 1e6 * given - 5e8)
    np.testing.assert_allclose((moved.predicted_ + 5e8) / 1e6, model.predicted_, atol=1e-5)
    assert moved.left_out_r2_ == pytest.approx(model.left_out_r2_, abs=1e-6)


@pytest.mark.parametrize("number", [15, 40])
def test_intervals_hold_nine_of_ten_numbers_over_many_draws(number):
    covered, model = [], None
    for draw in range(60):
        X, y = curves(300, noise=0.5)
        y = y + 20 * (np.random.default_rng(draw).random(300) < 0.05)  # a few far-out numbers
        given = some(y, number, draw)
        model = FewLabelRegressor(QUICK).fit(X, given) if model is None else model.relabel(given)
        hidden = np.isnan(given)
        low, high = model.predict_interval(X[hidden]).T
        covered.append(np.mean((low <= y[hidden]) & (y[hidden] <= high)))
    assert 0.88 <= np.mean(covered) <= 0.93


def test_noise_is_not_explained():
    X = np.random.default_rng(0).normal(size=(200, 4))
    excess, held, model = [], [], None
    for draw in range(200):
        y = np.random.default_rng(1000 + draw).normal(size=200)
        given = some(y, 25, draw)
        model = FewLabelRegressor([*QUICK, "mean"]).fit(X, given) if model is None else model.relabel(given)
        hidden = np.isnan(given)
        true = 1 - np.mean((model.predicted_[hidden] - y[hidden]) ** 2) / np.var(y[hidden])
        excess.append(model.left_out_r2_ - true)
        held.append(model.r2_interval_[0] <= true <= model.r2_interval_[1])
    assert np.mean(excess) < 0.02  # 0.036 if a number is only dropped from the sum behind its weights
    assert np.mean(held) >= 0.9


def test_copies_of_a_row_are_withheld_together():
    rng = np.random.default_rng(0)
    rows, noise = rng.normal(size=(60, 3)), rng.normal(size=60)
    X, y = np.vstack([rows, rows[:20], rows[:20]]), np.full(100, np.nan)
    y[:20] = y[60:80] = y[80:] = noise[:20]  # twenty numbers, each three times
    model = FewLabelRegressor().fit(X, y)
    assert model.left_out_r2_ < 0.2  # 0.9 and more if a copy predicts the other
    for i in (0, 25):
        group = np.flatnonzero(np.isclose(model.labels_.given, model.labels_.given[i]))
        assert len(group) == 3 and len(set(model.labels_.groups[group])) == 1
        np.testing.assert_allclose(model.left_out_[group], model.left_out_[group[0]], atol=0.01)  # of graphs nearly


def test_chosen_rows_have_no_part_in_the_estimates():
    X, y = curves()
    given, drawn = some(y, 30), np.ones(len(y), dtype=bool)
    hard = np.flatnonzero(~np.isnan(given))[:10]
    given[hard], drawn[hard] = given[hard] + 500 * (-1.0) ** np.arange(10), False
    model = FewLabelRegressor(QUICK).fit(X, given, drawn)
    kept = drawn[model.labels_.labeled]
    found = accuracy_of((model.labels_.given - model.left_out_)[kept], model.labels_.given[kept])
    assert (model.left_out_r2_, model.mae_interval_) == (found.r2, found.mae_interval)
    assert model.reach() == half_width((model.labels_.given - model.left_out_)[kept], 0.9)
    assert "rests on the 20 numbers of rows that were drawn at random, of 30" in str(model.report_)
    assert "not an estimate for all rows" in str(model.fit(X, given, np.zeros(len(y), dtype=bool)).report_)


def test_intervals_grow_with_the_distance_from_all_training_rows():
    X, y = curves()
    model = FewLabelRegressor(QUICK).fit(X, some(y, 30))
    widths = np.diff(model.predict_interval(np.vstack([X, 1e3 * np.ones((1, 3)), 2e3 * np.ones((1, 3))])), axis=1)[:, 0]
    np.testing.assert_allclose(widths[:150], 2 * model.reach(), rtol=1e-9)
    assert widths[150] > 50 * model.reach()
    assert widths[151] == pytest.approx(2 * widths[150], rel=0.01)
    assert model.trust(X).min() == 1.0


def test_accuracy_of_known_errors():
    given, error = np.arange(8.0), np.array([1.0, -1, 1, -1, 1, -1, 1, -1])
    found = accuracy_of(error, given)
    assert found.r2 == pytest.approx(1 - 1 / np.var(given, ddof=1))
    assert found.mae == 1.0
    assert found.mae_interval == (1.0, 1.0)  # all errors are of one size
    assert found.r2_interval[0] < found.r2 < found.r2_interval[1] < 1
    mean_without = (given.sum() - given) / 7
    assert accuracy_of(given - mean_without, given).r2 == pytest.approx(-1 / 7)
    assert accuracy_of(error[:4], given[:4]).r2_interval == (-np.inf, 1.0)


def test_half_width_is_the_conformal_quantile():
    error = np.random.default_rng(0).permutation(np.arange(1, 20)) * np.array([1.0, -1.0] * 9 + [1.0])
    assert half_width(error, 0.9) == 18.0  # the (19 + 1) · 0.9-th smallest
    assert half_width(error, 0.5) == 10.0
    assert half_width(error[:5], 0.9) >= np.abs(error[:5]).max()


def test_widths_follow_the_size_of_the_number_if_the_errors_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    size = np.exp(3 + 0.8 * X[:, 0] + 0.3 * X[:, 1])
    inside = []
    for seed in range(4):
        draw = np.random.default_rng(seed)
        for growing in (True, False):
            y = size * np.exp(0.25 * draw.normal(size=1500)) if growing else 100 + X[:, 0] + draw.normal(size=1500)
            given = np.full(1500, np.nan)
            rows = draw.choice(1500, 120, replace=False)
            given[rows] = y[rows]
            model = FewLabelRegressor(["lssvm"], random_state=0).fit(X, given)
            assert (model.answers_.widths.power > 0.3) == growing
            ends = model.predict_interval(X)
            if not growing:
                np.testing.assert_allclose(np.diff(ends, axis=1)[:, 0].min(), 2 * model.reach())
                continue
            assert "depend on the size of the number" in str(model.report_)
            other = np.isnan(given)
            ok = ((ends[:, 0] <= y) & (y <= ends[:, 1]))[other]
            quarter = np.searchsorted(np.quantile(ends.mean(axis=1), [0.25, 0.5, 0.75]), ends.mean(axis=1))[other]
            inside.append([ok[quarter == k].mean() for k in range(4)])
    assert np.mean(inside) >= 0.89
    assert np.mean(inside, axis=0).min() > 0.84 and np.mean(inside, axis=0).max() < 0.97, inside


def test_teach_unteach_and_relabel_are_fits():
    X, y = curves()
    given = some(y, 20)
    model = FewLabelRegressor().fit(X, given)
    first = model.predicted_
    free = np.flatnonzero(np.isnan(given))[:2]
    more = given.copy()
    more[free] = y[free]
    np.testing.assert_array_equal(model.teach(free, y[free]).predicted_, FewLabelRegressor().fit(X, more).predicted_)
    np.testing.assert_array_equal(model.unteach(free).predicted_, first)
    np.testing.assert_array_equal(model.relabel(2 * given).labels_.given, 2 * given[~np.isnan(given)])


def test_a_saved_model_answers_alike_and_says_what_it_cannot(tmp_path):
    X, y = curves()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(color=np.where(X[:, 0] > 0, "red", "blue"))
    model = FewLabelRegressor().fit(frame, some(y, 30))
    mercer.save(model, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(again.predict_interval(frame), model.predict_interval(frame))
    assert str(again.report_) == str(model.report_)
    with pytest.raises(InputError, match="compact, .* teach needs the feature spaces"):
        again.teach(0, 1.0)
    with pytest.raises(InputError, match="compact, .* suggest needs the feature spaces"):
        suggest(again, 1)


def test_suggest_takes_away_the_most_variance():
    X, y = curves(60)
    model = FewLabelRegressor("lssvm").fit(X, some(y, 10))
    candidate, rows = model.candidates_[model.linear_], model.labels_.labeled
    Z = np.column_stack([np.asarray(candidate.space.Z, dtype=float), np.ones(60)])
    noise = 1.0 / candidate.model.gamma
    ridge_ = np.diag([*np.full(Z.shape[1] - 1, noise), 0.0])

    def variance(labeled):  # of all rows, in units of the prior variance of a weight
        return noise * np.einsum("ij,ij->", Z @ np.linalg.inv(Z[labeled].T @ Z[labeled] + ridge_), Z)

    found = suggest(model, 2)
    now, chosen = variance(rows), []
    for row, gain in zip(found.rows, found.gains):
        free = np.setdiff1d(np.arange(60), [*rows, *chosen])
        falls = [now - variance([*rows, *chosen, j]) for j in free]
        assert row == free[int(np.argmax(falls))]
        assert gain == pytest.approx(max(falls), rel=1e-5)
        chosen.append(row)
        now = variance([*rows, *chosen])
    for reason, share in zip(found.reasons, found.gains / variance(rows)):
        assert reason == f"its number takes {share:.1%} of the variance from the predictions of all rows"


def test_sparse_rows():
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.poisson(0.3, size=(80, 40)).astype(float))
    y = np.asarray(X @ rng.normal(size=40))
    model = FewLabelRegressor().fit(X, some(y, 40))
    assert {candidate.method for candidate in model.candidates_}.isdisjoint({"forest", "additive"})
    np.testing.assert_allclose(model.predict(X), model.predicted_, atol=1e-8)
    assert model.trust(X).min() == 1.0


def test_report_says_what_was_tried():
    X, y = curves()
    model = FewLabelRegressor(QUICK).fit(X, some(y, 30))
    assert "30 numbers from" in model.report_.sentences[0]
    assert "Every number was held out" in str(model.report_)
    frame = model.report_.to_frame()
    assert frame["weight"].sum() == pytest.approx(1.0)
    assert frame["weight"].is_monotonic_decreasing
    few = FewLabelRegressor(QUICK).fit(X, some(y, 3))
    assert "3 numbers are too few to estimate the error" in str(few.report_)
    same = FewLabelRegressor(QUICK).fit(X, np.where(np.isnan(some(y, 9)), np.nan, 4.0))
    np.testing.assert_allclose(same.predicted_, 4.0)
    assert "All numbers are the same" in str(same.report_)


def test_refusals():
    X, y = curves(40)
    with pytest.raises(InputError, match="for 1 row only. Give numbers for at least two rows"):
        FewLabelRegressor().fit(X, some(y, 1))
    with pytest.raises(InputError, match="cannot be read as numbers"):
        FewLabelRegressor().fit(X, ["a"] * 40)
    with pytest.raises(InputError, match=r"methods='trees' is not accepted. Give 'auto' or a list of lssvm, .*forest"):
        FewLabelRegressor("trees").fit(X, y)
    with pytest.raises(InputError, match="forest cannot read sparse rows. Add 'lssvm' to the methods"):
        FewLabelRegressor("forest").fit(sp.csr_matrix(X), y)
    model = FewLabelRegressor(QUICK).fit(X, some(y, 20))
    with pytest.raises(InputError, match=r"coverage=90 is not accepted. Give a fraction between 0 and 1, such as 0.9"):
        model.predict_interval(X, 90)
    with pytest.raises(InputError, match="2 rows and 3 labels were given"):
        model.teach([0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"rows=\[40\] are not row numbers"):
        model.teach(40, 1.0)
    with pytest.raises(InputError, match="strategy='error' needs class probabilities. For numbers use 'variance'"):
        suggest(model, 2, strategy="error")
    with pytest.raises(InputError, match="this model predicts numbers"):
        expected_change(model)


def test_a_prepared_regressor_that_is_taught_is_a_fresh_fit_to_the_last_digit():
    X = np.random.default_rng(0).normal(size=(120, 3))
    y, rows = 2 * X[:, 0] + np.sin(2 * X[:, 1]), np.arange(0, 60, 3)
    drawn = np.arange(120) % 2 == 0
    fresh = FewLabelRegressor().fit(X, np.where(np.isin(np.arange(120), rows), y, np.nan), drawn=drawn)
    prepared = FewLabelRegressor().prepare(X)
    fast = prepared.taught(rows, y[rows], drawn=drawn[rows], tier="fast")
    for taught in (prepared.taught(rows, y[rows], drawn=drawn[rows]), fast.taught([], [])):
        assert np.array_equal(taught.predicted_, fresh.predicted_) and taught.estimate_ == fresh.estimate_
    assert not hasattr(prepared, "answers_")


def test_numbers_of_rows_outside_the_core_are_learned_from():
    X = np.random.default_rng(0).normal(size=(120, 3))
    y, rows = 2 * X[:, 0], np.arange(0, 120, 4)
    model = FewLabelRegressor().prepare(X, core=np.arange(80)).taught(rows, y[rows])
    assert np.corrcoef(model.predicted_, y)[0, 1] > 0.95
