"""A table with labels, the classifier fitted to it, and what was decided about every row."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..selection.few_label import FewLabelClassifier
from ..tables import read_target
from ..tables.compact import CompactClassifier
from .sources import matrix, open_table

ADDED = ("predicted", "confidence", "source")
FIT_ROWS = 10_000  # more rows than twice this are not all fitted: a neighbour graph of 100 000 takes minutes
FIT_LABELS = 5_000


@dataclass
class Job:
    """A table with labels, ready for a classifier."""

    data: Path
    table: Any
    target: str
    labels: Any  # tables.Target
    features: Any
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

    def compact(self):
        """The classifier without what only teaching needs."""
        return CompactClassifier.of(self.model)


@dataclass
class Answer:
    """What was decided about every row."""

    codes: np.ndarray  # position in the classes, the given label where there is one
    confidence: np.ndarray
    left: np.ndarray  # rows left unlabelled
    columns: dict  # to be written


def open_job(screen, data, target, id, exclude, include, missing, delimiter, encoding, need_labels=True):
    """Read a table and its labels."""
    named = [target, id, *(exclude or ()), *(include or ())]
    table = open_table(screen, data, delimiter, encoding, named)
    without_added(screen, table, target)
    labels = read_target(table.frame[target], missing, need_labels)
    for sentence in labels.notes:
        screen.note(sentence)
    left_out = [target, *([id] if id else []), *(exclude or ())]
    features, X = matrix(screen, table, left_out, include)
    names = table.frame[id].astype(str).tolist() if id else [str(i) for i in range(1, len(table) + 1)]
    return Job(Path(data), table, target, labels, features, X, names, list(screen.notes))


def without_added(screen, table, target):
    """Drop the columns that an earlier run wrote, so that its answers are not taken for features."""
    old = [f"{target}_{name}" for name in ADDED]
    if not all(name in table.frame.columns for name in old):
        return
    if set(table.frame[old[2]].astype(str)) <= {"given", "predicted", "abstained", ""}:
        table.drop(old)
        screen.note(f"The columns {', '.join(map(repr, old))} of an earlier run are replaced.")


def fit(screen, job, methods, seconds, seed):
    """Fit to all rows, or to a sample of very many with the others predicted."""
    rows = rows_to_fit(job.labels, seed)
    model = FewLabelClassifier(methods, time_budget=seconds, missing_label=[], random_state=seed)
    model.fit(job.X[rows], job.labels.labels[rows])
    codes, confidence = np.empty(len(job.names), dtype=int), np.empty(len(job.names))
    codes[rows], confidence[rows] = model.predicted_, model.confidence_
    if len(rows) < len(codes):
        sentence = f"The model was fitted to {len(rows)} of {len(codes)} rows, {model.labels_.labelled.size} of them "
        sentence += "labelled; the other rows were predicted from these."
        screen.note(sentence)
        job.notes.append(sentence)
        others = np.setdiff1d(np.arange(len(codes)), rows)
        P = CompactClassifier.of(model).predict_proba(job.X[others])
        codes[others], confidence[others] = P.argmax(axis=1), P.max(axis=1)
    return Fit(model, rows, codes, confidence)


def rows_to_fit(labels, seed):
    """All rows; of very many a sample with every class in it, and every label unless these are very many too."""
    n = len(labels.given)
    if n <= 2 * FIT_ROWS:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    given = rng.permutation(np.flatnonzero(labels.given))
    if len(given) > FIT_LABELS:
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
    columns = (words, np.round(confidence, 4), source)
    return {f"{target}_{name}": column for name, column in zip(ADDED, columns)}
