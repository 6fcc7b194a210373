"""Write the exports of a session, such as tables, labels for other tools, the certificate, the model and the report."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from ..advice.checks import Checks
from ..bridges.cleanlab import for_cleanlab
from ..errors import InputError
from ..few_label.classifier import FewLabelClassifier
from ..few_label.regressor import FewLabelRegressor
from ..files import replacing
from ..inputs.tables import TableClassifier
from ..inputs.tables.formats import fill
from ..inputs.tables.formats.guard import protected
from ..io import write_model
from ..jobs.class_findings import findings
from ..jobs.classes import ClassAnswers, ClassFit, columns, decide
from ..jobs.corrections import added
from ..jobs.dataset import Dataset
from ..jobs.options import AnswerOptions
from ..report import render
from .annotators import agreement_of, pairs
from .answering import checks_of
from .ledger import CANNOT, named

if TYPE_CHECKING:
    from .answering import Answer
    from .journal import Journal
    from .ledger import Ledger
    from .number_answers import PredictedNumbers
    from .table import TableRows
    from .task import LearnerTask

UNSEEN = " (not looked at)"  # after the origin of a label that was given in bulk
ENDINGS = {
    "table": ".csv",
    "labels": ".csv",
    "label_studio": ".json",
    "cleanlab": ".npz",
    "certificate": ".json",
    "model": ".mercer",
    "report": ".html",
}


def file_name(stem: str, what: str, format: str = "csv") -> str:
    """The name of the file of an export."""
    if what not in ENDINGS:
        raise InputError(f"There is no export {what!r}. Accepted: {', '.join(ENDINGS)}.")
    if what == "table" and format not in ("csv", "parquet"):
        raise InputError(f"Invalid format={format!r}; expected csv or parquet.")
    word = "labeled" if what == "table" else what
    return f"{stem}_{word}{'.' + format if what == 'table' else ENDINGS[what]}"


def write_export(
    what: str,
    path: Path,
    job: Dataset,
    model: FewLabelClassifier | FewLabelRegressor,
    task: "LearnerTask",
    facts: dict,
    writers: dict[str, Callable[..., None]] | None = None,
) -> None:
    """Write a file, complete or not at all. `writers` are those of the kind of the labels, by default of classes.

    Parameters
    ----------
    job : the table. model : taught with class names. task : the labeling.
    facts : of the journal. They are `labels` {row: [via, time, rev]}, `unseen` (number of labels given in bulk),
        `accepted` {row: class name}, `notes` {row: text}, `order` (of the classes), `annotators` {row: name},
        `agreement`, `hash`, `rev`, `digest`, `abstain`, `sha256`, and `protect` (whether cells that
        a spreadsheet would run get an apostrophe).
    """
    writers = writers or WRITERS
    if what not in writers:
        raise InputError(f"There is no export {what!r} of numbers. Accepted: labels, {', '.join(writers)}.")
    with replacing(path, force=True) as (part,):
        writers[what](part, path, job, model, task, facts)


def facts_of(
    ledger: "Ledger", journal: "Journal", accepted: dict, times: dict, answer: "Answer | PredictedNumbers | None"
) -> dict:
    """Facts of the journal, as `write_export` takes them. `times` are those of the events."""
    labels = {row: given for row, given in ledger.labels.items() if given.value != CANNOT}
    return {
        "labels": {
            row: [given.via + (UNSEEN if ledger.unseen(row) else ""), times[given.rev], given.rev]
            for row, given in labels.items()
        },
        "unseen": sum(map(ledger.unseen, ledger.labels)),
        "notes": dict(ledger.notes),
        "accepted": {row: ledger.classes[c]["name"] for row, c in accepted.items()},
        "annotators": {row: ledger.annotator(row) for row in labels} if ledger.annotators else {},
        "agreement": agreement_of(ledger),
        "order": [one["name"] for one in ledger.classes],
        "hash": journal.hash,
        "rev": journal.rev,
        "digest": answer.digest if answer else None,
        "abstain": ledger.settings["abstain"],
        "sha256": ledger.sha256,
    }


def write_labels(path: Path, rows: "TableRows", ledger: "Ledger", times: dict, protect: bool = False) -> None:
    """Write the labels alone, which need no model. Each has its row, name, class, origin, time and annotator."""
    names = {one["id"]: one["name"] for one in ledger.classes}
    second = {row: [b, named(y, names)] for row, _, _, b, y in pairs(ledger)}
    people = bool(ledger.annotators)
    with replacing(path, force=True) as (part,), open(part, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)

        def write(cells: list) -> None:
            out.writerow(protected(cells) if protect else cells)

        head = ["row", "name", "label", "via", "when", "rev", "note"]
        write(head + (["annotator", "second_annotator", "second_label"] if people else []))
        for row in sorted({*ledger.labels, *ledger.notes}):
            given, facts = ledger.labels.get(row), ["", "", "", ""]
            if given is not None:
                via = given.via + (UNSEEN if ledger.unseen(row) else "")
                facts = [named(given.value, names), via, times[given.rev], given.rev]
            more = [ledger.annotator(row) or "", *second.get(row, ["", ""])] if people else []
            write([row + 1, rows.name(row), *facts, ledger.notes.get(row, ""), *more])
        for one in ledger.lost:  # of rows that are not in the table any more
            more = [one["annotator"] or "", "", ""] if people else []
            write(["", one["key"], named(one["value"], names), one["via"], "", "", "", *more])


def _table(part, path: str | Path, job, model: FewLabelClassifier, task, facts) -> None:
    fill_table(part, path, job, columns(_answers(job, model, facts)), facts)


def fill_table(part: Path, path: str | Path, job: Dataset, predictions: dict, facts: dict) -> None:
    """Write the table with columns of predictions, and how, when and by whom each label was given."""
    n = len(job.names)
    names = added(job.target, "via", "when", "rev")
    more: dict = {name: np.full(n, "", dtype=object) for name in names}
    for row, told in facts["labels"].items():
        for column, value in zip(more.values(), told):
            column[int(row)] = str(value)
    if facts["annotators"]:
        (by,) = added(job.target, "annotator")
        more[by] = [facts["annotators"].get(row) or "" for row in range(n)]
    job.table.protect |= facts["protect"]
    if facts["notes"]:
        (name,) = added(job.target, "note")
        more[name] = np.array([facts["notes"].get(row, "") for row in range(n)], dtype=object)
    fill(part, job.table, predictions | more, path)


def _answers(job: Dataset, model: FewLabelClassifier, facts: dict) -> ClassAnswers:
    """The predictions for all rows, see `jobs.classes.decide`."""
    codes, each = model.labels_.codes, np.eye(len(model.classes_))
    known = {int(row): each[codes[row]] for row in np.flatnonzero(codes >= 0)}
    places = {str(name): code for code, name in enumerate(model.classes_)}
    known |= {row: each[places[name]] for row, name in facts["accepted"].items() if name in places}
    options = AnswerOptions(abstain=facts["abstain"])
    return decide(job.target, _values(job, model), model.probabilities_, model.confidence_, known, options)


def _values(job, model: FewLabelClassifier) -> list:
    """The classes as the table contains them. They are numbers if the target column contains numbers."""
    return [job.labels.values.get(str(name), str(name)) for name in model.classes_]


def _label_studio(part, path: str | Path, job, model: FewLabelClassifier, task, facts) -> None:
    """Write tasks with annotations and predictions for a labeling config of choices."""
    codes, names = model.labels_.codes, [str(name) for name in model.classes_]
    given = {row: _choice(names[codes[row]]) for row in np.flatnonzero(codes >= 0).tolist()}
    scores = model.confidence_.tolist()
    guesses = [_choice(names[code]) | {"score": score} for code, score in zip(model.predicted_, scores)]
    write_tasks(part, job, given, guesses, facts)


def write_tasks(part: Path, job: Dataset, given: dict, guesses: list, facts: dict) -> None:
    """Write tasks of Label Studio with the results {row: result} of labeled rows, and predicted ones of the others."""
    frame, tasks = job.table.joined({}), []
    columns = [name for name in frame.columns if name != job.target]
    cells = {name: frame[name].astype(str).tolist() for name in columns}
    for row, guess in enumerate(guesses):
        one: dict = {"id": row + 1, "data": {name: cells[name][row] for name in columns} | {"row": row + 1}}
        if row in given:
            via, when, rev = facts["labels"][row]
            meta = {"via": via, "rev": rev, "annotator": facts["annotators"].get(row)}
            one["annotations"] = [{"result": [given[row]], "created_at": when, "meta": meta}]
        else:
            score = {"score": guess["score"]} if "score" in guess else {}
            one["predictions"] = [{"model_version": f"mercer {__version__}", **score, "result": [guess]}]
        tasks.append(one)
    part.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")


def _choice(name: str) -> dict:
    return {"from_name": "label", "to_name": "row", "type": "choices", "value": {"choices": [name]}}


def _cleanlab(part, path: str | Path, job, model: FewLabelClassifier, task, facts) -> None:
    """`labels` and `pred_probs` of the labeled rows, as `cleanlab.filter.find_label_issues` takes them.

    See `mercer.bridges.cleanlab`.
    """
    given = for_cleanlab(model)
    with open(part, "wb") as file:
        np.savez_compressed(
            file,
            **given,
            classes=np.array([str(name) for name in model.classes_]),
        )


def certificate(job: Dataset, model: FewLabelClassifier, task: "LearnerTask", facts: dict) -> dict:
    """The certificate of the accuracy of the predictions, with the checks that it is computed from."""
    what = "fraction of correct labels among the rows that no one looked at"
    return certified(what, checks_of(model, task, task.names), job, model, task, facts)


def certified(
    what: str,
    checks: Checks,
    job: Dataset,
    model: FewLabelClassifier | FewLabelRegressor,
    task: "LearnerTask",
    facts: dict,
) -> dict:
    """The certificate of random checks. `what` is the fraction that it is about."""
    rate = checks.rate
    return {
        "what": f"{what}, from random checks, which are rows drawn in a random order and labeled by a person who did "
        "not see the prediction",
        "table": job.data.name,
        "sha256": facts["sha256"],
        "target": job.target,
        "rows": len(job.names),
        "labels": len(model.labels_.labeled),
        "labels_not_looked_at": facts["unseen"],
        "goal": task.goal,
        "reached": checks.reached(task.goal),
        "accuracy": None if np.isnan(rate.value) else rate.value,
        "interval": [rate.low, rate.high],
        "interval_kind": "95% confidence sequence, valid however often you look (Beta(1/2, 1/2) mixture martingale)",
        "checks": checks.number,
        "right": checks.right,
        "cannot_tell": checks.cannot,
        "not_answered": checks.waiting,
        "agreement": facts["agreement"],
        "random_rows": [row for row, _, _ in task.checks],
        "model": f"mercer {__version__}",
        "answer_digest": facts["digest"],
        "journal_rev": facts["rev"],
        "journal_hash": facts["hash"],
    }


def _certificate(part, path: str | Path, job, model: FewLabelClassifier, task, facts) -> None:
    part.write_text(json.dumps(certificate(job, model, task, facts), indent=1), encoding="utf-8")


def _model(part, path: str | Path, job, model: FewLabelClassifier, task, facts) -> None:
    values = dict(zip(map(str, model.classes_), _values(job, model)))
    hints = None if job.hints is None else list(job.hints)
    write_model(TableClassifier(job.encoder, model, job.target, values, hints, job.marks), part)


def _report(part, path, job, model, task, facts):
    given = model.labels_.codes >= 0
    labels = np.full(len(given), None, dtype=object)
    labels[given] = [str(model.classes_[code]) for code in model.labels_.codes[given]]
    values = dict(zip(map(str, model.classes_), _values(job, model)))
    job = replace(job, labels=replace(job.labels, labels=labels, given=given, values=values))
    fitted = ClassFit(model, model.probabilities_, model.confidence_)
    options = AnswerOptions(abstain=facts["abstain"])
    found = findings(job, fitted, _answers(job, model, facts), options, path.name)
    found.palette = [facts["order"].index(str(name)) for name in model.classes_]  # as on the page
    part.write_text(render(found), encoding="utf-8")


WRITERS = {
    "table": _table,
    "label_studio": _label_studio,
    "cleanlab": _cleanlab,
    "certificate": _certificate,
    "model": _model,
    "report": _report,
}
