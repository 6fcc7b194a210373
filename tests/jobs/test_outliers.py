"""Outliers of a table: thresholds, answers, and a table of ordinary rows."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.jobs import unlabeled
from mercer.jobs.outliers import find_outliers, read_answers


def blob(n=30, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_outliers_of_a_table():
    X = blob(200)
    X[7] = 8.0
    found = find_outliers(X)
    assert found.flagged.sum() == 10 and found.order[0] == 7 and "cannot be known" in found.fraction
    assert find_outliers(X, false_alarms=0.02).flagged.sum() in (3, 4)
    answers = read_answers(["odd", None, "Ordinary", float("nan"), *[""] * 196])
    assert answers[:4].tolist() == [-1, 0, 1, 0]
    assert "If the answered rows are random: 1 of 2" in find_outliers(X, answers).fraction
    drawn = np.arange(200) == 2
    assert find_outliers(X, answers, drawn=drawn).fraction.startswith("0 of 1 randomly drawn rows are outliers")
    with pytest.raises(InputError, match="Only one of"):
        find_outliers(X, fraction=0.1, false_alarms=0.1)
    with pytest.raises(InputError, match="Invalid answer 'maybe'"):
        read_answers(["maybe"])
    with pytest.raises(InputError, match="needs rows that are known to be ordinary"):
        find_outliers(X, discovery_rate=0.1)


def test_a_table_is_compared_with_ordinary_rows():
    """200 new rows with 40 outliers: the discoveries contain nearly all of them and few others, and are counted."""
    X = blob(200, 3, seed=1)
    X[:40] += 6
    found = find_outliers(X, discovery_rate=0.1, ordinary=blob(1000, 3))
    assert found.flagged[:40].mean() > 0.95 and found.flagged[40:].mean() < 0.06
    assert 10 < float(found.fraction.split()[1].rstrip("%")) < 30 and "interval" in found.fraction  # 20% are
    with pytest.raises(InputError, match="cannot be used together"):
        find_outliers(X, np.ones(200, dtype=int), ordinary=blob(100, 3))


@pytest.mark.parametrize("method", ["auto", "svdd", "kpca", "density"])
def test_unusual_rows_are_ordered_and_equal_rows_are_alike(method):
    X = blob(200)
    X[:6] += np.arange(4, 10)[:, None]
    X[20:30] = X[10:20]
    detector = None if method == "auto" else unlabeled.detector(X, method, 0.05, "rbf", 0)
    found = find_outliers(X, seed=0, detector=detector)
    assert len(set(found.probability[found.order[:10]])) >= 9
    np.testing.assert_array_equal(found.probability[20:30], found.probability[10:20])
    np.testing.assert_array_equal(found.scores[20:30], found.scores[10:20])


def test_thresholds_that_no_row_can_reach_say_how_many_rows_are_needed():
    X = blob(100)
    X[0] = 30.0
    said = find_outliers(X, false_alarms=0.001, ordinary=blob(200, seed=1)).sentence
    assert "smallest p-value is 1/(200 + 1) = 0.005" in said and "Give at least 999 ordinary rows." in said
    said = find_outliers(X, discovery_rate=0.1, ordinary=blob(200, seed=1)).sentence
    assert "0.001 is needed for a single row" in said and "Give at least 999 ordinary rows." in said
    said = find_outliers(X, false_alarms=0.01).sentence
    assert "smallest p-value is 2/(100 + 1)" in said and "Give at least 199 rows." in said
    assert find_outliers(blob(199), false_alarms=0.01).flagged.sum() == 1
    assert "No row" not in find_outliers(X, false_alarms=0.05).sentence
