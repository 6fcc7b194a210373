"""Gieseke, Kramer, Airola, Pahikkala (2012), "Efficient recurrent local search strategies for semi- and unsupervised
regularized least-squares classification".

    python -m benchmarks.papers.gieseke --data DIR [--only table2|table3|figures|report] [--sets NAME ...]
        [--repeats 10] [--resume] [--jobs N] [--quick]

Tables 2 (parameters chosen on the test set: the "non-realistic" scenario) and 3 (chosen by five folds over the labels),
and Figures 6 to 10 as docs/img/gieseke_fig*.png. Printed and written to benchmarks/results/gieseke.md, with the numbers
in gieseke_table2.csv and gieseke_table3.csv: mean ± deviation over --repeats random partitions, the paper's, and the
difference in standard errors. UniverSVM is quoted. About 20 minutes on one core; --only makes one part, and the report
from all parts.

Protocol: linear kernel, pixels in [0, 1], λ ∈ 2^(−10 … 10), λ' ∈ {0.1, 1}, C ∈ 2^(−10 … 10); ε = 0.1 and the share of
the whole data set (Table 2), ε = 0.2 and the share among the labels (Table 3). To compare parameters the best of
10 round-robin searches counts; the final model takes the best of 20 tabu searches. The paper has evolutions, 10 and 50:
speed/label_search.py shows that ours reach the same or a lower F. Of tied parameters the first is
taken in Table 2 (every one has the same test error) and the middle one in Table 3.

Where the text leaves things open: COIL's objects carry the numbers of the collection's own files. That these are the
numbers of the paper's figure 4 was checked by looking at the images: 3, 6 and 19 are the three cars and 5 and 9 the two
medicine boxes, so that three of its four pairs are the look-alikes one would pick; 18 is a cup. A partition whose
labels do not hold both classes twice is drawn again (the folds need it). MNIST takes the first 1 000 images of the two
digits. The Gaussian sets are drawn anew for every partition, and their labels in equal numbers from both classes:
with labels drawn at random LIBSVM's offset suffers (20 and 11 % where the paper has 13.0 and 5.8), with equal numbers
it agrees.
"""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed

from benchmarks.harness import arguments, machine, need_data, publish, read_csv, write_csv
from benchmarks.papers.gieseke_data import load, paper_rows, rotated, split
from benchmarks.papers.gieseke_models import error, rlsc_path, s2rlsc_path, svm_path

NOTES = """## What differs, and why

- COIL, USPS and MNIST agree with the paper within the spread of ten partitions: in Table 2 every cell, in Table 3 all
  but three of 84, of which two are better than the paper's and one (S²RLSC on USPS(2,7), 34 labels) is worse by 2.6
  standard errors. That many are to be expected from chance.
- Gaussian2C and Gaussian4C, S²RLSC, Table 2: the paper has 0.8 and 1.0 % where we have about 2. With all 250 training
  labels known the same model has 1.9 and 1.8 % (last rows below; 0.6 % is the least any classifier can have), so no
  labelling of the training rows can be expected to reach 0.8: the paper's sets must have been a little easier than
  their description. RLSC and LIBSVM agree on them.
- Gaussian4C with 25 labels is won or lost by the clustering that is found (the paper's own deviation is 22 points).
- Table 3 with l = 10 to 17: the folds leave two or three labels to test with, and so choose almost at random; the
  deviations are as large as the paper's. From 20 labels on the semi-supervised model is ahead nearly everywhere.
"""
METHODS = ("RLSC", "LIBSVM", "UniverSVM", "S²RLSC")


def folds(y, labelled, number=5):
    """(kept, withheld) positions, the classes spread evenly over the folds."""
    order = labelled[np.argsort(y[labelled], kind="stable")]
    return [(np.setdiff1d(labelled, order[f::number]), order[f::number]) for f in range(min(number, len(order)))]


def best_key(errors, middle):
    """The parameters of least error; of tied ones the first or the middle one."""
    least = min(errors.values())
    tied = [key for key, value in errors.items() if value <= least + 1e-9]
    return tied[(len(tied) - 1) // 2] if middle else tied[0]


def one_partition(X, y, l, u, t, seed, realistic, equal):
    """Test error of RLSC, LIBSVM and S²RLSC on one random partition, in percent."""
    labelled, unlabelled, test = split(y, l, u, t, seed, equal)
    Z = rotated(X, np.r_[labelled, unlabelled])
    share = y[labelled].mean() if realistic else y.mean()
    slack = 0.2 if realistic else 0.1
    quick = {"search": "round_robin", "n_restarts": 10, "random_state": seed}
    paths = {"RLSC": rlsc_path, "LIBSVM": svm_path}
    errors = {}
    if realistic:
        trials = {name: [] for name in (*paths, "S²RLSC")}
        for kept, withheld in folds(y, labelled):
            for name, path in paths.items():
                trials[name].append({k: error(m, Z[withheld], y[withheld]) for k, m in path(Z, y, kept).items()})
            own = y[kept].mean()
            found = s2rlsc_path(Z, y, kept, unlabelled, own, slack, **quick)
            trials["S²RLSC"].append({k: error(w, Z[withheld], y[withheld]) for k, w in found.items()})
        scores = {name: {k: np.mean([one[k] for one in all_]) for k in all_[0]} for name, all_ in trials.items()}
    else:
        found = s2rlsc_path(Z, y, labelled, unlabelled, share, slack, **quick)
        scores = {"S²RLSC": {k: error(w, Z[test], y[test]) for k, w in found.items()}}
        for name, path in paths.items():
            scores[name] = {k: error(m, Z[test], y[test]) for k, m in path(Z, y, labelled).items()}
    for name, path in paths.items():
        errors[name] = error(path(Z, y, labelled)[best_key(scores[name], realistic)], Z[test], y[test])
    weight, lam = best_key(scores["S²RLSC"], realistic)
    final = s2rlsc_path(
        Z, y, labelled, unlabelled, share, slack, [lam], [weight], search="tabu", n_restarts=20, random_state=seed
    )
    errors["S²RLSC"] = error(final[weight, lam], Z[test], y[test])
    return errors


def table(folder, number, repeats, quick, sets, resume, jobs):
    """Compute Table 2 or 3 and write its CSV; with `sets` only those data sets, with `resume` only missing rows."""
    rows = paper_rows()
    file = f"gieseke_table{number}"
    old = read_csv(file) if sets or resume else []
    done = {(row["data"], int(row["l"]), row["method"]): row for row in old}
    for name, l, u, t, tables in rows:
        wanted = name in sets if sets else not (resume and (name, l, METHODS[0]) in done)
        if not wanted or (quick and name not in ("Gaussian2C", "COIL(3,6)")):
            continue
        start = time.perf_counter()
        results = Parallel(jobs)(
            delayed(one_partition)(*load(folder, name, seed=repeat), l, u, t, repeat, number == 3, "Gaussian" in name)
            for repeat in range(repeats)
        )
        for method in METHODS:
            mean, spread = tables[number][method]
            line = {"data": name, "l": l, "u": u, "t": t, "method": method, "paper": mean, "paper_sd": spread}
            if method != "UniverSVM":
                ours = np.array([result[method] for result in results])
                line |= {"ours": round(ours.mean(), 2), "ours_sd": round(ours.std(), 2), "repeats": repeats}
            else:
                line |= {"ours": "", "ours_sd": "", "repeats": ""}
            done[name, l, method] = line
        shown = ", ".join(f"{m} {np.mean([r[m] for r in results]):.1f}" for m in ("RLSC", "LIBSVM", "S²RLSC"))
        print(f"Table {number}: {name} l={l}: {shown} ({time.perf_counter() - start:.0f} s)", flush=True)
        if not quick:
            order = [(row[0], row[1], method) for row in rows for method in METHODS]
            write_csv(file, [done[key] for key in order if key in done])


def standard_errors(row, paper_n=10):
    """(ours − paper) in standard errors, each deviation floored at half an error of one test row in ten partitions."""
    ours, spread, n = float(row["ours"]), float(row["ours_sd"]), int(row["repeats"])
    floor = 100.0 / int(row["t"]) / 3
    variance = max(spread, floor) ** 2 / n + max(float(row["paper_sd"]), floor) ** 2 / paper_n
    return (ours - float(row["paper"])) / np.sqrt(variance)


def report():
    """benchmarks/results/gieseke.md from the CSV files that exist."""
    lines = ["# Gieseke, Kramer, Airola, Pahikkala 2012", ""]
    titles = {2: "non-realistic: parameters chosen on the test set", 3: "realistic: five folds over the labels"}
    for number, title in titles.items():
        rows = read_csv(f"gieseke_table{number}")
        if not rows:
            continue
        own = [row for row in rows if row["ours"]]
        near = sum(abs(standard_errors(row)) <= 2.5 for row in own)
        lower = sum(standard_errors(row) <= 2.5 for row in own if row["method"] == "S²RLSC")
        count = sum(row["method"] == "S²RLSC" for row in own)
        most = max(int(row["repeats"]) for row in own)
        fewer = [f"{r['data']} l = {r['l']}: {r['repeats']}" for r in own[::3] if int(r["repeats"]) < most]
        partitions = f"{most} partitions" + (f" (fewer, to save time: {'; '.join(fewer)})" if fewer else "")
        lines += [
            f"## Table {number} ({title})",
            "",
            f"Test error in %: paper ± deviation; ours ± deviation over {partitions}; difference in "
            f"standard errors. **{near} of {len(own)} cells within 2.5**; S²RLSC not worse than the paper by more than "
            f"2.5 in {lower} of {count} rows. ▲ marks cells beyond 2.5. UniverSVM as the paper prints it.",
            "",
            "| data | l | u | t | RLSC | LIBSVM | UniverSVM | S²RLSC |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for start in range(0, len(rows), 4):
            cells = []
            for row in rows[start : start + 4]:
                cell = f"{float(row['paper']):.1f}±{float(row['paper_sd']):.1f}"
                if row["ours"]:
                    z = standard_errors(row)
                    cell += f"; {float(row['ours']):.1f}±{float(row['ours_sd']):.1f}; {z:+.1f}"
                    cell += " ▲" if abs(z) > 2.5 else ""
                cells.append(cell)
            first = rows[start]
            lines.append(
                f"| {first['data']} | {first['l']} | {first['u']} | {first['t']} | " + " | ".join(cells) + " |"
            )
        lines.append("")
    lines += [NOTES, ""]
    figures = read_csv("gieseke_figures")
    if figures:
        told = (
            "Figure 8's time from scratch is that of one evaluation times their number; the others are measured whole."
        )
        lines += ["## Figures", "", told, "", "| figure | setting | value |", "|---|---|---|"]
        lines += [f"| {row['figure']} | {row['setting']} | {row['value']} |" for row in figures]
        lines.append("")
    lines.append(f"Measured on {machine()}.")
    publish("gieseke", "\n".join(lines) + "\n")


def main():
    options = arguments(
        __doc__,
        data="optional",
        only={"choices": ["table2", "table3", "figures", "report"], "help": "one of the parts (default all)"},
        repeats={"type": int, "default": 10, "help": "random partitions (default %(default)s)"},
        sets={"nargs": "*", "default": [], "help": "only these data sets; the other rows are kept"},
        jobs={"type": int, "default": 1, "help": "processes that share the partitions"},
        resume={"action": "store_true", "help": "go on with a table that was broken off"},
    )
    if options.only != "report":
        need_data(options)
    repeats = 2 if options.quick else options.repeats
    for number in (2, 3):
        if options.only in (None, f"table{number}"):
            table(options.data, number, repeats, options.quick, options.sets, options.resume, options.jobs)
    if options.only in (None, "figures"):
        from benchmarks.papers.gieseke_figures import figures

        figures(options.data, repeats, options.quick)
    if not options.quick:
        report()


if __name__ == "__main__":
    main()
