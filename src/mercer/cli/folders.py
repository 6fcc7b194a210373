"""The commands on a folder of tables: a sample is fitted, every part is answered and written by itself."""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np

import mercer

from ..errors import InputError
from ..files import replacing
from ..homes.blocks import draw
from ..inputs.tables import TableClassifier, TableRegressor, read_table, read_target, write_table
from ..io import load
from ..io import save as save_model
from ..jobs.job import FIT_LABELS, FIT_ROWS
from ..jobs.parts import (
    ENCODER,
    JOB,
    MARK,
    MODEL,
    cells,
    describe_part,
    label_part,
    parts_in,
    rows_of,
    workplace,
    write_mark,
)
from ..jobs.sources import Reading, kernel_for, matrix, open_table
from ..jobs.usage import UsageError
from . import labelling, unlabelled
from .screen import Screen

TOLD = ("abstain", "probabilities", "coverage", "by_class")
ASKED = (*TOLD, "method", "seconds", "seed", "ignore", "include", "missing", "id")  # what the answers follow from


def label(screen, data, target, out=None, labels=None, key=None, scheduler=None, workers=None, **more):
    """Label every part of a folder with a model of all labels and a sample of the other rows."""
    labelling.need_target(target)
    if len(target) > 1:
        raise UsageError("A folder is labelled one --target at a time. Run again for the others, on the output.")
    if (labels is None) != (key is None):
        raise UsageError("--labels FILE and --key COLUMN go together: the column names the rows in both.")
    target, reading, options = target[0], _reading(more), _options(more)
    asked = {name: more.get(name) for name in ASKED}
    work = Work(screen, "label", data, out, "labelled", more.pop("force"), asked | {"target": target, "key": key})
    known = None if labels is None else _answers(screen, labels, target, key, more.get("missing"))
    with screen.stages() as stage, workplace(scheduler, workers) as place:
        if work.left:
            open_table(screen, work.parts[0], reading, [key or target, more.get("id")])
        stage(f"reading the labels of {len(work.parts)} parts", 0.1)
        column = key or target
        found = work.each(place, cells, [(part, column, more.get("missing"), known, options) for part in work.parts])
        if work.left and not (work.out / MODEL).exists():
            stage("fetching a sample", 0.2)
            rows = _chosen(found, more.get("seed", 0))
            table = work.sample(place, found, rows, options)
            if known is not None:
                table.frame[target] = _words(found, rows)
                table.names = [str(name) for name in table.frame.columns]
            stage(f"trying methods on a sample of {len(table)} rows", 0.5, counted=False)
            work.fit_labels(screen, table, target, more)
        how = {name: more[name] for name in TOLD}
        how |= {"model": None, "options": options, "protect": reading.protect}
        stage(f"labelling {len(work.left)} of {len(work.parts)} parts", 1.0)
        facts = work.run(place, label_part, found, lambda i: (found[i][1:], how))
    _tell(screen, work, facts)


def predict(screen, model, new, out, abstain, probabilities, coverage, by_class, force, scheduler, workers, **source):
    """Label every part of a folder with a saved model."""
    if not Path(model).exists():
        raise UsageError(f"There is no file {model}. Check the name and the folder.")
    _refuse_numbers(model, Path(model).name)
    model, options = str(Path(model).resolve()), _options(source)
    how = {"abstain": abstain, "probabilities": probabilities, "coverage": coverage, "by_class": by_class}
    work = Work(screen, "predict", new, out, "labelled", force, {"model": model, **how})
    how |= {"model": model, "options": options, "protect": source.get("protect", False)}
    with screen.stages() as stage, workplace(scheduler, workers) as place:
        stage(f"counting the rows of {len(work.parts)} parts", 0.1)
        found = work.each(place, cells, [(part, None, None, None, options) for part in work.parts])
        stage(f"labelling {len(work.left)} of {len(work.parts)} parts", 1.0)
        facts = work.run(place, label_part, found, lambda i: (([], []), how))
    _tell(screen, work, facts)


def embed(screen, data, method, components, **more):
    """Positions of all rows on kernel principal components of a sample."""
    cls = unlabelled.known(method, unlabelled.EMBEDDINGS)
    names = [f"component_{j + 1}" for j in range(components)]
    options = {"n_components": components}
    _describe(screen, data, "embed", "embedded", names, lambda kernel: cls(**kernel, **options), **more)


def cluster(screen, data, clusters, **more):
    """Groups by kernel c-means of a sample, numbered from 1 by their size in it."""

    def rank(model):
        order = np.argsort(-np.bincount(model.labels_, minlength=clusters), kind="stable")
        return {"rank": (np.argsort(order) + 1).tolist()}

    build = lambda kernel: mercer.KernelCMeans(clusters, **kernel)  # noqa: E731
    _describe(screen, data, "cluster", "clustered", ["cluster"], build, rank, **more)


def novelty(screen, data, method, share, kernel, **more):
    """How unusual each row is beside a sample, and which are beyond its threshold."""
    cls, method = unlabelled.known(method, unlabelled.DETECTORS), method.lower()
    unlabelled.check_share(share, method, kernel)

    def build(chosen):
        return cls(**unlabelled.detector(method, share, chosen["kernel"]), **_without(chosen, "kernel"))

    _describe(screen, data, "novelty", "novelty", ["novelty", "novel"], build, kernel=kernel, **more)


def _describe(screen, data, kind, word, columns, build, learnt=None, **more):
    """Fit a method without labels to a sample and write what it says of every part."""
    kernel, out, seed, force = (more.pop(name) for name in ("kernel", "out", "seed", "force"))
    scheduler, workers, report = (more.pop(name) for name in ("scheduler", "workers", "report"))
    ignore, id, scale = more.pop("ignore") or [], more.pop("id"), more.pop("scale")
    if report:
        raise UsageError("--report is for one table. Run the command on a part of the folder for a report.")
    reading, options = Reading(**more), _options(more)
    asked = {"columns": columns, "kernel": kernel, "seed": seed, "ignore": ignore}
    work = Work(screen, kind, data, out, word, force, asked)
    with screen.stages() as stage, workplace(scheduler, workers) as place:
        if work.left:
            open_table(screen, work.parts[0], reading, [id, *ignore])
        stage(f"counting the rows of {len(work.parts)} parts", 0.1)
        found = work.each(place, cells, [(part, None, None, None, options) for part in work.parts])
        how = {"kind": kind, "columns": columns, "options": options, "protect": reading.protect}
        if work.left:
            stage("fetching a sample", 0.2)
            table = work.sample(place, found, draw(sum(n for n, _, _ in found), FIT_ROWS, seed), options)
            encoder, X = matrix(screen, table, [id, *ignore], reading, data, scale)
            chosen, approx = kernel_for(X, kernel)
            stage(f"fitting to a sample of {len(table)} rows", 0.5, counted=False)
            model = build({"kernel": chosen, "approx": approx, "random_state": seed}).fit(X)
            how |= learnt(model) if learnt else {}
            work.begin()
            save_model(encoder, work.out / ENCODER)
            save_model(model, work.out / MODEL)
        stage(f"describing {len(work.left)} of {len(work.parts)} parts", 1.0)
        facts = work.run(place, describe_part, found, lambda i: (how,))
    _tell(screen, work, facts)


class Work:
    """The parts of a folder, the folder of the answers, and which parts are still to do.

    The folder keeps what was asked for, the model, and a mark when all parts are there; a run that was stopped goes on
    with the parts that are missing.
    """

    def __init__(self, screen, command, data, out, word, force, asked):
        self.screen, self.parts = screen, parts_in(data)
        folder = Path(data)
        self.out = Path(out) if out else folder.with_name(f"{folder.name}_{word}")
        if self.out.resolve() == folder.resolve():
            raise UsageError(f"{data} is what is read. Give another folder with --out.")
        if self.out.exists() and not self.out.is_dir():
            raise UsageError(f"{self.out} is a file. A folder needs a folder with --out.")
        job = {"command": command, "parts": [part.name for part in self.parts], "asked": asked}
        job = self.job = json.loads(json.dumps(job, default=str))
        if force:
            for name in [*job["parts"], MODEL, ENCODER, JOB, MARK]:
                (self.out / name).unlink(missing_ok=True)
        if (self.out / JOB).exists():
            before = json.loads((self.out / JOB).read_text(encoding="utf-8"))
            if before != job:
                raise UsageError(
                    f"{self.out} holds the answers of another run (other options or other parts). "
                    "Give another folder with --out, or --force to begin anew."
                )
        elif any((self.out / name).exists() for name in job["parts"]):
            raise UsageError(f"{self.out} holds files of these names. Give another folder, or --force to replace them.")
        self.left = [i for i, part in enumerate(self.parts) if not (self.out / part.name).exists()]

    def begin(self):
        """Make the folder and say in it what was asked for: from now on a run can be taken up again."""
        self.out.mkdir(parents=True, exist_ok=True)
        write_mark(self.out / JOB, self.job)
        self.screen.result["out"] = str(self.out)  # what is there is complete, whatever happens

    def each(self, place, function, tasks):
        """[function(*task)], with progress."""
        found = [None] * len(tasks)
        for done, (number, answer) in enumerate(place.each(function, tasks), start=1):
            found[number] = answer
            self.screen.step(f"{self.screen.doing}, {done} of {len(tasks)}", done / len(tasks))
        return found

    def sample(self, place, found, rows, options):
        """The table of these rows, given by their numbers over all parts."""
        ends = np.cumsum([n for n, _, _ in found])
        owner, starts = np.searchsorted(ends, rows, side="right"), ends - [n for n, _, _ in found]
        tasks = [(self.parts[k], rows[owner == k] - starts[k], options) for k in np.unique(owner)]
        frames = self.each(place, rows_of, tasks)
        first = read_table(tasks[0][0], **options)
        return first.like(_joined(frames))

    def fit_labels(self, screen, table, target, more):
        """Run `mercer label` on a sample; keep its model and what it found."""
        quiet = Screen(quiet=True)
        with tempfile.TemporaryDirectory() as folder:
            binary = self.parts[0].suffix in (".parquet", ".pq")
            path, kept = Path(folder) / f"sample{'.parquet' if binary else '.csv'}", Path(folder) / "model"
            write_table(table, {}, path)
            options = _without(more, *TOLD, "save", "delimiter", "encoding")
            labelling.label(quiet, path, [target], path.with_stem("out"), save=kept, **options)
            _refuse_numbers(kept, target)
            self.begin()
            with replacing(self.out / MODEL, force=True) as (part,):
                shutil.copyfile(kept, part)
        if more.get("save"):
            shutil.copyfile(self.out / MODEL, more["save"])
        for sentence in quiet.notes:
            screen.note(sentence)
        screen.result |= _without(quiet.result, "out", "seconds", "report", "model")

    def run(self, place, function, found, more):
        """Answer the parts that are not there yet and set the mark; {fact: sum over the parts}."""
        self.begin()
        whole = [i for i in self.left if found[i][0]]
        for i in set(self.left) - set(whole):  # a part without rows has no answers
            shutil.copyfile(self.parts[i], self.out / self.parts[i].name)
        tasks = [(self.parts[i], self.out / self.parts[i].name, self.out, *more(i)) for i in whole]
        total: dict = {"classes": {}}
        for facts in self.each(place, function, tasks):
            for name, count in facts.pop("classes", {}).items():
                total["classes"][name] = total["classes"].get(name, 0) + count
            total |= {name: total.get(name, 0) + number for name, number in facts.items()}
        missing = [part.name for part in self.parts if not (self.out / part.name).exists()]
        if missing:
            raise InputError(f"{len(missing)} parts are missing in {self.out}, such as {missing[0]}. Run again.")
        write_mark(self.out / MARK, {"parts": len(self.parts), "rows": int(sum(n for n, _, _ in found))})
        return total


def _tell(screen, work, facts):
    before = len(work.parts) - len(work.left)
    rows = facts.get("rows", 0)
    screen.result |= {"parts": len(work.parts), "parts_before": before, **facts, "rows": rows}
    there = f"; {before} were there already" if before else ""
    screen.say(f"{rows} rows in {len(work.left)} parts written to {work.out}{there}.")
    if facts.get("classes"):
        counts = ", ".join(f"{name} {count}" for name, count in facts["classes"].items())
        screen.say(f"Labels: {counts}; {facts['abstained']} rows left unlabelled.")
    if screen.result.get("left_out_accuracy") is not None:
        low, high = screen.result["left_out_interval"]
        share = screen.result["left_out_accuracy"]
        screen.say(f"About {share:.0%} of the answers are right (95 % interval {low:.0%} to {high:.0%}).")


def _refuse_numbers(path, name):
    """Refuse a file that holds no model of classes for tables."""
    model = load(path)
    if not isinstance(model, TableClassifier):
        what = "numbers, not classes" if isinstance(model, TableRegressor) else f"a {type(model).__name__}"
        raise InputError(
            f"{name} holds {what}: a folder takes classes, and models that `mercer label --save` wrote for them. "
            "Give one table at a time."
        )


def _chosen(found, seed):
    """Numbers of the rows to fit: every label, unless these are very many, and a sample of the others."""
    starts = np.cumsum([0, *(n for n, _, _ in found)])
    labelled = np.concatenate([start + at for start, (_, at, _) in zip(starts, found)]).astype(int)
    words = np.array([word for _, _, some in found for word in some], dtype=object)
    if len(labelled) > FIT_LABELS:
        kept = draw(len(labelled), FIT_LABELS, seed)
        first = np.unique(words.astype(str), return_index=True)[1]  # one of each class
        labelled = labelled[np.union1d(kept, first)]
    return np.union1d(labelled, draw(int(starts[-1]), FIT_ROWS, seed))


def _words(found, rows):
    """The labels of these rows, None where there is none."""
    starts = np.cumsum([0, *(n for n, _, _ in found)])
    known = {int(start + i): word for start, (_, at, some) in zip(starts, found) for i, word in zip(at, some)}
    return [known.get(int(row)) for row in rows]


def _answers(screen, path, target, key, missing):
    """{key: label} of a file of labels."""
    table = open_table(screen, path, Reading(), [key, target])
    found = read_target(table.frame[target], missing, need_labels=True)
    keys = [str(cell).strip().removesuffix(".0") for cell in table.frame[key].tolist()]
    return {name: word for name, word, given in zip(keys, found.labels.tolist(), found.given) if given}


def _reading(more):
    return Reading(**{name: value for name, value in more.items() if name in Reading.__dataclass_fields__})


def _options(more):
    delimiter = {"tab": "\t", "\\t": "\t"}.get(more.get("delimiter"), more.get("delimiter"))
    return {"delimiter": delimiter, "encoding": more.get("encoding")}


def _without(options, *names):
    return {name: value for name, value in options.items() if name not in names}


def _joined(frames):
    import pandas as pd

    return pd.concat(frames, ignore_index=True)
