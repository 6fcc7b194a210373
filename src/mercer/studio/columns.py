"""The columns of a card in the order in which they distinguish the labeled classes."""

from collections import Counter

import numpy as np

FEWEST = 12  # labels below which columns stay in the order of the table


def telling_order(columns: dict, classes: list) -> list:
    """Return the names of the columns, sorted by how well they predict the class of labeled rows.

    Parameters
    ----------
    columns : {name: cells of the labeled rows, as text}. classes : of these rows.

    Examples
    --------
    >>> from mercer.studio.columns import telling_order
    >>> telling_order({"id": list("abcdefghijkl"), "size": ["1", "2", "1", "8", "9", "8"] * 2}, [0, 0, 0, 1, 1, 1] * 2)
    ['size', 'id']
    """
    if len(classes) < FEWEST or len(set(classes)) < 2:
        return list(columns)
    strength = {name: _strength(cells[:400], classes[:400]) for name, cells in columns.items()}
    return sorted(columns, key=lambda name: -strength[name])


def _strength(cells: list, classes: list) -> int:
    """The number of labels that the most frequent class of each range or word explains, less one per part."""
    parts = _ranges(cells)
    counts: dict = {}
    for part, label in zip(parts, classes):
        counts.setdefault(part, Counter())[label] += 1
    return sum(max(count.values()) - 1 for count in counts.values())


def _ranges(cells: list) -> list:
    try:
        values = np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return cells
    if np.isnan(values).all():
        return cells
    inner = np.nanquantile(values, [0.25, 0.5, 0.75])
    return np.where(np.isnan(values), -1, np.searchsorted(inner, values)).tolist()
