"""Cells of several labels, such as `a;b`: one classifier for each label against the rest, and one column again."""

from dataclasses import replace

import numpy as np

from ..inputs.tables import Target
from ..jobs.answers import added
from ..jobs.job import PROBABILITY


def parts_of(job):
    """[job]; for cells of several labels a job of yes and no for each label that some cells have and some have not."""
    if not job.labels.mark:
        return [job]
    given = np.flatnonzero(job.labels.given)
    sets = [_labels(word, job.labels.mark) for word in job.labels.labels[given]]
    jobs = []
    for name in sorted(set.union(*sets)):
        if all(name in one for one in sets):
            continue
        words = np.full(len(job.names), None, dtype=object)
        words[given] = ["yes" if name in one else "no" for one in sets]
        labels = Target(words, job.labels.given, {"no": "no", "yes": "yes"})
        jobs.append(replace(job, target=f"{job.target}: {name}", labels=labels, earlier=None))
    return jobs


def together(job, parts, abstain, probabilities):
    """The columns of `label` for cells of several labels, from the answers on each.

    A label is in the answer where its calibrated probability is at least one half, and the likeliest one always is. The
    confidence is that of the whole cell, if the labels are independent of each other.
    """
    mark, given = job.labels.mark, job.labels.given
    names = [part.target.removeprefix(f"{job.target}: ") for part, _, _ in parts]
    always = set.intersection(*(_labels(word, mark) for word in job.labels.labels[given]))
    P = np.column_stack([fitted.P[:, 1] for _, fitted, _ in parts])  # classes are sorted: no, yes
    inside = P >= 0.5
    inside[np.arange(len(P)), P.argmax(axis=1)] |= not always
    confidence = np.where(given, 1.0, np.where(inside, P, 1 - P).prod(axis=1))
    left = ~given & (confidence < (abstain or 0.0))
    words = [
        None if gone else mark.join(sorted({*always, *(name for name, there in zip(names, row) if there)}))
        for row, gone in zip(inside, left)
    ]
    for row in np.flatnonzero(given):
        words[row] = job.labels.values[job.labels.labels[row]]
    source = np.where(given, "given", np.where(left, "abstained", "predicted"))
    columns = dict(zip(added(job.target), (words, np.round(confidence, 4), source)))
    if probabilities:
        P[given] = [[name in _labels(word, mark) for name in names] for word in job.labels.labels[given]]
        columns |= dict(zip(added(job.target, *(f"{PROBABILITY}{name}" for name in names)), np.round(P, 4).T))
    return columns


def _labels(word, mark):
    return {part.strip() for part in word.split(mark)} - {""}
