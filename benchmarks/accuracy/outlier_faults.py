"""Faults planted in tables of mixed columns, and made tables with outliers of several kinds.

    python -m benchmarks.accuracy.outlier_faults --data DIR [--jobs 2] [--rows 600] [--keep FILE] [--quick]

DIR contains tables as CSV files. In 1, 5 or 10% of the rows a number gets a wrong sign or size, a category is
misspelled, or half of the cells come from another row. Columns are encoded as by `mercer novelty`. Made tables have 300
rows of a simple distribution and clusters, directions or single rows of outliers. Each row is scored without itself if
the detector can do that. Writes benchmarks/results/outliers_faults.md. --keep FILE stores what each table gave, and a
second run goes on from there. --quick takes three tables and writes nothing.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.outlier_page import error
from benchmarks.accuracy.outliers import DEFAULT, METHODS, PARTS, measured, rules
from benchmarks.harness import arguments, kept_rows, machine, markdown, publish
from mercer import OutlierDetector, TableEncoder

FRACTIONS = (0.01, 0.05, 0.10)
PEERS = ("scikit-learn IsolationForest(200)", "scikit-learn LocalOutlierFactor(20)", "ECOD", "COPOD")
PEERS += ("KNN(1)", "KNN(5)", "KNN(50)")
RULES = {
    "rule for new rows": "power mean 4 of all but crowds (rule for new rows)",
    "mean of forest and tenths": "mean of forest and tenths, normal too",
}


def planted(frame, fraction, rng):
    """(table, which rows have a fault): a copy with faults in this fraction of the rows, in five at least."""
    frame = frame.reset_index(drop=True).astype(object)
    n = len(frame)
    rows = rng.choice(n, max(int(fraction * n), 5), replace=False)
    numbers = {name: pd.to_numeric(frame[name], errors="coerce") for name in frame}
    numbers = {name: v for name, v in numbers.items() if v.notna().mean() > 0.5 and v.nunique() > 8}
    words = [name for name in frame if name not in numbers]
    kinds = ["size", "sign", "far", "further"] * bool(numbers) + ["misspelled"] * bool(words) + ["mixed"]
    for i in rows:
        kind = rng.choice(kinds)
        if kind == "misspelled":
            frame.loc[i, rng.choice(words)] = f"?{rng.integers(3)}"
        elif kind == "mixed":
            other = rng.integers(n)
            for name in rng.choice(frame.columns, max(2, len(frame.columns) // 2), replace=False):
                frame.loc[i, name] = frame.loc[other, name]
        else:
            name = rng.choice(list(numbers))
            value, spread = numbers[name][i], numbers[name].std()
            frame.loc[i, name] = {
                "size": 10 * value + 5 * spread,
                "sign": -value - 5 * spread,
                "far": numbers[name].mean() + rng.choice([-1, 1]) * rng.uniform(4, 8) * spread,
                "further": numbers[name].max() + rng.uniform(0.5, 3) * spread,
            }[kind]
    return frame, np.isin(np.arange(n), rows)


def ordinary(kind, n, d, rng):
    """(n, d) rows of a simple distribution."""
    X = rng.standard_t(4, size=(n, d)) if kind == "heavy tails" else rng.normal(size=(n, d))
    if kind == "correlated":
        return X @ rng.normal(size=(d, d))
    if kind == "two clusters":
        X[: n // 2, 0] += 8
    return X


def unusual(kind, X, k, rng):
    """(k, d) outliers of the rows X."""
    mean, spread, d = X.mean(axis=0), X.std(axis=0), X.shape[1]
    directions = rng.normal(size=(2, d))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    if kind == "one cluster":
        Z = 6 * directions[0] + 0.3 * rng.normal(size=(k, d))
    elif kind == "two clusters":
        Z = 7 * directions[np.arange(k) % 2] + 0.3 * rng.normal(size=(k, d))
    elif kind == "two directions":
        Z, side = rng.normal(size=(k, d)), np.arange(k) % 2
        Z[np.arange(k), side] = (2 * side - 1) * (7 + 9 * rng.random(k))
    elif kind == "box":
        Z = rng.uniform(-6, 6, size=(k, d))
    else:  # near ordinary rows
        return X[rng.integers(0, len(X), k)] + 3 * spread * rng.normal(size=(k, d))
    return mean + spread * Z


BASES = ("normal", "correlated", "two clusters", "heavy tails")
KINDS = ("one cluster", "two clusters", "two directions", "box", "near ordinary rows")


def scored(X, y, setting):
    """Rows with AUROC and AP of every detector, and of other rules with the same parts."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [{"name": name} | measured(y, METHODS[name](X, None)) for name in (DEFAULT, *PEERS)]
        model = OutlierDetector([*PARTS, "normal tenth"], random_state=0).fit(X)
        every = rules(model.parts_)
        found += [
            {"name": name} | measured(y, every[rule](model.training_part_scores_)) for name, rule in RULES.items()
        ]
    return [setting | row for row in found]


def of_file(task):
    """Rows of `scored` for a file, a fraction of faults and the number of rows at most."""
    path, fraction, most = task
    frame = pd.read_csv(path)
    rng = np.random.default_rng([round(100 * fraction), len(path.stem)])
    frame, y = planted(frame.sample(min(len(frame), most), random_state=0), fraction, rng)
    X = np.asarray(TableEncoder(scale=True).fit_transform(frame))
    return scored(X, y, {"kind": "planted faults", "fraction": fraction})


def of_made(task, n=300):
    """Rows of `scored` for a distribution, a kind and a fraction of outliers, and the number of columns."""
    base, kind, d, fraction = task
    rng = np.random.default_rng([BASES.index(base), KINDS.index(kind), d, round(100 * fraction)])
    k = max(int(fraction * n), 5)
    X = ordinary(base, n - k, d, rng)
    X = np.vstack([X, unusual(kind, X, k, rng)])
    return scored((X - X.mean(axis=0)) / X.std(axis=0), np.arange(n) >= n - k, {"kind": kind, "fraction": fraction})


def compared(rows, kinds):
    """A table of mean AUROC and AP by detector and fraction, with what the default has more."""
    lines = []
    for name in (DEFAULT, *PEERS, *RULES):
        line = {"detector": name}
        for fraction in FRACTIONS:
            for measure, title in (("auroc", "AUROC"), ("ap", "AP")):
                some = [row for row in rows if row["fraction"] == fraction and row["kind"] in kinds]
                values, own = (np.array([r[measure] for r in some if r["name"] == k]) for k in (name, DEFAULT))
                less = "" if name == DEFAULT else f" ({np.mean(own - values):+.3f} ± {error(own - values):.3f})"
                line[f"{title}, {fraction:.0%}"] = f"{np.mean(values):.3f}{less}"
        lines.append(line)
    return markdown(lines)


def ahead(rows, kinds):
    """A sentence on the detectors with a higher mean than the default, by measure and fraction."""
    found = []
    for fraction in FRACTIONS:
        some = [row for row in rows if row["fraction"] == fraction and row["kind"] in kinds]
        for measure, title in (("auroc", "AUROC"), ("ap", "AP")):
            mean = {name: np.mean([r[measure] for r in some if r["name"] == name]) for name in (DEFAULT, *PEERS)}
            names = [f"{name} (+{mean[name] - mean[DEFAULT]:.3f})" for name in PEERS if mean[name] > mean[DEFAULT]]
            found += [f"{title} at {fraction:.0%} by {', '.join(names)}"] if names else []
    if not found:
        return "No other detector has a higher mean.\n"
    return f"Detectors with a higher mean than the default: {'. '.join(found)}.\n"


def main():
    more = {
        "rows": {"type": int, "default": 600, "help": "rows of a table at most"},
        "jobs": {"type": int, "default": 1, "help": "processes"},
        "keep": {"type": Path, "default": None, "help": "file for the results of single tables"},
    }
    options = arguments(__doc__, data="required", **more)
    files = sorted(options.data.glob("*.csv"))[: 3 if options.quick else None]
    tasks = [(file, f, options.rows) for file in files for f in FRACTIONS]
    rows = kept_rows(of_file, tasks, options.jobs, options.keep)
    bases = BASES[: 1 if options.quick else None]
    made = [(base, kind, d, f) for base in bases for kind in KINDS for d in (3, 10) for f in FRACTIONS]
    rows += kept_rows(of_made, made, options.jobs, options.keep)
    text = HEAD.format(most=options.rows, words=machine())
    text += f"## Planted faults\n\n{PLANTED.format(tables=len(files), most=options.rows)}\n"
    faults = ("planted faults",)
    text += f"{compared(rows, faults)}\n\n{ahead(rows, faults)}\n## Made tables\n\n{MADE}"
    for title, kinds in [("all kinds", KINDS), *((kind, (kind,)) for kind in KINDS)]:
        text += f"\n**Outliers ({title})**\n\n{compared(rows, kinds)}\n\n{ahead(rows, kinds)}"
    publish("outliers_faults", text, options.quick)


HEAD = """# Planted faults and made outliers

Command: `python -m benchmarks.accuracy.outlier_faults --data DIR --rows {most}`. {words}.

Each row is scored without itself if the detector can do that. The tables show the mean AUROC and AP, and in parentheses
the default minus the detector of the line, with the standard error of the difference. The last two lines are other
rules with the parts of `OutlierDetector`. "rule for new rows" applies the rule for new rows to the rows of the table
itself. "mean of forest and tenths" is near the former rule for training rows, in which the part "normal tenth" had half
its weight.

"""
PLANTED = """{tables} public tables of numbers and categories, at most {most} rows of each. In 1, 5 or 10% of the rows
(five at least) one cell gets a wrong size or sign, a category is misspelled, or half of the cells come from another
row. Columns are encoded as by `mercer novelty`.
"""
MADE = """300 rows of a normal distribution, of correlated columns, of two clusters or of heavy tails, with 3 and with
10 columns. Outliers are one cluster, two clusters, two directions, a box around the rows, or rows that are moved by
three standard deviations per column. 1% of 300 rows would be three outliers, five are made instead.
"""


if __name__ == "__main__":
    main()
