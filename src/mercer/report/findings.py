"""The contents of a report: plain values, no models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ..types import Facts

Row: TypeAlias = tuple[str, ...]
"""A row as reports show it: its name, the cells that distinguish it, and its picture as a data URI if it has one."""


@dataclass
class Points:
    """The n rows as points in the plane."""

    xy: np.ndarray  # (n, 2)
    codes: np.ndarray  # position of each row's class in `Findings.classes`, -1 where the row was left unlabeled
    given: np.ndarray  # whether the label was given
    confidence: np.ndarray | None  # in [0, 1]
    names: Sequence[str]  # what each row is called
    cells: dict[str, list[str]] = field(
        default_factory=dict
    )  # column name → cells of the rows, as text, for the tooltip


@dataclass
class Findings:
    """Everything the report shows. A section without content is left out. Wherever a row is shown, it is (name, cells).

    Everything about classes is in the order of `classes`. Shares are between 0 and 1.
    """

    title: str
    subtitle: str = ""
    warnings: Sequence[str] = ()  # sentences to read before anything else
    facts: Sequence[tuple[str, str]] = ()  # (name, value) pairs of what was asked
    tiles: Sequence[tuple[str, str]] = ()  # (value, caption) pairs: the numbers to see first
    classes: Sequence[str] = ()
    palette: Sequence[int] = ()  # number of the color of each class; by default 0, 1, 2, …
    sequential: bool = False  # whether the classes are ranges of numbers, with colors from low to high
    points: Points | None = None  # of all `n_rows` rows, or of a sample of them
    n_rows: int = 0
    axes: str = ""  # a sentence on the two axes
    marks: str = ""  # a sentence on what the points are
    confidence: np.ndarray | None = None  # of the rows that were not given
    abstain: float | None = None
    # (given numbers, predictions without them, half width of a prediction); None for classes
    withheld: tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]] | None = None
    # (fraction of rows labeled, accuracy, low, high), most confident first
    coverage: Sequence[tuple[float, float, float, float]] = ()
    majority: tuple[str, float] | None = (
        None  # (class, share): the accuracy of always answering the most frequent class
    )
    candidates: Sequence[Facts] = field(
        default_factory=list
    )  # dicts: name, settings, right, low, high (or rmse and mae as text), weight …
    n_candidates: int = 0  # of which those are the first
    balance: Sequence[tuple[str, int, int]] = ()  # (class, given, predicted)
    n_abstained: int = 0  # rows left unlabeled
    recall: Sequence[Facts] = field(
        default_factory=list
    )  # dicts: name, tested, right, low, high, taken: [(other class, count)]
    suggestions: Sequence[tuple[Row, str, float | None, str]] = field(
        default_factory=list
    )  # (row, prediction, confidence or None, reason)
    effect: str = ""  # a sentence on what more labels would do
    audit: Sequence[str] = ()  # sentences on sources of hints
    sources: Sequence[tuple[object, ...]] = field(
        default_factory=list
    )  # (source, class, rows, correct, found, checks) of their guesses
    guesses: Sequence[tuple[Row, str, str, float]] = field(
        default_factory=list
    )  # (row, what a source says, the model's class, probability it is wrong)
    suspicious: Sequence[tuple[Row, str, str, str]] = field(
        default_factory=list
    )  # (row, given label, the model's class, reason)
    confirmed: str = ""  # a sentence on how often the model is correct
    doubtful: Sequence[tuple[Row, str, float, str]] = field(
        default_factory=list
    )  # (row, predicted class, confidence, reasons)
    unseen: Sequence[tuple[Row, str]] = field(
        default_factory=list
    )  # (row, reason): rows that may belong to classes without a label
    unseen_share: str = ""  # a sentence on how many
    rankings: Sequence[Facts] = ()  # dicts: name, sentence, within, rows: (row, probability)
    odd: Sequence[Facts] = field(
        default_factory=list
    )  # dicts: row, score, reason, columns, nearest (rows), images, text
    odd_notes: Sequence[str] = field(
        default_factory=list
    )  # sentences on the threshold and on how many outliers there are
    groups: Sequence[Facts] = ()  # dicts: name, size (or None), distinctive (phrases) and rows
    grouping: tuple[str, str] = ("Groups", "")  # heading and hint
    how_many: Sequence[tuple[int, float, bool]] = field(
        default_factory=list
    )  # (number of groups, how well separated, whether requested)
    columns: Sequence[Facts] = field(
        default_factory=list
    )  # dicts: name, kind, use, why, missing, say and effect (or None)
    reasons: Sequence[str] = ()  # sentences on what was chosen and why
    notes: Sequence[str] = ()  # sentences on how the table was read
    code: str = ""  # how to use the result in Python
