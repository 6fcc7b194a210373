"""Rows ranked by the probability of one class, and what held-out labels tell of rare classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..evidence.accuracy import Rate
from ..evidence.ranking import average_precision
from ..few_label.classifier import FewLabelClassifier
from ..types import Facts
from .quality import drawn_withheld
from .usage import UsageError, did_you_mean

RARE = 0.1  # of the labels; of many classes half of an even fraction
SHOWN = 20  # rows of a ranked list
MOST_CLASSES = 3  # rare classes of which the command and the report tell


@dataclass(frozen=True)
class Ranking:
    """The unlabeled rows in the order of the probability of a class.

    Attributes
    ----------
    name : the class. labels, all_labels : how many labels it has, of how many.
    precision : average precision of the held-out labels. recall : fraction of its held-out labels that are found.
    rows : unlabeled rows, the most likely first. probability : theirs.
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
        """Unlabeled rows that are expected to be of the class."""
        return float(self.probability.sum())

    @property
    def sentence(self) -> str:
        """Return a sentence on the held-out labels of the class and the expected number of its rows."""
        share = self.labels / self.all_labels
        said = f"Class {self.name!r} has {self.labels} of {self.all_labels} labels ({share:.1%})"
        if np.isfinite(self.precision):
            found = self.recall
            said += (
                f": {found.value:.0%} of them (95% interval {found.low:.0%} to {found.high:.0%}) are found when held "
                f"out, and the average precision is {self.precision:.2f} ({share:.2f} by chance)"
            )
        return f"{said}. About {self.expected:.0f} of the other rows are expected to be of this class."

    def within(self, number: int) -> str:
        """How many rows of the class are expected among the first ones."""
        number = min(number, len(self.rows))
        among = self.probability[:number].sum()
        return f"The first {number} rows are expected to contain {among:.0f} of about {self.expected:.0f} rows."

    def facts(self, names: Sequence[str]) -> Facts:
        """For --json."""
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
        """(n,) cells: the rank of each unlabeled row, from 1. "" for rows with a label."""
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
    k, (codes, held_out) = names.index(name), drawn_withheld(model)
    counts, inside = model.labels_.counted @ model.labels_.given, codes == k
    precision = average_precision(held_out[:, k], inside) if len(codes) else float("nan")
    free = np.flatnonzero(~given)
    order = free[np.argsort(-P[free, k], kind="stable")]
    recall = model.estimate_.recall[k]
    return Ranking(name, round(counts[k]), round(counts.sum()), precision, recall, order, P[order, k])


def rare_classes(model: FewLabelClassifier) -> list[str]:
    """Return the classes that few labels have, the rarest first."""
    counts = model.labels_.counted @ model.labels_.given
    shares = counts / counts.sum()
    rare = [k for k in np.argsort(shares, kind="stable") if shares[k] < min(RARE, 0.5 / len(counts)) and counts[k] > 1]
    return [str(model.classes_[k]) for k in rare[:MOST_CLASSES]]
