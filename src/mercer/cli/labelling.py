"""`mercer label`, `suggest`, `check`, `compare` and `predict`: the commands about labels."""

from pathlib import Path

import numpy as np

from ..advice.suggest import suggest as suggest_rows
from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..few_label.numbers import FAMILIES
from ..few_label.plan import METHODS
from ..inputs.tables import TableClassifier, TableRegressor
from ..io import load, write_model
from ..report import render
from . import numbers
from .findings import coverage, doubtful_labels, effect_of_more, findings
from .job import BLOCK, NEXT, added, answer, doubtful, fit, new_columns, note, open_job, rows_to_fit, set_aside
from .screen import UsageError, did_you_mean
from .sources import claim, default_out, keep, open_table, shown, write

NOT_TESTED = "Every class has one label only, so the accuracy cannot be estimated. Label a second row of each."


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
    force=False,
    seed=0,
    kind=None,
    **source,
):
    """Fill in the missing labels; write the table and, where asked, the report and the model."""
    methods = _methods(method)
    _check_abstain(abstain)
    out = Path(out or default_out(data, "labelled"))
    claim(screen, out, report, save, force=force)
    keep(data, report, save)
    with screen.stages() as stage:
        stage("reading the table", 0.05)
        job = open_job(screen, data, target, added, kind=_kind(kind), **source)
        if job.labels.given.all():
            raise InputError(
                f"Every row has a label in {target!r}, so there is nothing to fill in. Empty the cells to predict, or "
                "name the word they hold with --missing; `mercer check` looks for wrong labels."
            )
        stage(f"trying methods on {len(job.names)} rows and {job.labels.given.sum()} labels", 0.75 if report else 0.9)
        if job.labels.numeric:
            return numbers.label(screen, job, stage, methods, seconds, seed, abstain, out, report, save, force)
        fitted = fit(screen, job, methods, seconds, seed)
        decided = answer(job, fitted, abstain)
        if decided.left.any() and (decided.left | job.labels.given).all():
            most = fitted.confidence[~job.labels.given].max()
            note(screen, job, f"No row reaches --abstain {abstain:g}: the highest confidence is {most:.2f}.")
        others = {}
        if report:
            stage("making the report", 0.9)
            try:
                page = render(findings(screen, job, fitted, decided, abstain, out, save, seed))
                others[report] = lambda path: path.write_text(page, encoding="utf-8")
            except KeyboardInterrupt:
                if fitted.model.interrupted_:  # the second time: the user wants nothing
                    raise
                report = None
                screen.note("Interrupted: the report is left out. Ctrl-C again stops without writing.")
        if save:
            others[save] = lambda path: _save_model(job, fitted, path)
        stage("writing", 1.0)
        write(screen, job.table, decided.columns, out, force, others)
    screen.result |= _summary(job, fitted.model, decided) | {"report": report, "model": save}
    _tell(screen, fitted.model, [out, report, save])
    return fitted.model, decided


def suggest(screen, data, target, n, out, method, seconds, force, seed, kind=None, **source):
    """Rows to label next, with reasons; written with --out."""
    methods = _methods(method)
    claim(screen, out, force=force)
    with screen.stages() as stage:
        stage("reading the table", 0.05)
        job = open_job(screen, data, target, [NEXT] if out else [], need_labels=False, kind=_kind(kind), **source)
        if job.labels.given.all():
            raise InputError(
                f"Every row has a label in {target!r}, so there is nothing to suggest. "
                "`mercer check` looks for wrong labels."
            )
        stage(f"trying methods on {len(job.names)} rows and {job.labels.given.sum()} labels", 0.8)
        if job.labels.numeric:
            return numbers.suggest(screen, job, stage, methods, seconds, seed, n, source["id"], out, force)
        enough = len(job.labels.values) > 1
        fitted = fit(screen, job, methods, seconds, seed) if enough else None
        if fitted is None and job.labels.given.any():
            screen.note("The labels are all of one class, so the rows are chosen as if there were none.")
        stage("choosing rows", 0.95)
        looked_at = fitted.rows if fitted else rows_to_fit(job.labels, seed)
        n_free = int((~job.labels.given[looked_at]).sum())
        found = suggest_rows(fitted.model if fitted else job.X[looked_at], min(n, n_free), random_state=seed)
        chosen = looked_at[found.rows]
        guess = fitted.model.classes_[fitted.codes[chosen]].tolist() if fitted else [None] * len(chosen)
        sure = fitted.confidence[chosen].round(4).tolist() if fitted else [None] * len(chosen)
        rows = list(zip([job.names[i] for i in chosen], guess, sure, found.reasons))
        stage("writing", 1.0)
        if out:
            rank = np.full(len(job.names), "", dtype=object)
            rank[chosen] = np.arange(1, len(rows) + 1).astype(str)
            write(screen, job.table, {NEXT: rank}, out, force)
    keys = ("row", "guess", "confidence", "reason")
    screen.result["suggestions"] = [dict(zip(keys, row)) for row in rows]
    if fitted:
        screen.result["effect"] = effect_of_more(fitted.model)
    lines = [(row, guess, f"{sure:.2f}", why) if fitted else (row, "", "", why) for row, guess, sure, why in rows]
    screen.table([source["id"] or "row", "guess", "confidence", "why"], lines)
    if fitted:
        screen.say(screen.result["effect"])
    if not source["id"]:
        screen.say("Rows are counted from 1, without the header.")
    if out:
        screen.say(f"Written to {shown(out)}, column {NEXT}.")


def check(screen, data, target, n, out, method, seconds, force, seed, **source):
    """Given labels that the other labels contradict, worst first."""
    methods = _methods(method)
    claim(screen, out, force=force)
    with screen.stages() as stage:
        stage("reading the table", 0.05)
        job = open_job(screen, data, target, [doubtful(target)] if out else [], **source)
        stage(f"trying methods on {len(job.names)} rows and {job.labels.given.sum()} labels", 0.8)
        fitted = fit(screen, job, methods, seconds, seed)
        model = fitted.model
        if not model.labels_.testable.any():
            raise InputError(
                "Every class has one label only, so no label can be checked. Label a second row of a class."
            )
        stage("withholding each label in turn", 0.95)
        found = doubtful_labels(fitted)
        stage("writing", 1.0)
        if out:
            mark = np.full(len(job.names), "", dtype=object)
            for i, _, other, _ in found:
                mark[i] = other
            write(screen, job.table, {doubtful(target): mark}, out, force)
    rows = [(job.names[i], given, other, reason) for i, given, other, reason in found[:n]]
    keys = ("row", "given", "others_say", "reason")
    screen.result |= {
        "checked": int(model.labels_.testable.sum()),
        "doubtful": len(found),
        "labels": [dict(zip(keys, row)) for row in rows],
    }
    are = "is" if len(found) == 1 else "are"
    screen.say(f"{len(found)} of {int(model.labels_.testable.sum())} labels {are} contradicted by the others.")
    if rows:
        screen.table([source["id"] or "row", "given", "the others say", "why"], rows)
    if len(found) > len(rows):
        screen.say(f"The {len(rows)} most doubtful are shown; -n shows more.")
    if out:
        screen.say(f"Written to {shown(out)}, column {doubtful(target)}.")


def compare(screen, data, target, seconds, seed, **source):
    """The best candidate of every method, with its left-out accuracy."""
    with screen.stages() as stage:
        stage("reading the table", 0.05)
        job = open_job(screen, data, target, **source)
        stage(f"trying every method on {len(job.names)} rows and {job.labels.given.sum()} labels", 1.0)
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
    table = []
    for row in [average, *rows]:
        row["name"], row["what"] = METHODS.get(row["method"], ("Their average", "all of these, by their weights"))
        right = row["accuracy"] * tested if tested else float("nan")
        ends = accuracy_interval(right, tested) if tested else (0.0, 1.0)
        shares = (f"{row['accuracy']:.0%}", f"{ends[0]:.0%} to {ends[1]:.0%}") if tested else ("", "")
        key = "all" if row is average else row["method"]
        table.append((row["name"], row["what"], *shares, key))
    screen.result |= {"tested_labels": tested, "methods": [average, *rows], "interval": [low, high]}
    screen.table(["method", "what it is", "right", "95 % interval", "--method"], table)
    if tested:
        screen.say(f"Right: share of {tested} labels that came out right when withheld one at a time.")
    else:
        screen.say(NOT_TESTED)


def predict(screen, model, new, out, abstain, delimiter, encoding, force):
    """Label the rows of another table with a saved model."""
    _check_abstain(abstain)
    out = Path(out or default_out(new, "labelled"))
    if not Path(model).exists():
        raise UsageError(f"There is no file {model}. Check the name and the folder.")
    if Path(new).suffix == ".mercer" and Path(model).suffix != ".mercer":
        raise UsageError(f"The model comes before the table: mercer predict {new} {model}.")
    claim(screen, out, force=force)
    keep(model, out)
    with screen.stages() as stage:
        stage("loading the model", 0.1)
        fitted = load(model)
        if not isinstance(fitted, TableClassifier | TableRegressor):
            raise InputError(
                f"{Path(model).name} holds a {type(fitted).__name__}, not a model for tables. "
                "Give a file that `mercer label --save` wrote."
            )
        stage("reading the table", 0.2)
        table = open_table(screen, new, delimiter, encoding)
        numeric = isinstance(fitted, TableRegressor)
        set_aside(screen, table, fitted.target, added(fitted.target, numeric))
        stage(f"labelling {len(table)} rows", 0.9)
        if numeric:
            return numbers.predict(screen, fitted, table, stage, abstain, out, force)
        P = _in_blocks(screen, fitted, table.frame)
        for sentence in fitted.encoder.unread(table.frame):
            screen.note(sentence)
        codes, confidence = P.argmax(axis=1), P.max(axis=1)
        left = confidence < (abstain or 0.0)
        words = [fitted.values[str(fitted.classes_[code])] for code in codes]
        stage("writing", 1.0)
        columns = new_columns(fitted.target, words, confidence, left, np.zeros(len(words), dtype=bool))
        write(screen, table, columns, out, force)
    counts = dict(zip(*np.unique(np.array([str(w) for w in words])[~left], return_counts=True)))
    screen.result |= {
        "rows": len(table),
        "abstained": int(left.sum()),
        "classes": {k: int(v) for k, v in counts.items()},
    }
    screen.say(f"{len(table) - int(left.sum())} of {len(table)} rows labelled, {int(left.sum())} left unlabelled.")
    screen.say(f"Written to {shown(out)}.")


def _in_blocks(screen, model, frame):
    """Probabilities of all rows, some thousands at a time."""
    found = []
    for begin in range(0, len(frame), BLOCK):
        screen.step(f"labelling {len(frame)} rows", begin / len(frame))
        found.append(model.predict_proba(frame.iloc[begin : begin + BLOCK]))
    return np.concatenate(found)


def _methods(method):
    names = [name.strip().lower() for name in method.split(",")]
    alone = [name for name in names if name in ("auto", "all")]
    if alone and len(names) > 1:
        raise UsageError(f"--method {alone[0]} stands alone, without other names.")
    for name in names:
        if name not in ("auto", "all", *METHODS, *FAMILIES):
            raise UsageError(f"There is no method {name!r}. {did_you_mean(name, ['auto', 'all', *METHODS, *FAMILIES])}")
    return alone[0] if alone else names


def _kind(value):
    if value not in (None, "numbers", "classes"):
        raise UsageError(f"--as {value} is not accepted: give numbers or classes.")
    return value


def _check_abstain(value):
    if value is not None and not 0 <= value < 1:
        hint = f" For {value:g} % say {value / 100:g}." if 10 < value < 100 else ""
        raise UsageError(
            f"--abstain {value:g} is not accepted: give a confidence from 0 up to but not including 1.{hint}"
        )


def _save_model(job, fitted, path):
    write_model(TableClassifier(job.encoder, fitted.model, job.target, job.labels.values), path)


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
        f"{facts['predicted']} row{'' if facts['predicted'] == 1 else 's'} labelled from {facts['given']} labels; "
        f"{facts['abstained']} left unlabelled."
    )
    if facts["tested_labels"]:
        low, high = model.accuracy_interval_
        screen.say(
            f"Of {facts['tested_labels']} labels withheld one at a time, {model.left_out_accuracy_:.0%} came out right "
            f"(95 % interval {low:.0%} to {high:.0%})."
        )
    else:
        screen.say(NOT_TESTED)
    for name, file in zip(("table", "report", "model"), files):
        if file:
            screen.say(f"{name:7} {shown(file)}")
