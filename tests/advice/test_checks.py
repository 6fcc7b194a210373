"""Random rows among those to label, and what they certify."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import FewLabelClassifier
from mercer.advice.checks import ENOUGH, Checks, next_rows, share_of_checks


@pytest.fixture(scope="module")
def model():
    X, t = load_iris(return_X_y=True)
    rows = np.arange(0, 150, 6)
    return FewLabelClassifier(random_state=0).prepare(X).taught(rows, t[rows], drawn=np.arange(len(rows)) % 2 == 0)


def test_only_labels_drawn_at_random_count(model):
    labels, P = model.labels_, model.left_out_probabilities_
    right = P.argmax(axis=1) == labels.codes[labels.labeled]
    found = Checks.of(model, cannot=3)
    assert (found.right, found.number, found.cannot) == (int(right[::2].sum()), 13 + 3, 3)


def test_the_only_label_of_a_class_is_a_check_that_came_out_wrong():
    X, t = load_iris(return_X_y=True)
    model = FewLabelClassifier(random_state=0).prepare(X).taught([0, 1, 2, 60], t[[0, 1, 2, 60]])
    assert Checks.of(model) == Checks(3, 4)


def test_one_row_in_four_is_random_whatever_the_model_says(model):
    order = np.random.default_rng(0).permutation(150)
    labeled = set(model.labels_.labeled.tolist())
    draw = [row for row in order if row not in labeled]
    found = next_rows(model, 12, draw, labeled, 0.25, 0, 0)
    assert [random for _, random, _ in found] == [i % 4 == 0 for i in range(12)]
    assert [row for row, random, _ in found if random] == draw[:3]
    assert len({row for row, _, _ in found}) == 12 and not {row for row, _, _ in found} & labeled
    late = next_rows(model, 4, draw, labeled, 0.25, 9, 20)  # more random rows than are due so far
    assert not any(random for _, random, _ in late)


def test_without_a_model_the_rows_that_stand_for_others_come_first():
    found = next_rows(None, 4, [8, 7, 6, 5, 4, 2, 1, 0], {9, 3}, 0.5, 0, 0, coverage=[3, 4, 5, 6])
    assert [(row, random) for row, random, _ in found] == [(8, True), (4, False), (7, True), (5, False)]


def test_when_only_checks_are_missing_most_rows_are_random():
    assert share_of_checks(Checks(ENOUGH, ENOUGH), 0.25, 0.9) == 1.0
    assert share_of_checks(Checks(ENOUGH - 1, ENOUGH - 1), 0.25, 0.9) == 0.25
    assert share_of_checks(Checks(5, 20), 0.25, 0.9) == 0.25
    assert share_of_checks(Checks(20, 20), 0.0, 0.9) == 0.0


def test_the_sentence():
    assert Checks(60, 60).reached(0.9) and "Certified" in Checks(60, 60).sentence(0.9)
    assert "13 more random checks" in Checks(40, 40).sentence(0.9)
    assert Checks(85, 100).sentence(0.9) == "85 of 100 random checks are correct. More labels are needed to reach 90%."
    assert "10 of 30 random checks are correct, so the accuracy is below 90%" in Checks(10, 30).sentence(0.9)
    assert "No random check has a class" in Checks(0, 3, 3).sentence(0.9)


def test_a_check_that_waits_for_its_answer_is_wrong_at_the_lower_end_and_right_at_the_upper():
    some, all_of = Checks(60, 60), Checks(60, 66, 0, 6)
    assert all_of.rate.low < some.rate.low and all_of.rate.value == 1.0 and all_of.rate.high == 1.0
    assert some.reached(0.9) and not all_of.reached(0.9)
    assert all_of.more(0.9) == 6 and "6 more random checks, 6 of them skipped before," in all_of.sentence(0.9)
