"""Fitting and predicting classes, without a console."""

import numpy as np

from mercer import FewLabelClassifier
from mercer.events import Fact, Note, Progress
from mercer.few_label.catalog import methods_of
from mercer.few_label.sizes import Sizes
from mercer.jobs import class_findings, classes
from mercer.jobs.options import AnswerOptions, SearchOptions
from mercer.jobs.quality import doubtful_labels
from mercer.report import render

from .conftest import QUICK

FEW = Sizes(block_rows=8, points=20)


def test_progress_names_the_method_and_a_fact_says_whether_it_was_interrupted(dataset):
    events: list = []
    fitted = classes.fit(dataset, QUICK, events.append)
    steps = [event for event in events if isinstance(event, Progress)]
    methods = {event.method for event in steps} - {None}
    assert methods == {"lssvm", "diffusion"}
    titles = {name: method.title for name, method in methods_of("classes").items()}
    assert {event.text for event in steps if event.method} == {f"trying {titles[name]}" for name in methods}
    assert [event.fraction for event in steps] == sorted(event.fraction for event in steps)
    assert Fact("interrupted", False) in events
    np.testing.assert_array_equal(fitted.P, fitted.model.probabilities_)
    np.testing.assert_array_equal(fitted.confidence, fitted.model.confidence_)


def test_given_labels_are_kept_and_rows_below_the_threshold_are_left(dataset):
    fitted = classes.fit(dataset, QUICK)
    answers = classes.answer(dataset, fitted, AnswerOptions(abstain=0.7, probabilities=True))
    given = dataset.labels.given
    new = classes.columns(answers, probabilities=True)
    names = ["species_predicted", "species_confidence", "species_source"]
    assert list(new) == names + [f"species_probability_{name}" for name in fitted.model.classes_]
    predicted, source = np.array(new[names[0]], dtype=object), new[names[2]]
    assert predicted[given].tolist() == dataset.labels.labels[given].tolist()
    assert (answers.confidence[given] == 1).all() and (source[given] == "given").all()
    np.testing.assert_array_equal(answers.left, ~given & (fitted.confidence < 0.7))
    assert answers.left.any() and all(word is None for word in predicted[answers.left])
    assert sum(answers.counts.values()) == (~answers.left).sum()


def test_a_threshold_that_no_row_reaches_is_a_note_for_user_and_report(dataset):
    fitted, events = classes.fit(dataset, QUICK), []
    answers = classes.answer(dataset, fitted, AnswerOptions(abstain=0.999), events.append)
    assert events == [Note(answers.notes[0])] and "No row reaches --abstain 0.999" in answers.notes[0]


def test_the_command_fits_as_python_does(dataset, monkeypatch):
    """For more rows than the core, the model samples, and the command adds no rule of its own."""
    monkeypatch.setattr("mercer.few_label.sizes.SIZES", Sizes(core_rows=40))
    y = dataset.labels.of(np.arange(50))
    python = FewLabelClassifier(["lssvm", "diffusion"], missing_label=[], random_state=0).fit(dataset.X, y)
    fitted = classes.fit(dataset, SearchOptions(["lssvm", "diffusion"]))
    np.testing.assert_array_equal(fitted.P, python.probabilities_)
    np.testing.assert_array_equal(fitted.confidence, python.confidence_)
    assert "A sample of 40 rows" in str(fitted.model.report_)
    answers = classes.answer(dataset, fitted, AnswerOptions())
    page = render(class_findings.findings(dataset, fitted, answers, AnswerOptions(), "out.csv", sizes=FEW))
    assert "20 of 50 rows are drawn: the given labels" in page
    assert all(dataset.labels.given[row] for row, *_ in doubtful_labels(dataset, fitted))
