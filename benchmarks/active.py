"""Labels needed for 90 % accuracy on MNIST and USPS, ten classes: `suggest` against random and uncertainty sampling.

    python benchmarks/active.py --data DIR [--sets usps mnist] [--seeds 10] [--quick]

Each seed draws a table of 1 200 rows. Labels are asked for five at a time, the model is the diffusion part of
FewLabelClassifier, and accuracy is the share of the whole table that is labelled right. Random and uncertainty sampling
start from ten random rows, `suggest` from ten rows it chose without labels. Prints the medians and ratios; writes
benchmarks/results/active.{csv,md} and docs/img/active.png. Sets can be run one at a time.
"""

import csv
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from harness import PICTURES, RESULTS, arguments, machine, markdown, write_csv

from mercer import FewLabelClassifier, suggest

ROWS, START, BATCH, SHOWN, MOST, GOAL = 1200, 10, 5, 100, 300, 0.9
STRATEGIES = {"random": None, "uncertainty": "uncertainty", "suggest": "auto"}


def table(folder, name, seed):
    file = np.load(folder / f"{name}.npz")
    rows = np.random.default_rng(seed).choice(len(file["y_train"]), ROWS, replace=False)
    X = file["X_train"][rows].astype(np.float64)
    return X / (255.0 if name == "mnist" else 1.0), file["y_train"][rows].astype(int)


def curve(model, X, y, strategy, seed):
    """[(labels, accuracy)] until the goal is reached, and for the picture at least up to SHOWN labels."""
    rng = np.random.default_rng(seed)
    rows = suggest(X, START).rows.tolist() if strategy == "suggest" else rng.choice(len(y), START, False).tolist()
    out = []
    while True:
        given = np.full(len(y), -1)
        given[rows] = y[rows]
        model.relabel(given)
        out.append((len(rows), float(np.mean(model.transduction_ == y))))
        reached = max(accuracy for _, accuracy in out) >= GOAL
        if (reached and len(rows) >= SHOWN) or len(rows) >= MOST:
            return out
        if strategy == "random":
            rows += rng.choice(np.flatnonzero(given < 0), BATCH, False).tolist()
        else:
            rows += suggest(model, BATCH, strategy=STRATEGIES[strategy]).rows.tolist()


def run(name, options):
    found = []
    for seed in range(1 if options.quick else options.seeds):
        X, y = table(options.data, name, seed)
        start = np.where(np.arange(len(y)) < 50, y, -1)
        model = FewLabelClassifier(["diffusion"], time_budget=1e-3).fit(X, start)  # the first three graphs
        for strategy in STRATEGIES:
            points = curve(model, X, y, strategy, seed)
            found += [
                {"set": name, "seed": seed, "strategy": strategy, "labels": l, "accuracy": round(a, 4)}
                for l, a in points
            ]
            print(name, seed, strategy, needed(points), flush=True)
    return found


def needed(points):
    """Labels at which the goal is first reached; MOST if it is not."""
    return next((labels for labels, accuracy in points if accuracy >= GOAL), MOST)


def merged(new):
    path = RESULTS / "active.csv"
    old = []
    if path.exists():
        with open(path) as file:
            old = list(csv.DictReader(file))
    done = {row["set"] for row in new}
    rows = [row for row in old if row["set"] not in done] + [{k: str(v) for k, v in row.items()} for row in new]
    write_csv("active", rows)
    return rows


def summarise(rows):
    """(summary lines, curves {(set, strategy): {labels: accuracies}})."""
    points: dict = {}
    for r in rows:
        key = (r["set"], r["strategy"], r["seed"])
        points.setdefault(key, []).append((int(r["labels"]), float(r["accuracy"])))
    lines, curves = [], {}
    for name in dict.fromkeys(r["set"] for r in rows):
        counts = {}
        for strategy in STRATEGIES:
            mine = [value for (s, t, _), value in points.items() if (s, t) == (name, strategy)]
            counts[strategy] = np.array([needed(value) for value in mine])
            curves[name, strategy] = [[a for l, a in value if l <= SHOWN] for value in mine]
        for strategy, count in counts.items():
            lines.append(
                {
                    "set": name,
                    "strategy": strategy,
                    "mean labels to 90 %": f"{count.mean():.0f}",
                    "median": f"{np.median(count):.0f}",
                    "range": f"{count.min()} to {count.max()}",
                    "mean, of random's": f"{count.mean() / counts['random'].mean():.0%}",
                    "seeds": len(count),
                }
            )
    return lines, curves


def picture(curves):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for name, _ in curves))
    figure, axes = plt.subplots(1, len(names), figsize=(5.2 * len(names), 3.8), squeeze=False)
    for axis, name in zip(axes[0], names):
        for strategy, colour in zip(STRATEGIES, ("0.5", "C1", "C0")):
            A = np.array(curves[name, strategy])
            at = START + BATCH * np.arange(A.shape[1])
            axis.plot(at, A.mean(axis=0), color=colour, label=strategy)
            axis.fill_between(at, A.min(axis=0), A.max(axis=0), color=colour, alpha=0.12, lw=0)
        axis.axhline(GOAL, color="0.7", lw=1, ls=":")
        axis.set(xlabel="labels", ylabel="share of the table right", title=f"{name}, {ROWS} rows, ten classes")
        axis.legend(frameon=False, loc="lower right")
    figure.tight_layout()
    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / "active.png", dpi=100)


def main():
    options = arguments(
        __doc__.splitlines()[0],
        sets={"nargs": "*", "default": ["usps", "mnist"], "help": "which sets (default both)"},
        seeds={"type": int, "default": 10, "help": "tables per set"},
    )
    for name in options.sets:
        found = run(name, options)
        if not options.quick:
            rows = merged(found)
    if options.quick:
        return
    lines, curves = summarise(rows)
    picture(curves)
    page = f"""# Which rows to label next

Labels needed until 90 % of a table of {ROWS} rows are right (asked: `suggest` at most 60 % of random's).
A run that does not get there stops at {MOST} labels and counts as {MOST}, which flatters
random. Command: `python benchmarks/active.py --data DIR`.

{markdown(lines)}

![accuracy against labels](../../docs/img/active.png) (mean over the seeds; band: lowest to highest)

{machine()}
"""
    (RESULTS / "active.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
