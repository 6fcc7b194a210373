"""What leaves a session: tables, labels for other tools, the certificate, the model, the report."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..advice.checks import Checks
from ..bridges.cleanlab import for_cleanlab
from ..errors import InputError
from ..files import replacing
from ..inputs.tables import TableClassifier
from ..inputs.tables.formats import fill
from ..io import write_model
from ..jobs.answers import added
from ..jobs.findings import findings
from ..jobs.job import Answer, Fit, new_columns
from ..report import render
from .table import Quiet

ENDINGS = {
    "table": ".csv",
    "label_studio": ".json",
    "cleanlab": ".npz",
    "certificate": ".json",
    "model": ".mercer",
    "report": ".html",
}


def file_name(stem: str, what: str, format: str = "csv") -> str:
    """What an export is called."""
    if what not in ENDINGS:
        raise InputError(f"There is no export {what!r}. Accepted: {', '.join(ENDINGS)}.")
    if what == "table" and format not in ("csv", "parquet"):
        raise InputError(f"format={format!r} is not accepted: give csv or parquet.")
    word = "labelled" if what == "table" else what
    return f"{stem}_{word}{'.' + format if what == 'table' else ENDINGS[what]}"


def write_export(what: str, path: Path, job: Any, model: Any, task: Any, facts: dict) -> None:
    """Write a file, complete or not at all.

    Parameters
    ----------
    job : the table. model : taught with class names. task : the labelling.
    facts : what the journal knows: `labels` {row: [via, time, rev]}, `hash`, `rev`, `digest`, `abstain`, `sha256`.
    """
    with replacing(path, force=True) as (part,):
        WRITERS[what](part, path, job, model, task, facts)


def _table(part, path, job, model, task, facts):
    columns, _ = _columns(job, model, facts)
    fill(part, job.table, columns, path)


def _columns(job, model, facts):
    """(columns to add, rows left unlabelled)."""
    given = model.labels_.codes >= 0
    P = np.where(given[:, None], np.eye(len(model.classes_))[model.labels_.codes], model.probabilities_)
    values = _values(job, model)
    columns, left = new_columns(job.target, P, model.confidence_, values, given, facts["abstain"])
    more: dict = {name: np.full(len(given), "", dtype=object) for name in added(job.target, "via", "when", "rev")}
    for row, told in facts["labels"].items():
        for column, value in zip(more.values(), told):
            column[int(row)] = str(value)
    return columns | more, left


def _values(job, model):
    """The classes as the table has them: numbers where the target column holds numbers."""
    return [job.labels.values.get(str(name), str(name)) for name in model.classes_]


def _label_studio(part, path, job, model, task, facts):
    """Tasks with annotations and predictions, as Label Studio imports them for a labelling config of choices."""
    frame, tasks = job.table.joined({}), []
    given = model.labels_.codes >= 0
    names = [str(name) for name in model.classes_]
    columns = [name for name in frame.columns if name != job.target]
    cells = {name: frame[name].astype(str).tolist() for name in columns}
    for row in range(len(given)):
        one: dict = {"id": row + 1, "data": {name: cells[name][row] for name in columns} | {"row": row + 1}}
        if given[row]:
            via, when, rev = facts["labels"][row]
            result = _choice(names[model.labels_.codes[row]])
            one["annotations"] = [{"result": [result], "created_at": when, "meta": {"via": via, "rev": rev}}]
        else:
            score = float(model.confidence_[row])
            result = _choice(names[model.predicted_[row]]) | {"score": score}
            one["predictions"] = [{"model_version": f"mercer {__version__}", "score": score, "result": [result]}]
        tasks.append(one)
    part.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")


def _choice(name):
    return {"from_name": "label", "to_name": "row", "type": "choices", "value": {"choices": [name]}}


def _cleanlab(part, path, job, model, task, facts):
    """`labels` and `pred_probs` of the labelled rows, as `cleanlab.filter.find_label_issues` takes them.

    See `mercer.bridges.cleanlab`.
    """
    given = for_cleanlab(model)
    with open(part, "wb") as file:
        np.savez_compressed(
            file,
            **given,
            classes=np.array([str(name) for name in model.classes_]),
        )


def certificate(job: Any, model: Any, task: Any, facts: dict) -> dict:
    """What was found about the answers, and what it rests on."""
    checks = Checks.of(model, task.cannot)
    rate = checks.rate
    labels = model.labels_
    drawn = [int(row) for row in labels.labelled if model.drawn_[row]]
    return {
        "what": "share of answers that are right, from labels of rows drawn at random, each withheld from the model",
        "table": job.data.name,
        "sha256": facts["sha256"],
        "target": job.target,
        "rows": len(job.names),
        "labels": len(labels.labelled),
        "goal": task.goal,
        "reached": checks.reached(task.goal),
        "accuracy": None if np.isnan(rate.value) else rate.value,
        "interval": [rate.low, rate.high],
        "interval_kind": "95 %, valid at every moment (Beta(1/2, 1/2) mixture martingale)",
        "checks": checks.number,
        "right": checks.right,
        "cannot_tell": checks.cannot,
        "random_rows": drawn,
        "model": f"mercer {__version__}",
        "answer_digest": facts["digest"],
        "journal_rev": facts["rev"],
        "journal_hash": facts["hash"],
    }


def _certificate(part, path, job, model, task, facts):
    part.write_text(json.dumps(certificate(job, model, task, facts), indent=1), encoding="utf-8")


def _model(part, path, job, model, task, facts):
    values = dict(zip(map(str, model.classes_), _values(job, model)))
    write_model(TableClassifier(job.encoder, model, job.target, values), part)


def _report(part, path, job, model, task, facts):
    given = model.labels_.codes >= 0
    labels = np.full(len(given), None, dtype=object)
    labels[given] = [str(model.classes_[code]) for code in model.labels_.codes[given]]
    values = dict(zip(map(str, model.classes_), _values(job, model)))
    job = replace(job, labels=replace(job.labels, labels=labels, given=given, values=values))
    columns, left = _columns(job, model, facts)
    codes = np.where(given, model.labels_.codes, model.predicted_)
    fit = Fit(model, np.arange(len(given)), model.probabilities_, model.confidence_)
    answer = Answer(codes, model.confidence_, left, columns)
    page = render(findings(Quiet(), job, fit, answer, facts["abstain"], path.name, None, 0))
    part.write_text(page, encoding="utf-8")


WRITERS = {
    "table": _table,
    "label_studio": _label_studio,
    "cleanlab": _cleanlab,
    "certificate": _certificate,
    "model": _model,
    "report": _report,
}
