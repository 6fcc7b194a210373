"""One row has one confidence: `label`, `predict`, a folder and Python agree to the digit."""

import numpy as np
import pandas as pd
import pytest

from cli.command import here, iris
from mercer import load
from mercer.jobs.parts import MODEL

QUICK = ("-m", "lssvm,diffusion", "-x", "flower", "-q")


@pytest.fixture
def table(tmp_path):
    """Irises of which one class has one label only, so not every row is of a class with several labels."""
    frame, _ = iris(4)
    first = np.flatnonzero((frame["species"] == "virginica").to_numpy())[1:]
    frame.loc[first, "species"] = ""
    frame.to_csv(tmp_path / "iris.csv", index=False)
    return frame


def test_label_predict_folder_and_python_give_a_row_the_same_confidence(tmp_path, table):
    label, model = tmp_path / "label.csv", tmp_path / "m.mercer"
    assert here("label", tmp_path / "iris.csv", "-t", "species", "-o", label, "-s", model, *QUICK).exit_code == 0
    free = (table["species"] == "").to_numpy()
    by_label = pd.read_csv(label)[free]
    fitted = load(model).classifier
    assert fitted.labels_.testable.mean() < 1  # so that classes without a second label count
    assert here("predict", model, tmp_path / "iris.csv", "-o", tmp_path / "p.csv", "-q").exit_code == 0
    by_predict = pd.read_csv(tmp_path / "p.csv")[free]
    for name in ("species_predicted", "species_confidence", "species_source"):
        assert by_label[name].tolist() == by_predict[name].tolist(), name
    P = load(model).predict_proba(table)[free]
    np.testing.assert_array_equal(by_label["species_confidence"], np.round(fitted.confidence_of(P), 4))

    (tmp_path / "in").mkdir()
    for number in range(3):
        table[number::3].to_csv(tmp_path / "in" / f"{number}.csv", index=False)
    assert here("label", tmp_path / "in", "-t", "species", *QUICK).exit_code == 0
    assert here("predict", tmp_path / "in_labeled" / MODEL, tmp_path / "in", "-o", tmp_path / "f", "-q").exit_code == 0
    for number in range(3):
        labeled = pd.read_csv(tmp_path / "in_labeled" / f"{number}.csv", keep_default_na=False)
        predicted = pd.read_csv(tmp_path / "f" / f"{number}.csv", keep_default_na=False)
        rows = (labeled["species"] == "").to_numpy()
        assert rows.any()
        assert labeled["species_confidence"][rows].tolist() == predicted["species_confidence"][rows].tolist()


def test_a_threshold_means_the_same_in_label_and_predict(tmp_path, table):
    label, model = tmp_path / "label.csv", tmp_path / "m.mercer"
    ask = ("--abstain", "0.6", "-q")
    arguments = ("label", tmp_path / "iris.csv", "-t", "species", "-o", label, "-s", model, *QUICK, *ask)
    assert here(*arguments).exit_code == 0
    assert here("predict", model, tmp_path / "iris.csv", "-o", tmp_path / "p.csv", *ask).exit_code == 0
    free = (table["species"] == "").to_numpy()
    left = [pd.read_csv(path)["species_source"][free].eq("abstained") for path in (label, tmp_path / "p.csv")]
    assert left[0].any() and left[0].tolist() == left[1].tolist()
