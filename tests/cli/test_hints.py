"""--hint: the command gives what Python gives, keeps the column out of the features, and refuses what cannot be."""

import json

import numpy as np
import pandas as pd
import pytest

from cli.command import here, iris
from mercer import FewLabelClassifier

QUICK = ("-m", "lssvm,diffusion", "-q")


@pytest.fixture
def table(tmp_path):
    """A table of flowers with a column of guesses that is 80% correct and has gaps."""
    frame, names = iris(n_labels=4, every=2)
    frame[frame.columns[1:5]] += 1e-3 * np.random.default_rng(1).normal(size=(len(frame), 4))
    rng = np.random.default_rng(0)
    guess = np.where(rng.random(len(frame)) < 0.8, names, rng.permutation(names)).astype(object)
    guess[::10] = ""
    guess[5] = "n/a"
    frame["llm"] = [word.title() for word in guess]
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    return tmp_path / "flowers.csv", frame


def test_label_and_predict_give_what_python_gives(table, tmp_path):
    path, frame = table
    out, saved = tmp_path / "out.csv", tmp_path / "m.mercer"
    run = here("label", path, "-t", "species", "--id", "flower", "--hint", "llm", "-o", out, "-s", saved, *QUICK)
    assert run.exit_code == 0, run.output
    X, y = frame.iloc[:, 1:5], frame["species"].replace("", None).to_numpy(dtype=object)
    hints = frame["llm"].replace({"": None, "N/A": None})
    model = FewLabelClassifier(["lssvm", "diffusion"], missing_label=[None], random_state=0).fit(X, y, hints=hints)
    free = pd.isna(y)
    written = pd.read_csv(out, keep_default_na=False)
    assert written["species_confidence"][free].tolist() == np.round(model.confidence_, 4)[free].tolist()
    assert written["species_predicted"].tolist() == model.transduction_.tolist()
    assert written["llm"].tolist() == frame["llm"].tolist()
    plain = FewLabelClassifier(["lssvm", "diffusion"], missing_label=[None], random_state=0).fit(X, y)
    assert np.abs(plain.confidence_ - model.confidence_).max() > 0.05
    assert here("predict", saved, path, "-o", tmp_path / "p.csv", "-q").exit_code == 0
    predicted = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    assert predicted["species_confidence"][free].tolist() == written["species_confidence"][free].tolist()


def test_predict_without_the_column_says_so(table, tmp_path):
    path, frame = table
    saved = tmp_path / "m.mercer"
    assert here("label", path, "-t", "species", "--hint", "llm", "-s", saved, *QUICK).exit_code == 0
    frame.drop(columns="llm").to_csv(tmp_path / "new.csv", index=False)
    run = here("predict", saved, tmp_path / "new.csv", "--json")
    assert run.exit_code == 0
    assert any("'llm'" in note and "without" in note for note in json.loads(run.stdout)["notes"])


def test_a_folder_is_labeled_as_its_table_is(table, tmp_path):
    path, frame = table
    assert here("label", path, "-t", "species", "-x", "flower", "--hint", "llm", *QUICK).exit_code == 0
    (tmp_path / "in").mkdir()
    for part in range(3):
        frame[25 * part : 25 * part + 25].to_csv(tmp_path / "in" / f"{part}.csv", index=False)
    run = here("label", tmp_path / "in", "-t", "species", "-x", "flower", "--hint", "llm", *QUICK)
    assert run.exit_code == 0, run.output
    parts = [pd.read_csv(tmp_path / "in_labeled" / f"{part}.csv", keep_default_na=False) for part in range(3)]
    whole = pd.read_csv(tmp_path / "flowers_labeled.csv", keep_default_na=False)
    joined = pd.concat(parts, ignore_index=True)
    assert joined["species_confidence"].astype(float).tolist() == whole["species_confidence"].astype(float).tolist()


def test_suggest_and_check_take_hints_and_tell_what_they_say(table):
    path, _ = table
    run = here("suggest", path, "-t", "species", "--hint", "llm", "-n", "5", "-m", "lssvm,diffusion", "--json")
    assert run.exit_code == 0 and "llm says" in run.stdout
    assert here("check", path, "-t", "species", "--hint", "llm", *QUICK).exit_code == 0


def test_words_that_no_label_is_are_told(table, tmp_path):
    path, frame = table
    frame.loc[3:6, "llm"] = "tulip"
    frame.to_csv(path, index=False)
    run = here("label", path, "-t", "species", "--hint", "llm", "-m", "lssvm")
    assert "llm contains 'tulip', which no label names" in run.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-t", "species", "--hint", "lmm"], "has no column 'lmm'. Did you mean 'llm'?"),
        (["-t", "species", "--hint", "species"], "--hint species is also a target"),
        (["-t", "species", "--hint", "llm", "--hint", "llm"], "--hint names a column twice"),
        (["-t", "species", "--hint", "llm", "--category", "llm"], "--hint llm is also a target"),
        (["-t", "petal length", "--hint", "llm"], "--hint is for classes"),
    ],
)
def test_bad_hints_are_refused(table, options, message):
    path, frame = table
    frame.loc[frame.index % 4 > 0, "petal length"] = np.nan
    frame.to_csv(path, index=False)
    run = here("label", path, *options, *QUICK)
    assert run.exit_code == 2 and message in run.output
