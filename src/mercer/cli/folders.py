"""The commands on a folder of tables. A sample is fitted, then each part is predicted and written by itself."""

import shutil
from pathlib import Path

from ..errors import InputError
from ..events import Stage
from ..few_label.sizes import SIZES
from ..files import replacing
from ..homes.blocks import draw
from ..inputs.tables import TableClassifier, TableRegressor
from ..io import load, write_model
from ..io import save as save_model
from ..jobs import unlabeled
from ..jobs.corrections import written
from ..jobs.dataset import read, refuse_unfit
from ..jobs.folders import FolderRun, labels_by_key, labels_of, rows_to_sample
from ..jobs.kinds import kind_of
from ..jobs.options import DEFAULTS, AnswerOptions, ReadOptions, SearchOptions, methods_named
from ..jobs.parts import ENCODER, MODEL, PartOptions, cells, describe_part, label_part, workplace
from ..jobs.tables import encode, open_table
from ..jobs.usage import UsageError
from .labeling import report_of
from .outputs import claim


def label(
    console,
    data,
    target,
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
    labels=None,
    key=None,
    scheduler=None,
    workers=None,
    **source,
):
    """Label every part of a folder with a model of all labels and a sample of the other rows."""
    if not target:
        raise UsageError("label needs --target COLUMN (Column of labels, with empty cells in unlabeled rows).")
    if rank is not None:
        raise UsageError("--rank is for one table. --probabilities writes the probability of every class in the parts.")
    if wrong_at_most is not None:
        raise UsageError("--wrong-at-most is for one table, not for a folder. Join the parts, or leave it out.")
    if source.get("links") is not None:
        raise UsageError("--links is for one table, because only a sample of a folder is fitted. Leave it out.")
    if len(target) > 1:
        raise UsageError("A folder is labeled one --target at a time. Run again for the others, on the output.")
    if (labels is None) != (key is None):
        raise UsageError("--labels FILE and --key COLUMN go together. The column names the rows in both.")
    search, options, (target,) = SearchOptions(methods_named(method), seconds, seed), ReadOptions(**source), target
    asked = {"abstain": abstain, "probabilities": probabilities, "coverage": coverage, "by_class": by_class}
    answers = AnswerOptions(**asked)
    answers.check()
    follows = asked | {"method": method, "seconds": seconds, "seed": seed, "target": target, "key": key}
    follows |= {
        name: source.get(name) for name in ("ignore", "include", "missing", "id", "hint", "text_model", "image_model")
    }
    folder = FolderRun("label", data, out, "labeled", follows, force, console)
    known = None if labels is None else labels_by_key(labels, target, key, options.missing, console)
    with console.stages() as stage, workplace(scheduler, workers) as place:
        if folder.left:
            named = [key or target, options.id, *(options.ignore or []), *(options.include or [])]
            open_table(folder.parts[0], options, named, console)
        tasks = [(part, key or target, options.missing, known, options.file) for part in folder.parts]
        counted = folder.each(place, cells, tasks, Stage(f"reading the labels of {len(folder.parts)} parts", 0.1))
        if folder.left and not (folder.out / MODEL).exists():
            rows = rows_to_sample(counted, seed)
            table = folder.sample(place, counted, rows, options.file, Stage("fetching a sample", 0.2))
            if known is not None:
                table.frame[target] = labels_of(counted, rows)
                table.names = [str(name) for name in table.frame.columns]
            stage(f"trying methods on a sample of {len(table)} rows", 0.5)
            _fit(console, folder, table, target, options, search, report, save)
        how = PartOptions(options.file, options.protect, None, answers)
        last = Stage(f"labeling {len(folder.left)} of {len(folder.parts)} parts", 1.0)
        facts = folder.run(place, label_part, counted, lambda i: (counted[i][1:], how), last)
    _tell(console, folder, facts)


def _fit(console, folder, table, target, options, search, report, save):
    """Fit the sample of a folder. Keep its model and the facts."""
    if report:
        claim(console, None, report, force=False)
    writes = written(target, False, None)
    where = folder.parts[0].parent
    (dataset,) = read(where, [target], options, table=table, writes=writes, several=True, on_event=console)
    refuse_unfit(dataset, save=True)
    if dataset.labels.numeric:
        raise _no_classes(target, "numbers, not classes")
    kind = kind_of(dataset.labels)
    fitted = kind.fit(dataset, search, console)
    answers = kind.answer(dataset, fitted, DEFAULTS, console)
    if report:
        page = report_of([(dataset, fitted, answers)], DEFAULTS, folder.out, {}, search.seed, console)
        with replacing(report) as (part,):
            part.write_text(page, encoding="utf-8")
    folder.begin()
    with replacing(folder.out / MODEL, force=True) as (part,):
        write_model(kind.table_model(dataset, fitted), part)
    if save:
        shutil.copyfile(folder.out / MODEL, save)
    console.result |= kind.facts(dataset, fitted, answers)


def predict(
    console, model, new, out, abstain, probabilities, coverage, by_class, rename, force, scheduler, workers, **source
):
    """Label every part of a folder with a saved model."""
    if rename:
        raise UsageError("--rename is for one table. Rename the columns of the parts.")
    if not Path(model).exists():
        raise UsageError(f"There is no file {model}. Check the name and the folder.")
    found = load(model)
    if not isinstance(found, TableClassifier):
        numeric = isinstance(found, TableRegressor)
        raise _no_classes(Path(model).name, "numbers, not classes" if numeric else f"a {type(found).__name__}")
    model, options = str(Path(model).resolve()), ReadOptions(**source)
    asked = {"abstain": abstain, "probabilities": probabilities, "coverage": coverage, "by_class": by_class}
    answers = AnswerOptions(**asked)
    answers.check()
    folder = FolderRun("predict", new, out, "labeled", {"model": model, **asked}, force, console)
    models = (options.text_model, options.image_model)
    how = PartOptions(options.file, options.protect, model, answers, models=models)
    with console.stages(), workplace(scheduler, workers) as place:
        counted = _counted(folder, place, options)
        last = Stage(f"labeling {len(folder.left)} of {len(folder.parts)} parts", 1.0)
        facts = folder.run(place, label_part, counted, lambda i: (([], []), how), last)
    _tell(console, folder, facts)


def _no_classes(name, what):
    return InputError(
        f"{name} contains {what}. A folder takes classes, and models that `mercer label --save` wrote for them. "
        "Give one table at a time."
    )


def _counted(folder, place, options: ReadOptions) -> list:
    """Return the number of rows of each part, as `cells` does without a column."""
    tasks = [(part, None, None, None, options.file) for part in folder.parts]
    return folder.each(place, cells, tasks, Stage(f"counting the rows of {len(folder.parts)} parts", 0.1))


def embed(console, data, method, components, kernel, seed, **more):
    """Write the positions of all rows on kernel principal components of a sample."""
    unlabeled.class_name(method, unlabeled.EMBEDDINGS)
    names = unlabeled.component_names(components)
    build = lambda X: unlabeled.embedding(X, method, components, kernel, seed)  # noqa: E731
    _describe(console, data, "embed", "embedded", names, build, kernel, seed, **more)


def cluster(console, data, clusters, kernel, seed, **more):
    """Write groups by kernel c-means of a sample, numbered from 1 by their size in it."""
    if clusters is None:
        raise UsageError("cluster needs --clusters N for a folder. Without it, one table proposes a number.")
    build = lambda X: unlabeled.clustering(X, clusters, kernel, seed)  # noqa: E731
    _describe(console, data, "cluster", "clustered", ["cluster"], build, kernel, seed, **more)


def novelty(console, data, method, share, false_alarms, discoveries, ordinary, target, kernel, seed, **more):
    """Write how unusual each row is compared with a sample, and which are beyond its threshold."""
    if not all(value is None for value in (false_alarms, discoveries, ordinary, target)):
        raise UsageError(
            "--false-alarms, --discoveries, --ordinary and --target are for one table. Use --fraction for a folder."
        )
    share = unlabeled.FRACTION if share is None else share
    unlabeled.check_share(share, method, kernel)
    build = lambda X: unlabeled.detector(X, method, share, kernel, seed)  # noqa: E731
    _describe(console, data, "novelty", "novelty", ["novelty", "novel"], build, kernel, seed, **more)


def _describe(
    console, data, kind, word, columns, build, kernel, seed, *, out, force, report, scale, scheduler, workers, **source
):
    """Fit a method without labels to a sample and write what it finds in every part."""
    if report:
        raise UsageError("--report is for one table. Run the command on a part of the folder for a report.")
    options = ReadOptions(**source)
    ignored = options.ignore or []
    asked = {"columns": columns, "kernel": kernel, "seed": seed, "ignore": ignored}
    folder = FolderRun(kind, data, out, word, asked, force, console)
    with console.stages() as stage, workplace(scheduler, workers) as place:
        if folder.left:
            open_table(folder.parts[0], options, [options.id, *ignored], console)
        counted, rank = _counted(folder, place, options), ()
        if folder.left:
            rows = draw(sum(n for n, _, _ in counted), SIZES.core_rows, seed)
            table = folder.sample(place, counted, rows, options.file, Stage("fetching a sample", 0.2))
            encoder, X = encode(table, [options.id, *ignored], options, data, scale, on_event=console)
            stage(f"fitting to a sample of {len(table)} rows", 0.5, counted=False)
            model = build(X).fit(X)
            rank = tuple(unlabeled.rank_of(model).tolist()) if kind == "cluster" else ()
            folder.begin()
            save_model(encoder, folder.out / ENCODER)
            save_model(model, folder.out / MODEL)
        how = PartOptions(options.file, options.protect, kind=kind, columns=tuple(columns), rank=rank)
        last = Stage(f"describing {len(folder.left)} of {len(folder.parts)} parts", 1.0)
        facts = folder.run(place, describe_part, counted, lambda i: (how,), last)
    _tell(console, folder, facts)


def _tell(console, folder, facts):
    before, rows = len(folder.parts) - len(folder.left), facts.get("rows", 0)
    console.result |= {"parts": len(folder.parts), "parts_before": before, **facts, "rows": rows}
    there = f" {before} were there already." if before else ""
    console.say(f"{rows:,} rows in {len(folder.left)} parts written to {folder.out}.{there}")
    if "novel" in facts and "given" not in facts:
        console.say(f"{facts['novel']:,} rows are flagged as outliers.")
    if facts.get("classes"):
        counts = ", ".join(f"{name} {count:,}" for name, count in facts["classes"].items())
        console.say(f"Labels: {counts}. {facts['abstained']:,} rows are left unlabeled.")
    if console.result.get("left_out_accuracy") is not None:
        console.say(console.result["accuracy_sentence"])
