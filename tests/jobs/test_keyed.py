"""Labels in a separate file, matched by a key, or in a folder of images by the name of the file."""

import numpy as np
import pandas as pd
import pytest

from mercer.jobs.dataset import read_labeled
from mercer.jobs.keyed import take_labels
from mercer.jobs.options import ReadOptions
from mercer.jobs.tables import open_table
from mercer.jobs.usage import UsageError

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    for name in ("a/1.png", "a/2.png", "b/2.png", "b/3.png"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pixels = np.full((9, 9, 3), 10 * len(name), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / name)
    return folder


def labels_in(folder, names, key="file", words=("cat", "dog", "owl")):
    path = folder.parent / "few.csv"
    pd.DataFrame({key: names, "kind": list(words)[: len(names)]}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("key", ["file", "photo"])
def test_images_are_found_by_path_or_by_a_name_that_is_unique(photos, key):
    few = labels_in(photos, ["1.png", "a/2.png", "photos/b/2.png"], key)
    found = read_labeled(photos, ["kind"], ReadOptions(labels=few))
    given = dict(zip(found.table.frame["file"], found.table.frame["kind"]))
    expected = {"photos/a/1.png": "cat", "photos/a/2.png": "dog", "photos/b/2.png": "owl", "photos/b/3.png": None}
    assert given == expected
    assert found.labels["kind"].given.sum() == 3
    assert found.notes[-1] == "3 labels taken from few.csv."


def test_names_that_are_not_unique_or_not_there_are_counted(photos):
    few = labels_in(photos, ["1.png", "2.png", "3.png"])
    found = read_labeled(photos, ["kind"], ReadOptions(labels=few))
    assert found.notes[-1] == "2 labels taken from few.csv. 1 of its names is not in the table."
    with pytest.raises(
        UsageError, match=r"No row of few.csv is in the table, such as '2.png'. Check the column 'file'"
    ):
        read_labeled(photos, ["kind"], ReadOptions(labels=labels_in(photos, ["2.png"])))


def test_rows_of_a_table_are_found_by_their_key(tmp_path):
    data = tmp_path / "table.csv"
    pd.DataFrame({"id": [7, 8, 9], "size": [1.0, 2.5, 3.5]}).to_csv(data, index=False)
    few = labels_in(data, [9, 7], "id")
    table = open_table(data, ReadOptions())
    take_labels(table, ["kind"], ReadOptions(labels=few, key="id"), lambda event: None)
    assert table.frame["kind"].tolist() == ["dog", None, "cat"]
    for options, message in (
        (ReadOptions(labels=few), "--labels FILE and --key COLUMN go together"),
        (ReadOptions(labels=few, key="name"), "few.csv has no column 'name', which names the rows"),
        (ReadOptions(labels=few, key="kind"), "the table has no column 'kind'"),
    ):
        with pytest.raises(UsageError, match=message):
            take_labels(open_table(data, ReadOptions()), ["kind"], options, lambda event: None)
    pd.DataFrame({"id": [7, 7, 9], "size": [1.0, 2.5, 3.5]}).to_csv(data, index=False)
    with pytest.raises(UsageError, match="'id' does not name the rows: '7' is in 2 of them"):
        take_labels(open_table(data, ReadOptions()), ["kind"], ReadOptions(labels=few, key="id"), lambda event: None)
