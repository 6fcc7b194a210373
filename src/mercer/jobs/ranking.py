"""Rows ranked by the probability of one class, and the quality of the ranking for rare classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..evidence.accuracy import Rate
from ..evidence.ranking import average_precision
from ..few_label.classifier import FewLabelClassifier
from ..types import Facts
from .quality import random_held_out
from .usage import UsageError, did_you_mean

SHOWN = 20  # rows of a ranked list


@dataclass(frozen=True)
class Ranking:
    """The unlabeled rows in the order of the probability of a class.

    Attributes
    ----------
    name : the class. labels, all_labels : number of labels of this class, and of all classes.
    precision : average precision of the held-out labels. recall : fraction of its held-out labels that are found.
    rows, probability : unlabeled rows, the most likely first, and their probabilities of the class.
    """

    name: str
    labels: int
    all_labels: int
    precision: float
    recall: Rate
    rows: np.ndarray
    probability: np.ndarray

    @property
    def expected(self) -> float:
        """Expected number of unlabeled rows of the class."""
        return float(self.probability.sum())

    @property
    def sentence(self) -> str:
        """Return a sentence on the held-out labels of the class and the expected number of its rows."""
        rate = self.labels / self.all_labels
        text = f"Class {self.name!r} has {self.labels} of {self.all_labels} labels ({rate:.1%})"
        if np.isfinite(self.precision):
            found = self.recall
            text += (
                f". {found.value:.0%} of them (95% interval {found.low:.0%} to {found.high:.0%}) are found when held "
                f"out, and the average precision is {self.precision:.2f} ({rate:.2f} by chance)"
            )
        return f"{text}. About {self.expected:.0f} of the other rows are expected to be of this class."

    def within(self, number: int) -> str:
        """Return a sentence on how many rows of the class are expected among the first ones."""
        number = min(number, len(self.rows))
        among = self.probability[:number].sum()
        return f"The first {number} rows are expected to contain {among:.0f} of about {self.expected:.0f} rows."

    def facts(self, names: Sequence[str]) -> Facts:
        """Return what --json prints."""
        first = [(names[i], float(p)) for i, p in zip(self.rows[:SHOWN], self.probability[:SHOWN])]
        return {
            "class": self.name,
            "labels": self.labels,
            "average_precision": self.precision,
            "recall": self.recall.value,
            "recall_interval": [self.recall.low, self.recall.high],
            "expected": self.expected,
            "sentence": self.sentence,
            "within": self.within(SHOWN),
            "first": [{"row": row, "probability": round(p, 4)} for row, p in first],
        }

    def column(self, n: int) -> np.ndarray:
        """Return the (n,) ranks of the unlabeled rows as text, from 1. "" for rows with a label."""
        cells = np.full(n, "", dtype=object)
        cells[self.rows] = np.arange(1, len(self.rows) + 1).astype(str)
        return cells


def ranked(model: FewLabelClassifier, P: np.ndarray, given: np.ndarray, name: str) -> Ranking:
    """Return the ranking of the unlabeled rows by the probability of a class, given by its name.

    Parameters
    ----------
    P : (n, k) probabilities of the rows. given : (n,) rows with a label.
    """
    names = [str(one) for one in model.classes_]
    if name not in names:
        raise UsageError(f"There is no class {name!r} among the labels. {did_you_mean(name, names)}")
    k, (codes, held_out) = names.index(name), random_held_out(model)
    counts, inside = model.labels_.counted @ model.labels_.given, codes == k
    precision = average_precision(held_out[:, k], inside) if len(codes) else float("nan")
    free = np.flatnonzero(~given)
    order = free[np.argsort(-P[free, k], kind="stable")]
    recall = model.estimate_.recall[k]
    return Ranking(name, round(counts[k]), round(counts.sum()), precision, recall, order, P[order, k])


def rare_classes(model: FewLabelClassifier) -> list[str]:
    """Return at most three classes with few labels, the rarest first.

    A class is rare if it has fewer than a tenth of the labels, and less than half of its part in an even distribution.
    """
    counts = model.labels_.counted @ model.labels_.given
    rates, limit = counts / counts.sum(), min(0.1, 0.5 / len(counts))
    rare = [k for k in np.argsort(rates, kind="stable") if rates[k] < limit and counts[k] > 1]
    return [str(model.classes_[k]) for k in rare[:3]]
