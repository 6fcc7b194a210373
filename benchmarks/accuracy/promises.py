"""Accepting predictions with a promise, by users who look after every label.

    python -m benchmarks.accuracy.promises [--jobs 16] [--runs 1000] [--rows FILE] [--quick]

In each run labels of rows drawn at random are given one by one. After every label the user looks at what can be
accepted. Published: how often more predictions were wrong than promised at any look, how many rows are accepted in the
end, how many an oracle would accept that knows the truth and takes the most confident rows, and how many MAPIE's risk
control does (if it is installed). MAPIE may look once, needs half of the labels for calibration, and tries five
thresholds. The sets are scikit-learn's, 500 rows of each, and coin tosses. Five users share the same rows.

Printed, and written to benchmarks/results/promises.md. FILE keeps the finished runs, so a second start continues.
"""

from pathlib import Path

from benchmarks.accuracy.hints import load
from benchmarks.harness import arguments, kept_rows, machine, markdown, publish, thread_variables, with_error

PROMISES = (  # set, error, first and last number of labels, fraction of the runs
    ("digits, even or odd", 0.1, 40, 110, 0.15),
    ("digits, above four or not", 0.1, 40, 110, 0.15),
    ("breast cancer", 0.1, 40, 110, 0.15),
    ("digits", 0.1, 40, 110, 0.15),
    ("coin tosses", 0.1, 40, 110, 0.05),
    ("digits, even or odd", 0.05, 68, 150, 0.1),
    ("digits, above four or not", 0.05, 68, 150, 0.05),
    ("breast cancer", 0.05, 68, 150, 0.1),  # about as many are wrong as promised
    ("digits", 0.05, 68, 150, 0.1),
)

SHARED = 5  # users with the same rows


def main():
    """Run the users and print the table."""
    import os

    options = arguments(
        __doc__,
        runs={"type": int, "default": 1000, "help": "users (default %(default)s)"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
        rows={"type": Path, "help": "file that keeps the runs"},
    )
    os.environ.update(thread_variables(1))
    rows = kept_rows(users, tasks_of(10 if options.quick else options.runs), options.jobs, options.rows)
    publish("promises", whole_page(rows, options.runs), options.quick)


def whole_page(rows, runs):
    """The page with its command."""
    command = f"`python -m benchmarks.accuracy.promises --runs {runs}`"
    return f"# Accepting with a promise\n\n{command}. {page(rows)}\n\n{machine()}\n"


def tasks_of(runs):
    """(case, number of the rows, users)."""
    numbers = [(case[:-1], max(round(case[-1] * runs), 1)) for case in PROMISES]
    tasks = [
        (case, table, min(SHARED, number - SHARED * table))
        for case, number in numbers
        for table in range(-(-number // SHARED))
    ]
    return sorted(tasks, key=lambda task: task[1])  # all cases in turn


def users(task):
    """What some users of the same rows found."""
    import warnings

    import numpy as np

    from mercer import FewLabelClassifier

    warnings.simplefilter("ignore")
    (name, *case), table, number = task
    X, y = load(name, seed=table)
    rng, prepared = np.random.default_rng(table), FewLabelClassifier(["mixed"]).prepare(X.to_numpy())
    return [{"set": name, "table": table} | one_run(prepared, y, rng.permutation(len(y)), *case) for _ in range(number)]


def one_run(prepared, y, order, rate, first, last):
    """One user, who gives the labels in this order and looks after every one."""
    import numpy as np

    from mercer import accept

    broken, when = False, None
    for l in range(first, last + 1):
        model = prepared.taught(order[:l], y[order[:l]].tolist())
        found = accept(model, rate)
        if len(found.rows):
            when = when or l
            broken |= bool(np.mean(model.transduction_[found.rows] != y[found.rows]) > rate)
    free = order[last:]
    row = {"at most": rate, "labels": last, "broken": broken, "first": when}
    row |= {"accepted": len(found.rows) / len(free), "oracle": _oracle(model, y, free, rate)}
    row |= {"error": float(np.mean(model.transduction_[free] != y[free]))}
    share = _mapie(prepared, y, order[:last], free, rate)
    return row if share is None else row | {"MAPIE": share[0], "MAPIE broken": share[1]}


def _oracle(model, y, free, rate):
    """The largest fraction of rows, the most confident first, that keeps the promise."""
    import numpy as np

    some = free[np.argsort(-model.confidence_[free], kind="stable")]
    wrong = np.cumsum(model.transduction_[some] != y[some]) / np.arange(1, len(some) + 1)
    return float(np.max(np.flatnonzero(wrong <= rate) + 1, initial=0)) / len(some)


def _mapie(prepared, y, known, free, rate):
    """(fraction of rows that MAPIE's risk control accepts, whether that breaks the promise); None without MAPIE."""
    import numpy as np

    try:
        from mapie.risk_control import BinaryClassificationController
    except ImportError:
        return None
    fit, judge = known[: len(known) // 2], known[len(known) // 2 :]
    model = prepared.taught(fit, y[fit].tolist())
    right = (model.transduction_ == y).astype(int)

    def predict(confidence):
        return np.column_stack([1 - confidence[:, 0], confidence[:, 0]])

    grid = np.quantile(
        model.confidence_[free], [0.0, 0.2, 0.4, 0.6, 0.8]
    )  # a hundred thresholds, its default, cost more
    control = BinaryClassificationController(
        predict, "precision", 1 - rate, confidence_level=0.95, list_predict_params=grid
    )
    try:
        control.calibrate(model.confidence_[judge][:, None], right[judge])
        threshold = control.best_predict_param
    except ValueError:
        threshold = None
    if threshold is None:
        return 0.0, False
    taken = free[model.confidence_[free] >= threshold]
    return len(taken) / len(free), bool(len(taken) and np.mean(1 - right[taken]) > rate)


def page(rows):
    """How often the promise was kept, and how many rows were accepted."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    lines = []
    for (name, rate), own in [*frame.groupby(["set", "at most"], sort=False), (("all", ""), frame)]:
        lines.append(
            {"set": name, "wrong at most": rate, "runs": len(own), "error": f"{100 * own['error'].mean():.1f}%"}
        )
        lines[-1]["kept at every look"] = kept(own, "broken")
        shares = ("accepted", "oracle", "MAPIE") if "MAPIE" in frame else ("accepted", "oracle")
        lines[-1] |= {column: f"{with_error(100 * by_table(own, column))}%" for column in shares}
        if "MAPIE" in frame:
            lines[-1]["MAPIE kept"] = kept(own, "MAPIE broken")
        lines[-1]["runs that accept"] = f"{100 * own['first'].notna().mean():.0f}%"
        lines[-1]["first after labels"] = f"{own['first'].median():.0f}" if own["first"].notna().any() else "never"
    note = (
        "Fractions of the unlabeled rows that are accepted after the last label, and of the runs in which the promise "
        f"was kept, ± standard error over the tables ({SHARED} runs use the same one). There is a look after every "
        "label. The promise is to be kept in 95% of the runs. Runs that accept are those that accepted rows at any "
        "look, and the labels after which they first did are given as the median."
    )
    return f"{note}\n\n{markdown(lines)}"


def kept(own, column):
    """The fraction of the runs without a broken promise, with its standard error."""
    return f"{with_error(100 * (1 - by_table(own, column)))}%"


def by_table(own, column):
    """Means of a column over the runs that share a table."""
    return own.groupby(["set", "at most", "table"])[column].mean()


if __name__ == "__main__":
    main()
