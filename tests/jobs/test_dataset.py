"""Reading a table with labels into datasets and events, without a console."""

import numpy as np
import pandas as pd
import pytest

from cli.command import iris
from mercer.errors import InputError
from mercer.events import Note
from mercer.inputs.tables import read_table
from mercer.jobs.dataset import read, read_labeled, refuse_unfit
from mercer.jobs.options import ReadOptions
from mercer.jobs.usage import UsageError


def test_a_dataset_has_the_labels_and_the_features_and_not_the_target(path):
    frame, _ = iris()
    (found,) = read(path, ["species"], ReadOptions(id="flower"))
    assert found.X.shape == (50, 4) and found.names[:2] == ["f000", "f001"]
    np.testing.assert_array_equal(found.labels.given, frame["species"] != "")
    assert set(found.encoder.slices_) == set(frame.columns[1:5])
    assert found.drawn.all()


def test_what_is_found_while_reading_comes_as_notes_and_is_kept(path):
    frame = pd.read_csv(path).assign(one=1)
    frame.loc[3, "species"] = "NA"
    frame.to_csv(path, index=False)
    events: list = []
    (found,) = read(path, ["species"], ReadOptions(), on_event=events.append)
    assert {type(event) for event in events} == {Note}
    said = [event.text for event in events]
    assert f"`mercer look {path} -t species` shows why" in said[-1]
    assert set(found.encoder.notes_) <= set(found.notes) and not set(found.encoder.notes_) & set(said)


def test_an_open_table_is_read_like_its_file(path):
    (one,) = read(path, ["species"], ReadOptions(id="flower"))
    (other,) = read("elsewhere.csv", ["species"], ReadOptions(id="flower"), table=read_table(path))
    np.testing.assert_array_equal(one.X, other.X)
    assert other.data.name == "elsewhere.csv"


def test_earlier_answers_are_no_features_and_corrections_are_labels(path):
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    given = frame["species"] != ""
    frame["species_predicted"] = np.where(given, frame["species"], "setosa")
    frame["species_confidence"], frame["species_source"] = "0.5", np.where(given, "given", "predicted")
    row = int(np.flatnonzero(~given)[-1])
    frame.loc[row, ["species_predicted", "species_source"]] = "virginica", "given"
    frame.to_csv(path, index=False)
    events: list = []
    found = read_labeled(path, ["species"], ReadOptions(), writes=["species_source"], on_event=events.append)
    assert found.labels["species"].labels[row] == "virginica"
    assert found.old == ["species_predicted", "species_confidence"]  # the third is written again, and dropped
    assert "1 label is taken from 'species_predicted'" in " ".join(event.text for event in events)


@pytest.mark.parametrize(
    ("targets", "options", "words"),
    [
        (["species"], ReadOptions(id="species"), "--id and --target are both 'species'"),
        (["species", "species"], ReadOptions(), "--target species is given twice"),
        (["specie"], ReadOptions(), "Did you mean 'species'?"),
        (["species"], ReadOptions(kind=["other"]), "--as other is not accepted"),
        (["species"], ReadOptions(delimiter="xx"), "Give one character, or tab"),
    ],
)
def test_wrong_options_are_refused(path, targets, options, words):
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        read(path, targets, options)


def test_a_full_column_cannot_be_filled_in(tmp_path):
    iris(99)[0].to_csv(tmp_path / "full.csv", index=False)
    (found,) = read(tmp_path / "full.csv", ["species"], ReadOptions())
    with pytest.raises(InputError, match="nothing to fill in"):
        refuse_unfit(found)
