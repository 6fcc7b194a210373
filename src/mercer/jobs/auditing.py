"""Audit the sources of hints of a table, with facts, columns to write and the findings of a report."""

from dataclasses import dataclass

import numpy as np

from ..advice.audit import Audit, SourceAudit, audit
from ..errors import InputError
from ..evidence.accuracy import Rate
from ..report import Findings
from ..types import Facts
from .classes import ClassFit
from .corrections import NEXT, wrong_column
from .dataset import Dataset
from .findings import pictured


@dataclass(frozen=True)
class TableAudit:
    """An audit of the hints of a dataset, with the rows to check next.

    Attributes
    ----------
    audit : the audit of the sources.
    rows : (m,) numbers of the rows to check next.
    drawn : (m,) which of them were drawn at random. The others are those whose hints are most likely wrong.
    """

    audit: Audit
    rows: np.ndarray
    drawn: np.ndarray


def audit_table(dataset: Dataset, fitted: ClassFit, n: int = 20, random: float = 0.5, seed: int = 0) -> TableAudit:
    """Audit the hints of a dataset. Of n rows to check next, a fraction `random` is drawn at random."""
    if dataset.labels.given.all():
        raise InputError(f"Every row has a label in {dataset.target!r}, so no row is left to check.")
    found = audit(fitted.model)
    free = np.flatnonzero(~dataset.labels.given)
    n = min(n, len(free))
    drawn = np.random.default_rng([seed, len(free)]).permutation(free)[: int(np.ceil(random * n))]
    doubt = np.zeros(len(dataset.names))
    for one in found.sources:
        doubt[one.rows] = np.maximum(doubt[one.rows], one.wrong)
    order = free[np.argsort(-doubt[free], kind="stable")]
    chosen = order[~np.isin(order, drawn)][: n - len(drawn)]
    rows = np.concatenate([chosen, drawn]).astype(int)
    return TableAudit(found, rows, np.arange(len(rows)) >= len(chosen))


def columns(dataset: Dataset, found: TableAudit) -> Facts:
    """Return the columns that --out adds. They are HINT_wrong per source, and the order of the rows to check next."""
    rank = np.full(len(dataset.names), "", dtype=object)
    rank[found.rows] = np.arange(1, len(found.rows) + 1).astype(str)
    out: Facts = {}
    for one in found.audit.sources:
        cells = np.full(len(dataset.names), "", dtype=object)
        cells[one.rows] = [f"{p:.4f}" for p in one.wrong]
        out[wrong_column(one.name)] = cells
    return out | {NEXT: rank}


def facts(dataset: Dataset, found: TableAudit) -> Facts:
    """Return what --json prints."""
    return {
        "labels": found.audit.n_labels,
        "labels_drawn": found.audit.n_drawn,
        "sources": [_source(dataset, one) for one in found.audit.sources],
        "next": [
            {"row": dataset.names[i], "how": "random" if at_random else "chosen"}
            for i, at_random in zip(found.rows.tolist(), found.drawn)
        ],
        "sentences": found.audit.sentences,
    }


def _source(dataset: Dataset, one: SourceAudit) -> Facts:
    accuracy = one.accuracy
    return {
        "hint": one.name,
        "rows": one.n_rows,
        "accuracy": accuracy.rate.value,
        "interval": [accuracy.rate.low, accuracy.rate.high],
        "plain_accuracy": accuracy.plain.value,
        "plain_interval": [accuracy.plain.low, accuracy.plain.high],
        "checks": accuracy.checks,
        "effective_checks": accuracy.effective,
        "more_checks": one.more,
        "expected_wrong": one.expected_wrong,
        "worth_checking": one.worth,
        "classes": [
            {
                "class": str(each.name),
                "rows": each.n_rows,
                "checks": each.checks,
                "correct": each.correct.value,
                "correct_interval": [each.correct.low, each.correct.high],
                "labeled": each.labeled,
                "found": each.found.value,
                "found_interval": [each.found.low, each.found.high],
            }
            for each in one.classes
        ],
        "likely_wrong": [
            {"row": dataset.names[row], "says": str(hint), "others_say": str(proposed), "wrong": float(p)}
            for row, hint, proposed, p in zip(one.rows[: one.worth], one.said, one.proposed, one.wrong)
        ],
    }


def percent(rate: Rate) -> str:
    """Return a rate with its interval in words, or a dash if nothing was checked."""
    return f"{rate.value:.0%} ({rate.low:.0%} to {rate.high:.0%})" if np.isfinite(rate.value) else "—"


def by_class(found: TableAudit) -> list[tuple[str, object, int, str, str, int]]:
    """Return (source, class, number of rows with this hint, precision, recall, checks) for each class."""
    return [
        (
            one.name,
            each.name,
            each.n_rows,
            percent(each.correct),
            percent(each.found) if each.labeled else "no label",
            each.checks,
        )
        for one in found.audit.sources
        for each in one.classes
    ]


def findings(dataset: Dataset, fitted: ClassFit, found: TableAudit, n: int = 20) -> Findings:
    """Return what the report shows."""
    tiles, wrong = [], []
    for one in found.audit.sources:
        rate = one.accuracy.rate
        if np.isfinite(rate.value):
            tiles.append((f"{rate.value:.0%}", f"of {one.name} correct, 95% CI {rate.low:.0%} to {rate.high:.0%}"))
        tiles.append((f"{one.expected_wrong:.0f}", f"wrong guesses of {one.name} expected among unlabeled rows"))
        for row, hint, proposed, p in zip(one.rows[:n].tolist(), one.said, one.proposed, one.wrong):
            wrong.append((pictured(dataset, row), f"{one.name}: {hint}", str(proposed), float(p)))
    names = ", ".join(one.name for one in found.audit.sources)
    return Findings(
        title=f"Audit of {names}",
        subtitle=f"{dataset.data.name}, checked against {found.audit.n_drawn} random labels in {dataset.target}",
        tiles=tiles,
        facts=[("table", dataset.data.name), ("labels in", dataset.target), ("hints", names)],
        n_rows=len(dataset.names),
        audit=found.audit.sentences,
        sources=by_class(found),
        guesses=wrong,
        reasons=fitted.model.report_.sentences,
        notes=[*dataset.notes, *fitted.notes],
    )
