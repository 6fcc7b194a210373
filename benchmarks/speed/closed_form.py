"""Speed of the closed-form few-label classifiers: three ratios and limits.

    python -m benchmarks.speed.closed_form [--quick]

Prints and writes benchmarks/results/few_labels.md:

1. one-vs-rest on 10 classes against a binary fit on the same rows (target: below 1.3×);
2. exact leave-one-label-out over 50 γ at n = 1,500, l = 100 against the one decomposition it needs (target: below 10%),
   and against refitting;
3. fit + predict of n = 1,000,000 rows of 20 features through 300 landmarks, in a process of its own (target: below 30 s
   and 4 GB on two cores).

Ratios are medians over alternating repetitions in one process with one thread.
"""

import argparse
import os
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # thin products are slower with two BLAS threads than with one
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.harness import ROOT, arguments, median_times, publish
from mercer import LSSVMClassifier, RLSClassifier, SemiKPCA
from mercer.inputs.labels import read_labels
from mercer.solvers.ridge.smoother import (
    basis_of_moments,
    left_out_path,
    moments_of,
    pull_of,
    ridge_filter,
    shift_filter,
)


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def data(n, classes, labels, d=20, seed=0):
    X, y = make_blobs(n, d, centers=classes, cluster_std=4.0, random_state=seed)
    given = np.full(n, -1)
    rows = np.random.default_rng(seed).choice(n, labels, replace=False)
    given[rows] = y[rows]
    return X, given


def many_classes(n, repeats):
    X, ten = data(n, 10, 200)
    two = np.where(ten < 0, -1, ten % 2)
    lines = []
    for model in (SemiKPCA(), LSSVMClassifier(unlabeled="zero"), LSSVMClassifier(), RLSClassifier()):
        for y in (two, ten):
            model.fit(X, y)  # warm
        fits = {"binary": lambda m=model: m.fit(X, two), "multi": lambda m=model: m.fit(X, ten)}
        times = median_times(fits, repeats)
        lines.append((str(model), times["binary"], times["multi"], times["multi"] / times["binary"]))
    return lines


def leave_one_out(n, labels, n_gammas, repeats):
    X, given = data(n, 2, labels)
    Z, read = SemiKPCA(approx="exact").fit(X, given).map_.transform(X), read_labels(given)
    pull = pull_of(Z, read.labeled, read.signs)
    basis = basis_of_moments(moments_of(Z))
    gammas = np.geomspace(0.01, 0.99, n_gammas) / basis.values[1]

    def decompose():
        basis_of_moments(moments_of(Z))

    def semi_kpca_path():
        left_out_path(basis, pull, shift_filter(basis.values, gammas, 1), removed=False)

    def semi_lssvm_path():
        left_out_path(basis, pull, ridge_filter(basis.values, 1 / gammas), removed=False)

    times = median_times({f: f for f in (decompose, semi_kpca_path, semi_lssvm_path)}, repeats)
    return Z.shape[1], *times.values()


def million(n):
    """In a process of its own: print seconds of fit and of predict, CPU seconds of both, peak memory in GB."""
    import resource

    X, given = data(n, 4, 200)
    model = SemiKPCA(approx=300)
    start = time.process_time()
    fit, predict = seconds(lambda: model.fit(X, given)), seconds(lambda: model.predict(X))
    cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(fit, predict, cpu, peak)


def main():
    options = arguments(__doc__, million={"type": int, "help": argparse.SUPPRESS})
    if options.million:
        return million(options.million)
    n, repeats, rows = (300, 3, 20_000) if options.quick else (1500, 7, 1_000_000)
    lines = ["# Speed of the closed-form few-label classifiers", ""]
    lines += [
        f"{len(os.sched_getaffinity(0))} cores, one BLAS thread. Command: `python -m benchmarks.speed.closed_form`.",
        "",
    ]
    lines += [f"## Ten classes against two (n = {n}, 200 labels, exact kernel)", ""]
    lines += ["| method | 2 classes, s | 10 classes, s | ratio (target < 1.3) |", "|---|---|---|---|"]
    for name, binary, multi, ratio in many_classes(n, repeats):
        lines.append(f"| {name} | {binary:.3f} | {multi:.3f} | {ratio:.2f} |")
    r, one, semi, ridge = leave_one_out(n, 100, 50, repeats)
    lines += ["", f"## Leave-one-label-out over 50 γ (n = {n}, l = 100, r = {r})", ""]
    lines += [
        f"One decomposition takes {one:.3f} s. All held-out predictions take {semi:.4f} s ({100 * semi / one:.1f}%) "
        f"for Semi-KPCA and {ridge:.4f} s ({100 * ridge / one:.1f}%) for Semi-LSSVM. The target is below 10%. "
        f"Refitting would need 5,000 decompositions."
    ]
    command = [sys.executable, "-m", "benchmarks.speed.closed_form", "--million", str(rows)]
    out = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    fit, predict, cpu, peak = (float(v) for v in out.split())
    lines += ["", f"## {rows:,} rows, 20 features, 300 landmarks, four classes", ""]
    lines += [
        f"fit {fit:.1f} s + predict {predict:.1f} s = {fit + predict:.1f} s (target < 30 s), {cpu:.1f} s of CPU. "
        f"Peak memory is {peak:.2f} GB (target < 4 GB)."
    ]
    publish("few_labels", "\n".join(lines) + "\n", options.quick)


if __name__ == "__main__":
    main()
