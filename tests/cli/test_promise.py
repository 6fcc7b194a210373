"""--wrong-at-most: accepted rows are marked, nothing of them is learned from, and bad values are refused."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from cli.command import here

QUICK = ("-m", "mixed")


@pytest.fixture
def table(tmp_path):
    X, y = load_digits(return_X_y=True)
    frame = pd.DataFrame(X[:500], columns=[f"p{i}" for i in range(64)]).astype(int)
    kind = np.where(y[:500] % 2, "odd", "even").astype(object)
    frame["kind"] = np.where(np.random.default_rng(0).permutation(500) < 150, kind, "")
    frame.to_csv(tmp_path / "digits.csv", index=False)
    return tmp_path / "digits.csv", kind


def test_accepted_rows_are_marked_and_the_promise_is_kept(table, tmp_path):
    path, kind = table
    out = tmp_path / "out.csv"
    run = here("label", path, "-t", "kind", "--wrong-at-most", "0.1", "-o", out, "--json", *QUICK)
    assert run.exit_code == 0, run.output
    facts, written = json.loads(run.stdout)["promise"], pd.read_csv(out, keep_default_na=False)
    accepted = written["kind_source"] == "accepted"
    assert accepted.sum() == facts["accepted"] > 200
    assert np.mean(written["kind_predicted"][accepted] != kind[accepted]) <= 0.1
    assert (written["kind_confidence"][accepted] >= round(facts["threshold"], 4) - 1e-4).all()
    again = here("label", out, "-t", "kind", "--wrong-at-most", "0.1", "-o", tmp_path / "b.csv", "--json", *QUICK)
    assert json.loads(again.stdout)["given"] == 150  # what was accepted is not a label
    assert json.loads(again.stdout)["promise"]["accepted"] == facts["accepted"]


def test_what_is_missing_is_said(table, tmp_path):
    path, _ = table
    run = here("label", path, "-t", "kind", "--wrong-at-most", "0.001", *QUICK)
    assert run.exit_code == 0 and "No prediction can be accepted yet with at most 0.1% wrong" in run.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-t", "kind", "--wrong-at-most", "5"), "For 5% give 0.05."),
        (("-t", "kind", "--wrong-at-most", "0"), "Give a fraction between 0 and 1"),
        (("-t", "p20", "--as", "number", "--missing", "7", "--wrong-at-most", "0.1"), "is for one class per row"),
    ],
)
def test_bad_promises_are_refused(table, options, message):
    run = here("label", table[0], *options, *QUICK)
    assert run.exit_code == 2 and message in run.output
