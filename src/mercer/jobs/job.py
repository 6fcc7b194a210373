"""A table with labels, the classifier fitted to it, and what was decided about every row; numbers: see `numbers`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..few_label.classifier import FewLabelClassifier
from ..few_label.plan import METHODS
from ..inputs.tables import Telling, read_target_as
from .answers import ROW, added, answered, earlier_answers, how_words, take_answers, take_corrections
from .sets import Sets
from .sources import Reading, matrix, open_table, refuse_similar, refuse_taken, row_names
from .usage import UsageError

NEXT = "label_next"  # column that `suggest` writes
PROBABILITY = "probability_"  # the columns of --probabilities are TARGET_probability_CLASS
BLOCK = 10_000  # rows predicted at once
FIT_ROWS = 10_000  # more rows than twice this are not all fitted: a neighbour graph of 100 000 takes minutes
FIT_LABELS = 5_000


def doubtful(target):
    """The column that `check` writes."""
    return f"{target}_doubtful"


@dataclass
class Job:
    """A table with labels, ready for a classifier or a regressor."""

    data: Path
    table: Any
    target: str
    labels: Any  # tables.Target or tables.NumberTarget
    encoder: Any  # tables.TableEncoder
    X: Any
    names: list
    telling: Telling
    notes: list
    earlier: dict | None = None  # answers that an earlier run wrote, see `earlier_answers`
    how: Any = None  # (n,) words of TARGET_how, see `how_words`

    @property
    def drawn(self):
        """(n,) False for rows that were chosen to be labelled; all others count as drawn at random."""
        return np.ones(len(self.names), dtype=bool) if self.how is None else self.how != "chosen"


@dataclass
class Fit:
    """A classifier fitted to the rows `rows` of the table, and its answer for all of them."""

    model: FewLabelClassifier
    rows: np.ndarray
    P: np.ndarray  # (n, k) probabilities
    confidence: np.ndarray

    @property
    def codes(self):
        """(n,) the likeliest class."""
        return self.P.argmax(axis=1)


@dataclass
class Answer:
    """What was decided about every row."""

    codes: np.ndarray  # position in the classes, the given label where there is one
    confidence: np.ndarray
    left: np.ndarray  # rows left unlabelled
    columns: dict  # to be written
    sets: Any = None  # `Sets` of classes, where asked for


@dataclass
class Labelled:
    """A table with its labels, before any column is looked at."""

    table: Any
    labels: dict  # target → tables.Target
    earlier: dict  # target → answers that an earlier run wrote, or None
    how: dict  # target → how each row came to be labelled, or None
    old: list  # columns that earlier runs wrote, which are no features
    reading: Reading


def read_labelled(
    screen,
    data,
    targets,
    writes=(),
    need_labels=True,
    several=False,
    *,
    kind=None,
    id=None,
    more=None,
    ignore=None,
    include=None,
    missing=None,
    new_target=False,
    **source,
):
    """Read a table and the labels of each target; `writes` are the columns that will be added.

    Where these depend on what the labels are, it is a function of (target, whether they are numbers). Corrections in
    what earlier runs wrote are labels: see `answers`. `source` are the options of `sources.Reading`. With `new_target`
    a target that the table lacks is a column without labels. `kind` says what numbers are, see `_kinds`.
    """
    reading = Reading(**source)
    if id in targets:
        raise UsageError(f"--id and --target are both {id!r}. Name the rows by another column.")
    if len(set(targets)) < len(targets):
        raise UsageError(f"--target {targets[-1]} is given twice. Give each column of labels once.")
    columns = [*([] if new_target else targets), id, *(ignore or []), *(include or [])]
    table = open_table(screen, data, reading, columns)
    for target in targets:
        if target not in table.frame.columns:
            refuse_similar(target, data, table)
            table.attach(target, [None] * len(table))
    earlier = {target: earlier_answers(table, target) for target in targets}
    own = list(dict.fromkeys(name for target in targets for name in written_before(table, target)))
    for target in targets:
        take_corrections(screen, table, target, earlier[target], missing)
    how = {target: how_words(table, target) for target in targets}
    for path in more or []:
        take_answers(screen, table, targets, path, id, reading, missing, how)
    kinds = _kinds(kind, targets)
    labels = {
        target: read_target_as(table.frame[target], kinds.get(target), missing, need_labels, several)
        for target in targets
    }
    if callable(writes):
        writes = [name for target in targets for name in writes(target, labels[target].numeric)]
    set_aside(screen, table, own, writes)
    for one in labels.values():
        for sentence in one.notes:
            screen.note(sentence)
    old = [name for name in own if name in table.frame.columns and name not in reading.asked]
    return Labelled(table, labels, earlier, how, old, reading)


def open_jobs(screen, data, targets, *rest, id=None, ignore=None, include=None, **source):
    """One `Job` a target of a table, see `read_labelled`; no target is learnt from, nor what earlier runs wrote."""
    read = read_labelled(screen, data, targets, *rest, id=id, ignore=ignore, include=include, **source)
    said, table = list(screen.notes), read.table
    path, names = Path("standard input" if str(data) == "-" else data), row_names(table, id)
    jobs, encoded = [], {}  # targets with labels in the same rows share an encoder
    for target in targets:
        given = read.labels[target].given
        if given.tobytes() not in encoded:
            unused = [*targets, id, *(ignore or []), *read.old]
            encoder, X = matrix(screen, table, unused, read.reading, data, include=include, labelled=given)
            encoded[given.tobytes()] = encoder, X, Telling(table.frame, encoder, X)
        encoder, X, telling = encoded[given.tobytes()]
        notes = said + encoder.notes_
        own = read.labels[target], encoder, X, names, telling, notes, read.earlier[target], read.how[target]
        jobs.append(Job(path, table, target, *own))
    return jobs


def _kinds(kind, targets):
    """{target: "number" or "class"} as --as says: for all of them, or COLUMN=KIND for one."""
    found: dict = {}
    for word in kind or []:
        column, _, value = word.rpartition("=")
        if value not in ("number", "class") or (column and column not in targets):
            raise UsageError(f"--as {word} is not accepted: give number or class, or COLUMN=number for one --target.")
        found |= dict.fromkeys([column] if column else targets, value)
    return found


def written_before(table, target):
    """Columns that earlier runs wrote about a target."""
    columns = table.frame.columns
    old = [name for name in (NEXT, ROW, doubtful(target)) if name in columns]
    old += added(target, "how") if how_words(table, target) is not None else []
    if earlier_answers(table, target) is not None:
        old += [*answered(table, target), *(name for name in added(target, "set") if name in columns)]
        old += [name for name in columns if str(name).startswith(added(target, PROBABILITY)[0])]
    return old


def set_aside(screen, table, old, writes=()):
    """Say that `old` columns are not features, for they hold mercer's answers; those that are written again go."""
    if old:
        table.drop([name for name in old if name in writes or name.startswith(tuple(writes))])
        screen.note(f"Written by an earlier run, and not learnt from: {', '.join(map(repr, old))}.")
    refuse_taken(table, writes)


def fit(screen, job, methods, seconds, seed):
    """Fit to all rows, or to a sample of very many with the others predicted. Ctrl-C keeps what was tried."""
    model = FewLabelClassifier(methods, time_budget=seconds, missing_label=[], random_state=seed)
    rows = search(screen, job, model, {key: words[0] for key, words in METHODS.items()})
    P = np.empty((len(job.names), len(model.classes_)))
    confidence = np.empty(len(P))
    P[rows], confidence[rows] = model.probabilities_, model.confidence_
    for block in others(screen, job, rows):
        P[block] = model.predict_proba(job.X[block])
        confidence[block] = P[block].max(axis=1)
    return Fit(model, rows, P, confidence)


def search(screen, job, model, titles):
    """Fit a few-label model to a job's labels and say what is tried; return the rows it was fitted to.

    titles : {method: what people call it}.
    """
    rows = rows_to_fit(job.labels, model.random_state)
    sampled = len(rows) < len(job.names)

    def tell(text, fraction):
        trying, _, rest = text.partition(" ")
        method = rest.partition(" ")[0].rstrip(":")
        text = f"trying {titles[method]}" if trying == "trying" and method in titles else text
        screen.step(text, 0.7 * fraction if sampled else fraction)

    model.set_params(verbose=tell).fit(job.X[rows], job.labels.of(rows), drawn=job.drawn[rows])
    screen.result["interrupted"] = model.interrupted_
    if model.interrupted_:
        what = f"Interrupted: the answer is that of the {len(model.candidates_)} candidates tried so far"
        screen.note(f"{what}. Ctrl-C again stops without writing.")
        job.notes.append(f"{what}.")
    elif model.skipped_:
        note(screen, job, f"Left out for --seconds {model.time_budget:g}: {', '.join(model.skipped_)}.")
    if sampled:
        what = f"The model was fitted to {len(rows)} of {len(job.names)} rows, {model.labels_.labelled.size} of them "
        note(screen, job, f"{what}labelled; the other rows were predicted from these.")
    return rows


def others(screen, job, rows):
    """The rows that a model was not fitted to, some thousands at a time."""
    free = np.setdiff1d(np.arange(len(job.names)), rows)
    for begin in range(0, len(free), BLOCK):
        screen.step(f"predicting {len(free)} other rows", 0.7 + 0.3 * begin / len(free))
        yield free[begin : begin + BLOCK]


def note(screen, job, sentence):
    """Say something on the screen and in the report."""
    screen.note(sentence)
    job.notes.append(sentence)


def rows_to_fit(labels, seed):
    """All rows; of very many a sample with every class in it, and every label unless these are very many too."""
    n = len(labels.given)
    if n <= 2 * FIT_ROWS:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    given = rng.permutation(np.flatnonzero(labels.given))
    if len(given) > FIT_LABELS and labels.numeric:
        given = given[:FIT_LABELS]
    elif len(given) > FIT_LABELS:
        first = np.unique(labels.labels[given].astype(str), return_index=True)[1]  # one of each class
        given = np.unique(np.concatenate([given[first], given[:FIT_LABELS]]))
    free = rng.permutation(np.flatnonzero(~labels.given))
    return np.sort(np.concatenate([given, free[: max(FIT_ROWS - len(given), 0)]]))


def answer(screen, job, fitted, abstain, probabilities=False, coverage=None, by_class=False):
    """Given labels, predictions, and rows left unlabelled, with the columns to write."""
    given, classes = job.labels.given, [str(name) for name in fitted.model.classes_]
    position = {name: code for code, name in enumerate(classes)}
    P = fitted.P.copy()
    P[given] = np.eye(len(classes))[[position[word] for word in job.labels.labels[given]]]
    if job.labels.shares is not None:
        P[given] = job.labels.shares[given]
    confidence, values = (
        np.where(given, P.max(axis=1), fitted.confidence),
        [job.labels.values[name] for name in classes],
    )
    columns, left = new_columns(job.target, P, confidence, values, given, abstain, probabilities)
    codes, sets = P.argmax(axis=1), None
    if coverage is not None:
        sets = Sets(job.target, fitted.model, fitted.P, given, coverage, by_class)
        columns |= sets.columns(values, codes)
    if job.earlier is not None:
        was = np.isin(job.earlier["source"], ["predicted", "novel"]) & ~given & ~left & (job.earlier["predicted"] != "")
        other = int(np.sum(job.earlier["predicted"][was] != np.array(classes, dtype=object)[codes][was]))
        if other:
            predicted, _, source = added(job.target)
            note(
                screen,
                job,
                f"{other} of the answers in {predicted!r} of the earlier run are replaced by other ones. To correct an "
                f"answer, type it into {job.target!r}, or into {predicted!r} with given beside it in {source!r}.",
            )
    if left.any() and (left | given).all():
        most = fitted.confidence[~given].max()
        note(screen, job, f"No row reaches --abstain {abstain:g}: the highest confidence is {most:.2f}.")
    return Answer(codes, confidence, left, columns, sets)


def new_columns(target, P, confidence, values, given, abstain=None, probabilities=False, novel=False):
    """(columns that are added to the table, rows left unlabelled); `values` are the classes as the table has them."""
    left = ~given & (confidence < (abstain or 0.0))
    words = [None if gone else values[code] for code, gone in zip(P.argmax(axis=1), left)]
    source = np.where(given, "given", np.where(left, "abstained", np.where(novel, "novel", "predicted")))
    columns = dict(zip(added(target), (words, np.round(confidence, 4), source)))
    if probabilities:
        columns |= dict(zip(added(target, *(f"{PROBABILITY}{value}" for value in values)), np.round(P, 4).T))
    return columns, left
