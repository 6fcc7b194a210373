"""Few labels on the sets of Alaíz et al.: FewLabelClassifier, every single method, and scikit-learn's classifiers.

`accuracy/book.py` has the sets of Chapelle et al.; this part runs the same models, tuned the same way, on the sets of
the other paper (pima has the rows of diabetes and is omitted). Nothing is timed, so the sets run at the same time.
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
    """Rows: set, fraction of labels, method, mean error in %, its deviation, number of draws."""
    from joblib import Parallel, delayed

    if options.data is None:
        raise ValueError("accuracy needs --data DIR, the folder with the data sets")
    jobs = [delayed(one_set)(name, options.data) for name in SETS]
    return [row for rows in Parallel(n_jobs=-1)(jobs) for row in rows]


def one_set(name, folder):
    from benchmarks.accuracy.book import OURS, Book
    from benchmarks.accuracy.book import PEERS as OTHERS
    from benchmarks.harness import standardized
    from benchmarks.papers.alaiz import USUAL, load

    class Alaiz(Book):
        """One of the paper's sets, with draws of labels in place of the book's splits."""

        @staticmethod
        def load(folder, name):
            X, t = load(name, folder, 0, USUAL)
            y = (t > 0).astype(int)
            return standardized(X), y, {share: [draw(y, share, i) for i in range(DRAWS)] for share in SHARES}

    warnings.simplefilter("ignore")
    methods = [m for m in (*OURS, *OTHERS) if m != "s2rls"]  # speed/label_search.py has that one
    data = Alaiz(folder, name, methods)
    rows = []
    for share in SHARES:
        found = [data.run(share, number)[0] for number in range(DRAWS)]
        for method in methods:
            errors = 100 * np.array([errors[method] for errors in found])
            mean, spread = round(errors.mean(), 2), round(errors.std(), 2)
            rows.append(
                {"set": name, "fraction": share, "method": method, "error": mean, "std": spread, "draws": DRAWS}
            )
    print(f"   {name} done", flush=True)
    return rows


def draw(y, share, number):
    """Which rows have their label: a fraction of them, every class at least once."""
    rng = np.random.default_rng([number, round(1000 * share)])
    order = rng.permutation(len(y))
    first = [order[np.argmax(y[order] == c)] for c in np.unique(y)]
    rest = order[~np.isin(order, first)]
    return np.r_[first, rest][: max(len(first), round(share * len(y)))]


def means(rows):
    """{method: mean error over all cells}."""
    methods = dict.fromkeys(row["method"] for row in rows)
    return {m: float(np.mean([float(row["error"]) for row in rows if row["method"] == m])) for m in methods}


def table(rows):
    """Markdown, one line per method, lowest mean first."""
    cells = list(dict.fromkeys((row["set"], row["fraction"]) for row in rows))
    value = {(row["set"], row["fraction"], row["method"]): float(row["error"]) for row in rows}
    lines = ["| method | " + " | ".join(f"{s} {float(p):.0%}" for s, p in cells) + " | mean |"]
    lines.append("|" + "---|" * (len(cells) + 2))
    for method, mean in sorted(means(rows).items(), key=lambda item: item[1]):
        numbers = " | ".join(f"{value[s, p, method]:.1f}" for s, p in cells)
        lines.append(f"| {method} | {numbers} | **{mean:.2f}** |")
    return "\n".join(lines)
