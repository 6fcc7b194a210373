"""FewLabelClassifier on the seven sets of the semi-supervised learning book, 10 and 100 labels, official splits.

    python benchmarks/few_label_book.py --data DIR [--sets digit1 usps ...] [--splits 12] [--quick]

Every method tunes on the labels only. Prints a table of mean errors over the unlabelled rows (14 cells, mean, mean
rank) for FewLabelClassifier, our single methods tuned alone (leave-one-label-out over the same spaces, the label-free
default kept unless another candidate is clearly better) and scikit-learn's classifiers (cross-validated on the
labels), and how far its probabilities are right. Writes benchmarks/results/few_label_book.{csv,md},
few_label_reliability.csv and docs/img/few_label_reliability.png. Sets can be run one at a time: results are merged
into the CSV files.
"""

import csv
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings

import numpy as np
import scipy.sparse as sp
from harness import PICTURES, RESULTS, arguments, machine, write_csv
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from mercer import FewLabelClassifier
from mercer.selection import LabelledKFold
from mercer.selection.candidates import AUTO, METHODS

SETS = ["digit1", "usps", "coil", "bci", "g241c", "g241d", "text"]
SINGLE = [name for name in METHODS if name != "s2rls"]  # the label search has its own benchmark, label_search.py
BINS = 10


def load(folder, name):
    file = np.load(folder / f"ssl_{name}.npz")
    if "X" in file:
        X = file["X"].astype(np.float64)
    else:
        X = sp.csr_matrix((file["X_data"], file["X_indices"], file["X_indptr"]), shape=file["X_shape"]).astype(float)
    y = np.unique(file["y"], return_inverse=True)[1]
    return X, y, {10: file["labeled_10"], 100: file["labeled_100"]}


class Once:
    """A candidate that is solved once for each labelling, however many models share it."""

    def __init__(self, candidate):
        self.candidate, self.key, self.solved = candidate, None, None
        self.method, self.space, self.model = candidate.method, candidate.space, candidate.model

    def solve(self, labels):
        key = labels.codes.tobytes()
        if key != self.key:
            self.key, self.solved = key, self.candidate.solve(labels)
        return self.solved


def only(model, methods, combine):
    """The model restricted to some methods: the same spaces, not built again."""
    part = clone(model).set_params(methods=list(methods), combine=combine)
    part.candidates_ = [c for c in model.candidates_ if c.method in methods]
    part.skipped_, part.encoder_, part.labels_ = [], None, model.labels_
    return part


def tuned_on_labels(model, grid, X, y, given):
    """scikit-learn's graph methods: the best value by three folds of the labels, the first on ties."""
    scores = []
    for value in grid:
        right = []
        try:
            for _, test in LabelledKFold(3, shuffle=True, random_state=0).split(X, given):
                hidden = given.copy()
                hidden[test] = -1
                answer = clone(model).set_params(**value).fit(X, hidden).transduction_
                right.append(np.mean(answer[test] == given[test]))
        except ValueError:
            right.append(0.0)
        scores.append(np.mean(right))
    return clone(model).set_params(**grid[int(np.argmax(scores))]).fit(X, given).transduction_


class Stored:
    """A kernel function that returns a stored matrix: the graph methods are fitted many times on the same rows."""

    def __init__(self, K):
        self.K = K

    def __call__(self, X, Y=None):
        return self.K


def peers(X, y, seed=0):
    """{name: function(given) -> labels of all rows}; X is prepared once."""
    d = pairwise_distances(X)
    median = float(np.median(d[np.triu_indices(len(y), 1)]))
    wide = [{"kernel": Stored(np.exp(-(d**2) / (2 * (f * median) ** 2)))} for f in (0.15, 0.3, 0.6)]
    order = np.argsort(d, axis=1, kind="stable")
    near = []
    for k in (5, 10, 20):
        places = (np.repeat(np.arange(len(y)), k), order[:, :k].ravel())
        near.append({"kernel": Stored(sp.csr_matrix((np.ones(k * len(y)), places), shape=d.shape))})
    index = np.arange(len(y))[:, None].astype(float)

    def svc(given):
        rows_l = np.flatnonzero(given >= 0)
        folds = min(5, int(np.bincount(given[rows_l]).min()))
        scale = 1.0 / median**2
        base = SVC(probability=False, random_state=seed)
        grid = [
            {"kernel": ["rbf"], "C": [1, 10, 100], "gamma": [0.25 * scale, 0.5 * scale, 2 * scale]},
            {"kernel": ["linear"], "C": [0.1, 10]},
        ]
        if folds < 2:
            return clone(base).set_params(C=10, gamma=0.5 * scale).fit(X[rows_l], given[rows_l])
        cv = StratifiedKFold(folds, shuffle=True, random_state=seed)
        return GridSearchCV(base, grid, cv=cv).fit(X[rows_l], given[rows_l]).best_estimator_

    def self_training(given):
        best = svc(given)
        return SelfTrainingClassifier(clone(best).set_params(probability=True), threshold=0.75).fit(X, given).predict(X)

    def nearest(given):
        rows_l = np.flatnonzero(given >= 0)
        return given[rows_l][np.argmin(d[:, rows_l], axis=1)]

    def graph(model, grid):
        return lambda given: tuned_on_labels(model, grid, index, y, given)

    return {
        "1-NN": nearest,
        "SVC": lambda given: svc(given).predict(X),
        "SelfTraining(SVC)": self_training,
        "LabelSpreading knn": graph(LabelSpreading(max_iter=50), near),
        "LabelSpreading rbf": graph(LabelSpreading(max_iter=50), wide),
        "LabelPropagation knn": graph(LabelPropagation(max_iter=100), near),
        "LabelPropagation rbf": graph(LabelPropagation(max_iter=100), wide),
    }


def run_set(name, options):
    """(error rows, reliability rows) of one data set."""
    X, y, splits = load(options.data, name)
    names = ["FewLabelClassifier", "FewLabelClassifier pick", *SINGLE]
    others = {} if options.ours else peers(X, y)
    errors, reliability = [], []
    start = time.perf_counter()
    given = np.full(len(y), -1)
    given[splits[10][0]] = y[splits[10][0]]
    full = FewLabelClassifier(methods=SINGLE, time_budget=None).fit(X, given)
    full.candidates_ = [Once(candidate) for candidate in full.candidates_]
    models = {"FewLabelClassifier": only(full, AUTO, "average"), "FewLabelClassifier pick": only(full, AUTO, "pick")}
    models |= {method: only(full, [method], "pick") for method in SINGLE}
    built = time.perf_counter() - start
    for n_labels in (10,) if options.quick else (10, 100):
        found: dict = {method: [] for method in [*names, *others]}
        bins = np.zeros((BINS, 3))
        coverage = []
        seconds = []
        for split in range(1 if options.quick else options.splits):
            given = np.full(len(y), -1)
            given[splits[n_labels][split]] = y[splits[n_labels][split]]
            free = given < 0
            for method, model in models.items():
                start = time.perf_counter()
                model.relabel(given)
                if method == "FewLabelClassifier":
                    seconds.append(time.perf_counter() - start)
                    confidence, right = model.confidence_[free], model.predicted_[free] == y[free]
                    np.add.at(
                        bins,
                        np.minimum((confidence * BINS).astype(int), BINS - 1),
                        np.column_stack([np.ones(free.sum()), confidence, right]),
                    )
                    order = np.argsort(-confidence, kind="stable")
                    coverage.append(
                        np.interp(
                            np.linspace(0.05, 1, 20),
                            np.arange(1, len(order) + 1) / len(order),
                            np.cumsum(right[order]) / np.arange(1, len(order) + 1),
                        )
                    )
                found[method].append(np.mean(model.predicted_[free] != y[free]))
            for method, answer in others.items():
                if split >= options.slow_splits and method.startswith(("Label", "Self")):
                    continue
                found[method].append(np.mean(answer(given)[free] != y[free]))
        print(
            f"{name} {n_labels}: spaces {built:.1f} s, then {np.median(seconds):.2f} s a split;",
            {m: round(100 * float(np.mean(e)), 1) for m, e in found.items()},
            flush=True,
        )
        for method, values in found.items():
            errors.append(
                {
                    "set": name,
                    "labels": n_labels,
                    "method": method,
                    "error": round(100 * np.mean(values), 2),
                    "std": round(100 * np.std(values), 2),
                    "splits": len(values),
                }
            )
        for b, (count, sure, right) in enumerate(bins):
            reliability.append(
                {
                    "set": name,
                    "labels": n_labels,
                    "kind": "bin",
                    "at": b,
                    "count": int(count),
                    "confidence": round(sure, 3),
                    "right": int(right),
                }
            )
        for at, value in zip(np.linspace(0.05, 1, 20), np.mean(coverage, axis=0)):
            reliability.append(
                {
                    "set": name,
                    "labels": n_labels,
                    "kind": "coverage",
                    "at": round(at, 2),
                    "count": 0,
                    "confidence": 0,
                    "right": round(float(value), 4),
                }
            )
    return errors, reliability


def merged(name, new):
    """New rows in place of old ones of the same sets and methods, in the order of SETS."""
    path = RESULTS / f"{name}.csv"
    old = []
    if path.exists():
        with open(path) as file:
            old = list(csv.DictReader(file))
    new = [{k: str(v) for k, v in row.items()} for row in new]
    done = {(row["set"], row.get("method")) for row in new}
    rows = new + [row for row in old if (row["set"], row.get("method")) not in done]
    rows.sort(key=lambda row: SETS.index(row["set"]))
    write_csv(name, rows)
    return rows


def table(rows, sets=SETS, labels=("10", "100")):
    """The Markdown table: one line a method, best mean first."""
    cells = [(s, l) for s in sets for l in labels if any(r["set"] == s and r["labels"] == l for r in rows)]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    value = {(r["set"], r["labels"], r["method"]): float(r["error"]) for r in rows}
    E = np.array([[value[s, l, m] for s, l in cells] for m in methods])
    rank = 1 + (E[:, None, :] > E[None, :, :]).sum(axis=1) + 0.5 * ((E[:, None, :] == E[None, :, :]).sum(axis=1) - 1)
    lines = [
        "| method | " + " | ".join(f"{s} {l}" for s, l in cells) + " | mean | mean rank |",
        "|" + "---|" * (len(cells) + 3),
    ]
    for i in np.argsort(E.mean(axis=1)):
        numbers = " | ".join(f"{e:.1f}" for e in E[i])
        lines.append(f"| {methods[i]} | {numbers} | **{E[i].mean():.2f}** | {rank[i].mean():.1f} |")
    return "\n".join(lines), {m: float(e.mean()) for m, e in zip(methods, E)}


def reliability_of(rows):
    """{labels: (bins (BINS, 3), expected calibration error, coverage (20,))} over all sets."""
    out = {}
    for labels in ("10", "100"):
        mine = [r for r in rows if r["labels"] == labels]
        if not mine:
            continue
        bins = np.zeros((BINS, 3))
        for r in mine:
            if r["kind"] == "bin":
                bins[int(r["at"])] += [float(r["count"]), float(r["confidence"]), float(r["right"])]
        full = bins[:, 0] > 0
        error = np.abs(bins[full, 1] - bins[full, 2]).sum() / bins[:, 0].sum()
        curves = {}
        for r in mine:
            if r["kind"] == "coverage":
                curves.setdefault(r["set"], []).append(float(r["right"]))
        out[labels] = (bins, error, curves)
    return out


def picture(found):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8))
    axes[0].plot([0, 1], [0, 1], color="0.7", lw=1)
    for labels, colour in (("10", "C0"), ("100", "C1")):
        if labels not in found:
            continue
        bins, error, _ = found[labels]
        full = bins[:, 0] > 50
        axes[0].plot(
            bins[full, 1] / bins[full, 0],
            bins[full, 2] / bins[full, 0],
            "o-",
            color=colour,
            label=f"{labels} labels (ECE {100 * error:.1f} %)",
        )
    axes[0].set(
        xlabel="stated confidence",
        ylabel="share right",
        title="Reliability, all seven sets",
        xlim=(0, 1.02),
        ylim=(0, 1.02),
    )
    axes[0].legend(frameon=False)
    for axis, labels in zip(axes[1:], ("10", "100")):
        for name, curve in found.get(labels, (None, None, {}))[2].items():
            axis.plot(np.linspace(0.05, 1, 20), curve, label=name)
        axis.set(
            xlabel="share of rows labelled, surest first",
            ylabel="accuracy",
            title=f"{labels} labels",
            ylim=(0.05, 1.01),
        )
        axis.legend(frameon=False, fontsize=8, ncol=2, loc="lower left")
    figure.tight_layout()
    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / "few_label_reliability.png", dpi=100)


def main():
    options = arguments(
        __doc__.splitlines()[0],
        sets={"nargs": "*", "default": SETS, "help": "which sets (default all)"},
        splits={"type": int, "default": 12, "help": "how many of the 12 official splits"},
        slow_splits={"type": int, "default": 3, "help": "splits for the slow semi-supervised peers"},
        ours={"action": "store_true", "help": "leave scikit-learn's classifiers as the CSV has them"},
        table={"action": "store_true", "help": "only write table and picture from the CSV files"},
    )
    warnings.simplefilter("ignore")
    for name in [] if options.table else options.sets:
        errors, reliability = run_set(name, options)
        if not options.quick:
            rows, shown = merged("few_label_book", errors), merged("few_label_reliability", reliability)
    if options.quick:
        return
    if options.table:
        rows, shown = merged("few_label_book", []), merged("few_label_reliability", [])
    text, means = table(rows)
    found = reliability_of(shown)
    picture(found)
    ece = ", ".join(f"{100 * found[l][1]:.1f} % with {l} labels" for l in found)
    page = f"""# FewLabelClassifier on the book's benchmark sets

Mean error in % over the unlabelled rows, {max(int(r["splits"]) for r in rows)} official splits, all tuning on the
labels only (command: `python benchmarks/few_label_book.py --data DIR`). "pick" keeps one candidate instead of
averaging. The other lines are our single methods, each tuned alone by leave-one-label-out over the same spaces, and
scikit-learn's classifiers, tuned by cross-validation on the labels (the semi-supervised ones are slow to tune and see
only the first three or six splits of some sets: the CSV says which). The list of candidates was settled while
looking at results on these sets: every choice among candidates sees the labels only, the list itself is not blind
(few_label_blind.md has sets that played no part).

{text}

Asked: mean ≤ 27 %, aiming at 25, and below every other line. FewLabelClassifier: {means["FewLabelClassifier"]:.2f} %.

Expected calibration error (ten bins, all sets pooled): {ece}. Reliability and accuracy against
coverage (stated confidence below 0.5 occurs on coil only, with six classes):
![reliability](../../docs/img/few_label_reliability.png)

{machine()}
"""
    (RESULTS / "few_label_book.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
