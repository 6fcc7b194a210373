"""FewLabelClassifier on tables that were not used to choose its candidates: eight tables, 20 and 60 random labels.

    python -m benchmarks.accuracy.blind --data DIR [--splits 6] [--quick]

The candidates of FewLabelClassifier were chosen on the sets of book.py and none was chosen here. The first six tables
helped to choose the loss by which candidates are weighed. Of ten losses, the Brier score was best on the book's sets
and on these six. Labels are drawn at random with every class at least twice. Prints and writes
benchmarks/results/few_label_blind.md: mean errors in % over the unlabeled rows, next to scikit-learn's classifiers
tuned on the labels as in book.py.
"""

import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.accuracy.page import table
from benchmarks.accuracy.peers import peers
from benchmarks.harness import arguments, machine, publish, standardized
from mercer import FewLabelClassifier

SETS = ["australian_uci", "heart_uci", "sonar_uci", "breastcancer_uci", "diabetes", "wdbc", "usps", "mnist"]
ROWS = 800  # of the two sets of ten digits


def load(folder, name):
    file = np.load(folder / f"{name}.npz")
    if "X" in file:
        return file["X"].astype(np.float64), np.unique(file["y"], return_inverse=True)[1]
    rows = np.random.default_rng(0).choice(len(file["y_train"]), ROWS, replace=False)
    return file["X_train"][rows].astype(np.float64), file["y_train"][rows].astype(int)


def draw(y, n_labels, seed):
    """Random labels, every class at least twice."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.choice(np.flatnonzero(y == c), 2, False) for c in np.unique(y)])
    rest = np.setdiff1d(np.arange(len(y)), rows)
    rows = np.concatenate([rows, rng.choice(rest, max(n_labels - len(rows), 0), False)])
    given = np.full(len(y), -1)
    given[rows] = y[rows]
    return given


def run(name, options):
    X, y = load(options.data, name)
    # tables are scaled for the other classifiers; FewLabelClassifier scales itself
    others = peers(X if name in ("usps", "mnist") else standardized(X), y)
    model, found = None, {}
    for n_labels in (20, 60):
        for split in range(1 if options.quick else options.splits):
            given = draw(y, n_labels, split)
            free = given < 0
            model = FewLabelClassifier(time_budget=None).fit(X, given) if model is None else model.relabel(given)
            predictions = {"FewLabelClassifier": model.predicted_} | {m: f(given) for m, f in others.items()}
            for method, predicted in predictions.items():
                found.setdefault((name, n_labels, method), []).append(100 * np.mean(predicted[free] != y[free]))
    print(name, {f"{m} {l}": round(float(np.mean(e)), 1) for (_, l, m), e in found.items()}, flush=True)
    return found


def main():
    options = arguments(__doc__, data="required", splits={"type": int, "default": 6, "help": "draws of labels"})
    warnings.simplefilter("ignore")
    found: dict = {}
    for name in SETS[:1] if options.quick else SETS:
        found |= run(name, options)
    rows = [
        {"set": s, "labels": str(l), "method": m, "error": f"{np.mean(e):.2f}", "splits": len(e)}
        for (s, l, m), e in found.items()
    ]
    text, _ = table(rows, SETS, ("20", "60"))
    page = f"""# FewLabelClassifier on tables that were not used to choose its candidates

Mean error in % over the unlabeled rows, {options.splits} draws of 20 and of 60 labels
(command: `python -m benchmarks.accuracy.blind --data DIR`). No candidate was chosen on these tables. The first six
helped to choose the loss by which candidates are weighed. Of ten losses, the Brier score was best on them and on the
book's sets.

{text}

{machine()}
"""
    publish("few_label_blind", page, options.quick)


if __name__ == "__main__":
    main()
