"""Would TransductiveSVMClassifier earn a place among the candidates of FewLabelClassifier?

    python -m benchmarks.papers.transductive_candidate --data DIR [--sets NAME ...] [--splits 4] [--quick]

DIR contains the book's sets (ssl_*.npz: 10 and 100 labels, official splits) and the tables of accuracy/blind.py (20
and 60 random labels). FewLabelClassifier with its own candidates, and with the transductive machine (default
parameters, held-out predictions of five folds) next to them on the principal axes of every kernel space: errors over
the unlabeled rows, the weight the machine gets, and CPU seconds of one labeling when the spaces are built. Writes
results/transductive_candidate.csv, which transductive.py --only report puts into transductive.md. About 8 minutes on
one core.
"""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.accuracy import blind
from benchmarks.accuracy.book import load
from benchmarks.harness import arguments, read_csv, write_csv
from mercer import FewLabelClassifier, TransductiveSVMClassifier
from mercer.few_label import catalog

BOOK = ("text", "usps", "digit1", "bci", "g241c")
TABLES = ("australian_uci", "heart_uci", "sonar_uci", "diabetes", "wdbc", "usps")
OWN = [method.name for method in catalog.methods_named("classes", "auto")]
NAME = "tsvm"


def labelings(folder, name, splits):
    """X, y and (labels, split, y with −1) for a set of the book, or "table NAME"."""
    if name.startswith("table "):
        X, y = blind.load(folder, name.removeprefix("table "))
        return X, y, [(l, split, blind.draw(y, l, split)) for l in (20, 60) for split in range(splits)]
    X, y, official = load(folder, name)
    found = []
    for l in (10, 100):
        for split in range(splits):
            given = np.full(len(y), -1)
            given[official[l][split]] = y[official[l][split]]
            found.append((l, split, given))
    return X, y, found


def run(folder, name, splits):
    """A row for each labeling; the spaces are built with the first one, which then takes no time of its own."""
    X, y, given = labelings(folder, name, splits)
    models = {
        which: FewLabelClassifier(methods, time_budget=None).fit(X, given[0][2])
        for which, methods in (("own", OWN), ("with", [*OWN, NAME]))
    }
    rows = []
    for l, split, labels in given:
        row: dict = {"set": name, "labels": l, "split": split}
        for which, model in models.items():
            start = time.process_time()
            models[which] = model = model.relabel(labels)
            row[f"seconds, {which}"] = f"{time.process_time() - start:.2f}"
            wrong = (model.predicted_ != y)[labels < 0]
            row[f"error, {which}"] = f"{100 * np.mean(wrong):.2f}"
        weight = [w for w, candidate in zip(model.weights_, model.candidates_) if candidate.method == NAME]
        rows.append(row | {"weight": f"{sum(weight):.3f}"})
        print(rows[-1], flush=True)
    return rows


def sides(gain):
    """How many labelings have a lower, the same and a higher error with the machine."""
    return ", ".join(str(int(number)) for number in (np.sum(gain > 0), np.sum(gain == 0), np.sum(gain < 0)))


def timed(rows, key, which):
    """Mean seconds of the labelings of a key that took any: not of those that the spaces were built with."""
    first = {row["set"]: row for row in reversed(rows)}
    own = [row for row in rows if key is None or (row["set"], row["labels"]) == key]
    return np.mean([float(row[f"seconds, {which}"]) for row in own if row is not first[row["set"]]])


def summary(rows):
    """Mean over the splits for each set and number of labels, and over all."""
    keys = dict.fromkeys((row["set"], row["labels"]) for row in rows)
    out = []
    for key in [*keys, None]:
        own = [row for row in rows if key is None or (row["set"], row["labels"]) == key]
        error = {which: np.array([float(row[f"error, {which}"]) for row in own]) for which in ("own", "with")}
        gain, (alone, both) = error["own"] - error["with"], (timed(rows, key, which) for which in ("own", "with"))
        out.append(
            {
                "set": key[0] if key else "all",
                "labels": key[1] if key else "",
                "labelings": len(own),
                "own candidates": f"{error['own'].mean():.1f}",
                "with the machine": f"{error['with'].mean():.1f}",
                "gain": f"{gain.mean():+.2f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.2f}",
                "lower, same, higher": sides(gain),
                "its weight": f"{np.mean([float(row['weight']) for row in own]):.2f}",
                "CPU s, own": f"{alone:.2f}",
                "CPU s, with": f"{both:.2f}",
                "times": f"{both / alone:.0f}",
            }
        )
    return out


def main():
    names = [*BOOK, *(f"table {name}" for name in TABLES)]
    options = arguments(
        __doc__,
        data="required",
        sets={"nargs": "*", "default": names, "help": "only these sets; the other rows are kept"},
        splits={"type": int, "default": 4, "help": "labelings for each number of labels (default %(default)s)"},
    )
    own = catalog.Setting("axes", TransductiveSVMClassifier(balance="labels", tol=1e-3, max_iter=300), "lam")
    does = "keeps its margin clear of the unlabeled rows"
    method = catalog.Method("classes", NAME, "Transductive SVM", does, (own,), auto=False)
    catalog.CATALOG = (*catalog.CATALOG, method)
    for name in options.sets[: 1 if options.quick else None]:
        rows = run(options.data, name, 1 if options.quick else options.splits)
        if not options.quick:
            old = [row for row in read_csv("transductive_candidate") if row["set"] != name]
            write_csv("transductive_candidate", sorted([*old, *rows], key=lambda row: names.index(row["set"])))


if __name__ == "__main__":
    main()
