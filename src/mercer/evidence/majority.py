"""Accuracy of always predicting the most frequent class: the least that a classifier must do better than."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import ColumnLike
from .choice import accuracy_interval


@dataclass(frozen=True)
class Majority:
    """The most frequent class among the labels, and its fraction of them with a 95% interval."""

    name: str
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, classes: ColumnLike, counts: Any) -> "Majority":
        """From the number of labels of each class.

        >>> print(Majority.of(["no", "yes"], [12, 28]).sentence(0.61))
        Always predicting 'yes' would be correct for 70% (95% interval 55% to 82%); the model is not shown to be better.
        """
        most, total = int(np.argmax(counts)), float(np.sum(counts))
        return cls(str(classes[most]), counts[most] / total, *accuracy_interval(counts[most], total))

    def beaten_by(self, low: float) -> bool:
        """Whether an accuracy whose interval begins at `low` is shown to be better."""
        return low > self.share

    def sentence(self, low: float | None = None) -> str:
        """In words. `low` is where the interval of the model's accuracy begins, None if there is none."""
        more = "" if low is None or self.beaten_by(low) else "; the model is not shown to be better"
        share = f"Always predicting {self.name!r} would be correct for {self.share:.0%}"
        return f"{share} (95% interval {self.low:.0%} to {self.high:.0%}){more}."
