"""Few labels on the sets of Alaíz et al.: FewLabelClassifier, every single method, and scikit-learn's classifiers.

`few_label_book.py` has the sets of Chapelle et al.; this part runs the same models, tuned the same way, on the sets of
the other paper (pima has the rows of diabetes and is left out). Nothing is timed, so the sets share the cores.
"""

import warnings

import numpy as np

SETS = ("australian", "breastcancer", "diabetes", "heart", "iris", "monk2", "sonar", "synth")
SHARES = (0.02, 0.10)
DRAWS = 5
PEERS = (
    "SelfTraining(SVC)", "LabelSpreading rbf", "LabelSpreading knn", "LabelPropagation rbf", "LabelPropagation knn",
)  # fmt: skip


def accuracy(options):
    """Rows: set, share of labels, method, mean error in %, its deviation, number of draws."""
    from joblib import Parallel, delayed

    if options.data is None:
        raise SystemExit("accuracy needs --data DIR, the folder with the data sets")
    jobs = [delayed(one_set)(name, options.data) for name in SETS]
    return [row for rows in Parallel(n_jobs=-1)(jobs) for row in rows]


def one_set(name, folder):
    from few_label_book import SINGLE, Once, only, peers
    from papers.alaiz import load, standardise

    from mercer import FewLabelClassifier
    from mercer.selection.candidates import AUTO

    warnings.simplefilter("ignore")
    X, t = load(name, folder)
    X, y = standardise(X), (t > 0).astype(int)
    full = FewLabelClassifier(methods=SINGLE, time_budget=None).fit(X, draw(y, SHARES[0], 0))
    full.candidates_ = [Once(candidate) for candidate in full.candidates_]
    models = {"FewLabelClassifier": only(full, AUTO, "average")} | {m: only(full, [m], "pick") for m in SINGLE}
    others = peers(X, y)
    rows = []
    for share in SHARES:
        found = {method: [] for method in [*models, *others]}
        for number in range(DRAWS):
            given = draw(y, share, number)
            free = given < 0
            for method, model in models.items():
                found[method].append(np.mean(model.relabel(given).predicted_[free] != y[free]))
            for method, answer in others.items():
                found[method].append(np.mean(answer(given)[free] != y[free]))
        for method, errors in found.items():
            mean, spread = round(100 * np.mean(errors), 2), round(100 * np.std(errors), 2)
            rows.append({"set": name, "share": share, "method": method, "error": mean, "std": spread, "draws": DRAWS})
    print(f"   {name} done", flush=True)
    return rows


def draw(y, share, number):
    """Labels (−1: none) of a share of the rows, every class at least once."""
    rng = np.random.default_rng([number, round(1000 * share)])
    order = rng.permutation(len(y))
    first = [order[np.argmax(y[order] == c)] for c in np.unique(y)]
    rest = order[~np.isin(order, first)]
    rows = np.r_[first, rest][: max(2, round(share * len(y)))]
    given = np.full(len(y), -1)
    given[rows] = y[rows]
    return given


def means(rows):
    """{method: mean error over all cells}."""
    methods = dict.fromkeys(row["method"] for row in rows)
    return {m: float(np.mean([float(row["error"]) for row in rows if row["method"] == m])) for m in methods}


def table(rows):
    """Markdown, one line a method, lowest mean first."""
    cells = list(dict.fromkeys((row["set"], row["share"]) for row in rows))
    value = {(row["set"], row["share"], row["method"]): float(row["error"]) for row in rows}
    lines = ["| method | " + " | ".join(f"{s} {float(p):.0%}" for s, p in cells) + " | mean |"]
    lines.append("|" + "---|" * (len(cells) + 2))
    for method, mean in sorted(means(rows).items(), key=lambda item: item[1]):
        numbers = " | ".join(f"{value[s, p, method]:.1f}" for s, p in cells)
        lines.append(f"| {method} | {numbers} | **{mean:.2f}** |")
    return "\n".join(lines)
