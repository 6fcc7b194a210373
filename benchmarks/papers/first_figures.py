"""Figure 1 of Walder et al. (2010) and Figures 1 to 5 of Gieseke et al. (2012), which explain and have no figures.

    python -m benchmarks.papers.first_figures --data DIR [--quick]

Boundaries and level lines are drawn by the public `mercer.plots.LevelDisplay`. DIR has coil20.npz and usps.npz. Writes
docs/img/walder_fig1.png and docs/img/gieseke_fig1.png to gieseke_fig5.png; --quick writes nothing. Some seconds.
"""

import matplotlib
import numpy as np

from benchmarks.harness import PICTURES, arguments
from benchmarks.papers.gieseke_data import gaussians
from mercer import Linear, MaxMarginClustering, S2RLSClassifier, TransductiveSVMClassifier
from mercer.plots import LevelDisplay

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import make_moons


def unlabeled_loss():
    """Walder, Figure 1: the loss of unlabeled rows in the transductive SVM, and what kernel PCA has in its place."""
    f = np.linspace(-2, 2, 401)
    figure, axis = plt.subplots(figsize=(4, 2.6), layout="constrained")
    axis.plot(f, np.maximum(1 - np.abs(f), 0), label="transductive SVM: (1 − |f|)₊")
    axis.plot(f, 1 - f**2 / 2, "--", label="kernel PCA: −f² (shifted and scaled)")
    axis.set(xlabel="f(x)", ylabel="loss of an unlabeled row")
    axis.legend(frameon=False, fontsize=8)
    return figure


def two_lines():
    """(X, truth, given): two long clusters, with one label each that misleads a machine of labels alone."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    X = np.column_stack([np.where(truth, 1.2, -1.2) + 0.35 * rng.normal(size=80), 2.5 * rng.uniform(-1, 1, 80)])
    given = np.full(80, -1)
    given[[int(np.argmax(np.where(truth == 0, X[:, 1], -9))), int(np.argmin(np.where(truth == 1, X[:, 1], 9)))]] = 0, 1
    return X, truth, given


def three_settings():
    """Gieseke, Figure 1: labels alone, no labels, and both. Returns the figure and the fraction correct of each."""
    X, truth, given = two_lines()
    alone = given >= 0
    search = {"kernel": Linear(), "random_state": 0}
    machine = TransductiveSVMClassifier(1e-3, 0.0, kernel=Linear(), balance=0.5).fit(X, given)
    found = MaxMarginClustering(2, **search).fit(X)
    both = S2RLSClassifier(0.01, bias=True, balance=0.5, **search).fit(X, given)
    panels = [
        ("(a) supervised", machine, given),
        ("(b) unsupervised", found, None),
        ("(c) semi-supervised", both, given),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    correct = {}
    for axis, (title, model, labels) in zip(axes, panels):
        names = None if labels is None else [None if c < 0 else "ab"[c] for c in labels]
        codes = model.predict(X)
        rate = np.mean((codes == truth)[~alone])
        rate = max(rate, 1 - rate) if labels is None else rate  # clusters have no names
        correct[title] = rate
        if labels is not None:
            model = model.fit(X, names)
        own = None if labels is not None else lambda rows, model=found: 2.0 * model.predict(rows) - 1.0
        LevelDisplay.from_estimator(model, X, names, ax=axis, response=own or "auto", levels=8)
        axis.set(title=f"{title}: {rate:.0%} correct", xticks=[], yticks=[])
    return figure, correct


def losses():
    """Gieseke, Figure 2: the zero-one, the hinge and the square loss for y = 1."""
    t = np.linspace(-2, 3, 501)
    values = {"zero-one": (t < 0) * 1.0, "hinge": np.maximum(0, 1 - t), "square": (1 - t) ** 2}
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.4), layout="constrained", sharey=True)
    for axis, (name, value) in zip(axes, values.items()):
        axis.plot(t, value)
        axis.set(title=name, xlabel="t", ylim=(-0.2, 4))
    return figure


def artificial():
    """Gieseke, Figure 3: the artificial data sets in two columns, and the boundary of S²RLSC with ten labels."""
    rng = np.random.default_rng(0)
    sets = {"Gaussian2C": gaussians(200, 2, False, rng), "Gaussian4C": gaussians(200, 2, True, rng)}
    sets["Moons"] = make_moons(200, noise=0.1, random_state=0)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    for axis, (name, (X, y)) in zip(axes, sets.items()):
        given = np.full(len(y), None, dtype=object)
        for code in (0, 1):
            given[rng.choice(np.flatnonzero(y == code), 5, replace=False)] = "ab"[code]
        model = S2RLSClassifier(0.01, random_state=0).fit(X, given)
        LevelDisplay.from_estimator(model, X, given, ax=axis, levels=8)
        axis.set(title=name, xticks=[], yticks=[])
    return figure


def images(X, y, classes, side, title):
    """Gieseke, Figures 4 and 5: one picture of each class."""
    figure, axes = plt.subplots(2, len(classes) // 2, figsize=(len(classes) / 2, 2.4), layout="constrained")
    for axis, code in zip(axes.ravel(), classes):
        axis.imshow(X[np.flatnonzero(y == code)[0]].reshape(side, side), cmap="gray")
        axis.set(xticks=[], yticks=[])
        axis.set_title(str(code), fontsize=7, pad=2)
    figure.suptitle(title, fontsize=9)
    return figure


def main():
    options = arguments(__doc__, data="required")
    first, correct = three_settings()
    coil, usps = (np.load(options.data / f"{name}.npz") for name in ("coil20", "usps"))
    figures = {"walder_fig1": unlabeled_loss(), "gieseke_fig1": first, "gieseke_fig2": losses()}
    figures["gieseke_fig3"] = artificial()
    figures["gieseke_fig4"] = images(coil["X"], coil["y"], np.unique(coil["y"]), 20, "COIL-20")
    figures["gieseke_fig5"] = images(usps["X_train"], usps["y_train"], np.unique(usps["y_train"]), 16, "USPS")
    for name, figure in figures.items():
        if not options.quick:
            figure.savefig(PICTURES / f"{name}.png", dpi=80)
    print({title: round(float(rate), 3) for title, rate in correct.items()})


if __name__ == "__main__":
    main()
