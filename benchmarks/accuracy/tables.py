"""Errors on real tables from 20, 50 and 100 labels: our encoding next to skrub's, and the command next to the library.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.tables --data FOLDER [--seeds 3] [--jobs 16] [--out tables.md]

FOLDER holds CSV files whose column `class` has the labels. Of each at most 1,500 rows are drawn; the labels are drawn
at random with every class at least once; errors are over the unlabeled rows, in per cent, mean over the draws. The
same labels serve everybody:

* mercer: `FewLabelClassifier` on the data frame;
* svc, logistic, trees, boosting: SVC, logistic regression, extra trees and histogram gradient boosting (with leaves of
  at least 2 rows) of scikit-learn on skrub's `TableVectorizer` followed by `StandardScaler`, if skrub is installed;
* the same four on our `TableEncoder`.

The last column counts on which answers `mercer label` and the library agree, and whether their matrices are equal.
"""

import argparse
import os
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.accuracy.draws import drawn, labeled
from benchmarks.harness import thread_variables
from mercer import FewLabelClassifier
from mercer.cli.console import Console
from mercer.cli.labeling import label
from mercer.inputs.tables import TableEncoder, read_table
from mercer.jobs.options import ReadOptions
from mercer.jobs.tables import encode

LABELS = (20, 50, 100)
PEERS = {
    "svc": SVC,
    "logistic": lambda: LogisticRegression(max_iter=1000),
    "trees": lambda: ExtraTreesClassifier(200, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(min_samples_leaf=2, random_state=0),
}


def main():
    """Print the table of errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of CSV files with a column class")
    parser.add_argument("--seeds", type=int, default=3, help="draws of labels (default %(default)s)")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--peers-only", action="store_true", help="without FewLabelClassifier, which takes the time")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each (default %(default)s)")
    parser.add_argument("--out", type=Path, help="file to write the table to as well")
    options = parser.parse_args()
    os.environ.update(thread_variables(1))
    rivals = [f"{name}+skrub" for name in PEERS] if _skrub() else []
    names = [*([] if options.peers_only else ["mercer"]), *(f"{name}+ours" for name in PEERS), *rivals]
    lines = [
        " ".join([f"{'table':14}{'labels':>7}", *(f"{name:>15}" for name in names), " seconds  command = library"])
    ]
    print(lines[0])
    found: dict = {name: {n: [] for n in LABELS} for name in names}
    paths = [path for path in sorted(options.data.glob("*.csv")) if not options.only or path.stem in options.only]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for path, (errors, agree, seconds) in zip(paths, pool.map(partial(row, names, options.seeds), paths)):
            for n in LABELS:
                for name in names:
                    found[name][n].append(errors[name][n])
                last = f"{seconds:8.0f}  {agree}" if n == LABELS[-1] else ""
                lines.append(" ".join([f"{path.stem:14}{n:7}", *(f"{errors[name][n]:15.1f}" for name in names), last]))
                print(lines[-1], flush=True)
    means = {n: [f"{np.mean(found[name][n]):15.1f}" for name in names] for n in LABELS}
    every = np.array([[error for n in LABELS for error in found[name][n]] for name in names])
    ranks = every.argsort(axis=0).argsort(axis=0).mean(axis=1) + 1
    end = [" ".join([f"{'mean':14}{n:7}", *means[n]]) for n in LABELS]
    end.append(" ".join([f"{'mean':14}{'all':>7}", *(f"{mean:15.1f}" for mean in every.mean(axis=1))]))
    end.append(" ".join([f"{'rank':14}{'all':>7}", *(f"{rank:15.2f}" for rank in ranks)]))
    if not options.peers_only:
        gaps = every[0] - every[1:].min(axis=0)  # from the best of the others, chosen afterwards
        end.append(
            f"Compared with the best of the others in each row: {np.sum(gaps < -1)} better by more than a point, "
            f"{np.sum(np.abs(gaps) <= 1)} within a point, {np.sum(gaps > 1)} worse."
        )
    print("\n".join(end))
    if options.out:
        options.out.write_text("\n".join([*lines, *end]) + "\n")


def row(names, seeds, path):
    """(errors, agreement of command and library, seconds) of one table."""
    warnings.filterwarnings("ignore")
    begun = time.perf_counter()
    frame, y = drawn(path)
    errors = measured(frame, y, names, seeds)
    return errors, agreement(frame, y), time.perf_counter() - begun


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
            rows = labeled(y, n, seed)
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
    """How many predictions of `mercer label` are those of the library, and whether the matrices are equal."""
    given = np.where(np.isin(np.arange(len(y)), labeled(y, 50, 0)), y, "")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.assign(target=given).to_csv(path, index=False)
        X = encode(read_table(path), ["target"], ReadOptions())[1]
        same = "equal" if np.array_equal(X, TableEncoder().fit_transform(frame)) else "different"
        marks = {"missing": [""]}  # a class may be called -1
        [(by_command, _)] = label(Console(quiet=True), path, ["target"], method="lssvm", **marks)
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
