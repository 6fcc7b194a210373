"""Protect cells that a spreadsheet would run as formulas by a leading apostrophe, which is removed on reading.

Cells are protected only if the user wants it. A cell needs protection if it begins with = + - @ tab or carriage return,
also after apostrophes, and is not a number. Protection adds one apostrophe and reading removes one, so that every cell
is the same after both.
"""

import re

import numpy as np

from ....types import ColumnLike, Frame

FORMULA = re.compile(r"'*[=+\-@\t\r]")


def needs(cell: object) -> bool:
    """Whether a cell needs protection."""
    return isinstance(cell, str) and FORMULA.match(cell) is not None and not _is_number(cell)


def has(cell: object) -> bool:
    """Whether a cell may have been protected."""
    return isinstance(cell, str) and cell[:1] == "'" and needs(cell[1:])


def protected(column: ColumnLike) -> np.ndarray:
    """The cells, with an apostrophe for those that need one."""
    return np.array(["'" + cell if needs(cell) else cell for cell in column] + [None], dtype=object)[:-1]


def undone(column: ColumnLike) -> np.ndarray:
    """Cells without the apostrophe that `protected` adds."""
    return np.array([cell[1:] if has(cell) else cell for cell in column] + [None], dtype=object)[:-1]


def is_protected(text: str, delimiter: str, frame: Frame) -> bool:
    """Whether the cells of a text table were protected. Then some have the apostrophe, and none lacks it."""
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
