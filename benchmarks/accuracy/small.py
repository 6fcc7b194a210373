"""FewLabelClassifier next to TabPFN, TabICL, TabFM and tuned models, on small tables with published scores.

    python -m benchmarks.accuracy.small --data DIR [--jobs 1] [--most-rows 2500] [--only NAME ...] [--also] [--quick]

DIR contains `published.csv` (one row per table, one column per model) and `NAME.csv.gz` for each table, with classes
in the column `Class`. The scores of the other models are those that firefly1248/SmallDataBenchmarks publishes: mean PR
AUC (weighted over classes) over `StratifiedKFold(4, shuffle=True, random_state=0)`. FewLabelClassifier gets the same
folds: the labels of three, and all rows without the labels of the fourth. `--also` adds a second contender,
FewLabelClassifier(also=[...]) with scikit-learn's gradient boosting and logistic regression in the pool. Seconds are
processor seconds of one fit. Prints and writes benchmarks/results/small.md, and small.csv with every table.
"""

import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from benchmarks.harness import arguments, machine, markdown, publish, read_csv, thread_variables, write_csv

os.environ |= thread_variables(1)

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, label_binarize

from mercer import FewLabelClassifier

SIZES = (126, 220, 500, 1000, 2500)  # rows up to which tables are averaged together
OURS, WITH = "FewLabelClassifier", "FewLabelClassifier, also"
NAMES = {
    "tabfm": "TabFM",
    "tabicl": "TabICL 2",
    "tabpfn3": "TabPFN-3",
    "tabpfn": "TabPFN-2.6",
    "catboost": "CatBoost",
    "lgbm_linear": "LightGBM, linear",
    "lgbm": "LightGBM",
    "xgboost": "XGBoost",
    "hgb": "HistGradientBoosting",
    "random_forest": "Random forest",
    "svc": "SVC",
    "logreg": "Logistic regression",
    "sgd": "SGD",
    "resnet": "ResNet",
}


def load(folder, name):
    """(data frame of features, (n,) class numbers in the sorted order of their names)."""
    frame = pd.read_csv(folder / f"{name}.csv.gz", na_values=["?"], keep_default_na=True)
    y = frame.pop("Class")
    return frame, np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)[1]


def folds(y):
    """(training rows, test rows) of the published splits."""
    return list(StratifiedKFold(4, shuffle=True, random_state=0).split(np.zeros(len(y)), y))


def pr_auc(y, P):
    """Area under the precision-recall curve: of the second class, or weighted over more than two."""
    if P.shape[1] == 2:
        return average_precision_score(y, P[:, 1])
    return average_precision_score(label_binarize(y, classes=np.arange(P.shape[1])), P, average="weighted")


def own_models():
    """What --also puts into the pool."""
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return [HistGradientBoostingClassifier(random_state=0), linear]


def run(job, folder):
    """Score and processor seconds of one contender on one fold of a table."""
    name, number, contender = job
    warnings.simplefilter("ignore")
    X, y = load(folder, name)
    train, test = folds(y)[number]
    given = np.full(len(y), -1)
    given[train] = y[train]
    start = time.process_time()
    model = FewLabelClassifier(also=own_models() if contender == WITH else ()).fit(X, given)
    P = np.zeros((len(test), y.max() + 1))
    P[:, np.asarray(model.classes_, dtype=int)] = model.probabilities_[test]
    return {"table": name, "model": contender, "score": pr_auc(y[test], P), "seconds": time.process_time() - start}


def main():
    options = arguments(
        __doc__,
        data="required",
        jobs={"type": int, "default": 1, "help": "processes (default %(default)s)"},
        most_rows={"type": int, "default": 2500, "help": "leave larger tables out (default %(default)s)"},
        only={"nargs": "*", "help": "names of tables"},
        also={"action": "store_true", "help": "also fit with two models of scikit-learn in the pool"},
    )
    most = 200 if options.quick else options.most_rows
    published = [row for row in read_csv("published", options.data) if int(row["n"]) <= most]
    published = [row for row in published if not options.only or row["table"] in options.only]
    published = published[: 4 if options.quick else None]
    contenders = [OURS, WITH] if options.also else [OURS]
    jobs = [(row["table"], number, one) for row in published for number in range(4) for one in contenders]
    with ProcessPoolExecutor(options.jobs) as workers:
        found = pd.DataFrame(workers.map(partial(run, folder=options.data), jobs))
    means = found.groupby(["table", "model"], sort=False).mean().reset_index()
    scores = means.pivot(index="table", columns="model", values="score")
    table = pd.DataFrame(published).set_index("table").replace("", np.nan).astype(float).join(scores)
    table["seconds"] = means[means.model == OURS].set_index("table").seconds
    models = [*contenders, *(name for name in NAMES if name in table)]
    page = text(table, models)
    if not options.quick and not options.only:
        write_csv("small", table.round(4).reset_index().to_dict("records"))
    publish("small", page, options.quick or bool(options.only))


def text(table, models):
    """The page: means over the tables that every model has a score for, by size, and table by table."""
    complete = table.dropna(subset=models)
    rows = []
    bounds = [(low, high) for low, high in zip((0, *SIZES), SIZES) if ((complete.n > low) & (complete.n <= high)).any()]
    for model in sorted(models, key=lambda one: -complete[one].mean()):
        row = {"model": NAMES.get(model, model), "mean": f"{complete[model].mean():.3f}"}
        for low, high in bounds:
            own = complete[(complete.n > low) & (complete.n <= high)]
            row[f"{low + 1:,} to {high:,} rows ({len(own)})"] = f"{own[model].mean():.3f}"
        row["better than FewLabelClassifier"] = f"{int((complete[model] > complete[OURS] + 0.0005).sum())}"
        rows.append(row)
    shown = [
        model for model in (OURS, WITH, "tabfm", "tabicl", "tabpfn3", "catboost", "random_forest") if model in table
    ]
    each = [
        {"table": name, "rows": int(row.n)}
        | {NAMES.get(model, model): "" if np.isnan(row[model]) else f"{row[model]:.3f}" for model in shown}
        | {"seconds": f"{row.seconds:.1f}"}
        for name, row in table.iterrows()
    ]
    return f"""# Small tables compared with TabPFN, TabICL and TabFM

Mean PR AUC over four folds (command: `python -m benchmarks.accuracy.small --data DIR`). FewLabelClassifier was fitted
here. The other scores are those that the repository firefly1248/SmallDataBenchmarks publishes for the same folds. The
means are over the {len(complete)} tables that have a score of every model. FewLabelClassifier sees the rows of the test
fold without their labels, as in normal use. The others predict them one by one. It took {table.seconds.median():.1f}
processor seconds per fit on one core (median), and at most {table.seconds.max():.1f}.

{markdown(rows)}

Every table:

{markdown(each)}

{machine()}
"""


if __name__ == "__main__":
    main()
