"""Labels needed for 90% accuracy on MNIST and USPS, ten classes: `suggest` against random and uncertainty sampling.

    python -m benchmarks.accuracy.active --data DIR [--sets usps mnist] [--seeds 10] [--only curves|stop] [--quick]

Each seed draws a table of 1,200 rows. Labels are requested five at a time, the model is the diffusion part of
FewLabelClassifier, and accuracy is the fraction of the whole table that is labeled correctly. Random and uncertainty
sampling start from ten random rows, `suggest` from ten rows it chose without labels. Then the stop rule is tested: the
change that `expected_change` predicts for twenty more labels, and the change after they were given. Prints the medians
and ratios; writes benchmarks/results/active.{csv,md}, active_stop.csv and docs/img/active.png. Sets can be run one at a
time.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.harness import PICTURES, arguments, machine, markdown, publish, read_csv, write_csv
from mercer import FewLabelClassifier, expected_change, suggest

ROWS, START, BATCH, SHOWN, MOST, GOAL = 1200, 10, 5, 100, 300, 0.9
MORE, STOP_SEEDS = 20, 5  # labels the stop rule looks ahead, and tables it is tried on
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


def prepared(folder, name, seed):
    """(X, y, a model that takes any labels of these rows)."""
    X, y = table(folder, name, seed)
    start = np.where(np.arange(len(y)) < 50, y, -1)
    return X, y, FewLabelClassifier(["diffusion"], time_budget=1e-3).fit(X, start)  # the first three graphs


def stop(name, options):
    """Fraction of the predictions that twenty more labels are expected to change, and that they do change."""
    found = []
    for seed in range(1 if options.quick else min(STOP_SEEDS, options.seeds)):
        X, y, model = prepared(options.data, name, seed)
        given = np.full(len(y), -1)
        first = suggest(X, START + MORE).rows
        given[first] = y[first]
        model.relabel(given)
        for _ in range(1 if options.quick else 8):
            free = model.labels_.codes < 0
            row = {"set": name, "seed": seed, "labels": int((~free).sum())}
            row["expected"] = round(expected_change(model, MORE), 4)
            asked, before = suggest(model, MORE).rows, model.predicted_
            model.teach(asked, y[asked])
            found.append(row | {"changed": round(float(np.mean(model.predicted_[free] != before[free])), 4)})
            print(found[-1], flush=True)
    return found


def run(name, options):
    found = []
    for seed in range(1 if options.quick else options.seeds):
        X, y, model = prepared(options.data, name, seed)
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


def merged(file_name, new):
    """Rows of the file with those of the sets just run replaced."""
    done = {row["set"] for row in new}
    old = [row for row in read_csv(file_name) if row["set"] not in done]
    rows = old + [{k: str(v) for k, v in row.items()} for row in new]
    if rows:
        write_csv(file_name, rows)
    return rows


def summarize(rows):
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
                    "mean labels to 90%": f"{count.mean():.0f}",
                    "median": f"{np.median(count):.0f}",
                    "range": f"{count.min()} to {count.max()}",
                    "mean, of random's": f"{count.mean() / counts['random'].mean():.0%}",
                    "seeds": len(count),
                }
            )
    return lines, curves


def stop_lines(rows):
    """One line per set and number of labels: means over the tables."""
    groups: dict = {}
    for r in rows:
        groups.setdefault((r["set"], int(r["labels"])), []).append((float(r["expected"]), float(r["changed"])))
    return [
        {"set": name, "labels": l, "expected to change": f"{e:.1%}", "changed": f"{c:.1%}", "seeds": len(pairs)}
        for (name, l), pairs in groups.items()
        for e, c in [np.mean(pairs, axis=0)]
    ]


def picture(curves):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for name, _ in curves))
    figure, axes = plt.subplots(1, len(names), figsize=(5.2 * len(names), 3.8), squeeze=False)
    for axis, name in zip(axes[0], names):
        for strategy, color in zip(STRATEGIES, ("0.5", "C1", "C0")):
            A = np.array(curves[name, strategy])
            at = START + BATCH * np.arange(A.shape[1])
            axis.plot(at, A.mean(axis=0), color=color, label=strategy)
            axis.fill_between(at, A.min(axis=0), A.max(axis=0), color=color, alpha=0.12, lw=0)
        axis.axhline(GOAL, color="0.7", lw=1, ls=":")
        axis.set(xlabel="labels", ylabel="accuracy on the table", title=f"{name}, {ROWS} rows, ten classes")
        axis.legend(frameon=False, loc="lower right")
    figure.tight_layout()
    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / "active.png", dpi=100)


def main():
    options = arguments(
        __doc__,
        data="required",
        sets={"nargs": "*", "default": ["usps", "mnist"], "help": "which sets (default both)"},
        seeds={"type": int, "default": 10, "help": "tables per set"},
        only={"choices": ["curves", "stop"], "help": "one of the two parts"},
    )
    found = [row for name in options.sets for row in (run(name, options) if options.only != "stop" else [])]
    stops = [row for name in options.sets for row in (stop(name, options) if options.only != "curves" else [])]
    if options.quick:
        return
    rows, stops = merged("active", found), merged("active_stop", stops)
    lines, curves = summarize(rows)
    picture(curves)
    page = f"""# Which rows to label next

Labels needed until 90% of a table of {ROWS:,} rows are correct. The target for `suggest` is at most 60% of the labels
that random sampling needs. A run that does not reach 90% stops at {MOST} labels and counts as {MOST}, which favors
random sampling. Command: `python -m benchmarks.accuracy.active --data DIR`.

{markdown(lines)}

![accuracy against labels](../../docs/img/active.png) (mean over the seeds, with a band from lowest to highest)

The next table helps to decide when to stop. It shows the fraction of unlabeled rows whose class is expected to change
with {MORE} more labels, and the fraction that changed after these labels were given. Both are means over the tables.

{markdown(stop_lines(stops))}

{machine()}
"""
    publish("active", page)


if __name__ == "__main__":
    main()
