"""Findings for the reports of the commands that need no labels."""

import warnings

import numpy as np
from scipy.stats import rankdata

import mercer

from ..jobs.findings import TOLD, cells_of, columns_of, row_of, sample_of
from ..report import Findings, Points
from ..report.picture import SENTENCE, positions

TYPICAL = 3  # rows shown for each group
TRIED = 8  # numbers of groups that are compared
MEASURED = 2_000  # rows on which they are compared


def groups(screen, source, codes, model, kernel, approx, seed):
    """Groups of rows: what tells each apart, its typical rows, and other numbers of groups beside it."""
    n, sizes = len(codes), np.bincount(codes, minlength=model.n_clusters)
    names = [f"group {k + 1}" for k in range(model.n_clusters)]
    nearest = np.asarray(model.transform(source.X)).min(axis=1)  # distance to the centre of its own group
    told = source.telling.of_groups(codes, len(names))
    portraits = []
    for k, name in enumerate(names):
        inside = np.flatnonzero(codes == k)
        typical = inside[np.argsort(nearest[inside], kind="stable")[:TYPICAL]]
        rows = [_captioned("typical", source, i) for i in typical]
        portraits.append({"name": name, "size": int(sizes[k]), "telling": told[k], "rows": rows})
    compared = _numbers_of_groups(screen, source.X, model.n_clusters, kernel, approx, seed)
    best = max(compared, key=lambda one: one[1], default=None)
    tiles = [(str(n), "rows"), (str(len(names)), "groups")]
    if best:
        tiles.append((str(best[0]), f"groups are separated best of {compared[0][0]} to {compared[-1][0]}"))
    return Findings(
        f"{n} rows in {len(names)} groups",
        **_common(source, codes, names, seed),
        tiles=tiles,
        groups=portraits,
        grouping=("Groups", TOLD),
        how_many=compared,
    )


def _numbers_of_groups(screen, X, asked, kernel, approx, seed):
    """[(number, mean silhouette from distances to the centres, whether asked for)] on a sample of the rows."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:MEASURED])
    numbers = sorted({*range(2, min(TRIED, len(rows) - 1) + 1), *({asked} if 1 < asked < len(rows) else set())})
    found = []
    for i, number in enumerate(numbers):
        screen.step(f"grouping into {number}", i / len(numbers))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty group is a poor number, and says so by its silhouette
            model = mercer.KernelCMeans(number, kernel=kernel, approx=approx, n_init=3, random_state=seed).fit(X[rows])
        own, other = np.sort(np.asarray(model.transform(X[rows]), dtype=np.float64), axis=1)[:, :2].T
        found.append((number, float(np.mean(1 - own / np.maximum(other, 1e-300))), number == asked))
    return found


def unusual(source, score, worst, seed):
    """Rows that are unlike the others, and which of their cells is odd."""
    codes = np.zeros(len(score), dtype=int)
    codes[worst] = 1
    return Findings(
        f"{len(worst)} of {len(score)} rows are the most unlike the others",
        **_common(source, codes, ["like the others", "unusual"], seed),
        tiles=[(str(len(score)), "rows"), (str(len(worst)), "of them unusual")],
        odd=[(row_of(source, i), float(score[i]), source.telling.odd(i)[1]) for i in worst[:30]],
    )


def components(source, scores, shares, seed):
    """Components: the columns that rise and fall with each, and the rows at its ends."""
    portraits = []
    for j, component in enumerate(np.asarray(scores).T):
        low, high = np.argsort(component, kind="stable")[[0, -1]]
        name = f"component {j + 1}" + (f" ({shares[j]:.0%} of the variance)" if shares is not None else "")
        rows = [_captioned("highest", source, high), _captioned("lowest", source, low)]
        portraits.append({"name": name, "size": None, "telling": _rising(source, component), "rows": rows})
    hint = "The columns that rise (+) or fall (-) with it, by their rank correlation."
    explained = [] if shares is None else [(f"{shares.sum():.0%}", "of the variance")]
    return Findings(
        f"{len(scores)} rows on {scores.shape[1]} components",
        **_common(source, np.zeros(len(scores), dtype=int), [], seed, np.asarray(scores)[:, :2]),
        tiles=[(str(len(scores)), "rows"), *explained],
        groups=portraits,
        grouping=("What each component is", hint),
    )


def _captioned(caption, source, i):
    name, cells = row_of(source, i)
    return f"{caption}: {name}", cells


def _rising(source, component):
    """Columns by how well they tell where a row lies on a component: the rank correlation of their best number."""
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


def _common(source, codes, names, seed, xy=None):
    """What all these reports show: the map, the columns and how the table was read."""
    rows = sample_of(len(codes), np.zeros(len(codes), dtype=bool), seed)
    given = np.zeros(len(rows), dtype=bool)
    if xy is not None:
        xy = xy[rows] if xy.shape[1] == 2 else np.column_stack([xy[rows, 0], np.zeros(len(rows))])
    names_of, cells = [source.names[i] for i in rows], cells_of(source.telling, rows)
    points = Points(positions(source.X[rows], seed) if xy is None else xy, codes[rows], given, None, names_of, cells)
    return {
        "subtitle": source.data.name,
        "classes": names,
        "points": points,
        "n_rows": len(codes),
        "axes": SENTENCE if xy is None else "The axes are the first two components.",
        "columns": columns_of(source.encoder),
        "notes": source.notes,
        "facts": [("table", source.data.name), ("learnt from", source.encoder.sentence_)],
    }
