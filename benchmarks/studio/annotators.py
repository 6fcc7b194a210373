"""Simulated annotators: how many labels until 90% right answers are certified, and how often the certificate is true.

    python -m benchmarks.studio.annotators --data DIR [--sets digits usps wdbc segment text] [--seeds 40] [--jobs 16]
                                           [--ways studio random] [--first 0]

Each run draws a table of at most 1,200 rows and labels it as the page of `mercer studio` requests: rows that help most,
mixed with rows drawn at random, four at a time, with the true labels. It looks at the certificate after every four
labels and stops when the lower end of the interval that is valid at every moment reaches 90%, or at 400 labels. Whether
this claim is true is seen from all other rows: the fraction of right answers for those without a label. Next to it, the
same with every row drawn at random, and with a fourth of them to the end (the fraction is not raised when only checks
are missing; only where --ways names it). Writes benchmarks/results/studio_annotators.{csv,md}; a run whose --first
seed is not 0 is added to the runs that are there.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from benchmarks.harness import arguments, machine, markdown, need_data, publish, read_csv, write_csv
from mercer import FewLabelClassifier, suggest
from mercer.advice.checks import Checks, next_rows, share_of_checks

ROWS, BATCH, MOST, GOAL, SHARE = 1200, 4, 400, 0.9, 0.25
SETS = ("digits", "usps", "wdbc", "segment", "text")
WAYS = ("studio", "a fourth", "random")


def table(folder, name, seed):
    """(rows, true classes) of a data set, at most 1,200 drawn at random."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, t = load_digits(return_X_y=True)
    elif name == "segment":
        from mercer.inputs.tables import TableEncoder, read_table

        frame = read_table(folder / "tables" / "segment.csv").frame
        t, frame = frame["class"].to_numpy().astype(str), frame.drop(columns="class")
        X = TableEncoder().fit_transform(frame)
    elif name == "text":
        file = np.load(folder / "ssl_text.npz")
        t = file["y"]
        X = sp.csr_matrix((file["X_data"], file["X_indices"], file["X_indptr"]), shape=file["X_shape"])
        X = X.astype(np.float64)
    else:
        file = np.load(folder / f"{name}.npz")
        X, t = (file["X_train"], file["y_train"]) if name == "usps" else (file["X"], file["y"])
        X = X.astype(np.float64)
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:ROWS]
    _names, codes = np.unique(t, return_inverse=True)
    return X[rows], codes[rows]


def run(folder, name, seed, ways):
    """One row of results for each way."""
    X, t = table(folder, name, seed)
    prepared = FewLabelClassifier(time_budget=20.0, missing_label=[], random_state=0).prepare(X)
    coverage = suggest(prepared, min(60, len(t) - 1)).rows.tolist()
    return [{"set": name, "seed": seed, "way": way} | session(prepared, coverage, t, seed, way) for way in ways]


def session(prepared, coverage, t, seed, way):
    """Label until the goal is certified."""
    order = np.random.default_rng([seed, 2]).permutation(len(t))
    rows, drawn, model, certified = [], [], None, False
    first = {}  # labels at which the goal was reached in truth
    while len(rows) < min(MOST, len(t) - BATCH):
        share = 1.0 if way == "random" else SHARE
        if model is not None and way == "studio":
            share = share_of_checks(Checks.of(model), share, GOAL)
        draw = [row for row in order.tolist() if row not in rows]
        found = next_rows(model, BATCH, draw, set(rows), share, sum(drawn), len(rows), coverage)
        rows += [row for row, _, _ in found]
        drawn += [random for _, random, _ in found]
        if len(np.unique(t[rows])) < 2:
            continue
        model = prepared.taught(rows, t[rows], drawn=np.array(drawn), tier="fast")
        others = np.setdiff1d(np.arange(len(t)), rows)
        right = float(np.mean(model.transduction_[others] == t[others]))
        if right >= GOAL:
            first.setdefault("reached", len(rows))
        if Checks.of(model).reached(GOAL):
            certified = True
            break
    full = model.taught([], [])
    return first | {
        "labels": len(rows),
        "checks": sum(drawn),
        "certified": int(certified),
        "right": round(right, 4),
        "right_full": round(float(np.mean(full.transduction_[others] == t[others])), 4),
        "low": round(Checks.of(model).rate.low, 4),
    }


def main():
    options = arguments(
        __doc__,
        data="optional",
        sets={"nargs": "*", "default": SETS, "help": "which data sets"},
        seeds={"type": int, "default": 40, "help": "runs per data set (default %(default)s)"},
        first={"type": int, "default": 0, "help": "the first seed (default %(default)s)"},
        ways={"nargs": "*", "default": ("studio", "random"), "choices": WAYS, "help": "how rows are chosen"},
        jobs={"type": int, "default": 2, "help": "processes (default %(default)s)"},
    )
    sets = [name for name in options.sets if name == "digits" or not options.quick]
    if set(sets) - {"digits"}:
        need_data(options)
    seeds = 2 if options.quick else options.seeds
    seeds = range(options.first, options.first + seeds)
    jobs = [(options.data, name, seed, options.ways) for seed in seeds for name in sets]
    found = Parallel(options.jobs, verbose=1)(delayed(run)(*job) for job in jobs)
    rows = [row for one in found for row in one]
    if options.first:
        rows = [_numbers(row) for row in read_csv("studio_annotators")] + rows
    if not options.quick:
        write_csv("studio_annotators", rows)
    publish("studio_annotators", page(rows), options.quick)


def page(rows):
    """The results as a page."""
    lines = []
    names = list(dict.fromkeys(row["set"] for row in rows))
    for name in names:
        for way in dict.fromkeys(row["way"] for row in rows):
            some = [row for row in rows if row["set"] == name and row["way"] == way]
            claims = [row for row in some if row["certified"]]
            labels = sorted(row["labels"] if row["certified"] else np.inf for row in some)
            reached = sorted(row.get("reached", np.inf) for row in some)
            lines.append(
                {
                    "data": name,
                    "way": way,
                    "labels to 90% (median)": _shown(reached[len(some) // 2]),
                    "labels to the certificate (median)": _shown(labels[len(some) // 2]),
                    "accuracy at the end (median)": f"{np.median([row['right'] for row in some]):.1%}",
                    "certified": f"{len(claims)} of {len(some)}",
                    "true claims": f"{sum(row['right'] >= GOAL for row in claims)} of {len(claims)}",
                    "of the full model": f"{sum(row['right_full'] >= GOAL for row in claims)} of {len(claims)}",
                }
            )
    claims = [row for row in rows if row["certified"] and row["way"] == "studio"]
    true = sum(row["right"] >= GOAL for row in claims)
    total = f"`mercer studio`: {true} of {len(claims)} stop claims are true" + (
        f" ({true / len(claims):.1%})." if claims else "."
    )
    without = [_without(name, [row for row in rows if row["set"] == name and row["way"] == "studio"]) for name in names]
    text = "\n".join([total, "", *filter(None, without)]).strip()
    return f"# Simulated annotators\n\n{machine()}\n\n{markdown(lines)}\n\n{text}\n"


def _without(name, rows):
    """Why runs on a data set end without a certificate, in words; "" if none does."""
    left = [row for row in rows if not row["certified"]]
    right = np.array([row["right"] for row in left])
    if not left:
        return ""
    if right.max() < GOAL:
        return (
            f"- On {name} none of {len(left)} runs reaches {GOAL:.0%} with {MOST} labels ({np.median(right):.1%} "
            f"of the other rows are correct in the median run, {right.max():.1%} in the best). No certificate would be "
            "true."
        )
    low = np.median([row["low"] for row in left])
    return (
        f"- {name}: {len(left)} of {len(rows)} runs end without a certificate at {MOST} labels, "
        f"{np.sum(right >= GOAL)} of them with {GOAL:.0%} reached ({np.median(right):.1%}). The certified fraction "
        f"is {low:.1%} (median), {100 * (GOAL - low):.1f} points short of the goal."
    )


def _numbers(row):
    """A row of the file; empty cells are left out."""
    return {key: cell if key in ("set", "way") else float(cell) for key, cell in row.items() if cell}


def _shown(number):
    return "—" if number == np.inf else f"{number:.0f}"


if __name__ == "__main__":
    main()
