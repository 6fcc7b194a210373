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


@pytest.mark.parametrize("method", ["auto", "svdd", "kpca", "density"])
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
    assert len(rows) == 1 + 3  # the head, and 6% of 50 rows
    assert set(pd.read_csv(tmp_path / "iris_novelty.csv").query("novel == 'yes'")["flower"]) == {
        row.split("\t")[0] for row in rows[1:]
    }


def test_the_width_of_a_kernel_is_said_in_few_digits(data):
    done = here("cluster", data, "-x", "species", "-k", "3")
    assert re.search(r"RBF\(bandwidth=\d\.\d{1,3}\)\.", done.output)


def test_novelty_takes_answers_and_a_false_alarm_rate(tmp_path):
    frame, _ = iris()
    frame["odd"] = ""
    frame.loc[[0, 1], "odd"] = ["odd", "ordinary"]
    frame.to_csv(tmp_path / "n.csv", index=False)
    ask = ["-x", "species", "--id", "flower", "--json", "--force"]
    plain = json.loads(here("novelty", tmp_path / "n.csv", "-x", "odd", "--false-alarms", "0.04", *ask).stdout)
    assert plain["novel"] in (1, 2) and "cannot be known" in plain["fraction"]
    taught = here("novelty", tmp_path / "n.csv", "--target", "odd", *ask)
    assert taught.exit_code == 0, taught.output
    assert "1 of 2 answered rows" in json.loads(taught.stdout)["fraction"]
    assert "novel" in pd.read_csv(tmp_path / "n_novelty.csv")
    words = here("novelty", tmp_path / "n.csv", "-x", "odd", *ask[:4], "--force").output
    assert "The 5% most unusual rows are flagged." in words and "Another threshold: --fraction 0.01" in words
    refused = here("novelty", tmp_path / "n.csv", "--fraction", "0.1", "--false-alarms", "0.1", *ask)
    assert refused.exit_code != 0 and "Only one of" in refused.output


def test_reasons_do_not_contradict_themselves(tmp_path):
    """No column is named whose cell is what similar ordinary rows have, in words and in the report."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"island": ["Dream"] * 38 + ["Biscoe", "Dream"], "year": rng.integers(2007, 2010, 40)})
    frame["size"] = [*np.linspace(1, 2, 39), 1.5]
    frame.to_csv(tmp_path / "p.csv", index=False)
    done = here("novelty", tmp_path / "p.csv", "--fraction", "0.5", "--json", "--report", tmp_path / "p.html")
    shown = json.loads(done.stdout)["rows_shown"]
    assert len(shown) == 10 and all(len(row["nearest"]) == 3 for row in shown)
    for row in shown:
        for one in row["columns"]:
            assert one["cell"] != one["ordinary"] and 0 < one["part"] <= 1
            low, _, high = one["ordinary"].partition(" to ")
            assert one["column"] == "island" or not float(low) <= float(one["cell"]) <= float(high or low)
        assert "have Dream" not in row["reason"].replace("island is Biscoe; similar ordinary rows have Dream", "")
    page = (tmp_path / "p.html").read_text()
    assert shown[0]["reason"] in page and "nearest ordinary rows" in page


def test_novelty_from_odd_to_labeled(tmp_path):
    """The first run adds an empty column; its output, filled in, is read again and corrects the scores."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 2)), rng.normal([7, 0], 0.3, (8, 2)), rng.normal([0, 7], 0.3, (8, 2))])
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "t.csv", index=False)
    first = here("novelty", tmp_path / "t.csv", "--target", "odd")
    assert first.exit_code == 0 and "--target odd" in first.output, first.output
    written = pd.read_csv(tmp_path / "t_novelty.csv")
    assert written["odd"].isna().all()
    written["odd"] = written["odd"].astype(object)
    written.loc[[150, 151, 152, 158, 159, 160], "odd"] = ["odd"] * 3 + ["ordinary"] * 3
    written.to_csv(tmp_path / "filled.csv", index=False)
    again = here("novelty", tmp_path / "filled.csv", "--target", "odd", "--fraction", "0.06")
    assert again.exit_code == 0, again.output
    flagged = pd.read_csv(tmp_path / "filled_novelty.csv")["novel"].eq("yes").to_numpy()
    assert flagged[150:158].all() and not flagged[158:].any()


def test_novelty_compares_with_ordinary_rows(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc")).to_csv(tmp_path / "good.csv", index=False)
    new = rng.normal(size=(100, 3))
    new[:20] += 7
    pd.DataFrame(new, columns=list("abc")).to_csv(tmp_path / "new.csv", index=False)
    ask = ["novelty", tmp_path / "new.csv", "--ordinary", tmp_path / "good.csv", "--json", "--force"]
    done = here(*ask, "--discoveries", "0.1")
    assert done.exit_code == 0, done.output
    assert 19 <= json.loads(done.stdout)["novel"] <= 25 and "interval" in json.loads(done.stdout)["fraction"]
    alarms = json.loads(here(*ask, "--false-alarms", "0.01").stdout)
    assert 20 <= alarms["novel"] <= 24
    pd.DataFrame(new + [0, 0, 9], columns=list("abc")).to_csv(tmp_path / "moved.csv", index=False)
    moved = json.loads(here("novelty", tmp_path / "moved.csv", *ask[2:]).stdout)["notes"]
    assert "In column 'c' 100% of the rows are beyond the values of the ordinary rows" in moved[-1]
    assert "--ignore c" in moved[-1] and "notes" not in alarms
    refused = here("novelty", tmp_path / "new.csv", "--discoveries", "0.1", "--force")
    assert refused.exit_code != 0 and "--ordinary FILE" in refused.output
    pd.DataFrame(new[:, :2], columns=list("ab")).to_csv(tmp_path / "less.csv", index=False)
    refused = here("novelty", tmp_path / "new.csv", "--ordinary", tmp_path / "less.csv", "--force")
    assert refused.exit_code != 0 and "less.csv has no column 'c'" in refused.output


def test_novelty_shows_images(tmp_path):
    from PIL import Image

    rng = np.random.default_rng(0)
    for i in range(20):
        shade = np.zeros((8, 8)) if i == 3 else 200 + rng.normal(0, 5, (8, 8))
        Image.fromarray(shade.astype(np.uint8)).save(tmp_path / f"{i}.png")
    pd.DataFrame({"file": [f"{i}.png" for i in range(20)]}).to_csv(tmp_path / "i.csv", index=False)
    done = here("novelty", tmp_path / "i.csv", "--fraction", "0.1", "--json", "--report", tmp_path / "i.html")
    assert done.exit_code == 0, done.output
    first = json.loads(done.stdout)["rows_shown"][0]
    assert first["row"] == "4" and first["reason"] == "file: the image differs from those of similar rows"
    assert (tmp_path / "i.html").read_text().count('<img src="data:image/png;base64,') == 2 * 4


def test_novelty_writes_numbers_as_the_table_does_and_names_a_column_like_labels(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: [f"{x:.16f}".replace(".", ",") for x in rng.normal(size=120)] for name in "abc"})
    frame.loc[3, "a"] = "25,1234567891234567"
    frame["kind"] = np.where(np.arange(120) % 6 == 0, np.where(np.arange(120) % 12 == 0, "x", "y"), "")
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";")
    done = here("novelty", tmp_path / "t.csv")
    assert "Column 'kind' is filled in few rows and has few values" in done.output
    assert "--ignore kind leaves it out" in done.output
    line = next(line for line in done.stdout.splitlines() if line.startswith("4\t"))
    assert "a 25,12;" in line and "a is 25,12; similar ordinary rows have -" in line
    assert not re.search(r"\d\.\d+ to|have -?\d+\.\d", line)
