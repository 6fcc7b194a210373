"""`mercer label` and `mercer predict`: labels for all rows of a table."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..errors import InputError
from ..few_label.number_report import interval_sentence
from ..few_label.sizes import SIZES
from ..inputs.tables import TableClassifier, TableRegressor
from ..inputs.tables.formats import default_out, located
from ..inputs.tables.formats.label_studio import TASKS
from ..io import load, write_model
from ..jobs.agreement import agreement
from ..jobs.corrections import added, how_column, set_aside, written, written_before
from ..jobs.dataset import read, refuse_unfit
from ..jobs.keyed import only_target
from ..jobs.kinds import kind_of
from ..jobs.options import AnswerOptions, ReadOptions, SearchOptions, methods_named
from ..jobs.ranking import SHOWN
from ..jobs.several import parts_of, together
from ..jobs.tables import open_table, refuse_taken, renamed_columns
from ..jobs.usage import UsageError, did_you_mean
from ..report import render
from .outputs import claim, keep, shown, write


def label(
    console,
    data,
    target=None,
    out=None,
    report=None,
    save=None,
    abstain=None,
    probabilities=False,
    coverage=None,
    by_class=False,
    rank=None,
    wrong_at_most=None,
    method="auto",
    seconds=SIZES.seconds,
    label_studio=False,
    force=False,
    seed=0,
    **source,
):
    """Fill in the missing labels of each target. Write the table and, on request, the report and the model.

    Returns
    -------
    list of (model, predictions)
        One pair for each target.
    """
    search = SearchOptions(methods_named(method), seconds, seed)
    asked = AnswerOptions(abstain, probabilities, coverage, by_class, rank, wrong_at_most)
    asked.check()
    if not target and source.get("labels") is not None:
        target = [only_target(ReadOptions(**source), console)]
    if not target and (not label_studio or str(data) == "-"):  # standard input is read once
        raise UsageError("label needs --target COLUMN (Column of labels, with empty cells in unlabeled rows).")
    place = located(f"{TASKS.scheme}{data}" if label_studio else data)
    out = Path(out or default_out(place, "labeled"))
    if label_studio and out.suffix != ".json":
        raise UsageError(f"--label-studio writes tasks in JSON, and {out.name} does not end in .json.")
    files = _model_files(save, target or [""])
    claim(console, out, report, *files, force=force)
    keep(str(data).removeprefix(TASKS.scheme), report, *files)
    with console.stages() as stage:
        stage("reading the table", 0.05)
        writes = partial(written, coverage=coverage)
        options = ReadOptions(**source)
        datasets = read(place, target or None, options, writes=writes, several=True, on_event=console)
        for dataset in datasets:
            refuse_unfit(dataset, coverage, save is not None)
            stale = added(dataset.target, "set", "rank") if dataset.earlier is not None else []
            dataset.table.drop([name for name in stale if name in dataset.table.frame.columns])
        if rank is not None and (len(datasets) > 1 or datasets[0].labels.numeric or datasets[0].labels.mark):
            raise UsageError("--rank is for one column of classes. Give one --target, with one class in a cell.")
        if rank is not None and rank not in datasets[0].labels.values:
            names = list(map(str, datasets[0].labels.values))
            raise UsageError(f"There is no class {rank!r} among the labels. {did_you_mean(rank, names)}")
        if abstain is not None and all(dataset.labels.numeric for dataset in datasets):
            raise UsageError("--abstain is a confidence in a class. Numbers have TARGET_low and TARGET_high instead.")
        if wrong_at_most is not None and any(dataset.labels.numeric or dataset.labels.mark for dataset in datasets):
            raise UsageError(
                "--wrong-at-most is for one class per row. Numbers have TARGET_low and TARGET_high instead."
            )
        parts = [(one, part) for one in datasets for part in (parts_of(one) if one.labels.mark else [one])]
        models = dict(zip([dataset.target for dataset in datasets], files))
        found, pages, others, facts = [], [], {}, {}
        known: dict = {}
        for i, (_, dataset) in enumerate(parts):
            what = f"trying methods on {len(dataset.names)} rows and {dataset.labels.given.sum()} labels"
            stage(what, 0.05 + 0.85 * (i + (0.8 if report else 1.0)) / len(parts))
            kind = kind_of(dataset.labels)
            same = id(dataset.X), kind.fit  # targets of the same rows have everything that needs no label in common
            fitted = kind.fit(dataset, search, console, known.get(same) if dataset.hints is None else None)
            answers = kind.answer(dataset, fitted, asked, console)
            facts[dataset.target] = kind.facts(dataset, fitted, answers)
            if report:
                stage("making the report", 0.05 + 0.85 * (i + 1) / len(parts))
                try:
                    one = kind.findings(dataset, fitted, answers, asked, out, models.get(dataset.target), seed, console)
                    pages.append(one)
                except KeyboardInterrupt:
                    if fitted.model.interrupted_:  # the second time, the user wants no output
                        raise
                    report = None
                    console.note("Interrupted. No report is written. Ctrl-C again stops without writing.")
            if known.setdefault(same, fitted) is not fitted:
                fitted = replace(fitted, model=fitted.model.compact())
            found.append((dataset, fitted, answers))
        if report:
            page = render(*pages)
            others[report] = lambda path: path.write_text(page, encoding="utf-8")
        for dataset, fitted, _ in found:
            if dataset.target in models:
                model = kind_of(dataset.labels).table_model(dataset, fitted)
                others[models[dataset.target]] = partial(write_model, model)
        stage("writing", 1.0)
        columns: dict = {}
        for dataset in datasets:
            own = [one[1:] for (whole, _), one in zip(parts, found) if whole is dataset]
            if dataset.labels.mark:
                columns |= together(dataset, [fitted for fitted, _ in own], asked)
            else:
                columns |= kind_of(dataset.labels).columns(own[0][1], probabilities)
            columns |= how_column(dataset.table, dataset.target, dataset.how)
        refuse_taken(datasets[0].table, columns)
        write(console, datasets[0].table, columns, out, force, others)
    alone = list(facts) == [dataset.target for dataset in datasets][:1]
    console.result |= next(iter(facts.values())) if alone else {"targets": facts}
    console.result |= {"report": report, "model": save if len(models) < 2 else models}
    for (dataset, _, _), told in zip(found, facts.values()):
        first, *rest = kind_of(dataset.labels).sentences(told)
        for sentence in [f"{dataset.target}: {first}" if len(facts) > 1 else first, *rest]:
            console.say(sentence)
    for ranking in [answers.ranking for _, _, answers in found if rank is not None]:
        _list(console, found[0][0], ranking, options.id)
    for name, file in [("table", out), ("report", report), *(("model", file) for file in models.values())]:
        if file:
            console.say(f"{name:7} {shown(file)}")
    return [(fitted.model, answers) for _, fitted, answers in found]


def _list(console, dataset, ranking, id) -> None:
    """Show the rows that are most likely of a class."""
    first = [(row, f"{p:.1%}") for row, p in zip(ranking.rows[:SHOWN], ranking.probability)]
    rows = [(dataset.names[row], dataset.distinctive.sentence(row), sure) for row, sure in first]
    console.table([id or "row", "what it is", f"probability of {ranking.name}"], rows)
    console.say(f"{ranking.within(SHOWN)} The column {added(dataset.target, 'rank')[0]} has the rank of every row.")


def report_of(found: list, asked: AnswerOptions, out: Path, models: dict, seed: int, on_event) -> str:
    """Return the text of the report on fitted datasets, given as [(dataset, fit, predictions)]."""
    return render(
        *(
            kind_of(dataset.labels).findings(
                dataset, fitted, answers, asked, out, models.get(dataset.target), seed, on_event
            )
            for dataset, fitted, answers in found
        )
    )


def _model_files(save: Path | None, targets: list) -> list:
    """Return the files of the models. These are the named one, or one for each target next to it."""
    if save is None:
        return []
    save = Path(save)
    if len(targets) == 1:
        return [save]
    words = [re.sub(r"[^\w.-]+", "_", target) for target in targets]
    return [save.with_name(f"{save.stem}-{word}{save.suffix}") for word in words]


def predict(console, model, new, out, abstain, probabilities, coverage, by_class, rename, force, **source):
    """Label the rows of another table with a saved model."""
    asked = AnswerOptions(abstain, probabilities, coverage, by_class)
    asked.check()
    place = located(new)
    out = Path(out or default_out(place, "labeled"))
    if not Path(model).exists():
        raise UsageError(f"There is no file {model}. Check the name and the folder.")
    if Path(new).suffix == ".mercer" and Path(model).suffix != ".mercer":
        raise UsageError(f"The model comes before the table. Run mercer predict {new} {model}.")
    claim(console, out, force=force)
    keep(model, out)
    with console.stages() as stage:
        stage("loading the model", 0.1)
        fitted = load(model)
        if not isinstance(fitted, TableClassifier | TableRegressor):
            raise InputError(
                f"{Path(model).name} contains a {type(fitted).__name__}, not a model for tables. "
                "Give a file that `mercer label --save` wrote."
            )
        stage("reading the table", 0.2)
        options = ReadOptions(**source)
        fitted.encoder.relocate(options.text_model, options.image_model)
        table = open_table(place, options, (), console)
        if fitted.numeric and (abstain is not None or probabilities or by_class):
            raise UsageError("--abstain, --probabilities and --by-class are for classes. This model predicts numbers.")
        old, writes = written_before(table, fitted.target), written(fitted.target, fitted.numeric, coverage)
        set_aside(table, old, writes, console)
        frame = renamed_columns(table.frame, rename or [], fitted.encoder)
        stage(f"labeling {len(table)} rows", 0.9)
        kind = kind_of(fitted)
        answers = kind.answer_table(fitted, frame, asked, None, console)
        absent = [name for name in getattr(fitted, "hints", None) or [] if name not in table.frame.columns]
        for name in absent:
            console.note(
                f"The table has no column {name!r}, whose hints the model was fitted with. It predicts without them."
            )
        for sentence in (*fitted.encoder.unread(frame), *fitted.encoder.outside(frame)):
            console.note(sentence)
        novel = int(answers.novel.sum())
        if novel:
            less = "intervals are wider" if fitted.numeric else "confidence is near the frequency of the class"
            console.note(
                f"{novel} of {len(table)} rows are unlike all rows that the model was trained with. They are marked "
                f"novel in {added(fitted.target, 'source')[0]}. Their {less}."
            )
        columns = kind.columns(answers, probabilities)
        refuse_taken(table, columns)
        known = agreement(answers, frame[fitted.target]) if fitted.target in frame.columns else {}
        stage("writing", 1.0)
        write(console, table, columns, out, force)
    console.result |= {"rows": len(table), "novel": novel, "agreement": known or None}
    if fitted.numeric:
        console.result |= {"coverage": answers.coverage, "half_width": answers.reach}
        console.say(f"{len(table):,} rows predicted. {interval_sentence(fitted.regressor, answers.coverage)}.")
    else:
        left, sets = int(answers.left.sum()), answers.sets
        counts = {name: number for name, number in sorted(answers.counts.items()) if number}
        console.result |= {"abstained": left, "classes": counts, "sets": sets and sets.facts}
        console.say(f"{len(table) - left:,} of {len(table):,} rows labeled, {left:,} left unlabeled.")
        if sets is not None:
            console.say(sets.sentence)
    if known:
        console.say(known["sentence"])
    console.say(f"Written to {shown(out)}.")
