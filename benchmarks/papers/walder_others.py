"""Algorithms of the book's study that are easy to state, on its data sets: for the last table of walder.md.

    python -m benchmarks.papers.walder_others --data DIR [--sets digit1,usps] [--only others|tsvm] [--jobs N]
        [--quick]

DIR contains the book's data sets as ssl_*.npz. The errors over the unlabeled rows of the twelve official splits go to
benchmarks/results/walder_others.csv; about ten minutes on one core. Parameters by the error on held-out labels, the
first of the grid among ties:

* LEM + 1-NN: the nearest labeled row in the 2, 5, 10 or 20 smoothest eigenvectors of a graph of 5, 10, 20 neighbors.
* QC + CMR: least squares on the labels with the penalty μ fᵀ(Lap + ε)f on such a graph, then class mass regularization:
  the scores of each class are scaled so that their means over all rows are the class frequencies among the labels.
* Laplacian RLS: regularized least squares with a Gaussian kernel of 0.5, 1 or 2 medians and the graph term.
* TSVM: `TransductiveSVMClassifier` with the linear kernel or a Gaussian one of the median width (300 landmarks),
  λ = 0.001 or 0.1, by the hinge loss of the held-out margins (five folds); class frequencies as among the labels.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

from benchmarks.harness import arguments, read_csv, write_csv
from benchmarks.papers.walder_data import Data
from benchmarks.papers.walder_page import SETS_2
from mercer import TransductiveSVMClassifier
from mercer.evidence.margin import relative_hinge
from mercer.inputs.labels import read_labels

NEIGHBORS, DIMENSIONS, WIDTHS = (10, 5, 20), (5, 2, 10, 20), (1.0, 0.5, 2.0)
PENALTIES, GRAPH_WEIGHTS = (0.1, 0.001, 10.0), (1.0, 0.01, 100.0)


def nearest(data, rows, spots):
    """(held-out errors, one-hot scores of all rows) of the nearest labeled row."""
    apart = np.sum((spots[:, None] - spots[rows]) ** 2, axis=2)
    own = apart[rows].copy()
    np.fill_diagonal(own, np.inf)
    wrong = np.mean(data.codes[rows][own.argmin(axis=1)] != data.codes[rows])
    return wrong, np.eye(data.codes.max() + 1)[data.codes[rows][apart.argmin(axis=1)]]


def ridge(data, rows, H, penalty):
    """The same of least squares on the labels in the space of the kernel matrix H, one column a class."""
    T = np.eye(data.codes.max() + 1)[data.codes[rows]]
    share = T.mean(axis=0)
    inverse = np.linalg.inv(H[np.ix_(rows, rows)] + penalty * np.eye(len(rows)))
    coef = inverse @ (T - share)
    left_out = T - coef / np.diag(inverse)[:, None]
    return np.mean(left_out.argmax(axis=1) != data.codes[rows]), share + H[:, rows] @ coef


def run_split(data, rows):
    """{method: error}."""
    found = {"LEM + 1-NN": [], "QC + CMR": [], "Laplacian RLS": []}
    for k in NEIGHBORS:
        values, V = data.spectrum(k)
        found["LEM + 1-NN"] += [nearest(data, rows, V[:, 1 : d + 1]) for d in DIMENSIONS]
        H = data.once(("qc", k), lambda values=values, V=V: (V / (values + 1e-3)) @ V.T)
        for penalty in PENALTIES:
            wrong, scores = ridge(data, rows, H, penalty * np.mean(np.diag(H)))
            share = np.bincount(data.codes[rows], minlength=scores.shape[1]) / len(rows)
            lifted = np.maximum(scores, 1e-9)
            found["QC + CMR"].append((wrong, lifted * share / lifted.mean(axis=0)))
    values, V = data.spectrum(NEIGHBORS[0])
    for factor in WIDTHS:
        for weight in GRAPH_WEIGHTS:

            def deformed(factor=factor, weight=weight):
                inverse = np.linalg.inv(data.gaussian(factor) + 1e-8 * np.eye(data.n))
                return np.linalg.inv(inverse + weight * (V * values) @ V.T)

            H = data.once(("rls", factor, weight), deformed)
            found["Laplacian RLS"] += [ridge(data, rows, H, penalty * 0.1) for penalty in PENALTIES]
    hidden = np.setdiff1d(np.arange(data.n), rows)
    best = {method: min(some, key=lambda pair: pair[0])[1] for method, some in found.items()}
    return {method: 100 * np.mean(F[hidden].argmax(axis=1) != data.codes[hidden]) for method, F in best.items()}


def run_transductive(data, rows):
    """{"TSVM": error}."""
    given = read_labels(np.where(np.isin(np.arange(data.n), rows), data.codes, -1))
    best = np.inf, None, None, None
    for kernel in ("linear", "rbf"):
        model = TransductiveSVMClassifier(
            balance="labels", kernel=kernel, approx=300, tol=1e-2, max_iter=100, random_state=0
        )
        state = data.once(("tsvm", kernel), lambda model=model: model.prepare(data.X))
        candidates, left_out = model.path(state, given, {"lam": [0.001, 0.1]})
        left_out = np.nan_to_num(left_out)  # no prediction where a fold leaves no label of a class
        losses = relative_hinge(left_out, given.codes[given.labeled]).mean(axis=1)
        best = min(
            best, (losses.min(), kernel, model.set_params(**candidates[losses.argmin()]), state), key=lambda b: b[0]
        )
    _, _, model, state = best
    return {"TSVM": 100 * data.error(model.solve(state, given).scores(state.Z), rows)}


def run(data, rows, only):
    """{method: error} of one split."""
    found = {} if only == "tsvm" else run_split(data, rows)
    return found | ({} if only == "others" else run_transductive(data, rows))


def main():
    sets = {"default": ",".join(SETS_2), "help": "comma-separated names (default %(default)s)"}
    only = {"choices": ["others", "tsvm"], "help": "the three of closed form, or the TSVM; the other rows are kept"}
    jobs = {"type": int, "default": 1, "help": "processes that share the splits"}
    options = arguments(__doc__, data="required", sets=sets, only=only, jobs=jobs)
    for name in options.sets.split(","):
        data = Data(options.data, name)
        splits = [(l, i) for l in (10, 100) for i in range(2 if options.quick else 12)]
        tasks = (delayed(run)(data, data.splits[l][i], options.only) for l, i in splits)
        rows = [
            {"set": name, "labels": l, "split": i, "method": method, "error": f"{error:.2f}"}
            for (l, i), found in zip(splits, Parallel(options.jobs)(tasks))
            for method, error in found.items()
        ]
        for l, method in sorted({(row["labels"], row["method"]) for row in rows}):
            errors = [float(row["error"]) for row in rows if (row["labels"], row["method"]) == (l, method)]
            print(name, l, method, f"{np.mean(errors):.2f}", flush=True)
        if not options.quick:
            new = {(row["set"], row["method"]) for row in rows}
            write_csv(
                "walder_others", [r for r in read_csv("walder_others") if (r["set"], r["method"]) not in new] + rows
            )


if __name__ == "__main__":
    main()
