"""Ask for the most unusual rows first, in the order of an outlier detector that learns from the labels."""

import numpy as np

from ..estimators.outlier_detector import OutlierDetector
from ..jobs.outliers import ODD, ORDINARY
from ..types import Rows
from .task import LearnerTask

FIRST = 200  # rows of the order that a queue is made from


class UnusualFirst:
    """The rows of a table, the most unusual first.

    Parameters
    ----------
    X : (n, d) rows.
    """

    def __init__(self, X: Rows) -> None:
        self._detector = OutlierDetector(random_state=0).fit(X)
        self._scores = self._detector.training_scores_
        self._answers: tuple = ()

    def rows(self, task: LearnerTask) -> list:
        """The rows without a label, in the order of the scores that the labels of a task give."""
        answers = tuple((row, _answer(task.names[c])) for row, c in zip(task.rows, task.ids))
        answers = tuple(one for one in answers if one[1])
        if not answers:
            scores = self._scores
        else:
            if answers != self._answers:
                self._detector.teach(*np.array(answers).T)
                self._answers = answers
            scores = self._detector.training_scores_
        order = np.argsort(scores, kind="stable")
        return order[~np.isin(order, task.labeled)][:FIRST].tolist()


def _answer(name: str) -> int:
    """-1 for a class of outliers, +1 for a class of ordinary rows, else 0. The words are those of `mercer novelty`."""
    word = name.strip().lower()
    return -1 if word in ODD else 1 if word in ORDINARY else 0
