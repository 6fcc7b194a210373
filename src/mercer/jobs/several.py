"""Cells of several labels, such as `a;b`: one classifier for each label against the rest, and one column again."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..few_label.answers import Answers
from ..inputs.tables import Target
from ..types import Facts
from .classes import ClassFit
from .corrections import PROBABILITY, added
from .dataset import Dataset
from .options import AnswerOptions


def parts_of(dataset: Dataset) -> list[Dataset]:
    """Return a dataset of yes and no for each label that some cells have and some do not."""
    given, sets = np.flatnonzero(dataset.labels.given), _sets(dataset)
    datasets = []
    for name in _separate(sets):
        words = np.full(len(dataset.names), None, dtype=object)
        words[given] = ["yes" if name in one else "no" for one in sets]
        labels = Target(words, dataset.labels.given, {"no": "no", "yes": "yes"})
        datasets.append(replace(dataset, target=f"{dataset.target}: {name}", labels=labels, earlier=None))
    return datasets


def together(dataset: Dataset, fits: Sequence[ClassFit], options: AnswerOptions) -> Facts:
    """Return the columns of `label` for cells of several labels, from the fits of each label.

    The prediction contains the labels with a calibrated probability of at least one half. It always contains the most
    likely one, unless all labeled cells have some label in common. The confidence is that of the whole cell, if the
    labels are independent of each other.
    """
    mark, given = dataset.labels.mark, dataset.labels.given
    sets = _sets(dataset)
    names, always = _separate(sets), set.intersection(*sets)
    P = np.column_stack([fitted.P[:, 1] for fitted in fits])  # the classes are sorted, so yes is the second
    inside = P >= 0.5
    inside[np.arange(len(P)), P.argmax(axis=1)] |= not always
    confidence = np.where(given, 1.0, np.where(inside, P, 1 - P).prod(axis=1))
    left = ~given & Answers.abstained(confidence, options.abstain)
    words = [
        None if gone else mark.join(sorted({*always, *(name for name, there in zip(names, row) if there)}))
        for row, gone in zip(inside, left)
    ]
    for row in np.flatnonzero(given):
        words[row] = dataset.labels.values[dataset.labels.labels[row]]
    source = np.where(given, "given", np.where(left, "abstained", "predicted"))
    columns = dict(zip(added(dataset.target), (words, np.round(confidence, 4), source)))
    if options.probabilities:
        P[given] = [[name in one for name in names] for one in sets]
        columns |= dict(zip(added(dataset.target, *(f"{PROBABILITY}{name}" for name in names)), np.round(P, 4).T))
    return columns


def _sets(dataset: Dataset) -> list[set[str]]:
    """Return the labels of each labeled cell."""
    words, mark = dataset.labels.labels[dataset.labels.given], dataset.labels.mark
    return [{part.strip() for part in word.split(mark)} - {""} for word in words]


def _separate(sets: list[set[str]]) -> list[str]:
    """Return the labels that some cells have and some do not."""
    every: set[str] = set.union(*sets)
    return sorted(name for name in every if not all(name in one for one in sets))
