"""Find the column of another table that was renamed or spelled differently."""

import difflib
import re
from collections.abc import Iterable


def renamed(absent: Iterable[str], free: Iterable[str]) -> dict[str, str]:
    """A dict from absent columns to the columns that are probably meant, with each of the free ones at most once.

    Names are compared without capitals, spaces and marks, first whole and then by their letters. The most similar pairs
    are taken first.

    Parameters
    ----------
    absent : names of the columns that a model needs and a table does not have.
    free : names of the columns of this table that the model does not know.

    Examples
    --------
    >>> renamed(["Living area", "bedrooms"], ["living_area_m2", "Bedrooms", "town"])
    {'Living area': 'living_area_m2', 'bedrooms': 'Bedrooms'}
    """
    absent, free = list(absent), list(free)
    pairs = [(likeness(one, other), i, j) for i, one in enumerate(absent) for j, other in enumerate(free)]
    found: dict[int, int] = {}
    for alike, i, j in sorted(pairs, key=lambda pair: -pair[0]):
        if alike >= 0.6 and i not in found and j not in found.values():
            found[i] = j
    return {absent[i]: free[found[i]] for i in sorted(found)}


def likeness(one: str, other: str) -> float:
    """How similar two column names are, from 0 to 1."""
    a, b = (re.sub(r"[\W_]+", "", name.casefold()) for name in (one, other))
    if a == b:
        return 1.0
    if not a or not b:
        return 0.0
    numbers = [re.findall(r"\d+", name) for name in (a, b)]
    if all(numbers) and numbers[0] != numbers[1]:
        return 0.0  # x1 and x2 are two columns
    short, long = sorted((a, b), key=len)
    within = 0.9 if len(short) >= 4 and short in long else 0.0
    return max(within, difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() * 0.99)
