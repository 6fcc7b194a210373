"""The findings of a report on numbers."""

import numpy as np

from mercer.advice.suggest import suggest
from mercer.events import Progress
from mercer.few_label.sizes import Sizes
from mercer.jobs import number_findings, numbers
from mercer.jobs.options import AnswerOptions, SearchOptions

QUICK = SearchOptions(["lssvm"])


def test_findings_of_numbers(prices):
    fitted = numbers.fit(prices, QUICK)
    np.testing.assert_array_equal(fitted.predicted, fitted.model.predicted_)
    answers = numbers.answer(prices, fitted, AnswerOptions())
    steps: list = []
    found = number_findings.findings(
        prices, fitted, answers, AnswerOptions(), "o.csv", on_event=steps.append, sizes=Sizes(points=30)
    )
    assert len(found.points.xy) == 30 and {type(step) for step in steps} == {Progress}
    assert all(not row["settings"].startswith("lssvm") for row in found.candidates)


def test_ranges_have_equally_many_rows_unless_numbers_are_repeated():
    codes, names = number_findings._ranges(np.arange(100.0))
    assert np.bincount(codes).tolist() == [20] * 5
    assert names[0].startswith("up to 19.8") and names[-1].startswith("above 79.2") and " to " in names[1]
    codes, names = number_findings._ranges(np.repeat([1.0, 2.0], 50))
    assert set(codes[:50]) != set(codes[50:]) and len(names) == len(np.unique(codes)) + 1 == 3


def test_suggested_rows_have_a_guess_and_a_reason_and_no_number_yet(prices):
    fitted = numbers.fit(prices, QUICK)
    answers = numbers.answer(prices, fitted, AnswerOptions())
    found = number_findings.findings(prices, fitted, answers, AnswerOptions(), "o.csv")
    assert len(found.suggestions) == 10
    for (name, *_), guess, confidence, reason in found.suggestions:
        row = prices.names.index(name)
        assert not prices.labels.given[row] and confidence is None and "; " in reason
        assert guess == f"{round(float(fitted.predicted[row]), numbers.decimals(fitted.model)):g}"
    told = suggest(fitted.model, 2, random_state=0)
    assert [one.split("; ")[0] for one in number_findings.reasons(prices, fitted, told)] == told.reasons


def test_the_plot_of_held_out_numbers_and_the_tiles_are_those_of_the_model(prices):
    fitted = numbers.fit(prices, QUICK)
    answers = numbers.answer(prices, fitted, AnswerOptions(coverage=0.8))
    found = number_findings.findings(prices, fitted, answers, AnswerOptions(), "o.csv")
    given, left_out, reach = found.withheld
    np.testing.assert_array_equal(given, prices.labels.numbers[prices.labels.given])
    np.testing.assert_array_equal(left_out, fitted.model.left_out_)
    np.testing.assert_array_equal(reach(left_out), fitted.model.reach(0.8, left_out))
    assert found.tiles[0][0] == f"{fitted.model.left_out_r2_:.2f}" and "80% of the numbers" in found.tiles[2][1]
    assert found.title == "60 numbers predicted from 30"
