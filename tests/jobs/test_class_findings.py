"""The findings of a report on classes."""

from dataclasses import replace

import numpy as np

from mercer.events import Progress
from mercer.few_label.sizes import Sizes
from mercer.jobs import class_findings, classes
from mercer.jobs.options import AnswerOptions

from .conftest import QUICK


def found_in(dataset, options=None, **more):
    options = options or AnswerOptions()
    fitted = classes.fit(dataset, QUICK)
    answers = classes.answer(dataset, fitted, options)
    return fitted, answers, class_findings.findings(dataset, fitted, answers, options, "out.csv", **more)


def test_findings_report_progress_and_show_all_notes(dataset):
    fitted = classes.fit(dataset, QUICK)
    options = AnswerOptions(abstain=0.999, coverage=0.9)
    answers = classes.answer(dataset, fitted, options)
    events: list = []
    found = class_findings.findings(dataset, fitted, answers, options, "out.csv", on_event=events.append)
    assert {type(event) for event in events} == {Progress}
    assert found.notes == [*dataset.notes, *fitted.notes, *answers.notes]
    assert found.n_abstained == 41 and answers.sets is not None
    assert all(not row["settings"].startswith(("lssvm", "diffusion")) for row in found.candidates)


def test_balance_and_tiles_count_every_row_once(dataset):
    _, answers, found = found_in(dataset, AnswerOptions(abstain=0.7))
    left = int(answers.left.sum())
    assert left and sum(given + predicted for _, given, predicted in found.balance) == 50 - left
    assert [given for _, given, _ in found.balance] == [3, 3, 3]
    tiles = {caption: value for value, caption in found.tiles}
    assert tiles["rows filled in"] == str(41 - left) and tiles["labels given"] == "9"
    assert tiles[f"row{'' if left == 1 else 's'} left unlabeled"] == str(left)
    assert tiles[next(one for one in tiles if one.startswith("accuracy of always"))] == "33%"


def test_the_map_has_the_given_labels_and_each_other_row_the_labeled_row_most_like_it(dataset):
    _, answers, found = found_in(dataset, sizes=Sizes(points=20))
    points = found.points
    assert len(points.codes) == 20 and points.given.sum() == 9 and found.n_rows == 50
    for own, alike in zip(points.given, points.cells["most like"]):
        assert (alike == "") == own
    rows = [dataset.names.index(name) for name in points.names]
    np.testing.assert_array_equal(points.codes, answers.codes[rows])


def test_rows_that_are_suggested_or_doubted_have_no_label(dataset):
    fitted, _, found = found_in(dataset)
    given = {dataset.names[row] for row in np.flatnonzero(dataset.labels.given)}
    assert found.suggestions and not given & {row[0] for row, *_ in found.suggestions}
    assert not given & {row[0] for row, *_ in found.doubtful}
    assert found.effect == class_findings.effect_of_more(fitted.model)
    assert found.effect.startswith("20 more labels are expected to change about ")


def test_without_a_held_out_label_there_is_no_accuracy(dataset):
    labels = dataset.labels.labels.copy()
    rows = [np.flatnonzero(labels == name)[0] for name in ("setosa", "versicolor", "virginica")]
    alone = np.isin(np.arange(50), rows)
    few = replace(dataset, labels=replace(dataset.labels, labels=np.where(alone, labels, None), given=alone))
    _, _, found = found_in(few)
    assert found.candidates == [] and found.recall == [] and found.majority is None and found.coverage == []
