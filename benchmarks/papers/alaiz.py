"""Alaíz, Fanuel, Suykens (2018), "Convex formulation for kernel PCA and its use in semi-supervised learning".

    python -m benchmarks.papers.alaiz --data DIR [--draws 100] [--quick]
    python -m benchmarks.papers.alaiz --data DIR --choices [--draws 30]
    python -m benchmarks.papers.alaiz --data DIR --report

Reproduces Tables 1 and 2, with the column Semi-KPCA₀ that the paper leaves out, the centered form
that is the default of `SemiKPCA`, and Figures 1 to 3. DIR contains the nine
data sets as .npz files (X, y). Printed, and written to benchmarks/results/alaiz.md and alaiz.csv: for every cell of
Table 2 the paper's mean ± deviation, ours over 10 draws (as in the paper) and over --draws draws, and the difference in
standard errors. Pictures: docs/img/alaiz_fig1.png, alaiz_fig2.png and alaiz_fig3.png. About three minutes on one core.

The protocol is the paper's §5; what it leaves open is in `Protocol`. --choices counts the cells of Table 2 that agree
with each of the other readings, one changed at a time, and writes alaiz_choices.csv, which the page shows.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.harness import PICTURES, arguments, publish, read_csv, standardized, write_csv
from benchmarks.papers.alaiz_tables import TABLE_1, read_table
from mercer import RBF, LSSVMClassifier, SemiKPCA
from mercer.linalg import eigh_down
from mercer.solvers.ridge.smoother import basis_of_rows, ridge_filter, shift_filter

FRACTIONS = (0.01, 0.02, 0.05, 0.10)
MODELS = ("Semi-KPCA₁", "Semi-LSSVM", "Subs-LSSVM")
WITHOUT = "Semi-KPCA₀"  # not in the paper's table
CENTERED = "Semi-KPCA, centered"  # nor this one: the constant function is removed, the default of SemiKPCA
SCALES = {
    "standard": standardized,
    "raw": lambda X: X,
    "range": lambda X: (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-300),
}


@dataclass(frozen=True)
class Protocol:
    """What the paper leaves open; the values are those that agree best, see the page."""

    scale: str = "standard"  # or "raw", "range": [0, 1]
    both_classes: bool = False  # whether a draw has a label of each class at least
    iris: int = 0  # the class that is set against the two others: 0 is setosa
    sample_number: bool = True  # as a tenth feature of breastcancer
    half_distance: bool = True  # of the clusters of synth: to the lines between them, not between centers
    one_gamma: bool = True  # the best γ of ten draws, not of each draw


USUAL = Protocol()


def load(name, folder, seed, protocol):
    """(X, t) with t = ±1."""
    if name == "synth":
        half = 1.0 if protocol.half_distance else 0.5
        centers = half * np.array([[-2.5, -2.0], [2.5, -2.0], [-2.5, 2.0], [2.5, 2.0]])
        X = np.repeat(centers, 100, axis=0) + np.random.default_rng(seed).normal(size=(400, 2))
        return X, np.repeat([-1.0, -1.0, 1.0, 1.0], 100)
    file = np.load(folder / ("breastcancer_uci.npz" if name == "breastcancer" else f"{name}.npz"))
    X = file["X"].astype(float)
    if name == "breastcancer" and protocol.sample_number:
        X = np.column_stack([file["sample_id"].astype(float), X])
    y = file["y"] == np.unique(file["y"])[protocol.iris] if name == "iris" else file["y"]
    return X, np.where(y == np.max(y), 1.0, -1.0)


class Problem:
    """One data set: its kernel matrix and one eigendecomposition, which serves every draw, model and γ."""

    def __init__(self, name, folder, protocol=USUAL, seed=0):
        X, self.t = load(name, folder, seed, protocol)
        self.folder, self.seed, self.protocol = folder, seed, protocol
        self.name = name
        self.shape = X.shape
        self.X = SCALES[protocol.scale](X)
        self.kernel = RBF("median").resolve(self.X)
        self.K = self.kernel(self.X)
        values, self.V = eigh_down(self.K)
        self.values = np.maximum(values, 0.0)
        H = np.eye(len(self.K)) - 1 / len(self.K)
        values, self.V_centered = eigh_down(H @ self.K @ H)
        self.values_centered = np.maximum(values, 0.0)

    def draw(self, n_labels, n_draws):
        """(n, n_draws) targets: ±1 for the drawn labels, else 0."""
        T = np.zeros((len(self.t), n_draws))
        for j in range(n_draws):
            rng, rows = np.random.default_rng([n_labels, j, self.seed]), []
            while not len(rows) or (self.protocol.both_classes and len(np.unique(self.t[rows])) < 2):
                rows = rng.choice(len(self.t), n_labels, replace=False)
            T[rows, j] = self.t[rows]
        return T

    def accuracy(self, F, T):
        """(n_draws,) percentage of unlabeled rows on the right side."""
        free = T == 0
        return 100 * np.sum(((F > 0) == (self.t[:, None] > 0)) & free, axis=0) / free.sum(axis=0)

    def spectral(self, T, filters):
        """(m, n_draws) accuracies of f = V λ filter(λ) Vᵀ t."""
        C = self.V.T @ T
        return np.array([self.accuracy(self.V @ ((self.values * f)[:, None] * C), T) for f in filters])

    def semi_kpca(self, T, gammas, n_removed=1):
        return self.spectral(T, shift_filter(self.values, np.asarray(gammas), n_removed))

    def centered(self, T, gammas):
        """Semi-KPCA about the mean: the same with the eigenpairs of the centered kernel matrix, and none removed."""
        C, values = self.V_centered.T @ T, self.values_centered
        filters = shift_filter(values, np.asarray(gammas), 0)
        return np.array([self.accuracy(self.V_centered @ ((values * f)[:, None] * C), T) for f in filters])

    def semi_lssvm(self, T, gammas):
        return self.spectral(T, ridge_filter(self.values, 1 / np.asarray(gammas)))

    def subs_lssvm(self, T, gammas):
        """LS-SVM on the labeled rows, which differ from draw to draw."""
        Z = self.V * np.sqrt(self.values)
        F = np.empty((len(gammas),) + T.shape)
        for j in range(T.shape[1]):
            rows = np.flatnonzero(T[:, j])
            basis = basis_of_rows(Z[rows], np.ones(len(rows)))
            Q, c = Z @ basis.vectors, basis.vectors.T @ (Z[rows].T @ T[rows, j])
            F[:, :, j] = (ridge_filter(basis.values, 1 / np.asarray(gammas)) * c) @ Q.T
        return np.array([self.accuracy(f, T) for f in F])

    def middle(self):
        return 1 / np.sqrt(self.values[0] * self.values[1])

    def middle_centered(self):
        return 1 / np.sqrt(self.values[0] * self.values_centered[0])

    def cells(self, n_labels, n_draws, n_grid):
        """(10, n_draws) accuracies: the six cells of a row, then Semi-KPCA₀ and the centered one, best and fixed γ."""
        if self.name == "synth" and n_draws > 10:
            worlds = [Problem("synth", self.folder, self.protocol, seed) for seed in range(n_draws // 10)]
            return np.hstack([world.cells(n_labels, 10, n_grid) for world in worlds])
        T = self.draw(n_labels, n_draws)
        n, d = self.shape
        grid = np.geomspace(1e-4, 1e4, n_grid)
        inside = np.geomspace(0.1 / self.values[0], 0.9999 / self.values[1], n_grid)
        best_of = best_of_ten if self.protocol.one_gamma else lambda accuracies: accuracies.max(axis=0)
        best = [
            best_of(self.semi_kpca(T, inside)),
            best_of(self.semi_lssvm(T, grid)),
            best_of(self.subs_lssvm(T, grid)),
        ]
        fixed = [
            self.semi_kpca(T, [self.middle()]),
            self.semi_lssvm(T, [10 * d / n]),
            self.subs_lssvm(T, [100 * d / n]),
        ]
        below = np.geomspace(1e-3, 0.9999, n_grid) / self.values[0]
        without = [best_of(self.semi_kpca(T, below, 0)), self.semi_kpca(T, [0.1 / self.values[0]], 0)[0]]
        inside = np.geomspace(0.1 / self.values[0], 0.9999 / self.values_centered[0], n_grid)
        own = [best_of(self.centered(T, inside)), self.centered(T, [self.middle_centered()])[0]]
        return np.array(best + [f[0] for f in fixed] + without + own)

    def check_estimators(self, n_labels):
        """The library's classifiers give these accuracies on the first draw; return the largest difference."""
        T = self.draw(n_labels, 1)
        y = np.where(T[:, 0] == 0, np.nan, self.t)
        if len(np.unique(T[T != 0])) < 2:
            return 0.0  # one class drawn: an estimator refuses what the paper counts as a draw
        n, d = self.shape
        settings = dict(kernel=self.kernel, approx="exact", missing_label=np.nan)
        models = [
            (SemiKPCA(1, "middle", **settings), self.semi_kpca(T, [self.middle()])),
            (SemiKPCA(**settings), self.centered(T, [self.middle_centered()])),
            (LSSVMClassifier(10 * d / n, unlabeled="zero", bias=False, **settings), self.semi_lssvm(T, [10 * d / n])),
            (LSSVMClassifier(100 * d / n, bias=False, **settings), self.subs_lssvm(T, [100 * d / n])),
        ]
        free = T[:, 0] == 0
        return max(
            abs(100 * np.mean((m.fit(self.X, y).decision_function(self.X) > 0)[free] == (self.t > 0)[free]) - a[0, 0])
            for m, a in models
        )


def best_of_ten(accuracies):
    """(n_draws,) accuracies at the γ whose mean over each ten draws is highest."""
    blocks = np.split(accuracies, range(10, accuracies.shape[1], 10), axis=1)
    return np.concatenate([block[np.argmax(block.mean(axis=1))] for block in blocks])


def standard_errors(paper, ours):
    """Difference of two means in standard errors: ten draws there, ours here, one pooled deviation."""
    n = len(ours)
    pooled = (9 * paper[1] ** 2 + (n - 1) * np.var(ours, ddof=1)) / (n + 8)
    return (ours.mean() - paper[0]) / np.sqrt(pooled * (1 / 10 + 1 / n))


def chance(paper_mean, ours, repeats=20_000):
    """Two-sided fraction of sets of ten of our draws whose mean is as far off as the paper's."""
    generator = np.random.default_rng(0)
    means = ours[generator.integers(len(ours), size=(repeats, 10))].mean(axis=1)
    side = min(np.mean(means <= paper_mean), np.mean(means >= paper_mean))
    return min(1.0, 2 * side)


def table_2(problems, n_draws, n_grid):
    rows = []
    for (name, n_labels), paper in read_table().items():
        if name not in problems:
            continue
        ours = problems[name].cells(n_labels, n_draws, n_grid)
        for j in range(6):
            z = standard_errors(paper[j], ours[j])
            rows.append(
                {
                    "data": name,
                    "labels": n_labels,
                    "gamma": "best" if j < 3 else "fixed",
                    "model": MODELS[j % 3],
                    "paper_mean": paper[j, 0],
                    "paper_sd": paper[j, 1],
                    "ours_10_mean": round(ours[j, :10].mean(), 2),
                    "ours_10_sd": round(ours[j, :10].std(ddof=1), 2),
                    "ours_mean": round(ours[j].mean(), 2),
                    "ours_sd": round(ours[j].std(ddof=1), 2),
                    "standard_errors": round(z, 2),
                    "chance": round(chance(paper[j, 0], ours[j]), 4),
                }
            )
        for j, gamma, model in (
            (6, "best", WITHOUT),
            (7, "fixed", WITHOUT),
            (8, "best", CENTERED),
            (9, "fixed", CENTERED),
        ):
            same = {"data": name, "labels": n_labels, "gamma": gamma, "model": model}
            gain = ours[j] - ours[0 if gamma == "best" else 3]  # on the same draws
            same |= {"ours_mean": round(ours[j].mean(), 2), "ours_sd": round(ours[j].std(ddof=1), 2)}
            same["standard_errors"] = round(gain.mean() / max(gain.std(ddof=1) / np.sqrt(len(gain)), 1e-9), 2)
            rows.append(same)
        print(name, n_labels, " ".join(f"{r['standard_errors']:+.1f}" for r in rows[-10:]), flush=True)
    return rows


READINGS = [
    ({}, "all"),
    ({"scale": "raw"}, "all"),
    ({"scale": "range"}, "all"),
    ({"both_classes": True}, "all"),
    ({"one_gamma": False}, "all"),
    ({"iris": 1}, "iris"),
    ({"iris": 2}, "iris"),
    ({"sample_number": False}, "breastcancer"),
    ({"half_distance": False}, "synth"),
]


def other_readings(folder, n_draws, n_grid):
    """Count the cells that agree within two standard errors under other readings of what the paper leaves open.

    A set at a time goes to alaiz_choices.csv; what is there already is not counted again.
    """
    paper = read_table()
    for changed, sets in READINGS:
        what = ", ".join(f"{name} = {value!r}" for name, value in changed.items()) or "as on this page"
        for name in TABLE_1 if sets == "all" else [sets]:
            rows = read_csv("alaiz_choices")
            if any((row["reading"], row["data"]) == (what, name) for row in rows):
                continue
            problem, off = Problem(name, folder, Protocol(**changed)), []
            for (own, n_labels), cells in paper.items():
                if own == name:
                    ours = problem.cells(n_labels, n_draws, n_grid)
                    off += [abs(standard_errors(*pair)) for pair in zip(cells, ours)]
            new = {"reading": what, "data": name, "cells": len(off), "agree": sum(z <= 2 for z in off)}
            write_csv("alaiz_choices", [*rows, new])
            print(new, flush=True)


def main():
    draws = {"type": int, "default": 100, "help": "draws of the labels (default %(default)s; --quick: 20)"}
    choices = {"action": "store_true", "help": "only the other readings of the protocol"}
    report = {"action": "store_true", "help": "only the page, from alaiz.csv, and the pictures"}
    options = arguments(__doc__, data="required", draws=draws, choices=choices, report=report)
    if options.choices:
        other_readings(options.data, min(options.draws, 30), 20)
        return
    begin, names = time.time(), ["iris", "monk2", "synth"] if options.quick else list(TABLE_1)
    n_draws, n_grid = (20, 15) if options.quick else (options.draws, 40)
    problems = {name: Problem(name, options.data) for name in names}
    if options.report:
        rows = [{k: number(v) for k, v in row.items()} for row in read_csv("alaiz")]
    else:
        worst = max(p.check_estimators(max(10, round(0.1 * len(p.t)))) for p in problems.values())
        print(f"largest difference between the estimators and the closed forms used here: {worst:.2f} points")
        rows = table_2(problems, n_draws, n_grid)
        minutes = round((time.time() - begin) / 60, 1)
        rows = [row | {"draws": n_draws, "minutes": minutes} for row in rows]
        if not options.quick:
            write_csv("alaiz", rows)
    from benchmarks.papers.alaiz_figures import figure_1, figure_2, figure_3
    from benchmarks.papers.alaiz_page import markdown

    panels = figure_1(None if options.quick else PICTURES / "alaiz_fig1.png")
    text = markdown(
        rows, problems, panels, TABLE_1, (WITHOUT, CENTERED), lambda seed: load("synth", options.data, seed, USUAL)
    )
    publish("alaiz", text, options.quick)
    if not options.quick:
        figure_2(problems["iris"], PICTURES / "alaiz_fig2.png")
        figure_3(problems, PICTURES / "alaiz_fig3.png", n_draws, n_grid)


def number(text):
    """A cell of a CSV file as a number if it is one."""
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text


if __name__ == "__main__":
    main()
