"""Cells with probabilities of classes, such as `cat:0.7; dog:0.3`."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import FewLabelClassifier
from mercer.errors import InputError
from mercer.inputs.tables import read_target

from .command import here, iris


def column(*cells):
    return pd.Series(cells, name="pet")


def test_cells_are_read_as_probabilities():
    target = read_target(column("cat:0.7; dog:0.3", "", "dog : 60 %|cat:40%", "cat", "bird:0.8"))
    assert target.classes == ["bird", "cat", "dog"]
    assert target.labels.tolist() == ["cat", None, "dog", "cat", "bird"]
    np.testing.assert_allclose(
        target.shares, [[0, 0.7, 0.3], [0, 0, 0], [0, 0.4, 0.6], [0, 1, 0], [0.8, 0.1, 0.1]], atol=1e-15
    )
    assert "'cat:0.7; dog:0.3'" in target.notes[0]


@pytest.mark.parametrize("cells", [("1:0", "0:1", "1:0"), ("10:30", "11:30", "10:30"), ("a:b", "c", "a:b")])
def test_other_colons_are_names_of_classes(cells):
    target = read_target(column(*cells))
    assert target.shares is None
    assert target.labels.tolist() == list(cells)


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (("cat:0.7;dog:0.6", "dog"), "sum to 1.3"),
        (("cat:0.2;dog:0.3", "dog"), "sum to 0.5"),
        (("cat:0.7", "cat:0.9"), "second class"),
    ],
)
def test_wrong_probabilities_are_refused(cells, sentence):
    with pytest.raises(InputError, match=sentence):
        read_target(column(*cells))


def test_the_command_learns_from_them_as_the_library_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame, truth = iris()
    rows = np.flatnonzero((frame["species"] != "").to_numpy())
    names, shares = sorted(set(truth)), np.zeros((len(frame), 3))
    frame["species"] = frame["species"].astype(object)
    for number, row in enumerate(rows):
        share = 0.6 + 0.04 * number
        one = next(name for name in names if name != truth[row])
        frame.loc[row, "species"] = f"{truth[row]}:{share:.2f}; {one}:{1 - share:.2f}"
        shares[row, names.index(truth[row])], shares[row, names.index(one)] = round(share, 2), round(1 - share, 2)
    frame.to_csv("soft.csv", index=False)
    options = ["--out", "out.csv", "--probabilities", "--save", "m.mercer", "--id", "flower"]
    done = here("label", "soft.csv", "--target", "species", *options)
    assert done.exit_code == 0, done.output
    written = pd.read_csv("out.csv")
    P = written[[f"species_probability_{name}" for name in names]].to_numpy()
    np.testing.assert_allclose(P[rows], shares[rows], atol=1e-12)
    assert (written["species_source"][rows] == "given").all()
    np.testing.assert_allclose(written["species_confidence"][rows], shares[rows].max(axis=1))
    X = frame.drop(columns=["species", "flower"])
    given = np.isin(np.arange(len(frame)), rows)
    y = pd.DataFrame(shares, columns=names)
    model = FewLabelClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(P[~given], model.probabilities_[~given], atol=6e-5)
    assert (written["species_predicted"] == truth)[~given].mean() > 0.8
    again = mercer.load("m.mercer").predict(X)
    assert (again == written["species_predicted"])[~given].mean() > 0.95
