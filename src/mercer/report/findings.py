"""What a report is made of: plain values, no models."""

from dataclasses import dataclass, field

import numpy as np

MOST_POINTS = 10_000  # rows to draw; a report of so many is about half a megabyte


@dataclass
class Points:
    """The rows as points in the plane.

    Attributes
    ----------
    xy : (n, 2) positions.
    codes : (n,) position of each row's class in `Findings.classes`, -1 where the row was left unlabelled.
    given : (n,) whether the label was given.
    confidence : (n,) in [0, 1], or None where there is none.
    names : (n,) what each row is called.
    cells : column name → (n,) cells of the row, as text, for the tooltip.
    """

    xy: np.ndarray
    codes: np.ndarray
    given: np.ndarray
    confidence: np.ndarray | None
    names: list
    cells: dict = field(default_factory=dict)


@dataclass
class Findings:
    """Everything the report shows; a section without content is left out. Wherever a row is shown, it is (name, cells).

    Attributes
    ----------
    title, subtitle : the headline and the line below.
    facts : (name, value) pairs of what was asked.
    tiles : (value, caption) pairs: the numbers to see first.
    classes : class names; everything about classes is in this order.
    points : `Points` of all `n_rows` rows, of a sample of them, or None; `axes` is a sentence on the two axes.
    marks : a sentence on what the points are.
    confidence : (m,) confidence of the rows that were not given.
    coverage : (share of rows labelled, accuracy, low, high) rows, most confident first, from left-out labels.
    majority : (class, share): the accuracy of always answering the most frequent class, or None.
    candidates : dicts with name, settings, right, low, high, weight (shares) and seconds: the first of `n_candidates`.
    balance : (class, given, predicted) rows; `n_abstained` rows were left unlabelled.
    recall : dicts with name, tested, right (counts), low, high (shares) and taken: [(other class, count)].
    suggestions : (row, predicted class, confidence, reason) rows; `effect` is a sentence on what more labels would do.
    suspicious : (row, given label, the model's class, reason) rows.
    doubtful : (row, predicted class, confidence, reasons) rows.
    unseen : (row, reason) rows that may belong to classes without a label; `unseen_share` is a sentence on how many.
    odd : (row, how unusual, which cell is) rows.
    groups : dicts with name, size (or None), telling (phrases) and rows; `grouping` is heading and hint.
    how_many : (number of groups, how well they are separated, whether asked for) rows.
    columns : dicts with name, kind, use, why, missing, say (shares) and effect (from 0 to 1, or None).
    reasons : sentences on what was chosen and why.
    notes : sentences on how the table was read.
    code : how to use the result in Python.
    """

    title: str
    subtitle: str = ""
    facts: list = field(default_factory=list)
    tiles: list = field(default_factory=list)
    classes: list = field(default_factory=list)
    points: Points | None = None
    n_rows: int = 0
    axes: str = ""
    marks: str = ""
    confidence: np.ndarray | None = None
    abstain: float | None = None
    coverage: list = field(default_factory=list)
    majority: tuple | None = None
    candidates: list = field(default_factory=list)
    n_candidates: int = 0
    balance: list = field(default_factory=list)
    n_abstained: int = 0
    recall: list = field(default_factory=list)
    suggestions: list = field(default_factory=list)
    effect: str = ""
    suspicious: list = field(default_factory=list)
    doubtful: list = field(default_factory=list)
    unseen: list = field(default_factory=list)
    unseen_share: str = ""
    odd: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    grouping: tuple = ("Groups", "")
    how_many: list = field(default_factory=list)
    columns: list = field(default_factory=list)
    reasons: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    code: str = ""
