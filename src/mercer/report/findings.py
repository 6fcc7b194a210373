"""What a report is made of: plain values, no models."""

from dataclasses import dataclass, field

import numpy as np

MOST_POINTS = 10_000  # rows to draw; a report of so many is about half a megabyte


@dataclass
class Points:
    """The n rows as points in the plane."""

    xy: np.ndarray  # (n, 2)
    codes: np.ndarray  # position of each row's class in `Findings.classes`, -1 where the row was left unlabelled
    given: np.ndarray  # whether the label was given
    confidence: np.ndarray | None  # in [0, 1]
    names: list  # what each row is called
    cells: dict = field(default_factory=dict)  # column name → cells of the rows, as text, for the tooltip


@dataclass
class Findings:
    """Everything the report shows; a section without content is left out. Wherever a row is shown, it is (name, cells).

    Everything about classes is in the order of `classes`; shares are between 0 and 1.
    """

    title: str
    subtitle: str = ""
    facts: list = field(default_factory=list)  # (name, value) pairs of what was asked
    tiles: list = field(default_factory=list)  # (value, caption) pairs: the numbers to see first
    classes: list = field(default_factory=list)
    points: Points | None = None  # of all `n_rows` rows, or of a sample of them
    n_rows: int = 0
    axes: str = ""  # a sentence on the two axes
    marks: str = ""  # a sentence on what the points are
    confidence: np.ndarray | None = None  # of the rows that were not given
    abstain: float | None = None
    withheld: tuple | None = None  # (given numbers, answers without them, half width of the interval); None: classes
    coverage: list = field(default_factory=list)  # (share of rows labelled, accuracy, low, high), most confident first
    majority: tuple | None = None  # (class, share): the accuracy of always answering the most frequent class
    candidates: list = field(default_factory=list)  # dicts: name, settings, right, low, high (or rmse, mae), weight …
    n_candidates: int = 0  # of which those are the first
    balance: list = field(default_factory=list)  # (class, given, predicted)
    n_abstained: int = 0  # rows left unlabelled
    recall: list = field(default_factory=list)  # dicts: name, tested, right, low, high, taken: [(other class, count)]
    suggestions: list = field(default_factory=list)  # (row, prediction, confidence or None, reason)
    effect: str = ""  # a sentence on what more labels would do
    suspicious: list = field(default_factory=list)  # (row, given label, the model's class, reason)
    confirmed: str = ""  # a sentence on how often the model is right
    doubtful: list = field(default_factory=list)  # (row, predicted class, confidence, reasons)
    unseen: list = field(default_factory=list)  # (row, reason): rows that may belong to classes without a label
    unseen_share: str = ""  # a sentence on how many
    odd: list = field(default_factory=list)  # (row, how unusual, which cell is)
    groups: list = field(default_factory=list)  # dicts: name, size (or None), telling (phrases) and rows
    grouping: tuple = ("Groups", "")  # heading and hint
    how_many: list = field(default_factory=list)  # (number of groups, how well separated, whether asked for)
    columns: list = field(default_factory=list)  # dicts: name, kind, use, why, missing, say and effect (or None)
    reasons: list = field(default_factory=list)  # sentences on what was chosen and why
    notes: list = field(default_factory=list)  # sentences on how the table was read
    code: str = ""  # how to use the result in Python
