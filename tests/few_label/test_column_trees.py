"""Boosted trees that try every column, and the majority if the columns have no information."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import FewLabelClassifier, TableEncoder
from mercer.few_label.candidates.boosting import boosted
from mercer.few_label.tree_boosting import PENALTY, RATE, boost
from mercer.few_label.views import AsGiven, OrdinalColumns, ordinal_view
from mercer.few_label.weights import PRIOR_SHARES


def made(n=300, seed=0, noise=12):
    """A table whose class is the interval of one skewed number, with other numbers, gaps and categories next to it."""
    rng = np.random.default_rng(seed)
    table = {f"n{i}": rng.lognormal(size=n) for i in range(noise)}
    table |= {f"c{i}": rng.choice([f"v{j}" for j in range(30)], n) for i in range(4)}
    table["n3"][::17] = np.nan
    rank = table["n7"].argsort().argsort() * 3 // n
    return pd.DataFrame(table), np.array(["low", "middle", "high"], dtype=object)[rank]


def given(y, number=60, seed=0):
    rows = np.random.default_rng(seed).permutation(len(y))[:number]
    out = np.full(len(y), None, dtype=object)
    out[rows] = y[rows]
    return out


@pytest.fixture(scope="module")
def fitted():
    X, y = made()
    return X, y, FewLabelClassifier().fit(X, given(y))


def test_one_decisive_column_is_found_among_many(fitted):
    X, y, model = fitted
    hidden = model.labels_.codes < 0
    assert np.mean(model.transduction_[hidden] == y[hidden]) > 0.9
    before = FewLabelClassifier(["lssvm", "diffusion", "sgt", "forest"]).fit(X, given(y))
    assert np.mean(before.transduction_[hidden] == y[hidden]) < 0.8
    low, high = model.accuracy_interval_
    assert low < np.mean(model.transduction_[hidden] == y[hidden]) < high


def test_a_view_gives_each_column_of_the_table_once():
    X, _ = made()
    encoder = TableEncoder()
    Z = encoder.fit_transform(X)
    view = ordinal_view(Z)
    C = view.transform(Z)
    assert isinstance(view, OrdinalColumns)
    assert C.shape[1] == X.shape[1] + 1 < Z.shape[1]  # one marks the gaps
    places = np.cumsum([0, *(1 + name.startswith("n3") for name in encoder.slices_)])
    for place, name in zip(places, encoder.slices_):
        if name.startswith("n"):
            known = X[name].notna().to_numpy()
            np.testing.assert_array_equal(X[name][known].argsort(), C[known, place].argsort())
            assert known.all() or np.array_equal(C[:, place + 1] > 0, ~known)
        else:  # the more frequent value has the smaller number
            numbers = pd.Series(C[:, place]).groupby(X[name].to_numpy()).agg(["nunique", "first", "size"])
            assert (numbers["nunique"] == 1).all()
            assert (numbers.sort_values("first")["size"].diff().dropna() <= 0).all()


def test_numbers_are_their_own_columns():
    X = np.random.default_rng(0).normal(size=(30, 4))
    assert isinstance(ordinal_view(X), AsGiven)
    assert isinstance(
        ordinal_view((X > 0).astype(float)), AsGiven
    )  # marks that may occur together are not one category


def test_one_round_of_boosting_is_a_newton_step():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)).astype(np.float32)
    codes = (X[:, 1] > 0.1).astype(np.int64)
    F, weight = np.empty((20, 2)), np.ones(20)
    rising = np.ascontiguousarray(np.argsort(X, axis=0).T)
    roots, feature, threshold, left, _, value = boost(X, rising, codes, weight, 1, 1, F)
    assert feature[0] == 1
    assert X[codes == 0, 1].max() <= threshold[0] < X[codes == 1, 1].min()
    share = (np.bincount(codes) + 0.5) / 21
    below = codes == 0
    step = RATE / 2 * below.sum() * (1 - share[0]) / (below.sum() * share[0] * share[1] + PENALTY)
    np.testing.assert_allclose(value[left[0]], np.log(share) + [step, -step])
    np.testing.assert_allclose(F[below], np.tile(value[left[0]], (below.sum(), 1)))
    np.testing.assert_array_equal(roots, [0])


def test_boosting_does_not_see_rows_of_weight_zero():
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(40, 4)).astype(np.float32), rng.integers(3, size=40)
    rising = np.ascontiguousarray(np.argsort(X, axis=0).T)
    weight = np.where(np.arange(40) < 30, 1.0, 0.0)
    F, other = np.empty((40, 3)), np.empty((40, 3))
    boost(X, rising, codes, weight, 5, 3, F)
    boost(X, rising, np.where(weight > 0, codes, 0), weight, 5, 3, other)
    np.testing.assert_array_equal(F, other)


def test_scores_of_boosting_are_the_mean_over_its_folds():
    rng = np.random.default_rng(2)
    X, codes = rng.normal(size=(50, 4)), rng.integers(3, size=50)
    trees, left_out = boosted(X, codes, 3, 0, 1, 5)
    rising = np.ascontiguousarray(np.argsort(X.astype(np.float32), axis=0, kind="stable").T)
    F, total = np.empty((50, 3)), np.zeros((50, 3))
    order = np.random.default_rng([0, 0]).permutation(50)
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(50, dtype=int)
    fold[order] = np.arange(50) % 5
    for own in range(5):
        boost(X.astype(np.float32), rising, codes, (fold != own).astype(float), 30, 3, F)
        total += F / 5
        np.testing.assert_allclose(left_out[fold == own], F[fold == own])
    np.testing.assert_allclose(trees.votes(X), total)


def test_few_rows_of_one_class_and_many_classes_are_boosted():
    rng = np.random.default_rng(4)
    for codes, k in ((np.zeros(2, dtype=int), 2), (np.arange(3), 3), (np.arange(400) % 200, 200)):
        trees, left_out = boosted(rng.normal(size=(len(codes), 2)), codes, k, 0, 1, 5)
        assert np.isfinite(left_out).all() and np.isfinite(trees.value).all()


def test_new_rows_and_files_give_the_same_answers(fitted, tmp_path):
    X, _, model = fitted
    hidden = model.labels_.codes < 0
    assert np.array_equal(model.predict(X)[hidden], model.transduction_[hidden])
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_lesson_equals_a_fit(fitted):
    X, y, model = fitted
    row = int(np.flatnonzero(model.labels_.codes < 0)[0])
    taught = model.taught([row], [y[row]])
    labels = given(y)
    labels[row] = y[row]
    np.testing.assert_allclose(taught.probabilities_, FewLabelClassifier().fit(X, labels).probabilities_, atol=1e-12)


def test_the_majority_is_the_answer_if_the_columns_tell_nothing():
    X, _ = made(400)
    y = np.array(["no", "yes"], dtype=object)[(np.random.default_rng(3).random(400) < 0.3).astype(int)]
    model = FewLabelClassifier().fit(X, given(y, 100, 3))
    assert set(model.transduction_[model.labels_.codes < 0]) == {"no"}
    assert model.report_.sentences[0].startswith("The columns do not predict the classes")
    assert "'no'" in model.report_.sentences[0]
    assert model.report_.candidates[0]["method"] == "majority"
    assert (model.predict(X) == "no").all()
    np.testing.assert_allclose(model.probabilities_.max(), (np.sum(given(y, 100, 3) == "no") + 1) / 102, atol=0.1)


def test_the_majority_has_no_part_where_the_columns_tell(fitted):
    model = fitted[2]
    place = [candidate.method for candidate in model.candidates_].index("majority")
    assert model.weights_[place] == 0
    assert not model.report_.sentences[0].startswith("The columns do not predict")


def test_each_group_has_its_own_prior_share(fitted):
    X = fitted[0]
    one_each = np.where(np.arange(len(X)) < 2, np.array(["a", "b"], dtype=object)[np.arange(len(X)) % 2], None)
    model = FewLabelClassifier(["lssvm", "forest", "boosting"]).fit(X.filter(like="n"), one_each)
    of = np.array([candidate.prior_group for candidate in model.candidates_])
    assert set(of) == {"", "forest", "boosting"}
    for group in ("forest", "boosting"):  # without a label that can be held out the weights are the prior, cut at 99%
        np.testing.assert_allclose(model.weights_[of == group].sum(), PRIOR_SHARES[group], rtol=0.02)
    rng = np.random.default_rng(0)
    many = X.assign(**{f"m{place}": rng.normal(size=len(X)) for place in range(20)})
    mixed = FewLabelClassifier(["lssvm", "boosting"]).fit(many, one_each)
    assert "boosting, many columns" in {candidate.prior_group for candidate in mixed.candidates_}
    few = FewLabelClassifier(["lssvm", "boosting"]).fit(many.iloc[:, :12], one_each)
    assert "boosting" in {candidate.prior_group for candidate in few.candidates_}


def test_boosting_has_a_larger_prior_share_with_many_labels():
    """Columns that mean nothing: every candidate predicts the class frequencies, so that the weights stay near the
    prior.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(2, size=400)
    share = {}
    for number in (90, 110):
        labels = np.where(np.arange(400) < number, y, -1)
        model = FewLabelClassifier(["lssvm", "boosting"]).fit(X, labels)
        [own] = [m for m, one in enumerate(model.answers_.fit.fitted) if one.method == "boosting"]
        gain = model.answers_.fit.pool.losses.sum(axis=1)
        other = np.exp(-(gain - gain[own]) / (1 + number / 50))
        other[own] = 0.0
        share[number] = model.weights_[own] / (1 - model.weights_[own]) * other.sum() / (len(other) - 1)
    np.testing.assert_allclose([share[90], share[110]], [0.02 / 0.98, 0.1 / 0.9], rtol=0.03)


def test_auto_leaves_boosting_out_for_very_many_columns():
    X = np.random.default_rng(0).normal(size=(30, 201))
    y = np.where(np.arange(30) < 10, np.arange(30) % 2, -1)
    assert "boosting" not in {one.method for one in FewLabelClassifier().fit(X, y).candidates_}
    assert {one.method for one in FewLabelClassifier("boosting").fit(X, y).candidates_} == {"boosting"}


def test_rows_beside_the_core_are_boosted_too(fitted):
    X, y, _ = fitted
    methods = ["lssvm", "boosting", "majority"]
    prepared = FewLabelClassifier(methods).prepare(X, core=np.arange(0, len(X), 2))
    rows = np.flatnonzero([one is not None for one in given(y)])
    model = prepared.taught(rows, y[rows])
    hidden = model.labels_.codes < 0
    assert np.mean(model.transduction_[hidden] == y[hidden]) > 0.8
