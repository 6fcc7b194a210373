"""Cells that a spreadsheet would run as formulas: a leading apostrophe, only where it is requested, undone on reading.

A cell needs protection if it begins with = + - @ tab or carriage return, apostrophes before these not counted, and is
no number. Protecting adds one apostrophe and undoing takes one away, so that every cell comes back as it was.
"""

import re

import numpy as np

from ....types import ColumnLike, Frame

FORMULA = re.compile(r"'*[=+\-@\t\r]")


def needs(cell: object) -> bool:
    """Whether a cell is protected where this is requested."""
    return isinstance(cell, str) and FORMULA.match(cell) is not None and not _is_number(cell)


def has(cell: object) -> bool:
    """Whether a cell may have been protected."""
    return isinstance(cell, str) and cell[:1] == "'" and needs(cell[1:])


def protected(column: ColumnLike) -> np.ndarray:
    """Cells with an apostrophe where one is needed."""
    return np.array(["'" + cell if needs(cell) else cell for cell in column] + [None], dtype=object)[:-1]


def undone(column: ColumnLike) -> np.ndarray:
    """Cells without the apostrophe that `protected` adds."""
    return np.array([cell[1:] if has(cell) else cell for cell in column] + [None], dtype=object)[:-1]


def is_protected(text: str, delimiter: str, frame: Frame) -> bool:
    """Whether the cells of a text table were protected: some have the apostrophe, and none lacks it."""
    before = '\n\r"' + delimiter
    if not any(_begins(text, match.start(), before) for match in re.finditer(r"'[=+\-@\t\r]", text)):
        return False
    found = [cell for name in frame.columns for cell in frame[name] if needs(cell)]
    return bool(found) and all(map(has, found))


def _begins(text: str, place: int, before: str) -> bool:
    """Whether a cell begins with the apostrophes that end at this place of the text."""
    while place > 0 and text[place - 1] == "'":
        place -= 1
    return place == 0 or text[place - 1] in before


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
