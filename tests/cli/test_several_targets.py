"""Cells of several labels, and several targets: one set of spaces serves all of them."""

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelClassifier
from mercer.few_label.library import Library

from .command import here


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 3))
    tags = (Z @ rng.normal(size=(3, 5))) > 0.5
    cells = np.array([";".join(f"t{k}" for k in np.flatnonzero(row)) or "none" for row in tags], dtype=object)
    cells[rng.permutation(300)[80:]] = ""
    return pd.DataFrame(Z.round(4), columns=list("abc")).assign(tags=cells), tags


def test_the_spaces_are_built_once_for_all_labels_of_the_cells(tmp_path, table, monkeypatch):
    frame, tags = table
    frame.to_csv(tmp_path / "t.csv", index=False)
    built, build = [], Library.build
    monkeypatch.setattr(Library, "build", lambda self, *args, **more: built.append(1) or build(self, *args, **more))
    options = ("-t", "tags", "-m", "lssvm,diffusion", "--json", "-f", "-r", tmp_path / "r.html")
    done = here("label", tmp_path / "t.csv", *options)
    assert done.exit_code == 0, done.output
    assert len(built) == 1
    facts = json.loads(done.stdout)["targets"]
    assert len(facts) == 6
    page = (tmp_path / "r.html").read_text()
    assert all(f"column {name}" in page for name in facts)
    # Every label is that of a fit of its own.
    out = pd.read_csv(tmp_path / "t_labeled.csv", keep_default_na=False)
    given = (frame["tags"] != "").to_numpy()
    y = np.where(given, [("yes" if "t3" in cell.split(";") else "no") for cell in frame["tags"]], None)
    own = FewLabelClassifier(["lssvm", "diffusion"], time_budget=60.0, missing_label=[], random_state=0)
    X = frame[list("abc")].to_numpy()
    own.fit(pd.DataFrame(X, columns=list("abc")), y)
    inside = np.array(["t3" in cell.split(";") for cell in out["tags_predicted"]])
    assert np.mean((own.probabilities_[:, 1] >= 0.5)[~given] == inside[~given]) > 0.99
    assert np.mean(inside[~given] == tags[~given, 3]) > 0.8


def test_two_targets_with_labels_in_the_same_rows_share_the_spaces(tmp_path, table, monkeypatch):
    frame, tags = table
    given = (frame["tags"] != "").to_numpy()
    words = [np.where(given, np.where(tags[:, k], "yes", "no"), "") for k in (0, 1)]
    frame.drop(columns="tags").assign(one=words[0], two=words[1]).to_csv(tmp_path / "t.csv", index=False)
    built, build = [], Library.build
    monkeypatch.setattr(Library, "build", lambda self, *args, **more: built.append(1) or build(self, *args, **more))
    done = here("label", tmp_path / "t.csv", "-t", "one", "-t", "two", "-m", "lssvm", "-s", tmp_path / "m.mercer", "-f")
    assert done.exit_code == 0, done.output
    assert len(built) == 1
    alone = here("label", tmp_path / "t.csv", "-t", "two", "-x", "one", "-m", "lssvm", "-o", tmp_path / "two.csv")
    assert alone.exit_code == 0, alone.output
    both, single = (pd.read_csv(tmp_path / name) for name in ("t_labeled.csv", "two.csv"))
    assert both["two_confidence"].tolist() == single["two_confidence"].tolist()


def test_memory_does_not_grow_with_the_number_of_labels_in_cells(tmp_path):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 4))
    frame = pd.DataFrame(Z.round(4), columns=list("abcd"))
    peaks = []
    for number in (3, 12):
        tags = (Z @ rng.normal(size=(4, number))) > 0.3
        cells = np.array([";".join(f"t{k}" for k in np.flatnonzero(row)) or "none" for row in tags], dtype=object)
        cells[rng.permutation(600)[60:]] = ""
        frame.assign(tags=cells).to_csv(tmp_path / "t.csv", index=False)
        tracemalloc.start()
        assert here("label", tmp_path / "t.csv", "-t", "tags", "-m", "lssvm,diffusion", "-f").exit_code == 0
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
