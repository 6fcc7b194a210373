"""Outlier detection on public tables: accuracy, false alarms, answers, seconds.

    python -m benchmarks.accuracy.outliers --data DIR [--jobs 16] [--rows 500] [--every 1] [--keep FOLDER] [--quick]

DIR contains NPZ files with `A` (clean training rows), `B` (test rows) and `y` (non-zero: outlier). Two settings:
"clean" (fit on A, score B) and "own" (one table with 1, 5 or 10% outliers of its own). Writes
benchmarks/results/outliers.csv with a row for each table, setting and detector, and the page
benchmarks/results/outliers.md. If PyOD and torch are installed, its deep isolation forest (DIF) is among the peers.
The slow detectors (`SLOW`) run on every fourth table.
--keep FOLDER stores what each table gave, and a second run goes on from there.
--clean scores new rows only, with all rows of each table, by the default and the peers, and writes
benchmarks/results/outliers_clean.md. --quick takes 12 tables and 300 rows and writes nothing.
"""

import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.outlier_page import clean_page, page
from benchmarks.accuracy.outlier_peers import copod, deep_forest, ecod, forest, local, neighbor
from benchmarks.harness import arguments, machine, publish, write_csv
from mercer import RBF, SVDD, KernelDensityNovelty, KPCANovelty, OutlierDetector
from mercer.estimators.outlier_detector import CROWDS
from mercer.estimators.outlier_detector import DEFAULT as PARTS
from mercer.files import replacing

FRACTIONS = (0.01, 0.05, 0.10)
DEFAULT = "OutlierDetector()"
DEEP = "PyOD DIF"
SLOW = (DEEP, "SVDD()", "KPCANovelty()", "KPCANovelty(kernel=RBF('median'))")  # on every fourth table only


def ours(make):
    """Scores of new rows, or of the training rows by fits without them, by a detector of this library."""

    def scored(A, B=None):
        model = make().fit(A)
        if B is not None:
            return -model.score_samples(B)
        if isinstance(model, OutlierDetector):
            return -model.training_scores_
        within = np.argsort(np.argsort(-model.training_scores_)) / len(A)  # orders rows of equal probability
        return model.held_out_probability_ + 1e-6 * within

    return scored


METHODS = {
    DEFAULT: ours(lambda: OutlierDetector(random_state=0)),
    "SVDD()": ours(SVDD),
    "SVDD(0.05, kernel=RBF('median'))": ours(lambda: SVDD(0.05, kernel=RBF("median"))),
    "KPCANovelty()": ours(KPCANovelty),
    "KPCANovelty(kernel=RBF('median'))": ours(lambda: KPCANovelty(kernel=RBF("median"))),
    "KernelDensityNovelty('neighbor')": ours(lambda: KernelDensityNovelty("neighbor")),
    "KernelDensityNovelty('scott')": ours(lambda: KernelDensityNovelty("scott")),
    "scikit-learn IsolationForest(200)": forest,
    "scikit-learn LocalOutlierFactor(20)": local,
    "ECOD": ecod,
    "COPOD": copod,
    "KNN(5)": neighbor(5),
    "KNN(1)": neighbor(1),
    "KNN(50)": neighbor(50),
    **({DEEP: deep_forest} if find_spec("pyod") and find_spec("torch") else {}),
}


def rules(names):
    """{name: function of (n, K) surprises}: ways to combine the parts that were considered."""
    at = {name: k for k, name in enumerate(names)}
    residuals, nearest = ([k for name, k in at.items() if name.endswith(kind)] for kind in ("residual", "nearest"))
    crowds = [at["forest"], *(k for name, k in at.items() if name.endswith(CROWDS) and not name.startswith("normal"))]
    tenths = [at["forest"], *(k for name, k in at.items() if name.endswith("tenth"))]
    single = [at["tails"], at["forest"]]
    new = [*residuals, *nearest, *single]

    def power(T, p=4):
        return np.mean(T**p, axis=1) ** (1 / p)

    def within(T, weight=0.5, p=4):
        every = np.column_stack([power(T[:, new]), T[:, crowds]])
        return np.average(every**p, axis=1, weights=[weight] + [1.0] * len(crowds)) ** (1 / p)

    return {
        "power mean 4 of all but crowds (rule for new rows)": lambda T: power(T[:, new]),
        "power mean 4 of crowds and half of it (rule for training rows)": within,
        "power mean 4 of crowds": lambda T: power(T[:, crowds]),
        "power mean 4 of crowds and the rule for new rows": lambda T: within(T, 1.0),
        "mean of crowds and half of the rule for new rows": lambda T: within(T, p=1),
        "mean of forest and tenths, normal too": lambda T: T[:, tenths].mean(axis=1),
        "mean of all but crowds": lambda T: T[:, new].mean(axis=1),
        "maximum of all but crowds": lambda T: T[:, new].max(axis=1),
        "power mean 4 of residuals, tails and forest": lambda T: power(T[:, [*residuals, *single]]),
        "power mean 4 of nearest, tails and forest": lambda T: power(T[:, [*nearest, *single]]),
        "power mean 4 of residuals, nearest and tails": lambda T: power(T[:, new[:-1]]),
        "power mean 4 of residuals and tails": lambda T: power(T[:, [*residuals, at["tails"]]]),
        "power mean 4 of all parts": power,
        "half of each rule": lambda T: (power(T[:, new]) + within(T)) / 2,
        **{f"{name} alone": lambda T, k=k: T[:, k] for name, k in at.items()},
    }


def read(path, most):
    """(A, B, y) of a table: at most `most` rows of each, A's columns standardized."""
    stored, rng = np.load(path, allow_pickle=True), np.random.default_rng(1)
    A, B, y = stored["A"].astype(float), stored["B"].astype(float), stored["y"] != 0
    i, j = rng.permutation(len(A))[:most], rng.permutation(len(B))[:most]
    A, B, y = A[i], B[j], y[j]
    mean, spread = A.mean(axis=0), A.std(axis=0)
    spread[spread == 0] = 1.0
    return (A - mean) / spread, (B - mean) / spread, y


def own(A, B, y, fraction, most):
    """(X, y): one table with this fraction of outliers, columns standardized again; None if there are too few."""
    rng, ordinary, odd = np.random.default_rng(0), np.vstack([A, B[~y]]), B[y]
    count = min(len(odd), round(fraction * most))
    rest = min(len(ordinary), round(count * (1 - fraction) / fraction))
    count = min(count, round(rest * fraction / (1 - fraction)))
    if count < 5:
        return None
    rows = rng.choice(len(ordinary), rest, replace=False), rng.choice(len(odd), count, replace=False)
    X = np.vstack([ordinary[rows[0]], odd[rows[1]]])
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.arange(len(X)) >= rest


def measured(y, score):
    score = np.nan_to_num(score, posinf=1e300)
    return {"auroc": roc_auc_score(y, score), "ap": average_precision_score(y, score)}


def of_table(path, most, slow=True):
    """[dicts] with everything that is measured on one table. slow : by the slow detectors too."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        A, B, y = read(path, most)
        cases = [("clean", A, B, y)] if 0 < y.sum() < len(y) else []
        for fraction in FRACTIONS:
            table = own(A, B, y, fraction, most)
            cases += [] if table is None else [(f"own {fraction:.0%}", table[0], None, table[1])]
        found = []
        for setting, train, test, truth in cases:
            for name, scored in METHODS.items():
                if name in SLOW and not slow:
                    continue
                start = time.perf_counter()
                score = scored(train, test)
                taken = time.perf_counter() - start
                found.append({"kind": "detector", "setting": setting, "name": name, "seconds": taken})
                found[-1] |= measured(truth, score)
            model = OutlierDetector([*PARTS, "normal tenth"], random_state=0).fit(train)
            surprise = model.training_part_scores_ if test is None else model.part_scores(test)
            for name, rule in rules(model.parts_).items():
                found.append({"kind": "rule", "setting": setting, "name": name} | measured(truth, rule(surprise)))
        for count, value in after_answers(A, B, y, most).items():
            found.append({"kind": "answers", "setting": "own 10%", "name": count, "auroc": value})
        for name, value in false_alarms(path, most).items():
            found.append({"kind": "alarms", "setting": "clean", "name": name, "alarms": value})
    return [{"table": path.stem} | row for row in found]


def wanted(row, slow):
    """Whether a row is published. A folder of kept results may have slow detectors on more tables."""
    return slow or row["kind"] != "detector" or row["name"] not in SLOW


PEERS = ("KNN(1)", "KNN(5)", "scikit-learn LocalOutlierFactor(20)", "scikit-learn IsolationForest(200)", "ECOD")


def of_new_rows(path, most):
    """{detector: AUROC and AP} of the test rows of one table; empty if they have one class."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        A, B, y = read(path, most)
        if not 0 < y.sum() < len(y):
            return {}
        names = [name for name in (DEFAULT, *PEERS, DEEP) if name in METHODS]
        return {name: measured(y, METHODS[name](A, B)) for name in names}


def kept(path, most, folder, slow=True):
    """`of_table`, from the folder if it contains this table."""
    if folder is None:
        return of_table(path, most, slow)
    file = Path(folder) / f"{path.stem}_{most}.json"
    if not file.exists():
        Path(folder).mkdir(parents=True, exist_ok=True)
        with replacing(file) as (part,):
            part.write_text(json.dumps(of_table(path, most, slow)))
    return json.loads(file.read_text())


def false_alarms(path, most, asked=0.05):
    """{detector: fraction of held-out clean rows with p ≤ asked}, fitted on the other half of A."""
    makers = {"SVDD()": SVDD, "KPCANovelty()": KPCANovelty, "KernelDensityNovelty()": KernelDensityNovelty}
    A, _, _ = read(path, 2 * most)
    half = len(A) // 2
    found = {DEFAULT: np.mean(OutlierDetector(random_state=0).fit(A[:half]).p_values(A[half:]) <= asked)}
    for name, make in makers.items():
        found[name] = np.mean(make().fit(A[:half]).outlier_probability(A[half:]) >= 1 - asked)
    return found


def after_answers(A, B, y, most, counts=(0, 10, 20)):
    """{count: AUROC} on a table with 10% outliers, after answers for the rows with the highest scores.

    Rows that were answered are left out of the AUROC for every count, so that the counts are comparable.
    """
    table = own(A, B, y, 0.10, most)
    if table is None:
        return {}
    X, y = table
    model, answered, scores = OutlierDetector(random_state=0).fit(X), np.zeros(0, dtype=int), {}
    scores[0] = -model.training_scores_
    for count in counts[1:]:
        order = np.argsort(model.training_scores_)
        new = order[~np.isin(order, answered)][: count - len(answered)]
        answered = np.append(answered, new)
        model.teach(answered, np.where(y[answered], -1, 1))
        scores[count] = -model.training_scores_
    rest = np.setdiff1d(np.arange(len(y)), answered)
    if not 0 < y[rest].sum() < len(rest):
        return {}
    return {count: roc_auc_score(y[rest], score[rest]) for count, score in scores.items()}


def main():
    more = {
        "rows": {"type": int, "default": 500, "help": "rows of A and of B that are read at most"},
        "jobs": {"type": int, "default": 1, "help": "processes"},
        "every": {"type": int, "default": 1, "help": "take every so many tables, by name"},
        "keep": {"default": None, "help": "folder for the results of single tables"},
        "clean": {"action": "store_true", "help": "new rows only, all rows of each table"},
    }
    options = arguments(__doc__, data="required", **more)
    tables = sorted(Path(options.data).glob("*.npz"))
    tables, most = (tables[::13][:12], 300) if options.quick else (tables[:: options.every], options.rows)
    if options.clean:
        with ProcessPoolExecutor(options.jobs) as pool:
            some = list(pool.map(of_new_rows, tables, [300 if options.quick else 10**6] * len(tables)))
        publish("outliers_clean", clean_page([one for one in some if one], machine()), options.quick)
        return
    start = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        slow = [i % 4 == 0 for i in range(len(tables))]
        every = pool.map(kept, tables, [most] * len(tables), [options.keep] * len(tables), slow)
        found = [row for rows, too in zip(every, slow) for row in rows if wanted(row, too)]
    rounded = [{key: round(v, 5) if isinstance(v, float) else v for key, v in row.items()} for row in found]
    if not options.quick:
        write_csv("outliers", rounded)
    words = f"{machine()}, {options.jobs} process{'es' if options.jobs > 1 else ''}"
    words += "" if options.keep else f", {time.perf_counter() - start:.0f} s for the whole run"
    command = f"--jobs {options.jobs} --rows {most}" + (f" --every {options.every}" if options.every > 1 else "")
    publish("outliers", page(found, list(METHODS), most, command, words), options.quick)


if __name__ == "__main__":
    main()
