"""Walder, Henao, Mørup, Hansen (2010), "Semi-supervised kernel PCA": Tables 1 and 2, Figures 2 and 3.

    python -m benchmarks.papers.walder --data DIR [--sets g241c,digit1] [--quick]
    python -m benchmarks.papers.walder --report        # tables from the splits already computed, and the pictures

DIR holds the book's data sets as ssl_*.npz with the twelve official splits (`labeled_10`, `labeled_100`). Every split's
error goes to benchmarks/results/walder_splits.csv (rows of the sets just run are replaced), the tables, paper beside
ours, to benchmarks/results/walder.md, the pictures to docs/img/walder_fig2.png and walder_fig3.png. About 30 minutes
for everything on one core; --quick takes three splits.

Protocol. The rule and the range of widths below were settled while looking at errors on these sets, so the comparison
with the paper is not blind. All parameters are chosen on the labelled rows of a split only, by the same rule for every
method and data set: the smallest mean hinge loss of the left-out margins, in units of a candidate's own typical margin.
LS and LR leave out each label in turn, MV-KPCA, MV-KPCA-10 and KPCA-10 ten folds (five for MV with 100 labels). Grids:
kernel widths 0.5, 0.7, 1, 2, 4 times the median distance (LR: 0.5, 1, 4), c = 0.001 … 1000 and s²/n = 0.01 … 10 (LR:
3 × 3 values, MV: c = 0.1, 10, 1000). Features as they are in the files; centred variance; threshold 0 for LS and LR, a
linear SVM on the eigenfunctions for the others. Table 2: graphs of 5, 10, 20 neighbours, τ = 3 … 100, then weights 0.1
and 0.5 of a Gaussian kernel of width 0.5, 1 or 4 medians beside the chosen graph, and none.
"""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.svm import SVC

from benchmarks.accuracy.book import load
from benchmarks.harness import arguments, need_data, read_csv, write_csv
from benchmarks.papers.walder_page import SETS_1
from mercer.evidence.margin import relative_hinge
from mercer.kernels.graph import laplacian, low_spectrum, neighbour_graph
from mercer.linalg import eigh_down
from mercer.solvers.eigen.within_variance import within_group_rows, within_variance_components
from mercer.solvers.sphere.irls import constrained_logistic
from mercer.solvers.sphere.left_out import compress_for, left_out
from mercer.solvers.sphere.secular import constrained_least_squares, variance_basis

WIDTHS, WEIGHTS, VARIANCES = (0.5, 0.7, 1.0, 2.0, 4.0), np.geomspace(1e-3, 1e3, 7), np.geomspace(1e-2, 10.0, 7)
LR_WIDTHS, LR_WEIGHTS, LR_VARIANCES = (0.5, 1.0, 4.0), (0.01, 1.0, 100.0), (0.1, 1.0, 10.0)
MV_WEIGHTS = (0.1, 10.0, 1000.0)
NEIGHBOURS, TIMES, GRAPH_WEIGHTS = (5, 10, 20), (3.0, 10.0, 30.0, 100.0), (0.1, 10.0, 1000.0)
MIX, MIX_WIDTHS = (0.1, 0.5), (0.5, 1.0, 4.0)


class Data:
    """One data set: squared distances, targets, splits, and its decompositions, each made once."""

    def __init__(self, folder, name):
        self.X, self.codes, self.splits = load(folder, name)
        inner = np.asarray((self.X @ self.X.T).todense() if sp.issparse(self.X) else self.X @ self.X.T)
        norm = np.diag(inner)
        self.squared = np.clip(norm[:, None] + norm - 2 * inner, 0, None)
        self.n = len(norm)
        self.median = np.median(np.sqrt(self.squared[np.triu_indices(self.n, 1)]))
        n_classes = self.codes.max() + 1
        signs = 2.0 * (self.codes[:, None] == np.arange(n_classes)) - 1.0
        self.targets = signs[:, 1:] if n_classes == 2 else signs
        self.made = {}

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def gaussian(self, factor):
        return np.exp(-self.squared / (2 * (factor * self.median) ** 2))

    def width(self, factor):
        return self.once(factor, lambda: diagonal(self.gaussian(factor)))

    def spectrum(self, k):
        """Laplacian spectrum of the k-neighbour graph, with the constant as the first of the null vectors."""

        def make():
            values, V, _ = low_spectrum(laplacian(neighbour_graph(self.X, k)[0]))
            null = int(np.sum(values == 0))
            rest = V[:, :null] @ sla.null_space(V[:, :null].sum(axis=0)[None])
            return values, np.concatenate([np.full((self.n, 1), self.n**-0.5), rest, V[:, null:]], axis=1)

        return self.once(("graph", k), make)

    def diffusion(self, k, time):
        """(theta, Z) of exp(−time·Lap): the constant has no variance, and the other eigenvectors diagonalise P."""
        values, V = self.spectrum(k)
        theta = np.exp(-time * values)
        keep = theta > 1e-12 * theta[1]  # the constant is always kept, and always first
        Z = V[:, keep] * np.sqrt(theta[keep])
        theta = theta[keep].copy()
        theta[0] = 0.0
        order = np.argsort(-theta, kind="stable")
        return theta[order], Z[:, order]

    def mixed(self, k, time, weight, factor):
        def make():
            values, V = self.spectrum(k)
            return diagonal(weight * self.gaussian(factor) + (1 - weight) * (V * np.exp(-time * values)) @ V.T)

        return self.once((k, time, weight, factor), make)


def diagonal(K):
    """(theta, Z) with K = ZZᵀ and centred scatter ZᵀHZ = diag(theta)."""
    L = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
    mean = L.sum(axis=0)
    theta, Q = variance_basis(*eigh_down(L.T @ L - np.outer(mean, mean) / len(K)))
    return theta, L @ Q


def error(data, scores, rows):
    hidden = np.setdiff1d(np.arange(data.n), rows)
    guess = (scores[hidden, 0] > 0).astype(int) if scores.shape[1] == 1 else scores[hidden].argmax(axis=1)
    return float(np.mean(guess != data.codes[hidden]))


def least_squares(data, rows, pairs, weights):
    """(mean relative hinge of the best candidate, its place, its scores on all rows) over (theta, Z) pairs."""
    targets, found = data.targets[rows], []
    for i, (theta, Z) in enumerate(pairs):
        scores = left_out(theta, Z[rows], targets, weights, data.n * VARIANCES, shrink=1e-3)  # enough to choose by
        losses = relative_hinge(scores.reshape((-1,) + targets.shape), data.codes[rows]).mean(axis=1)
        best = int(losses.argmin())
        found.append((losses[best], i, weights[best // len(VARIANCES)], VARIANCES[best % len(VARIANCES)]))
    loss, i, c, v = min(found)
    theta, Z = pairs[i]
    return loss, i, Z @ constrained_least_squares(theta, Z[rows], targets, c, data.n * v).value


def logistic(data, rows, pairs, steps):
    t, found = data.targets[rows, 0], []
    for i, (theta, Z) in enumerate(pairs):
        small, Z_l = compress_for(theta, Z[rows], t, LR_WEIGHTS, data.n * np.array(LR_VARIANCES), 1e-3)
        for c in LR_WEIGHTS:
            for v in LR_VARIANCES:
                fit = constrained_logistic(small, Z_l, t, c, data.n * v)
                steps.append(fit.n_iter if fit.converged else 999)
                last = fit.info
                scores = left_out(
                    small, Z_l, last["response"], [c / 2], [data.n * v], costs=last["curvature"], shrink=0
                )
                loss = relative_hinge(scores.reshape(1, -1, 1), data.codes[rows]).mean()
                found.append((loss, i, c, v))
    _, i, c, v = min(found)
    theta, Z = pairs[i]
    fit = constrained_logistic(theta, Z[rows], t, c, data.n * v)
    steps.append(fit.n_iter if fit.converged else 999)
    return Z @ fit.value[:, None]


def components(theta, Z, rows, codes, weight):
    """Ten eigenfunctions of MV-KPCA on all rows, centred, on one scale."""
    groups = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    within = within_group_rows(Z[rows], groups)
    F = Z @ within_variance_components(sp.diags(theta), within, weight, 10).value
    F = F - F.mean(axis=0)
    return F / F.std(axis=0).max()


def machine(F, rows, codes):
    return SVC(kernel="linear", C=100.0).fit(F[rows], codes)  # hard margin, where there is one


def eigenfunctions(data, rows, pairs, weights, sizes):
    """{m: scores} of an SVM on the first m eigenfunctions, width and weight chosen by folds over the labels."""
    codes = data.codes[rows]
    n_folds = 10 if len(rows) <= 10 or weights == [0.0] else 5
    order = np.argsort(codes, kind="stable")
    answers = {m: [] for m in sizes}
    candidates = [(i, w) for i in range(len(pairs)) for w in weights]
    for i, w in candidates:
        held = {m: np.zeros(len(rows)) for m in sizes}
        F = components(*pairs[i], rows[:0], codes[:0], 0.0) if w == 0 else None
        for fold in range(n_folds):
            test = order[fold::n_folds]
            rest = np.setdiff1d(order, test)
            if len(np.unique(codes[rest])) < 2:
                continue
            G = components(*pairs[i], rows[rest], codes[rest], w) if F is None else F
            for m in sizes:
                held[m][test] = machine(G[:, :m], rows[rest], codes[rest]).decision_function(G[rows[test], :m])
        for m in sizes:
            answers[m].append(held[m])
    out = {}
    for m in sizes:
        losses = relative_hinge(np.array(answers[m])[:, :, None], codes).mean(axis=1)
        i, w = candidates[int(losses.argmin())]
        F = components(*pairs[i], rows, codes, w)[:, :m]
        out[m] = machine(F, rows, codes).decision_function(F)[:, None]
    return out


def run_set(data, name, n_splits):
    """Every method on every split: rows of the CSV."""
    out, steps = [], []
    for l in (10, 100):
        for split, rows in enumerate(data.splits[l][:n_splits]):
            scores = {}
            if name in SETS_1:
                pairs = [data.width(factor) for factor in WIDTHS]
                scores["LS-KPCA"] = least_squares(data, rows, pairs, WEIGHTS)[2]
                scores["LR-KPCA"] = logistic(data, rows, [data.width(factor) for factor in LR_WIDTHS], steps)
                found = eigenfunctions(data, rows, pairs, list(MV_WEIGHTS), (1, 10))
                scores["MV-KPCA"], scores["MV-KPCA-10"] = found[1], found[10]
                scores["KPCA-10"] = eigenfunctions(data, rows, pairs, [0.0], (10,))[10]
            graphs = [(k, tau) for k in NEIGHBOURS for tau in TIMES]
            loss, i, scores["G-LS"] = least_squares(data, rows, [data.diffusion(*g) for g in graphs], GRAPH_WEIGHTS)
            mixes = [data.mixed(*graphs[i], w, factor) for w in MIX for factor in MIX_WIDTHS]
            mixed = least_squares(data, rows, mixes, GRAPH_WEIGHTS)
            scores["M-LS"] = mixed[2] if mixed[0] < loss else scores["G-LS"]  # w = 0 is a candidate too
            for method, values in scores.items():
                miss = 100 * error(data, values, rows)
                out.append({"set": name, "labels": l, "split": split, "method": method, "error": f"{miss:.2f}"})
        means = {m: np.mean([float(r["error"]) for r in out if r["method"] == m and r["labels"] == l]) for m in scores}
        print(name, l, " ".join(f"{m} {e:.1f}" for m, e in means.items()), flush=True)
    if steps:
        late = sum(step > 20 for step in steps)
        out.append({"set": name, "labels": "LR fits", "split": len(steps), "method": "over 20 steps", "error": late})
    return out


def write_rows(new, names):
    """Replace the rows of these sets in walder_splits.csv."""
    write_csv("walder_splits", [row for row in read_csv("walder_splits") if row["set"] not in names] + new)


def main():
    given = arguments(
        __doc__,
        data="optional",
        sets={"default": ",".join((*SETS_1, "coil")), "help": "comma-separated names (default %(default)s)"},
        report={"action": "store_true", "help": "only tables and pictures, from the splits already computed"},
    )
    if given.report:
        from benchmarks.papers.walder_figures import pictures
        from benchmarks.papers.walder_page import report

        report()
        pictures()
        return
    need_data(given)
    for name in given.sets.split(","):
        start = time.time()
        rows = run_set(Data(given.data, name), name, 3 if given.quick else 12)
        print(f"{name}: {time.time() - start:.0f} s", flush=True)
        if not given.quick:
            write_rows(rows, [name])


if __name__ == "__main__":
    main()
