"""Made tables of fifty columns in which one, two or three columns decide the class and the others are noise.

36 skewed numbers (lognormal and gamma amounts) and 14 categories of 3 to 50 values (Zipf frequencies). The decisive
columns are drawn at random among those of their kind. `TABLES` maps a name to a function of a seed that returns
(data frame, classes).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

ROWS, NUMBERS, CATEGORIES = 1500, 36, 14


def columns(seed: int, n: int = ROWS) -> pd.DataFrame:
    """The fifty columns, shuffled; numbers are called n0, n1, … and categories c0, c1, …"""
    rng = np.random.default_rng(seed)
    found: dict = {}
    for i in range(NUMBERS):
        scale = 10.0 ** rng.uniform(-2, 4)
        amounts = rng.lognormal(0.0, rng.uniform(0.5, 1.5), n) if i % 2 else rng.gamma(rng.uniform(0.5, 3.0), size=n)
        found[f"n{i}"] = scale * amounts
    for i, levels in enumerate(np.unique(np.geomspace(3, 50, CATEGORIES).astype(int)).tolist() + [50] * CATEGORIES):
        if i < CATEGORIES:
            share = 1.0 / np.arange(1, levels + 1) ** rng.uniform(0.3, 1.2)
            words = np.array([f"{_word(rng)}{j}" for j in range(levels)], dtype=object)
            found[f"c{i}"] = words[rng.choice(levels, n, p=share / share.sum())]
    frame = pd.DataFrame(found)
    return frame[rng.permutation(frame.columns)]


def intervals(number: int, classes: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """The classes are intervals with equal numbers of rows, of one number or of the sum of the ranks of several."""
    frame, chosen, _ = _start(seed, number)
    return frame, _cut(sum(_rank(frame[name]) for name in chosen), classes)


def thresholds(number: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Two classes: whether all of some numbers are above thresholds, so that 40% of the rows are."""
    frame, chosen, _ = _start(seed, number)
    above = np.all([_rank(frame[name]) > 1 - 0.4 ** (1 / number) for name in chosen], axis=0)
    return frame, np.where(above, "above", "below")


def corners(number: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """2^number classes: on which side of its median each number is."""
    frame, chosen, _ = _start(seed, number)
    code = sum(2**i * (_rank(frame[name]) > 0.5) for i, name in enumerate(chosen))
    return frame, np.array([f"corner {c}" for c in np.asarray(code, dtype=int)], dtype=object)


def products(number: int, classes: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Intervals of the product of some numbers, each divided by its spread in logarithms."""
    frame, chosen, _ = _start(seed, number)
    logs = [np.log(frame[name].to_numpy() + 1e-9) for name in chosen]
    return frame, _cut(sum(one / one.std() for one in logs), classes)


def category(classes: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """The class follows the value of one category of about ten values."""
    frame, _, rng = _start(seed, 1)
    counts = {name: frame[name].nunique() for name in frame.columns if name.startswith("c")}
    name = min(counts, key=lambda one: abs(counts[one] - 10))
    values = frame[name].value_counts().index
    of = dict(zip(values, [f"class {i % classes}" for i in rng.permutation(len(values))]))
    return frame, np.array([of[value] for value in frame[name]], dtype=object)


def noisy(number: int, classes: int, share: float, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Intervals, with a fraction of the rows given a class at random."""
    frame, y = intervals(number, classes, seed)
    rng = np.random.default_rng([seed, 2])
    wrong = rng.random(len(y)) < share
    return frame, np.where(wrong, rng.permutation(y), y)


def nothing(largest: float, classes: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """The columns tell nothing: classes at random, the first with the largest fraction."""
    frame, _, rng = _start(seed, 1)
    shares = [largest, *np.full(classes - 1, (1 - largest) / (classes - 1))]
    return frame, np.array([f"class {c}" for c in rng.choice(classes, len(frame), p=shares)], dtype=object)


TABLES: dict[str, Callable] = {
    "six intervals of 1": partial(intervals, 1, 6),
    "three intervals of 1": partial(intervals, 1, 3),
    "three intervals of 2": partial(intervals, 2, 3),
    "three intervals of 3": partial(intervals, 3, 3),
    "threshold of 1": partial(thresholds, 1),
    "thresholds of 2": partial(thresholds, 2),
    "thresholds of 3": partial(thresholds, 3),
    "corners of 2": partial(corners, 2),
    "corners of 3": partial(corners, 3),
    "product of 2": partial(products, 2, 2),
    "product of 3": partial(products, 3, 3),
    "one category": partial(category, 3),
    "intervals, 20% noise": partial(noisy, 1, 4, 0.2),
    "nothing, 2 classes": partial(nothing, 0.65, 2),
    "nothing, 3 classes": partial(nothing, 0.55, 3),
}


def _start(seed, number):
    frame = columns(seed)
    rng = np.random.default_rng([seed, 1])
    numbers = sorted(name for name in frame.columns if name.startswith("n"))
    return frame, rng.choice(numbers, number, replace=False), rng


def _rank(column):
    """(n,) ranks from 0 to 1."""
    values = np.asarray(column)
    return values.argsort().argsort() / (len(values) - 1)


def _cut(values, classes):
    return np.array([f"part {c}" for c in np.minimum((_rank(values) * classes).astype(int), classes - 1)], dtype=object)


def _word(rng):
    return "".join(rng.choice(list("abcdefghiklmnoprstuvw"), 5))
