"""Stumbles of newcomers, each once seen."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelClassifier, FewLabelRegressor
from mercer.inputs.numerals import short

from .command import here, iris


def test_a_method_for_numbers_is_refused_for_classes_with_those_that_are_not(tmp_path, data):
    done = here("label", data, "-t", "species", "-m", "additive")
    assert done.exit_code == 2
    assert "--method additive is not for classes, which 'species' has. Accepted: auto, lssvm" in done.output
    numbers = pd.DataFrame({"a": np.random.default_rng(0).normal(size=40).round(3)})
    numbers.assign(size=[*(2 * numbers["a"][:20]), *[None] * 20]).to_csv(tmp_path / "n.csv", index=False)
    done = here("label", tmp_path / "n.csv", "-t", "size", "-m", "semi_kpca")
    assert done.exit_code == 2 and "--method semi_kpca is not for numbers" in done.output


def test_compare_is_sorted_by_what_it_shows(data):
    facts = json.loads(here("compare", data, "-t", "species", "--json").stdout)
    shown = [round(row["accuracy"], 2) for row in facts["methods"][1:]]
    assert shown == sorted(shown, reverse=True)


def test_check_has_numbers_for_programs(tmp_path):
    frame, _ = iris(10)
    rows = np.flatnonzero(frame["species"] != "")
    frame.loc[rows[0], "species"] = "virginica"
    frame.to_csv(tmp_path / "t.csv", index=False)
    facts = json.loads(here("check", tmp_path / "t.csv", "-t", "species", "--json", "--above", "0.1").stdout)
    first = facts["labels"][0]
    assert (first["row"], first["given"]) == (str(rows[0] + 1), "virginica")
    assert 0.1 < first["probability_wrong"] <= 1
    assert f"{first['probability_wrong']:.0%} chance that it is wrong" in first["reason"]


def test_ignore_and_exclude_are_one_option(data):
    for option in ("--ignore", "--exclude", "-x"):
        columns = json.loads(here("look", data, option, "petal width", "--json").stdout)["columns"]
        assert {one["name"]: one["kind"] for one in columns}["petal width"] == "ignored"


def test_the_line_of_names_can_be_given(tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n3,4\na,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(20)))
    columns = json.loads(here("look", tmp_path / "t.csv", "--header", "3", "--json").stdout)["columns"]
    assert [one["name"] for one in columns] == ["a", "b"]
    done = here("look", tmp_path / "t.csv", "--header", "900")
    assert done.exit_code in (2, 3) and "--header 900" in done.output


def test_line_endings_are_kept(tmp_path, data):
    text = data.read_text().replace("\n", "\r\n")
    data.write_bytes(text.encode())
    here("label", data, "-t", "species", "-m", "lssvm", "-f")
    out = (tmp_path / "iris_labeled.csv").read_bytes()
    assert out.count(b"\r\n") == out.count(b"\n") > 40


@pytest.mark.parametrize(("value", "text"), [(55312.7, "55,300"), (999.6, "1,000"), (0.5, "0.5"), (1e-7, "1e-07")])
def test_large_numbers_have_no_exponent(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(579521.0, "579,521"), (1390170.0, "1,390,170"), (2005.0, "2005"), (1234567.8, "1,234,570")]
)
def test_large_numbers_of_a_table_have_six_digits(value, text):
    assert short(value, 6) == text


def test_no_command_writes_prices_with_an_exponent(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.uniform(0, 6, 80)
    price = np.exp(9 + size).round()
    frame = pd.DataFrame({"size": size.round(3), "price": np.where(np.arange(80) % 2, price, np.nan)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for command, *more in (("label", "-r", tmp_path / "t.html"), ("suggest",)):
        done = here(command, tmp_path / "t.csv", "-t", "price", "-m", "lssvm", *more, "-f")
        assert done.exit_code == 0, done.output
        assert "e+" not in done.output
    most = f"{float(f'{price[1::2].max():.6g}'):,.0f}"
    assert f" to {most}, read as numbers" in done.output
    page = (tmp_path / "t.html").read_text()
    assert not re.search(r"\d\.\d+e\+\d", page)


def test_estimates_print_as_sentences():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(np.arange(60) % 2, np.where(X[:, 0] > 0, "high", "low"), None)
    found = str(FewLabelClassifier(["lssvm"]).fit(X, y).estimate_)
    assert found.startswith("About ") and "of the predictions for all rows are correct (95% interval" in found
    numbers = np.where(np.arange(60) % 2, 1e5 * X[:, 0], np.nan)
    told = str(FewLabelRegressor(["lssvm"]).fit(X, numbers).estimate_)
    assert told.startswith("R² of held-out numbers") and "e+" not in told


def test_cluster_proposes_a_number_of_groups(tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)) + 12 * np.array(middle) for middle in ((0, 0), (1, 0), (0, 1))])
    pd.DataFrame(X.round(3), columns=["a", "b"]).to_csv(tmp_path / "t.csv", index=False)
    done = here("cluster", tmp_path / "t.csv")
    assert "3 groups are separated best" in done.output
    assert "120 rows in 3 groups of 40, 40, 40 rows" in done.output
    assert set(pd.read_csv(tmp_path / "t_clustered.csv")["cluster"]) == {1, 2, 3}
    pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 1.0]}).to_csv(tmp_path / "two.csv", index=False)
    done = here("cluster", tmp_path / "two.csv")
    assert done.exit_code == 3 and "too few to compare numbers of groups" in done.output
