"""`mercer label`, `suggest`, `check`, `compare` and `predict`: the commands about labels."""

from contextlib import ExitStack
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..io import load, save
from ..report import render
from ..selection.candidates import METHODS
from ..selection.suggest import suggest as suggest_rows
from ..solvers.choice import accuracy_interval
from ..tables import TableClassifier, replacing
from .findings import coverage, doubtful_labels, effect_of_more, findings
from .job import answer, fit, new_columns, open_job, rows_to_fit, without_added
from .screen import UsageError
from .sources import claim, default_out, open_table, write


def label(
    screen,
    data,
    target,
    out=None,
    report=None,
    save=None,
    abstain=None,
    method="auto",
    seconds=60.0,
    id=None,
    exclude=None,
    include=None,
    missing=None,
    delimiter=None,
    encoding=None,
    force=False,
    seed=0,
):
    """Fill in the missing labels; write the table and, where asked, the report and the model."""
    methods = _methods(method)
    _check_share(abstain, "--abstain")
    out = Path(out or default_out(data, "labelled"))
    claim(out, report, save, force=force)
    with screen.stages(5) as stage:
        stage("Reading the table")
        job = open_job(screen, data, target, id, exclude, include, missing, delimiter, encoding)
        if job.labels.given.all():
            raise InputError(
                f"Every row has a label in {target!r}, so there is nothing to fill in. Empty the cells to predict; "
                "`mercer check` looks for wrong labels."
            )
        stage(f"Trying methods on {len(job.names)} rows and {job.labels.given.sum()} labels")
        fitted = fit(screen, job, methods, seconds, seed)
        stage("Making the report" if report else "Collecting the answers")
        decided = answer(job, fitted, abstain)
        found = findings(job, fitted, decided, abstain, out, save, seed) if report else None
        stage("Writing")
        with ExitStack() as stack:  # all files are complete before the first is moved to its name
            if report:
                stack.enter_context(replacing(report, force)).write_text(render(found), encoding="utf-8")
            if save:
                _save_model(job, fitted, stack.enter_context(replacing(save, force)))
            write(screen, job.table, decided.columns, out, force)
    screen.result |= _summary(job, fitted.model, decided) | {"report": report, "model": save}
    _tell(screen, fitted.model, [out, report, save])
    return fitted.model, decided


def suggest(
    screen, data, target, n, out, method, seconds, id, exclude, include, missing, delimiter, encoding, force, seed
):
    """Rows to label next, with reasons; written with --out."""
    methods = _methods(method)
    claim(out, force=force)
    with screen.stages(3) as stage:
        stage("Reading the table")
        job = open_job(screen, data, target, id, exclude, include, missing, delimiter, encoding, need_labels=False)
        if job.labels.given.all():
            raise InputError(f"Every row has a label in {target!r}, so there is nothing to suggest.")
        stage("Choosing rows")
        enough = len(job.labels.values) > 1
        fitted = fit(screen, job, methods, seconds, seed) if enough else None
        if fitted is None and job.labels.given.any():
            screen.note("The labels are all of one class, so the rows are chosen as if there were none.")
        looked_at = fitted.rows if fitted else rows_to_fit(job.labels, seed)
        n_free = int((~job.labels.given[looked_at]).sum())
        found = suggest_rows(fitted.model if fitted else job.X[looked_at], min(n, n_free), random_state=seed)
        chosen = looked_at[found.rows]
        stage("Writing")
        guess = fitted.model.classes_[fitted.codes] if fitted else np.full(len(job.names), "")
        sure = [f"{share:.2f}" for share in fitted.confidence[chosen]] if fitted else [""] * len(chosen)
        rows = [(job.names[i], guess[i], share, why) for i, share, why in zip(chosen, sure, found.reasons)]
        if out:
            rank = np.full(len(job.names), "", dtype=object)
            rank[chosen] = np.arange(1, len(rows) + 1).astype(str)
            write(screen, job.table, {"label_next": rank}, out, force)
    keys = ("row", "guess", "confidence", "reason")
    screen.result["suggestions"] = [dict(zip(keys, row)) for row in rows]
    if fitted:
        screen.result["effect"] = effect_of_more(fitted.model)
    screen.table([id or "row", "guess", "confidence", "why"], rows)
    if fitted:
        screen.say(screen.result["effect"])
    if not id:
        screen.say("Rows are counted from 1, without the header.")
    if out:
        screen.say(f"Written to {out}, column label_next.")


def check(
    screen, data, target, n, out, method, seconds, id, exclude, include, missing, delimiter, encoding, force, seed
):
    """Given labels that the other labels contradict, worst first."""
    methods = _methods(method)
    claim(out, force=force)
    with screen.stages(3) as stage:
        stage("Reading the table")
        job = open_job(screen, data, target, id, exclude, include, missing, delimiter, encoding)
        stage("Withholding each label in turn")
        fitted = fit(screen, job, methods, seconds, seed)
        model = fitted.model
        if not model.labels_.testable.any():
            raise InputError(
                "Every class has one label only, so no label can be checked. Label a second row of a class."
            )
        found = doubtful_labels(fitted)
        stage("Writing")
        if out:
            mark = np.full(len(job.names), "", dtype=object)
            for i, _, other, _ in found:
                mark[i] = other
            write(screen, job.table, {f"{target}_doubtful": mark}, out, force)
    rows = [(job.names[i], given, other, reason) for i, given, other, reason in found[:n]]
    keys = ("row", "given", "others_say", "reason")
    screen.result |= {
        "checked": int(model.labels_.testable.sum()),
        "doubtful": len(found),
        "labels": [dict(zip(keys, row)) for row in rows],
    }
    screen.say(f"{len(found)} of {int(model.labels_.testable.sum())} labels are contradicted by the others.")
    if rows:
        screen.table([id or "row", "given", "the others say", "why"], rows)
    if len(found) > len(rows):
        screen.say(f"The {len(rows)} most doubtful are shown; -n shows more.")
    if out:
        screen.say(f"Written to {out}, column {target}_doubtful.")


def compare(screen, data, target, seconds, id, exclude, include, missing, delimiter, encoding, seed):
    """The best candidate of every method, with its left-out accuracy."""
    with screen.stages(2) as stage:
        stage("Reading the table")
        job = open_job(screen, data, target, id, exclude, include, missing, delimiter, encoding)
        stage("Trying every method")
        model = fit(screen, job, "all", seconds, seed).model
    tested = int(model.labels_.testable.sum())
    best: dict = {}
    for row in model.report_.candidates:
        if row["method"] not in best or row["loss"] < best[row["method"]]["loss"]:
            best[row["method"]] = row
    rows = sorted(best.values(), key=lambda row: row["loss"])
    low, high = model.accuracy_interval_
    average = {"method": "average", "candidate": "all candidates, by their weights", "loss": float("nan")}
    average |= {"accuracy": model.left_out_accuracy_, "seconds": sum(r["seconds"] for r in model.report_.candidates)}
    screen.result |= {"tested_labels": tested, "methods": [average, *rows], "interval": [low, high]}
    table = []
    for row in [average, *rows]:
        right = row["accuracy"] * tested if tested else float("nan")
        ends = accuracy_interval(right, tested) if tested else (0.0, 1.0)
        name = METHODS.get(row["method"], "what `mercer label` uses")
        table.append(
            (row["method"], name, f"{row['accuracy']:.0%}", f"{ends[0]:.0%} to {ends[1]:.0%}", row["candidate"])
        )
    screen.table(["method", "what it is", "right", "95 % interval", "best candidate"], table)
    screen.say(f"Right: share of {tested} labels that came out right when withheld one at a time.")


def predict(screen, model, new, out, abstain, delimiter, encoding, force):
    """Label the rows of another table with a saved model."""
    _check_share(abstain, "--abstain")
    out = Path(out or default_out(new, "labelled"))
    if not Path(model).exists():
        raise UsageError(f"There is no file {model}. Check the name and the folder.")
    claim(out, force=force)
    with screen.stages(3) as stage:
        stage("Loading the model")
        fitted = load(model)
        if not isinstance(fitted, TableClassifier):
            raise InputError(
                f"{Path(model).name} holds a {type(fitted).__name__}, not a model for tables. "
                "Give a file that `mercer label --save` wrote."
            )
        table = open_table(screen, new, delimiter, encoding)
        without_added(screen, table, fitted.target)
        stage(f"Labelling {len(table)} rows")
        P = fitted.predict_proba(table.frame)
        codes, confidence = P.argmax(axis=1), P.max(axis=1)
        left = confidence < (abstain or 0.0)
        words = [fitted.values[str(fitted.classes_[code])] for code in codes]
        stage("Writing")
        columns = new_columns(fitted.target, words, confidence, left, np.zeros(len(words), dtype=bool))
        write(screen, table, columns, out, force)
    counts = dict(zip(*np.unique(np.array([str(w) for w in words])[~left], return_counts=True)))
    screen.result |= {
        "rows": len(table),
        "abstained": int(left.sum()),
        "classes": {k: int(v) for k, v in counts.items()},
    }
    screen.say(f"{len(table) - int(left.sum())} of {len(table)} rows labelled, {int(left.sum())} left unlabelled.")
    screen.say(f"Written to {out}.")


def _methods(method):
    names = [name.strip() for name in method.split(",")]
    if names in (["auto"], ["all"]):
        return names[0]
    strange = [name for name in names if name not in METHODS]
    if strange:
        raise UsageError(f"There is no method {strange[0]!r}. Accepted: auto, all, {', '.join(METHODS)}.")
    return names


def _check_share(value, name):
    if value is not None and not 0 <= value < 1:
        raise UsageError(f"{name} {value} is not accepted: give a confidence from 0 up to but not including 1.")


def _save_model(job, fitted, path):
    save(TableClassifier(job.features, fitted.compact(), job.target, job.labels.values), path)


def _summary(job, model, decided):
    given = job.labels.given
    low, high = model.accuracy_interval_
    return {
        "rows": len(job.names),
        "given": int(given.sum()),
        "predicted": int((~given & ~decided.left).sum()),
        "abstained": int(decided.left.sum()),
        "left_out_accuracy": model.left_out_accuracy_,
        "left_out_interval": [low, high],
        "tested_labels": int(model.labels_.testable.sum()),
        "classes": {str(c): int(np.sum((decided.codes == k) & ~decided.left)) for k, c in enumerate(model.classes_)},
        "coverage": coverage(model),
        "reasons": model.report_.sentences,
    }


def _tell(screen, model, files):
    facts = screen.result
    screen.say(
        f"{facts['predicted']} rows labelled from {facts['given']} labels; {facts['abstained']} left unlabelled."
    )
    if facts["tested_labels"]:
        low, high = model.accuracy_interval_
        screen.say(
            f"Of {facts['tested_labels']} labels withheld one at a time, {model.left_out_accuracy_:.0%} came out right "
            f"(95 % interval {low:.0%} to {high:.0%})."
        )
    else:
        screen.say("Every class has one label only, so the accuracy cannot be estimated. Label a second row of each.")
    for name, file in zip(("table", "report", "model"), files):
        if file:
            screen.say(f"{name:7} {file}")
