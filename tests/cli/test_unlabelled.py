"""`mercer embed`, `cluster` and `novelty`: tables without labels."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from .command import here, iris


@pytest.mark.parametrize("method", ["kpca", "robust", "sparse"])
def test_embed(tmp_path, data, method):
    done = here("embed", data, "-x", "species", "-m", method, "-d", "3", "-o", tmp_path / "e.csv")
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(tmp_path / "e.csv")
    scores = frame[["component_1", "component_2", "component_3"]].to_numpy()
    assert np.isfinite(scores).all()
    assert scores[:, 0].var() > scores[:, 2].var() > 0


def test_cluster(tmp_path, data):
    done = here("cluster", data, "-x", "species", "-k", "3", "-o", tmp_path / "c.csv", "--json")
    assert sum(json.loads(done.stdout)["sizes"]) == 50
    clusters = pd.read_csv(tmp_path / "c.csv")["cluster"].to_numpy()
    truth = iris()[1]
    assert set(clusters) == {1, 2, 3}
    assert len(set(clusters[truth == "setosa"])) == 1


@pytest.mark.parametrize("method", ["svdd", "kpca", "density"])
def test_novelty_finds_the_strange_row(tmp_path, method):
    frame, _ = iris()
    frame.loc[7, ["sepal length", "sepal width", "petal length", "petal width"]] = [4.0, 4.4, 6.9, 0.1]
    frame.to_csv(tmp_path / "n.csv", index=False)
    done = here(
        "novelty", tmp_path / "n.csv", "-x", "species", "-m", method, "--id", "flower", "--share", "0.1", "--json"
    )
    assert done.exit_code == 0, done.output
    assert "f007" in json.loads(done.stdout)["most_novel"][:3]
    written = pd.read_csv(tmp_path / "n_novelty.csv")
    assert written["novel"][7] == "yes"
    assert written["novel"].eq("yes").mean() == 0.1


def test_warnings_of_the_library_become_notes(tmp_path):
    rows = ["a,b", *["1,2", "3,4"] * 6]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    done = here("cluster", tmp_path / "t.csv", "-k", "5")
    assert done.exit_code == 0, done.output
    assert "note:" in done.output
    assert "clusters are empty" in done.output
    assert "UserWarning" not in done.output


def test_quiet_prints_nothing(tmp_path, data):
    done = here("cluster", data, "-x", "species", "-k", "2", "--quiet")
    assert done.exit_code == 0
    assert done.output == ""


def test_novelty_lists_no_row_that_it_does_not_call_novel(tmp_path, data):
    done = here("novelty", data, "-x", "species", "--id", "flower", "--share", "0.06")
    rows = [line for line in done.stdout.splitlines() if line.startswith("f") and "\t" in line]
    assert len(rows) == 1 + 3  # the head, and 6 % of 50 rows
    assert set(pd.read_csv(tmp_path / "iris_novelty.csv").query("novel == 'yes'")["flower"]) == {
        row.split("\t")[0] for row in rows[1:]
    }


def test_the_width_of_a_kernel_is_said_in_few_digits(data):
    done = here("cluster", data, "-x", "species", "-k", "3")
    assert re.search(r"RBF\(bandwidth=\d\.\d{1,3}\)\.", done.output)
