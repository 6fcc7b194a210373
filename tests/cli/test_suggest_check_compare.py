"""`mercer suggest`, `check` and `compare`, and the loop of labeling with them."""

import json

import numpy as np
import pandas as pd

from .command import here, iris


def test_suggest_check_and_compare(tmp_path, data):
    done = here("suggest", data, "-t", "species", "-n", "4", "--json", "--id", "flower", "-o", tmp_path / "next.csv")
    rows = json.loads(done.stdout)["suggestions"]
    assert len({row["row"] for row in rows}) == 4
    frame, truth = iris()
    given = set(frame["flower"][frame["species"] != ""])
    assert not given & {row["row"] for row in rows}
    assert all(0 < row["confidence"] < 1 for row in rows)
    marks = pd.read_csv(tmp_path / "next.csv")["label_next"]
    assert sorted(marks.dropna()) == [1, 2, 3, 4]

    wrong = frame.assign(species=np.where(np.arange(len(frame)) % 3, "", truth))
    wrong.loc[0, "species"] = "virginica"
    wrong.to_csv(tmp_path / "wrong.csv", index=False)
    every = frame.assign(species=np.where(np.arange(len(frame)) == 0, "virginica", truth))
    every.to_csv(tmp_path / "every.csv", index=False)
    done = here("check", tmp_path / "every.csv", "-t", "species", "--id", "flower", "--json")
    assert json.loads(done.stdout)["labels"][0]["row"] == "f000"  # also when no row is unlabeled
    done = here("check", tmp_path / "wrong.csv", "-t", "species", "--id", "flower", "--json")
    worst = json.loads(done.stdout)["labels"][0]
    assert (worst["row"], worst["given"], worst["others_say"]) == ("f000", "virginica", "setosa")

    done = here("label", data, "-t", "species", "-m", "ls_kpca", "-r", tmp_path / "r.html")
    assert done.exit_code == 0, done.output  # LS-KPCA is not linear in the labels, so its report has no suggestions
    assert "Rows to label next" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    done = here("label", data, "-t", "species", "-m", "diffusion,lssvm", "-r", tmp_path / "r.html", "--force")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Rows to label next" in page
    assert "20 more labels are expected to change" in page

    done = here("compare", data, "-t", "species", "--json")
    names = [row["method"] for row in json.loads(done.stdout)["methods"]]
    assert names[0] == "average"
    assert {"lssvm", "semi_kpca", "ls_kpca", "lr_kpca", "mv_kpca", "sgt", "s2rls", "rls"} <= set(names)


def test_suggest_without_any_label(tmp_path, data):
    frame, truth = iris(0)
    frame.to_csv(tmp_path / "none.csv", index=False)
    done = here("suggest", tmp_path / "none.csv", "-t", "species", "-n", "6", "--json")
    rows = [int(row["row"]) - 1 for row in json.loads(done.stdout)["suggestions"]]
    assert set(truth[rows]) == {"setosa", "versicolor", "virginica"}


def test_the_loop_of_suggesting_labeling_and_checking(tmp_path, data):
    """The output of every command may be the input of the next; what mercer wrote is not learned from."""
    names = ["flower", "sepal length", "sepal width", "petal length", "petal width", "species"]
    answers = ["species_predicted", "species_confidence", "species_source"]
    step = [data, *(tmp_path / f"{i}.csv" for i in range(1, 6))]
    assert here("suggest", step[0], "-t", "species", "-n", "3", "-o", step[1], "-q").exit_code == 0
    done = here("label", step[1], "-t", "species", "-o", step[2])
    assert "not used for training: 'label_next'" in done.output
    direct = here("label", step[0], "-t", "species", "-o", tmp_path / "direct.csv", "-q")
    assert direct.exit_code == 0
    assert pd.read_csv(step[2]).columns.tolist() == [*names, "label_next", "species_how", *answers]
    assert pd.read_csv(step[2])["species_confidence"].equals(pd.read_csv(tmp_path / "direct.csv")["species_confidence"])
    assert here("check", step[2], "-t", "species", "-o", step[3], "-q").exit_code == 0
    assert here("check", step[3], "-t", "species", "-o", step[4], "-q").exit_code == 0
    assert pd.read_csv(step[4]).columns.tolist() == [*names, "label_next", "species_how", *answers, "species_doubtful"]
    assert here("suggest", step[4], "-t", "species", "-n", "3", "-o", step[5], "-q").exit_code == 0
    last = pd.read_csv(step[5])
    assert last.columns.tolist() == [*names, "species_how", *answers, "species_doubtful", "label_next"]
    assert last["label_next"].equals(pd.read_csv(step[1])["label_next"])


def test_compare_names_the_methods_as_people_do(data):
    done = here("compare", data, "-t", "species")
    assert done.exit_code == 0, done.output
    head, *rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    assert head == ["method", "what it is", "correct", "95% interval", "--method"]
    by_key = {row[-1]: row for row in rows}
    assert by_key["sgt"][0] == "Spectral graph transducer"
    assert by_key["rls"][:2] == [
        "Regularized least squares",
        "learns from the labeled rows only (kernel ridge regression)",
    ]
    assert rows[0][0] == "Their average" and rows[0][-1] == "all"
    assert "_" not in "".join("".join(row[:4]) for row in rows)
    listed = {line.split("\t")[0] for line in here("methods").stdout.splitlines()}
    assert set(by_key) - {"all"} <= listed


def test_a_line_break_in_a_cell_does_not_break_a_piped_table(tmp_path):
    frame, _ = iris()
    frame["flower"] = "a\nflower\twith " + frame["flower"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = here("suggest", tmp_path / "t.csv", "-t", "species", "-n", "3", "--id", "flower")
    lines = [line for line in done.stdout.splitlines() if line.startswith("a flower with f")]
    assert [line.count("\t") for line in lines] == [2, 2, 2]


def test_check_says_how_many_contradicted_labels_are_wrong(tmp_path):
    rng = np.random.default_rng(0)
    names = np.repeat(["left", "right"], 60)
    frame = pd.DataFrame(rng.normal(size=(120, 2)) + 3.0 * (names == "right")[:, None], columns=["x", "y"])
    wrong = np.array([3, 17, 70, 95])
    given = names.astype(object)
    given[wrong] = np.where(names[wrong] == "left", "right", "left")
    frame.assign(side=given).to_csv(tmp_path / "t.csv", index=False)
    arguments = ("check", tmp_path / "t.csv", "-t", "side", "-m", "lssvm,diffusion")
    facts = json.loads(here(*arguments, "--json").stdout)
    assert {int(row["row"]) - 1 for row in facts["labels"]} <= set(wrong) and facts["doubtful"] >= 2
    assert 1 < facts["expected_wrong"] < 6 and facts["contradicted"] >= 4
    more = json.loads(here(*arguments, "--above", "0.01", "--json").stdout)
    assert more["doubtful"] > facts["doubtful"]
    done = here(*arguments)
    assert f"{facts['doubtful']} of 120 labels are wrong with a probability above 0.5." in done.stdout
    assert f"Held out, {120 - facts['contradicted']} of 120 labels are predicted correctly" in done.stdout
    assert "estimated to be wrong, and the rest are errors of the model" in done.stdout
    assert here(*arguments, "--above", "1").exit_code == 2


def test_labels_alone_in_their_class_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    kinds = np.repeat(["a", "b"], 20).astype(object)
    table = pd.DataFrame({"x": np.where(kinds == "a", 0.0, 5.0) + rng.normal(size=40), "kind": kinds})
    table.loc[[3, 24], "kind"] = ["c", "d"]
    table.loc[range(30, 36), "kind"] = ""
    table.to_csv(tmp_path / "t.csv", index=False)
    done = here("check", tmp_path / "t.csv", "-t", "kind", "-m", "lssvm")
    assert (
        " of 32 labels " in done.stdout and "2 other labels are alone in a class and cannot be checked." in done.stdout
    )
