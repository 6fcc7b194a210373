"""Accuracy when a few columns decide: FewLabelClassifier with and without boosting and majority; boosting and forests.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.decisive --data DIR [--draws 8] [--jobs 16] [--out decisive.md]
                                                             [--only made] [--no-peers] [--minutes 8] [--quick]
    python -m benchmarks.accuracy.decisive --read DRAWS.csv [--out decisive.md]

Tables: those of `benchmarks.accuracy.made_tables`, a new one for each draw, and the CSV files in DIR/tables (or in DIR)
whose column `class` has the labels, at most 1,500 rows of each. `--only made` needs no DIR. `--read` prints the page of
draws that were measured before and writes no draws; it may be repeated. Labels are drawn at random with every class at
least once: 10, 20, 50 and 100. The accuracy is over the unlabeled rows, in percent, the mean over the draws.

* after, before: `FewLabelClassifier` with its defaults, and without the methods "boosting" and "majority";
* boosting: the better, in the mean over the draws of a table, of scikit-learn's `HistGradientBoostingClassifier` (with
  leaves of at least 2 rows, for its default of 20 cannot learn from 20 labels) and `GradientBoostingClassifier` (100
  rounds; with more than 10 classes 1,000 trees, for they take a tree per class and round);
* forest: the better of its `RandomForestClassifier` on one column per value of a category and on one per column;
* majority: the class that is most frequent among all rows.

Each row ends with the gap between mercer and the better of boosting and forest; ``!`` marks gaps below -3 points. With
--minutes no further draw is begun after so many minutes, and the page has the draws that are complete.
"""

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import arguments, machine, need_data, thread_variables

LABELS = (10, 20, 50, 100)
NEW = ("boosting", "majority")
PEERS = ("boosting: histograms", "boosting: exact", "forest: values", "forest: columns")
ROUNDS, MOST_TREES = 100, 1000  # of exact boosting
NEAR, ENOUGH = 3, 5  # points; draws
TITLES = {"made": "Made tables", "table": "Development tables"}
INTRODUCTION = """Command: `{}`.
Accuracy on the unlabeled rows in percent, the mean over the draws.

| column | what it is |
|---|---|
| before | `FewLabelClassifier` without the methods "boosting" and "majority" |
| after | `FewLabelClassifier` with its defaults |
| boosting | the better of `HistGradientBoostingClassifier` and `GradientBoostingClassifier` |
| forest | the better of two settings of `RandomForestClassifier` |
| majority | the most frequent class of the table |
| gap | after minus the better of boosting and forest, the best of four models chosen afterwards |

`!` marks gaps below -3 points."""


def main() -> None:
    """Run the draws, or read them, and print the tables."""
    import pandas as pd

    options = arguments(
        __doc__,
        data="optional",
        draws={"type": int, "default": 5, "help": "draws of the labels (default %(default)s)"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
        only={"choices": ["made", "tables"], "help": "one kind of tables"},
        no_peers={"action": "store_true", "help": "without scikit-learn's models"},
        minutes={"type": float, "help": "begin no draw after so many minutes"},
        read={"type": Path, "action": "append", "default": [], "help": "draws of an earlier run; nothing is run"},
        out={"type": Path, "help": "file to write the page to; the draws go to the same name with .csv"},
    )
    if options.only != "made" and not options.read:
        need_data(options)
    if options.read:
        text = page(pd.concat([pd.read_csv(path) for path in options.read]))
        if options.out:
            options.out.write_text(text + "\n")
        print(text)
        return
    os.environ.update(thread_variables(1))
    rows = []
    for found in done(list(tasks_of(options)), options.jobs, options.minutes):
        rows += found
        if options.out:
            write(rows, options.out)
    print(write(rows, options.out))


def done(tasks: list[tuple], jobs: int, minutes: float | None) -> Iterator[list[dict]]:
    """What `measured` gives for each task, as they are finished; none is begun after so many minutes."""
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
    from multiprocessing import get_context

    end = time.monotonic() + 60 * (minutes or float("inf"))
    waiting, running = iter(tasks), set()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        while True:
            while len(running) < jobs and time.monotonic() < end and (task := next(waiting, None)) is not None:
                running.add(pool.submit(measured, task))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for one in finished:
                yield one.result()


def write(rows: list[dict], out: Path | None) -> str:
    """The page, which is written too, with the draws, if there is a file for it."""
    import pandas as pd

    frame = pd.DataFrame(rows).sort_values(["kind", "table", "draw", "labels"])
    text = page(frame)
    if out:
        out.write_text(text + "\n")
        frame.to_csv(out.with_suffix(".csv"), index=False, float_format="%.4f")
    return text


def tasks_of(options: Any) -> Iterator[tuple]:
    """(kind, name, file, draw, whether peers run), draw after draw."""
    from benchmarks.accuracy.made_tables import TABLES

    draws = range(1 if options.quick else options.draws)
    files = []
    if options.only != "made":
        folder = options.data / "tables" if (options.data / "tables").is_dir() else options.data
        files = sorted(folder.glob("*.csv"))
    names = list(TABLES) if options.only != "tables" else []
    if options.quick:
        files, names = files[:2], names[:2]
    for draw in draws:
        yield from (("table", file.stem, file, draw, not options.no_peers) for file in files)
        yield from (("made", name, None, draw, not options.no_peers) for name in names)


def measured(task: tuple) -> list[dict]:
    """[{table, labels, draw, name of a model: accuracy}] of one table and draw, for all numbers of labels."""
    import numpy as np

    from benchmarks.accuracy.draws import drawn, labeled
    from benchmarks.accuracy.made_tables import TABLES
    from mercer import FewLabelClassifier
    from mercer.few_label import catalog

    warnings.filterwarnings("ignore")
    kind, name, file, draw, peers = task
    X, y = TABLES[name](draw) if kind == "made" else drawn(file)
    ours: dict = {"after": None, "before": None}
    whole = catalog.CATALOG
    of = {"after": whole, "before": tuple(method for method in whole if method.name not in NEW)}
    FewLabelClassifier().fit(X[:60], [0, 1, 2] + 57 * [-1])  # loops are compiled before time is taken
    found = []
    for n in LABELS:
        if n < len(np.unique(y)):
            continue
        rows = labeled(y, n, draw)
        hidden = np.setdiff1d(np.arange(len(y)), rows)
        row = {"kind": kind, "table": name, "labels": n, "draw": draw}
        given = np.full(len(y), None, dtype=object)
        given[rows] = y[rows]
        for one, model in list(ours.items())[:: 1 if draw % 2 else -1]:
            begun, catalog.CATALOG = time.process_time(), of[one]
            ours[one] = FewLabelClassifier().fit(X, given) if model is None else model.relabel(given)
            row[f"{one} seconds"] = time.process_time() - begun
            P, seen = ours[one].probabilities_[hidden], np.searchsorted(ours[one].classes_, y[hidden])
            row[one] = 100 * np.mean(P.argmax(axis=1) == seen)
            row[f"{one} loss"] = -np.mean(np.log(P[np.arange(len(P)), seen]))
        catalog.CATALOG = whole
        for one, answers in _peers(X, y, rows, hidden) if peers else ():
            row[one] = 100 * np.mean(answers == y[hidden])
        row["majority"] = 100 * np.unique(y[hidden], return_counts=True)[1].max() / len(hidden)
        found.append(row)
    return found


def _peers(X: Any, y: Any, rows: Any, hidden: Any) -> Iterator[tuple[str, Any]]:
    """Pairs of (name, answers to the hidden rows) of scikit-learn's models."""
    import pandas as pd
    from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier

    words = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    codes = X.assign(**{name: X[name].astype("category").cat.codes for name in words}).fillna(-1)
    values = pd.get_dummies(X, columns=words).fillna(-1)
    few = [name for name in words if X[name].nunique() <= 255]
    rounds = min(ROUNDS, MOST_TREES // len(set(y[rows])))
    models = (
        (HistGradientBoostingClassifier(min_samples_leaf=2, categorical_features=few or None, random_state=0), codes),
        (GradientBoostingClassifier(n_estimators=rounds, random_state=0), codes),
        (RandomForestClassifier(200, random_state=0), values),
        (RandomForestClassifier(200, random_state=0), codes),
    )
    for name, (model, table) in zip(PEERS, models):
        yield name, model.fit(table.iloc[rows], y[rows]).predict(table.iloc[hidden])


def page(frame: Any) -> str:
    """The results as tables in Markdown."""
    has = PEERS[0] in frame
    mean = means(frame)
    shown = ["before", "after", *(["boosting", "forest"] if has else []), "majority", *(["gap"] if has else [])]
    lines = ["# Tables in which a few columns decide", "", INTRODUCTION.format(command(frame)), ""]
    for kind in mean["kind"].unique():
        own = mean[mean["kind"] == kind]
        lines += [f"## {TITLES[kind]}", "", draws_of(frame[frame["kind"] == kind]), ""]
        lines += ["| table | labels | " + " | ".join(shown) + " |", "|---" * (2 + len(shown)) + "|"]
        for _, row in own.iterrows():
            cells = [f"{row[name]:.1f}" for name in shown]
            mark = " !" if has and row["gap"] < -NEAR else ""
            lines.append(f"| {row['table']} | {row['labels']} | " + " | ".join(cells) + f"{mark} |")
        for n in LABELS:
            some = own[own["labels"] == n]
            cells = [f"{some[name].mean():.1f}" for name in shown]
            lines.append(f"| mean | {n} | " + " | ".join(cells) + " |")
        lines += ["", *(sides(own) if has else []), changes(own)]
        first = [_seconds(frame, kind, name, 0) for name in ("before", "after")]
        later = [_seconds(frame, kind, name, -1) for name in ("before", "after")]
        lines.append(
            f"The first fit takes {first[0]:.2f} CPU seconds before and {first[1]:.2f} after. Other labels for the "
            f"same rows take {later[0]:.2f} and {later[1]:.2f}."
        )
        lines.append("")
    return "\n".join([*lines, f"Machine: {machine()}."])


def draws_of(frame: Any) -> str:
    """How many draws each table has, and what can be read from so few."""
    number = frame.groupby(["table", "labels"])["draw"].nunique()
    least, most = number.min(), number.max()
    said = f"Each table has {least} draws." if least == most else f"Each table has {least} to {most} draws."
    few = f" With fewer than {ENOUGH} draws a single row depends on the draw, and the means over all tables less so."
    said = said.replace(" 1 draws", " 1 draw")
    return said + (few if least < ENOUGH else "")


def means(frame: Any) -> Any:
    """The mean of each table and number of labels over the draws, with the better of the peers of a kind."""
    mean = frame.groupby(["kind", "table", "labels"], sort=True).mean(numeric_only=True).reset_index()
    if PEERS[0] in frame:
        mean["boosting"] = mean[list(PEERS[:2])].max(axis=1)
        mean["forest"] = mean[list(PEERS[2:])].max(axis=1)
        mean["gap"] = mean["after"] - mean[["boosting", "forest"]].max(axis=1)
    return mean


def command(frame: Any) -> str:
    """What measured the draws."""
    kinds = frame["kind"].unique()
    said = "--only made" if "table" not in kinds else "--data DIR" + (" --only tables" if len(kinds) == 1 else "")
    return f"python -m benchmarks.accuracy.decisive {said} --draws {frame['draw'].nunique()}"


def sides(mean: Any) -> list[str]:
    """For each number of labels, on how many tables mercer is ahead of the better peer, level with it and behind."""
    found = [
        f"| labels | ahead by more than {NEAR} points | within {NEAR} | behind | lowest | highest |",
        "|---" * 6 + "|",
    ]
    for n in LABELS:
        gap = mean[mean["labels"] == n].set_index("table")["gap"].sort_values()
        if len(gap):
            counts = (gap > NEAR).sum(), (gap.abs() <= NEAR).sum(), (gap < -NEAR).sum()
            ends = (f"{gap.index[i]} {gap.iloc[i]:+.1f}" for i in (0, -1))
            found.append(f"| {n} | " + " | ".join([*map(str, counts), *ends]) + " |")
    return [*found, ""]


def changes(mean: Any) -> str:
    """What boosting and the majority among the candidates change."""
    change = mean["after"] - mean["before"]
    return (
        f"With boosting and majority better by more than 1 point in {(change > 1).sum()} rows, worse in "
        f"{(change < -1).sum()}, within 1 point in {(change.abs() <= 1).sum()}.\nLog loss "
        f"{mean['before loss'].mean():.3f} before, {mean['after loss'].mean():.3f} after."
    )


def _seconds(frame: Any, kind: str, name: str, place: int) -> float:
    """Median over the tables and draws of the CPU seconds of the first fit (place 0) or the last (-1)."""
    own = frame[frame["kind"] == kind].groupby(["table", "draw"])[f"{name} seconds"]
    return own.nth(place).median()


if __name__ == "__main__":
    main()
