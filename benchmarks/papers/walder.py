"""Walder, Henao, Mørup, Hansen (2010), "Semi-supervised kernel PCA": Tables 1 and 2, Figures 2 and 3.

    python -m benchmarks.papers.walder --data DIR [--sets g241c,digit1] [--jobs 2] [--seconds 600] [--quick]
    python -m benchmarks.papers.walder --merge FOLDER  # add splits that were computed with --out FOLDER elsewhere
    python -m benchmarks.papers.walder --report        # tables from the splits already computed, and the pictures

DIR contains the book's data sets as ssl_*.npz with the twelve official splits (`labeled_10`, `labeled_100`). Every
split's error goes to benchmarks/results/walder_splits.csv; splits that are there already are not computed again
(--again computes them), so that a run may be stopped at any time, or by itself after --seconds. The tables, paper next
to ours, go to benchmarks/results/walder.md, the pictures to docs/img/walder_fig2.png and walder_fig3.png. --quick: two
splits.

Protocol. All parameters are chosen on the labeled rows of a split only, by two rules side by side: see
walder_methods.py. The grids, and the rule called "margin", were settled while looking at errors on these sets, so that
the comparison with the paper is not blind; the paper does not state its grids. Grids: kernel widths 0.5, 0.7, 1, 2, 4
times the median distance (LR: without 4), c = 0.001 … 1000 and s²/n = 0.01 … 10, 7 values each (LR: c = 0.1 … 1000 and
s²/n = 0.1 … 30, 5 values each; MV: c = 0.1, 10, 1000). The margin rule leaves out each label in turn (MV, KPCA-10 and
LR: ten folds). Features as they are in the files; centered variance; threshold 0 for LS and LR ("cv svm": that of a
linear SVM on the labeled values, as in the paper), a linear SVM on the eigenfunctions for the others. Table 2: graphs
of 5, 10, 20 neighbors, τ = 3 … 100, then weights 0.1 and 0.5 of a Gaussian kernel of width 0.5, 1 or 4 medians next to
the chosen graph, and none.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.harness import RESULTS, arguments, need_data, read_csv, write_csv
from benchmarks.papers.walder_data import Data
from benchmarks.papers.walder_methods import eigenfunctions, least_squares, margin_loss
from benchmarks.papers.walder_page import SETS_1

WIDTHS, WEIGHTS = (0.5, 0.7, 1.0, 2.0, 4.0), np.geomspace(1e-3, 1e3, 7)
LR_WIDTHS, MV_WEIGHTS = (0.5, 0.7, 1.0, 2.0), (0.1, 10.0, 1000.0)
NEIGHBORS, TIMES, GRAPH_WEIGHTS = (5, 10, 20), (3.0, 10.0, 30.0, 100.0), (0.1, 10.0, 1000.0)
MIX, MIX_WIDTHS = (0.1, 0.5), (0.5, 1.0, 4.0)
DATA: dict = {}  # filled before the processes are forked, so that they share it


def ls(data, rows, seed):
    """{(method, rule): error} of LS-KPCA."""
    found = least_squares(data, rows, [data.width(factor) for factor in WIDTHS], WEIGHTS)
    return named("LS-KPCA", found.errors(seed)), {}


def lr(data, rows, seed, loss="logistic", name="LR-KPCA"):
    """The same of LR-KPCA, and how many reweighting steps its fits took."""
    numbers: list = []
    found = margin_loss(data, rows, [data.width(factor) for factor in LR_WIDTHS], loss, numbers).errors(seed)
    steps = {"fits": len(numbers), "late": sum(n > 20 for n in numbers), "failed": numbers.count(999)}
    return named(name, found), {f"steps {loss}": steps}


def hinge(data, rows, seed):
    """The same with the hinge."""
    return lr(data, rows, seed, "hinge", "LR-KPCA hinge")


def sigmoid(data, rows, seed):
    """The same with the bounded loss of the paper's text."""
    return lr(data, rows, seed, "sigmoid", "LR-KPCA sigmoid")


def mv(data, rows, seed):
    """The same of the methods with an SVM on eigenfunctions."""
    pairs = [data.width(factor) for factor in WIDTHS]
    found = eigenfunctions(data, rows, pairs, MV_WEIGHTS, (1, 10))
    kpca = eigenfunctions(data, rows, pairs, (0.0,), (10,))
    methods = (("MV-KPCA", found[1]), ("MV-KPCA-10", found[10]), ("KPCA-10", kpca[10]))
    return {k: e for name, some in methods for k, e in named(name, some.errors(seed, threshold=False)).items()}, {}


def named(method, errors):
    return {(method, rule): e for rule, e in errors.items()}


def graph(data, rows, seed):
    """The same of Table 2."""
    graphs, found = [(k, tau) for k in NEIGHBORS for tau in TIMES], {}
    pure = least_squares(data, rows, [data.diffusion(*g) for g in graphs], GRAPH_WEIGHTS, folds=False)
    alone = pure.errors(seed, threshold=False)
    for rule, e in alone.items():
        loss, best = pure.chosen(rule, seed)
        own = graphs[pure.parameters[best[0]][0]]
        mixes = [data.mixed(*own, w, factor) for w in MIX for factor in MIX_WIDTHS]
        mixed = least_squares(data, rows, mixes, GRAPH_WEIGHTS, folds=False)
        better = mixed.chosen(rule, seed)[0] < loss  # w = 0 is a candidate too
        found["G-LS", rule] = e
        found["M-LS", rule] = mixed.errors(seed, threshold=False)[rule] if better else e
    return found, {}


PARTS = {"graph": graph, "ls": ls, "mv": mv, "lr": lr, "hinge": hinge, "sigmoid": sigmoid}  # in this order


def run(task):
    """Rows of the CSV for some splits of one set with one number of labels."""
    name, l, part, splits = task
    out = []
    for split in splits:
        start = time.time()
        found, steps = PARTS[part](DATA[name], DATA[name].splits[l][split], split)
        own = {"set": name, "labels": l, "split": split}
        out += [own | {"method": m, "rule": rule, "error": f"{100 * e:.2f}"} for (m, rule), e in found.items()]
        for what, numbers in steps.items():
            out += [own | {"method": what, "rule": kind, "error": n} for kind, n in numbers.items()]
        out.append(own | {"method": f"seconds {part}", "rule": "", "error": f"{time.time() - start:.1f}"})
    return out


def tasks_of(names, parts, n_splits, done):
    """The splits still to do. Those of Table 2 stay together: they share decompositions of mixed kernels."""
    tasks: list = []
    for name in names:
        for l in (100, 10):
            for part in parts:
                left = [s for s in range(n_splits) if (name, str(l), str(s), f"seconds {part}") not in done]
                size = 6 if part == "graph" else 1
                if part == "graph" or name in SETS_1:
                    tasks += [(name, l, part, left[i : i + size]) for i in range(0, len(left), size)]
    return sorted(tasks, key=lambda task: parts.index(task[2]))


def merged(new, folder):
    """Write the CSV with these rows in place of older ones for the same cell."""
    key = ("set", "labels", "split", "method", "rule")
    rows = {tuple(str(row[k]) for k in key): row for row in [*read_csv("walder_splits", folder), *new]}
    write_csv("walder_splits", [rows[k] for k in sorted(rows)], folder)


def compute(given):
    n_splits = 2 if given.quick else 12
    folder, names = given.out or RESULTS, given.sets.split(",")
    done = set() if given.again or given.quick else {
        (r["set"], r["labels"], r["split"], r["method"]) for place in {folder, RESULTS}
        for r in read_csv("walder_splits", place)
    }  # fmt: skip
    tasks, begin = tasks_of(names, given.parts.split(","), n_splits, done), time.time()
    with ThreadPoolExecutor(given.jobs) as threads:
        DATA.update(zip(names, threads.map(lambda name: Data(given.data, name), names)))
        if given.jobs > 1:
            list(threads.map(lambda pair: DATA[pair[0]].width(pair[1]), [(n, w) for n in names for w in WIDTHS]))
    with multiprocessing.get_context("fork").Pool(given.jobs) as pool:
        answers, rows = pool.imap_unordered(run, tasks), []
        for _ in tasks:
            try:
                rows += answers.next(None if given.seconds is None else given.seconds - (time.time() - begin))
            except multiprocessing.TimeoutError:
                break
            if not given.quick:
                merged(rows, folder)
        pool.terminate()
    print(f"{len(rows)} rows in {time.time() - begin:.0f} s; {'all' if not tasks else len(tasks)} tasks were to do.")
    for method in sorted({row["method"] for row in rows}):
        for l in (10, 100):
            some = [float(r["error"]) for r in rows if r["method"] == method and r["labels"] == l and r["rule"] != "cv"]
            print(method, l, f"{np.mean(some):.2f}" if some else "")


def main():
    given = arguments(
        __doc__,
        data="optional",
        sets={"default": ",".join((*SETS_1, "coil")), "help": "comma-separated names (default %(default)s)"},
        parts={"default": ",".join(PARTS), "help": "comma-separated parts (default %(default)s)"},
        jobs={"type": int, "default": 1, "help": "processes, one thread each"},
        seconds={"type": float, "help": "stop after this time"},
        again={"action": "store_true", "help": "also the splits that are in the CSV file already"},
        out={"type": Path, "help": "folder of the CSV file (default benchmarks/results)"},
        merge={"type": Path, "help": "folder with a walder_splits.csv to add to that in benchmarks/results"},
        report={"action": "store_true", "help": "only tables and pictures, from the splits already computed"},
    )
    if given.merge:
        merged(read_csv("walder_splits", given.merge), RESULTS)
    elif given.report:
        from benchmarks.papers.walder_figures import pictures
        from benchmarks.papers.walder_page import report

        report()
        pictures()
    else:
        need_data(given)
        compute(given)


if __name__ == "__main__":
    main()
