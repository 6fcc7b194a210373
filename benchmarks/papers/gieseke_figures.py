"""Figures 6 to 10 of Gieseke et al. (2012); called by gieseke.py."""

import time

import matplotlib
import numpy as np
from joblib import Parallel, delayed
from sklearn.svm import SVC

from benchmarks.harness import PICTURES, read_csv, write_csv
from benchmarks.papers.gieseke_data import gaussians, load, rotated, split
from benchmarks.papers.gieseke_models import GRID, basis_for, error, rlsc_path, s2rlsc_path, svm_path
from mercer import RBF, LandmarkMap, RLSClassifier, S2RLSClassifier
from mercer.solvers.label_search.features import coefficients, scaled_rows
from mercer.solvers.label_search.solve import label_search

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SMALL = GRID[::2]  # Figure 7
QUICK = {"search": "round_robin", "n_restarts": 10}
BLUE, RED, GRAY = "#1f6fb4", "#c8442e", "#8a8a8a"


def figures(folder, repeats, quick, only=()):
    """Draw every figure, or some; what they show in numbers goes to gieseke_figures.csv."""
    rows = []
    old = read_csv("gieseke_figures") if only else []
    parts = {6: moons, 7: amount_of_data, 8: shortcut, 9: approximation, 10: large_scale, "–": all_labels_known}
    for number, draw in parts.items():
        if only and number not in only:
            rows += [row for row in old if row["figure"] == str(number)]
            continue
        start = time.perf_counter()
        rows += draw(folder, repeats, quick)
        print(f"{draw.__name__}: {time.perf_counter() - start:.0f} s", flush=True)
    if not quick:
        write_csv("gieseke_figures", rows)


def save(figure, name, quick):
    figure.tight_layout()
    if not quick:
        PICTURES.mkdir(parents=True, exist_ok=True)
        figure.savefig(PICTURES / f"{name}.png", dpi=90)
    plt.close(figure)


def moons_partition(folder, repeat, widths, lambdas):
    """The rows, and for each method the least test error over its parameters with the model that has it."""
    X, y = load(folder, "Moons", seed=repeat)
    labeled, unlabeled, test = split(y, 5, 95, 100, repeat)
    train = np.r_[labeled, unlabeled]
    labels = np.r_[y[labeled], np.full(95, -1)]
    s = np.sqrt(np.sum((X.max(axis=0) - X.min(axis=0)) ** 2))
    search = {"balance": y.mean(), "balance_slack": 0.1, "search": "ea", "n_parents": 5, "n_children": 25,
              "n_restarts": 10, "label_folds": 0, "n_jobs": 1, "random_state": repeat}  # fmt: skip
    best: dict = {}
    for width in s * np.array(widths):
        for lam in lambdas:
            models = [("LIBSVM", SVC(C=1 / lam, gamma=1 / (2 * width**2)))]
            models += [("RLSC", RLSClassifier(lam, kernel=RBF(width)))]
            models += [("S²RLSC", S2RLSClassifier(lam, weight, kernel=RBF(width), **search)) for weight in (0.1, 1.0)]
            for method, model in models:
                fitted = model.fit(X[labeled], y[labeled]) if method == "LIBSVM" else model.fit(X[train], labels)
                wrong = 100 * np.mean(fitted.predict(X[test]) != y[test])
                if method not in best or wrong < best[method][0]:
                    best[method] = wrong, fitted
    return X, y, labeled, unlabeled, best


def moons(folder, repeats, quick):
    """Figure 6: moons, l = 5; width, λ, λ' and C chosen on the test set.

    The paper prints the widths 0.1 s, 0.5 s, 1, 5 s, 10 s; the third is read as 1 s.
    """
    grid = ((0.5, 1), GRID[::5]) if quick else ((0.1, 0.5, 1, 5, 10), GRID)
    found = Parallel(repeats)(delayed(moons_partition)(folder, repeat, *grid) for repeat in range(repeats))
    errors = {method: [one[-1][method][0] for one in found] for method in ("RLSC", "LIBSVM", "S²RLSC")}
    X, y, labeled, unlabeled, best = found[0]
    models = {method: model for method, (_, model) in best.items()}
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharex=True, sharey=True)
    grid = np.stack(np.meshgrid(np.linspace(-1.6, 2.6, 160), np.linspace(-1.1, 1.6, 120)), axis=-1)
    for axis, method in zip(axes, errors):
        model = models[method]
        axis.contourf(
            *grid.transpose(2, 0, 1),
            model.predict(grid.reshape(-1, 2)).reshape(120, 160),
            [-0.5, 0.5, 1.5],
            colors=["#dbe8f4", "#f6ddd7"],
        )
        axis.scatter(*X[unlabeled].T, s=8, color="#404040")
        for value, color, mark in ((0, BLUE, "^"), (1, RED, "s")):
            axis.scatter(*X[labeled][y[labeled] == value].T, s=70, color=color, marker=mark, edgecolor="white")
        axis.set_title(f"{method} ({np.mean(errors[method]):.1f} ± {np.std(errors[method]):.1f}%)")
        axis.set_xticks([])
        axis.set_yticks([])
    save(figure, "gieseke_fig6", quick)
    return [
        {"figure": 6, "setting": f"moons, l = 5, {method}", "value": f"{np.mean(v):.1f} ± {np.std(v):.1f}%"}
        for method, v in errors.items()
    ]


def amount_of_data(folder, repeats, quick):
    """Figure 7: labeled data from 5 to 80% of the 250 training rows, then unlabeled data with 20% labeled."""
    shares = (0.05, 0.2, 0.8) if quick else (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), sharey=True)
    rows = []
    for column, name in enumerate(("Gaussian2C", "Gaussian4C")):
        for part, what in enumerate(("labeled", "unlabeled")):
            means = {"RLSC": [], "S²RLSC": []}
            for share in shares:
                l = round(250 * share) if part == 0 else 50
                u = 250 - l if part == 0 else round(250 * share)
                errors = {"RLSC": [], "S²RLSC": []}
                for repeat in range(repeats):
                    X, y = load(folder, name, seed=repeat)
                    labeled, unlabeled, test = split(y, l, u, 250, repeat, equal=True)
                    Z = rotated(X, np.r_[labeled, unlabeled])
                    paths = {
                        "RLSC": rlsc_path(Z, y, labeled),
                        "S²RLSC": s2rlsc_path(Z, y, labeled, unlabeled, 0.5, 0.1, SMALL, random_state=repeat, **QUICK),
                    }
                    for method, path in paths.items():
                        errors[method].append(min(error(w, Z[test], y[test]) for w in path.values()))
                for method in means:
                    means[method].append(np.mean(errors[method]))
            axis = axes[2 * part + column]
            axis.plot(100 * np.array(shares), means["RLSC"], "o--", color=GRAY, label="RLSC")
            axis.plot(100 * np.array(shares), means["S²RLSC"], "o-", color=RED, label="S²RLSC")
            axis.set_title(f"{name}, {what} data varied", fontsize=10)
            axis.set_xlabel(f"{what} rows, % of the training set")
            rows.append(
                {
                    "figure": 7,
                    "setting": f"{name}, {what} {', '.join(f'{100 * s:.0f}' for s in shares)}%",
                    "value": "; ".join(f"{m}: {', '.join(f'{v:.1f}' for v in values)}" for m, values in means.items()),
                }
            )
    axes[0].set_ylabel("test error, %")
    axes[0].legend(frameon=False)
    save(figure, "gieseke_fig7", quick)
    return rows


def shortcut(folder, repeats, quick):
    """Figure 8: processor time of 50 (1+1) searches with F from scratch and by the shortcut, and of our default."""
    sizes = (100, 200) if quick else (100, 200, 400, 800, 1600)
    label_search(np.eye(4), [0, 1, -1, -1], n_restarts=2, search="round_robin")  # compile
    label_search(np.eye(4), [0, 1, -1, -1], n_restarts=2)
    times = {"from scratch, O(n²)": [], "shortcut (round-robin)": [], "tabu with swaps": []}
    for n in sizes:
        X, y = gaussians(n, 500, False, np.random.default_rng(0))
        labeled, unlabeled, _ = split(y, n // 10, n - n // 10, 0, 0)
        order = np.r_[labeled, unlabeled]
        codes = np.r_[y[labeled], np.full(len(unlabeled), -1)]
        shared = {
            "shares": [0.5, 0.5],
            "total": 2.0,
            "n_restarts": 50,
            "n_jobs": 1,
            "random_state": 0,
            "certify": False,
        }
        for name, search in (("shortcut (round-robin)", "round_robin"), ("tabu with swaps", "tabu")):
            start = time.process_time()
            rows, d2, basis = basis_for(rotated(X, order), labeled, unlabeled, 1.0)
            W, _ = scaled_rows(rows, basis, 1.0)
            found = label_search(W, codes, search=search, **shared)
            times[name].append(time.process_time() - start)
            if search == "round_robin":
                evaluations = found.info["evaluations"]
        start = time.process_time()
        d = np.sqrt(d2)
        K = X[order] @ X[order].T
        G = np.linalg.inv(d[:, None] * K * d + np.eye(n))
        preparing = time.process_time() - start
        signs = 2.0 * y[order] - 1.0
        start, tries = time.process_time(), 20
        for _ in range(tries):
            c = d * (G @ (d * signs))
            Kc = K @ c
            value = np.sum((d * (signs - Kc)) ** 2) + c @ Kc
        assert abs(value - (2.0 - np.sum((W.T @ signs) ** 2))) < 1e-8
        times["from scratch, O(n²)"].append(preparing + evaluations * (time.process_time() - start) / tries)
    figure, axis = plt.subplots(figsize=(5.5, 3.8))
    for (name, seconds), color in zip(times.items(), (GRAY, BLUE, RED)):
        axis.loglog(sizes, seconds, "o-", color=color, label=name)
    axis.set_xlabel("n (Gaussian2C, 50 runs)")
    axis.set_ylabel("CPU seconds, preprocessing included")
    axis.legend(frameon=False)
    save(figure, "gieseke_fig8", quick)
    return [
        {
            "figure": 8,
            "setting": f"CPU seconds at n = {', '.join(map(str, sizes))}, {name}",
            "value": ", ".join(f"{s:.3g}" for s in v),
        }
        for name, v in times.items()
    ]


def approximation(folder, repeats, quick):
    """Figure 9: test error with r landmarks, r from 1 to 10% of the training rows; λ = λ' = 1."""
    shares = (0.01, 0.1) if quick else (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.0), sharey=True)
    rows = []
    for axis, (name, l) in zip(axes, (("USPS(2,5)", 32), ("USPS(2,7)", 34), ("USPS(3,8)", 30), ("USPS(8,0)", 45))):
        X, y = load(folder, name)
        n = len(y) // 2
        means, spreads = [], []
        for share in (*shares, None):
            errors = []
            for repeat in range(repeats):
                labeled, unlabeled, test = split(y, l, n - l, n, repeat)
                train = np.r_[labeled, unlabeled]
                Z = X
                if share is not None:
                    mapped = LandmarkMap("linear", max(2, round(share * n)), choice="uniform", random_state=repeat)
                    Z = mapped.fit(X[train]).transform(X)
                path = s2rlsc_path(Z, y, labeled, unlabeled, y.mean(), 0.1, [1.0], [1.0], random_state=repeat, **QUICK)
                errors.append(error(path[1.0, 1.0], Z[test], y[test]))
            means.append(np.mean(errors))
            spreads.append(np.std(errors))
        axis.errorbar(100 * np.array(shares), means[:-1], spreads[:-1], marker="o", color=RED, capsize=3)
        axis.axhline(means[-1], color=GRAY, linestyle="--", label="exact kernel")
        axis.set_title(name, fontsize=10)
        axis.set_xlabel("landmarks, % of the rows")
        setting = f"{name}, r = {', '.join(f'{100 * s:.0f}' for s in shares)}% of n, then exact"
        rows.append({"figure": 9, "setting": setting, "value": ", ".join(f"{m:.1f}" for m in means) + " %"})
    axes[0].set_ylabel("test error, %")
    axes[0].legend(frameon=False)
    save(figure, "gieseke_fig9", quick)
    return rows


def large_scale(folder, repeats, quick):
    """Figure 10: MNIST, r = 100, 1% labeled, best of 50 (1+1) searches; on to 60,000 rows (odd against even)."""
    data = np.load(folder / "mnist.npz")
    every_X = np.vstack([data["X_train"], data["X_test"]])
    every_y = np.concatenate([data["y_train"], data["y_test"]])
    pair = np.isin(every_y, (1, 7))
    sizes = (500, 1000) if quick else (500, 1000, 2000, 3500, 5000, 7500)
    jobs = [(n, every_X[pair], (every_y[pair] == 7).astype(int), "MNIST (1, 7)") for n in sizes]
    if not quick:
        jobs += [(n, every_X, (every_y % 2).astype(int), "MNIST, odd or even") for n in (15_000, 30_000, 60_000)]
    rows, points = [], []
    for n, X, y, what in jobs:
        seconds, wrong = [], []
        for draw in range(5 if n <= 10_000 else 1):
            order = np.random.default_rng(draw).permutation(len(y))
            train, test = order[:n], order[n : n + min(n, len(y) - n)]
            labels = np.where(np.arange(n) < n // 100, y[train], -1)
            A, B = X[train].astype(np.float32) / 255, X[test].astype(np.float32) / 255
            model = S2RLSClassifier(
                1.0,
                1.0,
                kernel="linear",
                approx=100,
                balance="labels",
                search="round_robin",
                n_restarts=50,
                label_folds=0,
                n_jobs=1,
            )
            start = time.process_time()
            model.fit(A, labels)
            seconds.append(time.process_time() - start)
            wrong.append(100 * np.mean(model.predict(B) != y[test]))
        points.append((n, np.median(seconds), np.mean(wrong), what))
        value = f"{np.median(seconds):.2f} CPU s, test error {np.mean(wrong):.1f}%"
        rows.append({"figure": 10, "setting": f"{what}, {n} training rows", "value": value})
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6))
    for what, color in (("MNIST (1, 7)", RED), ("MNIST, odd or even", BLUE)):
        own = [point for point in points if point[3] == what]
        if own:
            axes[0].loglog([p[0] for p in own], [p[1] for p in own], "o-", color=color, label=what)
            axes[1].semilogx([p[0] for p in own], [p[2] for p in own], "o-", color=color, label=what)
    axes[0].set_ylabel("CPU seconds for the final model")
    axes[1].set_ylabel("test error, %")
    axes[1].set_ylim(bottom=0)
    for axis in axes:
        axis.set_xlabel("training rows, 1% labeled, r = 100")
        axis.legend(frameon=False)
    save(figure, "gieseke_fig10", quick)
    return rows


def all_labels_known(folder, repeats, quick):
    """Not in the paper: the least test error with every training label given, against which Table 2 can be held."""
    rows = []
    for name in ("Gaussian2C", "Gaussian4C"):
        errors = {"S²RLSC's model": [], "LIBSVM": []}
        for repeat in range(repeats):
            X, y = load(folder, name, seed=repeat)
            labeled, unlabeled, test = split(y, 25, 225, 250, repeat, equal=True)
            train = np.r_[labeled, unlabeled]
            Z = rotated(X, train)
            least = 100.0
            for weight in (0.1, 1.0):
                parts, _, basis = basis_for(Z, labeled, unlabeled, weight)
                for lam in GRID:
                    W, T = scaled_rows(parts, basis, lam)
                    least = min(least, error(coefficients(W, T, y[train], 2)[:, 0], Z[test], y[test]))
            errors["S²RLSC's model"].append(least)
            errors["LIBSVM"].append(min(error(m, Z[test], y[test]) for m in svm_path(Z, y, train).values()))
        for method, values in errors.items():
            value = f"{np.mean(values):.1f} ± {np.std(values):.1f}%"
            rows.append(
                {
                    "figure": "–",
                    "setting": f"{name}, all 250 training labels known, {method}, best on the test set",
                    "value": value,
                }
            )
    return rows
