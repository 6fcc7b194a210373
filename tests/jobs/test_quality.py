"""How good the predictions are, from the labels that were held out."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.evidence.accuracy import Rate
from mercer.jobs.classes import fit
from mercer.jobs.quality import (
    answered,
    answered_sentence,
    contradicted_sentence,
    contradictions,
    coverage,
    doubtful_labels,
    per_class,
    random_held_out,
    unlike_labeled,
    wrong_labels_sentence,
)

from .conftest import QUICK


def model(codes, P, drawn=True):
    """A substitute for a classifier whose labels could all be held out."""
    rows = np.arange(len(codes))
    labels = SimpleNamespace(codes=np.array(codes), labeled=rows, testable=np.ones(len(codes), dtype=bool))
    drawn = np.broadcast_to(drawn, len(codes))
    return SimpleNamespace(labels_=labels, left_out_probabilities_=np.array(P), drawn_=drawn, classes_=["no", "yes"])


FOUR = [0, 1, 1, 0], [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.4, 0.6]]  # correct, correct, wrong, wrong


def test_only_labels_drawn_at_random_count_if_there_are_some():
    codes, P = random_held_out(model(*FOUR, drawn=[True, False, True, False]))
    assert codes.tolist() == [0, 1] and P.tolist() == [[0.9, 0.1], [0.7, 0.3]]
    assert len(random_held_out(model(*FOUR, drawn=False))[0]) == 4


def test_coverage_begins_with_the_most_confident_label():
    found = coverage(model(*FOUR))
    assert [(share, accuracy) for share, accuracy, _, _ in found] == [(0.25, 1), (0.5, 1), (0.75, 2 / 3), (1.0, 0.5)]
    assert all(low <= accuracy <= high for _, accuracy, low, high in found)
    assert coverage(model([], np.zeros((0, 2)))) == []


def test_each_class_has_its_held_out_labels_and_what_they_were_taken_for():
    no, yes = per_class(model(*FOUR))
    assert (no["name"], no["tested"], no["right"], no["taken"]) == ("no", 2, 1, [("yes", 1)])
    assert (yes["name"], yes["tested"], yes["right"], yes["taken"]) == ("yes", 2, 1, [("no", 1)])


def test_accuracy_of_the_answered_rows_is_corrected_by_their_confidence():
    none = np.zeros(3, dtype=bool)
    answers = SimpleNamespace(given=none, left=np.array([False, False, True]), confidence=np.array([0.8, 0.9, 0.1]))
    found = answered(model(*FOUR), answers, 0.75)  # two held-out labels reach it, both correct, 0.85 confident
    assert found.value == pytest.approx(1.0) and found.low < 1.0
    lower = answered(model(*FOUR), answers, 0.65)  # 2 of 3 are correct, 0.8 confident
    assert lower.value == pytest.approx(2 / 3 + 0.85 - 0.8)
    assert np.isnan(answered(model(*FOUR), answers, 0.95).value)


def test_sentences_on_answered_rows_and_on_contradicted_labels():
    assert answered_sentence(Rate(0.9, 0.8, 1.0), 0, 0.7) == ""
    assert answered_sentence(Rate(0.9, 0.8, 1.0), 1, 0.7).startswith("Of the row that was predicted, about 90%")
    unknown = answered_sentence(Rate(float("nan"), 0, 1), 3, 0.7)
    assert unknown.startswith(
        "How many of the 3 rows that were predicted are correct is not known, because no held-out"
    )
    assert wrong_labels_sentence(15, 20, 0.9) == "" and "If some labels are wrong" in wrong_labels_sentence(15, 20, 1.0)
    assert contradicted_sentence(9, 9, 0.0) == "Held out, all 9 labels are predicted correctly."
    assert "6 of 9 labels" in contradicted_sentence(
        6, 9, 2.0
    ) and "about 2 are estimated to be wrong" in contradicted_sentence(6, 9, 2.0)


def test_a_label_that_contradicts_the_others_is_named_with_a_reason(dataset):
    fitted = fit(dataset, QUICK)
    right, tested, wrong = contradictions(fitted.model)
    assert tested == 9 and 0 <= wrong <= tested - right
    found = doubtful_labels(dataset, fitted, above=0.0)
    assert all(dataset.labels.labels[row] == given != other for row, given, other, _ in found)
    assert all("chance that it is wrong; " in reason for *_, reason in found)
    assert unlike_labeled(dataset, fitted) == []  # every class has several labels
