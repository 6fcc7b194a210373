"""`mercer suggest`, `check` and `compare`: which rows to label, which labels to doubt, which method is best."""

from shlex import quote

import numpy as np

from ..advice.suggest import suggest as suggest_rows
from ..advice.why import why
from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..few_label.numbers import FAMILIES
from ..few_label.plan import METHODS
from ..few_label.summary import NOT_TESTED, accuracy_sentence
from ..inputs.tables.formats import refuse_ending
from ..jobs import numbers
from ..jobs.answers import ROW, added, how_column
from ..jobs.findings import effect_of_more
from ..jobs.job import NEXT, doubtful, fit, open_jobs, rows_to_fit, written_before
from ..jobs.quality import contradicted_sentence, contradictions, doubtful_labels
from ..jobs.sources import claim, refuse_taken, shown, write
from ..jobs.usage import UsageError, did_you_mean
from .screen import LONGEST, one_line


def suggest(screen, data, target, n, audit, out, only, method, seconds, force, seed, **source):
    """Rows to label next, with reasons; marked in the table with --out, on their own with --only."""
    methods = methods_in(method)
    if not 0 <= audit <= 1:
        raise UsageError(f"--audit {audit:g} is not accepted: give a share from 0 to 1, such as 0.2.")
    claim(screen, out, only, force=force)
    if only:
        refuse_ending(only)
    with screen.stages() as stage:
        stage("reading the table", 0.05)
        (job,) = open_jobs(screen, data, [target], [NEXT] if out else [], need_labels=False, **source)
        if job.labels.given.all():
            raise InputError(
                f"Every row has a label in {target!r}, so there is nothing to suggest. "
                "`mercer check` looks for wrong labels."
            )
        if job.how is None:
            refuse_taken(job.table, added(target, "how"))
        stage(f"trying methods on {len(job.names)} rows and {job.labels.given.sum()} labels", 0.8)
        numeric = job.labels.numeric
        enough = numeric or len(job.labels.values) > 1
        fitted = (numbers.fit if numeric else fit)(screen, job, methods, seconds, seed) if enough else None
        if fitted is None and job.labels.given.any():
            screen.note("The labels are all of one class, so the rows are chosen as if there were none.")
        stage("choosing rows", 0.95)
        looked_at = fitted.rows if fitted else rows_to_fit(job.labels, seed)
        n_free = int((~job.labels.given[looked_at]).sum())
        model = fitted.model if fitted else job.X[looked_at]
        found = suggest_rows(model, min(n, n_free), audit=audit, random_state=seed)
        chosen, how = looked_at[found.rows], np.where(found.drawn, "random", "chosen").astype(object)
        guess, sure, reasons = _of_these(job, fitted, found)
        stage("writing", 1.0)
        if only:
            write(screen, _alone(job, chosen, how), {}, only, force)
        if out:
            rank = np.full(len(job.names), "", dtype=object)
            rank[chosen] = np.arange(1, len(chosen) + 1).astype(str)
            every = np.full(len(job.names), "", dtype=object) if job.how is None else job.how
            every[chosen] = how
            write(screen, job.table, {NEXT: rank} | how_column(job.table, target, every), out, force)
    cells, told = [job.telling.cells(i) for i in chosen], [job.telling.sentence(i) for i in chosen]
    rows = list(zip([job.names[i] for i in chosen], guess, sure, reasons, cells, how))
    keys = ("row", "guess", "confidence", "reason", "cells", "how")
    screen.result["suggestions"] = [dict(zip(keys, row)) for row in rows]
    if fitted and not numeric:
        screen.result["effect"] = effect_of_more(fitted.model)
    head = [source["id"] or "row", "what it is", "why"]
    screen.table(head, [(row, what, reason) for (row, _, _, reason, *_), what in zip(rows, told)])
    if fitted and not numeric:
        screen.say(screen.result["effect"])
    if not found.drawn.any() and not (job.labels.given & job.drawn).any():
        screen.say(
            "All labelled rows were chosen. With --audit 0.2 some are drawn at random: then accuracy can be estimated."
        )
    if not source["id"]:
        screen.say("Rows are counted from 1, without the header.")
    if out:
        screen.say(f"Written to {shown(out)}, column {NEXT}.")
    if only:
        screen.result["only"] = str(only)
        id = f" --id {quote(source['id'])}" if source["id"] else ""
        command = f"mercer label {quote(str(data))} --target {quote(target)}{id} --more {quote(str(only))}"
        screen.say(f"{one_line(f'Fill in {target!r} in {only}; then:')}\n{one_line(command, whole=2 * LONGEST)}")


def _of_these(job, fitted, found):
    """(answers so far, confidence in them, reasons) for suggested rows."""
    none = [None] * len(found.rows)
    if fitted is None:
        return none, none, found.reasons
    names, chosen = [job.names[i] for i in fitted.rows], fitted.rows[found.rows]
    if job.labels.numeric:
        guess = numbers.rounded(fitted.predicted[chosen], fitted.model).tolist()
        return guess, none, numbers.reasons(job, fitted, found)
    guess, sure = fitted.model.classes_[fitted.codes[chosen]].tolist(), fitted.confidence[chosen].round(4).tolist()
    reasons = [one.sentence(names) for one in why(fitted.model, found.rows)]
    return guess, sure, [f"drawn at random; {one}" if drawn else one for drawn, one in zip(found.drawn, reasons)]


def _refuse_numbers(job, what):
    if job.labels.numeric:
        raise InputError(
            f"{job.target!r} holds numbers to predict, and `mercer {what}` is for classes. `mercer label` shows how "
            "far withheld numbers are from their answers; --as class reads the numbers as names of classes."
        )


def _alone(job, rows, how):
    """The table of these rows, the labels to fill in first, then which row it is and how it came to be here."""
    hidden = {job.target, *written_before(job.table, job.target), *job.table.beside}
    frame = job.table.frame.iloc[rows]
    frame = frame[[job.target, *(name for name in frame.columns if name not in hidden)]].reset_index(drop=True)
    frame.insert(1, ROW, [int(row) + 1 for row in rows])
    frame.insert(2, *added(job.target, "how"), how)
    return job.table.like(frame)


def check(screen, data, target, n, above, out, method, seconds, force, seed, **source):
    """Given labels that are probably wrong, as far as the other labels tell, worst first."""
    methods = methods_in(method)
    if not 0 <= above < 1:
        raise UsageError(f"--above {above:g} is not accepted: give a probability from 0 up to but not including 1.")
    claim(screen, out, force=force)
    with screen.stages() as stage:
        stage("reading the table", 0.05)
        (job,) = open_jobs(screen, data, [target], [doubtful(target)] if out else [], **source)
        _refuse_numbers(job, "check")
        stage(f"trying methods on {len(job.names)} rows and {job.labels.given.sum()} labels", 0.8)
        fitted = fit(screen, job, methods, seconds, seed)
        model = fitted.model
        if not model.labels_.testable.any():
            raise InputError(
                "Every class has one label only, so no label can be checked. Label a second row of a class."
            )
        stage("withholding each label in turn", 0.95)
        found, (right, checked, wrong) = doubtful_labels(job, fitted, above), contradictions(model)
        stage("writing", 1.0)
        if out:
            mark = np.full(len(job.names), "", dtype=object)
            for i, _, other, _ in found:
                mark[i] = other
            write(screen, job.table, {doubtful(target): mark} | how_column(job.table, target, job.how), out, force)
    rows = [(job.names[i], given, other, reason, job.telling.cells(i)) for i, given, other, reason in found[:n]]
    keys = ("row", "given", "others_say", "reason", "cells")
    screen.result |= {
        "checked": checked,
        "contradicted": checked - right,
        "expected_wrong": wrong,
        "doubtful": len(found),
        "labels": [dict(zip(keys, row)) for row in rows],
    }
    are = "is" if len(found) == 1 else "are"
    screen.say(f"{len(found)} of {checked} labels {are} wrong with a probability above {above:g}.")
    screen.say(contradicted_sentence(right, checked, wrong))
    if rows:
        told = [job.telling.sentence(i) for i, *_ in found[:n]]
        lines = [(row, what, given, other, reason) for (row, given, other, reason, _), what in zip(rows, told)]
        screen.table([source["id"] or "row", "what it is", "given", "the others say", "why"], lines)
    if len(found) > len(rows):
        screen.say(f"The {len(rows)} most doubtful are shown; -n shows more.")
    if out:
        screen.say(f"Written to {shown(out)}, column {doubtful(target)}.")


def compare(screen, data, target, seconds, seed, **source):
    """The best candidate of every method, with its left-out accuracy."""
    with screen.stages() as stage:
        stage("reading the table", 0.05)
        (job,) = open_jobs(screen, data, [target], **source)
        _refuse_numbers(job, "compare")
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
        ends = (low, high) if row is average else accuracy_interval(right, tested)
        shares = (f"{row['accuracy']:.0%}", f"{ends[0]:.0%} to {ends[1]:.0%}") if tested else ("", "")
        key = "all" if row is average else row["method"]
        table.append((row["name"], row["what"], *shares, key))
    screen.result |= {"tested_labels": tested, "methods": [average, *rows], "interval": [low, high]}
    screen.table(["method", "what it is", "right", "95 % interval", "--method"], table)
    if tested:
        screen.say(
            f"Right: of a method, the share of {tested} labels that came out right when withheld one at a time; the "
            "best of many looks better than it is."
        )
        screen.say(f"Their average: {accuracy_sentence(model.estimate_)}")
        screen.say(model.majority_.sentence(low))
    else:
        screen.say(NOT_TESTED)


def methods_in(method):
    """The methods that --method names."""
    names = [name.strip().lower() for name in method.split(",")]
    alone = [name for name in names if name in ("auto", "all")]
    if alone and len(names) > 1:
        raise UsageError(f"--method {alone[0]} stands alone, without other names.")
    for name in names:
        known = list(dict.fromkeys(["auto", "all", *METHODS, *FAMILIES]))
        if name not in known:
            raise UsageError(f"There is no method {name!r}. {did_you_mean(name, known)}")
    return alone[0] if alone else names
