"""Numbers to predict, how they are distinguished from codes, and the output of the commands."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer import FewLabelRegressor, InputError, load
from mercer.cli.console import Console
from mercer.cli.labeling import label
from mercer.inputs.tables import read_table, read_target_as

from .command import here


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    size, color = rng.gamma(2, 1, 90), rng.choice(["red", "blue", "green"], 90)
    price = np.round(100 + 40 * size + 30 * (color == "red") + 5 * rng.normal(size=90), 2)
    frame = pd.DataFrame({"size": size, "color": color, "price": np.where(np.arange(90) % 3 == 0, price, np.nan)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv", price


CASES = {
    "fractions": ([0.5, 1.5, 2.5, 0.5, 1.5], True),
    "many whole": ([12, 900, 31, 44, 57, 68, 71, 86, 99, 101, 115, 240], True),
    "ages, repeated": ([18 + k % 40 for k in range(200)], True),
    "two codes": ([0, 1, 0, 1, 1], False),
    "digits": (list(range(10)) * 3, False),
    "letters as 1 to 26": ([*range(1, 25), 26, 3, 4], False),
    "shops, often repeated": ([100 + k % 12 for k in range(200)], False),
    "leading zeros": ([f"{k:04d}" for k in range(12, 900, 50)], False),
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_told_from_codes_and_it_is_said(case):
    values, numeric = CASES[case]
    column = pd.Series([*values, None, None], name="y", dtype=object)
    target = read_target_as(column)
    assert target.numeric is numeric
    assert f"{len(set(values))} different numbers" in target.notes[-1]
    assert ("--as class" if numeric else "--as number") in target.notes[-1]
    assert target.given.sum() == len(values)
    assert read_target_as(column, "number").numeric
    assert not read_target_as(column, "class").numeric


def test_words_are_classes_without_a_note():
    target = read_target_as(pd.Series(["a", "b", None, "12"], name="y"))
    assert not target.numeric
    assert not target.notes


def test_two_routes_one_answer_and_predict(data, tmp_path):
    path, price = data
    model_file, out = tmp_path / "m.mercer", tmp_path / "out.csv"
    ((model, _),) = label(Console(quiet=True), path, ["price"], out=out, save=model_file)
    frame = pd.read_csv(path, float_precision="round_trip")
    library = FewLabelRegressor(random_state=0).fit(frame[["size", "color"]], frame["price"])
    np.testing.assert_array_equal(model.predicted_, library.predicted_)
    np.testing.assert_array_equal(model.left_out_, library.left_out_)
    written = pd.read_csv(out)
    assert written.columns.tolist()[3:] == ["price_predicted", "price_low", "price_high", "price_source"]
    given = frame["price"].notna().to_numpy()
    assert (written["price_source"] == np.where(given, "given", "predicted")).all()
    np.testing.assert_array_equal(written["price_predicted"][given], price[given])
    np.testing.assert_array_equal(written["price_low"][given], price[given])
    np.testing.assert_allclose(written["price_predicted"][~given], library.predicted_[~given], atol=1e-3)
    ends = library.predict_interval(frame[["size", "color"]])
    np.testing.assert_allclose(written[["price_low", "price_high"]][~given], ends[~given], atol=1e-3)
    done = here("predict", model_file, path, "-o", tmp_path / "p.csv")
    assert done.exit_code == 0, done.output
    again = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_allclose(again["price_predicted"], library.predict(frame[["size", "color"]]), atol=1e-3)
    np.testing.assert_array_equal(load(model_file).predict(read_table(path).frame), library.predict(frame.iloc[:, :2]))


def test_label_says_what_it_took_and_reports(data, tmp_path):
    path, _ = data
    done = here("label", path, "-t", "price", "-r", tmp_path / "r.html", "-m", "lssvm,forest", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["kind"] == "number"
    assert facts["r2_interval"][0] <= facts["left_out_r2"] <= facts["r2_interval"][1]
    assert (facts["given"], facts["predicted"]) == (30, 60)
    assert "read as numbers to predict" in " ".join(facts["notes"])
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "60 numbers predicted from 30" in page
    assert "Extremely randomized trees" in page
    # Its own output is read again, and the predictions in it are not learned from.
    again = here("label", tmp_path / "t_labeled.csv", "-t", "price", "-m", "lssvm,forest", "-o", tmp_path / "b.csv")
    assert again.exit_code == 0, again.output
    assert "not used for training: 'price_predicted', 'price_low', 'price_high', 'price_source'" in again.output
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "b.csv"), pd.read_csv(tmp_path / "t_labeled.csv"))


def test_suggest_and_as(data, tmp_path):
    path, _ = data
    done = here("suggest", path, "-t", "price", "-n", "3", "--json", "-m", "lssvm")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["suggestions"]
    assert len(rows) == 3
    assert all(int(row["row"]) % 3 != 1 for row in rows)  # row 1, 4, … have a number
    frame = pd.read_csv(path)
    frame["price"] = frame["price"].round(-2)
    frame.to_csv(tmp_path / "codes.csv", index=False)
    done = here("label", tmp_path / "codes.csv", "-t", "price", "-m", "lssvm", "-o", tmp_path / "a.csv")
    assert "read as names of classes (--as number" in done.output
    assert "price_confidence" in pd.read_csv(tmp_path / "a.csv").columns
    done = here(
        "label", tmp_path / "codes.csv", "-t", "price", "-m", "lssvm", "--as", "number", "-o", tmp_path / "b.csv"
    )
    assert done.exit_code == 0, done.output
    assert "price_low" in pd.read_csv(tmp_path / "b.csv").columns


def test_numbers_and_classes_in_one_run_are_those_of_a_run_each(data, tmp_path):
    path, _ = data
    frame = pd.read_csv(path)
    frame["heavy"] = np.where(np.arange(90) % 4 == 0, np.where(frame["size"] > 2, "yes", "no"), "")
    frame.to_csv(tmp_path / "both.csv", index=False)
    files = ["-r", tmp_path / "r.html", "-s", tmp_path / "m.mercer", "-o", tmp_path / "both_out.csv"]
    done = here("label", tmp_path / "both.csv", "-t", "price", "-t", "heavy", "-m", "lssvm", "--json", *files)
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["targets"]["price"]["kind"] == "number" and facts["targets"]["heavy"]["given"] == 23
    assert facts["model"] == {name: str(tmp_path / f"m-{name}.mercer") for name in ("price", "heavy")}
    out = pd.read_csv(tmp_path / "both_out.csv")
    for target, other in (("price", "heavy"), ("heavy", "price")):
        alone = tmp_path / f"{target}.csv"
        done = here("label", tmp_path / "both.csv", "-t", target, "-x", other, "-m", "lssvm", "-o", alone, "-q")
        assert done.exit_code == 0, done.output
        own = [name for name in pd.read_csv(alone).columns if name.startswith(f"{target}_")]
        pd.testing.assert_frame_equal(out[own], pd.read_csv(alone)[own])
        assert load(tmp_path / f"m-{target}.mercer").target == target
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<article") == 2 and page.count("<canvas") == 2
    assert "60 numbers predicted from 30" in page and "column heavy" in page
    for words, numeric in (("heavy=class", True), ("price=class", False)):
        done = here("label", tmp_path / "both.csv", "-t", "price", "-m", "lssvm", "--as", words, "-f", "-q")
        assert done.exit_code == (2 if numeric else 0), done.output  # heavy is not a target there


def test_coverage_is_that_of_the_intervals(data, tmp_path):
    path, _ = data
    narrow, wide, model = tmp_path / "n.csv", tmp_path / "w.csv", tmp_path / "m.mercer"
    for share, out in (("0.5", narrow), ("0.9", wide)):
        done = here("label", path, "-t", "price", "-m", "lssvm", "--coverage", share, "-o", out, "-f", "-s", model)
        assert done.exit_code == 0, done.output
        assert f"{100 * float(share):g}% intervals are the prediction ±" in done.output
    given = pd.read_csv(path)["price"].notna()
    widths = [(frame["price_high"] - frame["price_low"])[~given] for frame in map(pd.read_csv, (narrow, wide))]
    reaches = [load(model).regressor.reach(share) for share in (0.5, 0.9)]
    np.testing.assert_allclose(widths[0], 2 * reaches[0], atol=1e-3)
    np.testing.assert_allclose(widths[1], 2 * reaches[1], atol=1e-3)
    assert here("predict", model, path, "--coverage", "0.5", "-o", tmp_path / "p.csv").exit_code == 0
    again = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_allclose(again["price_high"] - again["price_low"], 2 * reaches[0], atol=1e-3)


def test_a_corrected_number_is_learned_from(data, tmp_path):
    path, _ = data
    assert here("label", path, "-t", "price", "-m", "lssvm", "-o", tmp_path / "a.csv").exit_code == 0
    frame = pd.read_csv(tmp_path / "a.csv")
    frame.loc[1, ["price_predicted", "price_source"]] = 777.25, "given"
    frame.to_csv(tmp_path / "b.csv", index=False)
    done = here("label", tmp_path / "b.csv", "-t", "price", "-m", "lssvm", "-o", tmp_path / "c.csv")
    assert done.exit_code == 0, done.output
    assert "1 label is taken from 'price_predicted', because 'price_source' is 'given' there" in done.output
    again = pd.read_csv(tmp_path / "c.csv")
    assert again["price"][1] == again["price_predicted"][1] == 777.25
    assert again["price_source"][1] == "given"


def test_numbers_with_units_and_marks(tmp_path):
    values = ["1,200.50 kg", "950.00 kg", "1,010.25 kg", "870.75 kg", "1,400.00 kg", "NA", None]
    target = read_target_as(pd.Series(values, name="y"))
    assert target.numeric
    np.testing.assert_array_equal(target.numbers, [1200.5, 950, 1010.25, 870.75, 1400, np.nan, np.nan])
    minus = pd.Series([0.5, 1.5, -1, 2.5, 3.5, -1, 0.25, 4.5], name="y")
    with pytest.raises(InputError, match="contains -1 and no other number below 0"):
        read_target_as(minus)
    assert read_target_as(minus, missing=["-1"]).given.sum() == 6
    assert read_target_as(minus, missing=[""]).given.sum() == 8
    assert read_target_as(minus - 1).given.sum() == 8


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["label", "--as", "numbers"], 2, "--as numbers is not accepted. Give number or class"),
        (["label", "--abstain", "0.9"], 2, "--abstain is a confidence in a class"),
        (["label", "-m", "s2rls"], 2, "--method s2rls is not for numbers, which 'price' has. Accepted: auto, lssvm"),
        (["check"], 3, "'price' contains numbers to predict, and `mercer check` is for classes"),
        (["compare"], 3, "'price' contains numbers to predict, and `mercer compare` is for classes"),
    ],
)
def test_refusals(data, arguments, code, words):
    command, *rest = arguments
    done = here(command, data[0], "-t", "price", *rest)
    assert done.exit_code == code, done.output
    assert words in done.output


def test_words_among_numbers_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{k},{k}.5\n" for k in range(8)) + "9,unknown\n10,\n")
    done = here("label", path, "-t", "y", "--as", "number")
    assert done.exit_code == 3
    assert "'y' contains 'unknown', which is not a number" in done.output
    assert here("label", path, "-t", "y", "--missing", "unknown", "-m", "lssvm").exit_code == 0


def test_given_whole_numbers_are_written_as_given(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(size=120)
    price = [str(round(50_000 + 9_000 * x)) if i < 40 else "" for i, x in enumerate(size)]
    pd.DataFrame({"size": size.round(4), "price": price}).to_csv(tmp_path / "t.csv", index=False)
    assert here("label", tmp_path / "t.csv", "-t", "price", "--as", "number", "-m", "lssvm").exit_code == 0
    out = pd.read_csv(tmp_path / "t_labeled.csv", dtype=str, keep_default_na=False)
    for name in ("price_predicted", "price_low", "price_high"):
        assert out[name][:40].tolist() == price[:40]
