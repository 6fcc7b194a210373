"""Machine-made labels in addition to a few human ones: the error with hints, and the intervals of an audit.

    python -m benchmarks.accuracy.hints --data DIR [--parts hints audit] [--jobs 16] [--draws 3] [--runs 1000]
        [--sets NAME ...] [--rows FILE] [--quick]

DIR contains a folder `tables` of CSV files whose column `class` has the labels; scikit-learn's sets are added. At most
500 rows of each set are used.

* hints: 20 and 50 human labels, one of each class at least. The column of machine labels is 64, 80 or 90% correct, with
  errors spread evenly or in one class per class, or comes from another model (nearest neighbor with 40 other labels).
  Mean error over the unlabeled rows of the machine alone, of mercer without the column, with it as a category, with it
  as a hint, and with a hint whose true confusion matrix is known.
* audit: coverage and width of the 95% interval of the source's accuracy, plain and with the help of the model, over
  1,000 draws of 20, 50 and 100 labels of each source; sources that are good, nearly perfect, poor, or a model of the
  same rows, and classes that are coin tosses. Eight draws share 500 rows and their machine labels.

Printed, and written to benchmarks/results/hints.md. FILE keeps the finished draws, so a second start continues.
"""

from pathlib import Path
from shlex import quote

from benchmarks.harness import (
    arguments,
    kept_rows,
    machine,
    markdown,
    over_draws,
    publish,
    thread_variables,
    with_error,
)

ROWS = 500
LABELS = (20, 50)
ACCURACIES = (0.64, 0.8, 0.9)
AUDITED = (20, 50, 100)
SHARED = 8  # draws of labels for the same rows and machine labels
SOURCES = (
    ("digits, even or odd", 0.8),
    ("digits, even or odd", 0.97),
    ("digits", 0.7),
    ("breast cancer", 0.8),
    ("coin tosses", 0.6),
    ("digits, even or odd", None),  # another model's
    ("breast cancer", None),
)


def main():
    """Run the parts."""
    import os

    options = arguments(
        __doc__,
        data="optional",
        draws={"type": int, "default": 3, "help": "draws of the labels in part hints (default %(default)s)"},
        runs={"type": int, "default": 1000, "help": "draws of part audit, per source (default %(default)s)"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
        sets={"nargs": "*", "default": [], "help": "names of the sets of part hints (default: all)"},
        parts={"nargs": "*", "default": ["hints", "audit"], "help": "which parts"},
        rows={"type": Path, "help": "file that keeps the draws"},
    )
    os.environ.update(thread_variables(1))
    runs = 10 if options.quick else options.runs
    makers, pages = {"hints": hint_tasks, "audit": audit_tasks}, []
    for part in options.parts:
        pages.append(PAGES[part](kept_rows(WORK[part], makers[part](options, runs), options.jobs, options.rows)))
    publish("hints", whole_page(pages, options), options.quick)


def whole_page(pages, options):
    """The page with its command."""
    command = f"python -m benchmarks.accuracy.hints --data DIR --runs {options.runs}"
    command += f" --draws {options.draws}" if "hints" in options.parts else ""
    command += "".join(f" {quote(name)}" for name in ["--sets", *options.sets]) if options.sets else ""
    command += "" if len(options.parts) == len(WORK) else f" --parts {' '.join(options.parts)}"
    return "\n\n".join(["# Hints from a machine", f"`{command}`", *pages, machine()]) + "\n"


def load(name, data=None, seed=0):
    """(rows, class numbers) of a set; at most 500 rows."""
    import numpy as np
    import pandas as pd
    from sklearn import datasets

    rng = np.random.default_rng(seed)
    if name.startswith("digits"):
        X, y = datasets.load_digits(return_X_y=True)
        y = y % 2 if "even" in name else (y > 4).astype(int) if "above" in name else y
    elif name in ("breast cancer", "wine"):
        X, y = getattr(datasets, f"load_{name.replace(' ', '_')}")(return_X_y=True)
    elif name == "coin tosses":
        X, y = rng.normal(size=(ROWS, 5)), rng.integers(0, 2, ROWS)
    else:
        from benchmarks.accuracy.draws import drawn

        X, words = drawn(data / "tables" / f"{name}.csv")
        y = np.unique(words, return_inverse=True)[1]
    rows = np.sort(rng.permutation(len(y))[:ROWS])
    X = X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else pd.DataFrame(X[rows]).add_prefix("x")
    return X, np.unique(y[rows], return_inverse=True)[1]


def machine_labels(X, y, accuracy, how, rng):
    """(n,) labels by a machine: this fraction correct, or those of another model."""
    import numpy as np

    n, k = len(y), y.max() + 1
    if how == "another model":
        return other_model(X, y, rng)
    if how == "even":
        return np.where(rng.random(n) < accuracy, y, (y + rng.integers(1, k, n)) % k)
    wrong = (np.arange(k) + rng.integers(1, k, k)) % k  # errors of a class go to one other, more often in some classes
    shift = rng.uniform(-1, 1, k)
    shift -= np.average(shift, weights=np.bincount(y, minlength=k))
    right = np.clip(accuracy + (1 - accuracy) * shift, 0.05, 0.99)[y]
    return np.where(rng.random(n) < right, y, wrong[y])


def other_model(X, y, rng):
    """(n,) predictions of a nearest neighbor that knows 40 labels, so that it errs where rows are difficult."""
    from sklearn.neighbors import KNeighborsClassifier

    from mercer import TableEncoder

    rows, some = TableEncoder().fit_transform(X), rng.permutation(len(y))[:40]
    return KNeighborsClassifier(1).fit(rows[some], y[some]).predict(rows)


# Part hints


def hint_tasks(options, runs):
    """(data, set, number of labels, draw)."""
    from benchmarks.harness import need_data

    need_data(options)
    names = ["digits", "breast cancer", "wine", *sorted(path.stem for path in (options.data / "tables").glob("*.csv"))]
    names = [name for name in names if name != "letter"]  # 26 classes do not fit into 20 labels
    names = [name for name in names if name in options.sets or not options.sets]
    names, draws = (names[:4], 1) if options.quick else (names, options.draws)
    return [(options.data, name, l, draw) for draw in range(draws) for name in names for l in LABELS]


def hint_rows(task):
    """Errors in percent for all machines of one draw."""
    import warnings

    import numpy as np

    from benchmarks.accuracy.draws import labeled
    from mercer import FewLabelClassifier
    from mercer.few_label.hints import Likelihood

    warnings.simplefilter("ignore")
    data, name, l, draw = task
    X, y = load(name, data)
    known = labeled(y, l, draw)
    given, free = np.where(np.isin(np.arange(len(y)), known), y, -1), np.setdiff1d(np.arange(len(y)), known)

    def error(answers):
        return 100 * float(np.mean(answers[free] != y[free]))

    def fitted(rows, **more):
        return FewLabelClassifier(time_budget=20, random_state=0).fit(rows, given, **more)

    plain = fitted(X)
    alone = error(plain.transduction_)
    P = np.exp(plain.scores_) if plain.scores_.shape[1] > 1 else _both(plain.scores_)
    rows = []
    for how in ("even", "by class", "another model"):
        for accuracy in ACCURACIES if how != "another model" else (None,):
            rng = np.random.default_rng([draw, int(100 * (accuracy or 0)), how == "even", 1])  # not those of the labels
            guess = machine_labels(X, y, accuracy, how, rng)
            true = np.zeros((y.max() + 1, y.max() + 1))
            np.add.at(true, (y, guess), 1.0)
            true = np.maximum(true / true.sum(axis=1, keepdims=True), 1e-6)
            prior = np.bincount(y[known], minlength=len(true)) + 1.0
            best = Likelihood((true,), np.ones(2), prior / prior.sum()).applied(P, guess[:, None])
            words = np.char.add("m", guess.astype(str)).astype(object)
            hinted = fitted(X, hints={"machine": guess})
            rows.append(
                {
                    "set": name,
                    "draw": draw,
                    "labels": l,
                    "errors": how,
                    "machine": how if accuracy is None else f"{how}, {accuracy:.0%}",
                    "accuracy": accuracy or float(np.mean(guess == y)),
                    "machine alone": error(guess),
                    "without the column": alone,
                    "as a category": error(fitted(X.assign(machine=words)).transduction_),
                    "as a hint": error(hinted.transduction_),
                    "true matrix": error(best.argmax(axis=1)),
                    "calibration": 100 * float(hinted.confidence_[free].mean()) - 100 + error(hinted.transduction_),
                }
            )
    return rows


def _both(scores):
    """(n, 2) probabilities from log-odds."""
    import numpy as np
    from scipy.special import expit

    return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])


def hint_page(rows):
    """Means by number of labels and kind of machine, by set, and the settings in which the hint does harm."""
    import pandas as pd

    frame, columns = pd.DataFrame(rows), ["machine alone", "without the column", "as a category", "as a hint"]
    frame["hint − machine"] = frame["as a hint"] - frame["machine alone"]
    columns, lines = [*columns, "true matrix", "hint − machine"], []
    groups = [((l, how), own) for (l, how), own in frame.groupby(["labels", "machine"])]
    groups += [((l, "all"), own) for l, own in frame.groupby("labels")]
    for (l, how), own in groups:
        lines.append({"labels": l, "machine": how} | _cells(own, columns))
        lines[-1]["confidence − accuracy"] = f"{own['calibration'].mean():+.1f}"
    sets = [{"set": name, "labels": l} | _cells(own, columns) for (name, l), own in frame.groupby(["set", "labels"])]
    note = (
        f"Mean error in percent over {frame['set'].nunique()} sets and {frame['draw'].nunique()} draws of the labels, "
        "± standard error over the draws. For the true matrix, the machine's confusion matrix is computed from all "
        "labels. If confidence − accuracy is negative, the confidence is too low."
    )
    return "\n\n".join(["## Error with hints", note, markdown(lines), harm(frame), "By set:", markdown(sets)])


def _cells(own, columns):
    """{column: mean ± standard error}."""
    found = {column: over_draws(own.to_dict("records"), column) for column in columns}
    return {column: f"{mean:.1f}" + (f" ± {se:.1f}" if se == se else "") for column, (mean, se) in found.items()}


def harm(frame):
    """Sentences on the settings (set, machine, number of labels) in which the hint is worse than the machine alone."""
    import numpy as np

    gaps = frame.groupby(["set", "labels", "machine"])["hint − machine"].agg(["mean", "sem"]).reset_index()
    clear = gaps[(gaps["mean"] > 1) & (gaps["mean"] > 2 * gaps["sem"])].sort_values("mean", ascending=False)
    text = (
        f"Of {len(gaps)} settings (set, machine, number of labels), the prediction with a hint has a lower mean error "
        f"than the machine alone in {np.sum(gaps['mean'] < -1)} by more than a point, and a higher one in "
        f"{np.sum(gaps['mean'] > 1)}. In {len(clear)} of these the difference is above two standard errors"
    )
    worst = [
        f"{row['set']}, {row['labels']} labels, {row['machine']}: {row['mean']:+.1f}" for _, row in clear.iterrows()
    ]
    return f"{text}{': ' + '; '.join(worst[:12]) if worst else ''}."


# Part audit


def audit_tasks(options, runs):
    """(number of the source, table, draws of its labels)."""
    tables = range(-(-runs // SHARED))
    return [(source, table, min(SHARED, runs - SHARED * table)) for table in tables for source in range(len(SOURCES))]


def audit_rows(task):
    """Whether the intervals of some draws cover the accuracy of the source."""
    import numpy as np

    from mercer import FewLabelClassifier, audit

    source, table, draws = task
    name, accuracy = SOURCES[source]
    X, y = load(name, seed=table)
    rng, rows = np.random.default_rng([table, source]), []
    guess = machine_labels(X, y, accuracy, "another model" if accuracy is None else "even", rng)
    prepared, truth = FewLabelClassifier(["mixed"]).prepare(X.to_numpy(), hints=guess), float(np.mean(guess == y))
    for _ in range(draws):
        order = rng.permutation(len(y))
        for l in AUDITED:
            known = order[:l]
            if len(np.unique(y[known])) < 2:
                continue
            found = audit(prepared.taught(known, y[known].tolist())).sources[0]
            own = found.accuracy
            rows.append(
                {"labels": l, "source": f"{name}, {'another model' if accuracy is None else f'{accuracy:.0%}'}"}
            )
            rows[-1]["table"] = table
            for key, rate in (("powered", own.rate), ("plain", own.plain)):
                rows[-1] |= {key: bool(rate.low <= truth <= rate.high), f"{key} width": rate.high - rate.low}
            rows[-1] |= {"gain": own.effective / l, "bias": own.rate.value - truth}
            inside = by_class(found.classes, y, guess)
            rows[-1] |= {"class intervals": len(inside), "class covered": int(sum(inside))}
    return rows


def by_class(classes, y, guess):
    """Whether each interval of a class that has a check covers: correct when it is said, found when it is true."""
    import numpy as np

    y, guess = y.astype(str), guess.astype(str)  # a word that no label names is text
    rates = [(one.correct, y[guess == str(one.name)] == str(one.name)) for one in classes]
    rates += [(one.found, guess[y == str(one.name)] == str(one.name)) for one in classes]
    return [rate.low <= right.mean() <= rate.high for rate, right in rates if np.isfinite(rate.value)]


def audit_page(rows):
    """Coverage and width."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    lines = []
    for (l, source), own in [
        *frame.groupby(["labels", "source"]),
        *(((l, "all"), g) for l, g in frame.groupby("labels")),
    ]:
        lines.append(
            {
                "labels": l,
                "source": source,
                "draws": len(own),
                "coverage": f"{with_error(100 * own.groupby(['source', 'table'])['powered'].mean())}%",
                "coverage by class": f"{100 * own['class covered'].sum() / own['class intervals'].sum():.1f}%",
                "plain coverage": f"{with_error(100 * own.groupby(['source', 'table'])['plain'].mean())}%",
                "width": f"{100 * own['powered width'].mean():.1f}",
                "plain width": f"{100 * own['plain width'].mean():.1f}",
                "effective / labels": f"{own['gain'].mean():.2f}",
                "bias": f"{100 * own['bias'].mean():+.1f}",
            }
        )
    note = (
        f"95% intervals of the accuracy of a source, ± standard error over the tables. {SHARED} draws of the labels "
        "use the same table. Plain intervals use the labels alone, the others also the model's predictions. Effective "
        "/ labels states how many labels each one counts as, with the help of the model. Widths and bias are in points."
    )
    return f"## Audit\n\n{note}\n\n{markdown(lines)}"


WORK = {"hints": hint_rows, "audit": audit_rows}
PAGES = {"hints": hint_page, "audit": audit_page}

if __name__ == "__main__":
    main()
