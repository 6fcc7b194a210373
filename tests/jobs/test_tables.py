"""Tables are opened, their columns checked and encoded."""

import pandas as pd
import pytest

from mercer.events import Note
from mercer.inputs.tables.formats import located
from mercer.jobs.options import ReadOptions
from mercer.jobs.tables import (
    encode,
    file_name,
    kernel_for,
    open_table,
    refuse_similar,
    refuse_taken,
    renamed_columns,
    row_names,
)
from mercer.jobs.usage import UsageError


def test_a_table_is_opened_from_a_path_or_from_where_it_was_located(path):
    place = located(path)
    assert located(place) is place
    one, other = open_table(path, ReadOptions()), open_table(place, ReadOptions())
    assert one.frame.equals(other.frame)
    with pytest.raises(UsageError, match="Did you mean 'species'"):
        open_table(place, ReadOptions(), ["Species", None])
    with pytest.raises(UsageError, match="There is no file"):
        open_table(path.with_name("no.csv"), ReadOptions())


def test_encoding_tells_in_one_note_where_the_others_are(path):
    table, events = open_table(path, ReadOptions()), []
    table.frame["one"] = 1
    encoder, X = encode(table, ["species", None], ReadOptions(), path, on_event=events.append)
    assert X.shape[0] == 50 and "species" not in encoder.slices_
    assert [type(event) for event in events] == [Note] and f"`mercer look {path}`" in " ".join(
        event.text for event in events
    )
    with pytest.raises(UsageError, match="no kernel 'magic'"):
        kernel_for(X, "magic")


def test_names_of_new_columns_are_refused_if_the_table_has_them_or_nearly(path):
    table = open_table(path, ReadOptions())
    with pytest.raises(UsageError, match="has a column 'flower' already"):
        refuse_taken(table, ["new", "flower"])
    refuse_taken(table, ["new"])
    with pytest.raises(UsageError, match="Did you mean 'species'"):
        refuse_similar("Species ", table, path)
    refuse_similar("weight of the seed", table, path)


def test_rows_are_named_by_a_column_or_by_their_numbers_from_one(path):
    table = open_table(path, ReadOptions())
    assert row_names(table, "flower")[:2] == ["f000", "f001"]
    assert row_names(table, None)[:2] == ["1", "2"] and len(row_names(table, None)) == 50
    assert file_name("some/where/iris.csv") == "iris.csv" == file_name(located(path))


def test_columns_get_the_names_that_a_model_knows(path):
    table = open_table(path, ReadOptions())
    encoder, _ = encode(table, ["species", "flower"], ReadOptions(), path)
    other = table.frame.rename(columns={"petal width": "breadth"})
    found = renamed_columns(other, ["breadth=petal width"], encoder)
    pd.testing.assert_series_equal(found["petal width"], table.frame["petal width"])
    with pytest.raises(UsageError, match="Give NEW=OLD"):
        renamed_columns(other, ["breadth=petal"], encoder)
    with pytest.raises(UsageError, match="Give NEW=OLD"):
        renamed_columns(other, ["absent=petal width"], encoder)


def test_a_kernel_has_landmarks_for_many_rows_only():
    few, many = pd.DataFrame(index=range(5000)), pd.DataFrame(index=range(5001))
    assert kernel_for(few, "RBF")[1] == "auto" and kernel_for(many, "RBF")[1] == 1000
    assert type(kernel_for(few, "RBF")[0]).__name__ == "RBF"
