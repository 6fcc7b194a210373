"""What a table says beyond one prediction a row: which labeled rows were drawn at random, and sets of classes."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelClassifier, load
from mercer.inputs.tables import TableEncoder
from mercer.jobs.sets import Sets

from .command import here, iris

QUICK = ("-m", "lssvm,diffusion")


def read(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def answered(path, truth):
    """Fill in the predictions of a file of suggested rows."""
    asked = read(path)
    asked["species"] = truth[asked["row_number"].astype(int).to_numpy() - 1]
    asked.to_csv(path, index=False)
    return asked


@pytest.mark.parametrize("length", [30, 400, 5000])
def test_the_command_that_takes_answers_back_is_whole_unless_names_are_absurd(tmp_path, length):
    frame, _ = iris()
    name = "s" * length
    frame.rename(columns={"species": name}).to_csv(tmp_path / "iris.csv", index=False)
    done = here("suggest", tmp_path / "iris.csv", "-t", name, "-n", "2", "--only", tmp_path / "next.csv", *QUICK)
    fill_in, command = done.stdout.splitlines()[-2:]
    assert done.exit_code == 0 and fill_in.startswith("Fill in 's") and len(fill_in) <= 300 and len(command) <= 600
    assert (f"--target {name} " in command) == (length < 5000) and command.startswith("mercer label ")


def test_the_estimate_rests_on_rows_drawn_at_random_through_the_whole_loop(tmp_path, data):
    _, truth = iris()
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    assert here("suggest", data, "-t", "species", "-n", "10", "--audit", "0.3", "--only", first, *QUICK).exit_code == 0
    asked = answered(first, truth)
    assert asked["species_how"].value_counts().to_dict() == {"chosen": 7, "random": 3}
    done = here("label", data, "-t", "species", "--more", first, "--json", *QUICK)
    facts = json.loads(done.stdout)
    assert (facts["given"], facts["labels_drawn"]) == (19, 12)  # the nine labels before count as drawn
    assert "estimated from 12 held-out labels of rows drawn at random" in facts["accuracy_sentence"]
    labeled = tmp_path / "iris_labeled.csv"
    how = read(labeled)["species_how"]
    rows = asked["row_number"].astype(int).to_numpy() - 1
    assert how[rows].tolist() == asked["species_how"].tolist() and (how.drop(rows) == "").all()

    # The next round begins with the output of the last; what it wrote is not learned from.
    done = here("suggest", labeled, "-t", "species", "-n", "5", "--audit", "0.2", "-o", second, "--json", *QUICK)
    assert done.exit_code == 0, done.output
    assert any("not used for training" in note and "'species_how'" in note for note in json.loads(done.stdout)["notes"])
    out = read(second)
    new = out.index[out["label_next"] != ""]
    assert sorted(out["species_how"][new]) == ["chosen"] * 4 + ["random"]
    assert (out["species_how"][rows] == asked["species_how"].to_numpy()).all()
    out.loc[new, "species"] = truth[new]
    out.to_csv(second, index=False)
    third = tmp_path / "third.csv"
    facts = json.loads(here("label", second, "-t", "species", "-o", third, "--json", *QUICK).stdout)
    assert (facts["given"], facts["labels_drawn"]) == (24, 13)
    assert len(facts["coverage"]) == 13  # the curve of the report is drawn from these labels too
    assert read(third)["species_how"].tolist() == out["species_how"].tolist()

    # The library, told the same, says the same.
    frame = pd.read_csv(third)
    X = TableEncoder().fit_transform(frame[frame.columns[1:5]])
    model = FewLabelClassifier(["lssvm", "diffusion"], time_budget=60.0, missing_label=[], random_state=0)
    given = np.where(out["species"] == "", None, out["species"].to_numpy(dtype=object))
    model.fit(X, given, drawn=(frame["species_how"] != "chosen").to_numpy())
    assert facts["left_out_accuracy"] == model.left_out_accuracy_


def test_chosen_labels_alone_are_no_estimate_and_say_so(tmp_path, data):
    frame, truth = iris(0)
    frame.to_csv(tmp_path / "none.csv", index=False)
    more = tmp_path / "next.csv"
    done = here("suggest", tmp_path / "none.csv", "-t", "species", "-n", "12", "--only", more)
    assert "All labeled rows were chosen. --audit 0.2" in done.output
    answered(more, truth)
    arguments = ("-t", "species", "--more", more, *QUICK)
    done = here("label", tmp_path / "none.csv", *arguments, "-r", tmp_path / "r.html")
    assert "This is not an estimate for all rows, because the labeled rows were chosen, not drawn" in done.stdout
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("not an estimate for all rows") == 2  # next to the number, and in the reasons
    done = here("check", tmp_path / "none.csv", *arguments, "-o", tmp_path / "checked.csv")
    assert done.exit_code == 0, done.output
    assert (read(tmp_path / "checked.csv")["species_how"] == "chosen").sum() == 12
    done = here("compare", tmp_path / "checked.csv", "-t", "species")
    assert "held out one at a time" in done.stdout
    assert "Their average: This is not an estimate for all rows" in done.stdout


def test_every_row_may_be_drawn_and_words_of_how_are_checked(tmp_path, data):
    frame, _ = iris(0)
    frame.to_csv(tmp_path / "none.csv", index=False)
    done = here("suggest", tmp_path / "none.csv", "-t", "species", "-n", "4", "--audit", "1", "--json")
    assert {row["how"] for row in json.loads(done.stdout)["suggestions"]} == {"random"}
    assert here("suggest", data, "-t", "species", "--audit", "20").exit_code == 2
    frame, _ = iris()
    frame["species_how"] = ["random", "Chosen", "by hand"] + [""] * 47
    frame.to_csv(data, index=False)
    done = here("label", data, "-t", "species", *QUICK)
    assert done.exit_code == 3 and "'species_how' contains 'by hand' in row 3. Accepted: random" in done.output
    frame["species_how"] = np.where(np.arange(50) % 2, "picked", "bought")  # a column of the user's own
    frame.to_csv(data, index=False)
    assert json.loads(here("label", data, "-t", "species", "--json", *QUICK).stdout)["labels_drawn"] == 9
    done = here("suggest", data, "-t", "species", "-n", "2", "-o", tmp_path / "o.csv", *QUICK)
    assert done.exit_code == 2 and "has a column 'species_how' already" in done.output


def test_sets_of_classes_are_those_of_the_library_and_can_be_read_again(tmp_path, data):
    frame, truth = iris(8)
    frame.to_csv(data, index=False)
    arguments = ("--coverage", "0.9", *QUICK)
    done = here("label", data, "-t", "species", "-s", tmp_path / "m.mercer", "-r", tmp_path / "r.html", *arguments)
    assert done.exit_code == 0, done.output
    assert (
        "species_set lists the classes that a row may have. In about 90% of the rows the list contains the true class"
        in done.stdout
    )
    out = read(tmp_path / "iris_labeled.csv")
    sets = [set(cell.split(";")) - {""} for cell in out["species_set"]]
    given = (out["species"] != "").to_numpy()
    assert [one for one, known in zip(sets, given) if known] == [{name} for name in out["species"][given]]
    inside = np.mean([name in one for one, name in zip(sets, truth)])
    assert inside > 0.8
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "classes per cell of species_set on average" in page and "may_be = labeled[" in page

    model = load(tmp_path / "m.mercer")
    X = model.encoder.transform(pd.read_csv(data))
    expected = model.classifier.predict_set(X, 0.9)
    done = here("predict", tmp_path / "m.mercer", data, "--coverage", "0.9", "-o", tmp_path / "p.csv", "--json")
    facts = json.loads(done.stdout)["sets"]
    assert facts["mean_size"] == pytest.approx(expected.sum(axis=1).mean())
    words = read(tmp_path / "p.csv")["species_set"]
    assert [len(word.split(";")) if word else 0 for word in words] == expected.sum(axis=1).tolist()

    # A later run without --coverage does not keep sets that are no longer true.
    again = here("label", tmp_path / "iris_labeled.csv", "-t", "species", "-o", tmp_path / "two.csv", *QUICK)
    assert again.exit_code == 0, again.output
    assert "species_set" not in read(tmp_path / "two.csv").columns
    by_class = here("label", data, "-t", "species", "--by-class", "-o", tmp_path / "c.csv", *arguments, "--json")
    assert "of the rows of each class" in json.loads(by_class.stdout)["sets"]["sentence"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--coverage", "90"), "--coverage 90 is not accepted. Give a fraction between 0 and 1. For 90% give 0.9."),
        (("--coverage", "0"), "--coverage 0 is not accepted. Give a fraction between 0 and 1, such as 0.9."),
        (("--by-class",), "--by-class goes with --coverage, such as --coverage 0.9 --by-class."),
    ],
)
def test_shares_that_are_none_are_refused(data, options, words):
    done = here("label", data, "-t", "species", *options)
    assert done.exit_code == 2 and words in done.output


class Answers:
    """A classifier of three classes whose sets are given."""

    def __init__(self, classes, inside):
        self.classes_, self.inside = classes, inside

    def sets_of(self, P, coverage, by_class):
        return self.inside


def test_what_is_said_of_sets():
    inside = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1]], dtype=bool)
    given = np.array([False, False, False, True])
    sets = Sets("kind", Answers(["a;b", "c|d", "e"], inside), None, given, 0.9)
    assert sets.columns(["a;b", "c|d", "e"], [0, 0, 0, 1])["kind_set"].tolist() == ["a;b", "a;b/c|d", "", "c|d"]
    assert sets.sentence.endswith(
        "A list has 1.0 of 3 classes on average. 1 list has one class. 1 list has none, because no class is likely "
        "enough there."
    )
    every = Sets("kind", Answers(["a", "b", "c"], inside | True), None, given, 0.9)
    assert every.sentence.endswith("The labels are too few for shorter lists, so every list has all 3 classes.")


def test_rows_of_classes_without_a_label_are_named(tmp_path):
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [9, 0], [0, 9], [9, 9], [18, 0]])
    names = np.repeat(["a", "b", "c", "d", "e"], 30)
    frame = pd.DataFrame(rng.normal(size=(150, 2)) + np.repeat(centers, 30, axis=0), columns=["x", "y"])
    frame["kind"] = ""
    frame.loc[[0, 1, 2, 30, 31, 32, 60], "kind"] = list("aaabbbc")  # one class seen once, two never
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "kind", "-r", tmp_path / "r.html", "--json", *QUICK)
    facts = json.loads(done.stdout)
    assert "may belong to classes that no label names, because 1 class has only one label" in facts["unseen_sentence"]
    named = [int(name) - 1 for name, _ in facts["unseen_rows"]]
    assert set(names[named[:2]]) == {"d", "e"}
    assert "Rows that may belong to another class" in (tmp_path / "r.html").read_text(encoding="utf-8")
    done = here("label", tmp_path / "t.csv", "-t", "kind", "--force", *QUICK)
    assert f"Least like any labeled row: {named[0] + 1}, {named[1] + 1}" in done.stdout
