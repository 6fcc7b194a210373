"""Hints of other sources join the prediction, are never labels, and leave every estimate valid."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

import mercer
from mercer import FewLabelClassifier, suggest
from mercer.errors import InputError
from mercer.few_label import sizes
from mercer.few_label.hints import Confusion, Guesses
from mercer.inputs.labels import read_labels

QUICK = ["lssvm", "diffusion"]


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)
    rng = np.random.default_rng(0)
    X = X + 1e-3 * rng.normal(size=X.shape)  # no two rows are equal
    hint = np.where(rng.random(150) < 0.85, y, (y + rng.integers(1, 3, 150)) % 3)
    hint = names[hint]
    hint[::9] = None
    given = np.full(150, None, dtype=object)
    some = rng.permutation(150)[:18]
    given[some] = names[y[some]]
    return X, names[y], hint, given


def model_of(X, y, hints=None, **options):
    return FewLabelClassifier(QUICK, **options).fit(X, y, hints=hints)


def one_hot(codes, k):
    return np.eye(k)[codes]


def test_the_matrix_without_a_label_is_that_of_the_other_labels():
    rng = np.random.default_rng(0)
    codes, words = rng.integers(0, 3, 25), rng.integers(0, 4, 25)
    words[3] = -1
    own, shares = np.array([0, 1, 2, -1]), np.array([0.3, 0.3, 0.3, 0.1])
    mass = one_hot(codes, 3) * rng.choice([1.0, 2.0], 25)[:, None]
    found = Confusion.of(mass, words, own, shares).without(mass, words)
    for i in range(25):
        others = np.arange(25) != i
        if words[i] < 0:
            assert (found[i] == 0).all()
            continue
        matrix = Confusion.of(mass[others], words[others], own, shares).matrix
        np.testing.assert_allclose(np.exp(found[i]), matrix[:, words[i]], rtol=1e-9)


def test_the_matrix_is_a_distribution_that_approaches_the_frequencies():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, 4000)
    words = np.where(rng.random(4000) < np.where(codes == 0, 0.95, 0.6), codes, 1 - codes)
    matrix = Confusion.of(one_hot(codes, 2), words, np.arange(2), np.array([0.5, 0.5])).matrix
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.diag(matrix), [0.95, 0.6], atol=0.03)
    few = Confusion.of(one_hot(codes[:6], 2), words[:6], np.arange(2), np.array([0.5, 0.5])).matrix
    assert 0.5 < few[0, 0] < 0.97  # six labels do not make a source perfect


def test_copies_of_a_source_count_about_as_one():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 600)
    hint = np.where(rng.random(600) < 0.8, y, rng.integers(0, 3, 600))
    other = np.where(rng.random(600) < 0.8, y, rng.integers(0, 3, 600))
    labels = read_labels(np.where(np.arange(600) < 40, y, -1))
    pool = np.full((40, 3), 1 / 3)

    def exponents(*hints):
        guesses = Guesses(np.column_stack(hints), (np.arange(3),) * len(hints))
        return guesses.fit(labels, pool)[0].exponents[1:]

    assert exponents(hint)[0] > 0.8
    assert exponents(hint, hint, hint).sum() < 1.3
    assert exponents(hint, other).sum() > 1.6


def test_hints_help_and_a_missing_one_leaves_the_row_alone(flowers):
    X, truth, hint, given = flowers
    X = np.random.default_rng(3).normal(size=X.shape)  # columns without information
    free, spoken = given == None, hint != None  # noqa: E711
    model = model_of(X, given, hint)
    right = model.transduction_ == truth
    assert right[free & spoken].mean() > 0.75 and right[free & ~spoken].mean() < 0.7
    followed = model.transduction_[free & spoken] == hint[free & spoken]
    assert followed.mean() > 0.9


def test_a_hint_is_never_a_label(flowers):
    X, _, hint, given = flowers
    model = model_of(X, given, hint)
    np.testing.assert_array_equal(model.labels_.labeled, np.flatnonzero(given != None))  # noqa: E711
    # Candidates see rows and labels only.
    plain = model_of(X, given)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    np.testing.assert_array_equal(model.votes_, plain.votes_)
    # A hint that is the same for every row changes no order of classes.
    constant = model_of(X, given, np.full(150, "setosa", dtype=object))
    free = given == None  # noqa: E711
    assert (constant.predicted_ == plain.predicted_)[free].mean() > 0.97


def test_new_rows_saving_and_teaching(flowers, tmp_path):
    X, truth, hint, given = flowers
    model, free = model_of(X, given, hint), given == None  # noqa: E711
    P = model.predict_proba(X, hints=hint)
    np.testing.assert_allclose(P[free], model.probabilities_[free], atol=1e-6)
    assert np.abs(model.predict_proba(X) - P)[hint != None].max() > 0.1  # noqa: E711
    np.testing.assert_array_equal(model.predict_proba(X, hints=np.full(150, "tulip")), model.predict_proba(X))
    mercer.save(model, tmp_path / "m.mercer")
    np.testing.assert_array_equal(mercer.load(tmp_path / "m.mercer").predict_proba(X, hints=hint), P)
    rows = np.flatnonzero(free)[:3]
    more = given.copy()
    more[rows] = truth[rows]
    np.testing.assert_allclose(
        model.taught(rows, truth[rows]).probabilities_, model_of(X, more, hint).probabilities_, atol=1e-12
    )
    prepared = FewLabelClassifier(QUICK).prepare(X, hints=hint).taught(np.flatnonzero(~free), given[~free])
    np.testing.assert_allclose(prepared.probabilities_, model.probabilities_, atol=1e-12)
    assert len(suggest(model, 4).rows) == 4
    assert model.predict_set(X, hints=hint).shape == (150, 3)
    assert model.score(X, truth, hints=hint) > 0.8


def test_hints_come_as_column_dict_frame_and_names(flowers):
    X, _, hint, given = flowers
    expected = model_of(X, given, hint).probabilities_
    series = pd.Series(hint, name="llm")
    assert model_of(X, given, series).hints_.names == ("llm",)
    for hints in (series, {"llm": hint}, pd.DataFrame({"llm": hint}), hint[:, None], list(hint)):
        np.testing.assert_array_equal(model_of(X, given, hints).probabilities_, expected)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(llm=hint)
    model = model_of(frame, given, "llm")
    np.testing.assert_allclose(model.probabilities_, expected, atol=1e-9)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(model.predict_proba(frame), model.predict_proba(frame[list("abcd")], hints=hint))
    spelled = np.array([None if word is None else f" {word.upper()}" for word in hint], dtype=object)
    np.testing.assert_allclose(model_of(X, given, spelled).probabilities_, expected, atol=1e-12)


def test_numbers_as_classes_and_minus_one_for_no_hint():
    X, y = load_iris(return_X_y=True)
    given = np.where(np.arange(150) % 8 == 0, y, -1)
    hint = np.where(np.arange(150) % 3 == 0, -1, y)
    model = model_of(X, given, hint)
    assert model.hints_.words[0].tolist() == ["0", "1", "2"]
    floats = np.where(hint < 0, np.nan, hint)
    np.testing.assert_array_equal(model_of(X, given, floats).probabilities_, model.probabilities_)


@pytest.mark.parametrize(
    ("hints", "message"),
    [
        (["setosa"], "one guess for each of 150 rows"),
        ("llm", "X is not a data frame"),
        (np.full(150, None, dtype=object), "empty in every row"),
        ([f"row {i}" for i in range(150)], None),
        ({}, "has no column"),
        (np.zeros((150, 2, 2)), "has shape"),
        (3, "is not a column"),
    ],
)
def test_bad_hints_are_refused(flowers, hints, message):
    X, _, _, given = flowers
    if message is None:  # strange words are not refused, but they name no class and have little information
        assert model_of(X, given, hints).hints_.classes(["setosa"])[0].max() == -1
        return
    with pytest.raises(InputError, match=message):
        model_of(X, given, hints)


def test_predictions_refuse_hints_that_the_fit_did_not_have(flowers):
    X, _, hint, given = flowers
    with pytest.raises(InputError, match="fitted without hints"):
        model_of(X, given).predict(X, hints=hint)
    with pytest.raises(InputError, match="has no hints 'rules'"):
        model_of(X, given, {"llm": hint}).predict(X, hints={"rules": hint})


def test_the_estimate_is_that_of_the_predictions_with_hints():
    """If the columns have no information, accuracy and its interval must be those of the hints."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    values = []
    for seed in range(12):
        draw = np.random.default_rng(seed)
        hint = np.where(draw.random(400) < 0.85, y, 1 - y)
        given = np.full(400, -1)
        some = draw.permutation(400)[:40]
        given[some] = y[some]
        model = FewLabelClassifier(["lssvm"]).fit(X, given, hints=hint)
        free = given < 0
        true = np.mean(model.transduction_[free] == y[free])
        values.append((model.estimate_.accuracy.value, model.confidence_[free].mean(), true, *model.accuracy_interval_))
    estimate, confidence, true, low, high = np.array(values).T
    assert abs(estimate.mean() - true.mean()) < 0.04 and abs(confidence.mean() - true.mean()) < 0.06
    assert np.mean((low <= true) & (true <= high)) > 0.9


@pytest.mark.parametrize(("n_labels", "gain"), [(16, 0.0), (25, 0.06), (45, 0.12)])
def test_hints_are_at_least_as_good_as_the_hint_alone(n_labels, gain):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    mine, machine = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        hint = np.where(rng.random(400) < 0.8, y, rng.integers(0, 10, 400))
        order = rng.permutation(400)
        first = order[np.unique(y[order], return_index=True)[1]]
        given = np.full(400, -1)
        some = np.concatenate([first, order[~np.isin(order, first)][: n_labels - 10]])
        given[some] = y[some]
        model, free = model_of(X, given, hint), given < 0
        mine.append(np.mean(model.transduction_[free] == y[free]))
        machine.append(np.mean(hint[free] == y[free]))
    assert np.mean(mine) > np.mean(machine) + gain


def test_a_model_with_hints_has_no_form_in_onnx(flowers):
    pytest.importorskip("onnx")
    X, _, hint, given = flowers
    with pytest.raises(InputError, match="hints"):
        mercer.to_onnx(model_of(X, given, hint), np.float64)


def test_rows_outside_the_core_and_rows_far_away_use_their_hints(flowers, monkeypatch):
    X, truth, hint, given = flowers
    monkeypatch.setattr(sizes, "SIZES", replace(sizes.SIZES, core_rows=60))
    model, free = model_of(X, given, hint), given == None  # noqa: E711
    assert model.library_.extension is not None
    np.testing.assert_allclose(model.predict_proba(X, hints=hint)[free], model.probabilities_[free], atol=1e-6)
    assert np.mean(model.transduction_[free] == truth[free]) > 0.85
    far = model.predict_proba(np.full((2, 4), 1e4), hints=["virginica", None])
    assert model.classes_[far[0].argmax()] == "virginica" and far[0].max() > 0.6
    np.testing.assert_allclose(far[1], model.prior_, atol=1e-6)


def test_one_label_of_each_class_is_enough(flowers):
    X, truth, hint, _ = flowers
    given = np.full(150, None, dtype=object)
    for name in np.unique(truth):
        given[np.flatnonzero(truth == name)[1]] = name
    model = model_of(X, given, hint)
    assert np.mean(model.transduction_ == truth) > 0.75


def test_a_class_that_only_a_hint_names_is_predicted(flowers):
    X, y, hint, given = flowers
    two = np.where(given == "virginica", None, given)
    model = model_of(X, two, {"llm": hint})
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    free = np.equal(two, None) & ~np.equal(hint, None)
    assert np.mean(model.transduction_[free] == y[free]) >= np.mean(hint[free] == y[free])
    assert np.mean(y[model.transduction_ == "virginica"] == "virginica") > 0.75
    np.testing.assert_allclose(model.predict_proba(X, hints={"llm": hint}).sum(axis=1), 1.0)
    assert "virginica" not in model.predict(X)  # without hints nothing points to it
    assert 0 <= model.estimate_.accuracy.low < model.estimate_.accuracy.high <= 1
    assert any("'virginica', which no label names. It counts as a class" in line for line in model.report_.sentences)


def test_numbers_are_classes_of_the_same_type(flowers):
    X, y, _, _ = flowers
    codes = np.unique(y, return_inverse=True)[1]
    given = np.where(np.arange(150) % 7 == 0, codes, -1)
    model = model_of(X, np.where(given == 2, -1, given), {"llm": codes})
    assert model.classes_.tolist() == [0, 1, 2] and model.classes_.dtype.kind == "i"
    assert np.mean(model.transduction_ == codes) > 0.95


def test_a_word_that_labeled_rows_contradict_is_not_a_class(flowers):
    X, _, hint, given = flowers
    unknown, labeled = hint.copy(), np.flatnonzero(~np.equal(given, None))
    unknown[::5] = "unknown"
    unknown[labeled[:2]] = "unknown"
    assert "unknown" not in model_of(X, given, {"llm": unknown}).classes_
    unknown[labeled] = hint[labeled]
    assert "unknown" in model_of(X, given, {"llm": unknown}).classes_
    rare = hint.copy()
    rare[np.setdiff1d(np.arange(150), labeled)[0]] = "once"
    assert "once" not in model_of(X, given, {"llm": rare}).classes_
    known = model_of(X, given, {"llm": unknown}, prior=[0.3, 0.3, 0.4])  # the frequencies name all classes
    assert known.classes_.tolist() == ["setosa", "versicolor", "virginica"]


def test_few_random_labels_of_texts_are_no_worse_than_a_copy_of_the_hints():
    """Made-up tickets of eight teams. With 20 random labels, some teams have none."""
    rng, mine, copied = np.random.default_rng(0), [], []
    common = [f"word{i}" for i in range(60)]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.choice(8, 300, p=np.array([8, 7, 6, 5, 4, 3, 2, 1]) / 36)
        own = [[f"team{c}word{i}" for i in range(12)] for c in range(8)]
        texts = [" ".join([*rng.choice(common, 8), *rng.choice(own[c], 1)]) for c in y]
        hint = np.where(rng.random(300) < 0.85, y, rng.integers(0, 8, 300))
        given = np.where(rng.permutation(300) < 20, y, -1)
        frame = pd.DataFrame({"text": texts})
        model = FewLabelClassifier(QUICK, text_model="none").fit(frame, given, hints={"llm": hint})
        free = given < 0
        mine.append(np.mean(model.transduction_[free] == y[free]))
        copied.append(np.mean(hint[free] == y[free]))
    assert np.mean(mine) > np.mean(copied) - 0.01
