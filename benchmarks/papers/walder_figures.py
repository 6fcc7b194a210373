"""Figures 2 and 3 of Walder et al. (2010); called by walder.py."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from benchmarks.harness import PICTURES
from mercer import RBF, KernelPCA, LeastSquaresKPCA, LogisticKPCA, MinimumVarianceKPCA


def pictures():
    """Figures 2 and 3: what the variance and the two losses do on two moons."""
    X, y = make_moons(200, noise=0.07, random_state=3)
    rng = np.random.default_rng(5)
    given = np.full(len(y), -1)
    for code in (0, 1):
        given[rng.choice(np.flatnonzero(y == code), 4, replace=False)] = code
    kernel = RBF(0.35)
    xs, ys = np.meshgrid(np.linspace(-1.6, 2.6, 140), np.linspace(-1.1, 1.6, 90))
    grid = np.stack([xs.ravel(), ys.ravel()], axis=1)

    def show(axis, title, values):
        values = values / values.std()
        top = np.percentile(np.abs(values), 99)
        axis.contourf(xs, ys, values.reshape(xs.shape), 20, cmap="RdBu_r", vmin=-top, vmax=top)
        axis.contour(xs, ys, values.reshape(xs.shape), [0.0], colors="k", linewidths=0.8)
        axis.scatter(*X[given < 0].T, s=6, c="white", edgecolors="0.4", linewidths=0.4)
        for code, color in ((0, "blue"), (1, "red")):
            axis.scatter(*X[given == code].T, s=42, c=color, edgecolors="white")
        axis.set(title=title, xticks=[], yticks=[])

    parts = KernelPCA(2, kernel=kernel).fit(X).transform(grid).T
    panels = [
        ("KPCA, first component", parts[0]),
        ("KPCA, second component", parts[1]),
        ("MV-KPCA, c = 100", MinimumVarianceKPCA(1, 100.0, kernel=kernel).fit(X, given).transform(grid)[:, 0]),
    ]
    for c in (0.01, 0.3, 100.0):
        model = LeastSquaresKPCA(c, 0.5, kernel=kernel).fit(X, given)
        panels.append((f"LS-KPCA, c = {c:g}, s²/n = 0.5", model.decision_function(grid)))
    figure, axes = plt.subplots(2, 3, figsize=(10, 5.2), layout="constrained")
    for axis, (title, values) in zip(axes.ravel(), panels):
        show(axis, title, values)
    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / "walder_fig2.png", dpi=80)

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axis, kind in zip(axes, (LeastSquaresKPCA, LogisticKPCA)):
        model = kind(100.0, 10.0, kernel=kernel).fit(X, given)
        accuracy = np.mean(model.predict(X) == y)
        name = "LS" if kind is LeastSquaresKPCA else "LR"
        show(axis, f"{name}-KPCA, c = 100, s²/n = 10: {100 * accuracy:.0f}% right", model.decision_function(grid))
    figure.savefig(PICTURES / "walder_fig3.png", dpi=80)
