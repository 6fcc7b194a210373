"""`mercer audit`: how accurate a language model, rules or an old system are, and which of their guesses to check."""

from shlex import quote

import numpy as np

from ..inputs.tables.formats import refuse_ending
from ..jobs import auditing, classes
from ..jobs.corrections import NEXT, added, how_column, wrong_column
from ..jobs.dataset import read
from ..jobs.options import ReadOptions, SearchOptions, methods_named
from ..jobs.tables import refuse_taken
from ..jobs.usage import UsageError
from ..report import render
from .advising import alone
from .console import to_copy
from .outputs import claim, shown, write


def audit(console, data, target, n, random, out, only, report, method, seconds, force, seed, **source):
    """Show the accuracy of each hint with its interval, the guesses that are probably wrong, and what to check next."""
    search, options = SearchOptions(methods_named(method), seconds, seed), ReadOptions(**source)
    if not options.hint:
        raise UsageError("audit needs --hint COLUMN (column of guesses by another source). It may be repeated.")
    if not 0 <= random <= 1:
        raise UsageError(f"--random {random:g} is not accepted. Give a fraction from 0 to 1, such as 0.5.")
    claim(console, out, only, report, force=force)
    if only:
        refuse_ending(only)
    with console.stages() as stage:
        stage("reading the table", 0.05)
        writes = [*map(wrong_column, options.hint), NEXT] if out else []
        (dataset,) = read(data, [target], options, writes=writes, on_event=console)
        if dataset.how is None:
            refuse_taken(dataset.table, added(target, "how"))
        stage(f"trying methods on {len(dataset.names)} rows and {dataset.labels.given.sum()} labels", 0.8)
        fitted = classes.fit(dataset, search, console)
        stage("comparing the sources with the labels", 0.9)
        found = auditing.audit_table(dataset, fitted, n, random, seed)
        how = np.where(found.drawn, "random", "chosen").astype(object)
        stage("writing", 1.0)
        others = {}
        if report:
            page = render(auditing.findings(dataset, fitted, found, n))
            others[report] = lambda path: path.write_text(page, encoding="utf-8")
        if out:
            every = np.full(len(dataset.names), "", dtype=object) if dataset.how is None else dataset.how.copy()
            every[found.rows] = how
            added_columns = auditing.columns(dataset, found) | how_column(dataset.table, target, every)
            write(console, dataset.table, added_columns, out, force, others)
        elif report:
            from ..files import replacing

            with replacing(report, force=force) as (part,):
                others[report](part)
        if only:
            write(console, alone(dataset, found.rows, how), {}, only, force)
    console.result |= auditing.facts(dataset, found) | {"report": report}
    _tell(console, dataset, found, options, n)
    for name, file in (("table", out), ("report", report)):
        if file:
            console.say(f"{name:7} {shown(file)}")
    if only:
        id = f" --id {quote(options.id)}" if options.id else ""
        hints = "".join(f" --hint {quote(name)}" for name in options.hint)
        command = f"mercer audit {quote(str(data))} --target {quote(target)}{hints}{id} --more {quote(str(only))}"
        console.say(to_copy(f"Fill in {target!r} in {only}, then run:", command))


def _tell(console, dataset, found, options, n):
    head = ["source", "class", "rows guessed", "guess is correct", "class is found", "checked"]
    console.table(head, auditing.by_class(found))
    for sentence in found.audit.sentences:
        console.say(sentence)
    for one in found.audit.sources:
        first = min(n, max(one.worth, min(5, n)), len(one.rows))
        if not first:
            continue
        cells = [dataset.distinctive.sentence(i) for i in one.rows[:first]]
        listed = [
            (dataset.names[row], what, said, proposed, f"{p:.0%}")
            for row, what, said, proposed, p in zip(one.rows[:first], cells, one.said, one.proposed, one.wrong)
        ]
        console.table([options.id or "row", "what it is", f"guess of {one.name}", "predicted", "wrong"], listed)
    n_random = int(found.drawn.sum())
    if len(found.rows):
        console.say(
            f"To check next: {len(found.rows) - n_random} guesses that are probably wrong and {n_random} rows drawn at "
            "random. --only FILE writes them to a table to fill in. The random ones measure the accuracy."
        )
