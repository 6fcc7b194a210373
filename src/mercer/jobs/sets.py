"""Sets of classes in the column TARGET_set. The fraction of sets with the correct class is that of --coverage."""

from collections.abc import Sequence

import numpy as np

from ..types import Estimator, Facts
from .corrections import added


class Sets:
    """The sets of all rows.

    Parameters
    ----------
    target : column of the labels.
    model : fitted classifier. P : (n, k) its probabilities. given : (n,) rows with a label, whose set is that label.
    coverage : fraction of the rows whose set contains their class.
    by_class : whether every class reaches the coverage by itself.
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
        names = [str(name) for name in model.classes_]  # they are separated by a mark that is in no name
        self.mark = next((mark for mark in ";|/&+" if not any(mark in name for name in names)), "\t")

    def columns(self, values: Sequence[object], codes: np.ndarray) -> dict[str, np.ndarray]:
        """Return the column TARGET_set. `values` are the classes as the table has them, `codes` those of the rows."""
        words = [self.mark.join(str(values[k]) for k in np.flatnonzero(row).tolist()) for row in self.inside]
        for row in np.flatnonzero(self.given):
            words[row] = str(values[codes[row]])
        return {self.name: np.array(words, dtype=object)}

    @property
    def sentence(self) -> str:
        """A sentence on the coverage and the sizes of the sets."""
        k = self.inside.shape[1]
        each = " of each class" if self.by_class else ""
        promise = f"{self.name} lists the classes that a row may have. In about {self.coverage:.0%} of the rows{each} "
        promise += "the list contains the true class, if the labeled rows are a random sample."
        if self.mean_size >= k:
            return f"{promise} The labels are too few for shorter lists, so every list has all {k} classes."
        none = f" {_lists(self.empty)} none, because no class is likely enough there." if self.empty else ""
        found = f"A list has {self.mean_size:.1f} of {k} classes on average. {_lists(self.single)} one class."
        return f"{promise} {found}{none}"

    @property
    def facts(self) -> Facts:
        """The facts that --json prints."""
        names = ("coverage", "by_class", "mean_size", "single", "empty", "mark", "sentence")
        return {name: getattr(self, name) for name in names}


def _lists(number: int) -> str:
    return "1 list has" if number == 1 else f"{number} lists have"
