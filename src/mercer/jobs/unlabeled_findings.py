"""Findings for the reports of the commands that need no labels."""

import numpy as np
from scipy.stats import rankdata

from ..events import OnEvent, ignore
from ..few_label.sizes import SIZES, Sizes
from ..report import Findings, Points
from ..report.picture import SENTENCE, positions
from ..types import Estimator, Facts
from .cluster_number import cluster_number
from .dataset import Dataset
from .findings import GROUPING_NOTE, cells_of, columns_of, row_of, sample_of
from .outliers import Outliers, Reason


def groups(
    source: Dataset,
    codes: np.ndarray,
    model: Estimator,
    kernel: str,
    seed: int,
    on_event: OnEvent = ignore,
    sizes: Sizes = SIZES,
) -> Findings:
    """Return what distinguishes each group, its typical rows, and how well other numbers of groups are separated."""
    n, counts = len(codes), np.bincount(codes, minlength=model.n_clusters)
    names = [f"group {k + 1}" for k in range(model.n_clusters)]
    nearest = np.asarray(model.transform(source.X)).min(axis=1)  # distance to the center of its own group
    phrases = source.distinctive.of_groups(codes, len(names))
    portraits = []
    for k, name in enumerate(names):
        inside = np.flatnonzero(codes == k)
        typical = inside[np.argsort(nearest[inside], kind="stable")[:3]]  # three rows are shown for each group
        rows = [_captioned("typical", source, i) for i in typical]
        portraits.append({"name": name, "size": int(counts[k]), "distinctive": phrases[k], "rows": rows})
    compared = cluster_number(source.X, kernel, seed, model.n_clusters, on_event)
    separation, best = compared.separation, compared.proposed
    tiles = [(str(n), "rows"), (str(len(names)), "groups")]
    if best:
        tiles.append((str(best), f"groups are separated best of {min(separation)} to {max(separation)}"))
    return Findings(
        f"{n} rows in {len(names)} groups",
        **_common(source, codes, names, seed, sizes),
        tiles=tiles,
        groups=portraits,
        grouping=("Groups", GROUPING_NOTE),
        how_many=[(number, score, number == len(names)) for number, score in separation.items()],
    )


def unusual(source: Dataset, found: Outliers, why: list[Reason], seed: int, sizes: Sizes = SIZES) -> Findings:
    """Return the rows that are flagged as outliers, why, and the ordinary rows that are nearest to each."""
    n, flagged = len(found.scores), int(found.flagged.sum())
    odd = []
    for one in why:
        rows = [one.row, *one.nearest]
        odd.append(
            {
                "row": row_of(source, one.row),
                "score": float(found.probability[one.row]),
                "reason": one.sentence,
                "columns": one.columns,
                "nearest": [row_of(source, i) for i in one.nearest],
                "images": source.distinctive.images(rows),
                "text": source.distinctive.whole_text(one.row),
            }
        )
    tiles = [(f"{n:,}", "rows"), (f"{flagged:,}", "of them flagged")]
    return Findings(
        f"{flagged:,} of {n:,} rows are flagged as outliers",
        **_common(source, found.flagged.astype(int), ["ordinary", "flagged"], seed, sizes, first=found.flagged),
        tiles=tiles,
        odd=odd,
        odd_notes=[found.sentence, found.fraction],
    )


def components(
    source: Dataset, scores: np.ndarray, shares: np.ndarray | None, seed: int, sizes: Sizes = SIZES
) -> Findings:
    """Return the columns that rise and fall with each, and the rows at its ends."""
    portraits = []
    for j, component in enumerate(np.asarray(scores).T):
        low, high = np.argsort(component, kind="stable")[[0, -1]]
        name = f"component {j + 1}" + (f" ({shares[j]:.0%} of the variance)" if shares is not None else "")
        rows = [_captioned("highest", source, high), _captioned("lowest", source, low)]
        portraits.append({"name": name, "size": None, "distinctive": _rising(source, component), "rows": rows})
    hint = "The columns that rise (+) or fall (-) with it, by their rank correlation."
    explained = [] if shares is None else [(f"{shares.sum():.0%}", "of the variance")]
    return Findings(
        f"{len(scores)} rows on {scores.shape[1]} components",
        **_common(source, np.zeros(len(scores), dtype=int), [], seed, sizes, np.asarray(scores)[:, :2]),
        tiles=[(str(len(scores)), "rows"), *explained],
        groups=portraits,
        grouping=("What each component is", hint),
    )


def _captioned(caption: str, source: Dataset, i: int) -> tuple[str, str]:
    name, cells = row_of(source, i)
    return f"{caption}: {name}", cells


def _rising(source: Dataset, component: np.ndarray) -> list[str]:
    """Return the columns that rise or fall most with a component, by the rank correlation of their best number."""
    found = []
    ranks = rankdata(component)
    for name, part in source.encoder.slices_.items():
        block = source.X[:, part]
        moving = block[:, np.ptp(block, axis=0) > 0]
        both = [np.corrcoef(rankdata(values), ranks)[0, 1] for values in moving.T]
        if both:
            best = max(both, key=abs)
            found.append((abs(best), f"{name} {best:+.2f}"))
    return [phrase for size, phrase in sorted(found, reverse=True)[:4] if size > 0.3]


def _common(
    source: Dataset,
    codes: np.ndarray,
    names: list[str],
    seed: int,
    sizes: Sizes,
    xy: np.ndarray | None = None,
    first: np.ndarray | None = None,
) -> Facts:
    """Return the findings of all these reports, such as the map, the columns and how the table was read."""
    first = np.zeros(len(codes), dtype=bool) if first is None else first  # these rows are always drawn
    rows = sample_of(len(codes), first, seed, sizes.points)
    given = np.zeros(len(rows), dtype=bool)
    if xy is not None:
        xy = xy[rows] if xy.shape[1] == 2 else np.column_stack([xy[rows, 0], np.zeros(len(rows))])
    names_of, cells = [source.names[i] for i in rows], cells_of(source.distinctive, rows)
    points = Points(positions(source.X[rows], seed) if xy is None else xy, codes[rows], given, None, names_of, cells)
    return {
        "subtitle": source.data.name,
        "classes": names,
        "points": points,
        "n_rows": len(codes),
        "axes": SENTENCE if xy is None else "The axes are the first two components.",
        "columns": columns_of(source.encoder),
        "notes": source.notes,
        "facts": [("table", source.data.name), ("learned from", source.encoder.sentence_)],
    }
