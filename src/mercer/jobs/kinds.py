"""The functions for the two kinds of labels, classes and numbers, under the same names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..inputs.tables import NumberTarget, TableClassifier, TableRegressor, Target
from ..report import Findings
from ..types import Facts
from . import class_findings, classes, number_findings, numbers


@dataclass(frozen=True)
class TargetKind:
    """The functions that differ between classes and numbers.

    Attributes
    ----------
    fit : (dataset, search, on_event, known fit of other labels) → fit.
    answer : (dataset, fit, options, on_event) → predictions.
    answer_table : (saved model, frame, options, labels, on_event, sizes) → predictions.
    columns : (predictions, probabilities) → columns to write. table_model : (dataset, fit) → model to save.
    facts : (dataset, fit, predictions) → what --json prints. sentences : (facts) → what the command prints.
    findings : (dataset, fit, predictions, options, …) → `Findings` of the report.
    """

    fit: Callable[..., Any]  # each kind has its own types of fits and predictions
    answer: Callable[..., Any]
    answer_table: Callable[..., Any]
    columns: Callable[..., Facts]
    table_model: Callable[..., TableClassifier | TableRegressor]
    facts: Callable[..., Facts]
    sentences: Callable[[Facts], list[str]]
    findings: Callable[..., Findings]


CLASSES = TargetKind(
    classes.fit,
    classes.answer,
    classes.answer_table,
    classes.columns,
    classes.table_model,
    classes.facts,
    classes.sentences,
    class_findings.findings,
)
NUMBERS = TargetKind(
    numbers.fit,
    numbers.answer,
    numbers.answer_table,
    numbers.columns,
    numbers.table_model,
    numbers.facts,
    numbers.sentences,
    number_findings.findings,
)


def kind_of(labels: Target | NumberTarget | TableClassifier | TableRegressor) -> TargetKind:
    """Return the kind of the labels of a dataset or of a model for tables, by their attribute `numeric`."""
    return NUMBERS if labels.numeric else CLASSES
