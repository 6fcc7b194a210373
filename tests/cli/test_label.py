"""`mercer label`: what comes back, in which formats, and what is refused."""

import html
import json
import os
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import mercer

from .command import here, installed, iris


def test_label_then_predict_as_installed(tmp_path, data):
    arguments = ["--report", "r.html", "--save", "m.mercer", "--abstain", "0.7", "--id", "flower"]
    done = installed("label", data, "--target", "species", *arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    frame, truth = iris()
    written = pd.read_csv(tmp_path / "iris_labeled.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(written[frame.columns], pd.read_csv(data, dtype=str, keep_default_na=False))
    assert written.columns.tolist()[-3:] == ["species_predicted", "species_confidence", "species_source"]
    source, predicted = written["species_source"], written["species_predicted"]
    assert (source[frame["species"] != ""] == "given").all()
    assert result["given"] == (source == "given").sum() == 9
    assert result["predicted"] == (source == "predicted").sum()
    assert result["abstained"] == (source == "abstained").sum()
    assert (predicted[source == "abstained"] == "").all()
    confidence = written["species_confidence"].astype(float)
    assert (confidence[source == "abstained"] < 0.7).all()
    assert (confidence[source == "predicted"] >= 0.7).all()
    right = (predicted == truth)[source == "predicted"]
    assert right.mean() > 0.85
    assert 0 <= result["left_out_interval"][0] <= result["left_out_accuracy"] <= result["left_out_interval"][1] <= 1
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "f000" in page
    assert "versicolor" in page

    new = iris(0)[0].drop(columns="species")
    new.to_csv(tmp_path / "new.tsv", sep="\t", index=False)
    done = installed("predict", "m.mercer", "new.tsv", "--out", "new.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = pd.read_csv(tmp_path / "new.csv")
    assert again["species_source"].eq("predicted").all()
    hidden = (source == "predicted").to_numpy()
    assert (again["species_predicted"].to_numpy()[hidden] == predicted[hidden]).mean() > 0.95

    model = mercer.load(tmp_path / "m.mercer")
    assert model.predict(new).tolist() == again["species_predicted"].tolist()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_the_code_in_the_report_runs(tmp_path, data, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    out = f"out.{ending}"
    done = here("label", data, "-t", "species", "-q", "-r", "r.html", "-s", "m.mercer", "-m", "lssvm", "-o", out)
    assert done.exit_code == 0, done.output
    iris(0)[0].drop(columns="species").to_csv("new.csv", index=False)
    code = html.unescape(re.search(r"<pre>(.*?)</pre>", (tmp_path / "r.html").read_text(encoding="utf-8"), re.S)[1])
    names: dict = {}
    exec(code, names)
    assert names["labeled"]["species_predicted"].notna().all()
    assert len(names["rows"]) == 50


def test_nothing_is_overwritten_without_force_and_earlier_answers_are_not_features(tmp_path, data):
    assert here("label", data, "-t", "species", "-q").exit_code == 0
    first = pd.read_csv(tmp_path / "iris_labeled.csv")
    refused = here("label", data, "-t", "species")
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert here("label", data, "-t", "species", "-q", "--force").exit_code == 0
    # Correct the output and run again on it, as a user does.
    again = here("label", tmp_path / "iris_labeled.csv", "-t", "species", "-o", tmp_path / "two.csv")
    assert again.exit_code == 0
    assert "Written by an earlier run, and not used for training: 'species_predicted'" in again.output
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "two.csv"), first)


def test_parquet_npz_text_and_latin_tables(tmp_path):
    frame, _ = iris()
    frame.to_parquet(tmp_path / "t.parquet")
    assert here("label", tmp_path / "t.parquet", "-t", "species", "-q").exit_code == 0
    assert pd.read_parquet(tmp_path / "t_labeled.parquet")["species_source"].isin(["given", "predicted"]).all()

    codes = np.where(frame["species"] == "", -1, load_iris().target[::3])
    np.savez(tmp_path / "t.npz", X=frame.iloc[:, 1:5].to_numpy(float), y=codes)
    assert here("label", tmp_path / "t.npz", "-t", "y", "-q").exit_code == 3  # -1 may be a class
    assert here("label", tmp_path / "t.npz", "-t", "y", "-q", "--missing=-1").exit_code == 0
    with np.load(tmp_path / "t_labeled.npz") as out:
        assert (out["y_predicted"] == load_iris().target[::3]).mean() > 0.85

    parts = [["The {} striker scored a late goal", "A {} keeper saved the penalty kick"]] * 8
    parts += [["The {} bank raised its interest rates", "A {} investor sold the bonds and stocks"]] * 8
    adjectives = ["old", "new", "tall", "calm", "loud", "shy", "bold", "keen"] * 2
    stories = [line.format(word) for pair, word in zip(parts, adjectives) for line in pair]
    labels = ["sport, größer"] * 16 + ["money"] * 16
    shown = [label if i % 8 < 2 else "" for i, label in enumerate(labels)]
    text = "\n".join(["story;label", *(f"{story};{label}" for story, label in zip(stories, shown))])
    (tmp_path / "s.csv").write_bytes(text.encode("latin-1"))
    assert here("label", tmp_path / "s.csv", "-t", "label", "-q", "--report", tmp_path / "s.html").exit_code == 0
    out = pd.read_csv(tmp_path / "s_labeled.csv", sep=";", decimal=",", encoding="cp1252")
    assert (out["label_predicted"] == labels).mean() > 0.9


def test_labels_that_look_like_formulas_are_protected_only_on_request(tmp_path):
    frame, _ = iris()
    frame["species"] = frame["species"].map({"setosa": "=cmd()", "versicolor": "@x", "virginica": "ok", "": ""})
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = ("-t", "species", "-m", "lssvm", "-q")
    assert here("label", tmp_path / "t.csv", *options).exit_code == 0
    assert set(pd.read_csv(tmp_path / "t_labeled.csv")["species_predicted"]) == {"=cmd()", "@x", "ok"}
    safe = tmp_path / "safe.csv"
    assert here("label", tmp_path / "t.csv", *options, "--protect", "-o", safe).exit_code == 0
    assert set(pd.read_csv(safe)["species_predicted"]) == {"'=cmd()", "'@x", "ok"}
    assert here("label", safe, *options, "-o", tmp_path / "again.csv").exit_code == 0
    assert (tmp_path / "again.csv").read_bytes() == safe.read_bytes()


def test_columns_are_spoken_of_by_look_and_in_the_report_and_otherwise_in_one_line(tmp_path):
    frame, _ = iris()
    wide = pd.concat([frame.iloc[:, 1:5] ** power for power in (1, 2, 3)], axis=1)
    wide.columns = [f"c{j}" for j in range(12)]
    wide.iloc[0, :8] = np.nan
    path = tmp_path / "w.csv"
    wide.assign(kind=frame["species"], one=1, two="x").to_csv(path, sep=";", decimal=",", index=False)
    done = here("label", path, "-t", "kind", "-r", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    notes = [line for line in done.output.splitlines() if line.startswith("note:")]
    assert notes == [f"note: 12 columns used, 2 left out: `mercer look {path} -t kind` shows why."]
    looked = [line for line in here("look", path, "-t", "kind").output.splitlines() if line.startswith("note:")]
    assert len(looked) == 3
    assert "'c0' (1 cell, 2%)" in looked[0] and "and 3 more have gaps" in looked[0]
    assert "and 7 more are read with decimal commas" in looked[1]
    assert "Columns 'one', 'two' have the same value in every row" in looked[2]
    page = html.unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert all(line.removeprefix("note: ") in page for line in looked)


def test_a_threshold_that_no_row_reaches_is_said(tmp_path, data):
    done = here("label", data, "-t", "species", "--abstain", "0.99", "-r", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "No row reaches --abstain 0.99. The highest confidence is 0." in done.output
    assert "No row reaches --abstain 0.99" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "0 rows labeled from 9 labels, 41 left unlabeled." in done.output


@pytest.mark.parametrize("n", [2, 3, 5])
def test_tiny_tables(tmp_path, n):
    rows = [f"{i * i},{'pq'[i] if i < 2 else ''}" for i in range(n)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *rows, "9,"]) + "\n")
    done = here("label", tmp_path / "t.csv", "-t", "y", "-r", tmp_path / "r.html", "-s", tmp_path / "m.mercer")
    assert done.exit_code == 0, done.output
    assert pd.read_csv(tmp_path / "t_labeled.csv")["y_predicted"].isin(["p", "q"]).all()
    assert here("predict", tmp_path / "m.mercer", tmp_path / "t.csv", "-o", tmp_path / "p.csv").exit_code == 0


def test_one_label_a_class_has_no_accuracy_and_says_so(tmp_path):
    iris(1)[0].to_csv(tmp_path / "one.csv", index=False)
    done = here("label", tmp_path / "one.csv", "-t", "species", "-r", tmp_path / "r.html", "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert result["left_out_accuracy"] is None
    done = here("label", tmp_path / "one.csv", "-t", "species", "--force")
    assert "cannot be estimated" in done.output
    done = here("check", tmp_path / "one.csv", "-t", "species")
    assert done.exit_code == 3
    assert "no label can be checked" in done.output


def test_the_report_names_the_methods_as_people_do(tmp_path, data):
    assert here("label", data, "-t", "species", "-q", "-r", tmp_path / "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.search(r"(SVM|graph|PCA|components)[^<]*<small>[a-z]+=", page)
    assert not re.search(r"\b(lssvm|ls_kpca|sgt|semi_kpca)\b", page)


@pytest.mark.parametrize("option", ["-r", "-s"])
def test_neither_the_report_nor_the_model_may_replace_the_table(tmp_path, data, option):
    before = data.read_bytes()
    done = here("label", data, "-t", "species", option, data, "--force")
    assert done.exit_code == 2
    assert f"{data.name} is what is read, and would be replaced" in done.output  # of a long path the middle is cut
    assert data.read_bytes() == before


def test_a_table_may_be_replaced_by_itself_with_labels_when_forced(data):
    assert here("label", data, "-t", "species", "-q", "-o", data, "--force").exit_code == 0
    assert pd.read_csv(data)["species_source"].isin(["given", "predicted"]).all()


def test_the_label_column_cannot_name_the_rows(data):
    done = here("label", data, "-t", "species", "--id", "species")
    assert done.exit_code == 2
    assert "--id and --target are both 'species'" in done.output


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("lsvm", "There is no method 'lsvm'. Did you mean lssvm?"),
        ("magic", "There is no method 'magic'. Accepted: auto, all, lssvm"),
        ("all,lssvm", "--method all must be given alone, without other names."),
    ],
)
def test_a_wrong_method_is_explained(data, method, words):
    done = here("label", data, "-t", "species", "-m", method)
    assert done.exit_code == 2
    assert words in done.output


def test_names_of_methods_may_be_written_in_capitals(tmp_path, data):
    assert here("label", data, "-t", "species", "-q", "-m", "LSSVM").exit_code == 0
    assert here("embed", data, "-q", "-m", "KPCA").exit_code == 0
    assert here("novelty", data, "-q", "-m", "SVDD", "-o", tmp_path / "n.csv").exit_code == 0


def test_one_row_is_not_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,p\n5,q\n2,\n")
    done = here("label", tmp_path / "t.csv", "-t", "y")
    assert "1 row labeled from 2 labels, 0 left unlabeled." in done.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sales 2024,,\n,,\na,b,y\n1,2,p\n3,4,\n", "The column names are in line 3. The 2 lines above it are not read"),
        ("a,b,c\n1,2,3\nd,e,y\n4,5,p\n5,6,\n", "The name is further down. Give the number of the line of column names"),
        ("# made by hand\na,b,y\n1,2,p\n3,4,\n", "The column names are in line 2. The line above it is not read"),
        ("a,y\n1,p\n2,q\n3,unknown\n", "or name their placeholder with --missing"),
    ],
)
def test_usual_slips_of_tables_are_recognized(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    done = here("label", tmp_path / "t.csv", "-t", "y")
    assert done.exit_code in (2, 3)
    assert words in done.output


def test_a_leak_is_named_and_left_out_unless_included(tmp_path):
    frame, truth = iris()
    given = frame["species"] != ""
    frame.assign(mark=np.where(given, [name[:2] for name in truth], "")).to_csv(tmp_path / "t.csv", index=False)
    options = ("-t", "species", "--json", "-f", "--method", "lssvm")
    said = json.loads(here("label", tmp_path / "t.csv", *options).stdout)
    assert any(
        "'mark' (filled in 100% of the labeled and 0% of the other rows) distinguishes" in note
        for note in said["notes"]
    )
    kept = json.loads(here("label", tmp_path / "t.csv", *options, "--include", "mark").stdout)
    assert not any("mark" in note for note in kept["notes"])
    assert here("label", tmp_path / "t.csv", *options, "--include", "marc").exit_code == 2


def test_the_majority_answer_and_what_was_skipped_are_said(tmp_path):
    frame, _ = iris(6)
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "species", "--seconds", "1", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "Always predicting 'setosa' would be correct for 33%" in done.output
    assert "accuracy of always predicting setosa" in (tmp_path / "r.html").read_text()
