"""The rows that are drawn as random checks. The certificate is about every row that no one looked at.

All rows are put in one random order when the table is read. The checks are the rows of this order that no one has
looked at. These have no label, or a label that was given in bulk. A person may pass over a row, by a skip or by a label
for a later check. The row then waits for its label, and counts as wrong at the lower end of the interval until it has
one. So the checks that count are always the first rows of the random order, without gaps. A server that was started
again draws the same rows.
"""

import numpy as np

from .ledger import Ledger

AFTER = 10  # events after which a skipped check comes back
OFFERED = 40  # next rows of the order that may be on a screen, which are a queue and some that it lost since


class Draw:
    """The random order of the rows of a table.

    Parameters
    ----------
    n : number of rows.
    seed : of the order.
    """

    def __init__(self, n: int, seed: int) -> None:
        self.order = np.random.default_rng([seed, 2]).permutation(n).tolist()
        self._place = {row: place for place, row in enumerate(self.order)}

    def waiting(self, ledger: Ledger) -> list:
        """The checks that were passed over and have no label yet."""
        passed = [row for row, (_, check) in ledger.skipped.items() if check and _open(ledger, row)]
        begun = self.order[: self._reached(ledger)]
        return list(dict.fromkeys([*(row for row in begun if _open(ledger, row)), *passed]))

    def coming(self, ledger: Ledger, n: int) -> list:
        """The next n rows of the order that were not reached yet."""
        found: list = []
        for row in self.order[self._reached(ledger) :]:
            if len(found) == n:
                break
            if _open(ledger, row) and not ledger.skipped.get(row, (0, False))[1]:
                found.append(row)
        return found

    def offered(self, ledger: Ledger) -> set:
        """All rows that may be on a screen as a check. Their predictions are hidden."""
        return {*self.waiting(ledger), *self.coming(ledger, OFFERED)}

    def next(self, ledger: Ledger, n: int, rev: int) -> list:
        """The next n checks to ask for. Those that wait come before new ones, unless they were just skipped."""
        waiting, coming = self.waiting(ledger), self.coming(ledger, n)
        due = [row for row in waiting if row not in ledger.skipped or rev - ledger.skipped[row][0] >= AFTER]
        return [*due, *coming][:n] or waiting[:n]

    def _reached(self, ledger: Ledger) -> int:
        """The place in the order after the last check that was labeled or skipped."""
        answered = [row for row, first in ledger.checks.items() if first.rev > ledger.begun]
        skipped = [row for row, (rev, check) in ledger.skipped.items() if check and rev > ledger.begun]
        return max((self._place[row] + 1 for row in answered + skipped), default=0)


def _open(ledger, row):
    """Whether a row is one that no one has looked at."""
    return row not in ledger.checks and (row not in ledger.labels or ledger.unseen(row))
