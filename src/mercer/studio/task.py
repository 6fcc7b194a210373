"""A labeling to learn from, which the server sends to the learner."""

from dataclasses import dataclass, field

from ..few_label.squared_error import FEWEST
from .drawing import Draw
from .ledger import CANNOT, Ledger

QUEUE = 30  # rows; at ten labels per second they last until the next queue is ready


@dataclass(frozen=True)
class LearnerTask:
    """A labeling to learn from.

    Attributes
    ----------
    rev : of the journal. rows, ids, drawn : labeled rows, class numbers, which were drawn at random.
    labeled : rows not to choose, which have a label or "cannot", or are checks that wait for a label.
    skipped : rows that were skipped, which are chosen when no other is left.
    checks : [(row, first label, class that it got in bulk or None)] of all random checks with a label.
    waiting : number of checks that wait for a label. draw : the next rows to ask for as checks.
    names : {class number: name}. goal : accuracy to certify. share : fraction of random rows in the queue.
    n_random, n_asked : number of labeled rows of the queue, the random ones and all.
    accepted : {row: class} of accepted predictions, which are not learned from.
    passed, unknown : rows of checks that wait for a label, and rows that no one can classify.
    as_predicted : checks whose row was accepted as predicted, in bulk.
    numeric : whether the labels are numbers. `ids` and `checks` then contain numbers instead of class numbers.
    tolerance : largest error of a predicted number that counts as correct, or None. retuned : how often the tolerance
        was changed after a check.
    """

    rev: int
    rows: list
    ids: list
    drawn: list
    labeled: list
    skipped: list
    checks: list
    waiting: int
    draw: list
    names: dict
    goal: float
    share: float
    n_random: int
    n_asked: int
    accepted: dict = field(default_factory=dict)
    passed: list = field(default_factory=list)
    unknown: list = field(default_factory=list)
    as_predicted: list = field(default_factory=list)
    numeric: bool = False
    tolerance: float | None = None
    retuned: int = 0

    @property
    def same(self) -> tuple:
        """The values that determine the model. Two tasks with the same values have the same predictions."""
        return tuple(self.rows), tuple(self.ids), tuple(self.drawn)

    @property
    def ready(self) -> bool:
        """Whether there are labels of two classes, or enough numbers to know the size of the errors."""
        return len(set(self.ids)) > 1 and (not self.numeric or len(self.ids) >= FEWEST)

    @property
    def missing(self) -> str:
        """A sentence on the labels that the first predictions need."""
        return f"Label {FEWEST} rows to begin." if self.numeric else "Label rows of two classes to begin."


def task_of(ledger: Ledger, draw: Draw, rev: int) -> LearnerTask:
    """The labeling of a ledger at a revision, with its random checks."""
    rows, ids, drawn = ledger.labeling()
    waiting = draw.waiting(ledger)
    asked = [given.via for given in ledger.labels.values() if given.via in ("queue", "random")]
    return LearnerTask(
        rev,
        rows,
        ids,
        drawn,
        sorted({*ledger.labels, *waiting}),
        sorted(row for row, (_, check) in ledger.skipped.items() if not check),
        ledger.outcomes(),
        len(waiting),
        draw.next(ledger, QUEUE, rev),
        {one["id"]: one["name"] for one in ledger.classes},
        ledger.settings["goal"],
        ledger.settings["random_share"],
        asked.count("random"),
        len(asked),
        {row: given.value for row, given in ledger.labels.items() if ledger.accepted(row)},
        waiting,
        [row for row, given in ledger.labels.items() if given.value == CANNOT],
        [row for row in ledger.checks if ledger.as_predicted(row)],
        ledger.numeric,
        ledger.settings.get("tolerance"),
        ledger.retuned,
    )
