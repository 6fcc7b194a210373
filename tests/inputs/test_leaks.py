"""Columns that distinguish labeled rows are found when strong, never by chance, and excluded unless requested."""

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelClassifier
from mercer.errors import InputError
from mercer.inputs.tables import TableEncoder
from mercer.inputs.tables.leaks import leaks


def table(n=300, labels=20, seed=0):
    """Features of every kind, two weakly separated classes, and which rows are labeled."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "size": codes + rng.normal(size=n),
            "color": rng.choice(["red", "green", "blue"], n),
            "gaps": np.where(rng.random(n) < 0.5, np.nan, rng.normal(size=n)),
            "town": rng.choice([f"t{i}" for i in range(40)], n),
        }
    )
    return frame, codes, np.isin(np.arange(n), rng.choice(n, labels, False))


def test_strong_differences_are_found_and_named():
    frame, codes, given = table()
    rng = np.random.default_rng(1)
    leaking = frame.assign(
        filled=np.where(given, codes, np.nan),
        zero=np.where(given, 1 + codes, 0),
        word=np.where(given, np.where(codes, "good", "bad"), "none"),
        later=np.where(given, 100.0, 0.0) + rng.normal(size=len(frame)),
        score=np.where(given, rng.normal(5, 1, len(frame)), 0.0),  # 0 represents a gap, and the rest has many values
    )
    found = {leak.column: leak for leak in leaks(leaking, given)}
    assert list(found) == ["filled", "zero", "word", "later", "score"]
    assert found["filled"].why == "filled in 100% of the labeled and 0% of the other rows"
    assert found["word"].value == "none"
    assert found["later"].what in ("range", "value")
    assert all(leak.p < 1e-6 for leak in found.values())
    text = leaking.astype(object).where(leaking.notna(), "").astype(str)  # as from a CSV file
    assert [leak.column for leak in leaks(text, given)] == list(found)


def test_rows_labeled_from_one_end_are_no_leak():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        draws = rng.normal(size=400), rng.random(400), np.exp(rng.normal(size=400)), rng.integers(0, 200, 400)
        values = draws[seed % 4]
        for l in (20, 80):
            lowest = np.argsort(np.argsort(values, kind="stable"), kind="stable") < l
            assert leaks(pd.DataFrame({"a": values, "noise": rng.normal(size=400)}), lowest) == []
            assert leaks(pd.DataFrame({"a": -values}), lowest) == []
            first = pd.DataFrame({"a": np.sort(values) + 0.1 * rng.normal(size=400), "part": np.arange(400) // 100})
            assert leaks(first, np.arange(400) < l) == []
        apart = pd.DataFrame({"a": values.astype(float)})
        assert len(leaks(apart + 1000.0 * lowest[:, None], lowest)) == 1


def test_half_of_a_column_missing_more_often_counts_and_a_little_does_not():
    frame, _, given = table(1000, 50)
    rng = np.random.default_rng(2)
    often = frame.assign(gaps=np.where(rng.random(1000) < np.where(given, 0.05, 0.9), np.nan, 1.0 + rng.random(1000)))
    assert [leak.column for leak in leaks(often, given)] == ["gaps"]
    somewhat = frame.assign(gaps=np.where(rng.random(1000) < np.where(given, 0.2, 0.6), np.nan, rng.random(1000)))
    assert leaks(somewhat, given) == []
    chosen = frame.assign(size=frame["size"] + 1.5 * given)  # people choose clear cases
    assert leaks(chosen, given) == []


def test_random_labels_flag_nothing():
    for seed in range(30):
        for labels in (6, 20, 100):
            frame, _, given = table(200, labels, seed)
            assert leaks(frame, given) == []


def test_few_labels_prove_nothing():
    """Three rows of one town among forty may be chance. The p-value is corrected for the values and the columns."""
    frame, _, _ = table(60)
    given = np.arange(60) < 3
    assert leaks(frame.assign(town=np.where(given, "t0", frame["town"])), given) == []
    assert leaks(frame, np.ones(60, bool)) == leaks(frame, np.zeros(60, bool)) == []


def test_where_no_difference_could_be_told_from_chance_none_is_looked_for(monkeypatch):
    """Complete separation in one of d columns, by l of n rows, for which shortcut and tests of all columns agree."""
    found = []
    for l, n, d in ((2, 6, 1), (5, 20, 1), (5, 20, 5), (5, 20, 50), (6, 24, 40), (8, 30, 1000)):
        given = np.arange(n) < l
        frame = pd.DataFrame({f"c{j}x": np.where(given, "yes", "") if j == 0 else np.arange(n) % 3 for j in range(d)})
        short = leaks(frame, given)
        with monkeypatch.context() as m:
            m.setattr("mercer.inputs.tables.leaks._least_p", lambda l, u: 0.0)
            assert leaks(frame, given) == short
        found.append(len(short))
    assert found == [0, 1, 1, 0, 1, 1], found


def test_the_classifier_leaves_a_leak_out_and_says_so_unless_asked():
    frame, codes, given = table(200, 30)
    leaking = frame.assign(note=np.where(given, np.where(codes, "good", "bad"), ""))
    y = np.where(given, codes, -1)
    model = FewLabelClassifier(["lssvm"]).fit(leaking, y)
    assert "note (filled in 100% of the labeled and 0% of the other rows)" in str(model.report_)
    plain = FewLabelClassifier(["lssvm"]).fit(frame, y)
    np.testing.assert_array_equal(model.scores_, plain.scores_)
    asked = FewLabelClassifier(["lssvm"], include=["note"]).fit(leaking, y)
    assert "note" not in str(asked.report_)
    assert asked.left_out_accuracy_ > model.left_out_accuracy_  # what the leak would have claimed


def test_numbers_only_with_a_leak_are_still_a_matrix():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    given = np.arange(80) % 4 == 0
    encoder = TableEncoder().fit(frame.assign(leak=1.0 * given), labeled=given)
    assert encoder.used_ == {"a", "b", "c"}
    assert any("--include uses it" in note for note in encoder.notes_)
    assert TableEncoder(include=["leak"]).fit(frame.assign(leak=1.0 * given), labeled=given).used_ == {*"abc", "leak"}


def coded(seed, twice, n=200):
    """Codes of one row each, or two, next to noise. The first 20 rows are labeled, ten of each class."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    truth[:20] = rng.permutation(np.arange(20) % 2)
    codes = np.arange(n) % (n // 2) if twice else np.arange(n)
    frame = pd.DataFrame({"code": [f"c{code:04d}" for code in codes], "size": rng.normal(size=n)})
    return frame, truth, np.where(np.arange(n) < 20, truth, -1)


@pytest.mark.parametrize("twice", [False, True])
def test_random_codes_teach_nothing_and_claim_nothing(twice):
    """Forced to be a category. With a column for each code all rows are equally far apart, and a held-out label is the
    one that the others lack, nine against ten: methods of balanced scores then know it, and claimed 100%.
    """
    for seed in range(5):
        frame, truth, y = coded(seed, twice)
        encoder = TableEncoder(category=["code"])
        X = encoder.fit_transform(frame)
        assert encoder.used_ == {"size"}
        assert any("'code' has no value that occurs three times" in note for note in encoder.notes_)
        model = FewLabelClassifier().fit(X, y)
        low, high = model.accuracy_interval_
        assert low <= np.mean((model.transduction_ == truth)[y < 0]) <= high
        with pytest.raises(InputError, match="No column is left to learn from"):
            TableEncoder(category=["code"]).fit(frame[["code"]])
