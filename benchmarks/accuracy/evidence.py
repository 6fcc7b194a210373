"""How accurate FewLabelClassifier and its estimates are: errors, intervals, prediction sets, probabilities.

    python -m benchmarks.accuracy.evidence --data DIR [--seeds 8] [--jobs 16] [--minutes 60] [--parts ...] [--quick]

DIR contains the benchmark sets and a folder `tables` of CSV files whose column `class` has the labels. From each set at
most 1,500 rows are drawn, labels are drawn at random among them (at least two classes), and every number is about the
unlabeled rows:

* tables, coins: 10, 20, 50 and 100 labels; coins replaces the classes by tosses of a fair coin;
* book: the seven sets of the semi-supervised learning book, official splits, 10 and 100 labels;
* suggest: 20 labels drawn at random, then rows from `suggest` with audit=0.2 up to 50 and 100.

Printed, and written to benchmarks/results/evidence.md (the draws: evidence.csv): mean errors by number of classes
next to scikit-learn's classifiers on the same labels; bias of the estimated accuracy, coverage and width of its 95%
interval next to that of as many independent labels; coverage and size of 90% sets; calibration error in ten bins,
with the same weight for every draw.
"""

from benchmarks.harness import RESULTS, arguments, need_data, thread_variables

LABELS = (10, 20, 50, 100)
ROWS = 1500


def main():
    """Run the draws and print the tables."""
    import os

    options = arguments(
        __doc__,
        data="optional",
        seeds={"type": int, "default": 8, "help": "draws of the labels (default %(default)s)"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
        minutes={"type": float, "help": "stop then and use the draws that are done, seed by seed"},
        parts={"nargs": "*", "default": ["tables", "book", "coins", "suggest"], "help": "which parts"},
        out={"default": str(RESULTS), "help": "folder of the results"},
    )
    need_data(options)
    os.environ.update(thread_variables(1))
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    tasks = [task for part in options.parts for task in tasks_of(part, options)]
    tasks.sort(key=lambda task: (task[0] != "book", task[2]))
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(draw, task) for task in tasks]
        try:
            for done in as_completed(waiting, None if options.minutes is None else 60 * options.minutes):
                rows += done.result()
        except TimeoutError:
            print(f"{sum(one.done() for one in waiting)} of {len(waiting)} draws were done in time.")
            pool.shutdown(wait=False, cancel_futures=True)
    from benchmarks.accuracy.evidence_page import page

    text = page(rows, options)
    print(text)
    if not options.quick:
        import pandas as pd

        pd.DataFrame([{k: v for k, v in row.items() if k != "bins"} for row in rows]).to_csv(
            f"{options.out}/evidence.csv", index=False, float_format="%.4f"
        )
        with open(f"{options.out}/evidence.md", "w") as file:
            file.write(text + "\n")


def tasks_of(part, options):
    """[(part, file, seed)]: what one process does at a time."""
    files = sorted((options.data / "tables").glob("*.csv"))
    seeds = range(2 if options.quick else options.seeds)
    if options.quick:
        files = files[:3]
    if part == "book":
        names = ["digit1", "usps", "coil", "bci", "g241c", "g241d", "text"][: 2 if options.quick else 7]
        return [
            ("book", options.data / f"ssl_{name}.npz", split) for name in names for split in range(12)[: len(seeds) * 2]
        ]
    return [(part, file, seed) for file in files for seed in seeds]


def draw(task):
    """The rows of the result for one set and seed."""
    import warnings

    warnings.simplefilter("ignore")
    part, file, seed = task
    if part == "book":
        return list(book_rows(file, seed))
    return list(table_rows(part, file, seed))


def table_rows(part, file, seed):
    import numpy as np
    import pandas as pd

    from mercer import FewLabelClassifier, suggest

    rng = np.random.default_rng([seed, sum(file.stem.encode())])
    frame = pd.read_csv(file)
    frame = frame.iloc[rng.permutation(len(frame))[:ROWS]].reset_index(drop=True)
    y = frame.pop("class").astype(str).to_numpy()
    if part == "coins":
        y = rng.choice(["heads", "tails"], len(y))
    if part == "suggest":
        known, drawn = labeled(rng, y, 20), np.zeros(len(y), dtype=bool)
        drawn[known] = True
        model = FewLabelClassifier().fit(frame, masked(y, known), drawn=drawn)
        while len(known) < min(100, len(y) // 2):
            found = suggest(model, 10, audit=0.2, random_state=[seed, len(known)])
            known = np.append(known, found.rows)
            model.teach(found.rows, y[found.rows], drawn=found.drawn)
            if len(known) in (50, 100):
                yield facts(part, file.stem, seed, len(known), model, y, known)
        return
    order = labeled(rng, y, max(LABELS))
    for number in LABELS:
        known = order[:number]
        if number > len(y) // 2:
            continue
        model = FewLabelClassifier().fit(frame, masked(y, known))
        row = facts(part, file.stem, seed, number, model, y, known)
        if part == "tables":
            row |= peers(model.encoder_.transform(frame) if model.encoder_ is not None else frame.to_numpy(), y, known)
        yield row


def book_rows(file, split):
    import numpy as np
    import scipy.sparse as sp

    from mercer import FewLabelClassifier

    data = np.load(file)
    if "X" in data:
        X = data["X"].astype(float)
    else:
        X = sp.csr_matrix((data["X_data"], data["X_indices"], data["X_indptr"]), shape=data["X_shape"]).astype(float)
    y = np.char.add("class ", data["y"].ravel().astype(str))
    for number in (10, 100):
        known = np.asarray(data[f"labeled_{number}"][split])
        model = FewLabelClassifier().fit(X, masked(y, known))
        yield facts("book", file.stem[4:], split, number, model, y, known)


def labeled(rng, y, number):
    """Rows drawn at random, the first two of different classes."""
    import numpy as np

    order = rng.permutation(len(y))
    other = next(i for i in range(1, len(order)) if y[order[i]] != y[order[0]])
    return np.concatenate([order[:1], order[other : other + 1], np.delete(order, [0, other])])[:number]


def masked(y, known):
    import numpy as np

    given = np.full(len(y), None, dtype=object)
    given[known] = y[known]
    return given


def facts(part, name, seed, number, model, y, known):
    """One draw in numbers."""
    import numpy as np

    rest = np.setdiff1d(np.arange(len(y)), known)
    right = model.transduction_[rest] == y[rest]
    found = model.estimate_
    sets = model.training_sets(0.9)[rest]
    place = {c: i for i, c in enumerate(model.classes_.tolist())}
    code = np.array([place.get(c, -1) for c in y[rest]])
    inside = np.where(code >= 0, sets[np.arange(len(rest)), code], found.unseen_in_set(0.9))
    confidence = model.confidence_[rest]
    bins = np.minimum((confidence * 10).astype(int), 9)
    table = np.array([[np.sum(bins == b), confidence[bins == b].sum(), right[bins == b].sum()] for b in range(10)])
    return {
        "part": part,
        "set": name,
        "seed": seed,
        "labels": number,
        "classes": len(np.unique(y)),
        "mercer": 100 * (1 - right.mean()),
        "estimate": 100 * found.accuracy.value,
        "low": 100 * found.accuracy.low,
        "high": 100 * found.accuracy.high,
        "truth": 50.0 if part == "coins" else 100 * right.mean(),
        "drawn": found.n_drawn,
        "inside": 100 * inside.mean(),
        "size": float(sets.sum(axis=1).mean()),
        "bins": table,
    }


def peers(X, y, known):
    """Errors of scikit-learn's classifiers on the same encoded rows and labels."""
    import numpy as np
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
    from sklearn.svm import SVC

    X = StandardScaler().fit_transform(X)
    rest = np.setdiff1d(np.arange(len(y)), known)
    _, codes = np.unique(y, return_inverse=True)
    partly = np.full(len(y), -1)
    partly[known] = codes[known]
    models = {
        "svc": SVC(),
        "logistic": LogisticRegression(max_iter=1000),
        "random forest": RandomForestClassifier(200, random_state=0),
        "extra trees": ExtraTreesClassifier(200, random_state=0),
        "boosting": HistGradientBoostingClassifier(min_samples_leaf=2, random_state=0),
        "label spreading": LabelSpreading(kernel="knn"),
        "self-training": SelfTrainingClassifier(LogisticRegression(max_iter=1000)),
    }
    out = {}
    for name, model in models.items():
        unlabeled = name in ("label spreading", "self-training")
        fitted = model.fit(X, partly) if unlabeled else model.fit(X[known], codes[known])
        out[name] = 100 * float(np.mean(fitted.predict(X[rest]) != codes[rest]))
    return out


if __name__ == "__main__":
    main()
