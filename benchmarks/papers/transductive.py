"""TransductiveSVMClassifier beside the semi-supervised support vector machines that the papers print.

    python -m benchmarks.papers.transductive --data DIR [--only cells|texts|report] [--repeats 10] [--sets NAME ...]
        [--resume] [--jobs N] [--quick]

Cells: the 64 of UniverSVM in Tables 2 (parameters chosen on the test set) and 3 (by five folds over the labels) of
Gieseke, Kramer, Airola, Pahikkala (2012), computed with the partitions of papers/gieseke.py: linear kernel,
λ ∈ 2^(−12, −9, −6, −3, 0, 3), λ' ∈ {0.1, 1}, the share of the classes in the whole set (Table 2) or among the labels
(Table 3); of tied parameters the first (Table 2) or the middle one (Table 3). UniverSVM itself is not run: its figures
are the paper's. Writes results/transductive.csv and transductive.md: difference in standard errors, counts of
agreement. About half an hour on one core; --sets computes some data sets and keeps the rows of the others.

Texts: ssl_text.npz (1 500 × 11 960, the book's set of two classes) and ssl_usps.npz, 48 labels drawn at random twelve
times, and the official splits with 10 and 100 labels: error over the unlabelled rows of the default parameters (λ =
0.001, λ' = 1, the share from the labels, or the true one), of the same machine without unlabelled rows, of that with
the ramp loss, and seconds of one solution.
"""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

from benchmarks.accuracy.book import load as load_book
from benchmarks.harness import arguments, markdown, need_data, publish, read_csv, write_csv
from benchmarks.papers.gieseke import best_key, folds, standard_errors
from benchmarks.papers.gieseke_data import load, paper_rows, rotated, split
from benchmarks.papers.transductive_candidate import summary
from mercer import TransductiveSVMClassifier
from mercer.inputs.labels import read_labels
from mercer.solvers.margin.transductive import transductive

LAMBDAS = 2.0 ** np.arange(-12, 4, 3)
WEIGHTS = (0.1, 1.0)
KINDS: dict = {"labels alone": {"lam_unlabeled": 0.0}, "transductive": {}, "with the true share": "true",
               "ramp (cccp)": {"solver": "cccp"}}  # fmt: skip
DRAWS = 20  # Gaussian data sets, ten partitions of each: the paper has one of them
NOTES = """## What differs, and why

- Both machines minimise nearly the same thing: UniverSVM the hinge on the labels and a ramp on the unlabelled rows by
  the convex-concave procedure, ours smooth versions of both. In UniverSVM the balance is a constraint of the same form.
  The search for parameters is not the same: the paper gives UniverSVM its own two costs on its own grid. Table 2
  chooses on the test set, so that a grid with more points has an advantage; ours has 12.
- Gaussian sets: the paper has one data set, and gieseke.md shows that it is among the easiest that one can draw: its
  S²RLSC is far below the mean of 20 data sets too. So ours is the mean over 20 data sets, ten partitions of each, and a
  standard error is the deviation between them (brackets: where 95 % lie); Gaussian4C with 50 labels is one data set
  yet. Held like that Table 2 agrees. In Table 3 Gaussian2C stays worse by 2.4 and 2.5: there the folds choose the
  parameters, from another grid. Gaussian4C with 25 labels is won or lost by the clustering that is found.
- COIL(5,9) with 14 labels, worse: the same ten partitions stand behind RLSC and LIBSVM in gieseke.md, which are worse
  by as much. COIL(3,6) with 28 labels, better: RLSC is better on these partitions, too.
- MNIST(2,7) with 20 labels in Table 2 (worse) and MNIST(3,8) with 20 in Table 3 (better) are off by 2.2 and 2.1: of 64
  cells three would be by chance.
"""


def machine_path(Z, y, labelled, unlabelled, share, grid):
    """{(λ', λ): (weights, constant)} of the transductive machine."""
    rows, at = Z[np.r_[labelled, unlabelled]], np.arange(len(labelled))
    targets = np.tile((2.0 * y[labelled] - 1.0)[:, None], len(grid))
    weights, lams = np.array(grid).T
    offset = np.full(len(grid), 2 * share - 1)
    W, b = transductive(rows, at, targets, offset, lams, weights, tol=1e-3, max_iter=300).value
    return {key: (W[:, number], b[number]) for number, key in enumerate(grid)}


def error(model, Z, y):
    return 100.0 * np.mean((Z @ model[0] + model[1] > 0) != y)


def one_partition(folder, name, l, u, t, draw, seed, quick):
    """(Table 2, Table 3) test error on one partition, in percent."""
    X, y = load(folder, name, seed=draw)
    labelled, unlabelled, test = split(y, l, u, t, seed, "Gaussian" in name)
    Z = rotated(X, np.r_[labelled, unlabelled])
    grid = [(w, lam) for w in WEIGHTS for lam in (LAMBDAS[::2] if quick else LAMBDAS)]
    models = machine_path(Z, y, labelled, unlabelled, y.mean(), grid)
    scores = {key: error(model, Z[test], y[test]) for key, model in models.items()}
    trials = []
    for kept, withheld in folds(y, labelled):
        path = machine_path(Z, y, kept, np.r_[unlabelled, withheld], y[kept].mean(), grid)
        trials.append({key: error(model, Z[withheld], y[withheld]) * len(withheld) for key, model in path.items()})
    chosen = best_key({key: sum(trial[key] for trial in trials) for key in grid}, True)
    final = machine_path(Z, y, labelled, unlabelled, y[labelled].mean(), [chosen])
    return min(scores.values()), error(final[chosen], Z[test], y[test])


def cells(folder, repeats, jobs, quick, sets, resume):
    """Compute the cells row by row and write them; `resume` leaves out the rows that are there."""
    done = {} if quick else {(r["data"], r["l"], r["table"]): r for r in read_csv("transductive")}
    for name, l, u, t, tables in paper_rows():
        if (sets and name not in sets) or (quick and name not in ("Gaussian2C", "COIL(3,6)")):
            continue
        if resume and (name, str(l), "3") in done:
            continue
        start = time.perf_counter()
        draws = (2 if quick else DRAWS) if "Gaussian" in name else 1
        parts = [(draw, seed) for draw in range(draws) for seed in range(repeats)]
        tasks = (delayed(one_partition)(folder, name, l, u, t, *part, quick) for part in parts)
        errors = np.array(Parallel(jobs)(tasks)).reshape(draws, repeats, 2)
        for column, table in enumerate("23"):
            mean, spread = tables[int(table)]["UniverSVM"]
            own = errors[:, :, column]
            line = {"data": name, "l": str(l), "u": u, "t": t, "table": table, "paper": mean, "paper_sd": spread}
            line |= {"ours": round(own.mean(), 2), "ours_sd": round(own.std(axis=1).mean(), 2), "repeats": repeats}
            if draws > 1:
                line |= {"draws": draws, "between": round(own.mean(axis=1).std(ddof=1), 2)}
            done[name, str(l), table] = line
        print(f"{name} l={l}: {errors.mean(axis=(0, 1)).round(1)} ({time.perf_counter() - start:.0f} s)", flush=True)
        if not quick:
            order = [(row[0], str(row[1]), table) for table in "23" for row in paper_rows()]
            write_csv("transductive", [done[key] for key in order if key in done])


def texts(folder, quick):
    """Rows of transductive_texts.csv: a line for each set and number of labels."""
    lines = []
    for name, kernel in (("text", "linear"), ("usps", "rbf")):
        X, y, official = load_book(folder, name)
        rng = np.random.default_rng(0)
        draws = {10: official[10], 48: [rng.choice(len(y), 48, replace=False) for _ in range(12)], 100: official[100]}
        state = TransductiveSVMClassifier(kernel=kernel).prepare(X)
        for labels, splits in draws.items():
            found = np.array([kinds_of(kernel, state, y, rows) for rows in splits[: 3 if quick else None]])
            mean, spread = found[:, 0].mean(axis=0), found[:, 0].std(axis=0, ddof=1) / np.sqrt(len(found))
            seconds = np.median(found[:, 1], axis=0)
            line = {"data": f"{name}, {kernel}", "labels": labels, "splits": len(found)}
            line |= {kind: f"{m:.1f} ± {s:.1f} %" for kind, m, s in zip(KINDS, mean, spread)}
            lines.append(line | {"CPU s": f"{seconds[1]:.2f}", "CPU s, ramp": f"{seconds[3]:.2f}"})
            print(lines[-1], flush=True)
    if not quick:
        write_csv("transductive_texts", lines)


def kinds_of(kernel, state, y, rows):
    """(errors in %, CPU seconds) of every one of `KINDS` for one labelling."""
    given = np.full(len(y), -1)
    given[rows] = y[rows]
    free, errors, seconds = given < 0, [], []
    for options in KINDS.values():
        options = {"balance": float(y.mean())} if options == "true" else options
        start = time.process_time()
        solution = TransductiveSVMClassifier(kernel=kernel, tol=1e-4, **options).solve(state, read_labels(given))
        seconds.append(time.process_time() - start)
        errors.append(100 * np.mean((solution.scores(state.Z)[free, 0] > 0) != y[free]))
    return errors, seconds


def interval(row):
    """Where 95 % of the means of data sets lie, if more than one was drawn."""
    if not row.get("between"):
        return ""
    ours, wide = float(row["ours"]), 1.96 * float(row["between"])
    return f" [{max(ours - wide, 0):.1f}, {ours + wide:.1f}]"


def report():
    rows = read_csv("transductive")
    lines = ["# A transductive support vector machine of our own beside those that were quoted", ""]
    if rows:
        z = np.array([standard_errors(row) for row in rows])
        lines += [
            f"UniverSVM's cells, both tables: **{np.sum(np.abs(z) <= 2)} of {len(z)} agree within two standard errors, "
            f"{np.sum(z > 2)} are worse, {np.sum(z < -2)} are better.** Command: `python -m "
            "benchmarks.papers.transductive --data DIR`, half an hour on one core and, for twenty Gaussian data sets "
            "in place of one, twenty minutes more. The errors do not depend on the machine.",
            "",
        ]
    for table, how in (("2", "parameters chosen on the test set"), ("3", "parameters chosen by five folds")):
        own = [row for row in rows if row["table"] == table]
        if not own:
            continue
        z = np.array([standard_errors(row) for row in own])
        lines += [
            f"## UniverSVM's cells of Table {table} ({how})",
            "",
            f"{len(own)} of 32 cells, mean over {own[0]['repeats']} partitions: **{np.sum(np.abs(z) <= 2)} agree "
            f"within two standard errors, {np.sum(z > 2)} are worse, {np.sum(z < -2)} are better.** Mean error "
            f"{np.mean([float(r['ours']) for r in own]):.1f} %, UniverSVM's "
            f"{np.mean([float(r['paper']) for r in own]):.1f} %.",
            "",
        ]
        shown = [
            {
                "data": row["data"],
                "l": row["l"],
                "u": row["u"],
                "UniverSVM (paper)": f"{float(row['paper']):.1f} ± {float(row['paper_sd']):.1f}",
                "ours": f"{float(row['ours']):.1f} ± {float(row['ours_sd']):.1f}" + interval(row),
                "s.e.": f"{value:+.1f}" + (" ▲" if value > 2 else " ▼" if value < -2 else ""),
            }
            for row, value in zip(own, z)
        ]
        lines += [markdown(shown), ""]
    if rows:
        lines += [NOTES]
    told = read_csv("transductive_texts")
    if told:
        lines += ["## Text and digits, default parameters", "", TEXT_NOTE, "", markdown(told), ""]
    studied = read_csv("transductive_candidate")
    if studied:
        found = summary(studied)
        lines += ["## As a candidate of FewLabelClassifier", "", decision(found), "", CANDIDATE_NOTE, ""]
        lines += [markdown(found), ""]
    publish("transductive", "\n".join(lines))


TEXT_NOTE = (
    "Error over the unlabelled rows, mean ± standard error, λ = 0.001 and λ' = 1; `--only texts`, three minutes. "
    "ssl_text has 1 500 rows, 11 960 columns and two classes of 750. The set of 1 946 × 7 511 on which QN-S3VM has "
    "11.3 % with 48 labels is not among the data sets here, so that this figure cannot be compared; this set is harder "
    "(the nearest neighbour has 39 % with 10 labels and 31 % with 100). "
    '`solver="cccp"` has the ramp loss of UniverSVM in place of the bell: the same within the standard errors, for one '
    "to four times the time; s = −0.3 was taken rather than 0 after a look at six of these splits. It needs a larger "
    "λ: on two Gaussians of 500 columns with 25 labels (tests/estimators) it has 8.8 % at λ = 0.001, where the bell "
    "has 3.6, and 3.6 at λ = 0.1. On usps neither is better than labels alone with these parameters."
)
CANDIDATE_NOTE = (
    "FewLabelClassifier with its own candidates, and with the machine beside them on the principal axes of every "
    "kernel space (`python -m benchmarks.papers.transductive_candidate --data DIR`): errors in % over the unlabelled "
    "rows, gain ± its standard error over the same labellings, labellings whose error is lower, the same and higher "
    "with it, and CPU seconds of one labelling when the spaces are built (16 cores, a process for each set)."
)


def decision(table):
    """What the study says, both ways."""
    *cells, whole = table
    gains = [tuple(map(float, row["gain"].split(" ± "))) for row in cells]
    clear = [[row for row, (gain, error) in zip(cells, gains) if sign * gain > 2 * error] for sign in (1, -1)]
    lower, higher = (", ".join(f"{row['set']} {row['labels']}" for row in some) or "none" for some in clear)
    times = [int(row["times"]) for row in cells]
    better, same, worse = whole["lower, same, higher"].split(", ")
    return (
        f"**Not a candidate.** Over {whole['labellings']} labellings it lowers the error in {better}, leaves it in "
        f"{same} and raises it in {worse}; the mean gain is {whole['gain']} points, and a labelling takes "
        f"{whole['times']} times as long ({min(times)} to {max(times)} by set). By more than two standard errors of "
        f"four labellings it gains in {len(clear[0])} of {len(cells)} cells ({lower}) and loses in {len(clear[1])} "
        f"({higher})."
    )


def main():
    options = arguments(
        __doc__,
        data="optional",
        only={"choices": ["cells", "texts", "report"], "help": "one of the parts (default all)"},
        repeats={"type": int, "default": 10, "help": "random partitions (default %(default)s)"},
        sets={"nargs": "*", "default": [], "help": "only these data sets; the other rows are kept"},
        resume={"action": "store_true", "help": "go on with cells that were broken off"},
        jobs={"type": int, "default": 1, "help": "processes that share the partitions"},
    )
    if options.only != "report":
        need_data(options)
    if options.only in (None, "cells"):
        repeats = 2 if options.quick else options.repeats
        cells(options.data, repeats, options.jobs, options.quick, options.sets, options.resume)
    if options.only in (None, "texts"):
        texts(options.data, options.quick)
    if not options.quick:
        report()


if __name__ == "__main__":
    main()
