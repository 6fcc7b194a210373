"""Names of rows, columns, samples of the map, portraits and code, which all kinds of findings have."""

import numpy as np
import pytest

from mercer.jobs.findings import (
    SHOWN_CELLS,
    cells_of,
    code,
    columns_of,
    effects_of,
    pictured,
    portraits,
    row_of,
    sample_of,
)


def test_given_labels_are_drawn_first():
    first = np.arange(100) % 10 == 0
    rows = sample_of(100, first, 0, 30)
    assert len(rows) == 30 and first[rows].sum() == 10


def test_a_small_table_is_drawn_whole_and_a_sample_depends_on_its_seed():
    none = np.zeros(100, dtype=bool)
    assert sample_of(30, none[:30], 0, 30).tolist() == list(range(30))
    one, again, other = (sample_of(100, none, seed, 20).tolist() for seed in (0, 0, 1))
    assert one == again == sorted(one) and one != other


def test_a_row_is_its_name_and_its_cells(dataset):
    name, cells = row_of(dataset, 7)
    assert name == "f007" and cells == dataset.distinctive.sentence(7)
    assert pictured(dataset, 7) == (name, cells, "")  # the table has no images


def test_columns_are_ordered_by_effect_and_ignored_ones_are_not_shown(dataset):
    names = [column["name"] for column in columns_of(dataset.encoder, {"petal width": 0.5, "sepal width": 0.2})]
    assert names[:2] == ["petal width", "sepal width"] and len(names) == 4
    assert "species" not in names and "flower" not in names
    assert {column["effect"] for column in columns_of(dataset.encoder)} == {None}


def test_effects_are_not_computed_for_very_many_columns(dataset, monkeypatch):
    asked = []
    monkeypatch.setattr("mercer.jobs.findings.effects", lambda *given: asked.append(given) or {"petal width": 1.0})
    assert effects_of(dataset, "model", 3) == {"petal width": 1.0} and asked[0][0] == "model" and asked[0][3] == 3
    monkeypatch.setattr("mercer.jobs.findings.MOST_EFFECTS", 3)
    assert effects_of(dataset, "model", 3) == {} and len(asked) == 1


def test_portraits_count_the_rows_of_each_group_and_leave_out_those_without_one(dataset):
    petal = dataset.table.frame["petal length"].to_numpy(dtype=float)
    codes = np.where(petal < 2.5, 0, np.where(petal > 5, 1, -1))
    short, long = portraits(dataset, codes, ["short", "long"])
    assert (short["name"], short["size"]) == ("short", np.sum(codes == 0)) and long["size"] == np.sum(codes == 1)
    assert any("petal" in phrase for phrase in short["distinctive"])


def test_tooltips_have_a_few_cells_as_text(dataset):
    cells = cells_of(dataset.distinctive, np.array([3, 1]))
    assert 0 < len(cells) <= SHOWN_CELLS
    for name, shown in cells.items():
        assert shown == dataset.table.frame[name].iloc[[3, 1]].astype(str).tolist()


@pytest.mark.parametrize("save", [None, "m.mercer"])
def test_the_code_reads_the_table_and_loads_the_model_if_it_was_saved(dataset, save):
    text = code(dataset, "out.csv", save, ["species_predicted"], "model.predict(rows)")
    compile(text, "code", "exec")
    assert "# with species_predicted" in text and "out.csv" in text
    assert ("mercer.load('m.mercer')" in text) == (save is not None) == ("model.predict(rows)" in text)
