"""Audits of the hints of a table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from mercer.errors import InputError
from mercer.jobs.auditing import audit_table, columns
from mercer.jobs.classes import fit
from mercer.jobs.dataset import read
from mercer.jobs.options import ReadOptions, SearchOptions


@pytest.fixture
def audited(tmp_path):
    """(dataset, fitted model, true classes, guesses) of a table whose guesses are wrong in every fifth row."""
    X, y = load_iris(return_X_y=True)
    true = np.array(["setosa", "versicolor", "virginica"])[y]
    guess = np.where(np.arange(150) % 5 == 0, np.roll(true, 50), true)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["human"] = np.where(np.random.default_rng(0).permutation(150) < 40, true, "")
    frame["llm"] = guess
    frame.to_csv(tmp_path / "iris.csv", index=False)
    (dataset,) = read(tmp_path / "iris.csv", ["human"], ReadOptions(hint=["llm"]))
    return dataset, fit(dataset, SearchOptions(["lssvm"])), true, guess


def test_half_of_the_next_rows_are_random_and_the_others_are_likely_wrong(audited):
    dataset, fitted, true, guess = audited
    found = audit_table(dataset, fitted, n=12, random=0.5, seed=1)
    assert len(found.rows) == 12 and found.drawn.sum() == 6 and len(set(found.rows)) == 12
    assert not dataset.labels.given[found.rows].any()
    chosen = found.rows[~found.drawn]
    assert np.mean(guess[chosen] != true[chosen]) > 0.8  # 20% of all guesses are wrong
    assert np.array_equal(found.rows, audit_table(dataset, fitted, n=12, random=0.5, seed=1).rows)


def test_columns_name_the_order_and_the_probability_of_an_error(audited):
    dataset, fitted, _, _ = audited
    found = audit_table(dataset, fitted, n=5)
    out = columns(dataset, found)
    rank = next(cells for name, cells in out.items() if name != "llm_wrong")
    assert [rank[row] for row in found.rows] == ["1", "2", "3", "4", "5"] and sum(rank != "") == 5
    assert {cell == "" for cell in out["llm_wrong"][dataset.labels.given]} == {True}


def test_a_table_whose_rows_all_have_a_label_is_refused(audited, tmp_path):
    _, fitted, true, _ = audited
    frame = pd.read_csv(tmp_path / "iris.csv").assign(human=true)
    frame.to_csv(tmp_path / "all.csv", index=False)
    (whole,) = read(tmp_path / "all.csv", ["human"], ReadOptions(hint=["llm"]), need_labels=False)
    with pytest.raises(InputError, match="Every row has a label in 'human'"):
        audit_table(whole, fitted)
