"""Classes and numbers have the same functions under the same names."""

from dataclasses import fields

import numpy as np

from mercer.jobs.kinds import CLASSES, NUMBERS, kind_of
from mercer.jobs.options import AnswerOptions

from .conftest import QUICK


def test_the_kind_follows_from_the_labels(dataset):
    assert kind_of(dataset.labels) is CLASSES
    model = CLASSES.table_model(dataset, CLASSES.fit(dataset, QUICK))
    assert kind_of(model) is CLASSES
    assert NUMBERS.fit is not CLASSES.fit


def test_a_saved_model_answers_its_own_rows_as_its_fit_does(dataset):
    fitted = CLASSES.fit(dataset, QUICK)
    answers = CLASSES.answer(dataset, fitted, AnswerOptions(coverage=0.9))
    again = CLASSES.answer_table(
        CLASSES.table_model(dataset, fitted),
        dataset.table.frame,
        AnswerOptions(coverage=0.9),
        {int(row): dataset.labels.labels[row] for row in np.flatnonzero(dataset.labels.given)},
    )
    one, other = CLASSES.columns(answers), CLASSES.columns(again)
    assert list(one) == list(other)
    for name in one:
        assert list(one[name]) == list(other[name]), name


def test_the_functions_of_a_kind_are_those_of_its_modules():
    from mercer.jobs import class_findings, classes, number_findings, numbers

    for kind, own, page in ((CLASSES, classes, class_findings), (NUMBERS, numbers, number_findings)):
        for field in fields(kind):
            module = page if field.name == "findings" else own
            assert getattr(kind, field.name) is getattr(module, field.name), field.name
