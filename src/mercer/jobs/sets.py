"""Sets of classes in a column: TARGET_set contains the correct class as often as --coverage says."""

from collections.abc import Sequence

import numpy as np

from ..types import Estimator, Facts
from .corrections import added

MARKS = ";|/&+"  # between the classes of a cell: the first that no class has in its name


class Sets:
    """The sets of all rows.

    Parameters
    ----------
    target : column of the labels.
    model : fitted classifier. P : (n, k) its probabilities. given : (n,) rows with a label, whose set is that label.
    coverage : fraction of the rows whose set is to contain their class; by_class : in every class by itself.
    """

    def __init__(
        self, target: str, model: Estimator, P: np.ndarray, given: np.ndarray, coverage: float, by_class: bool = False
    ) -> None:
        (self.name,) = added(target, "set")
        self.coverage, self.by_class = coverage, by_class
        self.inside, self.given = model.sets_of(P, coverage, by_class), given
        sizes = self.inside[~given].sum(axis=1)
        self.mean_size = float(sizes.mean()) if len(sizes) else 1.0
        self.single, self.empty = int(np.sum(sizes == 1)), int(np.sum(sizes == 0))
        self.mark = next((mark for mark in MARKS if not any(mark in str(name) for name in model.classes_)), "\t")

    def columns(self, values: Sequence[object], codes: np.ndarray) -> dict[str, np.ndarray]:
        """Return {TARGET_set: cells}. `values`: the classes as the table has them, `codes`: of the given labels."""
        words = [self.mark.join(str(values[k]) for k in np.flatnonzero(row).tolist()) for row in self.inside]
        for row in np.flatnonzero(self.given):
            words[row] = str(values[codes[row]])
        return {self.name: np.array(words, dtype=object)}

    @property
    def sentence(self) -> str:
        """A sentence on the coverage and the sizes of the sets."""
        k = self.inside.shape[1]
        each = " of each class" if self.by_class else ""
        promise = f"{self.name} lists the classes that a row may have: in about {self.coverage:.0%} of the rows{each} "
        promise += "the list contains the true class, if the labeled rows are a random sample."
        if self.mean_size >= k:
            return f"{promise} The labels are too few for that: every list has all {k} classes."
        none = f", {self.empty} none: no class is likely enough there" if self.empty else ""
        return f"{promise} A list has {self.mean_size:.1f} of {k} classes on average; {self.single} have one{none}."

    @property
    def facts(self) -> Facts:
        """For --json."""
        names = ("coverage", "by_class", "mean_size", "single", "empty", "mark", "sentence")
        return {name: getattr(self, name) for name in names}
