"""Errors on real tables from 20, 50 and 100 labels: our encoding beside skrub's, and the command beside the library.

    python -m benchmarks.accuracy.tables --data FOLDER [--seeds 3]

FOLDER holds CSV files whose column `class` has the labels. Of each at most 1 500 rows are drawn; the labels are drawn
at random with every class at least once; errors are over the unlabelled rows, in per cent, mean over the draws. The
same labels serve everybody:

* mercer: `FewLabelClassifier` on the data frame;
* svc, logistic, trees: SVC, logistic regression and extra trees of scikit-learn, with their defaults, on skrub's
  `TableVectorizer` followed by `StandardScaler` (left out where skrub is not installed);
* the same three on our `TableEncoder`.

The last column counts on which answers `mercer label` and the library agree, and whether their matrices are equal.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer import FewLabelClassifier
from mercer.cli.labelling import label
from mercer.cli.screen import Screen
from mercer.inputs.tables import TableEncoder, read_table
from mercer.jobs.sources import Reading, matrix

ROWS = 1500
LABELS = (20, 50, 100)
PEERS = {
    "svc": SVC,
    "logistic": lambda: LogisticRegression(max_iter=1000),
    "trees": lambda: ExtraTreesClassifier(200, random_state=0),
}


def main():
    """Print the table of errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of CSV files with a column class")
    parser.add_argument("--seeds", type=int, default=3, help="draws of labels (default %(default)s)")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--peers-only", action="store_true", help="without FewLabelClassifier, which takes the time")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    rivals = [f"{name}+skrub" for name in PEERS] if _skrub() else []
    names = [*([] if options.peers_only else ["mercer"]), *(f"{name}+ours" for name in PEERS), *rivals]
    print(f"{'table':14}{'labels':>7}", *(f"{name:>15}" for name in names), f"{'seconds':>8}  command = library")
    found: dict = {name: {n: [] for n in LABELS} for name in names}
    for path in sorted(options.data.glob("*.csv")):
        if options.only and path.stem not in options.only:
            continue
        begun = time.perf_counter()
        frame, y = drawn(path)
        errors = measured(frame, y, names, options.seeds)
        agree = agreement(frame, y)
        for n in LABELS:
            for name in names:
                found[name][n].append(errors[name][n])
            last = f"{time.perf_counter() - begun:8.0f}  {agree}" if n == LABELS[-1] else ""
            print(f"{path.stem:14}{n:7}", *(f"{errors[name][n]:15.1f}" for name in names), last, flush=True)
    for n in LABELS:
        print(f"{'mean':14}{n:7}", *(f"{np.mean(found[name][n]):15.1f}" for name in names))
    every = np.array([[error for n in LABELS for error in found[name][n]] for name in names])
    ranks = every.argsort(axis=0).argsort(axis=0).mean(axis=1) + 1
    print(f"{'mean':14}{'all':>7}", *(f"{mean:15.1f}" for mean in every.mean(axis=1)))
    print(f"{'rank':14}{'all':>7}", *(f"{rank:15.2f}" for rank in ranks))


def drawn(path):
    """At most 1 500 rows, and their classes as text."""
    frame = pd.read_csv(path)
    if len(frame) > ROWS:
        frame = frame.sample(ROWS, random_state=0).reset_index(drop=True)
    return frame.drop(columns="class"), frame["class"].astype(str).to_numpy()


def labelled(y, n, seed):
    """Rows with labels: one of each class, the others at random."""
    order = np.random.default_rng(seed).permutation(len(y))
    first = order[np.unique(y[order], return_index=True)[1]]
    rest = order[~np.isin(order, first)]
    return np.concatenate([first, rest[: max(n - len(first), 0)]])


def measured(frame, y, names, seeds):
    """{name: {labels: error in per cent}}."""
    matrices = {"ours": TableEncoder().fit_transform(frame)}
    if any(name.endswith("skrub") for name in names):
        from skrub import TableVectorizer

        matrices["skrub"] = make_pipeline(TableVectorizer(), StandardScaler()).fit_transform(frame)
    sums: dict = {name: dict.fromkeys(LABELS, 0.0) for name in names}
    model = None
    for n in LABELS:
        for seed in range(seeds):
            rows = labelled(y, n, seed)
            hidden = np.setdiff1d(np.arange(len(y)), rows)
            for name in names:
                if name == "mercer":
                    given = np.full(len(y), None, dtype=object)
                    given[rows] = y[rows]
                    fresh = model is None
                    model = FewLabelClassifier().fit(frame, given) if fresh else model.relabel(given)
                    answers = model.transduction_[hidden]
                else:
                    peer, _, encoding = name.partition("+")
                    X = matrices[encoding]
                    answers = PEERS[peer]().fit(X[rows], y[rows]).predict(X[hidden])
                sums[name][n] += 100 * np.mean(answers != y[hidden]) / seeds
    return sums


def agreement(frame, y):
    """How many answers of `mercer label` are those of the library, and whether the matrices are equal."""
    given = np.where(np.isin(np.arange(len(y)), labelled(y, 50, 0)), y, "")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.assign(target=given).to_csv(path, index=False)
        X = matrix(Screen(quiet=True), read_table(path), ["target"], Reading())[1]
        same = "equal" if np.array_equal(X, TableEncoder().fit_transform(frame)) else "different"
        marks = {"missing": [""]}  # a class may be called -1
        by_command = label(Screen(quiet=True), path, "target", method="lssvm", **marks)[0]
    by_library = FewLabelClassifier("lssvm", missing_label=["", None], random_state=0).fit(frame, given)
    equal = int(np.sum(by_command.probabilities_.max(axis=1) == by_library.probabilities_.max(axis=1)))
    return f"{equal} of {len(y)} answers, matrices {same}"


def _skrub():
    try:
        import skrub  # noqa: F401
    except ImportError:
        print("skrub is not installed: its columns are left out (pip install skrub).")
        return False
    return True


if __name__ == "__main__":
    main()
