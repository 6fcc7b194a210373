"""`mercer suggest`, `check` and `compare`: which rows to label, which labels to doubt, which method is best."""

from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from ..advice.suggest import suggest as suggest_rows
from ..advice.suspicious import suspicious
from ..advice.why import why
from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..few_label.catalog import methods_of
from ..few_label.sizes import SIZES
from ..few_label.summary import NOT_TESTED, accuracy_sentence, majority_sentence
from ..homes.blocks import draw
from ..inputs.tables.formats import refuse_ending
from ..jobs import classes
from ..jobs.class_findings import effect_of_more
from ..jobs.corrections import NEXT, ROW, added, doubtful, how_column, written_before
from ..jobs.dataset import read
from ..jobs.kinds import kind_of
from ..jobs.number_findings import reasons as number_reasons
from ..jobs.numbers import decimals
from ..jobs.options import ReadOptions, SearchOptions, methods_named
from ..jobs.quality import contradicted_sentence, contradictions, doubtful_labels
from ..jobs.tables import refuse_taken
from ..jobs.usage import UsageError, did_you_mean
from .console import to_copy
from .outputs import claim, shown, write


def suggest(
    console, data, target, n: int, find, audit, out: Path, only, method, seconds, force: bool, seed: int, **source: Any
) -> None:
    """Show the rows to label next, with reasons. Mark them in the table (--out), or write only them (--only)."""
    search, options = SearchOptions(methods_named(method), seconds, seed), ReadOptions(**source)
    if not 0 <= audit <= 1:
        raise UsageError(f"--audit {audit:g} is not accepted. Give a fraction from 0 to 1, such as 0.2.")
    claim(console, out, only, force=force)
    if only:
        refuse_ending(only)
    with console.stages() as stage:
        stage("reading the table", 0.05)
        (dataset,) = read(data, [target], options, writes=[NEXT] if out else [], need_labels=False, on_event=console)
        if dataset.labels.given.all():
            raise InputError(
                f"Every row has a label in {target!r}, so there is nothing to suggest. "
                "`mercer check` looks for wrong labels."
            )
        if dataset.how is None:
            refuse_taken(dataset.table, added(target, "how"))
        stage(f"trying methods on {len(dataset.names)} rows and {dataset.labels.given.sum()} labels", 0.8)
        numeric = dataset.labels.numeric
        enough = numeric or len(dataset.labels.values) > 1
        fitted = kind_of(dataset.labels).fit(dataset, search, console) if enough else None
        if fitted is None and dataset.labels.given.any():
            console.note("The labels are all of one class, so the rows are chosen as if there were none.")
        _check_find(find, fitted, target)
        stage("choosing rows", 0.95)
        rows = draw(len(dataset.names), SIZES.advice_rows, seed) if fitted is None else np.arange(len(dataset.names))
        n_free = int((~dataset.labels.given[rows]).sum())
        model = fitted.model if fitted else dataset.X[rows]
        found = suggest_rows(model, min(n, n_free), audit=audit, find=find, random_state=seed)
        chosen, how = rows[found.rows], np.where(found.drawn, "random", "chosen").astype(object)
        guess, sure, reasons = _of_these(dataset, fitted, found)
        stage("writing", 1.0)
        if only:
            write(console, alone(dataset, chosen, how), {}, only, force)
        if out:
            rank = np.full(len(dataset.names), "", dtype=object)
            rank[chosen] = np.arange(1, len(chosen) + 1).astype(str)
            every = np.full(len(dataset.names), "", dtype=object) if dataset.how is None else dataset.how
            every[chosen] = how
            write(console, dataset.table, {NEXT: rank} | how_column(dataset.table, target, every), out, force)
    cells, words = [dataset.distinctive.cells(i) for i in chosen], [dataset.distinctive.sentence(i) for i in chosen]
    listed = list(zip([dataset.names[i] for i in chosen], guess, sure, reasons, cells, how))
    keys = ("row", "guess", "confidence", "reason", "cells", "how")
    console.result["suggestions"] = [dict(zip(keys, row)) for row in listed]
    if fitted and not numeric:
        console.result["effect"] = effect_of_more(fitted.model)
    head = [options.id or "row", "what it is", "why"]
    console.table(head, [(row, what, reason) for (row, _, _, reason, *_), what in zip(listed, words)])
    if fitted and not numeric:
        console.say(console.result["effect"])
    if not found.drawn.any() and not (dataset.labels.given & dataset.drawn).any():
        console.say(
            "All labeled rows were chosen. --audit 0.2 draws some rows at random, so that accuracy can be estimated."
        )
    if not options.id:
        console.say("Rows are counted from 1, without the header.")
    if out:
        console.say(f"Written to {shown(out)}, column {NEXT}.")
    if only:
        console.result["only"] = str(only)
        id = f" --id {quote(options.id)}" if options.id else ""
        command = f"mercer label {quote(str(data))} --target {quote(target)}{id} --more {quote(str(only))}"
        console.say(to_copy(f"Fill in {target!r} in {only}, then run:", command))


def _check_find(find, fitted, target) -> None:
    """Refuse a class that has no label, with the classes that have one."""
    if find is None:
        return
    if fitted is None or not hasattr(fitted.model, "classes_"):
        raise UsageError(f"--find needs a column of classes, and labels of two of them in {target!r}.")
    names = [str(name) for name in fitted.model.classes_]
    if find not in names:
        raise UsageError(f"There is no class {find!r} among the labels. {did_you_mean(find, names)}")


def _of_these(dataset, fitted, found) -> tuple:
    """Return (predictions so far, their confidence, reasons) for suggested rows."""
    none = [None] * len(found.rows)
    if fitted is None:
        return none, none, found.reasons
    chosen = found.rows
    if dataset.labels.numeric:
        guess = np.round(fitted.predicted[chosen], decimals(fitted.model)).tolist()
        return guess, none, number_reasons(dataset, fitted, found)
    guess, sure = fitted.model.classes_[fitted.codes[chosen]].tolist(), fitted.confidence[chosen].round(4).tolist()
    reasons = [one.sentence(dataset.names) for one in why(fitted.model, found.rows)]
    return guess, sure, [f"drawn at random; {one}" if drawn else one for drawn, one in zip(found.drawn, reasons)]


def _refuse_numbers(dataset, what) -> None:
    if dataset.labels.numeric:
        raise InputError(
            f"{dataset.target!r} contains numbers to predict, and `mercer {what}` is for classes. `mercer label` shows "
            "how far held-out numbers are from their predictions. --as class reads the numbers as names of classes."
        )


def alone(dataset, rows, how):
    """Return the table of these rows. First are the labels to fill in, the row number and how it was chosen."""
    hidden = {dataset.target, *written_before(dataset.table, dataset.target), *dataset.table.beside}
    frame = dataset.table.frame.iloc[rows]
    frame = frame[[dataset.target, *(name for name in frame.columns if name not in hidden)]].reset_index(drop=True)
    frame.insert(1, ROW, [int(row) + 1 for row in rows])
    frame.insert(2, *added(dataset.target, "how"), how)
    return dataset.table.like(frame)


def check(
    console, data, target, n: int, above, out: Path, method, seconds, force: bool, seed: int, **source: Any
) -> None:
    """Show the given labels that are probably wrong, judging from the other labels, the worst first."""
    search, options = SearchOptions(methods_named(method), seconds, seed), ReadOptions(**source)
    if not 0 <= above < 1:
        raise UsageError(f"--above {above:g} is not accepted. Give a probability from 0 up to but not including 1.")
    claim(console, out, force=force)
    with console.stages() as stage:
        stage("reading the table", 0.05)
        (dataset,) = read(data, [target], options, writes=[doubtful(target)] if out else [], on_event=console)
        _refuse_numbers(dataset, "check")
        stage(f"trying methods on {len(dataset.names)} rows and {dataset.labels.given.sum()} labels", 0.8)
        fitted = classes.fit(dataset, search, console)
        model = fitted.model
        if not model.labels_.testable.any():
            raise InputError(
                "Every class has one label only, so no label can be checked. Label a second row of a class."
            )
        stage("holding out each label in turn", 0.95)
        found, (right, checked, wrong) = doubtful_labels(dataset, fitted, above), contradictions(model)
        stage("writing", 1.0)
        if out:
            mark = np.full(len(dataset.names), "", dtype=object)
            for i, _, other, _ in found:
                mark[i] = other
            write(
                console,
                dataset.table,
                {doubtful(target): mark} | how_column(dataset.table, target, dataset.how),
                out,
                force,
            )
    rows = [
        (dataset.names[i], given, other, reason, dataset.distinctive.cells(i)) for i, given, other, reason in found[:n]
    ]
    keys = ("row", "given", "others_say", "reason", "cells")
    sure = suspicious(model, above=above).probability.tolist()  # in the order of `found`
    console.result |= {
        "checked": checked,
        "contradicted": checked - right,
        "expected_wrong": wrong,
        "doubtful": len(found),
        "labels": [dict(zip(keys, row)) | {"probability_wrong": p} for row, p in zip(rows, sure)],
    }
    are = "is" if len(found) == 1 else "are"
    console.say(f"{len(found)} of {checked} labels {are} wrong with a probability above {above:g}.")
    alone = int(dataset.labels.given.sum()) - checked
    if alone:
        what = (
            "1 other label is the only one of its class" if alone == 1 else f"{alone} other labels are alone in a class"
        )
        console.say(f"{what} and cannot be checked.")
    console.say(
        f"{contradicted_sentence(right, checked, wrong)} The accuracy that `mercer label` estimates also corrects for "
        "the labels that these fits lack."
    )
    if rows:
        words = [dataset.distinctive.sentence(i) for i, *_ in found[:n]]
        lines = [(row, what, given, other, reason) for (row, given, other, reason, _), what in zip(rows, words)]
        console.table([options.id or "row", "what it is", "given", "prediction from the others", "why"], lines)
    if len(found) > len(rows):
        console.say(f"The {len(rows)} most doubtful are shown. -n shows more.")
    if out:
        console.say(f"Written to {shown(out)}, column {doubtful(target)}.")


def compare(console, data, target, seconds, seed: int, **source: Any) -> None:
    """Show the best candidate of every method, with its held-out accuracy."""
    with console.stages() as stage:
        stage("reading the table", 0.05)
        (dataset,) = read(data, [target], ReadOptions(**source), on_event=console)
        _refuse_numbers(dataset, "compare")
        stage(f"trying every method on {len(dataset.names)} rows and {dataset.labels.given.sum()} labels", 1.0)
        model = classes.fit(dataset, SearchOptions("all", seconds, seed), console).model
    tested = int(model.labels_.testable.sum())
    best: dict = {}
    for row in model.report_.candidates:
        if row["method"] not in best or row["loss"] < best[row["method"]]["loss"]:
            best[row["method"]] = row
    rows = sorted(best.values(), key=lambda row: (-round(row["accuracy"] or 0.0, 2), row["loss"]))
    found = model.estimate_.accuracy
    low, high = found.low, found.high
    average = {"method": "average", "candidate": "all candidates, by their weights", "loss": float("nan")}
    average |= {"accuracy": found.value, "seconds": sum(r["seconds"] for r in model.report_.candidates)}
    table = []
    words = {name: (one.title, one.does) for name, one in methods_of("classes").items()}
    drawn = model.estimate_.for_all_rows
    for row in [average, *rows]:
        row["name"], row["what"] = words.get(row["method"], ("Their average", "all of these, by their weights"))
        right = row["accuracy"] * tested if tested else float("nan")
        ends = (low, high) if row is average else accuracy_interval(right, tested)
        rates = [f"{row['accuracy']:.0%}", f"{ends[0]:.0%} to {ends[1]:.0%}"] if tested else ["", ""]
        key = "all" if row is average else row["method"]
        table.append((row["name"], row["what"], *rates[: 1 + drawn], key))
    interval = [low, high] if drawn else None
    console.result |= {"tested_labels": tested, "methods": [average, *rows], "interval": interval}
    console.table(["method", "what it is", "correct", *(["95% interval"] if drawn else []), "--method"], table)
    if tested:
        console.say(
            f"The accuracy of a method is the fraction of {tested} labels that are predicted correctly when held out "
            "one at a time. The best of many methods looks better than it is."
        )
        console.say(f"Their average: {accuracy_sentence(model.estimate_, dataset.why_not_drawn, dataset.draws)}")
        console.say(majority_sentence(model))
    else:
        console.say(NOT_TESTED)
