"""Fitting and predicting numbers, without a console."""

import numpy as np
import pytest

from mercer.events import Note
from mercer.jobs import numbers
from mercer.jobs.options import AnswerOptions, SearchOptions

QUICK = SearchOptions(["lssvm"])


@pytest.fixture
def dataset(prices):
    return prices


def test_given_numbers_are_kept_and_the_others_have_an_interval(dataset):
    fitted = numbers.fit(dataset, QUICK)
    answers = numbers.answer(dataset, fitted, AnswerOptions(coverage=0.5))
    new, given = numbers.columns(answers), dataset.labels.given
    assert list(new) == ["price_predicted", "price_low", "price_high", "price_source"]
    for name in ("price_predicted", "price_low", "price_high"):
        np.testing.assert_array_equal(new[name][given], dataset.labels.numbers[given])
    np.testing.assert_allclose((new["price_high"] - new["price_low"])[~given], 2 * answers.reach, atol=1e-3)
    assert answers.reach == fitted.model.reach(0.5)
    facts = numbers.facts(dataset, fitted, answers)
    assert numbers.sentences(facts)[0] == "60 rows predicted from 30 numbers."


def test_options_for_classes_are_noted(dataset):
    events: list = []
    numbers.answer(dataset, numbers.fit(dataset, QUICK), AnswerOptions(probabilities=True), events.append)
    assert events == [
        Note("--probabilities is for classes, and 'price' contains numbers, which have an interval instead.")
    ]
