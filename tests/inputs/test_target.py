"""Columns of labels, with markers of unlabeled cells and numbers that are names of classes."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.inputs.tables import read_target, read_target_as


def column(words, name="kind"):
    return pd.Series(words, name=name, dtype=object)


@pytest.mark.parametrize("mark", ["n/a", "N/A", "NA", "-", "na", "N/a", "NaN", "null", "?", "--", "n.a."])
def test_all_marks_of_no_value_are_unlabeled_and_named(mark):
    found = read_target(column(["a", mark, "b", "a", ""]))
    assert found.given.tolist() == [True, False, True, True, False]
    assert found.classes == ["a", "b"]
    assert f"1 cell of 'kind' contains {mark}, which is read as unlabeled" in found.notes[0]


def test_all_marks_at_once_are_named_in_one_sentence():
    found = read_target(column(["a", "b", "n/a", "N/A", "NA", "-"]))
    assert found.classes == ["a", "b"]
    assert "4 cells of 'kind' contain -, N/A, NA, n/a, which are read as unlabeled" in found.notes[0]


def test_a_dash_next_to_a_plus_is_a_class():
    assert read_target(column(["+", "-", "", "+", "-"])).classes == ["+", "-"]
    assert read_target(column(["a", "-", "b"]), missing=[""]).classes == ["-", "a", "b"]


@pytest.mark.parametrize("name", ["class", "Class", "wine_class", "label", "species", "class_id"])
def test_whole_numbers_in_a_column_called_class_are_classes(name):
    words = [str(2 + i % 13) for i in range(60)] + [""] * 40
    found = read_target_as(column(words, name))
    assert not found.numeric
    assert len(found.classes) == 13
    assert "read as names of classes" in found.notes[-1]


def test_they_are_numbers_in_other_columns_and_if_hardly_any_is_repeated():
    words = [str(2 + i % 13) for i in range(60)]
    assert read_target_as(column(words, "age")).numeric
    assert read_target_as(column([str(2 + i) for i in range(60)] + ["2"], "class")).numeric
    assert read_target_as(column([f"{i / 4}" for i in range(60)] * 2, "class")).numeric
    assert read_target_as(column(words, "class"), kind="number").numeric
    with pytest.raises(InputError, match="a measurement"):
        read_target(column(words, "age"))
    assert len(read_target(column(words, "class")).classes) == 13


@pytest.mark.parametrize("k, each", [(100, 12), (26, 40), (1000, 3)])
def test_many_classes_are_read(k, each):
    codes = np.repeat(np.arange(k), each)
    names = column([f"c{code}" for code in codes] + [""] * 50)
    assert len(read_target_as(names).classes) == k
    assert len(read_target_as(column([str(code) for code in codes] + [""] * 50, "class")).classes) == k
