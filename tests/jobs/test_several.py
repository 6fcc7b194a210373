"""Cells of several labels are fitted label by label, and written as one column again."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mercer.jobs.dataset import read, refuse_unfit
from mercer.jobs.kinds import CLASSES
from mercer.jobs.options import AnswerOptions, ReadOptions
from mercer.jobs.several import parts_of, together
from mercer.jobs.usage import UsageError

from .conftest import QUICK


def tagged(folder, cells):
    frame = pd.DataFrame({"x": np.arange(len(cells), dtype=float), "tags": cells})
    frame.to_csv(folder / "t.csv", index=False)
    (dataset,) = read(folder / "t.csv", ["tags"], ReadOptions(), several=True)
    return dataset


def fits(*columns):
    """Substitutes for the fit of each label, with the probabilities of "yes"."""
    return [SimpleNamespace(P=np.column_stack([1 - np.array(column), column])) for column in columns]


def test_cells_of_several_labels(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40)})
    words = ["a;all" if x > 0 else "b;all" for x in frame["x"]]
    frame["tags"] = [word if i < 16 else "" for i, word in enumerate(words)]
    frame.loc[0, "tags"] = "a;b;all"
    frame.to_csv(tmp_path / "t.csv", index=False)
    (dataset,) = read(tmp_path / "t.csv", ["tags"], ReadOptions(), several=True)
    parts = parts_of(dataset)
    assert [part.target for part in parts] == ["tags: a", "tags: b"]  # every cell has "all": nothing to learn
    fits = [CLASSES.fit(part, QUICK) for part in parts]
    new = together(dataset, fits, AnswerOptions(probabilities=True))
    assert list(new)[3:] == ["tags_probability_a", "tags_probability_b"]
    assert all("all" in word.split(";") for word in new["tags_predicted"])
    with pytest.raises(UsageError, match="needs one for each label"):
        refuse_unfit(dataset, save=True)


def test_each_label_is_a_dataset_of_yes_and_no(tmp_path):
    dataset = tagged(tmp_path, ["a;b", "b", "a", "b;c", "", ""])
    words = {part.target: part.labels.labels.tolist() for part in parts_of(dataset)}
    assert words == {
        "tags: a": ["yes", "no", "yes", "no", None, None],
        "tags: b": ["yes", "yes", "no", "yes", None, None],
        "tags: c": ["no", "no", "no", "yes", None, None],
    }


def test_labels_above_one_half_are_joined_and_the_most_likely_one_is_always_there(tmp_path):
    dataset = tagged(tmp_path, ["a;b", "b", "a", "", "", ""])
    new = together(dataset, fits([0, 0, 0, 0.9, 0.2, 0.4], [0, 0, 0, 0.6, 0.7, 0.3]), AnswerOptions())
    assert new["tags_predicted"] == ["a;b", "b", "a", "a;b", "b", "a"]
    np.testing.assert_allclose(new["tags_confidence"], [1, 1, 1, 0.54, 0.56, 0.28])
    assert new["tags_source"].tolist() == ["given"] * 3 + ["predicted"] * 3


def test_a_cell_below_the_threshold_is_left_empty_and_given_cells_have_certain_probabilities(tmp_path):
    dataset = tagged(tmp_path, ["a;b", "b", "a", "", "", ""])
    options = AnswerOptions(abstain=0.55, probabilities=True)
    new = together(dataset, fits([0.5] * 3 + [0.9, 0.2, 0.4], [0.5] * 3 + [0.6, 0.7, 0.3]), options)
    assert new["tags_predicted"][3:] == [None, "b", None]
    assert new["tags_source"].tolist()[3:] == ["abstained", "predicted", "abstained"]
    assert new["tags_probability_a"].tolist() == [1, 0, 1, 0.9, 0.2, 0.4]
