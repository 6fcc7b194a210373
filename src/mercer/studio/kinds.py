"""The two kinds of labels in the web app, classes and numbers, with one set of functions for each."""

from collections.abc import Callable
from dataclasses import dataclass

from ..few_label.classifier import FewLabelClassifier
from ..few_label.regressor import FewLabelRegressor
from . import answering, exports, number_answers, number_exports, promise


@dataclass(frozen=True)
class LabelKind:
    """The functions that differ between classes and numbers.

    Attributes
    ----------
    model : () → a model with the parameters that Python and the command use by default.
    answer_of : (model, revision, tier) → the predictions for all rows.
    queue_of : (model, task, rows before there is a model, names, unusual rows) → the rows to ask for next.
    accuracy_of : (model, task, whether the model is the full one) → what the random checks show.
    suspicious_of : (model, task, names) → labels that may be wrong.
    why_of : (model, task, row, names, distinctive cells) → reasons for a prediction.
    promise_of : (model, task) → the predictions that can be accepted with a promise, or None.
    writers : {what: function that writes an export}.
    """

    model: Callable[[], FewLabelClassifier | FewLabelRegressor]
    answer_of: Callable[..., answering.Answer | number_answers.PredictedNumbers]
    queue_of: Callable[..., dict]
    accuracy_of: Callable[..., dict]
    suspicious_of: Callable[..., dict]
    why_of: Callable[..., dict]
    promise_of: Callable[..., dict | None]
    writers: dict[str, Callable[..., None]]


CLASSES = LabelKind(
    lambda: FewLabelClassifier(missing_label=[], random_state=0),
    answering.answer_of,
    answering.queue_of,
    answering.accuracy_of,
    answering.suspicious_of,
    answering.why_of,
    promise.promise_of,
    exports.WRITERS,
)
NUMBERS = LabelKind(
    lambda: FewLabelRegressor(random_state=0),
    number_answers.answer_of,
    number_answers.queue_of,
    number_answers.accuracy_of,
    number_answers.suspicious_of,
    number_answers.why_of,
    lambda model, task: None,
    number_exports.WRITERS,
)


def kind_of(numeric: bool) -> LabelKind:
    """The kind of the labels of a session."""
    return NUMBERS if numeric else CLASSES
