"""A folder is a loop over parts, with remaining work, sampled rows and the predictions of a part."""

import numpy as np
import pandas as pd
import pytest

from cli.command import iris
from mercer.events import Fact, Progress, Stage
from mercer.few_label.sizes import Sizes
from mercer.io import save
from mercer.jobs import classes
from mercer.jobs.folders import FolderRun, labels_by_key, labels_of, rows_to_sample
from mercer.jobs.options import AnswerOptions
from mercer.jobs.parts import JOB, MARK, MODEL, PartOptions, Threads, cells, label_part
from mercer.jobs.usage import UsageError

from .conftest import QUICK

FILE = {"delimiter": None, "encoding": None}


@pytest.fixture
def parts(tmp_path):
    (tmp_path / "in").mkdir()
    frame, _ = iris()
    for number in range(3):
        frame[number::3].to_csv(tmp_path / "in" / f"{number}.csv", index=False)
    return tmp_path / "in"


def test_parts_are_answered_as_the_whole_table_is(parts, dataset):
    events: list = []
    folder = FolderRun("label", parts, None, "labeled", {"seed": 0}, on_event=events.append)
    assert folder.left == [0, 1, 2] and folder.out == parts.with_name("in_labeled")
    counted = folder.each(
        Threads(), cells, [(part, "species", None, None, FILE) for part in folder.parts], Stage("a", 0.5)
    )
    assert sum(n for n, _, _ in counted) == 50 and sum(len(at) for _, at, _ in counted) == 9
    assert [event.fraction for event in events if isinstance(event, Progress)] == [1 / 3, 2 / 3, 1]
    fitted = classes.fit(dataset, QUICK)
    folder.begin()
    save(classes.table_model(dataset, fitted), folder.out / MODEL)
    how = PartOptions(FILE, answers=AnswerOptions(probabilities=True))
    facts = folder.run(Threads(), label_part, counted, lambda i: (counted[i][1:], how), Stage("b", 1.0))
    assert (facts["rows"], facts["given"], facts["abstained"]) == (50, 9, 0)
    assert sum(facts["classes"].values()) == 50 and (folder.out / MARK).exists()
    assert Fact("out", str(folder.out)) in events
    whole = classes.columns(classes.answer(dataset, fitted, AnswerOptions()))
    for number in range(3):
        written = pd.read_csv(folder.out / f"{number}.csv")
        assert written["species_predicted"].tolist() == whole["species_predicted"][number::3]
        np.testing.assert_array_equal(written["species_confidence"], whole["species_confidence"][number::3])


def test_a_folder_knows_what_is_left_and_refuses_other_runs(parts):
    folder = FolderRun("label", parts, None, "labeled", {"seed": 0})
    folder.begin()
    (folder.out / "1.csv").write_text("a\n")
    assert FolderRun("label", parts, None, "labeled", {"seed": 0}).left == [0, 2]
    with pytest.raises(UsageError, match="predictions of another run"):
        FolderRun("label", parts, None, "labeled", {"seed": 1})
    assert FolderRun("label", parts, None, "labeled", {"seed": 1}, force=True).left == [0, 1, 2]
    assert not (folder.out / JOB).exists()
    with pytest.raises(UsageError, match="is what is read"):
        FolderRun("label", parts, parts, "labeled", {})


def test_the_sample_has_every_class_and_the_table_of_its_rows(parts):
    counted = [(4, np.array([0, 3]), ["a", "b"]), (0, np.zeros(0, dtype=int), []), (6, np.array([5]), ["a"])]
    rows = rows_to_sample(counted, 0, Sizes(core_rows=2))
    assert len(rows) <= 5 and set(labels_of(counted, rows)) == {"a", "b", None}
    assert labels_of(counted, np.array([0, 3, 9, 8])) == ["a", "b", "a", None]
    folder = FolderRun("label", parts, None, "labeled", {})
    counted = folder.each(Threads(), cells, [(part, None, None, None, FILE) for part in folder.parts], Stage("a", 0.5))
    table = folder.sample(Threads(), counted, np.array([0, 16, 17, 49]), FILE, Stage("b", 1.0))
    assert table.frame["flower"].tolist() == ["f000", "f048", "f001", "f047"]


def test_labels_are_found_by_their_key(tmp_path):
    pd.DataFrame({"id": [1.0, 2.0, 3.0], "kind": ["a", "", "b"]}).to_csv(tmp_path / "l.csv", index=False)
    assert labels_by_key(tmp_path / "l.csv", "kind", "id", None) == {"1": "a", "3": "b"}
