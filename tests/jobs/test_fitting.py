"""A few-label model is fitted to a dataset, and a saved one predicts in blocks."""

import numpy as np

from mercer import FewLabelClassifier
from mercer.events import Fact, Note, Progress
from mercer.few_label.sizes import Sizes
from mercer.jobs.fitting import fit_model, in_blocks
from mercer.jobs.options import ReadOptions
from mercer.jobs.tables import open_table


def test_blocks_are_put_together_and_told(path):
    frame, events = open_table(path, ReadOptions()).frame, []
    ask = lambda part: (part.index.to_numpy(), np.ones(len(part)))  # noqa: E731
    answers, trust = in_blocks(ask, frame, events.append, Sizes(block_rows=20))
    assert answers.tolist() == list(range(50)) and trust.sum() == 50
    assert [event.fraction for event in events] == [0, 0.4, 0.8]


def test_progress_has_the_title_of_the_method_and_spaces_beyond_the_budget_are_noted(dataset):
    events: list = []
    model = FewLabelClassifier(["lssvm"], time_budget=1e-3, missing_label=[], random_state=0)
    notes = fit_model(dataset, model, events.append)
    assert "trying Least-squares SVM" in [event.text for event in events if isinstance(event, Progress)]
    assert model.skipped_ and notes == [
        f"Not fitted within the time budget (--seconds 0.001): {', '.join(model.skipped_)}."
    ]
    assert events[-2:] == [Fact("interrupted", False), Note(notes[0])]


def test_a_fitted_model_keeps_its_library_and_takes_the_labels_of_the_dataset(dataset):
    fresh = FewLabelClassifier(["lssvm"], missing_label=[], random_state=0)
    assert fit_model(dataset, fresh, lambda event: None) == []
    other = FewLabelClassifier(["lssvm"], missing_label=[], random_state=0)
    other.fit(dataset.X, np.where(np.arange(50) % 10 == 0, "a", np.where(np.arange(50) % 10 == 5, "b", None)))
    library = other.library_
    fit_model(dataset, other, lambda event: None)
    assert other.library_ is library
    assert other.transduction_.tolist() == fresh.transduction_.tolist()
