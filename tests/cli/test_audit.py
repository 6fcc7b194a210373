"""mercer audit."""

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
    kind = np.where(y[:400] % 2, "odd", "even").astype(object)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X[:400], columns=[f"p{i}" for i in range(64)]).astype(int)
    frame["human"] = np.where(rng.permutation(400) < 60, kind, "")
    frame["llm"] = np.where(rng.random(400) < 0.6, kind, rng.permutation(kind))
    frame.to_csv(tmp_path / "digits.csv", index=False)
    return tmp_path / "digits.csv", frame, kind


def test_json_has_accuracy_errors_and_what_is_next(table):
    path, frame, kind = table
    run = here("audit", path, "-t", "human", "--hint", "llm", "-n", "10", "--json", *QUICK)
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    (one,) = found["sources"]
    low, high = one["interval"]
    assert low <= np.mean(frame["llm"] == kind) <= high and one["checks"] == 60 and one["effective_checks"] > 80
    rows = [int(each["row"]) - 1 for each in one["likely_wrong"][:15]]
    assert np.mean(frame["llm"][rows] != kind[rows]) > 0.7
    assert [each["how"] for each in found["next"]] == ["chosen"] * 5 + ["random"] * 5


def test_out_only_and_report_are_written_and_go_round(table, tmp_path):
    path, _, kind = table
    out, only, report = tmp_path / "out.csv", tmp_path / "only.csv", tmp_path / "audit.html"
    files = ("-o", out, "--only", only, "--report", report)
    run = here("audit", path, "-t", "human", "--hint", "llm", "-n", "8", *files, *QUICK)
    assert run.exit_code == 0, run.output
    assert "95% CI" in run.output and "count as" in run.output and "To check next: 4 guesses" in run.output
    assert "How accurate each source is" in report.read_text()
    written = pd.read_csv(out, dtype=str, keep_default_na=False)
    unlabeled = written["human"] == ""
    assert ((written["llm_wrong"] != "") == unlabeled).all() and (written["human_how"] == "random").sum() == 4
    asked = pd.read_csv(only, dtype=str, keep_default_na=False)
    asked["human"] = [kind[int(row) - 1] for row in asked["row_number"]]
    asked.to_csv(only, index=False)
    again = here("audit", path, "-t", "human", "--hint", "llm", "--more", only, "--json", *QUICK)
    assert json.loads(again.stdout)["labels"] == 68 and json.loads(again.stdout)["labels_drawn"] == 64
    # What an audit wrote is not a feature of the next one.
    third = here("audit", out, "-t", "human", "--hint", "llm", "--json", *QUICK)
    first = here("audit", path, "-t", "human", "--hint", "llm", "--json", *QUICK)
    assert json.loads(third.stdout)["sources"][0]["accuracy"] == json.loads(first.stdout)["sources"][0]["accuracy"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-t", "human"), "audit needs --hint COLUMN"),
        (("-t", "human", "--hint", "llm", "--random", "2"), "--random 2 is not accepted"),
        (("-t", "llm", "--hint", "human"), "Every row has a label in 'llm'"),
    ],
)
def test_bad_input_is_refused(table, options, message):
    run = here("audit", table[0], *options, *QUICK)
    assert run.exit_code != 0 and message in run.output
