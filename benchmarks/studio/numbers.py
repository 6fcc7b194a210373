"""Simulated annotators who type numbers: how often the certificate of `mercer studio` is true.

    python -m benchmarks.studio.numbers [--seeds 20] [--jobs 16] [--goal 0.8]

Each run draws a table of at most 400 rows and labels it as the page of `mercer studio` requests, four rows at a time,
with the true numbers. The tolerance is a part of the standard deviation of the numbers, and it is fixed beforehand.
After every four labels the run looks at the certificate. It stops when the lower end of the interval reaches the goal,
or at 240 labels. The claim is true if at least this fraction of the predictions for rows without a label is within the
tolerance. Writes benchmarks/results/studio_numbers.{csv,md}.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_diabetes, make_friedman1

from benchmarks.harness import arguments, machine, markdown, publish, write_csv
from mercer import FewLabelRegressor, suggest
from mercer.studio import number_answers
from mercer.studio.task import LearnerTask

ROWS, BATCH, MOST = 400, 4, 240
SETS = {"diabetes": (0.6, 1.0), "friedman": (0.3, 0.6), "prices": (0.2, 0.4)}  # tolerances, in standard deviations


def table(name, seed):
    """(rows, numbers) of a data set."""
    draw = np.random.default_rng(seed)
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    elif name == "friedman":
        X, y = make_friedman1(ROWS, 8, noise=1.0, random_state=seed)
    else:  # errors grow with the number
        area, city, year = draw.gamma(6, 15, ROWS) + 25, draw.integers(0, 4, ROWS), draw.uniform(0, 1, ROWS)
        y = 3 * area * np.array([1.0, 0.8, 1.6, 1.1])[city] * (0.8 + 0.4 * year) * np.exp(draw.normal(0, 0.05, ROWS))
        X = np.column_stack([area / area.std(), np.eye(4)[city], 3 * year])
    rows = draw.permutation(len(y))[:ROWS]
    return X[rows], y[rows]


def run(name, part, seed, goal):
    """One row of results."""
    X, y = table(name, seed)
    tolerance, names = part * float(y.std()), [str(row) for row in range(len(y))]
    prepared = FewLabelRegressor(time_budget=20.0, random_state=0).prepare(X)
    coverage = suggest(prepared, 60).rows.tolist()
    order = np.random.default_rng([seed, 2]).permutation(len(y)).tolist()
    rows, drawn, model, reached = [], [], None, False
    while len(rows) < MOST and not reached:
        task = task_of(rows, drawn, order, y, tolerance, goal)
        items = number_answers.queue_of(model, task, coverage, names)["items"][:BATCH]
        rows += [one["row"] for one in items]
        drawn += [one["via"] == "random" for one in items]
        if len(rows) < 5:
            continue
        model = prepared.taught(rows, y[rows], drawn=np.array(drawn), tier="fast")
        reached = number_answers.checks_of(model, task_of(rows, drawn, order, y, tolerance, goal)).reached(goal)
    others = np.setdiff1d(np.arange(len(y)), rows)
    within = float(np.mean(np.abs(model.predicted_[others] - y[others]) <= tolerance))
    found = {"set": name, "part": part, "seed": seed, "labels": len(rows), "checks": sum(drawn)}
    return found | {"certified": int(reached), "within": round(within, 4)}


def task_of(rows, drawn, order, y, tolerance, goal):
    """The labeling of the annotator, as the page sends it."""
    ids, left = [float(y[row]) for row in rows], [row for row in order if row not in set(rows)]
    checks = [(row, float(y[row]), None) for row, check in zip(rows, drawn) if check]
    places = [len(rows), rows, ids, drawn, rows, [], checks, 0, left, {}, goal, 0.25, sum(drawn), len(rows)]
    return LearnerTask(*places, numeric=True, tolerance=tolerance)


def main():
    options = arguments(
        __doc__,
        seeds={"type": int, "default": 20, "help": "runs per data set and tolerance (default %(default)s)"},
        goal={"type": float, "default": 0.8, "help": "fraction to certify (default %(default)s)"},
        jobs={"type": int, "default": 2, "help": "processes (default %(default)s)"},
    )
    seeds = range(2 if options.quick else options.seeds)
    jobs = [(name, part, seed, options.goal) for seed in seeds for name, parts in SETS.items() for part in parts]
    rows = Parallel(options.jobs, verbose=1)(delayed(run)(*job) for job in jobs)
    if not options.quick:
        write_csv("studio_numbers", rows)
    publish("studio_numbers", page(rows, options.goal), options.quick)


def page(rows, goal):
    """The results as a page."""
    lines = []
    for name, parts in SETS.items():
        for part in parts:
            some = [row for row in rows if (row["set"], row["part"]) == (name, part)]
            claims = [row for row in some if row["certified"]]
            lines.append(
                {
                    "data": name,
                    "tolerance (standard deviations)": part,
                    "certified": f"{len(claims)} of {len(some)}",
                    "labels to the certificate (median)": f"{np.median([row['labels'] for row in claims]):.0f}"
                    if claims
                    else "—",
                    "within the tolerance at the end (median)": f"{np.median([row['within'] for row in some]):.1%}",
                    "true claims": f"{sum(row['within'] >= goal for row in claims)} of {len(claims)}",
                }
            )
    claims = [row for row in rows if row["certified"]]
    true = sum(row["within"] >= goal for row in claims)
    share = f" ({true / len(claims):.1%})" if claims else ""
    text = f"{true} of {len(claims)} claims that at least {goal:.0%} are within the tolerance are true{share}."
    return f"# Simulated annotators of numbers\n\n{machine()}\n\n{markdown(lines)}\n\n{text}\n"


if __name__ == "__main__":
    main()
