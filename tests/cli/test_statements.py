"""What the command says must be true: each test is a sentence that once was not."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mercer.jobs.quality import contradicted_sentence, wrong_labels_sentence

from .command import here

QUICK = ("-m", "lssvm,diffusion", "-f")


def blobs(n=600, apart=2.0, seed=0):
    """A table of two overlapping classes, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4)) + apart * y[:, None] * [1, 0.5, 0, 0]
    return pd.DataFrame(X.round(3), columns=list("abcd")), np.array(["no", "yes"], dtype=object)[y]


def labeled(frame, truth, rows):
    words = np.full(len(frame), "", dtype=object)
    words[rows] = truth[rows]
    return frame.assign(kind=words)


def test_abstention_tells_the_accuracy_of_the_answered_rows(tmp_path):
    frame, truth = blobs(apart=1.2)
    inside = []
    for seed in range(4):
        rows = np.random.default_rng(seed).choice(len(frame), 80, replace=False)
        labeled(frame, truth, rows).to_csv(tmp_path / "t.csv", index=False)
        options = ("-t", "kind", "--abstain", "0.8", "--json", *QUICK)
        facts = json.loads(here("label", tmp_path / "t.csv", "-o", tmp_path / "o.csv", *options).stdout)
        out = pd.read_csv(tmp_path / "o.csv", keep_default_na=False)
        answered = (out["kind_source"] == "predicted").to_numpy()
        assert 50 < answered.sum() < 500
        true = np.mean(out["kind_predicted"].to_numpy()[answered] == truth[answered])
        low, high = facts["answered_interval"]
        inside.append(low <= true <= high)
        assert facts["answered_accuracy"] > facts["left_out_accuracy"] + 0.02
        assert f"Of the {answered.sum()} rows that were predicted, about" in facts["answered_sentence"]
    assert sum(inside) >= 3
    done = here("label", tmp_path / "t.csv", "-t", "kind", "--abstain", "0.8", "-r", tmp_path / "r.html", *QUICK)
    assert "rows that were predicted, about" in done.stdout
    assert "rows that were predicted are correct" in (tmp_path / "r.html").read_text().replace("\u202f", " ")


def test_labels_at_the_top_of_a_sorted_file_are_no_random_sample(tmp_path):
    frame, truth = blobs()
    order = np.argsort(frame["a"].to_numpy() + np.random.default_rng(1).normal(size=len(frame)))
    frame, truth = frame.iloc[order].reset_index(drop=True), truth[order]
    labeled(frame, truth, np.arange(60)).to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "kind", "-r", tmp_path / "r.html", *QUICK)
    said = "This is not an estimate for all rows, because the labeled rows are not a random sample of the table (a is"
    assert said in done.stdout
    assert "of the predictions are correct" not in done.stdout
    assert "Always predicting" not in done.stdout
    page = (tmp_path / "r.html").read_text()
    assert page.index(said) < page.index("filled in")
    compared = here("compare", tmp_path / "t.csv", "-t", "kind").stdout
    assert said.partition("because")[0] in compared and "95% interval" not in compared
    assert "Always predicting" not in compared
    command = f"`mercer suggest {tmp_path / 't.csv'} -t kind --audit 1`"
    assert command in done.stdout and command in compared
    assert here(*command.strip("`").split()[1:]).exit_code == 0
    # The same rows are believed, if a column marks them as drawn at random.
    how = pd.read_csv(tmp_path / "t.csv", keep_default_na=False)
    how.assign(kind_how=np.where(how["kind"] == "", "", "random")).to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "kind", *QUICK)
    assert "not an estimate" not in done.stdout and "Always predicting" in done.stdout


def test_the_column_that_a_file_is_sorted_by_stays_in_and_is_named(tmp_path):
    frame, truth = blobs()
    order = np.argsort(frame["a"].to_numpy(), kind="stable")
    frame, truth = frame.iloc[order].reset_index(drop=True), truth[order]
    labeled(frame.assign(b=frame["a"] / 2 + frame["b"]), truth, np.arange(80)).to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "kind", *QUICK)
    assert "random sample of the table (a is around -1" in done.stdout and "as if filled in" not in done.output
    days = pd.date_range("2020-01-01", periods=600).strftime("%d.%m.%Y")
    labeled(frame.drop(columns="a").assign(day=days), truth, np.arange(80)).to_csv(tmp_path / "d.csv", index=False)
    done = here("label", tmp_path / "d.csv", "-t", "kind", *QUICK)
    assert "(day is around 2020-02-09 in labeled rows and 2020-12-05 in the others" in done.stdout


def test_the_same_predictions_again_are_not_replaced_ones(tmp_path):
    frame, truth = blobs()
    words = np.where(truth == "yes", "1.0", "-1.0").astype(object)
    labeled(frame, words, np.arange(0, 600, 10)).to_csv(tmp_path / "t.csv", index=False)
    options = ("-t", "kind", "--missing", "", *QUICK)
    here("label", tmp_path / "t.csv", "-o", tmp_path / "o.csv", *options)
    done = here("label", tmp_path / "o.csv", "-o", tmp_path / "again.csv", *options)
    assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    assert done.exit_code == 0 and "replaced by other ones" not in done.output


def test_labels_that_sit_together_are_no_random_sample_whatever_the_columns(tmp_path):
    frame, truth = blobs()
    labeled(frame, truth, np.arange(100, 150)).to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "kind", *QUICK)
    assert (
        "random sample of the table (the labeled rows are next to each other in the table, rows 101 to 150"
        in done.stdout
    )


def test_numbers_at_the_top_of_a_sorted_file_are_no_random_sample(tmp_path):
    frame, _ = blobs()
    frame = frame.sort_values("a").reset_index(drop=True)
    size = (3 * frame["a"] + frame["b"]).round(3).astype(str).to_numpy(dtype=object)
    labeled(frame, size, np.arange(60)).to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "kind", "--as", "number", "-m", "lssvm", "-f")
    assert "This is not an estimate for all rows, because the labeled rows are not a random sample" in done.stdout


@pytest.mark.parametrize("seed", range(3))
def test_random_rows_are_believed(tmp_path, seed):
    frame, truth = blobs(seed=seed)
    rows = np.random.default_rng(seed).choice(len(frame), 60, replace=False)
    labeled(frame, truth, rows).to_csv(tmp_path / "t.csv", index=False)
    assert "not an estimate" not in here("label", tmp_path / "t.csv", "-t", "kind", *QUICK).stdout


def test_wrong_labels_are_said_to_count_as_errors(tmp_path):
    frame, truth = blobs(apart=4.0)
    rng = np.random.default_rng(0)
    rows, wrong = rng.choice(len(frame), 60, replace=False), truth.copy()
    flipped = rows[:12]
    labeled(frame, truth, rows).to_csv(tmp_path / "t.csv", index=False)
    said = "If some labels are wrong, the accuracy is higher than estimated"
    assert said not in here("label", tmp_path / "t.csv", "-t", "kind", *QUICK).stdout
    wrong[flipped] = np.where(truth[flipped] == "yes", "no", "yes")
    labeled(frame, wrong, rows).to_csv(tmp_path / "t.csv", index=False)
    assert said in here("label", tmp_path / "t.csv", "-t", "kind", *QUICK).stdout


def test_columns_that_do_not_tell_are_said_first(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 6)).round(3), columns=list("abcdef"))
    truth = np.where(rng.random(400) < 0.7, "often", "seldom").astype(object)
    rows = rng.choice(400, 60, replace=False)
    labeled(frame, truth, rows).to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "kind", "-f", "-r", tmp_path / "r.html")
    assert done.stdout.startswith("The columns do not predict the classes")
    assert done.stdout.count("The columns do not predict") == 1
    assert "Always predicting" not in done.stdout  # that is what the model does: one accuracy is enough
    out = pd.read_csv(tmp_path / "t_labeled.csv", keep_default_na=False)
    assert set(out["kind_predicted"][out["kind_source"] == "predicted"]) == {"often"}
    page = (tmp_path / "r.html").read_text()
    assert page.index("The columns do not predict the classes") < page.index("filled in")


def test_look_leaves_out_what_label_leaves_out_and_says_so(tmp_path):
    frame, truth = blobs(300)
    rows = np.random.default_rng(0).choice(300, 60, replace=False)
    table = labeled(frame, truth, rows)
    table.assign(checked=np.where(table["kind"] == "", "", "ann")).to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "kind", *QUICK)
    assert f"`mercer look {tmp_path / 't.csv'} -t kind` shows why" in done.output
    looked = json.loads(here("look", tmp_path / "t.csv", "-t", "kind", "--json").stdout)
    assert {one["name"]: one["kind"] for one in looked["columns"]}["checked"] == "leak"
    # The columns of an earlier output are not used, whether or not the target is named.
    for more in ([], ["-t", "kind"]):
        looked = json.loads(here("look", tmp_path / "t_labeled.csv", "--json", *more).stdout)
        kinds = {one["name"]: (one["kind"], one["use"]) for one in looked["columns"]}
        for name in ("kind_predicted", "kind_confidence", "kind_source"):
            assert kinds[name] == ("earlier run", "left out")


def test_the_hint_for_a_folder_names_the_folder_and_look_reads_it(tmp_path):
    frame, truth = blobs(300)
    rows = np.random.default_rng(0).choice(300, 60, replace=False)
    table = labeled(frame, truth, rows).assign(same=1)
    (tmp_path / "parts").mkdir()
    for part in range(3):
        table.iloc[100 * part : 100 * part + 100].to_csv(tmp_path / "parts" / f"p{part}.csv", index=False)
    done = here("label", tmp_path / "parts", "-t", "kind", "-m", "lssvm", "-f")
    assert f"`mercer look {tmp_path / 'parts'} -t kind` shows why" in done.output
    looked = here("look", tmp_path / "parts", "-t", "kind")
    assert "300 rows, learned from 4 numbers" in looked.output
    for command in ("suggest", "check"):
        done = here(command, tmp_path / "parts", "-t", "kind", "-m", "lssvm", "-n", "3")
        assert done.exit_code == 0, done.output
        assert "3 files, 300 rows" in done.output


def test_predict_compares_with_labels_and_refuses_renamed_columns(tmp_path):
    frame, truth = blobs(400, apart=4.0)
    frame = frame.rename(columns={"a": "living area", "b": "rooms"})
    rows = np.random.default_rng(0).choice(300, 60, replace=False)
    labeled(frame[:300], truth, rows).to_csv(tmp_path / "t.csv", index=False)
    here("label", tmp_path / "t.csv", "-t", "kind", "-s", tmp_path / "m.mercer", *QUICK)
    new = frame[300:].assign(kind=truth[300:])
    new.to_csv(tmp_path / "new.csv", index=False)
    done = here("predict", tmp_path / "m.mercer", tmp_path / "new.csv", "--json")
    facts = json.loads(done.stdout)["agreement"]
    out = pd.read_csv(tmp_path / "new_labeled.csv")
    assert facts["labels"] == 100 and facts["accuracy"] == np.mean(out["kind_predicted"] == out["kind"])
    other = new.rename(columns={"living area": "Living_Area_m2", "rooms": "number of rooms"})
    other.to_csv(tmp_path / "other.csv", index=False)
    done = here("predict", tmp_path / "m.mercer", tmp_path / "other.csv")
    assert done.exit_code == 3
    assert "Did you mean 'Living_Area_m2' for 'living area', 'number of rooms' for 'rooms'?" in done.output
    assert not (tmp_path / "other_labeled.csv").exists() and "Also missing" not in done.output
    other.drop(columns="number of rooms").to_csv(tmp_path / "fewer.csv", index=False)
    done = here("predict", tmp_path / "m.mercer", tmp_path / "fewer.csv")
    assert "Did you mean 'Living_Area_m2' for 'living area'? Also missing: 'rooms'. Rename" in done.output
    names = ("--rename", "Living_Area_m2=living area", "--rename", "number of rooms=rooms")
    assert here("predict", tmp_path / "m.mercer", tmp_path / "other.csv", *names).exit_code == 0
    renamed = pd.read_csv(tmp_path / "other_labeled.csv")
    assert "Living_Area_m2" in renamed.columns  # the table is written with its own names
    assert renamed["kind_confidence"].tolist() == out["kind_confidence"].tolist()
    done = here("predict", tmp_path / "m.mercer", tmp_path / "other.csv", "-f", "--rename", "nothing=rooms")
    assert done.exit_code == 2 and "Give NEW=OLD, a column of this table" in done.output


def test_a_single_contradicted_label_and_none_are_said_plainly():
    assert "one label, and it is more likely that this is a mistake of the model" in contradicted_sentence(39, 40, 0.2)
    assert "one label, and it is more likely that the label is wrong" in contradicted_sentence(39, 40, 0.8)
    assert wrong_labels_sentence(40, 40, 10.0) == ""


def test_look_reads_the_labels_of_a_folder_of_images(tmp_path):
    (tmp_path / "imgs").mkdir()
    rng = np.random.default_rng(0)
    for i in range(30):
        pixels = (255 * np.clip(0.5 * (i % 2) + 0.5 * rng.random((8, 8, 3)), 0, 1)).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / "imgs" / f"{i}.png")
    names = [f"{i}.png" for i in range(12)]
    pd.DataFrame({"file": names, "y": ["a", "b"] * 6}).to_csv(tmp_path / "l.csv", index=False)
    done = here("check", tmp_path / "imgs", "-t", "y", "--labels", tmp_path / "l.csv", "-m", "lssvm")
    hint = re.search(r"`mercer (look [^`]*)`", done.output)[1].split()
    looked = here(*hint)
    assert "--labels" in hint and looked.exit_code == 0, looked.output


def test_an_embedding_counts_as_its_columns(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 40))
    frame = pd.DataFrame(rows / np.linalg.norm(rows, axis=1, keepdims=True), columns=[f"x{j}" for j in range(40)])
    truth = np.where(rows[:, 0] > 0, "a", "b").astype(object)
    labeled(frame, truth, np.arange(0, 60, 3)).to_csv(tmp_path / "t.csv", index=False)
    assert "40 columns used" in here("label", tmp_path / "t.csv", "-t", "kind", *QUICK).output
    words = here("look", labeled_numbers(tmp_path)).output
    assert "a matrix of 1 column." in words


def labeled_numbers(folder):
    pd.DataFrame({"a": np.random.default_rng(0).normal(size=30)}).to_csv(folder / "one.csv", index=False)
    return folder / "one.csv"
