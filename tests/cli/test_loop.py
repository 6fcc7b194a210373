"""The loop in a spreadsheet: rows go out with their content and a reason, answers and corrections come back."""

import html
import json

import numpy as np
import pandas as pd
import pytest

from mercer import load
from mercer.inputs.tables import read_table, write_table

from .command import here, iris

ANSWERS = ["species_predicted", "species_confidence", "species_source"]


def read(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_suggested_rows_go_out_and_their_answers_come_back(tmp_path, data):
    _, truth = iris()
    done = here("suggest", data, "-t", "species", "-n", "5", "--only", tmp_path / "next.csv")
    assert done.exit_code == 0, done.output
    assert f"mercer label {data} --target species --more {tmp_path / 'next.csv'}" in done.output
    asked = read(tmp_path / "next.csv")
    assert asked.columns.tolist()[:3] == ["species", "row_number", "species_how"]
    assert len(asked) == 5 and (asked["species"] == "").all()
    rows = asked["row_number"].astype(int).to_numpy() - 1
    assert asked["flower"].tolist() == iris()[0]["flower"][rows].tolist()
    asked["species"] = np.append(truth[rows[:4]], "")  # one is left open
    asked[::-1].to_csv(tmp_path / "next.csv", index=False)  # sorted another way since
    done = here("label", data, "-t", "species", "--more", tmp_path / "next.csv")
    assert done.exit_code == 0, done.output
    assert "note: 4 labels are taken from next.csv." in done.output
    assert "37 rows labeled from 13 labels" in done.output
    out = read(tmp_path / "iris_labeled.csv")
    assert (out["species_source"][rows[:4]] == "given").all()
    assert (out["species"][rows[:4]] == truth[rows[:4]]).all()  # TARGET contains every label that was given
    assert "from 13 labels" in here("label", tmp_path / "iris_labeled.csv", "-t", "species", "--force").output


def test_answers_are_matched_by_id_and_newer_ones_win(tmp_path, data):
    pd.DataFrame({"flower": ["f049", "f000"], "species": ["virginica", "versicolor"]}).to_csv(
        tmp_path / "more.csv", index=False
    )
    done = here("label", data, "-t", "species", "--id", "flower", "--more", tmp_path / "more.csv")
    assert done.exit_code == 0, done.output
    assert "2 labels are taken from more.csv, 1 of them instead of another." in done.output
    out = read(tmp_path / "iris_labeled.csv").set_index("flower")
    assert out.loc[["f049", "f000"], ANSWERS[0]].tolist() == ["virginica", "versicolor"]
    assert out.loc["f001", ANSWERS[0]] == "setosa"


@pytest.mark.parametrize(
    ("table", "code", "words"),
    [
        ({"flower": ["f900"], "species": ["x"]}, 3, "flower 'f900' names no row of the table"),
        ({"species": ["x"]}, 2, "neither the column 'flower' nor 'row_number'"),
        ({"row_number": ["51"], "species": ["x"]}, 3, "row_number '51' is not a row of the table, which has 50"),
        ({"row_number": ["3"], "flower ": ["f002"]}, 2, "has no column 'species' with the labels"),
        (
            {"row_number": ["3"], "species": ["x"], "petal width": ["9"], "petal length": ["9"]},
            3,
            "row 3 is another row than in the table",
        ),
    ],
)
def test_answers_that_cannot_be_matched_are_refused(tmp_path, data, table, code, words):
    pd.DataFrame(table).to_csv(tmp_path / "more.csv", index=False)
    done = here("label", data, "-t", "species", "--id", "flower", "--more", tmp_path / "more.csv")
    assert done.exit_code == code, done.output
    assert words in done.output


def test_numbers_are_matched_however_a_spreadsheet_writes_them(tmp_path, data):
    frame, truth = iris()
    row = {"row_number": "21.0", "species": truth[20], "petal width": f"{frame['petal width'][20]:.2f}"}
    pd.DataFrame([row]).to_csv(tmp_path / "more.csv", index=False)
    assert "from 10 labels" in here("label", data, "-t", "species", "--more", tmp_path / "more.csv").output


def test_corrections_are_learned_where_they_count_and_spoken_of_where_not(tmp_path, data):
    first = tmp_path / "iris_labeled.csv"
    assert here("label", data, "-t", "species", "-q").exit_code == 0
    out = read(first)
    predicted = out.index[out["species_source"] == "predicted"][:3]
    out.loc[predicted[0], "species"] = "virginica"  # in TARGET
    out.loc[predicted[1], ["species_predicted", "species_source"]] = ["virginica", "given"]
    out.loc[predicted[2], "species_predicted"] = "virginica"  # its source is still predicted
    before = out.loc[predicted, "species_predicted"]
    out.to_csv(tmp_path / "corrected.csv", index=False)
    done = here("label", tmp_path / "corrected.csv", "-t", "species", "-o", tmp_path / "two.csv")
    assert done.exit_code == 0, done.output
    assert "1 label is taken from 'species_predicted', because 'species_source' is 'given' there." in done.output
    assert "from 11 labels" in done.output
    two = read(tmp_path / "two.csv")
    assert two.loc[predicted[:2], "species_predicted"].tolist() == ["virginica"] * 2
    assert two.loc[predicted[:2], "species_source"].tolist() == ["given"] * 2
    assert two.loc[predicted[1], "species"] == "virginica"
    assert two.loc[predicted[2], "species_source"] == "predicted"
    changed = (two["species_predicted"] != out["species_predicted"])[two["species_source"] == "predicted"].sum()
    assert f"{changed} of the predictions in 'species_predicted' of the earlier run are replaced" in done.output
    assert "type the class into 'species', or into 'species_predicted' with 'given' next to it" in done.output
    assert len(before) == 3
    assert "To correct a prediction" in here("label", "--help").output


def test_answers_go_into_columns_of_numbers(tmp_path):
    frame = iris()[0].drop(columns="species")
    frame["grade"] = np.where(np.arange(50) % 5 == 0, np.arange(50) // 25, np.nan)
    frame.to_parquet(tmp_path / "t.parquet")
    pd.DataFrame({"row_number": [2, 50], "grade": [0, 1]}).to_csv(tmp_path / "more.csv", index=False)
    done = here("label", tmp_path / "t.parquet", "-t", "grade", "--more", tmp_path / "more.csv")
    assert done.exit_code == 0, done.output
    out = pd.read_parquet(tmp_path / "t_labeled.parquet")
    assert out["grade"].dtype == float and out["grade"].notna().sum() == 12
    assert out["grade_predicted"].tolist()[1::48] == [0.0, 1.0]


def test_a_probability_for_each_class_on_request(tmp_path, data):
    assert here("label", data, "-t", "species", "--probabilities", "-s", tmp_path / "m.mercer", "-q").exit_code == 0
    out = pd.read_csv(tmp_path / "iris_labeled.csv")
    names = [f"species_probability_{name}" for name in ("setosa", "versicolor", "virginica")]
    assert out.columns.tolist()[-3:] == names
    np.testing.assert_allclose(out[names].sum(axis=1), 1, atol=2e-4)
    np.testing.assert_allclose(out[names].max(axis=1), out["species_confidence"], atol=1e-9)
    assert (out[names].to_numpy()[out["species_source"] == "given"].max(axis=1) == 1).all()
    again = here("label", tmp_path / "iris_labeled.csv", "-t", "species", "-o", tmp_path / "two.csv", "-q")
    assert again.exit_code == 0
    assert not [name for name in pd.read_csv(tmp_path / "two.csv").columns if "probability" in name]
    new = here("predict", tmp_path / "m.mercer", data, "--probabilities", "-o", tmp_path / "p.csv")
    assert new.exit_code == 0, new.output
    assert pd.read_csv(tmp_path / "p.csv").columns.tolist()[-3:] == names


def test_several_targets_in_one_run_are_those_of_a_run_each(tmp_path, data):
    frame, truth = iris()
    large = np.where(frame["petal length"] > 4, "large", "small")
    frame["size"] = np.where(np.arange(50) % 4 == 1, large, "")
    frame.to_csv(data, index=False)
    done = here("label", data, "-t", "species", "-t", "size", "-r", tmp_path / "r.html", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)["targets"]
    assert {name: one["given"] for name, one in facts.items()} == {"species": 9, "size": 13}
    out = pd.read_csv(tmp_path / "iris_labeled.csv")
    assert (out["species_predicted"] == truth).mean() > 0.85
    assert (out["size_predicted"] == large).mean() > 0.85
    for target, other in (("species", "size"), ("size", "species")):
        one = here("label", data, "-t", target, "-x", other, "-o", tmp_path / f"{target}.csv", "-q")
        assert one.exit_code == 0
        alone = pd.read_csv(tmp_path / f"{target}.csv")
        assert alone[f"{target}_confidence"].equals(out[f"{target}_confidence"])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<article") == 2 and page.count("<canvas") == 2
    assert 'href="#part2">iris.csv, column size' in page
    done = here("label", data, "-t", "species", "-t", "size", "-s", tmp_path / "m.mercer", "-m", "lssvm", "-f")
    assert done.exit_code == 0, done.output
    assert [load(tmp_path / f"m-{name}.mercer").target for name in ("species", "size")] == ["species", "size"]
    assert not (tmp_path / "m.mercer").exists()


def test_cells_of_several_labels_are_filled_in_label_by_label(tmp_path):
    rng = np.random.default_rng(0)
    big, red = rng.integers(0, 2, (2, 60))
    frame = pd.DataFrame({"size": 6.0 * big + rng.normal(size=60), "hue": 6.0 * red + rng.normal(size=60)})
    words = {(0, 0): "plain", (1, 0): "big", (0, 1): "red", (1, 1): "big;red"}
    truth = np.array([words[pair] for pair in zip(big, red)])
    frame.assign(tags=np.where(np.arange(60) % 3, "", truth)).to_csv(tmp_path / "t.csv", index=False)
    done = here("label", tmp_path / "t.csv", "-t", "tags", "--probabilities", "-r", tmp_path / "r.html", "--json")
    assert done.exit_code == 0, done.output
    assert set(json.loads(done.stdout)["targets"]) == {"tags: big", "tags: red", "tags: plain"}
    out = read(tmp_path / "t_labeled.csv")
    assert (out["tags_predicted"] == truth).mean() > 0.9
    assert (out["tags_predicted"][::3] == truth[::3]).all() and set(out["tags_source"][::3]) == {"given"}
    shares = out[[f"tags_probability_{name}" for name in ("big", "red", "plain")]].astype(float)
    assert (shares["tags_probability_big"] > 0.5).to_numpy().tolist() == (big == 1).tolist()
    row = int(np.flatnonzero((truth == "big;red") & (out["tags_source"] == "predicted"))[0])
    p = shares.loc[row].to_numpy()
    assert abs(float(out["tags_confidence"][row]) - p[0] * p[1] * (1 - p[2])) < 1e-3
    assert (tmp_path / "r.html").read_text(encoding="utf-8").count("<article") == 3
    assert here("label", tmp_path / "t.csv", "-t", "tags", "-f", "-s", tmp_path / "m.mercer").exit_code == 2


@pytest.mark.parametrize(
    "command", [["suggest", "-n", "6"], ["check", "--above", "0.05"], ["novelty", "--share", "0.1"]]
)
def test_rows_are_shown_with_their_cells_and_a_reason_of_their_own(tmp_path, command):
    frame, truth = iris()
    frame["species"] = np.where(np.arange(50) % 2, "", np.roll(truth, 10))
    frame["story"] = [f"a flower of {name} found at noon on hill {i}" for i, name in enumerate(truth)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    target = ["-x", "species"] if command[0] == "novelty" else ["-t", "species"]
    done = here(command[0], tmp_path / "t.csv", *command[1:], *target, "--id", "flower")
    assert done.exit_code == 0, done.output
    head, *lines = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    cells, why = head.index("what it is"), head.index("why")
    for line in lines:
        own = frame.set_index("flower").loc[line[0]]
        assert own["story"][:20] in line[cells]
        shown = dict(part.rsplit(" ", 1) for part in line[cells].split("; ")[1:])
        assert shown and all(str(own[name]) == cell for name, cell in shown.items())
    assert len({line[why] for line in lines}) > len(lines) / 2


def test_rows_left_unlabeled_are_not_listed_as_predictions(tmp_path, data):
    page = tmp_path / "r.html"
    common = ["label", data, "-t", "species", "--id", "flower", "-x", "petal length", "-x", "petal width", "-r", page]
    assert here(*common, "-q").exit_code == 0
    whole = (
        html.unescape(page.read_text(encoding="utf-8")).split("Predictions to double-check")[1].split("</section>")[0]
    )
    out = pd.read_csv(tmp_path / "iris_labeled.csv").set_index("flower")["species_confidence"]
    listed = [name for name in out.index if f'"row">{name}<' in whole]
    assert len(listed) > 2
    level = float(np.median(out[listed])) - 1e-4  # the confidences in the table are rounded
    assert here(*common, "-qf", "--abstain", level).exit_code == 0
    part = (
        html.unescape(page.read_text(encoding="utf-8")).split("Predictions to double-check")[1].split("</section>")[0]
    )
    kept = [name for name in out.index if f'"row">{name}<' in part]
    assert kept and (out[kept] >= level).all()


def test_the_report_says_what_to_do_before_what_was_tried(tmp_path, data):
    assert here("label", data, "-t", "species", "--id", "flower", "-r", tmp_path / "r.html", "-q").exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    headings = ["The rows", "Accuracy", "Rows to label next", "Classes", "The columns", "What was tried"]
    assert sorted(headings, key=page.index) == headings
    assert "accuracy of always predicting setosa" in page
    assert "always the most frequent class" in page
    assert "Accuracy by class" in page
    assert "petal length 1.5 (others" in page.split("What each class looks like")[1]


def test_reports_without_labels(tmp_path, data):
    frame, _ = iris()
    frame.loc[7, ["sepal length", "sepal width", "petal length", "petal width"]] = [4.0, 4.4, 6.9, 0.1]
    frame.to_csv(data, index=False)
    common = [data, "-x", "species", "--id", "flower", "-q"]
    for command, more, words in (
        ("cluster", ["-k", "3"], ["50 rows in 3 groups", "3 (requested)", "typical: f0", "petal length 1."]),
        ("novelty", ["--share", "0.1"], ["petal length is 6.9; similar ordinary rows have 1.3 to 1.7", '"row">f007<']),
        ("embed", [], ["50 rows on 2 components", "component 1 (", "petal length +0.9"]),
    ):
        done = here(command, *common, *more, "-r", tmp_path / f"{command}.html")
        assert done.exit_code == 0, done.output
        page = html.unescape((tmp_path / f"{command}.html").read_text(encoding="utf-8"))
        for word in words:
            assert word in page or word.replace("+", "-") in page, (command, word)


@pytest.mark.parametrize("ending", [".xlsx", ".parquet", ".json", ".npz"])
def test_answers_reach_a_file_of_any_format_and_other_cells_stay(tmp_path, data, ending):
    first, path, only = read_table(data), tmp_path / f"t{ending}", tmp_path / f"only{ending}"
    write_table(first, {"note": np.arange(len(first))}, path)
    common = ["-t", "species", "-x", "flower", "-x", "note", "-m", "lssvm", "-q"]
    assert here("suggest", path, *common, "-n", "3", "--only", only).exit_code == 0
    answers = read_table(only).frame.assign(species="virginica")
    answers.to_csv(tmp_path / "answers.csv", index=False)
    done = here("label", path, *common, "--more", tmp_path / "answers.csv", "-o", tmp_path / f"out{ending}")
    assert done.exit_code == 0, done.output
    before, after = read_table(path).frame, read_table(tmp_path / f"out{ending}").frame
    rows = answers["row_number"].astype(int).to_numpy() - 1
    before["species"] = before["species"].astype(object)
    before.loc[rows, "species"] = "virginica"
    pd.testing.assert_frame_equal(
        after[before.columns].fillna("").astype(str), before.fillna("").astype(str), check_dtype=False
    )
    assert (after["species_source"].astype(str)[rows] == "given").all()
