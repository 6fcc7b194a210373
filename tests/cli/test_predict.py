"""`mercer predict`: a saved model on another table."""

import json

import numpy as np
import pandas as pd

import mercer

from .command import here, iris


def test_a_saved_model_reads_other_spellings_and_says_what_it_cannot_read(tmp_path):
    frame, truth = iris()
    colors = np.where(truth == "setosa", "blue", "white")
    frame.assign(color=colors).to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.mercer"
    assert here("label", tmp_path / "t.csv", "-t", "species", "-q", "-s", model).exit_code == 0
    frame.assign(color=colors).to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    for name in ("t", "comma"):
        assert here("predict", model, tmp_path / f"{name}.csv", "-o", tmp_path / f"{name}_p.csv").exit_code == 0
    points, commas = pd.read_csv(tmp_path / "t_p.csv"), pd.read_csv(tmp_path / "comma_p.csv", sep=";", decimal=",")
    assert points["species_confidence"].equals(commas["species_confidence"])
    frame["sepal width"], frame.loc[:1, "petal width"] = "wide", np.nan
    frame.assign(color="violet").to_csv(tmp_path / "odd.csv", index=False)
    done = here("predict", model, tmp_path / "odd.csv", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)["notes"][-1]
    seen = (
        "'sepal width' (50 cells such as 'wide'), 'petal width' (2 cells), 'color' (50 cells such as 'violet') contain"
    )
    assert seen in said


def test_predict_refuses_other_models_and_other_tables(tmp_path, data):
    mercer.save(mercer.RBF(1.0), tmp_path / "kernel.mercer")
    done = here("predict", tmp_path / "kernel.mercer", data)
    assert done.exit_code == 3
    assert "contains a RBF" in done.output
    (tmp_path / "text.mercer").write_text("hello")
    assert here("predict", tmp_path / "text.mercer", data).exit_code == 3
    assert here("label", data, "-t", "species", "-q", "-s", tmp_path / "m.mercer").exit_code == 0
    (tmp_path / "other.csv").write_text("a,b\n1,2\n3,4\n")
    done = here("predict", tmp_path / "m.mercer", tmp_path / "other.csv")
    assert done.exit_code == 3
    assert "has no column 'sepal length'" in done.output


def test_an_absent_column_counts_as_missing_and_is_named_once(tmp_path, data):
    assert here("label", data, "-t", "species", "-q", "-s", tmp_path / "m.mercer").exit_code == 0
    frame = pd.read_csv(data)
    frame.drop(columns="sepal width").to_csv(tmp_path / "less.csv", index=False)
    done = here("predict", tmp_path / "m.mercer", tmp_path / "less.csv", "--json")
    assert done.exit_code == 0, done.output
    notes = json.loads(done.stdout)["notes"]
    assert sum("'sepal width'" in note for note in notes) == 1
    assert any("is not in this table and counts as missing in every row" in note for note in notes)
    frame.assign(**{"sepal width": ""}).to_csv(tmp_path / "empty.csv", index=False)
    assert here("predict", tmp_path / "m.mercer", tmp_path / "empty.csv", "-q").exit_code == 0
    less, empty = (pd.read_csv(tmp_path / f"{name}_labeled.csv") for name in ("less", "empty"))
    pd.testing.assert_frame_equal(less, empty.drop(columns="sepal width"))


def test_predictions_may_not_replace_the_model(tmp_path, data):
    model = tmp_path / "model.csv"
    assert here("label", data, "-t", "species", "-q", "-s", model).exit_code == 0
    before = model.read_bytes()
    done = here("predict", model, data, "-o", model, "--force")
    assert done.exit_code == 2
    assert model.read_bytes() == before


def test_other_units_are_named_and_their_rows_are_novel(tmp_path):
    """The same flowers in units a hundred times smaller."""
    frame, _ = iris()
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.mercer"
    assert here("label", tmp_path / "t.csv", "-t", "species", "-q", "-s", model).exit_code == 0
    fine = frame.copy()
    fine.iloc[:, 1:5] = frame.iloc[:, 1:5] * 100
    fine.to_csv(tmp_path / "fine.csv", index=False)
    done = here("predict", model, tmp_path / "fine.csv", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["novel"] == 50
    assert any("'sepal length' (100% of the rows are not within 4.4 to 7.7)" in note for note in said["notes"])
    assert any("other units?" in note for note in said["notes"])
    written = pd.read_csv(tmp_path / "fine_labeled.csv")
    assert set(written["species_source"]) == {"novel"}
    assert written["species_confidence"].max() < 0.4
    same = json.loads(here("predict", model, tmp_path / "t.csv", "--json", "-f").stdout)
    assert same["novel"] == 0
    assert not any("other units" in note for note in same.get("notes", []))
    again = here("label", tmp_path / "fine_labeled.csv", "-t", "species", "--json")  # novel rows are an earlier run's
    assert "not used for training: 'species_predicted'" in again.stdout
