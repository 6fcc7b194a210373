"""The parts of a folder, which tables they are, their labels and rows, and the choice of the process."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.io import save
from mercer.jobs import unlabeled
from mercer.jobs.options import ReadOptions
from mercer.jobs.parts import (
    ENCODER,
    MODEL,
    PartOptions,
    Threads,
    cells,
    describe_part,
    parts_in,
    rows_of,
    workplace,
    write_mark,
)

FRAME = pd.DataFrame({"key": [1.0, 2.0, 3.0, 4.0], "kind": ["a", "", "b", "unlabeled"]})


@pytest.fixture(params=["csv", "parquet"])
def part(request, tmp_path):
    path = tmp_path / f"part.{request.param}"
    FRAME.to_csv(path, index=False) if request.param == "csv" else FRAME.to_parquet(path)
    return path


def test_parts_are_tables_by_name_and_hidden_files_are_left_out(tmp_path):
    for name in ("b.csv", "a.csv.gz", "c.parquet", "_model.csv", ".d.csv", "notes.txt"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "folder.csv").mkdir()
    assert [path.name for path in parts_in(tmp_path)] == ["a.csv.gz", "b.csv", "c.parquet"]
    assert parts_in(tmp_path / "b.csv") == []
    (tmp_path / "state.json").write_text("{}")
    assert parts_in(tmp_path) == []  # the folder is one table of another library


def test_labels_of_a_part_are_read_or_looked_up_by_key(part):
    number, at, words = cells(part, "kind", ["unlabeled"], None, {})
    assert (number, at.tolist(), words) == (4, [0, 2], ["a", "b"])
    number, at, words = cells(part, "key", None, {"4": "d", "1": "e", "9": "f"}, {})
    assert (number, at.tolist(), words) == (4, [0, 3], ["e", "d"])
    number, at, words = cells(part, None, None, None, {})
    assert (number, at.tolist(), words) == (4, [], [])
    with pytest.raises(InputError, match="has no column 'absent'"):
        cells(part, "absent", None, None, {})


def test_a_header_alone_has_no_rows(tmp_path):
    (tmp_path / "empty.csv").write_text("key,kind\n")
    assert cells(tmp_path / "empty.csv", "kind", None, None, {})[0] == 0


def test_rows_of_a_part_are_counted_again(part):
    found = rows_of(part, np.array([3, 0]), {})
    assert found["kind"].tolist() == ["unlabeled", "a"] and found.index.tolist() == [0, 1]


def test_threads_give_each_result_with_its_number_and_stop_at_an_error():
    assert dict(Threads().each(lambda a, b: a - b, [(3, 1), (5, 9)])) == {0: 2, 1: -4}
    with pytest.raises(ZeroDivisionError):
        list(Threads().each(lambda a: 1 // a, [(0,)]))
    with workplace() as place:
        assert isinstance(place, Threads)


def test_a_part_without_labels_gets_the_columns_of_the_method(path, tmp_path):
    dataset = unlabeled.read(path, ReadOptions(ignore=["species", "flower"]), True, ["cluster"])
    found = unlabeled.cluster(dataset, 2, "rbf", 0)
    save(dataset.encoder, tmp_path / ENCODER)
    save(found.model.set_params(verbose=False), tmp_path / MODEL)
    rank = tuple(unlabeled.rank_of(found.model).tolist())
    options = PartOptions({}, kind="cluster", columns=("cluster",), rank=rank)
    assert describe_part(path, tmp_path / "out.csv", tmp_path, options) == {"rows": 50}
    assert pd.read_csv(tmp_path / "out.csv")["cluster"].tolist() == found.values.tolist()
    with pytest.raises(InputError, match="has a column 'flower' already"):
        describe_part(path, tmp_path / "o.csv", tmp_path, PartOptions({}, kind="cluster", columns=("flower",)))


def test_a_mark_is_replaced_as_a_whole(tmp_path):
    write_mark(tmp_path / "mark.json", {"rows": 1})
    write_mark(tmp_path / "mark.json", {"rows": 2, "path": tmp_path})
    assert json.loads((tmp_path / "mark.json").read_text()) == {"rows": 2, "path": str(tmp_path)}
    assert [path.name for path in tmp_path.iterdir()] == ["mark.json"]
