"""Distinctive features of rows and groups, on tables with known ones."""

import numpy as np
import pandas as pd
import pytest

from mercer.inputs.tables import DistinctiveCells, TableEncoder


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    words = [["goal", "keeper", "match"], ["bank", "bonds", "rates"], ["oven", "flour", "butter"]]
    return pd.DataFrame(
        {
            "size": np.round(10.0 * group + rng.normal(size=90), 2),
            "twice": np.round(20.0 * group + rng.normal(size=90), 2),
            "noise": np.round(rng.normal(size=90), 2),
            "color": np.where(group == 1, "red", rng.choice(["blue", "green"], 90)),
            "story": [f"the {' '.join(rng.permutation(words[k]))} of day {i}" for i, k in enumerate(group)],
        }
    ), group


def telling_of(frame):
    encoder = TableEncoder()
    return DistinctiveCells(frame, encoder, encoder.fit_transform(frame))


def test_a_cell_is_compared_with_those_of_similar_rows(frame):
    table, _ = frame
    table.loc[5, "size"] = 20.5  # a row of the first group with a size of the third
    table.loc[40, "color"] = "blue"
    table.loc[5, "story"] = "the goal of the zebra"
    table.loc[6, "story"] = "the flour of day 6"
    distinctive, like = telling_of(table), np.arange(10, 20)
    assert distinctive.compared("size", 5, like) == "size is 20.5"
    low, high = np.quantile(table["size"][like], [0.1, 0.9], method="nearest")
    assert distinctive.ordinary("size", like) == f"{low:.4g} to {high:.4g}"
    assert distinctive.compared("size", 12, like) == "" or not low <= table["size"][12] <= high
    assert distinctive.compared("color", 40, np.arange(30, 40)) == "color is blue"
    assert distinctive.ordinary("color", np.arange(30, 40)) == "red"
    assert distinctive.compared("color", 41, np.arange(30, 40)) == ""  # red among red rows
    assert distinctive.compared("story", 5, like) == "story: the word 'zebra' is rare here"
    assert distinctive.compared("story", 6, like) == "story: the word 'flour' is not in similar rows"
    assert distinctive.compared("story", 12, like) == "story: the text differs from those of similar rows"
    assert distinctive.ordinary("story", like) == ""


def test_dates_are_compared_as_dates():
    when = pd.Series(pd.date_range("2024-01-01", periods=60, freq="3D"))
    table = pd.DataFrame({"day": when.dt.strftime("%d.%m.%Y"), "typed": when, "whole": np.arange(60.0)})
    table.loc[7, "day"] = "01.01.1970"
    distinctive, like = telling_of(table), np.arange(20, 31)
    assert distinctive.compared("day", 7, like) == "day is 01.01.1970"
    assert distinctive.ordinary("day", like) == "04.03.2024 to 28.03.2024"
    assert distinctive.compared("day", 25, like) == "" and distinctive.compared("typed", 25, like) == ""
    assert distinctive.cell("typed", 7) == "2024-01-22" and distinctive.ordinary("typed", like[:1]) == "2024-03-01"
    assert distinctive.cell("whole", 7) == "7"


def test_groups_are_told_apart_by_what_differs(frame):
    table, group = frame
    told = telling_of(table).of_groups(group, 3, most=9)
    assert not [phrase for phrases in told for phrase in phrases if phrase.startswith("noise")]
    assert any(phrase == "color red 100% (others 0%)" for phrase in told[1])
    words = next(phrase for phrase in told[2] if phrase.startswith("story: "))
    assert set(words.removeprefix("story: ").split(", ")) == {"oven", "flour", "butter"}
    middle = np.median(table["size"][group == 0]), np.median(table["size"][group != 0])
    assert f"size {middle[0]:.4g} (others {middle[1]:.4g})" in told[0]
    assert telling_of(table).of_groups(np.zeros(90, int), 2) == [[], []]  # one group of all rows, one of none


def test_a_row_is_shown_by_its_text_and_its_unusual_cells(frame):
    table, _ = frame
    table.loc[3, "noise"] = 9.0
    table.loc[3, "story"] = "a long story " * 20
    distinctive = telling_of(table)
    assert list(distinctive.cells(3, 2)) == ["story", "noise"]
    assert distinctive.sentence(3, 2) == f"“{'a long story ' * 4}a long …”; noise 9.0"


def test_very_many_rows_are_described_by_some(frame):
    table, group = frame
    found = telling_of(table).of_groups(group, 3, n_rows=45)
    assert any(phrase == "color red 100% (others 0%)" for phrase in found[1])


def test_a_gap_is_called_empty():
    table = pd.DataFrame({"color": [1, 2.5] * 6 + [None], "size": np.arange(13.0)})
    distinctive = telling_of(table)
    assert distinctive.cell("color", 12) == "" and "color (empty)" in distinctive.sentence(12)
