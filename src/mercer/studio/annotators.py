"""Rows that a second annotator labels without seeing the first label, and the agreement of annotators.

Each row is drawn for a second label with the same probability, whatever its label is. So the rows with two labels are
a random sample of the rows that were labeled one by one, and their agreement is an estimate for all of these. A server
that was started again draws the same rows.
"""

from dataclasses import replace
from urllib.parse import unquote

import numpy as np

from ..evidence.kappa import Agreement, agreement
from ..inputs.numerals import short
from .ledger import Ledger
from .ledger import named as label_named

LONGEST = 80  # characters of a name
HEADER = "x-mercer-annotator"
LOOKED = ("queue", "random", "lasso", "list", "click", "review")  # origins of labels of rows that a person saw
PACE = 4  # at most one question in four is for a second label
REASON = "Another annotator labeled this row. Your label measures how far you agree."


def named(word: str | None, encoded: bool = False) -> str | None:
    """The name of an annotator, percent-encoded in a header. None if it is empty."""
    word = word or ""
    return (unquote(word, errors="replace") if encoded else word).strip()[:LONGEST] or None


class Doubles:
    """Which rows are drawn for a second label.

    Parameters
    ----------
    n : number of rows. seed : of the draw.
    """

    def __init__(self, n: int, seed: int) -> None:
        self._place = np.random.default_rng([seed, 3]).random(n)

    def waiting(self, ledger: Ledger, annotator: str | None) -> list:
        """The rows for this annotator. Skipped rows come last."""
        if annotator is None or not set(ledger.annotators) - {annotator}:
            return []
        drawn = self._place < ledger.settings.get("double_share", 0.0)
        rows = [
            row
            for row, given in ledger.labels.items()
            if drawn[row]
            and given.via in LOOKED
            and ledger.annotator(row) not in (None, annotator)
            and not ledger.seconds.get(row)
            and not ledger.unseen(row)
        ]
        return sorted(rows, key=lambda row: (ledger.postponed.get((row, annotator), 0), self._place[row]))

    def mixed(self, items: list, ledger: Ledger, annotator: str | None) -> list:
        """The questions of a queue, mixed with those for a second label."""
        asked = [{"row": row, "via": "random", "reason": REASON} for row in self.waiting(ledger, annotator)]
        own = sum(name == annotator for name in ledger.annotators.values())
        given = sum(annotator in answers for answers in ledger.seconds.values())
        first = 0 if PACE * given <= own else PACE - 1
        out = list(items)
        for k, one in enumerate(asked[: 1 + len(items) // PACE]):
            out.insert(first + PACE * k, one)
        return out


def pairs(ledger: Ledger) -> list:
    """[(row, annotator, label, second annotator, second label)] of all rows with two labels."""
    return [
        (row, first, ledger.resolved(a), second, ledger.resolved(b))
        for row, answers in sorted(ledger.seconds.items())
        for second, (first, a, b) in answers.items()
    ]


def agreement_of(ledger: Ledger) -> dict | None:
    """The agreement of the annotators, for the page and the exports. None while no row has two labels."""
    found = pairs(ledger)
    if not found:
        return None
    names = {one["id"]: one["name"] for one in ledger.classes}
    couples: dict = {}
    for _, a, x, b, y in found:
        couples.setdefault(tuple(sorted((a, b))), []).append((x, y) if a < b else (y, x))
    return {
        **_facts([(x, y) for _, _, x, _, y in found], ledger),
        "pairs": [{"annotators": list(two), **_facts(some, ledger)} for two, some in sorted(couples.items())],
        "different": [
            {"row": row, "annotators": [a, b], "labels": [label_named(x, names), label_named(y, names)]}
            for row, a, x, b, y in found
            if not _same(x, y, ledger)
        ],
        "waiting": len({row for row, _ in ledger.postponed if not ledger.seconds.get(row)}),
    }


def _same(first: int | float | str, second: int | float | str, ledger: Ledger) -> bool:
    """Whether two labels agree. Classes must be equal, and numbers may differ by the tolerance."""
    if isinstance(first, float) and isinstance(second, float):
        return abs(first - second) <= (ledger.settings.get("tolerance") or 0.0)
    return first == second


def _facts(couples: list, ledger: Ledger) -> dict:
    one = agreement(*zip(*couples))
    if ledger.numeric:  # equal numbers by chance mean nothing
        same = [_same(x, y, ledger) for x, y in couples]
        one = replace(agreement([True] * len(same), same), kappa=None, kappa_low=None, kappa_high=None)
    return {
        "rows": one.number,
        "same": one.same,
        "agreement": one.value,
        "interval": [one.low, one.high],
        "kappa": one.kappa,
        "kappa_interval": None if one.kappa is None else [one.kappa_low, one.kappa_high],
        "text": sentence(one, ledger),
    }


def sentence(one: Agreement, ledger: Ledger) -> str:
    """The agreement in words."""
    tolerance = ledger.settings.get("tolerance")
    what = f"two numbers within {short(tolerance, 6)}" if ledger.numeric and tolerance else "two equal labels"
    text = f"{one.same} of {one.number} rows have {what}: {one.same / one.number:.0%} "
    text += f"(95% interval {one.low:.0%} to {one.high:.0%})."
    if one.kappa is None:
        return text if ledger.numeric else text + " Cohen's kappa needs two classes."
    return text + f" Cohen's kappa is {one.kappa:.2f} ({one.kappa_low:.2f} to {one.kappa_high:.2f})."
