"""FewLabelClassifier on the seven sets of the semi-supervised learning book, 10 and 100 labels, official splits.

    python -m benchmarks.accuracy.book --data DIR [--sets digit1 usps ...] [--methods ours] [--jobs 16] [--quick]
    python -m benchmarks.accuracy.book --data DIR --seconds
    python -m benchmarks.accuracy.book --merge DIR

Every method tunes on the labels only. Prints a table of mean errors over the unlabeled rows (14 cells, mean, mean
rank) for FewLabelClassifier, the single methods of mercer (tuned by leave-one-label-out over the same spaces and the
values in GRIDS, the label-free default kept unless another candidate is clearly better) and scikit-learn's classifiers
(cross-validated on the labels), and how well its probabilities are calibrated. Writes
benchmarks/results/few_label_book.{csv, md}, few_label_reliability.csv and docs/img/few_label_reliability.png.

The errors do not depend on the clock, so the splits may run in several processes (--jobs, one thread each), and sets
and methods one at a time: results are merged into the CSV files. --out DIR keeps them in another folder, which --merge
DIR adds to the results later. --seconds, to be run alone on a quiet machine, times whole fits with the default budget
and writes few_label_seconds.csv.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import multiprocessing
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from benchmarks.accuracy import peers
from benchmarks.accuracy.page import BINS, COVERAGE, SETS, write_page
from benchmarks.harness import RESULTS, arguments, need_data, read_csv, write_csv
from mercer import FewLabelClassifier, S2RLSClassifier
from mercer.estimators.semi_kpca import convexity_interval, spread_of_gamma
from mercer.few_label.catalog import methods_named, methods_of
from mercer.few_label.plan import planned
from mercer.few_label.weights import pool
from mercer.inputs.labels import read_labels
from mercer.linalg import eigh_down
from mercer.rows import gram

WHOLE = {"FewLabelClassifier": "average", "FewLabelClassifier pick": "pick"}
OURS = [
    *WHOLE,
    *(name for name, method in methods_of("classes").items() if not method.dense),
]  # trees take no sparse rows
PEERS = list(peers.NAMES)
GRIDS = {  # for a method tuned alone, instead of the one value it has among FewLabelClassifier's candidates
    "rls": [{"lam": lam} for lam in (0.01, 0.001, 0.1)],
    "lr_kpca": [{"label_weight": c, "variance": v} for c in (1.0, 0.1, 10.0) for v in (1.0, 0.1)],
    "mv_kpca": [{"within_weight": w, "n_components": n} for w in (1.0, 0.1, 10.0) for n in (10, 3)],
    "s2rls": [{"lam": lam, "lam_unlabeled": w} for w in (1.0, 0.1) for lam in (0.01, 0.001, 0.1)],
}


def load(folder, name):
    file = np.load(folder / f"ssl_{name}.npz")
    if "X" in file:
        X = file["X"].astype(np.float64)
    else:
        X = sp.csr_matrix((file["X_data"], file["X_indices"], file["X_indptr"]), shape=file["X_shape"]).astype(float)
    y = np.unique(file["y"], return_inverse=True)[1]
    return X, y, {10: file["labeled_10"], 100: file["labeled_100"]}


class Book:
    """A data set with the spaces of all methods, built once; `run` answers for one split."""

    load = staticmethod(load)

    def __init__(self, folder, name, methods):
        self.name = name
        self.X, self.y, self.splits = self.load(folder, name)
        whole = [method for method in methods if method in WHOLE]
        self.models = {method: FewLabelClassifier(combine=WHOLE[method]).prepare(self.X) for method in whole}
        singles = tuple(method for method in methods if method in methods_of("classes"))
        found = (
            [candidate for step in planned(self.X, methods_named("classes", singles)) for candidate in step.build()]
            if singles
            else []
        )
        self.tuned = {method: tuned([one for one in found if one.method == method]) for method in singles}
        others = [method for method in methods if method in PEERS]
        answers = peers.peers(self.X, self.y) if others else {}
        self.peers = {method: answers[method] for method in others}

    def run(self, n_labels, split):
        """({method: error}, (bins, coverage) of FewLabelClassifier or None)."""
        y, rows = self.y, self.splits[n_labels][split]
        given = np.full(len(y), -1)
        given[rows] = y[rows]
        free = given < 0
        errors, shown = {}, None
        for method, prepared in self.models.items():
            model = prepared.taught(rows, y[rows])
            right = model.transduction_[free] == y[free]
            errors[method] = float(np.mean(~right))
            if method == "FewLabelClassifier":
                shown = reliability(model.confidence_[free], right)
        labels = read_labels(given)
        for method, candidates in self.tuned.items():
            errors[method] = float(np.mean(labels.classes[picked(candidates, labels)][free] != y[free]))
        for method, answer in self.peers.items():
            errors[method] = float(np.mean(answer(given)[free] != y[free]))
        return errors, shown


def picked(candidates, labels):
    """(n,) codes of the classes by the candidate that the held-out labels choose."""
    fitted = [candidate.solve(labels) for candidate in candidates]
    scores = np.array([one.scores().T for one in fitted])
    own = fitted[int(np.argmax(pool(fitted, labels, scores, "pick").weights))].scores()
    return (own[:, 0] > 0).astype(int) if own.shape[1] == 1 else own.argmax(axis=1)


def tuned(candidates):
    """The candidates with every value of their grid; the label-free default stays first."""
    return [
        replace(c, model=clone(c.model).set_params(**values))
        for c in candidates
        for values in (semi_kpca_grid(c.space.Z) if c.method == "semi_kpca" else GRIDS.get(c.method, [{}]))
    ]


def semi_kpca_grid(Z):
    """Directions removed, and γ within what the eigenvalues of the kernel matrix allow: as `SemiKPCA.select` has it."""
    values = eigh_down(gram(Z))[0]
    spread = {n: spread_of_gamma(convexity_interval(values, n)) for n in (1, 0, 2, 3) if n < len(values)}
    return [{"n_removed": n, "gamma": gamma} for n, gammas in spread.items() for gamma in gammas]


def reliability(confidence, right):
    """(bins (BINS, 3) of count, confidence, right; accuracy among the surest fraction of the rows, for each
    COVERAGE).
    """
    bins = np.zeros((BINS, 3))
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    np.add.at(bins, place, np.column_stack([np.ones(len(right)), confidence, right]))
    order = np.argsort(-confidence, kind="stable")
    number = np.arange(1, len(order) + 1)
    return bins, np.interp(COVERAGE, number / len(order), np.cumsum(right[order]) / number)


BOOKS: dict = {}  # filled before the processes are forked, so that they share it


def run_task(task):
    name, n_labels, split = task
    warnings.simplefilter("ignore")
    start = time.process_time()
    found = BOOKS[name].run(n_labels, split)
    return task, found, time.process_time() - start


def run_sets(options, methods):
    """(error rows, reliability rows); the same numbers for any number of processes."""
    splits = 1 if options.quick else options.splits
    with ThreadPoolExecutor(options.jobs) as threads:  # the work is in BLAS and LAPACK, which release the GIL
        BOOKS.update(zip(options.sets, threads.map(lambda name: Book(options.data, name, methods), options.sets)))
    S2RLSClassifier(n_restarts=1).fit([[0.0], [1.0], [0.1]], [0, 1, None])  # compiles once, for all processes
    S2RLSClassifier(n_restarts=1).fit([[0.0], [1.0], [2.0], [2.1], [1.1], [0.1]], [0, 1, 2, 2, 1, None])
    n_labels = (10,) if options.quick else (10, 100)
    tasks = [(name, l, split) for l in n_labels[::-1] for split in range(splits) for name in options.sets]
    tasks.sort(key=lambda task: task[0] not in ("coil", "text"))  # the slow ones first
    found = {}
    if options.jobs == 1:
        answers = map(run_task, tasks)
        found = {task: answer for task, answer, _ in watched(answers, len(tasks))}
    else:
        with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("fork")) as pool:
            answers = pool.map(run_task, tasks)
            found = {task: answer for task, answer, _ in watched(answers, len(tasks))}
    errors, shown = [], []
    for name in options.sets:
        for l in n_labels:
            cell = [found[name, l, split] for split in range(splits)]
            for method in methods:
                values = [answer[0][method] for answer in cell]
                errors.append(
                    {
                        "set": name,
                        "labels": l,
                        "method": method,
                        "error": round(100 * np.mean(values), 2),
                        "std": round(100 * np.std(values), 2),
                        "splits": len(values),
                    }
                )
            if "FewLabelClassifier" in methods:
                shown += reliability_rows(name, l, [answer[1] for answer in cell])
    return errors, shown


def watched(answers, total):
    """Print each prediction as it comes, with the processor seconds it took."""
    spent = 0.0
    for number, (task, answer, seconds) in enumerate(answers):
        spent += seconds
        name, l, split = task
        text = " ".join(f"{method} {100 * error:.1f}" for method, error in answer[0].items())
        print(
            f"{number + 1}/{total} {name} {l} split {split} ({seconds:.0f} s, {spent / 60:.1f} min): {text}", flush=True
        )
        yield task, answer, seconds


def reliability_rows(name, n_labels, answers):
    bins = sum(answer[0] for answer in answers)
    coverage = np.mean([answer[1] for answer in answers], axis=0)
    start = {"set": name, "labels": n_labels}
    rows = [
        start | {"kind": "bin", "at": b, "count": int(n), "confidence": round(sure, 3), "right": int(right)}
        for b, (n, sure, right) in enumerate(bins)
    ]
    return rows + [
        start | {"kind": "coverage", "at": round(at, 2), "count": 0, "confidence": 0, "right": round(float(value), 4)}
        for at, value in zip(COVERAGE, coverage)
    ]


def run_seconds(options):
    """Wall time of a whole fit with the default budget, for the first split of every set."""
    rows = []
    for name in options.sets:
        X, y, splits = load(options.data, name)
        for l in (10, 100):
            given = np.full(len(y), -1)
            given[splits[l][0]] = y[splits[l][0]]
            start = time.perf_counter()
            model = FewLabelClassifier().fit(X, given)
            row = {"set": name, "rows": X.shape[0], "columns": X.shape[1], "labels": l}
            rows.append(row | {"seconds": round(time.perf_counter() - start, 1), "skipped": len(model.skipped_)})
            print(rows[-1], flush=True)
    return rows


def merged(name, new, folder):
    """Write new rows in place of old ones of the same set and method; in the order of SETS and of methods."""
    new = [{k: str(v) for k, v in row.items()} for row in new]
    done = {(row["set"], row.get("method")) for row in new}
    rows = new + [row for row in read_csv(name, folder) if (row["set"], row.get("method")) not in done]
    order = [*OURS, *PEERS]
    rows = [row for row in rows if "method" not in row or row["method"] in order]
    place = (lambda row: order.index(row["method"])) if rows and "method" in rows[0] else (lambda row: 0)
    rows.sort(key=lambda row: (SETS.index(row["set"]), int(row["labels"]), place(row)))
    if rows:
        write_csv(name, rows, folder)
    return rows


def chosen(names):
    """The methods requested, in the order of the table; "ours" and "peers" represent several."""
    wanted = {m for name in names for m in {"ours": OURS, "peers": PEERS}.get(name, [name])}
    strange = wanted - {*OURS, *PEERS}
    if strange:
        raise SystemExit(f"--methods {sorted(strange)} not known. Accepted: ours, peers, {', '.join([*OURS, *PEERS])}")
    return [method for method in [*OURS, *PEERS] if method in wanted]


def main():
    options = arguments(
        __doc__,
        data="optional",
        sets={"nargs": "*", "default": SETS, "help": "which sets (default all)"},
        methods={"nargs": "*", "default": ["ours", "peers"], "help": "lines of the table, 'ours' or 'peers'"},
        splits={"type": int, "default": 12, "help": "how many of the 12 official splits"},
        jobs={"type": int, "default": 1, "help": "processes, of one thread each"},
        out={"type": Path, "default": RESULTS, "help": "folder of the results (default benchmarks/results)"},
        merge={"type": Path, "help": "only add the CSV files of this folder to the results"},
        seconds={"action": "store_true", "help": "only time whole fits, alone on the machine"},
        table={"action": "store_true", "help": "only write table and picture from the CSV files"},
    )
    warnings.simplefilter("ignore")
    errors, shown = [], []
    if options.seconds:
        need_data(options)
        rows = run_seconds(options)
        if not options.quick:
            merged("few_label_seconds", rows, options.out)
    elif options.merge:
        errors, shown = (read_csv(f"few_label_{name}", options.merge) for name in ("book", "reliability"))
    elif not options.table:
        need_data(options)
        errors, shown = run_sets(options, chosen(options.methods))
    if options.quick:
        return
    rows = merged("few_label_book", errors, options.out)
    shown = merged("few_label_reliability", shown, options.out)
    if options.out == RESULTS and complete(rows):
        write_page(rows, shown)


def complete(rows):
    """Whether every method has every cell."""
    methods = {row["method"] for row in rows}
    return "FewLabelClassifier" in methods and len(rows) == 2 * len(SETS) * len(methods)


if __name__ == "__main__":
    main()
