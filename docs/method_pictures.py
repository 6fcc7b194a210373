"""One picture for every method, on the same small data, by what the method can do."""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from generate import is_method
from sklearn.base import is_classifier, is_clusterer, is_outlier_detector, is_regressor
from sklearn.datasets import make_circles, make_moons

import mercer

BLUE, ORANGE, GRAY = "#2563c9", "#d9590f", "0.35"
MOONS, MOON = make_moons(300, noise=0.08, random_state=0)
KNOWN = np.concatenate([np.flatnonzero(c == MOON)[[3, 40, 80, 120]] for c in (0, 1)])
RINGS, _ = make_circles(300, factor=0.4, noise=0.05, random_state=0)


def draw_all(folder):
    """Write NAME.png for every method whose picture is not there, or older than this file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in mercer.__all__:
        cls, path = getattr(mercer, name), folder / f"{name}.png"
        if is_method(cls) and not (path.exists() and path.stat().st_mtime > Path(__file__).stat().st_mtime):
            figure, axis = plt.subplots(figsize=(5.2, 3.3), layout="constrained")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                drawing_of(cls())(axis, cls())
            figure.savefig(path, dpi=110)
            plt.close(figure)


def drawing_of(model):
    kinds = [(is_classifier, labeled), (is_regressor, numbers), (is_outlier_detector, normal), (is_clusterer, groups)]
    return next((draw for is_kind, draw in kinds if is_kind(model)), components)


def fine(model, **more):
    """The method with a kernel of a width that suits the data, where it takes one."""
    names = model.get_params()
    wanted = {"kernel": mercer.RBF(0.3), "random_state": 0, "time_budget": 10.0} | more
    return model.set_params(**{name: value for name, value in wanted.items() if name in names})


def plane(X):
    (a, b), (c, d) = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    xx, yy = np.meshgrid(np.linspace(a, c, 120), np.linspace(b, d, 90))
    return xx, yy, np.column_stack([xx.ravel(), yy.ravel()])


def rows_on(axis, X, color=GRAY, **more):
    axis.scatter(*X.T, s=more.pop("s", 6), c=color, linewidths=more.pop("linewidths", 0), **more)
    axis.set(xticks=[], yticks=[])


def labeled(axis, model):
    y = np.full(len(MOONS), -1)
    y[KNOWN] = MOON[KNOWN]
    model = fine(model).fit(MOONS, y)
    xx, yy, points = plane(MOONS)
    shades = model.predict_proba(points)[:, 1].reshape(xx.shape)
    axis.contourf(xx, yy, shades, np.linspace(0, 1, 21), cmap="coolwarm", alpha=0.55)
    axis.contour(xx, yy, shades, [0.5], colors="k", linewidths=1)
    rows_on(axis, MOONS)
    rows_on(axis, MOONS[KNOWN], np.array([BLUE, ORANGE])[MOON[KNOWN]], s=60, edgecolors="k", linewidths=1)
    right = np.mean(model.transduction_[y < 0] == MOON[y < 0])
    axis.set_title(f"eight labels: {right:.0%} of the other rows correct", fontsize=10)


def numbers(axis, model):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 3, 120))[:, None]
    truth = np.sin(3 * x[:, 0]) + 0.5 * x[:, 0]
    y = np.full(len(x), np.nan)
    known = rng.choice(len(x), 25, replace=False)
    y[known] = truth[known] + rng.normal(scale=0.15, size=len(known))
    if "kernel" in model.get_params():
        model = model.set_params(kernel=mercer.RBF(0.5))
        model.fit(x[known], y[known])
    else:
        model = fine(model).fit(x, y)
        low, high = model.predict_interval(x, coverage=0.9).T
        axis.fill_between(x[:, 0], low, high, color=BLUE, alpha=0.15, label="90 % interval")
    axis.plot(x, truth, color=GRAY, ls=":", label="truth")
    axis.plot(x, model.predict(x), color=BLUE, label="predicted")
    axis.scatter(x[known], y[known], c=ORANGE, s=16, label="given")
    axis.legend(fontsize=8)


def normal(axis, model):
    wanted = {"nu": 0.1, "contamination": 0.1, "n_components": 10}
    if "nu" in model.get_params():
        wanted.pop("contamination")
    model = fine(model, kernel=mercer.RBF(0.35), **wanted)
    outside = model.fit_predict(MOONS) < 0
    xx, yy, points = plane(MOONS)
    level = model.decision_function(points).reshape(xx.shape)
    axis.contourf(xx, yy, level, np.linspace(np.quantile(level, 0.2), level.max(), 14), cmap="Blues", extend="min")
    axis.contour(xx, yy, level, [0], colors=ORANGE)
    rows_on(axis, MOONS[~outside])
    rows_on(axis, MOONS[outside], ORANGE, s=16)
    axis.set_title(f"{outside.mean():.0%} of the rows outside", fontsize=10)


def groups(axis, model):
    found = fine(model, kernel=mercer.RBF.from_gamma(5.0), n_clusters=2).fit_predict(RINGS)
    rows_on(axis, RINGS, np.array([BLUE, ORANGE])[found], s=12)
    axis.set(title="two groups", aspect="equal")


def components(axis, model):
    model = fine(model, kernel=mercer.RBF(0.6), n_components=2)
    y = np.full(len(MOONS), -1)
    y[KNOWN] = MOON[KNOWN]
    rows_on(axis, model.fit(MOONS, y).transform(MOONS), np.array([BLUE, ORANGE])[MOON], s=12)
    axis.set(title="two moons on the first two components", xlabel="first", ylabel="second")
