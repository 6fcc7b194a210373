"""Labels with probabilities in the cells of a table, such as `cat:0.7; dog:0.3` or `cat: 70 %`."""

import re

import numpy as np

from ...errors import InputError

SHARE = re.compile(r"(?P<name>.*\S)\s*:\s*(?P<share>0?\.\d+|[01]\.\d*|\d{1,3}(\.\d+)?\s*%)")


def read_shares(name: str, words: np.ndarray):
    """(class names, (l, k) probabilities) of l cells. None if no cell has probabilities.

    A cell may also be the name of a class alone. What is missing to 1 is shared by the other classes alike.
    """
    cells = [_shares(word) for word in words]
    if not any(cells):
        return None
    cells = [cell or {word: 1.0} for cell, word in zip(cells, words)]
    classes = sorted({one for cell in cells for one in cell})
    if len(classes) < 2:
        raise InputError(f"All probabilities in {name!r} are of {classes[0]!r}. Name a second class in some cell.")
    place = {one: code for code, one in enumerate(classes)}
    table = np.zeros((len(cells), len(classes)))
    for row, (cell, word) in enumerate(zip(cells, words)):
        rest = 1.0 - sum(cell.values())
        if rest < -1e-6 or (len(cell) == len(classes) and rest > 1e-6):
            raise InputError(
                f"The probabilities {word!r} in {name!r} sum to {1 - rest:g}. Write shares that sum to 1, such as "
                "cat:0.7; dog:0.3; what is missing to 1 is shared by the classes that a cell does not name."
            )
        table[row] = max(rest, 0.0) / max(len(classes) - len(cell), 1)
        table[row, [place[one] for one in cell]] = list(cell.values())
    return classes, table / table.sum(axis=1, keepdims=True)


def _shares(word: str) -> dict:
    """{class: probability} of a cell. Empty if it does not hold probabilities."""
    parts = [part.strip() for part in re.split(r"[;|]", word) if part.strip()]
    found = {one["name"]: _number(one["share"]) for one in map(SHARE.fullmatch, parts) if one}
    return found if len(found) == len(parts) else {}


def _number(text: str):
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
