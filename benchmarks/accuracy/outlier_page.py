"""The page of results on outliers, from the rows that `benchmarks.accuracy.outliers` measured."""

import numpy as np

SETTINGS = ("clean", "own 1%", "own 5%", "own 10%")
MEASURES = {"auroc": "AUROC", "ap": "AP"}


def page(rows, methods, most, command, words):
    """The page as text; rows : dicts, methods : names, the library's default first, command : its options."""
    found = {(row["kind"], row["setting"], row["name"], row["table"]): row for row in rows}
    tables = sorted({row["table"] for row in rows})
    parts = [
        HEAD.format(tables=len(tables), most=most, command=command, words=words),
        _accuracy(found, methods, tables),
    ]
    parts += [_paired(found, methods, tables), _verdict(found, methods, tables), _rules(found, rows, tables)]
    return "\n".join([*parts, _alarms(rows, tables), _answers(rows), CHOICES])


def clean_page(found, words):
    """The page of new rows only, from {detector: measures} of each table, the library's default first."""
    default, lines = next(iter(found[0])), []
    for name in found[0]:
        cells = [name]
        for measure in MEASURES:
            values = np.array([one[name][measure] for one in found])
            less = np.array([one[default][measure] for one in found]) - values
            cells += [_mean(values), "" if name == default else f"{less.mean():+.3f} ± {error(less):.3f}"]
        lines.append(cells)
    head = ["detector", "AUROC", "default less this", "AP", "default less this"]
    return CLEAN.format(tables=len(found), words=words, table=_table(head, lines))


def _values(found, kind, setting, name, measure, tables):
    keys = [(kind, setting, name, table) for table in tables]
    return np.array([found[key][measure] for key in keys if key in found])


def _mean(values):
    return f"{np.mean(values):.3f} ± {error(values):.3f}" if len(values) else "–"


def error(values):
    """Standard error of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *map(_line, lines), ""])


def _line(cells):
    return "| " + " | ".join(cells) + " |"


def _accuracy(found, methods, tables):
    numbers = [len(_values(found, "detector", s, methods[0], "auroc", tables)) for s in SETTINGS]
    head = ["detector", *(f"{s} ({n} tables)" for s, n in zip(SETTINGS, numbers))]
    out = ["## Accuracy\n"]
    for measure, title in MEASURES.items():
        lines = []
        for name in methods:
            several = [_values(found, "detector", s, name, measure, tables) for s in SETTINGS]
            few = [f" ({len(v)} tables)" * (0 < len(v) < n) for v, n in zip(several, numbers)]
            lines.append([name, *(_mean(v) + note for v, note in zip(several, few))])
        out += [f"Mean {title} ± standard error over tables:\n", _table(head, lines)]
    seconds = [
        [name, *(f"{np.sum(_values(found, 'detector', s, name, 'seconds', tables)):.1f}" for s in SETTINGS)]
        for name in methods
    ]
    return "\n".join([*out, "Seconds of one core, summed over the tables:\n", _table(head, seconds)])


def _gaps(found, setting, first, other, measure, tables):
    keys = [(("detector", setting, first, t), ("detector", setting, other, t)) for t in tables]
    return np.array([found[a][measure] - found[b][measure] for a, b in keys if a in found and b in found])


def _paired(found, methods, tables):
    head = ["other", *(f"{s} {title}" for s in SETTINGS for title in MEASURES.values())]
    lines = []
    for other in methods[1:]:
        gaps = [_gaps(found, s, methods[0], other, m, tables) for s in SETTINGS for m in MEASURES]
        lines.append([other, *(f"{np.mean(g):+.3f} ± {error(g):.3f}" if len(g) else "–" for g in gaps)])
    return f"Paired differences on the same tables, `{methods[0]}` less the other:\n\n{_table(head, lines)}"


def _verdict(found, methods, tables):
    """Which detectors have a higher mean than the default, by setting and measure."""
    lines = []
    for setting in SETTINGS:
        for measure, title in MEASURES.items():
            gaps = {name: _gaps(found, setting, methods[0], name, measure, tables) for name in methods[1:]}
            if not len(gaps[methods[1]]):
                continue  # no table has so few outliers
            above = [f"{name} ({-np.mean(g):+.3f} ± {error(g):.3f})" for name, g in gaps.items() if np.mean(g) < 0]
            if above:
                lines.append(f"- {setting}, {title}, {', '.join(above)}")
    if not lines:
        return "No detector has a higher mean than the default in any of these columns.\n"
    head = "These detectors have a higher mean than the default. In the other columns none has."
    return head + "\n\n" + "\n".join(lines) + "\n"


def _rules(found, rows, tables):
    names = list(dict.fromkeys(row["name"] for row in rows if row["kind"] == "rule"))
    out = [RULES]
    for title, half in (("First half (for choosing)", tables[0::2]), ("Second half (to confirm)", tables[1::2])):
        lines = []
        for kind, name in [("rule", name) for name in names] + [("detector", "scikit-learn IsolationForest(200)")]:
            cells = []
            for setting in SETTINGS:
                auroc, ap = (_values(found, kind, setting, name, m, half) for m in MEASURES)
                cells.append(f"{np.mean(auroc):.3f} ({np.mean(ap):.3f})" if len(auroc) else "–")
            lines.append([name, *cells])
        out += [f"{title}, mean AUROC (AP):\n", _table(["rule", *SETTINGS], lines)]
    return "\n".join([*out, _split_halves(found, names, tables)])


def _split_halves(found, names, tables, splits=500):
    """What choosing the rule on one half of the tables gives on the other half, over random halves."""
    lines = []
    for setting, fixed in (("clean", names[0]), ("own 5%", names[1]), ("own 10%", names[1])):
        for measure, title in MEASURES.items():
            V = np.array([_values(found, "rule", setting, name, measure, tables) for name in names])
            if V.shape[1] < 4:
                continue
            rng, chosen = np.random.default_rng(0), []
            for _ in range(splits):
                order = rng.permutation(V.shape[1])
                first, second = order[: len(order) // 2], order[len(order) // 2 :]
                best = int(np.argmax(V[:, first].mean(axis=1)))
                chosen.append([V[best, second].mean(), V[names.index(fixed), second].mean(), names[best] == fixed])
            other, own, same = np.mean(chosen, axis=0)
            lines.append([setting, title, f"{own:.3f}", f"{other:.3f}", f"{same:.0%}"])
    head = ["setting", "measure", "default rule", "rule with the highest mean on the other half", "it is the default"]
    return f"{HALVES}\n{_table(head, lines)}"


def _alarms(rows, tables):
    out = [ALARMS]
    for name in dict.fromkeys(row["name"] for row in rows if row["kind"] == "alarms"):
        some = [row["alarms"] for row in rows if row["kind"] == "alarms" and row["name"] == name]
        low, high = np.quantile(some, [0.05, 0.95])
        cells = f"{np.mean(some):.2%} ± {error(some):.2%}", f"{low:.1%} to {high:.1%}", str(len(some))
        out.append(_line([name, *cells]))
    return "\n".join([*out, ""])


def _answers(rows):
    out = [ANSWERS]
    for count in (0, 10, 20):
        some = [row["auroc"] for row in rows if row["kind"] == "answers" and row["name"] == count]
        out.append(_line([str(count), _mean(some), str(len(some))]))
    return "\n".join([*out, ""])


HEAD = """# Outliers

Command: `python -m benchmarks.accuracy.outliers --data DIR {command}`. {tables} public outlier
tables from OddBench and OvRBench (training parts without outliers). At most {most} training and {most} test rows of
each are used. {words}.

"Clean": fitted on rows without outliers, new rows are scored. "Own": one table that contains 1, 5 or 10% outliers,
each row scored without itself if the detector can do that. Tables with fewer than five outliers are left out there.
ECOD, COPOD and KNN are the definitions of PyOD in a few lines each, and a test compares them with PyOD.
"""

RULES = """## How the rule was chosen

`OutlierDetector` has one rule for new rows and one for the rows of a table that may contain outliers. The rule for new
rows was chosen on these tables, on all of them with at most 250 rows and on 70 with all rows, among about 60
combinations of 40 parts. The forest lowers it by 0.001 on clean tables and raises it in contaminated ones.

The rule for training rows was chosen among about 90 combinations of the same parts, on every second table with at most
1,500 rows and 1, 5 and 10% outliers, and on [planted faults and made tables](outliers_faults.md). It was then measured
once on the other 80 tables, next to the rule before it (the mean of the forest and three tenths, of which that of ranks
counts half). The differences in AUROC with 1, 5 and 10% outliers are +0.012 ± 0.006, +0.001 ± 0.005 and +0.011 ± 0.008,
and those in AP +0.001 ± 0.005, -0.004 ± 0.004 and +0.006 ± 0.006. So the two rules are about equal on such tables. On
planted faults the new one is far ahead. The parts were chosen earlier and on all tables. "crowds" are the forest and
the distances within which a tenth and a fifth of the rows are. The mean AUROC and AP of a rule chosen on one half and
applied to the other half are below the tables.
"""

HALVES = """Check against tuning: 500 times the tables are divided into random halves, the rule with the highest mean on
the first half is applied to the second half, and so is the default:
"""

ALARMS = """## False alarms

Half of the clean rows for the fit, the other half as new rows, alarms at p ≤ 0.05. Mean ± standard error over tables,
and the 5th and 95th percentile of single tables, which contain the random error of a few hundred rows.

| detector | false alarms | single tables | tables |
|---|---|---|---|"""

ANSWERS = """## Feedback

Tables with 10% outliers. The rows with the highest scores are labeled, ten at a time. AUROC of the rows that were
never labeled:

| labels | AUROC | tables |
|---|---|---|"""

CHOICES = """## Widths of single methods

`SVDD` and `KPCANovelty` have twice the median distance to the fifth neighbor as default width ("2neighbor"). Narrow
kernels gain on clean tables and lose on contaminated ones compared with the median distance, see the first table.
`KernelDensityNovelty` keeps Scott's rule for the same reason. Narrow kernels need held-out scores in contaminated
tables. Use `held_out_probability_` or `OutlierDetector` there.

KNN(50) measures the distance to the 50th neighbor. In contaminated tables, neighbor distances gain from so many
neighbors. The parts "tenth" and "fifth" of `OutlierDetector` are its like, with a number of neighbors that follows the
number of rows.

`SVDD` with narrow kernels was slow because several hundred coefficients are inside their bounds, and each round
computed all eigenvalues of their matrix. A Cholesky factorization does the same unless the matrix is singular. What
is left is the number of rounds (25 in place of 5 on 1,500 rows).

## Other anchors

The authors of OddBench and OvRBench (Outformer) store the AUROC of Isolation Forest for each table. Published ranks
of ADBench are for other tables and are not comparable with these figures. Seconds of `python -m
benchmarks.speed.outliers` are on the pages of [the host](outliers_speed.md) and [a GPU](outliers_gpu.md).
"""

CLEAN = """\
# Outliers among new rows, with all rows of each table

Command: `python -m benchmarks.accuracy.outliers --data DIR --clean`. Fitted on the training parts of {tables} public
tables, which contain no outliers. Mean ± standard error over tables. {words}.

{table}
The rule for new rows was chosen on these tables: [the main page](outliers.md) has a check against tuning.
"""
