"""Labels that come back from a spreadsheet, as values and events."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.events import Note
from mercer.inputs.tables import read_table
from mercer.jobs.corrections import fill_cells, how_column, how_words, set_aside, take_answers, texts, written
from mercer.jobs.options import ReadOptions
from mercer.jobs.usage import UsageError


def test_names_of_written_columns():
    assert written("y", True, None) == ["y_predicted", "y_low", "y_high", "y_source"]
    assert written("y", False, 0.9)[-2:] == ["y_probability_", "y_set"]


def test_answers_of_another_file_are_found_by_id_and_told(tmp_path, path):
    table = read_table(path)
    asked = pd.DataFrame({"flower": ["f020", "f000"], "species": ["virginica", "virginica"], "species_how": "random"})
    asked.to_csv(tmp_path / "more.csv", index=False)
    events, how = [], {"species": None}
    take_answers(table, ["species"], tmp_path / "more.csv", ReadOptions(id="flower"), how, events.append)
    assert table.frame["species"].iloc[[20, 0]].tolist() == ["virginica", "virginica"]
    assert how["species"].tolist().count("random") == 2
    assert events[-1] == Note("2 labels are taken from more.csv, 1 of them instead of another.")
    assert list(how_column(table, "species", how["species"])) == ["species_how"]
    pd.DataFrame({"flower": ["f999"], "species": ["virginica"]}).to_csv(tmp_path / "more.csv", index=False)
    with pytest.raises(InputError, match="'f999' names no row"):
        take_answers(table, ["species"], tmp_path / "more.csv", ReadOptions(id="flower"), how, events.append)


def test_columns_of_an_earlier_run_are_set_aside(path):
    table, events = read_table(path), []
    set_aside(table, ["flower"], ["flower"], events.append)
    assert "flower" not in table.frame and events == [
        Note("Written by an earlier run, and not used for training: 'flower'.")
    ]
    with pytest.raises(UsageError, match="has a column 'species' already"):
        set_aside(table, [], ["species"], events.append)


def test_cells_as_text_and_numbers_stay_numbers(path):
    assert texts(pd.Series([1.0, None, " a "], dtype=object)).tolist() == ["1", "", "a"]
    table = read_table(path)
    table.frame["n"] = np.arange(50.0)
    table.names.append("n")
    fill_cells(table, "n", np.array([3]), ["7.5"])
    assert table.frame["n"][3] == 7.5 and table.frame["n"].dtype == float
    assert how_words(table, "species") is None
