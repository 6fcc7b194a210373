"""A table with labels, the classifier fitted to it, and what was decided about every row."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..few_label.classifier import FewLabelClassifier
from ..few_label.plan import METHODS
from ..inputs.tables import read_target, read_target_as
from .screen import UsageError
from .sources import kinds_of, matrix, open_table, refuse_taken, row_names

NEXT = "label_next"  # column that `suggest` writes
BLOCK = 10_000  # rows predicted at once
FIT_ROWS = 10_000  # more rows than twice this are not all fitted: a neighbour graph of 100 000 takes minutes
FIT_LABELS = 5_000


def added(target, numeric=False):
    """The columns that `label` writes."""
    middle = ("low", "high") if numeric else ("confidence",)
    return [f"{target}_{name}" for name in ("predicted", *middle, "source")]


def doubtful(target):
    """The column that `check` writes."""
    return f"{target}_doubtful"


@dataclass
class Job:
    """A table with labels, ready for a classifier."""

    data: Path
    table: Any
    target: str
    labels: Any  # tables.Target
    encoder: Any  # tables.TableEncoder
    X: Any
    names: list
    notes: list


@dataclass
class Fit:
    """A classifier fitted to the rows `rows` of the table, and its answer for all of them."""

    model: FewLabelClassifier
    rows: np.ndarray
    codes: np.ndarray  # position in model.classes_
    confidence: np.ndarray


@dataclass
class Answer:
    """What was decided about every row."""

    codes: np.ndarray  # position in the classes, the given label where there is one
    confidence: np.ndarray
    left: np.ndarray  # rows left unlabelled
    columns: dict  # to be written


def open_job(
    screen,
    data,
    target,
    writes=(),
    need_labels=True,
    *,
    kind="classes only",
    id=None,
    ignore=None,
    text=None,
    category=None,
    number=None,
    missing=None,
    delimiter=None,
    encoding=None,
):
    """Read a table and its labels; `writes` are the columns that will be added, or a function of (target, numeric).

    kind : "classes only" refuses numbers to predict; else as in `read_target_as`.
    """
    ignore = ignore or []
    kinds, asked = kinds_of(text, category, number)
    if id is not None and id == target:
        raise UsageError(f"--id and --target are both {id!r}. Name the rows by another column.")
    table = open_table(screen, data, delimiter, encoding, [target, id, *ignore, *asked])
    if kind == "classes only":
        labels = read_target(table.frame[target], missing, need_labels)
    else:
        labels = read_target_as(table.frame[target], kind, missing, need_labels)
    old = set_aside(screen, table, target, writes(target, labels.numeric) if callable(writes) else writes)
    for sentence in labels.notes:
        screen.note(sentence)
    old = [name for name in old if name in table.frame.columns and name not in asked]
    encoder, X = matrix(screen, table, [target, id, *ignore, *old], kinds)
    name = "standard input" if str(data) == "-" else data
    return Job(Path(name), table, target, labels, encoder, X, row_names(table, id), list(screen.notes))


def set_aside(screen, table, target, writes=()):
    """Columns that earlier runs wrote, whose answers must not be taken for features; those in `writes` are dropped."""
    columns = table.frame.columns
    old = [name for name in (NEXT, doubtful(target)) if name in columns]
    for answers in (added(target), added(target, numeric=True)):
        if all(name in columns for name in answers):
            sources = set(table.frame[answers[-1]].astype(str))
            old += answers if sources <= {"given", "predicted", "abstained", ""} else []
    if old:
        table.drop([name for name in old if name in writes])
        screen.note(f"Written by an earlier run, and not learnt from: {', '.join(map(repr, old))}.")
    refuse_taken(table, writes)
    return old


def fit(screen, job, methods, seconds, seed):
    """Fit to all rows, or to a sample of very many with the others predicted. Ctrl-C keeps what was tried."""
    rows = rows_to_fit(job.labels, seed)
    sampled = len(rows) < len(job.names)

    def tell(text, fraction):
        trying, _, rest = text.partition(" ")
        method = rest.partition(" ")[0].rstrip(":")
        text = f"trying {METHODS[method][0]}" if trying == "trying" and method in METHODS else text
        screen.step(text, 0.7 * fraction if sampled else fraction)

    model = FewLabelClassifier(methods, time_budget=seconds, missing_label=[], random_state=seed, verbose=tell)
    model.fit(job.X[rows], job.labels.labels[rows])
    screen.result["interrupted"] = model.interrupted_
    if model.interrupted_:
        what = f"Interrupted: the answer is that of the {len(model.candidates_)} candidates tried so far"
        screen.note(f"{what}. Ctrl-C again stops without writing.")
        job.notes.append(f"{what}.")
    codes, confidence = np.empty(len(job.names), dtype=int), np.empty(len(job.names))
    codes[rows], confidence[rows] = model.predicted_, model.confidence_
    if sampled:
        what = f"The model was fitted to {len(rows)} of {len(codes)} rows, {model.labels_.labelled.size} of them "
        note(screen, job, f"{what}labelled; the other rows were predicted from these.")
        others = np.setdiff1d(np.arange(len(codes)), rows)
        for begin in range(0, len(others), BLOCK):
            screen.step(f"predicting {len(others)} other rows", 0.7 + 0.3 * begin / len(others))
            block = others[begin : begin + BLOCK]
            P = model.predict_proba(job.X[block])
            codes[block], confidence[block] = P.argmax(axis=1), P.max(axis=1)
    return Fit(model, rows, codes, confidence)


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


def answer(job, fitted, abstain):
    """Given labels, predictions, and rows left unlabelled, with the columns to write."""
    given = job.labels.given
    position = {str(name): code for code, name in enumerate(fitted.model.classes_)}
    codes = fitted.codes.copy()
    codes[given] = [position[word] for word in job.labels.labels[given]]
    confidence = np.where(given, 1.0, fitted.confidence)
    left = ~given & (confidence < (abstain or 0.0))
    words = [job.labels.values[str(name)] for name in fitted.model.classes_[codes]]
    return Answer(codes, confidence, left, new_columns(job.target, words, confidence, left, given))


def new_columns(target, words, confidence, left, given):
    """The three columns that are added to the table."""
    words = [None if gone else word for word, gone in zip(words, left)]
    source = np.where(given, "given", np.where(left, "abstained", "predicted"))
    return dict(zip(added(target), (words, np.round(confidence, 4), source)))
