"""S²RLSC where the class frequencies are unknown: from the labels, estimated inside the search, or told.

    python -m benchmarks.papers.gieseke_balance --data DIR [--only pairs|machine|secstr] [--repeats 10] [--jobs N]
        [--resume] [--minutes M] [--quick]

The paper's Table 3 fails where a few labels give the wrong share (its ε = 0.2 then shuts the right labeling out).
pairs    the paper's digit pairs and Gaussian2C, 500 rows of which 20 have labels, drawn at random or equally many of
         each class, with half or a fifth of the rows in class 1; λ = λ' = 1. Mean error of the unlabeled rows in %,
         and how far the fraction that was used is from the truth in points, for balance="labels", "estimate", None and
         the true fraction (ε = 0.1); written to gieseke_balance.csv.
machine  the same problems for TransductiveSVMClassifier with its default parameters, the columns of each part scaled to
         a mean squared length of one; balance="labels", "estimate" and the true fraction; written to
         transductive_balance.csv, which transductive.py --only report shows.
secstr   83,679 protein positions, 100, 1,000 and 10,000 labels (the book's splits), 15 codes as 315 columns, linear
         kernel, λ = 100 / labels (RLSC's error on two splits was looked at), λ' = 0.1, three restarts; RLSC with the
         same λ next to it; written to gieseke_secstr.csv.

A part that was broken off goes on with --resume. gieseke.py --only report puts both into gieseke.md.
"""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

from benchmarks.harness import arguments, read_csv, write_csv
from benchmarks.papers.gieseke_data import load
from mercer import RLSClassifier, S2RLSClassifier, TransductiveSVMClassifier

PAIRS = ("USPS(2,5)", "MNIST(3,8)", "Gaussian2C", "USPS(3,8)", "MNIST(2,5)", "USPS(2,7)", "MNIST(2,7)", "USPS(8,0)",
         "MNIST(1,7)")  # fmt: skip
BALANCES = ("labels", "estimate", "none", "true")
MACHINE = ("labels", "estimate", "true")
SHARES = ("labels", "estimate", "true")  # of SecStr


def thinned(X, y, share, n, rng):
    """n rows (fewer if there are not so many) with this fraction of class 1."""
    ones, zeros = (rng.permutation(np.flatnonzero(y == c)) for c in (1, 0))
    n = min(n, int(len(ones) / share), int(len(zeros) / (1 - share)))
    rows = rng.permutation(np.r_[ones[: round(n * share)], zeros[: n - round(n * share)]])
    return X[rows], y[rows]


def few_labels(y, l, equal, rng):
    """y with −1 for all but l rows; drawn until both classes have two."""
    while True:
        order = rng.permutation(len(y))
        chosen = order[:l]
        if equal:
            chosen = np.concatenate([order[y[order] == c][: l // 2] for c in (0, 1)])
        labels = np.full(len(y), -1)
        labels[chosen] = y[chosen]
        if min(np.sum(labels == 0), np.sum(labels == 1)) >= 2:
            return labels


def fitted(X, labels, y, balance, lam, lam_unlabeled, seed, n_restarts):
    """(error in %, distance of the fraction used from the truth in points) of one fit."""
    free = labels < 0
    share = y[free].mean()
    given = {"true": {"balance": float(share), "balance_slack": 0.1}, "none": {"balance": None}}
    options = given.get(balance, {"balance": balance})
    model = S2RLSClassifier(
        lam,
        lam_unlabeled,
        kernel="linear",
        n_restarts=n_restarts,
        label_folds=0,
        n_jobs=1,
        random_state=seed,
        **options,
    ).fit(X, labels)
    used = model.transduction_[free].mean() if balance == "none" else model.balance_[1]
    return 100 * np.mean(model.transduction_[free] != y[free]), 100 * abs(used - share)


def one_pair(folder, name, share, equal, l, seed):
    rng = np.random.default_rng(seed)
    X, y = thinned(*load(folder, name, seed=seed), share, 500, rng)
    labels = few_labels(y, l, equal, rng)
    return [fitted(X, labels, y, balance, 1.0, 1.0, seed, 20) for balance in BALANCES]


def one_machine(folder, name, share, equal, l, seed):
    """[(error in %, distance of the fraction used in points)] of the transductive machine with each balance."""
    rng = np.random.default_rng(seed)
    X, y = thinned(*load(folder, name, seed=seed), share, 500, rng)
    labels = few_labels(y, l, equal, rng)
    X, free = X / np.sqrt(np.mean(np.sum(X**2, axis=1))), labels < 0
    true, found = y[free].mean(), []
    for balance in MACHINE:
        model = TransductiveSVMClassifier(balance=float(true) if balance == "true" else balance, kernel="linear")
        model.fit(X, labels)
        off = 100 * abs(model.balance_[1] - true)
        found.append((100 * np.mean(model.transduction_[free] != y[free]), off))
    return found


def pairs(options, file="gieseke_balance", one=one_pair, balances=BALANCES):
    """Rows of a table: one for each way of drawing labels, share and data set."""
    names, repeats = (("USPS(2,5)",), 2) if options.quick else (PAIRS, options.repeats)
    rows = read_csv(file) if options.resume else []
    done = {(row["data"], row["class 1%"], row["labels"]) for row in rows}
    for name in names:
        for share in (0.5, 0.2):
            for how in ("random", "equal"):
                late = time.perf_counter() - BEGAN > 60 * options.minutes
                if late or (name, f"{100 * share:.0f}", how) in done:
                    continue
                found = np.array(
                    Parallel(options.jobs)(
                        delayed(one)(options.data, name, share, how == "equal", 20, seed) for seed in range(repeats)
                    )
                )
                row = {"data": name, "class 1%": f"{100 * share:.0f}", "labels": how, "draws": repeats}
                row |= {f"error, {b}": f"{found[:, i, 0].mean():.1f}" for i, b in enumerate(balances)}
                row |= {
                    f"fraction off, {b}": f"{found[:, i, 1].mean():.1f}" for i, b in enumerate(balances) if b != "true"
                }
                print(row, flush=True)
                rows.append(row)
                if not options.quick:
                    write_csv(file, rows)


def machine(options):
    """Rows of transductive_balance.csv."""
    pairs(options, "transductive_balance", one_machine, MACHINE)


def one_split(X, y, chosen, number):
    """A row of gieseke_secstr.csv: errors in %, fraction off and seconds of S²RLSC with each balance; RLSC's error."""
    labels = np.full(len(y), -1)
    labels[chosen] = y[chosen]
    free = labels < 0
    lam = 100 / len(chosen)
    alone = RLSClassifier(lam, kernel="linear").fit(X[chosen], y[chosen])
    row = {"labels": len(chosen), "split": number, "error, RLSC": 100 * np.mean(alone.predict(X[free]) != y[free])}
    for balance in SHARES:
        start = time.perf_counter()
        row[f"error, {balance}"], row[f"fraction off, {balance}"] = fitted(X, labels, y, balance, lam, 0.1, number, 3)
        row[f"seconds, {balance}"] = time.perf_counter() - start
    return {name: value if isinstance(value, int) else f"{value:.2f}" for name, value in row.items()}


def secstr(options):
    """Rows of gieseke_secstr.csv: one for each split and number of labels."""
    data = np.load(options.data / "ssl_secstr.npz")
    X = (data["X"][:, :, None] == np.arange(21)).reshape(len(data["X"]), -1).astype(np.float32)
    y = data["y"].astype(int)
    rows = read_csv("gieseke_secstr") if options.resume else []
    done = {(int(row["labels"]), int(row["split"])) for row in rows}
    splits = [(data[f"labeled_{l}"][i], i) for i in range(options.repeats) for l in (100, 1000, 10000)
              if (l, i) not in done]  # fmt: skip
    if options.quick:
        X, y = X[:3000], y[:3000]
        splits = [(np.random.default_rng(i).permutation(len(y))[:100], i) for i in range(2)]
    tasks = (delayed(one_split)(X, y, *split) for split in splits)
    for row in Parallel(options.jobs, return_as="generator_unordered")(tasks):
        print(row, flush=True)
        rows = sorted([*rows, row], key=lambda one: (int(one["labels"]), int(one["split"])))
        if not options.quick:
            write_csv("gieseke_secstr", rows)


def spread(values):
    """Mean ± standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.2f} ± {error:.2f}"


def summary(rows):
    """Means over the splits, for each number of labels, and how often a fraction gains or loses against RLSC.

    Seconds are those of the splits from 1 on, which were measured side by side on one machine.
    """
    out = []
    for l in sorted({int(row["labels"]) for row in rows}):
        own = [row for row in rows if int(row["labels"]) == l]
        wrong = {name: np.array([float(row[f"error, {name}"]) for row in own]) for name in ("RLSC", *SHARES)}
        line = {"labels": l, "splits": len(own)} | {f"error, {name}": spread(found) for name, found in wrong.items()}
        for name in SHARES:
            off = wrong[name] - wrong["RLSC"]
            line[f"{name} − RLSC"] = f"{spread(off)}; {np.sum(off < 0)} lower, {np.sum(off > 0)} higher"
        for what, some in (("fraction off", own), ("seconds", own[1:])):
            for name in SHARES[:2]:
                line[f"{what}, {name}"] = f"{np.mean([float(row[f'{what}, {name}']) for row in some]):.1f}"
        out.append(line)
    return out


BEGAN = time.perf_counter()


def main():
    options = arguments(
        __doc__,
        data="required",
        only={"choices": ["pairs", "machine", "secstr"], "help": "one of the parts (default both)"},
        repeats={"type": int, "default": 10, "help": "draws of labels, or splits (default %(default)s)"},
        jobs={"type": int, "default": 1, "help": "processes that share the draws"},
        minutes={"type": float, "default": float("inf"), "help": "begin no further row after so many"},
        resume={"action": "store_true", "help": "go on with a table that was broken off"},
    )
    for name, part in (("pairs", pairs), ("machine", machine), ("secstr", secstr)):
        if options.only in (None, name):
            part(options)


if __name__ == "__main__":
    main()
