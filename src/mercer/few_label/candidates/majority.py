"""The candidate that looks at no column: its prediction is the class that most labels have.

It has no part in the average. When the other candidates together do not predict the held-out labels better than it
does, the columns do not distinguish the classes, and it is the prediction.
"""

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...inputs.labels import Labels
from .forest import ForestFitted, Trees, TreesCandidate, compact


@dataclass(frozen=True, eq=False)
class MajorityCandidate(TreesCandidate):
    """Class fractions among the labels, one added to each class: a tree without a cut."""

    fold_group: ClassVar[str | None] = "majority"

    @property
    def prior_group(self) -> str:
        return "majority"

    def solve(self, labels: Labels) -> ForestFitted:
        """Count the labels. A held-out label is not counted in its own answer."""
        start = time.perf_counter()
        counts, own = labels.counted @ labels.given, labels.counted[:, None] * labels.given
        first, leaf = np.zeros(1, dtype=np.int64), np.full(1, -1)
        trees = Trees(first, first, np.zeros(1, dtype=np.float32), leaf, leaf, _log_shares(counts[None]))
        left_out = compact(_log_shares(counts - own))
        return ForestFitted(self, left_out, self.seconds + time.perf_counter() - start, trees)


def _log_shares(counts: np.ndarray) -> np.ndarray:
    shares: np.ndarray = (counts + 1.0) / (counts.sum(axis=1, keepdims=True) + counts.shape[1])
    logs: np.ndarray = np.log(shares)
    return logs
