"""Sets of classes in a column."""

from types import SimpleNamespace

import numpy as np

from mercer.jobs.classes import fit
from mercer.jobs.sets import Sets

from .conftest import QUICK


def sets(inside, given=(), classes=("a", "b", "c"), by_class=False):
    inside, known = np.array(inside, dtype=bool), np.zeros(len(inside), dtype=bool)
    known[list(given)] = True
    model = SimpleNamespace(classes_=classes, sets_of=lambda P, coverage, by_class: inside)
    return Sets("kind", model, np.zeros(inside.shape), known, 0.9, by_class)


def test_a_cell_lists_the_classes_of_a_set_and_a_given_label_alone():
    found = sets([[1, 0, 1], [0, 0, 0], [1, 1, 1]], given=[2])
    assert found.columns(["x", "y", "z"], np.array([0, 0, 1]))["kind_set"].tolist() == ["x;z", "", "y"]
    assert (found.mean_size, found.single, found.empty) == (1.0, 0, 1)  # of the rows without a label
    assert "0 lists have one class. 1 list has none, because no class is likely enough there" in found.sentence


def test_the_mark_is_in_no_name_of_a_class():
    assert sets([[1, 0, 0]]).mark == ";"
    assert sets([[1, 0, 0]], classes=("a;b", "c|d", "e")).mark == "/"
    assert sets([[1, 0, 0]], classes=(";|", "/&", "+")).mark == "\t"


def test_sets_of_all_classes_are_called_so():
    assert "every list has all 3 classes" in sets([[1, 1, 1], [1, 1, 1]]).sentence
    assert "of the rows of each class" in sets([[1, 0, 0]], by_class=True).sentence


def test_sets_of_a_fit_are_those_of_its_model(dataset):
    fitted = fit(dataset, QUICK)
    found = Sets("species", fitted.model, fitted.P, dataset.labels.given, 0.9)
    np.testing.assert_array_equal(found.inside, fitted.model.sets_of(fitted.P, 0.9))
    cells = found.columns(list("abc"), fitted.codes)["species_set"]
    assert len(cells) == 50 and found.facts["coverage"] == 0.9 and found.facts["sentence"] == found.sentence
