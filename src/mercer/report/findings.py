"""The contents of a report as plain values, without models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ..types import Facts

Row: TypeAlias = tuple[str, ...]
"""A row as reports show it. It is (name, cells that distinguish it), and its picture as a data URI if it has one."""


@dataclass
class Points:
    """The n rows as points in the plane."""

    xy: np.ndarray  # (n, 2)
    codes: np.ndarray  # position of each row's class in `Findings.classes`, -1 if the row was left unlabeled
    given: np.ndarray  # whether the label was given
    confidence: np.ndarray | None  # in [0, 1]
    names: Sequence[str]  # name of each row
    cells: dict[str, list[str]] = field(default_factory=dict)  # text of the tooltips, by column name


@dataclass
class Findings:
    """Everything the report shows. A section without content is omitted.

    Everything about classes is in the order of `classes`. Fractions are between 0 and 1. Rows are of type `Row`.
    """

    title: str
    subtitle: str = ""
    warnings: Sequence[str] = ()  # sentences to read before anything else
    facts: Sequence[tuple[str, str]] = ()  # (name, value) pairs of the options
    tiles: Sequence[tuple[str, str]] = ()  # (value, caption) pairs of the main numbers
    classes: Sequence[str] = ()
    palette: Sequence[int] = ()  # number of the color of each class. The default is 0, 1, 2, …
    sequential: bool = False  # whether the classes are ranges of numbers, with colors from low to high
    points: Points | None = None  # of all `n_rows` rows, or of a sample of them
    n_rows: int = 0
    axes: str = ""  # a sentence on the two axes
    marks: str = ""  # a sentence on what the points are
    confidence: np.ndarray | None = None  # of the rows that were not given
    abstain: float | None = None
    # (given numbers, predictions without them, half width of a prediction), or None for classes
    withheld: tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]] | None = None
    # (fraction of rows labeled, accuracy, low, high), most confident first
    coverage: Sequence[tuple[float, float, float, float]] = ()
    majority: tuple[str, float] | None = None  # the most frequent class, and its fraction of the labels
    candidates: Sequence[Facts] = ()  # with name, settings, weight, seconds, and right, low, high or rmse, mae as text
    n_candidates: int = 0  # number of all candidates, of which those are the first
    balance: Sequence[tuple[str, int, int]] = ()  # (class, given, predicted)
    n_abstained: int = 0  # rows left unlabeled
    recall: Sequence[Facts] = ()  # with name, tested, right, low, high, and taken as [(other class, count)]
    suggestions: Sequence[tuple[Row, str, float | None, str]] = ()  # (row, prediction, confidence or None, reason)
    effect: str = ""  # a sentence on the effect of more labels
    audit: Sequence[str] = ()  # sentences on sources of hints
    sources: Sequence[tuple[object, ...]] = ()  # (source, class, rows, precision, recall, checks) of their guesses
    guesses: Sequence[tuple[Row, str, str, float]] = ()  # (row, guess, the model's class, probability it is wrong)
    suspicious: Sequence[tuple[Row, str, str, str]] = ()  # (row, given label, the model's class, reason)
    confirmed: str = ""  # a sentence on how often the model is correct
    doubtful: Sequence[tuple[Row, str, float, str]] = ()  # (row, predicted class, confidence, reasons)
    unseen: Sequence[tuple[Row, str]] = ()  # (row, reason) of rows that may belong to classes without a label
    unseen_share: str = ""  # a sentence on how many
    rankings: Sequence[Facts] = ()  # with name, sentence, within, and rows as (row, probability)
    odd: Sequence[Facts] = ()  # outliers with row, score, reason, columns, nearest (rows), images, text
    odd_notes: Sequence[str] = ()  # sentences on the threshold and on how many outliers there are
    groups: Sequence[Facts] = ()  # with name, size (or None), distinctive (phrases) and rows
    grouping: tuple[str, str] = ("Groups", "")  # heading and hint
    how_many: Sequence[tuple[int, float, bool]] = ()  # (number of groups, how well separated, whether requested)
    columns: Sequence[Facts] = ()  # with name, kind, use, why, missing, weight (`say`) and effect (or None)
    reasons: Sequence[str] = ()  # sentences on what was chosen and why
    notes: Sequence[str] = ()  # sentences on how the table was read
    code: str = ""  # how to use the result in Python
