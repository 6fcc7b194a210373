"""Parts of a report that all kinds of findings have."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ..advice.column_effects import effects
from ..inputs.tables import DistinctiveCells, TableEncoder
from ..inputs.tables.formats import written_format
from ..types import Estimator, Facts
from .dataset import Dataset
from .sets import Sets

SHOWN_CANDIDATES = 12
SHOWN_CELLS = 4
MOST_EFFECTS = 200  # columns beyond which their effects are not computed
GROUPING_NOTE = "The median or most frequent value of each group, next to that of the other rows."


def row_of(dataset: Dataset, i: int) -> tuple[str, str]:
    """Return the name of a row and the cells that distinguish it."""
    return dataset.names[i], dataset.distinctive.sentence(i)


def pictured(dataset: Dataset, i: int) -> tuple[str, str, str]:
    """Return the name of a row, its distinctive cells, and its picture as a data URI ("" if it has none)."""
    found = dataset.distinctive.images([i])
    picture = found[0][1] if found else ""
    return dataset.names[i], dataset.distinctive.sentence(i, paths=not picture), picture


def columns_of(encoder: TableEncoder, found: Mapping[str, float] | None = None) -> list[Facts]:
    """Return how each column is used and how much the predictions depend on it, the most important first."""
    found = found or {}
    columns = [asdict(column) | {"effect": found.get(column.name)} for column in encoder.columns_]
    columns = [column for column in columns if column["kind"] != "ignored"]
    return sorted(columns, key=lambda column: (column["use"] == "left out", -(column["effect"] or 0), -column["say"]))


def effects_of(dataset: Dataset, model: Estimator, seed: int) -> dict[str, float]:
    """Return how much the predictions depend on each column. {} for very many columns."""
    slices = dataset.encoder.slices_
    return effects(model, dataset.X, slices, seed) if len(slices) <= MOST_EFFECTS else {}


def portraits(dataset: Dataset, codes: np.ndarray, names: Sequence[str]) -> list[Facts]:
    """Return what distinguishes the rows of each group from the others. -1 in `codes` is not a group."""
    return [
        {"name": name, "size": int(np.sum(codes == k)), "distinctive": phrases, "rows": []}
        for k, (name, phrases) in enumerate(zip(names, dataset.distinctive.of_groups(codes, len(names))))
        if phrases
    ]


def sample_of(n: int, first: np.ndarray, seed: int, most: int) -> np.ndarray:
    """Return at most `most` rows to draw. Those marked `first` come before a random sample of the others."""
    if n <= most:
        return np.arange(n)
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[np.argsort(~first[order], kind="stable")][:most])


def cells_of(distinctive: DistinctiveCells, rows: np.ndarray) -> dict[str, list[str]]:
    """Return cells for the tooltips. Texts come first and are not cut."""
    others = [name for name in distinctive.shown if name not in distinctive.texts]
    shown = [*distinctive.texts, *others][:SHOWN_CELLS]
    return {name: distinctive.frame[name].iloc[rows].astype(str).tolist() for name in shown}


def code(
    dataset: Dataset,
    out: str | Path,
    save: str | Path | None,
    columns: Sequence[str],
    ask: str,
    sets: Sets | None = None,
) -> str:
    """Return Python code that reads the table with its new columns and asks the model."""
    lines = [
        "import mercer",
        "import pandas as pd",
        "from mercer.inputs.tables import read_table",
        "",
        f"# with {', '.join(columns)}",
        f"labeled = {written_format(out, dataset.table).code(Path(out), dataset.table)}",
    ]
    if sets:
        lines.append(f"may_be = labeled[{sets.name!r}].fillna('').str.split({sets.mark!r}, regex=False)")
    if save:
        lines += ["", f"model = mercer.load({str(save)!r})", 'rows = read_table("new.csv").frame', ask]
    else:
        lines += ["", "# `mercer label ... --save model.mercer` also keeps the model for new rows"]
    return "\n".join(lines)
