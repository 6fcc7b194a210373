"""Speed and agreement of the methods without labels, against their counterparts in one run.

    python -m benchmarks.speed.no_labels --data DIR [--quick] [--only svdd|large|cmeans] [--out DIR]

Reads DIR/mnist.npz and DIR/usps.npz. Prints and writes to the results folder:
  no_labels_svdd.csv    SVDD against scikit-learn's OneClassSVM (RBF, median width, exact kernel): seconds of both
                        (medians of alternating runs), speed ratio, relative difference of the dual objective, the
                        KKT violation of both in libsvm's units (its tol is 1e-3), and whether the bounds of nu hold;
  no_labels_large.csv   SVDD on 200,000 generated rows and 500 landmarks: seconds and duality gap;
  no_labels_cmeans.csv  KernelCMeans against tslearn's KernelKMeans (same kernel, same number of starts) and against
                        scikit-learn's KMeans (linear kernel, equal starts).
One thread; only the ratios mean something beyond this machine.
"""

import os
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM

from benchmarks.harness import RESULTS, arguments, median_times, write_csv
from mercer import RBF, SVDD, KernelCMeans, Linear, bandwidth_of
from mercer.solvers.ball.svdd import certify


def both_times(ours, theirs, X, budget):
    """Median seconds of our fit and of theirs, two models that were fitted before: nothing is compiled here."""
    times = median_times({"ours": lambda: ours.fit(X), "theirs": lambda: theirs.fit(X)}, 2, budget)
    return times["ours"], times["theirs"]


def facts(X, gamma, nu, rows, beta):
    """Certificate of a dual vector, from kernel values computed here."""
    n = len(X)
    gradient = np.ones(n)
    for begin in range(0, len(rows), 500):
        part = slice(begin, begin + 500)
        gradient -= 2 * rbf_kernel(X, X[rows[part]], gamma=gamma) @ beta[part]
    bound = 1 / (nu * n)
    full = np.zeros(n)
    full[rows] = np.where(beta > (1 - 1e-9) * bound, bound, beta)  # libsvm's scaling leaves them a rounding below it
    return certify(gradient, full, np.ones(n), np.zeros(n), np.full(n, bound))


def against_libsvm(data, sizes, nus, budget):
    mnist = np.load(data / "mnist.npz")["X_train"].astype(float) / 255
    usps = np.load(data / "usps.npz")
    usps = np.concatenate([usps["X_train"], usps["X_test"]]).astype(float)
    table = []
    for name, everything in (("mnist", mnist), ("usps", usps)):
        order = np.random.default_rng(0).permutation(len(everything))
        for n in sizes:
            X = everything[order[: min(n, len(order))]]
            n = len(X)
            width = bandwidth_of(X, "median")
            gamma = 1 / (2 * width**2)
            for nu in nus:
                theirs = OneClassSVM(nu=nu, gamma=gamma, tol=1e-3).fit(X)
                libsvm = facts(X, gamma, nu, theirs.support_, theirs.dual_coef_.ravel() / theirs.dual_coef_.sum())
                # our tol is a duality gap: the largest power of ten, from 1e-6, that violates KKT no more than libsvm
                for tol in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
                    ours = SVDD(nu=nu, kernel=RBF(width), approx="exact", tol=tol).fit(X)
                    mine = facts(X, gamma, nu, ours.support_, ours.dual_coef_)
                    if mine["violation"] <= libsvm["violation"]:
                        break
                seconds = both_times(ours, theirs, X, budget)
                outside, vectors = np.mean(ours.predict(X) < 0), len(ours.support_) / n
                table.append({
                    "data": name, "n": n, "nu": nu,
                    "ours s": round(seconds[0], 4), "libsvm s": round(seconds[1], 4),
                    "speed ratio": round(seconds[1] / seconds[0], 2),
                    "objective difference": f"{abs(mine['objective'] / libsvm['objective'] - 1):.1e}",
                    "our violation": f"{mine['violation'] * nu * n / 2:.1e}",
                    "libsvm violation": f"{libsvm['violation'] * nu * n / 2:.1e}",
                    "our tol": tol, "our gap": f"{ours.gap_:.1e}",
                    "nu bounds": "hold" if outside <= nu <= vectors + 1e-12 else "BROKEN",
                })  # fmt: skip
                print(table[-1], flush=True)
    return table


def large(n, landmarks):
    X, _ = make_blobs(n, 20, centers=12, cluster_std=2.0, random_state=0)
    table = []
    SVDD(nu=0.1, approx=20).fit(X[:500])  # compile
    for nu in (0.01, 0.1, 0.5):
        begin = time.perf_counter()
        model = SVDD(nu=nu, approx=landmarks).fit(X)
        seconds = time.perf_counter() - begin
        outside = np.mean(model.predict(X) < 0)
        table.append({
            "n": n, "landmarks": landmarks, "nu": nu, "seconds": round(seconds, 2), "gap": f"{model.gap_:.1e}",
            "rounds": model.n_iter_, "outside": round(float(outside), 4),
            "nu bounds": "hold" if outside <= nu <= len(model.support_) / n else "BROKEN",
        })  # fmt: skip
        print(table[-1], flush=True)
    return table


def kernel_inertia(K, labels):
    """Σ of squared distances to the cluster means, from the kernel matrix and labels alone."""
    total = np.trace(K)
    for c in np.unique(labels):
        inside = labels == c
        total -= K[np.ix_(inside, inside)].sum() / inside.sum()
    return float(total)


def clustering(data, n, budget):
    try:
        from tslearn.clustering import KernelKMeans
    except ImportError:
        raise SystemExit("This part compares with tslearn: pip install tslearn. Use --only svdd or large.") from None
    usps = np.load(data / "usps.npz")["X_train"].astype(float)
    X = usps[np.random.default_rng(0).permutation(len(usps))[:n]]
    width = bandwidth_of(X, "median")
    gamma = 1 / (2 * width**2)
    K = rbf_kernel(X, gamma=gamma)
    table = []
    for k in (5, 10, 20):
        ours = KernelCMeans(k, kernel=RBF(width), approx="exact", n_init=5, random_state=0)
        theirs = KernelKMeans(k, kernel="rbf", kernel_params={"gamma": gamma}, n_init=5, max_iter=300, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tslearn states that it reads the rows as time series
            ours.fit(X), theirs.fit(X)
            seconds = both_times(ours, theirs, X, budget)
        mine, tslearn = kernel_inertia(K, ours.labels_), kernel_inertia(K, theirs.labels_)
        table.append({
            "against": "tslearn KernelKMeans", "n": n, "clusters": k,
            "ours s": round(seconds[0], 3), "theirs s": round(seconds[1], 3),
            "speed ratio": round(seconds[1] / seconds[0], 1),
            "our inertia": round(mine, 4), "their inertia": round(tslearn, 4),
        })  # fmt: skip
        print(table[-1], flush=True)
    worst = 0.0
    for seed in range(10):
        first = X[np.random.default_rng(seed).choice(n, 10, replace=False)]
        ours = KernelCMeans(10, kernel=Linear(), approx="exact", init=first, n_init=1).fit(X)
        theirs = KMeans(10, init=first, n_init=1, tol=0).fit(X)
        worst = max(worst, abs(ours.inertia_ / theirs.inertia_ - 1))
    table.append({"against": "scikit-learn KMeans, 10 equal starts", "n": n, "clusters": 10,
                  "our inertia": f"largest relative difference {worst:.1e}"})  # fmt: skip
    print(table[-1], flush=True)
    return table


def main():
    only = {"choices": ["svdd", "large", "cmeans"], "help": "one of the three tables"}
    out = {"type": Path, "default": RESULTS, "help": "folder of the tables (default benchmarks/results)"}
    options = arguments(__doc__, data="required", only=only, out=out)
    quick = options.quick
    if quick:  # smaller than what is published
        options.out = Path(tempfile.mkdtemp())
    budget = 0.5 if quick else 4
    if options.only in (None, "svdd"):
        rows = against_libsvm(options.data, (1000, 2000) if quick else (2000, 5000, 10_000), (0.01, 0.1, 0.5), budget)
        write_csv("no_labels_svdd", rows, options.out)
    if options.only in (None, "large"):
        write_csv("no_labels_large", large(*((20_000, 100) if quick else (200_000, 500))), options.out)
    if options.only in (None, "cmeans"):
        write_csv("no_labels_cmeans", clustering(options.data, 500 if quick else 2000, budget), options.out)


if __name__ == "__main__":
    main()
