"""`mercer label` and `mercer predict`: labels for all rows of a table."""

import re
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import InputError
from ..few_label.summary import NOT_TESTED, accuracy_sentence, unseen_sentence
from ..inputs.tables import TableClassifier, TableRegressor, read_table
from ..inputs.tables.formats.label_studio import TASKS
from ..io import load, write_model
from ..jobs import numbers, quality
from ..jobs.answers import NUMBERS, added, how_column
from ..jobs.findings import findings
from ..jobs.job import BLOCK, PROBABILITY, answer, fit, new_columns, open_jobs, set_aside, written_before
from ..jobs.sets import Sets, check_share
from ..jobs.sources import Reading, claim, default_out, keep, open_table, refuse_taken, shown, write
from ..jobs.usage import UsageError
from ..report import render
from .advising import methods_in
from .several import parts_of, together


def label(
    screen,
    data,
    target,
    out=None,
    report=None,
    save=None,
    abstain=None,
    probabilities=False,
    coverage=None,
    by_class=False,
    method="auto",
    seconds=60.0,
    label_studio=False,
    force=False,
    seed=0,
    **source,
):
    """Fill in the missing labels of each target; write the table and, where asked, the report and the model.

    Returns
    -------
    [(model, answer)], one for each target.
    """
    methods = methods_in(method)
    _check_abstain(abstain)
    _check_coverage(coverage, by_class)
    out = Path(out or default_out(data, "labelled"))
    if label_studio and out.suffix != ".json":
        raise UsageError(f"--label-studio writes tasks in JSON, and {out.name} does not end in .json.")
    data = f"{TASKS.scheme}{data}" if label_studio else data
    target = target or [_only_target(data, label_studio)]
    models = _models(save, target)
    claim(screen, out, report, *models.values(), force=force)
    keep(str(data).removeprefix(TASKS.scheme), report, *models.values())
    with screen.stages() as stage:
        stage("reading the table", 0.05)
        writes = partial(_written, coverage=coverage)
        jobs = open_jobs(screen, data, target, writes, several=True, **source)
        for job in jobs:
            if job.labels.given.all():
                raise InputError(
                    f"Every row has a label in {job.target!r}, so there is nothing to fill in. Empty the cells to "
                    "predict, or name the word they hold with --missing; `mercer check` looks for wrong labels."
                )
            stale = added(job.target, "set") if coverage is None and job.earlier is not None else []
            job.table.drop([name for name in stale if name in job.table.frame.columns])
            if coverage is not None and job.labels.mark:
                raise UsageError(f"--coverage lists one class or another, but cells of {job.target!r} hold several.")
            if save and job.labels.mark:
                raise UsageError(
                    f"--save keeps one model a target, and {job.target!r} needs one for each label of its cells."
                )
        if abstain is not None and all(job.labels.numeric for job in jobs):
            raise UsageError("--abstain is a confidence in a class; numbers have TARGET_low and TARGET_high instead.")
        parts = [(job, part) for job in jobs for part in parts_of(job)]
        found = []
        for i, (_, job) in enumerate(parts):
            what = f"trying methods on {len(job.names)} rows and {job.labels.given.sum()} labels"
            stage(what, 0.05 + (0.7 if report else 0.85) * (i + 1) / len(parts))
            of = _of(job)
            fitted = of.fit(screen, job, methods, seconds, seed)
            found.append((job, fitted, of.answer(screen, job, fitted, abstain, probabilities, coverage, by_class)))
        others = {}
        if report:
            stage("making the report", 0.9)
            try:
                page = render(
                    *(
                        _of(job).findings(screen, job, fitted, decided, abstain, out, models.get(job.target), seed)
                        for job, fitted, decided in found
                    )
                )
                others[report] = lambda path: path.write_text(page, encoding="utf-8")
            except KeyboardInterrupt:
                if any(fitted.model.interrupted_ for _, fitted, _ in found):  # the second time: the user wants nothing
                    raise
                report = None
                screen.note("Interrupted: the report is left out. Ctrl-C again stops without writing.")
        for job, fitted, _ in found:
            if job.target in models:
                others[models[job.target]] = partial(write_model, _of(job).saved(job, fitted))
        stage("writing", 1.0)
        columns: dict = {}
        for job in jobs:
            of = [one for (whole, _), one in zip(parts, found) if whole is job]
            columns |= together(job, of, abstain, probabilities) if job.labels.mark else of[0][2].columns
            columns |= how_column(job.table, job.target, job.how)
        refuse_taken(jobs[0].table, columns)
        write(screen, jobs[0].table, columns, out, force, others)
    facts = {job.target: _of(job).summary(job, fitted, decided) for job, fitted, decided in found}
    screen.result |= facts[target[0]] if list(facts) == target[:1] else {"targets": facts}
    screen.result |= {"report": report, "model": save if len(models) < 2 else models}
    for (job, _, _), one in zip(found, facts.values()):
        _of(job).tell(screen, one, f"{job.target}: " if len(facts) > 1 else "")
    for name, file in [("table", out), ("report", report), *(("model", file) for file in models.values())]:
        if file:
            screen.say(f"{name:7} {shown(file)}")
    return [(fitted.model, decided) for _, fitted, decided in found]


def predict(screen, model, new, out, abstain, probabilities, coverage, by_class, force, **source):
    """Label the rows of another table with a saved model."""
    _check_abstain(abstain)
    _check_coverage(coverage, by_class)
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
        table = open_table(screen, new, Reading(**source))
        if fitted.numeric and (abstain is not None or probabilities or by_class):
            raise UsageError("--abstain, --probabilities and --by-class are for classes; this model predicts numbers.")
        writes = _written(fitted.target, fitted.numeric, coverage)
        set_aside(screen, table, written_before(table, fitted.target), writes)
        stage(f"labelling {len(table)} rows", 0.9)
        ask: Any = fitted.answer
        if isinstance(fitted, TableRegressor):
            ask = partial(fitted.answer, coverage=coverage or numbers.COVERAGE)
        P, trust = _in_blocks(screen, ask, table.frame)
        for sentence in (*fitted.encoder.unread(table.frame), *fitted.encoder.outside(table.frame)):
            screen.note(sentence)
        novel = trust < 0.5
        if novel.any():
            source = added(fitted.target, "source")[0]
            less = "intervals are wider" if fitted.numeric else "confidence is near the share of the class"
            screen.note(
                f"{int(novel.sum())} of {len(novel)} rows are unlike all rows that the model was trained with: novel "
                f"in {source}. Their {less}{'' if fitted.numeric else ' among the labels'}."
            )
        if fitted.numeric:
            columns = numbers.new_columns(fitted.target, P, fitted.regressor, novel)
            refuse_taken(table, columns)
            stage("writing", 1.0)
            write(screen, table, columns, out, force)
            share, reach = coverage or numbers.COVERAGE, fitted.regressor.reach(coverage or numbers.COVERAGE)
            screen.result |= {"rows": len(table), "novel": int(novel.sum()), "coverage": share, "half_width": reach}
            screen.say(f"{len(table)} rows predicted; {100 * share:g} % intervals are the answer ± {reach:.3g}.")
            screen.say(f"Written to {shown(out)}.")
            return
        values = [fitted.values[str(name)] for name in fitted.classes_]
        given = np.zeros(len(P), dtype=bool)
        columns, left = new_columns(fitted.target, P, P.max(axis=1), values, given, abstain, probabilities, novel)
        sets = None
        if coverage is not None:
            sets = Sets(fitted.target, fitted.classifier, P, given, coverage, by_class)
            columns |= sets.columns(values, P.argmax(axis=1))
        refuse_taken(table, columns)
        stage("writing", 1.0)
        write(screen, table, columns, out, force)
    words = np.array([str(value) for value in values])[P.argmax(axis=1)]
    counts = dict(zip(*np.unique(words[~left], return_counts=True)))
    screen.result |= {
        "rows": len(table),
        "abstained": int(left.sum()),
        "novel": int(novel.sum()),
        "classes": {k: int(v) for k, v in counts.items()},
        "sets": sets and sets.facts,
    }
    screen.say(f"{len(table) - int(left.sum())} of {len(table)} rows labelled, {int(left.sum())} left unlabelled.")
    if sets is not None:
        screen.say(sets.sentence)
    screen.say(f"Written to {shown(out)}.")


def _in_blocks(screen, ask, frame):
    """Probabilities or intervals of all rows and how far they can be trusted, some thousands at a time."""
    found = []
    for begin in range(0, len(frame), BLOCK):
        screen.step(f"labelling {len(frame)} rows", begin / len(frame))
        found.append(ask(frame.iloc[begin : begin + BLOCK]))
    return tuple(map(np.concatenate, zip(*found)))


def _check_abstain(value):
    if value is not None and not 0 <= value < 1:
        hint = f" For {value:g} % say {value / 100:g}." if 10 < value < 100 else ""
        raise UsageError(
            f"--abstain {value:g} is not accepted: give a confidence from 0 up to but not including 1.{hint}"
        )


def _check_coverage(value, by_class):
    check_share("--coverage", value, 0.9)
    if by_class and value is None:
        raise UsageError("--by-class goes with --coverage, such as --coverage 0.9 --by-class.")


def need_target(target):
    """Refuse a call without --target."""
    if not target:
        raise UsageError("label needs --target COLUMN (Column of labels; empty cells are the unlabelled rows).")


def _only_target(data, label_studio):
    """The column of labels of an export of Label Studio, where it has only one."""
    if not label_studio or data == f"{TASKS.scheme}-":  # standard input is read once
        need_target(None)
    return TASKS.target(read_table(data))


def _written(target, numeric, coverage):
    """Columns that are written anew, or how their names begin."""
    if numeric:
        return added(target, *NUMBERS)
    return [*added(target), *added(target, PROBABILITY), *(added(target, "set") if coverage is not None else [])]


def _models(save, targets):
    """{target: file of its model}: the one that was named, or one for each target beside it."""
    if save is None:
        return {}
    save = Path(save)
    if len(targets) == 1:
        return {targets[0]: save}
    words = {target: re.sub(r"[^\w.-]+", "_", target) for target in targets}
    return {target: save.with_name(f"{save.stem}-{word}{save.suffix}") for target, word in words.items()}


def _saved(job, fitted):
    return TableClassifier(job.encoder, fitted.model, job.target, job.labels.values)


def _summary(job, fitted, decided):
    given, model = job.labels.given, fitted.model
    (low, high), tested = model.accuracy_interval_, int(model.labels_.testable.sum())
    return {
        "rows": len(job.names),
        "given": int(given.sum()),
        "predicted": int((~given & ~decided.left).sum()),
        "abstained": int(decided.left.sum()),
        "left_out_accuracy": model.left_out_accuracy_ if tested else None,
        "left_out_interval": [low, high],
        "tested_labels": tested,
        "labels_drawn": model.estimate_.n_drawn,
        "accuracy_sentence": accuracy_sentence(model.estimate_),
        "unseen_sentence": unseen_sentence(model.estimate_),
        "unseen_rows": [(job.names[i], reason) for i, reason in quality.unlike_labelled(job, fitted)],
        "sets": decided.sets and decided.sets.facts,
        "classes": {str(c): int(np.sum((decided.codes == k) & ~decided.left)) for k, c in enumerate(model.classes_)},
        "coverage": quality.coverage(model),
        "majority": asdict(model.majority_) | {"sentence": model.majority_.sentence(low)},
        "reasons": model.report_.sentences,
    }


def _tell(screen, facts, of):
    screen.say(
        f"{of}{facts['predicted']} row{'' if facts['predicted'] == 1 else 's'} labelled from {facts['given']} labels; "
        f"{facts['abstained']} left unlabelled."
    )
    if facts["tested_labels"]:
        screen.say(facts["accuracy_sentence"])
        screen.say(facts["majority"]["sentence"])
    else:
        screen.say(NOT_TESTED)
    if facts["unseen_rows"]:
        names = ", ".join(name for name, _ in facts["unseen_rows"])
        screen.say(f"{facts['unseen_sentence']} Least like any labelled row: {names}.")
    if facts["sets"]:
        screen.say(facts["sets"]["sentence"])


CLASSES = SimpleNamespace(fit=fit, answer=answer, findings=findings, saved=_saved, summary=_summary, tell=_tell)


def _of(job):
    """The functions for what a job's labels are: `numbers` has those of the same names."""
    return numbers if job.labels.numeric else CLASSES
