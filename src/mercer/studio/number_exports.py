"""Write the exports of a session of numbers. Functions for both kinds are in `exports`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..few_label.regressor import FewLabelRegressor
from ..inputs.tables import NumberTarget, TableRegressor
from ..io import write_model
from ..jobs import numbers
from ..jobs.dataset import Dataset
from ..jobs.number_findings import findings
from ..jobs.options import DEFAULTS
from ..report import render
from .exports import certified, fill_table, write_tasks
from .number_answers import checks_of, errors_of

if TYPE_CHECKING:
    from .task import LearnerTask


def _answered(job: Dataset, model: FewLabelRegressor) -> tuple[Dataset, numbers.NumberPredictions]:
    """The table with the numbers of the model instead of those of its file, and the predictions for its rows."""
    given = model.labels_.values
    job = replace(job, labels=NumberTarget(given, ~np.isnan(given)))
    return job, numbers.answer(job, numbers.NumberFit(model, model.predicted_), DEFAULTS)


def _table(part: Path, path: Path, job: Dataset, model: FewLabelRegressor, task: "LearnerTask", facts: dict) -> None:
    fill_table(part, path, job, numbers.columns(_answered(job, model)[1]), facts)


def _label_studio(
    part: Path, path: Path, job: Dataset, model: FewLabelRegressor, task: "LearnerTask", facts: dict
) -> None:
    """Tasks for a labeling config with a control Number."""
    labels = model.labels_
    given = {row: _number(number) for row, number in zip(labels.labeled.tolist(), labels.given.tolist())}
    predicted = np.round(model.predicted_, numbers.decimals(model))
    write_tasks(part, job, given, [_number(number) for number in predicted.tolist()], facts)


def _number(number: float) -> dict:
    return {"from_name": "label", "to_name": "row", "type": "number", "value": {"number": number}}


def certificate(job: Dataset, model: FewLabelRegressor, task: "LearnerTask", facts: dict) -> dict:
    """The certificate of the fraction of predictions within the tolerance, with the checks it is computed from."""
    what = "fraction of predictions that differ from the true number by the tolerance at most, among the rows that "
    found = certified(f"{what}no one looked at", checks_of(model, task), job, model, task, facts)
    errors = errors_of(model, task)
    if task.tolerance is None:
        found |= {"accuracy": None, "interval": [0.0, 1.0], "reached": False}
    return found | {
        "tolerance": task.tolerance,
        "tolerance_changed_after_checks": task.retuned,
        "mean_absolute_error_of_checks": float(np.abs(errors).mean()) if len(errors) else None,
    }


def _certificate(
    part: Path, path: Path, job: Dataset, model: FewLabelRegressor, task: "LearnerTask", facts: dict
) -> None:
    part.write_text(json.dumps(certificate(job, model, task, facts), indent=1), encoding="utf-8")


def _model(part: Path, path: Path, job: Dataset, model: FewLabelRegressor, task: "LearnerTask", facts: dict) -> None:
    write_model(TableRegressor(job.encoder, model, job.target), part)


def _report(part: Path, path: Path, job: Dataset, model: FewLabelRegressor, task: "LearnerTask", facts: dict) -> None:
    job, answers = _answered(job, model)
    found = findings(job, numbers.NumberFit(model, model.predicted_), answers, DEFAULTS, path.name)
    part.write_text(render(found), encoding="utf-8")


WRITERS = {
    "table": _table,
    "label_studio": _label_studio,
    "certificate": _certificate,
    "model": _model,
    "report": _report,
}
