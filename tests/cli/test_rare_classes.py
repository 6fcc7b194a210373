"""A class of one row in fifty, with its description, the ranked list, and the rows to look at next."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelClassifier, suggest
from mercer.errors import InputError

from .command import here

QUICK = ("-m", "lssvm,forest", "-f")


@pytest.fixture(scope="module")
def fraud():
    rng = np.random.default_rng(1)
    n = 1200
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1]
    truth = np.where(score > np.quantile(score, 0.97), "fraud", "fine").astype(object)
    frame = pd.DataFrame(X.round(3), columns=list("abcde"))
    rows = rng.choice(n, 300, replace=False)
    kind = np.full(n, "", dtype=object)
    kind[rows] = truth[rows]
    return frame.assign(kind=kind), truth


def test_a_rare_class_has_recall_average_precision_and_an_expected_number(tmp_path, fraud):
    frame, truth = fraud
    frame.to_csv(tmp_path / "t.csv", index=False)
    facts = json.loads(here("label", tmp_path / "t.csv", "-t", "kind", "--json", *QUICK).stdout)
    (found,) = facts["rankings"]
    labels = (frame["kind"] == "fraud").sum()
    assert (found["class"], found["labels"]) == ("fraud", labels)
    assert 0.3 < found["average_precision"] <= 1
    assert found["recall_interval"][0] <= found["recall"] <= found["recall_interval"][1]
    free = (frame["kind"] == "").to_numpy()
    assert abs(found["expected"] - (truth[free] == "fraud").sum()) < 15
    done = here("label", tmp_path / "t.csv", "-t", "kind", "-r", tmp_path / "r.html", *QUICK)
    assert f"Class 'fraud' has {labels} of 300 labels" in done.stdout
    assert "Rows most likely of class fraud" in (tmp_path / "r.html").read_text()


def test_ranked_rows_are_those_of_the_largest_probability(tmp_path, fraud):
    frame, truth = fraud
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ("-t", "kind", "--rank", "fraud", "--probabilities", *QUICK)
    done = here("label", tmp_path / "t.csv", *options)
    out = pd.read_csv(tmp_path / "t_labeled.csv", keep_default_na=False)
    free = (out["kind_source"] == "predicted").to_numpy()
    assert (out["kind_rank"][~free] == "").all()
    rank, p = out["kind_rank"][free].astype(int).to_numpy(), out["kind_probability_fraud"][free].to_numpy()
    assert sorted(rank) == list(range(1, free.sum() + 1))
    assert (np.diff(p[np.argsort(rank)]) <= 1e-9).all()
    first = np.flatnonzero(free)[np.argsort(rank)][:20]
    assert (truth[first] == "fraud").mean() > 0.5  # by chance 0.03
    lines = [line.split("\t")[0] for line in done.stdout.splitlines() if line.count("\t") == 2]
    assert lines == ["row", *[str(row + 1) for row in first]]
    assert "The first 20 rows are expected to contain" in done.stdout
    # The output of one run is read by the next, and the old rank is not a feature.
    again = here("label", tmp_path / "t_labeled.csv", "-o", tmp_path / "again.csv", "-t", "kind", *QUICK)
    assert again.exit_code == 0, again.output
    assert "kind_rank" not in pd.read_csv(tmp_path / "again.csv").columns


def test_rows_to_find_a_class_with(tmp_path, fraud):
    frame, truth = fraud
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ("-t", "kind", "--find", "fraud", "-n", "10", "--audit", "0.2", "-m", "lssvm,forest", "--json")
    found = json.loads(here("suggest", tmp_path / "t.csv", *options).stdout)["suggestions"]
    assert [row["how"] for row in found] == 8 * ["chosen"] + 2 * ["random"]
    assert np.mean([truth[int(row["row"]) - 1] == "fraud" for row in found[:8]]) > 0.5


@pytest.mark.parametrize("command", [("label", "--rank"), ("suggest", "--find")])
def test_a_class_that_is_not_there_is_refused_with_those_that_are(tmp_path, fraud, command):
    fraud[0].to_csv(tmp_path / "t.csv", index=False)
    done = here(command[0], tmp_path / "t.csv", "-t", "kind", command[1], "Fraud", "-m", "lssvm")
    assert done.exit_code == 2
    assert "There is no class 'Fraud' among the labels. Did you mean fraud?" in done.output


def test_rank_is_for_one_column_of_classes(tmp_path):
    pd.DataFrame({"a": [i * i % 7 for i in range(20)], "size": [*range(10), *[None] * 10]}).to_csv(
        tmp_path / "t.csv", index=False
    )
    done = here("label", tmp_path / "t.csv", "-t", "size", "--as", "number", "--rank", "3")
    assert done.exit_code == 2
    assert "--rank is for one column of classes" in done.output


def test_the_library_finds_the_same_rows_and_refuses_other_models(fraud):
    frame, _ = fraud
    model = FewLabelClassifier(["lssvm"], missing_label="").fit(frame.drop(columns="kind"), frame["kind"])
    found = suggest(model, 5, find="fraud")
    free = np.flatnonzero(model.labels_.codes < 0)
    best = free[np.argsort(-model.probabilities_[free, 1], kind="stable")[:5]]
    assert found.rows.tolist() == best.tolist()
    assert suggest(model, 3, find="fraud", exclude=best[:2]).rows.tolist() == best[2:5].tolist()
    with pytest.raises(InputError, match="not a class that has a label"):
        suggest(model, 5, find="theft")
    with pytest.raises(InputError, match="find= needs a fitted FewLabelClassifier"):
        suggest(model, 5, find="fraud", strategy="uncertainty")
    with pytest.raises(InputError, match="Give a number from 1 to"):
        suggest(model, 5000, find="fraud")
