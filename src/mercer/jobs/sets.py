"""Sets of classes in a column: TARGET_set holds the right class as often as --coverage says."""

import numpy as np

from .answers import added
from .usage import UsageError

MARKS = ";|/&+"  # between the classes of a cell: the first that no class has in its name


class Sets:
    """The sets of all rows.

    Parameters
    ----------
    target : column of the labels.
    model : fitted classifier. P : (n, k) its probabilities. given : (n,) rows with a label, whose set is that label.
    coverage : share of the rows whose set is to hold their class; by_class : in every class by itself.
    """

    def __init__(self, target, model, P, given, coverage, by_class=False):
        (self.name,) = added(target, "set")
        self.coverage, self.by_class = coverage, by_class
        self.inside, self.given = model.sets_of(P, coverage, by_class), given
        sizes = self.inside[~given].sum(axis=1)
        self.mean_size = float(sizes.mean()) if len(sizes) else 1.0
        self.single, self.empty = int(np.sum(sizes == 1)), int(np.sum(sizes == 0))
        self.mark = next((mark for mark in MARKS if not any(mark in str(name) for name in model.classes_)), "\t")

    def columns(self, values, codes):
        """{TARGET_set: cells}; `values` are the classes as the table has them, `codes` those of the given labels."""
        words = [self.mark.join(str(values[k]) for k in np.flatnonzero(row)) for row in self.inside]
        for row in np.flatnonzero(self.given):
            words[row] = str(values[codes[row]])
        return {self.name: np.array(words, dtype=object)}

    @property
    def sentence(self):
        """What the sets mean and how large they are."""
        k = self.inside.shape[1]
        each = " of each class" if self.by_class else ""
        promise = f"{self.name} lists the classes that a row may have: in about {self.coverage:.0%} of the rows{each} "
        promise += "the right class is in the list, as far as the labelled rows are like the others."
        if self.mean_size >= k:
            return f"{promise} The labels are too few for that: every list has all {k} classes."
        none = f", {self.empty} none: no class is likely enough there" if self.empty else ""
        return f"{promise} A list has {self.mean_size:.1f} of {k} classes on average; {self.single} have one{none}."

    @property
    def facts(self):
        """For --json."""
        names = ("coverage", "by_class", "mean_size", "single", "empty", "mark", "sentence")
        return {name: getattr(self, name) for name in names}


def check_share(option, value, example):
    """Refuse a share that is not between 0 and 1."""
    if value is not None and not 0 < value < 1:
        hint = f" For {value:g} % say {value / 100:g}." if 1 < value < 100 else f" Such as {example}."
        raise UsageError(f"{option} {value:g} is not accepted: give a share between 0 and 1.{hint}")
